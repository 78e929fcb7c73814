/* SPDX-License-Identifier: Apache-2.0 */
/* Shards summarised apart and merged give the model of one run. */
#include "gaussian/summary/gaussian_summary.h"
#include "planted.h"
#include "write/npz_write.h"

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
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = 9;
    o.bias = UNRELU_BIAS_NORMAL;
    unrelu_gaussian *truth = plant(o);
    double *x = draw(truth, N, 2);
    for (size_t i = 0; missing && i < N * D; i += 7)
        x[i] = NAN;
    for (size_t r = 0; r < N; r++)
        x[r * D] *= 1e120;
    unrelu_gaussian_free(truth);
    return x;
}

static unrelu_summary *collect(const double *x, size_t n, size_t groups)
{
    unrelu_source *source = NULL;
    unrelu_summary *summary = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, n, D, NULL, &source, &err), &err);
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
        unrelu_gaussian *whole = fit(x, N, D, NULL), *merged;
        must(unrelu_gaussian_fit_summary(total, NULL, NULL, &merged, &err), &err);
        assert_same_model(merged, whole, 1e-12);
        unrelu_gaussian_free(whole);
        unrelu_gaussian_free(merged);
        unrelu_summary_free(total);
        free(x);
    }
}

static void summaries_of_other_data_are_refused(void **state)
{
    (void)state;
    double *x = sample(0);
    unrelu_error err = {0};
    unrelu_summary *a = collect(x, 100, 10), *c = NULL;
    unrelu_source *source = NULL;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    const double limit = 0.5;
    o.censor_at = &limit;
    o.censor_count = 1;
    must(unrelu_source_memory(x, 100, D, NULL, &source, &err), &err);
    must(unrelu_summary_collect(source, &o, 10, NULL, &c, &err), &err);
    assert_int_equal(unrelu_summary_merge(a, c, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "`censor-at`"));
    assert_int_equal(unrelu_summary_rows(a), 100); /* untouched */
    unrelu_source_close(source);
    unrelu_summary_free(a);
    unrelu_summary_free(c);
    free(x);
}

static void groups_are_added_up_where_they_differ(void **state)
{
    (void)state;
    const size_t groups[][2] = {{10, 1}, {1, 10}, {3, 7}};
    double *x = sample(1);
    unrelu_error err = {0};
    unrelu_gaussian *whole = fit(x, N, D, NULL), *merged;
    for (size_t k = 0; k < 3; k++) {
        unrelu_summary *a = collect(x, N / 3, groups[k][0]);
        unrelu_summary *b = collect(x + N / 3 * D, N - N / 3, groups[k][1]);
        must(unrelu_summary_merge(a, b, &err), &err);
        a = through_a_file(a);
        assert_int_equal(a->plan.groups, 1);
        assert_int_equal(unrelu_summary_rows(a), N);
        assert_int_equal(unrelu_summary_rows(b), N - N / 3); /* untouched */
        must(unrelu_gaussian_fit_summary(a, NULL, NULL, &merged, &err), &err);
        assert_same_model(merged, whole, 1e-12);
        unrelu_gaussian_free(merged);
        unrelu_summary_free(a);
        unrelu_summary_free(b);
    }
    unrelu_gaussian_free(whole);
    free(x);
}

/* as 0.1 wrote it: no format, all numbers doubles, all pairs d x d */
static void save_format_0(const unrelu_summary *s, const char *path)
{
    static const char *const names[] = {"rows",         "missing_cells",
                                        "rows_dropped", "observed",
                                        "positive",     "sum",
                                        "square",       "gg",
                                        "tt",           "gt",
                                        "gtt",          "mm",
                                        "mg",           "mt",
                                        "mtt"};
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    size_t d = s->plan.d, groups = s->plan.groups, body = ur_moments_body_len(&s->plan), at = 0;
    double *arrays[15];
    must(ur_npz_writer_open(path, &w, &err), &err);
    ur_npz_add_string(w, "kind", "summary");
    ur_npz_add_string(w, "of", "rectified-gaussian");
    ur_npz_add_integer(w, "groups", (int64_t)groups);
    ur_npz_add_strings(w, "names", s->names, d);
    ur_npz_add(w, "limit", s->limit, 1, &d);
    ur_npz_add(w, "shift", s->s, 1, &d);
    ur_npz_add(w, "exponent", s->s + d, 1, &d);
    for (size_t i = 0; i < 15; i++) {
        size_t dimensions = i < 3 ? 0 : i < 7 ? 1 : 2, size = i < 3 ? 1 : i < 7 ? d : d * d;
        arrays[i] = calloc(groups * size, sizeof(double));
        for (size_t g = 0; g < groups; g++)
            memcpy(arrays[i] + g * size, s->s + 2 * d + g * body + at, size * sizeof(double));
        at += size;
        ur_npz_add(w, names[i], arrays[i], 1 + dimensions, (size_t[]){groups, d, d});
    }
    must(ur_npz_commit(w, &err), &err);
    for (size_t i = 0; i < 15; i++)
        free(arrays[i]);
}

static void summaries_of_format_0_are_read_and_merge_with_new_ones(void **state)
{
    (void)state;
    double *x = sample(1);
    unrelu_error err = {0};
    unrelu_summary *old = NULL, *a = collect(x, N / 2, 10);
    unrelu_summary *b = through_a_file(collect(x + N / 2 * D, N - N / 2, 10));
    save_format_0(a, path_of("old.npz"));
    must(unrelu_summary_load(path_of("old.npz"), &old, &err), &err);
    assert_memory_equal(old->s, a->s, ur_moments.len(&a->plan) * sizeof *a->s);
    must(unrelu_summary_merge(old, b, &err), &err);
    must(unrelu_summary_merge(a, b, &err), &err);
    assert_memory_equal(old->s, a->s, ur_moments.len(&a->plan) * sizeof *a->s);
    unrelu_summary_free(old);
    unrelu_summary_free(a);
    unrelu_summary_free(b);
    free(x);
}

static void a_file_gives_back_every_bit(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        double *x = sample(missing);
        unrelu_summary *a = collect(x, N, 3), *b = through_a_file(collect(x, N, 3));
        assert_memory_equal(a->s, b->s, ur_moments.len(&a->plan) * sizeof *a->s);
        unrelu_summary_free(a);
        unrelu_summary_free(b);
        free(x);
    }
}

static void write_head(const char *kind, double format)
{
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    must(ur_npz_writer_open(path_of("f.npz"), &w, &err), &err);
    ur_npz_add_string(w, "kind", kind);
    ur_npz_add_number(w, "format", format);
    must(ur_npz_commit(w, &err), &err);
}

static void newer_formats_are_refused_by_every_kind(void **state)
{
    (void)state;
    unrelu_error err = {0};
    for (int newer = 0; newer < 2; newer++)
        for (int kind = 0; kind < 5; kind++) {
            static const char *const kinds[] = {"summary", "rectified-gaussian", "network",
                                                "mixture", "hardness"};
            unrelu_summary *summary = NULL;
            unrelu_gaussian *gaussian;
            unrelu_network *network;
            unrelu_mixture *mixture;
            unrelu_hardness *hardness;
            write_head(kinds[kind], newer ? 2 : 1);
            const char *path = path_of("f.npz");
            unrelu_status status = kind == 0   ? unrelu_summary_load(path, &summary, &err)
                                   : kind == 1 ? unrelu_gaussian_load(path, &gaussian, &err)
                                   : kind == 2 ? unrelu_network_load(path, &network, &err)
                                   : kind == 3 ? unrelu_mixture_load(path, &mixture, &err)
                                               : unrelu_hardness_load(path, &hardness, &err);
            assert_int_equal(status, UNRELU_EFORMAT);
            assert_int_equal(!!strstr(err.text, "f.npz is of format 2, and unrelu"), newer);
            assert_int_equal(!!strstr(err.text, "knows formats up to 1"), newer);
        }
}

static void methods_of_several_passes_are_refused_by_name(void **state)
{
    (void)state;
    double *x = sample(0);
    unrelu_error err = {0};
    unrelu_summary *s = collect(x, 1000, 1);
    unrelu_gaussian *m;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.angles = UNRELU_ANGLES_SIGNS;
    assert_int_equal(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "`angles` signs"));
    unrelu_gaussian_options_init(&o, sizeof o);
    o.rank = UNRELU_RANK_AUTO; /* one group: no jackknife */
    for (size_t r = 0; r < N; r++)
        x[r * D] *= 1e-120;
    unrelu_summary_free(s);
    s = collect(x, 1000, 1);
    assert_int_equal(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "`groups` 10"));
    unrelu_summary_free(s);
    s = collect(x, N, 10);
    must(unrelu_gaussian_fit_summary(s, &o, NULL, &m, &err), &err);
    assert_true(m->eigenvalues_se[0] > 0);
    unrelu_gaussian_free(m);
    unrelu_summary_free(s);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_shards_give_the_model_of_one_run),
        cmocka_unit_test(summaries_of_other_data_are_refused),
        cmocka_unit_test(groups_are_added_up_where_they_differ),
        cmocka_unit_test(summaries_of_format_0_are_read_and_merge_with_new_ones),
        cmocka_unit_test(a_file_gives_back_every_bit),
        cmocka_unit_test(newer_formats_are_refused_by_every_kind),
        cmocka_unit_test(methods_of_several_passes_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
