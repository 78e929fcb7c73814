/* SPDX-License-Identifier: Apache-2.0 */
/* Is the law of x symmetric about 0? Odd functions f of x then have mean 0, and
 *     n fbar' E[ff']^+ fbar  ~  chi2 with rank E[ff'] degrees of freedom.
 * With z = x in units of its root mean square, f holds z_i, clip(z_i, +-3)^3 (together: the
 * margins) and sin(omega . z), omega normal of length about 1/2, 1 and 2 (the joint law). With n
 * below the number of functions the statistic is at most n and nothing is rejected. */
#include "paper/two_layer/symmetry_test.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/exact/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAVES = 8, ROUNDS = 100000 };
#define CLIP         3
#define RANK         1e-10
#define OMEGAS_FIRST ((uint64_t)1 << 40) /* the rest of the stream is span.c's */

/* Gamma(a, x) / Gamma(a): the series of the lower function below x = a + 1, the continued
 * fraction of the upper one (modified Lentz) above */
static double upper_gamma(double a, double x)
{
    int sign;
    if (!(x > 0))
        return 1;
    double front = exp(a * log(x) - x - lgamma_r(a, &sign));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < ROUNDS && term > sum * 1e-17; i++)
            sum += term *= x / (a + i);
        return fmax(0, 1 - front * sum);
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, f = d;
    for (int i = 1; i < ROUNDS; i++) {
        double an = -i * (i - a), step;
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        f *= step = c * d;
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return front * f;
}

double ur_chi2_tail(double degrees, double x)
{
    return upper_gamma(0.5 * degrees, 0.5 * x);
}

typedef struct {
    size_t d, waves, p;
    double *scale; /* d */
    double *omega; /* waves x d */
    double *z;     /* d */
} functions;

static void set_scale(const ur_sample *s, double *scale)
{
    for (size_t j = 0; j < s->d; j++) {
        double most = 0, squares = 0;
        for (size_t i = 0; i < s->n; i++)
            most = fmax(most, fabs(s->x[i * s->d + j]));
        for (size_t i = 0; i < s->n && most > 0; i++) {
            double g = s->x[i * s->d + j] / most;
            squares += g * g;
        }
        scale[j] = most > 0 ? 1 / (most * sqrt(squares / (double)s->n)) : 0;
    }
}

static void set_omega(uint64_t seed, functions *f)
{
    static const double size[3] = {0.5, 1, 2};
    ur_random_normals(seed, UR_STREAM_SPAN, OMEGAS_FIRST, f->waves * f->d, f->omega);
    for (size_t i = 0; i < f->waves; i++)
        for (size_t j = 0; j < f->d; j++)
            f->omega[i * f->d + j] *= size[i % 3] / sqrt((double)f->d);
}

/* p numbers, the last of them 1 */
static void evaluate(const functions *f, const double *x, double *out)
{
    for (size_t j = 0; j < f->d; j++) {
        double z = f->z[j] = x[j] * f->scale[j], cut = fmax(-CLIP, fmin(CLIP, z));
        *out++ = z;
        *out++ = cut * cut * cut;
    }
    for (size_t i = 0; i < f->waves; i++) {
        double t = 0;
        for (size_t j = 0; j < f->d; j++)
            t += f->omega[i * f->d + j] * f->z[j];
        *out++ = sin(t);
    }
    *out = 1;
}

/* C ((p + 1)^2): sums of products of (f, 1), lower triangle */
static unrelu_status add_up(const ur_sample *s, const functions *f, const unrelu_exec *exec,
                            double *C, unrelu_error *err)
{
    size_t width = f->p + 1;
    double *block = ur_alloc(UR_LIFT_BLOCK, width * sizeof *block);
    if (!block)
        return ur_fail_memory(err, UR_LIFT_BLOCK * width, "odd functions");
    unrelu_status status = UNRELU_OK;
    for (size_t first = 0; first < s->n && status == UNRELU_OK; first += UR_LIFT_BLOCK) {
        size_t rows = s->n - first < UR_LIFT_BLOCK ? s->n - first : UR_LIFT_BLOCK;
        for (size_t i = 0; i < rows; i++)
            evaluate(f, s->x + (first + i) * s->d, block + i * width);
        status = ur_lift_add(exec, rows, width, block, width, block, 1, C, err);
    }
    free(block);
    return status;
}

/* n fbar' E[ff']^+ fbar, functions in units of their root mean square */
static unrelu_status solve(size_t n, size_t p, const double *C, ur_symmetry *out, unrelu_error *err)
{
    size_t width = p + 1;
    double *M = ur_alloc(p, p * sizeof *M), *vectors = ur_alloc(p, p * sizeof *vectors);
    double *values = ur_doubles(p), *mean = ur_doubles(p), *scale = ur_doubles(p);
    unrelu_status status = UNRELU_OK;
    if (!M || !vectors || !values || !mean || !scale) {
        status = ur_fail_memory(err, p * p, "products of odd functions");
        goto done;
    }
    for (size_t i = 0; i < p; i++)
        scale[i] = C[i * width + i] > 0 ? 1 / sqrt(C[i * width + i] / (double)n) : 0;
    for (size_t i = 0; i < p; i++) {
        mean[i] = C[p * width + i] * scale[i] / (double)n;
        for (size_t j = 0; j <= i; j++)
            M[i * p + j] = M[j * p + i] = C[i * width + j] * scale[i] * scale[j] / (double)n;
    }
    status = ur_eigen_symmetric(p, M, values, vectors, err);
    for (size_t i = 0; i < p && status == UNRELU_OK; i++) {
        double along = 0;
        if (!(values[i] > RANK * values[p - 1]))
            continue;
        for (size_t j = 0; j < p; j++)
            along += vectors[j * p + i] * mean[j];
        out->statistic += (double)n * along * along / values[i];
        out->degrees++;
    }
done:
    free(M);
    free(vectors);
    free(values);
    free(mean);
    free(scale);
    return status;
}

unrelu_status ur_symmetry_test(const ur_sample *sample, uint64_t seed, const unrelu_exec *exec,
                               ur_symmetry *out, unrelu_error *err)
{
    size_t d = sample->d, waves = 3 * (d < WAVES ? d : WAVES), p = 2 * d + waves;
    functions f = {.d = d, .waves = waves, .p = p};
    double *C = ur_alloc(p + 1, (p + 1) * sizeof *C);
    f.scale = ur_doubles(d);
    f.z = ur_doubles(d);
    f.omega = ur_alloc(waves, d * sizeof *f.omega);
    *out = (ur_symmetry){.p = 1};
    unrelu_status status = UNRELU_OK;
    if (!C || !f.scale || !f.z || !f.omega) {
        status = ur_fail_memory(err, (p + 1) * (p + 1), "odd functions");
        goto done;
    }
    set_scale(sample, f.scale);
    set_omega(seed, &f);
    status = add_up(sample, &f, exec, C, err);
    if (status == UNRELU_OK)
        status = solve(sample->n, p, C, out, err);
    if (status == UNRELU_OK && out->degrees > 0)
        out->p = ur_chi2_tail((double)out->degrees, out->statistic);
done:
    free(C);
    free(f.scale);
    free(f.z);
    free(f.omega);
    return status;
}
