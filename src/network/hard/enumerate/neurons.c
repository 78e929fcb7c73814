/* SPDX-License-Identifier: Apache-2.0 */
/* The neurons of an enumeration, and whether a z is one. Rows of y below 1e-12 of the longest are
 * zeros, rows that agree to 1e-10 in direction are one; found by sorting one projection, in
 * n log n. A z that vanishes on rows T of rank k - 1 is first made the null vector of these (QR and
 * SVD: errors of rounding times the condition of Y_T, not its square). Then over all n rows:
 *   y z >= 0;  v = X_S^+ (y z)_S, residual at most 10 tolerances;  x_T v <= 0 to the same.
 * v comes from at most ROWS + 20 p rows of S where these span the inputs. Cost 2 |T| k^2 + |S| p.
 */
#include "network/hard/enumerate/enumerate.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/near_rows.h"

#include <math.h>
#include <string.h>

/* rows of S that determine v, and so many more for each input: all others test it */
enum { ROWS = 1000, ROWS_FOR_EACH_INPUT = 20 };
/* Labels and inputs of this share of the longest are rounding of larger ones. */
static const double ZERO = 1e-12;
/* Unit rows that agree to this in each place are one row seen twice: two that were kept would count
 * as two zeros of a z, and are one equation. */
static const double SAME = 1e-10;
/* Singular values of the inputs on S, of the largest: below, v is not determined along them. */
static const double FLAT = 1e-9;
/* Part of a unit z outside the span of those found that makes it another neuron. A z is known to
 * rounding times the condition of its zeros, which NULL_GAP bounds. */
static const double INDEPENDENT = 1e-7;
/* Second smallest singular value of a z's zeros, of the largest: below, the null vector is one of
 * many, and z stays as it came. */
static const double NULL_GAP = 1e-6;
static const double LOOSE = 10;  /* tolerances that residuals of v may have */
static const double ROUGH = 100; /* tolerances for a z that is known to a few digits */

/* ---- the rows ---- */

typedef struct {
    size_t k;
    const double *unit;
} unit_rows;

static int is_same(const void *context, size_t a, size_t b)
{
    const unit_rows *rows = context;
    const double *x = rows->unit + a * rows->k, *y = rows->unit + b * rows->k;
    for (size_t j = 0; j < rows->k; j++)
        if (!(fabs(x[j] - y[j]) <= SAME))
            return 0;
    return 1;
}

/* Y and of: unit rows of y that are neither 0 nor repeated, in random order */
static unrelu_status set_rows(ur_arena *arena, ur_neurons *q, unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = q->n, k = q->k, rows = 0;
    double *unit = ur_take(&own, n, k * sizeof *unit), *uniform = ur_take(&own, n, sizeof *uniform);
    size_t *row = ur_take(&own, n, sizeof *row);
    double longest = 0;
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, q->y_size[i]);
    q->small = ZERO * longest;
    for (size_t i = 0; i < n; i++) {
        if (!(q->y_size[i] > q->small))
            continue;
        for (size_t j = 0; j < k; j++)
            unit[rows * k + j] = q->y[i * k + j] / q->y_size[i];
        row[rows++] = i;
    }
    ur_near_rows near = {rows, k, unit, SAME * sqrt((double)k), is_same, &(unit_rows){k, unit}};
    ur_row_classes classes;
    UR_TRY(ur_near_rows_class(&near, q->seed, UR_STREAM_ENUMERATE_ORDER, &own, &classes, err));
    q->rows = classes.count;
    q->Y = ur_take(arena, q->rows, k * sizeof *q->Y);
    q->of = ur_take(arena, q->rows, sizeof *q->of);
    ur_keyed *order = ur_take(&own, q->rows, sizeof *order),
             *scratch = ur_take(&own, q->rows, sizeof *scratch);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_random_uniforms(q->seed, UR_STREAM_ENUMERATE_ORDER, 0, n, uniform);
    for (size_t i = 0; i < q->rows; i++)
        order[i] = (ur_keyed){uniform[row[classes.first[i]]], classes.first[i]};
    ur_sort_keyed(order, scratch, q->rows);
    for (size_t i = 0; i < q->rows; i++) {
        q->of[i] = row[order[i].at];
        memcpy(q->Y + i * k, unit + order[i].at * k, k * sizeof *unit);
    }
    return UNRELU_OK;
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
                              ur_arena *arena, ur_neurons *q, unrelu_error *err)
{
    UR_ARENA(own);
    double *z = ur_take(&own, rank, sizeof *z);
    *q = (ur_neurons){.n = frame->n,
                      .p = frame->p,
                      .k = rank,
                      .x = frame->x,
                      .y = y,
                      .tolerance = tolerance,
                      .budget = budget,
                      .seed = seed,
                      .exec = exec,
                      .wanted = rank,
                      .z = ur_take(arena, rank, rank * sizeof *q->z),
                      .v = ur_take(arena, rank, frame->p * sizeof *q->v),
                      .unique = ur_take(arena, rank, sizeof *q->unique),
                      .y_size = ur_take(arena, frame->n, sizeof *q->y_size),
                      .x_size = ur_take(arena, frame->n, sizeof *q->x_size),
                      .basis = {.length = rank}};
    q->basis.rows = ur_take(arena, rank, rank * sizeof *q->basis.rows);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < q->n; i++) {
        q->y_size[i] = ur_norm(rank, y + i * rank);
        q->x_size[i] = ur_norm(q->p, q->x + i * q->p);
        q->longest = fmax(q->longest, q->x_size[i]);
    }
    UR_TRY(set_rows(arena, q, err));
    if (frame->terms.constant)
        add_constant(q, z);
    return UNRELU_OK;
}

/* ---- independence ---- */

static double least_remainder(const ur_neurons *q)
{
    return fmax(INDEPENDENT, LOOSE * q->tolerance);
}

int ur_neurons_add(ur_neurons *q, const double *z, const double *v, int unique)
{
    double size = ur_norm(q->k, z);
    if (q->found == q->k || !(size > 0))
        return 0;
    double *row = q->z + q->found * q->k;
    for (size_t j = 0; j < q->k; j++)
        row[j] = z[j] / size;
    if (!ur_basis_grow(&q->basis, row, least_remainder(q)))
        return 0;
    for (size_t j = 0; j < q->p; j++)
        q->v[q->found * q->p + j] = v[j] / size;
    q->unique[q->found++] = unique;
    return 1;
}

/* ---- one candidate ---- */

typedef struct {
    double *z;           /* k */
    double *t;           /* n: y z */
    size_t *on;          /* n: rows of S */
    size_t count;        /* of them */
    double *v;           /* p */
    double slope;        /* max over S of y z / |x|, at most |v| */
    size_t rank;         /* of X_S */
    unsigned char *zero; /* rows of Y */
} candidate;

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
    UR_ARENA(arena);
    size_t k = q->k, count = mark_zeros(q, c->z, c->zero), filled = 0;
    if (k < 2 || count < k - 1)
        return UNRELU_OK;
    double *A = ur_take(&arena, count, k * sizeof *A), *R = ur_take(&arena, k, k * sizeof *R);
    double *U = ur_take(&arena, k, k * sizeof *U), *Vt = ur_take(&arena, k, k * sizeof *Vt);
    double *s = ur_take(&arena, k, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < q->rows; i++)
        if (c->zero[i])
            memcpy(A + filled++ * k, q->Y + i * k, k * sizeof *A);
    UR_TRY(ur_qr_triangle(count, k, A, R, err));
    UR_TRY(ur_svd(k, k, R, U, s, Vt, err));
    if (!(s[k - 2] > fmax(NULL_GAP, LOOSE * q->tolerance) * s[0]))
        return UNRELU_OK;
    const double *null = Vt + (k - 1) * k;
    double sign = ur_dot(k, null, c->z) < 0 ? -1 : 1;
    for (size_t j = 0; j < k; j++)
        c->z[j] = sign * null[j];
    return UNRELU_OK;
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
        if (!(q->x_size[i] > ZERO * q->longest))
            return 0; /* an input of zeros with a label */
        c->on[c->count++] = i;
        c->slope = fmax(c->slope, c->t[i] / q->x_size[i]);
    }
    return c->count > 0;
}

/* v of least norm from every step-th row of S */
static unrelu_status solve(const ur_neurons *q, candidate *c, size_t step, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = q->p, rows = (c->count + step - 1) / step, wide = p + 1;
    double *A = ur_take(&arena, rows, wide * sizeof *A);
    double *R = ur_take(&arena, wide, wide * sizeof *R);
    double *F = ur_take(&arena, p, p * sizeof *F), *b = ur_take(&arena, p, sizeof *b);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < rows; i++) {
        size_t row = c->on[i * step];
        memcpy(A + i * wide, q->x + row * p, p * sizeof *A);
        A[i * wide + p] = c->t[row];
    }
    UR_TRY(ur_qr_triangle(rows, wide, A, R, err));
    for (size_t i = 0; i < p; i++) {
        memcpy(F + i * p, R + i * wide, p * sizeof *F);
        b[i] = R[i * wide + p];
    }
    return ur_least_squares(p, p, 1, F, b, FLAT, c->v, &c->rank, err);
}

static unrelu_status find_row(const ur_neurons *q, candidate *c, unrelu_error *err)
{
    size_t step = c->count / (ROWS + ROWS_FOR_EACH_INPUT * q->p);
    UR_TRY(solve(q, c, step > 1 ? step : 1, err));
    return step > 1 && c->rank < q->p ? solve(q, c, 1, err) : UNRELU_OK;
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
        if (miss <= LOOSE * q->tolerance * q->x_size[i] * c->slope + q->small)
            continue;
        if (on)
            return MISSES_ON;
        result = MISSES_OFF;
    }
    return result;
}

unrelu_status ur_neurons_try(ur_neurons *q, const double *z, int *grew, unrelu_error *err)
{
    UR_ARENA(arena);
    double size = ur_norm(q->k, z), *rest = ur_take(&arena, q->k, sizeof *rest);
    candidate c = {.z = ur_take(&arena, q->k, sizeof *c.z),
                   .t = ur_take(&arena, q->n, sizeof *c.t),
                   .on = ur_take(&arena, q->n, sizeof *c.on),
                   .v = ur_take(&arena, q->p, sizeof *c.v),
                   .zero = ur_take(&arena, q->rows, 1)};
    *grew = 0;
    UR_TRY(ur_arena_status(&arena, err));
    if (q->found == q->wanted || !(size > 0))
        return UNRELU_OK;
    for (size_t j = 0; j < q->k; j++)
        c.z[j] = rest[j] = z[j] / size;
    if (!(ur_basis_remove(&q->basis, q->found, rest) > least_remainder(q)))
        return UNRELU_OK;
    UR_TRY(refine(q, &c, err));
    if (!set_sides(q, &c))
        return UNRELU_OK;
    UR_TRY(find_row(q, &c, err));
    outcome fit = judge(q, &c);
    if (fit == FITS) {
        *grew = ur_neurons_add(q, c.z, c.v, c.rank == q->p && c.count > q->p);
    } else if (fit == MISSES_OFF && c.rank < q->p) { /* another of the v may be off there */
        size_t more = 0;
        mark_zeros(q, c.z, c.zero);
        UR_TRY(ur_face_try(q, c.zero, &more, err));
        *grew = more > 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_neurons_try_rough(ur_neurons *q, const double *z, int *grew, unrelu_error *err)
{
    double tolerance = q->tolerance;
    UR_TRY(ur_neurons_try(q, z, grew, err));
    if (*grew)
        return UNRELU_OK;
    q->tolerance = ROUGH * tolerance;
    unrelu_status status = ur_neurons_try(q, z, grew, err);
    q->tolerance = tolerance;
    return status;
}
