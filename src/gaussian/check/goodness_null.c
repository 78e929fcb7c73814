/* SPDX-License-Identifier: Apache-2.0 */
/* p = (r + 1) / (runs + 1), r of `runs` samples simulated from the model being at least as far from
 * it. Where b and s were estimated from the very samples, every simulated sample is fitted again.
 *
 * The law of the distance depends on n and gamma = (b - limit) / s alone, so that columns share
 * it: gamma is rounded to 1/4, n above 64 to 3 %, and n beyond what has 400 values above the limit
 * is replaced by that. What is compared is D (sqrt n + a + c / sqrt n) / r: little of it depends on
 * n (Stephens 1974), and with r^2 = Phi(gamma), or Phi (1 - Phi) up to gamma = 0 where nothing was
 * fitted, its 95 % point changes by at most 9 % from one gamma to gamma + 1. So p moves by less
 * than the runs move it (0.007 at p = 0.05 with 999). 45 ms for each law; columns of d = 200
 * typically need about 15 of them.
 *
 * Values above the limit are drawn in increasing order: sums of exponentials over their total are
 * sorted uniforms. Their number is binomial, by geometric gaps. */
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "gaussian/check/goodness.h"
#include "law/margin.h"
#include "law/normal.h"
#include "pass/parallel.h"

#include <math.h>

enum { RUNS = 999, ABOVE = 400, EXACT = 64, STEPS = 4, BATCH = 256, TRIES = 100 };
/* a and c as of goodness.h, with nothing and with both parameters estimated */
static const double STRETCH[2][2] = {{0.12, 0.11}, {UR_STEPHENS_A, UR_STEPHENS_C}};
/* outside of these the law of gamma is that of the end: all or none of the values are censored */
static const double LEAST_GAMMA = -6, MOST_GAMMA = 5;

typedef struct {
    double n;
    int gamma; /* in steps of 1 / STEPS */
    int fitted;
    double *distance; /* runs; NaN: could not be fitted */
} law;

typedef struct {
    law *laws;
    size_t runs;
    uint64_t seed;
} simulation;

static double modified(double n, double gamma, double distance, int fitted)
{
    double root = sqrt(n), share = ur_normal_cdf(gamma);
    double size = fitted ? sqrt(share) : share < 0.5 ? sqrt(share * (1 - share)) : 0.5;
    double stretch = root + STRETCH[fitted][0] + STRETCH[fitted][1] / root;
    return distance * stretch / size;
}

static double clamped(double gamma)
{
    return fmax(LEAST_GAMMA, fmin(MOST_GAMMA, gamma));
}

/* ---- one simulated sample ---- */

double ur_censored_distance(const ur_censored_column *c, double b, double s)
{
    double n = c->observed, below = n - (double)c->count;
    double largest = fabs(below / n - ur_normal_cdf((c->limit - b) / s));
    for (size_t i = 0; i < c->count; i++) {
        double F = ur_normal_cdf((c->value[i] - b) / s), under = (below + (double)i) / n;
        largest = fmax(largest, fmax(F - under, under + 1 / n - F));
    }
    return largest;
}

typedef struct {
    uint64_t seed, stream, next;
    size_t left;
    double batch[BATCH];
} uniforms;

static double draw(uniforms *u)
{
    if (u->left == 0) {
        ur_random_uniforms(u->seed, u->stream, u->next, BATCH, u->batch);
        u->next += BATCH;
        u->left = BATCH;
    }
    return u->batch[--u->left];
}

static int fit_again(const double *x, size_t count, double n, double *b, double *s)
{
    ur_margin_sums sums = {.n = n, .positive = (double)count};
    ur_margin m;
    for (size_t k = 0; k < count; k++)
        sums.shift += x[k] / (double)count;
    for (size_t k = 0; k < count; k++) {
        double away = x[k] - sums.shift;
        sums.sum += away;
        sums.square += away * away;
    }
    ur_margin_censored(&sums, &m);
    *b = m.b;
    *s = m.s;
    return (m.verdict == UR_MARGIN_FITTED || m.verdict == UR_MARGIN_NO_ZEROS) && m.s > 0;
}

static double simulate_once(uniforms *u, const law *l, double *x, size_t room)
{
    double gamma = (double)l->gamma / STEPS, share = ur_normal_cdf(gamma), gap = log1p(-share);
    for (int i = 0; i < TRIES; i++) {
        double b = gamma, s = 1, at = 0, total = 0;
        size_t count = 0; /* of n that are above the limit */
        while ((at += floor(log(draw(u)) / gap) + 1) <= l->n && count < room)
            count++;
        for (size_t k = 0; k < count; k++) { /* x_k = gamma - Phi^-1(share u_k), u decreasing */
            total -= log(draw(u));
            x[count - 1 - k] = total;
        }
        total -= log(draw(u));
        for (size_t k = 0; k < count; k++)
            x[k] = fmax(0, gamma - ur_normal_quantile(share * x[k] / total));
        ur_censored_column column = {x, count, l->n, 0};
        if (!l->fitted || fit_again(x, count, l->n, &b, &s))
            return modified(l->n, gamma, ur_censored_distance(&column, b, s), l->fitted);
    }
    return NAN;
}

static unrelu_status simulate_law(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    simulation *s = context;
    law *l = &s->laws[i];
    size_t room = 2 * ABOVE + EXACT; /* 400 +- 20 of them */
    double *x = ur_take(&arena, room, sizeof *x);
    uint64_t stream = (uint64_t)l->n * 1024 + (uint64_t)(l->gamma + 6 * STEPS) * 2;
    uniforms u = {.seed = s->seed, .stream = stream + (uint64_t)l->fitted};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t run = 0; run < s->runs; run++)
        l->distance[run] = simulate_once(&u, l, x, room);
    return UNRELU_OK;
}

/* ---- tests ---- */

unrelu_status ur_distance_tests(ur_distance_test *tests, size_t count, size_t runs, uint64_t seed,
                                const unrelu_exec *exec, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t laws = 0, *of = ur_take(&arena, count, sizeof *of);
    simulation s = {ur_take(&arena, count, sizeof *s.laws), runs ? runs : RUNS, seed};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < count; i++) {
        int gamma = (int)lround(clamped(tests[i].gamma) * STEPS), fitted = tests[i].fitted;
        double n = fmin(tests[i].observed, ceil(ABOVE / ur_normal_cdf((double)gamma / STEPS)));
        if (n > EXACT) {
            double unit = ldexp(1, ilogb(n) - 4);
            n = unit * rint(n / unit);
        }
        size_t k = 0;
        while (k < laws &&
               (s.laws[k].n != n || s.laws[k].gamma != gamma || s.laws[k].fitted != fitted))
            k++;
        of[i] = isnan(tests[i].distance) ? count : k;
        if (of[i] == laws)
            s.laws[laws++] =
                (law){n, gamma, fitted, ur_take(&arena, s.runs, sizeof *s.laws->distance)};
    }
    UR_TRY(ur_arena_status(&arena, err));
    if (laws > 0)
        UR_TRY(ur_each(exec, "simulating", laws, simulate_law, &s, err));
    for (size_t i = 0; i < count; i++) {
        ur_distance_test *t = &tests[i];
        double own = modified(t->observed, clamped(t->gamma), t->distance, t->fitted);
        double at_least = 1, all = 1;
        for (size_t run = 0; of[i] < laws && run < s.runs; run++) {
            all += !isnan(s.laws[of[i]].distance[run]);
            at_least += s.laws[of[i]].distance[run] >= own;
        }
        t->p = of[i] < laws ? at_least / all : NAN;
    }
    return UNRELU_OK;
}
