/* SPDX-License-Identifier: Apache-2.0 */
/* Shards summarised apart and merged give the model of one run. */
#include "planted.h"

#include <unistd.h>

enum { N = 30000, D = 6 };

static char directory[] = "/tmp/unrelu_summary_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[2][128];
    static int which;
    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", directory, name);
    return path[which];
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[160];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command);
}

static double *sample(int missing)
{
    unrelu_gaussian_plant_options o = unrelu_gaussian_plant_options_default();
    o.d = D;
    o.kappa = 9;
    o.bias = UNRELU_BIAS_NORMAL;
    unrelu_gaussian truth = plant(o);
    double *x = draw(&truth, N, 2);
    for (size_t i = 0; missing && i < N * D; i += 7)
        x[i] = NAN;
    for (size_t r = 0; r < N; r++)
        x[r * D] *= 1e120;
    unrelu_gaussian_free(&truth);
    return x;
}

static unrelu_summary *collect(const double *x, size_t n, size_t groups)
{
    unrelu_source *source = NULL;
    unrelu_summary *summary = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, D, &source, &err), &err);
    must(unrelu_summary_collect(source, NULL, groups, NULL, &summary, &err), &err);
    unrelu_source_close(source);
    return summary;
}

static unrelu_summary *through_a_file(unrelu_summary *summary)
{
    unrelu_summary *loaded = NULL;
    unrelu_error err = {0};
    must(unrelu_summary_save(summary, path_of("s.npz"), &err), &err);
    unrelu_summary_free(summary);
    must(unrelu_summary_load(path_of("s.npz"), &loaded, &err), &err);
    return loaded;
}

static void assert_same_model(const unrelu_gaussian *a, const unrelu_gaussian *b, double tolerance)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < D; i++) {
        assert_near(a->b[i] / b->scale[i], b->b[i] / b->scale[i], tolerance);
        assert_near(a->scale[i] / b->scale[i], 1, tolerance);
        assert_near(a->b_se[i] / b->b_se[i], 1, tolerance);
        for (size_t j = 0; j < D; j++) {
            size_t at = i * D + j;
            assert_near(a->correlation[at], b->correlation[at], tolerance);
            if (!isnan(b->correlation_se[at])) /* a pair without enough joint positives */
                assert_near(a->correlation_se[at], b->correlation_se[at], tolerance);
            assert_int_equal(isnan(a->correlation_se[at]), isnan(b->correlation_se[at]));
            assert_near(a->n_pair[at], b->n_pair[at], 0);
        }
    }
}

static void merged_shards_give_the_model_of_one_run(void **state)
{
    (void)state;
    const size_t cuts[] = {0, 1, 4097, 20000, N};
    for (int missing = 0; missing < 2; missing++) {
        double *x = sample(missing);
        unrelu_error err = {0};
        unrelu_summary *total = NULL;
        for (size_t k = 0; k + 1 < sizeof cuts / sizeof *cuts; k++) {
            unrelu_summary *shard =
                through_a_file(collect(x + cuts[k] * D, cuts[k + 1] - cuts[k], 10));
            if (!total) {
                total = shard;
                continue;
            }
            must(unrelu_summary_merge(total, shard, &err), &err);
            unrelu_summary_free(shard);
        }
        assert_int_equal(unrelu_summary_rows(total), N);
        unrelu_gaussian whole = fit(x, N, D, NULL), merged;
        must(unrelu_gaussian_fit_summary(total, NULL, NULL, &merged, &err), &err);
        assert_same_model(&merged, &whole, 1e-12);
        unrelu_gaussian_free(&whole);
        unrelu_gaussian_free(&merged);
        unrelu_summary_free(total);
        free(x);
    }
}

static void summaries_of_other_data_are_refused(void **state)
{
    (void)state;
    double *x = sample(0);
    unrelu_error err = {0};
    unrelu_summary *a = collect(x, 100, 10), *b = collect(x, 100, 1), *c = NULL;
    assert_int_equal(unrelu_summary_merge(a, b, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "10 and 1 groups"));
    unrelu_source *source = NULL;
    unrelu_gaussian_options o = unrelu_gaussian_options_default();
    const double limit = 0.5;
    o.censor_at = &limit;
    o.censor_count = 1;
    must(unrelu_source_memory(x, 100, D, &source, &err), &err);
    must(unrelu_summary_collect(source, &o, 10, NULL, &c, &err), &err);
    assert_int_equal(unrelu_summary_merge(a, c, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "--censor-at"));
    assert_int_equal(unrelu_summary_rows(a), 100); /* untouched */
    unrelu_source_close(source);
    unrelu_summary_free(a);
    unrelu_summary_free(b);
    unrelu_summary_free(c);
    free(x);
}

static void methods_of_several_passes_are_refused_by_name(void **state)
{
    (void)state;
    double *x = sample(0);
    unrelu_error err = {0};
    unrelu_summary *s = collect(x, 1000, 1);
    unrelu_gaussian m;
    unrelu_gaussian_options o = unrelu_gaussian_options_default();
    o.angles = UNRELU_ANGLES_SIGNS;
    assert_int_equal(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "--angles signs"));
    o = unrelu_gaussian_options_default();
    o.rank = UNRELU_RANK_AUTO; /* one group: no jackknife */
    for (size_t r = 0; r < N; r++)
        x[r * D] *= 1e-120;
    unrelu_summary_free(s);
    s = collect(x, 1000, 1);
    assert_int_equal(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "--groups 10"));
    unrelu_summary_free(s);
    s = collect(x, N, 10);
    must(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), &err);
    assert_true(m.eigenvalues_se[0] > 0);
    unrelu_gaussian_free(&m);
    unrelu_summary_free(s);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_shards_give_the_model_of_one_run),
        cmocka_unit_test(summaries_of_other_data_are_refused),
        cmocka_unit_test(methods_of_several_passes_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
