/* SPDX-License-Identifier: Apache-2.0 */
#include "network/signless/signless.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum { ATTEMPTS = 3 };
/* labels for each number of a network, below which students do not find it */
static const double ENOUGH_LABELS = 2.5;

/* A slope within the second of a number of so many decimals is that number: it comes with an error
 * of 1e-12 to 1e-10. */
static const double SLOPE_DIGITS = 1e6, SLOPE_OFF = 1e-9;

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

/* rows V (k x p) in a frame, which lives as long as out */
static unrelu_status finish_in(const ur_problem *given, const ur_frame *frame, size_t k,
                               const double *V, ur_outcome *out, unrelu_error *err)
{
    size_t rank = 0;
    double *y = ur_take(out->arena, frame->n, (frame->m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(out->arena, err));
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &rank, y, NULL, err));
    int enough = rank >= k + (frame->terms.constant ? 1 : 0);
    return ur_exact_finish(given, frame, enough ? y : NULL, rank, k, V, 0, out, err);
}

/* Without biases, where these came out as rounding and were not asked for: of the length of (v, c),
 * with inputs as they come, below what V may be off where the labels are met. Whether they are
 * rounding the labels say. */
static unrelu_status try_without(const ur_problem *given, const ur_frame *frame, size_t k,
                                 const double *V, ur_outcome *out, unrelu_error *err)
{
    size_t q = frame->q, d = frame->d;
    double off = pow(given->data.floor, UR_DIGITS_OF_V);
    UR_ARENA(arena);
    ur_frame other;
    double *raw = ur_take(&arena, k, q * sizeof *raw),
           *inside = ur_take(&arena, k, q * sizeof *raw);
    UR_TRY(ur_arena_status(&arena, err));
    ur_frame_back(frame, k, V, raw);
    for (size_t j = 0; j < k; j++)
        if (!(fabs(raw[j * q + d]) <= off * ur_norm(q, raw + j * q)))
            return UNRELU_OK;
    UR_TRY(ur_frame_make(&given->data, frame->n, ur_terms_of(UNRELU_BIASES_NONE), 1, out->arena,
                         &other, err));
    for (size_t j = 0; j < k; j++)
        memmove(raw + j * d, raw + j * q, d * sizeof *raw);
    ur_frame_forth(&other, k, raw, inside);
    return finish_in(given, &other, k, inside, out, err);
}

/* the rows with their signs */
static unrelu_status finish(const ur_problem *given, const ur_student *student, const int *signs,
                            ur_outcome *out, unrelu_error *err)
{
    const ur_frame *frame = &student->frame;
    size_t k = student->s.k, p = frame->p;
    UR_ARENA(arena);
    double *V = ur_take(&arena, k, p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++)
            V[j * p + i] = signs[j] * student->s.T[j * p + i];
    if (given->options.biases == UNRELU_BIASES_AUTO)
        UR_TRY(try_without(given, frame, k, V, out, err));
    return out->answer == UR_NONE ? finish_in(given, frame, k, V, out, err) : UNRELU_OK;
}

/* The signs are not known: all rows as they are, and what is left, which is linear in x, as pairs
 * v, -v. */
static unrelu_status finish_open(const ur_problem *given, const ur_student *student,
                                 ur_outcome *out, unrelu_error *err)
{
    const ur_frame *frame = &student->frame;
    size_t k = student->s.k, p = frame->p, rank = 0;
    UR_ARENA(arena);
    double *V = ur_take(&arena, k + 2 * p, p * sizeof *V);
    double *rows = ur_take(&arena, p, p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_linear_part(frame, k, student->s.T, given->options.activation, given->data.floor,
                          &rank, rows, err));
    memcpy(V, student->s.T, k * p * sizeof *V);
    for (size_t j = 0; j < rank; j++)
        for (size_t i = 0; i < p; i++) {
            V[(k + 2 * j) * p + i] = rows[j * p + i];
            V[(k + 2 * j + 1) * p + i] = -rows[j * p + i];
        }
    UR_TRY(ur_exact_finish(given, frame, NULL, 0, k + 2 * rank, V, rank, out, err));
    out->evidence.open_signs = out->answer == UR_EXACT ? k : 0;
    return UNRELU_OK;
}

/* the activation is leaky, though it was not asked for */
static unrelu_status finish_leaky(const ur_problem *given, const ur_student *student, double slope,
                                  const int *signs, ur_outcome *out, unrelu_error *err)
{
    ur_problem leaky = *given;
    char name[32];
    double rounded = round(slope * SLOPE_DIGITS) / SLOPE_DIGITS;
    slope = fabs(slope - rounded) <= SLOPE_OFF ? rounded : slope;
    leaky.options.activation = (unrelu_activation){UNRELU_LEAKY, slope};
    UR_TRY(finish(&leaky, student, signs, out, err));
    unrelu_activation_name(leaky.options.activation, name, sizeof name);
    if (out->answer == UR_EXACT)
        ur_outcome_note(out, "leaky-slope",
                        "the labels are of a leaky relu, whose slope was found: the network is "
                        "that of `activation` %s",
                        name);
    return UNRELU_OK;
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
    else if (!isnan(slope) && given->options.activation.kind == UNRELU_RELU)
        UR_TRY(finish_leaky(given, student, slope, signs, out, err));
    return out->answer == UR_NONE ? finish_open(given, student, out, err) : UNRELU_OK;
}

static unrelu_status attempt(const ur_problem *given, ur_terms terms, size_t number,
                             ur_student *student, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_outcome tried = ur_outcome_in(&arena);
    tried.closest = out->closest;
    UR_TRY(ur_fold_grow(given, terms, number, &arena, student, err));
    if (student->met && !student->trimmed)
        UR_TRY(conclude(given, student, &tried, err));
    if (student->met && tried.answer == UR_NONE) {
        UR_TRY(ur_fold_use_all(given, &arena, student, err));
        if (student->met)
            UR_TRY(conclude(given, student, &tried, err));
    }
    out->closest = fmin(out->closest, tried.closest);
    size_t k = given->options.k;
    if (tried.answer != UR_NONE && (k == 0 || student->s.k <= k))
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
    out->failure =
        student->noisy && rows <= (double)data->n
            ? ur_take_text(out->arena,
                           "no exact network was found: up to %zu neurons were tried, and rows "
                           "that were kept back are met no better with more of them; the labels "
                           "are noisy, or not of such a network",
                           student->tried)
            : ur_take_text(out->arena,
                           "no exact network was found with up to %zu neurons, as many as were "
                           "tried on %zu rows; %zu neurons need about %.0f rows",
                           student->tried, data->n, k, rows);
}

static ur_terms terms_of(const ur_problem *given)
{
    unrelu_biases biases = given->options.biases;
    return ur_terms_of(biases == UNRELU_BIASES_AUTO ? UNRELU_BIASES_BOTH : biases);
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

unrelu_status ur_signless_applies(const ur_problem *given, int *yes, unrelu_error *err)
{
    enum { ROWS = 5000 };
    unrelu_activation f = given->options.activation;
    UR_ARENA(arena);
    ur_frame frame;
    ur_fold_state s;
    int shelf;
    *yes = 0;
    if (f.kind != UNRELU_RELU && f.kind != UNRELU_LEAKY)
        return UNRELU_OK;
    UR_TRY(ur_frame_make(&given->data, ROWS, terms_of(given), 1, &arena, &frame, err));
    ur_folds folds = ur_folds_of(&frame, given->exec);
    if (frame.n <= frame.p + frame.m)
        return UNRELU_OK;
    UR_TRY(ur_folds_open(&folds, given->data.floor, err));
    UR_TRY(ur_fold_state_open(&folds, 0, &arena, &s, err));
    UR_TRY(ur_fold_evaluate(&folds, &s, err));
    UR_TRY(ur_fold_shelf(&folds, &s, given->data.tolerance, &shelf, err));
    *yes = !shelf;
    return UNRELU_OK;
}

unrelu_status ur_signless(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    ur_terms terms = terms_of(given);
    ur_student student;
    UR_TRY(check_activation(given->options.activation, err));
    student.noisy = 0;
    for (size_t i = 0; i < ATTEMPTS && out->answer == UR_NONE && !student.noisy; i++)
        UR_TRY(attempt(given, terms, i, &student, out, err));
    if (out->answer == UR_NONE) {
        fail(given, terms, &student, out);
        return UNRELU_OK;
    }
    ur_outcome_note_merged(given, out);
    out->how_k = given->options.k > 0
                     ? "given"
                     : ur_take_text(out->arena, "%zu neurons meet the labels, and not fewer",
                                    out->weights.k);
    return UNRELU_OK;
}
