/* SPDX-License-Identifier: Apache-2.0 */
/* Footnote 2 of the one-layer paper: samples through an invertible activation. */
#include "files.h"
#include "planted.h"

enum { N = 3000, D = 4 };

static double leaky(double y)
{
    return y > 0 ? y : 0.1 * y;
}

static double sigmoid(double y)
{
    return 1 / (1 + exp(-y));
}

/* y (N x D): normals of any mean; the last column is negative in every row */
static double *latent(uint64_t seed)
{
    static const double mean[D] = {-1, 0.3, 2, -30};
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = 9;
    o.bias = UNRELU_BIAS_FIXED;
    o.bias_value = 100; /* far above 0: nothing is censored */
    o.seed = seed;
    unrelu_gaussian *truth = plant(o);
    double *y = draw(truth, N, seed);
    for (size_t i = 0; i < N * D; i++)
        y[i] += mean[i % D] - truth->b[i % D];
    unrelu_gaussian_free(truth);
    return y;
}

static unrelu_gaussian_options with(const char *activation)
{
    unrelu_gaussian_options o;
    unrelu_error err = {0};
    unrelu_gaussian_options_init(&o, sizeof o);
    must(unrelu_gaussian_options_set(&o, "activation", activation, &err), &err);
    return o;
}

/* mean, deviation and correlation of the rows that have both, by plain loops */
static double mean_of(const double *y, size_t i, size_t j)
{
    double sum = 0, count = 0;
    for (size_t r = 0; r < N; r++)
        if (!isnan(y[r * D + i]) && !isnan(y[r * D + j])) {
            sum += y[r * D + i];
            count++;
        }
    return sum / count;
}

static double covariance_of(const double *y, size_t i, size_t j)
{
    double a = mean_of(y, i, j), b = mean_of(y, j, i), sum = 0, count = 0;
    for (size_t r = 0; r < N; r++)
        if (!isnan(y[r * D + i]) && !isnan(y[r * D + j])) {
            sum += (y[r * D + i] - a) * (y[r * D + j] - b);
            count++;
        }
    return sum / count;
}

static void assert_plain(const unrelu_gaussian *m, const double *y, double tolerance)
{
    for (size_t i = 0; i < D; i++) {
        double s = sqrt(covariance_of(y, i, i)), n = m->observed[i];
        assert_near(m->b[i], mean_of(y, i, i), tolerance * (1 + fabs(m->b[i])));
        assert_near(m->scale[i], s, tolerance * s);
        assert_near(m->b_se[i], s / sqrt(n), 2 * tolerance * s);
        assert_near(m->scale_se[i], s / sqrt(2 * n), 2 * tolerance * s);
        assert_true(m->b_scale_cov[i] == 0);
        assert_true(m->limit[i] == -INFINITY && m->positive[i] == n && m->flags[i] == 0);
        for (size_t j = 0; j < i; j++)
            assert_near(m->correlation[i * D + j],
                        covariance_of(y, i, j) /
                            sqrt(covariance_of(y, i, i) * covariance_of(y, j, j)),
                        tolerance);
    }
}

static void what_is_undone_has_a_plain_mean_and_covariance(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int single = 0; single < 2; single++) {
            double *y = latent(3), *x = malloc(N * D * sizeof *x);
            assert_non_null(x);
            for (size_t i = 0; i < N * D; i++)
                x[i] = kind ? sigmoid(y[i]) : leaky(y[i]);
            unrelu_gaussian_options o = with(kind ? "sigmoid" : "leaky:0.1");
            o.precision = single ? UNRELU_PRECISION_SINGLE : UNRELU_PRECISION_DOUBLE;
            unrelu_gaussian *m = fit(x, N, D, &o);
            assert_string_equal(m->activation, kind ? "sigmoid" : "leaky:0.1");
            assert_int_equal(m->warning_count, 0);
            assert_plain(m, y, single ? 2e-6 : 1e-10);
            unrelu_gaussian_free(m);
            free(x);
            free(y);
        }
}

/* pairs of the rows that have both: their own means, of any sign */
static void missing_cells_leave_the_others(void **state)
{
    (void)state;
    double *y = latent(5), *x = malloc(N * D * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < N * D; i++) {
        y[i] = i % 7 == 3 ? NAN : y[i];
        x[i] = isnan(y[i]) ? NAN : leaky(y[i]);
    }
    unrelu_gaussian_options o = with("leaky:0.1");
    unrelu_gaussian *m = fit(x, N, D, &o);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b[i], mean_of(y, i, i), 1e-10 * (1 + fabs(m->b[i])));
        for (size_t j = 0; j < i; j++) {
            double si = 0, sj = 0, mi = mean_of(y, i, j), mj = mean_of(y, j, i), count = 0;
            for (size_t r = 0; r < N; r++)
                if (!isnan(y[r * D + i]) && !isnan(y[r * D + j])) {
                    count++;
                    si += pow(y[r * D + i] - mi, 2);
                    sj += pow(y[r * D + j] - mj, 2);
                }
            assert_near(m->n_pair[i * D + j], count, 0);
            assert_near(m->correlation[i * D + j], count * covariance_of(y, i, j) / sqrt(si * sj),
                        1e-6);
        }
    }
    unrelu_gaussian_free(m);
    free(x);
    free(y);
}

static void values_that_no_sigmoid_gives_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, 1, -0.2, 1.5, INFINITY};
    unrelu_gaussian_options o = with("sigmoid");
    for (size_t k = 0; k < 5; k++) {
        double x[] = {.2, .4, .6, .5, .3, .9, .7, .1, .8, .35};
        unrelu_gaussian *m;
        unrelu_error err = {0};
        x[5] = bad[k];
        assert_int_equal(try_fit(x, 5, 2, &o, &m, &err), UNRELU_EFORMAT);
        assert_non_null(strstr(err.text, "row 3, column 2"));
        assert_true(err.row == 3 && err.column == 2);
        x[5] = NAN; /* missing */
        must(try_fit(x, 5, 2, &o, &m, &err), &err);
        unrelu_gaussian_free(m);
    }
}

static void what_does_not_go_with_it_is_refused(void **state)
{
    (void)state;
    static const char *const options[][2] = {{"method", "paper"},
                                             {"norms", "truncated"},
                                             {"angles", "signs"},
                                             {"robust", "yes"},
                                             {"additive-noise", "auto"}};
    double x[] = {.2, .4, .6, .5, .3, .9, .7, .1, .8, .35};
    unrelu_gaussian *m;
    unrelu_error err = {0};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        unrelu_gaussian_options o = with("leaky:2");
        must(unrelu_gaussian_options_set(&o, options[k][0], options[k][1], &err), &err);
        assert_int_equal(try_fit(x, 5, 2, &o, &m, &err), UNRELU_EUSAGE);
        assert_non_null(strstr(err.text, "`activation`"));
    }
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    static const char *const none[] = {"leaky:0", "leaky:-1", "leaky", "relu", "sigmoid:1"};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        assert_int_equal(unrelu_gaussian_options_set(&o, "activation", none[k], &err),
                         UNRELU_EUSAGE);
}

/* samples of the model go through the activation again, and have its law */
static void a_model_is_kept_and_sampled(void **state)
{
    (void)state;
    static const char *const kinds[] = {"leaky:0.25", "sigmoid"};
    for (int kind = 0; kind < 2; kind++) {
        double *y = latent(7);
        for (size_t i = 0; i < N * D; i++)
            y[i] = kind ? sigmoid(y[i]) : y[i] > 0 ? y[i] : y[i] / 4;
        unrelu_gaussian_options o = with(kinds[kind]);
        unrelu_gaussian *m = fit(y, N, D, &o), *kept;
        unrelu_error err = {0};
        const char *path = files_path("undone.npz");
        must(unrelu_gaussian_save(m, path, &err), &err);
        must(unrelu_gaussian_load(path, &kept, &err), &err);
        assert_string_equal(kept->activation, kinds[kind]);
        assert_int_equal(kept->transform, m->transform);
        double *x = draw(kept, N, 8);
        for (size_t i = 0; kind && i < N * D; i++)
            assert_true(x[i] > 0 && x[i] < 1);
        unrelu_gaussian *again = fit(x, N, D, &o);
        for (size_t i = 0; i < D; i++) {
            assert_near(again->b[i], m->b[i], 5 * m->b_se[i]);
            assert_near(again->scale[i], m->scale[i], 5 * m->scale_se[i]);
        }
        unrelu_gaussian_distance far;
        must(unrelu_gaussian_compare(m, again, &far, &err), &err);
        assert_true(far.kl < 0.05);
        o = with(kind ? "leaky:0.25" : "leaky:0.5");
        unrelu_gaussian *other = fit(x, N, D, &o);
        assert_int_equal(unrelu_gaussian_compare(m, other, &far, &err), UNRELU_EFORMAT);
        unrelu_gaussian_free(other);
        unrelu_gaussian_free(again);
        unrelu_gaussian_free(kept);
        unrelu_gaussian_free(m);
        free(x);
        free(y);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    double *y = latent(9), first[D * D];
    unrelu_gaussian_options o = with("leaky:0.1");
    for (int threads = 1; threads <= 7; threads += 3) {
        unrelu_source *source;
        unrelu_gaussian *m;
        unrelu_error err = {0};
        unrelu_exec exec = {.size = sizeof exec, .threads = threads};
        must(unrelu_source_memory(y, N, D, NULL, &source, &err), &err);
        must(unrelu_gaussian_fit(source, &o, &exec, &m, &err), &err);
        if (threads == 1)
            memcpy(first, m->sigma, sizeof first);
        assert_memory_equal(first, m->sigma, sizeof first);
        unrelu_gaussian_free(m);
        /* the source is as it was: values below 0 are refused again */
        assert_int_equal(unrelu_gaussian_fit(source, NULL, &exec, &m, &err), UNRELU_EFORMAT);
        unrelu_source_close(source);
    }
    free(y);
}

static unrelu_summary *summary_of(const double *x, size_t n, const char *activation)
{
    unrelu_source *source;
    unrelu_summary *made;
    unrelu_error err = {0};
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    if (activation)
        o = with(activation);
    must(unrelu_source_memory(x, n, D, NULL, &source, &err), &err);
    must(unrelu_summary_collect(source, &o, 10, NULL, &made, &err), &err);
    unrelu_source_close(source);
    return made;
}

/* shards in files, merged, are the samples: plain mean and covariance, and the activation */
static void a_summary_keeps_its_activation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind ? "sigmoid" : "leaky:0.1";
        double *y = latent(11), *x = malloc(N * D * sizeof *x);
        assert_non_null(x);
        for (size_t i = 0; i < N * D; i++)
            x[i] = kind ? sigmoid(y[i]) : leaky(y[i]);
        unrelu_summary *first = summary_of(x, 1000, name);
        unrelu_summary *rest = summary_of(x + 1000 * D, N - 1000, name), *kept;
        unrelu_gaussian *m;
        unrelu_error err = {0};
        const char *path = files_path("undone_summary.npz");
        must(unrelu_summary_save(rest, path, &err), &err);
        must(unrelu_summary_load(path, &kept, &err), &err);
        assert_string_equal(unrelu_summary_activation(kept), name);
        must(unrelu_summary_merge(first, kept, &err), &err);
        must(unrelu_gaussian_fit_summary(first, NULL, NULL, &m, &err), &err);
        assert_string_equal(m->activation, name);
        assert_plain(m, y, 1e-10);
        unrelu_gaussian_free(m);
        unrelu_gaussian_options o = with(name); /* said again */
        must(unrelu_gaussian_fit_summary(first, &o, NULL, &m, &err), &err);
        assert_plain(m, y, 1e-10);
        unrelu_gaussian_free(m);
        o.norms = UNRELU_NORMS_TRUNCATED;
        assert_int_equal(unrelu_gaussian_fit_summary(first, &o, NULL, &m, &err), UNRELU_EUSAGE);
        assert_non_null(strstr(err.text, "`norms` other than censored does not go"));
        unrelu_summary_free(first);
        unrelu_summary_free(rest);
        unrelu_summary_free(kept);
        free(x);
        free(y);
    }
}

static void summaries_of_different_activations_do_not_add_up(void **state)
{
    (void)state;
    static const char *const names[] = {"leaky:0.1", "leaky:0.2", "sigmoid", NULL};
    enum { KINDS = sizeof names / sizeof *names };
    double x[5 * D];
    unrelu_summary *of[KINDS];
    unrelu_error err = {0};
    for (size_t i = 0; i < 5 * D; i++)
        x[i] = 0.1 + 0.04 * (double)((7 * i) % 20); /* what each of them gives */
    for (size_t i = 0; i < KINDS; i++)
        of[i] = summary_of(x, 5, names[i]);
    assert_string_equal(unrelu_summary_activation(of[KINDS - 1]), "relu");
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < KINDS; j++) {
            unrelu_gaussian *m = NULL;
            unrelu_gaussian_options o;
            unrelu_gaussian_options_init(&o, sizeof o);
            if (names[j])
                o = with(names[j]);
            unrelu_status fitted = unrelu_gaussian_fit_summary(of[i], &o, NULL, &m, &err);
            assert_int_equal(fitted, i == j || !names[j] ? UNRELU_OK : UNRELU_EUSAGE);
            unrelu_gaussian_free(m);
            if (i == j)
                continue;
            assert_int_equal(unrelu_summary_merge(of[i], of[j], &err), UNRELU_EFORMAT);
            assert_non_null(strstr(err.text, "the same `activation`"));
            assert_int_equal(unrelu_summary_rows(of[i]), 5);
        }
    for (size_t i = 0; i < KINDS; i++)
        unrelu_summary_free(of[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_undone_has_a_plain_mean_and_covariance),
        cmocka_unit_test(missing_cells_leave_the_others),
        cmocka_unit_test(values_that_no_sigmoid_gives_are_refused),
        cmocka_unit_test(what_does_not_go_with_it_is_refused),
        cmocka_unit_test(a_model_is_kept_and_sampled),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_summary_keeps_its_activation),
        cmocka_unit_test(summaries_of_different_activations_do_not_add_up),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
