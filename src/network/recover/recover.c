/* SPDX-License-Identifier: Apache-2.0 */
/* From two files to a network with a verdict: the walk through the stations of recover.h. */
#include "network/problem/recover.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "pass/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ur_recover_method_name(unrelu_recover_method method)
{
    static const char *const names[] = {"auto",      "exact",      "moments",   "ica",
                                        "tensor",    "symmetric",  "lifted",    "facets",
                                        "enumerate", "one-sparse", "any-noise", "sparse-noise"};
    return names[method];
}

void ur_recover_clear(unrelu_network *model)
{
    double **arrays[] = {&model->U,      &model->V,     &model->c,        &model->e,
                         &model->U_se,   &model->V_se,  &model->c_se,     &model->e_se,
                         &model->active, &model->E_row, &model->E_column, &model->E_value};
    model->corrupted = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i]);
        *arrays[i] = NULL;
    }
    model->k = 0;
}

unrelu_status ur_recover_adopt(ur_recover *r, const ur_frame *frame, const ur_newton_fit *fit,
                               unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t d = frame->d, q = frame->q, k = fit->k, m = frame->m;
    ur_recover_clear(model);
    r->inputs = q;
    r->p = frame->p;
    model->k = k;
    model->activation = r->options->activation;
    snprintf(model->biases, sizeof model->biases, "%s", ur_terms_name(frame->terms));
    double *raw = ur_alloc(k, q * sizeof *raw);
    unrelu_status status =
        raw ? ur_network_alloc(model, err) : ur_fail_memory(err, k * q, "weights");
    if (status == UNRELU_OK) {
        ur_frame_back(frame, k, fit->V, raw);
        for (size_t j = 0; j < k; j++) {
            memcpy(model->V + j * d, raw + j * q, d * sizeof *raw);
            model->c[j] = frame->terms.hidden ? raw[j * q + d] : 0;
        }
        for (size_t i = 0; i < m * k; i++)
            model->U[i] = fit->U[i] * frame->unit[i / k];
        for (size_t i = 0; i < m; i++)
            model->e[i] = fit->e[i] * frame->unit[i];
        status = ur_network_normalise(model, err);
    }
    free(raw);
    return status;
}

/* ---- before the work ---- */

static unrelu_status check_size(const ur_recover *r, unrelu_error *err)
{
    const ur_data *data = &r->data;
    size_t k = r->options->k ? r->options->k : 1;
    if (data->n < data->d + k)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu row%s too few for %zu input%s and %s%zu neuron%s: at least %zu are "
                       "needed, and 6 for each input to be safe",
                       data->n, data->n == 1 ? " is" : "s are", data->d, data->d == 1 ? "" : "s",
                       r->options->k ? "" : "at least ", k, k == 1 ? "" : "s", data->d + k);
    double unknowns = (double)k * (double)(data->d + data->m - 1);
    double equations = (double)data->n * (double)data->m;
    if (unknowns > equations)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu neurons have %.0f unknown weights and the data %.0f labels: k is too "
                       "large for them",
                       k, unknowns, equations);
    return UNRELU_OK;
}

static unrelu_status check_labels(const ur_data *data, unrelu_error *err)
{
    for (size_t i = data->m; i < data->n * data->m; i++)
        if (data->a[i] != data->a[i - data->m])
            return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "the labels are the same in all %zu rows: there is no neuron to find", data->n);
}

static unrelu_status check_options(const unrelu_recover_options *o, unrelu_error *err)
{
    if (o->method == UNRELU_RECOVER_TENSOR && (o->order < 2 || o->order > 4))
        return ur_fail(err, UNRELU_EUSAGE, "the order of the tensor is 2, 3 or 4, not %d",
                       o->order);
    return o->certify ? ur_rational_ready(err) : UNRELU_OK;
}

/* the source's names; columns without one are x1, x2, ... there, and labels are not inputs */
static unrelu_status copy_names(const unrelu_source *source, size_t count, const char *letter,
                                char ***names, unrelu_error *err)
{
    *names = ur_alloc(count, sizeof **names);
    for (size_t i = 0; *names && i < count; i++) {
        char none[32], ours[32];
        const char *name = unrelu_source_name(source, i);
        snprintf(none, sizeof none, "x%zu", i + 1);
        snprintf(ours, sizeof ours, "%s%zu", letter, i + 1);
        if (!((*names)[i] = ur_string_copy(strcmp(name, none) == 0 ? ours : name)))
            return ur_fail_memory(err, count, "names");
    }
    return *names ? UNRELU_OK : ur_fail_memory(err, count, "names");
}

/* ---- the default ---- */

static unrelu_status find_exact(ur_recover *r, int *met, unrelu_error *err)
{
    unrelu_biases biases = r->options->biases;
    *met = 0;
    unrelu_status status = ur_exact(r, ur_terms_of(biases), met, err);
    if (status == UNRELU_OK && !*met && biases == UNRELU_BIASES_AUTO)
        status = ur_exact(r, ur_terms_of(UNRELU_BIASES_BOTH), met, err);
    if (status == UNRELU_OK && *met && r->options->k > r->model->k)
        status = ur_network_warn(r->model, "merged", err,
                                 "%zu neurons were asked for and %zu are enough: the others "
                                 "coincide with these, have no output or are never on",
                                 r->options->k, r->model->k);
    return status;
}

static unrelu_status fail_exact(ur_recover *r)
{
    unrelu_network *model = r->model;
    ur_recover_clear(model);
    model->verdict = UNRELU_VERDICT_FAILED;
    model->residual = r->best;
    char best[64] = "";
    if (r->best < 1)
        snprintf(best, sizeof best, " (the best residual is %.2g, and %.2g is needed)", r->best,
                 r->data.floor);
    snprintf(model->failure, sizeof model->failure,
             "no exact fit was found%s: the labels are noisy, or not of such a network; without "
             "%s they are fitted with noise",
             best, r->options->method == UNRELU_RECOVER_EXACT ? "--method exact" : "--noise none");
    return UNRELU_OK;
}

/* what the default does not cover; tried: ", sparse-noise, one-sparse" */
static unrelu_status fall_back(ur_recover *r, char *tried, size_t size, int *met, unrelu_error *err)
{
    unrelu_status status = ur_hard_fallback(r, tried, size, met, err);
    if (status == UNRELU_OK && *met)
        status = ur_network_warn(r->model, "fallback", err,
                                 "the default found no network that meets the labels; tried%s, and "
                                 "%s does",
                                 tried + 1, r->model->method);
    return status;
}

static unrelu_status walk(ur_recover *r, unrelu_error *err)
{
    const unrelu_recover_options *o = r->options;
    int met = 0, named = o->method > UNRELU_RECOVER_MOMENTS;
    char tried[64] = "";
    unrelu_status status = UNRELU_OK;
    if (o->method >= UNRELU_RECOVER_ENUMERATE)
        return ur_hard_case(r, err);
    if (named)
        return ur_method(r, err);
    if (o->method != UNRELU_RECOVER_MOMENTS && o->labels != UNRELU_LABELS_NOISY)
        status = find_exact(r, &met, err);
    if (status == UNRELU_OK && !met && o->method == UNRELU_RECOVER_AUTO &&
        o->labels != UNRELU_LABELS_NOISY)
        status = fall_back(r, tried, sizeof tried, &met, err);
    if (status != UNRELU_OK || met)
        return status;
    if (o->method == UNRELU_RECOVER_EXACT && ur_activation_degree(o->activation) > 0)
        return fail_exact(r);
    status = ur_noisy(r, err);
    if (status == UNRELU_OK && o->labels == UNRELU_LABELS_NOISELESS &&
        r->model->verdict == UNRELU_VERDICT_NOISY) {
        r->best = fmin(r->best, r->model->residual);
        return fail_exact(r);
    }
    if (status == UNRELU_OK && o->labels == UNRELU_LABELS_AUTO &&
        o->method == UNRELU_RECOVER_AUTO && r->model->verdict == UNRELU_VERDICT_NOISY)
        status = ur_network_warn(r->model, "no-exact-fit", err,
                                 "no exact fit (best residual %.2g; tried exact%s): the labels are "
                                 "taken as noisy",
                                 fmin(r->best, r->model->residual), tried);
    return status;
}

static unrelu_status warn_inputs(ur_recover *r, unrelu_error *err)
{
    if (!r->model->V || r->p == r->inputs)
        return UNRELU_OK;
    return ur_network_warn(r->model, "rank-deficient-inputs", err,
                           "the inputs%s have rank %zu, not %zu: rows of V are the shortest of "
                           "those that give the same labels",
                           r->inputs > r->model->d ? " with a column of ones" : "", r->p,
                           r->inputs);
}

/* of the methods that were asked for by name; those of start.h state their own */
static void state_guarantee(const ur_recover *r)
{
    unrelu_network *model = r->model;
    const char *text = "";
    if (model->guarantee[0] || r->options->method == UNRELU_RECOVER_AUTO)
        return;
    if (model->verdict == UNRELU_VERDICT_EXACT || model->verdict == UNRELU_VERDICT_UNCERTIFIED)
        text = "none of the paper's theorems: the residual over all samples and the rules of "
               "uniqueness of docs/method-network.md";
    else if (model->verdict == UNRELU_VERDICT_NOISY)
        text = "Theorem 10 (Gaussian inputs, sub-Gaussian noise, U and V of rank k) for the start "
               "from moments; the maximum likelihood is better by a constant factor";
    snprintf(model->guarantee, sizeof model->guarantee, "%s", text);
}

static unrelu_status recover(unrelu_source *inputs, unrelu_source *labels, ur_arena *arena,
                             ur_recover *r, unrelu_error *err)
{
    unrelu_network *model = r->model;
    unrelu_status status = check_options(r->options, err);
    if (status == UNRELU_OK)
        status = ur_data_load(inputs, labels, r->exec, arena, &r->data, err);
    if (status == UNRELU_OK)
        status = check_size(r, err);
    if (status == UNRELU_OK)
        status = check_labels(&r->data, err);
    if (status != UNRELU_OK)
        return status;
    model->n = r->data.n;
    model->d = r->data.d;
    model->m = r->data.m;
    model->seed = r->options->seed;
    model->activation = r->options->activation;
    model->gap = model->holdout_residual = NAN;
    model->objective = model->objective_bound = model->incoherence = NAN;
    snprintf(model->precision, sizeof model->precision, "%s", r->data.precision);
    snprintf(model->method, sizeof model->method, "%s", ur_recover_method_name(r->options->method));
    status = copy_names(inputs, model->d, "x", &model->input_names, err);
    if (status == UNRELU_OK)
        status = copy_names(labels, model->m, "a", &model->label_names, err);
    if (status == UNRELU_OK)
        status = walk(r, err);
    if (status == UNRELU_OK && r->options->certify)
        status = ur_rational(r, err);
    if (status == UNRELU_OK)
        state_guarantee(r);
    return status == UNRELU_OK ? warn_inputs(r, err) : status;
}

unrelu_status unrelu_recover(unrelu_source *inputs, unrelu_source *labels,
                             const unrelu_recover_options *options, const unrelu_exec *exec,
                             unrelu_network *model, unrelu_error *err)
{
    unrelu_recover_options defaults = unrelu_recover_options_default();
    ur_recover r = {
        .options = options ? options : &defaults, .exec = exec, .model = model, .best = 1};
    memset(model, 0, sizeof *model);
    UR_TRY(ur_ranks_refuse(exec, "recover", err));
    UR_BLAS_PINNED;
    UR_ARENA(arena);
    unrelu_status status = recover(inputs, labels, &arena, &r, err);
    if (status != UNRELU_OK)
        unrelu_network_free(model);
    return status;
}
