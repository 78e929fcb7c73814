/* SPDX-License-Identifier: Apache-2.0 */
/* Networks a = U f(V x + c) with labels without noise. Row j of V meets as many equations as there
 * are samples where its neuron is on: d of them, d + 1 with a bias, are needed, and normal inputs
 * have it on in the share Phi(c_j / |v_j|).
 *
 * Lemma 16: V = ((1, a), (1, -a)) and U = (1, 1) / 2 give the labels of 2 a in place of a, save in
 * samples with |x1| < 2 a |x2|, which are a share (2 / pi) atan(2 a). Where none of n is such, an
 * algorithm is wrong on one of the two at least half of the time, so that (1 - share)^n / 2 may be
 * no more than delta; kappa(V) = 1 / a. */
#include "law/normal.h"
#include "plan/plan.h"

#include <math.h>

/* docs/recover.md, planted networks with m >= k: enough in all of 300 networks without biases, in
 * all of 50 with them; and what the rules of uniqueness ask for */
static const double ENOUGH = 4, ENOUGH_BIASES = 30, CERTIFIED = 6, CERTIFIED_LEAST = 50;
/* docs/recover.md, planted networks with m < k, with and without biases: labels for each number of
 * the network that were enough in all of 220; and the rows beside them that the rules ask for */
static const double ENOUGH_FEW = 6, HELD_LEAST = 10;

static void add_counts(ur_planning *w, int biases)
{
    const unrelu_plan_options *o = w->options;
    double share[UNRELU_PLAN_BIASES], of[UNRELU_PLAN_BIASES];
    double least = (double)o->d + (biases ? 1 : 0);
    for (size_t i = 0; i < w->count; i++) {
        share[i] = ur_normal_cdf(w->values[i].b);
        of[i] = w->values[i].share;
    }
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "active-mean",
                            .title = "d on, in the mean",
                            .says = biases ? "D + 1 samples where the neuron that is least on is on"
                                           : "D samples where the neuron that is least on is on",
                            .assumes = "inputs of a symmetric law (biases: normal)",
                            .source = "as many equations as unknowns in a row of V",
                            .role = UNRELU_BOUND_NEEDED},
        least / ur_normal_cdf(w->least), NULL);
    ur_plan_add(
        w,
        (unrelu_plan_bound){
            .name = "active",
            .title = "d on, for all",
            .says = biases
                        ? "every neuron on in D + 1 samples but for delta: else V is not determined"
                        : "every neuron on in D samples but for delta: else V is not determined",
            .assumes = "inputs of a symmetric law (biases: normal)",
            .source = "binomial counts and a union bound over the neurons",
            .role = UNRELU_BOUND_NEEDED},
        ur_count_enough(w->count, share, of, least, o->failure), NULL);
}

/* as many labels as neurons or more: each row of V is a problem of its own */
static void add_many_labels(ur_planning *w, int biases)
{
    double d = (double)w->options->d, factor = biases ? ENOUGH_BIASES : ENOUGH;
    ur_plan_add(w,
                (unrelu_plan_bound){
                    .name = "exact-measured",
                    .title = "exact recovery",
                    .says = biases ? "V to rounding in 50 of 50 networks with biases: 30 D"
                                   : "V to rounding in 300 of 300 networks: 4 D",
                    .assumes = "no noise, normal inputs, m >= k",
                    .source = biases ? "docs/recover.md: (d, k, m) = (10, 5, 8), c of scale 1/2"
                                     : "docs/recover.md: (d, k, m) = (10, 5, 8) and (20, 10, 12)",
                    .constant = UNRELU_CONSTANT_MEASURED},
                factor * d, NULL);
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "certified",
                            .title = "verdict exact",
                            .says = "different rows that the verdict asks for: max(6 D, 50)",
                            .assumes = "no noise, m >= k",
                            .source = "docs/method-network.md, rules of uniqueness",
                            .role = UNRELU_BOUND_NEEDED},
        fmax(CERTIFIED * d, CERTIFIED_LEAST), NULL);
}

/* fewer labels than neurons: all numbers of V, c, U, e at once, P = k (d + 1) + m (k + 1) and the m
 * d of the part that is linear in x, which is free without signs */
static void add_few_labels(ur_planning *w)
{
    const unrelu_plan_options *o = w->options;
    double d = (double)o->d, k = (double)o->k, m = (double)o->m;
    double numbers = k * (d + 1) + m * (k + d + 1);
    ur_plan_add(w,
                (unrelu_plan_bound){
                    .name = "exact-measured",
                    .title = "exact recovery",
                    .says = "V to rounding in 220 of 220 networks: 6 labels for each of the P = "
                            "K (D + 1) + M (K + D + 1) numbers",
                    .assumes = "no noise, normal inputs, m < k",
                    .source = "docs/recover.md: (d, k, m) from (5, 8, 1) to (20, 20, 2)",
                    .constant = UNRELU_CONSTANT_MEASURED},
                ENOUGH_FEW * numbers / m, NULL);
    ur_plan_add(w,
                (unrelu_plan_bound){
                    .name = "certified",
                    .title = "verdict exact",
                    .says = "a label for each of the P numbers, and max(D + K, 10) rows kept back",
                    .assumes = "no noise, m < k",
                    .source = "docs/method-network.md, rules of uniqueness",
                    .role = UNRELU_BOUND_NEEDED},
                ceil(numbers / m) + fmax(d + k, HELD_LEAST), NULL);
}

static void add_measured(ur_planning *w, int biases)
{
    const unrelu_plan_options *o = w->options;
    if (o->m > 0 && o->m < o->k)
        add_few_labels(w);
    else
        add_many_labels(w, biases);
}

static void add_lemma(ur_planning *w)
{
    const unrelu_plan_options *o = w->options;
    double delta = o->failure, tells = 2 / M_PI * atan(2 / o->kappa);
    const char *because = ur_plan_reason(
        w, o->d < 2 || o->k < 2, "Lemma 16 does not apply: it is about two neurons of two inputs");
    const char *sure = because ? because
                               : ur_plan_reason(w, !(delta < 0.5),
                                                "one of two networks can be guessed: a delta of %g "
                                                "needs no sample",
                                                delta);
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "lemma-16",
                            .title = "Lemma 16",
                            .says = "the worst V of that condition, by any algorithm: kappa",
                            .assumes = "no noise, normal inputs, d and k at least 2",
                            .source = "Bakshi, Jayaram, Woodruff (COLT 2019)",
                            .role = UNRELU_BOUND_NEEDED,
                            .constant = UNRELU_CONSTANT_OPEN},
        o->kappa, because);
    ur_plan_add(
        w,
        (unrelu_plan_bound){
            .name = "lemma-16-explicit",
            .title = "its proof, counted",
            .says = "the same, but for delta: ln(2 delta)/ln(1 - (2/pi) atan(2/kappa))",
            .assumes = "no noise, normal inputs, d and k at least 2",
            .source =
                "its two networks, with the slips of the proof mended: docs/method-network.md",
            .role = UNRELU_BOUND_NEEDED},
        log(2 * delta) / log1p(-tells), sure);
}

unrelu_status ur_plan_network(ur_planning *w, unrelu_error *err)
{
    (void)err;
    int biases = w->least != 0 || w->most != 0;
    add_counts(w, biases);
    add_measured(w, biases);
    add_lemma(w);
    return UNRELU_OK;
}
