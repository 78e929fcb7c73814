/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "law/margin.h"
#include "law/normal.h"
#include "law/pair.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const double some_gammas[] = {-2, -1, -0.3, 0, 0.6, 1, 2.5, 4, 8};
static const double some_rhos[] = {0,    0.2,  -0.4, 0.5,  -0.75, 0.79,  0.85,
                                   -0.9, 0.94, 0.96, 0.99, -0.97, 0.999, -0.99};
enum { GAMMAS = sizeof some_gammas / sizeof *some_gammas };
enum { RHOS = sizeof some_rhos / sizeof *some_rhos };

static void near(double found, double want, double tolerance, const char *what)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%s: %.17g, expected %.17g within %g", what, found, want, tolerance);
}

/* ---- the oracle: E[v1^p v2^q; both > 0] by Boole's rule over z1, with the integral over z2 in
 * closed form, in long double and from erfcl alone ---- */

static long double cdf(long double x)
{
    return 0.5L * erfcl(-x * sqrtl(0.5L));
}

static long double pdf(long double x)
{
    return expl(-0.5L * x * x) / sqrtl(2 * acosl(-1));
}

/* E[(u2 - a2)^q; u2 > 0 | z1], q = 0, 1, 2, u2 ~ N(m, o^2) */
static long double inner(long double m, long double o, long double a, int q)
{
    long double P = cdf(m / o), f = o * pdf(m / o), u1 = m * P + f, u2 = m * u1 + o * o * P;
    return q == 0 ? P : q == 1 ? u1 - a * P : u2 - 2 * a * u1 + a * a * P;
}

static long double integrand(long double z, double g1, double g2, double rho, int p, int q)
{
    long double o = sqrtl((1 - (long double)rho) * (1 + (long double)rho));
    long double v = z + g1 - fmax(g1, 0);
    return powl(v, p) * pdf(z) * inner(g2 + rho * z, o, fmax(g2, 0), q);
}

/* from -g1 to 11, finer over the step of the inner integral at z = -g2 / rho, whose
 * width is o */
static double brute(double g1, double g2, double rho, int p, int q)
{
    long double low = fmax(-g1, -11), high = 11, total = 0;
    long double o = sqrtl((1 - (long double)rho) * (1 + (long double)rho));
    long double centre = rho == 0 ? 0 : -g2 / (long double)rho;
    long double cut[4] = {low, fminl(high, fmaxl(low, centre - 14 * o)),
                          fminl(high, fmaxl(low, centre + 14 * o)), high};
    for (int part = 0; part < 3; part++) {
        enum { PANELS = 300 };
        static const int boole[4] = {14, 32, 12, 32};
        long double h = (cut[part + 1] - cut[part]) / (4 * PANELS), sum = 0;
        if (h <= 0)
            continue;
        for (int i = 0; i <= 4 * PANELS; i++) {
            int weight = i == 0 || i == 4 * PANELS ? 7 : boole[i % 4];
            sum += weight * integrand(cut[part] + i * h, g1, g2, rho, p, q);
        }
        total += sum * 2 * h / 45;
    }
    return (double)total;
}

static void orthant_probability_agrees_with_brute_quadrature(void **state)
{
    (void)state;
    for (int r = 0; r < RHOS; r++)
        for (int i = 0; i < GAMMAS; i++)
            for (int j = 0; j < GAMMAS; j++) {
                double g1 = some_gammas[i], g2 = some_gammas[j], rho = some_rhos[r];
                near(ur_bivariate_normal(g1, g2, rho), brute(g1, g2, rho, 0, 0), 1e-14, "Phi2");
            }
}

static void orthant_probability_has_its_limits(void **state)
{
    (void)state;
    for (double g = -3; g < 3; g += 0.37)
        for (double f = -3; f < 3; f += 0.41) {
            double P = ur_normal_cdf(g), Q = ur_normal_cdf(f);
            near(ur_bivariate_normal(g, f, 1), fmin(P, Q), 1e-16, "rho 1");
            near(ur_bivariate_normal(g, f, -1), fmax(0, P + Q - 1), 3e-16, "rho -1");
            near(ur_bivariate_normal(g, f, 0), P * Q, 1e-16, "rho 0");
            near(ur_bivariate_normal(g, f, 1 - 1e-13), fmin(P, Q), 1e-6, "near 1");
            for (double r = -0.995; r < 1; r += 0.199) /* two ways to an orthant */
                near(ur_bivariate_normal(g, f, r) + ur_bivariate_normal(g, -f, -r), P, 1e-15,
                     "sum");
            near(ur_bivariate_normal(g, INFINITY, 0.97), P, 1e-15, "infinite");
        }
    for (double r = -1; r <= 1; r += 0.0625)
        near(ur_bivariate_normal(0, 0, r), 0.25 + asin(r) / (2 * M_PI), 1e-15, "arcsine");
    assert_true(isnan(ur_bivariate_normal(NAN, 0, 0)) && isnan(ur_bivariate_normal(0, 0, 1.1)));
    /* a step of the integral is the difference of its ends */
    near(ur_bivariate_move(0.3, -1, 0.5, 0.6),
         ur_bivariate_normal(0.3, -1, 0.6) - ur_bivariate_normal(0.3, -1, 0.5), 1e-15, "move");
}

static void expectations_agree_with_brute_quadrature(void **state)
{
    (void)state;
    static const int power[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}};
    for (int r = 0; r < RHOS; r += 2)
        for (int i = 0; i < GAMMAS; i++)
            for (int j = 0; j < GAMMAS; j += 2) {
                double g1 = some_gammas[i], g2 = some_gammas[j], rho = some_rhos[r], E[6];
                ur_pair_margin m1, m2;
                ur_pair_margin_set(g1, &m1);
                ur_pair_margin_set(g2, &m2);
                ur_pair_expect(&m1, &m2, rho, E);
                for (int k = 0; k < 6; k++)
                    near(E[k], brute(g1, g2, rho, power[k][0], power[k][1]), 1e-13, "E");
            }
}

/* ---- population moments in, planted rho out ---- */

static ur_pair h6_at(double g1, double g2, double rho, double n)
{
    ur_pair_margin m1, m2;
    double E[6], margins_n[2] = {n, n};
    ur_pair_margin_set(g1, &m1);
    ur_pair_margin_set(g2, &m2);
    ur_pair_expect(&m1, &m2, rho, E);
    ur_pair_moments t = {n, E[0], E[1], E[2], E[3], E[4], E[5]};
    ur_pair out;
    ur_pair_six_statistics(&m1, &m2, &t, margins_n, &out);
    return out;
}

static void h6_is_exact_on_population_moments(void **state)
{
    (void)state;
    static const double extreme[] = {0.9999, -0.999, -0.9999, 0.99997};
    for (int r = 0; r < RHOS + 4; r++)
        for (int i = 0; i < GAMMAS; i++)
            for (int j = 0; j < GAMMAS; j++) {
                double rho = r < RHOS ? some_rhos[r] : extreme[r - RHOS];
                double g1 = some_gammas[i], g2 = some_gammas[j];
                if (ur_bivariate_normal(g1, g2, rho) < 1e-6)
                    continue; /* never positive together: nothing to learn from */
                ur_pair out = h6_at(g1, g2, rho, 1e4);
                assert_true(out.converged);
                near(out.rho, rho, 1e-10, "rho");
                near(out.start, rho, 1e-4, "start");
                assert_true(out.rho_se > 0 && out.product_se > 0);
            }
}

static void h6_sits_on_the_cramer_rao_bound(void **state)
{
    (void)state;
    /* g1, g2, rho, n Var(rho) of the bound, efficiency: from a simulation of influence functions
     * with 1 to 2 per cent noise */
    static const double table[][5] = {
        {-1, -1, 0.5, 2.404, 1.00}, {0, 0, -0.8, 0.288, 0.98}, {0, 0, 0.5, 0.881, 1.00},
        {0, 0, 0.9, 0.066, 0.99},   {1, 1, -0.8, 0.146, 0.99}, {3, 3, 0.5, 0.564, 1.00},
        {-1, 1, 0.5, 1.373, 1.00},  {-1, 1, 0.9, 0.114, 0.88}, {0, 3, 0.9, 0.050, 0.94},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const double *row = table[k];
        double se = h6_at(row[0], row[1], row[2], 1).rho_se;
        near(row[3] / (se * se), row[4], 0.03, "efficiency");
    }
    /* rho = 0 in closed form: Var = 1 / (tau1 tau2) */
    for (int i = 0; i < GAMMAS; i++)
        for (int j = 0; j < GAMMAS; j++) {
            double tau[2];
            for (int k = 0; k < 2; k++) {
                double g = some_gammas[k ? j : i], phi = ur_normal_pdf(g);
                tau[k] = ur_normal_cdf(g) - g * phi + phi * ur_normal_hazard(g);
            }
            double se = h6_at(some_gammas[i], some_gammas[j], 0, 1).rho_se;
            near(se * se * tau[0] * tau[1], 1, 1e-9, "information at rho 0");
        }
}

static void h6_without_zeros_is_pearson(void **state)
{
    (void)state;
    enum { N = 300 };
    double x[N], y[N], noise[N];
    ur_random_normals(4, 1, 0, N, x);
    ur_random_normals(4, 2, 0, N, noise);
    static const double rhos[] = {-0.95, -0.3, 0, 0.6, 0.999};
    for (int r = 0; r < 5; r++) {
        double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
        for (int i = 0; i < N; i++) {
            y[i] = rhos[r] * x[i] + sqrt(1 - rhos[r] * rhos[r]) * noise[i];
            mx += x[i] / N;
            my += y[i] / N;
        }
        for (int i = 0; i < N; i++) {
            xx += (x[i] - mx) * (x[i] - mx) / N;
            xy += (x[i] - mx) * (y[i] - my) / N;
            yy += (y[i] - my) * (y[i] - my) / N;
        }
        double pearson = xy / sqrt(xx * yy), margins_n[2] = {N, N};
        ur_pair_margin m;
        ur_pair_margin_set(8, &m);
        ur_pair_moments t = {N, 1, 0, 0, pearson, 1, 1};
        ur_pair out;
        ur_pair_six_statistics(&m, &m, &t, margins_n, &out);
        near(out.rho, pearson, 1e-10 * (1 - pearson * pearson), "rho");
        double one = 1 - pearson * pearson;
        near(out.rho_se / one * sqrt(N), 1, 1e-4, "rho_se");
        near(out.product_se, sqrt((1 + pearson * pearson) / N), 1e-4, "product_se");
    }
}

static void exchanging_the_coordinates_changes_nothing(void **state)
{
    (void)state;
    ur_pair_margin m1, m2;
    ur_pair_margin_set(-0.7, &m1);
    ur_pair_margin_set(1.3, &m2);
    double E[6];
    ur_pair_expect(&m1, &m2, 0.55, E);
    ur_pair_moments t = {900, E[0], E[1] * 1.01, E[2], E[3] * 0.98, E[4], E[5] * 1.02};
    ur_pair_moments swapped = {900, t.gg, t.v2g1, t.v1g2, t.v1v2, t.v2v2g1, t.v1v1g2};
    ur_pair a, b;
    ur_pair_six_statistics(&m1, &m2, &t, (double[]){1000, 1500}, &a);
    ur_pair_six_statistics(&m2, &m1, &swapped, (double[]){1500, 1000}, &b);
    near(a.rho, b.rho, 1e-12, "rho");
    near(a.rho_se, b.rho_se, 1e-12, "rho_se");
    near(a.product_se, b.product_se, 1e-12, "product_se");
    ur_pair_from_signs(&m1, &m2, 900, 0.2, (double[]){1000, 1500}, &a);
    ur_pair_from_signs(&m2, &m1, 900, 0.2, (double[]){1500, 1000}, &b);
    near(a.rho, b.rho, 1e-9, "signs rho");
    near(a.product_se, b.product_se, 1e-9, "signs product_se");
}

static void strange_moments_give_finite_numbers(void **state)
{
    (void)state;
    static const double values[] = {-3, -1e-3, 0, 1e-9, 0.3, 1, 40};
    for (int i = 0; i < GAMMAS + 2; i++)
        for (int j = 0; j < GAMMAS + 2; j++)
            for (int k = 0; k < 7 * 7 * 7; k++) {
                double g1 = i < GAMMAS ? some_gammas[i] : i == GAMMAS ? -30 : 1e6;
                double g2 = j < GAMMAS ? some_gammas[j] : j == GAMMAS ? -30 : 1e6;
                ur_pair_margin m1, m2;
                ur_pair_margin_set(g1, &m1);
                ur_pair_margin_set(g2, &m2);
                ur_pair_moments t = {2,
                                     fmin(1, fabs(values[k % 7])),
                                     values[k / 7 % 7],
                                     values[k / 49],
                                     values[(k + i) % 7],
                                     fabs(values[(k + j) % 7]),
                                     fabs(values[k / 7 % 7])};
                ur_pair out;
                ur_pair_six_statistics(&m1, &m2, &t, (double[]){2, 3}, &out);
                assert_true(fabs(out.rho) <= UR_PAIR_LIMIT && fabs(out.start) <= UR_PAIR_LIMIT);
                assert_true(isnan(out.rho_se) || (out.rho_se > 0 && isfinite(out.rho_se)));
                ur_pair_from_signs(&m1, &m2, 2, t.gg, (double[]){2, 3}, &out);
                assert_true(fabs(out.rho) <= UR_PAIR_LIMIT);
                assert_true(isnan(out.rho_se) || (out.rho_se > 0 && isfinite(out.rho_se)));
            }
}

static void no_joint_positives_give_an_upper_bound(void **state)
{
    (void)state;
    ur_pair_margin m;
    ur_pair_margin_set(-1, &m);
    ur_pair_moments t = {.n = 1000};
    ur_pair out;
    ur_pair_six_statistics(&m, &m, &t, (double[]){1000, 1000}, &out);
    near(1000 * ur_bivariate_normal(-1, -1, out.rho), 0.5, 1e-6, "expected joint positives");
    assert_true(isnan(out.rho_se) && !out.converged);
}

/* ---- Monte Carlo: margins refitted on every sample, with missing cells ---- */

typedef struct {
    double b, s;
    ur_margin fit;
    ur_pair_margin m;
} coordinate;

/* the censored fit of the rows in the mask */
static void fit_coordinate(const double *x, const unsigned char *mask, int n, coordinate *c)
{
    ur_margin_sums sums = {.shift = 1};
    for (int i = 0; i < n; i++) {
        if (!mask[i])
            continue;
        sums.n++;
        if (x[i] > 0) {
            sums.positive++;
            sums.sum += x[i] - 1;
            sums.square += (x[i] - 1) * (x[i] - 1);
        }
    }
    ur_margin_censored(&sums, &c->fit);
    c->b = c->fit.b;
    c->s = c->fit.s;
    ur_pair_margin_set(c->fit.gamma, &c->m);
}

/* rms of z for rho and for rho s1 s2 */
static void calibrate(double g1, double g2, double rho, double missing, int signs, int runs,
                      double z[2])
{
    enum { N = 2000 };
    static double x[N], y[N], hole[2 * N];
    static unsigned char in1[N], in2[N], both[N];
    z[0] = z[1] = 0;
    for (int run = 0; run < runs; run++) {
        ur_random_normals(31, (uint64_t)run, 0, N, x);
        ur_random_normals(32, (uint64_t)run, 0, N, y);
        ur_random_uniforms(33, (uint64_t)run, 0, 2 * N, hole);
        double n1 = 0, n2 = 0, n = 0;
        for (int i = 0; i < N; i++) {
            y[i] = fmax(0, 2 * (g2 + rho * x[i] + sqrt(1 - rho * rho) * y[i]));
            x[i] = fmax(0, g1 + x[i]);
            in1[i] = hole[i] >= missing;
            in2[i] = hole[N + i] >= missing;
            both[i] = in1[i] && in2[i];
            n1 += in1[i];
            n2 += in2[i];
            n += both[i];
        }
        coordinate all1, all2, c1, c2;
        fit_coordinate(x, in1, N, &all1);
        fit_coordinate(y, in2, N, &all2);
        fit_coordinate(x, both, N, &c1);
        fit_coordinate(y, both, N, &c2);
        ur_pair_moments t = {.n = n};
        double above = 0, t1 = fmax(0, c1.b), t2 = fmax(0, c2.b);
        for (int i = 0; i < N; i++) {
            if (!both[i] || !(x[i] > 0 && y[i] > 0))
                continue;
            double v1 = (x[i] - t1) / c1.s, v2 = (y[i] - t2) / c2.s;
            t.gg += 1 / n;
            t.v1g2 += v1 / n;
            t.v2g1 += v2 / n;
            t.v1v2 += v1 * v2 / n;
            t.v1v1g2 += v1 * v1 / n;
            t.v2v2g1 += v2 * v2 / n;
            above += (v1 > 0 && v2 > 0) / n;
        }
        double margins_n[2] = {n1, n2};
        ur_pair out;
        if (signs)
            ur_pair_from_signs(&c1.m, &c2.m, n, above, margins_n, &out);
        else
            ur_pair_six_statistics(&c1.m, &c2.m, &t, margins_n, &out);
        double product = out.rho * all1.s * all2.s, product_se = out.product_se * all1.s * all2.s;
        z[0] += pow((out.rho - rho) / out.rho_se, 2) / runs;
        z[1] += pow((product - 2 * rho) / product_se, 2) / runs;
    }
    z[0] = sqrt(z[0]);
    z[1] = sqrt(z[1]);
}

static void standard_errors_are_calibrated(void **state)
{
    (void)state;
    static const double cases[][3] = {
        {-0.5, 0.5, 0.6}, {1, 0, -0.5}, {0.3, 2, 0.9}, {-0.6, -0.4, 0.3}, {2.5, 9, 0.7}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int missing = 0; missing < 2; missing++)
            for (int signs = 0; signs < 2; signs++) {
                double z[2];
                calibrate(cases[k][0], cases[k][1], cases[k][2], missing * 0.3, signs, 500, z);
                /* sd of an rms of 500 z: 0.032 */
                near(z[0], 1, 0.11, signs ? "signs: z of rho" : "h6: z of rho");
                near(z[1], 1, 0.11, signs ? "signs: z of the product" : "h6: z of the product");
            }
}

static void signs_invert_the_orthant_probability(void **state)
{
    (void)state;
    for (int r = 0; r < RHOS; r++)
        for (int i = 0; i < GAMMAS; i++)
            for (int j = 0; j < GAMMAS; j++) {
                double rho = some_rhos[r];
                ur_pair_margin m1, m2;
                ur_pair_margin_set(some_gammas[i], &m1);
                ur_pair_margin_set(some_gammas[j], &m2);
                double P = ur_bivariate_normal(m1.below, m2.below, rho);
                if (P < 1e-5 || fmin(m1.Phi, m2.Phi) - P < 1e-5)
                    continue;
                ur_pair out;
                ur_pair_from_signs(&m1, &m2, 1e4, P, (double[]){1e4, 1e4}, &out);
                assert_true(out.converged);
                near(out.rho, rho, 1e-9, "rho");
                assert_true(out.rho_se > 0);
            }
    ur_pair_margin m;
    ur_pair_margin_set(2, &m);
    ur_pair out;
    ur_pair_from_signs(&m, &m, 1e4, 0.31, (double[]){1e4, 1e4}, &out);
    near(out.rho, -cos(2 * M_PI * 0.31), 1e-12, "the paper's formula");
    ur_pair_from_signs(&m, &m, 1e4, 0.6, (double[]){1e4, 1e4}, &out);
    near(out.rho, UR_PAIR_LIMIT, 1e-9, "beyond 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orthant_probability_agrees_with_brute_quadrature),
        cmocka_unit_test(orthant_probability_has_its_limits),
        cmocka_unit_test(expectations_agree_with_brute_quadrature),
        cmocka_unit_test(h6_is_exact_on_population_moments),
        cmocka_unit_test(h6_sits_on_the_cramer_rao_bound),
        cmocka_unit_test(h6_without_zeros_is_pearson),
        cmocka_unit_test(exchanging_the_coordinates_changes_nothing),
        cmocka_unit_test(strange_moments_give_finite_numbers),
        cmocka_unit_test(no_joint_positives_give_an_upper_bound),
        cmocka_unit_test(standard_errors_are_calibrated),
        cmocka_unit_test(signs_invert_the_orthant_probability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
