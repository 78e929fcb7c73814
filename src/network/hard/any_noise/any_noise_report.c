/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a fit under noise of any shape: how k was found, the objective and its bound,
 * Theorem 13 at epsilon .1 and at the n there is, what was measured of its assumptions, warnings.
 * Standard errors are never given: they need a law of the noise. */
#include "base/error.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <stdio.h>

static const double EPSILON = .1; /* at which the theorem is put into numbers */

void ur_any_report_k(const ur_any_course *q)
{
    char *text = q->r->model->how_k, more[96] = "";
    size_t room = sizeof q->r->model->how_k;
    if (q->k > q->shown)
        snprintf(more, sizeof more, "; what %zu neuron%s leave depends on x", q->k - 1,
                 q->k == 2 ? "" : "s");
    if (q->r->options->k > 0)
        snprintf(text, room, "given");
    else
        snprintf(text, room,
                 "%zu singular value%s of the labels' moments with x above those of 20 shuffles of "
                 "the rows%s",
                 q->shown, q->shown == 1 ? "" : "s", more);
}

static double size_of_labels(const ur_data *data)
{
    double size = 0;
    for (size_t j = 0; j < data->m; j++)
        size = hypot(size, data->column_rms[j] * data->column_unit[j] * sqrt((double)data->n));
    return size;
}

unrelu_status ur_any_report_exact(ur_recover *r, unrelu_error *err)
{
    unrelu_network *model = r->model;
    model->objective = model->residual * size_of_labels(&r->data);
    model->objective_bound = 0;
    snprintf(model->guarantee, sizeof model->guarantee,
             "the labels are met%s: there is no noise for Theorem 13 to bound; the residual over "
             "all samples and the rules of uniqueness of docs/method-network.md",
             ur_terms_of(r->options->biases).constant ? " with the offset e" : "");
    snprintf(model->assumption, sizeof model->assumption, "none on the noise: it is 0%s",
             ur_terms_of(r->options->biases).constant ? ", or an offset" : "");
    if (r->options->k > model->k)
        return ur_network_warn(model, "merged", err,
                               "%zu neurons were asked for and %zu are enough: the others coincide "
                               "with these, have no output or are never on",
                               r->options->k, model->k);
    return UNRELU_OK;
}

/* ---- labels with noise ---- */

static void state_promise(const ur_any_course *q, const ur_any_measures *s)
{
    unrelu_network *model = q->r->model;
    size_t n = model->n, m = model->m, p = q->frame.p, k = q->k;
    double error = sqrt(s->sigma * EPSILON * sqrt((double)n * (double)m) * s->spectral);
    if (!isfinite(s->kappa_u) || !isfinite(s->kappa_v)) {
        snprintf(model->guarantee, sizeof model->guarantee,
                 "none: Theorem 13 needs U and V of rank k = %zu, and %s is not", k,
                 isfinite(s->kappa_v) ? "U" : "V");
        return;
    }
    snprintf(model->guarantee, sizeof model->guarantee,
             "Theorem 13 with its constants as 1: epsilon %.1g needs n = %.0e, 1e%.0f guesses, and "
             "leaves |E|_F + %.2g; n = %zu is enough for epsilon %.2g, and it asks for epsilon < "
             "1/k. No theorem covers what was done: Gauss-Newton from %zu start%s",
             EPSILON, ur_any_needed(EPSILON, p, k, s->kappa_u),
             ur_any_guesses(EPSILON, k, s->kappa_u), error, n, ur_any_epsilon(n, p, k, s->kappa_u),
             q->best.starts, q->best.starts == 1 ? "" : "s");
}

static void state_assumption(const ur_any_course *q, const ur_any_measures *s)
{
    unrelu_network *model = q->r->model;
    int constant = q->frame.terms.constant;
    char bound[96] = "";
    if (s->bound > 0)
        snprintf(bound, sizeof bound,
                 "; objective %.5g times that of the best labels of rank %zu%s",
                 s->objective / s->bound, q->k, constant ? " + e" : "");
    snprintf(model->assumption, sizeof model->assumption,
             "what is left %s on x beyond 20 shuffles; excess kurtosis of inputs up to %.2g "
             "(normal: 0 +- %.1g); kappa(U) %.3g, kappa(V) %.3g%s; with an intercept %.6g, without "
             "%.6g (%zu rows)",
             q->depends ? "depends" : "does not depend", s->kurtosis, sqrt(24 / (double)model->n),
             s->kappa_u, s->kappa_v, bound, constant ? q->here : q->other,
             constant ? q->other : q->here, q->frame.n);
}

static unrelu_status warn_offset(const ur_any_course *q, unrelu_error *err)
{
    if (!q->offset)
        return UNRELU_OK;
    return ur_network_warn(q->r->model, "offset", err,
                           "with an intercept the objective over %zu rows falls from %.6g to %.6g: "
                           "the noise has a mean, which U f(V x) took up here, so that V is off; "
                           "use --intercept",
                           q->frame.n, q->here, q->other);
}

static unrelu_status warn_all(const ur_any_course *q, unrelu_error *err)
{
    unrelu_network *model = q->r->model;
    size_t k = q->k, m = model->m;
    unrelu_status status = ur_network_warn(
        model, "no-se", err,
        "no standard errors: they need the law of the noise (its variance, its dependence over "
        "rows and labels), and none was assumed; noise is the root mean square of what is left");
    if (status == UNRELU_OK)
        status = warn_offset(q, err);
    if (status == UNRELU_OK && q->depends)
        status = ur_network_warn(model, "dependent-rest", err,
                                 "what %zu neuron%s leave depends on the inputs, more than in 20 "
                                 "shuffles of its rows: there are more neurons or biases than were "
                                 "fitted, or the noise is not independent of the inputs",
                                 k, k == 1 ? "" : "s");
    if (status == UNRELU_OK && q->best.skipped)
        status = ur_network_warn(model, "moments-skipped", err,
                                 "%zu inputs, %zu label%s and k = %zu: moments gave no start, the "
                                 "others remain",
                                 q->frame.p, m, m == 1 ? "" : "s", k);
    if (status == UNRELU_OK && k > m)
        status = ur_network_warn(model, "joint-solver", err,
                                 "%zu label%s and %zu neurons: all neurons were solved for at "
                                 "once, and no theorem says that the answer is unique",
                                 m, m == 1 ? "" : "s", k);
    if (status == UNRELU_OK && q->best.starts > 2 && q->best.agree == 1)
        status = ur_network_warn(model, "few-starts-agree", err,
                                 "only one of %zu starts reached the best fit: it may not be the "
                                 "best there is; try a larger --budget",
                                 q->best.starts);
    return status;
}

unrelu_status ur_any_report_noisy(const ur_any_course *q, const ur_any_measures *s,
                                  unrelu_error *err)
{
    unrelu_network *model = q->r->model;
    model->objective = s->objective;
    model->objective_bound = s->bound;
    model->noise = s->objective / sqrt((double)model->n * (double)model->m);
    state_promise(q, s);
    state_assumption(q, s);
    return warn_all(q, err);
}

void ur_any_report_failure(ur_any_course *q)
{
    unrelu_network *model = q->r->model;
    q->r->best = fmin(q->r->best, sqrt(q->best.fit.rss / q->frame.size));
    snprintf(model->guarantee, sizeof model->guarantee, "none: Theorem 13 is about noise");
    snprintf(model->assumption, sizeof model->assumption, "no noise: it does not hold");
    snprintf(model->failure, sizeof model->failure,
             "the best of %zu starts leaves a residual of %.2g, and labels without noise need "
             "%.2g: without --noise none it would be the answer",
             q->best.starts, q->r->best, q->r->data.floor);
}
