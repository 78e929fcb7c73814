/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a fit under noise of any shape: how k was found, the objective and its bound,
 * Theorem 13 at epsilon .1 and at the n there is, what was measured of its assumptions, warnings.
 * Standard errors are never given: they need a law of the noise. */
#include "base/error.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>

static const double EPSILON = .1; /* at which the theorem is put into numbers */

const char *ur_any_how_k(const ur_any_course *q)
{
    ur_arena *arena = q->out->arena;
    if (q->given->options.k > 0)
        return "given";
    const char *more = q->k > q->shown
                           ? ur_take_text(arena, "; what %zu neuron%s leave depends on x", q->k - 1,
                                          q->k == 2 ? "" : "s")
                           : "";
    return ur_take_text(arena,
                        "%zu singular value%s of the labels' moments with x above those of 20 "
                        "shuffles of the rows%s",
                        q->shown, q->shown == 1 ? "" : "s", more);
}

static double size_of_labels(const ur_data *data)
{
    double size = 0;
    for (size_t j = 0; j < data->m; j++)
        size = hypot(size, data->column_rms[j] * data->column_unit[j] * sqrt((double)data->n));
    return size;
}

void ur_any_report_exact(const ur_problem *given, ur_outcome *out)
{
    int constant = ur_terms_of(given->options.biases).constant;
    out->objective = out->certificate.residual * size_of_labels(&given->data);
    out->objective_bound = 0;
    out->guarantee = ur_take_text(
        out->arena,
        "the labels are met%s: there is no noise for Theorem 13 to bound; the residual over all "
        "samples and the rules of uniqueness of docs/method-network.md",
        constant ? " with the offset e" : "");
    out->assumption =
        constant ? "none on the noise: it is 0, or an offset" : "none on the noise: it is 0";
    ur_outcome_note_merged(given, out);
}

/* ---- labels with noise ---- */

static const char *promise(const ur_any_course *q, const ur_any_measures *s)
{
    size_t n = q->given->data.n, m = q->given->data.m, p = q->frame.p, k = q->k;
    double error = sqrt(s->sigma * EPSILON * sqrt((double)n * (double)m) * s->spectral);
    if (!isfinite(s->kappa_u) || !isfinite(s->kappa_v))
        return ur_take_text(q->out->arena,
                            "none: Theorem 13 needs U and V of rank k = %zu, and %s is not", k,
                            isfinite(s->kappa_v) ? "U" : "V");
    return ur_take_text(
        q->out->arena,
        "Theorem 13 with its constants as 1: epsilon %.1g needs n = %.0e, 1e%.0f guesses, and "
        "leaves |E|_F + %.2g; n = %zu is enough for epsilon %.2g, and it asks for epsilon < 1/k. "
        "No theorem covers what was done: Gauss-Newton from %zu start%s",
        EPSILON, ur_any_needed(EPSILON, p, k, s->kappa_u), ur_any_guesses(EPSILON, k, s->kappa_u),
        error, n, ur_any_epsilon(n, p, k, s->kappa_u), q->best.starts,
        q->best.starts == 1 ? "" : "s");
}

static const char *assumption(const ur_any_course *q, const ur_any_measures *s)
{
    int constant = q->frame.terms.constant;
    const char *bound = "";
    if (s->bound > 0)
        bound = ur_take_text(q->out->arena,
                             "; objective %.5g times that of the best labels of rank %zu%s",
                             s->objective / s->bound, q->k, constant ? " + e" : "");
    return ur_take_text(
        q->out->arena,
        "what is left %s on x beyond 20 shuffles; excess kurtosis of inputs up to %.2g (normal: 0 "
        "+- %.1g); kappa(U) %.3g, kappa(V) %.3g%s; with an intercept %.6g, without %.6g (%zu rows)",
        q->depends ? "depends" : "does not depend", s->kurtosis,
        sqrt(24 / (double)q->given->data.n), s->kappa_u, s->kappa_v, bound,
        constant ? q->here : q->other, constant ? q->other : q->here, q->frame.n);
}

static void note_all(const ur_any_course *q)
{
    ur_outcome *out = q->out;
    size_t k = q->k, m = q->given->data.m;
    ur_outcome_note(
        out, "no-se",
        "no standard errors: they need the law of the noise (its variance, its "
        "dependence over rows and labels), and none was assumed; noise is the root mean "
        "square of what is left");
    if (q->offset)
        ur_outcome_note(out, "offset",
                        "with an intercept the objective over %zu rows falls from %.6g to %.6g: "
                        "the noise has a mean, which U f(V x) took up here, so that V is off; use "
                        "`intercept`",
                        q->frame.n, q->here, q->other);
    if (q->depends)
        ur_outcome_note(out, "dependent-rest",
                        "what %zu neuron%s leave depends on the inputs, more than in 20 shuffles "
                        "of its rows: there are more neurons or biases than were fitted, or the "
                        "noise is not independent of the inputs",
                        k, k == 1 ? "" : "s");
    if (q->best.skipped)
        ur_outcome_note(out, "moments-skipped",
                        "%zu inputs, %zu label%s and k = %zu: moments gave no start, the others "
                        "remain",
                        q->frame.p, m, m == 1 ? "" : "s", k);
    if (k > m)
        ur_outcome_note(out, "joint-solver",
                        "%zu label%s and %zu neurons: all neurons were solved for at once, and no "
                        "theorem says that the answer is unique",
                        m, m == 1 ? "" : "s", k);
    if (q->best.starts > 2 && q->best.agree == 1)
        ur_outcome_note(out, "few-starts-agree",
                        "only one of %zu starts reached the best fit: it may not be the best there "
                        "is; try a larger `budget`",
                        q->best.starts);
}

void ur_any_report_noisy(const ur_any_course *q, const ur_any_measures *s)
{
    ur_outcome *out = q->out;
    out->objective = s->objective;
    out->objective_bound = s->bound;
    out->noise = s->objective / sqrt((double)q->given->data.n * (double)q->given->data.m);
    out->guarantee = promise(q, s);
    out->assumption = assumption(q, s);
    note_all(q);
}

void ur_any_report_failure(const ur_any_course *q)
{
    ur_outcome *out = q->out;
    out->closest = fmin(out->closest, sqrt(q->best.fit.rss / q->frame.size));
    out->guarantee = "none: Theorem 13 is about noise";
    out->assumption = "no noise: it does not hold";
    out->failure = ur_take_text(
        out->arena,
        "the best of %zu starts leaves a residual of %.2g, and labels without noise need %.2g: "
        "without `noise` none it would be the answer",
        q->best.starts, out->closest, q->given->data.floor);
}
