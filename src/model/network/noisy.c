/* SPDX-License-Identifier: Apache-2.0 */
/* Labels with noise. k by the Bayesian criterion
 *   BIC(k) = n m ln RSS + (parameters) ln(n m)
 * from the number of eigenvalues of the labels' covariance above the edge of pure noise, up and
 * down for as long as it falls; biases by the same criterion. Starts race on at most
 * max(5000, 200 (d + k)) rows; only the winner sees all. Labels may turn out to be met exactly
 * (fewer labels than neurons, smooth activations): then the verdict is that of the certificate. */
#include "model/network/noisy.h"

#include "dense/linear.h"
#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 2 };

static size_t rows_for(const ur_recover *r, size_t k)
{
    size_t rows = 200 * (r->data.d + k);
    return rows < 5000 ? 5000 : rows;
}

static size_t most_neurons(const ur_recover *r)
{
    const ur_data *data = &r->data;
    double cells = (double)data->n * (double)data->m;
    size_t by_size = (size_t)(cells / 2 / (double)(data->d + data->m));
    size_t by_shape = 2 * (data->d > data->m ? data->d : data->m) + 8;
    size_t most = by_size < by_shape ? by_size : by_shape;
    size_t by_rows = data->n - data->d;
    most = most < by_rows ? most : by_rows;
    return most > 0 ? most : 1;
}

/* eigenvalues above the Marchenko-Pastur edge of noise as large as the smaller half of them */
static unrelu_status guess_k(const ur_frame *frame, size_t *k, unrelu_error *err)
{
    size_t n = frame->n, m = frame->m;
    double *A = ur_alloc(n, m * sizeof *A), *C = ur_alloc(m, m * sizeof *C),
           *values = ur_doubles(m);
    unrelu_status status = A && C && values ? UNRELU_OK : ur_fail_memory(err, n * m, "labels");
    if (status == UNRELU_OK) {
        memcpy(A, frame->a, n * m * sizeof *A);
        for (size_t j = 0; j < m; j++) {
            double mean = 0;
            for (size_t i = 0; i < n; i++)
                mean += A[i * m + j] / (double)n;
            for (size_t i = 0; i < n; i++)
                A[i * m + j] -= mean;
        }
        ur_multiply_tn(n, m, m, A, A, C);
        status = ur_eigen_symmetric(m, C, values, NULL, err);
    }
    *k = 1;
    if (status == UNRELU_OK) {
        double noise = 0, root = 1 + sqrt((double)m / (double)n);
        size_t half = (m + 1) / 2, above = 0;
        for (size_t i = 0; i < half; i++)
            noise += values[i] / (double)half;
        for (size_t i = 0; i < m; i++)
            above += values[i] > 1.2 * noise * root * root;
        *k = above > 1 ? above : 1;
    }
    free(A);
    free(C);
    free(values);
    return status;
}

/* ---- the race for one k and one set of biases ---- */

typedef struct {
    ur_frame frame;
    ur_best best;
    size_t k;
    int ready;
} contest;

static void contest_free(contest *c)
{
    ur_best_free(&c->best);
    ur_frame_free(&c->frame);
    memset(c, 0, sizeof *c);
}

static unrelu_status hold(ur_recover *r, size_t k, ur_terms terms, contest *c, unrelu_error *err)
{
    memset(c, 0, sizeof *c);
    c->k = k;
    unrelu_status status = ur_frame_make(&r->data, rows_for(r, k), terms, &c->frame, err);
    if (status == UNRELU_OK)
        status = ur_starts(r, &c->frame, k, &c->best, err);
    c->ready = status == UNRELU_OK;
    if (status != UNRELU_OK)
        contest_free(c);
    return status;
}

static int is_met(const ur_recover *r, const contest *c)
{
    return c->ready && c->best.residual <= r->data.floor;
}

/* holds a contest and keeps the better of the two; *fell says whether that is the new one */
static unrelu_status challenge(ur_recover *r, size_t k, ur_terms terms, contest *kept, int *fell,
                               unrelu_error *err)
{
    contest other;
    unrelu_status status = hold(r, k, terms, &other, err);
    *fell = status == UNRELU_OK && (!kept->ready || other.best.bic < kept->best.bic);
    if (*fell) {
        contest_free(kept);
        *kept = other;
    } else if (status == UNRELU_OK) {
        contest_free(&other);
    }
    return status;
}

static unrelu_status choose_k(ur_recover *r, ur_terms terms, contest *c, size_t *tried,
                              unrelu_error *err)
{
    size_t most = most_neurons(r), middle = 1;
    int fell = 0, idle = 0;
    ur_frame frame = {0};
    unrelu_status status = ur_frame_make(&r->data, 5000, terms, &frame, err);
    if (status == UNRELU_OK)
        status = guess_k(&frame, &middle, err);
    ur_frame_free(&frame);
    middle = middle < most ? middle : most;
    for (size_t k = middle; k <= most && idle < PATIENCE && status == UNRELU_OK && !is_met(r, c);
         k++) {
        status = challenge(r, k, terms, c, &fell, err);
        idle = fell ? 0 : idle + 1;
        *tried = k;
    }
    idle = 0;
    for (size_t k = middle;
         k > 1 && idle < PATIENCE && status == UNRELU_OK && !is_met(r, c) && c->k <= middle; k--) {
        status = challenge(r, k - 1, terms, c, &fell, err);
        idle = fell ? 0 : idle + 1;
    }
    return status;
}

static void note_k(ur_recover *r, const contest *c, size_t tried)
{
    if (r->options->k > 0)
        snprintf(r->model->how_k, sizeof r->model->how_k, "given");
    else
        snprintf(r->model->how_k, sizeof r->model->how_k,
                 "smallest BIC (%.6g at k = %zu) of those tried, up to k = %zu", c->best.bic, c->k,
                 tried);
}

static unrelu_status contest_all(ur_recover *r, contest *c, size_t *tried, unrelu_error *err)
{
    static const ur_terms none = {0, 0}, both = {1, 1}, hidden = {1, 0}, output = {0, 1};
    const unrelu_recover_options *o = r->options;
    ur_terms first = o->biases == UNRELU_BIASES_NONE     ? none
                     : o->biases == UNRELU_BIASES_HIDDEN ? hidden
                     : o->biases == UNRELU_BIASES_OUTPUT ? output
                                                         : both;
    int fell = 0;
    *tried = o->k;
    unrelu_status status = o->k ? hold(r, o->k, first, c, err) : choose_k(r, first, c, tried, err);
    if (status == UNRELU_OK && o->biases == UNRELU_BIASES_AUTO)
        status = challenge(r, c->k, none, c, &fell, err);
    return status;
}

static unrelu_status warn_all(ur_recover *r, const contest *c, unrelu_error *err)
{
    unrelu_network *model = r->model;
    unrelu_status status = UNRELU_OK;
    if (c->best.skipped && c->k > r->data.d)
        status = ur_network_warn(model, "moments-skipped", err,
                                 "k = %zu > d = %zu: the moment starts do not exist, random ones "
                                 "were used",
                                 c->k, r->data.d);
    if (status == UNRELU_OK && c->k > r->data.m)
        status = ur_network_warn(model, "joint-solver", err,
                                 "%zu labels and %zu neurons: all neurons were solved for at once, "
                                 "and no theorem says that the answer is unique",
                                 r->data.m, c->k);
    if (status == UNRELU_OK && model->verdict == UNRELU_VERDICT_NOISY && c->best.starts > 2 &&
        c->best.agree == 1)
        status = ur_network_warn(model, "few-starts-agree", err,
                                 "only one of %zu starts reached the best fit: it may not be the "
                                 "best there is; try other seeds or more samples",
                                 c->best.starts);
    return status;
}

unrelu_status ur_noisy(ur_recover *r, unrelu_error *err)
{
    contest c = {0};
    size_t tried = 0;
    int met = 0;
    unrelu_status status = contest_all(r, &c, &tried, err);
    if (status == UNRELU_OK && is_met(r, &c))
        status = ur_exact_finish(r, &c.frame, NULL, 0, c.best.fit.k, c.best.fit.V, 0, &met, err);
    if (status == UNRELU_OK && !met)
        status = ur_likelihood(r, &c.frame, &c.best.fit, err);
    if (status == UNRELU_OK) {
        r->model->starts = c.best.starts;
        r->model->starts_agree = c.best.agree;
        note_k(r, &c, tried);
        status = warn_all(r, &c, err);
    }
    contest_free(&c);
    return status;
}
