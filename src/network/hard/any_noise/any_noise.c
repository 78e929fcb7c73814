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
#include "base/memory.h"
#include "dense/linear.h"
#include "network/noisy/noisy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000, FEW_ROWS = 4000, MORE = 5 };
static const double CHANCE = 16; /* four deviations squared: what an offset must gain */

static void course_free(ur_any_course *q)
{
    ur_arena_end(&q->round);
    ur_arena_end(&q->arena);
}

/* Where there are fewer labels than neurons only rows that were kept back can certify a fit. */
static size_t rows_for(const ur_recover *r)
{
    size_t n = r->data.n, k = r->options->k, held = 2 * (r->data.d + k), rows = MOST_ROWS;
    if (k > r->data.m && n > 10 * held && rows > n - held)
        rows = n - held;
    return rows;
}

static unrelu_status find_k(ur_any_course *q, unrelu_error *err)
{
    ur_recover *r = q->r;
    unrelu_status status =
        ur_any_rows_make(&r->data, &q->frame, q->frame.n, &q->arena, &q->all, err);
    q->shown = r->options->k;
    if (status == UNRELU_OK && q->shown == 0)
        status = ur_any_count(&q->all, r->options->seed, &q->shown, err);
    q->k = q->shown;
    return status;
}

/* whether A - f(X V') U' - e depends on x */
static unrelu_status test_rest(ur_any_course *q, const ur_newton_fit *fit, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    size_t n = frame->n, m = frame->m, k = fit->k, shown = 0;
    double *F = ur_alloc(n, k * sizeof *F), *R = ur_alloc(n, m * sizeof *R);
    unrelu_status status = F && R ? UNRELU_OK : ur_fail_memory(err, n * (k + m), "labels");
    if (status == UNRELU_OK) {
        ur_multiply_nt(n, frame->p, k, frame->x, fit->V, F);
        ur_activation_apply(q->r->options->activation, n * k, F, F, NULL);
        ur_multiply_nt(n, k, m, F, fit->U, R);
        for (size_t i = 0; i < n * m; i++)
            R[i] = frame->a[i] - R[i] - fit->e[i % m];
        status = ur_any_shown(&q->all, R, 0, q->r->options->seed, &shown, err);
    }
    q->depends = shown > 0 && fit->rss > q->r->data.floor * q->r->data.floor * frame->size;
    free(F);
    free(R);
    return status;
}

/* What the best would leave with e, or without. Whether e gains more than chance is asked at the V
 * of the best: noise lets V walk a long way for little. */
static unrelu_status compare_offset(ur_any_course *q, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    ur_newton problem = ur_frame_problem(frame, q->r->options->activation, q->r->exec);
    problem.constant = !frame->terms.constant;
    UR_ARENA(arena);
    ur_newton_fit fit;
    double unit = q->r->data.unit, before = q->best.fit.rss;
    unrelu_status status = ur_newton_alloc(&problem, q->k, &arena, &fit, err);
    if (status == UNRELU_OK) {
        memcpy(fit.V, q->best.fit.V, q->k * frame->p * sizeof *fit.V);
        status = ur_newton_outer(&problem, &fit, err);
    }
    if (status == UNRELU_OK) {
        q->offset = problem.constant && before - fit.rss > CHANCE * fit.rss / (double)frame->n;
        status = ur_any_descend(q->r, &problem, 0, &fit, err);
    }
    if (status == UNRELU_OK)
        status = test_rest(q, problem.constant ? &fit : &q->best.fit, err);
    q->here = unit * sqrt(before);
    q->other = unit * sqrt(fit.rss);
    return status;
}

/* ---- labels that are met ---- */

static unrelu_status finish_exact(ur_any_course *q, int *met, unrelu_error *err)
{
    unrelu_status status = ur_joint_finish(q->r, &q->frame, &q->best.fit, met, err);
    q->k = status == UNRELU_OK ? q->best.fit.k : q->k;
    return status;
}

/* ---- labels with noise ---- */

/* the best of the frame over all rows */
static unrelu_status descend_all(ur_any_course *q, ur_arena *arena, ur_frame *all,
                                 ur_newton_fit *fit, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    ur_recover *r = q->r;
    size_t k = q->k;
    double *raw = ur_alloc(k, frame->q * sizeof *raw);
    unrelu_status status = raw ? UNRELU_OK : ur_fail_memory(err, k * frame->q, "weights");
    if (status == UNRELU_OK)
        status = ur_frame_make(&r->data, r->data.n, frame->terms, 0, arena, all, err);
    ur_newton problem = ur_frame_problem(all, r->options->activation, r->exec);
    if (status == UNRELU_OK)
        status = ur_newton_alloc(&problem, k, arena, fit, err);
    if (status == UNRELU_OK) {
        ur_frame_back(frame, k, q->best.fit.V, raw);
        ur_frame_forth(all, k, raw, fit->V);
        status = ur_any_descend(r, &problem, 1, fit, err);
    }
    free(raw);
    return status;
}

static unrelu_status finish_noisy(ur_any_course *q, unrelu_error *err)
{
    ur_recover *r = q->r;
    unrelu_network *model = r->model;
    UR_ARENA(arena);
    ur_frame all = {0};
    ur_newton_fit fit = {0};
    ur_any_measures s = {0};
    model->linear_rank = 0; /* an exact attempt may have left one */
    unrelu_status status = descend_all(q, &arena, &all, &fit, err);
    if (status == UNRELU_OK)
        status = ur_recover_adopt(r, &all, &fit, err);
    if (status == UNRELU_OK)
        status = ur_certify(r, NULL, err);
    if (status == UNRELU_OK && r->met) {
        status = ur_unique(r, &all, NULL, 0, err);
        status = status == UNRELU_OK ? ur_any_report_exact(r, err) : status;
    } else if (status == UNRELU_OK) {
        status = ur_any_measure(r, &all, &fit, &s, err);
        model->verdict = UNRELU_VERDICT_NOISY;
        status = status == UNRELU_OK ? ur_any_report_noisy(q, &s, err) : status;
    }
    return status;
}

/* the exact branch, where the labels have a rank that k neurons can have */
static unrelu_status try_exact(ur_any_course *q, ur_terms terms, int *met, unrelu_error *err)
{
    ur_recover *r = q->r;
    const unrelu_recover_options *asked = r->options;
    unrelu_recover_options known = *asked;
    if (asked->labels == UNRELU_LABELS_NOISY)
        return UNRELU_OK;
    known.k = q->k;
    r->options = &known;
    unrelu_status status = ur_exact(r, terms, met, err);
    r->options = asked;
    return status;
}

static int is_met(const ur_any_course *q)
{
    double floor = q->r->data.floor;
    return q->best.fit.rss <= floor * floor * q->frame.size;
}

/* the best of the starts for q->k neurons, and how it is without or with e */
static unrelu_status fit_k(ur_any_course *q, unrelu_error *err)
{
    ur_recover *r = q->r;
    size_t few = 100 * (r->data.d + q->k);
    ur_arena_end(&q->round);
    unrelu_status status = ur_any_rows_make(&r->data, &q->frame, few < FEW_ROWS ? FEW_ROWS : few,
                                            &q->round, &q->rows, err);
    if (status == UNRELU_OK)
        status =
            ur_any_race(r, &q->frame, &q->rows, q->k, r->options->budget, &q->round, &q->best, err);
    if (status == UNRELU_OK && !is_met(q))
        status = compare_offset(q, err);
    return status;
}

/* more neurons while what is left depends on x, where k is not given */
static unrelu_status fit_all(ur_any_course *q, unrelu_error *err)
{
    const ur_data *data = &q->r->data;
    size_t most = q->shown + MORE;
    most = most < data->n - data->d ? most : data->n - data->d;
    unrelu_status status = fit_k(q, err);
    while (status == UNRELU_OK && q->r->options->k == 0 && !is_met(q) && q->depends &&
           q->k < most) {
        q->k++;
        status = fit_k(q, err);
    }
    ur_any_report_k(q);
    q->r->model->starts = q->best.starts;
    q->r->model->starts_agree = q->best.agree;
    return status;
}

static unrelu_status fit_noisy(ur_any_course *q, int *met, unrelu_error *err)
{
    ur_recover *r = q->r;
    unrelu_status status = fit_all(q, err);
    if (status == UNRELU_OK && is_met(q))
        status = finish_exact(q, met, err);
    if (status == UNRELU_OK && *met)
        return ur_any_report_exact(r, err);
    if (status != UNRELU_OK)
        return status;
    if (r->options->labels == UNRELU_LABELS_NOISELESS) {
        ur_any_report_failure(q);
        return UNRELU_OK;
    }
    if (is_met(q)) /* on the rows of the frame, and not on all */
        status = compare_offset(q, err);
    *met = 1;
    return status == UNRELU_OK ? finish_noisy(q, err) : status;
}

unrelu_status ur_any_noise(ur_recover *r, int *met, unrelu_error *err)
{
    ur_terms terms = ur_terms_of(r->options->biases);
    ur_any_course q = {.r = r};
    *met = 0;
    unrelu_status status = ur_frame_make(&r->data, rows_for(r), terms, 0, &q.arena, &q.frame, err);
    if (status == UNRELU_OK)
        status = find_k(&q, err);
    if (status == UNRELU_OK)
        status = try_exact(&q, terms, met, err);
    if (status == UNRELU_OK)
        status = *met ? ur_any_report_exact(r, err) : fit_noisy(&q, met, err);
    course_free(&q);
    return status;
}
