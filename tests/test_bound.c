/* SPDX-License-Identifier: Apache-2.0 */
/* The Cramer-Rao bound. The oracle differentiates the logarithm of the pair's likelihood by
 * differences, and integrates by a grid or by drawing. */
#include "planted.h"

#include "base/random.h"
#include "law/bivariate.h"
#include "law/information.h"
#include "law/normal.h"
#include "unrelu/unrelu.h"

enum { P = UR_PAIR_PARAMETERS };

/* ---- the likelihood ---- */

static long double log_cdf(long double x)
{
    return logl(erfcl(-x * sqrtl(0.5L)) / 2);
}

static long double log_pdf(long double z)
{
    return -(z * z + logl(2 * acosl(-1))) / 2;
}

/* t: b1, s1, b2, s2, rho */
static long double log_likelihood(const double t[P], double x1, double x2)
{
    long double rho = t[UR_RHO], o = sqrtl(1 - rho * rho);
    long double z1 = (x1 - (long double)t[UR_B1]) / t[UR_S1];
    long double z2 = (x2 - (long double)t[UR_B2]) / t[UR_S2];
    if (x1 == 0 && x2 == 0)
        return logl(ur_bivariate_normal((double)z1, (double)z2, (double)rho));
    if (x2 == 0)
        return log_pdf(z1) - logl(t[UR_S1]) + log_cdf((z2 - rho * z1) / o);
    if (x1 == 0)
        return log_pdf(z2) - logl(t[UR_S2]) + log_cdf((z1 - rho * z2) / o);
    return log_pdf(z1) + log_pdf((z2 - rho * z1) / o) - logl(t[UR_S1] * t[UR_S2] * o);
}

static void scores(const double t[P], double x1, double x2, double out[P])
{
    const double h = 1e-3;
    for (int i = 0; i < P; i++) {
        long double f[4];
        for (int k = 0; k < 4; k++) {
            static const int step[4] = {-2, -1, 1, 2};
            double moved[P];
            memcpy(moved, t, sizeof moved);
            moved[i] += step[k] * h;
            f[k] = log_likelihood(moved, x1, x2);
        }
        out[i] = (double)((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h));
    }
}

static void add(double I[P][P], const double t[P], double x1, double x2, double weight)
{
    double s[P];
    scores(t, x1, x2, s);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++)
            I[i][j] += weight * s[i] * s[j];
}

/* Boole's rule; where 0 is the left end it stands for the smallest positive value */
enum { PANELS = 36, NODES = 4 * PANELS + 1 };

static void grid(double b, double *x, double *w)
{
    static const int boole[4] = {14, 32, 12, 32};
    double low = fmax(1e-12, b - 9), h = (b + 9 - low) / (NODES - 1);
    for (int i = 0; i < NODES; i++) {
        x[i] = low + i * h;
        w[i] = (i == 0 || i == NODES - 1 ? 7 : boole[i % 4]) * 2 * h / 45;
    }
}

static void brute_information(const double t[P], double I[P][P])
{
    double x1[NODES], w1[NODES], x2[NODES], w2[NODES];
    memset(I, 0, P * sizeof *I);
    grid(t[UR_B1], x1, w1);
    grid(t[UR_B2], x2, w2);
    for (int i = 0; i < NODES; i++) {
        add(I, t, x1[i], 0, w1[i] * (double)expl(log_likelihood(t, x1[i], 0)));
        add(I, t, 0, x2[i], w2[i] * (double)expl(log_likelihood(t, 0, x2[i])));
        for (int j = 0; j < NODES; j++) {
            double density = (double)expl(log_likelihood(t, x1[i], x2[j]));
            if (density > 1e-18)
                add(I, t, x1[i], x2[j], w1[i] * w2[j] * density);
        }
    }
    add(I, t, 0, 0, (double)expl(log_likelihood(t, 0, 0)));
}

static void assert_same_information(double g1, double g2, double rho, double I[P][P],
                                    double tolerance)
{
    double J[P][P];
    ur_information_pair(g1, g2, rho, J);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++)
            if (fabs(I[i][j] - J[i][j]) > tolerance * sqrt(I[i][i] * I[j][j]))
                fail_msg("(%g, %g, %g) entry %d %d: %.12g, expected %.12g", g1, g2, rho, i, j,
                         J[i][j], I[i][j]);
}

static void pair_information_is_that_of_the_likelihood(void **state)
{
    (void)state;
    static const double cases[][3] = {{0, 0, 0},      {0.7, -0.4, 0.3}, {-1, 1.5, -0.6},
                                      {1, 0.2, 0.85}, {-0.5, -1, 0.5},  {3, 0, -0.3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double g1 = cases[c][0], g2 = cases[c][1], rho = cases[c][2], I[P][P];
        double t[P] = {g1, 1, g2, 1, rho};
        brute_information(t, I);
        assert_same_information(g1, g2, rho, I, 2e-7);
    }
}

static void pair_information_is_that_of_drawn_samples(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    double g1 = 0.4, g2 = -0.3, rho = 0.97, I[P][P] = {{0}}, *z = malloc(2 * DRAWS * sizeof *z);
    double t[P] = {g1, 1, g2, 1, rho};
    assert_non_null(z);
    ur_random_normals(1, 1, 0, 2 * DRAWS, z);
    for (int i = 0; i < DRAWS; i++) {
        double z1 = z[2 * i], z2 = rho * z1 + sqrt(1 - rho * rho) * z[2 * i + 1];
        add(I, t, fmax(0, z1 + g1), fmax(0, z2 + g2), 1.0 / DRAWS);
    }
    assert_same_information(g1, g2, rho, I, 0.05); /* a few times sqrt(3 / DRAWS) */
    free(z);
}

/* ---- bounds ---- */

static double tau(double g)
{
    double phi = ur_normal_pdf(g), Phi = ur_normal_cdf(g);
    return Phi - g * phi + phi * phi / ur_normal_cdf(-g);
}

static void uncorrelated_pairs_have_the_closed_form(void **state)
{
    (void)state;
    for (double g = -4; g <= 4; g += 0.5)
        for (double f = -3; f <= 3; f += 0.75) {
            double rho, product, want = 1 / (tau(g) * tau(f));
            ur_information_bounds(g, f, 0, &rho, &product);
            assert_near(rho, want, 1e-9 * want);
            assert_near(product, want, 1e-9 * want);
        }
}

/* without censoring: (1 - rho^2)^2 and 1 + rho^2 */
static void uncensored_pairs_have_the_classical_bound(void **state)
{
    (void)state;
    static const double rhos[] = {-0.9999, -0.99, -0.7, -0.2, 0, 0.1, 0.5, 0.9, 0.99, 0.9999};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        double rho, product, r = rhos[i], o2 = (1 - r) * (1 + r);
        ur_information_bounds(20, 9, r, &rho, &product);
        assert_near(rho, o2 * o2, 1e-15 + 1e-10 * o2);
        assert_near(product, 1 + r * r, 1e-10 / o2);
    }
}

/* influence functions simulated with 300000 draws: 1 to 2 % of noise, three decimals */
static void bounds_are_the_simulated_ones(void **state)
{
    (void)state;
    static const double rhos[] = {-0.8, 0, 0.5, 0.9};
    static const struct {
        double g1, g2, variance[4];
    } table[] = {
        {-1, -1, {NAN, 4.575, 2.404, 0.201}},  {0, 0, {0.288, 1.493, 0.881, 0.066}},
        {1, 1, {0.146, 1.071, 0.610, 0.041}},  {3, 3, {0.129, 1.020, 0.564, 0.036}},
        {-1, 0, {1.001, 2.606, 1.532, 0.130}}, {-1, 1, {0.459, 2.236, 1.373, 0.114}},
        {0, 1, {0.193, 1.262, 0.736, 0.054}},  {-1, 3, {0.362, 2.133, 1.339, 0.111}},
        {0, 3, {0.176, 1.225, 0.710, 0.050}},  {1, 3, {0.137, 1.024, 0.589, 0.038}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int k = 0; k < 4; k++) {
            double rho, product, want = table[i].variance[k];
            ur_information_bounds(table[i].g1, table[i].g2, rhos[k], &rho, &product);
            if (!isnan(want))
                assert_near(rho, want, 0.03 * want + 0.0005);
        }
}

/* sqrt(n) times the deviations of b and scale */
static void margins_have_the_tabulated_bounds(void **state)
{
    (void)state;
    static const double table[][3] = {{-2, 12.64, 5.98}, {-1, 2.906, 2.136},  {-0.5, 1.701, 1.476},
                                      {0, 1.232, 1.114}, {0.5, 1.071, 0.913}, {1, 1.021, 0.802},
                                      {2, 1.001, 0.720}, {4, 1.000, 0.707}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double V[3];
        ur_information_margin(table[i][0], V);
        assert_near(sqrt(V[0]), table[i][1], table[i][1] > 10 ? 0.005 : 0.0005);
        assert_near(sqrt(V[2]), table[i][2], table[i][1] > 10 ? 0.005 : 0.0005);
    }
}

/* ---- the public function ---- */

enum { D = 4 };

typedef struct {
    double b[D], scale[D], sigma[D * D], rho[D * D];
} bounds;

static bounds bound_of(const unrelu_gaussian *m, double n)
{
    bounds x;
    unrelu_error err = {0};
    must(unrelu_gaussian_bound(m, n, x.b, x.scale, x.sigma, x.rho, &err), &err);
    return x;
}

static unrelu_gaussian *planted(void)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = D;
    o.kappa = 4;
    o.seed = 3;
    return plant(o);
}

static void a_fit_of_many_samples_has_the_errors_of_the_bound(void **state)
{
    (void)state;
    enum { N = 200000 };
    unrelu_gaussian *truth = planted();
    double *x = draw(truth, N, 1);
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_gaussian *model = fit(x, N, D, &o);
    bounds at = bound_of(truth, N);
    for (size_t i = 0; i < D; i++) {
        assert_near(model->b_se[i] / at.b[i], 1, 0.02);
        assert_near(model->scale_se[i] / at.scale[i], 1, 0.02);
        assert_near(model->sigma_se[i * D + i] / at.sigma[i * D + i], 1, 0.03);
        assert_true(at.rho[i * D + i] == 0);
        for (size_t j = 0; j < i; j++) {
            assert_near(model->correlation_se[i * D + j] / at.rho[i * D + j], 1.01, 0.04);
            assert_near(model->sigma_se[i * D + j] / at.sigma[i * D + j], 1.01, 0.04);
            assert_true(at.rho[i * D + j] == at.rho[j * D + i]);
            assert_true(at.sigma[i * D + j] == at.sigma[j * D + i]);
        }
    }
    unrelu_gaussian_free(model);
    unrelu_gaussian_free(truth);
    free(x);
}

static void units_limits_and_counts_only_rescale(void **state)
{
    (void)state;
    unrelu_gaussian *m = planted();
    bounds at = bound_of(m, 100), more = bound_of(m, 10000);
    double limit[D] = {3, 3, 3, 3};
    for (size_t i = 0; i < D; i++) { /* x -> 8 x + 3, censored at 3 */
        m->b[i] = 8 * m->b[i] + 3;
        m->scale[i] *= 8;
    }
    m->limit = limit;
    bounds moved = bound_of(m, 100);
    m->limit = NULL;
    for (size_t i = 0; i < D; i++) {
        assert_near(more.b[i], at.b[i] / 10, 1e-15);
        assert_near(moved.b[i], 8 * at.b[i], 1e-12);
        assert_near(moved.scale[i], 8 * at.scale[i], 1e-12);
        for (size_t j = 0; j < D; j++) {
            assert_near(moved.sigma[i * D + j], 64 * at.sigma[i * D + j], 1e-11);
            assert_near(moved.rho[i * D + j], at.rho[i * D + j], 1e-12);
        }
    }
    unrelu_gaussian_free(m);
}

static void what_has_no_bound_is_not_a_number(void **state)
{
    (void)state;
    unrelu_gaussian *m = planted();
    m->scale[0] = 0;
    m->b[1] = -100 * m->scale[1];
    m->correlation[2 * D + 3] = m->correlation[3 * D + 2] = 1;
    bounds at = bound_of(m, 100);
    assert_true(isnan(at.rho[1]) && isnan(at.rho[2]) && isnan(at.sigma[0 * D + 3]));
    assert_true(isnan(at.b[0]) && isnan(at.scale[0]));
    assert_true(isnan(at.b[1]) && isnan(at.rho[1 * D + 2]));
    assert_true(isnan(at.rho[2 * D + 3]) && isnan(at.sigma[2 * D + 3]));
    assert_true(isfinite(at.b[2]) && isfinite(at.scale[3]));
    unrelu_gaussian_free(m);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    unrelu_gaussian *m = planted(), empty = {0};
    unrelu_error err = {0};
    double b[D];
    assert_int_equal(unrelu_gaussian_bound(m, 0, b, NULL, NULL, NULL, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the number of samples must be above 0, not 0");
    assert_int_equal(unrelu_gaussian_bound(m, NAN, b, NULL, NULL, NULL, &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_gaussian_bound(&empty, 9, b, NULL, NULL, NULL, &err), UNRELU_EUSAGE);
    m->b[2] = NAN;
    assert_int_equal(unrelu_gaussian_bound(m, 9, b, NULL, NULL, NULL, NULL), UNRELU_EDATA);
    m->b[2] = 0;
    assert_int_equal(unrelu_gaussian_bound(m, 9, NULL, NULL, NULL, NULL, &err), UNRELU_OK);
    unrelu_gaussian_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pair_information_is_that_of_the_likelihood),
        cmocka_unit_test(pair_information_is_that_of_drawn_samples),
        cmocka_unit_test(uncorrelated_pairs_have_the_closed_form),
        cmocka_unit_test(uncensored_pairs_have_the_classical_bound),
        cmocka_unit_test(bounds_are_the_simulated_ones),
        cmocka_unit_test(margins_have_the_tabulated_bounds),
        cmocka_unit_test(a_fit_of_many_samples_has_the_errors_of_the_bound),
        cmocka_unit_test(units_limits_and_counts_only_rescale),
        cmocka_unit_test(what_has_no_bound_is_not_a_number),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
