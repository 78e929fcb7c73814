/* SPDX-License-Identifier: Apache-2.0 */
/* From a fit of k neurons to one of more or fewer, as long as the criterion falls: up by births
 * (birth.h), down by leaving one out or by making one of two. */
#include "network/noisy/contest.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/birth.h"
#include "network/noisy/folded.h"

#include <math.h>
#include <string.h>

enum {
    CLOSE = 2,     /* starts that agree */
    AHEAD = 2,     /* neurons at once: two kinks may be seen where one is not */
    EXCHANGES = 4, /* Pace: neurons that are replaced in turn, the cheapest first */
    SHARE = 8,     /* Pace: one for so many neurons at once, where each of them is sure */
};
static const double CHEAP = 1e8; /* Pace: operations of a step that costs little */
/* Operations after which the way to k takes no more starts of each number of neurons. Pace: BIC
 * judges each fit, and more starts may find a better one. */
static const double PATIENT_WORK = 2e10;
/* What births gain before Gauss-Newton, times this, has to lower BIC. Noise alone lets a birth gain
 * about (sqrt(m) + sqrt(p))^2 variances, and BIC asks for (m + p) ln(n m). Larger: more fits that
 * end after the first model of Gauss-Newton; at 1 neurons that overlap others are missed. */
static const double REACH = 4;
/* Pace: of the gain of the first, what a birth must gain to be fitted at once with it: a smaller
 * one may be of what the first leaves until it is fitted */
static const double AS_MUCH = .5;
/* Pace: cosine of two rows above which they may be one neuron */
static const double ALIKE = .7;

/* c's fit and births behind its rows; gains[i]: of the first i + 1 of them. AHEAD of them, and
 * up to `most` as long as each lowers BIC without Gauss-Newton; *sure: how many of the first do,
 * and gain about as much */
static unrelu_status give_births(const ur_quest *q, const ur_contest *c, size_t most, double *V,
                                 double *gains, size_t *sure, unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t k = c->k, p = c->frame.p;
    UR_ARENA(arena);
    ur_newton problem = ur_frame_problem(&c->frame, given->options.activation, given->exec);
    memcpy(V, c->best.fit.V, k * p * sizeof *V);
    *sure = 0;
    for (size_t i = 0; i < most && (i < AHEAD || *sure == i); i++) {
        ur_newton_fit fit;
        double gain;
        UR_TRY(ur_newton_alloc(&problem, k + i, &arena, &fit, err));
        memcpy(fit.V, V, (k + i) * p * sizeof *V);
        UR_TRY(ur_newton_outer(&problem, &fit, err));
        UR_TRY(ur_birth(&problem, &fit, given->options.seed, k * AHEAD + i, V + (k + i) * p, &gain,
                        err));
        double needed = fit.rss - fit.rss / c->best.cost * ur_contest_rss(q, c, k + 1, c->best.bic);
        gains[i] = gain + (i > 0 ? gains[i - 1] : 0);
        *sure += *sure == i && gain > fmax(needed, AS_MUCH * gains[0]);
    }
    return UNRELU_OK;
}

unrelu_status ur_try_more(const ur_quest *q, size_t most, ur_contest *c, size_t *tried, int *won,
                          unrelu_error *err)
{
    size_t k = c->k, p = c->frame.p, births = k / SHARE > AHEAD ? k / SHARE : AHEAD, sure;
    births = most - k < births ? most - k : births;
    UR_ARENA(arena);
    double *V = ur_take(&arena, k + births, p * sizeof *V);
    double *gains = ur_take(&arena, births, sizeof *gains);
    UR_TRY(ur_arena_status(&arena, err));
    *won = 0;
    UR_TRY(give_births(q, c, births, V, gains, &sure, err));
    int robust = q->given->options.robust;
    if (sure > 1 && !robust) {
        *tried = k + sure > *tried ? k + sure : *tried;
        UR_TRY(ur_contest_attempt(q, k + sure, V, c, won, err));
    }
    for (size_t i = 1; i <= AHEAD && i <= births && !*won; i++) {
        double needed = c->best.cost - ur_contest_rss(q, c, k + i, c->best.bic);
        *tried = k + i > *tried ? k + i : *tried;
        if (robust ? i == 1 : REACH * gains[i - 1] >= needed)
            UR_TRY(ur_contest_attempt(q, k + i, V, c, won, err));
    }
    return UNRELU_OK;
}

/* as many neurons from all starts; the fit is c's where BIC falls */
static unrelu_status try_starts(const ur_quest *q, size_t k, ur_contest *c, size_t *tried, int *won,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    ur_best best;
    *tried = k > *tried ? k : *tried;
    UR_TRY(
        ur_starts(q->given, &c->frame, k, CLOSE, UR_START_GAIN, c->rows, c->k, &arena, &best, err));
    *won = best.bic < c->best.bic;
    if (*won)
        return ur_contest_take(q, &best, &arena, c, err);
    *q->work += best.work;
    return UNRELU_OK;
}

/* With fewer labels than neurons one start says little: all of them, where they cost little. */
static unrelu_status try_all(const ur_quest *q, size_t most, ur_contest *c, size_t *tried, int *won,
                             unrelu_error *err)
{
    size_t k = c->k + 1;
    if (ur_folded_applies(q->given, c->frame.terms, k) || k > most || k <= q->given->data.m ||
        ur_contest_step(c, k) > CHEAP || *q->work > PATIENT_WORK)
        return UNRELU_OK;
    return try_starts(q, k, c, tried, won, err);
}

unrelu_status ur_look_ahead(const ur_quest *q, size_t most, ur_contest *c, size_t *tried,
                            unrelu_error *err)
{
    for (size_t ahead = 1; ahead <= AHEAD && c->k + ahead <= most; ahead++) {
        int won = 0;
        UR_TRY(try_starts(q, c->k + ahead, c, tried, &won, err));
        if (won && c->best.agree >= CLOSE)
            break;
        ahead = won ? 0 : ahead;
    }
    return UNRELU_OK;
}

/* V: the rows of c but for one; the two that are closest become one, or the cheapest is left out */
static unrelu_status leave_one(const ur_quest *q, const ur_contest *c, int merge, double *V,
                               int *possible, unrelu_error *err)
{
    const ur_newton_fit *fit = &c->best.fit;
    size_t k = c->k, p = c->frame.p, least = 0, other = k;
    double closest = ALIKE;
    UR_ARENA(arena);
    ur_newton problem = ur_frame_problem(&c->frame, q->given->options.activation, q->given->exec);
    double *costs = ur_take(&arena, k, sizeof *costs);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_neuron_costs(&problem, fit, costs, err));
    for (size_t j = 0; j < k; j++) {
        if (!merge && costs[j] < costs[least])
            least = j;
        for (size_t i = 0; i < j && merge; i++) {
            const double *v = fit->V + j * p, *w = fit->V + i * p;
            double cosine = ur_dot(p, v, w) / (ur_norm(p, v) * ur_norm(p, w));
            if (cosine > closest) {
                closest = cosine;
                least = costs[i] < costs[j] ? i : j;
                other = least == i ? j : i;
            }
        }
    }
    *possible = k > 1 && (!merge || other < k);
    for (size_t from = 0, to = 0; from < k && *possible; from++) {
        if (from == least)
            continue;
        memcpy(V + to * p, fit->V + from * p, p * sizeof *V);
        double both = costs[least] + costs[from];
        if (from == other && both > 0)
            for (size_t i = 0; i < p; i++)
                V[to * p + i] += costs[least] / both * (fit->V[least * p + i] - V[to * p + i]);
        to++;
    }
    return UNRELU_OK;
}

static unrelu_status try_fewer(const ur_quest *q, ur_contest *c, int *won, unrelu_error *err)
{
    UR_ARENA(arena);
    double *V = ur_take(&arena, c->k, c->frame.p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    *won = 0;
    for (int merge = 0; merge <= 1 && !*won; merge++) {
        int possible = 0;
        UR_TRY(leave_one(q, c, merge, V, &possible, err));
        if (possible)
            UR_TRY(ur_contest_attempt(q, c->k - 1, V, c, won, err));
    }
    return UNRELU_OK;
}

/* V: the rows of c but for the one of the nth smallest cost, and a birth in its place */
static unrelu_status replace_one(const ur_quest *q, const ur_contest *c, const double *costs,
                                 size_t nth, double *V, unrelu_error *err)
{
    size_t k = c->k, p = c->frame.p, out = 0;
    UR_ARENA(arena);
    ur_newton problem = ur_frame_problem(&c->frame, q->given->options.activation, q->given->exec);
    ur_newton_fit fit;
    double gain;
    UR_TRY(ur_newton_alloc(&problem, k - 1, &arena, &fit, err));
    for (size_t j = 0; j < k; j++) {
        size_t cheaper = 0;
        for (size_t i = 0; i < k; i++)
            cheaper += costs[i] < costs[j] || (costs[i] == costs[j] && i < j);
        out = cheaper == nth ? j : out;
    }
    memcpy(fit.V, c->best.fit.V, out * p * sizeof *V);
    memcpy(fit.V + out * p, c->best.fit.V + (out + 1) * p, (k - 1 - out) * p * sizeof *V);
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    memcpy(V, fit.V, (k - 1) * p * sizeof *V);
    return ur_birth(&problem, &fit, q->given->options.seed, (1 + nth) << 16 | k, V + (k - 1) * p,
                    &gain, err);
}

unrelu_status ur_exchange(const ur_quest *q, ur_contest *c, unrelu_error *err)
{
    size_t k = c->k;
    UR_ARENA(own);
    double *V = ur_take(&own, k, c->frame.p * sizeof *V), *costs = ur_take(&own, k, sizeof *costs);
    ur_newton problem = ur_frame_problem(&c->frame, q->given->options.activation, q->given->exec);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t nth = 0, won = 0; k > 1 && nth < EXCHANGES && nth < k; nth = won ? 0 : nth + 1) {
        double goal = c->best.cost * (1 - UR_AGREE);
        UR_ARENA(arena);
        ur_best best;
        UR_TRY(ur_neuron_costs(&problem, &c->best.fit, costs, err));
        UR_TRY(replace_one(q, c, costs, nth, V, err));
        UR_TRY(ur_start_once(q->given, &c->frame, k, V, goal, c->gain, &arena, &best, err));
        won = best.cost < goal;
        if (won) {
            best.starts = c->best.starts + 1;
            UR_TRY(ur_contest_take(q, &best, &arena, c, err));
        } else {
            *q->work += best.work;
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_bic_of_fewer(const ur_quest *q, const ur_contest *c, double *bic,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    double *V = ur_take(&arena, c->k, c->frame.p * sizeof *V);
    double goal = ur_contest_rss(q, c, c->k - 1, c->best.bic);
    UR_TRY(ur_arena_status(&arena, err));
    *bic = INFINITY;
    for (int merge = 0; merge <= 1; merge++) {
        int possible = 0;
        ur_best best;
        UR_TRY(leave_one(q, c, merge, V, &possible, err));
        if (!possible)
            continue;
        UR_TRY(ur_start_once(q->given, &c->frame, c->k - 1, V, goal, c->gain, &arena, &best, err));
        *q->work += best.work;
        *bic = fmin(*bic, best.bic);
    }
    return UNRELU_OK;
}

unrelu_status ur_move(const ur_quest *q, size_t most, ur_contest *c, size_t *tried,
                      unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t before = c->k;
    for (int won = 1; won && c->k < most && !ur_contest_met(given, c);) {
        UR_TRY(ur_try_more(q, most, c, tried, &won, err));
        if (!won && !ur_contest_met(given, c))
            UR_TRY(try_all(q, most, c, tried, &won, err));
    }
    for (int won = 1; won && c->k > 1 && (c->k <= before || c->rough) && !ur_contest_met(given, c);)
        UR_TRY(try_fewer(q, c, &won, err));
    return UNRELU_OK;
}
