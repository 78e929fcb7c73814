/* SPDX-License-Identifier: Apache-2.0 */
/* Is the law of x symmetric about 0? Odd functions f of x then have mean 0, and
 *     n fbar' E[ff']^+ fbar  ~  chi2 with rank E[ff'] degrees of freedom.
 * With z = x in units of its root mean square, f holds z_i, clip(z_i, +-3)^3 (together: the
 * margins) and sin(omega . z), omega normal of length about 1/2, 1 and 2 (the joint law). With n
 * below the number of functions the statistic is at most n and nothing is rejected. */
#include "paper/two_layer/symmetry_test.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/exact/lift.h"

#include <math.h>

enum { WAVES = 8, ROUNDS = 100000 };
static const double CLIP = 3;     /* root mean squares: cubes of heavy tails have a mean, too */
static const double RANK = 1e-10; /* of products of functions, of the largest: below, no function */
static const double SERIES = 1e-17, FRACTION = 1e-16;   /* terms that no longer count: rounding */
static const double INFINITE = 1e300;                   /* as the method of Lentz wants it */
static const uint64_t OMEGAS_FIRST = (uint64_t)1 << 40; /* the rest of the stream is span.c's */

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
        for (int i = 1; i < ROUNDS && term > sum * SERIES; i++)
            sum += term *= x / (a + i);
        return fmax(0, 1 - front * sum);
    }
    double b = x + 1 - a, c = INFINITE, d = 1 / b, f = d;
    for (int i = 1; i < ROUNDS; i++) {
        double an = -i * (i - a), step;
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        f *= step = c * d;
        if (fabs(step - 1) < FRACTION)
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
    UR_ARENA(arena);
    size_t width = f->p + 1;
    double *block = ur_take(&arena, UR_LIFT_BLOCK, width * sizeof *block);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < s->n; first += UR_LIFT_BLOCK) {
        size_t rows = s->n - first < UR_LIFT_BLOCK ? s->n - first : UR_LIFT_BLOCK;
        for (size_t i = 0; i < rows; i++)
            evaluate(f, s->x + (first + i) * s->d, block + i * width);
        UR_TRY(ur_lift_add(exec, rows, width, block, width, block, 1, C, err));
    }
    return UNRELU_OK;
}

/* n fbar' E[ff']^+ fbar, functions in units of their root mean square */
static unrelu_status solve(size_t n, size_t p, const double *C, ur_symmetry *out, unrelu_error *err)
{
    size_t width = p + 1;
    UR_ARENA(arena);
    double *M = ur_take(&arena, p, p * sizeof *M);
    double *vectors = ur_take(&arena, p, p * sizeof *vectors);
    double *values = ur_take(&arena, p, sizeof *values), *mean = ur_take(&arena, p, sizeof *mean);
    double *scale = ur_take(&arena, p, sizeof *scale);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < p; i++)
        scale[i] = C[i * width + i] > 0 ? 1 / sqrt(C[i * width + i] / (double)n) : 0;
    for (size_t i = 0; i < p; i++) {
        mean[i] = C[p * width + i] * scale[i] / (double)n;
        for (size_t j = 0; j <= i; j++)
            M[i * p + j] = M[j * p + i] = C[i * width + j] * scale[i] * scale[j] / (double)n;
    }
    UR_TRY(ur_eigen_symmetric(p, M, values, vectors, err));
    for (size_t i = 0; i < p; i++) {
        double along = 0;
        if (!(values[i] > RANK * values[p - 1]))
            continue;
        for (size_t j = 0; j < p; j++)
            along += vectors[j * p + i] * mean[j];
        out->statistic += (double)n * along * along / values[i];
        out->degrees++;
    }
    return UNRELU_OK;
}

unrelu_status ur_symmetry_test(const ur_sample *sample, uint64_t seed, const unrelu_exec *exec,
                               ur_symmetry *out, unrelu_error *err)
{
    size_t d = sample->d, waves = 3 * (d < WAVES ? d : WAVES), p = 2 * d + waves;
    UR_ARENA(arena);
    double *C = ur_take(&arena, p + 1, (p + 1) * sizeof *C);
    functions f = {.d = d,
                   .waves = waves,
                   .p = p,
                   .scale = ur_take(&arena, d, sizeof *f.scale),
                   .z = ur_take(&arena, d, sizeof *f.z),
                   .omega = ur_take(&arena, waves, d * sizeof *f.omega)};
    *out = (ur_symmetry){.p = 1};
    UR_TRY(ur_arena_status(&arena, err));
    set_scale(sample, f.scale);
    set_omega(seed, &f);
    UR_TRY(add_up(sample, &f, exec, C, err));
    UR_TRY(solve(sample->n, p, C, out, err));
    if (out->degrees > 0)
        out->p = ur_chi2_tail((double)out->degrees, out->statistic);
    return UNRELU_OK;
}
