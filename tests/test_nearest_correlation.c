/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/lbfgs.h"
#include "dense/linear.h"
#include "dense/nearest_correlation.h"
#include "planted.h"

enum { MOST = 60 };

/* estimates of a random correlation of rank k: errors se, which are as wide as 1e-1 and as narrow
 * as 1e-4 where the spread is 1 */
static void estimate(size_t d, size_t k, double spread, uint64_t seed, double *truth, double *C,
                     double *weight)
{
    double W[MOST * MOST], normal[MOST * MOST], size[MOST * MOST];
    ur_random_normals(seed, 1, 0, d * k, W);
    ur_random_normals(seed, 2, 0, d * d, normal);
    ur_random_normals(seed, 3, 0, d * d, size);
    ur_unit_rows(d, k, W);
    ur_gram(d, k, W, truth);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double se =
                i == j ? 0 : pow(10, -2.5 + spread * fmax(-1.5, fmin(1.5, size[i * d + j])));
            double rho = fmax(-1, fmin(1, truth[i * d + j] + se * normal[i * d + j]));
            C[i * d + j] = C[j * d + i] = i == j ? 1 : rho;
            weight[i * d + j] = weight[j * d + i] = i == j ? 0 : 1 / (se * se);
        }
}

static double misfit(size_t d, const double *R, const double *C, const double *weight)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++)
            sum += weight[i * d + j] * pow(R[i * d + j] - C[i * d + j], 2);
    return sum;
}

static double smallest(size_t d, const double *A)
{
    double values[MOST];
    unrelu_error err = {0};
    must(ur_eigen_symmetric(d, A, values, NULL, &err), &err);
    return values[0];
}

/* A bound from below on the least misfit of all correlation matrices X, by duality. Misfit is
 * convex: misfit(X) >= misfit(R) + <M, X - R> with M = w (R - C) (both triangles, so that the slope
 * of the sum over pairs is M). Any y gives <M, X> = <M + diag y, X> - sum y >= d min(0,
 * lambda_min(M + diag y)) - sum y; y_i = -(M R)_ii makes it tight at the minimum. */
static double least_misfit(size_t d, const double *R, const double *C, const double *weight)
{
    double M[MOST * MOST], product = 0, total = 0;
    for (size_t i = 0; i < d * d; i++)
        M[i] = i / d == i % d ? 0 : weight[i] * (R[i] - C[i]);
    for (size_t i = 0; i < d * d; i++)
        product += M[i] * R[i];
    for (size_t i = 0; i < d; i++) {
        double y = 0;
        for (size_t j = 0; j < d; j++)
            y -= j == i ? 0 : M[i * d + j] * R[j * d + i];
        M[i * d + i] = y;
        total += y;
    }
    return misfit(d, R, C, weight) + (double)d * fmin(0, smallest(d, M)) - total - product;
}

typedef struct {
    size_t d;
    const double *C, *weight;
} target;

/* the same misfit by naive loops, of a d x d factor */
static double naive(void *context, const double *Y, double *gradient)
{
    const target *t = context;
    size_t d = t->d;
    double Z[MOST * MOST], length[MOST], sum = 0;
    for (size_t i = 0; i < d; i++) {
        length[i] = sqrt(ur_short_dot(d, Y + i * d, Y + i * d));
        for (size_t k = 0; k < d; k++) {
            Z[i * d + k] = Y[i * d + k] / length[i];
            gradient[i * d + k] = 0;
        }
    }
    for (size_t i = 0; i < d; i++) {
        double *g = gradient + i * d, *z = Z + i * d;
        for (size_t j = 0; j < d; j++) {
            double away = ur_short_dot(d, z, Z + j * d) - t->C[i * d + j];
            sum += i == j ? 0 : t->weight[i * d + j] * away * away / 2;
            for (size_t k = 0; k < d && i != j; k++)
                g[k] += 2 * t->weight[i * d + j] * away * Z[j * d + k];
        }
        double along = ur_short_dot(d, g, z);
        for (size_t k = 0; k < d; k++)
            g[k] = (g[k] - along * z[k]) / length[i];
    }
    return sum;
}

/* R: as near as can be, from elsewhere and with a factor of full rank */
static void polish(size_t d, const double *C, const double *weight, double *R)
{
    double Y[MOST * MOST], curvature[MOST * MOST] = {0}, value;
    unrelu_error err = {0};
    target t = {d, C, weight};
    ur_random_normals(99, 1, 0, d * d, Y);
    for (size_t i = 0; i < d * d; i++)
        for (size_t j = 0; j < d; j++)
            curvature[i] += weight[i / d * d + j];
    const ur_lbfgs search = {naive, &t, d * d, curvature, 1e-12, 100000};
    must(ur_lbfgs_minimise(&search, Y, &value, NULL, &err), &err);
    ur_unit_rows(d, d, Y);
    ur_gram(d, d, Y, R);
}

static void the_minimum_is_certified_by_duality(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{3, 1}, {6, 2}, {10, 2}, {15, 3}};
    double truth[MOST * MOST], C[MOST * MOST], weight[MOST * MOST], R[MOST * MOST];
    double best[MOST * MOST];
    unrelu_error err = {0};
    UR_BLAS_PINNED;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            size_t d = sizes[k][0];
            double pairs = (double)(d * (d - 1) / 2);
            int evaluations = 0;
            estimate(d, sizes[k][1], 0.4, seed, truth, C, weight);
            assert_true(smallest(d, C) < -1e-6);
            must(ur_nearest_correlation(d, C, weight, R, &evaluations, &err), &err);
            assert_true(smallest(d, R) > -1e-13 * (double)d);
            for (size_t i = 0; i < d; i++)
                assert_true(R[i * d + i] == 1);
            polish(d, C, weight, best);
            double found = misfit(d, R, C, weight), least = least_misfit(d, best, C, weight);
            printf("d %zu misfit %g, polished %g, at least %g; %d evaluations\n", d, found,
                   misfit(d, best, C, weight), least, evaluations);
            assert_true(found >= least && found - least < 0.02 * pairs);
            assert_true(evaluations < 100);
            /* nearer to the truth, in the same metric */
            assert_true(misfit(d, R, truth, weight) <= misfit(d, C, truth, weight));
        }
}

static void what_is_known_well_stays(void **state)
{
    (void)state;
    enum { D = 3 };
    /* 1 and 2, 2 and 3 are known to 1e-4; 1 and 3 then lies between cos(a + b) and cos(a - b) */
    double C[9] = {1, .95, .2, .95, 1, .95, .2, .95, 1}, R[9];
    double weight[9] = {0, 1e8, 1e2, 1e8, 0, 1e8, 1e2, 1e8, 0};
    unrelu_error err = {0};
    UR_BLAS_PINNED;
    assert_true(smallest(D, C) < -.1);
    must(ur_nearest_correlation(D, C, weight, R, NULL, &err), &err);
    assert_near(R[1], .95, 3e-5);
    assert_near(R[5], .95, 3e-5);
    assert_near(R[2], cos(2 * acos(.95)), 2e-3);
    /* a pair without a weight is free */
    weight[2] = weight[6] = 0;
    must(ur_nearest_correlation(D, C, weight, R, NULL, &err), &err);
    assert_near(R[1], .95, 1e-6);
    assert_near(R[5], .95, 1e-6);
    assert_true(smallest(D, R) > -1e-14);
}

/* the last column cannot be what it says, and nothing is known of it */
static void a_column_without_weights_moves_no_other(void **state)
{
    (void)state;
    enum { D = 4 };
    double C[] = {1, .5, .3, .9, .5, 1, .2, .9, .3, .2, 1, -.9, .9, .9, -.9, 1};
    double weight[D * D], R[D * D];
    unrelu_error err = {0};
    UR_BLAS_PINNED;
    for (size_t i = 0; i < D * D; i++)
        weight[i] = i / D < 3 && i % D < 3 ? 1e4 : 0;
    assert_true(smallest(D, C) < -.5);
    must(ur_nearest_correlation(D, C, weight, R, NULL, &err), &err);
    for (size_t i = 0; i < D * D; i++)
        assert_near(R[i], weight[i] > 0 ? C[i] : R[i], 1e-11);
}

static void a_correlation_matrix_is_its_own_nearest(void **state)
{
    (void)state;
    enum { D = 12 };
    double truth[D * D], C[D * D], weight[D * D], R[D * D];
    unrelu_error err = {0};
    UR_BLAS_PINNED;
    for (int unknown = 0; unknown < 3; unknown++) { /* a column without weights; none at all */
        estimate(D, 4, 0.4, 7, truth, C, weight); /* rank 4: eigenvalues of rounding, either sign */
        for (size_t i = 0; i < D * D; i++)
            if (unknown == 2 || (unknown == 1 && (i / D == 3 || i % D == 3)))
                weight[i] = 0;
        must(ur_nearest_correlation(D, truth, weight, R, NULL, &err), &err);
        for (size_t i = 0; i < D * D; i++)
            assert_near(R[i], truth[i], unknown ? 1e-9 : 1e-12);
    }
}

/* ---- L-BFGS ---- */

typedef struct {
    double share; /* of the promised fall that the first step gives */
    double x[8];  /* where it was asked */
    int count;
} plan;

/* slope 1 at 0, from 10; then low enough anywhere else but at -1 */
static double planned(void *context, const double *x, double *gradient)
{
    plan *p = context;
    p->x[p->count++ % 8] = x[0];
    gradient[0] = 1;
    return x[0] == 0 ? 10 : x[0] == -1 ? 10 - p->share : 1;
}

static void a_step_must_keep_a_share_of_its_promise(void **state)
{
    (void)state;
    static const double shares[] = {1e-3, 1e-5, -1, -1e3};
    for (size_t i = 0; i < 4; i++) {
        plan p = {.share = shares[i]};
        double x = 0, value, curvature = 1;
        int evaluations;
        unrelu_error err = {0};
        const ur_lbfgs search = {planned, &p, 1, &curvature, 1e-9, 1};
        must(ur_lbfgs_minimise(&search, &x, &value, &evaluations, &err), &err);
        assert_int_equal(evaluations, i == 0 ? 2 : 3);
        assert_int_equal(p.count, evaluations);
        /* the parabola: 1 / (2 (1 - share)), within a half and a tenth */
        if (i > 0)
            assert_near(p.x[2], -(i == 1 ? .5 : i == 2 ? .25 : .1), 1e-12);
    }
}

/* (x - centre)^2 / 2 in units of the curvature, and nearly flat beyond */
static double bowl(void *context, const double *x, double *gradient)
{
    const double *curvature = context;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double away = x[i] - i - 1;
        gradient[i] = curvature[i] * away;
        sum += curvature[i] * away * away / 2;
    }
    return sum;
}

static void a_known_curvature_needs_one_step(void **state)
{
    (void)state;
    double curvature[4] = {1e-6, 1, 1e3, 1e8}, other[4] = {1, 1, 1, 1}, value;
    int evaluations;
    unrelu_error err = {0};
    for (int known = 0; known < 2; known++) {
        double x[4] = {0};
        const ur_lbfgs search = {bowl, curvature, 4, known ? curvature : other, 1e-12, 1000};
        must(ur_lbfgs_minimise(&search, x, &value, &evaluations, &err), &err);
        assert_true(known ? evaluations == 2 : evaluations > 2);
        for (int i = 1; i < 4; i++)
            assert_near(x[i], i + 1, 1e-5);
        assert_true(value < 1e-5);
    }
}

/* gradients that hardly change, at once or at all */
static double flat(void *context, const double *x, double *gradient)
{
    plan *p = context;
    double bend = p->share;
    p->x[p->count++ % 8] = x[0];
    gradient[0] = 1 + bend * x[0];
    return 10 + x[0] + bend * x[0] * x[0] / 2;
}

static void a_change_without_curvature_is_forgotten(void **state)
{
    (void)state;
    /* s't / t^2 is 1 / bend: the next step is that of Newton where it counts */
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        plan p = {.share = forgotten ? -1e-3 : 1e-3};
        double x = 0, value, curvature = 1;
        unrelu_error err = {0};
        const ur_lbfgs search = {flat, &p, 1, &curvature, 1e-9, 2};
        must(ur_lbfgs_minimise(&search, &x, &value, NULL, &err), &err);
        assert_near(p.x[1], -1, 1e-12);
        assert_near(p.x[2], forgotten ? -2.001 : -1000, 1e-6);
    }
}

/* falls everywhere; the gradient is 1 at 0 and 1 - share elsewhere */
static double steep(void *context, const double *x, double *gradient)
{
    plan *p = context;
    p->x[p->count++ % 8] = x[0];
    gradient[0] = x[0] == 0 ? 1 : 1 - p->share;
    return -p->count * (1 + p->share * p->share);
}

/* s't / t^2 is 1 / share: the second step is g s't / t^2, or g where that is rounding */
static void a_change_counts_from_1e_12_of_the_curvature_on(void **state)
{
    (void)state;
    for (int rounding = 0; rounding < 2; rounding++) {
        plan p = {.share = rounding ? 1e13 : 1e11};
        double x = 0, value, curvature = 1;
        unrelu_error err = {0};
        const ur_lbfgs search = {steep, &p, 1, &curvature, -INFINITY, 2};
        must(ur_lbfgs_minimise(&search, &x, &value, NULL, &err), &err);
        assert_int_equal(p.count, 3);
        assert_near(p.x[1], -1, 1e-12);
        assert_near(p.x[2] / (rounding ? 1e13 : 1), rounding ? 1 : 0, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimum_is_certified_by_duality),
        cmocka_unit_test(what_is_known_well_stays),
        cmocka_unit_test(a_column_without_weights_moves_no_other),
        cmocka_unit_test(a_correlation_matrix_is_its_own_nearest),
        cmocka_unit_test(a_step_must_keep_a_share_of_its_promise),
        cmocka_unit_test(a_known_curvature_needs_one_step),
        cmocka_unit_test(a_change_without_curvature_is_forgotten),
        cmocka_unit_test(a_change_counts_from_1e_12_of_the_curvature_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
