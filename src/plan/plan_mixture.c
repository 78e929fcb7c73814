/* SPDX-License-Identifier: Apache-2.0 */
/* Mixtures x = A ReLU(W z + b) without noise, of units that are independent of one another. With
 * P(off) = Phi(-b), b over the unit's scale: facets need every unit off often enough, the paper's
 * way every unit alone once. Unit i is alone with P_i = Phi(b_i) prod_{j != i} Phi(-b_j), and all
 * were with prod_i (1 - exp(-n P_i)), which for equal b is 1/2 at n = (ln p + .37) / P. */
#include "law/normal.h"
#include "plan/plan.h"

#include <math.h>

static const double A_FACET = 10; /* n P(off) / p that found every facet: docs/unmix.md */
/* of the rules of the verdict: each unit off in 4 p samples where another is on, on in 3 */
static const double OFF = 4, ON = 3;

/* ln of the chance that all units are off */
static double all_off(const ur_planning *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++)
        sum += w->values[i].share * ur_normal_log_cdf(-w->values[i].b);
    return sum;
}

/* ln of the chance that all units were alone in exp(L) samples */
static double all_alone(const ur_planning *w, double none, double L)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++) {
        double b = w->values[i].b;
        double alone = none - ur_normal_log_cdf(-b) + ur_normal_log_cdf(b);
        sum += w->values[i].share * log(-expm1(-exp(L + alone)));
    }
    return sum;
}

/* samples in which all units are alone with this chance */
static double count_alone(const ur_planning *w, double chance)
{
    enum { HALVINGS = 200 };
    double none = all_off(w), low = 0, high = 1;
    if (!isfinite(none))
        return INFINITY;
    while (all_alone(w, none, high) < log(chance) && isfinite(high))
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (all_alone(w, none, middle) < log(chance))
            low = middle;
        else
            high = middle;
    }
    return exp(high);
}

static void add_facets(ur_planning *w, const char *narrow)
{
    const unrelu_plan_options *o = w->options;
    double p = (double)o->p, none = all_off(w);
    double share[UNRELU_PLAN_BIASES], on[UNRELU_PLAN_BIASES], of[UNRELU_PLAN_BIASES];
    for (size_t i = 0; i < w->count; i++) {
        double log_off = ur_normal_log_cdf(-w->values[i].b);
        share[i] = exp(log_off) * -expm1(none - log_off);
        on[i] = ur_normal_cdf(w->values[i].b);
        of[i] = w->values[i].share;
    }
    const char *single = ur_plan_reason(w, o->p == 1, "one unit has no other beside it");
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "facets-measured",
                                    .title = "exact recovery",
                                    .says = "A to rounding in all runs: 10 P / P(off)",
                                    .assumes = "no noise, W of rank P, D >= P",
                                    .source = "docs/unmix.md: p = 5, 10, 20, d = p + 3, 320 runs",
                                    .constant = UNRELU_CONSTANT_MEASURED},
                A_FACET * p / ur_normal_cdf(-w->most), narrow);
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "off",
                            .title = "verdict exact",
                            .says = "every unit off in 4 P samples with others on, but for delta",
                            .assumes = "independent units, D >= P",
                            .source = "docs/method-mixture.md, verdicts; binomial counts",
                            .role = UNRELU_BOUND_NEEDED},
        ur_count_enough(w->count, share, of, OFF * p, o->failure), narrow ? narrow : single);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "on",
                                    .title = "no outlier",
                                    .says = "every unit on in 3 samples, but for delta",
                                    .assumes = "D >= P",
                                    .source = "docs/method-mixture.md, verdicts; binomial counts",
                                    .role = UNRELU_BOUND_NEEDED},
                ur_count_enough(w->count, on, of, ON, o->failure), narrow);
}

static void add_separable(ur_planning *w, const char *narrow)
{
    const unrelu_plan_options *o = w->options;
    const char *shifted = narrow;
    if (!narrow)
        shifted =
            ur_plan_reason(w, w->least != 0 || w->most != 0,
                           "2^p does not apply: it is for b = 0, and a unit has b = %g scales",
                           w->least != 0 ? w->least : w->most);
    ur_plan_add(
        w,
        (unrelu_plan_bound){.name = "separable",
                            .title = "separable, half",
                            .says = "every unit alone once, in half of the cases: (ln P + .37) / "
                                    "(Phi(b) Phi(-b)^(P-1)) for equal b",
                            .assumes = "independent units, D >= P",
                            .source = "counting; simulated in docs/method-mixture.md",
                            .role = UNRELU_BOUND_NEEDED},
        count_alone(w, 0.5), narrow);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "separable-sure",
                                    .title = "separable",
                                    .says = "the same, but for delta",
                                    .assumes = "independent units, D >= P",
                                    .source = "counting"},
                count_alone(w, 1 - o->failure), narrow);
    ur_plan_add(w,
                (unrelu_plan_bound){.name = "separable-rate",
                                    .title = "author response",
                                    .says = "separable from about 2^P samples on",
                                    .assumes = "b = 0, D >= P",
                                    .source = "Wu, Dimakis, Sanghavi, author response",
                                    .constant = UNRELU_CONSTANT_OPEN},
                exp2((double)o->p), shifted);
}

unrelu_status ur_plan_mixture(ur_planning *w, unrelu_error *err)
{
    const unrelu_plan_options *o = w->options;
    (void)err;
    const char *narrow = ur_plan_reason(
        w, o->d > 0 && o->d < o->p,
        "%zu units cannot be told apart in %zu columns, however many samples", o->p, o->d);
    add_facets(w, narrow);
    add_separable(w, narrow);
    return UNRELU_OK;
}
