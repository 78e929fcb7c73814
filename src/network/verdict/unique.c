/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an exact fit is the only one. A residual at the floor does not prove it: below 6 rows
 * for each input other networks fit too, and so they do where rows repeat, lie in a plane or on a
 * kink. An exact fit is called unique here where
 *   each neuron is on for at least d + 1 samples (d + 2 with c) that span the inputs, and off for
 * at least k - 1 (k with e) and one; no second direction of the labels has its pattern (1 - rho_2 >
 * 1e-7), also with any one sample left out (leverage below 1); where patterns are not tested (fewer
 * dimensions of labels than neurons, other activations): the Gauss-Newton matrix is regular; no two
 * neurons have the same pattern, and two with opposite ones (v, -v: their difference is linear in
 * x, and can be moved to others) only where the labels show each of them, e is not fitted, and no
 * other row lies in their span; there are max(6 d, 50) different rows, or d + k others that the
 * solver did not see and that fit; these in any case where patterns do not test all. Patterns are
 * those of the rows that the solver saw. No rule is a proof for every law of inputs; in 10^5
 * planted networks none that passed was wrong (docs/numbers.md). */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "network/data/sides.h"
#include "network/problem/recover.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unrelu_status doubt(ur_recover *r, const char *code, unrelu_error *err, const char *why)
{
    r->model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    return ur_network_warn(r->model, code, err, "%s", why);
}

/* whether a row of those not paired lies in the span of the paired ones: it can be turned round
 * at their cost. rows (k x q): v_j, c_j */
static unrelu_status is_spanned(size_t k, size_t q, const double *rows, const char *paired,
                                int *spanned, unrelu_error *err)
{
    size_t count = 0, rank = 0, with = 0;
    double *M = ur_alloc(k, q * sizeof *M), *Q = ur_alloc(k, q * sizeof *Q);
    unrelu_status status = M && Q ? UNRELU_OK : ur_fail_memory(err, k * q, "weights");
    *spanned = 0;
    for (size_t j = 0; j < k && status == UNRELU_OK; j++)
        if (paired[j])
            memcpy(M + count++ * q, rows + j * q, q * sizeof *M);
    if (status == UNRELU_OK)
        status = ur_qr_pivoted(count, q, M, 1e-8, &rank, Q, NULL, NULL, err);
    for (size_t j = 0; j < k && status == UNRELU_OK && !*spanned; j++) {
        if (paired[j])
            continue;
        memcpy(M + count * q, rows + j * q, q * sizeof *M);
        status = ur_qr_pivoted(count + 1, q, M, 1e-8, &with, Q, NULL, NULL, err);
        *spanned = with == rank;
    }
    free(M);
    free(Q);
    return status;
}

/* A sample on a kink leaves open where the kink is: inputs of few values do that. Of a wide kink
 * some are there by chance. */
static unrelu_status check_on_kinks(ur_recover *r, const ur_sides *s, unrelu_error *err)
{
    double width = ur_sides_width(&r->data); /* 4 sqrt(d) of it, in deviations of v x */
    double chance = (double)(s->n * s->k) * 4 * sqrt((double)r->data.d) * width * UR_KINK;
    char why[256];
    if ((double)s->on_kink <= (width > 1 ? 3 + 3 * chance : 0))
        return UNRELU_OK;
    snprintf(why, sizeof why,
             "%zu sample%s on the kink of a neuron: it may lie elsewhere between the values that "
             "the inputs take",
             s->on_kink, s->on_kink == 1 ? " lies" : "s lie");
    return doubt(r, "uncertified", err, why);
}

/* neurons with one pattern, or with opposite ones; tested: the labels show each neuron by itself */
static unrelu_status check_pairs(ur_recover *r, ur_terms terms, int tested, const ur_sides *s,
                                 unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t k = model->k, d = model->d, q = d + 1, pairs = 0;
    char *paired = ur_alloc(k, 1);
    double *rows = ur_alloc(k, q * sizeof *rows);
    int same = 0, spanned = 0;
    unrelu_status status = paired && rows ? UNRELU_OK : ur_fail_memory(err, k * q, "weights");
    for (size_t a = 0; a < k && status == UNRELU_OK; a++) {
        memcpy(rows + a * q, model->V + a * d, d * sizeof *rows);
        rows[a * q + d] = model->c[a];
        for (size_t b = 0; b < a; b++) {
            int relation = ur_sides_compare(s, a, b);
            same |= relation > 0;
            if (relation < 0) {
                paired[a] = paired[b] = 1;
                pairs++;
            }
        }
    }
    if (status == UNRELU_OK && pairs > 0)
        status = is_spanned(k, q, rows, paired, &spanned, err);
    if (status == UNRELU_OK && same)
        status = doubt(r, "uncertified", err,
                       "two neurons are on for the same samples: only their sum is determined");
    else if (status == UNRELU_OK && pairs > 0 && (!tested || terms.constant || spanned) &&
             model->linear_rank == 0)
        status = doubt(r, "uncertified", err,
                       "two neurons are on for opposite samples: their difference is linear in x, "
                       "and other networks move it elsewhere");
    free(paired);
    free(rows);
    return status;
}

static unrelu_status check_kinks(ur_recover *r, ur_terms terms, const ur_sides *s,
                                 unrelu_error *err)
{
    const unrelu_network *model = r->model;
    int rectifies = ur_activation_rectifies(model->activation);
    size_t on = model->d + 1 + (terms.hidden ? 1 : 0);
    size_t off = rectifies ? model->k - 1 + (terms.constant ? 1 : 0) : on;
    char why[320];
    unrelu_status status = UNRELU_OK;
    off = off > 0 ? off : 1;
    for (size_t j = 0; j < model->k && status == UNRELU_OK; j++) {
        size_t active = s->on[j], inactive = s->off[j];
        if (active >= on && inactive >= off)
            continue;
        snprintf(why, sizeof why,
                 "neuron %zu is on for %zu of %zu samples (%.3g %%) and off for %zu, and %zu and "
                 "%zu are needed: it is not identifiable from this sample",
                 j + 1, active, s->n, 100 * (double)active / (double)s->n, inactive, on, off);
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
    double leverage = 0, kink = ur_sides_width(&r->data) * UR_KINK; /* v x has unit variance */
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
    UR_ARENA(arena);
    unsigned char *used = ur_frame_mark(frame, r->data.n, &arena);
    *fresh = 0;
    UR_TRY(ur_arena_status(&arena, err));
    if (!used) /* else the certificate has seen that they fit */
        return UNRELU_OK;
    return ur_distinct(r->data.x, r->data.n, r->data.d, used, enough, fresh, err);
}

static unrelu_status check_rows(ur_recover *r, const ur_frame *frame, int patterns,
                                unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t least = 6 * model->d > 50 ? 6 * model->d : 50, held = model->d + model->k;
    held = held > 10 ? held : 10; /* of inputs with few values two new ones say little */
    size_t rows = 0, fresh = 0;
    char why[400];
    unrelu_status status = ur_distinct(r->data.x, r->data.n, r->data.d, NULL, least, &rows, err);
    if (status == UNRELU_OK)
        status = count_fresh(r, frame, held, &fresh, err);
    int repeated = rows < least && rows < model->n; /* new rows would be of the same few values */
    if (status != UNRELU_OK || (fresh >= held && !repeated) || (patterns && rows >= least))
        return status;
    if (patterns || repeated)
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
    UR_ARENA(arena);
    ur_newton_fit fit;
    int singular = 0;
    double *V_se = ur_take(&arena, k, p * sizeof *V_se);
    double *U_se = ur_take(&arena, m, k * sizeof *U_se);
    UR_TRY(ur_newton_alloc(&problem, k, &arena, &fit, err));
    UR_TRY(ur_frame_enter(frame, model->activation, k, model->V, model->c, fit.V, err));
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    UR_TRY(ur_newton_errors(&problem, &fit, p, 1, V_se, U_se, NULL, &singular, err));
    if (!singular)
        return UNRELU_OK;
    return doubt(r, "uncertified", err,
                 "the weights are not determined one by one: neurons share a pattern of samples, "
                 "or there are more of them than needed");
}

static unrelu_status check_linear(ur_recover *r, unrelu_error *err)
{
    unrelu_network *model = r->model;
    size_t rank = model->linear_rank;
    if (rank == 0)
        return UNRELU_OK;
    model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    return ur_network_warn(model, "linear-part", err,
                           "a part of the map is linear in x, of rank %zu; it is given as %zu "
                           "pair%s v, -v with outputs u, -u, and other neurons that are always on "
                           "would give it too",
                           rank, rank, rank > 1 ? "s" : "");
}

/* V = back V~: digits that nearly dependent inputs cost */
static unrelu_status check_condition(ur_recover *r, const ur_frame *frame, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t p = frame->p, q = frame->q;
    double *rows = ur_alloc(model->k, q * sizeof *rows), *V = ur_alloc(model->k, p * sizeof *V);
    double back = 0, forth = 0;
    char why[256];
    unrelu_status status = rows && V ? UNRELU_OK : ur_fail_memory(err, model->k * q, "weights");
    for (size_t j = 0; j < model->k && status == UNRELU_OK; j++) {
        memcpy(rows + j * q, model->V + j * model->d, model->d * sizeof *rows);
        if (q > model->d)
            rows[j * q + model->d] = model->c[j];
    }
    if (status == UNRELU_OK)
        ur_frame_forth(frame, model->k, rows, V);
    for (size_t i = 0; i < model->k * p && status == UNRELU_OK; i++)
        forth = hypot(forth, V[i]);
    for (size_t i = 0; i < q * p && status == UNRELU_OK; i++)
        back = hypot(back, frame->back[i]);
    double digits = DBL_EPSILON * back * forth / sqrt((double)model->k);
    free(rows);
    free(V);
    if (status != UNRELU_OK || !(digits > 1e-9))
        return status;
    snprintf(why, sizeof why,
             "the inputs are nearly dependent (condition about %.1g): rows of V are known to about "
             "%.0e",
             digits / DBL_EPSILON, digits);
    return doubt(r, "uncertified", err, why);
}

/* neurons whose rows nearly coincide: only their sum is determined well */
static unrelu_status check_twins(ur_recover *r, unrelu_error *err)
{
    const unrelu_network *model = r->model;
    size_t d = model->d;
    for (size_t i = 0; i < model->k; i++)
        for (size_t j = 0; j < i; j++) {
            double distance = fabs(model->c[i] - model->c[j]), size;
            for (size_t l = 0; l < d; l++)
                distance = fmax(distance, fabs(model->V[i * d + l] - model->V[j * d + l]) *
                                              r->data.input_rms[l]);
            size = ur_kink_neuron(&r->data, model->V + i * d) + fabs(model->c[i]);
            if (distance < 1e-5 * size)
                return ur_network_warn(
                    r->model, "near-duplicate", err,
                    "rows %zu and %zu of V are within %.1g of their length: only the sum of the "
                    "two neurons is determined well",
                    j + 1, i + 1, distance / size);
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

unrelu_status ur_unique(ur_recover *r, const ur_frame *frame, const double *y, size_t rank,
                        unrelu_error *err)
{
    unrelu_activation f = r->model->activation;
    int tested = y && ur_activation_rectifies(f) && ur_activation_degree(f) > 0;
    UR_ARENA(arena);
    ur_sides s;
    r->model->verdict = UNRELU_VERDICT_EXACT;
    unrelu_status status = ur_sides_set(&r->data, r->model, frame, &arena, &s, err);
    if (status == UNRELU_OK)
        status = check_rows(r, frame, y != NULL && r->model->linear_rank == 0, err);
    if (status == UNRELU_OK)
        status = check_kinks(r, frame->terms, &s, err);
    if (status == UNRELU_OK)
        status = check_on_kinks(r, &s, err);
    if (status == UNRELU_OK)
        status = check_pairs(r, frame->terms, tested, &s, err);
    if (status == UNRELU_OK)
        status = check_patterns(r, frame, tested ? y : NULL, rank, err);
    if (status == UNRELU_OK && !tested)
        status = check_information(r, frame, err);
    if (status == UNRELU_OK)
        status = check_condition(r, frame, err);
    if (status == UNRELU_OK)
        status = check_linear(r, err);
    if (status == UNRELU_OK)
        status = check_twins(r, err);
    if (status == UNRELU_OK)
        status = check_precision(r, err);
    return status;
}
