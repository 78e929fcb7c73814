/* SPDX-License-Identifier: Apache-2.0 */
/* From the largest value down, F just below v is F(v) (1 - seen at v / known to lie at or below v):
 * Kaplan and Meier (1958), reversed, for n log n. With one limit that is the plain share of cells.
 */
#include "gaussian/check/steps.h"

#include "base/error.h"
#include "base/order.h"
#include "law/normal.h"

#include <float.h>
#include <math.h>

/* Sums of masses carry rounding: a share counts as reached this far below it, relatively. */
static const double SHARE_ROUNDING = 64 * DBL_EPSILON;

/* steps from the largest value down, into places from the end of the room; returns the first */
static size_t descend(const double *seen, size_t count, const double *below, size_t limits,
                      size_t room, ur_steps *out)
{
    double left = 1, known = (double)(count + limits);
    size_t at = room;
    for (size_t i = count, first; i > 0; i = first) {
        double v = seen[i - 1];
        for (first = i - 1; first > 0 && seen[first - 1] == v;)
            first--;
        for (; limits > 0 && below[limits - 1] > v; limits--)
            known--;
        double same = (double)(i - first);
        out->alone += same == 1;
        out->value[--at] = v;
        out->sum[at] = left;
        left = same < known ? left * (1 - same / known) : 0;
        known -= same;
    }
    if (limits > 0 && left > 0) { /* all that is left lies below the smallest limit */
        out->value[--at] = below[0];
        out->sum[at] = left;
        out->open = 1;
    }
    return at;
}

static void count_limits(const double *below, size_t n, ur_steps *out)
{
    for (size_t i = 0; i < n; i++) {
        if (out->limits == 0 || below[i] != out->limit[out->limits - 1])
            out->limit[out->limits++] = below[i];
        out->limited[out->limits - 1]++;
    }
}

unrelu_status ur_steps_find(ur_arena *arena, const ur_known *known, ur_steps *out,
                            unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = known->n, seen = 0, limits = 0;
    double *value = ur_take(&own, n, sizeof *value), *below = ur_take(&own, n, sizeof *below);
    double *scratch = ur_take(&own, n, sizeof *scratch);
    *out = (ur_steps){0};
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < n; i++)
        if (known->state[i] == UR_SEEN)
            value[seen++] = known->x[i];
        else if (known->state[i] == UR_BELOW)
            below[limits++] = known->x[i];
    size_t room = seen + 1;
    out->value = ur_take(arena, room, sizeof *out->value);
    out->sum = ur_take(arena, room, sizeof *out->sum);
    out->limit = ur_take(arena, limits, sizeof *out->limit);
    out->limited = ur_take(arena, limits, sizeof *out->limited);
    UR_TRY(ur_arena_status(arena, err));
    out->observed = (double)(seen + limits);
    out->seen = (double)seen;
    ur_sort(value, scratch, seen);
    ur_sort(below, scratch, limits);
    count_limits(below, limits, out);
    size_t first = descend(value, seen, below, limits, room, out);
    out->value += first;
    out->sum += first;
    out->count = room - first;
    return UNRELU_OK;
}

/* ---- what steps say ---- */

double ur_steps_before(const ur_steps *s, double x)
{
    size_t from = 0, to = s->count;
    while (from < to) { /* an open step's mass lies below its value */
        size_t k = (from + to) / 2;
        int before = s->value[k] < x || (k == 0 && s->open && s->value[k] == x);
        *(before ? &from : &to) = before ? k + 1 : k;
    }
    return from ? s->sum[from - 1] : 0;
}

double ur_steps_quantile(const ur_steps *s, double share)
{
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t k = (from + to) / 2;
        int less = s->sum[k] < share * (1 - SHARE_ROUNDING);
        *(less ? &from : &to) = less ? k + 1 : k;
    }
    return from < s->count && !(from == 0 && s->open) ? s->value[from] : NAN;
}

double ur_steps_distance(const ur_steps *steps, double b, double s)
{
    double largest = 0, before = 0;
    for (size_t k = 0; k < steps->count; k++) {
        double F = ur_normal_cdf((steps->value[k] - b) / s);
        if (k > 0 || !steps->open)
            largest = fmax(largest, F - before);
        largest = fmax(largest, fabs(steps->sum[k] - F));
        before = steps->sum[k];
    }
    return steps->count ? largest : NAN;
}
