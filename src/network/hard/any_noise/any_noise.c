/* SPDX-License-Identifier: Apache-2.0 */
/* --method any-noise (Theorem 13, Algorithm 8): A = f(X V') U' + e + E with E of any shape that is
 * independent of X. Finds U, V that leave as little as E does: |A - f(X V') U' - e|_F <= |E|_F is
 * what the planted network itself reaches, and what Gauss-Newton from a few starts reached in all
 * measured cases (10 laws of noise, sizes 1e-3 to 10 of the signal's, k <= 5: at most 1.0000 |E|).
 * Where what is left has heavy tails the least |.|_F follows its few largest cells (Cauchy noise of
 * the signal's size, n = 40000: V off by .4 to 1.1): then Huber's objective is minimised, which the
 * planted network is near whatever the tails (V off by .02 to .04), with |.|_F as before.
 * The paper's own way needs 10^241 guesses for one neuron.
 * The weights themselves are right where E has mean 0, or where e is fitted (--intercept): else
 * U f absorbs the mean. There is no standard error without a law of E. Labels that are met to
 * rounding get the certificate and the verdict of the exact branch. Starts race on at most 20000
 * rows; the winner descends over all. */
#include "network/hard/any_noise/any_noise.h"

#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/noisy/noisy.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 20000, FEW_ROWS = 4000, ROWS_A_WEIGHT = 100, MORE = 5 };
static const double CHANCE = 16; /* four deviations squared: what an offset must gain */

/* Errors of Huber's estimate must be smaller than those of least squares by this factor: noise of
 * Student's law with 2 degrees of freedom and fewer. Below it (exponential noise: 1.3) the
 * theorem's
 * |.|_F is minimised, which a mean of 0 keeps right whatever the skewness. */
static const double WORTH = 1.5;

static const double EPSILON = .1; /* at which the theorem is put into numbers */

typedef struct {
    const ur_problem *given;
    ur_outcome *out;       /* whose arena holds the frame */
    ur_arena *round;       /* of rows and best for one k */
    ur_frame frame;        /* of at most 20000 rows */
    ur_any_rows all, rows; /* of the frame, all of them and a few */
    ur_any_best best;
    size_t k, shown;    /* shown: k as it was counted */
    double here, other; /* roots of the costs on the frame: with e as asked for, and otherwise */
    int robust;     /* by Huber's objective: what is left has heavy tails, or it was asked for */
    ur_tails tails; /* of what the best leaves */
    int offset;     /* e, which is not asked for, would gain more than chance */
    int depends;    /* what is left, with e in any case, depends on x */
} course;

/* ---- what is told: standard errors never, as they need a law of the noise ---- */

static void report_exact(const ur_problem *given, ur_outcome *out)
{
    const ur_data *data = &given->data;
    int constant = ur_terms_of(given->options.biases).constant;
    double size = 0;
    for (size_t j = 0; j < data->m; j++)
        size = hypot(size, data->column_rms[j] * data->column_unit[j] * sqrt((double)data->n));
    out->objective = out->certificate.residual * size;
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

static void report_notes(const course *q, const ur_any_measures *s)
{
    ur_outcome *out = q->out;
    size_t m = q->given->data.m, k = q->k;
    ur_outcome_note(
        out, "no-se",
        "no standard errors: they need the law of the noise (its variance, its "
        "dependence over rows and labels), and none was assumed; noise is the root mean "
        "square of what is left");
    if (q->robust && ur_tails_heavy(q->tails))
        ur_outcome_note(out, "heavy-tails",
                        "what is left has a root mean square of %.3g times its scale by Huber "
                        "(normal noise: 1): a few cells decide on |A - U f(V X)|_F, %.6g here, so "
                        "Huber's objective was minimised instead",
                        q->tails.ratio, s->objective);
    if (q->offset)
        ur_outcome_note(out, "offset",
                        "with an intercept the %s over %zu rows falls from %.6g to %.6g: the noise "
                        "is not centred at 0, which U f(V x) took up here, so that V is off; use "
                        "`intercept`",
                        q->robust ? "likeliest Student law's deviation" : "objective", q->frame.n,
                        q->here, q->other);
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

static void report_noisy(const course *q, const ur_any_measures *s)
{
    ur_outcome *out = q->out;
    size_t n = q->given->data.n, m = q->given->data.m, p = q->frame.p, k = q->k;
    int constant = q->frame.terms.constant;
    double cells = sqrt((double)n * (double)m),
           error = sqrt(s->sigma * EPSILON * cells * s->spectral);
    const char *bound = "";
    out->objective = s->objective;
    out->objective_bound = s->bound;
    out->noise = s->objective / cells;
    if (!isfinite(s->kappa_u) || !isfinite(s->kappa_v))
        out->guarantee = ur_take_text(
            out->arena, "none: Theorem 13 needs U and V of rank k = %zu, and %s is not", k,
            isfinite(s->kappa_v) ? "U" : "V");
    else
        out->guarantee = ur_take_text(
            out->arena,
            "Theorem 13 with its constants as 1: epsilon %.1g needs n = %.0e, 1e%.0f guesses, and "
            "leaves |E|_F + %.2g; n = %zu is enough for epsilon %.2g, and it asks for epsilon < "
            "1/k. No theorem covers what was done: Gauss-Newton from %zu start%s%s",
            EPSILON, ur_any_needed(EPSILON, p, k, s->kappa_u),
            ur_any_guesses(EPSILON, k, s->kappa_u), error, n, ur_any_epsilon(n, p, k, s->kappa_u),
            q->best.starts, q->best.starts == 1 ? "" : "s",
            q->robust ? ", and it was Huber's objective that was minimised, not |A - U f(V X)|_F"
                      : "");
    if (s->bound > 0)
        bound =
            ur_take_text(out->arena, "; objective %.5g times that of the best labels of rank %zu%s",
                         s->objective / s->bound, k, constant ? " + e" : "");
    out->assumption = ur_take_text(
        out->arena,
        "what is left %s on x beyond 20 shuffles; excess kurtosis of inputs up to %.2g (normal: 0 "
        "+- %.1g); kappa(U) %.3g, kappa(V) %.3g%s; with an intercept %.6g, without %.6g (%zu "
        "rows%s)",
        q->depends ? "depends" : "does not depend", s->kurtosis, sqrt(24 / (double)n), s->kappa_u,
        s->kappa_v, bound, constant ? q->here : q->other, constant ? q->other : q->here, q->frame.n,
        q->robust ? ", by the likeliest Student law" : "");
    report_notes(q, s);
}

/* ---- the fit ---- */

/* R (n, m) = what a fit leaves of the labels of the frame; robust: drawn in to Huber's c s. *met:
 * all but a few cells to rounding */
static unrelu_status rest_of(const course *q, const ur_newton_fit *fit, int drawn, double *R,
                             int *met, unrelu_error *err)
{
    ur_newton problem = ur_frame_problem(&q->frame, q->given->options.activation, q->given->exec);
    size_t cells = q->frame.n * q->frame.m;
    UR_TRY(ur_newton_rest(&problem, fit, R, err));
    ur_huber huber = ur_huber_of(cells, R, 1);
    *met = huber.scale <= q->given->data.floor * sqrt(q->frame.size / (double)cells);
    for (size_t i = 0; i < cells && drawn; i++)
        R[i] = ur_huber_psi(R[i], huber.scale);
    return UNRELU_OK;
}

/* What the best would leave with e, or without. Whether e gains more than chance is asked at the V
 * of the best: noise lets V walk a long way for little. */
static unrelu_status compare_offset(course *q, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    const ur_any_fit *best = &q->best.now;
    ur_newton problem = ur_frame_problem(frame, q->given->options.activation, q->given->exec);
    problem.constant = !frame->terms.constant;
    UR_ARENA(arena);
    ur_any_fit fit = {.cost = 0};
    double unit = q->given->data.unit;
    double *R = ur_take(&arena, frame->n, frame->m * sizeof *R);
    size_t shown = 0;
    int met = 0;
    UR_TRY(ur_newton_alloc(&problem, q->k, &arena, &fit.fit, err));
    ur_newton_copy(&problem, &best->fit, &fit.fit);
    memset(fit.fit.e, 0, frame->m * sizeof *fit.fit.e);
    UR_TRY(ur_any_descend(q->given, &problem, UR_ANY_STEADY, q->robust, &fit, err));
    UR_TRY(rest_of(q, &best->fit, 0, R, &met, err));
    q->offset =
        problem.constant && !met && best->cost - fit.cost > CHANCE * fit.cost / (double)frame->n;
    UR_TRY(ur_any_descend(q->given, &problem, UR_ANY_DOWN, q->robust, &fit, err));
    /* whether A - f(X V') U' - e depends on x */
    const ur_newton_fit *with = problem.constant ? &fit.fit : &best->fit;
    UR_TRY(rest_of(q, with, q->robust, R, &met, err));
    UR_TRY(ur_any_shown(&q->all, R, 0, q->given->options.seed, &shown, err));
    q->depends = shown > 0 && !met;
    q->here = unit * sqrt(best->cost);
    q->other = unit * sqrt(fit.cost);
    return UNRELU_OK;
}

static int is_met(const course *q)
{
    return ur_any_is_met(q->given, &q->frame, &q->best.now.fit);
}

static unrelu_status run_race(course *q, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = q->frame.n, m = q->frame.m;
    int met = 0;
    double *R = ur_take(&arena, n, m * sizeof *R);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_any_race(q->given, &q->rows, q->k, q->robust, q->round, &q->best, err));
    UR_TRY(rest_of(q, &q->best.now.fit, 0, R, &met, err));
    q->tails = ur_tails_of(n, m, R);
    return UNRELU_OK;
}

/* Labels of an f that grows fast have heavy tails without any noise, and drawn in they are of no
 * network. (Of f that are homogeneous the exact branch has seen labels without noise.) */
static int may_be_met(const course *q)
{
    const unrelu_recover_options *o = &q->given->options;
    return o->labels != UNRELU_LABELS_NOISY && ur_activation_degree(o->activation) == 0 &&
           q->k == q->shown;
}

/* The best of the starts for q->k neurons, and how it is without or with e: by least squares, and
 * by Huber's objective where what is left has heavy tails. */
static unrelu_status fit_k(course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t few = ROWS_A_WEIGHT * (given->data.d + q->k);
    int asked = given->options.robust;
    ur_arena_end(q->round);
    UR_TRY(ur_any_rows_make(&given->data, &q->frame, few < FEW_ROWS ? FEW_ROWS : few, q->round,
                            &q->rows, err));
    q->robust = asked || q->rows.heavy;
    UR_TRY(run_race(q, err));
    int heavy = ur_tails_heavy(q->tails) && q->tails.gain > WORTH;
    if (!is_met(q) && !asked && q->robust != heavy) {
        q->robust = !q->robust;
        UR_TRY(run_race(q, err));
    } else if (!is_met(q) && !asked && q->robust && may_be_met(q)) {
        q->robust = 0;
        UR_TRY(run_race(q, err));
        if (!is_met(q)) { /* heavy noise after all */
            q->robust = 1;
            UR_TRY(run_race(q, err));
        }
    }
    return is_met(q) ? UNRELU_OK : compare_offset(q, err);
}

static unrelu_status fit_noisy(course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    const ur_data *data = &given->data;
    ur_outcome *out = q->out;
    size_t most = q->shown + MORE;
    most = most < data->n - data->d ? most : data->n - data->d;
    UR_TRY(fit_k(q, err));
    /* more neurons while what is left depends on x, where k is not given */
    while (given->options.k == 0 && !is_met(q) && q->depends && q->k < most) {
        q->k++;
        UR_TRY(fit_k(q, err));
    }
    const char *more = q->k > q->shown
                           ? ur_take_text(out->arena, "; what %zu neuron%s leave depends on x",
                                          q->k - 1, q->k == 2 ? "" : "s")
                           : "";
    out->how_k = given->options.k > 0
                     ? "given"
                     : ur_take_text(out->arena,
                                    "%zu singular value%s of the labels' moments with x above "
                                    "those of 20 shuffles of the rows%s",
                                    q->shown, q->shown == 1 ? "" : "s", more);
    out->starts = q->best.starts;
    out->starts_agree = q->best.agree;
    if (is_met(q)) {
        UR_TRY(ur_joint_finish(given, &q->frame, &q->best.now.fit, out, err));
        q->k = q->best.now.fit.k;
    }
    if (out->answer == UR_EXACT) {
        report_exact(given, out);
        return UNRELU_OK;
    }
    if (given->options.labels == UNRELU_LABELS_NOISELESS) {
        out->closest = fmin(out->closest, sqrt(q->best.now.fit.rss / q->frame.size));
        out->guarantee = "none: Theorem 13 is about noise";
        out->assumption = "no noise: it does not hold";
        out->failure = ur_take_text(
            out->arena,
            "the best of %zu starts leaves a residual of %.2g, and labels without noise need %.2g: "
            "without `noise` none it would be the answer",
            q->best.starts, out->closest, data->floor);
        return UNRELU_OK;
    }
    if (is_met(q)) /* on the rows of the frame, and not on all */
        UR_TRY(compare_offset(q, err));
    /* the best of the frame, descended over all rows */
    UR_ARENA(arena);
    ur_frame all;
    ur_any_fit fit = {.cost = 0};
    ur_any_measures s;
    UR_TRY(ur_frame_make(data, data->n, q->frame.terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, given->options.activation, given->exec);
    double *raw = ur_take(&arena, q->k, all.q * sizeof *raw);
    UR_TRY(ur_newton_alloc(&problem, q->k, &arena, &fit.fit, err));
    ur_newton_copy(&problem, &q->best.now.fit, &fit.fit); /* U and e: units of labels are one */
    ur_frame_back(&q->frame, q->k, q->best.now.fit.V, raw);
    ur_frame_forth(&all, q->k, raw, fit.fit.V);
    UR_TRY(ur_any_descend(given, &problem, UR_ANY_LAST, q->robust, &fit, err));
    UR_TRY(ur_certify_fit(given, &all, &fit.fit, NULL, out, err));
    if (out->certificate.met) {
        ur_arena_give(&arena, out->arena);
        UR_TRY(ur_certify_exact(given, &all, NULL, 0, 0, out, err));
        report_exact(given, out);
        return UNRELU_OK;
    }
    out->answer = UR_NOISY;
    UR_TRY(ur_any_measure(given, &out->weights, &all, &fit.fit, &s, err));
    report_noisy(q, &s);
    return UNRELU_OK;
}

unrelu_status ur_any_noise(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(own);
    UR_ARENA(round);
    course q = {.given = given, .out = out, .round = &round};
    ur_problem known = *given;
    size_t k = given->options.k, rows = ur_frame_rows(&given->data, k);
    if (k <= given->data.m || rows > MOST_ROWS)
        rows = MOST_ROWS;
    UR_TRY(ur_frame_make(&given->data, rows, ur_terms_of(given->options.biases), 0, out->arena,
                         &q.frame, err));
    UR_TRY(ur_any_rows_make(&given->data, &q.frame, q.frame.n, &own, &q.all, err));
    q.shown = k;
    if (k == 0)
        UR_TRY(ur_any_count(&q.all, given->options.seed, &q.shown, err));
    q.k = known.options.k = q.shown;
    /* the exact branch, where the labels have a rank that k neurons can have */
    if (given->options.labels != UNRELU_LABELS_NOISY)
        UR_TRY(ur_exact(&known, q.frame.terms, out, err));
    if (out->answer == UR_NONE)
        return fit_noisy(&q, err);
    report_exact(given, out);
    return UNRELU_OK;
}
