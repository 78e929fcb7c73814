/* SPDX-License-Identifier: Apache-2.0 */
/* T_r ~ sum_j g_jr b_j c_j' with b, c apart during the sweeps; at the end v = b +- c, normalised,
 * and g by one more least squares (the slices are symmetric, so b and c meet). A factor solves
 *   [(C C') . (G G')] B = [sum_r g_jr (T_r c_j)]_j      (. elementwise, k x k)
 * and cyclically. T_r C' serves the update of B and of G, so that a sweep costs two products of
 * (r q x q)(q x k). The residual is summed directly: |T|^2 - <T, T^> has no digit below 1e-8. */
#include "dense/als.h"

#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_PER_TEST = 5 };
/* share of the residual that five sweeps must gain: less is rounding, or a swamp without end */
static const double ENOUGH_GAIN = 1e-10;
static const double FLOOR = 1e-15; /* residual that is rounding */
/* of the largest diagonal entry: the first ridge is rounding, the next ones grow until it helps */
static const double FIRST_RIDGE = 1e-15, RIDGE_GROWTH = 100;

typedef struct {
    const ur_als *problem;
    double *B, *C, *G;     /* k x q, k x q, k x r */
    double *W;             /* (r q x k): T_r c_j, or T_r b_j */
    double *gram, *factor; /* k x k */
    double *rest;          /* (r, q, q) */
    double norm;
} als;

static void normalise_rows(size_t k, size_t q, double *V)
{
    for (size_t j = 0; j < k; j++) {
        double size = sqrt(ur_short_dot(q, V + j * q, V + j * q));
        for (size_t i = 0; i < q && size > 0; i++)
            V[j * q + i] /= size;
    }
}

/* F (k x q) <- [(A A') . (B B')]^-1 F. Neurons that coincide leave the system singular: the
 * ridge then shares the weight among them. */
static unrelu_status solve(als *a, size_t p, const double *A, size_t q, const double *B, size_t w,
                           double *F, unrelu_error *err)
{
    size_t k = a->problem->k;
    double top = 0;
    int positive = 0;
    ur_gram(k, p, A, a->gram);
    ur_gram(k, q, B, a->factor);
    for (size_t i = 0; i < k * k; i++)
        a->gram[i] *= a->factor[i];
    for (size_t j = 0; j < k; j++)
        top = fmax(top, a->gram[j * k + j]);
    for (double ridge = FIRST_RIDGE; !positive && ridge < 1; ridge *= RIDGE_GROWTH) {
        for (size_t j = 0; j < k; j++)
            a->gram[j * k + j] += ridge * top;
        UR_TRY(ur_cholesky(k, a->gram, a->factor, &positive, err));
    }
    if (!positive)
        return UNRELU_OK;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, k, w, a->factor, k, F, w);
    ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, k, w, a->factor, k, F, w);
    return UNRELU_OK;
}

/* F_ja = sum_r g_jr W_(ra)j, then F <- Gram^-1 F */
static unrelu_status update_vectors(als *a, const double *other, double *F, unrelu_error *err)
{
    size_t r = a->problem->r, q = a->problem->q, k = a->problem->k;
    memset(F, 0, k * q * sizeof *F);
    for (size_t s = 0; s < r; s++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < k; j++)
                F[j * q + i] += a->G[j * r + s] * a->W[(s * q + i) * k + j];
    UR_TRY(solve(a, r, a->G, q, other, q, F, err));
    normalise_rows(k, q, F);
    return UNRELU_OK;
}

/* g_jr = sum_a F_ja W_(ra)j, then G <- Gram^-1 G; W = T of the other factor */
static unrelu_status update_weights(als *a, const double *F, const double *other, unrelu_error *err)
{
    size_t r = a->problem->r, q = a->problem->q, k = a->problem->k;
    memset(a->G, 0, k * r * sizeof *a->G);
    for (size_t s = 0; s < r; s++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < k; j++)
                a->G[j * r + s] += F[j * q + i] * a->W[(s * q + i) * k + j];
    return solve(a, q, F, q, other, r, a->G, err);
}

static void times(als *a, const double *F)
{
    const ur_als *p = a->problem;
    ur_multiply_nt(p->r * p->q, p->q, p->k, p->T, F, a->W);
}

/* |T - sum_j g_j (x) b_j c_j'| / |T|; spoils W */
static double residual(als *a)
{
    const ur_als *p = a->problem;
    size_t r = p->r, q = p->q, k = p->k;
    for (size_t s = 0; s < r; s++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < k; j++)
                a->W[(s * q + i) * k + j] = a->G[j * r + s] * a->B[j * q + i];
    ur_multiply(r * q, k, q, a->W, a->C, a->rest);
    for (size_t i = 0; i < r * q * q; i++)
        a->rest[i] -= p->T[i];
    return sqrt(ur_short_dot(r * q * q, a->rest, a->rest)) / a->norm;
}

/* sweeps with W = T C' before and after each */
static unrelu_status iterate(als *a, int steps, unrelu_error *err)
{
    double last = INFINITY;
    UR_TRY(update_weights(a, a->B, a->C, err));
    for (int step = 1; step <= steps; step++) {
        UR_TRY(update_vectors(a, a->C, a->B, err));
        UR_TRY(update_weights(a, a->B, a->C, err));
        times(a, a->B);
        UR_TRY(update_vectors(a, a->B, a->C, err));
        UR_TRY(update_weights(a, a->C, a->B, err));
        times(a, a->C);
        if (step % SWEEPS_PER_TEST != 0)
            continue;
        double now = residual(a);
        if (now < FLOOR || last - now < ENOUGH_GAIN * now)
            break;
        last = now;
        times(a, a->C);
    }
    return UNRELU_OK;
}

unrelu_status ur_als_run(const ur_als *p, int steps, double *V, double *G, double *fit,
                         unrelu_error *err)
{
    size_t q = p->q, k = p->k, rq = p->r * q;
    UR_ARENA(arena);
    als a = {.problem = p,
             .B = ur_take(&arena, k, q * sizeof *a.B),
             .C = ur_take(&arena, k, q * sizeof *a.C),
             .G = G,
             .W = ur_take(&arena, rq, k * sizeof *a.W),
             .gram = ur_take(&arena, k, k * sizeof *a.gram),
             .factor = ur_take(&arena, k, k * sizeof *a.factor),
             .rest = ur_take(&arena, rq, q * sizeof *a.rest),
             .norm = sqrt(ur_short_dot(rq * q, p->T, p->T))};
    *fit = 0;
    UR_TRY(ur_arena_status(&arena, err));
    normalise_rows(k, q, V);
    memset(G, 0, k * p->r * sizeof *G);
    if (!(a.norm > 0))
        return UNRELU_OK;
    memcpy(a.B, V, k * q * sizeof *V);
    memcpy(a.C, V, k * q * sizeof *V);
    times(&a, a.C);
    UR_TRY(iterate(&a, steps, err));
    for (size_t j = 0; j < k; j++) { /* v_j = b_j + sign(b_j c_j) c_j */
        double *b = a.B + j * q, *c = a.C + j * q, dot = ur_short_dot(q, b, c);
        for (size_t i = 0; i < q; i++)
            b[i] += dot < 0 ? -c[i] : c[i];
    }
    normalise_rows(k, q, a.B);
    memcpy(a.C, a.B, k * q * sizeof *a.C);
    times(&a, a.C);
    UR_TRY(update_weights(&a, a.B, a.C, err));
    memcpy(V, a.B, k * q * sizeof *V);
    *fit = residual(&a);
    return UNRELU_OK;
}
