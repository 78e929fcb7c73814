/* SPDX-License-Identifier: Apache-2.0 */
/* The methods by name: an approximate start, then what --exactify asks.
 *   cca      pattern-CCA from every row of the start, joint Gauss-Newton for rows it does not
 *            make exact; labels with noise end in the maximum likelihood
 *   systems  the paper's linear systems (Algorithm 5), exact or not at all
 *   none     U by least squares for the rows as they are */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/noisy/noisy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ur_recover *r;
    ur_arena arena; /* of all that follows */
    ur_frame frame; /* all rows */
    ur_start start;
    double *V, *c;  /* (k, d), k: the start */
    double *inside; /* (k, p): the start in the frame */
    double *y;      /* labels' basis */
    size_t rank;
    int *exact; /* k */
} course;

/* k as asked, else the rank of the labels */
static unrelu_status open_course(course *q, unrelu_error *err)
{
    ur_recover *r = q->r;
    const unrelu_recover_options *o = r->options;
    unrelu_status status =
        ur_frame_make(&r->data, r->data.n, ur_terms_of(o->biases), 0, &q->arena, &q->frame, err);
    if (status != UNRELU_OK)
        return status;
    const ur_frame *frame = &q->frame;
    q->y = ur_take(&q->arena, frame->n, (frame->m + 1) * sizeof *q->y);
    UR_TRY(ur_arena_status(&q->arena, err));
    status = ur_frame_labels(frame, r->data.tolerance, &q->rank, q->y, NULL, err);
    size_t k = o->k ? o->k : q->rank - (frame->terms.constant ? 1 : 0);
    if (status == UNRELU_OK && k == 0)
        return ur_fail(err, UNRELU_EDATA, "the labels are constant: there is no neuron to find");
    snprintf(r->model->how_k, sizeof r->model->how_k, "%s", o->k ? "given" : "rank of the labels");
    q->V = ur_take(&q->arena, k, frame->d * sizeof *q->V);
    q->c = ur_take(&q->arena, k, sizeof *q->c);
    q->inside = ur_take(&q->arena, k, frame->q * sizeof *q->inside);
    q->exact = ur_take(&q->arena, k, sizeof *q->exact);
    if (status == UNRELU_OK)
        status = ur_arena_status(&q->arena, err);
    q->start = (ur_start){.sample = {frame->n, frame->d, frame->m, r->data.x, frame->a},
                          .k = k,
                          .f = o->activation,
                          .hidden = frame->terms.hidden,
                          .constant = frame->terms.constant,
                          .seed = o->seed,
                          .exec = r->exec};
    return status;
}

static unrelu_status begin(course *q, unrelu_error *err)
{
    const unrelu_recover_options *o = q->r->options;
    ur_start_note note = {"", ""};
    unrelu_status status = UNRELU_OK;
    switch (o->method) {
    case UNRELU_RECOVER_ICA:
        status = ur_start_ica(&q->start, q->V, &note, err);
        break;
    case UNRELU_RECOVER_TENSOR:
        status = ur_start_tensor(&q->start, o->order, q->V, &note, err);
        if (status == UNRELU_OK)
            status = ur_start_signs(&q->start, o->signs, q->V, err);
        break;
    case UNRELU_RECOVER_SYMMETRIC:
        status = ur_start_symmetric(&q->start, q->V, &note, err);
        break;
    case UNRELU_RECOVER_LIFTED:
        status = ur_start_lifted(&q->start, q->V, q->c, &note, err);
        break;
    default:
        status = ur_start_facets(&q->start, q->V, q->c, &note, err);
    }
    snprintf(q->r->model->guarantee, sizeof q->r->model->guarantee, "%s", note.guarantee);
    snprintf(q->r->model->assumption, sizeof q->r->model->assumption, "%s", note.assumption);
    return status;
}

static unrelu_status enter_frame(course *q, unrelu_error *err)
{
    return ur_frame_enter(&q->frame, q->start.f, q->start.k, q->V, q->c, q->inside, err);
}

/* ---- exactify ---- */

/* the labels' basis, where it has a dimension for every neuron */
static const double *basis_of(const course *q)
{
    return q->rank >= q->start.k + (q->frame.terms.constant ? 1 : 0) ? q->y : NULL;
}

static unrelu_status finish(course *q, const double *V, int *met, unrelu_error *err)
{
    return ur_exact_finish(q->r, &q->frame, basis_of(q), q->rank, q->start.k, V, 0, met, err);
}

/* every row to its fixed point; those that are exact and new replace the start's */
static unrelu_status iterate(course *q, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    size_t p = frame->p, k = q->start.k;
    ur_pattern problem = {frame->n, p, q->rank, frame->x, q->y, ur_activation_degree(q->start.f)};
    ur_pattern_room *room = ur_pattern_room_new(&problem);
    double *v = ur_doubles(p), *w = ur_doubles(q->rank);
    unrelu_status status = UNRELU_OK;
    if (!room || !v || !w) {
        status = ur_fail_memory(err, frame->n * p, "numbers of the iteration");
        goto done;
    }
    for (size_t j = 0; j < k; j++) {
        memcpy(v, q->inside + j * p, p * sizeof *v);
        ur_pattern_end end = ur_pattern_run(&problem, room, NULL, 0, v, w);
        int fresh = 1 - end.rho < ur_exact_slack(&q->r->data);
        for (size_t l = 0; l < j && fresh; l++) {
            double distance = 0;
            for (size_t i = 0; i < p; i++)
                distance = fmax(distance, fabs(v[i] - q->inside[l * p + i]));
            fresh = !q->exact[l] || distance > 1e-6;
        }
        if (!fresh)
            continue;
        memcpy(q->inside + j * p, v, p * sizeof *v);
        q->exact[j] = 1;
    }
done:
    ur_pattern_room_free(room);
    free(v);
    free(w);
    return status;
}

static size_t count_exact(const course *q)
{
    size_t count = 0;
    for (size_t j = 0; j < q->start.k; j++)
        count += q->exact[j] != 0;
    return count;
}

/* a fit with the rows of the start */
static unrelu_status open_fit(course *q, const ur_newton *problem, ur_newton_fit *fit,
                              unrelu_error *err)
{
    unrelu_status status = ur_newton_alloc(problem, q->start.k, &q->arena, fit, err);
    if (status == UNRELU_OK)
        memcpy(fit->V, q->inside, q->start.k * q->frame.p * sizeof *fit->V);
    return status;
}

/* labels with noise, or an activation without fixed points: Gauss-Newton from the start */
static unrelu_status descend(course *q, int *met, unrelu_error *err)
{
    ur_recover *r = q->r;
    ur_newton problem = ur_frame_problem(&q->frame, q->start.f, r->exec);
    ur_newton_fit fit = {0};
    double floor = r->data.floor * r->data.floor / 100;
    unrelu_status status = open_fit(q, &problem, &fit, err);
    if (status == UNRELU_OK)
        status = ur_newton_solve(&problem, 100, 1e-8, floor, &fit, err);
    if (status == UNRELU_OK)
        status = finish(q, fit.V, met, err);
    if (status == UNRELU_OK && !*met && r->options->labels != UNRELU_LABELS_NOISELESS) {
        status = ur_likelihood(r, &q->frame, &fit, err);
        *met = 1;
        r->model->starts = r->model->starts_agree = 1;
    }
    return status;
}

static unrelu_status by_cca(course *q, int *met, unrelu_error *err)
{
    const unrelu_recover_options *o = q->r->options;
    unrelu_status status = UNRELU_OK;
    int patterns = ur_activation_rectifies(o->activation) &&
                   ur_activation_degree(o->activation) > 0 && q->rank >= q->start.k &&
                   o->labels != UNRELU_LABELS_NOISY;
    if (patterns)
        status = iterate(q, err);
    if (status == UNRELU_OK && patterns && count_exact(q) == q->start.k)
        status = finish(q, q->inside, met, err);
    return status == UNRELU_OK && !*met ? descend(q, met, err) : status;
}

static unrelu_status by_systems(course *q, int *met, unrelu_error *err)
{
    if (!ur_activation_rectifies(q->start.f) || ur_activation_degree(q->start.f) <= 0) {
        char name[32];
        unrelu_activation_name(q->start.f, name, sizeof name);
        return ur_fail(err, UNRELU_EDATA,
                       "--exactify systems needs an activation that is 0 on one side and a power "
                       "on the other, and %s is not: use --exactify cca",
                       name);
    }
    unrelu_status status = ur_exactify_systems(&q->start, q->V, q->c, q->exact, err);
    size_t exact = count_exact(q);
    if (status == UNRELU_OK && exact < q->start.k) {
        snprintf(q->r->model->failure, sizeof q->r->model->failure,
                 "the linear systems of Algorithm 5 have a solution for %zu of %zu neurons: the "
                 "start is too far off (one misplaced sample is enough) or the labels are noisy; "
                 "--exactify cca needs no exact patterns",
                 exact, q->start.k);
        return UNRELU_OK;
    }
    if (status == UNRELU_OK)
        status = enter_frame(q, err);
    if (status == UNRELU_OK)
        status = finish(q, q->inside, met, err);
    return status;
}

/* the raw estimate: U by least squares */
static unrelu_status by_nothing(course *q, int *met, unrelu_error *err)
{
    ur_recover *r = q->r;
    ur_newton problem = ur_frame_problem(&q->frame, q->start.f, r->exec);
    ur_newton_fit fit = {0};
    unrelu_status status = open_fit(q, &problem, &fit, err);
    if (status == UNRELU_OK)
        status = ur_newton_outer(&problem, &fit, err);
    if (status == UNRELU_OK)
        status = ur_recover_adopt(r, &q->frame, &fit, err);
    if (status == UNRELU_OK)
        status = ur_certify(r, NULL, err);
    if (status == UNRELU_OK && r->met) {
        status = ur_unique(r, &q->frame, basis_of(q), q->rank, err);
    } else if (status == UNRELU_OK) {
        double cells = (double)(q->frame.n * q->frame.m);
        r->model->verdict = UNRELU_VERDICT_NOISY;
        r->model->noise = r->data.unit * sqrt(fit.rss / cells);
        status = ur_network_warn(r->model, "no-se", err,
                                 "--exactify none: the raw estimate of the method, whose error is "
                                 "not known; noise is the root mean square of what it leaves");
    }
    *met = 1;
    return status;
}

unrelu_status ur_method(ur_recover *r, unrelu_error *err)
{
    course q = {.r = r};
    int met = 0;
    unrelu_status status = open_course(&q, err);
    if (status == UNRELU_OK)
        status = begin(&q, err);
    if (status == UNRELU_OK)
        status = enter_frame(&q, err);
    if (status == UNRELU_OK)
        status = r->options->exactify == UNRELU_EXACTIFY_SYSTEMS ? by_systems(&q, &met, err)
                 : r->options->exactify == UNRELU_EXACTIFY_NONE  ? by_nothing(&q, &met, err)
                                                                 : by_cca(&q, &met, err);
    if (status == UNRELU_OK && r->options->k == 0 && r->model->verdict == UNRELU_VERDICT_NOISY &&
        q.start.k >= r->data.m)
        status = ur_network_warn(r->model, "k-bound", err,
                                 "the labels have full rank %zu and were taken to have as many "
                                 "neurons: give -k, or leave out --method, which finds k by BIC",
                                 q.start.k);
    if (status == UNRELU_OK && !met) {
        r->model->verdict = UNRELU_VERDICT_FAILED;
        r->model->residual = r->best;
        if (!r->model->failure[0])
            snprintf(r->model->failure, sizeof r->model->failure,
                     "no exact fit from this start: the best residual is %.2g, and %.2g is needed",
                     r->best, r->data.floor);
    }
    ur_arena_end(&q.arena);
    return status;
}
