/* SPDX-License-Identifier: Apache-2.0 */
/* R = Z Z' with rows of unit length is a correlation matrix, whatever Z is: the misfit
 *   F(Z) = sum over i < j of w_ij (z_i'z_j - C_ij)^2
 * is minimised freely, by L-BFGS in rows y_i = |y_i| z_i of any length:
 *   dF / dy_i = (g_i - (g_i'z_i) z_i) / |y_i|,   g = 2 (w (Z Z' - C)) Z   (product of entries).
 * The set of correlation matrices is convex and holds the truth T, so that at the minimum
 *   sum w (R - T)^2 <= sum w (C - T)^2:
 * in the metric of the weights no repair takes the estimates farther from the truth.
 *
 * The start clips the eigenvalues of q_i C_ij q_j, where q_i q_j is the rank-one matrix near
 * w_ij^1/2, at 0. Z has as many columns as eigenvalues are above 0. An evaluation costs 3 d^2 r
 * multiply-adds; 15 to 60 of them are needed, so that all takes 4 to 7 times as long as clipping
 * does. */
#include "dense/nearest_correlation.h"

#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/lbfgs.h"
#include "dense/linear.h"

#include <math.h>

/* Steps end where they lower the misfit by less than this for each pair, in squared standard
 * errors: coverage of intervals at 1e-2 is less than at the minimum, at 1e-4 it is the same, and
 * 1e-6 costs three times as much. */
static const double ENOUGH = 1e-4;
enum { MOST_STEPS = 500 }; /* five times what was ever needed */
/* Of the largest row of weights, where a column has no known pairs: it moves the others by about
 * this much, and its own row keeps the digits that the fourth root of it leaves. */
static const double LEAST_ROW = 1e-12;

typedef struct {
    size_t d, r;
    const double *C, *weight;
    double *R, *pull;   /* d x d: the lower triangle of Z Z', w (R - C) */
    double *Z, *length; /* d x r, d: rows and their lengths before */
} nearest;

static double misfit(void *context, const double *Y, double *gradient)
{
    nearest *p = context;
    size_t d = p->d, r = p->r;
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        p->length[i] = ur_norm(r, Y + i * r);
        for (size_t k = 0; k < r; k++)
            p->Z[i * r + k] = Y[i * r + k] / p->length[i];
    }
    ur_syrk(UR_LOWER, UR_PLAIN, d, r, 1, p->Z, r, 0, p->R, d);
    for (size_t i = 0; i < d; i++) {
        p->pull[i * d + i] = 0;
        for (size_t j = 0; j < i; j++) {
            size_t at = i * d + j;
            double away = p->R[at] - p->C[at], pull = p->weight[at] * away;
            p->pull[at] = p->pull[j * d + i] = pull;
            sum += pull * away;
        }
    }
    ur_gemm(UR_PLAIN, UR_PLAIN, d, r, d, 2, p->pull, d, p->Z, r, 0, gradient, r);
    for (size_t i = 0; i < d; i++) {
        double *g = gradient + i * r;
        ur_add(r, -ur_dot(r, g, p->Z + i * r), p->Z + i * r, g);
        ur_scale(r, 1 / p->length[i], g);
    }
    return sum;
}

/* Y (d x *r), from the arena, of the clipped eigenvalues; row: sums of weights */
static unrelu_status clip(const nearest *p, const double *row, ur_arena *to, size_t *r, double **Y,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = p->d;
    double *q = ur_take(&arena, d, sizeof *q), *values = ur_take(&arena, d, sizeof *values);
    double *scaled = ur_take(&arena, d, d * sizeof *scaled);
    double *vectors = ur_take(&arena, d, d * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d; i++)
        q[i] = pow(row[i] / (double)d, 0.25);
    for (size_t i = 0; i < d * d; i++)
        scaled[i] = q[i / d] * p->C[i] * q[i % d];
    UR_TRY(ur_eigen_symmetric(d, scaled, values, vectors, err));
    size_t low = 0;
    while (values[low] <= 0) /* they increase, and their sum is above 0 */
        low++;
    *r = d - low;
    *Y = ur_take(to, d, *r * sizeof **Y);
    UR_TRY(ur_arena_status(to, err));
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < *r; k++)
            (*Y)[i * *r + k] = vectors[i * d + low + k] * sqrt(values[low + k]);
    ur_unit_rows(d, *r, *Y);
    return UNRELU_OK;
}

/* row (d): sums of weights, none of them 0; returns how many pairs have one */
static double add_weights(size_t d, const double *weight, double *row)
{
    double pairs = 0, top = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            if (j != i && weight[i * d + j] > 0) {
                row[i] += weight[i * d + j];
                pairs += 0.5;
            }
        top = fmax(top, row[i]);
    }
    for (size_t i = 0; i < d; i++)
        row[i] = top > 0 ? fmax(row[i], LEAST_ROW * top) : 1;
    return pairs;
}

unrelu_status ur_nearest_correlation(size_t d, const double *C, const double *weight, double *R,
                                     int *evaluations, unrelu_error *err)
{
    UR_ARENA(arena);
    nearest p = {.d = d, .C = C, .weight = weight, .R = R};
    double *Y, *row = ur_take(&arena, d, sizeof *row), left;
    UR_TRY(ur_arena_status(&arena, err));
    double pairs = add_weights(d, weight, row);
    UR_TRY(clip(&p, row, &arena, &p.r, &Y, err));
    double *curvature = ur_take(&arena, d, p.r * sizeof *curvature);
    p.pull = ur_take(&arena, d, d * sizeof *p.pull);
    p.Z = ur_take(&arena, d, p.r * sizeof *p.Z);
    p.length = ur_take(&arena, d, sizeof *p.length);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d * p.r; i++)
        curvature[i] = 2 * row[i / p.r];
    const ur_lbfgs search = {misfit, &p, d * p.r, curvature, ENOUGH * pairs, MOST_STEPS};
    UR_TRY(ur_lbfgs_minimise(&search, Y, &left, evaluations, err));
    ur_unit_rows(d, p.r, Y);
    ur_gram(d, p.r, Y, R);
    for (size_t i = 0; i < d; i++)
        R[i * d + i] = 1;
    return UNRELU_OK;
}
