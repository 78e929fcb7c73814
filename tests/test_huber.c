/* SPDX-License-Identifier: Apache-2.0 */
/* Huber's scale by bisection, integrals of the normal law by a sum, likelihoods by a grid. */
#include "base/random.h"
#include "dense/huber.h"
#include "dense/student.h"
#include "planted.h"

/* n numbers of Student's law with these degrees of freedom; infinite: normal */
static void student(double degrees, uint64_t seed, size_t n, double *r)
{
    double *u = malloc(2 * n * sizeof *u);
    assert_non_null(u);
    ur_random_uniforms(seed, 911, 0, 2 * n, u);
    for (size_t i = 0; i < n; i++) {
        double square =
            isfinite(degrees) ? degrees * (pow(u[2 * i], -2 / degrees) - 1) : -2 * log(u[2 * i]);
        r[i] = sqrt(square) * cos(2 * M_PI * u[2 * i + 1]);
    }
    free(u);
}

static double mean_psi_squared(size_t n, const double *r, double s)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow(fmin(fabs(r[i] / s), UR_HUBER), 2) / (double)n;
    return sum;
}

/* sum of s (rho(r / s) + beta / 2) by its definition */
static double objective(size_t n, const double *r, double s)
{
    double sum = 0, c = UR_HUBER;
    for (size_t i = 0; i < n; i++) {
        double t = fabs(r[i] / s);
        sum += s * ((t <= c ? t * t / 2 : c * t - c * c / 2) + ur_huber_beta() / 2);
    }
    return sum;
}

static void beta_is_an_integral_over_the_normal_law(void **state)
{
    (void)state;
    double sum = 0, h = 1e-4;
    for (double z = -12; z <= 12; z += h)
        sum += h * fmin(z * z, UR_HUBER * UR_HUBER) * exp(-z * z / 2) / sqrt(2 * M_PI);
    assert_near(ur_huber_beta(), sum, 1e-7);
}

static void the_scale_is_the_root_and_where_the_objective_is_least(void **state)
{
    (void)state;
    static const double laws[] = {1, 2, INFINITY};
    enum { N = 3001 };
    double r[N];
    for (int law = 0; law < 3; law++) {
        student(laws[law], 3, N, r);
        ur_huber h = ur_huber_of(N, r, 1);
        double low = 1e-6, high = 1e6;
        for (int i = 0; i < 200; i++) {
            double s = sqrt(low * high);
            *(mean_psi_squared(N, r, s) > ur_huber_beta() ? &low : &high) = s;
        }
        assert_near(h.scale, low, 1e-9 * low);
        assert_near(h.objective, objective(N, r, low), 1e-9 * h.objective);
        assert_true(objective(N, r, 1.01 * low) > h.objective);
        assert_true(objective(N, r, .99 * low) > h.objective);
        size_t inside = 0;
        for (size_t i = 0; i < N; i++)
            inside += fabs(r[i]) <= UR_HUBER * low;
        assert_near(h.inside, (double)inside / N, 1e-9);
        assert_near(h.spread, low * sqrt(ur_huber_beta()) * N / (double)inside, 1e-9 * h.spread);
        assert_near(ur_huber_at(N, r, 1, 2 * low).objective, objective(N, r, 2 * low),
                    1e-9 * h.objective);
        for (size_t i = 0; i < N; i++)
            r[i] = ldexp(r[i], -30);
        assert_near(ldexp(ur_huber_of(N, r, 1).scale, 30), h.scale, 1e-12 * h.scale);
    }
    assert_near(ur_huber_of(N, r, 1).scale, ldexp(1, -30), .05 * ldexp(1, -30)); /* normal: 1 */
}

/* beta / c^2 = 39 % of the numbers must not be 0 */
static void most_numbers_at_0_have_no_scale(void **state)
{
    (void)state;
    double r[100] = {0};
    for (size_t i = 0; i < 39; i++)
        r[i] = 1 + (double)i;
    assert_true(ur_huber_of(100, r, 1).scale == 0);
    assert_near(ur_huber_of(100, r, 1).objective, UR_HUBER * 39 * 20, 1e-9);
    r[39] = 1;
    assert_true(ur_huber_of(100, r, 1).scale > .01);
    double none[4] = {0};
    assert_true(ur_huber_of(4, none, 1).scale == 0 && ur_huber_of(4, none, 1).rms == 0);
}

/* z of normal columns with deviations of their own has mean 0 and deviation 1 */
static void normal_numbers_are_not_heavy(void **state)
{
    (void)state;
    enum { N = 400, M = 4, SAMPLES = 1500 };
    double r[N * M], sum = 0, squares = 0;
    int heavy = 0, few = 0;
    for (uint64_t seed = 0; seed < SAMPLES; seed++) {
        student(INFINITY, seed, N * M, r);
        few += ur_tails_heavy(ur_tails_of(60, 1, r));
        for (size_t i = 0; i < N * M; i++)
            r[i] *= pow(10, (double)(i % M));
        ur_tails t = ur_tails_of(N, M, r);
        sum += t.z / SAMPLES;
        squares += t.z * t.z / SAMPLES;
        heavy += ur_tails_heavy(t);
        assert_near(t.ratio, 1, .2);
    }
    assert_near(sum, 0, .3); /* (rms / s)^2 has a bias of 1 / n */
    assert_near(sqrt(squares - sum * sum), 1, .1);
    assert_int_equal(heavy, 0);
    assert_true(few <= 5);
}

static void heavy_tails_are_found_and_light_ones_are_not(void **state)
{
    (void)state;
    enum { N = 2000 };
    double r[N];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        student(2, seed, N, r);
        ur_tails t = ur_tails_of(N, 1, r);
        assert_true(ur_tails_heavy(t));
        assert_true(t.gain > 1.2 && t.ratio > 1.2);
        for (size_t i = 0; i < N; i++) /* bounded */
            r[i] = sin(r[i]);
        t = ur_tails_of(N, 1, r);
        assert_true(t.z < 0 && !ur_tails_heavy(t));
    }
    memset(r, 0, sizeof r); /* some cells off, and the others met: heavy; no number at all: not */
    assert_false(ur_tails_heavy(ur_tails_of(N / 2, 2, r)));
    for (size_t i = 0; i < 20; i++)
        r[50 * i] = 1;
    assert_true(ur_tails_heavy(ur_tails_of(N / 2, 2, r)));
}

static double naive_squares(size_t n, const double *r, double nu, double s)
{
    double sum = 0;
    double top = tgamma((nu + 1) / 2) / tgamma(nu / 2) / sqrt(nu * M_PI) / s;
    for (size_t i = 0; i < n; i++)
        sum -= 2 * log(top * pow(1 + r[i] * r[i] / (nu * s * s), -(nu + 1) / 2));
    return (double)n * exp(sum / (double)n) / (2 * M_PI * exp(1));
}

/* by a grid of s, and a finer one about the least of it */
static double least_squares(size_t n, const double *r, double nu)
{
    double at = 1, least = INFINITY;
    for (double step = .01, reach = log(2); step > 1e-6; reach = step, step /= 100) {
        double middle = at;
        for (double away = -reach; away <= reach; away += step) {
            double squares = naive_squares(n, r, nu, middle * exp(away));
            at = squares < least ? middle * exp(away) : at;
            least = fmin(least, squares);
        }
    }
    return least;
}

static void student_squares_are_the_largest_likelihood_of_a_grid(void **state)
{
    (void)state;
    enum { N = 1000 };
    static const double laws[] = {1, 2, 4, 8};
    double r[N];
    for (int law = 0; law < 4; law++) {
        student(laws[law], 5, N, r);
        double least = INFINITY, squares = 0;
        for (int nu = 0; nu < 4; nu++)
            least = fmin(least, least_squares(N, r, laws[nu]));
        for (size_t i = 0; i < N; i++)
            squares += r[i] * r[i];
        assert_near(ur_student_squares(N, r) / least, 1, 1e-9);
        assert_true(ur_student_squares(N, r) < squares);
    }
    for (size_t i = 0; i < N; i++) /* of lighter tails: the sum of squares itself */
        r[i] = cos((double)i);
    assert_near(ur_student_squares(N, r), 500, 1);
    memset(r, 0, sizeof r);
    assert_true(ur_student_squares(N, r) == 0);
    r[1] = 1;
    assert_true(ur_student_squares(N, r) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beta_is_an_integral_over_the_normal_law),
        cmocka_unit_test(the_scale_is_the_root_and_where_the_objective_is_least),
        cmocka_unit_test(most_numbers_at_0_have_no_scale),
        cmocka_unit_test(normal_numbers_are_not_heavy),
        cmocka_unit_test(heavy_tails_are_found_and_light_ones_are_not),
        cmocka_unit_test(student_squares_are_the_largest_likelihood_of_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
