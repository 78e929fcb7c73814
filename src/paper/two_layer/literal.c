/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 7 as it is printed, with c > 0 in its step 2 (c != 0 would merge u and -u): every class
 * of parallel rows is one neuron, w_i from its rows alone; U then comes by least squares. It needs
 * d rows with one neuron on for every neuron, n about (d + 2.3 sqrt d) / p_min, and columns of U
 * that are not parallel: with u and -u (which Theorem 11 allows) the rows of both fall into the
 * classes of either, and their equations contradict each other. */
#include "base/error.h"
#include "dense/linear.h"
#include "paper/two_layer/two_layer.h"

#include <math.h>
#include <string.h>

/* of the largest pivot: equations of fewer dimensions than inputs do not determine a neuron */
static const double EQUATIONS_RANK = 1e-9;
/* tolerances of parallel rows: equations of one neuron agree to some of them */
static const double CONTRADICTION = 100;

/* the equations of class c; *gap: the largest that is left of one, over their size */
static unrelu_status solve_class(const ur_peel *q, const ur_groups *g, size_t c, double *w,
                                 size_t *rank, double *gap, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t p = frame->p, rows = g->size[c], at = 0;
    UR_ARENA(arena);
    double *X = ur_take(&arena, rows, p * sizeof *X), *b = ur_take(&arena, rows, sizeof *b);
    double size = 0, worst = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < frame->n; i++)
        if (g->of[i] == c) {
            memcpy(X + at * p, frame->x + i * p, p * sizeof *X);
            b[at++] = q->norm[i];
            size += q->norm[i] * q->norm[i];
        }
    UR_TRY(ur_least_squares(rows, p, 1, X, b, EQUATIONS_RANK, w, rank, err));
    for (size_t i = 0; i < rows; i++)
        worst = fmax(worst, fabs(ur_short_dot(p, w, X + i * p) - b[i]));
    *gap = worst / sqrt(size / (double)rows);
    return UNRELU_OK;
}

/* one neuron for each class; *ready = 1 where all have their equations */
static unrelu_status solve_classes(ur_peel *q, const ur_groups *g, int *ready, ur_outcome *out,
                                   unrelu_error *err)
{
    size_t p = q->frame->p, m = q->frame->m;
    UR_TRY(ur_peel_reserve(q, g->count, err));
    for (size_t c = 0; c < g->count; c++) {
        size_t rank = 0;
        double gap = 0;
        if (g->size[c] >= p)
            UR_TRY(solve_class(q, g, c, q->W + c * p, &rank, &gap, err));
        if (rank < p) {
            double n = (double)q->frame->n, rows = (double)g->size[c], wide = (double)p;
            out->failure = ur_take_text(
                out->arena,
                "Algorithm 7 needs %zu rows with one neuron on for every neuron, and direction "
                "%zu has %zu of %zu: p = %.2g, so that about (d + 2.3 sqrt d) / p = %.3g rows are "
                "needed; peeling (without `literal`) needs far fewer",
                p, c + 1, g->size[c], q->frame->n, rows / n, (wide + 2.3 * sqrt(wide)) * n / rows);
            return UNRELU_OK;
        }
        if (gap > CONTRADICTION * q->tolerance) {
            out->failure = ur_take_text(
                out->arena,
                "the %zu equations of direction %zu contradict each other (by %.2g of their size): "
                "two columns of U are parallel, or antiparallel, for which Algorithm 7 does not "
                "hold; without `literal` antiparallel ones are told apart",
                g->size[c], c + 1, gap);
            return UNRELU_OK;
        }
        memcpy(q->U + c * m, g->direction + c * m, m * sizeof *q->U);
        q->k = c + 1;
    }
    *ready = 1;
    return UNRELU_OK;
}

unrelu_status ur_literal(const ur_problem *given, ur_peel *q, int *ready, ur_outcome *out,
                         unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t p = frame->p, k = given->options.k;
    UR_ARENA(arena);
    ur_groups g;
    *ready = 0;
    UR_TRY(ur_group(frame->n, frame->m, q->R, q->faint, p, p > 1 ? frame->x : NULL, q->tolerance,
                    q->seed, &arena, &g, err));
    q->first = g.count;
    q->rarest = g.count > 0 ? g.size[g.count - 1] : 0;
    if (g.count > 0 && (k == 0 || g.count == k))
        return solve_classes(q, &g, ready, out, err);
    if (g.count == 0)
        out->failure = ur_take_text(
            out->arena,
            "no two of the %zu rows of labels are parallel: either they are noisy, or no neuron is "
            "on alone twice; Algorithm 7 needs d such rows of every neuron",
            frame->n);
    else
        out->failure = ur_take_text(
            out->arena,
            "%zu directions repeat among the rows of labels and %zu neurons were asked for: "
            "Algorithm 7 needs a class of parallel rows for each neuron and no other; without "
            "`literal` peeling needs fewer rows",
            g.count, k);
    return UNRELU_OK;
}
