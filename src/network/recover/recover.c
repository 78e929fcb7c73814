/* SPDX-License-Identifier: Apache-2.0 */
/* From two files to a network with a verdict: data, a method of the table, the verdict of its
 * outcome, and the model of both. Nobody else writes on the model. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "network/data/data.h"
#include "network/recover/methods.h"
#include "network/verdict/verdict.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- before the work ---- */

static unrelu_status check_size(const ur_problem *given, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t k = given->options.k ? given->options.k : 1;
    if (data->n < data->d + k)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu row%s too few for %zu input%s and %s%zu neuron%s: at least %zu are "
                       "needed, and 6 for each input to be safe",
                       data->n, data->n == 1 ? " is" : "s are", data->d, data->d == 1 ? "" : "s",
                       given->options.k ? "" : "at least ", k, k == 1 ? "" : "s", data->d + k);
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

static unrelu_status check_options(const unrelu_recover_options *o, const ur_method *method,
                                   unrelu_error *err)
{
    if (!method)
        return ur_fail(err, UNRELU_EUSAGE, "there is no method %d of a recovery", (int)o->method);
    if (o->method == UNRELU_RECOVER_TENSOR && (o->order < 2 || o->order > 4))
        return ur_fail(err, UNRELU_EUSAGE, "the order of the tensor is 2, 3 or 4, not %d",
                       o->order);
    return o->certify ? ur_rational_ready(err) : UNRELU_OK;
}

static unrelu_status check_activation(const unrelu_recover_options *o, const ur_method *method,
                                      unrelu_error *err)
{
    char name[32];
    if (!method->relu || o->activation.kind == UNRELU_RELU)
        return UNRELU_OK;
    unrelu_activation_name(o->activation, name, sizeof name);
    return ur_fail(err, UNRELU_EUSAGE,
                   "`method` %s is for `activation` relu, not for %s: leave out `method`",
                   method->name, name);
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

/* ---- the model ---- */

/* count doubles for the user to free; NULL stays NULL */
static unrelu_status copy(const double *from, size_t count, double **to, unrelu_error *err)
{
    if (!from)
        return UNRELU_OK;
    if (!(*to = ur_doubles(count)))
        return ur_fail_memory(err, count, "numbers of the network");
    memcpy(*to, from, count * sizeof **to);
    return UNRELU_OK;
}

static unrelu_status copy_weights(const ur_outcome *out, unrelu_network *model, unrelu_error *err)
{
    const ur_weights *w = &out->weights;
    size_t d = w->d, k = w->k, m = w->m;
    model->k = k;
    UR_TRY(copy(w->U, m * k, &model->U, err));
    UR_TRY(copy(w->V, k * d, &model->V, err));
    UR_TRY(copy(w->c, k, &model->c, err));
    UR_TRY(copy(w->e, m, &model->e, err));
    UR_TRY(copy(out->U_se, m * k, &model->U_se, err));
    UR_TRY(copy(out->V_se, k * d, &model->V_se, err));
    UR_TRY(copy(out->c_se, k, &model->c_se, err));
    UR_TRY(copy(out->e_se, m, &model->e_se, err));
    UR_TRY(copy(out->E_row, out->corrupted, &model->E_row, err));
    UR_TRY(copy(out->E_column, out->corrupted, &model->E_column, err));
    UR_TRY(copy(out->E_value, out->corrupted, &model->E_value, err));
    return copy(out->certificate.active, k, &model->active, err);
}

static unrelu_status copy_texts(const char *const *from, size_t count, char ***to,
                                unrelu_error *err)
{
    if (!from)
        return UNRELU_OK;
    *to = ur_alloc(count, sizeof **to);
    for (size_t i = 0; *to && i < count; i++)
        if (!((*to)[i] = ur_string_copy(from[i])))
            return ur_fail_memory(err, count, "fractions");
    return *to ? UNRELU_OK : ur_fail_memory(err, count, "fractions");
}

static unrelu_status copy_notes(const ur_notes *notes, unrelu_network *model, unrelu_error *err)
{
    for (const ur_note *note = notes->first; note; note = note->next)
        UR_TRY(ur_network_warn(model, note->code, err, "%s", note->text));
    return UNRELU_OK;
}

/* of the methods that were asked for by name; most state their own */
static const char *guarantee_of(const ur_outcome *out, const ur_method *method)
{
    if (out->guarantee[0] || method->id == UNRELU_RECOVER_AUTO)
        return out->guarantee;
    return out->answer == UR_EXACT
               ? "none of the paper's theorems: the residual over all samples and the rules of "
                 "uniqueness of docs/method-network.md"
           : out->answer == UR_NOISY
               ? "Theorem 10 (Gaussian inputs, sub-Gaussian noise, U and V of rank k) for the "
                 "start from moments; the maximum likelihood is better by a constant factor"
               : "";
}

static unrelu_status set_model(const ur_outcome *out, const ur_judgement *judgement,
                               const ur_method *method, unrelu_network *model, unrelu_error *err)
{
    const ur_certificate *c = &out->certificate;
    const char *name = out->method ? out->method : method->name;
    UR_TRY(ur_arena_status(out->arena, err));
    snprintf(model->method, sizeof model->method, "%s", name);
    snprintf(model->how_k, sizeof model->how_k, "%s", out->how_k);
    snprintf(model->guarantee, sizeof model->guarantee, "%s", guarantee_of(out, method));
    snprintf(model->assumption, sizeof model->assumption, "%s", out->assumption);
    snprintf(model->failure, sizeof model->failure, "%s", out->failure);
    model->verdict = judgement->verdict;
    model->gap = judgement->gap;
    model->proof = out->proof;
    model->noise = out->noise;
    model->starts = out->starts;
    model->starts_agree = out->starts_agree;
    model->objective = out->objective;
    model->objective_bound = out->objective_bound;
    model->incoherence = out->incoherence;
    UR_TRY(copy_notes(&judgement->notes, model, err));
    UR_TRY(copy_notes(&out->notes, model, err));
    if (c->active) { /* there is one, of a network that was refused too */
        snprintf(model->biases, sizeof model->biases, "%s", ur_terms_name(out->terms));
        snprintf(model->precision, sizeof model->precision, "%s", c->precision);
        model->samples_checked = model->n;
        model->min_active = c->min_active;
        model->min_inactive = c->min_inactive;
        model->holdout_residual = c->holdout_residual;
    }
    model->residual = out->answer == UR_NONE ? out->closest : c->residual;
    if (out->answer == UR_NONE)
        return UNRELU_OK;
    model->linear_rank = out->evidence.linear_rank;
    model->corrupted = out->corrupted;
    return copy_weights(out, model, err);
}

/* in exact arithmetic, where --certify asks for it */
static unrelu_status certify(const ur_problem *given, const ur_outcome *out, unrelu_network *model,
                             unrelu_error *err)
{
    ur_fractions fractions;
    if (!given->options.certify)
        return UNRELU_OK;
    UR_TRY(ur_rational(given, out, model->verdict, out->arena, &fractions, err));
    UR_TRY(copy_texts(fractions.V, model->k * model->d, &model->V_rational, err));
    UR_TRY(copy_texts(fractions.U, model->m * model->k, &model->U_rational, err));
    return fractions.why ? ur_network_warn(model, "certify", err, "%s", fractions.why) : UNRELU_OK;
}

static unrelu_status warn_inputs(const ur_outcome *out, unrelu_network *model, unrelu_error *err)
{
    if (out->answer == UR_NONE || out->p == out->inputs)
        return UNRELU_OK;
    return ur_network_warn(model, "rank-deficient-inputs", err,
                           "the inputs%s have rank %zu, not %zu: rows of V are the shortest of "
                           "those that give the same labels",
                           out->inputs > model->d ? " with a column of ones" : "", out->p,
                           out->inputs);
}

static unrelu_status recover(unrelu_source *inputs, unrelu_source *labels, ur_problem *given,
                             unrelu_network *model, unrelu_error *err)
{
    const ur_method *method = ur_method_of(given->options.method);
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_judgement judgement;
    UR_TRY(check_options(&given->options, method, err));
    UR_TRY(ur_data_load(inputs, labels, given->exec, &arena, &given->data, err));
    UR_TRY(check_size(given, err));
    UR_TRY(check_labels(&given->data, err));
    model->n = given->data.n;
    model->d = given->data.d;
    model->m = given->data.m;
    model->seed = given->options.seed;
    model->activation = given->options.activation;
    snprintf(model->precision, sizeof model->precision, "%s", given->data.precision);
    UR_TRY(copy_names(inputs, model->d, "x", &model->input_names, err));
    UR_TRY(copy_names(labels, model->m, "a", &model->label_names, err));
    UR_TRY(check_activation(&given->options, method, err));
    UR_TRY(method->run(given, &out, err));
    UR_TRY(ur_judge(given, &out, &judgement, err));
    UR_TRY(set_model(&out, &judgement, method, model, err));
    UR_TRY(certify(given, &out, model, err));
    return warn_inputs(&out, model, err);
}

unrelu_status unrelu_recover(unrelu_source *inputs, unrelu_source *labels,
                             const unrelu_recover_options *options, const unrelu_exec *exec,
                             unrelu_network **model, unrelu_error *err)
{
    unrelu_exec here;
    ur_problem given = {0};
    *model = NULL;
    unrelu_recover_options_init(&given.options, sizeof given.options);
    UR_TRY(ur_sized_copy(&given.options, sizeof given.options, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    given.exec = exec;
    UR_TRY(ur_ranks_refuse(exec, "recover", err));
    UR_BLAS_PINNED;
    unrelu_network *m = ur_network_new(err);
    return m ? ur_network_hand(m, recover(inputs, labels, &given, m, err), model) : UNRELU_ENOMEM;
}
