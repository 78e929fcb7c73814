/* SPDX-License-Identifier: Apache-2.0 */
/* Which column space, of which rank: r = 1, 2, ..., each by alternating projections and polished,
 * then tested on rows of the data by consensus. It is accepted where
 *   most cells (55 %) are met in more than half of the rows, and each column in more than half of
 *   the rows that are decided;
 * and is taken at once where no more rows stay undecided than wrong cells at random explain: a
 * neuron that is off for half of the rows makes a space without it pass the first rule. Else the
 * next ranks are looked at, for as long as fewer rows stay undecided. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK = 256,    /* rows on which a space is tested */
    FIRST = 48,     /* of them, before the others */
    SPREAD = 37,    /* so that the first are spread as well */
    FEWEST = 8,     /* rows that must count */
    PATIENCE = 2,   /* ranks without fewer undecided rows */
    STALLED = 3,    /* ranks without less noise */
    FEW_RANKS = 10, /* by all courses */
    COURSES = 4
};
static const double NOISE = 0.1; /* a typical cell is 1: what is left is noise, or a weak neuron */

/* courses of the thresholds: many wrong cells, few, very few and long tails, many of one sign */
typedef struct {
    double start, g;
    int sweeps;
} course;
static const course courses[COURSES] = {{4, .8, 25}, {12, .85, 40}, {30, .9, 70}, {3, .95, 100}};

void ur_subspace_free(ur_subspace *s)
{
    free(s->B);
    *s = (ur_subspace){0};
}

/* ---- the rule ---- */

static unrelu_status judge_columns(const ur_consensus *c, ur_subspace *s, unrelu_error *err)
{
    size_t *met = ur_alloc(c->m, sizeof *met), decided = 0;
    if (!met)
        return ur_fail_memory(err, c->m, "columns");
    for (size_t i = 0; i < c->rows; i++) {
        if (c->met[i] == 0 || c->idle[i])
            continue;
        decided++;
        for (size_t j = 0; j < c->m; j++)
            met[j] += c->clean[i * c->m + j];
    }
    s->worst = 1;
    for (size_t j = 0; j < c->m && decided > 0; j++) {
        double share = (double)met[j] / (double)decided;
        if (share < s->worst) {
            s->worst = share;
            s->worst_column = j;
        }
    }
    free(met);
    return UNRELU_OK;
}

unrelu_status ur_subspace_judge(const ur_consensus *c, ur_subspace *s, unrelu_error *err)
{
    size_t most = ur_consensus_most(c->width, c->r), least = ur_consensus_least(c->width, c->r);
    size_t judged = 0, strong = 0, undecided = 0;
    double *met = ur_doubles(c->rows);
    if (!met)
        return ur_fail_memory(err, c->rows, "rows");
    for (size_t i = 0; i < c->rows; i++) {
        if (c->idle[i])
            continue;
        met[judged++] = (double)c->met[i];
        strong += c->met[i] >= most;
        undecided += c->met[i] == 0;
    }
    s->judged = judged;
    s->most = judged ? (double)strong / (double)judged : 0;
    s->undecided = judged ? (double)undecided / (double)judged : 1;
    s->wrong = 1 - ur_median(judged, met) / (double)(c->width > 0 ? c->width : 1);
    s->expected = 0.005 + 2 * ur_binomial_below(c->width, 1 - s->wrong, least - 1);
    free(met);
    return judge_columns(c, s, err);
}

int ur_subspace_accepted(const ur_subspace *s)
{
    return s->most > 0.5 && s->worst > 0.5 && s->judged >= FEWEST;
}

/* ---- the search ---- */

typedef struct {
    const ur_sparse_cells *cells;
    size_t n, m;
    double *M; /* (n, m): some rows in their units */
    ur_altproj *p;
    size_t *check; /* rows of the data on which a space is tested */
    size_t checks;
    double *B;           /* (m, r) */
    ur_subspace *best;   /* that passed the rule, or came nearest */
    int passed, settled; /* of best */
    size_t since;        /* ranks since it became the best */
    double left;         /* least median miss of a polished space, */
    size_t stalled;      /* and ranks since that fell by a third */
} search;

static void search_free(search *q)
{
    free(q->M);
    free(q->check);
    free(q->B);
    ur_altproj_free(q->p);
}

static unrelu_status open_search(const ur_sparse_cells *cells, size_t rows, size_t r_most,
                                 ur_subspace *best, search *q, unrelu_error *err)
{
    size_t n = rows < cells->n ? rows : cells->n, m = cells->m;
    *q = (search){.cells = cells, .n = n, .m = m, .best = best};
    q->checks = CHECK < cells->n ? CHECK : cells->n;
    q->M = ur_alloc(n, m * sizeof *q->M);
    q->check = ur_alloc(q->checks, sizeof *q->check);
    q->B = ur_alloc(m, r_most * sizeof *q->B);
    best->B = ur_alloc(m, r_most * sizeof *best->B);
    double *random = ur_doubles(n);
    if (!q->M || !q->check || !q->B || !best->B || !random) {
        free(random);
        return ur_fail_memory(err, n * m, "labels");
    }
    ur_random_uniforms(cells->seed, UR_STREAM_SPARSE_ROWS, 0, n, random);
    double step = (double)cells->n / (double)n;
    for (size_t i = 0; i < n; i++) {
        size_t row = n == cells->n ? i : (size_t)(((double)i + random[i]) * step);
        row = row < cells->n ? row : cells->n - 1; /* rounding */
        for (size_t j = 0; j < m; j++)
            q->M[i * m + j] = cells->a[row * m + j] * cells->per_unit[j];
    }
    for (size_t i = 0; i < q->checks; i++) {
        size_t at = q->checks == CHECK ? i * SPREAD % CHECK : i;
        q->check[i] = (size_t)(((double)at + 0.5) * (double)cells->n / (double)q->checks);
    }
    free(random);
    return ur_altproj_new(n, m, q->M, cells->seed, cells->exec, &q->p, err);
}

/* consensus and the rule; columns are repaired where the first consensus calls for it */
static unrelu_status judge_space(search *q, size_t r, ur_subspace *s, unrelu_error *err)
{
    ur_consensus c = {0};
    size_t repaired = 0, few = q->checks < FIRST ? q->checks : FIRST;
    unrelu_status status = ur_consensus_run(q->cells, few, q->check, r, q->B, &c, err);
    if (status == UNRELU_OK)
        status = ur_subspace_judge(&c, s, err);
    ur_consensus_free(&c);
    if (status != UNRELU_OK || s->undecided > 0.8) /* all draws of the others can be saved */
        return status;
    status = ur_consensus_run(q->cells, q->checks, q->check, r, q->B, &c, err);
    if (status == UNRELU_OK)
        status = ur_repair(q->cells, &c, q->B, &repaired, err);
    if (status == UNRELU_OK && repaired > 0) {
        ur_consensus_free(&c);
        status = ur_orthonormalise(q->m, r, q->B, err);
        if (status == UNRELU_OK)
            status = ur_consensus_run(q->cells, q->checks, q->check, r, q->B, &c, err);
    }
    if (status == UNRELU_OK)
        status = ur_subspace_judge(&c, s, err);
    ur_consensus_free(&c);
    return status;
}

/* the polished space of rank r becomes the best where fewer rows stay undecided */
static unrelu_status test(search *q, size_t r, unrelu_error *err)
{
    ur_subspace s = {.r = r};
    unrelu_status status = judge_space(q, r, &s, err);
    int passed = ur_subspace_accepted(&s);
    if (status == UNRELU_OK && (q->best->r == 0 || passed > q->passed ||
                                (passed == q->passed && s.undecided < 0.9 * q->best->undecided))) {
        s.B = q->best->B;
        *q->best = s;
        memcpy(q->best->B, q->B, q->m * r * sizeof *q->B);
        q->passed = passed;
        q->settled = passed && s.undecided <= s.expected;
        q->since = 0;
    }
    return status;
}

/* one course of alternating projections at rank r; *hopeless: most cells are not met */
static unrelu_status attempt(search *q, size_t r, const course *c, int *hopeless, unrelu_error *err)
{
    double miss = INFINITY, share = 0, tolerance = q->cells->tolerance;
    unrelu_status status = ur_altproj_run(q->p, r, c->start, c->g, c->sweeps, &share, err);
    *hopeless = share > 0.5;
    if (status != UNRELU_OK || *hopeless)
        return status;
    const double *D = ur_altproj_basis(q->p, q->B);
    double cut = 3 * c->start * pow(c->g, c->sweeps);
    status = ur_polish(q->n, q->m, q->M, D, r, cut, tolerance, q->cells->exec, q->B, &miss, err);
    if (status == UNRELU_OK && miss <= tolerance)
        return test(q, r, err);
    if (miss < 0.7 * q->left) {
        q->left = miss;
        q->stalled = 0;
    }
    return status;
}

/* ranks one after the other by the courses first .. last; brief: not by others where the first
 * of them leaves most cells unmet */
static unrelu_status scan(search *q, size_t from, size_t to, size_t first, size_t last, int brief,
                          unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t r = from; r <= to && status == UNRELU_OK; r++) {
        int hopeless = 0;
        for (size_t c = first; c <= last && status == UNRELU_OK && !q->settled; c++) {
            status = attempt(q, r, &courses[c], &hopeless, err);
            if (brief && hopeless)
                break;
        }
        q->since += q->passed ? 1 : 0;
        q->stalled += q->left < NOISE ? 1 : 0;
        if (q->settled || q->since > PATIENCE || q->stalled > STALLED)
            break;
        ur_progress(q->cells->exec, "separating", (double)r / (double)to);
    }
    return status;
}

static size_t largest_rank(size_t n, size_t m, size_t r_most)
{
    size_t most = m > 6 ? (m / 2 < m - 4 ? m / 2 : m - 4) : m > 4 ? m - 4 : 1;
    most = most < r_most ? most : r_most;
    return most + 1 < n ? most : n > 2 ? n - 2 : 1;
}

unrelu_status ur_subspace_find(const ur_sparse_cells *cells, size_t k, int constant, size_t n_most,
                               size_t r_most, int thorough, ur_subspace *s, int *found,
                               unrelu_error *err)
{
    search q = {0};
    *found = 0;
    size_t most = largest_rank(n_most < cells->n ? n_most : cells->n, cells->m, r_most);
    size_t top = k ? k + (constant ? 1 : 0) : most;
    *s = (ur_subspace){0};
    top = top < most ? top : most;
    unrelu_status status = open_search(cells, n_most, most, s, &q, err);
    q.left = INFINITY;
    if (status == UNRELU_OK)
        status = scan(&q, 1, top, 0, 1, 1, err);
    if (status == UNRELU_OK && !q.passed && k > 0 && k <= top)
        status = scan(&q, k, top, 1, COURSES - 1, 0, err);
    if (status == UNRELU_OK && !q.passed && thorough && k == 0 && q.stalled <= STALLED)
        status = scan(&q, 1, top < FEW_RANKS ? top : FEW_RANKS, 1, COURSES - 1, 0, err);
    *found = q.passed;
    s->largest = top;
    s->left = q.left;
    search_free(&q);
    return status;
}
