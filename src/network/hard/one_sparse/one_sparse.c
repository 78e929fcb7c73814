/* SPDX-License-Identifier: Apache-2.0 */
/* Any U, fewer labels than neurons too (Theorem 11, Algorithm 7): rows of labels where one neuron
 * is on alone are parallel to its column of U. Here with peeling, decoding of sparser rows and the
 * fit of antiparallel columns, which the theorem allows and its algorithm cannot do; then U by
 * least squares, Gauss-Newton and the certificate over all rows. k is given, or found: peeling
 * ends when nothing is left. Noiseless labels; columns of U with one direction cannot be told
 * apart, and e would have to be known. Grouping is n log n; rows are taken as they are needed,
 * 20000 at first. Refused where too few rows repeat, with the number that is needed. */
#include "network/hard/one_sparse/one_sparse.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_FIRST = 20000, MEND_STEPS = 60 };
static const uint64_t BUDGET = 300000000;
/* A direction that did not show is alone in about 1 of n rows: 2 + 2.3 sqrt 2 times as many show it
 * twice; planes of rows (m >= 3) need fewer (k = 8, m = 4: 1 in 10 networks from 100, 3 in 4 from
 * 200) */
static double times_as_many(const ur_peel *q)
{
    return q->frame->m > 2 ? 2.5 : 5.3;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static unrelu_status check(const ur_recover *r, ur_terms terms, unrelu_error *err)
{
    if (terms.constant)
        return ur_fail(err, UNRELU_EUSAGE,
                       "--method one-sparse compares directions of the rows of labels, which a "
                       "constant e turns: use --bias hidden (or none), and subtract e if you know "
                       "it");
    if (r->options->labels == UNRELU_LABELS_NOISY)
        return ur_fail(err, UNRELU_EUSAGE,
                       "--method one-sparse is for labels without noise: of noisy ones no two rows "
                       "are parallel; --method any-noise takes any");
    return UNRELU_OK;
}

/* ---- sentences ---- */

static void state_assumption(ur_recover *r, const ur_peel *q)
{
    unrelu_network *model = r->model;
    snprintf(
        model->guarantee, sizeof model->guarantee,
        "Theorem 11 (Gaussian inputs, V of rank k, no two columns of U parallel; as printed it "
        "errs for u and -u): exact for n > kappa^O(k) poly(d, k, m)%s",
        r->options->literal ? ""
                            : "; peeling needs fewer rows, and the certificate stands by "
                              "itself");
    if (q->first == 0)
        snprintf(model->assumption, sizeof model->assumption,
                 "no two of %zu rows of labels are parallel", q->frame->n);
    else
        snprintf(model->assumption, sizeof model->assumption,
                 "%zu direction%s repeat%s among %zu rows of labels, the rarest in %zu (p = %.2g); "
                 "Algorithm 7 needs %zu of each",
                 q->first, q->first > 1 ? "s" : "", q->first > 1 ? "" : "s", q->frame->n, q->rarest,
                 (double)q->rarest / (double)q->frame->n, q->frame->p);
}

static void say_no_direction(ur_recover *r, const ur_peel *q)
{
    size_t n = q->frame->n, k = r->options->k;
    char need[96] = "";
    if (k > 0 && k < 40)
        snprintf(need, sizeof need, " (%.2g for %zu neurons of independent signs)",
                 times_as_many(q) * ldexp(1, (int)k), k);
    snprintf(r->model->failure, sizeof r->model->failure,
             "no two of the %zu rows of labels are parallel: either they are noisy (then --method "
             "any-noise, or none), or no neuron is on alone twice; if so, each is alone in about 1 "
             "of %zu rows or fewer, and n of about %.2g or more is needed%s",
             n, n, times_as_many(q) * (double)n, need);
}

static void say_contradicting(ur_recover *r, const ur_peel *q)
{
    const char *bias = q->frame->terms.hidden ? "" : ", or try --bias hidden";
    if (q->opposite)
        snprintf(r->model->failure, sizeof r->model->failure,
                 "the %zu equations of one direction contradict each other: class inconsistent, "
                 "an antiparallel pair u, -u (or more columns along it) that %zu starts did not "
                 "tell apart (%zu neuron%s found beside it); give more rows or another --seed, "
                 "leave out --method%s",
                 q->contradicting, q->pairs, q->k, plural(q->k), bias);
    else
        snprintf(r->model->failure, sizeof r->model->failure,
                 "the %zu equations of one direction contradict each other: class inconsistent, "
                 "columns of U are positive multiples of each other, which directions cannot tell "
                 "apart, or inputs of few values make rows parallel by chance (%zu neuron%s found "
                 "beside it); leave out --method%s",
                 q->contradicting, q->k, plural(q->k), bias);
}

static void say_few(ur_recover *r, const ur_peel *q)
{
    size_t n = q->frame->n, k = r->options->k, shown = q->k + q->stuck;
    double p = (double)q->frame->p, rows = (double)n,
           rarest = q->rarest > 0 ? (double)q->rarest : 1;
    double need = rows;
    char of[32] = "";
    if (k > 0)
        snprintf(of, sizeof of, " of %zu", k);
    if (q->stuck == 0 || shown < k || k == 0)
        need = times_as_many(q) * rows;
    if (q->stuck > 0)
        need = fmax(need, rows * (p + 1 + 2.3 * sqrt(p)) / (double)(q->most > 0 ? q->most : 1));
    snprintf(r->model->failure, sizeof r->model->failure,
             "only %zu%s direction%s repeated in %zu rows, as parallel rows or in planes of three "
             "(%zu neuron%s found; the best of the rest has %zu of the %zu equations that it "
             "needs): n of about %.2g is needed; Algorithm 7 needs %zu pure rows of each neuron, "
             "the rarest direction has %zu (p = %.2g), so (d + 2.3 sqrt d) / p = %.2g",
             shown, of, plural(shown), n, q->k, plural(q->k), q->most, q->frame->p + 1, need,
             q->frame->p, q->rarest, rarest / rows, (p + 2.3 * sqrt(p)) * rows / rarest);
}

static void say_exhausted(ur_recover *r, const ur_peel *q)
{
    uint64_t budget = r->options->budget ? r->options->budget : BUDGET;
    snprintf(r->model->failure, sizeof r->model->failure,
             "the budget of %llu candidates (rows times sets of directions, pairs of rows, starts "
             "of pair fits) does not reach further: %zu neuron%s found, %zu of %zu rows explained; "
             "raise --budget, or give more rows",
             (unsigned long long)budget, q->k, plural(q->k), q->frame->n - q->left, q->frame->n);
}

static void say_why(ur_recover *r, const ur_peel *q)
{
    if (q->exhausted)
        say_exhausted(r, q);
    else if (q->k + q->stuck == 0)
        say_no_direction(r, q);
    else if (q->contradicting > 0)
        say_contradicting(r, q);
    else
        say_few(r, q);
}

static void say_inexact(ur_recover *r, const ur_peel *q)
{
    snprintf(r->model->failure, sizeof r->model->failure,
             "the %zu neurons of the directions that repeat leave a residual of %.2g, and %.2g is "
             "needed: %s",
             q->k, r->best, r->data.floor,
             r->options->literal
                 ? "some neuron is never on alone twice in these rows; without "
                   "--literal peeling needs fewer"
                 : "the labels carry too few digits, or are not those of a network");
}

/* ---- from neurons to the model ---- */

static unrelu_status finish(ur_recover *r, const ur_peel *q, int *met, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t k = q->k, rank = 0;
    double *y = ur_alloc(frame->n, (frame->m + 1) * sizeof *y);
    double *V = ur_alloc(k, frame->p * sizeof *V);
    unrelu_status status =
        y && V ? UNRELU_OK : ur_fail_memory(err, frame->n * frame->m + k * frame->p, "labels");
    if (status == UNRELU_OK)
        status = ur_frame_labels(frame, r->data.tolerance, &rank, y, NULL, err);
    if (status == UNRELU_OK) {
        memcpy(V, q->W, k * frame->p * sizeof *V);
        ur_unit_rows(k, frame->p, V);
        status = ur_exact_finish(r, frame, rank >= k ? y : NULL, rank, k, V, 0, met, err);
    }
    if (status == UNRELU_OK && !*met)
        say_inexact(r, q);
    free(y);
    free(V);
    return status;
}

/* A neuron that was accepted with a wrong equation leaves rows along its own direction: joint
 * Gauss-Newton from all of them may mend it. */
static unrelu_status mend(ur_recover *r, ur_peel *q, int *ready, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    ur_newton problem = ur_frame_problem(frame, r->options->activation, r->exec);
    UR_ARENA(arena);
    ur_newton_fit fit;
    double floor = r->data.floor;
    unrelu_status status = ur_newton_alloc(&problem, q->k, &arena, &fit, err);
    if (status == UNRELU_OK) {
        memcpy(fit.V, q->W, q->k * frame->p * sizeof *fit.V);
        status = ur_newton_solve(&problem, MEND_STEPS, 1e-13, floor * floor / 100, &fit, err);
    }
    *ready = status == UNRELU_OK && sqrt(fit.rss / frame->size) <= floor;
    if (*ready)
        memcpy(q->W, fit.V, q->k * frame->p * sizeof *fit.V);
    return status;
}

static unrelu_status judge_k(ur_recover *r, const ur_peel *q, int *met, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t asked = r->options->k;
    if (asked == 0)
        snprintf(
            model->how_k, sizeof model->how_k,
            "peeled until nothing was left: %zu neuron%s; %zu direction%s repeated in the labels",
            model->k, plural(model->k), q->first, plural(q->first));
    else
        snprintf(model->how_k, sizeof model->how_k, "given");
    if (asked > 0 && model->k > asked) {
        *met = 0;
        snprintf(model->failure, sizeof model->failure,
                 "%zu neurons were asked for and the labels are met by %zu, each with a direction "
                 "of its own: leave out -k, or give %zu",
                 asked, model->k, model->k);
    } else if (model->k < asked) {
        return ur_network_warn(model, "merged", err,
                               "%zu neurons were asked for and %zu are enough: the others coincide "
                               "with these, have no output or are never on",
                               asked, model->k);
    }
    return UNRELU_OK;
}

static double rest_of(const ur_peel *q)
{
    double squares = 0;
    for (size_t i = 0; i < q->frame->n; i++)
        squares += q->norm[i] * q->norm[i];
    return sqrt(squares / q->frame->size);
}

static unrelu_status attempt(ur_recover *r, ur_terms terms, size_t rows, uint64_t *budget, int *met,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    ur_peel q = {0};
    int ready = 0;
    unrelu_status status = ur_frame_make(&r->data, rows, terms, 1, &arena, &frame, err);
    if (status == UNRELU_OK)
        status = ur_peel_open(&frame, r->data.floor, r->options->seed, *budget, r->exec, &arena, &q,
                              err);
    if (status == UNRELU_OK && r->options->literal) {
        status = ur_literal(r, &q, &ready, err);
    } else if (status == UNRELU_OK) {
        status = ur_peel_run(&q, err);
        /* labels of few digits may leave rows that are not quite zero */
        ready = q.left == 0 || (q.k > 0 && rest_of(&q) <= r->data.floor);
        if (status == UNRELU_OK && !ready && q.k > 0 && q.contradicting > 0 && rows <= ROWS_FIRST)
            status = mend(r, &q, &ready, err);
        if (status == UNRELU_OK && !ready) {
            r->best = fmin(r->best, rest_of(&q));
            say_why(r, &q);
        }
    }
    if (status == UNRELU_OK)
        state_assumption(r, &q);
    if (status == UNRELU_OK && ready)
        status = finish(r, &q, met, err);
    if (status == UNRELU_OK && *met)
        status = judge_k(r, &q, met, err);
    *budget -= q.spent;
    return status;
}

/* with fewer labels than neurons only rows that were kept back can certify a fit */
static size_t rows_usable(const ur_recover *r)
{
    const ur_data *data = &r->data;
    size_t k = r->options->k ? r->options->k : 2 * data->m + 2, held = 2 * (data->d + k);
    if ((r->options->k > 0 && k <= data->m) || data->n <= 10 * held)
        return data->n;
    return data->n - held;
}

unrelu_status ur_one_sparse(ur_recover *r, int *met, unrelu_error *err)
{
    ur_terms terms = ur_terms_of(r->options->biases);
    uint64_t budget = r->options->budget ? r->options->budget : BUDGET;
    size_t n = r->data.n, usable = rows_usable(r), rows = usable < ROWS_FIRST ? usable : ROWS_FIRST;
    int last = 0;
    *met = 0;
    unrelu_status status = check(r, terms, err);
    while (status == UNRELU_OK && !*met && !last) {
        last = rows == n || (rows == usable && n > ROWS_FIRST);
        status = attempt(r, terms, rows, &budget, met, err);
        rows = rows == usable ? n : rows < usable / 8 ? 8 * rows : usable;
    }
    if (status == UNRELU_OK && *met)
        r->model->failure[0] = 0;
    return status;
}
