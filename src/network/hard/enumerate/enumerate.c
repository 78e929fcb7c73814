/* SPDX-License-Identifier: Apache-2.0 */
/* --method enumerate: Theorem 1, any inputs, labels of rank k. In this order, until k neurons are
 * found: sampling (nested from k = 16 on), extreme rays, all faces of the cone of the labels. Where
 * all faces were looked at and too few neurons found, no network of k neurons fits: that is a
 * proof, to within rounding, as is a rank above the k asked for. Labels of rank below k are
 * refused: with these the problem is NP-hard (section 3). By default at most 2^20 planes, and
 * 2^15 rays and faces: neurons that are off on every second sample are found up to k about 26. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "network/exact/exact.h"
#include "network/problem/tolerance.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NESTED = 16, HOPELESS = 30 }; /* neurons: from 2^16 and 2^30 planes on */
/* Y z = 0 of labels of full precision and of integers, relative; larger for labels of fewer digits,
 * which vanish to within these only */
static const double ZERO = 1e-9, ZERO_MOST = 1e-5, ZERO_FLOORS = 20;
/* what counts as 0 is so many times larger than what rounding leaves, before "no" is a proof */
static const double SHARP = 100;
/* the last direction of the labels is so many times their tolerance, before their rank is a proof
 */
static const double RANK_IS_PROVED = 10;
/* tolerances of the faces, one after another: "no" that depends on them is no proof */
static const double FACTORS[] = {1, 1e-2, 1e2};
static const double LARGEST_INTEGER = 0x1p20; /* beyond it rounded labels look like integers too */
enum { STEPS = 30 };                          /* of a last attempt to meet the labels */
/* as a fallback: labels of so few dimensions, or of full rank but for some and no more than these
 */
enum { FEW_LABELS = 12, MOST_LABELS = 26 };
enum { ROWS_A_DIMENSION = 2, LEAST_ROWS = 50 }; /* that show the rank of the labels */
static const uint64_t QUICK = (uint64_t)1 << 14, PLANES = (uint64_t)1 << 20,
                      FACES = (uint64_t)1 << 15;

typedef struct {
    const ur_problem *given;
    ur_outcome *out; /* whose arena holds the frame, y and their diagonal */
    ur_frame frame;  /* all rows */
    double *y;
    double *diagonal; /* of their triangle */
    size_t rank, k;   /* of the labels (and the constant); neurons */
    ur_neurons neurons;
    uint64_t planes;
    size_t rays, faces;
    int finished;
    int integers;
    int spanned; /* no other z than those found are in the cone */
} course;

/* ---- the labels ---- */

/* The frame, y and what is said of them. The factorisation errs by rounding of the largest rows in
 * every row, so that rows of zeros come out as noise; y = [a, 1] R^+ with R = y'[a, 1] errs in
 * proportion to each row. */
static unrelu_status open_course(course *c, unrelu_error *err)
{
    UR_ARENA(own);
    const ur_data *data = &c->given->data;
    ur_outcome *out = c->out;
    ur_terms terms = ur_terms_of(c->given->options.biases);
    size_t n = data->n, m = data->m, wide = m + (terms.constant ? 1 : 0), k = c->given->options.k;
    UR_TRY(ur_frame_make(data, n, terms, 1, out->arena, &c->frame, err));
    c->y = ur_take(out->arena, n, (m + 1) * sizeof *c->y);
    c->diagonal = ur_take(out->arena, m + 1, sizeof *c->diagonal);
    UR_TRY(ur_arena_status(out->arena, err));
    UR_TRY(ur_frame_labels(&c->frame, data->tolerance, &c->rank, c->y, c->diagonal, err));
    c->k = c->rank - (terms.constant && c->rank > 0 ? 1 : 0);
    if (c->k == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "the labels are constant to within rounding: there is no neuron to find");
    size_t rank = c->rank;
    double *labels = ur_take(&own, n, wide * sizeof *labels);
    double *R = ur_take(&own, rank, wide * sizeof *R), *P = ur_take(&own, wide, rank * sizeof *P);
    double *eye = ur_take(&own, rank, rank * sizeof *eye);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < n; i++) {
        labels[i * wide + wide - 1] = 1;
        memcpy(labels + i * wide, c->frame.a + i * m, m * sizeof *labels);
    }
    for (size_t j = 0; j < rank; j++)
        eye[j * rank + j] = 1;
    ur_multiply_tn(n, rank, wide, c->y, labels, R);
    UR_TRY(ur_least_squares(rank, wide, rank, R, eye, 0, P, NULL, err));
    ur_multiply(n, wide, rank, labels, P, c->y);
    out->how_k = ur_take_text(out->arena, "%s%zu%s",
                              k ? "given, and the rank of the labels is " : "rank of the labels (",
                              c->k, k ? "" : ")");
    out->guarantee =
        "Theorem 1: any inputs, labels of rank k; a network of k neurons is found where one "
        "exists, given time, though not always the only one";
    out->assumption = ur_take_text(
        out->arena,
        "rank(A) = k: the labels%s have rank %zu to within %.1g, and %zu neuron%s sought",
        terms.constant ? " with a constant" : "", rank, data->tolerance, c->k,
        c->k == 1 ? " is" : "s are");
    return UNRELU_OK;
}

/* Lemma 4 on these inputs, for k neurons with these rows (NULL: not known) */
static unrelu_status tell_lemma(const course *c, size_t k, const double *V, const char **said,
                                unrelu_error *err)
{
    const ur_data *data = &c->given->data;
    double share;
    UR_TRY(ur_least_share(data, V ? k : 0, V, &share, err));
    double delta = ur_rank_delta(share, data->n, k), wide = (double)k;
    if (delta < 1)
        *said = ur_take_text(c->out->arena,
                             "Lemma 4 and Corollary 1: labels of U and V of rank %zu have rank %zu "
                             "but with probability O(%.2g), as at least %.3g of the samples lie "
                             "before each plane that was looked at",
                             k, k, delta, share);
    else
        *said = ur_take_text(c->out->arena,
                             "Lemma 4 says nothing of their rank: %.3g of the samples lie before "
                             "some plane, and more than 10 k log(k) / n = %.3g must",
                             share, 10 * wide * log(wide) / (double)data->n);
    return UNRELU_OK;
}

static void tell_failure(course *c)
{
    ur_outcome *out = c->out;
    const ur_neurons *q = &c->neurons;
    size_t found = q->found - q->constant;
    if (!c->spanned && !c->finished) {
        out->failure = ur_take_text(
            out->arena,
            "%zu of %zu neurons were found and the enumeration did not end: after %llu sampled "
            "planes, %zu rays and %zu faces %s, which proves nothing; give a larger `budget`, or "
            "leave out `method` if the labels are noisy or the neurons are rarely off",
            found, c->k, (unsigned long long)c->planes, c->rays, c->faces,
            q->budget == 0 ? "the budget ran out"
                           : "the cone of the labels has more rays than the budget allows, or "
                             "rounding left faces open");
        return;
    }
    const char *because =
        c->spanned ? ur_take_text(out->arena,
                                  "%zu were found, and all mixtures of the labels that are nowhere "
                                  "negative are mixtures of these",
                                  found)
                   : ur_take_text(out->arena,
                                  "%zu were found, and every face of the labels' cone was looked "
                                  "at (%zu rays, %zu faces)",
                                  found, c->rays, c->faces);
    /* Errors of the labels' last digits, as large as the basis shows them, are far below what
     * counts as 0: else "no" may be an effect of rounding. */
    double condition = c->diagonal[0] / c->diagonal[c->rank - 1], least = c->given->data.floor;
    double digit = c->integers || least <= UR_FLOOR_DOUBLE ? DBL_EPSILON : least;
    out->proof = digit * condition <= q->tolerance / SHARP;
    out->failure = ur_take_text(
        out->arena,
        "no network of %zu neuron%s (the rank of the labels) with biases %s fits the labels: %s; "
        "%s. More neurons than the rank: `method` one-sparse; noisy labels: leave out `method`; "
        "biases: `bias` both",
        c->k, c->k == 1 ? "" : "s", ur_terms_name(c->frame.terms), because,
        out->proof ? "this is a proof, to within rounding"
                   : "not a proof, as the labels are too ill-conditioned for their digits");
}

/* ---- search ---- */

static unrelu_status sample(course *c, uint64_t most, unrelu_error *err)
{
    ur_neurons *q = &c->neurons;
    uint64_t trials = ur_sample_trials(q->k), before = q->tried;
    trials = trials < most ? trials : most;
    if (q->found == q->k || q->budget == 0)
        return UNRELU_OK;
    unrelu_status status =
        q->k >= NESTED ? ur_nested_neurons(q, trials, err) : ur_sample_neurons(q, trials, err);
    c->planes += q->tried - before;
    return status;
}

static unrelu_status search(course *c, ur_arena *arena, unrelu_error *err)
{
    const unrelu_recover_options *o = &c->given->options;
    const ur_data *data = &c->given->data;
    uint64_t budget = o->budget ? o->budget : PLANES;
    c->integers = 1;
    for (size_t i = 0; i < data->n * data->m && c->integers; i++)
        c->integers = rint(data->a[i]) == data->a[i] && fabs(data->a[i]) <= LARGEST_INTEGER;
    double tolerance = c->integers ? ZERO : fmin(fmax(ZERO, ZERO_FLOORS * data->floor), ZERO_MOST);
    UR_TRY(ur_neurons_open(&c->frame, c->y, c->rank, tolerance, budget, o->seed, c->given->exec,
                           arena, &c->neurons, err));
    UR_TRY(sample(c, QUICK, err));
    UR_TRY(ur_ray_neurons(&c->neurons, &c->spanned, err));
    if (c->spanned)
        return UNRELU_OK;
    if (c->neurons.k <= HOPELESS)
        UR_TRY(sample(c, budget, err));
    /* again with other tolerances before anything is taken for proved */
    ur_neurons *q = &c->neurons;
    unrelu_status status = UNRELU_OK;
    c->finished = q->found == q->k;
    for (size_t i = 0; i < sizeof FACTORS / sizeof *FACTORS && q->found < q->k; i++) {
        if (o->budget == 0)
            q->budget = FACES;
        q->tolerance = tolerance * FACTORS[i];
        status = ur_faces_walk(q, &c->finished, &c->rays, &c->faces, err);
        if (status != UNRELU_OK || !c->finished)
            break;
    }
    q->tolerance = tolerance;
    return status;
}

/* ---- the network ---- */

unrelu_status ur_enumerate(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    course c = {.given = given, .out = out};
    size_t k = given->options.k;
    UR_TRY(ur_lp_ready("the method 'enumerate'", err));
    UR_TRY(open_course(&c, err));
    if (k > c.k) {
        const char *lemma;
        UR_TRY(tell_lemma(&c, k, NULL, &lemma, err));
        return ur_fail(err, UNRELU_EDATA,
                       "%zu neurons are asked for and the labels have rank %zu: `method` enumerate "
                       "needs labels of rank k, and below it the problem is NP-hard (section 3 of "
                       "the paper); %s; try `method` one-sparse, or leave out `method`",
                       k, c.k, lemma);
    }
    if (k > 0 && k < c.k) {
        double size = c.diagonal[c.rank - 1] / c.diagonal[0];
        out->proof = size > RANK_IS_PROVED * given->data.tolerance;
        out->failure = ur_take_text(
            out->arena,
            "no network of %zu neuron%s fits the labels: they have rank %zu (the last direction "
            "has %.1g of the size of the first), and %zu neuron%s at most rank %zu%s; if the "
            "labels are noisy, leave out `method`",
            k, k == 1 ? "" : "s", c.k, size, k, k == 1 ? " gives" : "s give", k,
            out->proof ? "; this is a proof" : "");
        return UNRELU_OK;
    }
    UR_ARENA(arena); /* of the neurons */
    UR_TRY(search(&c, &arena, err));
    const ur_neurons *q = &c.neurons;
    if (q->found < q->k) {
        tell_failure(&c);
        return UNRELU_OK;
    }
    const double *V = q->v + q->constant * q->p;
    UR_TRY(ur_exact_finish(given, &c.frame, c.y, c.rank, c.k, V, 0, out, err));
    if (out->answer == UR_NONE) {
        ur_newton problem = ur_frame_problem(&c.frame, given->options.activation, given->exec);
        ur_newton_fit fit;
        UR_TRY(ur_newton_alloc(&problem, c.k, &arena, &fit, err));
        memcpy(fit.V, V, c.k * q->p * sizeof *V);
        UR_TRY(ur_newton_solve(&problem, STEPS, UR_ROUNDING, ur_newton_floor(&given->data), &fit,
                               err));
        UR_TRY(ur_exact_finish(given, &c.frame, c.y, c.rank, c.k, fit.V, 0, out, err));
    }
    if (out->answer == UR_NONE)
        out->failure = ur_take_text(
            out->arena,
            "%zu neurons were found, but their network leaves a residual of %.2g where %.2g is "
            "needed: they are too nearly dependent for the digits of the labels",
            c.k, out->closest, given->data.floor);
    for (size_t j = q->constant; out->answer == UR_EXACT && j < q->found; j++)
        out->evidence.loose += !q->unique[j];
    if (out->answer == UR_EXACT && !c.frame.terms.hidden) { /* planes through 0 */
        const char *lemma;
        UR_TRY(tell_lemma(&c, out->weights.k, out->weights.V, &lemma, err));
        out->assumption = ur_take_text(out->arena, "%s; %s", out->assumption, lemma);
    }
    return UNRELU_OK;
}

unrelu_status ur_enumerate_applies(const ur_problem *given, int *yes, unrelu_error *err)
{
    const ur_data *data = &given->data;
    UR_ARENA(arena);
    ur_frame frame;
    size_t m = data->m, rank = 0;
    *yes = 0;
    if (ur_lp_ready("", NULL) != UNRELU_OK)
        return UNRELU_OK;
    UR_TRY(ur_frame_make(data, ROWS_A_DIMENSION * (m + data->d) + LEAST_ROWS,
                         ur_terms_of(given->options.biases), 1, &arena, &frame, err));
    double *y = ur_take(&arena, frame.n, (m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_labels(&frame, data->tolerance, &rank, y, NULL, err));
    *yes = rank <= FEW_LABELS || (rank < m && rank <= MOST_LABELS);
    return UNRELU_OK;
}
