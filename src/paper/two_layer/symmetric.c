/* SPDX-License-Identifier: Apache-2.0 */
/* Section 4.3 of the two-layer paper: the pure-neuron detector of Ge, Kuditipudi, Li and Wang,
 * in a form of the same expectation and smaller variance. For x symmetric about 0, whitened, and
 * y = k leading directions of the labels,
 *     B = E[y x'], s = B x (the odd part of y), e = y - s (the even part, U |V x| / 2),
 *     T = E[(vech(ee') - vech(ss')) vech(xx')'],
 * and u'(ee' - ss')u = (u.y)(u.y - 2 u'Bx) vanishes where u.y is one neuron: the k least left
 * singular vectors of T span {z_i z_i'}, z_i . y = neuron i, which rank_ones.c takes apart. Noise
 * of constant covariance adds multiples of one known row to those of T: projected out, always. Each
 * sample is first scaled by 1 / sqrt(0.3 + |x|^2 / d): still the same network and a symmetric law,
 * but a bounded one (Student's t with 3 degrees of freedom: angle 0.02 in place of 0.5 at n =
 * 5000). The angle of z falls as n^-1/2; then each row of V is a regression of z.y on x over its
 * half-space. Cost: n k^2 d^2 / 4 multiply-adds, one matrix T (k (k + 1) / 2 x d (d + 1) / 2).
 * Refuses inputs that the test of symmetry rejects at 1e-3, biases, k > d, rank of labels < k. */
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/rank_ones.h"
#include "network/exact/lift.h"
#include "paper/two_layer/two_layer.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { MOST = 3000 }; /* order of an eigenproblem: two matrices of 72 MB */
/* Chance of rejecting symmetric inputs: small, as symmetry is what the user asked for. */
static const double LEVEL = 1e-3;

/* ---- is the law of x symmetric about 0? ---- */

/* Odd functions f of x then have mean 0, and
 *     n fbar' E[ff']^+ fbar  ~  chi2 with rank E[ff'] degrees of freedom.
 * With z = x in units of its root mean square, f holds z_i, clip(z_i, +-3)^3 (together: the
 * margins) and sin(omega . z), omega normal of length about 1/2, 1 and 2 (the joint law). With n
 * below the number of functions the statistic is at most n and nothing is rejected. */
enum { WAVES = 8, ROUNDS = 100000 };
static const double LENGTHS[] = {0.5, 1, 2}; /* of omega */
static const double CLIP = 3;     /* root mean squares: cubes of heavy tails have a mean, too */
static const double RANK = 1e-10; /* of products of functions, of the largest: below, no function */
static const uint64_t OMEGAS_FIRST = (uint64_t)1 << 40; /* rank_ones.c has the rest */

/* Gamma(a, x) / Gamma(a): the series of the lower function below x = a + 1, the continued
 * fraction of the upper one (modified Lentz) above; until terms no longer count */
double ur_chi2_tail(double degrees, double chi2)
{
    double a = 0.5 * degrees, x = 0.5 * chi2;
    int sign;
    if (!(x > 0))
        return 1;
    double front = exp(a * log(x) - x - lgamma_r(a, &sign));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < ROUNDS && term > sum * DBL_EPSILON / 4; i++)
            sum += term *= x / (a + i);
        return fmax(0, 1 - front * sum);
    }
    double b = x + 1 - a, c = INFINITY, d = 1 / b, f = d;
    for (int i = 1; i < ROUNDS; i++) {
        double an = -i * (i - a), step;
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        f *= step = c * d;
        if (fabs(step - 1) < DBL_EPSILON / 2)
            break;
    }
    return front * f;
}

unrelu_status ur_symmetry_test(const ur_sample *sample, uint64_t seed, const unrelu_exec *exec,
                               ur_symmetry *out, unrelu_error *err)
{
    size_t n = sample->n, d = sample->d, waves = 3 * (d < WAVES ? d : WAVES), p = 2 * d + waves;
    UR_ARENA(arena);
    double *unit = ur_take(&arena, d, sizeof *unit), *z = ur_take(&arena, d, sizeof *z);
    double *omega = ur_take(&arena, waves, d * sizeof *omega);
    double *block = ur_take(&arena, UR_LIFT_BLOCK, (p + 1) * sizeof *block);
    double *C = ur_take(&arena, p + 1, (p + 1) * sizeof *C); /* sums of products of (f, 1) */
    double *M = ur_take(&arena, p, p * sizeof *M);
    double *vectors = ur_take(&arena, p, p * sizeof *vectors);
    double *values = ur_take(&arena, p, sizeof *values), *mean = ur_take(&arena, p, sizeof *mean);
    double *scale = ur_take(&arena, p, sizeof *scale);
    *out = (ur_symmetry){.p = 1};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < d; j++) {
        double most = 0, squares = 0;
        for (size_t i = 0; i < n; i++)
            most = fmax(most, fabs(sample->x[i * d + j]));
        for (size_t i = 0; i < n && most > 0; i++) {
            double g = sample->x[i * d + j] / most;
            squares += g * g;
        }
        unit[j] = most > 0 ? 1 / (most * sqrt(squares / (double)n)) : 0;
    }
    ur_random_normals(seed, UR_STREAM_SPAN, OMEGAS_FIRST, waves * d, omega);
    for (size_t i = 0; i < waves * d; i++)
        omega[i] *= LENGTHS[i / d % 3] / sqrt((double)d);
    for (size_t first = 0; first < n; first += UR_LIFT_BLOCK) {
        size_t rows = n - first < UR_LIFT_BLOCK ? n - first : UR_LIFT_BLOCK;
        double *f = block;
        for (size_t i = first; i < first + rows; i++) {
            for (size_t j = 0; j < d; j++) {
                double cut = fmax(-CLIP, fmin(CLIP, z[j] = sample->x[i * d + j] * unit[j]));
                *f++ = z[j];
                *f++ = cut * cut * cut;
            }
            for (size_t j = 0; j < waves; j++)
                *f++ = sin(ur_short_dot(d, omega + j * d, z));
            *f++ = 1;
        }
        UR_TRY(ur_lift_add(exec, rows, p + 1, block, p + 1, block, 1, C, err));
    }
    for (size_t i = 0; i < p; i++) { /* functions in units of their root mean square */
        scale[i] = C[i * (p + 1) + i] > 0 ? 1 / sqrt(C[i * (p + 1) + i] / (double)n) : 0;
        mean[i] = C[p * (p + 1) + i] * scale[i] / (double)n;
        for (size_t j = 0; j <= i; j++)
            M[i * p + j] = M[j * p + i] = C[i * (p + 1) + j] * scale[i] * scale[j] / (double)n;
    }
    UR_TRY(ur_eigen_symmetric(p, M, values, vectors, err));
    for (size_t i = 0; i < p; i++) { /* n fbar' E[ff']^+ fbar */
        double along = 0;
        if (!(values[i] > RANK * values[p - 1]))
            continue;
        for (size_t j = 0; j < p; j++)
            along += vectors[j * p + i] * mean[j];
        out->statistic += (double)n * along * along / values[i];
        out->degrees++;
    }
    if (out->degrees > 0)
        out->p = ur_chi2_tail((double)out->degrees, out->statistic);
    return UNRELU_OK;
}

/* ---- the method ---- */

static unrelu_status check(const ur_start *start, ur_symmetry *test, unrelu_error *err)
{
    if (start->f.kind != UNRELU_RELU)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric is for the relu alone: it uses relu(t) - relu(-t) = t; "
                       "use `method` moments");
    if (start->hidden || start->constant)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric has no biases: with them the labels' even part is no "
                       "longer |V x|; use `bias` none, or `method` lifted or facets");
    if (start->k > start->sample.d)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric needs V of full row rank: %zu neurons, %zu inputs",
                       start->k, start->sample.d);
    if (ur_lift_pairs(start->k) > MOST)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric with %zu neurons is an eigenproblem of order %zu, more "
                       "than %d: use `method` exact or facets",
                       start->k, ur_lift_pairs(start->k), MOST);
    UR_TRY(ur_symmetry_test(&start->sample, start->seed, start->exec, test, err));
    if (test->p < LEVEL)
        return ur_fail(err, UNRELU_EDATA,
                       "the inputs are not symmetric about 0 (p = %.2g, chi2 = %.4g with %zu "
                       "degrees of freedom): `method` symmetric does not apply; use `method` "
                       "facets or lifted",
                       test->p, test->statistic, test->degrees);
    return UNRELU_OK;
}

static unrelu_status moment(const ur_lift *l, const unrelu_exec *exec, double *T, unrelu_error *err)
{
    size_t k = l->k, r = l->r, pk = ur_lift_pairs(k), pr = ur_lift_pairs(r);
    UR_ARENA(arena);
    double *B = ur_take(&arena, k, r * sizeof *B);
    double *odd = ur_take(&arena, UR_LIFT_BLOCK, k * sizeof *odd);
    double *left = ur_take(&arena, UR_LIFT_BLOCK, pk * sizeof *left);
    double *right = ur_take(&arena, UR_LIFT_BLOCK, pr * sizeof *right);
    double *ss = ur_take(&arena, pk, sizeof *ss);
    double *noise = ur_take(&arena, pr, sizeof *noise); /* E[factor^2 vech(xx')] */
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < l->n; first += UR_LIFT_BLOCK) {
        size_t rows = l->n - first < UR_LIFT_BLOCK ? l->n - first : UR_LIFT_BLOCK;
        UR_TRY(ur_lift_add(exec, rows, k, l->y + first * k, r, l->x + first * r, 0, B, err));
    }
    ur_scale(k * r, 1 / (double)l->n, B);
    for (size_t first = 0; first < l->n; first += UR_LIFT_BLOCK) {
        size_t rows = l->n - first < UR_LIFT_BLOCK ? l->n - first : UR_LIFT_BLOCK;
        ur_progress(exec, "fourth moments", (double)first / (double)l->n);
        ur_multiply_nt(rows, r, k, l->x + first * r, B, odd);
        for (size_t i = 0; i < rows; i++) {
            double *s = odd + i * k, factor = l->factor[first + i];
            ur_lift_products(k, s, ss);
            for (size_t j = 0; j < k; j++) /* e */
                s[j] = l->y[(first + i) * k + j] - s[j];
            ur_lift_products(k, s, left + i * pk);
            ur_add(pk, -1, ss, left + i * pk);
            ur_lift_products(r, l->x + (first + i) * r, right + i * pr);
            ur_add(pr, factor * factor, right + i * pr, noise);
        }
        UR_TRY(ur_lift_add(exec, rows, pk, left, pr, right, 0, T, err));
    }
    for (size_t i = 0; i < pk; i++)
        ur_scale(pr, 1 / (double)l->n, T + i * pr);
    double cc = ur_dot(pr, noise, noise); /* T <- T (I - cc' / |c|^2) */
    for (size_t i = 0; i < pk && cc > 0; i++)
        ur_add(pr, -ur_dot(pr, T + i * pr, noise) / cc, noise, T + i * pr);
    return UNRELU_OK;
}

/* span (k x k^2): the k least left singular vectors; the singular values around the gap */
static unrelu_status least(size_t k, size_t pr, const double *T, double *span, double around[3],
                           unrelu_error *err)
{
    UR_ARENA(arena);
    size_t pk = ur_lift_pairs(k);
    double *TT = ur_take(&arena, pk, pk * sizeof *TT);
    double *vectors = ur_take(&arena, pk, pk * sizeof *vectors);
    double *values = ur_take(&arena, pk, sizeof *values), *one = ur_take(&arena, pk, sizeof *one);
    UR_TRY(ur_arena_status(&arena, err));
    ur_gram(pk, pr, T, TT);
    UR_TRY(ur_eigen_symmetric(pk, TT, values, vectors, err));
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < pk; j++)
            one[j] = vectors[j * pk + i];
        ur_lift_matrix(k, one, span + i * k * k);
    }
    size_t at[3] = {k - 1, k < pk ? k : pk - 1, pk - 1};
    for (int i = 0; i < 3; i++)
        around[i] = sqrt(fmax(0, values[at[i]]));
    return UNRELU_OK;
}

unrelu_status ur_start_symmetric(const ur_start *start, double *V, double *c, ur_start_note *note,
                                 unrelu_error *err)
{
    (void)c;
    ur_lift_options options = {.method = "symmetric", .scaled = 1};
    ur_symmetry test;
    UR_ARENA(arena);
    ur_lift l;
    size_t k = start->k;
    double around[3], far;
    UR_TRY(check(start, &test, err));
    UR_TRY(ur_lift_new(start, &options, &arena, &l, err));
    size_t pk = ur_lift_pairs(k), pr = ur_lift_pairs(l.r);
    double *T = ur_take(&arena, pk, pr * sizeof *T);
    double *span = ur_take(&arena, k, k * k * sizeof *span);
    double *Z = ur_take(&arena, k, k * sizeof *Z), *w = ur_take(&arena, k, l.r * sizeof *w);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(moment(&l, start->exec, T, err));
    UR_TRY(least(k, pr, T, span, around, err));
    UR_TRY(ur_span_split(k, span, start->seed, UR_STREAM_SPAN, Z, &far, err));
    if (!isfinite(far))
        return ur_fail(err, UNRELU_EDATA,
                       "the %zu least singular vectors of the fourth moments hold no pure "
                       "neurons: too few samples (%zu) or not a relu network",
                       k, l.n);
    for (size_t j = 0; j < k; j++) { /* signs of z by a positive mean of z.y; w = E[(z.y) x] */
        double *z = Z + j * k, *row = w + j * l.r, mean = 0;
        for (size_t i = 0; i < l.n; i++) {
            double h = ur_dot(k, z, l.y + i * k);
            ur_add(l.r, h, l.x + i * l.r, row);
            mean += h;
        }
        if (mean < 0) {
            ur_scale(k, -1, z);
            ur_scale(l.r, -1, row);
        }
    }
    UR_TRY(ur_lift_regress(&l, start->exec, Z, 0, w, err));
    UR_TRY(ur_lift_rows(&l, start->sample.d, w, V, NULL, err));
    snprintf(note->guarantee, sizeof note->guarantee,
             "Corollary 5 with Theorem 8 (Ge, Kuditipudi, Li, Wang) of the two-layer paper: exact "
             "in polynomial time for inputs symmetric about 0 mixed with a normal law, U and V of "
             "rank k, a distinguishing matrix of full rank, no biases");
    int used = snprintf(note->assumption, sizeof note->assumption,
                        "symmetry about 0 not rejected (chi2 = %.4g, %zu degrees of freedom, p = "
                        "%.2g); ",
                        test.statistic, test.degrees, test.p);
    if (k > 1)
        snprintf(note->assumption + used, sizeof note->assumption - (size_t)used,
                 "distinguishing matrix: singular values %.2g (last of the null space), %.2g "
                 "(next) of the largest; worst distance of zz' from it %.2g",
                 around[0] / around[2], around[1] / around[2], far);
    else
        snprintf(note->assumption + used, sizeof note->assumption - (size_t)used,
                 "one neuron: no distinguishing matrix");
    return UNRELU_OK;
}
