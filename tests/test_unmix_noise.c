/* SPDX-License-Identifier: Apache-2.0 */
/* Unmixing with noise, or with the rounding of coarse samples for noise. */
#include "units.h"

#include "base/random.h"
#include "dense/linear.h"

static const unrelu_warning *warning(const unrelu_mixture *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return &m->warnings[i];
    return NULL;
}

static void assert_noisy(const unrelu_mixture *m, size_t p)
{
    assert_string_equal(unrelu_verdict_name(m->verdict), "noisy");
    assert_int_equal(m->p, p);
    assert_non_null(m->A_se);
}

static void assert_refused(const planted_mixture *planted, size_t p, const char *const *fragments)
{
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    unrelu_mixture *m;
    unrelu_error err = {0};
    o.p = p;
    assert_int_equal(try_unmix(planted->x, planted->n, planted->truth->d, &o, NULL, &m, &err),
                     UNRELU_EDATA);
    for (; *fragments; fragments++)
        if (!strstr(err.text, *fragments))
            fail_msg("'%s' is missing in: %s", *fragments, err.text);
    assert_null(m);
}

/* ---- the noise itself ---- */

static void the_noise_is_measured_by_the_singular_values_beyond_p(void **state)
{
    (void)state;
    const double noise[] = {1e-6, 1e-3, .01, .03};
    for (size_t s = 0; s < 4; s++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            planted_mixture planted = plant_mixture(10, 4, 0, 1500, 0, noise[s], seed);
            unrelu_mixture *m = unmix(&planted, NULL);
            double square = 0;
            assert_noisy(m, 4);
            for (size_t i = 0; i < 1500 * 10; i++)
                square += planted.x[i] * planted.x[i];
            assert_near(m->noise / noise[s], 1, .03); /* 4 standard errors */
            assert_near(m->relative_noise, m->noise / sqrt(square / 15000), 1e-12);
            assert_non_null(strstr(m->how_p, "the gap of the singular values"));
            assert_null(warning(m, "noise-uneven"));
            assert_null(warning(m, "low-precision"));
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
}

/* singular values 2.1, 0.98, 0.077, then noise of 0.01: the largest gap is the second */
static void a_gap_among_the_units_is_not_that_of_the_noise(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(6, 3, 0, 500, 0, .01, 4);
    unrelu_mixture *m = unmix(&planted, NULL);
    assert_noisy(m, 3);
    assert_near(m->noise, .01, 5e-4);
    assert_null(warning(m, "p-unsure"));
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

static void p_can_be_given_with_noise(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(9, 5, 0, 500, 0, .01, 3);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.p = 5;
    unrelu_mixture *m = unmix(&planted, NULL), *given = unmix(&planted, &o);
    assert_noisy(given, 5);
    assert_memory_equal(m->A, given->A, 45 * sizeof *m->A);
    assert_true(strncmp(given->how_p, "given: singular value 5", 23) == 0);
    unrelu_mixture_free(m);
    unrelu_mixture_free(given);
    assert_refused(&planted, 2,
                   (const char *const[]){"beyond p = 2 units would be noise of deviation",
                                         "3 to 5 %", "another `p`", NULL});
    assert_refused(&planted, 7,
                   (const char *const[]){"of 7 facets in", "with noise", "another `p`", NULL});
    planted_mixture_free(&planted);
}

static void much_noise_is_refused_with_its_estimate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        planted_mixture planted = plant_mixture(9, 5, 0, 1500, 0, .1, seed);
        const char *const sentence[] = {"5 units", "noise of deviation 0.", "10 %", "3 to 5 %",
                                        NULL};
        assert_refused(&planted, 0, sentence + 1);
        assert_refused(&planted, 5, sentence);
        planted_mixture_free(&planted);
    }
}

static void uneven_noise_is_a_warning(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(9, 5, 0, 500, 0, .002, 2);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    double *e = malloc(500 * sizeof *e);
    assert_non_null(e);
    ur_random_normals(77, 1, 0, 500, e);
    o.p = 5;
    unrelu_mixture *m = unmix(&planted, &o);
    assert_null(warning(m, "noise-uneven"));
    unrelu_mixture_free(m);
    for (size_t i = 0; i < 500; i++) /* five times that of the others */
        planted.x[i * 9 + 4] += .01 * e[i];
    m = unmix(&planted, &o);
    assert_noisy(m, 5);
    assert_non_null(warning(m, "noise-uneven"));
    assert_near(error_of_A(planted.truth, m), 0, .01);
    unrelu_mixture_free(m);
    m = unmix(&planted, NULL); /* that column may pass for a unit: found, but not called sure */
    assert_int_equal(m->p, 5);
    assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
    assert_non_null(warning(m, "p-unsure"));
    assert_near(error_of_A(planted.truth, m), 0, .01);
    unrelu_mixture_free(m);
    free(e);
    planted_mixture_free(&planted);
}

/* in proportion to the cells: not one noise for all samples */
static void noise_that_grows_with_the_samples_is_refused(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(9, 4, 0, 600, 0, 0, 2);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    unrelu_mixture *m;
    unrelu_error err = {0};
    double *e = malloc(600 * 9 * sizeof *e);
    assert_non_null(e);
    ur_random_normals(5, 1, 0, 600 * 9, e);
    for (size_t i = 0; i < 600 * 9; i++)
        planted.x[i] *= 1 + 3e-4 * e[i];
    assert_int_equal(try_unmix(planted.x, 600, 9, &o, NULL, &m, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "larger in long ones"));
    free(e);
    planted_mixture_free(&planted);
}

/* ---- A and its errors ---- */

static void one_unit_has_standard_errors_too(void **state)
{
    (void)state;
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    z_scores z = {0};
    o.p = 1;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted_mixture planted = plant_mixture(4, 1, 0, 200, .5, .01, seed);
        unrelu_mixture *m = unmix(&planted, &o);
        z_add_A(&z, planted.truth, m);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_near(z_rms(&z), 1, .3);
}

/* below what counts as rank, and above the rounding: short samples are nothing but noise */
static void noise_of_a_few_digits_is_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_mixture planted = plant_mixture(8, 4, 0, 400, -.4, 2e-11, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        assert_int_equal(m->p, 4);
        assert_near(error_of_A(planted.truth, m), 0, 1e-10);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void A_errs_in_proportion_to_the_noise(void **state)
{
    (void)state;
    const double noise[] = {1e-8, 1e-5, 1e-3, .01};
    for (size_t s = 0; s < 4; s++) {
        planted_mixture planted = plant_mixture(9, 5, 0, 346, 0, noise[s], 4);
        unrelu_mixture *m = unmix(&planted, NULL);
        assert_noisy(m, 5);
        double error = error_of_A(planted.truth, m);
        assert_true(error < noise[s] && error > .05 * noise[s]);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void errors_of_A_are_as_large_as_their_standard_errors(void **state)
{
    (void)state;
    const struct {
        size_t d, p, n;
        double noise;
    } at[] = {{9, 5, 346, .01}, {9, 5, 1000, 1e-4}, {20, 3, 300, .02}, {70, 3, 60, 1e-3}};
    for (size_t s = 0; s < 4; s++) {
        z_scores z = {0};
        for (uint64_t seed = 1; seed <= 20; seed++) {
            planted_mixture planted =
                plant_mixture(at[s].d, at[s].p, 0, at[s].n, 0, at[s].noise, seed);
            unrelu_unmix_options o;
            unrelu_unmix_options_init(&o, sizeof o);
            unrelu_mixture *m;
            unrelu_error err = {0};
            o.p = at[s].p;
            if (try_unmix(planted.x, at[s].n, at[s].d, &o, NULL, &m, &err) == UNRELU_OK &&
                !isnan(m->A_se[0]))
                z_add_A(&z, planted.truth, m);
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
        assert_true(z.of >= 18 * (double)(at[s].d * at[s].p));
        assert_true(z_rms(&z) > .85 && z_rms(&z) < 1.2);
        assert_near(z.in / z.of, .95, .03);
    }
}

static void columns_without_standard_errors_are_told(void **state)
{
    (void)state;
    int without = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        planted_mixture planted = plant_mixture(9, 3, 0, 30, 0, 1e-3, seed);
        unrelu_mixture *m;
        unrelu_error err = {0};
        int none = 0;
        if (try_unmix(planted.x, 30, 9, NULL, NULL, &m, &err) == UNRELU_OK) {
            for (size_t i = 0; i < 27; i++)
                none |= isnan(m->A_se[i]);
            assert_int_equal(none, warning(m, "no-se") != NULL);
            without += none;
        }
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(without >= 1);
}

/* what a band of samples around a facet errs by does not shrink with n */
static void many_samples_leave_no_bias(void **state)
{
    (void)state;
    skip_sanitized();
    z_scores z = {0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        planted_mixture planted = plant_mixture(6, 3, 0, 20000, 0, .03, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        assert_noisy(m, 3);
        z_add_A(&z, planted.truth, m);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(z_rms(&z) > .8 && z_rms(&z) < 1.4); /* 3 with the band alone */
}

static void b_and_sigma_err_as_their_standard_errors_say(void **state)
{
    (void)state;
    z_scores b = {0}, sigma = {0};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted_mixture planted = plant_mixture(8, 4, 0, 2000, .2, .01, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        assert_noisy(m, 4);
        z_add_b(&b, planted.truth, m);
        z_add_sigma(&sigma, planted.truth, m);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(z_rms(&b) > .7 && z_rms(&b) < 1.3);
    assert_true(z_rms(&sigma) > .75 && z_rms(&sigma) < 1.25);
}

static double *numbers(size_t count)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* M = X A (A'A)^-1, 0 up to 4 deviations of its noise, whose covariance is sigma^2 (A'A)^-1 */
static double *seen_units(const planted_mixture *planted, const unrelu_mixture *m, double *noise,
                          double *limit)
{
    size_t n = planted->n, d = m->d, p = m->p;
    double *G = numbers(p * p), *left = numbers(d * p), *M = numbers(n * p);
    int positive;
    unrelu_error err = {0};
    ur_multiply_tn(d, p, p, m->A, m->A, G);
    for (size_t i = 0; i < p * p; i++)
        noise[i] = i % (p + 1) == 0;
    must(ur_solve_positive(p, p, G, noise, &positive, &err), &err);
    ur_multiply(d, p, p, m->A, noise, left);
    ur_multiply(n, d, p, planted->x, left, M);
    for (size_t i = 0; i < p * p; i++)
        noise[i] *= m->noise * m->noise;
    for (size_t k = 0; k < p; k++)
        limit[k] = 4 * sqrt(noise[k * p + k]);
    for (size_t i = 0; i < n * p; i++)
        M[i] = M[i] > limit[i % p] ? M[i] : 0;
    free(G);
    free(left);
    return M;
}

/* W W' is that of the units, not of the units with their noise */
static void the_noise_is_taken_out_of_sigma(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        planted_mixture planted = plant_mixture(8, 4, 0, 1500, .2, .03, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        double noise[16], limit[4], *M = seen_units(&planted, m, noise, limit), most = 0;
        unrelu_gaussian_options o;
        unrelu_gaussian_options_init(&o, sizeof o);
        o.censor_at = limit;
        o.censor_count = 4;
        unrelu_gaussian *seen = fit(M, 1500, 4, &o);
        for (size_t i = 0; i < 16; i++) {
            const double *scale = m->hidden->scale;
            assert_near(m->hidden->sigma[i], seen->sigma[i] - noise[i], 1e-9);
            assert_near(m->hidden->correlation[i],
                        m->hidden->sigma[i] / (scale[i / 4] * scale[i % 4]), 1e-12);
            most = fmax(most, fabs(noise[i] / seen->sigma[i]));
        }
        assert_true(most > 1e-4); /* or nothing was tested */
        for (size_t k = 0; k < 4; k++) {
            assert_near(m->hidden->b[k], seen->b[k], 1e-9);
            assert_near(m->hidden->positive[k], seen->positive[k], 0);
            assert_near(m->hidden->scale[k] * m->hidden->scale[k], m->hidden->sigma[5 * k], 1e-12);
        }
        assert_null(m->hidden->limit);
        unrelu_gaussian_free(seen);
        free(M);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void the_papers_way_has_no_standard_errors(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(6, 3, 0, 400, 0, 1e-3, 2);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.method = UNRELU_UNMIX_SEPARABLE;
    unrelu_mixture *m = unmix(&planted, &o);
    assert_noisy(m, 3);
    for (size_t i = 0; i < 18; i++)
        assert_true(isnan(m->A_se[i]));
    assert_non_null(warning(m, "no-se"));
    assert_near(error_of_A(planted.truth, m), 0, 1e-2);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

/* ---- coarse samples ---- */

/* the root mean square of what was rounded away; format NULL: to float */
static double coarsen(planted_mixture *planted, const char *format)
{
    char text[64];
    double square = 0;
    size_t cells = planted->n * planted->truth->d;
    for (size_t i = 0; i < cells; i++) {
        double kept = planted->x[i];
        planted->x[i] = (double)(float)kept;
        if (format) {
            snprintf(text, sizeof text, format, kept);
            planted->x[i] = strtod(text, NULL);
        }
        square += (planted->x[i] - kept) * (planted->x[i] - kept);
    }
    return sqrt(square / (double)cells);
}

/* with columns beyond p, and where the noise cannot be measured by them */
static void rounding_counts_as_noise(void **state)
{
    (void)state;
    const struct {
        const char *format, *precision;
    } how[] = {{NULL, "single"}, {"%.6g", "digits:6"}, {"%.6f", "digits:7"}, {"%.4f", "digits:5"}};
    const size_t d[] = {8, 5};
    for (size_t k = 0; k < 4; k++)
        for (size_t j = 0; j < 2; j++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                planted_mixture planted = plant_mixture(d[j], 5, 0, 300, 0, 0, seed);
                double rounding = coarsen(&planted, how[k].format);
                unrelu_mixture *m = unmix(&planted, NULL);
                assert_noisy(m, 5);
                assert_string_equal(m->precision, how[k].precision);
                assert_non_null(warning(m, "low-precision"));
                assert_true(m->noise > .6 * rounding && m->noise < 5 * rounding);
                assert_near(error_of_A(planted.truth, m), 0, 3 * rounding);
                unrelu_mixture_free(m);
                planted_mixture_free(&planted);
            }
}

/* ---- nested units ---- */

enum { NESTED_N = 240, NESTED_D = 7, NESTED_P = 4 };

/* Rows 1 and 2 of W are nearly parallel, with another bias each: one unit is on only where the
 * other is, and no sample shows the facet of the latter. x (n x d) with 2 % noise, A (d x p) */
static void draw_nested(uint64_t seed, double *x, double *A)
{
    enum { N = NESTED_N, D = NESTED_D, P = NESTED_P };
    double W[P * P], apart[P], b[P], *z = numbers(N * (P + D)), square = 0;
    ur_random_normals(seed, 1, 0, P * P, W);
    ur_random_normals(seed, 1, 100, P, apart);
    ur_random_normals(seed, 1, 200, P, b);
    ur_random_normals(seed, 1, 300, D * P, A);
    ur_random_normals(seed, 1, 400, N * (P + D), z);
    for (size_t k = 0; k < P; k++)
        W[P + k] = W[k] + 0.01 * apart[k];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = 0;
            for (size_t k = 0; k < P; k++) {
                double *w = W + k * P, *own = z + i * P;
                double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
                double h = w[0] * own[0] + w[1] * own[1] + w[2] * own[2] + w[3] * own[3];
                x[i * D + j] += A[j * P + k] * fmax(0, h + 0.5 * b[k] * length);
            }
            square += x[i * D + j] * x[i * D + j] / (N * D);
        }
    for (size_t i = 0; i < N * D; i++)
        x[i] += 0.02 * sqrt(square) * z[N * P + i];
    free(z);
}

/* the largest distance of a column of A, at length 1, to the nearest of the model's */
static double farthest_column(const double *A, const unrelu_mixture *m)
{
    double worst = 0;
    for (size_t k = 0; k < NESTED_P; k++) {
        double length = 0, nearest = INFINITY;
        for (size_t j = 0; j < NESTED_D; j++)
            length += A[j * NESTED_P + k] * A[j * NESTED_P + k];
        for (size_t c = 0; c < m->p; c++) {
            double far = 0;
            for (size_t j = 0; j < NESTED_D; j++)
                far += pow(A[j * NESTED_P + k] / sqrt(length) - m->A[j * m->p + c], 2);
            nearest = fmin(nearest, sqrt(far));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

/* As many units as there are, and one of them a difference of two: that is never without doubt. */
static void a_facet_that_does_not_stand_apart_is_doubted(void **state)
{
    double *x = numbers(NESTED_N * NESTED_D), A[NESTED_D * NESTED_P];
    size_t doubted = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        unrelu_mixture *m;
        unrelu_error err = {0};
        draw_nested(seed, x, A);
        if (try_unmix(x, NESTED_N, NESTED_D, NULL, NULL, &m, &err) != UNRELU_OK)
            continue;
        int wrong = m->p == NESTED_P && farthest_column(A, m) > 0.2;
        assert_false(wrong && m->verdict == UNRELU_VERDICT_NOISY);
        for (size_t i = 0; wrong && i < m->warning_count; i++)
            doubted += strstr(m->warnings[i].message, "does not stand apart there") != NULL;
        unrelu_mixture_free(m);
    }
    assert_true(doubted >= 2);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_is_measured_by_the_singular_values_beyond_p),
        cmocka_unit_test(a_gap_among_the_units_is_not_that_of_the_noise),
        cmocka_unit_test(p_can_be_given_with_noise),
        cmocka_unit_test(much_noise_is_refused_with_its_estimate),
        cmocka_unit_test(uneven_noise_is_a_warning),
        cmocka_unit_test(noise_that_grows_with_the_samples_is_refused),
        cmocka_unit_test(A_errs_in_proportion_to_the_noise),
        cmocka_unit_test(one_unit_has_standard_errors_too),
        cmocka_unit_test(noise_of_a_few_digits_is_noise),
        cmocka_unit_test(errors_of_A_are_as_large_as_their_standard_errors),
        cmocka_unit_test(columns_without_standard_errors_are_told),
        cmocka_unit_test(many_samples_leave_no_bias),
        cmocka_unit_test(b_and_sigma_err_as_their_standard_errors_say),
        cmocka_unit_test(the_noise_is_taken_out_of_sigma),
        cmocka_unit_test(the_papers_way_has_no_standard_errors),
        cmocka_unit_test(a_facet_that_does_not_stand_apart_is_doubted),
        cmocka_unit_test(rounding_counts_as_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
