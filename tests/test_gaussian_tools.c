/* SPDX-License-Identifier: Apache-2.0 */
/* Planting, sampling, comparing, saving. */
#include "planted.h"
#include "write/npz_write.h"

#include <unistd.h>

static unrelu_gaussian *planted(size_t d, size_t k, double kappa, uint64_t seed)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.kappa = kappa;
    o.seed = seed;
    return plant(o);
}

/* ---- plant ---- */

static void planted_sigma_has_the_condition_number(void **state)
{
    (void)state;
    enum { D = 5 };
    unrelu_gaussian *m = planted(D, 0, 13, 1);
    /* columns of W are orthogonal with squared lengths 1 .. 1/13 */
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++) {
            double dot = 0;
            for (size_t i = 0; i < D; i++)
                dot += m->W[i * D + a] * m->W[i * D + b];
            assert_near(dot, a == b ? pow(13, -(double)a / (D - 1)) : 0, 1e-13);
        }
    for (size_t i = 0; i < D; i++) {
        assert_true(m->b[i] >= 0);
        for (size_t j = 0; j < D; j++) {
            double dot = 0;
            for (size_t k = 0; k < D; k++)
                dot += m->W[i * D + k] * m->W[j * D + k];
            assert_near(m->sigma[i * D + j], dot, 1e-14);
        }
    }
    unrelu_gaussian_free(m);
    m = planted(8, 3, 1, 1);
    assert_int_equal(m->k, 3);
    for (size_t i = 0; i < 8; i++)
        assert_near(m->scale[i], 1, 1e-14);
    unrelu_gaussian_free(m);
}

static void eigenvalues_decrease_and_are_those_of_sigma(void **state)
{
    (void)state;
    enum { D = 5 };
    double values[D];
    unrelu_error err = {0};
    unrelu_gaussian *m = planted(D, 0, 13, 1), empty = {.d = D};
    must(unrelu_gaussian_eigenvalues(m, values, &err), &err);
    for (size_t i = 0; i < D; i++)
        assert_near(values[i], pow(13, -(double)i / (D - 1)), 1e-13);
    double has[D] = {7}; /* those it has are taken */
    m->eigenvalues = has;
    must(unrelu_gaussian_eigenvalues(m, values, &err), &err);
    assert_true(values[0] == 7 && values[D - 1] == 0);
    m->eigenvalues = NULL;
    m->sigma[7] = INFINITY;
    assert_int_equal(unrelu_gaussian_eigenvalues(m, values, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "entry (2, 3) of Sigma is not finite: it has no eigenvalues");
    assert_int_equal(unrelu_gaussian_eigenvalues(&empty, values, &err), UNRELU_EUSAGE);
    unrelu_gaussian_free(m);
}

/* rows of W are unit vectors of random direction: correlations have the mean square 1 / k */
static void planted_units_may_have_more_inputs_than_there_are(void **state)
{
    (void)state;
    enum { D = 40, K = 100 };
    unrelu_gaussian *m = planted(D, K, 1, 1);
    double square = 0;
    assert_int_equal(m->k, K);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->scale[i], 1, 1e-14);
        for (size_t j = 0; j < D; j++) {
            double dot = 0;
            for (size_t k = 0; k < K; k++)
                dot += m->W[i * K + k] * m->W[j * K + k];
            assert_near(m->sigma[i * D + j], dot, 1e-14);
            square += i < j ? dot * dot / (D * (D - 1) / 2.0) : 0;
        }
    }
    assert_near(square, 1.0 / K, 4.5 * sqrt(2.0 / (D * (D - 1) / 2.0)) / K);
    unrelu_gaussian_free(m);
}

static void a_plan_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t d, k;
        double kappa;
        const char *sentence;
    } bad[] = {
        {0, 0, 1, "d must be at least 1"},
        {5, 0, 0.5, "kappa must be at least 1, not 0.5"},
        {5, 3, 2, "kappa needs k = d: W W' of rank 3 < 5 is singular"},
        {5, 9, 2, "kappa needs k = d, not k = 9 with d = 5: leave out one of the two"},
        {5, (size_t)1 << 61, 1, "a W of 5 x 2305843009213693952 is too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_gaussian_plant_options o = {
            .size = sizeof o, .d = bad[i].d, .k = bad[i].k, .kappa = bad[i].kappa, .seed = 1};
        unrelu_gaussian *m;
        unrelu_error err = {0};
        assert_int_equal(unrelu_gaussian_plant(&o, &m, &err), UNRELU_EUSAGE);
        assert_string_equal(err.text, bad[i].sentence);
        assert_null(m);
    }
}

/* ---- sample ---- */

static void samples_have_the_moments_of_a_rectified_gaussian(void **state)
{
    (void)state;
    enum { D = 3, N = 400000 };
    unrelu_gaussian *m = planted(D, 0, 4, 2);
    m->b[0] = -0.5;
    double *x = draw(m, N, 9);
    for (size_t j = 0; j < D; j++) {
        double g = m->b[j] / m->scale[j], s = m->scale[j], mean = 0, square = 0, zeros = 0;
        double Phi = erfc(-g / sqrt(2)) / 2, phi = exp(-g * g / 2) / sqrt(2 * acos(-1));
        for (size_t r = 0; r < N; r++) {
            mean += x[r * D + j] / N;
            square += x[r * D + j] * x[r * D + j] / N;
            zeros += (x[r * D + j] == 0) / (double)N;
        }
        assert_near(zeros, 1 - Phi, 4.5 * sqrt(Phi * (1 - Phi) / N));
        assert_near(mean, s * (g * Phi + phi), 4.5 * s * sqrt((1 + g * g) / N));
        assert_near(square, s * s * ((1 + g * g) * Phi + g * phi),
                    4.5 * s * s * (3 + g * g) / sqrt(N));
    }
    free(x);
    unrelu_gaussian_free(m);
}

static void any_slice_has_the_same_bits(void **state)
{
    (void)state;
    enum { D = 4, N = 2000 };
    unrelu_gaussian *m = planted(D, 0, 4, 3);
    double *x = draw(m, N, 5), *y = malloc(N * D * sizeof *y);
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    must(unrelu_gaussian_sampler(m, 5, &sampler, &err), &err);
    const size_t slices[][2] = {{0, 1}, {1, 300}, {255, 2}, {256, 256}, {777, 1223}, {1999, 1}};
    for (size_t k = 0; k < 6; k++)
        for (int threads = 1; threads < 4; threads++) {
            unrelu_exec exec = {.size = sizeof exec, .threads = threads};
            must(unrelu_sampler_draw(sampler, slices[k][0], slices[k][1], &exec, y, &err), &err);
            assert_memory_equal(y, x + slices[k][0] * D, slices[k][1] * D * sizeof *y);
        }
    unrelu_sampler_free(sampler);
    free(x);
    free(y);
    unrelu_gaussian_free(m);
}

static void samples_stop_at_the_limit_of_the_model(void **state)
{
    (void)state;
    enum { D = 2, N = 5000 };
    unrelu_gaussian *m = planted(D, 0, 1, 3);
    double limit[D] = {0.5, -1};
    m->limit = limit;
    m->b[0] = m->b[1] = 0;
    double *x = draw(m, N, 5);
    size_t at[D] = {0};
    for (size_t i = 0; i < N * D; i++) {
        assert_true(x[i] >= limit[i % D]);
        at[i % D] += x[i] == limit[i % D];
    }
    /* Phi(0.5) and Phi(-1) of the cells, four deviations */
    assert_near((double)at[0] / N, 0.6915, 0.026);
    assert_near((double)at[1] / N, 0.1587, 0.021);
    m->limit = NULL;
    unrelu_gaussian_free(m);
    free(x);
}

/* ---- compare ---- */

static void indefinite_correlations_are_clipped_and_told(void **state)
{
    (void)state;
    enum { N = 200000, D = 3 };
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    unrelu_gaussian *m = plant(o);
    for (size_t i = 0; i < D; i++) {
        m->b[i] = 100;
        m->scale[i] = (double)i + 1;
    }
    must(unrelu_gaussian_sampler(m, 5, &sampler, &err), &err);
    assert_true(unrelu_sampler_clipped(sampler) == 0);
    unrelu_sampler_free(sampler);
    m->correlation[1] = m->correlation[3] = m->correlation[5] = m->correlation[7] = 0.9;
    m->correlation[2] = m->correlation[6] = -0.9; /* 1 - 2 0.9 cos(pi / 3) ... : -0.8 */
    must(unrelu_gaussian_sampler(m, 5, &sampler, &err), &err);
    assert_near(unrelu_sampler_clipped(sampler), -0.8, 1e-12);
    double *x = malloc(N * D * sizeof *x);
    assert_non_null(x);
    must(unrelu_sampler_draw(sampler, 0, N, NULL, x, &err), &err);
    for (size_t j = 0; j < D; j++) { /* the scales are the model's */
        double square = 0;
        for (size_t r = 0; r < N; r++)
            square += pow(x[r * D + j] - 100, 2) / N;
        assert_near(sqrt(square) / m->scale[j], 1, 5 / sqrt(2.0 * N));
    }
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(m);
    free(x);
}

static void distances_match_the_formulas(void **state)
{
    (void)state;
    /* independent coordinates: KL is a sum of univariate ones */
    enum { D = 3 };
    unrelu_gaussian *t = planted(D, 0, 1, 4), *m = planted(D, 0, 1, 4);
    double kl = 0, reverse = 0, db = 0, dS = 0, norm = 0;
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++)
            t->correlation[i * D + j] = m->correlation[i * D + j] = i == j;
        t->scale[i] = 1e-150 * (1 + (double)i);
        m->scale[i] = t->scale[i] * 1.1;
        m->b[i] = t->b[i] = (double)i * t->scale[i];
        m->b[i] += 0.2 * t->scale[i];
        double r = 1.1 * 1.1, d2 = 0.04;
        kl += (r + d2 - 1 - log(r)) / 2;
        reverse += (1 / r + d2 / r - 1 + log(r)) / 2;
        double s = 1 + (double)i;
        db += d2 * s * s;
        dS += pow((r - 1) * s * s, 2);
        norm += s * s;
    }
    unrelu_gaussian_distance far;
    unrelu_error err = {0};
    must(unrelu_gaussian_compare(t, m, &far, &err), &err);
    assert_near(far.kl, kl, 1e-12);
    assert_near(far.kl_reverse, reverse, 1e-12);
    assert_near(far.tv_bound, sqrt(fmin(kl, reverse) / 2), 1e-12);
    assert_near(far.b_error, sqrt(db / norm), 1e-12);
    assert_near(far.sigma_error, sqrt(dS) / norm, 1e-12);
    assert_string_equal(far.note, "");
    must(unrelu_gaussian_compare(t, t, &far, &err), &err);
    assert_near(far.kl + far.b_error + far.sigma_error, 0, 1e-12);
    unrelu_gaussian_free(t);
    unrelu_gaussian_free(m);
}

static void singular_and_indefinite_are_told(void **state)
{
    (void)state;
    unrelu_gaussian *t = planted(4, 2, 1, 5), *m = planted(4, 0, 1, 5),
                    *other = planted(3, 0, 1, 5);
    unrelu_gaussian_distance far;
    unrelu_error err = {0};
    must(unrelu_gaussian_compare(t, m, &far, &err), &err);
    assert_true(isinf(far.kl) && far.tv_bound == 1 && far.b_error >= 0);
    assert_non_null(strstr(far.note, "truth's correlation matrix is singular"));
    m->correlation[1] = m->correlation[4] = 1.5;
    unrelu_gaussian_free(t);
    t = planted(4, 0, 1, 6);
    must(unrelu_gaussian_compare(t, m, &far, &err), &err);
    assert_non_null(strstr(far.note, "model's correlation matrix is indefinite"));
    assert_int_equal(unrelu_gaussian_compare(t, other, &far, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "4 columns and the model 3"));
    unrelu_gaussian_free(t);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(other);
}

/* ---- files ---- */

static void a_model_survives_its_file(void **state)
{
    (void)state;
    enum { D = 4, N = 3000 };
    char path[] = "/tmp/unrelu_model_XXXXXX.npz";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unrelu_gaussian *truth = planted(D, 0, 4, 7), *loaded;
    double *x = draw(truth, N, 8);
    for (size_t r = 0; r < N; r++)
        x[r * D + 2] = 0.5;
    x[5] = NAN;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.rank = 2;
    o.seed = 77;
    unrelu_gaussian *m = fit(x, N, D, &o);
    unrelu_error err = {0};
    must(unrelu_gaussian_save(m, path, &err), &err);
    must(unrelu_gaussian_load(path, &loaded, &err), &err);
    double *pairs[][2] = {{m->b, loaded->b},
                          {m->b_se, loaded->b_se},
                          {m->scale, loaded->scale},
                          {m->b_scale_cov, loaded->b_scale_cov},
                          {m->observed, loaded->observed},
                          {m->eigenvalues, loaded->eigenvalues},
                          {m->eigenvalues_se, loaded->eigenvalues_se},
                          {m->sigma, loaded->sigma},
                          {m->sigma_se, loaded->sigma_se},
                          {m->correlation_se, loaded->correlation_se},
                          {m->n_pair, loaded->n_pair}};
    for (size_t i = 0; i < 11; i++)
        assert_memory_equal(pairs[i][0], pairs[i][1], (i < 7 ? D : D * D) * sizeof(double));
    assert_memory_equal(m->flags, loaded->flags, D * sizeof *m->flags);
    assert_memory_equal(m->pair_flags, loaded->pair_flags, D * D);
    assert_memory_equal(m->W, loaded->W, D * 2 * sizeof(double));
    assert_int_equal(loaded->n, N);
    assert_int_equal(loaded->seed, 77);
    assert_int_equal(loaded->k, 2);
    assert_string_equal(loaded->how_k, m->how_k);
    assert_string_equal(loaded->names[3], "x4");
    assert_int_equal(loaded->warning_count, m->warning_count);
    assert_true(has_warning(loaded, "constant") && has_warning(loaded, "missing"));
    unrelu_gaussian_free(loaded);

    must(unrelu_gaussian_save(truth, path, &err), &err);
    must(unrelu_gaussian_load(path, &loaded, &err), &err);
    assert_null(loaded->b_se);
    assert_memory_equal(loaded->sigma, truth->sigma, D * D * sizeof(double));
    unrelu_gaussian_free(loaded);

    unrelu_summary *summary = NULL;
    assert_int_equal(unrelu_summary_load(path, &summary, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "'rectified-gaussian', not a summary"));
    unlink(path);
    assert_int_equal(unrelu_gaussian_load(path, &loaded, &err), UNRELU_EIO);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

/* a file of two columns whose array `name` is of this shape, or is missing (ndim 9) */
static void write_model(const char *path, const char *name, size_t ndim, size_t rows,
                        size_t columns)
{
    const double x[8] = {1, 0.5, 0.5, 1, 1, 1, 1, 1};
    const struct {
        const char *name;
        size_t ndim;
    } arrays[] = {{"b", 1}, {"scale", 1}, {"sigma", 2}, {"correlation", 2}, {"b_se", 1}};
    const char *names[] = {"p", "q"};
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    must(ur_npz_writer_open(path, &w, &err), &err);
    ur_npz_add_string(w, "kind", "rectified-gaussian");
    ur_npz_add_strings(w, "names", names, 2);
    for (size_t i = 0; i < 5; i++) {
        int other = strcmp(arrays[i].name, name) == 0;
        const size_t shape[2] = {other ? rows : 2, other ? columns : 2};
        if (!other || ndim < 9)
            ur_npz_add(w, arrays[i].name, x, other ? ndim : arrays[i].ndim, shape);
    }
    must(ur_npz_commit(w, &err), &err);
}

static void damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t ndim, rows, columns;
        const char *sentence; /* after the path */
    } bad[] = {
        {"scale", 9, 0, 0,
         " has no array 'scale'; it was not written by this program, or by another version"},
        {"sigma", 9, 0, 0,
         " has no array 'sigma'; it was not written by this program, or by another version"},
        {"correlation", 9, 0, 0,
         " has no array 'correlation'; it was not written by this program, or by another version"},
        {"b", 2, 2, 1, ": b must be a vector, not of 2 dimensions"},
        {"sigma", 1, 4, 0, ": sigma is a vector of 4, where 2 x 2 is needed"},
        {"correlation", 2, 2, 3, ": correlation is 2 x 3, where 2 x 2 is needed"},
        {"b_se", 1, 3, 0, ": b_se is a vector of 3, where a vector of 2 is needed"},
    };
    char path[] = "/tmp/unrelu_model_XXXXXX.npz", sentence[256];
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unrelu_gaussian *m;
    unrelu_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_model(path, bad[i].name, bad[i].ndim, bad[i].rows, bad[i].columns);
        assert_int_equal(unrelu_gaussian_load(path, &m, &err), UNRELU_EFORMAT);
        snprintf(sentence, sizeof sentence, "%s%s", path, bad[i].sentence);
        assert_string_equal(err.text, sentence);
        assert_null(m);
    }
    write_model(path, "", 0, 0, 0);
    must(unrelu_gaussian_load(path, &m, &err), &err);
    assert_string_equal(m->names[1], "q");
    unrelu_gaussian_free(m);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_sigma_has_the_condition_number),
        cmocka_unit_test(eigenvalues_decrease_and_are_those_of_sigma),
        cmocka_unit_test(planted_units_may_have_more_inputs_than_there_are),
        cmocka_unit_test(a_plan_that_cannot_be_is_refused),
        cmocka_unit_test(samples_have_the_moments_of_a_rectified_gaussian),
        cmocka_unit_test(any_slice_has_the_same_bits),
        cmocka_unit_test(samples_stop_at_the_limit_of_the_model),
        cmocka_unit_test(indefinite_correlations_are_clipped_and_told),
        cmocka_unit_test(distances_match_the_formulas),
        cmocka_unit_test(singular_and_indefinite_are_told),
        cmocka_unit_test(a_model_survives_its_file),
        cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
