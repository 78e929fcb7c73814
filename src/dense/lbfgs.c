/* SPDX-License-Identifier: Apache-2.0 */
/* Steps -H g with the inverse Hessian H that the last changes of x (s) and of the gradient (t)
 * tell: the two loops of Nocedal, begun with H = factor / curvature. A step is accepted where f
 * falls by a share of what the slope promises (Armijo), and shortened by a parabola where it does
 * not. */
#include "dense/lbfgs.h"

#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"

#include <math.h>
#include <string.h>

enum {
    MEMORY = 8,     /* changes that are remembered: 4 need a third more steps, 16 as many */
    SHORTENED = 20, /* times at most: by then a step is rounding */
    QUIET = 3,      /* steps in a row that gain less than enough */
};
/* of the promised fall; and how much shorter a step may get at once */
static const double ARMIJO = 1e-4, SHORTEST = 0.1, LONGEST = 0.5;
/* of |t|^2: a change that tells of no curvature is forgotten */
static const double NO_CURVATURE = 1e-12;

typedef struct {
    const ur_lbfgs *search;
    double *gradient, *direction;
    double *next, *next_gradient;
    double *s[MEMORY], *t[MEMORY], product[MEMORY]; /* s't */
    int remembered;                                 /* ever: number i is at i % MEMORY */
    double factor;
    int evaluations;
} state;

static double evaluate(state *st, const double *x, double *gradient)
{
    st->evaluations++;
    return st->search->f(st->search->context, x, gradient);
}

/* direction = H gradient */
static void set_direction(state *st)
{
    size_t len = st->search->len;
    int from = st->remembered > MEMORY ? st->remembered - MEMORY : 0;
    double along[MEMORY], *h = st->direction;
    memcpy(h, st->gradient, len * sizeof *h);
    for (int i = st->remembered - 1; i >= from; i--) {
        int k = i % MEMORY;
        along[k] = ur_dot(len, st->s[k], h) / st->product[k];
        ur_add(len, -along[k], st->t[k], h);
    }
    for (size_t i = 0; i < len; i++)
        h[i] *= st->factor / st->search->curvature[i];
    for (int i = from; i < st->remembered; i++) {
        int k = i % MEMORY;
        ur_add(len, along[k] - ur_dot(len, st->t[k], h) / st->product[k], st->s[k], h);
    }
}

/* next and its gradient: a lower value, which is returned; NAN where no step gives one */
static double find_step(state *st, const double *x, double value)
{
    size_t len = st->search->len;
    double slope = -ur_dot(len, st->gradient, st->direction), step = 1;
    for (int i = 0; i < SHORTENED && slope < 0; i++) {
        memcpy(st->next, x, len * sizeof *x);
        ur_add(len, -step, st->direction, st->next);
        double found = evaluate(st, st->next, st->next_gradient);
        if (found <= value + ARMIJO * step * slope)
            return found;
        double bend = found - value - slope * step; /* the parabola's, times step^2 */
        double best = -slope * step * step / (2 * bend);
        step = isfinite(best) ? fmax(SHORTEST * step, fmin(LONGEST * step, best)) : SHORTEST * step;
    }
    return NAN;
}

static void remember(state *st, const double *x)
{
    size_t len = st->search->len;
    int k = st->remembered % MEMORY;
    double *s = st->s[k], *t = st->t[k], size = 0;
    for (size_t i = 0; i < len; i++) {
        s[i] = st->next[i] - x[i];
        t[i] = st->next_gradient[i] - st->gradient[i];
        size += t[i] * t[i] / st->search->curvature[i];
    }
    st->product[k] = ur_dot(len, s, t);
    if (st->product[k] > NO_CURVATURE * size) {
        st->factor = st->product[k] / size;
        st->remembered++;
    }
}

unrelu_status ur_lbfgs_minimise(const ur_lbfgs *search, double *x, double *value, int *evaluations,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    state st = {.search = search, .factor = 1};
    double **vectors[] = {&st.gradient, &st.direction, &st.next, &st.next_gradient};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = ur_take(&arena, search->len, sizeof(double));
    for (int k = 0; k < MEMORY; k++) {
        st.s[k] = ur_take(&arena, search->len, sizeof(double));
        st.t[k] = ur_take(&arena, search->len, sizeof(double));
    }
    UR_TRY(ur_arena_status(&arena, err));
    *value = evaluate(&st, x, st.gradient);
    int quiet = 0;
    for (int i = 0; i < search->most && (quiet < QUIET) && (*value > search->enough); i++) {
        set_direction(&st);
        double found = find_step(&st, x, *value);
        if (isnan(found))
            break;
        quiet = *value - found < search->enough ? quiet + 1 : 0;
        remember(&st, x);
        memcpy(x, st.next, search->len * sizeof *x);
        memcpy(st.gradient, st.next_gradient, search->len * sizeof *x);
        *value = found;
    }
    if (evaluations)
        *evaluations = st.evaluations;
    return UNRELU_OK;
}
