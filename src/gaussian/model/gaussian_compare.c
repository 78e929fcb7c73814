/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of section 6 of the one-layer paper. For N(b1, S1) and N(b2, S2)
 *   KL(1 || 2) = (tr(S2^-1 S1) + (b2 - b1)' S2^-1 (b2 - b1) - d + ln det S2 - ln det S1) / 2,
 * computed after dividing both by the truth's scales (KL is invariant), so that columns of any
 * scale do. TV <= sqrt(KL / 2) (Pinsker), and the rectifier only lowers TV. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the smallest eigenvalue of d correlations, times d: below it a factor's last digits are
 * rounding, and it is no factor. */
static const double SINGULAR = 1e-13;
/* lambdas of one transform differ by no more than rounding in a file */
static const double SAME_LAMBDA = 1e-12;

typedef struct {
    double *S, *b; /* in the truth's scales */
    double *L;     /* Cholesky factor */
    int positive;
    double lambda_min; /* of the correlation */
    const char *flat;  /* the first column of scale 0, or NULL */
    const char *who;   /* for the note */
} side;

static unrelu_status prepare(ur_arena *arena, const unrelu_gaussian *m, const double *unit,
                             const char *who, side *s, unrelu_error *err)
{
    size_t d = m->d;
    *s = (side){.S = ur_take(arena, d, d * sizeof *s->S),
                .b = ur_take(arena, d, sizeof *s->b),
                .L = ur_take(arena, d, d * sizeof *s->L),
                .who = who};
    double *values = ur_take(arena, d, sizeof *values);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < d; i++) {
        s->b[i] = m->b[i] / unit[i];
        if (m->scale[i] == 0 && !s->flat)
            s->flat = m->names[i];
        for (size_t j = 0; j < d; j++) {
            double rho = m->correlation[i * d + j];
            s->S[i * d + j] = m->scale[i] / unit[i] * rho * (m->scale[j] / unit[j]);
            if (!isfinite(s->S[i * d + j]) || !isfinite(s->b[i]))
                return ur_fail(err, UNRELU_EDATA,
                               "column %zu (%s) has b %g, scale %g and correlation %g: no "
                               "distance is defined",
                               i + 1, m->names[i], m->b[i], m->scale[i], rho);
        }
    }
    UR_TRY(ur_eigen_symmetric(d, m->correlation, values, NULL, err));
    s->lambda_min = values[0];
    UR_TRY(ur_cholesky(d, s->S, s->L, &s->positive, err));
    if (s->lambda_min < SINGULAR * (double)d || s->flat)
        s->positive = 0;
    return UNRELU_OK;
}

/* KL(p || q); y is room for d doubles. tr(Sq^-1 Sp) = |Lq^-1 Lp|_F^2 */
static double divergence(size_t d, const side *p, const side *q, double *y)
{
    double trace = 0, logdet = 0;
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < d; i++)
            y[i] = i >= k ? p->L[i * d + k] : 0;
        ur_solve_lower(d, q->L, y);
        trace += ur_short_dot(d, y, y);
        logdet += 2 * log(q->L[k * d + k] / p->L[k * d + k]);
    }
    for (size_t i = 0; i < d; i++)
        y[i] = q->b[i] - p->b[i];
    ur_solve_lower(d, q->L, y);
    return fmax(0, (trace + ur_short_dot(d, y, y) - (double)d + logdet) / 2);
}

/* top: the largest scale of the truth */
static void parameter_errors(const unrelu_gaussian *truth, const unrelu_gaussian *model, double top,
                             unrelu_gaussian_distance *out)
{
    size_t d = truth->d;
    double norm = 0, db = 0, dS = 0, rho = 0;
    for (size_t i = 0; i < d; i++) {
        double si = truth->scale[i] / top, ti = model->scale[i] / top;
        norm += si * si;
        db += (model->b[i] - truth->b[i]) / top * ((model->b[i] - truth->b[i]) / top);
        for (size_t j = 0; j < d; j++) {
            double r = model->correlation[i * d + j], r0 = truth->correlation[i * d + j];
            double away = ti * r * (model->scale[j] / top) - si * r0 * (truth->scale[j] / top);
            dS += away * away;
            rho += i < j ? (r - r0) * (r - r0) : 0;
        }
    }
    out->b_error = sqrt(db / norm);
    out->sigma_error = sqrt(dS) / norm;
    out->correlation_rms = d > 1 ? sqrt(rho / ((double)d * (double)(d - 1) / 2)) : 0;
}

unrelu_status unrelu_gaussian_compare(const unrelu_gaussian *truth, const unrelu_gaussian *model,
                                      unrelu_gaussian_distance *out, unrelu_error *err)
{
    UR_ARENA(arena);
    memset(out, 0, sizeof *out);
    if (truth->d != model->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "the truth has %zu columns and the model %zu: they cannot be compared",
                       truth->d, model->d);
    size_t d = truth->d, used = 0;
    int same = truth->transform == model->transform;
    for (size_t i = 0; i < d && same && truth->lambda && model->lambda; i++)
        same = fabs(truth->lambda[i] - model->lambda[i]) <= SAME_LAMBDA;
    if (!same)
        return ur_fail(err, UNRELU_EFORMAT,
                       "the truth is of values transformed by %s, the model by %s%s: they cannot "
                       "be compared",
                       unrelu_transform_name(truth->transform),
                       unrelu_transform_name(model->transform),
                       truth->transform == model->transform ? " of another lambda" : "");
    double top = 0;
    for (size_t i = 0; i < d; i++)
        top = fmax(top, truth->scale[i]);
    if (!(top > 0))
        return ur_fail(err, UNRELU_EDATA,
                       "all scales of the truth are 0: no relative error is defined");
    UR_BLAS_BEGIN(NULL, err);
    double *y = ur_take(&arena, d, sizeof *y), *unit = ur_take(&arena, d, sizeof *unit);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d; i++)
        unit[i] = truth->scale[i] > 0 ? truth->scale[i] : model->scale[i] > 0 ? model->scale[i] : 1;
    side t, m;
    UR_TRY(prepare(&arena, truth, unit, "truth", &t, err));
    UR_TRY(prepare(&arena, model, unit, "model", &m, err));
    parameter_errors(truth, model, top, out);
    out->kl = out->kl_reverse = INFINITY;
    if (t.positive && m.positive) {
        out->kl = divergence(d, &m, &t, y);
        out->kl_reverse = divergence(d, &t, &m, y);
    }
    out->tv_bound = fmin(1, sqrt(fmin(out->kl, out->kl_reverse) / 2));
    out->lambda_min_truth = t.lambda_min;
    out->lambda_min_model = m.lambda_min;
    for (const side *s = &t; s; s = s == &t ? &m : NULL) { /* why there is no KL divergence */
        size_t room = sizeof out->note - used;
        const char *link = used ? "; " : "no KL divergence exists: ";
        if (!s->positive && s->flat)
            used += (size_t)snprintf(out->note + used, room, "%scolumn %.40s of the %s has scale 0",
                                     link, s->flat, s->who);
        else if (!s->positive)
            used += (size_t)snprintf(
                out->note + used, room,
                "%sthe %s's correlation matrix is %s (smallest eigenvalue %.3g)", link, s->who,
                s->lambda_min < -SINGULAR ? "indefinite" : "singular", s->lambda_min);
    }
    return UNRELU_OK;
}
