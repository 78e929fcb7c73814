/* SPDX-License-Identifier: Apache-2.0 */
/* The hard cases of the two-layer paper (sections 2, 6, 7 and 8), each by its name, and those
 * that --method auto tries where the default finds no exact network: labels that look like those
 * of a network but for some cells; fewer labels than neurons; labels of few dimensions. */
#include "base/error.h"
#include "dense/lp.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/problem/recover.h"

#include <stdio.h>
#include <string.h>

typedef unrelu_status (*hard_case)(ur_recover *r, int *met, unrelu_error *err);

static hard_case case_of(unrelu_recover_method method)
{
    switch (method) {
    case UNRELU_RECOVER_ENUMERATE:
        return ur_enumerate;
    case UNRELU_RECOVER_ONE_SPARSE:
        return ur_one_sparse;
    case UNRELU_RECOVER_ANY_NOISE:
        return ur_any_noise;
    default:
        return ur_sparse_noise;
    }
}

/* all four are about max(0, t) */
static unrelu_status check_activation(const ur_recover *r, unrelu_error *err)
{
    char name[32];
    if (r->options->activation.kind == UNRELU_RELU)
        return UNRELU_OK;
    unrelu_activation_name(r->options->activation, name, sizeof name);
    return ur_fail(err, UNRELU_EUSAGE,
                   "--method %s is for --activation relu, not for %s: leave out --method",
                   r->model->method, name);
}

unrelu_status ur_hard_case(ur_recover *r, unrelu_error *err)
{
    int met = 0;
    unrelu_status status = check_activation(r, err);
    if (status == UNRELU_OK)
        status = case_of(r->options->method)(r, &met, err);
    if (status == UNRELU_OK && !met) {
        ur_recover_clear(r->model);
        r->model->verdict = UNRELU_VERDICT_FAILED;
        r->model->residual = r->best;
    }
    return status;
}

/* ---- as a fallback ---- */

/* candidates: so many that they take less time than the noisy fit */
static uint64_t budget_of(unrelu_recover_method method)
{
    return method == UNRELU_RECOVER_ONE_SPARSE  ? 10000000
           : method == UNRELU_RECOVER_ENUMERATE ? 20000
                                                : 500;
}

/* a method that does not apply to the data is passed over; what it left in the model goes */
static unrelu_status attempt(ur_recover *r, unrelu_recover_method method, int *met,
                             unrelu_error *err)
{
    const unrelu_recover_options *asked = r->options;
    unrelu_recover_options o = *asked;
    unrelu_network *model = r->model;
    size_t warnings = model->warning_count;
    unrelu_error why = {0};
    o.budget = o.budget ? o.budget : budget_of(method);
    r->options = &o;
    unrelu_status status = case_of(method)(r, met, &why);
    r->options = asked;
    if (status == UNRELU_EDATA || status == UNRELU_EUSAGE) {
        status = UNRELU_OK;
        *met = 0;
    } else if (status != UNRELU_OK && err) {
        *err = why;
    }
    if (!*met) {
        ur_recover_clear(model);
        model->warning_count = warnings;
        model->proof = 0;
        model->failure[0] = model->how_k[0] = model->guarantee[0] = model->assumption[0] = '\0';
    }
    return status;
}

enum { FEW_LABELS = 12 };

/* labels of full rank are noisy, or too many for it to matter */
static unrelu_status has_low_rank(const ur_recover *r, int *low, unrelu_error *err)
{
    enum { MOST = 26 };
    UR_ARENA(arena);
    ur_frame frame;
    size_t m = r->data.m, rank = 0;
    UR_TRY(ur_frame_make(&r->data, 2 * (m + r->data.d) + 50, ur_terms_of(r->options->biases), 1,
                         &arena, &frame, err));
    double *y = ur_take(&arena, frame.n, (m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_labels(&frame, r->data.tolerance, &rank, y, NULL, err));
    *low = rank <= FEW_LABELS || (rank < m && rank <= MOST);
    return UNRELU_OK;
}

static unrelu_status applies(const ur_recover *r, unrelu_recover_method method, int *yes,
                             unrelu_error *err)
{
    if (method == UNRELU_RECOVER_SPARSE_NOISE)
        return ur_sparse_noise_looks(r, yes, err);
    if (method == UNRELU_RECOVER_ENUMERATE)
        return ur_lp_ready("", NULL) == UNRELU_OK ? has_low_rank(r, yes, err) : UNRELU_OK;
    /* one label: all are parallel, the joint solver's case; many: k > m neurons are never alone */
    *yes = r->data.m > 1 && r->data.m <= FEW_LABELS;
    return UNRELU_OK;
}

unrelu_status ur_hard_fallback(ur_recover *r, char *tried, size_t size, int *met, unrelu_error *err)
{
    static const unrelu_recover_method order[] = {
        UNRELU_RECOVER_SPARSE_NOISE, UNRELU_RECOVER_ONE_SPARSE, UNRELU_RECOVER_ENUMERATE};
    unrelu_status status = UNRELU_OK;
    tried[0] = '\0';
    *met = 0;
    if (r->options->activation.kind != UNRELU_RELU)
        return UNRELU_OK;
    for (size_t i = 0; i < sizeof order / sizeof *order && status == UNRELU_OK && !*met; i++) {
        int yes = 0;
        size_t length = strlen(tried);
        status = applies(r, order[i], &yes, err);
        if (status != UNRELU_OK || !yes)
            continue;
        snprintf(tried + length, size - length, ", %s", ur_recover_method_name(order[i]));
        status = attempt(r, order[i], met, err);
        if (*met)
            snprintf(r->model->method, sizeof r->model->method, "%s",
                     ur_recover_method_name(order[i]));
    }
    return status;
}
