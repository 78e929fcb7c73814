/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tolerances of mixture/problem/tolerance.h lie: each is met by a case below it and
 * missed by one above, so that a move by 100 is seen. Singular values are made up where that says
 * it best. */
#include "mixtures.h"

#include "base/random.h"
#include "gaussian/model/gaussian_model.h"
#include "mixture/problem/unmix.h"

enum { N = 1002, D = 4 };

static unrelu_unmix_options asking_for(size_t p)
{
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.p = p;
    return o;
}

/* N samples of root mean square 1 with these singular values, the last `beyond` below rounding */
static ur_unmix samples_with(const unrelu_unmix_options *o, unrelu_mixture *m, double *same,
                             size_t d, size_t beyond)
{
    ur_unmix w = {.options = o, .model = m};
    w.span = (ur_span){.n = N,
                       .d = d,
                       .most = d,
                       .nonzero = N,
                       .common = 1,
                       .rms = 1,
                       .each = same,
                       .same = same,
                       .rank = d - beyond};
    return w;
}

/* the singular value beyond p = 2 of 3 that noise of this deviation makes */
static double of_noise(double sigma)
{
    return sigma * sqrt(N - 2);
}

static int warns(const unrelu_mixture *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

/* ---- p and the noise ---- */

static void noise_of_a_low_rank_is_tried_from_1e_14_on(void **state)
{
    (void)state;
    const double noise[] = {3e-15, 3e-14};
    for (size_t i = 0; i < 2; i++) {
        unrelu_unmix_options o = asking_for(0);
        unrelu_mixture *m = ur_mixture_new(NULL);
        unrelu_error err = {0};
        double same[3] = {100, 50, of_noise(noise[i])};
        ur_unmix w = samples_with(&o, m, same, 3, 1);
        must(ur_attempts_choose(&w, &err), &err);
        assert_int_equal(w.attempt_count, 1 + i);
        unrelu_mixture_free(m);
    }
}

static void noise_is_high_from_3_percent_on_and_too_much_from_5(void **state)
{
    (void)state;
    const double noise[] = {.025, .035, .045, .055};
    for (size_t i = 0; i < 4; i++) {
        unrelu_unmix_options o = asking_for(2);
        unrelu_mixture *m = ur_mixture_new(NULL);
        unrelu_error err = {0};
        double same[3] = {100, 50, of_noise(noise[i])};
        ur_unmix w = samples_with(&o, m, same, 3, 0);
        unrelu_status status = ur_attempts_choose(&w, &err);
        assert_int_equal(status, i < 3 ? UNRELU_OK : UNRELU_EDATA);
        ur_attempt_describe(&w, &(ur_attempt){2, noise[i]});
        assert_int_equal(warns(m, "noise-high"), i > 0);
        unrelu_mixture_free(m);
    }
}

static void noise_up_to_four_deviations_of_the_rounding_is_rounding(void **state)
{
    (void)state;
    ur_span s = {.rounding = 1e-6};
    assert_true(ur_is_rounding(&s, 3.9e-6) && ur_is_rounding(&s, 1e-9));
    assert_false(ur_is_rounding(&s, 4.1e-6) || ur_is_rounding(&s, 0));
}

/* over what noise makes, the third of four singular values */
static double excess_of(double fourth)
{
    unrelu_unmix_options o = asking_for(0);
    unrelu_mixture *m = ur_mixture_new(NULL);
    double same[D] = {100, 50, 1, fourth};
    ur_unmix w = samples_with(&o, m, same, D, 0);
    double excess = ur_span_excess(&w.span, 2);
    unrelu_mixture_free(m);
    return excess;
}

static void singular_values_are_flat_up_to_1_1_times_what_noise_makes(void **state)
{
    (void)state;
    const double fourth[] = {.75, .7};
    assert_true(excess_of(fourth[0]) < 1.1 && excess_of(fourth[1]) > 1.1);
    for (size_t i = 0; i < 2; i++) {
        unrelu_unmix_options o = asking_for(0);
        unrelu_mixture *m = ur_mixture_new(NULL);
        double same[D] = {100, 50, 1, fourth[i]};
        ur_unmix w = samples_with(&o, m, same, D, 0);
        assert_int_equal(ur_span_flat(&w.span), 2 + i);
        unrelu_mixture_free(m);
    }
}

static void noise_is_uneven_from_1_15_times_what_it_makes_on(void **state)
{
    (void)state;
    const double fourth[] = {.65, .6};
    assert_true(excess_of(fourth[0]) < 1.15 && excess_of(fourth[1]) > 1.15);
    for (size_t i = 0; i < 2; i++) {
        unrelu_unmix_options o = asking_for(2);
        unrelu_mixture *m = ur_mixture_new(NULL);
        double same[D] = {100, 50, 1, fourth[i]};
        ur_unmix w = samples_with(&o, m, same, D, 0);
        ur_attempt_describe(&w, &(ur_attempt){2, .01});
        assert_int_equal(warns(m, "noise-uneven"), i);
        unrelu_mixture_free(m);
    }
}

static void a_gap_of_100_is_decisive_and_one_below_2_is_doubtful(void **state)
{
    (void)state;
    const double gap[] = {130, 70, 2.2, 1.8};
    for (size_t i = 0; i < 4; i++) {
        unrelu_unmix_options o = asking_for(2);
        unrelu_mixture *m = ur_mixture_new(NULL);
        double same[D] = {200, gap[i], 1, .1}; /* so uneven that only a gap can tell p = 2 */
        ur_unmix w = samples_with(&o, m, same, D, 0);
        if (i < 2)
            assert_int_equal(ur_span_flat(&w.span), i == 0 ? 2 : 3);
        ur_attempt_describe(&w, &(ur_attempt){2, .01});
        assert_int_equal(warns(m, "p-unsure"), i == 3);
        unrelu_mixture_free(m);
    }
}

static void a_unit_counts_from_two_samples_on(void **state)
{
    (void)state;
    unrelu_unmix_options o = asking_for(3);
    unrelu_mixture *m = ur_mixture_new(NULL);
    double same[D] = {100, 50, 10, .1};
    ur_unmix w = samples_with(&o, m, same, D, 0);
    w.span.nonzero = 6;
    assert_int_equal(ur_attempts_choose(&w, NULL), UNRELU_OK);
    w.span.nonzero = 5;
    assert_int_equal(ur_attempts_choose(&w, NULL), UNRELU_EDATA);
    unrelu_mixture_free(m);
}

/* ---- samples ---- */

/* of three columns, the third a sum of the others but for `apart` */
static double *nearly_dependent(double apart)
{
    double *x = malloc(N * 3 * sizeof *x);
    assert_non_null(x);
    ur_random_normals(1, 1, 0, N * 3, x);
    for (size_t i = 0; i < N; i++)
        x[3 * i + 2] = .5 * x[3 * i] + .3 * x[3 * i + 1] + apart * x[3 * i + 2];
    return x;
}

static void singular_values_below_1e_10_of_the_first_are_rounding(void **state)
{
    (void)state;
    const double apart[] = {1e-11, 1e-9};
    for (size_t i = 0; i < 2; i++) {
        double *x = nearly_dependent(apart[i]);
        ur_table table = {.rows = N, .columns = 3, .cells = x};
        unrelu_source *source = NULL;
        unrelu_error err = {0};
        ur_span s;
        UR_ARENA(arena);
        must(unrelu_source_memory(x, N, 3, NULL, &source, &err), &err);
        must(ur_span_measure(source, &table, NULL, &arena, &s, &err), &err);
        double third = s.each[2] / s.each[0];
        assert_true(i == 0 ? third > 1e-12 && third < 1e-10 : third > 1e-10 && third < 1e-8);
        assert_int_equal(s.rank, 2 + i);
        unrelu_source_close(source);
        free(x);
    }
}

static void a_unit_is_off_below_1e_8_of_the_sample(void **state)
{
    (void)state;
    ur_span s = {.n = 1, .d = 1, .x = (double[]){1}, .common = 1, .unit = (double[]){1}};
    s.each = (double[]){1};
    s.each_vt = (double[]){1};
    ur_cone c;
    unrelu_error err = {0};
    UR_ARENA(arena);
    must(ur_cone_make(&s, 1, 0, NULL, &arena, &c, &err), &err);
    assert_int_equal(ur_side_of(&c, 3e-9 * 7, 7, 0), UR_ON);
    assert_int_equal(ur_side_of(&c, -3e-9 * 7, 7, 0), UR_ON);
    assert_int_equal(ur_side_of(&c, 3e-8 * 7, 7, 0), UR_ABOVE_FACET);
    assert_int_equal(ur_side_of(&c, -3e-8 * 7, 7, 0), UR_BEYOND);
    assert_int_equal(ur_most_beyond(&c), 0);
}

static void with_noise_a_unit_is_off_up_to_3_deviations_and_beyond_from_6_on(void **state)
{
    (void)state;
    ur_cone c = {.n = 1000, .noise = (double[]){1}};
    assert_int_equal(ur_side_of(&c, 2.9, 100, 1), UR_ON);
    assert_int_equal(ur_side_of(&c, 3.1, 100, 1), UR_ABOVE_FACET);
    assert_int_equal(ur_side_of(&c, -5.9, 100, 1), UR_ON);
    assert_int_equal(ur_side_of(&c, -6.1, 100, 1), UR_BEYOND);
    assert_int_equal(ur_most_beyond(&c), 5);
}

static void with_noise_a_unit_is_on_from_4_deviations_on(void **state)
{
    (void)state;
    double one[] = {1}, y[] = {.039, .041, 1}, M[3];
    ur_cone c = {.n = 3, .d = 1, .p = 1, .x = y, .y = y, .C = one, .unit = one};
    c.noise = (double[]){1e-4};
    ur_units units = {.U = one, .inverse = one, .G = one, .length = one};
    units.deviation = (double[]){.01};
    ur_certificate all;
    unrelu_error err = {0};
    must(ur_units_fill(&c, &units, NULL, M, &all, &err), &err);
    assert_true(M[0] == 0 && M[1] > 0 && M[2] > 0);
}

static void a_model_may_leave_4_deviations_of_the_noise(void **state)
{
    (void)state;
    ur_cone c = {.n = 50, .d = 2, .p = 1, .unit = (double[]){8, 8}, .sigma = .1};
    for (int more = 0; more < 2; more++) {
        double left = (more ? 4.1 : 3.9) * c.sigma / 8;
        ur_certificate all = {.left = left * left * 100};
        assert_int_equal(ur_certificate_check(&c, &all, NULL), more ? UNRELU_EDATA : UNRELU_OK);
    }
}

/* noise in proportion to the samples, as rounding to few digits is: below 1e-6 it is believed */
static void noise_that_grows_with_the_samples_is_refused_from_1e_6_on(void **state)
{
    (void)state;
    const double relative[] = {1e-7, 1e-5};
    for (size_t i = 0; i < 2; i++) {
        planted_mixture planted = plant_mixture(6, 3, 0, 600, 0, 0, 4);
        double *e = malloc(600 * 6 * sizeof *e);
        unrelu_mixture *m = NULL;
        unrelu_error err = {0};
        assert_non_null(e);
        ur_random_normals(9, 1, 0, 600 * 6, e);
        for (size_t j = 0; j < 600 * 6; j++)
            planted.x[j] *= 1 + relative[i] * e[j];
        unrelu_status status = try_unmix(planted.x, 600, 6, NULL, NULL, &m, &err);
        if (i == 0)
            must(status, &err);
        else
            assert_true(status == UNRELU_EDATA && strstr(err.text, "that is no noise"));
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
        free(e);
    }
}

/* two units that differ by `apart` of their deviation, or one of them varies by that */
static void units_are_dependent_below_1e_7(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    const double apart[] = {1e-8, 1e-6};
    double z[ROWS * 2], M[ROWS * 2];
    ur_random_normals(3, 1, 0, ROWS * 2, z);
    for (size_t i = 0; i < 2; i++) {
        ur_latent found;
        unrelu_error err = {0};
        for (size_t r = 0; r < ROWS; r++) {
            M[2 * r] = 9 + z[2 * r];
            M[2 * r + 1] = 9 + z[2 * r] + apart[i] * z[2 * r + 1];
        }
        must(ur_unmix_latent(ROWS, 2, M, &found, &err), &err);
        assert_int_equal(found.samples > 0, i == 0);
    }
}

/* ---- the verdict of one unit ---- */

static unrelu_verdict judge(double residual, double negative)
{
    unrelu_unmix_options o = asking_for(1);
    unrelu_mixture *m = ur_mixture_new(NULL);
    unrelu_gaussian *hidden;
    unrelu_gaussian_plant_options layer = {
        .size = sizeof layer, .d = 1, .k = 1, .kappa = 1, .seed = 1};
    unrelu_error err = {0};
    double M[8] = {1, 2, 3, 0, 1, 2, 0, 1};
    ur_cone c = {.n = 8, .p = 1, .tolerance = 1e-8};
    ur_normals normals = {.count = 1};
    ur_unmix w = {.options = &o, .model = m};
    assert_non_null(m);
    m->d = m->p = 1;
    m->residual = residual;
    m->negative = negative;
    must(unrelu_gaussian_plant(&layer, &hidden, &err), &err);
    must(ur_mixture_hold(m, hidden, &err), &err);
    hidden->positive = (double[]){6};
    must(ur_unmix_judge(&w, &c, &normals, NULL, M, &err), &err);
    unrelu_verdict verdict = m->verdict;
    assert_int_equal(warns(m, "uncertified"), verdict != UNRELU_VERDICT_EXACT);
    unrelu_mixture_free(m);
    return verdict;
}

static void a_residual_up_to_1e_9_is_exact(void **state)
{
    (void)state;
    assert_int_equal(judge(3e-10, 3e-9), UNRELU_VERDICT_EXACT);
    assert_int_equal(judge(3e-9, 3e-9), UNRELU_VERDICT_UNCERTIFIED);
    assert_int_equal(judge(3e-10, 3e-8), UNRELU_VERDICT_UNCERTIFIED);
}

/* Units 0 and 1 are off together in a few samples, and 2 in all of these, which by the law of three
 * independent units has the chance 2^-few; 27 e^5 = 4007 lies between 2^10 and 2^16. */
static void a_missing_ridge_is_an_alarm_below_a_chance_of_1_in_4007(void **state)
{
    (void)state;
    enum { ROWS = 200, P = 3 };
    unrelu_unmix_options o = asking_for(P);
    for (int alarm = 0; alarm < 2; alarm++) {
        double M[ROWS * P], noise[P * P] = {0}, same[P] = {1, 1, 1};
        unrelu_error err = {0};
        unrelu_mixture *m = ur_mixture_new(NULL);
        ur_unmix w = samples_with(&o, m, same, P, 0);
        ur_cone cone = {.n = ROWS, .d = P, .p = P, .noise = noise};
        ur_normals normals = {.count = P};
        ur_units units = {.length = same, .deviation = (double[]){1e-3, 1e-3, 1e-3}};
        unrelu_gaussian *hidden = ur_gaussian_new(&err);
        must(ur_mixture_hold(m, hidden, &err), &err);
        must(ur_gaussian_allocate(hidden, P, 1, &err), &err);
        for (size_t k = 0; k < P; k++) {
            hidden->scale[k] = hidden->correlation[k * P + k] = 1;
            hidden->positive[k] = ROWS / 2;
        }
        m->min_off = ROWS;
        for (size_t i = 0; i < ROWS; i++) {
            int together = i < (alarm ? 16 : 10);
            M[i * P] = !together && i % 8 >= 2;
            M[i * P + 1] = !together && (i % 8 < 2 || i % 8 >= 4);
            M[i * P + 2] = !together && i / 8 % 2;
        }
        must(ur_unmix_judge(&w, &cone, &normals, &units, M, &err), &err);
        assert_int_equal(m->verdict, alarm ? UNRELU_VERDICT_AMBIGUOUS : UNRELU_VERDICT_NOISY);
        unrelu_mixture_free(m);
    }
}

/* ---- polishing ---- */

/* Samples (x, h) in the plane whose facet h = 0 is polished from a normal that is turned by angle,
 * with noise of deviation sigma in both coordinates: how far it is turned in the end. response gets
 * the inverse of G along the facet, score (n) what each sample does. */
static double polished(size_t n, const double *xh, double sigma, double angle, double *response,
                       double *score)
{
    double U[] = {sin(angle), cos(angle), 1, 0};
    double noise[] = {sigma * sigma, 0, 0, sigma * sigma}, inverse[8],
           *scores = malloc(2 * n * sizeof *scores);
    ur_cone c = {.n = n, .p = 2, .y = (double *)xh, .noise = noise};
    unrelu_error err = {0};
    must(ur_unmix_polish(&c, NULL, U, &(ur_influence){inverse, scores}, &err), &err);
    *response = inverse[0];
    for (size_t i = 0; score && i < n; i++)
        score[i] = scores[2 * i];
    free(scores);
    return U[0];
}

/* Samples that are just on have the density Phi(h / sigma), here as x on a grid of h; others lie on
 * the facet, evenly to both sides. */
static void samples_that_are_just_on_do_not_turn_a_facet(void **state)
{
    (void)state;
    enum { GRID = 1800, ON = 2000 };
    const double sigma = .01;
    double *xh = malloc(2 * (GRID + ON) * sizeof *xh), response;
    for (size_t i = 0; i < GRID; i++) {
        double t = -9 + .01 * ((double)i + .5);
        xh[2 * i] = .5 * erfc(-t * M_SQRT1_2);
        xh[2 * i + 1] = sigma * t;
    }
    for (size_t i = 0; i < ON; i++) {
        xh[2 * (GRID + i)] = 1;
        xh[2 * (GRID + i) + 1] = sigma * (-2 + 4 * ((double)i + .5) / ON);
    }
    assert_true(fabs(polished(GRID + ON, xh, sigma, 0, &response, NULL)) < 1e-3 * sigma);
    assert_true(response > 0); /* not given up */
    free(xh);
}

/* Samples at x = 1, evenly to both sides of the facet. What is cut at 3 deviations makes the mean
 * of psi rise by less than the share of the samples that is in the band. */
static void a_facet_is_polished_to_a_millionth_of_the_noise(void **state)
{
    (void)state;
    enum { ON = 300 };
    const double sigma = .01, pi = acos(-1), inside = erf(3 * M_SQRT1_2);
    double xh[2 * ON], response;
    for (size_t i = 0; i < ON; i++) {
        xh[2 * i] = 1;
        xh[2 * i + 1] = sigma * (-1.5 + 3 * ((double)i + .5) / ON);
    }
    assert_true(fabs(polished(ON, xh, sigma, .5 * sigma, &response, NULL)) < 1e-6 * sigma);
    double slope = (inside - 6 * exp(-4.5) / sqrt(2 * pi)) / inside;
    assert_true(fabs(1 / (response * ON) - slope) < 1e-4);
}

/* x of one sample is as large as all others together, so that the facet goes through it */
static void a_sample_alone_on_its_facet_keeps_a_twentieth(void **state)
{
    (void)state;
    enum { ON = 101 };
    const double sigma = .01;
    double xh[2 * ON], score[ON], response;
    for (size_t i = 0; i < ON; i++) {
        xh[2 * i] = i ? 1 : 100;
        xh[2 * i + 1] = i ? sigma : 0;
    }
    double turned = polished(ON, xh, sigma, 0, &response, score);
    double h = xh[0] * turned;
    assert_true(h < -.5 * sigma);
    assert_true(fabs(score[0] - h / (1 - .95)) < 1e-9 * sigma);
}

/* from a normal with this cosine to the facet */
static void a_facet_that_turns_by_more_than_a_cosine_of_09_is_another(void **state)
{
    (void)state;
    enum { ON = 100 };
    double xh[2 * ON], response;
    for (size_t i = 0; i < ON; i++) {
        xh[2 * i] = 1 + (double)i / ON;
        xh[2 * i + 1] = 0;
    }
    assert_true(fabs(polished(ON, xh, .5, acos(.95), &response, NULL)) < 1e-6);
    assert_true(response > 0);
    assert_true(polished(ON, xh, .5, acos(.85), &response, NULL) == sin(acos(.85)));
    assert_true(isnan(response));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_of_a_low_rank_is_tried_from_1e_14_on),
        cmocka_unit_test(noise_is_high_from_3_percent_on_and_too_much_from_5),
        cmocka_unit_test(noise_up_to_four_deviations_of_the_rounding_is_rounding),
        cmocka_unit_test(singular_values_are_flat_up_to_1_1_times_what_noise_makes),
        cmocka_unit_test(noise_is_uneven_from_1_15_times_what_it_makes_on),
        cmocka_unit_test(a_gap_of_100_is_decisive_and_one_below_2_is_doubtful),
        cmocka_unit_test(a_unit_counts_from_two_samples_on),
        cmocka_unit_test(singular_values_below_1e_10_of_the_first_are_rounding),
        cmocka_unit_test(a_unit_is_off_below_1e_8_of_the_sample),
        cmocka_unit_test(with_noise_a_unit_is_off_up_to_3_deviations_and_beyond_from_6_on),
        cmocka_unit_test(with_noise_a_unit_is_on_from_4_deviations_on),
        cmocka_unit_test(a_model_may_leave_4_deviations_of_the_noise),
        cmocka_unit_test(noise_that_grows_with_the_samples_is_refused_from_1e_6_on),
        cmocka_unit_test(units_are_dependent_below_1e_7),
        cmocka_unit_test(a_residual_up_to_1e_9_is_exact),
        cmocka_unit_test(a_missing_ridge_is_an_alarm_below_a_chance_of_1_in_4007),
        cmocka_unit_test(samples_that_are_just_on_do_not_turn_a_facet),
        cmocka_unit_test(a_facet_is_polished_to_a_millionth_of_the_noise),
        cmocka_unit_test(a_sample_alone_on_its_facet_keeps_a_twentieth),
        cmocka_unit_test(a_facet_that_turns_by_more_than_a_cosine_of_09_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
