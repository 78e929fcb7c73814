/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `--method enumerate`: planted networks of 16 and 20 neurons to 1e-12 from
 * every seed; inputs that are nowhere negative with a neuron that is never off, where extreme rays
 * are not enough; no planted network is ever "proved" not to exist. A tenth of the runs in the
 * tests; `--full` does them all. */
#include "networks.h"
#include "numbers.h"

#include "base/random.h"

static unrelu_recover_options by_enumeration(void)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_ENUMERATE;
    return o;
}

static void large(size_t n, size_t k, size_t d, size_t m)
{
    unrelu_recover_options o = by_enumeration();
    int runs = runs_of(20), good = 0;
    double worst = 0;
    for (int run = 0; run < runs; run++) {
        planted_network p = plant_network(d, k, m, n, 0, (uint64_t)run + 1);
        unrelu_network *model = recover(&p, &o);
        double error = error_of_V(p.truth, model);
        good += model->verdict == UNRELU_VERDICT_EXACT && model->residual <= 1e-12 && error <= 1e-9;
        worst = fmax(worst, model->V ? model->residual : INFINITY);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    char what[64];
    snprintf(what, sizeof what, "(n,k,d,m) = (%zu,%zu,%zu,%zu)", n, k, d, m);
    row(what, "share recovered to 1e-9", (double)good / runs, 1, 1, "");
    row(what, "largest residual", worst, 0, 1e-12, "");
}

/* X >= 0 and one row of V >= 0: that neuron is on for all samples */
static planted_network plant_positive(size_t d, size_t k, size_t n, uint64_t seed)
{
    planted_network p = plant_network(d, k, k + 1, n, 0, seed);
    unrelu_error err = {0};
    for (size_t i = 0; i < n * d; i++)
        p.x[i] = fabs(p.x[i]);
    for (size_t i = 0; i < d; i++)
        p.truth->V[i] = fabs(p.truth->V[i]);
    must(unrelu_network_predict(p.truth, p.x, n, NULL, p.a, &err), &err);
    return p;
}

static void positive_inputs(void)
{
    static const size_t rows[] = {20, 50, 100, 150, 200};
    unrelu_recover_options o = by_enumeration();
    int runs = runs_of(95), good = 0, proofs = 0;
    for (int run = 0; run < runs; run++) {
        size_t k = 2 + (size_t)run % 4, n = rows[run / 4 % 5];
        planted_network p = plant_positive(4, k, n, (uint64_t)run + 500);
        unrelu_network *model = recover(&p, &o);
        good += model->V && model->residual <= 1e-12;
        proofs += model->proof;
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    row("X >= 0, a neuron never off", "share met to 1e-12", (double)good / runs, 1, 1, "");
    row("X >= 0, a neuron never off", "false proofs", proofs, 0, 0, "");
}

/* small and large n, all conditions: met or not, never proved away, never wrong and called exact */
static void false_claims(void)
{
    static const size_t sizes[][4] = {
        {3, 2, 2, 12}, {5, 3, 4, 20}, {5, 6, 6, 60}, {10, 6, 8, 300}, {4, 7, 8, 150}};
    unrelu_recover_options o = by_enumeration();
    int runs = runs_of(2000), proofs = 0, wrong = 0, met = 0;
    for (int run = 0; run < runs; run++) {
        const size_t *s = sizes[run % 5];
        unrelu_network_plant_options plan;
        unrelu_network_plant_options_init(&plan, sizeof plan);
        plan.d = s[0];
        plan.k = s[1];
        plan.m = s[2];
        plan.seed = (uint64_t)run + 9000;
        plan.inputs = (unrelu_inputs)(run / 5 % 6);
        plan.kappa_v = s[1] <= s[0] ? pow(10, run / 30 % 5) : 0;
        plan.kappa_u = pow(10, run / 150 % 4);
        planted_network p = plant_network_with(plan, s[3]);
        unrelu_network *model;
        unrelu_error err = {0};
        if (try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err) == UNRELU_OK) {
            met += model->V != NULL;
            proofs += model->proof;
            unrelu_network_distance far = {0};
            if (model->verdict == UNRELU_VERDICT_EXACT) {
                must(unrelu_network_compare(p.truth, model, &far, &err), &err);
                wrong += far.V_max > 1e-6 || far.extra > 0;
            }
        }
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    row("mixed sizes, laws and conditions", "share met", (double)met / runs, .95, 1, "");
    row("mixed sizes, laws and conditions", "false proofs", proofs, 0, 0, "");
    row("mixed sizes, laws and conditions", "wrong and called exact", wrong, 0, 0, "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, 0.1, "Enumeration");
    large(5000, 16, 30, 18);
    large(20000, 20, 40, 24);
    positive_inputs();
    false_claims();
    return numbers_end();
}
