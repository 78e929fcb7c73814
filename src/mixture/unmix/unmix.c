/* SPDX-License-Identifier: Apache-2.0 */
#include "mixture/problem/unmix.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "dense/lp.h"
#include "mixture/problem/tolerance.h"
#include "pass/parallel.h"
#include "pass/ranks.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEWEST_ROWS = 3 };

/* ---- one attempt ---- */

/* A, with noise polished and with its errors */
static unrelu_status set_A(ur_unmix *w, const ur_cone *c, ur_units *units, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    size_t d = c->d, p = c->p;
    int polished = c->noise && w->options->method == UNRELU_UNMIX_FACETS;
    ur_influence influence = {0};
    UR_ARENA(arena);
    if (polished) {
        influence.response = ur_take(&arena, p, p * p * sizeof *influence.response);
        influence.score = ur_take(&arena, c->n, p * sizeof *influence.score);
        UR_TRY(ur_arena_status(&arena, err));
        UR_TRY(ur_unmix_polish(c, w->exec, units->U, &influence, err));
        UR_TRY(ur_units_derive(c, units, err));
    }
    UR_TRY(ur_mixture_alloc(m, err));
    for (size_t i = 0; i < d * p; i++)
        m->A[i] = units->G[i % p * d + i / p] / units->length[i % p];
    if (!c->noise)
        return UNRELU_OK;
    m->A_se = ur_take(ur_model_arena(m), d, p * sizeof *m->A_se);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    for (size_t i = 0; i < d * p; i++)
        m->A_se[i] = NAN;
    if (!polished) {
        ur_model_warn(m, "no-se",
                      "columns of A are single samples, chosen as the most extreme ones with their "
                      "noise: no standard error can be had; `method` facets has one, and is "
                      "several times as accurate");
        return UNRELU_OK;
    }
    UR_TRY(ur_unmix_errors(c, w->exec, units, &influence, m->A_se, err));
    size_t unknown = 0;
    for (size_t k = 0; k < p; k++)
        unknown += isnan(m->A_se[k]) != 0;
    if (unknown > 0)
        ur_model_warn(m, "no-se",
                      "%zu of %zu columns of A have no standard errors: too few samples are near a "
                      "facet",
                      unknown, p);
    return UNRELU_OK;
}

/* M, what it leaves of the samples, and its law */
static unrelu_status set_hidden(ur_unmix *w, const ur_cone *c, const ur_units *units, double *M,
                                unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    size_t n = c->n, p = c->p;
    ur_certificate all;
    unrelu_gaussian *hidden;
    UR_TRY(ur_units_fill(c, units, w->exec, M, &all, err));
    UR_TRY(ur_units_fit(c, units, M, w->options->seed, w->exec, &hidden, err));
    UR_TRY(ur_mixture_hold(m, hidden, err));
    m->residual = sqrt(all.left / all.total);
    m->negative = all.negative;
    m->samples_checked = m->min_off = n;
    for (size_t k = 0; k < p; k++) {
        size_t off = 0; /* samples where unit k is off and another is on */
        for (size_t i = 0; i < n; i++) {
            int any = 0;
            for (size_t l = 0; l < p; l++)
                any |= M[i * p + l] > 0;
            off += any && !(M[i * p + k] > 0);
        }
        m->min_off = off < m->min_off ? off : m->min_off;
    }
    if (c->noise)
        UR_TRY(ur_certificate_check(c, &all, err));
    for (size_t i = 0; i < hidden->warning_count; i++) /* those of its fit become the model's */
        ur_model_warn(m, hidden->warnings[i].code, "hidden layer: %s", hidden->warnings[i].message);
    hidden->warnings = NULL;
    hidden->warning_count = 0;
    return UNRELU_OK;
}

/* with noise: what is beyond p must not grow with the samples */
static unrelu_status check_growth(ur_unmix *w, const ur_attempt *t, const ur_cone *c,
                                  unrelu_error *err)
{
    double ratio = 1;
    if (!c->noise || c->p == c->d || ur_is_rounding(&w->span, t->sigma) ||
        ur_relative_noise(&w->span, t->sigma) < UR_UNMIX_UNIFORM)
        return UNRELU_OK;
    UR_TRY(ur_cone_growth(c, &ratio, err));
    if (ratio < UR_NOISE_GROWTH)
        return UNRELU_OK;
    if (w->options->p > 0) {
        ur_model_warn(w->model, "noise-uneven",
                      "what p = %zu units leave of the samples is %.2g times larger in long ones "
                      "than in short ones: that is no noise of one deviation",
                      c->p, sqrt(ratio));
        return UNRELU_OK;
    }
    return ur_fail(err, UNRELU_EDATA,
                   "what p = %zu units leave of the samples is %.2g times larger in long ones than "
                   "in short ones: that is no noise; `p` %zu takes it for noise all the same",
                   c->p, sqrt(ratio), c->p);
}

/* a model of its own, in place of that of an attempt before it */
static unrelu_status attempt(ur_unmix *w, const ur_attempt *t, unrelu_error *err)
{
    const ur_span *s = &w->span;
    int separable = w->options->method == UNRELU_UNMIX_SEPARABLE;
    size_t p = t->p;
    ur_cone cone;
    ur_normals normals;
    ur_units units;
    UR_ARENA(arena);
    ur_model_free(w->model);
    unrelu_mixture *m = w->model = ur_mixture_new(err);
    if (!m)
        return UNRELU_ENOMEM;
    m->d = s->d;
    m->n = s->n;
    m->seed = w->options->seed;
    m->method = separable ? "separable" : "facets";
    m->precision = ur_take_copy(ur_model_arena(m), s->precision);
    m->names = ur_take_copies(ur_model_arena(m), ur_source_names(w->source), m->d);
    UR_TRY(ur_arena_status(ur_model_arena(m), err));
    if (s->nonzero < UR_FEWEST_A_UNIT * p)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples that are not 0 have rank %zu, and cannot tell so many units "
                       "apart: at least 2 p = %zu are needed, about 20 p = %zu where units are off "
                       "half the time",
                       s->nonzero, p, UR_FEWEST_A_UNIT * p, UR_USUAL_A_UNIT * p);
    double sigma = ur_is_rounding(s, t->sigma) ? UR_NOISE_ROUNDING * t->sigma : t->sigma;
    UR_TRY(ur_cone_make(s, p, sigma, w->exec, &arena, &cone, err));
    UR_TRY(check_growth(w, t, &cone, err));
    UR_TRY(separable ? ur_unmix_separable(&cone, w->options->seed, w->exec, &arena, &normals, err)
                     : ur_unmix_facets(&cone, !cone.noise && s->rounding == 0, w->options->seed,
                                       w->exec, &arena, &normals, err));
    ur_attempt_describe(w, t);
    m->p = p;
    m->facets = normals.count - normals.hinged;
    m->tries = normals.tries;
    m->noise = t->sigma;
    m->relative_noise = ur_relative_noise(s, t->sigma);
    if (!cone.noise) /* met to rounding, however few digits the samples have */
        m->precision = "double";
    UR_TRY(ur_units_make(&cone, normals.U, &arena, &units, err));
    UR_TRY(set_A(w, &cone, &units, err));
    double *M = ur_take(&arena, cone.n, p * sizeof *M);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(set_hidden(w, &cone, &units, M, err));
    return ur_unmix_judge(w, &cone, &normals, &units, M, err);
}

/* ---- the walk ---- */

static unrelu_status run(ur_unmix *w, unrelu_error *err)
{
    static const char remedy[] = "unmix needs every cell; leave such rows out";
    UR_ARENA(arena);
    UR_TRY(ur_table_load(w->source, w->exec, remedy, &arena, &w->x, err));
    if (w->x.rows < FEWEST_ROWS)
        return ur_fail(err, UNRELU_EDATA, "%zu row%s cannot be unmixed: at least %d are needed",
                       w->x.rows, w->x.rows == 1 ? "" : "s", FEWEST_ROWS);
    UR_TRY(ur_span_measure(w->source, &w->x, w->exec, &arena, &w->span, err));
    UR_TRY(ur_attempts_choose(w, err));
    unrelu_status status = UNRELU_EDATA;
    int told = 0;
    for (size_t i = 0; i < w->attempt_count && status == UNRELU_EDATA; i++) {
        unrelu_error why = {0};
        status = attempt(w, &w->attempts[i], &why);
        if (status == UNRELU_OK)
            return UNRELU_OK;
        /* of several attempts, what the first with noise says helps most */
        if (err && (i == 0 || (w->attempts[i].sigma > 0 && !told) || status != UNRELU_EDATA))
            *err = why;
        told |= w->attempts[i].sigma > 0;
    }
    if (status != UNRELU_EDATA || !err)
        return status;
    size_t used = strlen(err->text), p = w->too_noisy;
    double sigma = ur_span_noise(&w->span, p);
    if (w->options->p == w->span.d && w->attempt_count == 1)
        snprintf(err->text + used, sizeof err->text - used,
                 "; with noise, p must be below the number of columns, %zu", w->span.d);
    if (p > 0)
        snprintf(err->text + used, sizeof err->text - used,
                 "; or there %s %zu unit%s and noise of deviation %.3g, %.2g %% of the samples' "
                 "root mean square, where facets are found up to about 3 to 5 %%",
                 p == 1 ? "is" : "are", p, p == 1 ? "" : "s", sigma,
                 100 * ur_relative_noise(&w->span, sigma));
    return status;
}

unrelu_status unrelu_unmix(unrelu_source *source, const unrelu_unmix_options *options,
                           const unrelu_exec *exec, unrelu_mixture **model, unrelu_error *err)
{
    unrelu_exec here;
    unrelu_unmix_options o;
    *model = NULL;
    unrelu_unmix_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    ur_unmix w = {.options = &o, .exec = exec, .source = source};
    UR_TRY(ur_ranks_refuse(exec, "unmix", err));
    if ((unsigned)w.options->method > UNRELU_UNMIX_SEPARABLE)
        return ur_fail(err, UNRELU_EUSAGE, "there is no method %d", (int)w.options->method);
    UR_BLAS_BEGIN(&here.threads, err);
    UR_TRY(ur_lp_ready("unmixing", err));
    unrelu_status status = run(&w, err);
    return ur_model_hand(w.model, status, model, err);
}
