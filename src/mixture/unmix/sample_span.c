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
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "mixture/problem/unmix.h"
#include "model/digits.h"
#include "pass/parallel.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK     1e-10
#define DECISIVE 100.0 /* a gap that no unevenness of noise explains */
#define FLAT     1.1   /* of the largest singular value that noise makes */

enum { BLOCK = 2048 };

void ur_span_free(ur_span *s)
{
    double *const all[] = {s->unit, s->even, s->R, s->each, s->each_vt, s->same, s->same_vt};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *s = (ur_span){0};
}

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
        if (largest == 0 || (largest < 1e100 && largest > 1e-100))
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
            most = 99;
        most = digits > most ? digits : most;
        rounding = fmax(rounding, relative * column);
    }
    snprintf(s->precision, sizeof s->precision, "double");
    if (most > 0 && most <= 13) {
        s->rounding = rounding;
        snprintf(s->precision, sizeof s->precision, "digits:%u", (unsigned)most & 15);
    } else if (ur_digits_single(s->n * s->d, s->x)) {
        s->rounding = 0x1p-25 / sqrt(3) * s->rms;
        snprintf(s->precision, sizeof s->precision, "single");
    }
}

/* ---- singular values ---- */

typedef struct {
    const double *X; /* rows x d */
    const double *unit;
    size_t rows, d, block;
    double *out; /* for each block d x d */
    unrelu_status *status;
} triangles;

static void triangle(void *context, size_t i)
{
    const triangles *t = context;
    size_t d = t->d, first = i * t->block;
    size_t rows = t->rows - first < t->block ? t->rows - first : t->block;
    double *A = ur_alloc(rows, d * sizeof *A);
    if (!A) {
        t->status[i] = UNRELU_ENOMEM;
        return;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < d; j++)
            A[r * d + j] = t->X[(first + r) * d + j] / (t->unit ? t->unit[j] : 1);
    t->status[i] = ur_qr_triangle(rows, d, A, t->out + i * d * d, NULL);
    free(A);
}

/* R = the triangle of X (rows x d), its columns over unit (NULL: 1) */
static unrelu_status factor(const double *X, const double *unit, size_t rows, size_t d, double *R,
                            const unrelu_exec *exec, unrelu_error *err)
{
    size_t block = 4 * d > BLOCK ? 4 * d : BLOCK, blocks = (rows + block - 1) / block;
    triangles t = {X, unit, rows, d, block, NULL, NULL};
    unrelu_status status = UNRELU_OK;
    t.out = ur_alloc(blocks, d * d * sizeof *t.out);
    t.status = ur_alloc(blocks, sizeof *t.status);
    if (!t.out || !t.status)
        status = ur_fail_memory(err, blocks * d * d, "numbers of a QR factorisation");
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "singular values", blocks, triangle, &t, err);
    for (size_t i = 0; i < blocks && status == UNRELU_OK; i++)
        if (t.status[i] != UNRELU_OK)
            status = ur_fail(err, t.status[i], "a QR factorisation of %zu columns failed", d);
    if (status == UNRELU_OK && blocks > 1)
        status = factor(t.out, NULL, blocks * d, d, R, exec, err);
    else if (status == UNRELU_OK)
        memcpy(R, t.out, d * d * sizeof *R);
    free(t.out);
    free(t.status);
    return status;
}

static unrelu_status decompose(ur_span *s, unrelu_error *err)
{
    size_t d = s->d;
    double *same = ur_alloc(d, d * sizeof *same), *left = ur_alloc(d, d * sizeof *left);
    unrelu_status status = UNRELU_OK;
    if (!same || !left)
        status = ur_fail_memory(err, d * d, "singular vectors");
    for (size_t i = 0; i < d * d && status == UNRELU_OK; i++)
        same[i] = s->R[i] * (s->unit[i % d] / s->common);
    if (status == UNRELU_OK)
        status = ur_svd(d, d, s->R, left, s->each, s->each_vt, err);
    if (status == UNRELU_OK)
        status = ur_svd(d, d, same, left, s->same, s->same_vt, err);
    free(same);
    free(left);
    while (s->rank < s->most && s->each[s->rank] > RANK * s->each[0])
        s->rank++;
    return status;
}

unrelu_status ur_span_measure(const unrelu_source *source, const ur_table *x,
                              const unrelu_exec *exec, ur_span *s, unrelu_error *err)
{
    size_t n = x->rows, d = x->columns;
    *s = (ur_span){.n = n, .d = d, .x = x->cells, .most = n < d ? n : d};
    s->unit = ur_doubles(d);
    s->even = ur_doubles(d);
    s->R = ur_alloc(d, d * sizeof *s->R);
    s->each = ur_doubles(d);
    s->same = ur_doubles(d);
    s->each_vt = ur_alloc(d, d * sizeof *s->each_vt);
    s->same_vt = ur_alloc(d, d * sizeof *s->same_vt);
    if (!s->unit || !s->even || !s->R || !s->each || !s->same || !s->each_vt || !s->same_vt)
        return ur_fail_memory(err, d * d, "singular vectors");
    unrelu_status status = measure_columns(source, s, err);
    if (status != UNRELU_OK)
        return status;
    measure_precision(s);
    status = factor(s->x, s->unit, n, d, s->R, exec, err);
    return status == UNRELU_OK ? decompose(s, err) : status;
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
    if (gap > 0 && s->same[gap - 1] > DECISIVE * s->same[gap])
        return gap;
    while (p < s->most && ur_span_excess(s, p) > FLAT)
        p++;
    return p < s->most ? p : 0;
}

/* ---- the cone ---- */

typedef struct {
    const ur_cone *cone;
    size_t block;
} products;

static void multiply(void *context, size_t i)
{
    const products *w = context;
    const ur_cone *c = w->cone;
    size_t first = i * w->block, rows = c->n - first < w->block ? c->n - first : w->block;
    ur_multiply(rows, c->d, c->p, c->x + first * c->d, c->B, c->y + first * c->p);
}

unrelu_status ur_cone_make(const ur_span *s, size_t p, double sigma, const unrelu_exec *exec,
                           ur_cone *cone, unrelu_error *err)
{
    size_t d = s->d, n = s->n;
    const double *values = sigma > 0 ? s->same : s->each;
    const double *vt = sigma > 0 ? s->same_vt : s->each_vt;
    *cone = (ur_cone){.n = n,
                      .d = d,
                      .p = p,
                      .x = s->x,
                      .unit = sigma > 0 ? s->even : s->unit,
                      .sigma = sigma,
                      .tolerance = 1e-8};
    cone->B = ur_alloc(d, p * sizeof *cone->B);
    cone->C = ur_alloc(p, d * sizeof *cone->C);
    cone->y = ur_alloc(n, p * sizeof *cone->y);
    if (sigma > 0)
        cone->noise = ur_alloc(p, p * sizeof *cone->noise);
    if (!cone->B || !cone->C || !cone->y || (sigma > 0 && !cone->noise))
        return ur_fail_memory(err, n * p, "numbers in the samples' span");
    for (size_t k = 0; k < p; k++) {
        double size = values[k] / sqrt((double)n);
        for (size_t j = 0; j < d; j++) {
            double unit = sigma > 0 ? s->common : s->unit[j];
            cone->B[j * p + k] = vt[k * d + j] / size / unit;
            cone->C[k * d + j] = vt[k * d + j] * size * unit;
        }
        if (sigma > 0) {
            double deviation = sigma / s->common / size;
            cone->noise[k * p + k] = deviation * deviation;
        }
    }
    products w = {cone, BLOCK};
    return ur_parallel_for(exec, "projecting", (n + BLOCK - 1) / BLOCK, multiply, &w, err);
}

void ur_cone_free(ur_cone *cone)
{
    free(cone->y);
    free(cone->B);
    free(cone->C);
    free(cone->noise);
    *cone = (ur_cone){0};
}

double ur_cone_noise(const ur_cone *cone, const double *u)
{
    double sum = 0;
    for (size_t k = 0; cone->noise && k < cone->p; k++)
        sum += cone->noise[k * cone->p + k] * u[k] * u[k];
    return sqrt(sum);
}
