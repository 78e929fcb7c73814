/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/rank_ones.h"
#include "planted.h"

enum { STREAM = 3 };

/* k unit rows, and the span of their zz' in a random basis, with symmetric noise eps */
static void plant_span(size_t k, uint64_t seed, double eps, double *Z, double *span)
{
    size_t kk = k * k;
    double *mix = malloc(kk * sizeof *mix), *noise = malloc(kk * sizeof *noise);
    ur_random_normals(seed, 0, 0, kk, Z);
    ur_random_normals(seed, 1, 0, kk, mix);
    for (size_t i = 0; i < kk; i++) { /* I + G / (3 sqrt k): conditions below about 5 */
        Z[i] = (i % (k + 1) == 0) + Z[i] / (3 * sqrt((double)k));
        mix[i] = (i % (k + 1) == 0) + mix[i] / (3 * sqrt((double)k));
    }
    for (size_t i = 0; i < k; i++) {
        double size = 0;
        for (size_t j = 0; j < k; j++)
            size += Z[i * k + j] * Z[i * k + j];
        for (size_t j = 0; j < k; j++)
            Z[i * k + j] /= sqrt(size);
    }
    for (size_t b = 0; b < k; b++) {
        ur_random_normals(seed, 2, b * kk, kk, noise);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                double s = eps * (noise[i * k + j] + noise[j * k + i]);
                for (size_t l = 0; l < k; l++)
                    s += mix[b * k + l] * Z[l * k + i] * Z[l * k + j];
                span[b * kk + i * k + j] = s;
            }
    }
    free(mix);
    free(noise);
}

/* largest over truth of the distance to the nearest found row, up to sign */
static double farthest(size_t k, const double *truth, const double *found)
{
    double worst = 0;
    for (size_t i = 0; i < k; i++) {
        double best = INFINITY;
        for (size_t j = 0; j < k; j++) {
            double plus = 0, minus = 0;
            for (size_t l = 0; l < k; l++) {
                plus += pow(truth[i * k + l] - found[j * k + l], 2);
                minus += pow(truth[i * k + l] + found[j * k + l], 2);
            }
            best = fmin(best, fmin(plus, minus));
        }
        worst = fmax(worst, sqrt(best));
    }
    return worst;
}

static double error_at(size_t k, uint64_t seed, double eps, double *worst)
{
    size_t kk = k * k;
    double *Z = malloc(kk * sizeof *Z), *span = malloc(k * kk * sizeof *span);
    double *found = malloc(kk * sizeof *found);
    unrelu_error err = {0};
    plant_span(k, seed, eps, Z, span);
    must(ur_span_split(k, span, seed, STREAM, found, worst, &err), &err);
    double error = farthest(k, Z, found);
    free(Z);
    free(span);
    free(found);
    return error;
}

static void exact_spans_give_back_their_vectors(void **state)
{
    (void)state;
    for (size_t k = 1; k <= 12; k++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            double worst;
            assert_near(error_at(k, seed, 0, &worst), 0, 1e-12);
            assert_near(worst, 0, 1e-12);
        }
}

static void the_error_is_proportional_to_the_perturbation(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        double worst[2];
        double coarse = error_at(4, seed, 1e-4, &worst[0]);
        double fine = error_at(4, seed, 1e-7, &worst[1]);
        assert_true(coarse < 0.1);
        assert_true(fine > 0);
        assert_near(coarse / fine / 1000, 1, 0.2);
        assert_near(worst[0] / worst[1] / 1000, 1, 0.2);
    }
}

/* the leading eigenvector of the projection of zz' on the span, by Gram-Schmidt and powers */
static void project_and_lead(size_t k, const double *span, const double *z, double *lead)
{
    size_t kk = k * k;
    double *basis = malloc(k * kk * sizeof *basis), *P = calloc(kk, sizeof *P);
    memcpy(basis, span, k * kk * sizeof *basis);
    for (size_t b = 0; b < k; b++) {
        double *row = basis + b * kk, along;
        for (size_t twice = 0; twice < 2; twice++)
            for (size_t c = 0; c < b; c++) {
                along = 0;
                for (size_t i = 0; i < kk; i++)
                    along += row[i] * basis[c * kk + i];
                for (size_t i = 0; i < kk; i++)
                    row[i] -= along * basis[c * kk + i];
            }
        along = 0;
        for (size_t i = 0; i < kk; i++)
            along += row[i] * row[i];
        for (size_t i = 0; i < kk; i++)
            row[i] /= sqrt(along);
        along = 0;
        for (size_t i = 0; i < kk; i++)
            along += row[i] * z[i / k] * z[i % k];
        for (size_t i = 0; i < kk; i++)
            P[i] += along * row[i];
    }
    memcpy(lead, z, k * sizeof *lead);
    for (int power = 0; power < 200; power++) {
        double *next = basis, size = 0;
        for (size_t i = 0; i < k; i++) {
            next[i] = 0;
            for (size_t j = 0; j < k; j++)
                next[i] += P[i * k + j] * lead[j];
            size += next[i] * next[i];
        }
        for (size_t i = 0; i < k; i++)
            lead[i] = next[i] / sqrt(size);
    }
    free(basis);
    free(P);
}

static void what_is_found_is_a_fixed_point(void **state)
{
    (void)state;
    enum { K = 6 };
    double Z[K * K], span[K * K * K], found[K * K], lead[K], worst;
    unrelu_error err = {0};
    plant_span(K, 4, 1e-2, Z, span);
    must(ur_span_split(K, span, 1, STREAM, found, &worst, &err), &err);
    assert_true(worst > 1e-3);
    for (size_t i = 0; i < K; i++) {
        project_and_lead(K, span, found + i * K, lead);
        for (size_t j = 0; j < K; j++)
            assert_near(lead[j], found[i * K + j], 1e-6);
    }
}

static void two_close_vectors_are_told_apart(void **state)
{
    (void)state;
    double theta = 1e-3, a[3] = {1, 0, 0}, b[3] = {cos(theta), sin(theta), 0}, c[3] = {0, 0, 1};
    double truth[9], span[27], found[9], worst;
    const double *rows[3] = {a, b, c};
    unrelu_error err = {0};
    for (size_t i = 0; i < 9; i++) {
        truth[i] = rows[i / 3][i % 3];
        span[i] = a[i / 3] * a[i % 3] + b[i / 3] * b[i % 3];
        span[9 + i] = a[i / 3] * a[i % 3] - 2 * b[i / 3] * b[i % 3] + c[i / 3] * c[i % 3];
        span[18 + i] = b[i / 3] * b[i % 3] + 3 * c[i / 3] * c[i % 3];
    }
    must(ur_span_split(3, span, 1, STREAM, found, &worst, &err), &err);
    assert_near(farthest(3, truth, found), 0, 1e-8);
}

/* diag(1, -1) and the exchange: every member is indefinite, and zz' - I/2 is the nearest to zz' */
static void a_span_without_rank_one_says_how_far(void **state)
{
    (void)state;
    double span[8] = {1, 0, 0, -1, 0, 1, 1, 0}, Z[4], worst;
    unrelu_error err = {0};
    must(ur_span_split(2, span, 1, STREAM, Z, &worst, &err), &err);
    assert_near(worst, sqrt(0.5), 1e-12);
    for (size_t i = 0; i < 2; i++)
        assert_near(Z[2 * i] * Z[2 * i] + Z[2 * i + 1] * Z[2 * i + 1], 1, 1e-12);
}

/* diag(1, -1e-4) and the exchange: two z that met at e_1 and went complex */
static void a_complex_pair_becomes_two_close_vectors(void **state)
{
    (void)state;
    double span[8] = {1, 0, 0, -1e-4, 0, 1, 1, 0}, Z[4], worst;
    unrelu_error err = {0};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        must(ur_span_split(2, span, seed, STREAM, Z, &worst, &err), &err);
        assert_near(fabs(Z[0]), 1, 1e-3);
        assert_near(fabs(Z[2]), 1, 1e-3);
        assert_true(worst < 1e-3);
    }
}

static void a_span_without_inverse_is_infinitely_far(void **state)
{
    (void)state;
    double span[27] = {1}, Z[9], worst; /* e_1 e_1' alone, and nothing twice */
    unrelu_error err = {0};
    span[9] = 2;
    must(ur_span_split(3, span, 1, STREAM, Z, &worst, &err), &err);
    assert_true(isinf(worst));
    for (size_t i = 0; i < 9; i++)
        assert_true(Z[i] == 0);
}

static void the_seed_changes_nothing_but_order_and_sign(void **state)
{
    (void)state;
    enum { K = 6 };
    double Z[K * K], span[K * K * K], one[K * K], two[K * K], again[K * K], worst;
    unrelu_error err = {0};
    plant_span(K, 9, 0, Z, span);
    must(ur_span_split(K, span, 1, STREAM, one, &worst, &err), &err);
    must(ur_span_split(K, span, 1, STREAM, again, &worst, &err), &err);
    must(ur_span_split(K, span, 2, STREAM, two, &worst, &err), &err);
    assert_memory_equal(one, again, sizeof one);
    assert_near(farthest(K, one, two), 0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_spans_give_back_their_vectors),
        cmocka_unit_test(the_error_is_proportional_to_the_perturbation),
        cmocka_unit_test(what_is_found_is_a_fixed_point),
        cmocka_unit_test(two_close_vectors_are_told_apart),
        cmocka_unit_test(a_span_without_rank_one_says_how_far),
        cmocka_unit_test(a_complex_pair_becomes_two_close_vectors),
        cmocka_unit_test(a_span_without_inverse_is_infinitely_far),
        cmocka_unit_test(the_seed_changes_nothing_but_order_and_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
