/* SPDX-License-Identifier: Apache-2.0 */
/* k by the Bayesian criterion, over the cells that a fit saw,
 *   BIC(k) = n m ln(RSS / n m) + (parameters) ln(n m),
 * all fits to the same rows: other rows have other noise, which differs by more. From the number of
 * eigenvalues of the labels' covariance above the edge of pure noise k goes up by births (birth.h),
 * one neuron or two at once, and down by leaving one out, as long as BIC falls. A neuron more or
 * less is fitted only for as long as it may come to lower BIC (`goal` of newton.h), so that k
 * itself takes hardly longer to find than its network. On the way
 * fits are rough and of one start; the k that it leads to is then fitted from all starts. Biases
 * are decided at the k found. At first only some of the rows are looked at (contest.c); what only
 * all of them show, a weak neuron or small biases, is added at the end. */
#include "network/noisy/count.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/data/cut_tails.h"
#include "network/noisy/folded.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_ROWS = 5000, /* for eigenvalues and ranks */
    CLOSE = 2,         /* starts that agree */
    AGREED = 3,        /* for a k that is given */
    ROUNDS = 8,        /* Pace: values of k that are fitted from all starts */
    /* for each weight: of fewer labels the fit that a longer search finds follows their noise, or a
     * function's bends, and what is left of it looks less like either */
    LABELS_AROUND = 20,
};
/* of the edge of noise: its largest eigenvalue scatters about the edge. Pace: a guess,
 * BIC decides. */
static const double EDGE = 1.2;
/* Pace: operations of a step that costs little; little enough to look
 * around in all rows */
static const double CHEAP = 1e8, CHEAP_AROUND = 1e9;

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

/* Labels without noise that have a dimension to spare are of as many neurons as they have others,
 * apart from the constant: that many are tried from all starts before any other number. */
static unrelu_status try_rank(const ur_quest *q, ur_terms terms, ur_contest *c, size_t *tried,
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
    UR_TRY(ur_contest_run(q, rank - constant, terms, AGREED, 0, NULL, &other, err));
    if (!ur_contest_met(given, &other))
        return UNRELU_OK;
    *tried = rank - constant;
    ur_contest_swap(c, &other);
    return UNRELU_OK;
}

static unrelu_status choose_k(const ur_quest *q, ur_terms terms, ur_contest *c, size_t *tried,
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
        int rough = round == 0;
        UR_TRY(ur_contest_run(q, k, terms, rough ? 1 : CLOSE, rough, c, &next, err));
        ur_contest_swap(c, &next);
        UR_TRY(ur_move(q, folded ? most : given->data.m + 1, c, tried, err));
        size_t moved = c->k;
        if (moved > given->data.m && !folded) {
            UR_ARENA(arena);
            double *rows;
            size_t count = 0;
            UR_TRY(ur_folded_start(given, terms, c->frame.n, most, 0, &count, &arena, &rows, err));
            moved = count > moved ? count : moved;
            folded = 1;
        } else if (moved == k && !rough) {
            break;
        }
        k = moved;
    }
    return UNRELU_OK;
}

/* whether it does without biases */
static unrelu_status try_without(const ur_quest *q, ur_contest *c, unrelu_error *err)
{
    const ur_problem *given = q->given;
    ur_terms none = ur_terms_of(UNRELU_BIASES_NONE);
    int met = ur_contest_met(given, c),
        all = ur_contest_step(c, c->k) < CHEAP || c->best.agree < CLOSE;
    size_t agree = given->options.k > 0 ? AGREED : CLOSE;
    UR_CONTEST(other);
    /* labels that are met with biases may be met without: at that level BIC compares rounding */
    if (met || all)
        UR_TRY(ur_contest_run(q, c->k, none, agree, 0, NULL, &other, err));
    else
        UR_TRY(ur_contest_go_on(q, c->frame.n, none, c->best.bic, c, &other, err));
    if (met ? ur_contest_met(given, &other) : other.best.bic <= c->best.bic)
        ur_contest_swap(c, &other);
    return UNRELU_OK;
}

/* c on all rows, with what only they show: weak neurons, small biases */
static unrelu_status see_all(const ur_quest *q, ur_contest *c, size_t *tried, unrelu_error *err)
{
    const ur_problem *given = q->given;
    const unrelu_recover_options *o = &given->options;
    size_t n = given->data.n, most = ur_most_neurons(given);
    int open = o->biases == UNRELU_BIASES_AUTO && !c->frame.terms.hidden, won = o->k == 0;
    UR_CONTEST(all);
    UR_TRY(ur_contest_go_on(q, n, c->frame.terms, NAN, c, &all, err));
    while (won && all.k < most)
        UR_TRY(ur_try_more(q, most, &all, tried, &won, err));
    if (open) {
        UR_CONTEST(both);
        ur_terms terms = ur_terms_of(UNRELU_BIASES_BOTH);
        UR_TRY(ur_contest_go_on(q, n, terms, all.best.bic, &all, &both, err));
        if (both.best.bic < all.best.bic)
            ur_contest_swap(&all, &both);
    }
    ur_contest_swap(c, &all);
    return UNRELU_OK;
}

/* whether the labels tell as many neurons as were asked for */
static unrelu_status doubt_given(const ur_quest *q, ur_contest *c, unrelu_error *err)
{
    double bic;
    UR_TRY(ur_bic_of_fewer(q, c, &bic, err));
    c->spare = fmax(c->best.bic - bic, 0);
    return UNRELU_OK;
}

/* Starts that do not agree, of fewer labels than neurons: there may be a better fit than theirs. */
static unrelu_status look_around(const ur_quest *q, ur_contest *c, size_t *tried, unrelu_error *err)
{
    const ur_problem *given = q->given;
    size_t most = ur_most_neurons(given);
    double labels = (double)given->data.n * (double)given->data.m;
    if (ur_contest_step(c, c->k) > CHEAP_AROUND ||
        labels < LABELS_AROUND * ur_parameters(given, c->k, c->frame.terms))
        return UNRELU_OK;
    if (given->options.k == 0 && ur_folded_applies(given, c->frame.terms, c->k + 1))
        UR_TRY(ur_look_ahead(q, most, c, tried, err));
    return ur_exchange(q, c, err);
}

unrelu_status ur_count_neurons(const ur_problem *given, size_t least, double *work, ur_contest *c,
                               size_t *tried, unrelu_error *err)
{
    const unrelu_recover_options *o = &given->options;
    const ur_quest q = {given, least, work};
    int open = o->biases == UNRELU_BIASES_AUTO;
    ur_terms first = ur_terms_of(open ? UNRELU_BIASES_BOTH : o->biases);
    *tried = o->k;
    UR_TRY(o->k ? ur_contest_run(&q, o->k, first, AGREED, 0, NULL, c, err)
                : choose_k(&q, first, c, tried, err));
    if (open)
        UR_TRY(try_without(&q, c, err));
    if (ur_contest_met(given, c))
        return UNRELU_OK;
    if (c->frame.n < given->data.n)
        UR_TRY(see_all(&q, c, tried, err));
    if (c->k > given->data.m && c->best.agree < CLOSE && !o->robust)
        UR_TRY(look_around(&q, c, tried, err));
    return o->k > 1 && !o->robust ? doubt_given(&q, c, err) : UNRELU_OK;
}
