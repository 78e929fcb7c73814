/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer neurons that meet the labels as well. A joint fit may meet them with more than are needed:
 * one that has no output to speak of, or two that share the kink of one. Such a network is never
 * the only one, so that each of these is tried, with Gauss-Newton behind it, before k is believed.
 */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/noisy.h"
#include "network/problem/tolerance.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60 };

typedef struct {
    const ur_problem *given;
    const ur_frame *frame;
    ur_newton problem;
} place;

static int is_met(const place *p, const ur_newton_fit *fit)
{
    double least = p->given->data.floor;
    return fit->rss <= least * least * p->frame->size;
}

/* fit without neuron j, or with `merged` (may be NULL) in place of neuron i; *met: and it is kept
 */
static unrelu_status try_without(const place *p, size_t j, size_t i, const double *merged,
                                 int newton, ur_newton_fit *fit, int *met, unrelu_error *err)
{
    size_t width = p->frame->p;
    UR_ARENA(arena);
    ur_newton_fit less;
    UR_TRY(ur_newton_alloc(&p->problem, fit->k - 1, &arena, &less, err));
    for (size_t from = 0, to = 0; from < fit->k; from++)
        if (from != j)
            memcpy(less.V + to++ * width, merged && from == i ? merged : fit->V + from * width,
                   width * sizeof *less.V);
    UR_TRY(newton ? ur_newton_solve(&p->problem, STEPS, UR_ROUNDING,
                                    ur_newton_floor(&p->given->data), &less, err)
                  : ur_newton_outer(&p->problem, &less, err));
    *met = is_met(p, &less);
    if (*met)
        ur_newton_copy(&p->problem, &less, fit);
    return UNRELU_OK;
}

/* those that least squares over the others replaces */
static unrelu_status drop_idle(const place *p, ur_newton_fit *fit, unrelu_error *err)
{
    for (size_t j = 0; j < fit->k && fit->k > 1;) {
        int met = 0;
        UR_TRY(try_without(p, j, j, NULL, 0, fit, &met, err));
        j += !met;
    }
    return UNRELU_OK;
}

static double size_of_output(const place *p, const ur_newton_fit *fit, size_t j)
{
    double sum = 0;
    for (size_t r = 0; r < p->frame->m; r++)
        sum = hypot(sum, fit->U[r * fit->k + j]);
    return sum;
}

/* the one of smallest output */
static unrelu_status drop_smallest(const place *p, ur_newton_fit *fit, int *met, unrelu_error *err)
{
    size_t least = 0;
    for (size_t j = 1; j < fit->k; j++)
        if (size_of_output(p, fit, j) < size_of_output(p, fit, least))
            least = j;
    return try_without(p, least, least, NULL, 1, fit, met, err);
}

/* the two whose rows are closest become one */
static unrelu_status merge_closest(const place *p, ur_newton_fit *fit, int *met, unrelu_error *err)
{
    size_t width = p->frame->p, a = 0, b = 1;
    double closest = -INFINITY;
    UR_ARENA(arena);
    double *merged = ur_take(&arena, width, sizeof *merged);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < fit->k; j++)
        for (size_t i = 0; i < j; i++) {
            const double *v = fit->V + j * width, *w = fit->V + i * width;
            double cosine = ur_dot(width, v, w) / (ur_norm(width, v) * ur_norm(width, w));
            if (cosine > closest) {
                closest = cosine;
                a = i;
                b = j;
            }
        }
    double first = size_of_output(p, fit, a), second = size_of_output(p, fit, b);
    double same = ur_dot_steps(p->frame->m, fit->U + a, fit->k, fit->U + b, fit->k) < 0 ? -1 : 1;
    for (size_t i = 0; i < width; i++)
        merged[i] = (first * fit->V[a * width + i] + same * second * fit->V[b * width + i]) /
                    (first + same * second);
    if (ur_activation_degree(p->given->options.activation) > 0)
        ur_unit_rows(1, width, merged);
    return try_without(p, b, a, merged, 1, fit, met, err);
}

unrelu_status ur_fewer(const ur_problem *given, const ur_frame *frame, ur_newton_fit *fit,
                       unrelu_error *err)
{
    place p = {given, frame, ur_frame_problem(frame, given->options.activation, given->exec)};
    UR_TRY(drop_idle(&p, fit, err));
    for (int met = 1; met && fit->k > 1;) {
        UR_TRY(drop_smallest(&p, fit, &met, err));
        if (!met)
            UR_TRY(merge_closest(&p, fit, &met, err));
    }
    return UNRELU_OK;
}
