/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum likelihood under normal noise over all rows, from a start that is already close, and
 * its standard errors: sigma^2 = RSS / (n m - parameters), covariance sigma^2 times the inverse of
 * the Gauss-Newton matrix on the tangent of |v_j| = 1. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/noisy/noisy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* rows of one frame in the coordinates of another of the same data */
static unrelu_status translate(const ur_frame *from, const ur_frame *to, size_t k, const double *V,
                               int unit, double *out, unrelu_error *err)
{
    double *raw = ur_alloc(k, from->q * sizeof *raw);
    if (!raw)
        return ur_fail_memory(err, k * from->q, "weights");
    ur_frame_back(from, k, V, raw);
    ur_frame_forth(to, k, raw, out);
    if (unit)
        ur_unit_rows(k, to->p, out);
    free(raw);
    return UNRELU_OK;
}

/* raw inputs, with the ones as last column where c is fitted; data->x itself where they are not */
static const double *raw_inputs(const ur_data *data, ur_terms terms, double **own)
{
    size_t d = data->d;
    *own = NULL;
    if (!terms.hidden)
        return data->x;
    *own = ur_alloc(data->n, (d + 1) * sizeof **own);
    for (size_t i = 0; i < data->n && *own; i++) {
        memcpy(*own + i * (d + 1), data->x + i * d, d * sizeof **own);
        (*own)[i * (d + 1) + d] = 1;
    }
    return *own;
}

/* the model as a fit in raw coordinates; U and e in `unit`, so that their squares are numbers */
static unrelu_status raw_fit(const unrelu_network *model, ur_terms terms, double unit,
                             ur_arena *arena, ur_newton_fit *fit, unrelu_error *err)
{
    size_t d = model->d, q = d + (terms.hidden ? 1 : 0);
    UR_TRY(ur_newton_alloc(&(ur_newton){.p = q, .m = model->m}, model->k, arena, fit, err));
    for (size_t j = 0; j < model->k; j++) {
        memcpy(fit->V + j * q, model->V + j * d, d * sizeof *fit->V);
        if (terms.hidden)
            fit->V[j * q + d] = model->c[j];
    }
    for (size_t i = 0; i < model->m * model->k; i++)
        fit->U[i] = model->U[i] / unit;
    for (size_t i = 0; i < model->m; i++)
        fit->e[i] = model->e[i] / unit;
    return UNRELU_OK;
}

static unrelu_status alloc_errors(unrelu_network *model, ur_terms terms, unrelu_error *err)
{
    model->V_se = ur_alloc(model->k, model->d * sizeof(double));
    model->U_se = ur_alloc(model->m, model->k * sizeof(double));
    model->c_se = terms.hidden ? ur_doubles(model->k) : NULL;
    model->e_se = terms.constant ? ur_doubles(model->m) : NULL;
    if (!model->V_se || !model->U_se || (terms.hidden && !model->c_se) ||
        (terms.constant && !model->e_se))
        return ur_fail_memory(err, model->k * model->d, "standard errors");
    return UNRELU_OK;
}

static unrelu_status set_errors(ur_recover *r, ur_terms terms, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t d = model->d, q = d + (terms.hidden ? 1 : 0);
    double *own = NULL, *V_se = ur_alloc(model->k, q * sizeof *V_se);
    double unit = r->data.unit;
    UR_ARENA(arena);
    ur_newton_fit fit;
    int singular = 0;
    const double *x = raw_inputs(&r->data, terms, &own);
    unrelu_status status = x && V_se ? UNRELU_OK : ur_fail_memory(err, model->n * q, "cells");
    if (status == UNRELU_OK)
        status = raw_fit(model, terms, unit, &arena, &fit, err);
    if (status == UNRELU_OK)
        status = alloc_errors(model, terms, err);
    ur_newton problem = {.n = model->n,
                         .p = q,
                         .m = model->m,
                         .x = x,
                         .a = r->data.a,
                         .f = model->activation,
                         .constant = terms.constant,
                         .exec = r->exec};
    if (status == UNRELU_OK)
        status = ur_newton_errors(&problem, &fit, d, model->noise / unit, V_se, model->U_se,
                                  model->e_se, &singular, err);
    for (size_t i = 0; i < model->m * model->k && status == UNRELU_OK; i++)
        model->U_se[i] *= unit;
    for (size_t i = 0; i < model->m && status == UNRELU_OK && terms.constant; i++)
        model->e_se[i] *= unit;
    for (size_t j = 0; j < model->k && status == UNRELU_OK; j++) {
        memcpy(model->V_se + j * d, V_se + j * q, d * sizeof *V_se);
        if (terms.hidden)
            model->c_se[j] = V_se[j * q + d];
    }
    if (status == UNRELU_OK && singular)
        status = ur_network_warn(model, "no-se", err,
                                 "the information matrix is singular or too large (order %zu): no "
                                 "standard errors",
                                 model->k * q);
    free(own);
    free(V_se);
    return status;
}

/* Phi(-2.5) = 0.6 %: a neuron that switches less has hardly a kink to see */
static unrelu_status warn_weak(ur_recover *r, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < model->k && status == UNRELU_OK; j++)
        if (fmin(model->active[j], 1 - model->active[j]) < 0.006)
            status = ur_network_warn(r->model, "weak-neuron", err,
                                     "neuron %zu is on for %.3g %% of the samples: it hardly "
                                     "switches, and its row and bias are known only together",
                                     j + 1, 100 * model->active[j]);
    return status;
}

unrelu_status ur_likelihood(ur_recover *r, const ur_frame *frame, const ur_newton_fit *start,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame all;
    ur_newton_fit fit;
    int unit = ur_activation_degree(r->options->activation) > 0;
    UR_TRY(ur_frame_make(&r->data, r->data.n, frame->terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, r->options->activation, r->exec);
    unrelu_status status = ur_newton_alloc(&problem, start->k, &arena, &fit, err);
    if (status == UNRELU_OK)
        status = translate(frame, &all, start->k, start->V, unit, fit.V, err);
    if (status == UNRELU_OK)
        status = ur_newton_solve(&problem, 100, 1e-8, 0, &fit, err);
    r->model->linear_rank = 0; /* an exact attempt may have left one */
    if (status == UNRELU_OK)
        status = ur_recover_adopt(r, &all, &fit, err);
    if (status == UNRELU_OK)
        status = ur_certify(r, NULL, err);
    if (status == UNRELU_OK && r->met) { /* there was no noise */
        status = ur_unique(r, &all, NULL, 0, err);
    } else if (status == UNRELU_OK) {
        double cells = (double)r->data.n * (double)r->data.m;
        double left = cells - ur_parameters(r, fit.k, frame->terms);
        r->model->verdict = UNRELU_VERDICT_NOISY;
        r->model->noise = r->data.unit * sqrt(fit.rss / fmax(left, 1));
        status = set_errors(r, frame->terms, err);
    }
    if (status == UNRELU_OK && !r->met)
        status = warn_weak(r, err);
    return status;
}
