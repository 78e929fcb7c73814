/* SPDX-License-Identifier: Apache-2.0 */
/* Labels with noise. k by the Bayesian criterion
 *   BIC(k) = n m ln(RSS / n m) + (parameters) ln(n m)
 * from the number of eigenvalues of the labels' covariance above the edge of pure noise, up and
 * down for as long as it falls; biases by the same criterion. Starts race on at most
 * max(5000, 200 (d + k)) rows; only the winner sees all. With `robust` fits are by Huber's
 * objective, and RSS is that of the likeliest Student law (dense/student.h), which few cells cannot
 * decide on. Labels may turn out to be met exactly (fewer labels than neurons, smooth activations):
 * then the verdict is that of the certificate. */
#include "network/noisy/noisy.h"

#include "base/error.h"
#include "dense/linear.h"
#include "network/data/cut_tails.h"
#include "network/data/watch.h"
#include "network/exact/exact.h"
#include "network/noisy/folds.h"
#include "network/noisy/rest.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_A_WEIGHT = 200, /* for each input and neuron, and at least */
    LEAST_ROWS = 5000,
    MORE_ROWS = 4, /* times as many */
    PATIENCE = 2,  /* values of k without a smaller BIC */
    SCAN = 1,      /* starts that agree, on the way to k */
    CLOSE = 2,     /* near it */
    AGREED = 3,    /* for a k that is given */
    /* With fewer, and no two starts that agree, smooth functions are fitted as noisy networks are,
     * and rows that were kept back do not tell them apart: of 336 functions of 80 to 800 rows 37
     * would be called noise, and 8 are. Larger, and noise is called a function. */
    LABELS_A_WEIGHT = 5,
};
static const double HOPELESS = 20; /* a rise of BIC after which no larger k is tried */
/* of the edge of noise: its largest eigenvalue scatters about the edge. A guess, BIC decides. */
static const double EDGE = 1.2;
static const double CHEAP = 1e8; /* operations of a step that costs little */
/* Operations after which the way to k takes one start of each number of neurons. Labels of no
 * network climb to the largest k, and no two starts agree there: 10 s of processor time became 5
 * for sines of 10 inputs, 3 labels and 1000 rows. Networks of 10 and 12 neurons with 1 and 3 labels
 * are met long before. Pace: larger only takes longer. */
static const double PATIENT_WORK = 2e10;

/* what all contests of one search share */
typedef struct {
    const ur_problem *given;
    size_t least; /* rows, where fewer gave networks that others do not meet */
    double *work; /* operations so far */
} quest;

/* as many as the labels can tell, and not so many that the search would not end */
static size_t most_neurons(const ur_problem *given)
{
    const ur_data *data = &given->data;
    double cells = (double)data->n * (double)data->m;
    size_t by_size = (size_t)(cells / 2 / (double)(data->d + data->m));
    size_t by_shape = data->d + data->m + 8;
    size_t most = by_size < by_shape ? by_size : by_shape;
    size_t by_rows = data->n - data->d;
    most = most < by_rows ? most : by_rows;
    return most > 0 ? most : 1;
}

/* eigenvalues above the Marchenko-Pastur edge of noise as large as the smaller half of them */
static unrelu_status guess_k(const ur_problem *given, ur_terms terms, size_t *k, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    UR_TRY(ur_frame_make(&given->data, LEAST_ROWS, terms, 0, &arena, &frame, err));
    size_t n = frame.n, m = frame.m;
    double *A = ur_take(&arena, n, m * sizeof *A), *C = ur_take(&arena, m, m * sizeof *C);
    double *values = ur_take(&arena, m, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    int heavy = 0;
    if (given->options.robust)
        UR_TRY(ur_cut_tails(n, m, frame.a, A, &heavy, err));
    else
        memcpy(A, frame.a, n * m * sizeof *A);
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += A[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            A[i * m + j] -= mean;
    }
    ur_multiply_tn(n, m, m, A, A, C);
    UR_TRY(ur_eigen_symmetric(m, C, values, NULL, err));
    double noise = 0, root = 1 + sqrt((double)m / (double)n);
    size_t half = (m + 1) / 2, above = 0;
    for (size_t i = 0; i < half; i++)
        noise += values[i] / (double)half;
    for (size_t i = 0; i < m; i++)
        above += values[i] > EDGE * noise * root * root;
    *k = above > 1 ? above : 1;
    return UNRELU_OK;
}

/* ---- the race for one k and one set of biases ---- */

typedef struct {
    ur_arena arena; /* of all that follows */
    ur_frame frame;
    ur_best best;
    double *rows; /* (k, q): v, c of the best, in the data's coordinates */
    size_t k;
    int ready;
} contest;

static void contest_end(contest *c)
{
    ur_arena_end(&c->arena);
}

#define CONTEST(name) __attribute__((cleanup(contest_end))) contest name = {0}

static void contest_swap(contest *a, contest *b)
{
    contest c = *a;
    *a = *b;
    *b = c;
}

static size_t rows_of(const quest *q, size_t k)
{
    const ur_data *data = &q->given->data;
    size_t rows = ROWS_A_WEIGHT * (data->d + k), most = ur_frame_rows(data, k);
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    rows = rows < q->least ? q->least : rows;
    return k > data->m && rows > most && q->least < data->n ? most : rows;
}

/* smaller: a contest of fewer neurons to start from, or NULL; c is empty */
static unrelu_status contest_run(const quest *q, size_t k, ur_terms terms, size_t agree,
                                 const contest *smaller, contest *c, unrelu_error *err)
{
    c->k = k;
    UR_TRY(ur_frame_make(&q->given->data, rows_of(q, k), terms, 0, &c->arena, &c->frame, err));
    int usable = smaller && smaller->ready && smaller->frame.q == c->frame.q;
    c->rows = ur_take(&c->arena, k, c->frame.q * sizeof *c->rows);
    UR_TRY(ur_starts(q->given, &c->frame, k, agree, usable ? smaller->rows : NULL,
                     usable ? smaller->k : 0, &c->arena, &c->best, err));
    ur_frame_back(&c->frame, k, c->best.fit.V, c->rows);
    *q->work += c->best.work;
    c->ready = 1;
    const ur_find find = {.kind = UR_KEPT_FIT,
                          .known = k,
                          .V = c->best.fit.V,
                          .wanted = q->given->options.k,
                          .starts = c->best.starts,
                          .measure = c->best.bic};
    return ur_watch_show(q->given->watch, &c->frame, find, err);
}

static int is_met(const ur_problem *given, const contest *c)
{
    return c->ready && c->best.residual <= given->data.floor;
}

/* runs a contest and keeps the better of the two; *rise: by how much the new one is worse */
static unrelu_status challenge(const quest *q, size_t k, ur_terms terms, size_t agree,
                               contest *kept, double *rise, unrelu_error *err)
{
    CONTEST(other);
    UR_TRY(contest_run(q, k, terms, agree, kept, &other, err));
    *rise = kept->ready ? other.best.bic - kept->best.bic : -1;
    if (*rise <= 0)
        contest_swap(kept, &other);
    return UNRELU_OK;
}

/* k = first, first + 1, ... for as long as BIC falls */
static unrelu_status climb(const quest *q, ur_terms terms, size_t first, size_t most, size_t agree,
                           contest *c, size_t *tried, unrelu_error *err)
{
    const ur_problem *given = q->given;
    int idle = 0;
    double rise = 0;
    for (size_t k = first; k <= most && idle < PATIENCE && !is_met(given, c); k++) {
        /* with fewer labels than neurons one start says little; where it costs little, take more */
        double step = (double)given->data.n * pow((double)(k * given->data.d), 2);
        int more = k > given->data.m && step < CHEAP && *q->work < PATIENT_WORK;
        size_t wanted = more && agree < CLOSE ? CLOSE : agree;
        UR_TRY(challenge(q, k, terms, wanted, c, &rise, err));
        idle = rise < 0 ? 0 : rise > HOPELESS && wanted > SCAN ? PATIENCE : idle + 1;
        *tried = k > *tried ? k : *tried;
    }
    return UNRELU_OK;
}

/* Labels without noise that have a dimension to spare are of as many neurons as they have others,
 * apart from the constant: that many are tried from all starts before any other number. */
static unrelu_status try_rank(const quest *q, ur_terms terms, contest *c, size_t *tried,
                              unrelu_error *err)
{
    const ur_problem *given = q->given;
    UR_ARENA(arena);
    ur_frame frame;
    size_t rank = 0, m = given->data.m, constant = terms.constant ? 1 : 0;
    UR_TRY(ur_frame_make(&given->data, LEAST_ROWS, terms, 0, &arena, &frame, err));
    double *y = ur_take(&arena, frame.n, (m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_labels(&frame, given->data.tolerance, &rank, y, NULL, err));
    if (rank <= constant || rank >= m + constant)
        return UNRELU_OK;
    CONTEST(other);
    UR_TRY(contest_run(q, rank - constant, terms, AGREED, NULL, &other, err));
    if (!is_met(given, &other))
        return UNRELU_OK;
    *tried = rank - constant;
    contest_swap(c, &other);
    return UNRELU_OK;
}

static unrelu_status choose_k(const quest *q, ur_terms terms, contest *c, size_t *tried,
                              unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t most = most_neurons(given), middle = 1;
    double rise = 0;
    UR_TRY(try_rank(q, terms, c, tried, err));
    if (is_met(given, c))
        return UNRELU_OK;
    UR_TRY(guess_k(given, terms, &middle, err));
    middle = middle < most ? middle : most;
    UR_TRY(climb(q, terms, middle, most, SCAN, c, tried, err));
    if (!is_met(given, c))
        UR_TRY(challenge(q, c->k, terms, CLOSE, c, &rise, err));
    if (!is_met(given, c))
        UR_TRY(climb(q, terms, c->k + 1, most, CLOSE, c, tried, err));
    for (size_t k = middle, idle = 0;
         k > 1 && idle < PATIENCE && !is_met(given, c) && c->k <= middle; k--) {
        UR_TRY(challenge(q, k - 1, terms, CLOSE, c, &rise, err));
        idle = rise < 0 ? 0 : rise > HOPELESS ? PATIENCE : idle + 1;
    }
    return UNRELU_OK;
}

static unrelu_status contest_all(const quest *q, contest *c, size_t *tried, unrelu_error *err)
{
    const ur_problem *given = q->given;
    const unrelu_recover_options *o = &given->options;
    ur_terms none = ur_terms_of(UNRELU_BIASES_NONE);
    int open = o->biases == UNRELU_BIASES_AUTO;
    ur_terms first = ur_terms_of(open ? UNRELU_BIASES_BOTH : o->biases);
    double rise = 0;
    *tried = o->k;
    UR_TRY(o->k ? contest_run(q, o->k, first, AGREED, NULL, c, err)
                : choose_k(q, first, c, tried, err));
    if (!open)
        return UNRELU_OK;
    if (!is_met(given, c))
        return challenge(q, c->k, none, o->k ? AGREED : CLOSE, c, &rise, err);
    /* labels that are met with biases may be met without: at that level BIC compares rounding */
    CONTEST(other);
    UR_TRY(contest_run(q, c->k, none, CLOSE, NULL, &other, err));
    if (is_met(given, &other))
        contest_swap(c, &other);
    return UNRELU_OK;
}

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
    return UNRELU_OK;
}

unrelu_status ur_noisy(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    CONTEST(c);
    size_t n = given->data.n, d = given->data.d, m = given->data.m, tried = 0;
    double work = 0;
    /* A network that meets some rows and not the others lacks what only the others show: more rows,
     * in the end all of them. */
    for (quest q = {.given = given, .work = &work};; q.least = more_rows(&c.frame, n)) {
        CONTEST(next);
        UR_TRY(contest_all(&q, &next, &tried, err));
        contest_swap(&c, &next);
        if (!is_met(given, &c))
            break;
        UR_TRY(ur_joint_finish(given, &c.frame, &c.best.fit, out, err));
        if (out->answer == UR_EXACT || c.frame.n >= n)
            break;
    }
    c.k = c.best.fit.k;
    if (out->answer == UR_EXACT)
        ur_arena_give(&c.arena, out->arena); /* the rows of the frame */
    else
        UR_TRY(ur_likelihood(given, &c.frame, &c.best.fit, out, err));
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
    if (given->options.k == 0 && c.k == most_neurons(given))
        ur_outcome_note(
            out, "k-bound",
            "k = %zu is the largest that was tried: if there are more neurons, give `k`", c.k);
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
