/* SPDX-License-Identifier: Apache-2.0 */
/* Labels with noise: how many neurons and which biases (count.h), the maximum likelihood, and
 * whether what it leaves is noise. With `robust` fits are by Huber's objective, and RSS is that of
 * the likeliest Student law (dense/student.h), which few cells cannot decide on. Labels may turn
 * out to be met exactly (fewer labels than neurons, smooth activations): then the verdict is that
 * of the certificate. */
#include "network/noisy/noisy.h"

#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/noisy/count.h"
#include "network/noisy/folds.h"
#include "network/noisy/leaky_pairs.h"
#include "network/noisy/rest.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum {
    MORE_ROWS = 4, /* times as many */
    CLOSE = 2,     /* starts that agree */
    /* With fewer, and no two starts that agree, smooth functions are fitted as noisy networks are,
     * and rows that were kept back do not tell them apart: of 336 functions of 80 to 800 rows 37
     * would be called noise, and 8 are. Larger, and noise is called a function. */
    LABELS_A_WEIGHT = 5,
};

unrelu_status ur_joint_finish(const ur_problem *given, const ur_frame *frame, ur_newton_fit *fit,
                              ur_outcome *out, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t rank = 0;
    double *y = ur_take(&arena, frame->n, (frame->m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_fewer(given, frame, fit, err));
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &rank, y, NULL, err));
    int enough = rank >= fit->k + (frame->terms.constant ? 1 : 0);
    UR_TRY(ur_exact_finish(given, frame, enough ? y : NULL, rank, fit->k, fit->V, 0, out, err));
    if (out->answer == UR_EXACT)
        ur_arena_give(&arena, out->arena);
    return UNRELU_OK;
}

static size_t more_rows(const ur_frame *frame, size_t n)
{
    return MORE_ROWS * frame->n < n ? MORE_ROWS * frame->n : n;
}

static void be_approximate(ur_outcome *out)
{
    out->answer = UR_APPROXIMATE;
    out->noise = 0;
    out->U_se = out->V_se = out->c_se = out->e_se = NULL;
}

void ur_rest_tell(const ur_rest *rest, ur_outcome *out)
{
    const char *before = out->assumption, *then = before[0] ? "; " : "";
    if (!rest->is_function) {
        out->assumption =
            rest->rows == 0
                ? ur_take_text(out->arena,
                               "%s%swhat is left is noise, which was not tested: too few "
                               "different rows",
                               before, then)
                : ur_take_text(
                      out->arena,
                      "%s%swhat is left is noise: it does not go along with the inputs "
                      "(%.2g, where one draw of noise in 100 is above 1 and the largest of "
                      "499 is %.2g; %zu different rows)",
                      before, then, rest->deviates, rest->limit, rest->rows);
        return;
    }
    be_approximate(out);
    if (rest->linear > 0)
        ur_outcome_note(
            out, "approximate",
            "about %.3g %% of the rows the labels are linear in the inputs to rounding, "
            "which noise never leaves: a network with more neurons, biases or layers "
            "may meet them",
            100 * rest->linear);
    else if (rest->deviates > rest->limit)
        ur_outcome_note(out, "approximate",
                        "what the network leaves of the labels goes along with %s (%.2g, where "
                        "one draw of noise in 100 is above 1 and the largest of 499 is %.2g): it "
                        "is a function of the inputs, not noise alone; more neurons, biases or "
                        "another activation may meet the labels",
                        rest->with, rest->deviates, rest->limit);
    else
        ur_outcome_note(out, "approximate",
                        "%.3g %% of the labels are met to rounding and the others are far off: "
                        "that is no noise; a neuron is missing, or these labels are wrong",
                        100 * rest->met);
}

static void tell_folds(const ur_folds *folds, ur_outcome *out)
{
    be_approximate(out);
    ur_outcome_note(out, "approximate",
                    "fits to four fifths of the rows miss the others by %.3g times what noise "
                    "would let them miss: the labels are a function that is no such network, or "
                    "noisy ones of too few rows for %zu neuron%s; these rows do not tell which, "
                    "more would",
                    folds->times, out->weights.k, out->weights.k == 1 ? "" : "s");
}

static void tell_few(const ur_problem *given, ur_outcome *out)
{
    size_t k = out->weights.k;
    be_approximate(out);
    ur_outcome_note(
        out, "approximate",
        "%zu labels for %.0f weights of %zu neuron%s (%d for each are asked for), and one "
        "of %zu starts alone reached this fit: what it leaves may be noise, or a "
        "function that is no such network; these rows do not tell which, more would",
        given->data.n * given->data.m, ur_parameters(given, k, out->terms), k, k == 1 ? "" : "s",
        LABELS_A_WEIGHT, out->starts);
}

/* a fit that any smooth function would have had */
static int is_of_few(const ur_problem *given, const ur_outcome *out)
{
    double labels = (double)given->data.n * (double)given->data.m;
    return out->starts > 1 && out->starts_agree < CLOSE &&
           labels < LABELS_A_WEIGHT * ur_parameters(given, out->weights.k, out->terms);
}

unrelu_status ur_noisy_judge(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    ur_rest rest;
    ur_folds folds = {0};
    UR_TRY(ur_rest_test(given, &out->weights, out->terms, &rest, err));
    if (!rest.is_function && out->starts_agree < CLOSE)
        UR_TRY(ur_folds_test(given, out, &folds, err));
    if (folds.folds > 0)
        out->certificate.holdout_residual = folds.residual;
    else
        UR_TRY(ur_hold_out(given, out, &out->certificate.holdout_residual, err));
    if (folds.unstable)
        tell_folds(&folds, out);
    else if (!rest.is_function && is_of_few(given, out))
        tell_few(given, out);
    else
        ur_rest_tell(&rest, out);
    size_t pairs;
    double slope =
        given->options.activation.kind == UNRELU_RELU ? ur_leaky_pairs(&out->weights, &pairs) : 0;
    if (slope > 0)
        ur_outcome_note(out, "leaky-slope",
                        "%zu pairs of neurons have opposite rows, and outputs in one proportion: "
                        "each is one neuron of a leaky relu; try `activation` leaky:%.2g",
                        pairs, slope);
    return UNRELU_OK;
}

unrelu_status ur_noisy(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    UR_CONTEST(c);
    size_t n = given->data.n, d = given->data.d, m = given->data.m, tried = 0;
    double work = 0;
    /* A network that meets some rows and not the others lacks what only the others show: more rows,
     * in the end all of them. */
    for (size_t least = 0;; least = more_rows(&c.frame, n)) {
        UR_CONTEST(next);
        UR_TRY(ur_count_neurons(given, least, &work, &next, &tried, err));
        ur_contest_swap(&c, &next);
        if (!ur_contest_met(given, &c))
            break;
        UR_TRY(ur_joint_finish(given, &c.frame, &c.best.fit, out, err));
        if (out->answer == UR_EXACT || c.frame.n >= n)
            break;
    }
    c.k = c.best.fit.k;
    if (out->answer != UR_EXACT)
        UR_TRY(ur_likelihood(given, &c.frame, &c.best.fit, out, err));
    if (out->answer == UR_EXACT)
        ur_arena_give(&c.arena, out->arena); /* the rows of the frame */
    out->starts = c.best.starts;
    out->starts_agree = c.best.agree;
    if (given->options.k > 0)
        out->how_k = "given";
    else if (out->answer == UR_EXACT)
        out->how_k = ur_take_text(out->arena,
                                  "the labels are met with %zu neuron%s, and not with fewer of "
                                  "those tried",
                                  c.k, c.k == 1 ? "" : "s");
    else
        out->how_k = ur_take_text(
            out->arena, "smallest BIC (%.6g at k = %zu%s) of those tried, up to k = %zu",
            c.best.bic, c.k, given->options.robust ? ", by the likeliest Student law" : "", tried);
    if (c.best.skipped && c.k > d)
        ur_outcome_note(out, "moments-skipped",
                        "k = %zu > d = %zu: the moment starts do not exist, random ones were used",
                        c.k, d);
    if (given->options.k == 0 && c.k == ur_most_neurons(given))
        ur_outcome_note(
            out, "k-bound",
            "k = %zu is the largest that was tried: if there are more neurons, give `k`", c.k);
    if (out->answer != UR_EXACT && c.spare > 0)
        ur_outcome_note(out, "fewer-neurons",
                        "BIC is lower by %.3g with %zu neurons than with the %zu that were asked "
                        "for: the labels do not tell all of them, and intervals of weak ones hold "
                        "less often than they say",
                        c.spare, c.k - 1, c.k);
    if (c.k > m)
        ur_outcome_note(out, "joint-solver",
                        "%zu label%s and %zu neurons: all neurons were solved for at once, and no "
                        "theorem says that the answer is unique",
                        m, m == 1 ? "" : "s", c.k);
    if (out->answer != UR_EXACT && c.best.starts > 2 && c.best.agree == 1)
        ur_outcome_note(out, "few-starts-agree",
                        "only one of %zu starts reached the best fit: it may not be the best there "
                        "is; try other seeds or more samples",
                        c.best.starts);
    return UNRELU_OK;
}
