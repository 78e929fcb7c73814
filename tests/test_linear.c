/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <cblas.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { D = 23, M = 31, K = 7 };

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

/* A = G G' of a D x D Gaussian G */
static void random_positive(double *A)
{
    double G[D * D];
    ur_random_normals(1, 1, 0, D * D, G);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            A[i * D + j] = 0;
            for (int k = 0; k < D; k++)
                A[i * D + j] += G[i * D + k] * G[j * D + k];
        }
}

static void eigenvectors_are_columns_and_rebuild_the_matrix(void **state)
{
    (void)state;
    double A[D * D], kept[D * D], values[D], alone[D], V[D * D];
    unrelu_error err;
    random_positive(A);
    memcpy(kept, A, sizeof A);
    assert_int_equal(ur_eigen_symmetric(D, A, values, V, &err), UNRELU_OK);
    assert_memory_equal(A, kept, sizeof A);
    for (int j = 1; j < D; j++)
        assert_true(values[j] >= values[j - 1]);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            double av = 0, vv = 0;
            for (int k = 0; k < D; k++) {
                av += A[i * D + k] * V[k * D + j];
                vv += V[k * D + i] * V[k * D + j];
            }
            near(av, values[j] * V[i * D + j], 1e-12 * values[D - 1]);
            near(vv, i == j, 1e-13);
        }
    assert_int_equal(ur_eigen_symmetric(D, A, alone, NULL, &err), UNRELU_OK);
    for (int j = 0; j < D; j++)
        near(alone[j], values[j], 1e-12 * values[D - 1]);
    assert_int_equal(ur_eigen_symmetric(0, A, values, V, &err), UNRELU_OK);
}

/* LAPACK itself gives anything for it, or never ends */
static void every_routine_refuses_nan(void **state)
{
    (void)state;
    double A[4] = {1, NAN, NAN, 1}, one[4] = {1, 0, 0, 1}, B[2] = {1, 1}, C[4], F[4], s[2], t[2];
    double room[64];
    unrelu_error err;
    size_t rank;
    int positive;
    assert_int_equal(ur_eigen_symmetric(2, A, s, C, &err), UNRELU_EINTERNAL);
    assert_string_equal(err.text, "LAPACK dsyevd was given NaN");
    assert_int_equal(ur_cholesky(2, A, C, &positive, NULL), UNRELU_EINTERNAL);
    assert_int_equal(ur_qr_pivoted(2, 2, A, 0, &rank, C, NULL, NULL, NULL), UNRELU_EINTERNAL);
    assert_int_equal(ur_least_squares(2, 2, 1, A, B, 0, t, NULL, NULL), UNRELU_EINTERNAL);
    assert_int_equal(ur_least_squares(2, 2, 1, one, A, 0, t, NULL, NULL), UNRELU_EINTERNAL);
    assert_int_equal(ur_svd(2, 2, A, NULL, s, NULL, NULL), UNRELU_EINTERNAL);
    assert_int_equal(ur_eigen_general(2, A, s, t, C, NULL), UNRELU_EINTERNAL);
    memcpy(F, A, sizeof F);
    assert_int_equal(ur_qr_triangle(2, 2, F, C, NULL), UNRELU_EINTERNAL);
    memcpy(F, A, sizeof F);
    assert_int_equal(ur_orthonormalise(2, 2, F, NULL), UNRELU_EINTERNAL);
    memcpy(F, A, sizeof F);
    assert_int_equal(ur_eigen_in_place(2, F, s, sizeof room / sizeof *room, room), 0);
}

static void cholesky_is_lower_and_tells_indefinite(void **state)
{
    (void)state;
    double A[D * D], L[D * D];
    int positive;
    random_positive(A);
    assert_int_equal(ur_cholesky(D, A, L, &positive, NULL), UNRELU_OK);
    assert_true(positive);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            double sum = 0;
            for (int k = 0; k < D; k++)
                sum += L[i * D + k] * L[j * D + k];
            near(sum, A[i * D + j], 1e-12 * D);
            if (j > i)
                assert_true(L[i * D + j] == 0);
        }
    A[5 * D + 5] = -1;
    assert_int_equal(ur_cholesky(D, A, L, &positive, NULL), UNRELU_OK);
    assert_false(positive);
}

static void inverse_of_a_factor_gives_the_identity(void **state)
{
    (void)state;
    double A[D * D], L[D * D];
    int positive;
    random_positive(A);
    assert_int_equal(ur_cholesky(D, A, L, &positive, NULL), UNRELU_OK);
    ur_cholesky_inverse(D, L);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            double sum = 0;
            for (int k = 0; k < D; k++)
                sum += A[i * D + k] * L[k * D + j];
            near(sum, i == j, 1e-10);
        }
    ur_cholesky_inverse(0, L);
}

static void orthonormalise_keeps_the_space_and_the_signs(void **state)
{
    (void)state;
    double A[M * K], Q[M * K];
    ur_random_normals(2, 1, 0, M * K, A);
    memcpy(Q, A, sizeof A);
    assert_int_equal(ur_orthonormalise(M, K, Q, NULL), UNRELU_OK);
    double R[K][K];
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            double qq = 0;
            R[i][j] = 0;
            for (int r = 0; r < M; r++) {
                qq += Q[r * K + i] * Q[r * K + j];
                R[i][j] += Q[r * K + i] * A[r * K + j];
            }
            near(qq, i == j, 1e-14);
            if (i > j)
                near(R[i][j], 0, 1e-13);
        }
    for (int i = 0; i < K; i++)
        assert_true(R[i][i] > 0);
    for (int r = 0; r < M; r++)
        for (int j = 0; j < K; j++) {
            double sum = 0;
            for (int i = 0; i < K; i++)
                sum += Q[r * K + i] * R[i][j];
            near(sum, A[r * K + j], 1e-13);
        }
}

/* R'R = A'A; rows below n are 0 */
static void triangle_has_the_gram_of_the_matrix(void **state)
{
    (void)state;
    const size_t rows[] = {M, D, K, 1};
    for (int t = 0; t < 4; t++) {
        size_t n = rows[t];
        double A[M * D], kept[M * D], R[D * D], most = 0;
        ur_random_normals(5, (uint64_t)t, 0, n * D, A);
        for (size_t i = 0; i < n * D; i++)
            A[i] *= i % D < 3 ? 1e-3 : 1;
        memcpy(kept, A, n * D * sizeof *A);
        for (size_t i = 0; i < D * D; i++)
            R[i] = 7;
        assert_int_equal(ur_qr_triangle(n, D, A, R, NULL), UNRELU_OK);
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                if (j < i || i >= n)
                    assert_true(R[i * D + j] == 0);
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++) {
                double rr = 0, aa = 0, size_i = 0, size_j = 0;
                for (size_t r = 0; r < D; r++)
                    rr += R[r * D + i] * R[r * D + j];
                for (size_t r = 0; r < n; r++) {
                    aa += kept[r * D + i] * kept[r * D + j];
                    size_i += kept[r * D + i] * kept[r * D + i];
                    size_j += kept[r * D + j] * kept[r * D + j];
                }
                near(rr, aa, 1e-13 * sqrt(size_i * size_j)); /* column by column */
                most = fmax(most, fabs(rr));
            }
        assert_true(most > 1e-3);
    }
}

static void multiply_is_the_triple_loop(void **state)
{
    (void)state;
    double A[M * K], B[K * D], C[M * D];
    ur_random_normals(3, 1, 0, M * K, A);
    ur_random_normals(3, 2, 0, K * D, B);
    ur_multiply(M, K, D, A, B, C);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < D; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * D + j];
            near(C[i * D + j], sum, 1e-13);
        }
    C[0] = 5;
    ur_multiply(1, 0, 1, A, B, C);
    assert_true(C[0] == 0);
}

/* pins that overlap: whoever ends first must not undo it for the other */
static void pins_overlap_and_the_last_restores(void **state)
{
    (void)state;
    int before = openblas_get_num_threads();
    int first = ur_blas_pin(NULL);
    assert_int_equal(openblas_get_num_threads(), 1);
    int second = ur_blas_pin(NULL);
    ur_blas_unpin(&first);
    assert_int_equal(openblas_get_num_threads(), 1);
    ur_blas_unpin(&second);
    assert_int_equal(openblas_get_num_threads(), before);
    {
        UR_BLAS_PINNED;
        assert_int_equal(openblas_get_num_threads(), 1);
    }
    assert_int_equal(openblas_get_num_threads(), before);
}

/* ---- buffers of BLAS ---- */

void *blas_memory_alloc(int position);
void blas_memory_free(void *buffer);

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* what is asked for before a call is what BLAS takes inside of it: three at once, of which none
 * is new once three threads are pinned */
static void a_pin_takes_the_buffers_that_blas_would(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    int threads = THREADS;
    void *held[THREADS];
    size_t before = address_space();
    UR_BLAS_PIN(&threads);
    size_t pinned = address_space();
    assert_int_equal(threads, THREADS);
    assert_int_equal(ur_blas_pinned, THREADS);
    assert_in_range(pinned - before, UR_BLAS_BUFFER, THREADS * UR_BLAS_BUFFER);
    for (int i = 0; i < THREADS; i++)
        held[i] = blas_memory_alloc(0);
    assert_true(address_space() == pinned);
    for (int i = 0; i < THREADS; i++)
        blas_memory_free(held[i]);
    int inner = 2 * THREADS; /* a call inside of the call has what that has */
    {
        UR_BLAS_PIN(&inner);
        assert_int_equal(inner, THREADS);
        assert_true(address_space() == pinned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_are_columns_and_rebuild_the_matrix),
        cmocka_unit_test(every_routine_refuses_nan),
        cmocka_unit_test(cholesky_is_lower_and_tells_indefinite),
        cmocka_unit_test(inverse_of_a_factor_gives_the_identity),
        cmocka_unit_test(orthonormalise_keeps_the_space_and_the_signs),
        cmocka_unit_test(triangle_has_the_gram_of_the_matrix),
        cmocka_unit_test(multiply_is_the_triple_loop),
        cmocka_unit_test(pins_overlap_and_the_last_restores),
        cmocka_unit_test(a_pin_takes_the_buffers_that_blas_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
