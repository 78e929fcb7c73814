/* SPDX-License-Identifier: Apache-2.0 */
/* A neuron that is on for every sample, and a pair v, -v with output weights u, -u, are linear in
 * x: no pattern shows them. One regression of the labels on [f(V x), x] (and 1 where e is fitted)
 * tells whether such a map is all that is missing; its values at the samples give its rank. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"

#include <math.h>
#include <string.h>

/* Share of the labels below which a linear part, or a direction of it, is rounding: labels of 16
 * digits leave 1e-13 to 1e-10 of it. */
static const double LINEAR_SHARE = 1e-8;

typedef struct {
    size_t n, k, p, m, wide;
    double *Z;    /* (n, wide): f(V x), x, 1 */
    double *beta; /* (wide, m) */
    double *map;  /* (n, m): the linear part at the samples */
} regression;

static void set_features(const ur_frame *frame, const double *V, unrelu_activation f, regression *g,
                         double *t)
{
    ur_multiply_nt(g->n, g->p, g->k, frame->x, V, t);
    ur_activation_apply(f, g->n * g->k, t, t, NULL);
    for (size_t i = 0; i < g->n; i++) {
        double *z = g->Z + i * g->wide;
        memcpy(z, t + i * g->k, g->k * sizeof *z);
        memcpy(z + g->k, frame->x + i * g->p, g->p * sizeof *z);
        if (g->wide > g->k + g->p)
            z[g->k + g->p] = 1;
    }
}

/* relative residual; map = x beta_x, less its mean where that is a matter of e */
static double split(const ur_frame *frame, regression *g)
{
    double rss = 0;
    ur_multiply(g->n, g->wide, g->m, g->Z, g->beta, g->map);
    for (size_t i = 0; i < g->n * g->m; i++) {
        double miss = frame->a[i] - g->map[i];
        rss += miss * miss;
    }
    ur_multiply(g->n, g->p, g->m, frame->x, g->beta + g->k * g->m, g->map);
    int affine = frame->terms.constant && frame->terms.hidden; /* the ones are among x */
    for (size_t j = 0; j < g->m && affine; j++) {
        double mean = 0;
        for (size_t i = 0; i < g->n; i++)
            mean += g->map[i * g->m + j] / (double)g->n;
        for (size_t i = 0; i < g->n; i++)
            g->map[i * g->m + j] -= mean;
    }
    return sqrt(rss / frame->size);
}

/* rows x'Q / n of unit length for an orthonormal basis Q of the map's values */
static unrelu_status span(const ur_frame *frame, const regression *g, size_t *rank, double *rows,
                          double *Q, unrelu_error *err)
{
    double size = 0;
    for (size_t i = 0; i < g->n * g->m; i++)
        size += g->map[i] * g->map[i];
    *rank = 0;
    if (sqrt(size / frame->size) < LINEAR_SHARE)
        return UNRELU_OK;
    UR_TRY(ur_qr_pivoted(g->n, g->m, g->map, LINEAR_SHARE, rank, Q, NULL, NULL, err));
    ur_multiply_tn(g->n, *rank, g->p, Q, frame->x, rows);
    ur_unit_rows(*rank, g->p, rows);
    return UNRELU_OK;
}

unrelu_status ur_linear_part(const ur_frame *frame, size_t k, const double *V, unrelu_activation f,
                             double floor, size_t *rank, double *rows, unrelu_error *err)
{
    regression g = {.n = frame->n, .k = k, .p = frame->p, .m = frame->m};
    g.wide = k + g.p + (frame->terms.constant && !frame->terms.hidden ? 1 : 0);
    *rank = 0;
    if (g.wide + frame->d > frame->n) /* it would fit anything */
        return UNRELU_OK;
    UR_ARENA(arena);
    double *t = ur_take(&arena, g.n, k * sizeof *t), *Q = ur_take(&arena, g.n, g.m * sizeof *Q);
    g.Z = ur_take(&arena, g.n, g.wide * sizeof *g.Z);
    g.beta = ur_take(&arena, g.wide, g.m * sizeof *g.beta);
    g.map = ur_take(&arena, g.n, g.m * sizeof *g.map);
    UR_TRY(ur_arena_status(&arena, err));
    set_features(frame, V, f, &g, t);
    UR_TRY(ur_least_squares(g.n, g.wide, g.m, g.Z, frame->a, UR_ROUNDING, g.beta, NULL, err));
    return split(frame, &g) <= floor ? span(frame, &g, rank, rows, Q, err) : UNRELU_OK;
}
