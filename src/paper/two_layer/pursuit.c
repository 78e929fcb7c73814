/* SPDX-License-Identifier: Apache-2.0 */
/* --method sparse-noise --pcp: the network of the L of principal component pursuit. L is not exact,
 * and neither is its network: the verdict is "noisy", with no standard errors, as what is left in L
 * is no noise of a known law. k as given, else by the largest gap of the singular values of L. E is
 * the S of the pursuit; the residual is over the cells where that is 0. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/noisy/noisy.h"
#include "network/verdict/verdict.h"
#include "paper/two_layer/two_layer.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* ---- min |L|_* + lambda |S|_1 over L + S = A ---- */

/* By the inexact augmented Lagrangian method: L = shrink of singular values (from the Gram matrix
 * of the shorter side), S = shrink of cells, Y += mu (A - L - S), mu growing by a tenth: 100 to 200
 * steps, the objective within 1e-4 of the minimum. It is what Theorem 14 stands on, and kept for
 * comparison: rows of high leverage cost less in S than in L, so that its L is 1e-2 to 1e-1 off at
 * 50 columns with 20 to 30 % wrong cells. n m^2 flops a step. */
enum { STEPS = 1000 };
static const double CLOSE = 1e-9;    /* |A - L - S|, of |A|: what ends it */
static const double GROWTH = 1.1;    /* of mu a step: faster is further from the minimum */
static const double FIRST_MU = 1.25; /* over the largest singular value, as is usual */

/* singular values (increasing) and right vectors of W (n x m), G its Gram matrix */
static unrelu_status decompose(size_t n, size_t m, const double *W, double *G, double *values,
                               double *vectors, unrelu_error *err)
{
    ur_multiply_tn(n, m, m, W, W, G);
    UR_TRY(ur_eigen_symmetric(m, G, values, vectors, err));
    for (size_t j = 0; j < m; j++)
        values[j] = sqrt(fmax(0, values[j]));
    return UNRELU_OK;
}

/* n >= m */
static unrelu_status pursue(size_t n, size_t m, const double *A, double lambda,
                            const unrelu_exec *exec, double *L, double *S, double *Y, int *steps,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    size_t count = n * m, square = m * m;
    double *W = ur_take(&arena, count, sizeof *W), *WP = ur_take(&arena, count, sizeof *WP);
    double *G = ur_take(&arena, square, sizeof *G), *P = ur_take(&arena, square, sizeof *P);
    double *vectors = ur_take(&arena, square, sizeof *vectors);
    double *values = ur_take(&arena, m, sizeof *values), largest = 0, sum = 0;
    Y = Y ? Y : ur_take(&arena, count, sizeof *Y);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(A[i]));
    for (size_t i = 0; i < count && largest > 0; i++)
        sum += A[i] / largest * (A[i] / largest);
    double size = largest * sqrt(sum), gap = size;
    UR_TRY(decompose(n, m, A, G, values, vectors, err));
    double spectral = values[m - 1], mu = FIRST_MU / spectral;
    for (size_t i = 0; i < count; i++) {
        Y[i] = A[i] / fmax(spectral, largest / lambda);
        L[i] = S[i] = 0;
    }
    for (*steps = 0; *steps < STEPS && gap > CLOSE * size; ++*steps) {
        double by = lambda / mu, left = 0;
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            W[i] = A[i] - S[i] + Y[i] / mu;
        UR_TRY(decompose(n, m, W, G, values, vectors, err));
        for (size_t j = 0; j < m; j++)
            kept += values[j] > 1 / mu;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < kept; j++) { /* L = W with its values lowered by 1 / mu */
                double v = vectors[i * m + m - kept + j], s = values[m - kept + j];
                P[i * kept + j] = v;
                G[i * kept + j] = v * (s - 1 / mu) / s;
            }
        memset(L, 0, count * sizeof *L);
        if (kept > 0) {
            ur_multiply(n, m, kept, W, P, WP);
            ur_multiply_nt(n, kept, m, WP, G, L);
        }
        for (size_t i = 0; i < count; i++) {
            double rest = A[i] - L[i] + Y[i] / mu;
            S[i] = rest > by ? rest - by : rest < -by ? rest + by : 0;
            double miss = A[i] - L[i] - S[i];
            left += miss * miss;
            Y[i] += mu * miss;
        }
        gap = sqrt(left);
        mu *= GROWTH;
        ur_progress(exec, "principal component pursuit", (double)*steps / STEPS);
        if (ur_cancelled(exec))
            return ur_fail_cancelled(err);
    }
    return UNRELU_OK;
}

static void transpose(size_t n, size_t m, const double *A, double *T)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            T[j * n + i] = A[i * m + j];
}

unrelu_status ur_pcp(size_t n, size_t m, const double *A, double lambda, const unrelu_exec *exec,
                     double *L, double *S, double *Y, int *steps, unrelu_error *err)
{
    if (n >= m)
        return pursue(n, m, A, lambda, exec, L, S, Y, steps, err);
    UR_ARENA(arena);
    double *T = ur_take(&arena, n, m * sizeof *T), *l = ur_take(&arena, n, m * sizeof *l);
    double *s = ur_take(&arena, n, m * sizeof *s), *y = ur_take(&arena, n, m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    transpose(n, m, A, T);
    UR_TRY(pursue(m, n, T, lambda, exec, l, s, y, steps, err));
    transpose(m, n, l, L);
    transpose(m, n, s, S);
    if (Y)
        transpose(m, n, y, Y);
    return UNRELU_OK;
}

/* ---- the network ---- */

/* of the largest singular value: those below are what the pursuit leaves, not neurons */
static const double LEAST_VALUE = 1e-6;

typedef struct {
    double *L, *S;  /* (n, m), in the data's unit */
    double *values; /* min(n, m) */
    int steps;
} pursuit;

/* the largest ratio of neighbours among those that count */
static size_t gap(const pursuit *p, size_t least)
{
    size_t best = 1;
    double widest = 0, smallest = LEAST_VALUE * p->values[0];
    for (size_t j = 1; j <= least && p->values[j - 1] > smallest; j++) {
        double next = j < least ? p->values[j] : 0;
        double ratio = p->values[j - 1] / fmax(next, smallest);
        if (ratio > widest) {
            widest = ratio;
            best = j;
        }
    }
    return best;
}

/* E = S, and the residual where it is 0 */
static unrelu_status list(const ur_problem *given, const pursuit *p, ur_outcome *out,
                          unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m, count = 0;
    double rss = 0, size = 0, unit = data->unit;
    UR_ARENA(arena);
    double *y = ur_take(&arena, n, m * sizeof *y);
    for (size_t i = 0; i < n * m; i++)
        count += p->S[i] != 0;
    out->E_row = ur_take(out->arena, count, sizeof *out->E_row);
    out->E_column = ur_take(out->arena, count, sizeof *out->E_column);
    out->E_value = ur_take(out->arena, count, sizeof *out->E_value);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(out->arena, err));
    UR_TRY(ur_network_outputs(&out->weights, data->x, n, given->exec, y, err));
    for (size_t i = 0; i < n * m; i++) {
        if (p->S[i] != 0) {
            out->E_row[out->corrupted] = (double)(i / m);
            out->E_column[out->corrupted] = (double)(i % m);
            out->E_value[out->corrupted++] = p->S[i];
            continue;
        }
        rss += pow((data->a[i] - y[i]) / unit, 2);
        size += pow(data->a[i] / unit, 2);
    }
    out->certificate.residual = size > 0 ? sqrt(rss / size) : 0;
    out->certificate.holdout_residual = NAN;
    return UNRELU_OK;
}

unrelu_status ur_pcp_recover(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m, k = given->options.k, least = n < m ? n : m;
    UR_ARENA(arena);
    double *A = ur_take(&arena, n, m * sizeof *A), lambda = 1 / sqrt((double)(n > m ? n : m));
    pursuit p = {.L = ur_take(&arena, n, m * sizeof *p.L),
                 .S = ur_take(&arena, n, m * sizeof *p.S),
                 .values = ur_take(&arena, least, sizeof *p.values)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n * m; i++)
        A[i] = data->a[i] / data->unit;
    UR_TRY(ur_pcp(n, m, A, lambda, given->exec, p.L, p.S, NULL, &p.steps, err));
    UR_TRY(ur_svd(n, m, p.L, NULL, p.values, NULL, err));
    for (size_t i = 0; i < n * m; i++) {
        p.L[i] *= data->unit;
        p.S[i] *= data->unit;
    }
    if (p.values[0] == 0) {
        out->failure =
            "principal component pursuit puts all labels into the sparse part: fewer columns or "
            "rows than it needs; leave out `pcp`";
        return UNRELU_OK;
    }
    k = k ? k : gap(&p, least);
    ur_problem within = *given;
    within.options.k = k;
    UR_TRY(ur_data_hold(n, given->data.d, m, given->data.x, p.L, given->exec, out->arena,
                        &within.data, err));
    UR_TRY(ur_noisy(&within, out, err));
    if (given->options.k == 0)
        out->how_k = ur_take_text(out->arena,
                                  "largest gap of the singular values of the pursuit's L (%zu)", k);
    UR_TRY(ur_certify(given, &out->weights, NULL, out->arena, &out->certificate, err));
    UR_TRY(list(given, &p, out, err));
    ur_incoherence mu = {0};
    UR_TRY(ur_incoherence_measure(given, &out->weights, &mu, err));
    out->incoherence = mu.mu;
    out->answer = UR_NOISY;
    out->tails = NULL; /* of L, not of the labels */
    out->U_se = out->V_se = out->c_se = out->e_se = NULL;
    out->guarantee =
        "Theorem 14 with lambda = 1 / sqrt(max(n, m)), which the printed program lacks: exact for "
        "a small constant share of wrong cells and k below a constant times m / (mu log^2 n), with "
        "constants that no data of common size meet";
    out->assumption =
        ur_take_text(out->arena,
                     "mu = %.3g of the labels of the network, m / (mu log^2 n) = "
                     "%.2g; %d steps of the pursuit, %.3g %% of the cells in S",
                     mu.mu, mu.bound, p.steps, 100 * (double)out->corrupted / (double)(n * m));
    ur_outcome_note(out, "no-se",
                    "`pcp`: principal component pursuit is not exact, and what it leaves (relative "
                    "residual %.2g on cells that it takes as right) is no noise of a known law; "
                    "without `pcp` the recovery is exact or fails",
                    out->certificate.residual);
    return UNRELU_OK;
}
