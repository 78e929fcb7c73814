/* SPDX-License-Identifier: Apache-2.0 */
/* What the neurons found so far leave of the labels, R = a - sum_j u_j max(0, w_j x), to within
 * rounding of its terms: after each peel one Gauss-Newton step over all neurons on rows that they
 * explain takes w from 1e-9 (it would grow by a factor with each peel) to 1e-15. A rest that is
 * smaller than 3e-5 of the terms has no direction to 1e-9 and takes no part. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* rows whose activations are held at a time */
/* rows of each neuron that take part in a step of refinement: for each input, and more */
enum { ROWS_FOR_EACH = 4, MORE_ROWS = 8 };
/* Distance of unit rows that counts as none, for labels of 16 digits; else FLOORS times the floor
 * of the labels. */
static const double TOLERANCE = 1e-9, FLOORS = 4;
/* What rounding leaves of a row, of its terms: 16 digits; of coarser labels this share of the
 * tolerance, a quarter of their floor. */
static const double ROUNDING = 1e-14, ROUNDING_OF_COARSE = 1. / 16;
/* A rest of so many times the rounding, over the tolerance, has a direction to the tolerance. */
static const double DIRECTION = 3;
/* Rows this small, in tolerances of the root mean square, are zero whatever their terms. */
static const double TINY = 1e-3;

unrelu_status ur_peel_open(const ur_frame *frame, double floor, uint64_t seed, uint64_t budget,
                           const unrelu_exec *exec, ur_arena *arena, ur_peel *peel,
                           unrelu_error *err)
{
    size_t n = frame->n;
    *peel = (ur_peel){.frame = frame,
                      .exec = exec,
                      .arena = arena,
                      .seed = seed,
                      .budget = budget,
                      .degree = 1,
                      .tolerance = fmax(TOLERANCE, FLOORS * floor),
                      .R = ur_take(arena, n, frame->m * sizeof *peel->R),
                      .norm = ur_take(arena, n, sizeof *peel->norm),
                      .zero = ur_take(arena, n, 1),
                      .faint = ur_take(arena, n, 1)};
    UR_TRY(ur_arena_status(arena, err));
    return ur_peel_residual(peel, err);
}

unrelu_status ur_peel_reserve(ur_peel *peel, size_t more, unrelu_error *err)
{
    size_t p = peel->frame->p, m = peel->frame->m, capacity = 2 * (peel->k + more);
    if (peel->k + more <= peel->capacity)
        return UNRELU_OK;
    double *W = ur_take(peel->arena, capacity, p * sizeof *W);
    double *U = ur_take(peel->arena, capacity, m * sizeof *U);
    UR_TRY(ur_arena_status(peel->arena, err));
    if (peel->k > 0) {
        memcpy(W, peel->W, peel->k * p * sizeof *W);
        memcpy(U, peel->U, peel->k * m * sizeof *U);
    }
    peel->W = W;
    peel->U = U;
    peel->capacity = capacity;
    return UNRELU_OK;
}

unrelu_status ur_peel_residual(ur_peel *peel, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_frame *frame = peel->frame;
    size_t n = frame->n, p = frame->p, m = frame->m;
    double rms = sqrt(frame->size / (double)n);
    /* of a row, relative to its terms; the digits that labels carry are those of the largest */
    int coarse = peel->tolerance > TOLERANCE;
    double precision = coarse ? peel->tolerance * ROUNDING_OF_COARSE : ROUNDING;
    double tiny = (coarse ? 1 : TINY) * peel->tolerance * rms, least = coarse ? rms : 0;
    double *f = ur_take(&arena, BLOCK, (peel->k + 1) * sizeof *f);
    UR_TRY(ur_arena_status(&arena, err));
    peel->left = 0;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        if (peel->k > 0)
            ur_multiply_nt(rows, p, peel->k, frame->x + first * p, peel->W, f);
        for (size_t i = first; i < first + rows; i++) {
            const double *on = f + (i - first) * peel->k;
            double *R = peel->R + i * m, terms = 0;
            memcpy(R, frame->a + i * m, m * sizeof *R);
            double label = sqrt(ur_short_dot(m, R, R));
            for (size_t j = 0; j < peel->k; j++) {
                if (!(on[j] > 0))
                    continue;
                double value = ur_peel_power(peel, on[j]);
                terms += value;
                for (size_t l = 0; l < m; l++)
                    R[l] -= value * peel->U[j * m + l];
            }
            terms = label + terms;
            peel->norm[i] = sqrt(ur_short_dot(m, R, R));
            peel->zero[i] = peel->norm[i] <= peel->tolerance * terms + tiny;
            peel->faint[i] = peel->zero[i] || peel->norm[i] * peel->tolerance <
                                                  DIRECTION * precision * (terms + least);
            peel->left += !peel->zero[i];
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_peel_refine(ur_peel *peel, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_frame *frame = peel->frame;
    size_t p = frame->p, m = frame->m, k = peel->k, count = 0, left = peel->left;
    size_t quota = ROWS_FOR_EACH * p + MORE_ROWS, *have = ur_take(&arena, k, sizeof *have);
    size_t *chosen = ur_take(&arena, frame->n, sizeof *chosen);
    unsigned char *on = ur_take(&arena, k, 1);
    double *W = ur_take(&arena, k, p * sizeof *W), *U = ur_take(&arena, k, m * sizeof *U);
    UR_TRY(ur_arena_status(&arena, err));
    /* explained rows, so many at least of each neuron where there are as many */
    for (size_t i = 0, filled = 0; i < frame->n && filled < k; i++) {
        int wanted = 0;
        for (size_t j = 0; j < k && peel->zero[i]; j++) {
            on[j] = ur_short_dot(p, peel->W + j * p, frame->x + i * p) > 0;
            wanted |= on[j] && have[j] < quota;
        }
        if (!wanted)
            continue;
        chosen[count++] = i;
        for (size_t j = 0; j < k; j++)
            filled += on[j] && ++have[j] == quota;
    }
    if (count == 0)
        return UNRELU_OK;
    /* a step on them, where it has one */
    double *x = ur_take(&arena, count, p * sizeof *x), *a = ur_take(&arena, count, m * sizeof *a);
    ur_newton problem = {.n = count, .p = p, .m = m, .x = x, .a = a, .exec = peel->exec};
    problem.f = peel->degree == 1 ? (unrelu_activation){UNRELU_RELU, 0}
                                  : (unrelu_activation){UNRELU_POWER, peel->degree};
    ur_newton_fit fit;
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    for (size_t i = 0; i < count; i++) {
        memcpy(x + i * p, frame->x + chosen[i] * p, p * sizeof *x);
        memcpy(a + i * m, frame->a + chosen[i] * m, m * sizeof *a);
    }
    memcpy(fit.V, peel->W, k * p * sizeof *fit.V);
    ur_unit_rows(k, p, fit.V);
    UR_TRY(ur_newton_polish(&problem, &fit, err));
    memcpy(W, peel->W, k * p * sizeof *W);
    memcpy(U, peel->U, k * m * sizeof *U);
    for (size_t j = 0; j < k && isfinite(fit.rss); j++) { /* rows of U to unit length */
        double length = 0;
        for (size_t l = 0; l < m; l++)
            length = hypot(length, fit.U[l * k + j]);
        for (size_t i = 0; i < p; i++)
            peel->W[j * p + i] = fit.V[j * p + i] * ur_peel_root(peel, length);
        for (size_t l = 0; l < m; l++)
            peel->U[j * m + l] = length > 0 ? fit.U[l * k + j] / length : 0;
    }
    UR_TRY(ur_peel_residual(peel, err));
    if (peel->left <= left)
        return UNRELU_OK;
    memcpy(peel->W, W, k * p * sizeof *W);
    memcpy(peel->U, U, k * m * sizeof *U);
    return ur_peel_residual(peel, err);
}
