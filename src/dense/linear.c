/* SPDX-License-Identifier: Apache-2.0 */
/* Row-major in, row-major out, without a transposed copy of the input: a symmetric matrix is
 * its own transpose, and the QR of a row-major A is the LQ of the column-major A'.
 *
 * Workspaces are ours: LAPACKE is called by its _work forms, each twice, first to ask how much it
 * would like (where a size is ASK). Its plain forms allocate by themselves and print where that
 * fails. What these forms look for before, NaN, which LAPACK may turn around for ever, is ours to
 * look for too. */
#include "dense/linear.h"

#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"

#include <assert.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { ASK = -1 };

static unrelu_status check(const char *routine, lapack_int info, unrelu_error *err)
{
    if (info != 0)
        return ur_fail(err, UNRELU_EINTERNAL, "LAPACK %s failed with info %ld", routine,
                       (long)info);
    return UNRELU_OK;
}

static unrelu_status check_size(size_t d, unrelu_error *err)
{
    if (d > INT_MAX / 8)
        return ur_fail(err, UNRELU_EINTERNAL, "a matrix of order %zu is too large for LAPACK", d);
    return UNRELU_OK;
}

static unrelu_status refuse_nan(const char *routine, size_t count, const double *A,
                                unrelu_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(A[i]))
            return ur_fail(err, UNRELU_EINTERNAL, "LAPACK %s was given NaN", routine);
    return UNRELU_OK;
}

/* as many doubles as a routine asked for, by the first element of its workspace */
static double *take_room(ur_arena *arena, double asked)
{
    return ur_take(arena, asked > 1 ? (size_t)asked : 1, sizeof(double));
}

/* B (p x n) = A' of A (n x p) */
static void transpose(size_t n, size_t p, const double *A, double *B)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            B[j * n + i] = A[i * p + j];
}

unrelu_status ur_eigen_symmetric(size_t d, const double *A, double *values, double *vectors,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(check_size(d, err));
    if (d == 0)
        return UNRELU_OK;
    double *Z = ur_take(&arena, d, d * sizeof *Z);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(refuse_nan("dsyevd", d * d, A, err));
    memcpy(Z, A, d * d * sizeof *Z);
    lapack_int order = (lapack_int)d, whole = 0;
    char job = vectors ? 'V' : 'N';
    double asked = 0;
    UR_TRY(check("dsyevd",
                 LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', order, Z, order, values, &asked,
                                     ASK, &whole, ASK),
                 err));
    double *room = take_room(&arena, asked);
    lapack_int *indices = ur_take(&arena, (size_t)whole, sizeof *indices);
    UR_TRY(ur_arena_status(&arena, err));
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', order, Z, order, values, room,
                                          (lapack_int)asked, indices, whole);
    UR_TRY(check("dsyevd", info, err));
    if (vectors)
        transpose(d, d, Z, vectors);
    return UNRELU_OK;
}

unrelu_status ur_cholesky(size_t d, const double *A, double *L, int *positive, unrelu_error *err)
{
    *positive = 0;
    UR_TRY(check_size(d, err));
    if (d > 0) {
        for (size_t i = 0; i < d; i++)
            UR_TRY(refuse_nan("dpotrf", i + 1, A + i * d, err));
        memmove(L, A, d * d * sizeof *L);
        /* upper in column-major = lower in row-major */
        lapack_int info =
            LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)d, L, (lapack_int)d);
        if (info > 0)
            return UNRELU_OK;
        UR_TRY(check("dpotrf", info, err));
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++)
            L[i * d + j] = 0;
    *positive = 1;
    return UNRELU_OK;
}

int ur_cholesky_in_place(size_t d, double *A)
{
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)d, A, (lapack_int)d) == 0;
}

int ur_single_cholesky_in_place(size_t d, float *A)
{
    return LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)d, A, (lapack_int)d) == 0;
}

void ur_cholesky_inverse(size_t d, double *L)
{
    if (d == 0)
        return;
    LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (lapack_int)d, L, (lapack_int)d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++)
            L[i * d + j] = L[j * d + i];
}

size_t ur_eigen_room(size_t d)
{
    lapack_int order = d > 0 ? (lapack_int)d : 1;
    double A = 0, values = 0, asked = 0;
    LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', order, &A, order, &values, &asked, ASK);
    return (size_t)asked;
}

int ur_eigen_in_place(size_t d, double *A, double *values, size_t size, double *room)
{
    for (size_t i = 0; i < d; i++)
        if (refuse_nan("dsyev", i + 1, A + i * d, NULL) != UNRELU_OK)
            return 0;
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, A, (lapack_int)d, values,
                              room, (lapack_int)size) == 0;
}

/* dsyevr, by numbers of eigenvalues; where size is ASK, what it would like */
static lapack_int call_top(size_t d, double *A, double *values, double *vectors, double *work,
                           lapack_int size, int *whole, lapack_int indices, int *support)
{
    lapack_int order = (lapack_int)d, from = order > 1 ? order - 1 : 1, found = 0;
    return LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', order, A, order, 0, 0, from, order,
                               0, &found, values, vectors, order, support, work, size, whole,
                               indices);
}

ur_top_room ur_top_room_in(ur_arena *arena, size_t d)
{
    double A = 0, values = 0, vectors = 0, asked = 0;
    int wanted = 0, support[4];
    if (d == 0)
        return (ur_top_room){0};
    call_top(d, &A, &values, &vectors, &asked, ASK, &wanted, ASK, support);
    ur_top_room room = {.size = (size_t)asked, .indices = (size_t)wanted};
    room.work = ur_take(arena, room.size + d, sizeof *room.work);
    room.whole = ur_take(arena, room.indices, sizeof *room.whole);
    return room;
}

int ur_eigen_top(size_t d, double *A, double values[2], double *vectors, ur_top_room *room)
{
    double *found = room->work + room->size; /* d, as dsyevr wants it */
    int support[4];
    for (size_t i = 0; i < d; i++)
        if (refuse_nan("dsyevr", i + 1, A + i * d, NULL) != UNRELU_OK)
            return 0;
    if (call_top(d, A, found, vectors, room->work, (lapack_int)room->size, room->whole,
                 (lapack_int)room->indices, support) != 0)
        return 0;
    values[0] = found[d > 1];
    values[1] = d > 1 ? found[0] : 0;
    for (size_t i = 0; i < d && d > 1; i++) { /* they come in increasing order */
        double first = vectors[i];
        vectors[i] = vectors[d + i];
        vectors[d + i] = first;
    }
    return 1;
}

/* A' (p x n in column-major) = L Q: L below the diagonal of A, Q by the rest and tau */
static unrelu_status factor_lq(size_t n, size_t p, double *A, double *tau, unrelu_error *err)
{
    UR_ARENA(arena);
    lapack_int rows = (lapack_int)p, columns = (lapack_int)n;
    double asked = 0;
    UR_TRY(refuse_nan("dgelqf", n * p, A, err));
    UR_TRY(check("dgelqf",
                 LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, rows, columns, A, rows, tau, &asked, ASK),
                 err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    return check(
        "dgelqf",
        LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, rows, columns, A, rows, tau, room, (lapack_int)asked),
        err);
}

/* Q (k x m in column-major) of what factor_lq left */
static unrelu_status unfold_lq(size_t m, size_t k, double *A, const double *tau, unrelu_error *err)
{
    UR_ARENA(arena);
    lapack_int rows = (lapack_int)k, columns = (lapack_int)m;
    double asked = 0;
    UR_TRY(
        check("dorglq",
              LAPACKE_dorglq_work(LAPACK_COL_MAJOR, rows, columns, rows, A, rows, tau, &asked, ASK),
              err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    return check("dorglq",
                 LAPACKE_dorglq_work(LAPACK_COL_MAJOR, rows, columns, rows, A, rows, tau, room,
                                     (lapack_int)asked),
                 err);
}

unrelu_status ur_orthonormalise(size_t m, size_t k, double *A, unrelu_error *err)
{
    assert(m >= k);
    UR_ARENA(arena);
    UR_TRY(check_size(m, err));
    if (k == 0)
        return UNRELU_OK;
    double *tau = ur_take(&arena, k, sizeof *tau);
    double *diagonal = ur_take(&arena, k, sizeof *diagonal);
    UR_TRY(ur_arena_status(&arena, err));
    /* A' = L Q, so A = Q' R with R = L' */
    UR_TRY(factor_lq(m, k, A, tau, err));
    for (size_t j = 0; j < k; j++)
        diagonal[j] = A[j * k + j];
    UR_TRY(unfold_lq(m, k, A, tau, err));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < k; j++)
            if (diagonal[j] < 0)
                A[i * k + j] = -A[i * k + j];
    return UNRELU_OK;
}

unrelu_status ur_qr_triangle(size_t n, size_t p, double *A, double *R, unrelu_error *err)
{
    size_t least = n < p ? n : p;
    UR_ARENA(arena);
    memset(R, 0, p * p * sizeof *R);
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *tau = ur_take(&arena, least, sizeof *tau);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(factor_lq(n, p, A, tau, err));
    for (size_t i = 0; i < least; i++) /* column i of L is row i of R */
        memcpy(R + i * p + i, A + i * p + i, (p - i) * sizeof *R);
    return UNRELU_OK;
}

/* F (n x p in column-major) with pivoted columns = Q R */
static unrelu_status factor_pivoted(size_t n, size_t p, double *F, lapack_int *pivot, double *tau,
                                    unrelu_error *err)
{
    UR_ARENA(arena);
    lapack_int rows = (lapack_int)n, columns = (lapack_int)p;
    double asked = 0;
    UR_TRY(refuse_nan("dgeqp3", n * p, F, err));
    UR_TRY(check(
        "dgeqp3",
        LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, columns, F, rows, pivot, tau, &asked, ASK),
        err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    return check("dgeqp3",
                 LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, columns, F, rows, pivot, tau, room,
                                     (lapack_int)asked),
                 err);
}

/* the first r columns of Q of what factor_pivoted left */
static unrelu_status unfold_pivoted(size_t n, size_t r, double *F, const double *tau,
                                    unrelu_error *err)
{
    UR_ARENA(arena);
    lapack_int rows = (lapack_int)n, columns = (lapack_int)r;
    double asked = 0;
    UR_TRY(check(
        "dorgqr",
        LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, columns, columns, F, rows, tau, &asked, ASK),
        err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    return check("dorgqr",
                 LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, columns, columns, F, rows, tau, room,
                                     (lapack_int)asked),
                 err);
}

unrelu_status ur_qr_pivoted(size_t n, size_t p, const double *A, double tolerance, size_t *rank,
                            double *Q, double *R, double *diagonal, unrelu_error *err)
{
    size_t least = n < p ? n : p, r = 0;
    UR_ARENA(arena);
    *rank = 0;
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F), *tau = ur_take(&arena, least, sizeof *tau);
    lapack_int *pivot = ur_take(&arena, p, sizeof *pivot);
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, p, A, F);
    UR_TRY(factor_pivoted(n, p, F, pivot, tau, err));
    for (size_t j = 0; j < least; j++) {
        double size = fabs(F[j * n + j]);
        if (diagonal)
            diagonal[j] = size;
        if (r == j && size > tolerance * fabs(F[0]))
            r = j + 1;
    }
    if (R)
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < p; j++)
                R[i * p + (size_t)pivot[j] - 1] = j >= i ? F[j * n + i] : 0;
    *rank = r;
    if (r == 0)
        return UNRELU_OK;
    UR_TRY(unfold_pivoted(n, r, F, tau, err));
    transpose(r, n, F, Q);
    return UNRELU_OK;
}

unrelu_status ur_least_squares(size_t n, size_t p, size_t q, const double *A, const double *B,
                               double tolerance, double *X, size_t *rank, unrelu_error *err)
{
    size_t tall = n > p ? n : p, least = n < p ? n : p;
    lapack_int found = 0, whole = 0;
    double asked = 0;
    UR_ARENA(arena);
    if (rank)
        *rank = 0;
    UR_TRY(check_size(tall, err));
    if (p == 0 || q == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F), *G = ur_take(&arena, tall, q * sizeof *G);
    double *s = ur_take(&arena, least, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, p, A, F);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++)
            G[j * tall + i] = B[i * q + j];
    UR_TRY(refuse_nan("dgelsd", n * p, F, err));
    UR_TRY(refuse_nan("dgelsd", tall * q, G, err));
    lapack_int rows = (lapack_int)n, columns = (lapack_int)p, sides = (lapack_int)q;
    UR_TRY(check("dgelsd",
                 LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, rows, columns, sides, F, rows, G,
                                     (lapack_int)tall, s, tolerance, &found, &asked, ASK, &whole),
                 err));
    double *room = take_room(&arena, asked);
    lapack_int *indices = ur_take(&arena, (size_t)whole, sizeof *indices);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(check("dgelsd",
                 LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, rows, columns, sides, F, rows, G,
                                     (lapack_int)tall, s, tolerance, &found, room,
                                     (lapack_int)asked, indices),
                 err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < q; j++)
            X[i * q + j] = G[j * tall + i];
    if (rank)
        *rank = (size_t)found;
    return UNRELU_OK;
}

unrelu_status ur_solve_positive(size_t d, size_t q, const double *A, double *B, int *positive,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    double *L = ur_take(&arena, d, d * sizeof *L);
    *positive = 0;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_cholesky(d, A, L, positive, err));
    if (*positive && d > 0 && q > 0) {
        ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, d, q, L, d, B, q);
        ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, d, q, L, d, B, q);
    }
    return UNRELU_OK;
}

void ur_solve_lower(size_t d, const double *L, double *x)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++)
            x[i] -= L[i * d + j] * x[j];
        x[i] /= L[i * d + i];
    }
}

unrelu_status ur_svd(size_t n, size_t p, const double *A, double *U, double *s, double *Vt,
                     unrelu_error *err)
{
    size_t least = n < p ? n : p;
    UR_ARENA(arena);
    UR_TRY(check_size(n > p ? n : p, err));
    if (least == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, n, p * sizeof *F), asked = 0;
    lapack_int *indices = ur_take(&arena, 8 * least, sizeof *indices); /* as dgesdd demands */
    lapack_int rows = (lapack_int)p, columns = (lapack_int)n, both = (lapack_int)least;
    char job = U ? 'S' : 'N';
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(refuse_nan("dgesdd", n * p, A, err));
    /* row-major A is column-major A' = Vt' diag(s) U': the factors change places */
    memcpy(F, A, n * p * sizeof *F);
    UR_TRY(check("dgesdd",
                 LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, rows, columns, F, rows, s, Vt, rows, U,
                                     both, &asked, ASK, indices),
                 err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    return check("dgesdd",
                 LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, rows, columns, F, rows, s, Vt, rows, U,
                                     both, room, (lapack_int)asked, indices),
                 err);
}

unrelu_status ur_eigen_general(size_t d, const double *A, double *real, double *imaginary,
                               double *vectors, unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(check_size(d, err));
    if (d == 0)
        return UNRELU_OK;
    double *F = ur_take(&arena, d, d * sizeof *F), *Z = ur_take(&arena, d, d * sizeof *Z);
    lapack_int order = (lapack_int)d;
    double asked = 0;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(refuse_nan("dgeev", d * d, A, err));
    transpose(d, d, A, F);
    UR_TRY(check("dgeev",
                 LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'V', order, F, order, real, imaginary,
                                    NULL, 1, Z, order, &asked, ASK),
                 err));
    double *room = take_room(&arena, asked);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(check("dgeev",
                 LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'V', order, F, order, real, imaginary,
                                    NULL, 1, Z, order, room, (lapack_int)asked),
                 err));
    transpose(d, d, Z, vectors);
    return UNRELU_OK;
}

void ur_unit_rows(size_t m, size_t k, double *A)
{
    for (size_t i = 0; i < m; i++) {
        double norm = ur_norm(k, A + i * k);
        if (norm > 0)
            ur_scale(k, 1 / norm, A + i * k);
    }
}

void ur_gram(size_t m, size_t k, const double *A, double *C)
{
    ur_gemm(UR_PLAIN, UR_TURNED, m, m, k, 1, A, k, A, k, 0, C, m);
    for (size_t i = 0; i < m; i++) /* the two triangles may differ in the last bit */
        for (size_t j = 0; j < i; j++)
            C[i * m + j] = C[j * m + i];
}

/* C (m x p), also where a size is 0, which BLAS refuses */
static void multiply(ur_turn turn_A, ur_turn turn_B, size_t m, size_t k, size_t p, const double *A,
                     const double *B, double *C)
{
    if (k == 0)
        memset(C, 0, m * p * sizeof *C);
    else if (m > 0 && p > 0)
        ur_gemm(turn_A, turn_B, m, p, k, 1, A, turn_A == UR_PLAIN ? k : m, B,
                turn_B == UR_PLAIN ? p : k, 0, C, p);
}

void ur_multiply(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_PLAIN, UR_PLAIN, m, k, p, A, B, C);
}

void ur_multiply_tn(size_t n, size_t m, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_TURNED, UR_PLAIN, m, n, p, A, B, C);
}

void ur_multiply_nt(size_t m, size_t k, size_t p, const double *A, const double *B, double *C)
{
    multiply(UR_PLAIN, UR_TURNED, m, k, p, A, B, C);
}
