/* SPDX-License-Identifier: Apache-2.0 */
/* k by the Bayesian criterion, over the cells that a fit saw,
 *   BIC(k) = n m ln(RSS / n m) + (parameters) ln(n m),
 * all fits to the same rows: other rows have other noise, which differs by more. From the number of
 * eigenvalues of the labels' covariance above the edge of pure noise k goes up by births (birth.h),
 * one neuron or two at once, and down by leaving one out, as long as BIC falls. A neuron more or
 * less is fitted only for as long as it may come to lower BIC (`goal` of newton.h), so that k
 * itself takes hardly longer to find than its network. A new k is then fitted from all starts.
 * Biases are decided at the k found. At first at most max(5000, 200 (d + k)) rows are looked at;
 * what only all of them show, a weak neuron or small biases, is added at the end. */
#include "network/noisy/count.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/data/cut_tails.h"
#include "network/data/watch.h"
#include "network/noisy/birth.h"
#include "network/noisy/folded.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_A_WEIGHT = 200, /* for each input and neuron, and at least */
    LEAST_ROWS = 5000,
    CLOSE = 2,  /* starts that agree */
    AGREED = 3, /* for a k that is given */
    ROUNDS = 8, /* Pace: values of k that are fitted from all starts */
    AHEAD = 2,  /* neurons at once: two kinks may be seen where one is not */
};
/* of the edge of noise: its largest eigenvalue scatters about the edge. Pace: a guess,
 * BIC decides. */
static const double EDGE = 1.2;
static const double CHEAP = 1e8; /* Pace: operations of a step that costs little */
/* Operations after which the way to k takes no more starts of each number of neurons. Pace: BIC
 * judges each fit, and more starts may find a better one. */
static const double PATIENT_WORK = 2e10;
/* What births gain before Gauss-Newton, times this, has to lower BIC. Noise alone lets a birth gain
 * about (sqrt(m) + sqrt(p))^2 variances, and BIC asks for (m + p) ln(n m). Larger: more fits that
 * end after the first model of Gauss-Newton; at 1 neurons that overlap others are missed. */
static const double REACH = 4;
/* Pace: cosine of two rows above which they may be one neuron */
static const double ALIKE = .7;

/* what all contests of one search share */
typedef struct {
    const ur_problem *given;
    size_t least; /* rows, where fewer gave networks that others do not meet */
    double *work; /* operations so far */
} quest;

void ur_contest_end(ur_contest *c)
{
    ur_arena_end(&c->arena);
}

void ur_contest_swap(ur_contest *a, ur_contest *b)
{
    ur_contest c = *a;
    *a = *b;
    *b = c;
}

int ur_contest_met(const ur_problem *given, const ur_contest *c)
{
    return c->ready && c->best.residual <= given->data.floor;
}

size_t ur_most_neurons(const ur_problem *given)
{
    const ur_data *data = &given->data;
    double cells = (double)data->n * (double)data->m;
    size_t by_size = (size_t)(cells / 2 / (double)(data->d + data->m));
    size_t by_shape = data->d + data->m + 8;
    size_t most = by_size < by_shape ? by_size : by_shape;
    size_t by_rows = data->n - data->d;
    most = most < by_rows ? most : by_rows;
    return most > 0 ? most : 1;
}

/* eigenvalues above the Marchenko-Pastur edge of noise as large as the smaller half of them */
static unrelu_status guess_k(const ur_problem *given, ur_terms terms, size_t *k, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    UR_TRY(ur_frame_make(&given->data, LEAST_ROWS, terms, 0, &arena, &frame, err));
    size_t n = frame.n, m = frame.m;
    double *A = ur_take(&arena, n, m * sizeof *A), *C = ur_take(&arena, m, m * sizeof *C);
    double *values = ur_take(&arena, m, sizeof *values);
    UR_TRY(ur_arena_status(&arena, err));
    int heavy = 0;
    if (given->options.robust)
        UR_TRY(ur_cut_tails(n, m, frame.a, A, &heavy, err));
    else
        memcpy(A, frame.a, n * m * sizeof *A);
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += A[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            A[i * m + j] -= mean;
    }
    ur_multiply_tn(n, m, m, A, A, C);
    UR_TRY(ur_eigen_symmetric(m, C, values, NULL, err));
    double noise = 0, root = 1 + sqrt((double)m / (double)n);
    size_t half = (m + 1) / 2, above = 0;
    for (size_t i = 0; i < half; i++)
        noise += values[i] / (double)half;
    for (size_t i = 0; i < m; i++)
        above += values[i] > EDGE * noise * root * root;
    *k = above > 1 ? above : 1;
    return UNRELU_OK;
}

static size_t rows_of(const quest *q, size_t k)
{
    const ur_data *data = &q->given->data;
    size_t rows = ROWS_A_WEIGHT * (data->d + k), most = ur_frame_rows(data, k);
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    rows = rows < q->least ? q->least : rows;
    return k > data->m && rows > most && q->least < data->n ? most : rows;
}

static unrelu_status contest_open(const quest *q, size_t rows, ur_terms terms, ur_contest *c,
                                  unrelu_error *err)
{
    return ur_frame_make(&q->given->data, rows, terms, 0, &c->arena, &c->frame, err);
}

/* best becomes that of c; its memory, an arena's, too */
static unrelu_status contest_take(const quest *q, const ur_best *best, ur_arena *arena,
                                  ur_contest *c, unrelu_error *err)
{
    c->best = *best;
    c->k = best->fit.k;
    c->rows = ur_take(arena, c->k, c->frame.q * sizeof *c->rows);
    UR_TRY(ur_arena_status(arena, err));
    ur_frame_back(&c->frame, c->k, c->best.fit.V, c->rows);
    *q->work += best->work;
    c->ready = 1;
    if (arena != &c->arena)
        ur_arena_give(arena, &c->arena);
    const ur_find find = {.kind = UR_KEPT_FIT,
                          .known = c->k,
                          .V = best->fit.V,
                          .wanted = q->given->options.k,
                          .starts = best->starts,
                          .measure = best->bic / (double)(c->frame.n * c->frame.m)};
    return ur_watch_show(q->given->watch, &c->frame, find, err);
}

/* k neurons from all starts, one of them rows of `before` (may be NULL); c is empty */
static unrelu_status contest_run(const quest *q, size_t k, ur_terms terms, size_t agree,
                                 const ur_contest *before, ur_contest *c, unrelu_error *err)
{
    ur_best best;
    UR_TRY(contest_open(q, rows_of(q, k), terms, c, err));
    int usable = before && before->ready && before->frame.q == c->frame.q;
    UR_TRY(ur_starts(q->given, &c->frame, k, agree, usable ? before->rows : NULL,
                     usable ? before->k : 0, &c->arena, &best, err));
    return contest_take(q, &best, &c->arena, c, err);
}

/* operations of a step for k neurons */
static double step_of(const ur_contest *c, size_t k)
{
    return (double)c->frame.n * pow((double)(k * c->frame.d), 2);
}

/* ---- a neuron more, a neuron less ---- */

/* rss of k neurons in c's frame at which BIC is this */
static double rss_of(const quest *q, const ur_contest *c, size_t k, double bic)
{
    double cells = (double)(c->frame.n * c->frame.m);
    return cells * exp((bic - ur_parameters(q->given, k, c->frame.terms) * log(cells)) / cells);
}

/* From the rows V (k x p) on c's frame; the fit is c's where BIC falls. */
static unrelu_status attempt(const quest *q, size_t k, const double *V, ur_contest *c, int *won,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    ur_best best;
    double goal = rss_of(q, c, k, c->best.bic);
    UR_TRY(ur_start_once(q->given, &c->frame, k, V, goal, &arena, &best, err));
    *won = best.bic < c->best.bic;
    if (*won)
        return contest_take(q, &best, &arena, c, err);
    *q->work += best.work;
    return UNRELU_OK;
}

/* c's fit and up to AHEAD births behind its rows; gains[i]: of the first i + 1 of them */
static unrelu_status give_births(const quest *q, const ur_contest *c, size_t births, double *V,
                                 double *gains, unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t k = c->k, p = c->frame.p;
    UR_ARENA(arena);
    ur_newton problem = ur_frame_problem(&c->frame, given->options.activation, given->exec);
    memcpy(V, c->best.fit.V, k * p * sizeof *V);
    for (size_t i = 0; i < births; i++) {
        ur_newton_fit fit;
        double gain;
        UR_TRY(ur_newton_alloc(&problem, k + i, &arena, &fit, err));
        memcpy(fit.V, V, (k + i) * p * sizeof *V);
        UR_TRY(ur_newton_outer(&problem, &fit, err));
        UR_TRY(ur_birth(&problem, &fit, given->options.seed, k * AHEAD + i, V + (k + i) * p, &gain,
                        err));
        gains[i] = gain + (i > 0 ? gains[i - 1] : 0);
    }
    return UNRELU_OK;
}

/* one neuron more, or two */
static unrelu_status try_more(const quest *q, size_t most, ur_contest *c, size_t *tried, int *won,
                              unrelu_error *err)
{
    size_t k = c->k, p = c->frame.p, births = most - k < AHEAD ? most - k : AHEAD;
    double gains[AHEAD] = {0};
    UR_ARENA(arena);
    double *V = ur_take(&arena, k + AHEAD, p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    *won = 0;
    UR_TRY(give_births(q, c, births, V, gains, err));
    for (size_t i = 1; i <= births && !*won; i++) {
        double needed = c->best.cost - rss_of(q, c, k + i, c->best.bic);
        *tried = k + i > *tried ? k + i : *tried;
        if (q->given->options.robust ? i == 1 : REACH * gains[i - 1] >= needed)
            UR_TRY(attempt(q, k + i, V, c, won, err));
    }
    return UNRELU_OK;
}

/* With fewer labels than neurons one start says little: all of them, where they cost little. */
static unrelu_status try_all(const quest *q, size_t most, ur_contest *c, size_t *tried, int *won,
                             unrelu_error *err)
{
    const ur_data *data = &q->given->data;
    size_t k = c->k + 1;
    if (ur_folded_applies(q->given, c->frame.terms, k) || k > most || k <= data->m ||
        step_of(c, k) > CHEAP || *q->work > PATIENT_WORK)
        return UNRELU_OK;
    UR_ARENA(arena);
    ur_best best;
    *tried = k > *tried ? k : *tried;
    UR_TRY(ur_starts(q->given, &c->frame, k, CLOSE, c->rows, c->k, &arena, &best, err));
    *won = best.bic < c->best.bic;
    if (*won)
        return contest_take(q, &best, &arena, c, err);
    *q->work += best.work;
    return UNRELU_OK;
}

/* V: the rows of c but for one; the two that are closest become one, or the cheapest is left out */
static unrelu_status leave_one(const quest *q, const ur_contest *c, int merge, double *V,
                               int *possible, unrelu_error *err)
{
    const ur_newton_fit *fit = &c->best.fit;
    size_t k = c->k, p = c->frame.p, least = 0, other = k;
    double closest = ALIKE;
    UR_ARENA(arena);
    ur_newton problem = ur_frame_problem(&c->frame, q->given->options.activation, q->given->exec);
    double *costs = ur_take(&arena, k, sizeof *costs);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_neuron_costs(&problem, fit, costs, err));
    for (size_t j = 0; j < k; j++) {
        if (!merge && costs[j] < costs[least])
            least = j;
        for (size_t i = 0; i < j && merge; i++) {
            const double *v = fit->V + j * p, *w = fit->V + i * p;
            double cosine = ur_dot(p, v, w) / (ur_norm(p, v) * ur_norm(p, w));
            if (cosine > closest) {
                closest = cosine;
                least = costs[i] < costs[j] ? i : j;
                other = least == i ? j : i;
            }
        }
    }
    *possible = k > 1 && (!merge || other < k);
    for (size_t from = 0, to = 0; from < k && *possible; from++) {
        if (from == least)
            continue;
        memcpy(V + to * p, fit->V + from * p, p * sizeof *V);
        double both = costs[least] + costs[from];
        if (from == other && both > 0)
            for (size_t i = 0; i < p; i++)
                V[to * p + i] += costs[least] / both * (fit->V[least * p + i] - V[to * p + i]);
        to++;
    }
    return UNRELU_OK;
}

static unrelu_status try_fewer(const quest *q, ur_contest *c, int *won, unrelu_error *err)
{
    UR_ARENA(arena);
    double *V = ur_take(&arena, c->k, c->frame.p * sizeof *V);
    UR_TRY(ur_arena_status(&arena, err));
    *won = 0;
    for (int merge = 0; merge <= 1 && !*won; merge++) {
        int possible = 0;
        UR_TRY(leave_one(q, c, merge, V, &possible, err));
        if (possible)
            UR_TRY(attempt(q, c->k - 1, V, c, won, err));
    }
    return UNRELU_OK;
}

/* up, and then down, on the rows of c */
static unrelu_status move(const quest *q, size_t most, ur_contest *c, size_t *tried,
                          unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t before = c->k;
    for (int won = 1; won && c->k < most && !ur_contest_met(given, c);) {
        UR_TRY(try_more(q, most, c, tried, &won, err));
        if (!won && !ur_contest_met(given, c))
            UR_TRY(try_all(q, most, c, tried, &won, err));
    }
    for (int won = 1; won && c->k > 1 && c->k <= before && !ur_contest_met(given, c);)
        UR_TRY(try_fewer(q, c, &won, err));
    return UNRELU_OK;
}

/* ---- all of it ---- */

/* Labels without noise that have a dimension to spare are of as many neurons as they have others,
 * apart from the constant: that many are tried from all starts before any other number. */
static unrelu_status try_rank(const quest *q, ur_terms terms, ur_contest *c, size_t *tried,
                              unrelu_error *err)
{
    const ur_problem *given = q->given;
    UR_ARENA(arena);
    ur_frame frame;
    size_t rank = 0, m = given->data.m, constant = terms.constant ? 1 : 0;
    UR_TRY(ur_frame_make(&given->data, LEAST_ROWS, terms, 0, &arena, &frame, err));
    double *y = ur_take(&arena, frame.n, (m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_labels(&frame, given->data.tolerance, &rank, y, NULL, err));
    if (rank <= constant || rank >= m + constant)
        return UNRELU_OK;
    UR_CONTEST(other);
    UR_TRY(contest_run(q, rank - constant, terms, AGREED, NULL, &other, err));
    if (!ur_contest_met(given, &other))
        return UNRELU_OK;
    *tried = rank - constant;
    ur_contest_swap(c, &other);
    return UNRELU_OK;
}

static unrelu_status choose_k(const quest *q, ur_terms terms, ur_contest *c, size_t *tried,
                              unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t most = ur_most_neurons(given), k = 1;
    UR_TRY(try_rank(q, terms, c, tried, err));
    if (ur_contest_met(given, c))
        return UNRELU_OK;
    UR_TRY(guess_k(given, terms, &k, err));
    k = k < most ? k : most;
    int folded = !ur_folded_applies(
        given, terms, given->data.m + 1); /* or rows without signs have been counted */
    for (int round = 0; round < ROUNDS && !ur_contest_met(given, c); round++) {
        UR_CONTEST(next);
        *tried = k > *tried ? k : *tried;
        UR_TRY(contest_run(q, k, terms, CLOSE, c, &next, err));
        ur_contest_swap(c, &next);
        UR_TRY(move(q, folded ? most : given->data.m + 1, c, tried, err));
        size_t moved = c->k;
        if (moved > given->data.m && !folded) {
            UR_ARENA(arena);
            double *rows;
            size_t count = 0;
            UR_TRY(ur_folded_start(given, terms, c->frame.n, most, 0, &count, &arena, &rows, err));
            moved = count > moved ? count : moved;
            folded = 1;
        } else if (moved == k) {
            break;
        }
        k = moved;
    }
    return UNRELU_OK;
}

/* c's fit led on over so many rows with these biases; other is empty. Below `bic` of these rows, or
 * given up where it will not come there; NaN: to its end */
static unrelu_status contest_go_on(const quest *q, size_t rows, ur_terms terms, double bic,
                                   const ur_contest *c, ur_contest *other, unrelu_error *err)
{
    size_t k = c->k, d = c->frame.d;
    UR_ARENA(arena);
    ur_best best;
    UR_TRY(contest_open(q, rows, terms, other, err));
    const ur_frame *frame = &other->frame;
    double *V = ur_take(&arena, k, d * sizeof *V), *biases = ur_take(&arena, k, sizeof *biases);
    double *inside = ur_take(&arena, k, frame->q * sizeof *inside);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < k; j++) {
        memcpy(V + j * d, c->rows + j * c->frame.q, d * sizeof *V);
        biases[j] = c->frame.q > d ? c->rows[j * c->frame.q + d] : 0;
    }
    UR_TRY(ur_frame_enter(frame, q->given->options.activation, k, V, biases, inside, err));
    double goal = isnan(bic) ? 0 : rss_of(q, other, k, bic);
    UR_TRY(ur_start_once(q->given, frame, k, inside, goal, &other->arena, &best, err));
    best.starts = c->best.starts;
    best.agree = c->best.agree;
    best.skipped = c->best.skipped;
    return contest_take(q, &best, &other->arena, other, err);
}

/* whether it does without biases */
static unrelu_status try_without(const quest *q, ur_contest *c, unrelu_error *err)
{
    const ur_problem *given = q->given;
    ur_terms none = ur_terms_of(UNRELU_BIASES_NONE);
    int met = ur_contest_met(given, c), all = step_of(c, c->k) < CHEAP || c->best.agree < CLOSE;
    size_t agree = given->options.k > 0 ? AGREED : CLOSE;
    UR_CONTEST(other);
    /* labels that are met with biases may be met without: at that level BIC compares rounding */
    if (met || all)
        UR_TRY(contest_run(q, c->k, none, agree, NULL, &other, err));
    else
        UR_TRY(contest_go_on(q, c->frame.n, none, c->best.bic, c, &other, err));
    if (met ? ur_contest_met(given, &other) : other.best.bic <= c->best.bic)
        ur_contest_swap(c, &other);
    return UNRELU_OK;
}

/* what only all rows show: weak neurons, small biases */
static unrelu_status see_all(const quest *q, ur_contest *c, size_t *tried, unrelu_error *err)
{
    const ur_problem *given = q->given;
    const unrelu_recover_options *o = &given->options;
    size_t n = given->data.n, most = ur_most_neurons(given);
    int open = o->biases == UNRELU_BIASES_AUTO && !c->frame.terms.hidden, won = o->k == 0;
    if (c->frame.n >= n || ur_contest_met(given, c) || !(won || open))
        return UNRELU_OK;
    UR_CONTEST(all);
    UR_TRY(contest_go_on(q, n, c->frame.terms, NAN, c, &all, err));
    while (won && all.k < most)
        UR_TRY(try_more(q, most, &all, tried, &won, err));
    if (open) {
        UR_CONTEST(both);
        ur_terms terms = ur_terms_of(UNRELU_BIASES_BOTH);
        UR_TRY(contest_go_on(q, n, terms, all.best.bic, &all, &both, err));
        if (both.best.bic < all.best.bic)
            ur_contest_swap(&all, &both);
    }
    ur_contest_swap(c, &all);
    return UNRELU_OK;
}

unrelu_status ur_count_neurons(const ur_problem *given, size_t least, double *work, ur_contest *c,
                               size_t *tried, unrelu_error *err)
{
    const unrelu_recover_options *o = &given->options;
    const quest q = {given, least, work};
    int open = o->biases == UNRELU_BIASES_AUTO;
    ur_terms first = ur_terms_of(open ? UNRELU_BIASES_BOTH : o->biases);
    *tried = o->k;
    UR_TRY(o->k ? contest_run(&q, o->k, first, AGREED, NULL, c, err)
                : choose_k(&q, first, c, tried, err));
    if (open)
        UR_TRY(try_without(&q, c, err));
    return see_all(&q, c, tried, err);
}
