/* SPDX-License-Identifier: Apache-2.0 */
/* Options by name, and structs of other versions. */
#include "planted.h"

#include "base/error.h"
#include "model/options.h"

static void expect_refusal(unrelu_status status, const unrelu_error *err, const char *option,
                           const char *text)
{
    assert_int_equal(status, UNRELU_EUSAGE);
    assert_int_equal(err->code, UNRELU_EUSAGE);
    assert_string_equal(err->option, option);
    assert_string_equal(err->text, text);
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_recover_options r;
    unrelu_recover_options_init(&r, sizeof r);
    assert_int_equal(r.order, 2);
    assert_int_equal(r.seed, 1);
    must(unrelu_recover_options_set(&r, "bias", "none", &err), &err);
    must(unrelu_recover_options_set(&r, "method", "sparse-noise", &err), &err);
    must(unrelu_recover_options_set(&r, "k", "1e2", &err), &err);
    must(unrelu_recover_options_set(&r, "pcp", NULL, &err), &err);
    must(unrelu_recover_options_set(&r, "certify", "yes", &err), &err);
    must(unrelu_recover_options_set(&r, "activation", "leaky:0.25", &err), &err);
    must(unrelu_recover_options_set(&r, "seed", "9223372036854775807", &err), &err);
    assert_int_equal(r.biases, UNRELU_BIASES_NONE);
    assert_int_equal(r.method, UNRELU_RECOVER_SPARSE_NOISE);
    assert_int_equal(r.k, 100);
    assert_int_equal(r.pcp, 1);
    assert_int_equal(r.certify, 1);
    assert_int_equal(r.activation.kind, UNRELU_LEAKY);
    assert_true(r.activation.parameter == 0.25);
    assert_true(r.seed == INT64_MAX);

    unrelu_gaussian_options g;
    unrelu_gaussian_options_init(&g, sizeof g);
    must(unrelu_gaussian_options_set(&g, "rank", "auto", &err), &err);
    must(unrelu_gaussian_options_set(&g, "additive_noise", "0.5", &err), &err);
    must(unrelu_gaussian_options_set(&g, "transform", "boxcox:-0.5", &err), &err);
    must(unrelu_gaussian_options_set(&g, "method", "paper", &err), &err);
    must(unrelu_gaussian_options_set(&g, "angles", "h6", &err), &err);
    assert_int_equal(g.rank, UNRELU_RANK_AUTO);
    assert_true(g.additive_noise == 0.5);
    assert_int_equal(g.transform, UNRELU_TRANSFORM_BOXCOX);
    assert_true(g.boxcox == -0.5);
    assert_true(g.literal && g.norms == UNRELU_NORMS_SGD && g.angles == UNRELU_ANGLES_H6);

    unrelu_mixture_plant_options m;
    unrelu_mixture_plant_options_init(&m, sizeof m);
    must(unrelu_mixture_plant_options_set(&m, "bias", "-0.5", &err), &err);
    assert_true(m.bias == UNRELU_BIAS_FIXED && m.bias_value == -0.5);
    must(unrelu_mixture_plant_options_set(&m, "bias", "normal", &err), &err);
    assert_int_equal(m.bias, UNRELU_BIAS_NORMAL);
}

static void what_is_refused_is_told_and_changes_nothing(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_recover_options r, before;
    unrelu_recover_options_init(&r, sizeof r);
    must(unrelu_recover_options_set(&r, "activation", "tanh", &err), &err);
    before = r;
    expect_refusal(unrelu_recover_options_set(&r, "bias", "some", &err), &err, "bias",
                   "`bias`: 'some' is not one of auto, none, hidden, both, output");
    expect_refusal(unrelu_recover_options_set(&r, "k", "1.5", &err), &err, "k",
                   "`k`: '1.5' is not a whole number of at least 1, or 0: found out");
    expect_refusal(unrelu_recover_options_set(&r, "k", NULL, &err), &err, "k",
                   "`k` needs a value: a whole number of at least 1, or 0: found out");
    expect_refusal(unrelu_recover_options_set(&r, "order", "5", &err), &err, "order",
                   "`order`: '5' is not one of 2, 3, 4");
    expect_refusal(unrelu_recover_options_set(&r, "seed", "-1", &err), &err, "seed",
                   "`seed`: '-1' is not a whole number from 0 to 2^63 - 1");
    expect_refusal(unrelu_recover_options_set(&r, "no such", "1", &err), &err, "",
                   "there is no option 'no such'");
    assert_int_equal(unrelu_recover_options_set(&r, "activation", "leaky:2", &err), UNRELU_EUSAGE);
    assert_memory_equal(&r, &before, sizeof r);
}

/* every name of every table is found again, and words of a choice are taken */
static void every_name_is_listed(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_option o;
    unrelu_recover_options r;
    size_t count = 0;
    unrelu_recover_options_init(&r, sizeof r);
    for (; unrelu_recover_option(count, &o); count++) {
        assert_true(o.name[0] && o.values[0]);
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(o.values, "|"), o.values);
        if (first[0] >= 'a' || (first[0] >= '0' && first[0] <= '9'))
            must(unrelu_recover_options_set(&r, o.name, first, &err), &err);
    }
    assert_int_equal(count, 13);
    assert_true(unrelu_gaussian_option(0, &o) && unrelu_gaussian_plant_option(0, &o) &&
                unrelu_goodness_option(0, &o) && unrelu_impute_option(0, &o) &&
                unrelu_network_plant_option(0, &o) && unrelu_unmix_option(0, &o) &&
                unrelu_mixture_plant_option(0, &o));
    assert_false(unrelu_unmix_option(100, &o));
}

typedef struct {
    size_t size;
    int a, later;
} later_options;

enum { FIRST = offsetof(later_options, later) };

static void older_structs_keep_the_defaults_of_what_they_lack(void **state)
{
    (void)state;
    unrelu_error err = {0};
    later_options given = {FIRST, 7, 99}, o = {sizeof o, 1, 2};
    must(ur_options_copy(&o, sizeof o, FIRST, &given, &err), &err);
    assert_int_equal(o.a, 7);
    assert_int_equal(o.later, 2);
    given.size = 0; /* the first version, written without _init */
    o = (later_options){sizeof o, 1, 2};
    must(ur_options_copy(&o, sizeof o, FIRST, &given, &err), &err);
    assert_true(o.a == 7 && o.later == 2 && o.size == sizeof o);
    given.size = sizeof given + 8;
    assert_int_equal(ur_options_copy(&o, sizeof o, FIRST, &given, &err), UNRELU_EUSAGE);
    given.size = 4;
    assert_int_equal(ur_options_copy(&o, sizeof o, FIRST, &given, &err), UNRELU_EUSAGE);
    must(ur_options_copy(&o, sizeof o, FIRST, NULL, &err), &err);
}

static void errors_carry_what_a_program_can_act_on(void **state)
{
    (void)state;
    unrelu_error err = {0};
    ur_fail_at(&err, UNRELU_EFORMAT, 3, 2, "row 3 has -1: give `additive-noise` or `censor-at`");
    assert_int_equal(err.code, UNRELU_EFORMAT);
    assert_int_equal(err.row, 3);
    assert_int_equal(err.column, 2);
    assert_string_equal(err.option, "additive-noise");
    ur_fail(&err, UNRELU_EDATA, "%s again", err.text); /* what is printed may be the old text */
    assert_int_equal(err.row, 0);
    assert_non_null(strstr(err.text, "row 3 has -1"));
    assert_string_equal(unrelu_status_name(err.code), "data");
    assert_string_equal(unrelu_status_name((unrelu_status)99), "unknown");
    ur_fail(&err, UNRELU_EDATA, "an unpaired ` is no option");
    assert_string_equal(err.option, "");
    int major, minor, patch;
    assert_int_equal(sscanf(unrelu_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(major * 10000 + minor * 100 + patch, UNRELU_VERSION_NUMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(what_is_refused_is_told_and_changes_nothing),
        cmocka_unit_test(every_name_is_listed),
        cmocka_unit_test(older_structs_keep_the_defaults_of_what_they_lack),
        cmocka_unit_test(errors_carry_what_a_program_can_act_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
