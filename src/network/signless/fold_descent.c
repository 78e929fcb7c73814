/* SPDX-License-Identifier: Apache-2.0 */
/* Levenberg-Marquardt on the model of fold_model.c:
 *   (H + diag_j(t_j t_j' h_j + mu h_j I)) step = g,
 * where t_j t_j' is the gauge: |z t| is homogeneous and rows have unit length. mu is divided by up
 * to 5 after a step that gains what was promised, and multiplied by 2, 4, 8, ... after one that
 * gains nothing. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { REFUSED = 8 };               /* steps in a row after which it ends */
static const double FALL_MOST = .2; /* Pace: of mu, after a step that gains what it promised */
static const double DAMPING_LEAST = 1e-14; /* Pace: nothing is longer below */
/* Pace: of the sum of squares `stall` steps ago; above it births help more */
static const double STALLED = .8;
/* Share above which, and kp from which on, the matrix is in single precision, and the least damping
 * there: its rounding is smaller. Pace: the residual is in doubles in any case. */
static const double NEAR = 1e-9, SINGLE_LEAST = 1e-6;
enum { LARGE = 200 };
/* Of the largest h: a row without output is held where it is. Pace: the share judges each step. */
static const double LEAST_SHARE = 1e-8;

typedef struct {
    const ur_folds *folds;
    ur_fold_state next;
    ur_fold_model model;
    double *M, *step;  /* kp x kp, kp */
    float *low, *room; /* kp x kp, kp: the same in single precision */
    ur_arena *arena;
    double promised; /* by how much |R|^2 falls */
} descent;

static unrelu_status descent_open(const ur_folds *folds, size_t k, ur_arena *arena, descent *o,
                                  unrelu_error *err)
{
    size_t kp = k * folds->p;
    *o = (descent){.folds = folds, .arena = arena};
    UR_TRY(ur_fold_state_open(folds, k, arena, &o->next, err));
    UR_TRY(ur_fold_model_open(folds, k, arena, &o->model, err));
    o->room = ur_take(arena, kp, sizeof *o->room);
    o->step = ur_take(arena, kp, sizeof *o->step);
    return ur_arena_status(arena, err);
}

static void hold_idle(descent *o, size_t k)
{
    double largest = 0;
    for (size_t j = 0; j < k; j++)
        largest = fmax(largest, o->model.h[j]);
    for (size_t j = 0; j < k; j++)
        o->model.h[j] = fmax(o->model.h[j], LEAST_SHARE * largest);
}

/* step = M^-1 g; 0 where M is not positive definite */
static int solve_double(size_t kp, double *M, const double *g, double *step)
{
    if (!ur_cholesky_in_place(kp, M))
        return 0;
    memcpy(step, g, kp * sizeof *step);
    ur_trsv(UR_LOWER, UR_PLAIN, kp, M, kp, step);
    ur_trsv(UR_LOWER, UR_TURNED, kp, M, kp, step);
    return 1;
}

static unrelu_status take_damped(descent *o, size_t kp, unrelu_error *err)
{
    if (o->model.single && !o->low)
        o->low = ur_take(o->arena, kp, kp * sizeof *o->low);
    if (!o->model.single && !o->M)
        o->M = ur_take(o->arena, kp, kp * sizeof *o->M);
    return ur_arena_status(o->arena, err);
}

/* M or low: the model's matrix with gauge and damping */
static void damp(descent *o, const ur_fold_state *s, double mu)
{
    size_t p = o->folds->p, kp = s->k * p;
    const ur_fold_model *model = &o->model;
    int single = model->single;
    if (single)
        memcpy(o->low, model->low, kp * kp * sizeof *o->low);
    else
        memcpy(o->M, model->H, kp * kp * sizeof *o->M);
    for (size_t r = 0; r < kp; r++) {
        size_t j = r / p, first = r * kp + j * p;
        const double *t = s->T + j * p;
        for (size_t i = 0; i <= r % p; i++) {
            double more = model->h[j] * (t[r % p] * t[i] + (i == r % p ? mu : 0));
            if (single)
                o->low[first + i] += (float)more;
            else
                o->M[first + i] += more;
        }
    }
}

/* the step; *found = 0 where the damped matrix is not positive definite */
static unrelu_status solve(descent *o, const ur_fold_state *s, double mu, int *found,
                           unrelu_error *err)
{
    size_t p = o->folds->p, kp = s->k * p;
    const ur_fold_model *model = &o->model;
    UR_TRY(take_damped(o, kp, err));
    damp(o, s, mu);
    *found = model->single ? ur_fold_single_solve(kp, o->low, model->g, o->room, o->step)
                           : solve_double(kp, o->M, model->g, o->step);
    o->promised = *found ? ur_dot(kp, model->g, o->step) : NAN;
    for (size_t j = 0; j < s->k; j++) {
        double length = ur_norm(p, o->step + j * p);
        o->promised += mu * model->h[j] * length * length;
    }
    *found = isfinite(o->promised);
    return UNRELU_OK;
}

/* next, from s by the step */
static unrelu_status try_step(descent *o, const ur_fold_state *s, unrelu_error *err)
{
    ur_fold_rows_copy(o->folds, s, &o->next);
    ur_add(s->k * o->folds->p, 1, o->step, o->next.T);
    return ur_fold_evaluate(o->folds, &o->next, err);
}

static void swap_states(ur_fold_state *a, ur_fold_state *b)
{
    ur_fold_state c = *a;
    *a = *b;
    *b = c;
}

/* one step that lowers the share; *mu: for the next; *moved = 0 where none does */
static unrelu_status advance(descent *o, ur_fold_state *s, double *mu, int *moved,
                             unrelu_error *err)
{
    const ur_folds *folds = o->folds;
    double growth = 2;
    *moved = 0;
    o->model.single = s->share > NEAR && s->k * folds->p >= LARGE;
    if (o->model.single)
        *mu = fmax(*mu, SINGLE_LEAST);
    UR_TRY(ur_fold_model_form(folds, s, &o->model, err));
    hold_idle(o, s->k);
    for (int i = 0; i < REFUSED && !*moved; i++) {
        o->next.share = INFINITY;
        int found;
        UR_TRY(solve(o, s, *mu, &found, err));
        if (found)
            UR_TRY(try_step(o, s, err));
        double gain = (s->share - o->next.share) * folds->base;
        *moved = gain > 0;
        if (*moved) {
            double off = 2 * fmin(1, gain / o->promised) - 1;
            *mu = fmax(*mu * fmax(FALL_MOST, 1 - off * off * off), DAMPING_LEAST);
            swap_states(s, &o->next);
        } else {
            *mu *= growth;
            growth *= 2;
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_fold_descend(const ur_folds *folds, ur_fold_descent how, ur_fold_state *s,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    ur_fold_state kept = *s; /* its arrays stay the caller's */
    descent o;
    double mu = how.damping;
    int moved = 1;
    UR_TRY(ur_fold_evaluate(folds, s, err));
    if (s->k == 0)
        return UNRELU_OK;
    UR_TRY(descent_open(folds, s->k, &arena, &o, err));
    double *before = ur_take(&arena, (size_t)how.steps + 1, sizeof *before);
    UR_TRY(ur_arena_status(&arena, err));
    for (int i = 0; i < how.steps && moved && s->share > folds->least; i++) {
        if (ur_cancelled(folds->exec))
            return ur_fail_cancelled(err);
        before[i] = s->share;
        if (how.stall > 0 && i >= how.stall && s->share > STALLED * before[i - how.stall])
            break;
        UR_TRY(advance(&o, s, &mu, &moved, err));
    }
    if (s->T != kept.T) { /* the states were swapped an odd number of times */
        ur_fold_rows_copy(folds, s, &kept);
        *s = kept;
        UR_TRY(ur_fold_evaluate(folds, s, err));
    }
    return UNRELU_OK;
}
