/* SPDX-License-Identifier: Apache-2.0 */
/* From two files to a network with a verdict: data, a method of the table, the verdict of its
 * outcome, and the model of both. Nobody else writes on the model. */
#include "base/error.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "network/data/data.h"
#include "network/recover/methods.h"
#include "network/recover/unfinished.h"
#include "network/verdict/verdict.h"
#include "pass/parallel.h"
#include "pass/ranks.h"

#include <math.h>
#include <stdio.h>
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

/* what is run: where a network is given to begin from, that is the method */
static unrelu_status choose_method(unrelu_recover_options *o, const ur_method **method,
                                   unrelu_error *err)
{
    int begins = o->method == UNRELU_RECOVER_AUTO || o->method == UNRELU_RECOVER_START;
    if (o->start && !begins)
        return ur_fail(
            err, UNRELU_EUSAGE,
            "`method` %s does not begin from a network: leave it out, or leave out `start`",
            ur_method_of(o->method) ? ur_method_of(o->method)->name : "?");
    if (o->start)
        o->method = UNRELU_RECOVER_START;
    *method = ur_method_of(o->method);
    return UNRELU_OK;
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
static const char **copy_names(const unrelu_source *source, size_t count, char letter,
                               ur_arena *arena)
{
    const char **names = ur_take_numbered(arena, letter, count);
    for (size_t i = 0; names && i < count; i++) {
        char none[32];
        const char *name = unrelu_source_name(source, i);
        snprintf(none, sizeof none, "x%zu", i + 1);
        if (strcmp(name, none) != 0)
            names[i] = ur_take_copy(arena, name);
    }
    return names;
}

/* ---- the model ---- */

static void copy_weights(const ur_outcome *out, unrelu_network *model)
{
    const ur_weights *w = &out->weights;
    size_t d = w->d, k = w->k, m = w->m;
    ur_arena *arena = ur_model_arena(model);
    model->k = k;
    if (w->f.kind == UNRELU_LEAKY) /* it may have been found */
        ur_network_set_activation(model, w->f);
    model->U = ur_take_doubles(arena, w->U, m * k);
    model->V = ur_take_doubles(arena, w->V, k * d);
    model->c = ur_take_doubles(arena, w->c, k);
    model->e = ur_take_doubles(arena, w->e, m);
    model->U_se = ur_take_doubles(arena, out->U_se, m * k);
    model->V_se = ur_take_doubles(arena, out->V_se, k * d);
    model->c_se = ur_take_doubles(arena, out->c_se, k);
    model->e_se = ur_take_doubles(arena, out->e_se, m);
    model->E_row = ur_take_doubles(arena, out->E_row, out->corrupted);
    model->E_column = ur_take_doubles(arena, out->E_column, out->corrupted);
    model->E_value = ur_take_doubles(arena, out->E_value, out->corrupted);
    model->active = ur_take_doubles(arena, out->certificate.active, k);
}

/* the theorem of the method that answered: of the default it is that of the branch that did */
static const ur_theorem *theorem_of(const ur_outcome *out, const ur_method *method)
{
    const char *answered = out->method               ? out->method
                           : out->answer == UR_NOISY ? "moments"
                           : out->answer == UR_EXACT ? "exact"
                                                     : method->name;
    if (out->method || method->run == ur_by_default)
        method = ur_method_named(method->id == UNRELU_RECOVER_MOMENTS ? "moments" : answered);
    return method->theorem ? method->theorem : &ur_none;
}

/* what is promised, in the words of the method where it has some, and whether that holds */
static unrelu_status state_guarantee(const ur_problem *given, const ur_outcome *out,
                                     const ur_method *method, unrelu_network *model,
                                     unrelu_error *err)
{
    const ur_theorem *theorem = theorem_of(out, method);
    ur_arena *arena = ur_model_arena(model);
    ur_holds holds = UR_UNTESTED;
    model->guarantee = ur_take_copy(arena, out->guarantee[0] ? out->guarantee : theorem->promise);
    unrelu_status status = UNRELU_ECANCELLED;
    if (out->answer != UR_INCOMPLETE)
        status = ur_theorem_ask(theorem, given, out, arena, &holds, &model->guarantee_because, err);
    model->guarantee_holds = ur_holds_name(holds);
    if (status != UNRELU_ECANCELLED || !ur_watch_keeps(given->watch))
        return status;
    model->guarantee_because = "the run was stopped before its conditions were looked at";
    return UNRELU_OK;
}

static unrelu_status set_model(const ur_problem *given, const ur_outcome *out,
                               const ur_judgement *judgement, const ur_method *method,
                               unrelu_network *model, unrelu_error *err)
{
    const ur_certificate *c = &out->certificate;
    ur_arena *arena = ur_model_arena(model);
    UR_TRY(ur_arena_status(out->arena, err));
    model->method = ur_take_copy(arena, out->method ? out->method : method->name);
    if (given->watch) {
        model->tried_count = given->watch->tried_count;
        model->tried = ur_take_copies(arena, given->watch->tried, model->tried_count);
    }
    model->how_k = ur_take_copy(arena, out->how_k);
    model->assumption = ur_take_copy(arena, out->assumption);
    model->failure = ur_take_copy(arena, out->failure);
    model->verdict = judgement->verdict;
    model->gap = judgement->gap;
    model->inputs_rank = judgement->inputs_rank;
    model->proof = out->proof;
    model->noise = out->noise;
    model->starts = out->starts;
    model->starts_agree = out->starts_agree;
    model->objective = out->objective;
    model->objective_bound = out->objective_bound;
    model->incoherence = out->incoherence;
    ur_model_warn_all(model, &judgement->notes);
    ur_model_warn_all(model, &out->notes);
    if ((out->answer == UR_NOISY || out->answer == UR_APPROXIMATE) && out->tails)
        ur_model_warn(model, "heavy-tails", "%s", out->tails);
    if (c->active) { /* there is one, of a network that was refused too */
        model->biases = ur_terms_name(out->terms);
        model->precision = ur_take_copy(arena, c->precision);
        model->samples_checked = model->n;
        model->min_active = c->min_active;
        model->min_inactive = c->min_inactive;
        model->holdout_residual = c->holdout_residual;
    }
    model->residual = out->answer == UR_NONE ? out->closest : c->residual;
    if (out->answer != UR_NONE) {
        model->linear_rank = out->evidence.linear_rank;
        model->corrupted = out->corrupted;
        copy_weights(out, model);
    }
    return ur_arena_status(arena, err);
}

/* in exact arithmetic, where --certify asks for it */
static unrelu_status certify(const ur_problem *given, const ur_outcome *out, unrelu_network *model,
                             unrelu_error *err)
{
    ur_fractions fractions;
    if (!given->options.certify)
        return UNRELU_OK;
    unrelu_status status = ur_rational(given, out, model->verdict, out->arena, &fractions, err);
    if (status == UNRELU_ECANCELLED && ur_watch_keeps(given->watch)) {
        ur_model_warn(model, "certify", "the run was stopped before the check in exact arithmetic");
        return UNRELU_OK;
    }
    UR_TRY(status);
    ur_arena *arena = ur_model_arena(model);
    if (fractions.V)
        model->V_rational = ur_take_copies(arena, fractions.V, model->k * model->d);
    if (fractions.U)
        model->U_rational = ur_take_copies(arena, fractions.U, model->m * model->k);
    if (fractions.why)
        ur_model_warn(model, "certify", "%s", fractions.why);
    return UNRELU_OK;
}

static void warn_inputs(const ur_outcome *out, unrelu_network *model)
{
    if (out->answer != UR_NONE && out->p < out->inputs)
        ur_model_warn(model, "rank-deficient-inputs",
                      "the inputs%s have rank %zu, not %zu: rows of V are the shortest of "
                      "those that give the same labels",
                      out->inputs > model->d ? " with a column of ones" : "", out->p, out->inputs);
}

/* What is stopped before its verdict ends with what it has. */
static unrelu_status run_method(const ur_problem *given, const ur_method *method, ur_outcome *out,
                                ur_judgement *judgement, unrelu_error *err)
{
    unrelu_status status = method->run(given, out, err);
    if (status == UNRELU_OK)
        status = ur_judge(given, out, judgement, err);
    if (status != UNRELU_ECANCELLED || !ur_watch_keeps(given->watch))
        return status;
    if (out->answer == UR_NONE) {
        *out = ur_outcome_in(out->arena);
        UR_TRY(ur_unfinished(given, out, err));
    } else
        ur_unjudged(given, out);
    return ur_judge(given, out, judgement, err);
}

static unrelu_status recover(unrelu_source *inputs, unrelu_source *labels, const ur_method *method,
                             ur_problem *given, unrelu_network *model, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_outcome out = ur_outcome_in(&arena);
    ur_judgement judgement;
    UR_TRY(check_options(&given->options, method, err));
    UR_TRY((given->options.log_probabilities ? ur_data_load_logarithms : ur_data_load)(
        inputs, labels, given->exec, &arena, &given->data, err));
    if (!method->any_rows)
        UR_TRY(check_size(given, err));
    UR_TRY(check_labels(&given->data, err));
    model->n = given->data.n;
    model->d = given->data.d;
    model->m = given->data.m;
    model->seed = given->options.seed;
    ur_network_set_activation(model, given->options.activation);
    model->precision = ur_take_copy(ur_model_arena(model), given->data.precision);
    model->input_names = copy_names(inputs, model->d, 'x', ur_model_arena(model));
    model->label_names = copy_names(labels, model->m, 'a', ur_model_arena(model));
    UR_TRY(check_activation(&given->options, method, err));
    UR_TRY(run_method(given, method, &out, &judgement, err));
    UR_TRY(set_model(given, &out, &judgement, method, model, err));
    UR_TRY(state_guarantee(given, &out, method, model, err));
    UR_TRY(certify(given, &out, model, err));
    warn_inputs(&out, model);
    return UNRELU_OK;
}

/* method NULL: the one that options name */
static unrelu_status run(unrelu_source *inputs, unrelu_source *labels,
                         const unrelu_recover_options *options, const ur_method *method,
                         const unrelu_network *network, const unrelu_exec *exec,
                         unrelu_network **model, unrelu_error *err)
{
    unrelu_exec here;
    UR_WATCH(watch);
    ur_problem given = {0};
    *model = NULL;
    unrelu_recover_options_init(&given.options, sizeof given.options);
    UR_TRY(ur_sized_copy(&given.options, sizeof given.options, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(ur_ranks_refuse(exec, network ? "certify" : "recover", err));
    UR_BLAS_BEGIN(&here.threads, err); /* before the watch, which copies how many there may be */
    ur_watch_begin(&watch, exec, network ? 0 : given.options.time_limit);
    given.exec = &watch.exec;
    given.watch = network ? NULL : &watch;
    if (network)
        given.options.start = network;
    if (network && !options)
        given.options.activation = network->activation;
    if (!method)
        UR_TRY(choose_method(&given.options, &method, err));
    unrelu_network *m = ur_network_new(err);
    unrelu_status status = m ? recover(inputs, labels, method, &given, m, err) : UNRELU_ENOMEM;
    if (status == UNRELU_ECANCELLED && atomic_load(&watch.late))
        status = ur_fail(err, UNRELU_EDATA,
                         "the time limit of %g s was reached while the data were read: give more "
                         "with `time-limit`",
                         watch.limit);
    return ur_model_hand(m, status, model, err);
}

unrelu_status unrelu_recover(unrelu_source *inputs, unrelu_source *labels,
                             const unrelu_recover_options *options, const unrelu_exec *exec,
                             unrelu_network **model, unrelu_error *err)
{
    return run(inputs, labels, options, NULL, NULL, exec, model, err);
}

unrelu_status unrelu_certify(const unrelu_network *network, unrelu_source *inputs,
                             unrelu_source *labels, const unrelu_recover_options *options,
                             const unrelu_exec *exec, unrelu_network **model, unrelu_error *err)
{
    return run(inputs, labels, options, &ur_method_as_given, network, exec, model, err);
}
