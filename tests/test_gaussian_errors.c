/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a fit of one pass that hold whatever the law, against fits that leave out one row after
 * the other and know of no law. */
#include "base/random.h"
#include "gaussian/problem/fit.h"
#include "planted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, D = 4 };

static unrelu_gaussian *fit_rows(double *x, unrelu_gaussian_options o, int threads)
{
    unrelu_source *source = NULL;
    unrelu_gaussian *m = NULL;
    unrelu_error err = {0};
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = threads;
    must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
    must(unrelu_gaussian_fit(source, &o, &exec, &m, &err), &err);
    unrelu_source_close(source);
    return m;
}

/* Squares of normals, which are far from one: three with zeros, correlated, and one without. Some
 * cells are missing. */
static double *draw_skewed(void)
{
    unrelu_gaussian_plant_options plant;
    unrelu_gaussian_plant_options_init(&plant, sizeof plant);
    plant.d = D;
    plant.kappa = 4;
    plant.bias = UNRELU_BIAS_FIXED;
    plant.bias_value = .3;
    plant.seed = 3;
    unrelu_gaussian *truth = NULL;
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    double *x = malloc(N * D * sizeof *x);
    assert_non_null(x);
    must(unrelu_gaussian_plant(&plant, &truth, &err), &err);
    must(unrelu_gaussian_sampler(truth, 5, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, N, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(truth);
    for (size_t i = 0; i < N * D; i++) {
        x[i] *= x[i] * (1 + (double)(i % D));
        if (i % D == D - 1)
            x[i] += 50; /* its limit is far below */
        if (i % 37 == 5)
            x[i] = NAN;
    }
    return x;
}

typedef struct {
    double b[D], scale[D], both[D], sigma[D * D], rho[D * D];
} squares;

static void add(squares *s, const unrelu_gaussian *without, const unrelu_gaussian *m)
{
    for (size_t i = 0; i < D; i++) {
        double b = without->b[i] - m->b[i], scale = without->scale[i] - m->scale[i];
        s->b[i] += b * b;
        s->scale[i] += scale * scale;
        s->both[i] += b * scale;
    }
    for (size_t i = 0; i < D * D; i++) {
        s->sigma[i] += pow(without->sigma[i] - m->sigma[i], 2);
        s->rho[i] += pow(without->correlation[i] - m->correlation[i], 2);
    }
}

static void robust_errors_are_those_of_the_jackknife(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    double *x = draw_skewed();
    unrelu_gaussian *model = fit_rows(x, o, 1);
    o.errors = UNRELU_ERRORS_ROBUST;
    unrelu_gaussian *m = fit_rows(x, o, 1);
    squares s = {0};
    o.errors = UNRELU_ERRORS_MODEL;
    for (size_t row = 0; row < N; row++) {
        double kept[D];
        memcpy(kept, x + row * D, sizeof kept);
        for (size_t j = 0; j < D; j++)
            x[row * D + j] = NAN;
        unrelu_gaussian *without = fit_rows(x, o, 1);
        memcpy(x + row * D, kept, sizeof kept);
        add(&s, without, m);
        unrelu_gaussian_free(without);
    }
    assert_string_equal(model->errors, "model");
    assert_string_equal(m->errors, "robust");
    assert_true(model->scale_se[0] < .8 * m->scale_se[0]);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b_se[i] / sqrt(s.b[i]), 1, .05);
        assert_near(m->scale_se[i] / sqrt(s.scale[i]), 1, .05);
        assert_near((m->b_scale_cov[i] - s.both[i]) / sqrt(s.b[i] * s.scale[i]), 0, .1);
        for (size_t j = 0; j <= i; j++) {
            size_t at = i * D + j;
            assert_near(m->sigma_se[at] / sqrt(s.sigma[at]), 1, .05);
            if (j < i)
                assert_near(m->correlation_se[at] / sqrt(s.rho[at]), 1, .05);
        }
    }
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(model);
    free(x);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.errors = UNRELU_ERRORS_ROBUST;
    double *x = draw_skewed();
    unrelu_gaussian *one = fit_rows(x, o, 1), *seven = fit_rows(x, o, 7);
    assert_memory_equal(one->b_se, seven->b_se, sizeof(double[D]));
    assert_memory_equal(one->sigma_se, seven->sigma_se, sizeof(double[D * D]));
    assert_memory_equal(one->correlation_se, seven->correlation_se, sizeof(double[D * D]));
    unrelu_gaussian_free(seven);
    unrelu_gaussian_free(one);
    free(x);
}

/* sums of a pass and cells one by one: the same margins, the same rows left out */
static void both_routes_have_the_same_errors_of_margins(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    o.errors = UNRELU_ERRORS_ROBUST;
    double *x = draw_skewed();
    unrelu_gaussian *pass = fit_rows(x, o, 1);
    o.angles = UNRELU_ANGLES_LIKELIHOOD;
    unrelu_gaussian *cells = fit_rows(x, o, 1);
    for (size_t i = 0; i < D; i++) {
        assert_near(pass->b_se[i] / cells->b_se[i], 1, 1e-6);
        assert_near(pass->scale_se[i] / cells->scale_se[i], 1, 1e-6);
        assert_near(pass->b_scale_cov[i] / cells->b_scale_cov[i], 1, 1e-6);
    }
    unrelu_gaussian_free(cells);
    unrelu_gaussian_free(pass);
    free(x);
}

/* Values of Student's law with 3 degrees of freedom, whose fourth moment is infinite, and normal
 * ones, in both routes: what is wrong is said of the former alone. */
static void heavy_tails_are_named(void **state)
{
    (void)state;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    double *x = malloc(N * D * sizeof *x), z[4];
    assert_non_null(x);
    for (size_t i = 0; i < N * D; i++) {
        ur_random_normals(9, 1, 4 * i, 4, z);
        double chi = i % D < 2 ? sqrt((z[1] * z[1] + z[2] * z[2] + z[3] * z[3]) / 3) : 1;
        x[i] = fmax(0, .5 + z[0] / chi);
    }
    for (int cells = 0; cells < 2; cells++) {
        o.errors = UNRELU_ERRORS_ROBUST;
        o.angles = cells ? UNRELU_ANGLES_LIKELIHOOD : UNRELU_ANGLES_H6;
        unrelu_gaussian *m = fit_rows(x, o, 1);
        int warned = 0;
        for (size_t i = 0; i < D; i++)
            assert_int_equal((m->flags[i] & UNRELU_FLAG_HEAVY_TAILS) != 0, i < 2);
        for (size_t i = 0; i < m->warning_count; i++)
            warned += strcmp(m->warnings[i].code, "heavy-tails") == 0;
        assert_int_equal(warned, 1);
        unrelu_gaussian_free(m);
    }
    free(x);
}

/* of `rows` rows that move a scale by 1, and no other that does */
static void errors_hang_on_few_rows_by_their_number_and_share(void **state)
{
    (void)state;
    assert_true(ur_fit_heavy_tails(9.9, 9.9, 1000));
    assert_false(ur_fit_heavy_tails(10.1, 10.1, 1000));
    assert_true(ur_fit_heavy_tails(5, 5, 301));
    assert_false(ur_fit_heavy_tails(5, 5, 299));
    assert_false(ur_fit_heavy_tails(0, 0, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robust_errors_are_those_of_the_jackknife),
        cmocka_unit_test(both_routes_have_the_same_errors_of_margins),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(heavy_tails_are_named),
        cmocka_unit_test(errors_hang_on_few_rows_by_their_number_and_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
