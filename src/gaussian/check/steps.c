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
static size_t descend(const double *seen, size_t count, size_t room, ur_steps *out)
{
    double left = 1, known = out->observed;
    size_t at = room, h = out->hidings;
    for (size_t i = count, first; i > 0; i = first) {
        double v = seen[i - 1];
        for (first = i - 1; first > 0 && seen[first - 1] == v;)
            first--;
        for (; h > 0 && out->hiding[h - 1].high > v; h--)
            known -= out->hiding[h - 1].cells;
        double same = (double)(i - first);
        out->alone += same == 1;
        out->low[--at] = v;
        out->value[at] = v;
        out->sum[at] = left;
        left = same < known ? left * (1 - same / known) : 0;
        known -= same;
    }
    if (h > 0 && left > 0) { /* all that is left lies below the smallest limit */
        out->low[--at] = -INFINITY;
        out->value[at] = out->hiding[0].high;
        out->sum[at] = left;
    }
    return at;
}

static ur_hiding hiding_of(const ur_known *known, size_t i, ur_cell c)
{
    if (c.state == UR_BETWEEN)
        return (ur_hiding){known->x[i], known->upper[i], 0};
    return c.state == UR_BELOW ? (ur_hiding){-INFINITY, c.at, 0} : (ur_hiding){c.at, INFINITY, 0};
}

/* different ones of cells (hidden of them), sorted and counted */
static void group_hidings(const ur_hiding *cells, size_t hidden, ur_keyed *keys, ur_steps *out)
{
    ur_keyed *scratch = keys + hidden;
    for (size_t i = 0; i < hidden; i++)
        keys[i] = (ur_keyed){cells[i].high, i};
    ur_sort_keyed(keys, scratch, hidden);
    for (size_t i = 0; i < hidden; i++)
        keys[i].key = cells[keys[i].at].low;
    ur_sort_keyed(keys, scratch, hidden); /* which leaves equal ones by their other end */
    for (size_t i = 0; i < hidden; i++) {
        const ur_hiding *h = &cells[keys[i].at], *last = out->hiding + out->hidings - 1;
        if (out->hidings == 0 || h->low != last->low || h->high != last->high)
            out->hiding[out->hidings++] = *h;
        out->hiding[out->hidings - 1].cells++;
    }
}

unrelu_status ur_steps_find(ur_arena *arena, const ur_known *known, ur_steps *out,
                            unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = known->n, seen = 0, hidden = 0;
    double *value = ur_take(&own, n, sizeof *value), *scratch = ur_take(&own, n, sizeof *scratch);
    ur_hiding *cells = ur_take(&own, n, sizeof *cells);
    int below_only = 1;
    *out = (ur_steps){0};
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < n; i++) {
        ur_cell c = ur_cell_at(known->x, known->upper, known->state, i);
        if (c.state == UR_SEEN)
            value[seen++] = c.at;
        else if (c.state != UR_MISSING)
            cells[hidden++] = hiding_of(known, i, c);
        below_only &= c.state != UR_ABOVE && c.state != UR_BETWEEN;
    }
    size_t room = seen + 1;
    ur_keyed *keys = ur_take(&own, hidden, 2 * sizeof *keys);
    out->hiding = ur_take(arena, hidden, sizeof *out->hiding);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    out->observed = (double)(seen + hidden);
    out->seen = (double)seen;
    ur_sort(value, scratch, seen);
    out->rounding = known->scale;
    ur_rounding_find(&out->rounding, value, seen, out->observed);
    group_hidings(cells, hidden, keys, out);
    if (!below_only)
        return ur_steps_settle(arena, value, seen, out, err);
    out->low = ur_take(arena, room, sizeof *out->low);
    out->value = ur_take(arena, room, sizeof *out->value);
    out->sum = ur_take(arena, room, sizeof *out->sum);
    UR_TRY(ur_arena_status(arena, err));
    size_t first = descend(value, seen, room, out);
    out->low += first;
    out->value += first;
    out->sum += first;
    out->count = room - first;
    return UNRELU_OK;
}

/* ---- what steps say ---- */

/* of all steps that end before x, or at it */
static double mass_of_first(const ur_steps *s, double x, int with_seen)
{
    size_t from = 0, to = s->count;
    while (from < to) { /* the mass of a gap lies below its upper end */
        size_t k = (from + to) / 2;
        int gap = s->low[k] < s->value[k];
        int before = s->value[k] < x || (s->value[k] == x && (gap || with_seen));
        *(before ? &from : &to) = before ? k + 1 : k;
    }
    return from ? s->sum[from - 1] : 0;
}

double ur_steps_before(const ur_steps *s, double x)
{
    return mass_of_first(s, x, 0);
}

double ur_steps_up_to(const ur_steps *s, double x)
{
    return mass_of_first(s, x, 1);
}

double ur_steps_quantile(const ur_steps *s, double share)
{
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t k = (from + to) / 2;
        int less = s->sum[k] < share * (1 - SHARE_ROUNDING);
        *(less ? &from : &to) = less ? k + 1 : k;
    }
    return from < s->count && s->low[from] == s->value[from] ? s->value[from] : NAN;
}

/* Where mass k begins and ends. Of rounded values: where their cells do, and a limit of cells below
 * one, as a rounded number, ends half a unit above itself, so that a value next to it may begin at
 * the limit already: what lies between was recorded as the one or as the other. */
static void ends_of(const ur_steps *s, size_t k, double *low, double *high)
{
    const ur_rounding *r = &s->rounding;
    double ignored;
    *low = s->low[k];
    *high = s->value[k];
    if (!(r->whole > 0))
        return;
    if (*low == *high)
        ur_rounding_cell(r, s->value[k], low, high);
    else if (*low == -INFINITY)
        ur_rounding_cell(r, s->value[k], &ignored, high);
    if (k == 1 && s->low[0] == -INFINITY && s->value[0] < *low) {
        double end;
        ur_rounding_cell(r, s->value[0], &ignored, &end);
        *low = *low <= end ? s->value[0] : *low;
    }
}

/* Between the end of a mass and the beginning of the next, F_n is the sum S so far: of all x there
 * the ends say most, by S - F(end) and F(beginning) - S. */
double ur_steps_distance(const ur_steps *steps, double b, double s, const double *known)
{
    double largest = 0, before = 0, low, high;
    for (size_t k = 0; k < steps->count; k++) {
        ends_of(steps, k, &low, &high);
        double F = ur_normal_cdf((low - b) / s);
        largest = fmax(largest, (F - before) * (known ? known[k] : 1));
        F = high > low ? ur_normal_cdf((high - b) / s) : F;
        before = steps->sum[k];
        largest = fmax(largest, (before - F) * (known ? known[k + 1] : 1));
    }
    return steps->count ? largest : NAN;
}

int ur_steps_one_limit(const ur_steps *s)
{
    return s->hidings == 0 || (s->hidings == 1 && s->count > 0 && s->low[0] == -INFINITY &&
                               s->hiding[0].low == -INFINITY);
}
