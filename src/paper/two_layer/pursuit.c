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

#include <math.h>

/* of the largest singular value: those below are what the pursuit leaves, not neurons */
static const double LEAST_VALUE = 1e-6;

typedef struct {
    double *A, *L, *S; /* (n, m), in the data's unit */
    double *values;    /* min(n, m) */
    int steps;
} pursuit;

static unrelu_status run(const ur_problem *given, ur_arena *arena, pursuit *p, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m, least = n < m ? n : m;
    p->A = ur_take(arena, n, m * sizeof *p->A);
    p->L = ur_take(arena, n, m * sizeof *p->L);
    p->S = ur_take(arena, n, m * sizeof *p->S);
    p->values = ur_take(arena, least, sizeof *p->values);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n * m; i++)
        p->A[i] = data->a[i] / data->unit;
    double lambda = 1 / sqrt((double)(n > m ? n : m));
    UR_TRY(ur_pcp(n, m, p->A, lambda, given->exec, p->L, p->S, NULL, &p->steps, err));
    UR_TRY(ur_svd(n, m, p->L, NULL, p->values, NULL, err));
    for (size_t i = 0; i < n * m; i++) {
        p->L[i] *= data->unit;
        p->S[i] *= data->unit;
    }
    return UNRELU_OK;
}

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

static unrelu_status tell(const ur_problem *given, const pursuit *p, ur_outcome *out,
                          unrelu_error *err)
{
    double cells = (double)given->data.n * (double)given->data.m;
    ur_incoherence mu = {0};
    UR_TRY(ur_incoherence_measure(given, &out->weights, &mu, err));
    out->incoherence = mu.mu;
    out->answer = UR_NOISY;
    out->U_se = out->V_se = out->c_se = out->e_se = NULL;
    out->guarantee =
        "Theorem 14 with lambda = 1 / sqrt(max(n, m)), which the printed program lacks: exact for "
        "a small constant share of wrong cells and k below a constant times m / (mu log^2 n), with "
        "constants that no data of common size meet";
    out->assumption = ur_take_text(out->arena,
                                   "mu = %.3g of the labels of the network, m / (mu log^2 n) = "
                                   "%.2g; %d steps of the pursuit, %.3g %% of the cells in S",
                                   mu.mu, mu.bound, p->steps, 100 * (double)out->corrupted / cells);
    ur_outcome_note(out, "no-se",
                    "`pcp`: principal component pursuit is not exact, and what it leaves (relative "
                    "residual %.2g on cells that it takes as right) is no noise of a known law; "
                    "without `pcp` the recovery is exact or fails",
                    out->certificate.residual);
    return UNRELU_OK;
}

unrelu_status ur_pcp_recover(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    size_t n = given->data.n, m = given->data.m, k = given->options.k;
    UR_ARENA(arena);
    pursuit p = {0};
    UR_TRY(run(given, &arena, &p, err));
    if (p.values[0] == 0) {
        out->failure =
            "principal component pursuit puts all labels into the sparse part: fewer columns or "
            "rows than it needs; leave out `pcp`";
        return UNRELU_OK;
    }
    k = k ? k : gap(&p, n < m ? n : m);
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
    return tell(given, &p, out, err);
}
