/* SPDX-License-Identifier: Apache-2.0 */
/* Levenberg-Marquardt on the model of newton_work.h: lambda 1e-3 at first; after a step that
 * gains the share rho of what the model promised, times 1 - (2 rho - 1)^3 but at least .2; after
 * steps that do not lower rss times 5, 10, 20, ... With noise the kinks of f make rss rough: gains
 * below 1e-6 of it (n m = 1e4 .. 1e5) are then a walk from kink to kink. */
#include "network/newton/newton.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/newton/newton_work.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LAMBDA_FIRST = 1e-3;
/* The next three decide how many steps a fit takes to end, not where it ends. No step is longer
 * for a smaller lambda; a step of 1e-8 of the gradient's: nothing below in any direction. */
static const double LAMBDA_LEAST = 1e-14, LAMBDA_MOST = 1e8;
/* a step below this lambda is Newton's: a small gain is the end. A damped one gains little for
 * being short, too. */
static const double LAMBDA_SMALL = 1e-2;
static const double FALL_MOST = .2; /* of lambda, after a step that gains what was promised */
static const double GROWTH = 5; /* of lambda, after a step that gains nothing; doubled each time */
/* rss / |A|^2 below which a step may fail by rounding alone: each number errs by a few of these */
static const double ROUNDING = 200 * DBL_EPSILON * DBL_EPSILON;
/* rss / |A|^2 below which a large model is not formed for a last step: it would leave half of the
 * residual, which is rounding, for as much time as the rest of an exact fit takes. Pace. */
static const double SHARP = 400 * DBL_EPSILON * DBL_EPSILON;
/* Where f is not homogeneous a row may grow without bound to fit one sample by itself: no row
 * moves by more than this share of its length at once. (Noiseless (10, 5, 8), found of 12: expm1
 * at n = 200 from 1.5 rad 1 without, 12 with; weighted expm1sq at n = 1000 from .2 rad 2, 12.) */
static const double LONGEST_STEP = .3;

/* What a step promises, times this, has to reach the goal: the model knows of a full step what
 * several will gain. Larger, and fits that cannot come there take longer; at 1 those that do in
 * two steps are left. */
static const double REACH = 4;

enum { QR_ROWS = 20000 }; /* rows up to which B is also found by QR, n q^2 flops on one thread */

unrelu_status ur_newton_alloc(const ur_newton *problem, size_t k, ur_arena *arena,
                              ur_newton_fit *fit, unrelu_error *err)
{
    *fit = (ur_newton_fit){.k = k,
                           .V = ur_take(arena, k, problem->p * sizeof(double)),
                           .U = ur_take(arena, problem->m, k * sizeof(double)),
                           .e = ur_take(arena, problem->m, sizeof(double))};
    return ur_arena_status(arena, err);
}

void ur_newton_copy(const ur_newton *problem, const ur_newton_fit *from, ur_newton_fit *to)
{
    ur_newton_fit room = *to;
    *to = *from;
    to->V = memcpy(room.V, from->V, from->k * problem->p * sizeof *from->V);
    to->U = memcpy(room.U, from->U, problem->m * from->k * sizeof *from->U);
    to->e = memcpy(room.e, from->e, problem->m * sizeof *from->e);
}

/* B by least squares, columns of F scaled to unit length */
static unrelu_status solve_by_qr(const ur_newton_work *w, const ur_newton_state *s, double *B,
                                 unrelu_error *err)
{
    size_t n = w->n, q = w->q;
    UR_ARENA(arena);
    double *F = ur_take(&arena, n, q * sizeof *F), *scale = ur_take(&arena, q, sizeof *scale);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++)
            scale[j] += s->F[i * q + j] * s->F[i * q + j];
    for (size_t j = 0; j < q; j++)
        scale[j] = scale[j] > 0 ? 1 / sqrt(scale[j]) : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++)
            F[i * q + j] = s->F[i * q + j] * scale[j];
    UR_TRY(ur_least_squares(n, q, w->m, F, w->a, UR_ROUNDING, B, NULL, err));
    for (size_t j = 0; j < q; j++)
        for (size_t r = 0; r < w->m; r++)
            B[j * w->m + r] *= scale[j];
    return UNRELU_OK;
}

/* The best B of s, whose F, D and K stand: as it is, from the QR factorisation, refined. */
static unrelu_status sharpen(const ur_newton_work *w, ur_newton_state *s, unrelu_error *err)
{
    enum { AS_IT_IS, BY_QR, REFINED, WAYS };
    UR_ARENA(arena);
    size_t size = w->q * w->m * sizeof *s->B;
    double *B = ur_take(&arena, 1, size), rss = INFINITY;
    UR_TRY(ur_arena_status(&arena, err));
    for (int way = AS_IT_IS; way < WAYS && isfinite(s->rss); way++) {
        if (way == BY_QR && w->n > QR_ROWS)
            continue;
        if (way == BY_QR)
            UR_TRY(solve_by_qr(w, s, s->B, err));
        if (way == REFINED)
            ur_newton_refine(w, s);
        UR_TRY(ur_newton_residual(w, s, err));
        if (s->rss < rss) {
            memcpy(B, s->B, size);
            rss = s->rss;
        }
    }
    if (isfinite(rss))
        memcpy(s->B, B, size);
    s->rss = rss;
    return UNRELU_OK;
}

static unrelu_status evaluate_sharply(const ur_newton_work *w, ur_newton_state *s,
                                      unrelu_error *err)
{
    UR_TRY(ur_newton_features(w, s, err));
    return sharpen(w, s, err);
}

static void give(const ur_newton_work *w, const ur_newton_state *s, ur_newton_fit *fit)
{
    size_t k = w->k, m = w->m;
    memcpy(fit->V, s->V, w->kp * sizeof *fit->V);
    for (size_t r = 0; r < m; r++) {
        for (size_t j = 0; j < k; j++)
            fit->U[r * k + j] = s->B[j * m + r];
        fit->e[r] = w->q > k ? s->B[k * m + r] : 0;
    }
    fit->rss = s->rss;
}

unrelu_status ur_newton_outer(const ur_newton *problem, ur_newton_fit *fit, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_newton_work w;
    UR_TRY(ur_newton_open(problem, fit->k, &arena, &w, err));
    memcpy(w.now.V, fit->V, w.kp * sizeof *fit->V);
    UR_TRY(evaluate_sharply(&w, &w.now, err));
    give(&w, &w.now, fit);
    return UNRELU_OK;
}

static void normalise(const ur_newton_work *w, double *V)
{
    if (ur_activation_degree(w->problem->f) == 0)
        return;
    for (size_t j = 0; j < w->k; j++) {
        double *v = V + j * w->p, top = 0, squares = 0;
        for (size_t i = 0; i < w->p; i++)
            top = fmax(top, fabs(v[i]));
        for (size_t i = 0; i < w->p && top > 0; i++)
            squares += v[i] / top * (v[i] / top);
        for (size_t i = 0; i < w->p && top > 0; i++)
            v[i] = v[i] / top / sqrt(squares);
    }
}

static void swap_states(ur_newton_work *w)
{
    ur_newton_state s = w->now;
    w->now = w->next;
    w->next = s;
}

static void shorten(const ur_newton_work *w, double *s, double *promised)
{
    double most = 0;
    if (ur_activation_degree(w->problem->f) > 0)
        return;
    for (size_t j = 0; j < w->k; j++) {
        double length = ur_norm(w->p, w->now.V + j * w->p);
        if (length > 0)
            most = fmax(most, ur_norm(w->p, s + j * w->p) / length);
    }
    if (!(most > LONGEST_STEP))
        return;
    double part = LONGEST_STEP / most;
    ur_scale(w->kp, part, s);
    *promised *= part * (2 - part);
}

/* next.V = now.V + s; 0 where that is not finite */
static int step_to(ur_newton_work *w, const double *s)
{
    for (size_t i = 0; i < w->kp; i++) {
        w->next.V[i] = w->now.V[i] + s[i];
        if (!isfinite(w->next.V[i]))
            return 0;
    }
    normalise(w, w->next.V);
    return 1;
}

typedef struct {
    ur_newton_work w;
    ur_newton_model model;
    double *s; /* k x p: a step */
} solver;

/* w.now.V = V of fit, at unit rows where f is homogeneous */
static unrelu_status solver_open(const ur_newton *problem, const ur_newton_fit *fit,
                                 ur_arena *arena, solver *o, unrelu_error *err)
{
    UR_TRY(ur_newton_open(problem, fit->k, arena, &o->w, err));
    UR_TRY(ur_newton_model_open(&o->w, arena, &o->model, err));
    o->s = ur_take(arena, o->w.kp, sizeof *o->s);
    UR_TRY(ur_arena_status(arena, err));
    memcpy(o->w.now.V, fit->V, o->w.kp * sizeof *fit->V);
    normalise(&o->w, o->w.now.V);
    return UNRELU_OK;
}

unrelu_status ur_newton_solve(const ur_newton *problem, int steps, double tolerance, double least,
                              ur_newton_fit *fit, unrelu_error *err)
{
    UR_ARENA(arena);
    solver o;
    ur_newton_work *w = &o.w;
    double lambda = LAMBDA_FIRST, growth = GROWTH;
    int taken = 0, converged = 0, formed = 0; /* formed: the model is of w->now */
    int slow = 0;                             /* small gains of damped steps, in a row */
    UR_TRY(solver_open(problem, fit, &arena, &o, err));
    UR_TRY(ur_newton_evaluate(w, &w->now, err));
    for (; taken < steps && !converged && isfinite(w->now.rss) && w->now.rss > least * w->norm;
         taken++) {
        double promised = 0, before = w->now.rss;
        int positive = 0;
        if (ur_cancelled(problem->exec))
            return ur_fail_cancelled(err);
        if (!formed)
            UR_TRY(ur_newton_model_form(w, &o.model, err));
        UR_TRY(ur_newton_model_step(w, &o.model, lambda, 0, o.s, &promised, &positive, err));
        if (!formed && positive && REACH * promised < before - problem->goal && problem->goal > 0)
            break;
        w->next.rss = INFINITY;
        if (positive) {
            shorten(w, o.s, &promised);
            if (step_to(w, o.s))
                UR_TRY(ur_newton_evaluate(w, &w->next, err));
        }
        promised /= before;
        formed = !(w->next.rss < before);
        if (!formed) {
            swap_states(w);
            double gain = (before - w->now.rss) / before;
            double off = promised > 0 ? 2 * fmin(1, gain / promised) - 1 : 1;
            slow = gain <= tolerance ? slow + 1 : 0;
            converged = slow > 0 && (lambda <= LAMBDA_SMALL || slow > 1);
            lambda = fmax(lambda * fmax(FALL_MOST, 1 - off * off * off), LAMBDA_LEAST);
            growth = GROWTH;
        } else {
            lambda *= growth;
            growth *= 2;
            converged = lambda > LAMBDA_MOST || before <= ROUNDING * w->norm ||
                        (positive && promised <= tolerance);
        }
    }
    UR_TRY(sharpen(w, &w->now, err));
    give(w, &w->now, fit);
    fit->steps = taken;
    fit->converged = converged || fit->rss <= least * w->norm;
    return UNRELU_OK;
}

unrelu_status ur_newton_polish(const ur_newton *problem, ur_newton_fit *fit, unrelu_error *err)
{
    UR_ARENA(arena);
    solver o;
    ur_newton_work *w = &o.w;
    double promised;
    int positive = 0;
    UR_TRY(solver_open(problem, fit, &arena, &o, err));
    UR_TRY(evaluate_sharply(w, &w->now, err));
    int sharp = !o.model.dense && w->now.rss <= SHARP * w->norm;
    if (isfinite(w->now.rss) && !sharp) {
        UR_TRY(ur_newton_model_form(w, &o.model, err));
        UR_TRY(ur_newton_model_step(w, &o.model, 0, 1, o.s, &promised, &positive, err));
    }
    if (positive && step_to(w, o.s)) {
        UR_TRY(evaluate_sharply(w, &w->next, err));
        if (w->next.rss < w->now.rss)
            swap_states(w);
    }
    give(w, &w->now, fit);
    return UNRELU_OK;
}
