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

/* ---- the rows ---- */

static int is_same(const void *context, size_t a, size_t b)
{
    const ur_near_rows *near = context;
    const double *x = near->rows + a * near->length, *y = near->rows + b * near->length;
    for (size_t j = 0; j < near->length; j++)
        if (!(fabs(x[j] - y[j]) <= SAME))
            return 0;
    return 1;
}

/* Y and of: unit rows of y that are neither 0 nor repeated, in random order */
static unrelu_status set_rows(ur_arena *arena, ur_neurons *hunt, unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = hunt->n, k = hunt->k, rows = 0;
    double *unit = ur_take(&own, n, k * sizeof *unit), *uniform = ur_take(&own, n, sizeof *uniform);
    size_t *row = ur_take(&own, n, sizeof *row);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < n; i++) {
        if (!(hunt->y_size[i] > hunt->y_small))
            continue;
        for (size_t j = 0; j < k; j++)
            unit[rows * k + j] = hunt->y[i * k + j] / hunt->y_size[i];
        row[rows++] = i;
    }
    ur_near_rows near = {rows, k, unit, SAME * sqrt((double)k), is_same, &near};
    ur_row_classes classes;
    UR_TRY(ur_near_rows_class(&near, hunt->seed, UR_STREAM_ENUMERATE_ORDER, &own, &classes, err));
    hunt->rows = classes.count;
    hunt->Y = ur_take(arena, hunt->rows, k * sizeof *hunt->Y);
    hunt->of = ur_take(arena, hunt->rows, sizeof *hunt->of);
    ur_keyed *order = ur_take(&own, hunt->rows, sizeof *order),
             *scratch = ur_take(&own, hunt->rows, sizeof *scratch);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_random_uniforms(hunt->seed, UR_STREAM_ENUMERATE_ORDER, 0, n, uniform);
    for (size_t i = 0; i < hunt->rows; i++)
        order[i] = (ur_keyed){uniform[row[classes.first[i]]], classes.first[i]};
    ur_sort_keyed(order, scratch, hunt->rows);
    for (size_t i = 0; i < hunt->rows; i++) {
        hunt->of[i] = row[order[i].at];
        memcpy(hunt->Y + i * k, unit + order[i].at * k, k * sizeof *unit);
    }
    return UNRELU_OK;
}

unrelu_status ur_neurons_open(const ur_frame *frame, const double *y, size_t rank, double tolerance,
                              uint64_t budget, uint64_t seed, const unrelu_exec *exec,
                              ur_arena *arena, ur_neurons *hunt, unrelu_error *err)
{
    *hunt = (ur_neurons){.n = frame->n,
                         .p = frame->p,
                         .k = rank,
                         .x = frame->x,
                         .y = y,
                         .tolerance = tolerance,
                         .budget = budget,
                         .seed = seed,
                         .exec = exec,
                         .z = ur_take(arena, rank, rank * sizeof *hunt->z),
                         .v = ur_take(arena, rank, frame->p * sizeof *hunt->v),
                         .unique = ur_take(arena, rank, sizeof *hunt->unique),
                         .y_size = ur_take(arena, frame->n, sizeof *hunt->y_size),
                         .x_size = ur_take(arena, frame->n, sizeof *hunt->x_size),
                         .basis = {.length = rank}};
    hunt->basis.rows = ur_take(arena, rank, rank * sizeof *hunt->basis.rows);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < hunt->n; i++) {
        hunt->y_size[i] = ur_norm(rank, y + i * rank);
        hunt->x_size[i] = ur_norm(hunt->p, hunt->x + i * hunt->p);
        hunt->x_small = fmax(hunt->x_small, ZERO * hunt->x_size[i]);
        hunt->y_small = fmax(hunt->y_small, ZERO * hunt->y_size[i]);
    }
    for (size_t i = 0; i < hunt->n && frame->terms.constant;
         i++) /* z of the function 1: y'1, as y is orthonormal */
        ur_add(rank, 1, y + i * rank, hunt->z);
    if (frame->terms.constant)
        hunt->constant = (size_t)ur_neurons_add(hunt, hunt->z, hunt->v, 1);
    return set_rows(arena, hunt, err);
}

/* ---- independence ---- */

double ur_neurons_least(const ur_neurons *hunt)
{
    return fmax(INDEPENDENT, UR_LOOSE * hunt->tolerance);
}

int ur_neurons_add(ur_neurons *hunt, const double *z, const double *v, int unique)
{
    double size = ur_norm(hunt->k, z);
    if (hunt->found == hunt->k || !(size > 0))
        return 0;
    double *row = hunt->z + hunt->found * hunt->k;
    for (size_t j = 0; j < hunt->k; j++)
        row[j] = z[j] / size;
    if (!ur_basis_grow(&hunt->basis, row, ur_neurons_least(hunt)))
        return 0;
    for (size_t j = 0; j < hunt->p; j++)
        hunt->v[hunt->found * hunt->p + j] = v[j] / size;
    hunt->unique[hunt->found++] = unique;
    return 1;
}

/* ---- one candidate ---- */

typedef struct {
    double *z;           /* k */
    double *t;           /* n: y z */
    size_t *on;          /* n: rows of S */
    size_t count;        /* of them */
    double *v;           /* p */
    size_t rank;         /* of X_S */
    unsigned char *zero; /* rows of Y */
} candidate;

/* marks of the rows of Y that vanish at z; count of them */
static size_t mark_zeros(const ur_neurons *hunt, const double *z, unsigned char *zero)
{
    size_t count = 0;
    for (size_t i = 0; i < hunt->rows; i++) {
        double t = ur_dot(hunt->k, hunt->Y + i * hunt->k, z);
        zero[i] = fabs(t) <= hunt->tolerance;
        count += zero[i];
    }
    return count;
}

/* z becomes the null vector of the rows where it vanishes, where these have rank k - 1 */
static unrelu_status refine(const ur_neurons *hunt, candidate *c, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = hunt->k, count = mark_zeros(hunt, c->z, c->zero), filled = 0;
    if (k < 2 || count < k - 1)
        return UNRELU_OK;
    double *A = ur_take(&arena, count, k * sizeof *A), *R = ur_take(&arena, k, k * sizeof *R);
    double *U = ur_take(&arena, k, k * sizeof *U), *Vt = ur_take(&arena, k, k * sizeof *Vt);
    double *s = ur_take(&arena, k, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < hunt->rows; i++)
        if (c->zero[i])
            memcpy(A + filled++ * k, hunt->Y + i * k, k * sizeof *A);
    UR_TRY(ur_qr_triangle(count, k, A, R, err));
    UR_TRY(ur_svd(k, k, R, U, s, Vt, err));
    if (!(s[k - 2] > fmax(NULL_GAP, UR_LOOSE * hunt->tolerance) * s[0]))
        return UNRELU_OK;
    const double *null = Vt + (k - 1) * k;
    double sign = ur_dot(k, null, c->z) < 0 ? -1 : 1;
    for (size_t j = 0; j < k; j++)
        c->z[j] = sign * null[j];
    return UNRELU_OK;
}

/* v of least norm from every step-th row of S */
static unrelu_status solve(const ur_neurons *hunt, candidate *c, size_t step, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = hunt->p, rows = (c->count + step - 1) / step, wide = p + 1;
    double *A = ur_take(&arena, rows, wide * sizeof *A);
    double *R = ur_take(&arena, wide, wide * sizeof *R);
    double *F = ur_take(&arena, p, p * sizeof *F), *b = ur_take(&arena, p, sizeof *b);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < rows; i++) {
        size_t row = c->on[i * step];
        memcpy(A + i * wide, hunt->x + row * p, p * sizeof *A);
        A[i * wide + p] = c->t[row];
    }
    UR_TRY(ur_qr_triangle(rows, wide, A, R, err));
    for (size_t i = 0; i < p; i++) {
        memcpy(F + i * p, R + i * wide, p * sizeof *F);
        b[i] = R[i * wide + p];
    }
    return ur_least_squares(p, p, 1, F, b, FLAT, c->v, &c->rank, err);
}

unrelu_status ur_neurons_try(ur_neurons *hunt, const double *z, int *grew, unrelu_error *err)
{
    UR_ARENA(arena);
    double size = ur_norm(hunt->k, z), *rest = ur_take(&arena, hunt->k, sizeof *rest);
    double slope = 0; /* max over S of y z / |x|, at most |v| */
    candidate c = {.z = ur_take(&arena, hunt->k, sizeof *c.z),
                   .t = ur_take(&arena, hunt->n, sizeof *c.t),
                   .on = ur_take(&arena, hunt->n, sizeof *c.on),
                   .v = ur_take(&arena, hunt->p, sizeof *c.v),
                   .zero = ur_take(&arena, hunt->rows, 1)};
    *grew = 0;
    UR_TRY(ur_arena_status(&arena, err));
    if (hunt->found == hunt->k || !(size > 0))
        return UNRELU_OK;
    for (size_t j = 0; j < hunt->k; j++)
        c.z[j] = rest[j] = z[j] / size;
    if (!(ur_basis_remove(&hunt->basis, hunt->found, rest) > ur_neurons_least(hunt)))
        return UNRELU_OK;
    UR_TRY(refine(hunt, &c, err));
    /* t, S and the slope */
    ur_gemv(UR_PLAIN, hunt->n, hunt->k, 1, hunt->y, hunt->k, c.z, 0, c.t);
    for (size_t i = 0; i < hunt->n; i++) {
        double allowed = fmax(hunt->tolerance * hunt->y_size[i], hunt->y_small);
        if (c.t[i] < -allowed)
            return UNRELU_OK;
        if (c.t[i] <= allowed)
            continue;
        if (!(hunt->x_size[i] > hunt->x_small))
            return UNRELU_OK; /* an input of zeros with a label */
        c.on[c.count++] = i;
        slope = fmax(slope, c.t[i] / hunt->x_size[i]);
    }
    if (c.count == 0)
        return UNRELU_OK;
    size_t step = c.count / (ROWS + ROWS_FOR_EACH_INPUT * hunt->p);
    UR_TRY(solve(hunt, &c, step > 1 ? step : 1, err));
    if (step > 1 && c.rank < hunt->p)
        UR_TRY(solve(hunt, &c, 1, err));
    int fits = 1;
    for (size_t i = 0, next = 0; i < hunt->n; i++) {
        int on = next < c.count && c.on[next] == i;
        double s = ur_dot(hunt->p, hunt->x + i * hunt->p, c.v);
        double miss = on ? fabs(s - c.t[i]) : s;
        next += on ? 1 : 0;
        if (miss <= UR_LOOSE * hunt->tolerance * hunt->x_size[i] * slope + hunt->y_small)
            continue;
        if (on)
            return UNRELU_OK;
        fits = 0;
    }
    if (fits) {
        *grew = ur_neurons_add(hunt, c.z, c.v, c.rank == hunt->p && c.count > hunt->p);
    } else if (c.rank < hunt->p) { /* another of the v may be off there */
        ur_face_end end;
        mark_zeros(hunt, c.z, c.zero);
        UR_TRY(ur_face_look(hunt, c.zero, &end, err));
        *grew = end.grew > 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_neurons_try_rough(ur_neurons *hunt, const double *z, int *grew, unrelu_error *err)
{
    double tolerance = hunt->tolerance;
    UR_TRY(ur_neurons_try(hunt, z, grew, err));
    if (*grew)
        return UNRELU_OK;
    hunt->tolerance = UR_ROUGH * tolerance;
    unrelu_status status = ur_neurons_try(hunt, z, grew, err);
    hunt->tolerance = tolerance;
    return status;
}
