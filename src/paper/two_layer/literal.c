/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 7 as it is printed, with c > 0 in its step 2 (c != 0 would merge u and -u): every class
 * of parallel rows is one neuron, w_i from its rows alone; U then comes by least squares. It needs
 * d rows with one neuron on for every neuron, n about (d + 2.3 sqrt d) / p_min, and columns of U
 * that are not parallel: with u and -u (which Theorem 11 allows) the rows of both fall into the
 * classes of either, and their equations contradict each other. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the equations of class c; *gap: the largest that is left of one, over their size */
static unrelu_status solve_class(const ur_peel *q, const ur_groups *g, size_t c, double *w,
                                 size_t *rank, double *gap, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t p = frame->p, rows = g->size[c], at = 0;
    double *X = ur_alloc(rows, p * sizeof *X), *b = ur_doubles(rows), size = 0, worst = 0;
    unrelu_status status = X && b ? UNRELU_OK : ur_fail_memory(err, rows * p, "equations");
    for (size_t i = 0; i < frame->n && status == UNRELU_OK; i++)
        if (g->of[i] == c) {
            memcpy(X + at * p, frame->x + i * p, p * sizeof *X);
            b[at++] = q->norm[i];
            size += q->norm[i] * q->norm[i];
        }
    if (status == UNRELU_OK)
        status = ur_least_squares(rows, p, 1, X, b, 1e-9, w, rank, err);
    for (size_t i = 0; i < rows && status == UNRELU_OK; i++) {
        double t = 0;
        for (size_t j = 0; j < p; j++)
            t += w[j] * X[i * p + j];
        worst = fmax(worst, fabs(t - b[i]));
    }
    *gap = worst / sqrt(size / (double)rows);
    free(X);
    free(b);
    return status;
}

static void say_few(ur_recover *r, const ur_peel *q, size_t c, size_t rows)
{
    double p = (double)q->frame->p, n = (double)q->frame->n;
    snprintf(
        r->model->failure, sizeof r->model->failure,
        "Algorithm 7 needs %zu rows with one neuron on for every neuron, and direction %zu has "
        "%zu of %zu: p = %.2g, so that about (d + 2.3 sqrt d) / p = %.3g rows are needed; "
        "peeling (without --literal) needs far fewer",
        q->frame->p, c + 1, rows, q->frame->n, (double)rows / n,
        (p + 2.3 * sqrt(p)) * n / (double)rows);
}

static void say_contradicting(ur_recover *r, size_t c, size_t rows, double gap)
{
    snprintf(
        r->model->failure, sizeof r->model->failure,
        "the %zu equations of direction %zu contradict each other (by %.2g of their size): two "
        "columns of U are parallel, or antiparallel, for which Algorithm 7 does not hold; "
        "without --literal antiparallel ones are told apart",
        rows, c + 1, gap);
}

static void say_none(ur_recover *r, const ur_peel *q, size_t classes)
{
    if (classes == 0)
        snprintf(r->model->failure, sizeof r->model->failure,
                 "no two of the %zu rows of labels are parallel: either they are noisy, or no "
                 "neuron is on alone twice; Algorithm 7 needs d such rows of every neuron",
                 q->frame->n);
    else
        snprintf(r->model->failure, sizeof r->model->failure,
                 "%zu directions repeat among the rows of labels and %zu neurons were asked for: "
                 "Algorithm 7 needs a class of parallel rows for each neuron and no other; without "
                 "--literal peeling needs fewer rows",
                 classes, r->options->k);
}

unrelu_status ur_literal(ur_recover *r, ur_peel *q, int *ready, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t p = frame->p, m = frame->m;
    UR_ARENA(arena);
    ur_groups g;
    *ready = 0;
    unrelu_status status = ur_group(frame->n, m, q->R, q->faint, p, p > 1 ? frame->x : NULL,
                                    q->tolerance, q->seed, &arena, &g, err);
    if (status != UNRELU_OK)
        return status;
    q->first = g.count;
    q->rarest = g.count > 0 ? g.size[g.count - 1] : 0;
    if (g.count == 0 || (r->options->k > 0 && g.count != r->options->k)) {
        say_none(r, q, g.count);
        goto done;
    }
    status = ur_peel_reserve(q, g.count, err);
    for (size_t c = 0; c < g.count && status == UNRELU_OK; c++) {
        size_t rank = 0;
        double gap = 0;
        if (g.size[c] >= p)
            status = solve_class(q, &g, c, q->W + c * p, &rank, &gap, err);
        if (status == UNRELU_OK && rank < p)
            say_few(r, q, c, g.size[c]);
        else if (status == UNRELU_OK && gap > 100 * q->tolerance)
            say_contradicting(r, c, g.size[c], gap);
        if (rank < p || gap > 100 * q->tolerance)
            goto done;
        memcpy(q->U + c * m, g.direction + c * m, m * sizeof *q->U);
        q->k = c + 1;
    }
    *ready = status == UNRELU_OK;
done:
    return status;
}
