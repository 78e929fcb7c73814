/* SPDX-License-Identifier: Apache-2.0 */
/* Fits to four fifths of the rows, from starts of their own, and what they leave of the others.
 * Noise of any law that is independent from row to row leaves there what the fit to all rows leaves
 * of the same cells, but larger, as those were fitted too: with leverage h
 *   r (1 - h)^-1/2 is the noise,  times (1 + h / (1 - h) UR_FOLDS / (UR_FOLDS - 1))^1/2
 * for the errors of weights that others determine. A function of the inputs that many neurons
 * nearly interpolate is missed by more: each fit finds neurons of its own. */
#include "network/noisy/folds.h"

#include "base/error.h"
#include "base/order.h"
#include "network/newton/newton.h"
#include "network/noisy/noisy.h"
#include "network/noisy/tangent.h"
#include "network/verdict/verdict.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    HELD_SHARE = 10,  /* one in so many rows is kept back from a fit that is only judged by them */
    MOST_ROWS = 5000, /* races of more are long, and weights know little of any row */
    LEAST_ROWS = 12,
    CLOSE = 2,       /* starts that agree */
    ALL_STEPS = 500, /* of all starts for one k together, where no two agree */
    FIRST = 3,       /* folds that may be enough */
};
/* Operations beyond which a fit takes its first start. Pace: larger only takes longer. */
static const double PATIENT_WORK = 4e9;
/* what noise would let fits miss, times this */
static const double UNSTABLE = 1.35;
/* of the first folds: no more are asked. Pace: larger, and it takes longer. */
static const double STABLE = 1.1;
/* leverage, at most: cells that the weights nearly meet say little of noise */
static const double MOST_LEVERAGE = 0.95;

static size_t starts_for(size_t n, size_t columns, size_t k)
{
    double all_starts = ALL_STEPS * (double)n * pow((double)(k * columns), 2);
    return all_starts < PATIENT_WORK ? CLOSE : 1;
}

/* the weights found, moved to where the rows of the frame have them */
static unrelu_status move(const ur_problem *given, const ur_outcome *out, const ur_frame *frame,
                          ur_arena *arena, ur_newton_fit *fit, unrelu_error *err)
{
    const ur_weights *w = &out->weights;
    ur_newton problem = ur_frame_problem(frame, w->f, given->exec);
    ur_huber huber;
    UR_TRY(ur_newton_alloc(&problem, w->k, arena, fit, err));
    UR_TRY(ur_frame_enter(frame, w->f, w->k, w->V, w->c, fit->V, err));
    if (!given->options.robust)
        return ur_newton_solve(&problem, UR_LIKELIHOOD_STEPS, UR_LIKELIHOOD_GAIN, 0, fit, err);
    UR_TRY(ur_newton_outer(&problem, fit, err));
    return ur_newton_huber(&problem, UR_HUBER_ROUNDS, UR_HUBER_STEPS, UR_LIKELIHOOD_GAIN, fit,
                           &huber, err);
}

unrelu_status ur_hold_out(const ur_problem *given, const ur_outcome *out, double *residual,
                          unrelu_error *err)
{
    size_t n = given->data.n, k = out->weights.k;
    size_t kept = n / HELD_SHARE > 0 ? n / HELD_SHARE : 1;
    UR_ARENA(arena);
    ur_frame frame;
    ur_best best = {0};
    ur_outcome other = ur_outcome_in(&arena);
    *residual = NAN;
    if (n <= k + kept)
        return UNRELU_OK;
    UR_TRY(ur_frame_make(&given->data, n - kept, out->terms, 0, &arena, &frame, err));
    if (n > MOST_ROWS || out->starts_agree >= CLOSE)
        UR_TRY(move(given, out, &frame, &arena, &best.fit, err));
    else
        UR_TRY(ur_starts(given, &frame, k, starts_for(frame.n, frame.p, k), UR_START_GAIN, NULL, 0,
                         &arena, &best, err));
    UR_TRY(ur_certify_fit(given, &frame, &best.fit, &frame, &other, err));
    *residual = other.certificate.holdout_residual;
    return UNRELU_OK;
}

/* ---- folds ---- */

/* rows of one fold, or all others, as data of their own */
static unrelu_status take_rows(const ur_data *all, size_t fold, int others, ur_arena *arena,
                               ur_data *some, unrelu_error *err)
{
    size_t d = all->d, m = all->m, n = 0;
    double *x = ur_take(arena, all->n, d * sizeof *x), *a = ur_take(arena, all->n, m * sizeof *a);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < all->n; i++) {
        if ((i % UR_FOLDS != fold) != others)
            continue;
        memcpy(x + n * d, all->x + i * d, d * sizeof *x);
        memcpy(a + n * m, all->a + i * m, m * sizeof *a);
        n++;
    }
    *some = *all;
    some->n = n;
    some->x = x;
    some->a = a;
    return UNRELU_OK;
}

/* sums of squares of what the network leaves of these data; of the labels */
static unrelu_status sum_misses(const ur_data *data, const ur_weights *w, const unrelu_exec *exec,
                                double *misses, double *size, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t cells = data->n * data->m;
    double *y = ur_take(&arena, cells, sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_network_outputs(w, data->x, data->n, exec, y, err));
    for (size_t i = 0; i < cells; i++) {
        double label = data->a[i] / data->unit, miss = label - y[i] / data->unit;
        *misses += miss * miss;
        *size += label * label;
    }
    return UNRELU_OK;
}

/* what noise would let the fits miss: UR_FOLDS sums of squares */
static unrelu_status expect(const ur_problem *given, const ur_outcome *out, double *expected,
                            unrelu_error *err)
{
    const ur_data *data = &given->data;
    const double more = (double)UR_FOLDS / (UR_FOLDS - 1);
    UR_ARENA(arena);
    ur_tangent tangent;
    double *y = ur_take(&arena, data->n, data->m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_tangent_make(&out->weights, out->terms, data->n, data->x, &arena, &tangent, err));
    UR_TRY(ur_network_outputs(&out->weights, data->x, data->n, given->exec, y, err));
    for (size_t i = 0; i < data->n * data->m; i++) {
        double miss = (data->a[i] - y[i]) / data->unit;
        double h = fmin(MOST_LEVERAGE, tangent.leverage[i]);
        expected[i / data->m % UR_FOLDS] += miss * miss / (1 - h) * (1 + more * h / (1 - h));
    }
    return UNRELU_OK;
}

/* of one fold: misses and size are added to */
static unrelu_status fit_fold(const ur_problem *given, const ur_outcome *out, size_t fold,
                              double *misses, double *size, unrelu_error *err)
{
    size_t k = out->weights.k;
    UR_ARENA(arena);
    ur_problem part = *given;
    ur_data held;
    ur_frame frame;
    ur_best best;
    ur_weights weights;
    UR_TRY(take_rows(&given->data, fold, 1, &arena, &part.data, err));
    UR_TRY(take_rows(&given->data, fold, 0, &arena, &held, err));
    UR_TRY(ur_frame_make(&part.data, part.data.n, out->terms, 0, &arena, &frame, err));
    UR_TRY(ur_starts(&part, &frame, k, starts_for(frame.n, frame.p, k), UR_START_GAIN, NULL, 0,
                     &arena, &best, err));
    UR_TRY(ur_frame_weights(&frame, out->weights.f, &best.fit, &arena, &weights, err));
    return sum_misses(&held, &weights, given->exec, misses, size, err);
}

/* The geometric mean of what the fits miss, in what noise would let them miss, without the largest:
 * one race in a few ends beside the best fit. */
static double mean_times(size_t count, double *times)
{
    double scratch[UR_FOLDS], sum = 0;
    ur_sort(times, scratch, count);
    for (size_t f = 0; f + 1 < count; f++)
        sum += log(times[f]);
    return exp(sum / (double)(count - 1));
}

unrelu_status ur_folds_test(const ur_problem *given, const ur_outcome *out, ur_folds *folds,
                            unrelu_error *err)
{
    size_t n = given->data.n, k = out->weights.k;
    double expected[UR_FOLDS] = {0}, times[UR_FOLDS], misses = 0, size = 0;
    *folds = (ur_folds){.residual = NAN};
    if (n < LEAST_ROWS || n > MOST_ROWS || k == 0 || n - n / UR_FOLDS <= k + 1)
        return UNRELU_OK;
    UR_TRY(expect(given, out, expected, err));
    for (size_t f = 0; f < UR_FOLDS; f++) {
        double missed = 0;
        UR_TRY(fit_fold(given, out, f, &missed, &size, err));
        misses += missed;
        times[f] = sqrt(missed / fmax(expected[f], DBL_MIN));
        times[f] = fmin(1 / DBL_EPSILON, fmax(DBL_EPSILON, times[f]));
        folds->folds = f + 1;
        if (f + 1 == FIRST && mean_times(FIRST, times) < STABLE)
            break;
    }
    folds->times = mean_times(folds->folds, times);
    folds->unstable = folds->folds == UR_FOLDS && folds->times > UNSTABLE;
    folds->residual = sqrt(misses / size);
    return UNRELU_OK;
}
