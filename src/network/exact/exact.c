/* SPDX-License-Identifier: Apache-2.0 */
/* The noiseless network. Neurons are fixed points of pattern-CCA on a few rows (8 for each input
 * and 4 for each neuron, spread evenly over the data; all of them where that leaves no hold-out),
 * deflated, with signs and without them, where f is of degree 1; then U by least squares, one
 * Gauss-Newton step over all neurons, and the certificate over all rows. Where the fixed points
 * leave neurons out, in this order: the rest may be linear in x (always-on neurons, pairs v, -v
 * with u, -u); more rows; joint Gauss-Newton from the found rows and random ones, which is what
 * finds a neuron that is rarely on, and also what finds exact fits that are not the network below 6
 * rows for each input: the certificate says so. */
#include "network/exact/exact.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

enum { FILLS = 6, FILL_STEPS = 80, MOST_ROWS = 50000 };
/* rows of the first attempt, and how many times as many the next one has: a neuron may be rarely
 * on */
enum { ROWS_AN_INPUT = 8, ROWS_A_NEURON = 4, NEXT_ROWS = 4 };
/* Residual of the found neurons: labels of full rank that leave less are these neurons and noise,
 * which no further neuron removes. Larger, and neurons of small output are taken for noise. */
static const double THIN_LAYER = 1e-3;

unrelu_status ur_exact_finish(const ur_problem *given, const ur_frame *frame, const double *y,
                              size_t rank, size_t k, const double *V, size_t linear,
                              ur_outcome *out, unrelu_error *err)
{
    ur_newton problem = ur_frame_problem(frame, given->options.activation, given->exec);
    double floor_of_labels = given->data.floor;
    UR_ARENA(arena);
    ur_newton_fit fit;
    if (k == 0) /* labels that a constant meets to their rounding: no network to finish */
        return UNRELU_OK;
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    memcpy(fit.V, V, k * frame->p * sizeof *V);
    UR_TRY(ur_newton_polish(&problem, &fit, err));
    double residual = sqrt(fit.rss / frame->size);
    if (!(residual <= floor_of_labels)) {
        out->closest = fmin(out->closest, residual);
        return UNRELU_OK;
    }
    ur_outcome found = *out;
    UR_TRY(ur_certify_fit(given, frame, &fit, frame, &found, err));
    int met = found.certificate.met; /* else some rows or columns are off by more than the floor */
    out->closest =
        fmin(out->closest, fmax(found.certificate.residual, met ? 0 : 2 * floor_of_labels));
    if (!met)
        return UNRELU_OK;
    found.closest = out->closest;
    *out = found;
    return ur_certify_exact(given, frame, y, rank, linear, out, err);
}

/* ---- what the fixed points left out ---- */

/* k - found neurons with a random row each */
static unrelu_status fill(const ur_problem *given, const ur_frame *frame, const double *y,
                          size_t rank, const ur_found *found, size_t k, size_t tries,
                          ur_outcome *out, unrelu_error *err)
{
    size_t p = frame->p, first = found->found * p, rest = k * p - first;
    ur_newton problem = ur_frame_problem(frame, given->options.activation, given->exec);
    for (size_t t = 0; t < tries && out->answer == UR_NONE; t++) {
        UR_ARENA(arena);
        ur_newton_fit fit;
        UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
        memcpy(fit.V, found->V, first * sizeof *fit.V);
        ur_random_normals(given->options.seed, UR_STREAM_FILL, (t * 1000 + k) * 1000003, rest,
                          fit.V + first);
        ur_unit_rows(k - found->found, p, fit.V + first);
        UR_TRY(ur_newton_solve(&problem, FILL_STEPS, UR_ROUNDING, ur_newton_floor(&given->data),
                               &fit, err));
        UR_TRY(ur_exact_finish(given, frame, y, rank, k, fit.V, 0, out, err));
    }
    return UNRELU_OK;
}

/* the rest is linear in x: the found neurons and pairs v, -v */
static unrelu_status try_linear(const ur_problem *given, const ur_frame *frame, const double *y,
                                size_t basis, const ur_found *found, ur_outcome *out,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = frame->p, rank = 0, first = found->found;
    double *V = ur_take(&arena, first + 2 * p, p * sizeof *V);
    double *rows = ur_take(&arena, p, p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_linear_part(frame, first, found->V, given->options.activation, given->data.floor,
                          &rank, rows, err));
    if (rank == 0)
        return UNRELU_OK;
    memcpy(V, found->V, first * p * sizeof *V);
    for (size_t j = 0; j < rank; j++)
        for (size_t i = 0; i < p; i++) {
            V[(first + 2 * j) * p + i] = rows[j * p + i];
            V[(first + 2 * j + 1) * p + i] = -rows[j * p + i];
        }
    return ur_exact_finish(given, frame, y, basis, first + 2 * rank, V, rank, out, err);
}

/* Joint Gauss-Newton is worth its time where the labels look noiseless: half of the neurons are
 * exact, and what they leave is not a thin layer of noise over labels of full rank. */
static unrelu_status complete(const ur_problem *given, const ur_frame *frame, const double *y,
                              size_t rank, const ur_found *found, ur_outcome *out,
                              unrelu_error *err)
{
    size_t wide = frame->m + (frame->terms.constant ? 1 : 0);
    double before = out->closest;
    if (found->found == 0)
        return UNRELU_OK;
    out->closest = 1;
    UR_TRY(ur_exact_finish(given, frame, y, rank, found->found, found->V, 0, out, err));
    double residual = out->closest;
    out->closest = fmin(before, residual);
    if (out->answer != UR_NONE || 2 * found->found < found->k ||
        (rank >= wide && !(residual > THIN_LAYER)))
        return UNRELU_OK;
    UR_TRY(fill(given, frame, y, rank, found, found->k, FILLS, out, err));
    for (size_t more = 1; more <= 2 && out->answer == UR_NONE; more++)
        UR_TRY(fill(given, frame, NULL, 0, found, found->k + more, FILLS / 2, out, err));
    return UNRELU_OK;
}

/* ---- the search on some rows ---- */

/* what is not known: neurons that have few samples on one side, and what is linear */
static unrelu_status find_rest(const ur_problem *given, const ur_search *search,
                               const ur_found *known, size_t *found_any, ur_outcome *out,
                               unrelu_error *err)
{
    const ur_frame *frame = search->frame;
    size_t k = search->wanted;
    ur_found found;
    ur_search rest = *search;
    rest.known = known;
    if (known->complete && rest.starts > rest.patience)
        rest.starts = rest.patience;
    UR_TRY(ur_exact_search(&rest, out->arena, &found, err));
    *found_any = found.found;
    if (found.found == k)
        UR_TRY(ur_exact_finish(given, frame, search->y, search->rank, k, found.V, 0, out, err));
    else
        UR_TRY(try_linear(given, frame, search->y, search->rank, &found, out, err));
    if (out->answer == UR_NONE && found.found < k && frame->n == given->data.n)
        UR_TRY(complete(given, frame, search->y, search->rank, &found, out, err));
    return UNRELU_OK;
}

/* With signs first, which is cheaper; where that leaves neurons out by their kinks alone, which
 * shows what is linear; then, on all rows, what both left out. */
static unrelu_status hunt(const ur_problem *given, const ur_search *search, size_t *found_any,
                          ur_outcome *out, unrelu_error *err)
{
    const ur_frame *frame = search->frame;
    size_t k = search->wanted;
    ur_found known, kinks = {0};
    UR_TRY(ur_found_open(search, out->arena, &known, err));
    UR_TRY(ur_exact_signed(search, &known, err));
    if (known.found < k)
        UR_TRY(ur_exact_kinks(search, given->data.tolerance, out->arena, &kinks, err));
    if (kinks.complete || kinks.found > known.found)
        known = kinks;
    *found_any = known.found;
    if (known.found + known.opposite == k)
        UR_TRY(ur_exact_finish(given, frame, search->y, search->rank, k, known.V, 0, out, err));
    int more = frame->n < given->data.n && frame->n < MOST_ROWS; /* rows that may show a kink */
    if (out->answer != UR_NONE || (more && known.found > 0 && !known.complete))
        return UNRELU_OK;
    if (!known.complete && kinks.found > 0)
        UR_TRY(ur_exact_signed(search, &known, err));
    return find_rest(given, search, &known, found_any, out, err);
}

/* *found_any: how many neurons the fixed points gave */
static unrelu_status attempt(const ur_problem *given, ur_terms terms, size_t rows,
                             size_t *found_any, ur_outcome *out, unrelu_error *err)
{
    const unrelu_recover_options *o = &given->options;
    ur_frame frame;
    size_t rank = 0;
    UR_TRY(ur_frame_make(&given->data, rows, terms, 1, out->arena, &frame, err));
    double *y = ur_take(out->arena, frame.n, (frame.m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(out->arena, err));
    UR_TRY(ur_frame_labels(&frame, given->data.tolerance, &rank, y, NULL, err));
    size_t k = rank - (terms.constant && rank > 0 ? 1 : 0);
    int few = frame.n < frame.d + k;
    size_t full = frame.m + (terms.constant ? 1 : 0);
    full = full < frame.n ? full : frame.n;
    /* labels of rank k that are not just full: k is known, and so is that n is too small for it */
    if (few && o->k == 0 && frame.n == given->data.n && (rank < full || frame.m <= frame.d))
        return ur_fail(err, UNRELU_EDATA,
                       "%zu rows are too few for %zu inputs and %zu neurons (the rank of the "
                       "labels): at least %zu are needed, and 6 for each input to be safe",
                       frame.n, frame.d, k, frame.d + k);
    if (few || k == 0 || (o->k > 0 && k > o->k))
        return UNRELU_OK;
    const ur_search search = {.frame = &frame,
                              .y = y,
                              .rank = rank,
                              .wanted = k,
                              .degree = ur_activation_degree(o->activation),
                              .slack = ur_exact_slack(&given->data),
                              .starts = (size_t)(3 * (double)k * (1 + log((double)k))) + 20,
                              .patience = 12 + k,
                              .seed = o->seed,
                              .exec = given->exec,
                              .watch = given->watch};
    UR_TRY(search.degree == 1 ? hunt(given, &search, found_any, out, err)
                              : find_rest(given, &search, &(ur_found){0}, found_any, out, err));
    if (out->answer != UR_EXACT)
        return UNRELU_OK;
    if (out->evidence.linear_rank > 0)
        out->how_k = ur_take_text(out->arena,
                                  "rank of the labels %zu; %zu of it linear in x, as pairs v, -v",
                                  k, out->evidence.linear_rank);
    else if (out->weights.k == k)
        out->how_k = ur_take_text(out->arena, "rank of the labels (%zu)", k);
    else
        out->how_k = ur_take_text(out->arena, "rank of the labels is %zu; %zu neurons were needed",
                                  k, out->weights.k);
    return UNRELU_OK;
}

static unrelu_status tell(const ur_problem *given, ur_terms terms, size_t rows, size_t found,
                          const ur_outcome *tried, unrelu_error *err)
{
    const char *biases = ur_terms_name(terms);
    if (tried->answer == UR_EXACT)
        return ur_watch_tell(given->watch, err,
                             "exact, biases %s, %zu rows: the labels are met with %zu neurons",
                             biases, rows, tried->weights.k);
    return ur_watch_tell(given->watch, err,
                         "exact, biases %s, %zu rows: %zu neurons were found one by one, and with "
                         "what was tried beside them the labels are not met",
                         biases, rows, found);
}

unrelu_status ur_exact(const ur_problem *given, ur_terms terms, ur_outcome *out, unrelu_error *err)
{
    const ur_data *data = &given->data;
    unrelu_activation f = given->options.activation;
    size_t q = data->d + (terms.hidden ? 1 : 0), found = 0;
    size_t k = given->options.k ? given->options.k : data->m;
    size_t rows = ROWS_AN_INPUT * q + ROWS_A_NEURON * (k < q ? k : q);
    rows = rows + data->d + k <= data->n ? rows : data->n;
    if (!ur_activation_rectifies(f) || ur_activation_degree(f) <= 0)
        return UNRELU_OK;
    for (;;) {
        UR_ARENA(arena);
        ur_outcome tried = ur_outcome_in(&arena);
        tried.closest = out->closest;
        UR_TRY(attempt(given, terms, rows, &found, &tried, err));
        UR_TRY(tell(given, terms, rows, found, &tried, err));
        if (tried.answer == UR_EXACT) {
            ur_outcome_keep(&tried, out);
            return UNRELU_OK;
        }
        out->closest = tried.closest;
        if (found == 0 || rows >= data->n || rows >= MOST_ROWS)
            return UNRELU_OK;
        rows = NEXT_ROWS * rows < MOST_ROWS ? NEXT_ROWS * rows : MOST_ROWS;
    }
}

unrelu_status ur_exact_biases(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    unrelu_biases biases = given->options.biases;
    ur_terms both = ur_terms_of(UNRELU_BIASES_BOTH);
    UR_TRY(ur_exact(given, ur_terms_of(biases), out, err));
    if (biases != UNRELU_BIASES_AUTO)
        return UNRELU_OK;
    if (out->answer == UR_NONE)
        return ur_exact(given, both, out, err);
    if (out->certificate.min_inactive > 0)
        return UNRELU_OK;
    /* A neuron that is never off may be the constant e: inputs that add up to 1 can give it. */
    UR_ARENA(arena);
    ur_outcome tried = ur_outcome_in(&arena);
    UR_TRY(ur_exact(given, both, &tried, err));
    if (tried.answer == UR_EXACT && tried.weights.k < out->weights.k)
        ur_outcome_keep(&tried, out);
    return UNRELU_OK;
}
