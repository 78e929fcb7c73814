/* SPDX-License-Identifier: Apache-2.0 */
/* Peeling in place of the d pure rows for every neuron that Algorithm 7 wants: the neurons whose
 * equations suffice are subtracted, and what is left has fewer neurons on, so that new directions
 * and equations show. A round counts only where more rows are explained than before; a class of two
 * rows that are parallel by chance has no such neuron. Where no single neuron fits, pairs of
 * opposite outputs are tried, then directions that only planes of rows show. Found of 100 networks
 * (k = 8, d = 10, m = 4, condition 3): 77, 100, 100 from n = 200, 500, 1000 rows; Algorithm 7 needs
 * about 20000. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { STARTS = 60 }; /* of a pair fit */
enum {
    ENOUGH_OFF = 24,     /* rows that test a w which its equations do not */
    MOST_FOR_EACH = 20,  /* equations that are solved, for each input, */
    MORE_EQUATIONS = 100 /* and more; all others test */
};
/* One row in so many may be decoded by chance. */
enum { ROWS_FOR_A_WRONG_ONE = 50 };
/* Singular values of the inputs, of the largest: below, w is not determined to the tolerance. */
static const double FLAT = 1e-9;
/* Tolerances of an equation: coefficients of nearly dependent directions, and their right-hand
 * sides, have up to a hundred times the error of a row. */
static const double MET = 100;

/* ---- one neuron from its equations w x_i = c_i ---- */

static int is_on(const ur_decoded *d, size_t i, size_t j, unsigned char top)
{
    return d->t[i] != UR_UNDECODED && d->t[i] <= top && d->C[i * d->r + j] > 0;
}

/* By least squares, accepted where there is at least one equation more than inputs, these span the
 * inputs, all are met to 100 tolerances, and w x <= 0 in the rows whose neurons are known not to be
 * this one (one in 50 of them may be a row decoded by chance). As many equations as inputs are met
 * by any w: then 24 such rows are needed, and all of them. Of many equations some determine w and
 * all must agree. */
unrelu_status ur_solve_direction(const ur_peel *peel, const ur_decoded *d, size_t j,
                                 unsigned char top, double *w, ur_solved *solved, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = peel->frame->p, most = MOST_FOR_EACH * p + MORE_EQUATIONS, rows = 0;
    double size = 0;
    for (size_t i = 0; i < d->count; i++)
        if (is_on(d, i, j, top)) {
            size += pow(ur_peel_root(peel, d->C[i * d->r + j]), 2);
            rows++;
        }
    *solved = (ur_solved){.rows = rows};
    if (rows < p)
        return UNRELU_OK;
    size_t step = rows > most ? (rows + most - 1) / most : 1, used = 0, seen = 0, rank = 0;
    double *X = ur_take(&arena, rows / step + 1, p * sizeof *X);
    double *c = ur_take(&arena, rows / step + 1, sizeof *c);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d->count; i++)
        if (is_on(d, i, j, top) && seen++ % step == 0) {
            memcpy(X + used * p, peel->frame->x + d->row[i] * p, p * sizeof *X);
            c[used++] = ur_peel_root(peel, d->C[i * d->r + j]);
        }
    UR_TRY(ur_least_squares(used, p, 1, X, c, FLAT, w, &rank, err));
    double close = MET * peel->tolerance * sqrt(size / (double)rows);
    size_t off = 0, wrong = 0;
    int met = rank == p;
    for (size_t i = 0; i < d->count && met; i++) {
        if (d->t[i] == UR_UNDECODED || d->t[i] > top)
            continue;
        double on = d->C[i * d->r + j], t = ur_short_dot(p, w, peel->frame->x + d->row[i] * p);
        met = on <= 0 || fabs(t - ur_peel_root(peel, on)) <= close;
        off += on > 0 ? 0 : 1;
        wrong += on <= 0 && t > close;
    }
    solved->agree =
        met && (rows > p ? ROWS_FOR_A_WRONG_ONE * wrong <= off : off >= ENOUGH_OFF && wrong == 0);
    return UNRELU_OK;
}

/* ---- rounds ---- */

static void add(ur_peel *peel, const double *direction, double sign, const double *w)
{
    size_t p = peel->frame->p, m = peel->frame->m;
    memcpy(peel->W + peel->k * p, w, p * sizeof *w);
    for (size_t l = 0; l < m; l++)
        peel->U[peel->k * m + l] = sign * direction[l];
    peel->k++;
}

/* keeps the neurons beyond `before` where fewer than `left` rows remain */
static unrelu_status keep_if_better(ur_peel *peel, size_t before, size_t left, int *progress,
                                    unrelu_error *err)
{
    *progress = 0;
    if (peel->k == before)
        return UNRELU_OK;
    UR_TRY(ur_peel_residual(peel, err));
    *progress = peel->left < left;
    if (*progress)
        return ur_peel_refine(peel, err);
    peel->k = before;
    return ur_peel_residual(peel, err);
}

/* whether rows are decoded with direction j: one that planes gave has both signs, and one is idle
 */
static int is_used(const ur_decoded *d, size_t j)
{
    for (size_t i = 0; j != UR_ALONE && i < d->count; i++)
        if (d->C[i * d->r + j] > 0)
            return 1;
    return 0;
}

static unrelu_status peel_singles(ur_peel *peel, const ur_decoded *d, int *progress,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = peel->frame->p, m = peel->frame->m, before = peel->k, left = peel->left, fitting = 0;
    double *w = ur_take(&arena, d->r, p * sizeof *w);
    size_t *which = ur_take(&arena, d->r, sizeof *which);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_peel_reserve(peel, d->r, err));
    for (size_t j = 0; j < d->r; j++) {
        ur_solved solved = {0};
        /* from all decoded rows, else from those of fewer neurons */
        for (unsigned char top = d->top; top > 0 && !solved.agree; top--) {
            UR_TRY(ur_solve_direction(peel, d, j, top, w + fitting * p, &solved, err));
            peel->most = solved.rows > peel->most ? solved.rows : peel->most;
        }
        if (solved.agree)
            which[fitting++] = j;
        else if (solved.rows > p && solved.rows > peel->contradicting) {
            peel->contradicting = solved.rows;
            peel->opposite = is_used(d, d->opposite[j]);
        }
    }
    for (size_t c = 0; c < fitting; c++)
        add(peel, d->direction + which[c] * m, 1, w + c * p);
    UR_TRY(keep_if_better(peel, before, left, progress, err));
    for (size_t c = 0; c < fitting && fitting > 1 && !*progress; c++) {
        add(peel, d->direction + which[c] * m, 1, w + c * p);
        UR_TRY(keep_if_better(peel, before, left, progress, err));
    }
    return UNRELU_OK;
}

/* two neurons with outputs along direction j and against it, from the decoded rows of at most `top`
 * neurons */
static unrelu_status fit_pair(ur_peel *peel, const ur_decoded *d, size_t j, unsigned char top,
                              int *progress, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = peel->frame->p, m = peel->frame->m, count = 0, on = 0, starts = 0, before = peel->k;
    uint64_t rest = peel->budget - peel->spent;
    double *x = ur_take(&arena, d->count, p * sizeof *x), *r = ur_take(&arena, d->count, sizeof *r);
    double *w = ur_take(&arena, 2 * p, sizeof *w);
    int met;
    if (ur_cancelled(peel->exec))
        return ur_fail_cancelled(err);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_peel_reserve(peel, 2, err));
    for (size_t i = 0; i < d->count; i++) {
        if (d->t[i] == UR_UNDECODED || d->t[i] > top)
            continue;
        memcpy(x + count * p, peel->frame->x + d->row[i] * p, p * sizeof *x);
        r[count] = d->C[i * d->r + j] - d->C[i * d->r + d->opposite[j]];
        on += r[count++] != 0;
    }
    if (on <= 2 * p || peel->degree != 1) /* u and -u are told apart for the relu alone */
        return UNRELU_OK;
    peel->exhausted |= rest < STARTS;
    UR_TRY(ur_pair_fit(count, p, x, r, peel->tolerance, peel->seed, rest < STARTS ? rest : STARTS,
                       w, &starts, &met, err));
    peel->spent += starts;
    peel->pairs += starts;
    if (!met)
        return UNRELU_OK;
    add(peel, d->direction + j * m, 1, w);
    add(peel, d->direction + j * m, -1, w + p);
    return keep_if_better(peel, before, peel->left, progress, err);
}

/* what the directions of the groups give */
static unrelu_status peel_groups(ur_peel *peel, const ur_groups *groups, int *progress,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    ur_decoded decoded;
    peel->most = peel->contradicting = peel->pairs = 0;
    if (groups->count == 0)
        return UNRELU_OK;
    UR_TRY(ur_decode(peel, groups, &arena, &decoded, err));
    UR_TRY(peel_singles(peel, &decoded, progress, err));
    for (size_t j = 0; j < decoded.r && !*progress; j++) {
        size_t opposite = decoded.opposite[j]; /* UR_ALONE, or pairs once */
        if (opposite < j || !is_used(&decoded, j) || !is_used(&decoded, opposite))
            continue;
        for (unsigned char top = decoded.top; top > 0 && !*progress; top--)
            UR_TRY(fit_pair(peel, &decoded, j, top, progress, err));
    }
    return UNRELU_OK;
}

unrelu_status ur_peel_run(ur_peel *peel, unrelu_error *err)
{
    const ur_frame *frame = peel->frame;
    for (int progress = 1; progress && peel->left > 0;) {
        UR_ARENA(arena);
        ur_groups groups;
        size_t lines = 0;
        progress = 0;
        ur_progress(peel->exec, "peeling", 1 - (double)peel->left / (double)frame->n);
        if (ur_cancelled(peel->exec))
            return ur_fail_cancelled(err);
        UR_TRY(ur_group(frame->n, frame->m, peel->R, peel->faint, frame->p,
                        frame->p > 1 ? frame->x : NULL, peel->tolerance, peel->seed, &arena,
                        &groups, err));
        if (peel->k == 0) {
            peel->first = groups.count;
            peel->rarest = groups.count > 0 ? groups.size[groups.count - 1] : 0;
        }
        peel->stuck = groups.count;
        UR_TRY(peel_groups(peel, &groups, &progress, err));
        if (progress || frame->m < 3 || peel->contradicting > 0)
            continue;
        UR_TRY(ur_plane_directions(peel, &arena, &groups, &lines, err));
        peel->stuck += lines;
        if (lines > 0)
            UR_TRY(peel_groups(peel, &groups, &progress, err));
    }
    return UNRELU_OK;
}
