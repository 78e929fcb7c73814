/* SPDX-License-Identifier: Apache-2.0 */
/* The default: an exact network; where there is none the hard cases that may apply; where these
 * find none either, the maximum likelihood. Of labels that look noisy the maximum likelihood comes
 * before the hard cases that noise makes slow, and these follow where it leaves a doubt. --method
 * exact ends with the first, --method moments is the last alone. */
#include "base/error.h"
#include "dense/activation.h"
#include "network/data/watch.h"
#include "network/exact/exact.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "network/noisy/noisy.h"
#include "network/recover/methods.h"

#include <math.h>

/* Share of the labels that a fallback may call wrong. Larger, and a network that lacks neurons is
 * taken for one whose other labels are wrong: by name sparse-noise goes to 40 %, where somebody
 * knows that labels are wrong. */
static const double MOST_WRONG = 0.2;
/* What a fit leaves is taken for noise without a look at the fallbacks that noise makes slow where
 * so many starts reached it, and it has so many labels for each weight. Fewer, and a function may
 * pass for noise, which what is left of few labels does not tell. */
enum { SURE_STARTS = 2, SURE_LABELS = 20 };

/* the notes and k of a fit that was refused stay, its network does not */
static void fail_exact(const ur_problem *given, ur_outcome *out)
{
    const char *best = "";
    if (out->closest < 1)
        best = ur_take_text(out->arena, " (the best residual is %.2g, and %.2g is needed)",
                            out->closest, given->data.floor);
    out->answer = UR_NONE;
    out->failure = ur_take_text(
        out->arena,
        "no exact fit was found%s: the labels are noisy, or not of such a network; without %s they "
        "are fitted with noise",
        best, given->options.method == UNRELU_RECOVER_EXACT ? "`method` exact" : "`noise` none");
}

/* how a fallback ended */
static unrelu_status tell(const ur_problem *given, const ur_method *method, const ur_outcome *tried,
                          int plausible, unrelu_error *err)
{
    if (tried->answer == UR_NONE)
        return ur_watch_tell(given->watch, err, "%s: %.400s", method->name, tried->failure);
    if (!plausible)
        return ur_watch_tell(given->watch, err,
                             "%s: a network of %zu neurons would leave %zu labels wrong, which is "
                             "too many to believe",
                             method->name, tried->weights.k, tried->corrupted);
    return ur_watch_tell(given->watch, err, "%s: the labels are met with %zu neurons", method->name,
                         tried->weights.k);
}

/* A method that does not apply to the data is passed over, and what it left is dropped. */
static unrelu_status try_fallback(const ur_problem *given, const ur_method *method, ur_outcome *out,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    ur_outcome tried = ur_outcome_in(&arena);
    ur_problem within = *given;
    unrelu_error why = {0};
    tried.closest = out->closest;
    if (within.options.budget == 0)
        within.options.budget = method->fallback;
    unrelu_status status = method->run(&within, &tried, &why);
    if (status == UNRELU_OK)
        status = ur_arena_status(&arena, &why);
    out->closest = tried.closest;
    if (status == UNRELU_EDATA || status == UNRELU_EUSAGE)
        return ur_watch_tell(given->watch, err, "%s: %.400s", method->name, why.text);
    if (status != UNRELU_OK && err)
        *err = why;
    double cells = (double)given->data.n * (double)given->data.m;
    int plausible = (double)tried.corrupted <= MOST_WRONG * cells;
    if (status != UNRELU_OK)
        return status;
    UR_TRY(tell(given, method, &tried, plausible, err));
    if (tried.answer != UR_NONE && plausible) {
        tried.method = method->name;
        ur_outcome_keep(&tried, out);
    }
    return UNRELU_OK;
}

/* Fewer labels than neurons, of which no fixed points are left. */
static unrelu_status try_signless(const ur_problem *given, const char **tried, ur_outcome *out,
                                  unrelu_error *err)
{
    const ur_method *method = ur_method_of(UNRELU_RECOVER_SIGNLESS);
    int yes = 0;
    UR_TRY(method->applies(given, &yes, err));
    if (!yes)
        return ur_watch_tell(given->watch, err,
                             "%s: not tried, as the labels look like those of fewer neurons than "
                             "they have dimensions, with noise",
                             method->name);
    *tried = ur_take_text(out->arena, "%s, %s", *tried, method->name);
    return try_fallback(given, method, out, err);
}

/* Those that take labels with noise for what they are at once, or the others; *tried: ", signless,
 * sparse-noise, one-sparse" */
static unrelu_status fall_back(const ur_problem *given, int slow, const char **tried,
                               ur_outcome *out, unrelu_error *err)
{
    const ur_method *method;
    if (given->options.activation.kind != UNRELU_RELU)
        return UNRELU_OK;
    for (size_t i = 0; out->answer == UR_NONE && (method = ur_method_fallback(i)); i++) {
        int yes = 0;
        if (method->slow_on_noise != slow)
            continue;
        UR_TRY(method->applies(given, &yes, err));
        if (!yes)
            continue;
        *tried = ur_take_text(out->arena, "%s, %s", *tried, method->name);
        UR_TRY(try_fallback(given, method, out, err));
        if (out->answer != UR_NONE)
            ur_outcome_note(out, "fallback",
                            "the default found no network that meets the labels; tried%s, and %s "
                            "does",
                            *tried + 1, out->method);
    }
    return UNRELU_OK;
}

/* says which methods noise spared */
static unrelu_status pass_over_slow(const ur_problem *given, unrelu_error *err)
{
    const ur_method *method;
    for (size_t i = 0; (method = ur_method_fallback(i)); i++) {
        int yes = 0;
        if (method->slow_on_noise)
            UR_TRY(method->applies(given, &yes, err));
        if (yes)
            UR_TRY(ur_watch_tell(given->watch, err,
                                 "%s: not tried, as what the maximum likelihood leaves is noise",
                                 method->name));
    }
    return UNRELU_OK;
}

/* the maximum likelihood, and whether what it leaves is noise */
static unrelu_status fit_noisy(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    UR_TRY(ur_noisy(given, out, err));
    UR_TRY(ur_watch_tell(given->watch, err, "maximum likelihood: %zu neurons leave %.2g; k: %s",
                         out->weights.k, out->certificate.residual, out->how_k));
    if (out->answer == UR_EXACT)
        return UNRELU_OK;
    if (given->options.labels == UNRELU_LABELS_NOISELESS) {
        out->closest = fmin(out->closest, out->certificate.residual);
        fail_exact(given, out);
        return UNRELU_OK;
    }
    return ur_noisy_judge(given, out, err);
}

static int is_surely_noise(const ur_problem *given, const ur_outcome *out)
{
    double labels = (double)given->data.n * (double)given->data.m;
    return out->answer == UR_NOISY && out->starts_agree >= SURE_STARTS &&
           labels >= SURE_LABELS * ur_parameters(given, out->weights.k, out->terms);
}

/* Labels that no exact network meets: first what they look like. What neither finds is left to the
 * caller, and so are labels of too few rows. */
static unrelu_status fall_back_or_fit(const ur_problem *given, const char **tried, ur_outcome *out,
                                      unrelu_error *err)
{
    UR_ARENA(arena);
    ur_outcome fit = ur_outcome_in(&arena);
    int noisy = 0;
    UR_TRY(fall_back(given, 0, tried, out, err));
    if (out->answer != UR_NONE)
        return UNRELU_OK;
    if (given->options.labels == UNRELU_LABELS_AUTO)
        UR_TRY(ur_one_sparse_looks_noisy(given, &noisy, err));
    if (noisy) {
        unrelu_error why = {0};
        fit.closest = out->closest;
        unrelu_status status = fit_noisy(given, &fit, &why);
        if (status != UNRELU_OK && status != UNRELU_EDATA) {
            if (err)
                *err = why;
            return status;
        }
        if (status != UNRELU_OK)
            fit.answer = UR_NONE;
    }
    UR_TRY(is_surely_noise(given, &fit) ? pass_over_slow(given, err)
                                        : fall_back(given, 1, tried, out, err));
    if (out->answer == UR_NONE && fit.answer != UR_NONE) {
        fit.closest = fmin(fit.closest, out->closest);
        ur_outcome_keep(&fit, out);
    }
    return UNRELU_OK;
}

unrelu_status ur_by_default(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    const unrelu_recover_options *o = &given->options;
    int asked_auto = o->method == UNRELU_RECOVER_AUTO,
        asked_exact = o->method == UNRELU_RECOVER_EXACT;
    const char *tried = "";
    if ((asked_auto || asked_exact) && o->labels != UNRELU_LABELS_NOISY) {
        UR_TRY(ur_exact_biases(given, out, err));
        if (out->answer == UR_EXACT)
            ur_outcome_note_merged(given, out);
        if (out->answer == UR_NONE && asked_auto)
            UR_TRY(try_signless(given, &tried, out, err));
        if (out->answer == UR_NONE && asked_auto)
            UR_TRY(fall_back_or_fit(given, &tried, out, err));
    }
    if (out->answer == UR_NONE && asked_exact && ur_activation_degree(o->activation) > 0)
        fail_exact(given, out);
    else if (out->answer == UR_NONE)
        UR_TRY(fit_noisy(given, out, err));
    if (o->labels == UNRELU_LABELS_AUTO && asked_auto &&
        (out->answer == UR_NOISY || out->answer == UR_APPROXIMATE))
        ur_outcome_note(out, "no-exact-fit", "no exact fit (best residual %.2g; tried exact%s): %s",
                        fmin(out->closest, out->certificate.residual), tried,
                        out->answer == UR_NOISY ? "the labels are taken as noisy"
                                                : "this is the closest that was found");
    return UNRELU_OK;
}
