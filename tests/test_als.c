/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/als.h"
#include "dense/linear.h"

#include "dense/blas_pin.h"
#include "planted.h"

/* T_rab = sum_j g_jr v_ja v_jb */
static double *tensor(size_t r, size_t q, size_t k, const double *G, const double *V)
{
    double *T = calloc(r * q * q, sizeof *T);
    assert_non_null(T);
    for (size_t s = 0; s < r; s++)
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++)
                for (size_t j = 0; j < k; j++)
                    T[(s * q + a) * q + b] += G[j * r + s] * V[j * q + a] * V[j * q + b];
    return T;
}

static double size_of(size_t count, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void unit(size_t k, size_t q, double *V)
{
    for (size_t j = 0; j < k; j++) {
        double size = size_of(q, V + j * q);
        for (size_t a = 0; a < q; a++)
            V[j * q + a] /= size;
    }
}

/* largest distance of a true vector to the nearest one found, signs apart */
static double farthest(size_t k, size_t q, const double *V, const double *found)
{
    double worst = 0;
    for (size_t j = 0; j < k; j++) {
        double nearest = INFINITY;
        for (size_t l = 0; l < k; l++) {
            double same = 0, opposite = 0;
            for (size_t a = 0; a < q; a++) {
                double u = V[j * q + a], v = found[l * q + a];
                same += (u - v) * (u - v);
                opposite += (u + v) * (u + v);
            }
            nearest = fmin(nearest, fmin(same, opposite));
        }
        worst = fmax(worst, sqrt(nearest));
    }
    return worst;
}

/* the best of three random starts, as the callers do it */
static double solve(const ur_als *p, int steps, double *V, double *G)
{
    double best = INFINITY;
    double *start = malloc(p->k * p->q * sizeof *start), *g = malloc(p->k * p->r * sizeof *g);
    unrelu_error err = {0};
    assert_non_null(start);
    assert_non_null(g);
    for (uint64_t i = 0; i < 3; i++) {
        double fit;
        ur_random_normals(77, 1, i * p->k * p->q, p->k * p->q, start);
        must(ur_als_run(p, steps, start, g, &fit, &err), &err);
        if (fit < best) {
            best = fit;
            memcpy(V, start, p->k * p->q * sizeof *V);
            memcpy(G, g, p->k * p->r * sizeof *G);
        }
    }
    free(start);
    free(g);
    return best;
}

static void check_exact(size_t r, size_t q, size_t k)
{
    double *V = malloc(k * q * sizeof *V), *G = malloc(k * r * sizeof *G);
    double *found = malloc(k * q * sizeof *V), *g = malloc(k * r * sizeof *G);
    ur_random_normals(5, 2, 0, k * q, V);
    ur_random_normals(5, 3, 0, k * r, G);
    unit(k, q, V);
    double *T = tensor(r, q, k, G, V);
    ur_als p = {.r = r, .q = q, .k = k, .T = T};
    double fit = solve(&p, 3000, found, g);
    assert_true(fit < 1e-11);
    assert_true(farthest(k, q, V, found) < 1e-10);
    double *again = tensor(r, q, k, g, found), apart = 0;
    for (size_t i = 0; i < r * q * q; i++)
        apart = fmax(apart, fabs(again[i] - T[i]));
    assert_true(apart < 1e-10 * size_of(r * q * q, T));
    for (size_t j = 0; j < k; j++)
        assert_near(size_of(q, found + j * q), 1, 1e-14);
    free(V);
    free(G);
    free(found);
    free(g);
    free(T);
    free(again);
}

static void exact_tensors_are_taken_apart(void **state)
{
    (void)state;
    check_exact(5, 5, 5);
    check_exact(8, 6, 4);
}

static void more_terms_than_labels_are_found(void **state)
{
    (void)state;
    check_exact(3, 5, 5);
    check_exact(4, 5, 5);
}

static void more_terms_than_dimensions_are_found(void **state)
{
    (void)state;
    check_exact(8, 5, 7);
}

/* (I, diag(1, 2)) = e1 e1' (1, 1) + e2 e2' (1, 2) */
static void a_hand_made_tensor_gives_its_parts(void **state)
{
    (void)state;
    const double T[8] = {1, 0, 0, 1, 1, 0, 0, 2};
    const ur_als p = {.r = 2, .q = 2, .k = 2, .T = T};
    double V[4], G[4];
    assert_true(solve(&p, 2000, V, G) < 1e-11);
    const size_t first = fabs(V[0]) <= 0.5, second = 1 - first;
    assert_near(fabs(V[first * 2]), 1, 1e-10);
    assert_near(fabs(V[second * 2 + 1]), 1, 1e-10);
    assert_near(G[first * 2], 1, 1e-9);
    assert_near(G[first * 2 + 1], 1, 1e-9);
    assert_near(G[second * 2], 1, 1e-9);
    assert_near(G[second * 2 + 1], 2, 1e-9);
}

static void noise_moves_the_parts_by_its_own_size_only(void **state)
{
    (void)state;
    enum { R = 6, Q = 6, K = 6 };
    double V[K * Q], G[K * R], found[K * Q], g[K * R], noise[R * Q * Q];
    ur_random_normals(9, 2, 0, K * Q, V);
    ur_random_normals(9, 3, 0, K * R, G);
    ur_random_normals(9, 4, 0, R * Q * Q, noise);
    unit(K, Q, V);
    double *T = tensor(R, Q, K, G, V);
    const double share = 1e-3 * size_of(R * Q * Q, T) / size_of(R * Q * Q, noise);
    for (size_t s = 0; s < R; s++)
        for (size_t a = 0; a < Q; a++)
            for (size_t b = 0; b < Q; b++)
                T[(s * Q + a) * Q + b] +=
                    share * (noise[(s * Q + a) * Q + b] + noise[(s * Q + b) * Q + a]) / 2;
    const ur_als p = {.r = R, .q = Q, .k = K, .T = T};
    double fit = solve(&p, 1000, found, g);
    assert_true(fit > 1e-4 && fit < 1e-3);
    assert_true(farthest(K, Q, V, found) < 0.02);
    /* what it says of its fit is so */
    double *again = tensor(R, Q, K, g, found), left = 0;
    for (size_t i = 0; i < R * Q * Q; i++)
        left += (again[i] - T[i]) * (again[i] - T[i]);
    assert_near(sqrt(left) / size_of(R * Q * Q, T), fit, 1e-12);
    free(again);
    free(T);
}

static void too_many_terms_and_zero_tensors_are_harmless(void **state)
{
    (void)state;
    double T[8] = {1, 0, 0, 0, 2, 0, 0, 0}, V[6], G[6], fit;
    ur_als p = {.r = 2, .q = 2, .k = 3, .T = T};
    unrelu_error err = {0};
    ur_random_normals(3, 1, 0, 6, V);
    must(ur_als_run(&p, 500, V, G, &fit, &err), &err);
    assert_true(fit < 1e-6);
    memset(T, 0, sizeof T);
    must(ur_als_run(&p, 500, V, G, &fit, &err), &err);
    assert_near(fit, 0, 0);
    for (size_t j = 0; j < 3; j++)
        assert_near(size_of(2, V + 2 * j), 1, 1e-14);
    for (size_t i = 0; i < 6; i++)
        assert_near(G[i], 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_tensors_are_taken_apart),
        cmocka_unit_test(more_terms_than_labels_are_found),
        cmocka_unit_test(more_terms_than_dimensions_are_found),
        cmocka_unit_test(a_hand_made_tensor_gives_its_parts),
        cmocka_unit_test(noise_moves_the_parts_by_its_own_size_only),
        cmocka_unit_test(too_many_terms_and_zero_tensors_are_harmless),
    };
    UR_BLAS_PINNED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
