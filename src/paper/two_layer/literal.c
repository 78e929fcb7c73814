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

/* one neuron for each class; *ready = 1 where all have their equations */
static unrelu_status solve_classes(ur_peel *q, const ur_groups *g, int *ready, ur_outcome *out,
                                   unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t p = frame->p, m = frame->m;
    UR_TRY(ur_peel_reserve(q, g->count, err));
    for (size_t c = 0; c < g->count; c++) {
        UR_ARENA(arena);
        size_t rows = g->size[c], rank = 0, at = 0;
        double *X = ur_take(&arena, rows, p * sizeof *X), *b = ur_take(&arena, rows, sizeof *b);
        double *w = q->W + c * p, size = 0, worst = 0;
        UR_TRY(ur_arena_status(&arena, err));
        for (size_t i = 0; i < frame->n; i++)
            if (g->of[i] == c) {
                memcpy(X + at * p, frame->x + i * p, p * sizeof *X);
                b[at] = ur_peel_root(q, q->norm[i]);
                size += b[at] * b[at];
                at++;
            }
        if (rows >= p)
            UR_TRY(ur_least_squares(rows, p, 1, X, b, EQUATIONS_RANK, w, &rank, err));
        for (size_t i = 0; i < rows && rank == p; i++)
            worst = fmax(worst, fabs(ur_short_dot(p, w, X + i * p) - b[i]));
        double gap = worst / sqrt(size / (double)rows); /* the largest that is left of one */
        if (rank < p) {
            double share = (double)rows / (double)frame->n;
            out->failure = ur_take_text(
                out->arena,
                "Algorithm 7 needs %zu rows with one neuron on for every neuron, and direction "
                "%zu has %zu of %zu: p = %.2g, so that about (d + 2.3 sqrt d) / p = %.3g rows are "
                "needed; peeling (without `literal`) needs far fewer",
                p, c + 1, rows, frame->n, share, ur_pure_rows(p) / share);
            return UNRELU_OK;
        }
        if (gap > CONTRADICTION * q->tolerance) {
            out->failure = ur_take_text(
                out->arena,
                "the %zu equations of direction %zu contradict each other (by %.2g of their size): "
                "two columns of U are parallel, or antiparallel, for which Algorithm 7 does not "
                "hold; without `literal` antiparallel ones are told apart",
                rows, c + 1, gap);
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
