/* SPDX-License-Identifier: Apache-2.0 */
/* --method any-noise (Theorem 13, Algorithm 8): A = f(X V') U' + e + E with E of any shape that is
 * independent of X. Finds U, V that leave as little as E does: |A - f(X V') U' - e|_F <= |E|_F is
 * what the planted network itself reaches, and what Gauss-Newton from a few starts reached in all
 * measured cases (10 laws of noise, sizes 1e-3 to 10 of the signal's, k <= 5: at most 1.0000 |E|).
 * The paper's own way needs 10^241 guesses for one neuron.
 * The weights themselves are right where E has mean 0, or where e is fitted (--intercept): else
 * U f absorbs the mean. There is no standard error without a law of E. Labels that are met to
 * rounding get the certificate and the verdict of the exact branch. Starts race on at most 20000
 * rows; the winner descends over all. */
#include "network/hard/any_noise/any_noise.h"

#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/noisy/noisy.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 20000, FEW_ROWS = 4000, MORE = 5 };
static const double CHANCE = 16; /* four deviations squared: what an offset must gain */

/* Where there are fewer labels than neurons only rows that were kept back can certify a fit. */
static size_t rows_for(const ur_problem *given)
{
    size_t n = given->data.n, k = given->options.k, held = 2 * (given->data.d + k);
    return k > given->data.m && n > 10 * held && MOST_ROWS > n - held ? n - held : MOST_ROWS;
}

/* whether A - f(X V') U' - e depends on x */
static unrelu_status test_rest(ur_any_course *q, const ur_newton_fit *fit, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    size_t n = frame->n, m = frame->m, k = fit->k, shown = 0;
    double least = q->given->data.floor;
    UR_ARENA(arena);
    double *F = ur_take(&arena, n, k * sizeof *F), *R = ur_take(&arena, n, m * sizeof *R);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply_nt(n, frame->p, k, frame->x, fit->V, F);
    ur_activation_apply(q->given->options.activation, n * k, F, F, NULL);
    ur_multiply_nt(n, k, m, F, fit->U, R);
    for (size_t i = 0; i < n * m; i++)
        R[i] = frame->a[i] - R[i] - fit->e[i % m];
    UR_TRY(ur_any_shown(&q->all, R, 0, q->given->options.seed, &shown, err));
    q->depends = shown > 0 && fit->rss > least * least * frame->size;
    return UNRELU_OK;
}

/* What the best would leave with e, or without. Whether e gains more than chance is asked at the V
 * of the best: noise lets V walk a long way for little. */
static unrelu_status compare_offset(ur_any_course *q, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    ur_newton problem = ur_frame_problem(frame, q->given->options.activation, q->given->exec);
    problem.constant = !frame->terms.constant;
    UR_ARENA(arena);
    ur_newton_fit fit;
    double unit = q->given->data.unit, before = q->best.fit.rss;
    UR_TRY(ur_newton_alloc(&problem, q->k, &arena, &fit, err));
    memcpy(fit.V, q->best.fit.V, q->k * frame->p * sizeof *fit.V);
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    q->offset = problem.constant && before - fit.rss > CHANCE * fit.rss / (double)frame->n;
    UR_TRY(ur_any_descend(q->given, &problem, 0, &fit, err));
    UR_TRY(test_rest(q, problem.constant ? &fit : &q->best.fit, err));
    q->here = unit * sqrt(before);
    q->other = unit * sqrt(fit.rss);
    return UNRELU_OK;
}

/* ---- labels with noise ---- */

/* the best of the frame, descended over all rows */
static unrelu_status finish_noisy(ur_any_course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    const ur_frame *frame = &q->frame;
    ur_outcome *out = q->out;
    UR_ARENA(arena);
    ur_frame all;
    ur_newton_fit fit;
    ur_any_measures s;
    UR_TRY(ur_frame_make(&given->data, given->data.n, frame->terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, given->options.activation, given->exec);
    double *raw = ur_take(&arena, q->k, frame->q * sizeof *raw);
    UR_TRY(ur_newton_alloc(&problem, q->k, &arena, &fit, err));
    ur_frame_back(frame, q->k, q->best.fit.V, raw);
    ur_frame_forth(&all, q->k, raw, fit.V);
    UR_TRY(ur_any_descend(given, &problem, 1, &fit, err));
    UR_TRY(ur_certify_fit(given, &all, &fit, NULL, out, err));
    if (out->certificate.met) {
        ur_arena_give(&arena, out->arena);
        UR_TRY(ur_certify_exact(given, &all, NULL, 0, 0, out, err));
        ur_any_report_exact(given, out);
        return UNRELU_OK;
    }
    out->answer = UR_NOISY;
    UR_TRY(ur_any_measure(given, &out->weights, &all, &fit, &s, err));
    ur_any_report_noisy(q, &s);
    return UNRELU_OK;
}

static int is_met(const ur_any_course *q)
{
    double least = q->given->data.floor;
    return q->best.fit.rss <= least * least * q->frame.size;
}

/* the best of the starts for q->k neurons, and how it is without or with e */
static unrelu_status fit_k(ur_any_course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t few = 100 * (given->data.d + q->k);
    ur_arena_end(&q->round);
    UR_TRY(ur_any_rows_make(&given->data, &q->frame, few < FEW_ROWS ? FEW_ROWS : few, &q->round,
                            &q->rows, err));
    UR_TRY(ur_any_race(given, &q->frame, &q->rows, q->k, given->options.budget, &q->round, &q->best,
                       err));
    return is_met(q) ? UNRELU_OK : compare_offset(q, err);
}

/* more neurons while what is left depends on x, where k is not given */
static unrelu_status fit_all(ur_any_course *q, unrelu_error *err)
{
    const ur_data *data = &q->given->data;
    size_t most = q->shown + MORE;
    most = most < data->n - data->d ? most : data->n - data->d;
    UR_TRY(fit_k(q, err));
    while (q->given->options.k == 0 && !is_met(q) && q->depends && q->k < most) {
        q->k++;
        UR_TRY(fit_k(q, err));
    }
    q->out->how_k = ur_any_how_k(q);
    q->out->starts = q->best.starts;
    q->out->starts_agree = q->best.agree;
    return UNRELU_OK;
}

static unrelu_status fit_noisy(ur_any_course *q, unrelu_error *err)
{
    UR_TRY(fit_all(q, err));
    if (is_met(q)) {
        UR_TRY(ur_joint_finish(q->given, &q->frame, &q->best.fit, q->out, err));
        q->k = q->best.fit.k;
    }
    if (q->out->answer == UR_EXACT)
        ur_any_report_exact(q->given, q->out);
    else if (q->given->options.labels == UNRELU_LABELS_NOISELESS)
        ur_any_report_failure(q);
    if (q->out->answer == UR_EXACT || q->given->options.labels == UNRELU_LABELS_NOISELESS)
        return UNRELU_OK;
    if (is_met(q)) /* on the rows of the frame, and not on all */
        UR_TRY(compare_offset(q, err));
    return finish_noisy(q, err);
}

static unrelu_status learn(ur_any_course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    ur_problem known = *given;
    UR_TRY(ur_any_rows_make(&given->data, &q->frame, q->frame.n, &q->own, &q->all, err));
    q->shown = given->options.k;
    if (q->shown == 0)
        UR_TRY(ur_any_count(&q->all, given->options.seed, &q->shown, err));
    q->k = known.options.k = q->shown;
    /* the exact branch, where the labels have a rank that k neurons can have */
    if (given->options.labels != UNRELU_LABELS_NOISY)
        UR_TRY(ur_exact(&known, q->frame.terms, q->out, err));
    if (q->out->answer == UR_NONE)
        return fit_noisy(q, err);
    ur_any_report_exact(given, q->out);
    return UNRELU_OK;
}

unrelu_status ur_any_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    ur_any_course q = {.given = given, .out = out};
    UR_TRY(ur_frame_make(&given->data, rows_for(given), ur_terms_of(given->options.biases), 0,
                         out->arena, &q.frame, err));
    unrelu_status status = learn(&q, err);
    ur_arena_end(&q.round);
    ur_arena_end(&q.own);
    return status;
}
