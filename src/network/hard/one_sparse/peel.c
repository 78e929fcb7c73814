/* SPDX-License-Identifier: Apache-2.0 */
/* Peeling in place of the d pure rows for every neuron that Algorithm 7 wants: the neurons whose
 * equations suffice are subtracted, and what is left has fewer neurons on, so that new directions
 * and equations show. A round counts only where more rows are explained than before; a class of two
 * rows that are parallel by chance has no such neuron. Where no single neuron fits, pairs of
 * opposite outputs are tried, then directions that only planes of rows show. Found of 100 networks
 * (k = 8, d = 10, m = 4, condition 3): 77, 100, 100 from n = 200, 500, 1000 rows; Algorithm 7 needs
 * about 20000. */
#include "base/error.h"
#include "base/memory.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 60 }; /* of a pair fit */

static void add(ur_peel *q, const double *direction, double sign, const double *w)
{
    size_t p = q->frame->p, m = q->frame->m;
    memcpy(q->W + q->k * p, w, p * sizeof *w);
    for (size_t l = 0; l < m; l++)
        q->U[q->k * m + l] = sign * direction[l];
    q->k++;
}

/* keeps the neurons beyond `before` where fewer than `left` rows remain */
static unrelu_status settle(ur_peel *q, size_t before, size_t left, int *progress,
                            unrelu_error *err)
{
    unrelu_status status = q->k > before ? ur_peel_residual(q, err) : UNRELU_OK;
    *progress = status == UNRELU_OK && q->k > before && q->left < left;
    if (*progress)
        return ur_peel_refine(q, err);
    if (status == UNRELU_OK && q->k > before) {
        q->k = before;
        status = ur_peel_residual(q, err);
    }
    return status;
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

/* the neuron of direction j, from all decoded rows, else from those of fewer neurons */
static unrelu_status solve_one(ur_peel *q, const ur_decoded *d, size_t j, double *w, int *agree,
                               unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    ur_solved solved = {0};
    *agree = 0;
    for (unsigned char top = d->top; top > 0 && status == UNRELU_OK && !*agree; top--) {
        status = ur_solve_direction(q, d, j, top, w, &solved, err);
        *agree = solved.agree;
        q->most = solved.rows > q->most ? solved.rows : q->most;
    }
    if (!*agree && solved.rows > q->frame->p && solved.rows > q->contradicting) {
        q->contradicting = solved.rows;
        q->opposite = is_used(d, d->opposite[j]);
    }
    return status;
}

static unrelu_status peel_singles(ur_peel *q, const ur_decoded *d, int *progress, unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m, before = q->k, left = q->left, fitting = 0;
    double *w = ur_alloc(d->r, p * sizeof *w);
    size_t *which = ur_alloc(d->r, sizeof *which);
    unrelu_status status =
        w && which ? ur_peel_reserve(q, d->r, err) : ur_fail_memory(err, d->r * p, "weights");
    for (size_t j = 0; j < d->r && status == UNRELU_OK; j++) {
        int agree;
        status = solve_one(q, d, j, w + fitting * p, &agree, err);
        if (agree)
            which[fitting++] = j;
    }
    for (size_t c = 0; c < fitting && status == UNRELU_OK; c++)
        add(q, d->direction + which[c] * m, 1, w + c * p);
    if (status == UNRELU_OK)
        status = settle(q, before, left, progress, err);
    for (size_t c = 0; c < fitting && fitting > 1 && status == UNRELU_OK && !*progress; c++) {
        add(q, d->direction + which[c] * m, 1, w + c * p);
        status = settle(q, before, left, progress, err);
    }
    free(w);
    free(which);
    return status;
}

/* r along direction j (and against it) in the decoded rows of at most `top` neurons; their number,
 * *on of them not 0 */
static size_t gather_pair(const ur_peel *q, const ur_decoded *d, size_t j, unsigned char top,
                          double *x, double *r, size_t *on)
{
    size_t p = q->frame->p, count = 0, other = d->opposite[j];
    *on = 0;
    for (size_t i = 0; i < d->count; i++) {
        if (d->t[i] == UR_UNDECODED || d->t[i] > top)
            continue;
        memcpy(x + count * p, q->frame->x + d->row[i] * p, p * sizeof *x);
        r[count] = d->C[i * d->r + j] - (other == UR_ALONE ? 0 : d->C[i * d->r + other]);
        *on += r[count++] != 0;
    }
    return count;
}

static unrelu_status fit_pair(ur_peel *q, const ur_decoded *d, size_t j, unsigned char top,
                              int *progress, unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m, on, starts = 0, before = q->k;
    uint64_t rest = q->budget - q->spent;
    double *x = ur_alloc(d->count, p * sizeof *x), *r = ur_doubles(d->count),
           *w = ur_doubles(2 * p);
    int met = 0;
    unrelu_status status =
        x && r && w ? ur_peel_reserve(q, 2, err) : ur_fail_memory(err, d->count * p, "rows");
    if (status != UNRELU_OK)
        goto done;
    size_t count = gather_pair(q, d, j, top, x, r, &on);
    if (on <= 2 * p)
        goto done;
    q->exhausted |= rest < STARTS;
    status = ur_pair_fit(count, p, x, r, 10 * q->tolerance, q->seed, rest < STARTS ? rest : STARTS,
                         w, &starts, &met, err);
    q->spent += starts;
    q->pairs += starts;
    if (status == UNRELU_OK && met) {
        add(q, d->direction + j * m, 1, w);
        add(q, d->direction + j * m, -1, w + p);
        status = settle(q, before, q->left, progress, err);
    }
done:
    free(x);
    free(r);
    free(w);
    return status;
}

static unrelu_status peel_pairs(ur_peel *q, const ur_decoded *d, int *progress, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < d->r && status == UNRELU_OK && !*progress; j++) {
        if (d->opposite[j] == UR_ALONE || d->opposite[j] < j || !is_used(d, j) ||
            !is_used(d, d->opposite[j]))
            continue;
        for (unsigned char top = d->top; top > 0 && status == UNRELU_OK && !*progress; top--)
            status = ur_cancelled(q->exec) ? ur_fail_cancelled(err)
                                           : fit_pair(q, d, j, top, progress, err);
    }
    return status;
}

/* what the directions of the groups give */
static unrelu_status peel_groups(ur_peel *q, const ur_groups *groups, int *progress,
                                 unrelu_error *err)
{
    ur_decoded decoded = {0};
    q->most = q->contradicting = q->pairs = 0;
    if (groups->count == 0)
        return UNRELU_OK;
    unrelu_status status = ur_decode(q, groups, &decoded, err);
    if (status == UNRELU_OK)
        status = peel_singles(q, &decoded, progress, err);
    if (status == UNRELU_OK && !*progress)
        status = peel_pairs(q, &decoded, progress, err);
    ur_decoded_free(&decoded);
    return status;
}

static unrelu_status round_of(ur_peel *q, int *progress, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    ur_groups groups = {0};
    size_t lines = 0;
    *progress = 0;
    unrelu_status status =
        ur_group(frame->n, frame->m, q->R, q->dull, frame->p, frame->p > 1 ? frame->x : NULL,
                 q->tolerance, q->seed, &groups, err);
    if (status != UNRELU_OK)
        return status;
    if (q->k == 0) {
        q->first = groups.count;
        q->rarest = groups.count > 0 ? groups.size[groups.count - 1] : 0;
    }
    q->stuck = groups.count;
    status = peel_groups(q, &groups, progress, err);
    if (status == UNRELU_OK && !*progress && frame->m > 2 && q->contradicting == 0)
        status = ur_planes(q, &groups, &lines, err);
    if (status == UNRELU_OK && lines > 0) {
        q->stuck += lines;
        status = peel_groups(q, &groups, progress, err);
    }
    ur_groups_free(&groups);
    return status;
}

unrelu_status ur_peel_run(ur_peel *q, unrelu_error *err)
{
    int progress = 1;
    unrelu_status status = UNRELU_OK;
    while (status == UNRELU_OK && progress && q->left > 0) {
        ur_progress(q->exec, "peeling", 1 - (double)q->left / (double)q->frame->n);
        status = ur_cancelled(q->exec) ? ur_fail_cancelled(err) : round_of(q, &progress, err);
    }
    return status;
}
