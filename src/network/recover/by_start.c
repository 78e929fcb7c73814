/* SPDX-License-Identifier: Apache-2.0 */
/* An approximate start, then what --exactify asks.
 *   cca      pattern-CCA from every row of the start, joint Gauss-Newton for rows it does not
 *            make exact; labels with noise end in the maximum likelihood,
 *            if what it leaves can be noise
 *   systems  the paper's linear systems (Algorithm 5), exact or not at all
 *   none     U by least squares for the rows as they are */
#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/noisy/noisy.h"
#include "network/pattern/pattern.h"
#include "network/problem/tolerance.h"
#include "network/recover/methods.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ur_problem *given;
    ur_outcome *out; /* whose arena holds all of these */
    ur_frame frame;  /* all rows */
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
    const ur_problem *given = q->given;
    const unrelu_recover_options *o = &given->options;
    ur_arena *arena = q->out->arena;
    if (o->method == UNRELU_RECOVER_START)
        UR_TRY(ur_start_check(given, err));
    UR_TRY(
        ur_frame_make(&given->data, given->data.n, ur_terms_of_start(o), 0, arena, &q->frame, err));
    const ur_frame *frame = &q->frame;
    q->y = ur_take(arena, frame->n, (frame->m + 1) * sizeof *q->y);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &q->rank, q->y, NULL, err));
    size_t asked = o->start ? o->start->k : o->k;
    size_t k = asked ? asked : q->rank - (frame->terms.constant ? 1 : 0);
    if (k == 0)
        return ur_fail(err, UNRELU_EDATA, "the labels are constant: there is no neuron to find");
    q->out->how_k = asked ? "given" : "rank of the labels";
    q->V = ur_take(arena, k, frame->d * sizeof *q->V);
    q->c = ur_take(arena, k, sizeof *q->c);
    q->inside = ur_take(arena, k, frame->q * sizeof *q->inside);
    q->exact = ur_take(arena, k, sizeof *q->exact);
    q->start = (ur_start){.sample = {frame->n, frame->d, frame->m, given->data.x, frame->a},
                          .k = k,
                          .f = o->activation,
                          .hidden = frame->terms.hidden,
                          .constant = frame->terms.constant,
                          .order = o->order,
                          .literal = o->literal,
                          .signs = o->signs,
                          .seed = o->seed,
                          .exec = given->exec,
                          .network = o->start};
    return ur_arena_status(arena, err);
}

/* ---- exactify ---- */

/* the labels' basis, where it has a dimension for every neuron */
static const double *basis_of(const course *q)
{
    return q->rank >= q->start.k + (q->frame.terms.constant ? 1 : 0) ? q->y : NULL;
}

static unrelu_status finish(course *q, const double *V, unrelu_error *err)
{
    return ur_exact_finish(q->given, &q->frame, basis_of(q), q->rank, q->start.k, V, 0, q->out,
                           err);
}

/* every row to its fixed point; those that are exact and new replace the start's */
static unrelu_status iterate(course *q, unrelu_error *err)
{
    const ur_frame *frame = &q->frame;
    size_t p = frame->p, k = q->start.k;
    ur_pattern problem = {frame->n, p, q->rank, frame->x, q->y, ur_activation_degree(q->start.f)};
    UR_ARENA(arena);
    double *v = ur_take(&arena, p, sizeof *v), *w = ur_take(&arena, q->rank, sizeof *w);
    ur_pattern_room *room = ur_pattern_room_in(&arena, &problem);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < k; j++) {
        memcpy(v, q->inside + j * p, p * sizeof *v);
        ur_pattern_end end = ur_pattern_run(&problem, room, NULL, 0, v, w);
        int fresh = 1 - end.rho < ur_exact_slack(&q->given->data);
        for (size_t l = 0; l < j && fresh; l++)
            fresh = !q->exact[l] || !ur_is_row_of(1, p, q->inside + l * p, v);
        if (!fresh)
            continue;
        memcpy(q->inside + j * p, v, p * sizeof *v);
        q->exact[j] = 1;
    }
    return UNRELU_OK;
}

static size_t count_exact(const course *q)
{
    size_t count = 0;
    for (size_t j = 0; j < q->start.k; j++)
        count += q->exact[j] != 0;
    return count;
}

/* a fit with the rows of the start */
static unrelu_status open_fit(const course *q, const ur_newton *problem, ur_arena *arena,
                              ur_newton_fit *fit, unrelu_error *err)
{
    UR_TRY(ur_newton_alloc(problem, q->start.k, arena, fit, err));
    memcpy(fit->V, q->inside, q->start.k * q->frame.p * sizeof *fit->V);
    return UNRELU_OK;
}

/* labels with noise, or an activation without fixed points: Gauss-Newton from the start */
static unrelu_status descend(course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    ur_newton problem = ur_frame_problem(&q->frame, q->start.f, given->exec);
    UR_ARENA(arena);
    ur_newton_fit fit;
    UR_TRY(open_fit(q, &problem, &arena, &fit, err));
    UR_TRY(ur_newton_solve(&problem, UR_LIKELIHOOD_STEPS, UR_LIKELIHOOD_GAIN,
                           ur_newton_floor(&given->data), &fit, err));
    UR_TRY(finish(q, fit.V, err));
    if (q->out->answer != UR_NONE || given->options.labels == UNRELU_LABELS_NOISELESS)
        return UNRELU_OK;
    q->out->starts = q->out->starts_agree = 1;
    UR_TRY(ur_likelihood(given, &q->frame, &fit, q->out, err));
    return q->out->answer == UR_NOISY ? ur_noisy_judge(given, q->out, err) : UNRELU_OK;
}

static unrelu_status by_cca(course *q, unrelu_error *err)
{
    unrelu_activation f = q->start.f;
    int patterns = ur_activation_rectifies(f) && ur_activation_degree(f) > 0 &&
                   q->rank >= q->start.k && q->given->options.labels != UNRELU_LABELS_NOISY;
    if (patterns)
        UR_TRY(iterate(q, err));
    if (patterns && count_exact(q) == q->start.k)
        UR_TRY(finish(q, q->inside, err));
    return q->out->answer == UR_NONE ? descend(q, err) : UNRELU_OK;
}

static unrelu_status by_systems(course *q, unrelu_error *err)
{
    if (!ur_activation_rectifies(q->start.f) || ur_activation_degree(q->start.f) <= 0) {
        char name[32];
        unrelu_activation_name(q->start.f, name, sizeof name);
        return ur_fail(err, UNRELU_EDATA,
                       "`exactify` systems needs an activation that is 0 on one side and a power "
                       "on the other, and %s is not: use `exactify` cca",
                       name);
    }
    UR_TRY(ur_exactify_systems(&q->start, q->V, q->c, q->exact, err));
    if (count_exact(q) < q->start.k) {
        q->out->failure = ur_take_text(
            q->out->arena,
            "the linear systems of Algorithm 5 have a solution for %zu of %zu neurons: the start "
            "is too far off (one misplaced sample is enough) or the labels are noisy; `exactify` "
            "cca needs no exact patterns",
            count_exact(q), q->start.k);
        return UNRELU_OK;
    }
    UR_TRY(ur_frame_enter(&q->frame, q->start.f, q->start.k, q->V, q->c, q->inside, err));
    return finish(q, q->inside, err);
}

/* U by least squares for the rows as they are */
static unrelu_status as_they_are(course *q, unrelu_error *err)
{
    const ur_problem *given = q->given;
    ur_newton problem = ur_frame_problem(&q->frame, q->start.f, given->exec);
    UR_ARENA(arena);
    ur_newton_fit fit;
    UR_TRY(open_fit(q, &problem, &arena, &fit, err));
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    UR_TRY(ur_certify_fit(given, &q->frame, &fit, NULL, q->out, err));
    if (q->out->certificate.met)
        return ur_certify_exact(given, &q->frame, basis_of(q), q->rank, 0, q->out, err);
    q->out->answer = UR_NOISY;
    q->out->noise = given->data.unit * sqrt(fit.rss / (double)(q->frame.n * q->frame.m));
    ur_outcome_note(q->out, "no-se",
                    "`exactify` none: the raw estimate of the method, whose error is not known; "
                    "noise is the root mean square of what it leaves");
    return UNRELU_OK;
}

unrelu_status ur_by_start(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    const unrelu_recover_options *o = &given->options;
    course q = {.given = given, .out = out};
    ur_start_note note = {"", ""};
    UR_TRY(open_course(&q, err));
    UR_TRY(ur_method_of(o->method)->begin(&q.start, q.V, q.c, &note, err));
    out->guarantee = ur_take_copy(out->arena, note.guarantee);
    out->assumption = ur_take_copy(out->arena, note.assumption);
    UR_TRY(ur_frame_enter(&q.frame, q.start.f, q.start.k, q.V, q.c, q.inside, err));
    const ur_find find = {
        .kind = UR_KEPT_FIT, .known = q.start.k, .V = q.inside, .wanted = o->k, .starts = 1};
    UR_TRY(ur_watch_show(given->watch, &q.frame, find, err));
    UR_TRY(o->exactify == UNRELU_EXACTIFY_SYSTEMS ? by_systems(&q, err)
           : o->exactify == UNRELU_EXACTIFY_NONE  ? as_they_are(&q, err)
                                                  : by_cca(&q, err));
    if (o->k == 0 && !o->start && out->answer == UR_NOISY && q.start.k >= given->data.m)
        ur_outcome_note(out, "k-bound",
                        "the labels have full rank %zu and were taken to have as many neurons: "
                        "give `k`, or leave out `method`, which finds k by BIC",
                        q.start.k);
    if (out->answer == UR_NONE && !out->failure[0])
        out->failure = ur_take_text(
            out->arena,
            "no exact fit from this start: the best residual is %.2g, and %.2g is needed",
            out->closest, given->data.floor);
    return UNRELU_OK;
}
