/* SPDX-License-Identifier: Apache-2.0 */
/* The singular values of the samples, and what they say of p and of the noise.
 *
 * X = Q R block by block (a tree of QR factorisations: rounding of X itself, where X'X would lose
 * half the digits), then the singular values of R. Without noise those beyond p are rounding, in
 * columns of equal size: below 1e-10 of the first. Noise of deviation sigma in every column gives
 * them size sigma sqrt(n), at most sigma (sqrt(n - p) + sqrt(d - p)), and
 *   sigma^2 = sum_{j > p} s_j^2 / ((n - p) (d - p)).
 * p is then the first beyond which all are no larger than noise makes them; where noise is not the
 * same in all columns, the last with a gap behind it (GAP times the next; not the largest gap,
 * which may lie among the units). Cost 2 n d^2. */
#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"
#include "model/digits.h"
#include "pass/parallel.h"
#include "read/source.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* values that can be squared, and summed, with their digits */
static const double LARGEST = 1e100, SMALLEST = 1e-100;
/* decimal digits up to which rounding is told from full precision, as model/digits.h counts them */
enum { MOST_DIGITS = 13 };

enum { BLOCK = 2048 };

/* ---- sizes of the columns ---- */

static unrelu_status measure_columns(const unrelu_source *source, ur_span *s, unrelu_error *err)
{
    size_t n = s->n, d = s->d;
    for (size_t i = 0; i < n; i++) {
        int zero = 1;
        for (size_t j = 0; j < d; j++) {
            double size = fabs(s->x[i * d + j]);
            s->unit[j] = fmax(s->unit[j], size);
            zero &= size == 0;
        }
        s->nonzero += !zero;
    }
    for (size_t j = 0; j < d; j++) {
        char label[160];
        double largest = s->unit[j];
        s->unit[j] = largest > 0 ? ldexp(1, ilogb(largest)) : 1;
        s->common = fmax(s->common, largest > 0 ? s->unit[j] : 0);
        if (largest == 0 || (largest < LARGEST && largest > SMALLEST))
            continue;
        ur_source_column_label(source, j, label, sizeof label);
        return ur_fail(err, UNRELU_EDATA,
                       "%s: the largest value of %s is %g, and values between 1e-100 and 1e100 can "
                       "be squared: change the unit of that column",
                       ur_source_label(source), label, largest);
    }
    for (size_t j = 0; j < d; j++)
        s->even[j] = s->common;
    if (s->nonzero == 0)
        return ur_fail(err, UNRELU_EDATA, "%s: all %zu samples are 0: there is nothing to unmix",
                       ur_source_label(source), n);
    return UNRELU_OK;
}

/* deviation of the rounding of x, were all columns as coarse as the coarsest */
static void measure_precision(ur_span *s)
{
    double square = 0, rounding = 0;
    int most = 0;
    for (size_t i = 0; i < s->n * s->d; i++)
        square += s->x[i] / s->common * (s->x[i] / s->common);
    s->rms = s->common * sqrt(square / ((double)s->n * (double)s->d));
    for (size_t j = 0; j < s->d; j++) {
        int digits;
        double column = ur_norm_steps(s->n, s->x + j, s->d) / sqrt((double)s->n);
        double relative = ur_digits_rounding(s->n, s->d, s->x, j, column, &digits);
        if (relative == 0 && column > 0)
            most = INT_MAX;
        most = digits > most ? digits : most;
        rounding = fmax(rounding, relative * column);
    }
    snprintf(s->precision, sizeof s->precision, "double");
    if (most > 0 && most <= MOST_DIGITS) {
        s->rounding = rounding;
        snprintf(s->precision, sizeof s->precision, "digits:%u", (unsigned)most & 15);
    } else if (ur_digits_single(s->n * s->d, s->x)) {
        s->rounding = FLT_EPSILON / 4 / sqrt(3) * s->rms; /* uniform within half of the last bit */
        snprintf(s->precision, sizeof s->precision, "single");
    }
}

/* ---- singular values ---- */

typedef struct {
    const double *X; /* rows x d */
    const double *unit;
    size_t rows, d, block;
    double *out; /* for each block d x d */
} triangles;

static unrelu_status triangle(void *context, size_t i, unrelu_error *err)
{
    const triangles *t = context;
    size_t d = t->d, first = i * t->block;
    size_t rows = t->rows - first < t->block ? t->rows - first : t->block;
    UR_ARENA(arena);
    double *A = ur_take(&arena, rows, d * sizeof *A);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < d; j++)
            A[r * d + j] = t->X[(first + r) * d + j] / (t->unit ? t->unit[j] : 1);
    return ur_qr_triangle(rows, d, A, t->out + i * d * d, err);
}

/* R = the triangle of X (rows x d), its columns over unit (NULL: 1) */
static unrelu_status factor(const double *X, const double *unit, size_t rows, size_t d, double *R,
                            const unrelu_exec *exec, unrelu_error *err)
{
    size_t block = 4 * d > BLOCK ? 4 * d : BLOCK, blocks = (rows + block - 1) / block;
    UR_ARENA(arena);
    triangles t = {X, unit, rows, d, block, ur_take(&arena, blocks, d * d * sizeof *t.out)};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_each(exec, "singular values", blocks, triangle, &t, err));
    if (blocks > 1)
        return factor(t.out, NULL, blocks * d, d, R, exec, err);
    memcpy(R, t.out, d * d * sizeof *R);
    return UNRELU_OK;
}

unrelu_status ur_span_measure(const unrelu_source *source, const ur_table *x,
                              const unrelu_exec *exec, ur_arena *arena, ur_span *s,
                              unrelu_error *err)
{
    size_t n = x->rows, d = x->columns;
    UR_ARENA(own);
    double *same = ur_take(&own, d, d * sizeof *same), *left = ur_take(&own, d, d * sizeof *left);
    *s = (ur_span){.n = n, .d = d, .x = x->cells, .most = n < d ? n : d};
    double **const lists[] = {&s->unit, &s->even, &s->each, &s->same};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = ur_take(arena, d, sizeof(double));
    double **const squares[] = {&s->R, &s->each_vt, &s->same_vt};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        *squares[i] = ur_take(arena, d, d * sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(measure_columns(source, s, err));
    measure_precision(s);
    UR_TRY(factor(s->x, s->unit, n, d, s->R, exec, err));
    for (size_t i = 0; i < d * d; i++)
        same[i] = s->R[i] * (s->unit[i % d] / s->common);
    UR_TRY(ur_svd(d, d, s->R, left, s->each, s->each_vt, err));
    UR_TRY(ur_svd(d, d, same, left, s->same, s->same_vt, err));
    while (s->rank < s->most && s->each[s->rank] > UR_UNMIX_RANK * s->each[0])
        s->rank++;
    return UNRELU_OK;
}

/* ---- p and noise ---- */

double ur_span_noise(const ur_span *s, size_t p)
{
    double sum = 0;
    if (p >= s->most)
        return 0;
    for (size_t j = p; j < s->most; j++)
        sum += s->same[j] * s->same[j];
    return s->common * sqrt(sum / ((double)(s->n - p) * (double)(s->d - p)));
}

double ur_span_excess(const ur_span *s, size_t p)
{
    double edge = sqrt((double)(s->n - p)) + sqrt((double)(s->d - p));
    return s->same[p] * s->common / (edge * ur_span_noise(s, p));
}

size_t ur_span_gap(const ur_span *s)
{
    size_t best = 0;
    for (size_t p = 1; p < s->most; p++)
        if (best == 0 || s->same[p - 1] / s->same[p] > s->same[best - 1] / s->same[best])
            best = p;
    return best;
}

size_t ur_span_flat(const ur_span *s)
{
    size_t p = 1, gap = ur_span_gap(s);
    if (gap > 0 && s->same[gap - 1] > UR_GAP_DECISIVE * s->same[gap])
        return gap;
    while (p < s->most && ur_span_excess(s, p) > UR_EXCESS_FLAT)
        p++;
    return p < s->most ? p : 0;
}

/* ---- the cone ---- */

static unrelu_status multiply(void *cone, size_t i, unrelu_error *err)
{
    const ur_cone *c = cone;
    size_t first = i * BLOCK, rows = c->n - first < BLOCK ? c->n - first : BLOCK;
    (void)err;
    ur_multiply(rows, c->d, c->p, c->x + first * c->d, c->B, c->y + first * c->p);
    return UNRELU_OK;
}

unrelu_status ur_cone_make(const ur_span *s, size_t p, double sigma, const unrelu_exec *exec,
                           ur_arena *arena, ur_cone *cone, unrelu_error *err)
{
    size_t d = s->d, n = s->n;
    int noisy = sigma > 0;
    const double *values = noisy ? s->same : s->each, *vt = noisy ? s->same_vt : s->each_vt;
    *cone = (ur_cone){.n = n,
                      .d = d,
                      .p = p,
                      .x = s->x,
                      .y = ur_take(arena, n, p * sizeof *cone->y),
                      .B = ur_take(arena, d, p * sizeof *cone->B),
                      .C = ur_take(arena, p, d * sizeof *cone->C),
                      .unit = noisy ? s->even : s->unit,
                      .sigma = sigma,
                      .noise = noisy ? ur_take(arena, p, p * sizeof *cone->noise) : NULL,
                      .tolerance = UR_UNMIX_OFF};
    UR_TRY(ur_arena_status(arena, err));
    for (size_t k = 0; k < p; k++) {
        double size = values[k] / sqrt((double)n), deviation = sigma / s->common / size;
        for (size_t j = 0; j < d; j++) {
            cone->B[j * p + k] = vt[k * d + j] / size / cone->unit[j];
            cone->C[k * d + j] = vt[k * d + j] * size * cone->unit[j];
        }
        if (noisy)
            cone->noise[k * p + k] = deviation * deviation;
    }
    return ur_each(exec, "projecting", (n + BLOCK - 1) / BLOCK, multiply, cone, err);
}

double ur_cone_noise(const ur_cone *cone, const double *u)
{
    double sum = 0;
    for (size_t k = 0; cone->noise && k < cone->p; k++)
        sum += cone->noise[k * cone->p + k] * u[k] * u[k];
    return sqrt(sum);
}

unrelu_status ur_cone_growth(const ur_cone *c, double *ratio, unrelu_error *err)
{
    size_t n = c->n, d = c->d, p = c->p;
    double half[2] = {0, 0};
    UR_ARENA(arena);
    ur_keyed *size = ur_take(&arena, n, sizeof *size), *scratch = ur_take(&arena, n, sizeof *size);
    double *left = ur_take(&arena, n, sizeof *left), *rest = ur_take(&arena, d, sizeof *rest);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++) {
        const double *y = c->y + i * p;
        for (size_t j = 0; j < d; j++)
            rest[j] = c->x[i * d + j] / c->unit[j];
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < d; j++)
                rest[j] -= y[k] * (c->C[k * d + j] / c->unit[j]);
        size[i] = (ur_keyed){ur_dot(p, y, y), i};
        left[i] = ur_dot(d, rest, rest);
    }
    ur_sort_keyed(size, scratch, n);
    for (size_t i = 0; i < n; i++)
        half[2 * i >= n] += left[size[i].at];
    *ratio = half[1] / half[0] * (double)(n / 2) / (double)(n - n / 2);
    return UNRELU_OK;
}
