/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer labels than neurons, and kinks so close that few samples tell the neurons apart: the
 * network of Lemma 16 of the two-layer paper, whose V has condition number 1 / a. Only samples
 * between the two kinks, a share of 2 atan(a) / pi, say which of many networks it is: two of them
 * for the two numbers that the others leave open, a third that checks these. */
#include "networks.h"

#include "network/verdict/verdict.h"

typedef struct {
    planted_network p;
    size_t between; /* samples between the kinks */
} close_kinks;

static close_kinks plant_close(double a, size_t n, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = o.k = 2;
    o.m = 1;
    o.lemma16 = a;
    o.seed = seed;
    close_kinks c = {.p = plant_network_with(o, n)};
    for (size_t i = 0; i < n; i++)
        c.between += fabs(c.p.x[2 * i]) < a * fabs(c.p.x[2 * i + 1]);
    return c;
}

typedef struct {
    size_t some, exact, wrong, noisy,
        many; /* instances with a sample between the kinks; of these */
} tally;

/* Without a sample between the kinks one neuron meets the labels, and is all that they show. */
static void add_instance(double a, size_t n, uint64_t seed, tally *t)
{
    close_kinks c = plant_close(a, n, seed);
    unrelu_network *model = recover(&c.p, NULL);
    double error = error_of_V(c.p.truth, model);
    if (c.between > 0) {
        int exact = model->verdict == UNRELU_VERDICT_EXACT;
        t->some++;
        t->exact += exact && error < 1e-6;
        t->wrong += exact && !(error < 1e-6);
        t->noisy += model->verdict == UNRELU_VERDICT_NOISY;
        t->many += model->k > 2;
    }
    unrelu_network_free(model);
    planted_network_free(&c.p);
}

static void close_kinks_are_exact_where_samples_tell_them_apart(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; t.some < 60; seed++)
        add_instance(.02, 300, seed, &t);
    assert_true(t.exact >= 30); /* three or more samples: 73 % of them */
    assert_int_equal(t.wrong, 0);
    assert_int_equal(t.noisy, 0);
    assert_int_equal(t.many, 0);
}

static void no_network_of_close_kinks_is_called_exact_and_wrong(void **state)
{
    (void)state;
    static const double a[] = {.005, .01, .02, .05, .1, .2, .5};
    static const size_t n[] = {50, 100, 300, 1000};
    tally t = {0};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        for (size_t j = 0; j < sizeof n / sizeof *n; j++)
            for (uint64_t seed = 1; seed <= 5; seed++)
                add_instance(a[i], n[j], 100 + seed, &t);
    assert_int_equal(t.wrong, 0);
}

/* rows are kept back where there are enough: 50 and 3000 leave more than the ten that are asked for
 */
static void rows_are_kept_back_wherever_there_are_enough(void **state)
{
    (void)state;
    static const size_t n[] = {50, 300, 3000, 6000};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        tally t = {0};
        for (uint64_t seed = 1; seed <= 4; seed++)
            add_instance(.5, n[i], seed, &t);
        assert_int_equal(t.exact, 4);
    }
}

static void few_samples_between_kinks_are_told(void **state)
{
    (void)state;
    size_t told = 0, few = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        close_kinks c = plant_close(.02, 100, seed);
        unrelu_network *model = recover(&c.p, NULL);
        if (c.between == 1 || c.between == 2) {
            few++;
            assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
            for (size_t i = 0; i < model->warning_count; i++)
                told += strcmp(model->warnings[i].code, "not-identifiable") == 0 &&
                        strstr(model->warnings[i].message, "between the kinks of neurons 1 and 2");
        }
        unrelu_network_free(model);
        planted_network_free(&c.p);
    }
    assert_true(few > 10);
    assert_true(2 * told > few); /* else another rule has said so: one neuron has no output */
}

/* Three neurons meet these labels as two do: k is not believed before k - 1 was tried. */
static void neurons_that_the_labels_do_without_are_not_kept(void **state)
{
    (void)state;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.biases = UNRELU_BIASES_NONE;
    o.k = 3;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        close_kinks c = plant_close(.2, 400, seed);
        unrelu_network *model = recover(&c.p, &o);
        if (model->verdict != UNRELU_VERDICT_NOISY)
            assert_int_equal(model->k, 2);
        unrelu_network_free(model);
        planted_network_free(&c.p);
    }
}

/* 20 neurons of 20 inputs cost 1.6e5 operations a row and label: 1e5 rows are worth it, 2e5 are
 * not, but for those that the solver saw */
static void rows_are_looked_at_for_some_seconds(void **state)
{
    (void)state;
    ur_data data = {.n = 100000, .d = 20, .m = 1};
    ur_frame seen = {.n = 1000, .p = 20};
    assert_int_equal(ur_apart_rows(&data, &seen, 20), 100000);
    data.n = 200000;
    assert_int_equal(ur_apart_rows(&data, &seen, 20), 125000);
    data.m = 1000;
    assert_int_equal(ur_apart_rows(&data, &seen, 20), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_kinks_are_exact_where_samples_tell_them_apart),
        cmocka_unit_test(no_network_of_close_kinks_is_called_exact_and_wrong),
        cmocka_unit_test(rows_are_kept_back_wherever_there_are_enough),
        cmocka_unit_test(few_samples_between_kinks_are_told),
        cmocka_unit_test(rows_are_looked_at_for_some_seconds),
        cmocka_unit_test(neurons_that_the_labels_do_without_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
