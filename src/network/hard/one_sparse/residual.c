/* SPDX-License-Identifier: Apache-2.0 */
/* What the neurons found so far leave of the labels, R = a - sum_j u_j max(0, w_j x), to within
 * rounding of its terms: after each peel one Gauss-Newton step over all neurons on rows that they
 * explain takes w from 1e-9 (it would grow by a factor with each peel) to 1e-15. A rest that is
 * smaller than 3e-5 of the terms has no direction to 1e-9 and takes no part. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

unrelu_status ur_peel_open(const ur_frame *frame, double floor, uint64_t seed, uint64_t budget,
                           const unrelu_exec *exec, ur_peel *q, unrelu_error *err)
{
    size_t n = frame->n;
    *q = (ur_peel){.frame = frame,
                   .exec = exec,
                   .seed = seed,
                   .budget = budget,
                   .tolerance = fmax(1e-9, 4 * floor)};
    q->R = ur_alloc(n, frame->m * sizeof *q->R);
    q->norm = ur_doubles(n);
    q->zero = ur_alloc(n, 1);
    q->dull = ur_alloc(n, 1);
    if (!q->R || !q->norm || !q->zero || !q->dull)
        return ur_fail_memory(err, n * (frame->m + 2), "residuals");
    return ur_peel_residual(q, err);
}

void ur_peel_close(ur_peel *q)
{
    free(q->W);
    free(q->U);
    free(q->R);
    free(q->norm);
    free(q->zero);
    free(q->dull);
    *q = (ur_peel){0};
}

unrelu_status ur_peel_reserve(ur_peel *q, size_t more, unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m, room = 2 * (q->k + more);
    if (q->k + more <= q->room)
        return UNRELU_OK;
    double *W = ur_alloc(room, p * sizeof *W), *U = ur_alloc(room, m * sizeof *U);
    if (!W || !U) {
        free(W);
        free(U);
        return ur_fail_memory(err, room * (p + m), "weights");
    }
    if (q->k > 0) {
        memcpy(W, q->W, q->k * p * sizeof *W);
        memcpy(U, q->U, q->k * m * sizeof *U);
    }
    free(q->W);
    free(q->U);
    q->W = W;
    q->U = U;
    q->room = room;
    return UNRELU_OK;
}

/* rows of R from f (k), their activations; returns the size of the terms */
static double subtract(const ur_peel *q, size_t i, const double *f)
{
    size_t m = q->frame->m;
    double *R = q->R + i * m, terms = 0, label = 0, rest = 0;
    memcpy(R, q->frame->a + i * m, m * sizeof *R);
    for (size_t l = 0; l < m; l++)
        label += R[l] * R[l];
    for (size_t j = 0; j < q->k; j++) {
        if (!(f[j] > 0))
            continue;
        terms += f[j];
        for (size_t l = 0; l < m; l++)
            R[l] -= f[j] * q->U[j * m + l];
    }
    for (size_t l = 0; l < m; l++)
        rest += R[l] * R[l];
    q->norm[i] = sqrt(rest);
    return sqrt(label) + terms;
}

unrelu_status ur_peel_residual(ur_peel *q, unrelu_error *err)
{
    enum { ROWS = 256 };
    const ur_frame *frame = q->frame;
    size_t n = frame->n, p = frame->p;
    double rms = sqrt(frame->size / (double)n);
    /* of a row, relative to its terms; the digits that labels carry are those of the largest */
    int coarse = q->tolerance > 1e-9;
    double precision = coarse ? q->tolerance / 16 : 1e-14;
    double tiny = (coarse ? 1 : 1e-3) * q->tolerance * rms, least = coarse ? rms : 0;
    double *f = ur_alloc(ROWS, (q->k + 1) * sizeof *f);
    if (!f)
        return ur_fail_memory(err, ROWS * q->k, "activations");
    q->left = 0;
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        if (q->k > 0)
            ur_multiply_nt(rows, p, q->k, frame->x + first * p, q->W, f);
        for (size_t i = first; i < first + rows; i++) {
            double terms = subtract(q, i, f + (i - first) * q->k);
            q->zero[i] = q->norm[i] <= q->tolerance * terms + tiny;
            q->dull[i] = q->zero[i] || q->norm[i] * q->tolerance < 3 * precision * (terms + least);
            q->left += !q->zero[i];
        }
    }
    free(f);
    return UNRELU_OK;
}

/* ---- refinement ---- */

static double row_times(size_t p, const double *w, const double *x)
{
    double t = 0;
    for (size_t i = 0; i < p; i++)
        t += w[i] * x[i];
    return t;
}

/* marks explained rows, 4 p + 8 at least of each neuron where there are as many; their number */
static unrelu_status choose_rows(const ur_peel *q, unsigned char *chosen, size_t *count,
                                 unrelu_error *err)
{
    size_t n = q->frame->n, p = q->frame->p, quota = 4 * p + 8;
    size_t *have = ur_alloc(q->k, sizeof *have);
    unsigned char *on = ur_alloc(q->k, 1);
    *count = 0;
    if (!have || !on) {
        free(have);
        free(on);
        return ur_fail_memory(err, q->k, "counts");
    }
    for (size_t i = 0, filled = 0; i < n && filled < q->k; i++) {
        int wanted = 0;
        if (!q->zero[i])
            continue;
        for (size_t j = 0; j < q->k; j++) {
            on[j] = row_times(p, q->W + j * p, q->frame->x + i * p) > 0;
            wanted |= on[j] && have[j] < quota;
        }
        if (!wanted)
            continue;
        chosen[i] = 1;
        (*count)++;
        for (size_t j = 0; j < q->k; j++)
            if (on[j] && ++have[j] == quota)
                filled++;
    }
    free(have);
    free(on);
    return UNRELU_OK;
}

static void gather(const ur_peel *q, const unsigned char *chosen, double *x, double *a)
{
    size_t p = q->frame->p, m = q->frame->m, at = 0;
    for (size_t i = 0; i < q->frame->n; i++)
        if (chosen[i]) {
            memcpy(x + at * p, q->frame->x + i * p, p * sizeof *x);
            memcpy(a + at * m, q->frame->a + i * m, m * sizeof *a);
            at++;
        }
}

/* W, U of the fit, at rows of U of unit length */
static void take(ur_peel *q, const ur_newton_fit *fit)
{
    size_t p = q->frame->p, m = q->frame->m, k = q->k;
    for (size_t j = 0; j < k; j++) {
        double length = 0;
        for (size_t l = 0; l < m; l++)
            length = hypot(length, fit->U[l * k + j]);
        for (size_t i = 0; i < p; i++)
            q->W[j * p + i] = fit->V[j * p + i] * length;
        for (size_t l = 0; l < m; l++)
            q->U[j * m + l] = length > 0 ? fit->U[l * k + j] / length : 0;
    }
}

static unrelu_status step(ur_peel *q, const unsigned char *chosen, size_t count, ur_arena *arena,
                          ur_newton_fit *fit, unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m;
    double *x = ur_alloc(count, p * sizeof *x), *a = ur_alloc(count, m * sizeof *a);
    unrelu_status status = x && a ? UNRELU_OK : ur_fail_memory(err, count * (p + m), "cells");
    if (status == UNRELU_OK) {
        ur_newton problem = {.n = count, .p = p, .m = m, .x = x, .a = a, .exec = q->exec};
        problem.f = (unrelu_activation){UNRELU_RELU, 0};
        gather(q, chosen, x, a);
        status = ur_newton_alloc(&problem, q->k, arena, fit, err);
        if (status == UNRELU_OK) {
            memcpy(fit->V, q->W, q->k * p * sizeof *fit->V);
            ur_unit_rows(q->k, p, fit->V);
            status = ur_newton_polish(&problem, fit, err);
        }
    }
    free(x);
    free(a);
    return status;
}

unrelu_status ur_peel_refine(ur_peel *q, unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m, k = q->k, count = 0, left = q->left;
    unsigned char *chosen = ur_alloc(q->frame->n, 1);
    double *W = ur_alloc(k, p * sizeof *W), *U = ur_alloc(k, m * sizeof *U);
    UR_ARENA(arena);
    ur_newton_fit fit = {0};
    unrelu_status status =
        chosen && W && U ? UNRELU_OK : ur_fail_memory(err, q->frame->n + k * (p + m), "weights");
    if (status == UNRELU_OK)
        status = choose_rows(q, chosen, &count, err);
    if (status != UNRELU_OK || count == 0)
        goto done;
    memcpy(W, q->W, k * p * sizeof *W);
    memcpy(U, q->U, k * m * sizeof *U);
    status = step(q, chosen, count, &arena, &fit, err);
    if (status != UNRELU_OK || !isfinite(fit.rss))
        goto done;
    take(q, &fit);
    status = ur_peel_residual(q, err);
    if (status == UNRELU_OK && q->left > left) {
        memcpy(q->W, W, k * p * sizeof *W);
        memcpy(q->U, U, k * m * sizeof *U);
        status = ur_peel_residual(q, err);
    }
done:
    free(chosen);
    free(W);
    free(U);
    return status;
}
