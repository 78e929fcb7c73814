/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict. Labels that are met are not yet a network that is known: below 6 rows for each input
 * other networks fit too, and so they do where rows repeat, lie in a plane or on a kink. The rules
 * below are looked at in this order and all that are broken are told; the verdict is the worst of
 * theirs. They know of the data, the weights and the rows that the solver saw, not of the solver.
 * No rule is a proof for every law of inputs; in 10^5 planted networks none that passed was wrong
 * (docs/numbers.md). */
#include "base/error.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "model/rules.h"
#include "network/data/sides.h"
#include "network/pattern/pattern.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* inputs are rarely on a kink by chance; deviations that are allowed for where kinks are wide */
static const double CHANCE = 3;
enum { ROWS_AN_INPUT = 6, LEAST_ROWS = 50 };
/* Rows that are looked at: the network meets all rows, and a few times as many as the solver needed
 * show a level of a factor that few rows have, a neuron that is rarely on. Patterns of more would
 * take longer than the search. */
enum { JUDGED_ROWS = 2000, JUDGED_TIMES = 4 };

/* what the rules look at */
typedef struct {
    const ur_problem *given;
    const ur_data *data;
    const ur_frame *seen; /* the rows that the solver saw */
    ur_frame frame;       /* those that sides and patterns are of */
    const double *y;      /* basis of their labels; NULL: fewer dimensions than neurons */
    size_t y_rank;
    const ur_weights *weights;
    const ur_evidence *evidence;
    int tested; /* the labels have room for each neuron: its pattern is looked at */
    int shown;  /* and they show all of them so */
    ur_sides sides;
    ur_pattern_end *ends; /* k: of the patterns */
    double leverage;      /* the largest of them */
    double gap;           /* smallest 1 - rho_2 of them; NaN: not measured */
    int ones;             /* c is fitted, or might have been: */
    size_t rank;          /* of x over all rows, or of [x 1] less 1 */
    ur_apart apart;       /* where not all are shown */
} look;

/* ---- rows ---- */

/* Off the span of the inputs nothing is known. What the labels say of `bias` auto is that no bias
 * is needed, not that there is none: where the ones are among the inputs, v x is c as well. */
static unrelu_status test_rank(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_frame *frame = l->seen;
    size_t d = l->data->d;
    if (l->rank < d && frame->p == frame->q)
        ur_breach_tell(breach,
                       "the inputs have rank %zu of %zu beside a constant: weights of V can be "
                       "exchanged for biases; give `bias` none if the network has none",
                       l->rank, d);
    else if (l->rank < d)
        ur_breach_tell(breach,
                       "the inputs have rank %zu of %zu%s: the network is known on their span and "
                       "not off it, where other rows of V with the same labels differ",
                       l->rank, d, l->ones ? " beside a constant" : "");
    else if (frame->p < frame->q)
        ur_breach_tell(breach,
                       "the %zu rows that the solver saw have rank %zu of %zu, which all %zu rows "
                       "have: rows of V are the shortest of those that fit",
                       frame->n, frame->p, frame->q, l->data->n);
    return UNRELU_OK;
}

static unrelu_status test_rows(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_data *data = l->data;
    size_t d = data->d, least = ROWS_AN_INPUT * d, held = d + l->weights->k, rows = 0, fresh = 0;
    int patterns = l->evidence->y != NULL && l->evidence->linear_rank == 0;
    UR_ARENA(arena);
    least = least > LEAST_ROWS ? least : LEAST_ROWS;
    held = held > UR_LEAST_HELD ? held : UR_LEAST_HELD;
    UR_TRY(ur_distinct(data->x, data->n, d, NULL, least, &rows, breach->err));
    unsigned char *used = ur_frame_mark(l->seen, data->n, &arena);
    UR_TRY(ur_arena_status(&arena, breach->err));
    if (used) /* the certificate has seen that the others fit */
        UR_TRY(ur_distinct(data->x, data->n, d, used, held, &fresh, breach->err));
    int repeated = rows < least && rows < data->n; /* new rows would be of the same few values */
    if ((fresh >= held && !repeated) || (patterns && rows >= least))
        return UNRELU_OK;
    if (patterns || repeated)
        ur_breach_tell(
            breach,
            "%zu different rows of %zu inputs: below max(6 d, 50) = %zu other networks may "
            "fit as well; the fit is exact, its uniqueness is not certified",
            rows, d, least);
    else
        ur_breach_tell(
            breach,
            "the labels have fewer dimensions than the network neurons: only rows that the "
            "solver did not see can certify it, %zu beside the ones it used, and there are "
            "%zu",
            held, fresh);
    return UNRELU_OK;
}

/* A neuron of the size of the floor, which is some roundings, would be missed. */
static unrelu_status test_rounding(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    double left = l->evidence->certificate.roundings;
    if (left > UR_ROUNDINGS_LEFT)
        ur_breach_tell(breach,
                       "what the network leaves of a column of labels is %.2g times what its "
                       "rounding to few digits makes: a weak neuron may be missing, or the inputs "
                       "were rounded as well",
                       left);
    return UNRELU_OK;
}

/* ---- kinks ---- */

static unrelu_status test_sides(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_weights *w = l->weights;
    ur_terms terms = l->frame.terms;
    size_t on = w->d + 1 + (terms.hidden ? 1 : 0);
    size_t off = ur_activation_rectifies(w->f) ? w->k - 1 + (terms.constant ? 1 : 0) : on;
    off = off > 0 ? off : 1;
    for (size_t j = 0; j < w->k; j++) {
        size_t active = l->sides.on[j], inactive = l->sides.off[j], n = l->sides.n;
        if (active < on || inactive < off)
            ur_breach_tell(
                breach,
                "neuron %zu is on for %zu of %zu samples (%.3g %%) and off for %zu, and %zu "
                "and %zu are needed: it is not identifiable from this sample",
                j + 1, active, n, 100 * (double)active / (double)n, inactive, on, off);
    }
    return UNRELU_OK;
}

/* A sample on a kink leaves open where the kink is: inputs of few values do that. Of a wide kink
 * some are there by chance. */
static unrelu_status test_on_kinks(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_sides *s = &l->sides;
    double width = ur_kink_width(l->data); /* 4 sqrt(d) of it, in deviations of v x */
    double chance = (double)(s->n * s->k) * 4 * sqrt((double)l->data->d) * width * UR_KINK;
    if ((double)s->on_kink > (width > 1 ? CHANCE + CHANCE * chance : 0))
        ur_breach_tell(
            breach,
            "%zu sample%s on the kink of a neuron: it may lie elsewhere between the values "
            "that the inputs take",
            s->on_kink, s->on_kink == 1 ? " lies" : "s lie");
    return UNRELU_OK;
}

static unrelu_status test_gaps(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    ur_kink_gaps widest;
    UR_TRY(ur_kink_gap(l->data, l->weights, &widest, breach->err));
    if (widest.chance < UR_GAP_CHANCE)
        ur_breach_tell(
            breach,
            "the kink of neuron %zu lies in a gap of %.2g between the values of v x + c, "
            "far wider than those beside it: of several neurons with kinks in that gap "
            "and parallel outputs only the sum is determined",
            widest.neuron + 1, widest.gap);
    return UNRELU_OK;
}

/* ---- patterns of two neurons ---- */

static unrelu_status test_same(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    for (size_t a = 0; a < l->weights->k; a++)
        for (size_t b = 0; b < a; b++)
            if (ur_sides_compare(&l->sides, a, b) > 0) {
                ur_breach_tell(breach, "two neurons are on for the same samples: only their sum is "
                                       "determined");
                return UNRELU_OK;
            }
    return UNRELU_OK;
}

/* whether a row of those not paired lies in the span of the paired ones: it can be turned round
 * at their cost */
static unrelu_status is_spanned(const ur_weights *w, const char *paired, int *spanned,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = w->k, q = w->d + 1;
    double *rows = ur_take(&arena, k, q * sizeof *rows); /* v_j, c_j at unit length */
    ur_basis basis = {.length = q, .rows = ur_take(&arena, q, q * sizeof *rows)};
    UR_TRY(ur_arena_status(&arena, err));
    ur_rows_join(k, w->d, q, w->V, w->c, rows);
    ur_unit_rows(k, q, rows);
    for (size_t j = 0; j < k; j++)
        if (paired[j])
            ur_basis_grow(&basis, rows + j * q, UR_SPANNED);
    *spanned = 0;
    for (size_t j = 0; j < k; j++)
        if (!paired[j])
            *spanned |= ur_basis_remove(&basis, basis.count, rows + j * q) <= UR_SPANNED;
    return UNRELU_OK;
}

/* v, -v only where the labels show each of them, e is not fitted, and no other row lies in their
 * span */
static unrelu_status test_opposite(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    size_t k = l->weights->k, pairs = 0;
    int same = 0, spanned = 0;
    UR_ARENA(arena);
    char *paired = ur_take(&arena, k, 1);
    UR_TRY(ur_arena_status(&arena, breach->err));
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < a; b++) {
            int relation = ur_sides_compare(&l->sides, a, b);
            same |= relation > 0;
            if (relation < 0) {
                paired[a] = paired[b] = 1;
                pairs++;
            }
        }
    if (pairs == 0)
        return UNRELU_OK;
    UR_TRY(is_spanned(l->weights, paired, &spanned, breach->err));
    if (!same && (!l->tested || l->frame.terms.constant || spanned))
        ur_breach_tell(breach,
                       "two neurons are on for opposite samples: their difference is linear in x, "
                       "and other networks move it elsewhere");
    return UNRELU_OK;
}

/* ---- patterns of one neuron ---- */

/* Neurons whose patterns are looked at in one scratch. Pace: of fewer, more scratches. */
enum { NEURONS_A_SCRATCH = 8 };
/* Pace: operations of a neuron, rows times p (p + 2 rank), below which one thread does all, as
 * starting others costs about 50 microseconds. The bits do not depend on it. */
static const double HEAVY = 2e5;

typedef struct {
    const ur_pattern *problem;
    const double *V; /* k x p in the frame */
    double kink;
    size_t k;
    ur_pattern_end *ends;
} patterns;

static unrelu_status look_at_some(void *context, size_t i, unrelu_error *err)
{
    const patterns *all = context;
    size_t p = all->problem->p, first = i * NEURONS_A_SCRATCH, left = all->k - first;
    UR_ARENA(arena);
    ur_pattern_room *room = ur_pattern_room_in(&arena, all->problem);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = first; j < first + (left < NEURONS_A_SCRATCH ? left : NEURONS_A_SCRATCH); j++)
        all->ends[j] = ur_pattern_look(all->problem, room, all->V + j * p, all->kink);
    return UNRELU_OK;
}

/* on the rows that the solver saw: what the patterns say, the smallest gap, the largest leverage;
 * what is found lies in `kept` */
static unrelu_status measure_patterns(look *l, ur_arena *kept, unrelu_error *err)
{
    const ur_weights *w = l->weights;
    const ur_frame *frame = &l->frame;
    const double *y = l->tested ? l->y : NULL;
    size_t p = frame->p, k = w->k, rank = y ? l->y_rank : 0;
    double degree = ur_activation_degree(w->f);
    const ur_pattern problem = {frame->n, p, rank, frame->x, y, degree > 0 ? degree : 1};
    unrelu_exec exec = l->given->exec ? *l->given->exec : (unrelu_exec){0};
    UR_ARENA(arena);
    double *V = ur_take(&arena, k, p * sizeof *V);
    l->ends = ur_take(kept, k, sizeof *l->ends);
    l->shown = l->tested;
    UR_TRY(ur_arena_status(kept, err));
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_enter(frame, w->f, k, w->V, w->c, V, err));
    if ((double)frame->n * (double)p * (double)(p + 2 * rank) < HEAVY)
        exec.threads = 1;
    patterns all = {.problem = &problem,
                    .V = V,
                    .kink = ur_kink_width(l->data) * UR_KINK, /* v x has unit variance */
                    .k = k,
                    .ends = l->ends};
    UR_TRY(ur_each(&exec, "checking uniqueness", (k + NEURONS_A_SCRATCH - 1) / NEURONS_A_SCRATCH,
                   look_at_some, &all, err));
    for (size_t j = 0; j < k; j++) {
        ur_pattern_end end = l->ends[j];
        int spans = end.spread > UR_PATTERN_FLAT, seen = 1 - end.rho < ur_exact_slack(l->data);
        l->shown &= seen || !spans;
        if (!spans || !seen)
            continue; /* a pair v, -v is not in the labels, nor what their rounding covers */
        l->gap = fmin(isnan(l->gap) ? 1 : l->gap, 1 - end.second);
        l->leverage = fmax(l->leverage, end.leverage);
    }
    return UNRELU_OK;
}

static unrelu_status test_span(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    for (size_t j = 0; j < l->weights->k; j++)
        if (!(l->ends[j].spread > UR_PATTERN_FLAT))
            ur_breach_tell(
                breach,
                "the %zu inputs where neuron %zu is on do not span the %zu dimensions of "
                "its row: it is not identifiable from this sample",
                l->ends[j].active, j + 1, l->frame.p);
    return UNRELU_OK;
}

static unrelu_status test_second(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    if (l->gap <= UR_SECOND_DIRECTION)
        ur_breach_tell(
            breach,
            "two directions share the pattern of one neuron (1 - rho_2 = %.2g, above 1e-7 "
            "is needed): its row is not unique; more samples would tell them apart",
            l->gap);
    return UNRELU_OK;
}

static unrelu_status test_hinge(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    if (!(l->gap <= UR_SECOND_DIRECTION) && l->leverage > 1 - UR_HINGE)
        ur_breach_tell(
            breach, "a neuron hinges on one sample: with that sample left out other networks fit "
                    "as well; more samples would tell");
    return UNRELU_OK;
}

/* ---- all weights at once ---- */

/* Two neurons with one pattern, or with opposite ones, leave the Gauss-Newton matrix singular, and
 * rows that were kept back do not show it. */
static unrelu_status test_information(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    if (l->apart.hinge.singular)
        ur_breach_tell(breach,
                       "the weights are not determined one by one: neurons share a pattern of "
                       "samples, or there are more of them than needed");
    return UNRELU_OK;
}

/* p samples between two kinks tell the neurons apart, one more checks it */
static unrelu_status test_between(const void *facts, ur_breach *breach)
{
    const ur_apart *apart = &((const look *)facts)->apart;
    if (apart->counted && apart->between <= apart->p)
        ur_breach_tell(breach,
                       "%zu of %zu samples %s between the kinks of neurons %zu and %zu, and %zu "
                       "are needed to tell the two apart: other networks fit as well",
                       apart->between, apart->rows, apart->between == 1 ? "lies" : "lie",
                       apart->first + 1, apart->second + 1, apart->p + 1);
    return UNRELU_OK;
}

static unrelu_status test_leverage(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_newton_hinge *hinge = &l->apart.hinge;
    if (!hinge->singular && hinge->leverage > 1 - ur_hinge(l->data) - hinge->blur)
        ur_breach_tell(breach,
                       "the network hinges on sample %zu (1 - leverage is %.1g, above %.1g is "
                       "needed): with that sample left out other networks fit as well; more "
                       "samples would tell",
                       hinge->row + 1, 1 - hinge->leverage, ur_hinge(l->data) + hinge->blur);
    return UNRELU_OK;
}

/* size of a neuron whose v x has this root mean square, in the label that it is most of, at most 1
 */
static double share_of(const look *l, size_t j, double rms)
{
    const ur_data *data = l->data;
    const ur_weights *w = l->weights;
    double share = 0;
    for (size_t i = 0; i < w->m; i++) {
        double size = data->column_rms[i] * data->column_unit[i];
        share = fmax(share, size > 0 ? fabs(w->U[i * w->k + j]) * rms / size : 0);
    }
    return fmin(share, 1);
}

/* V = back V~, and V~_j errs by what is left of the labels, over the neuron's share of them:
 * relative to its length, a row of V errs by that times |back| |V~_j| / |V_j| at most */
static unrelu_status test_condition(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_weights *w = l->weights;
    size_t p = l->seen->p, q = l->seen->q, worst = 0;
    UR_ARENA(arena);
    double *rows = ur_take(&arena, w->k, q * sizeof *rows);
    double *V = ur_take(&arena, w->k, p * sizeof *V), *s = ur_take(&arena, p, sizeof *s);
    double largest = 0, share = 1, left = fmax(l->evidence->certificate.residual, DBL_EPSILON);
    UR_TRY(ur_arena_status(&arena, breach->err));
    ur_rows_join(w->k, w->d, q, w->V, w->c, rows);
    ur_frame_forth(l->seen, w->k, rows, V);
    UR_TRY(ur_svd(q, p, l->seen->back, NULL, s, NULL, breach->err));
    for (size_t j = 0; j < w->k; j++) {
        double length = ur_norm(p, V + j * p), part = share_of(l, j, length);
        double magnified = length / ur_norm(q, rows + j * q) / part;
        if (!(magnified <= largest)) {
            largest = magnified;
            share = part;
            worst = j;
        }
    }
    double condition = s[0] * largest;
    if (left * condition <= pow(left, UR_DIGITS_OF_V))
        return UNRELU_OK;
    if (left * condition * share > pow(left, UR_DIGITS_OF_V))
        ur_breach_tell(breach,
                       "the inputs are nearly dependent (condition about %.1g): rows of V are "
                       "known to about %.0e",
                       condition * share, left * condition);
    else
        ur_breach_tell(breach,
                       "neuron %zu makes but %.1g of the labels, which are met to %.1g of their "
                       "size: its row of V is known to about %.0e",
                       worst + 1, share, left, left * condition);
    return UNRELU_OK;
}

static unrelu_status test_linear(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    size_t rank = l->evidence->linear_rank;
    ur_breach_tell(breach,
                   "a part of the map is linear in x, of rank %zu; it is given as %zu pair%s v, -v "
                   "with outputs u, -u, and other neurons that are always on would give it too",
                   rank, rank, rank > 1 ? "s" : "");
    return UNRELU_OK;
}

static unrelu_status test_signs(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    ur_breach_tell(
        breach,
        "the labels do not decide on the signs of %zu rows of V: to turn one round adds a "
        "part that is linear in x, and such a part is free here; the kinks and columns of "
        "U of these rows are exact, and so are the labels",
        l->evidence->open_signs);
    return UNRELU_OK;
}

/* neurons whose rows nearly coincide: only their sum is determined well */
static unrelu_status test_twins(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_weights *w = l->weights;
    size_t d = w->d;
    for (size_t i = 0; i < w->k; i++)
        for (size_t j = 0; j < i; j++) {
            double distance = fabs(w->c[i] - w->c[j]), size;
            for (size_t f = 0; f < d; f++)
                distance =
                    fmax(distance, fabs(w->V[i * d + f] - w->V[j * d + f]) * l->data->input_rms[f]);
            size = ur_kink_neuron(l->data, w->V + i * d) + fabs(w->c[i]);
            if (distance < UR_TWINS * size) {
                ur_breach_tell(
                    breach,
                    "rows %zu and %zu of V are within %.1g of their length: only the sum of "
                    "the two neurons is determined well",
                    j + 1, i + 1, distance / size);
                return UNRELU_OK;
            }
        }
    return UNRELU_OK;
}

static unrelu_status test_precision(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    const ur_certificate *c = &l->evidence->certificate;
    const char *carry = "single precision";
    if (strcmp(c->precision, "double") == 0)
        return UNRELU_OK;
    if (strncmp(c->precision, "digits:", 7) == 0)
        carry = ur_take_text(breach->arena, "%s decimal digits", c->precision + 7);
    ur_breach_tell(breach,
                   "the labels carry %s: the fit is exact to that precision (residual %.2g)", carry,
                   c->residual);
    return UNRELU_OK;
}

/* ---- what the method knows ---- */

static unrelu_status test_loose(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    if (!ur_breach_is_told(breach))
        ur_breach_tell(
            breach,
            "%zu of %zu neurons are not unique: the inputs of the samples where they are "
            "on, at most %zu or of too low a rank, leave other rows of V",
            l->evidence->loose, l->weights->k, l->seen->p);
    return UNRELU_OK;
}

static unrelu_status test_doubt(const void *facts, ur_breach *breach)
{
    const look *l = facts;
    ur_breach_tell(breach, "%s", l->evidence->doubt);
    return UNRELU_OK;
}

/* ---- the table ---- */

/* pairs v, -v of a part that is linear are told as that */
static int is_hidden(const void *facts)
{
    const look *l = facts;
    return !l->tested || (!l->shown && l->evidence->linear_rank == 0);
}

static int has_linear_part(const void *facts)
{
    return ((const look *)facts)->evidence->linear_rank > 0;
}

static int has_no_linear_part(const void *facts)
{
    return ((const look *)facts)->evidence->linear_rank == 0;
}

static int has_open_signs(const void *facts)
{
    return ((const look *)facts)->evidence->open_signs > 0;
}

static int has_loose_rows(const void *facts)
{
    return ((const look *)facts)->evidence->loose > 0;
}

static int has_doubt(const void *facts)
{
    return ((const look *)facts)->evidence->doubt != NULL;
}

#define LOWERS UNRELU_VERDICT_UNCERTIFIED
#define TELLS  UNRELU_VERDICT_EXACT

static const ur_rule rules[] = {
    {"not-identifiable",
     "the inputs have rank d over all rows and over those that the solver saw; with a column of "
     "ones d + 1, but for `bias` none and output",
     NULL, test_rank, LOWERS},
    {"uncertified",
     "there are max(6 d, 50) different rows, or max(d + k, 10) that the solver did not see; the "
     "latter in any case where the labels have fewer dimensions than neurons",
     NULL, test_rows, LOWERS},
    {"uncertified",
     "what is left of a column of labels with few digits is at most 1.5 times their rounding", NULL,
     test_rounding, LOWERS},
    {"not-identifiable",
     "every neuron is on for d + 1 samples (d + 2 with c) and off for k - 1 (k with e), at least "
     "1",
     NULL, test_sides, LOWERS},
    {"uncertified", "no sample lies on the kink of a neuron", NULL, test_on_kinks, LOWERS},
    {"uncertified",
     "no neuron that one label shows, or whose outputs are parallel to another's, has its kink in "
     "a "
     "gap whose width beside the 20 next on either side has a chance below 1e-4",
     NULL, test_gaps, LOWERS},
    {"uncertified", "no two neurons are on for the same samples", NULL, test_same, LOWERS},
    {"uncertified",
     "two neurons are on for opposite samples only where the labels show each of them, e is not "
     "fitted and no other row of V lies in their span",
     has_no_linear_part, test_opposite, LOWERS},
    {"not-identifiable", "the inputs where a neuron is on span the inputs", NULL, test_span,
     LOWERS},
    {"uncertified",
     "no second direction of the labels has the pattern of a neuron: 1 - rho_2 is above 1e-7", NULL,
     test_second, LOWERS},
    {"uncertified", "no neuron hinges on one sample: leverages are below 1 - 1e-6", NULL,
     test_hinge, LOWERS},
    {"uncertified",
     "where the labels do not show each neuron by its pattern: the Gauss-Newton matrix is regular",
     is_hidden, test_information, LOWERS},
    {"not-identifiable",
     "with one label, a sample more than a row of V has dimensions lies between any two kinks",
     is_hidden, test_between, LOWERS},
    {"uncertified",
     "where the labels do not show each neuron by its pattern: no sample has a leverage on all "
     "weights above 1 - 1e-6 (less where labels carry few digits)",
     is_hidden, test_leverage, LOWERS},
    {"uncertified",
     "the inputs, and the size of each neuron, leave V half of the digits of the labels", NULL,
     test_condition, LOWERS},
    {"linear-part", "no part of the map is linear in x", has_linear_part, test_linear, LOWERS},
    {"signs-open", "the labels decide on the signs of the rows of V", has_open_signs, test_signs,
     LOWERS},
    {"near-duplicate", "no two rows of V are within 1e-5 of their length", NULL, test_twins, TELLS},
    {"single-precision", "the labels carry all digits of a double", NULL, test_precision, TELLS},
    {"not-identifiable", "the enumeration leaves no neuron another row of V", has_loose_rows,
     test_loose, LOWERS},
    {"uncertified", "wrong labels are at random: their places do not depend on the inputs",
     has_doubt, test_doubt, LOWERS},
};
enum { RULES = sizeof rules / sizeof *rules };

int unrelu_recover_rule_at(size_t i, unrelu_rule *out)
{
    return ur_rules_show(rules, RULES, i, out);
}

/* the rows that sides and patterns are of, in `arena` */
static unrelu_status open_rows(look *l, ur_arena *arena, unrelu_error *err)
{
    const ur_frame *seen = l->seen;
    const ur_evidence *evidence = l->evidence;
    size_t rows = JUDGED_TIMES * seen->n, constant = seen->terms.constant ? 1 : 0;
    rows = rows > JUDGED_ROWS ? rows : JUDGED_ROWS;
    l->frame = *seen;
    l->y = evidence->y;
    l->y_rank = evidence->rank;
    if (seen->n == l->data->n)
        return UNRELU_OK;
    ur_frame more;
    size_t rank = 0;
    UR_TRY(ur_frame_make(l->data, rows, seen->terms, 1, arena, &more, err));
    double *y = ur_take(arena, more.n, (more.m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_frame_labels(&more, l->data->tolerance, &rank, y, NULL, err));
    if (evidence->y && rank < l->weights->k + constant)
        return UNRELU_OK; /* rows of another size: a direction of the labels looks like rounding */
    l->frame = more;
    l->y = evidence->y ? y : NULL;
    l->y_rank = rank;
    return UNRELU_OK;
}

unrelu_status ur_judge(const ur_problem *given, const ur_outcome *out, ur_judgement *judgement,
                       unrelu_error *err)
{
    static const unrelu_verdict verdicts[] = {[UR_NONE] = UNRELU_VERDICT_FAILED,
                                              [UR_EXACT] = UNRELU_VERDICT_EXACT,
                                              [UR_NOISY] = UNRELU_VERDICT_NOISY,
                                              [UR_APPROXIMATE] = UNRELU_VERDICT_APPROXIMATE,
                                              [UR_INCOMPLETE] = UNRELU_VERDICT_INCOMPLETE};
    unrelu_biases biases = given->options.biases;
    int ones = biases != UNRELU_BIASES_NONE && biases != UNRELU_BIASES_OUTPUT;
    *judgement = (ur_judgement){.verdict = verdicts[out->answer], .gap = NAN};
    if (out->answer == UR_INCOMPLETE) /* there is no more time */
        return UNRELU_OK;
    UR_TRY(ur_input_rank(&given->data, ones, given->exec, &judgement->inputs_rank, err));
    judgement->inputs_rank -= ones ? 1 : 0;
    if (out->answer != UR_EXACT)
        return UNRELU_OK;
    unrelu_activation f = out->weights.f;
    int patterned = ur_activation_rectifies(f) && ur_activation_degree(f) > 0;
    look l = {.given = given,
              .data = out->evidence.data,
              .seen = out->evidence.frame,
              .weights = &out->weights,
              .evidence = &out->evidence,
              .tested = out->evidence.y && patterned,
              .gap = NAN,
              .ones = ones,
              .rank = judgement->inputs_rank};
    UR_ARENA(arena);
    UR_TRY(open_rows(&l, &arena, err));
    UR_TRY(ur_sides_set(l.data, l.weights, &l.frame, &arena, &l.sides, err));
    UR_TRY(measure_patterns(&l, &arena, err));
    if (is_hidden(&l))
        UR_TRY(ur_apart_measure(given, l.data, l.seen, l.weights, &l.apart, err));
    judgement->gap = l.gap;
    return ur_rules_ask(rules, RULES, &l, out->arena, &judgement->notes, &judgement->verdict, err);
}
