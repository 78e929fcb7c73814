/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of V, up to sign, from the second-order score of Gaussian inputs. With white x,
 *   E[a (xx' - I)] = sum_j c_j U_j (x) v_j v_j',   c_j = E f''(v_j x + c_j) > 0 for relu.
 * The labels' part that is linear in x adds nothing to this but noise (for relu 5.5 times its
 * variance): regress it off (LINEAR). Least squares on [1, x, xx'] instead of the plain moment
 * takes off the noise of the quadratic part too, in the k-dimensional row space of V (REDUCED) or
 * in all d dimensions (QUADRATIC, n > 0.65 (d + 1)(d + 2)). Row error, (d, k, m) = (10, 5, 8),
 * n = 2000 without noise: PLAIN .12, LINEAR .058, REDUCED .047, QUADRATIC .033; falls as n^-1/2.
 * Other laws of x than the normal leave a bias. The r = min(k, m) leading combinations of the
 * labels are used, r >= 2 where k > 1. Costs n k d(d + 1) operations for the tensor, n p^2 for a
 * regression of p = (q + 1)(q + 2)/2 features, and 6 decompositions of r x k x k by alternating
 * least squares. Refuses k > d, r = 1 < k and singular covariances. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"

#include <math.h>

enum { QUADRATIC_D = 40 }; /* 861 features */
/* samples for each feature of a quadratic: with fewer it fits noise */
static const double SAMPLES_A_FEATURE = 1.3;

unrelu_status ur_score_check(const ur_start *start, unrelu_error *err)
{
    if (start->k > start->sample.d)
        return ur_fail(err, UNRELU_EDATA,
                       "k = %zu > d = %zu: moment start skipped, it finds at most d neurons",
                       start->k, start->sample.d);
    return UNRELU_OK;
}

unrelu_status ur_score_check_unique(const ur_start *start, size_t r, unrelu_error *err)
{
    if (r == 1 && start->k > 1)
        return ur_fail(err, UNRELU_EDATA,
                       "one label, or labels that are multiples of one, and k = %zu: a single "
                       "matrix of moments has no unique decomposition; moment start skipped",
                       start->k);
    return UNRELU_OK;
}

/* ---- least squares on [1, z, zz'] ---- */

typedef struct {
    size_t d, q;
    const double *Q; /* z = Q'x (d x q), or NULL: z = x */
} quadratic;

/* 1, z_a, then over a <= b (z_a^2 - 1)/sqrt 2 or z_a z_b: orthonormal for normal z */
static void quadratic_row(size_t q, const double *z, double *out)
{
    *out++ = 1;
    for (size_t a = 0; a < q; a++)
        *out++ = z[a];
    for (size_t a = 0; a < q; a++) {
        *out++ = (z[a] * z[a] - 1) * M_SQRT1_2;
        for (size_t b = a + 1; b < q; b++)
            *out++ = z[a] * z[b];
    }
}

static void quadratic_features(const void *context, const double *x, size_t rows, double *F,
                               double *z)
{
    const quadratic *c = context;
    size_t q = c->q, p = 1 + q + ur_packed(q);
    if (c->Q)
        ur_gemm(UR_PLAIN, UR_PLAIN, rows, q, c->d, 1, x, c->d, c->Q, q, 0, z, q);
    for (size_t i = 0; i < rows; i++)
        quadratic_row(q, c->Q ? z + i * q : x + i * q, F + i * p);
}

static int enough_samples(size_t n, size_t q)
{
    return (double)n > SAMPLES_A_FEATURE * ((double)q + 1) * ((double)q + 2) / 2;
}

/* T (r x q(q+1)/2, packed): Hessians of the least squares quadratic of y; *positive = 0 where
 * the features are dependent (binary inputs) */
static unrelu_status regress(const ur_white *white, const double *Q, size_t q, size_t r,
                             const double *y, double *T, int *positive, unrelu_error *err)
{
    const quadratic context = {.d = white->d, .q = q, .Q = Q};
    size_t second = ur_packed(q), p = 1 + q + second;
    const ur_regression regression = {.white = white,
                                      .p = p,
                                      .q = r,
                                      .extra = q,
                                      .features = quadratic_features,
                                      .context = &context,
                                      .b = y};
    UR_ARENA(arena);
    double *cross = ur_take(&arena, p, r * sizeof *cross);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_regress(&regression, 0, cross, positive, err));
    for (size_t s = 0; s < r; s++)
        for (size_t a = 0, i = 0; a < q; a++)
            for (size_t b = a; b < q; b++, i++)
                T[s * second + i] = cross[(1 + q + i) * r + s] * (a == b ? M_SQRT2 : 1);
    return UNRELU_OK;
}

/* ---- the four kinds ---- */

unrelu_status ur_start_moments(const ur_start *start, ur_moments_kind kind, double *V, double *fit,
                               unrelu_error *err)
{
    size_t n = start->sample.n, d = start->sample.d, k = start->k, r = 0;
    int positive = 0;
    UR_ARENA(arena);
    ur_white white;
    double *y;
    UR_TRY(ur_score_check(start, err));
    UR_TRY(ur_white_new(&start->sample, start->exec, &arena, &white, err));
    UR_TRY(ur_score_labels(start, &white, kind != UR_MOMENTS_PLAIN, &arena, &r, &y, err));
    UR_TRY(ur_score_check_unique(start, r, err));
    double *T = ur_take(&arena, r, ur_packed(d) * sizeof *T);
    double *Q = ur_take(&arena, d, k * sizeof *Q), *core = ur_take(&arena, r * k, k * sizeof *core);
    UR_TRY(ur_arena_status(&arena, err));
    if (kind != UR_MOMENTS_QUADRATIC) {
        UR_TRY(ur_score_tensor(&white, r, y, 0, T, err));
    } else {
        if (d > QUADRATIC_D || !enough_samples(n, d))
            return ur_fail(err, UNRELU_EDATA,
                           "the quadratic regression needs d <= %d and more than %.0f samples for "
                           "d = %zu, found %zu; moment start skipped",
                           QUADRATIC_D, SAMPLES_A_FEATURE / 2 * (double)(d + 1) * (double)(d + 2),
                           d, n);
        UR_TRY(regress(&white, NULL, d, r, y, T, &positive, err));
        if (!positive)
            return ur_fail(err, UNRELU_EDATA,
                           "the squares and products of the %zu inputs are linearly dependent over "
                           "%zu samples; moment start skipped",
                           d, n);
    }
    UR_TRY(ur_score_reduce(r, d, k, T, Q, core, err));
    if (kind == UR_MOMENTS_REDUCED && enough_samples(n, k)) { /* core anew in z = Q'x */
        UR_TRY(regress(&white, Q, k, r, y, T, &positive, err));
        for (size_t s = 0; s < r && positive; s++)
            ur_score_unpack(k, T + s * ur_packed(k), core + s * k * k);
    }
    return ur_score_decompose(start, &white, r, core, Q, V, fit, err);
}
