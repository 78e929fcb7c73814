/* SPDX-License-Identifier: Apache-2.0 */
/* The neurons of an enumeration, and whether a z is one. Rows of y below 1e-12 of the longest are
 * zeros, rows that agree to 1e-10 in direction are one; found by sorting one projection, in
 * n log n. A z that vanishes on rows T of rank k - 1 is first made the null vector of these (QR and
 * SVD: errors of rounding times the condition of Y_T, not its square). Then over all n rows:
 *   y z >= 0;  v = X_S^+ (y z)_S, residual at most 10 tolerances;  x_T v <= 0 to the same.
 * v comes from at most ROWS + 20 p rows of S where these span the inputs. Cost 2 |T| k^2 + |S| p.
 */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000 };
static const double ZERO = 1e-12, SAME = 1e-10;
static const double FLAT = 1e-9; /* singular values of inputs, relative to the largest */

void ur_neurons_free(ur_neurons *q)
{
    free(q->Y);
    free(q->of);
    free(q->z);
    free(q->v);
    free(q->unique);
    free(q->basis);
    free(q->y_size);
    free(q->x_size);
    memset(q, 0, sizeof *q);
}

/* ---- the rows ---- */

typedef struct {
    double key;
    size_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->row > y->row) - (x->row < y->row);
}

static int is_same(size_t k, const double *a, const double *b)
{
    for (size_t j = 0; j < k; j++)
        if (!(fabs(a[j] - b[j]) <= SAME))
            return 0;
    return 1;
}

/* rows with the smallest key first that no row before them agrees with; count of them */
static size_t drop_repeated(size_t rows, size_t k, const double *Y, double width, keyed *sorted)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows; i++) {
        int fresh = 1;
        for (size_t j = kept; j > 0 && fresh && sorted[i].key - sorted[j - 1].key <= width; j--)
            fresh = !is_same(k, Y + sorted[i].row * k, Y + sorted[j - 1].row * k);
        if (fresh)
            sorted[kept++] = sorted[i];
    }
    return kept;
}

/* Y and of: unit rows of y that are neither 0 nor repeated, in random order */
static unrelu_status set_rows(ur_neurons *q, unrelu_error *err)
{
    size_t n = q->n, k = q->k, rows = 0;
    double *unit = ur_alloc(n, k * sizeof *unit), *r = ur_doubles(k), *order = ur_doubles(n);
    keyed *sorted = ur_alloc(n, sizeof *sorted);
    double longest = 0, width = 0;
    unrelu_status status =
        unit && r && order && sorted ? UNRELU_OK : ur_fail_memory(err, n * k, "labels");
    if (status != UNRELU_OK)
        goto done;
    ur_random_normals(q->seed, UR_STREAM_ENUMERATE_ORDER, 0, k, r);
    ur_random_uniforms(q->seed, UR_STREAM_ENUMERATE_ORDER, 0, n, order);
    for (size_t j = 0; j < k; j++)
        width += SAME * fabs(r[j]);
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, q->y_size[i]);
    q->small = ZERO * longest;
    for (size_t i = 0; i < n; i++) {
        if (!(q->y_size[i] > q->small))
            continue;
        for (size_t j = 0; j < k; j++)
            unit[i * k + j] = q->y[i * k + j] / q->y_size[i];
        sorted[rows++] = (keyed){ur_dot(k, unit + i * k, r), i};
    }
    qsort(sorted, rows, sizeof *sorted, by_key);
    q->rows = drop_repeated(rows, k, unit, width, sorted);
    for (size_t i = 0; i < q->rows; i++)
        sorted[i].key = order[sorted[i].row];
    qsort(sorted, q->rows, sizeof *sorted, by_key);
    q->Y = ur_alloc(q->rows, k * sizeof *q->Y);
    q->of = ur_alloc(q->rows, sizeof *q->of);
    if (!q->Y || !q->of)
        status = ur_fail_memory(err, q->rows * k, "labels");
    for (size_t i = 0; i < q->rows && status == UNRELU_OK; i++) {
        q->of[i] = sorted[i].row;
        memcpy(q->Y + i * k, unit + sorted[i].row * k, k * sizeof *unit);
    }
done:
    free(unit);
    free(r);
    free(order);
    free(sorted);
    return status;
}

/* z of the function 1: y'1, as y has orthonormal columns */
static void add_constant(ur_neurons *q, double *z)
{
    memset(z, 0, q->k * sizeof *z);
    for (size_t i = 0; i < q->n; i++)
        ur_add(q->k, 1, q->y + i * q->k, z);
    q->constant = (size_t)ur_neurons_add(q, z, q->v, 1);
}

unrelu_status ur_neurons_open(const ur_frame *frame, const double *y, size_t rank, double tolerance,
                              uint64_t budget, uint64_t seed, const unrelu_exec *exec,
                              ur_neurons *q, unrelu_error *err)
{
    *q = (ur_neurons){.n = frame->n,
                      .p = frame->p,
                      .k = rank,
                      .x = frame->x,
                      .y = y,
                      .tolerance = tolerance,
                      .budget = budget,
                      .seed = seed,
                      .exec = exec,
                      .wanted = rank};
    double *z = ur_doubles(rank);
    q->z = ur_alloc(rank, rank * sizeof *q->z);
    q->v = ur_alloc(rank, frame->p * sizeof *q->v);
    q->unique = ur_alloc(rank, sizeof *q->unique);
    q->basis = ur_alloc(rank, rank * sizeof *q->basis);
    q->y_size = ur_doubles(q->n);
    q->x_size = ur_doubles(q->n);
    unrelu_status status = UNRELU_OK;
    if (!z || !q->z || !q->v || !q->unique || !q->basis || !q->y_size || !q->x_size) {
        status = ur_fail_memory(err, q->n + rank * (rank + frame->p), "neurons");
    } else {
        for (size_t i = 0; i < q->n; i++) {
            q->y_size[i] = ur_norm(rank, y + i * rank);
            q->x_size[i] = ur_norm(q->p, q->x + i * q->p);
            q->longest = fmax(q->longest, q->x_size[i]);
        }
        status = set_rows(q, err);
    }
    if (status == UNRELU_OK && frame->terms.constant)
        add_constant(q, z);
    free(z);
    if (status != UNRELU_OK)
        ur_neurons_free(q);
    return status;
}

/* ---- independence ---- */

/* rest (k): what z has orthogonal to those found, z of unit length; its length */
static double remainder_of(const ur_neurons *q, const double *z, double *rest)
{
    size_t k = q->k;
    memcpy(rest, z, q->k * sizeof *rest);
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < q->found; j++) {
            const double *b = q->basis + j * q->k;
            ur_add(k, -ur_dot(k, b, rest), b, rest);
        }
    return ur_norm(k, rest);
}

static double least_remainder(const ur_neurons *q)
{
    return fmax(1e-7, 10 * q->tolerance);
}

int ur_neurons_add(ur_neurons *q, const double *z, const double *v, int unique)
{
    size_t k = q->k;
    double size = ur_norm(k, z);
    if (q->found == q->k || !(size > 0))
        return 0;
    double *row = q->z + q->found * q->k, *rest = q->basis + q->found * q->k;
    for (size_t j = 0; j < q->k; j++)
        row[j] = z[j] / size;
    double left = remainder_of(q, row, rest);
    if (!(left > least_remainder(q)))
        return 0;
    ur_scale(k, 1 / left, rest);
    for (size_t j = 0; j < q->p; j++)
        q->v[q->found * q->p + j] = v[j] / size;
    q->unique[q->found++] = unique;
    return 1;
}

/* ---- one candidate ---- */

typedef struct {
    double *z, *rest;    /* k */
    double *t;           /* n: y z */
    size_t *on;          /* n: rows of S */
    size_t count;        /* of them */
    double *v;           /* p */
    double slope;        /* max over S of y z / |x|, at most |v| */
    size_t rank;         /* of X_S */
    unsigned char *zero; /* rows of Y */
} candidate;

static void candidate_free(candidate *c)
{
    free(c->z);
    free(c->rest);
    free(c->t);
    free(c->on);
    free(c->v);
    free(c->zero);
}

static unrelu_status candidate_open(const ur_neurons *q, candidate *c, unrelu_error *err)
{
    *c = (candidate){.z = ur_doubles(q->k),
                     .rest = ur_doubles(q->k),
                     .t = ur_doubles(q->n),
                     .on = ur_alloc(q->n, sizeof *c->on),
                     .v = ur_doubles(q->p),
                     .zero = ur_alloc(q->rows, 1)};
    if (c->z && c->rest && c->t && c->on && c->v && c->zero)
        return UNRELU_OK;
    return ur_fail_memory(err, q->n, "signs");
}

/* marks of the rows of Y that vanish at z; count of them */
static size_t mark_zeros(const ur_neurons *q, const double *z, unsigned char *zero)
{
    size_t count = 0;
    for (size_t i = 0; i < q->rows; i++) {
        double t = ur_dot(q->k, q->Y + i * q->k, z);
        zero[i] = fabs(t) <= q->tolerance;
        count += zero[i];
    }
    return count;
}

/* z becomes the null vector of the rows where it vanishes, where these have rank k - 1 */
static unrelu_status refine(const ur_neurons *q, candidate *c, unrelu_error *err)
{
    size_t k = q->k, count = mark_zeros(q, c->z, c->zero), filled = 0;
    if (k < 2 || count < k - 1)
        return UNRELU_OK;
    double *A = ur_alloc(count, k * sizeof *A), *R = ur_alloc(k, k * sizeof *R);
    double *U = ur_alloc(k, k * sizeof *U), *Vt = ur_alloc(k, k * sizeof *Vt), *s = ur_doubles(k);
    unrelu_status status =
        A && R && U && Vt && s ? UNRELU_OK : ur_fail_memory(err, count * k, "labels");
    for (size_t i = 0; i < q->rows && status == UNRELU_OK; i++)
        if (c->zero[i])
            memcpy(A + filled++ * k, q->Y + i * k, k * sizeof *A);
    if (status == UNRELU_OK)
        status = ur_qr_triangle(count, k, A, R, err);
    if (status == UNRELU_OK)
        status = ur_svd(k, k, R, U, s, Vt, err);
    if (status == UNRELU_OK && s[k - 2] > fmax(1e-6, 10 * q->tolerance) * s[0]) {
        const double *null = Vt + (k - 1) * k;
        double sign = ur_dot(k, null, c->z) < 0 ? -1 : 1;
        for (size_t j = 0; j < k; j++)
            c->z[j] = sign * null[j];
    }
    free(A);
    free(R);
    free(U);
    free(Vt);
    free(s);
    return status;
}

/* t, S and the slope; 0 where y z is below 0 somewhere */
static int set_sides(const ur_neurons *q, candidate *c)
{
    ur_gemv(UR_PLAIN, q->n, q->k, 1, q->y, q->k, c->z, 0, c->t);
    c->count = 0;
    c->slope = 0;
    for (size_t i = 0; i < q->n; i++) {
        double allowed = fmax(q->tolerance * q->y_size[i], q->small);
        if (c->t[i] < -allowed)
            return 0;
        if (c->t[i] <= allowed)
            continue;
        if (!(q->x_size[i] > 1e-12 * q->longest))
            return 0; /* an input of zeros with a label */
        c->on[c->count++] = i;
        c->slope = fmax(c->slope, c->t[i] / q->x_size[i]);
    }
    return c->count > 0;
}

/* v of least norm from every step-th row of S */
static unrelu_status solve(const ur_neurons *q, candidate *c, size_t step, unrelu_error *err)
{
    size_t p = q->p, rows = (c->count + step - 1) / step, wide = p + 1;
    double *A = ur_alloc(rows, wide * sizeof *A), *R = ur_alloc(wide, wide * sizeof *R);
    double *F = ur_alloc(p, p * sizeof *F), *b = ur_doubles(p);
    unrelu_status status =
        A && R && F && b ? UNRELU_OK : ur_fail_memory(err, rows * wide, "inputs");
    for (size_t i = 0; i < rows && status == UNRELU_OK; i++) {
        size_t row = c->on[i * step];
        memcpy(A + i * wide, q->x + row * p, p * sizeof *A);
        A[i * wide + p] = c->t[row];
    }
    if (status == UNRELU_OK)
        status = ur_qr_triangle(rows, wide, A, R, err);
    for (size_t i = 0; i < p && status == UNRELU_OK; i++) {
        memcpy(F + i * p, R + i * wide, p * sizeof *F);
        b[i] = R[i * wide + p];
    }
    if (status == UNRELU_OK)
        status = ur_least_squares(p, p, 1, F, b, FLAT, c->v, &c->rank, err);
    free(A);
    free(R);
    free(F);
    free(b);
    return status;
}

static unrelu_status find_row(const ur_neurons *q, candidate *c, unrelu_error *err)
{
    size_t step = c->count / (ROWS + 20 * q->p);
    unrelu_status status = solve(q, c, step > 1 ? step : 1, err);
    if (status == UNRELU_OK && step > 1 && c->rank < q->p)
        status = solve(q, c, 1, err);
    return status;
}

typedef enum { FITS, MISSES_ON, MISSES_OFF } outcome;

static outcome judge(const ur_neurons *q, const candidate *c)
{
    outcome result = FITS;
    for (size_t i = 0, next = 0; i < q->n; i++) {
        int on = next < c->count && c->on[next] == i;
        double s = ur_dot(q->p, q->x + i * q->p, c->v);
        double miss = on ? fabs(s - c->t[i]) : s;
        next += on ? 1 : 0;
        if (miss <= 10 * q->tolerance * q->x_size[i] * c->slope + q->small)
            continue;
        if (on)
            return MISSES_ON;
        result = MISSES_OFF;
    }
    return result;
}

unrelu_status ur_neurons_try(ur_neurons *q, const double *z, int *grew, unrelu_error *err)
{
    candidate c;
    double size = ur_norm(q->k, z);
    size_t more = 0;
    *grew = 0;
    unrelu_status status = candidate_open(q, &c, err);
    if (status != UNRELU_OK || q->found == q->wanted || !(size > 0))
        goto done;
    for (size_t j = 0; j < q->k; j++)
        c.z[j] = z[j] / size;
    if (!(remainder_of(q, c.z, c.rest) > least_remainder(q)))
        goto done;
    status = refine(q, &c, err);
    if (status != UNRELU_OK || !set_sides(q, &c))
        goto done;
    status = find_row(q, &c, err);
    if (status != UNRELU_OK)
        goto done;
    outcome fit = judge(q, &c);
    if (fit == FITS) {
        *grew = ur_neurons_add(q, c.z, c.v, c.rank == q->p && c.count > q->p);
    } else if (fit == MISSES_OFF && c.rank < q->p) { /* another of the v may be off there */
        mark_zeros(q, c.z, c.zero);
        status = ur_face_try(q, c.zero, &more, err);
        *grew = more > 0;
    }
done:
    candidate_free(&c);
    return status;
}

unrelu_status ur_neurons_try_rough(ur_neurons *q, const double *z, int *grew, unrelu_error *err)
{
    double tolerance = q->tolerance;
    unrelu_status status = ur_neurons_try(q, z, grew, err);
    if (status == UNRELU_OK && !*grew) {
        q->tolerance = 100 * tolerance;
        status = ur_neurons_try(q, z, grew, err);
        q->tolerance = tolerance;
    }
    return status;
}
