/* SPDX-License-Identifier: Apache-2.0 */
/* A random mixture. Its size is in closed form: for z of correlation r, with t = (h - r g) / o and
 * u = (g - r h) / o, o^2 = 1 - r^2,
 *   E max(0, z1 + g) max(0, z2 + h) = (g h + r) P(z1 > -g, z2 > -h) + g phi(h) Phi(u)
 *                                     + h phi(g) Phi(t) + o phi(g) phi(t),
 * so that with S = E m m' the samples have the mean square tr(A S A') / d. Known to about
 * 1e-14 (1 + g^2): mean squares below 1e-9 (units on once in ten million) are refused. */
#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"
#include "law/bivariate.h"
#include "law/normal.h"
#include "mixture/model/mixture.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define KAPPA 9 /* the default condition of W */

static const double LEAST_SIZE = 1e-9; /* mean square; see above */
static const double MOST_BIAS = 1e100; /* its square is a double */
static const double FAR_BELOW = -38;   /* Phi(-38) = 3e-316: never on */

static double product_mean(double g, double h, double r)
{
    if (fmin(g, h) < FAR_BELOW)
        return 0;
    r = fmax(-1, fmin(1, r));
    double o = sqrt((1 - r) * (1 + r)), by = fmax(o, DBL_MIN); /* 0 / 0 is 0: the limit */
    double t = (h - r * g) / by, u = (g - r * h) / by;
    double phi_g = ur_normal_pdf(g), phi_h = ur_normal_pdf(h);
    return (g * h + r) * ur_bivariate_normal(g, h, r) + g * phi_h * ur_normal_cdf(u) +
           h * phi_g * ur_normal_cdf(t) + o * phi_g * ur_normal_pdf(t);
}

/* rows of x (p x width) in the order */
static void permute_rows(size_t p, size_t width, const ur_keyed *order, double *x, double *scratch)
{
    for (size_t i = 0; i < p; i++)
        memcpy(scratch + i * width, x + order[i].at * width, width * sizeof *x);
    memcpy(x, scratch, p * width * sizeof *x);
}

static void permute_both(size_t p, const ur_keyed *order, double *x, double *scratch)
{
    for (size_t i = 0; i < p * p; i++)
        scratch[i] = x[order[i / p].at * p + order[i % p].at];
    memcpy(x, scratch, p * p * sizeof *x);
}

/* units by decreasing root mean square, and S with them */
static unrelu_status order_units(unrelu_gaussian *m, double *S, unrelu_error *err)
{
    size_t p = m->d, width = m->k > p ? m->k : p;
    UR_ARENA(arena);
    ur_keyed *order = ur_take(&arena, p, sizeof *order), *room = ur_take(&arena, p, sizeof *room);
    double *scratch = ur_take(&arena, p, width * sizeof *scratch);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < p; i++)
        order[i] = (ur_keyed){-S[i * p + i], i};
    ur_sort_keyed(order, room, p);
    permute_rows(p, 1, order, m->b, scratch);
    permute_rows(p, 1, order, m->scale, scratch);
    permute_rows(p, m->k, order, m->W, scratch);
    permute_both(p, order, m->sigma, scratch);
    permute_both(p, order, m->correlation, scratch);
    permute_both(p, order, S, scratch);
    return UNRELU_OK;
}

static unrelu_status plant(const unrelu_mixture_plant_options *o, size_t k, unrelu_mixture *m,
                           unrelu_error *err)
{
    unrelu_gaussian_plant_options layer = {.size = sizeof layer,
                                           .d = o->p,
                                           .k = k,
                                           .kappa = k == o->p ? o->kappa : 1,
                                           .bias = o->bias,
                                           .bias_value = o->bias_value,
                                           .seed = o->seed};
    size_t d = m->d, p = m->p;
    unrelu_gaussian *h;
    UR_ARENA(arena);
    UR_BLAS_BEGIN(NULL, err);
    UR_TRY(ur_mixture_alloc(m, err));
    UR_TRY(ur_gaussian_plant(&layer, 'u', &h, err));
    UR_TRY(ur_mixture_hold(m, h, err));
    double *S = ur_take(&arena, p, p * sizeof *S), *G = ur_take(&arena, p, p * sizeof *G);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            double si = h->scale[i], sj = h->scale[j], r = i == j ? 1 : h->correlation[i * p + j];
            S[i * p + j] = S[j * p + i] = si * sj * product_mean(h->b[i] / si, h->b[j] / sj, r);
        }
    UR_TRY(order_units(h, S, err));
    ur_random_normals(o->seed, UR_STREAM_PLANT_A, 0, (uint64_t)d * p, m->A);
    for (size_t j = 0; j < p; j++) {
        double square = 0;
        for (size_t i = 0; i < d; i++)
            square += m->A[i * p + j] * m->A[i * p + j];
        for (size_t i = 0; i < d; i++)
            m->A[i * p + j] /= sqrt(square);
    }
    /* tr(A S A') / d = sum of (A'A) S / d */
    double size = 0;
    ur_multiply_tn(d, p, p, m->A, m->A, G);
    for (size_t i = 0; i < p * p; i++)
        size += G[i] * S[i];
    size /= (double)d;
    if (!(size > LEAST_SIZE))
        return ur_fail(err, UNRELU_EDATA,
                       "samples have a root mean square of %.3g before scaling: units are hardly "
                       "ever on; choose a larger bias",
                       sqrt(fmax(0, size)));
    double factor = 1 / sqrt(size);
    for (size_t i = 0; i < p; i++) {
        h->b[i] *= factor;
        h->scale[i] *= factor;
    }
    for (size_t i = 0; i < p * k; i++)
        h->W[i] *= factor;
    for (size_t i = 0; i < p * p; i++)
        h->sigma[i] *= factor * factor;
    return UNRELU_OK;
}

unrelu_status unrelu_mixture_plant(const unrelu_mixture_plant_options *options,
                                   unrelu_mixture **model, unrelu_error *err)
{
    unrelu_mixture_plant_options o;
    *model = NULL;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    size_t k = o.k ? o.k : o.p;
    if (o.p < 1)
        return ur_fail(err, UNRELU_EUSAGE, "p must be at least 1");
    if (o.d < o.p)
        return ur_fail(err, UNRELU_EUSAGE,
                       "d >= p is needed, not d = %zu with p = %zu: A (d x p) cannot have full "
                       "column rank",
                       o.d, o.p);
    if (k != o.p && o.kappa != KAPPA && o.kappa != 1)
        return ur_fail(err, UNRELU_EUSAGE,
                       "kappa needs k = p, not k = %zu with p = %zu: leave out one of the two", k,
                       o.p);
    if (!(fabs(o.bias_value) <= MOST_BIAS))
        return ur_fail(err, UNRELU_EUSAGE, "the bias must be a number from -1e100 to 1e100, not %g",
                       o.bias_value);
    if (!(o.noise >= 0 && o.noise < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE, "the noise must be a number of at least 0, not %g",
                       o.noise);
    unrelu_mixture *m = ur_mixture_new(err);
    if (!m)
        return UNRELU_ENOMEM;
    m->d = o.d;
    m->p = o.p;
    m->noise = m->relative_noise = o.noise;
    m->seed = o.seed;
    return ur_model_hand(m, plant(&o, k, m, err), model, err);
}
