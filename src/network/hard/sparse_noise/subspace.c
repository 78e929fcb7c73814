/* SPDX-License-Identifier: Apache-2.0 */
/* Which column space, of which rank: r = 1, 2, ..., each by alternating projections and polished,
 * then tested on rows of the data by consensus. It is accepted where
 *   most cells (55 %) are met in more than half of the rows, and each column in more than half of
 *   the rows that are decided;
 * and is taken at once where no more rows stay undecided than wrong cells at random explain: a
 * neuron that is off for half of the rows makes a space without it pass the first rule. Else the
 * next ranks are looked at, for as long as fewer rows stay undecided. */
#include "base/error.h"
#include "base/random.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    CHECK = 256,    /* rows on which a space is tested */
    FIRST = 48,     /* of them, before the others */
    SPREAD = 37,    /* so that the first are spread as well */
    FEWEST = 8,     /* rows that must count */
    PATIENCE = 2,   /* ranks without fewer undecided rows */
    STALLED = 3,    /* ranks without less noise */
    FEW_RANKS = 10, /* by all schedules */
    SCHEDULES = 4
};
/* Undecided rows beyond twice those of a support at random: one in 200, that of rows of zeros. */
static const double UNDECIDED = 0.005;
static const double HOPELESS = 0.8; /* of the first rows undecided: the others are not looked at */
/* Undecided rows, of the best before: a space is better where a tenth fewer are. */
static const double BETTER = 0.9;
static const double FALLS = 0.7; /* median miss, of the least before: below, it is less noise */
/* What counts as met by the first sweep of polishing, in last thresholds of a schedule. */
static const double FIRST_CUT = 3;

/* schedules of the thresholds: many wrong cells, few, very few and long tails, many of one sign */
typedef struct {
    double start, g;
    int sweeps;
} schedule;
static const schedule schedules[SCHEDULES] = {
    {4, .8, 25}, {12, .85, 40}, {30, .9, 70}, {3, .95, 100}};

/* ---- the rule ---- */

unrelu_status ur_subspace_judge(const ur_consensus *c, ur_subspace *s, unrelu_error *err)
{
    size_t most = ur_consensus_most(c->width, c->r), least = ur_consensus_least(c->width, c->r);
    size_t judged = 0, strong = 0, undecided = 0;
    UR_ARENA(arena);
    double *met = ur_take(&arena, c->rows, sizeof *met);
    size_t *in_column = ur_take(&arena, c->m, sizeof *in_column);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < c->rows; i++) {
        if (c->idle[i])
            continue;
        met[judged++] = (double)c->met[i];
        strong += c->met[i] >= most;
        undecided += c->met[i] == 0;
        for (size_t j = 0; j < c->m && c->met[i] > 0; j++)
            in_column[j] += c->clean[i * c->m + j];
    }
    s->judged = judged;
    s->most = judged ? (double)strong / (double)judged : 0;
    s->undecided = judged ? (double)undecided / (double)judged : 1;
    s->wrong = 1 - ur_median(judged, met) / (double)(c->width > 0 ? c->width : 1);
    s->expected = UNDECIDED + 2 * ur_binomial_below(c->width, 1 - s->wrong, least - 1);
    s->worst = 1;
    for (size_t j = 0; j < c->m && judged > undecided; j++) {
        double share = (double)in_column[j] / (double)(judged - undecided);
        if (share < s->worst) {
            s->worst = share;
            s->worst_column = j;
        }
    }
    return UNRELU_OK;
}

int ur_subspace_accepted(const ur_subspace *s)
{
    return s->most > UR_MAJORITY && s->worst > UR_MAJORITY && s->judged >= FEWEST;
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

/* One schedule of alternating projections at rank r; *hopeless: most cells are not met. The space,
 * polished, becomes the best where fewer rows stay undecided. */
static unrelu_status attempt(search *q, size_t r, const schedule *c, int *hopeless,
                             unrelu_error *err)
{
    double miss, share, tolerance = q->cells->tolerance;
    const double *D;
    UR_TRY(ur_altproj_run(q->p, r, c->start, c->g, c->sweeps, q->B, &D, &share, err));
    *hopeless = share > UR_MAJORITY;
    if (*hopeless)
        return UNRELU_OK;
    double cut = FIRST_CUT * c->start * pow(c->g, c->sweeps);
    UR_TRY(ur_polish(q->n, q->m, q->M, D, r, cut, tolerance, q->cells->exec, q->B, &miss, err));
    if (miss > tolerance) {
        if (miss < FALLS * q->left) {
            q->left = miss;
            q->stalled = 0;
        }
        return UNRELU_OK;
    }
    UR_ARENA(arena);
    ur_subspace s = {.r = r, .B = q->best->B};
    ur_consensus v;
    size_t few = q->checks < FIRST ? q->checks : FIRST;
    UR_TRY(ur_consensus_run(q->cells, few, q->check, r, q->B, &arena, &v, err));
    UR_TRY(ur_subspace_judge(&v, &s, err));
    if (s.undecided <= HOPELESS) { /* else all draws of the others can be saved */
        ur_arena_end(&arena);
        UR_TRY(ur_consensus_find(q->cells, q->checks, q->check, r, q->B, &arena, &v, err));
        UR_TRY(ur_subspace_judge(&v, &s, err));
    }
    int passed = ur_subspace_accepted(&s);
    if (q->best->r == 0 || passed > q->passed ||
        (passed == q->passed && s.undecided < BETTER * q->best->undecided)) {
        *q->best = s;
        memcpy(q->best->B, q->B, q->m * r * sizeof *q->B);
        q->passed = passed;
        q->settled = passed && s.undecided <= s.expected;
        q->since = 0;
    }
    return UNRELU_OK;
}

/* ranks one after the other by the schedules first .. last; brief: not by others where the first
 * of them leaves most cells unmet */
static unrelu_status scan(search *q, size_t from, size_t to, size_t first, size_t last, int brief,
                          unrelu_error *err)
{
    for (size_t r = from; r <= to; r++) {
        int hopeless = 0;
        for (size_t c = first; c <= last && !q->settled; c++) {
            UR_TRY(attempt(q, r, &schedules[c], &hopeless, err));
            if (brief && hopeless)
                break;
        }
        q->since += q->passed ? 1 : 0;
        q->stalled += q->left < UR_NEARLY ? 1 : 0;
        if (q->settled || q->since > PATIENCE || q->stalled > STALLED)
            break;
        ur_progress(q->cells->exec, "separating", (double)r / (double)to);
    }
    return UNRELU_OK;
}

unrelu_status ur_subspace_find(const ur_sparse_cells *cells, size_t k, int constant, size_t n_most,
                               size_t r_most, int thorough, ur_arena *arena, ur_subspace *s,
                               unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = n_most < cells->n ? n_most : cells->n, m = cells->m;
    size_t most = m > 6 ? (m / 2 < m - 4 ? m / 2 : m - 4) : m > 4 ? m - 4 : 1;
    most = most < r_most ? most : r_most;
    most = most + 1 < n ? most : n > 2 ? n - 2 : 1;
    size_t top = k ? k + (constant ? 1 : 0) : most;
    top = top < most ? top : most;
    *s = (ur_subspace){.B = ur_take(arena, m, most * sizeof *s->B)};
    size_t checks = CHECK < cells->n ? CHECK : cells->n;
    double *random = ur_take(&own, n, sizeof *random), step = (double)cells->n / (double)n;
    search q = {.cells = cells,
                .n = n,
                .m = m,
                .best = s,
                .left = INFINITY,
                .checks = checks,
                .M = ur_take(&own, n, m * sizeof *q.M),
                .check = ur_take(&own, checks, sizeof *q.check),
                .B = ur_take(&own, m, most * sizeof *q.B)};
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_arena_status(&own, err));
    ur_random_uniforms(cells->seed, UR_STREAM_SPARSE_ROWS, 0, n, random);
    for (size_t i = 0; i < n; i++) {
        size_t row = n == cells->n ? i : (size_t)(((double)i + random[i]) * step);
        row = row < cells->n ? row : cells->n - 1; /* rounding */
        for (size_t j = 0; j < m; j++)
            q.M[i * m + j] = cells->a[row * m + j] * cells->per_unit[j];
    }
    for (size_t i = 0; i < checks; i++) {
        size_t at = checks == CHECK ? i * SPREAD % CHECK : i;
        q.check[i] = (size_t)(((double)at + 0.5) * (double)cells->n / (double)checks);
    }
    UR_TRY(ur_altproj_new(n, m, q.M, most, cells->seed, cells->exec, &own, &q.p, err));
    UR_TRY(scan(&q, 1, top, 0, 1, 1, err));
    if (!q.passed && k > 0 && k <= top)
        UR_TRY(scan(&q, k, top, 1, SCHEDULES - 1, 0, err));
    if (!q.passed && thorough && k == 0 && q.stalled <= STALLED)
        UR_TRY(scan(&q, 1, top < FEW_RANKS ? top : FEW_RANKS, 1, SCHEDULES - 1, 0, err));
    s->largest = top;
    s->left = q.left;
    return UNRELU_OK;
}
