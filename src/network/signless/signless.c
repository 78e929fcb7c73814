/* SPDX-License-Identifier: Apache-2.0 */
#include "network/signless/signless.h"

#include "base/error.h"
#include "network/exact/exact.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum { ATTEMPTS = 3 };
/* labels for each number of a network, below which students do not find it */
static const double ENOUGH_LABELS = 2.5;

/* ratio of the activation's linear part to its fold */
static double ratio_of(unrelu_activation f)
{
    double slope = f.kind == UNRELU_LEAKY ? f.parameter : 0;
    return (1 + slope) / (1 - slope);
}

/* the column of forth that the ones have: z eta = 1 */
static const double *take_eta(const ur_frame *frame, ur_arena *arena)
{
    double *eta =
        frame->terms.hidden && frame->terms.constant ? ur_take(arena, frame->p, sizeof *eta) : NULL;
    for (size_t i = 0; eta && i < frame->p; i++)
        eta[i] = frame->forth[i * frame->q + frame->q - 1];
    return eta;
}

/* the rows of V, with the signs */
static unrelu_status finish(const ur_problem *given, const ur_student *student, const int *signs,
                            ur_outcome *out, unrelu_error *err)
{
    const ur_frame *frame = &student->frame;
    size_t k = student->s.k, p = frame->p, rank = 0;
    UR_ARENA(arena);
    double *V = ur_take(&arena, k, p * sizeof *V);
    double *y = ur_take(out->arena, frame->n, (frame->m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(out->arena, err));
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++)
            V[j * p + i] = signs[j] * student->s.T[j * p + i];
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &rank, y, NULL, err));
    int enough = rank >= k + (frame->terms.constant ? 1 : 0);
    return ur_exact_finish(given, frame, enough ? y : NULL, rank, k, V, 0, out, err);
}

static unrelu_status conclude(const ur_problem *given, const ur_student *student, ur_outcome *out,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    const double *eta = take_eta(&student->frame, &arena);
    int *signs = ur_take(&arena, student->s.k, sizeof *signs);
    ur_signs_end end;
    double slope;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fold_signs(&student->folds, &student->s, eta, ratio_of(given->options.activation),
                         given->data.floor, signs, &end, &slope, err));
    if (end == UR_SIGNS_FOUND)
        UR_TRY(finish(given, student, signs, out, err));
    return UNRELU_OK;
}

static unrelu_status attempt(const ur_problem *given, ur_terms terms, size_t number,
                             ur_student *student, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_outcome tried = ur_outcome_in(&arena);
    tried.closest = out->closest;
    UR_TRY(ur_fold_grow(given, terms, number, &arena, student, err));
    if (student->s.share <= student->folds.met)
        UR_TRY(conclude(given, student, &tried, err));
    out->closest = fmin(out->closest, tried.closest);
    if (tried.answer != UR_NONE)
        ur_outcome_keep(&tried, out);
    return UNRELU_OK;
}

static void fail(const ur_problem *given, ur_terms terms, const ur_student *student,
                 ur_outcome *out)
{
    const ur_data *data = &given->data;
    ur_folds folds = {.p = data->d + (terms.hidden ? 1 : 0), .m = data->m};
    size_t k = given->options.k > 0 ? given->options.k : student->tried;
    double rows = ceil(ENOUGH_LABELS * ur_fold_unknowns(&folds, k) / (double)data->m);
    out->failure = ur_take_text(
        out->arena,
        "no exact network was found with up to %zu neurons: the labels are noisy, or there are "
        "more; %zu neurons need %.0f rows and there are %zu",
        student->tried, k, rows, data->n);
}

static unrelu_status check_activation(unrelu_activation f, unrelu_error *err)
{
    char name[32];
    if (f.kind == UNRELU_RELU || f.kind == UNRELU_LEAKY)
        return UNRELU_OK;
    unrelu_activation_name(f, name, sizeof name);
    return ur_fail(err, UNRELU_EUSAGE,
                   "`method` signless is for `activation` relu and leaky:S, not for %s: leave out "
                   "`method`",
                   name);
}

unrelu_status ur_signless(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    unrelu_biases biases = given->options.biases;
    ur_terms terms = ur_terms_of(biases == UNRELU_BIASES_AUTO ? UNRELU_BIASES_BOTH : biases);
    ur_student student;
    UR_TRY(check_activation(given->options.activation, err));
    for (size_t i = 0; i < ATTEMPTS && out->answer == UR_NONE; i++)
        UR_TRY(attempt(given, terms, i, &student, out, err));
    if (out->answer == UR_NONE) {
        fail(given, terms, &student, out);
        return UNRELU_OK;
    }
    out->how_k = given->options.k > 0
                     ? "given"
                     : ur_take_text(out->arena, "%zu neurons meet the labels, and not fewer",
                                    out->weights.k);
    return UNRELU_OK;
}
