/* SPDX-License-Identifier: Apache-2.0 */
/* A rectified Gaussian of d columns that are not correlated, of scale 1. With v the Cramer-Rao
 * bounds in one sample,
 *   n err_b^2 = sum_i v(b_i) / d,   n err_Sigma^2 = (sum_i 4 v(s_i) + sum_{i != j} v(rho_ij)) /
 * d^2, |W|_F^2 being d, and for N(b^, Sigma^) against N(b, I) n E KL = sum_i (v(b_i) / 2 + v(s_i))
 * + sum_{i < j} v(rho_ij) / 2, where TV <= sqrt(KL / 2) (Pinsker, and a rectifier does not separate
 * what was not). Only the values of the list enter, so that d may be anything. */
#include "base/error.h"
#include "law/normal.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

#define PAPER "Wu, Dimakis, Sanghavi (NeurIPS 2019)"
#define LIMIT "inverse Fisher information; 'unrelu fit' reaches it"

/* Of the runs of docs/results.md (Algorithm 1 as published, n = 500000, d = 5 to 25, kappa = 1, ten
 * runs a point): the largest n err_Sigma^2 and n TV^2 / d^2, TV by sqrt(KL / 2) */
static const double MEASURED_SIGMA = 341, MEASURED_TV = 59;
static const double LEMMA_4 = 80; /* its own constant */

enum { OF_B, OF_SCALE, OF_RHO, OF_ERR_B, OF_ERR_SIGMA, OF_TV, ERRORS };

/* every value twice, for the pairs of its own */
typedef struct {
    double b[2 * UNRELU_PLAN_BIASES], scale[2 * UNRELU_PLAN_BIASES], b_se[2 * UNRELU_PLAN_BIASES];
    double scale_se[2 * UNRELU_PLAN_BIASES];
    double correlation[4 * UNRELU_PLAN_BIASES * UNRELU_PLAN_BIASES];
    double rho_se[4 * UNRELU_PLAN_BIASES * UNRELU_PLAN_BIASES];
} errors_of;

/* root mean square errors at n = 1 */
static unrelu_status measure(const ur_planning *w, double *unit, unrelu_error *err)
{
    UR_ARENA(arena);
    errors_of *m = ur_take(&arena, 1, sizeof *m);
    UR_TRY(ur_arena_status(&arena, err));
    double d = (double)w->of, b = 0, scales = 0, pairs = 0;
    size_t k = 2 * w->count;
    unrelu_gaussian gaussian = {
        .d = k, .b = m->b, .scale = m->scale, .correlation = m->correlation};
    for (size_t i = 0; i < k; i++) {
        m->b[i] = w->values[i / 2].b;
        m->scale[i] = 1;
        m->correlation[i * k + i] = 1;
    }
    UR_TRY(unrelu_gaussian_bound(&gaussian, 1, m->b_se, m->scale_se, NULL, m->rho_se, err));
    memset(unit, 0, ERRORS * sizeof *unit);
    for (size_t i = 0; i < w->count; i++) {
        double b_se = m->b_se[2 * i], scale_se = m->scale_se[2 * i], of = w->values[i].share;
        unit[OF_B] = fmax(unit[OF_B], b_se);
        unit[OF_SCALE] = fmax(unit[OF_SCALE], scale_se);
        b += of * b_se * b_se;
        scales += of * scale_se * scale_se;
        for (size_t j = 0; j < w->count; j++) {
            double rho_se = m->rho_se[2 * i * k + 2 * j + 1];
            double both = of * (i == j ? of - 1 : w->values[j].share);
            pairs += both * rho_se * rho_se;
            if (both > 0)
                unit[OF_RHO] = fmax(unit[OF_RHO], rho_se);
        }
    }
    unit[OF_ERR_B] = sqrt(b / d);
    unit[OF_ERR_SIGMA] = sqrt(4 * scales + pairs) / d;
    unit[OF_TV] = sqrt((b / 2 + scales + pairs / 4) / 2);
    return UNRELU_OK;
}

static void add_limits(ur_planning *w, const double *unit)
{
    static const unrelu_plan_bound limits[ERRORS] = {
        {"b", "b", "of one column, over its scale", "any b", LIMIT, UNRELU_BOUND_NEEDED,
         UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
        {"scale", "scale", "of one column, relative", "any b", LIMIT, UNRELU_BOUND_NEEDED,
         UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
        {"correlation", "rho", "of one pair, where it is 0", "any b", LIMIT, UNRELU_BOUND_NEEDED,
         UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
        {"err_b", "err_b", "|b - b*| / |W*|_F", "any b", LIMIT, UNRELU_BOUND_NEEDED,
         UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
        {"err_sigma", "err_Sigma", "|Sigma - Sigma*|_F / |W*|_F^2", "any b", LIMIT,
         UNRELU_BOUND_NEEDED, UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
        {"tv", "TV", "total variation, at most sqrt(KL / 2)", "any b, W of full rank", LIMIT,
         UNRELU_BOUND_ENOUGH, UNRELU_CONSTANT_EXPLICIT, 0, NULL, 0, 0},
    };
    double error = w->options->error;
    for (int k = 0; k < ERRORS; k++) {
        unrelu_plan_bound bound = limits[k];
        int alone = k == OF_RHO && w->of == 1;
        bound.error_at_one = alone ? NAN : unit[k];
        ur_plan_add(w, bound, unit[k] / error * (unit[k] / error),
                    ur_plan_reason(w, alone, "one column has no pair"));
    }
}

/* why a theorem with b >= 0 and an error below `most` says nothing; NULL: it does */
static const char *refuse(ur_planning *w, const char *what, double most)
{
    double error = w->options->error;
    if (w->least < 0)
        return ur_plan_reason(
            w, 1, "%s does not apply: it assumes b >= 0, and a column has b = %g scales", what,
            w->least);
    return ur_plan_reason(w, !(error <= most), "%s does not apply: it is for errors %s, not %g",
                          what, most < 1 ? "up to 1/2" : "below 1", error);
}

static const double BELOW_1 = 1 - 0x1p-53, HALF = 0.5; /* errors that theorems are for */

static void add_parameters(ur_planning *w)
{
    const unrelu_plan_options *o = w->options;
    double d = (double)o->d, e2 = o->error * o->error, delta = o->failure;
    double rate = log(d / delta), pairs = d * (d - 1) / 2, lemma = LEMMA_4 * log(2 / delta) / e2;
    const char *lemma_4 = refuse(w, "Lemma 4", BELOW_1);
    if (!lemma_4 && o->d == 1)
        lemma_4 = "one column has no pair";
    ur_plan_add(w,
                (unrelu_plan_bound){
                    .name = "theorem-1",
                    .title = "Theorem 1",
                    .says = "err_b and err_Sigma by Algorithm 1: 1/E^2 ln(D/delta), up to logs",
                    .assumes = "b >= 0, E < 1",
                    .source = PAPER,
                    .constant = UNRELU_CONSTANT_OPEN},
                rate / e2, refuse(w, "Theorem 1", BELOW_1));
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "theorem-1-measured",
                                    .title = "its constant",
                                    .says = "err_Sigma of Algorithm 1 in the mean: 341/E^2",
                                    .assumes = "b >= 0, E < 1",
                                    .source = "docs/results.md: n = 500000, d = 5 to 25, kappa = 1",
                                    .constant = UNRELU_CONSTANT_MEASURED},
                MEASURED_SIGMA / e2, refuse(w, "Theorem 1", BELOW_1));
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "lemma-4",
                                    .title = "Lemma 4",
                                    .says = "the cosine of one pair: 80 ln(2/delta)/E^2",
                                    .assumes = "b >= 0, E < 1, b known to E scales",
                                    .source = PAPER},
                lemma, lemma_4);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "lemma-4-all",
                                    .title = "Lemma 4, all pairs",
                                    .says = "80 ln(D(D-1)/delta)/E^2",
                                    .assumes = "b >= 0, E < 1, b known to E scales",
                                    .source = PAPER ", with a union bound"},
                LEMMA_4 * log(2 * pairs / delta) / e2, lemma_4);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "theorem-2",
                                    .title = "Theorem 2",
                                    .says = "err_b by any algorithm, in 2 of 3 runs: 1/E^2",
                                    .assumes = "b >= 0, W = s I; such are among yours",
                                    .source = PAPER,
                                    .role = UNRELU_BOUND_NEEDED,
                                    .constant = UNRELU_CONSTANT_OPEN},
                1 / e2, refuse(w, "Theorem 2", BELOW_1));
}

static void add_distances(ur_planning *w)
{
    const unrelu_plan_options *o = w->options;
    double d = (double)o->d, e2 = o->error * o->error, rate = log(d / o->failure);
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "corollary-1",
                            .title = "Corollary 1",
                            .says = "TV by Algorithm 1: kappa^2 D^2/E^2 ln(D/delta), up to logs",
                            .assumes = "b >= 0, E <= 1/2, W square of full rank",
                            .source = PAPER,
                            .constant = UNRELU_CONSTANT_OPEN},
        o->kappa * o->kappa * d * d * rate / e2, refuse(w, "Corollary 1", HALF));
    const char *beside = refuse(w, "Corollary 1", HALF);
    if (!beside)
        beside = ur_plan_reason(w, o->kappa > 1, "it was measured at kappa = 1, not %g", o->kappa);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "corollary-1-measured",
                                    .title = "its constant",
                                    .says = "sqrt(KL/2) of Algorithm 1 in the mean: 59 D^2/E^2",
                                    .assumes = "b >= 0, E <= 1/2, kappa = 1",
                                    .source = "docs/results.md: n = 500000, d = 5 to 25, kappa = 1",
                                    .constant = UNRELU_CONSTANT_MEASURED},
                MEASURED_TV * d * d / e2, beside);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "theorem-3",
                                    .title = "Theorem 3",
                                    .says = "TV by any algorithm, in 2 of 3 runs: D/E^2",
                                    .assumes = "b = 0, W square of full rank",
                                    .source = PAPER,
                                    .role = UNRELU_BOUND_NEEDED,
                                    .constant = UNRELU_CONSTANT_OPEN},
                d / e2,
                ur_plan_reason(w, w->least != 0 || w->most != 0,
                               "Theorem 3 does not apply: it is for b = 0, and a column has b = %g "
                               "scales",
                               w->least != 0 ? w->least : w->most));
}

/* of b < 0: nothing is known of a column before it was positive once */
static void add_claim(ur_planning *w)
{
    double b = w->least, seen = ur_normal_cdf(b);
    const char *because = ur_plan_reason(
        w, !(b < 0), "Claim 2 does not apply: no column has b < 0, and it is about those");
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "claim-2",
                                    .title = "Claim 2",
                                    .says = "to tell two b apart, by any algorithm: exp(b^2/2)",
                                    .assumes = "b < 0; the least one",
                                    .source = PAPER,
                                    .role = UNRELU_BOUND_NEEDED,
                                    .constant = UNRELU_CONSTANT_OPEN},
                exp(b * b / 2), because);
    ur_plan_add(w,
                (unrelu_plan_bound){
                    .name = "claim-2-explicit",
                    .title = "its proof, counted",
                    .says = "one positive value but for delta: ln(delta)/ln(1 - Phi(b))",
                    .assumes = "b < 0; the least one",
                    .source = "the first step of the proof of Claim 2, without its tail bound",
                    .role = UNRELU_BOUND_NEEDED},
                log(w->options->failure) / log1p(-seen), because);
}

unrelu_status ur_plan_gaussian(ur_planning *w, unrelu_error *err)
{
    double unit[ERRORS];
    UR_TRY(measure(w, unit, err));
    add_limits(w, unit);
    add_parameters(w);
    add_distances(w);
    add_claim(w);
    return UNRELU_OK;
}
