/* SPDX-License-Identifier: Apache-2.0 */
/* Options by name, and structs of other versions. */
#include "planted.h"

#include "base/error.h"
#include "base/sized.h"

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
    must(unrelu_recover_options_set(&r, "robust", "yes", &err), &err);
    must(unrelu_recover_options_set(&r, "activation", "leaky:0.25", &err), &err);
    must(unrelu_recover_options_set(&r, "seed", "9223372036854775807", &err), &err);
    assert_int_equal(r.biases, UNRELU_BIASES_NONE);
    assert_int_equal(r.method, UNRELU_RECOVER_SPARSE_NOISE);
    assert_int_equal(r.k, 100);
    assert_int_equal(r.pcp, 1);
    assert_int_equal(r.certify, 1);
    assert_int_equal(r.robust, 1);
    assert_int_equal(r.activation.kind, UNRELU_LEAKY);
    assert_true(r.activation.parameter == 0.25);
    assert_true(r.seed == INT64_MAX);

    unrelu_gaussian_options g;
    unrelu_gaussian_options_init(&g, sizeof g);
    must(unrelu_gaussian_options_set(&g, "rank", "auto", &err), &err);
    must(unrelu_gaussian_options_set(&g, "additive_noise", "0.5", &err), &err);
    assert_int_equal(unrelu_gaussian_options_set(&g, "transform", "boxcox:11", &err),
                     UNRELU_EUSAGE);
    must(unrelu_gaussian_options_set(&g, "transform", "boxcox:9", &err), &err);
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
    assert_int_equal(count, 16);
    assert_true(unrelu_gaussian_option(0, &o) && unrelu_gaussian_plant_option(0, &o) &&
                unrelu_goodness_option(0, &o) && unrelu_impute_option(0, &o) &&
                unrelu_source_option(0, &o) && unrelu_network_plant_option(0, &o) &&
                unrelu_unmix_option(0, &o) && unrelu_mixture_plant_option(0, &o) &&
                unrelu_plan_option(0, &o));
    assert_false(unrelu_unmix_option(100, &o));
}

typedef struct {
    size_t size;
    int a, later;
} later_options;

static void older_structs_keep_the_defaults_of_what_they_lack(void **state)
{
    (void)state;
    unrelu_error err = {0};
    later_options given = {offsetof(later_options, later), 7, 99}, o = {sizeof o, 1, 2};
    must(ur_sized_copy(&o, sizeof o, &given, "the options", &err), &err);
    assert_true(o.a == 7 && o.later == 2 && o.size == sizeof o);
    must(ur_sized_copy(&o, sizeof o, NULL, "the options", &err), &err);
    ur_sized_init(&given, offsetof(later_options, later), &(later_options){0, 3, 4}, sizeof given);
    assert_true(given.a == 3 && given.later == 99 && given.size == offsetof(later_options, later));
}

/* As a program of a version would have them that had no bias_value and seed yet. What lies
 * behind its struct is not read, nor written. */
static void a_program_of_an_older_version_plants_as_it_did(void **state)
{
    (void)state;
    unrelu_error err = {0};
    size_t known = offsetof(unrelu_gaussian_plant_options, bias_value);
    unrelu_gaussian_plant_options o;
    memset(&o, 0xee, sizeof o);
    unrelu_gaussian_plant_options_init(&o, known);
    must(unrelu_gaussian_plant_options_set(&o, "d", "3", &err), &err);
    expect_refusal(unrelu_gaussian_plant_options_set(&o, "seed", "7", &err), &err, "seed",
                   "options of 40 bytes have no `seed`: set them up with their _init function, in "
                   "a program compiled for this version");
    expect_refusal(unrelu_gaussian_plant_options_set(&o, "bias", "1", &err), &err, "bias",
                   "options of 40 bytes have no `bias`: set them up with their _init function, in "
                   "a program compiled for this version");
    for (size_t i = known; i < sizeof o; i++)
        assert_int_equal(((unsigned char *)&o)[i], 0xee);
    unrelu_gaussian_plant_options whole;
    unrelu_gaussian_plant_options_init(&whole, sizeof whole);
    whole.d = 3;
    unrelu_gaussian *old = plant(o), *now = plant(whole);
    assert_memory_equal(old->W, now->W, 9 * sizeof *now->W);
    unrelu_gaussian_free(old);
    unrelu_gaussian_free(now);
}

static void refused(unrelu_status status, const unrelu_error *err, size_t size)
{
    assert_int_equal(status, UNRELU_EUSAGE);
    assert_non_null(strstr(err->text, size ? "newer version" : "_init function"));
}

/* by every function that takes options or exec */
static void sizes_of_no_version_are_refused(void **state)
{
    (void)state;
    enum { N = 40, D = 2 };
    static const double cells[N * D] = {1};
    unrelu_error err = {0};
    unrelu_source *s = NULL, *opened = NULL;
    unrelu_gaussian *planted, *g;
    unrelu_network *network, *net;
    unrelu_mixture *mix;
    unrelu_goodness *goodness;
    unrelu_summary *summary = NULL;
    unrelu_sampler *sampler = NULL;
    unrelu_transform_advice advice[D + 1];
    double *x = NULL, out[64];
    size_t n = 0;
    must(unrelu_source_memory(cells, N, D, NULL, &s, &err), &err);
    must(unrelu_gaussian_plant(NULL, &planted, &err), &err);
    must(unrelu_network_plant(NULL, &network, &err), &err);
    must(unrelu_gaussian_sampler(planted, 1, &sampler, &err), &err);
    for (size_t size = 0; size <= 4096; size += 4096) {
        union {
            size_t size;
            unrelu_source_options source;
            unrelu_gaussian_options gaussian;
            unrelu_gaussian_plant_options gaussian_plant;
            unrelu_goodness_options goodness;
            unrelu_impute_options impute;
            unrelu_recover_options recover;
            unrelu_network_plant_options network_plant;
            unrelu_unmix_options unmix;
            unrelu_mixture_plant_options mixture_plant;
        } o = {size};
        const unrelu_exec exec = {.size = size};
#define REFUSED(name, ...) refused(unrelu_##name(__VA_ARGS__, &err), &err, size)
        REFUSED(source_open, "no.csv", &o.source, &opened);
        REFUSED(gaussian_fit, s, &o.gaussian, NULL, &g);
        REFUSED(gaussian_fit, s, NULL, &exec, &g);
        REFUSED(summary_collect, s, &o.gaussian, 1, NULL, &summary);
        REFUSED(summary_collect, s, NULL, 1, &exec, &summary);
        REFUSED(gaussian_plant, &o.gaussian_plant, &g);
        REFUSED(gaussian_goodness, planted, s, &o.goodness, NULL, &goodness);
        REFUSED(gaussian_goodness, planted, s, NULL, &exec, &goodness);
        REFUSED(columns_distance, s, &o.goodness, NULL, out, out, out);
        REFUSED(columns_distance, s, NULL, &exec, out, out, out);
        REFUSED(transform_suggest, s, NULL, NULL, &exec, advice);
        REFUSED(gaussian_impute, planted, s, &o.impute, "-", NULL, NULL);
        REFUSED(gaussian_impute, planted, s, NULL, "-", &exec, NULL);
        REFUSED(recover, s, s, &o.recover, NULL, &net);
        REFUSED(recover, s, s, NULL, &exec, &net);
        REFUSED(network_plant, &o.network_plant, &net);
        REFUSED(network_draw, &o.network_plant, NULL, 0, 1, NULL, out, NULL);
        REFUSED(network_draw, NULL, NULL, 0, 1, &exec, out, NULL);
        REFUSED(network_predict, network, cells, 1, &exec, out);
        REFUSED(network_predict_source, network, s, "-", &exec, &n);
        REFUSED(unmix, s, &o.unmix, NULL, &mix);
        REFUSED(unmix, s, NULL, &exec, &mix);
        REFUSED(mixture_plant, &o.mixture_plant, &mix);
        REFUSED(sampler_draw, sampler, 0, 1, &exec, out);
        REFUSED(source_load, s, &exec, &x, &n);
    }
    must(unrelu_network_draw(NULL, NULL, 0, 1, NULL, out, NULL, &err), &err);
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(planted);
    unrelu_network_free(network);
    unrelu_source_close(s);
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

static void the_option_method_takes_the_names_of_the_table(void **state)
{
    (void)state;
    unrelu_method method;
    unrelu_option option;
    char names[320] = "";
    for (size_t i = 0; unrelu_recover_method_at(i, &method); i++) {
        unrelu_recover_options o;
        unrelu_error err = {0};
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? "|" : "", method.name);
        unrelu_recover_options_init(&o, sizeof o);
        must(unrelu_recover_options_set(&o, "method", method.name, &err), &err);
        assert_int_equal(o.method, i);
        assert_true(method.needs[0] && method.theorem[0] && method.checks[0]);
    }
    for (size_t i = 0; unrelu_recover_option(i, &option); i++)
        if (strcmp(option.name, "method") == 0)
            assert_string_equal(option.values, names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(what_is_refused_is_told_and_changes_nothing),
        cmocka_unit_test(every_name_is_listed),
        cmocka_unit_test(older_structs_keep_the_defaults_of_what_they_lack),
        cmocka_unit_test(a_program_of_an_older_version_plants_as_it_did),
        cmocka_unit_test(sizes_of_no_version_are_refused),
        cmocka_unit_test(the_option_method_takes_the_names_of_the_table),
        cmocka_unit_test(errors_carry_what_a_program_can_act_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
