/* SPDX-License-Identifier: Apache-2.0 */
/* --method enumerate: Theorem 1, any inputs, labels of rank k. In this order, until k neurons are
 * found: sampling (nested from k = 16 on), extreme rays, all faces of the cone of the labels. Where
 * all faces were looked at and too few neurons found, no network of k neurons fits: that is a
 * proof, to within rounding, as is a rank above the k asked for. Labels of rank below k are
 * refused: with these the problem is NP-hard (section 3). By default at most 2^20 planes, and
 * 2^15 rays and faces: neurons that are off on every second sample are found up to k about 26. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "dense/lp.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED = 16, HOPELESS = 30 }; /* neurons: from 2^16 and 2^30 planes on */
static const uint64_t QUICK = (uint64_t)1 << 14, PLANES = (uint64_t)1 << 20,
                      FACES = (uint64_t)1 << 15;

typedef struct {
    ur_recover *r;
    ur_arena arena; /* of the frame, y, its diagonal and the neurons */
    ur_frame frame; /* all rows */
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

static void course_free(course *c)
{
    ur_arena_end(&c->arena);
}

/* y = [a, 1] R^+ with R = y'[a, 1]. The factorisation errs by rounding of the largest rows in every
 * row, so that rows of zeros come out as noise; this errs in proportion to each row. */
static unrelu_status sharpen(course *c, unrelu_error *err)
{
    const ur_frame *frame = &c->frame;
    size_t n = frame->n, m = frame->m, rank = c->rank, wide = m + (frame->terms.constant ? 1 : 0);
    double *labels = ur_alloc(n, wide * sizeof *labels), *R = ur_alloc(rank, wide * sizeof *R);
    double *eye = ur_alloc(rank, rank * sizeof *eye), *P = ur_alloc(wide, rank * sizeof *P);
    unrelu_status status =
        labels && R && eye && P ? UNRELU_OK : ur_fail_memory(err, n * wide, "labels");
    for (size_t i = 0; i < n && status == UNRELU_OK; i++) {
        memcpy(labels + i * wide, frame->a + i * m, m * sizeof *labels);
        if (wide > m)
            labels[i * wide + m] = 1;
    }
    for (size_t j = 0; j < rank && status == UNRELU_OK; j++)
        eye[j * rank + j] = 1;
    if (status == UNRELU_OK) {
        ur_multiply_tn(n, rank, wide, c->y, labels, R);
        status = ur_least_squares(rank, wide, rank, R, eye, 0, P, NULL, err);
    }
    if (status == UNRELU_OK)
        ur_multiply(n, wide, rank, labels, P, c->y);
    free(labels);
    free(R);
    free(eye);
    free(P);
    return status;
}

static unrelu_status open_course(course *c, unrelu_error *err)
{
    ur_recover *r = c->r;
    UR_TRY(ur_frame_make(&r->data, r->data.n, ur_terms_of(r->options->biases), 1, &c->arena,
                         &c->frame, err));
    const ur_frame *frame = &c->frame;
    c->y = ur_take(&c->arena, frame->n, (frame->m + 1) * sizeof *c->y);
    c->diagonal = ur_take(&c->arena, frame->m + 1, sizeof *c->diagonal);
    unrelu_status status = ur_arena_status(&c->arena, err);
    if (status == UNRELU_OK)
        status = ur_frame_labels(frame, r->data.tolerance, &c->rank, c->y, c->diagonal, err);
    size_t constant = frame->terms.constant && c->rank > 0 ? 1 : 0;
    c->k = c->rank - constant;
    if (status == UNRELU_OK && c->k == 0)
        status = ur_fail(err, UNRELU_EDATA,
                         "the labels are constant to within rounding: there is no neuron to find");
    return status == UNRELU_OK ? sharpen(c, err) : status;
}

/* ---- what is said ---- */

static void state(course *c)
{
    unrelu_network *model = c->r->model;
    int constant = c->frame.terms.constant;
    snprintf(model->how_k, sizeof model->how_k, "%s%zu%s",
             c->r->options->k ? "given, and the rank of the labels is " : "rank of the labels (",
             c->k, c->r->options->k ? "" : ")");
    snprintf(model->guarantee, sizeof model->guarantee,
             "Theorem 1: any inputs, labels of rank k; a network of k neurons is found where one "
             "exists, given time, though not always the only one");
    snprintf(model->assumption, sizeof model->assumption,
             "rank(A) = k: the labels%s have rank %zu to within %.1g, and %zu neuron%s sought",
             constant ? " with a constant" : "", c->rank, c->r->data.tolerance, c->k,
             c->k == 1 ? " is" : "s are");
}

static unrelu_status refuse_rank(const course *c, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EDATA,
                   "%zu neurons are asked for and the labels have rank %zu: --method enumerate "
                   "needs labels of rank k, and below it the problem is NP-hard (section 3 of the "
                   "paper); try --method one-sparse, or leave out --method",
                   c->r->options->k, c->k);
}

static void prove_by_rank(course *c)
{
    unrelu_network *model = c->r->model;
    size_t k = c->r->options->k;
    double size = c->diagonal[c->rank - 1] / c->diagonal[0];
    model->proof = size > 10 * c->r->data.tolerance;
    snprintf(model->failure, sizeof model->failure,
             "no network of %zu neuron%s fits the labels: they have rank %zu (the last direction "
             "has %.1g of the size of the first), and %zu neuron%s at most rank %zu%s; if the "
             "labels are noisy, leave out --method",
             k, k == 1 ? "" : "s", c->k, size, k, k == 1 ? " gives" : "s give", k,
             model->proof ? "; this is a proof" : "");
}

/* Errors of the labels' last digits, as large as the basis shows them, are far below what counts
 * as 0: else "no" may be an effect of rounding. */
static int is_sharp(const course *c)
{
    double condition = c->diagonal[0] / c->diagonal[c->rank - 1];
    double digit = c->integers || c->r->data.floor <= 1e-12 ? DBL_EPSILON : c->r->data.floor;
    return digit * condition <= c->neurons.tolerance / 100;
}

static void tell_none(course *c, const char *because)
{
    unrelu_network *model = c->r->model;
    model->proof = is_sharp(c);
    snprintf(model->failure, sizeof model->failure,
             "no network of %zu neuron%s (the rank of the labels) with biases %s fits the labels: "
             "%s; %s. More neurons than the rank: --method one-sparse; noisy labels: leave out "
             "--method; biases: --bias both",
             c->k, c->k == 1 ? "" : "s", ur_terms_name(c->frame.terms), because,
             model->proof ? "this is a proof, to within rounding"
                          : "not a proof, as the labels are too ill-conditioned for their digits");
}

static void tell_failure(course *c)
{
    unrelu_network *model = c->r->model;
    const ur_neurons *q = &c->neurons;
    size_t found = q->found - q->constant;
    char because[160];
    if (c->spanned) {
        snprintf(because, sizeof because,
                 "%zu were found, and all mixtures of the labels that are nowhere negative are "
                 "mixtures of these",
                 found);
        tell_none(c, because);
    } else if (c->finished) {
        snprintf(because, sizeof because,
                 "%zu were found, and every face of the labels' cone was looked at (%zu rays, %zu "
                 "faces)",
                 found, c->rays, c->faces);
        tell_none(c, because);
    } else {
        snprintf(
            model->failure, sizeof model->failure,
            "%zu of %zu neurons were found and the enumeration did not end: after %llu "
            "sampled planes, %zu rays and %zu faces %s, which proves nothing; give a larger "
            "--budget, or leave out --method if the labels are noisy or the neurons are rarely "
            "off",
            found, c->k, (unsigned long long)c->planes, c->rays, c->faces,
            q->budget == 0 ? "the budget ran out"
                           : "the cone of the labels has more rays than the budget allows, or "
                             "rounding left faces open");
    }
}

/* ---- search ---- */

static unrelu_status sample(course *c, uint64_t most, unrelu_error *err)
{
    ur_neurons *q = &c->neurons;
    uint64_t trials = ur_sample_trials(q->k), before = q->tried;
    trials = trials < most ? trials : most;
    if (q->found == q->wanted || q->budget == 0)
        return UNRELU_OK;
    unrelu_status status =
        q->k >= NESTED ? ur_nested_neurons(q, trials, err) : ur_sample_neurons(q, trials, err);
    c->planes += q->tried - before;
    return status;
}

/* again with other tolerances before anything is taken for proved */
static unrelu_status walk(course *c, unrelu_error *err)
{
    static const double factors[] = {1, 1e-2, 1e2};
    ur_neurons *q = &c->neurons;
    double tolerance = q->tolerance;
    unrelu_status status = UNRELU_OK;
    c->finished = q->found == q->wanted;
    for (size_t i = 0; i < sizeof factors / sizeof *factors && q->found < q->wanted; i++) {
        if (c->r->options->budget == 0)
            q->budget = FACES;
        q->tolerance = tolerance * factors[i];
        status = ur_faces_walk(q, &c->finished, &c->rays, &c->faces, err);
        if (status != UNRELU_OK || !c->finished)
            break;
    }
    q->tolerance = tolerance;
    return status;
}

/* beyond 2^20 rounded labels look like integers too */
static int are_integers(const ur_data *data)
{
    for (size_t i = 0; i < data->n * data->m; i++)
        if (rint(data->a[i]) != data->a[i] || fabs(data->a[i]) > 0x1p20)
            return 0;
    return 1;
}

static unrelu_status search(course *c, unrelu_error *err)
{
    const unrelu_recover_options *o = c->r->options;
    /* labels with fewer digits vanish to within these only; integers have all of them */
    c->integers = are_integers(&c->r->data);
    double tolerance = c->integers ? 1e-9 : fmin(fmax(1e-9, 20 * c->r->data.floor), 1e-5);
    unrelu_status status =
        ur_neurons_open(&c->frame, c->y, c->rank, tolerance, o->budget ? o->budget : PLANES,
                        o->seed, c->r->exec, &c->arena, &c->neurons, err);
    if (status == UNRELU_OK)
        status = sample(c, QUICK, err);
    if (status == UNRELU_OK)
        status = ur_ray_neurons(&c->neurons, &c->spanned, err);
    if (status == UNRELU_OK && !c->spanned && c->neurons.k <= HOPELESS)
        status = sample(c, o->budget ? o->budget : PLANES, err);
    if (status == UNRELU_OK && !c->spanned)
        status = walk(c, err);
    return status;
}

/* ---- the network ---- */

static unrelu_status descend(course *c, double *V, int *met, unrelu_error *err)
{
    ur_newton problem = ur_frame_problem(&c->frame, c->r->options->activation, c->r->exec);
    UR_ARENA(arena);
    ur_newton_fit fit;
    double floor = c->r->data.floor;
    unrelu_status status = ur_newton_alloc(&problem, c->k, &arena, &fit, err);
    if (status == UNRELU_OK) {
        memcpy(fit.V, V, c->k * c->frame.p * sizeof *V);
        status = ur_newton_solve(&problem, 30, 1e-13, floor * floor / 100, &fit, err);
    }
    if (status == UNRELU_OK)
        status = ur_exact_finish(c->r, &c->frame, c->y, c->rank, c->k, fit.V, 0, met, err);
    return status;
}

static int is_warned(const unrelu_network *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

/* rows of V that the samples do not determine */
static unrelu_status warn_loose(course *c, unrelu_error *err)
{
    const ur_neurons *q = &c->neurons;
    size_t loose = 0;
    for (size_t j = q->constant; j < q->found; j++)
        loose += !q->unique[j];
    if (loose == 0)
        return UNRELU_OK;
    c->r->model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    if (is_warned(c->r->model, "not-identifiable"))
        return UNRELU_OK;
    return ur_network_warn(c->r->model, "not-identifiable", err,
                           "%zu of %zu neurons are not unique: the inputs of the samples where "
                           "they are on, at most %zu or of too low a rank, leave other rows of V",
                           loose, c->k, c->frame.p);
}

static unrelu_status finish(course *c, int *met, unrelu_error *err)
{
    ur_recover *r = c->r;
    const ur_neurons *q = &c->neurons;
    double *V = q->v + q->constant * q->p;
    unrelu_status status = ur_exact_finish(r, &c->frame, c->y, c->rank, c->k, V, 0, met, err);
    if (status == UNRELU_OK && !*met)
        status = descend(c, V, met, err);
    if (status == UNRELU_OK && *met)
        status = warn_loose(c, err);
    if (status == UNRELU_OK && !*met)
        snprintf(r->model->failure, sizeof r->model->failure,
                 "%zu neurons were found, but their network leaves a residual of %.2g where %.2g "
                 "is needed: they are too nearly dependent for the digits of the labels",
                 c->k, r->best, r->data.floor);
    return status;
}

unrelu_status ur_enumerate(ur_recover *r, int *met, unrelu_error *err)
{
    course c = {.r = r};
    *met = 0;
    unrelu_status status = ur_lp_ready("the method 'enumerate'", err);
    if (status == UNRELU_OK)
        status = open_course(&c, err);
    if (status == UNRELU_OK)
        state(&c);
    if (status == UNRELU_OK && r->options->k > c.k) {
        status = refuse_rank(&c, err);
    } else if (status == UNRELU_OK && r->options->k > 0 && r->options->k < c.k) {
        prove_by_rank(&c);
    } else if (status == UNRELU_OK) {
        status = search(&c, err);
        if (status == UNRELU_OK && c.neurons.found == c.neurons.wanted)
            status = finish(&c, met, err);
        else if (status == UNRELU_OK)
            tell_failure(&c);
    }
    course_free(&c);
    return status;
}
