/* SPDX-License-Identifier: Apache-2.0 */
#include "network/recover/unfinished.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/signless.h"
#include "network/verdict/verdict.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* rows that weights of what was found are fitted to, for each neuron and input, and at least: a
 * caller who wants no more does not wait for all of them */
enum { ROWS_A_WEIGHT = 20, LEAST_ROWS = 5000 };
/* Of its length, directions of what is linear in x that are rounding: least squares leave 1e-13 to
 * 1e-10 of labels of 16 digits, and of those of fewer digits as much as these are rounded. */
static const double LINEAR_SHARE = 1e-8;

/* b |z t| + M'z with |z t| = 2 relu(z t) - z t leaves a part that is linear in z: the rows (p x p
 * at most) of pairs v, -v that give it. */
static unrelu_status linear_rows(const ur_problem *given, const ur_frame *frame, size_t k,
                                 const double *T, size_t *rank, double *rows, unrelu_error *err)
{
    size_t p = frame->p, m = frame->m;
    ur_folds folds = ur_folds_of(frame, given->exec);
    ur_fold_state s;
    UR_ARENA(arena);
    double *M = ur_take(&arena, p, m * sizeof *M), *Q = ur_take(&arena, p, m * sizeof *Q);
    UR_TRY(ur_folds_open(&folds, given->data.floor, err));
    UR_TRY(ur_fold_state_open(&folds, k, &arena, &s, err));
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(s.T, T, k * p * sizeof *T);
    UR_TRY(ur_fold_evaluate(&folds, &s, err));
    memcpy(M, s.B + k * m, p * m * sizeof *M);
    ur_gemm(UR_TURNED, UR_PLAIN, p, m, k, -1, s.T, p, s.B, m, 1, M, m);
    double length = ur_norm(p * m, M), labels = sqrt(folds.size / (double)folds.n);
    double share = length > 0 ? fmax(LINEAR_SHARE, folds.floor * labels / length) : LINEAR_SHARE;
    UR_TRY(ur_qr_pivoted(p, m, M, share, rank, Q, NULL, NULL, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < *rank; j++)
            rows[j * p + i] = Q[i * *rank + j];
    ur_unit_rows(*rank, p, rows);
    return UNRELU_OK;
}

/* the rows in the frame, and pairs behind them where they have no signs; V has room for p more */
static unrelu_status enter(const ur_problem *given, const ur_frame *frame, const ur_kept *kept,
                           int signless, double *V, size_t *rank, unrelu_error *err)
{
    size_t k = kept->k, p = frame->p;
    UR_ARENA(arena);
    double *rows = ur_take(&arena, p, p * sizeof *rows);
    UR_TRY(ur_arena_status(&arena, err));
    *rank = 0;
    ur_frame_forth(frame, k, kept->rows, V);
    ur_unit_rows(k, p, V);
    if (signless)
        UR_TRY(linear_rows(given, frame, k, V, rank, rows, err));
    for (size_t j = 0; j < *rank; j++)
        for (size_t i = 0; i < p; i++) {
            V[(k + 2 * j) * p + i] = rows[j * p + i];
            V[(k + 2 * j + 1) * p + i] = -rows[j * p + i];
        }
    return UNRELU_OK;
}

/* the network of one kind, in `out` */
static unrelu_status fit(const ur_problem *given, const ur_kept *kept, int signless,
                         ur_outcome *out, unrelu_error *err)
{
    size_t rows = ROWS_A_WEIGHT * (kept->k + kept->q), rank = 0;
    UR_ARENA(arena);
    ur_frame frame;
    ur_newton_fit found;
    UR_TRY(ur_frame_make(&given->data, rows > LEAST_ROWS ? rows : LEAST_ROWS, kept->terms, 1,
                         &arena, &frame, err));
    double *V = ur_take(&arena, kept->k + 2 * frame.p, frame.p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(enter(given, &frame, kept, signless, V, &rank, err));
    ur_newton problem = ur_frame_problem(&frame, given->options.activation, given->exec);
    UR_TRY(ur_newton_alloc(&problem, kept->k + 2 * rank, &arena, &found, err));
    memcpy(found.V, V, found.k * frame.p * sizeof *V);
    UR_TRY(ur_newton_outer(&problem, &found, err));
    if (!isfinite(found.rss))
        return UNRELU_OK;
    UR_TRY(ur_certify_fit(given, &frame, &found, NULL, out, err));
    out->answer = UR_INCOMPLETE;
    out->evidence.linear_rank = rank;
    out->starts = kept->starts;
    return UNRELU_OK;
}

/* ---- in words ---- */

static const char *why(const ur_watch *watch, ur_arena *arena)
{
    return atomic_load(&watch->late)
               ? ur_take_text(arena, "the time limit of %g s was reached", watch->limit)
               : "it was interrupted";
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* what there is and what is not */
static const char *missing(const ur_kept *kept, ur_kept_kind kind, const ur_outcome *out)
{
    ur_arena *arena = out->arena;
    size_t k = kept->k;
    if (out->certificate.met)
        return ur_take_text(arena,
                            "the labels are met with %zu neurons; whether fewer do, and whether "
                            "this is the only such network, was not looked at to the end",
                            out->weights.k);
    switch (kind) {
    case UR_KEPT_NEURONS:
    case UR_KEPT_KINKS:
        return ur_take_text(
            arena,
            "%zu of %zu neurons are found%s, after %zu start%s; the other %zu are "
            "missing, and the outputs of these make up for them where they can",
            k, kept->wanted, kind == UR_KEPT_KINKS ? ", their kinks that is, without signs" : "",
            kept->starts, plural(kept->starts), kept->wanted > k ? kept->wanted - k : 0);
    case UR_KEPT_STUDENT:
        return ur_take_text(arena,
                            "%zu neurons%s come this close, none of which need be one of the "
                            "network that the labels come from; how many that has is %s",
                            k, out->evidence.linear_rank > 0 ? " and a part linear in x" : "",
                            kept->wanted > 0 ? "given" : "not known yet");
    default:
        return ur_take_text(arena,
                            "%zu neuron%s of those tried come%s closest; the last steps over all "
                            "rows, standard errors and the test of what is left are missing",
                            k, plural(k), k == 1 ? "s" : "");
    }
}

static void tell(const ur_watch *watch, ur_kept_kind kind, ur_outcome *out)
{
    const ur_kept *kept = &watch->kept[kind];
    const char *lacks = missing(kept, kind, out);
    out->how_k = "what there was when the run was stopped";
    ur_outcome_note(out, "stopped",
                    "%s: %s. What is left of the labels is %.2g of them, and nothing is said of "
                    "noise or of how certain the weights are",
                    why(watch, out->arena), lacks, out->certificate.residual);
}

/* nothing was found */
static unrelu_status give_up(const ur_watch *watch, ur_outcome *out, unrelu_error *err)
{
    if (!atomic_load(&watch->late))
        return ur_fail_cancelled(err);
    out->failure = ur_take_text(out->arena,
                                "%s before a neuron was found: give more time with `time-limit`, "
                                "or leave it out",
                                why(watch, out->arena));
    return UNRELU_OK;
}

unrelu_status ur_unfinished(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    ur_watch *watch = given->watch;
    watch->finishing = 1;
    ur_kept_kind best = UR_KEPT_KINDS;
    for (ur_kept_kind kind = 0; kind < UR_KEPT_KINDS; kind++) {
        UR_ARENA(arena);
        ur_outcome tried = ur_outcome_in(&arena);
        const ur_kept *kept = &watch->kept[kind];
        int signless = kind == UR_KEPT_KINKS || kind == UR_KEPT_STUDENT;
        if (kept->k == 0)
            continue;
        UR_TRY(fit(given, kept, signless, &tried, err));
        if (tried.answer == UR_NONE ||
            (best != UR_KEPT_KINDS && !(tried.certificate.residual < out->certificate.residual)))
            continue;
        ur_outcome_keep(&tried, out);
        best = kind;
    }
    if (best == UR_KEPT_KINDS)
        return give_up(watch, out, err);
    tell(watch, best, out);
    return ur_arena_status(out->arena, err);
}

void ur_unjudged(const ur_problem *given, ur_outcome *out)
{
    ur_watch *watch = given->watch;
    int met = out->answer == UR_EXACT;
    watch->finishing = 1;
    out->answer = UR_INCOMPLETE;
    out->noise = 0;
    out->U_se = out->V_se = out->c_se = out->e_se = NULL;
    ur_outcome_note(out, "stopped",
                    met ? "%s: the labels are met with %zu neurons (residual %.2g); whether this "
                          "is the only such network was not looked at to the end"
                        : "%s: the fit of %zu neurons is done and leaves %.2g of the labels; "
                          "whether that is noise was not looked at to the end",
                    why(watch, out->arena), out->weights.k, out->certificate.residual);
}
