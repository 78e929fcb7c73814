/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum likelihood under normal noise over all rows, from a start that is already close, and
 * its standard errors: sigma^2 = RSS / (n m - parameters), covariance sigma^2 times the inverse of
 * the Gauss-Newton matrix on the tangent of |v_j| = 1. With `robust` the least of Huber's
 * objective: noise is his scale s, which is sigma for normal noise, and as noise independent of x
 * leaves every cell the same psi, the sandwich of his estimate is that of least squares with
 *   sigma^2 = s^2 E psi^2 / (E psi')^2. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/noisy/noisy.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

/* Phi(-2.5): a neuron that switches for a smaller share of the samples has hardly a kink to see */
static const double HARDLY = 0.006;

/* standard errors of the network of out, for noise of this deviation; U and e in the unit of the
 * labels on the way, so that their squares are numbers */
static unrelu_status set_errors(const ur_problem *given, double deviation, ur_outcome *out,
                                unrelu_error *err)
{
    const ur_data *data = &given->data;
    const ur_weights *w = &out->weights;
    ur_terms terms = out->terms;
    size_t d = w->d, q = d + (terms.hidden ? 1 : 0), k = w->k, m = w->m;
    double unit = data->unit;
    UR_ARENA(arena);
    ur_newton_fit fit;
    int singular = 0;
    double *V_se = ur_take(&arena, k, q * sizeof *V_se);
    const double *x = data->x;
    if (terms.hidden) { /* with the ones as last column */
        double *own = ur_take(&arena, data->n, q * sizeof *own);
        for (size_t i = 0; i < data->n && own; i++) {
            memcpy(own + i * q, data->x + i * d, d * sizeof *own);
            own[i * q + d] = 1;
        }
        x = own;
    }
    ur_newton problem = {.n = data->n,
                         .p = q,
                         .m = m,
                         .x = x,
                         .a = data->a,
                         .f = w->f,
                         .constant = terms.constant,
                         .exec = given->exec};
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    out->V_se = ur_take(out->arena, k, d * sizeof(double));
    out->U_se = ur_take(out->arena, m, k * sizeof(double));
    out->c_se = terms.hidden ? ur_take(out->arena, k, sizeof(double)) : NULL;
    out->e_se = terms.constant ? ur_take(out->arena, m, sizeof(double)) : NULL;
    UR_TRY(ur_arena_status(out->arena, err));
    ur_rows_join(k, d, q, w->V, w->c, fit.V);
    for (size_t i = 0; i < m * k; i++)
        fit.U[i] = w->U[i] / unit;
    for (size_t i = 0; i < m; i++)
        fit.e[i] = w->e[i] / unit;
    UR_TRY(ur_newton_errors(&problem, &fit, d, deviation / unit, V_se, out->U_se, out->e_se,
                            &singular, err));
    for (size_t i = 0; i < m * k; i++)
        out->U_se[i] *= unit;
    for (size_t i = 0; i < m && terms.constant; i++)
        out->e_se[i] *= unit;
    for (size_t j = 0; j < k; j++) {
        memcpy(out->V_se + j * d, V_se + j * q, d * sizeof *V_se);
        if (terms.hidden)
            out->c_se[j] = V_se[j * q + d];
    }
    if (singular)
        ur_outcome_note(out, "no-se",
                        "the information matrix is singular or too large (order %zu): no standard "
                        "errors",
                        k * q);
    return UNRELU_OK;
}

/* also where what is left turns out to be a function of the inputs: a few huge cells may have led
 * to a network that leaves one */
static unrelu_status tell_tails(const ur_newton *problem, const ur_newton_fit *fit, int robust,
                                ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    double *R = ur_take(&arena, problem->n, problem->m * sizeof *R);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_newton_rest(problem, fit, R, err));
    ur_tails tails = ur_tails_of(problem->n, problem->m, R);
    if (!robust && ur_tails_heavy(tails))
        out->tails = ur_take_text(
            out->arena,
            "what is left has heavier tails than normal noise: a root mean square of %.3g times "
            "its scale by Huber, %.3g deviations from that of normal noise, so that a few cells "
            "decide on k and on the weights; with `robust` errors are about %.0f %% smaller",
            tails.ratio, tails.z, 100 * (1 - 1 / tails.gain));
    return UNRELU_OK;
}

unrelu_status ur_likelihood(const ur_problem *given, const ur_frame *frame,
                            const ur_newton_fit *start, ur_outcome *out, unrelu_error *err)
{
    const ur_data *data = &given->data;
    unrelu_activation f = given->options.activation;
    UR_ARENA(arena);
    ur_frame all;
    ur_newton_fit fit;
    if (frame->n == data->n)
        all = *frame;
    else
        UR_TRY(ur_frame_make(data, data->n, frame->terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, f, given->exec);
    double *raw = ur_take(&arena, start->k, frame->q * sizeof *raw);
    UR_TRY(ur_newton_alloc(&problem, start->k, &arena, &fit, err));
    ur_frame_back(frame, start->k, start->V, raw);
    ur_frame_forth(&all, start->k, raw, fit.V);
    if (ur_activation_degree(f) > 0)
        ur_unit_rows(start->k, all.p, fit.V);
    int robust = given->options.robust;
    ur_huber huber;
    if (robust) {
        memcpy(fit.U, start->U, data->m * start->k * sizeof *fit.U);
        memcpy(fit.e, start->e, data->m * sizeof *fit.e);
        UR_TRY(ur_newton_huber(&problem, UR_HUBER_ROUNDS, UR_HUBER_STEPS, UR_LIKELIHOOD_GAIN, &fit,
                               &huber, err));
    } else {
        UR_TRY(ur_newton_solve(&problem, UR_LIKELIHOOD_STEPS, UR_LIKELIHOOD_GAIN, 0, &fit, err));
    }
    UR_TRY(ur_certify_fit(given, &all, &fit, NULL, out, err));
    if (out->certificate.met) { /* there was no noise */
        ur_arena_give(&arena, out->arena);
        return ur_certify_exact(given, &all, NULL, 0, 0, out, err);
    }
    double cells = (double)data->n * (double)data->m,
           used = ur_parameters(given, fit.k, frame->terms), left = fmax(cells - used, 1),
           deviation = data->unit * sqrt(fit.rss / left);
    out->answer = UR_NOISY;
    out->noise = deviation;
    if (robust) {
        double unit = data->unit * sqrt(cells / left);
        /* Huber (1981, 7.6.8): psi' varies over the cells, with these means */
        double correction = 1 + used / cells * (1 - huber.inside) / huber.inside;
        out->noise = unit * huber.scale;
        if (!out->assumption[0])
            out->assumption =
                ur_take_text(out->arena,
                             "noise is independent of the inputs and symmetric, or e is fitted: "
                             "Huber's objective with scale %.4g, within 1.345 of which are %.3g %% "
                             "of the cells (normal noise: 82.1 %%)",
                             out->noise, 100 * huber.inside);
        deviation = unit * huber.spread * correction;
    }
    UR_TRY(set_errors(given, deviation, out, err));
    UR_TRY(tell_tails(&problem, &fit, robust, out, err));
    for (size_t j = 0; j < fit.k; j++) {
        double active = out->certificate.active[j];
        if (fmin(active, 1 - active) < HARDLY)
            ur_outcome_note(out, "weak-neuron",
                            "neuron %zu is on for %.3g %% of the samples: it hardly switches, and "
                            "its row and bias are known only together",
                            j + 1, 100 * active);
    }
    return UNRELU_OK;
}
