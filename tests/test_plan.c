/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples: by hand, by naive sums and by drawing them. */
#include "planted.h"

#include "base/random.h"
#include "plan/plan.h"

#include <float.h>

static unrelu_plan_options asking(unrelu_plan_model model, size_t size, const char *b)
{
    unrelu_plan_options o;
    unrelu_error err = {0};
    unrelu_plan_options_init(&o, sizeof o);
    o.model = model;
    o.d = model == UNRELU_PLAN_MIXTURE ? 0 : size;
    o.k = o.p = size;
    o.error = .1;
    if (b)
        must(unrelu_plan_options_set(&o, "b", b, &err), &err);
    return o;
}

static const unrelu_plan_bound *find(const unrelu_plan *plan, const char *name)
{
    const unrelu_plan_bound *b;
    for (size_t i = 0; (b = unrelu_plan_bound_at(plan, i)); i++)
        if (strcmp(b->name, name) == 0)
            return b;
    fail_msg("no bound %s", name);
    return NULL;
}

static double count(unrelu_plan_options o, const char *name)
{
    unrelu_plan *plan;
    unrelu_error err = {0};
    must(unrelu_plan_make(&o, &plan, &err), &err);
    const unrelu_plan_bound *b = find(plan, name);
    double n = b->n;
    assert_int_equal(b->holds, b->because == NULL);
    assert_int_equal(b->holds, !isnan(n));
    unrelu_plan_free(plan);
    return n;
}

static void the_papers_bounds_are_those_by_hand(void **state)
{
    (void)state;
    unrelu_plan_options o = asking(UNRELU_PLAN_GAUSSIAN, 5, NULL);
    assert_near(count(o, "theorem-1"), ceil(100 * log(100)), 0);
    assert_near(count(o, "lemma-4"), ceil(8000 * log(40)), 0);
    assert_near(count(o, "lemma-4-all"), ceil(8000 * log(20 / .05)), 0);
    assert_near(count(o, "theorem-2"), 100, 0);
    assert_near(count(o, "theorem-3"), 500, 0);
    assert_near(count(o, "theorem-1-measured"), 34100, 0);
    assert_near(count(o, "corollary-1-measured"), 59 * 25 * 100, 0);
    o.kappa = 3;
    assert_near(count(o, "corollary-1"), ceil(9 * 25 * 100 * log(100)), 0);
    assert_true(isnan(count(o, "corollary-1-measured")));
    o.error = .6;
    assert_true(isnan(count(o, "corollary-1")) && !isnan(count(o, "theorem-1")));
    o.error = 1;
    assert_true(isnan(count(o, "theorem-1")) && isnan(count(o, "lemma-4")));
    o = asking(UNRELU_PLAN_GAUSSIAN, 4, "1000"); /* nothing is hidden: d (d + 3) / 8 / E^2 */
    assert_near(count(o, "tv"), 350, 0);
    assert_true(isnan(count(o, "theorem-3")) && isnan(count(o, "claim-2")));
    o = asking(UNRELU_PLAN_GAUSSIAN, 4, "-2,1");
    assert_near(count(o, "claim-2"), 8, 0); /* exp(2) = 7.4 */
    assert_near(count(o, "claim-2-explicit"), ceil(log(.05) / log(.9772498680518208)), 0);
    const char *const silent[] = {"theorem-1", "lemma-4", "theorem-2", "corollary-1"};
    for (size_t i = 0; i < 4; i++)
        assert_true(isnan(count(o, silent[i])));
    unrelu_plan *plan;
    unrelu_error err = {0};
    must(unrelu_plan_make(&o, &plan, &err), &err);
    assert_string_equal(
        find(plan, "theorem-1")->because,
        "Theorem 1 does not apply: it assumes b >= 0, and a column has b = -2 scales");
    unrelu_plan_free(plan);
}

/* ---- counting ---- */

static double naive_below(int n, double q, int least)
{
    double sum = 0;
    for (int j = 0; j < least; j++) {
        double t = 1;
        for (int i = 0; i < j; i++)
            t *= (n - i) / (double)(j - i) * q;
        sum += t * pow(1 - q, n - j);
    }
    return sum;
}

static void chances_are_those_of_naive_sums(void **state)
{
    (void)state;
    const double q[] = {.01, .3, .5, .97};
    for (int n = 1; n <= 60; n++)
        for (int least = 0; least <= n + 1; least++)
            for (size_t i = 0; i < 4; i++)
                assert_near(ur_count_below(n, q[i], least), naive_below(n, q[i], least), 1e-13);
    /* Poisson, mean 4: exp(-4) (1 + 4 + 8) */
    assert_near(ur_count_below(4e12, 1e-12, 3), 13 * exp(-4), 1e-9);
    assert_near(ur_count_below(10, 0, 1), 1, 0);
    assert_near(ur_count_below(10, 1, 10), 0, 0);
}

static void n_is_the_least_that_is_enough(void **state)
{
    (void)state;
    const double share[] = {.5, .1}, of[] = {3, 2};
    double n = ur_count_enough(2, share, of, 7, .05);
    assert_true(3 * naive_below((int)n, .5, 7) + 2 * naive_below((int)n, .1, 7) <= .05);
    assert_true(3 * naive_below((int)n - 1, .5, 7) + 2 * naive_below((int)n - 1, .1, 7) > .05);
    assert_true(isinf(ur_count_enough(1, (const double[]){0}, of, 1, .05)));
    /* -ln(.05) / share, beyond where n is whole and up to the largest double */
    for (double rare = 1e-15; rare > 1e-306; rare *= 1e-29)
        assert_near(ur_count_enough(1, &rare, (const double[]){1}, 1, .05) * rare, -log(.05),
                    1e-14);
    assert_true(isinf(ur_count_enough(1, (const double[]){DBL_TRUE_MIN}, of, 1, .05)));
}

static double rounded(double n)
{
    unrelu_plan plan = {.count = 0};
    ur_plan_add(&(ur_planning){.plan = &plan}, (unrelu_plan_bound){.name = "n"}, n, NULL);
    return plan.bounds[0].n;
}

static void n_is_rounded_up_but_for_1e_12_of_it(void **state)
{
    (void)state;
    assert_near(rounded(1e4 * (1 + 1e-13)), 1e4, 0);
    assert_near(rounded(1e4 * (1 + 1e-11)), 1e4 + 1, 0);
    assert_near(rounded(1e11 + 1), 1e11 + 1, 0);
}

/* how often some neuron of k, of biases b, is on in fewer than `least` of n samples */
static double share_of_failures(size_t n, size_t k, const double *b, size_t least)
{
    enum { RUNS = 2000 };
    double *z = malloc(n * k * sizeof *z);
    size_t failures = 0;
    assert_non_null(z);
    for (uint64_t run = 0; run < RUNS; run++) {
        int few = 0;
        ur_random_normals(run + 1, 9, 0, n * k, z);
        for (size_t j = 0; j < k; j++) {
            size_t on = 0;
            for (size_t i = 0; i < n; i++)
                on += z[i * k + j] + b[j] > 0;
            few |= on < least;
        }
        failures += few != 0;
    }
    free(z);
    return (double)failures / RUNS;
}

static void drawn_neurons_are_on_as_often_as_planned(void **state)
{
    (void)state;
    const double none[5] = {0}, mixed[5] = {-1, .5, -1, .5, -1};
    unrelu_plan_options o = asking(UNRELU_PLAN_NETWORK, 5, NULL);
    o.d = 10;
    size_t n = (size_t)count(o, "active");
    assert_true(share_of_failures(n, 5, none, 10) < .05 + .015);
    assert_true(share_of_failures(n - 4, 5, none, 10) > .05 + .015);
    o = asking(UNRELU_PLAN_NETWORK, 5, "-1,.5");
    o.d = 10;
    n = (size_t)count(o, "active");
    assert_true(share_of_failures(n, 5, mixed, 11) < .05 + .015);
    assert_true(share_of_failures(n * 9 / 10, 5, mixed, 11) > .05 + .015);
    assert_near(count(o, "active-mean"), ceil(11 / .15865525393145707), 0);
}

static void networks_are_planned_by_hand(void **state)
{
    (void)state;
    unrelu_plan_options o = asking(UNRELU_PLAN_NETWORK, 5, NULL);
    o.d = 10;
    o.kappa = 50;
    assert_near(count(o, "exact-measured"), 40, 0);
    assert_near(count(o, "certified"), 60, 0);
    assert_near(count(o, "lemma-16"), 50, 0);
    assert_near(count(o, "lemma-16-explicit"), ceil(log(.1) / log(1 - 2 / M_PI * atan(1. / 25))),
                0);
    o.failure = .5;
    assert_true(isnan(count(o, "lemma-16-explicit")));
    o.k = 1;
    assert_true(isnan(count(o, "lemma-16")));
    o = asking(UNRELU_PLAN_NETWORK, 4, "-.5");
    assert_near(count(o, "exact-measured"), 120, 0);
    assert_near(count(o, "certified"), 50, 0);
    o.m = 3;
    assert_near(count(o, "exact-measured"), 94, 0); /* 4 5 + 3 9 = 47 numbers, 3 a row */
    assert_near(count(o, "certified"), 16 + 10, 0);
    o.d = 10; /* 16 11 + 27 = 203 numbers */
    o.k = 16;
    o.m = 1;
    assert_near(count(o, "exact-measured"), 1218, 0);
    assert_near(count(o, "certified"), 203 + 26, 0);
}

static void mixtures_are_planned_by_hand(void **state)
{
    (void)state;
    unrelu_plan_options o = asking(UNRELU_PLAN_MIXTURE, 8, NULL);
    assert_near(count(o, "facets-measured"), 160, 0);
    assert_near(count(o, "separable-rate"), 256, 0);
    assert_near(count(o, "separable"), (log(8) + .37) * 256, 256 * .05);
    /* (1 - exp(-n / 256))^8 = .95 */
    assert_near(count(o, "separable-sure"), -256 * log(1 - pow(.95, .125)), 1);
    const double off = .5 * (1 - pow(.5, 7)), of = 8;
    assert_near(count(o, "off"), ur_count_enough(1, &off, &of, 32, .05), 0);
    assert_near(count(o, "on"), ur_count_enough(1, (const double[]){.5}, &of, 3, .05), 0);
    o = asking(UNRELU_PLAN_MIXTURE, 10, "1");
    double alone = .8413447460685429 * pow(.15865525393145707, 9);
    assert_near(count(o, "separable") * alone, log(10) + .37, .05);
    assert_near(count(o, "facets-measured"), ceil(100 / .15865525393145707), 0);
    assert_true(isnan(count(o, "separable-rate")));
    o.d = 9;
    assert_true(isnan(count(o, "separable")) && isnan(count(o, "off")));
    o = asking(UNRELU_PLAN_MIXTURE, 1, NULL);
    assert_true(isnan(count(o, "off")) && count(o, "on") > 3);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    unrelu_plan_options o = asking(UNRELU_PLAN_GAUSSIAN, 2, "0,1");
    unrelu_plan *plan;
    unrelu_error err = {0};
    unrelu_option shown;
    assert_int_equal(unrelu_plan_options_set(&o, "b", "1,,2", &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_plan_options_set(&o, "b", "", &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_plan_options_set(&o, "b", "-6.1", &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_plan_options_set(&o, "b", "1001", &err), UNRELU_EUSAGE);
    must(unrelu_plan_options_set(&o, "b", "-6,1000", &err), &err);
    assert_int_equal(unrelu_plan_options_set(&o, "kappa", ".5", &err), UNRELU_EUSAGE);
    assert_int_equal(o.b_count, 2);
    must(unrelu_plan_options_set(&o, "model", "mixture", &err), &err);
    assert_int_equal(o.model, UNRELU_PLAN_MIXTURE);
    assert_true(unrelu_plan_option(8, &shown) && !unrelu_plan_option(9, &shown));
    o = asking(UNRELU_PLAN_GAUSSIAN, 1, "0,1");
    assert_int_equal(unrelu_plan_make(&o, &plan, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "`b` lists 2 values for 1 columns");
    o.failure = 1;
    assert_int_equal(unrelu_plan_make(&o, &plan, &err), UNRELU_EUSAGE);
    o = asking(UNRELU_PLAN_GAUSSIAN, 5, NULL);
    o.error = 0;
    assert_int_equal(unrelu_plan_make(&o, &plan, &err), UNRELU_EUSAGE);
    assert_null(plan);
    unrelu_plan_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_bounds_are_those_by_hand),
        cmocka_unit_test(chances_are_those_of_naive_sums),
        cmocka_unit_test(n_is_the_least_that_is_enough),
        cmocka_unit_test(n_is_rounded_up_but_for_1e_12_of_it),
        cmocka_unit_test(drawn_neurons_are_on_as_often_as_planned),
        cmocka_unit_test(networks_are_planned_by_hand),
        cmocka_unit_test(mixtures_are_planned_by_hand),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
