/* SPDX-License-Identifier: Apache-2.0 */
/* The noiseless network. Neurons are fixed points of pattern-CCA on a few rows (8 for each input
 * and 4 for each neuron, spread evenly over the data; all of them where that leaves no hold-out);
 * then U by least squares, one Gauss-Newton step over all neurons, and the certificate over all
 * rows. Where the fixed points leave neurons out, in this order: the rest may be linear in x
 * (always-on neurons, pairs v, -v with u, -u); more rows; joint Gauss-Newton from the found rows
 * and random ones, which is what finds a neuron that is rarely on, and also what finds exact fits
 * that are not the network below 6 rows for each input: the certificate says so. */
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/problem/recover.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILLS = 6, FILL_STEPS = 80 };

double ur_exact_slack(const ur_data *data)
{
    return fmax(1e-9, data->floor * data->floor);
}

unrelu_status ur_exact_finish(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                              size_t k, const double *V, size_t linear, int *met, unrelu_error *err)
{
    ur_newton problem = ur_frame_problem(frame, r->options->activation, r->exec);
    UR_ARENA(arena);
    ur_newton_fit fit;
    *met = 0;
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    memcpy(fit.V, V, k * frame->p * sizeof *V);
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    UR_TRY(ur_newton_polish(&problem, &fit, err));
    double residual = sqrt(fit.rss / frame->size);
    if (!(residual <= r->data.floor)) {
        r->best = fmin(r->best, residual);
        return UNRELU_OK;
    }
    r->model->linear_rank = linear;
    UR_TRY(ur_recover_adopt(r, frame, &fit, err));
    UR_TRY(ur_certify(r, frame, err));
    *met = r->met; /* else some rows or columns are off by more than the floor */
    r->best = fmin(r->best, fmax(r->model->residual, r->met ? 0 : 2 * r->data.floor));
    return *met ? ur_unique(r, frame, y, rank, err) : UNRELU_OK;
}

/* ---- what the fixed points left out ---- */

/* k - found neurons with a random row each */
static unrelu_status fill(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                          const ur_found *found, size_t k, size_t tries, int *met,
                          unrelu_error *err)
{
    size_t p = frame->p, first = found->found * p, rest = k * p - first;
    ur_newton problem = ur_frame_problem(frame, r->options->activation, r->exec);
    unrelu_status status = UNRELU_OK;
    for (size_t t = 0; t < tries && status == UNRELU_OK && !*met; t++) {
        UR_ARENA(arena);
        ur_newton_fit fit;
        UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
        memcpy(fit.V, found->V, first * sizeof *fit.V);
        ur_random_normals(r->options->seed, UR_STREAM_FILL, (t * 1000 + k) * 1000003, rest,
                          fit.V + first);
        ur_unit_rows(k - found->found, p, fit.V + first);
        status = ur_newton_solve(&problem, FILL_STEPS, 1e-13, r->data.floor * r->data.floor / 100,
                                 &fit, err);
        if (status == UNRELU_OK)
            status = ur_exact_finish(r, frame, y, rank, k, fit.V, 0, met, err);
    }
    return status;
}

/* the rest is linear in x: the found neurons and pairs v, -v */
static unrelu_status try_linear(ur_recover *r, const ur_frame *frame, const double *y, size_t basis,
                                const ur_found *found, int *met, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = frame->p, rank = 0, first = found->found;
    double *V = ur_take(&arena, first + 2 * p, p * sizeof *V);
    double *rows = ur_take(&arena, p, p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_linear_part(frame, first, found->V, r->options->activation, r->data.floor, &rank,
                          rows, err));
    if (rank == 0)
        return UNRELU_OK;
    memcpy(V, found->V, first * p * sizeof *V);
    for (size_t j = 0; j < rank; j++)
        for (size_t i = 0; i < p; i++) {
            V[(first + 2 * j) * p + i] = rows[j * p + i];
            V[(first + 2 * j + 1) * p + i] = -rows[j * p + i];
        }
    return ur_exact_finish(r, frame, y, basis, first + 2 * rank, V, rank, met, err);
}

/* Joint Gauss-Newton is worth its time where the labels look noiseless: some neurons are exact,
 * and what they leave is not a thin layer of noise over labels of full rank. */
static int is_worth_filling(const ur_frame *frame, const ur_found *found, size_t rank,
                            double residual)
{
    size_t wide = frame->m + (frame->terms.constant ? 1 : 0);
    if (found->found == 0 || 2 * found->found < found->k)
        return 0;
    return rank < wide || residual > 1e-3;
}

static unrelu_status complete(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                              const ur_found *found, int *met, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    double before = r->best;
    r->best = 1;
    if (found->found > 0)
        status = ur_exact_finish(r, frame, y, rank, found->found, found->V, 0, met, err);
    double residual = r->best;
    r->best = fmin(before, residual);
    if (status != UNRELU_OK || *met || !is_worth_filling(frame, found, rank, residual))
        return status;
    status = fill(r, frame, y, rank, found, found->k, FILLS, met, err);
    for (size_t more = 1; more <= 2 && status == UNRELU_OK && !*met; more++)
        status = fill(r, frame, NULL, 0, found, found->k + more, FILLS / 2, met, err);
    return status;
}

/* ---- the search on some rows ---- */

static size_t rows_wanted(const ur_recover *r, ur_terms terms)
{
    const ur_data *data = &r->data;
    size_t q = data->d + (terms.hidden ? 1 : 0);
    size_t k = r->options->k ? r->options->k : data->m, rows = 8 * q + 4 * (k < q ? k : q);
    return rows + data->d + k <= data->n ? rows : data->n;
}

static void note_k(ur_recover *r, size_t k)
{
    unrelu_network *model = r->model;
    if (model->linear_rank > 0)
        snprintf(model->how_k, sizeof model->how_k,
                 "rank of the labels %zu; %zu of it linear in x, as pairs v, -v", k,
                 model->linear_rank);
    else if (model->k == k)
        snprintf(model->how_k, sizeof model->how_k, "rank of the labels (%zu)", k);
    else
        snprintf(model->how_k, sizeof model->how_k,
                 "rank of the labels is %zu; %zu neurons were needed", k, model->k);
}

/* labels of rank k that are not just full: k is known, and so is that n is too small for it */
static unrelu_status check_rows(const ur_recover *r, const ur_frame *frame, size_t rank, size_t k,
                                unrelu_error *err)
{
    size_t full = frame->m + (frame->terms.constant ? 1 : 0);
    full = full < frame->n ? full : frame->n;
    if (frame->n >= frame->d + k || frame->n < r->data.n || (rank >= full && frame->m > frame->d))
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "%zu rows are too few for %zu inputs and %zu neurons (the rank of the labels): "
                   "at least %zu are needed, and 6 for each input to be safe",
                   frame->n, frame->d, k, frame->d + k);
}

static unrelu_status attempt(ur_recover *r, ur_terms terms, size_t rows, int *met,
                             size_t *found_any, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    ur_found found;
    size_t rank = 0;
    double degree = ur_activation_degree(r->options->activation);
    UR_TRY(ur_frame_make(&r->data, rows, terms, 1, &arena, &frame, err));
    double *y = ur_take(&arena, frame.n, (frame.m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_labels(&frame, r->data.tolerance, &rank, y, NULL, err));
    size_t k = rank - (terms.constant && rank > 0 ? 1 : 0);
    if (r->options->k == 0)
        UR_TRY(check_rows(r, &frame, rank, k, err));
    if (k == 0 || frame.n < frame.d + k || (r->options->k > 0 && k > r->options->k))
        return UNRELU_OK;
    size_t starts = (size_t)(3 * (double)k * (1 + log((double)k))) + 20;
    UR_TRY(ur_exact_search(&frame, y, rank, k, degree, ur_exact_slack(&r->data), starts, 12 + k,
                           r->options->seed, r->exec, &arena, &found, err));
    *found_any = found.found;
    if (found.found == k)
        UR_TRY(ur_exact_finish(r, &frame, y, rank, k, found.V, 0, met, err));
    if (!*met && found.found < k)
        UR_TRY(try_linear(r, &frame, y, rank, &found, met, err));
    if (!*met && found.found < k && frame.n == r->data.n)
        UR_TRY(complete(r, &frame, y, rank, &found, met, err));
    if (*met)
        note_k(r, k);
    return UNRELU_OK;
}

unrelu_status ur_exact(ur_recover *r, ur_terms terms, int *met, unrelu_error *err)
{
    size_t rows = rows_wanted(r, terms), most = 50000, found = 0;
    *met = 0;
    if (!ur_activation_rectifies(r->options->activation) ||
        ur_activation_degree(r->options->activation) <= 0)
        return UNRELU_OK;
    unrelu_status status = attempt(r, terms, rows, met, &found, err);
    /* a neuron that is rarely on may show in more rows */
    while (status == UNRELU_OK && !*met && found > 0 && rows < r->data.n && rows < most) {
        rows = 4 * rows < most ? 4 * rows : most;
        status = attempt(r, terms, rows, met, &found, err);
    }
    return status;
}
