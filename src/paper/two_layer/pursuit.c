/* SPDX-License-Identifier: Apache-2.0 */
/* --method sparse-noise --pcp: the network of the L of principal component pursuit. L is not exact,
 * and neither is its network: the verdict is "noisy", with no standard errors, as what is left in L
 * is no noise of a known law. k as given, else by the largest gap of the singular values of L. E is
 * the S of the pursuit; the residual is over the cells where that is 0. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *A, *L, *S; /* (n, m), in the data's unit */
    double *values;    /* min(n, m) */
    int steps;
} pursuit;

static void pursuit_free(pursuit *p)
{
    free(p->A);
    free(p->L);
    free(p->S);
    free(p->values);
}

static unrelu_status run(const ur_recover *r, pursuit *p, unrelu_error *err)
{
    size_t n = r->data.n, m = r->data.m, least = n < m ? n : m;
    p->A = ur_alloc(n, m * sizeof *p->A);
    p->L = ur_alloc(n, m * sizeof *p->L);
    p->S = ur_alloc(n, m * sizeof *p->S);
    p->values = ur_doubles(least);
    if (!p->A || !p->L || !p->S || !p->values)
        return ur_fail_memory(err, n * m, "cells");
    for (size_t i = 0; i < n * m; i++)
        p->A[i] = r->data.a[i] / r->data.unit;
    double lambda = 1 / sqrt((double)(n > m ? n : m));
    unrelu_status status = ur_pcp(n, m, p->A, lambda, r->exec, p->L, p->S, NULL, &p->steps, err);
    if (status == UNRELU_OK)
        status = ur_svd(n, m, p->L, NULL, p->values, NULL, err);
    for (size_t i = 0; i < n * m && status == UNRELU_OK; i++) {
        p->L[i] *= r->data.unit;
        p->S[i] *= r->data.unit;
    }
    return status;
}

/* the largest ratio of neighbours among those above 1e-6 of the first */
static size_t gap(const pursuit *p, size_t least)
{
    size_t best = 1;
    double widest = 0;
    for (size_t j = 1; j <= least && p->values[j - 1] > 1e-6 * p->values[0]; j++) {
        double next = j < least ? p->values[j] : 0, floor = 1e-6 * p->values[0];
        double ratio = p->values[j - 1] / fmax(next, floor);
        if (ratio > widest) {
            widest = ratio;
            best = j;
        }
    }
    return best;
}

static unrelu_status learn(ur_recover *r, const pursuit *p, size_t k, unrelu_error *err)
{
    unrelu_recover_options options = *r->options;
    unrelu_source *inputs = NULL, *labels = NULL;
    UR_ARENA(arena);
    ur_recover inner = *r;
    ur_data data = {0};
    unrelu_status status = unrelu_source_memory(r->data.x, r->data.n, r->data.d, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(p->L, r->data.n, r->data.m, &labels, err);
    if (status == UNRELU_OK)
        status = ur_data_load(inputs, labels, r->exec, &arena, &data, err);
    options.k = k;
    inner.options = &options;
    inner.data = data;
    if (status == UNRELU_OK)
        status = ur_noisy(&inner, err);
    r->inputs = inner.inputs;
    r->p = inner.p;
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}

/* E = S, and the residual where it is 0 */
static unrelu_status list(ur_recover *r, const pursuit *p, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t n = model->n, m = model->m, count = 0;
    double *y = ur_alloc(n, m * sizeof *y), rss = 0, size = 0, unit = r->data.unit;
    for (size_t i = 0; i < n * m; i++)
        count += p->S[i] != 0;
    model->E_row = ur_doubles(count);
    model->E_column = ur_doubles(count);
    model->E_value = ur_doubles(count);
    unrelu_status status = UNRELU_OK;
    if (!y || !model->E_row || !model->E_column || !model->E_value)
        status = ur_fail_memory(err, n * m, "cells");
    if (status == UNRELU_OK)
        status = unrelu_network_predict(model, r->data.x, n, r->exec, y, err);
    for (size_t i = 0; i < n * m && status == UNRELU_OK; i++) {
        if (p->S[i] != 0) {
            model->E_row[model->corrupted] = (double)(i / m);
            model->E_column[model->corrupted] = (double)(i % m);
            model->E_value[model->corrupted++] = p->S[i];
            continue;
        }
        rss += pow((r->data.a[i] - y[i]) / unit, 2);
        size += pow(r->data.a[i] / unit, 2);
    }
    model->residual = size > 0 ? sqrt(rss / size) : 0;
    model->holdout_residual = NAN;
    free(y);
    return status;
}

static void drop_errors(unrelu_network *model)
{
    double **arrays[] = {&model->U_se, &model->V_se, &model->c_se, &model->e_se};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i]);
        *arrays[i] = NULL;
    }
}

static unrelu_status tell(ur_recover *r, const pursuit *p, unrelu_error *err)
{
    unrelu_network *model = r->model;
    ur_incoherence mu = {0};
    unrelu_status status = ur_incoherence_measure(r, &mu, err);
    if (status != UNRELU_OK)
        return status;
    model->incoherence = mu.mu;
    model->verdict = UNRELU_VERDICT_NOISY;
    drop_errors(model);
    snprintf(model->guarantee, sizeof model->guarantee,
             "Theorem 14 with lambda = 1 / sqrt(max(n, m)), which the printed program lacks: exact "
             "for a small constant share of wrong cells and k below a constant times m / (mu log^2 "
             "n), with constants that no data of common size meet");
    snprintf(model->assumption, sizeof model->assumption,
             "mu = %.3g of the labels of the network, m / (mu log^2 n) = %.2g; %d steps of the "
             "pursuit, %.3g %% of the cells in S",
             mu.mu, mu.bound, p->steps,
             100 * (double)model->corrupted / ((double)model->n * (double)model->m));
    return ur_network_warn(model, "no-se", err,
                           "--pcp: principal component pursuit is not exact, and what it leaves "
                           "(relative residual %.2g on cells that it takes as right) is no noise "
                           "of a known law; without --pcp the recovery is exact or fails",
                           model->residual);
}

unrelu_status ur_pcp_recover(ur_recover *r, int *met, unrelu_error *err)
{
    pursuit p = {0};
    size_t least = r->data.n < r->data.m ? r->data.n : r->data.m;
    unrelu_status status = run(r, &p, err);
    size_t k = r->options->k;
    if (status == UNRELU_OK && p.values[0] == 0) {
        snprintf(r->model->failure, sizeof r->model->failure,
                 "principal component pursuit puts all labels into the sparse part: fewer columns "
                 "or rows than it needs; leave out --pcp");
        goto done;
    }
    if (status == UNRELU_OK) {
        k = k ? k : gap(&p, least);
        status = learn(r, &p, k, err);
    }
    if (status == UNRELU_OK && r->model->V) {
        if (!r->options->k)
            snprintf(r->model->how_k, sizeof r->model->how_k,
                     "largest gap of the singular values of the pursuit's L (%zu)", k);
        status = ur_certify(r, NULL, err);
        if (status == UNRELU_OK)
            status = list(r, &p, err);
        if (status == UNRELU_OK)
            status = tell(r, &p, err);
        *met = status == UNRELU_OK;
    }
done:
    pursuit_free(&p);
    return status;
}
