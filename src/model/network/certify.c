/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate: one pass over all rows in the data's own coordinates, sharing nothing with the
 * solvers but the network itself. Cost 2 n k (d + m) flops.
 *
 * A residual at the floor does not prove that the network is the one: below 6 rows for each input
 * other networks fit too, and so they do where rows repeat or lie in a plane. Unique means here
 *   at least d + 1 samples where each neuron is on (d + 2 with c), and they span the inputs;
 *   at least k - 1 where it is off (k with e);
 *   no second direction of the labels with the same pattern (1 - rho_2 > 1e-7), and none with any
 *   one sample left out (leverage below 1);
 *   and max(6 d, 50) different rows, or d + k others that the solver did not see and that fit;
 *   these in any case where the labels have fewer dimensions than neurons, or a part that is
 *   linear in x: patterns do not test all then. */
#include "error.h"
#include "memory.h"
#include "model/network/recover.h"
#include "pass/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RSS, SIZE, HELD_RSS, HELD_SIZE, HELD, FAR, SUMS };

typedef struct {
    const unrelu_network *model;
    const double *a;
    const unsigned char *used; /* NULL: all rows */
    double unit, far;
} plan;

static size_t length(const void *p)
{
    return SUMS + ((const plan *)p)->model->k;
}

static void *scratch_new(const void *p)
{
    (void)p;
    return ur_alloc(1, 2 * sizeof(double *));
}

static void scratch_free(void *scratch)
{
    double **room = scratch;
    if (!room)
        return;
    free(room[0]);
    free(room[1]);
    free(room);
}

static void add_row(const plan *p, const double *y, const double *t, size_t row, double *s)
{
    const unrelu_network *model = p->model;
    const double *a = p->a + row * model->m;
    double rss = 0, size = 0;
    for (size_t j = 0; j < model->m; j++) {
        double miss = (a[j] - y[j]) / p->unit, label = a[j] / p->unit;
        rss += miss * miss;
        size += label * label;
    }
    s[RSS] += rss;
    s[SIZE] += size;
    s[FAR] += !(rss <= p->far * (size + 1)); /* NaN counts */
    if (p->used && !p->used[row]) {
        s[HELD_RSS] += rss;
        s[HELD_SIZE] += size;
        s[HELD] += 1;
    }
    for (size_t j = 0; j < model->k; j++)
        s[SUMS + j] += t[j] > 0;
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    const plan *p = context;
    const unrelu_network *model = p->model;
    double **room = scratch;
    enum { ROWS = 256 };
    size_t wide = model->k > model->m ? model->k : model->m;
    if (!room[0])
        room[0] = ur_alloc(ROWS, wide * sizeof(double));
    if (!room[1])
        room[1] = ur_alloc(ROWS, wide * sizeof(double));
    if (!room[0] || !room[1])
        return ur_fail_memory(err, ROWS * wide, "numbers of a certificate");
    for (size_t i = 0; i < block->rows; i += ROWS) {
        size_t rows = block->rows - i < ROWS ? block->rows - i : ROWS;
        ur_network_forward(model, block->x + i * block->stride, rows, room[0], room[1]);
        for (size_t l = 0; l < rows; l++)
            add_row(p, room[1] + l * model->m, room[0] + l * model->k, block->first_row + i + l, s);
    }
    return UNRELU_OK;
}

static const ur_summary certificate = {
    .len = length, .scratch_new = scratch_new, .scratch_free = scratch_free, .update = update};

static void read_sums(const ur_recover *r, const double *s)
{
    unrelu_network *model = r->model;
    size_t n = r->data.n;
    /* a row that is far off must not drown in millions that fit */
    model->residual =
        s[FAR] > 0 ? fmax(sqrt(s[RSS] / s[SIZE]), 2 * r->data.floor) : sqrt(s[RSS] / s[SIZE]);
    model->holdout_residual = s[HELD] > 0 ? sqrt(s[HELD_RSS] / fmax(s[HELD_SIZE], 1e-300)) : NAN;
    model->samples_checked = n;
    model->min_active = model->min_inactive = n;
    for (size_t j = 0; j < model->k; j++) {
        size_t on = (size_t)s[SUMS + j];
        model->active[j] = s[SUMS + j] / (double)n;
        model->min_active = on < model->min_active ? on : model->min_active;
        model->min_inactive = n - on < model->min_inactive ? n - on : model->min_inactive;
    }
}

static unrelu_status mark_used(const ur_recover *r, const ur_frame *frame, unsigned char **used,
                               unrelu_error *err)
{
    *used = NULL;
    if (!frame || frame->n == r->data.n)
        return UNRELU_OK;
    if (!(*used = ur_alloc(r->data.n, 1)))
        return ur_fail_memory(err, r->data.n, "marks");
    for (size_t i = 0; i < frame->n; i++)
        (*used)[frame->row[i]] = 1;
    return UNRELU_OK;
}

unrelu_status ur_certify(ur_recover *r, const ur_frame *frame, unrelu_error *err)
{
    plan p = {.model = r->model, .a = r->data.a, .unit = r->data.unit};
    /* 1000 floors of a row's own size, or of the largest label */
    p.far = 1e6 * r->data.floor * r->data.floor;
    unsigned char *used = NULL;
    unrelu_source *source = NULL;
    double *s = ur_doubles(length(&p));
    unrelu_status status = s ? UNRELU_OK : ur_fail_memory(err, length(&p), "sums");
    if (status == UNRELU_OK)
        status = mark_used(r, frame, &used, err);
    p.used = used;
    if (status == UNRELU_OK)
        status = unrelu_source_memory(r->data.x, r->data.n, r->data.d, &source, err);
    if (status == UNRELU_OK)
        status = ur_pass(source, &certificate, &p, r->exec, "certifying", s, err);
    if (status == UNRELU_OK)
        read_sums(r, s);
    unrelu_source_close(source);
    free(used);
    free(s);
    return status;
}

int ur_certify_met(ur_recover *r)
{
    unrelu_network *model = r->model;
    int met = model->residual <= r->data.floor && !(model->holdout_residual > 10 * r->data.floor);
    snprintf(model->precision, sizeof model->precision, "%s",
             met && model->residual <= 1e-12 ? "double" : r->data.precision);
    return met;
}

/* ---- the verdict ---- */

static unrelu_status doubt(ur_recover *r, const char *code, unrelu_error *err, const char *why)
{
    r->model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    return ur_network_warn(r->model, code, err, "%s", why);
}

static unrelu_status check_kinks(ur_recover *r, ur_terms terms, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    int rectifies = ur_activation_rectifies(model->activation);
    size_t on = model->d + 1 + (terms.hidden ? 1 : 0);
    size_t off = rectifies ? model->k - 1 + (terms.constant ? 1 : 0) : on;
    char why[320];
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < model->k && status == UNRELU_OK; j++) {
        size_t active = (size_t)lround(model->active[j] * (double)model->n);
        if (active >= on && model->n - active >= off)
            continue;
        snprintf(why, sizeof why,
                 "neuron %zu is on for %zu of %zu samples (%.3g %%), and %zu on and %zu off are "
                 "needed: it is not identifiable from this sample",
                 j + 1, active, model->n, 100 * model->active[j], on, off);
        status = doubt(r, "not-identifiable", err, why);
    }
    return status;
}

/* what the patterns of the neurons say, on the rows that the solver saw */
static unrelu_status check_patterns(ur_recover *r, const ur_frame *frame, const double *y,
                                    size_t rank, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t p = frame->p, k = model->k;
    double degree = ur_activation_degree(model->activation);
    ur_pattern problem = {frame->n, p, y ? rank : 0, frame->x, y, degree > 0 ? degree : 1};
    ur_pattern_room *room = ur_pattern_room_new(&problem);
    double *V = ur_alloc(k, p * sizeof *V);
    double leverage = 0, kink = fmax(1e-9, 10 * r->data.floor); /* v x has unit variance */
    char why[320];
    unrelu_status status = room && V ? UNRELU_OK : ur_fail_memory(err, k * p, "weights");
    if (status == UNRELU_OK)
        status = ur_frame_enter(frame, model->activation, k, model->V, model->c, V, err);
    for (size_t j = 0; j < k && status == UNRELU_OK; j++) {
        ur_pattern_end end = ur_pattern_look(&problem, room, V + j * p, kink);
        if (!(end.spread > UR_PATTERN_FLAT)) {
            snprintf(why, sizeof why,
                     "the %zu inputs where neuron %zu is on do not span the %zu dimensions of its "
                     "row: it is not identifiable from this sample",
                     end.active, j + 1, p);
            status = doubt(r, "not-identifiable", err, why);
        } else if (1 - end.rho < ur_exact_slack(&r->data)) { /* a pair v, -v is not in the labels */
            model->gap = fmin(isnan(model->gap) ? 1 : model->gap, 1 - end.second);
            leverage = fmax(leverage, end.leverage);
        }
    }
    if (status == UNRELU_OK && model->gap <= 1e-7) {
        snprintf(why, sizeof why,
                 "two directions share the pattern of one neuron (1 - rho_2 = %.2g, above 1e-7 is "
                 "needed): its row is not unique; more samples would tell them apart",
                 model->gap);
        status = doubt(r, "uncertified", err, why);
    } else if (status == UNRELU_OK && leverage > 1 - 1e-6) {
        status = doubt(r, "uncertified", err,
                       "a neuron hinges on one sample: with that sample left out other networks "
                       "fit as well; more samples would tell");
    }
    ur_pattern_room_free(room);
    free(V);
    return status;
}

/* rows the solver did not see and that differ from those it saw; they fit, or *fresh is 0 */
static unrelu_status count_fresh(const ur_recover *r, const ur_frame *frame, size_t enough,
                                 size_t *fresh, unrelu_error *err)
{
    unsigned char *used = NULL;
    *fresh = 0;
    unrelu_status status = mark_used(r, frame, &used, err);
    if (status == UNRELU_OK && used && r->model->holdout_residual <= 10 * r->data.floor)
        status = ur_distinct(r->data.x, r->data.n, r->data.d, used, enough, fresh, err);
    free(used);
    return status;
}

static unrelu_status check_rows(ur_recover *r, const ur_frame *frame, int patterns,
                                unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t least = 6 * model->d > 50 ? 6 * model->d : 50, held = model->d + model->k;
    size_t rows = 0, fresh = 0;
    char why[400];
    unrelu_status status = ur_distinct(r->data.x, r->data.n, r->data.d, NULL, least, &rows, err);
    if (status == UNRELU_OK)
        status = count_fresh(r, frame, held, &fresh, err);
    if (status != UNRELU_OK || fresh >= held || (patterns && rows >= least))
        return status;
    if (patterns)
        snprintf(why, sizeof why,
                 "%zu different rows of %zu inputs: below max(6 d, 50) = %zu other networks may "
                 "fit as well; the fit is exact, its uniqueness is not certified",
                 rows, model->d, least);
    else
        snprintf(why, sizeof why,
                 "the labels have fewer dimensions than the network neurons: only rows that the "
                 "solver did not see can certify it, %zu beside the ones it used, and there are "
                 "%zu",
                 held, fresh);
    return doubt(r, "uncertified", err, why);
}

/* Where patterns are not tested: two neurons with one pattern, or with opposite ones, leave the
 * Gauss-Newton matrix singular, and rows that were kept back do not show it. */
static unrelu_status check_information(ur_recover *r, const ur_frame *frame, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t p = frame->p, k = model->k, m = model->m;
    ur_newton problem = ur_frame_problem(frame, model->activation, r->exec);
    ur_newton_fit fit = {0};
    int singular = 0;
    double *V_se = ur_alloc(k, p * sizeof *V_se), *U_se = ur_alloc(m, k * sizeof *U_se);
    unrelu_status status = V_se && U_se ? UNRELU_OK : ur_fail_memory(err, k * p, "errors");
    if (status == UNRELU_OK)
        status = ur_newton_alloc(&problem, k, &fit, err);
    if (status == UNRELU_OK)
        status = ur_frame_enter(frame, model->activation, k, model->V, model->c, fit.V, err);
    if (status == UNRELU_OK)
        status = ur_newton_outer(&problem, &fit, err);
    if (status == UNRELU_OK)
        status = ur_newton_errors(&problem, &fit, p, 1, V_se, U_se, NULL, &singular, err);
    if (status == UNRELU_OK && singular)
        status = doubt(r, "uncertified", err,
                       "the weights are not determined one by one: neurons share a pattern of "
                       "samples, or there are more of them than needed");
    free(V_se);
    free(U_se);
    ur_newton_free(&fit);
    return status;
}

static unrelu_status check_linear(ur_recover *r, ur_terms terms, unrelu_error *err)
{
    unrelu_network *model = r->model;
    if (model->linear_rank == 0)
        return UNRELU_OK;
    if (model->linear_rank > 1 || terms.constant)
        model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    return ur_network_warn(
        model, "linear-part", err,
        "a part of the map is linear in x, of rank %zu; it is given as %zu pairs "
        "v, -v with outputs u, -u%s",
        model->linear_rank, model->linear_rank,
        model->linear_rank > 1 ? ", of which only the sum is determined" : "");
}

/* neurons whose rows nearly coincide: only their sum is determined well */
static unrelu_status check_twins(ur_recover *r, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t d = model->d;
    for (size_t i = 0; i < model->k; i++)
        for (size_t j = 0; j < i; j++) {
            double distance = fabs(model->c[i] - model->c[j]);
            for (size_t l = 0; l < d; l++)
                distance = fmax(distance, fabs(model->V[i * d + l] - model->V[j * d + l]));
            if (distance < 1e-5)
                return ur_network_warn(r->model, "near-duplicate", err,
                                       "rows %zu and %zu of V are within %.1g: only the sum of the "
                                       "two neurons is determined well",
                                       j + 1, i + 1, distance);
        }
    return UNRELU_OK;
}

static unrelu_status check_precision(ur_recover *r, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    char carry[48] = "single precision";
    if (strcmp(model->precision, "double") == 0)
        return UNRELU_OK;
    if (strncmp(model->precision, "digits:", 7) == 0)
        snprintf(carry, sizeof carry, "%s decimal digits", model->precision + 7);
    return ur_network_warn(r->model, "single-precision", err,
                           "the labels carry %s: the fit is exact to that precision (residual "
                           "%.2g)",
                           carry, model->residual);
}

unrelu_status ur_certify_unique(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                                unrelu_error *err)
{
    unrelu_activation f = r->model->activation;
    int tested = y && ur_activation_rectifies(f) && ur_activation_degree(f) > 0;
    r->model->verdict = UNRELU_VERDICT_EXACT;
    unrelu_status status = check_rows(r, frame, y != NULL && r->model->linear_rank == 0, err);
    if (status == UNRELU_OK)
        status = check_kinks(r, frame->terms, err);
    if (status == UNRELU_OK)
        status = check_patterns(r, frame, tested ? y : NULL, rank, err);
    if (status == UNRELU_OK && !tested)
        status = check_information(r, frame, err);
    if (status == UNRELU_OK)
        status = check_linear(r, frame->terms, err);
    if (status == UNRELU_OK)
        status = check_twins(r, err);
    if (status == UNRELU_OK)
        status = check_precision(r, err);
    return status;
}
