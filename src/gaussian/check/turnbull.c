/* SPDX-License-Identifier: Apache-2.0 */
/* The non-parametric maximum of the likelihood of values and of cells that lie in open intervals.
 * Its mass lies at values and in innermost gaps: where an interval begins and the next end of
 * anything is that of an interval (Turnbull 1976; Peto 1973). Masses p_k are settled by
 *   p_k <- p_k g_k,   n g_k = seen at k / p_k + sum over intervals that hold k of cells /
 * mass(them), which raises the likelihood, and whose only rest is its maximum. With sums of p a
 * round is linear in steps and intervals. All g_k <= 1 + e leaves a logarithm of the likelihood of
 * at most n e to be gained (it is concave in p, and the p_k add up to 1). Two rounds r = F(p) - p,
 * v = F(F(p)) - F(p) - r give a far longer step p + 2 a r + a^2 v, a = |r| / |v| (SQUAREM; Varadhan
 * and Roland 2008), which is kept where its masses are positive, and settled by a round at once. */
#include "base/error.h"
#include "base/order.h"
#include "gaussian/check/steps.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* e of each cell at which masses are settled: distribution functions then agree to about as much,
 * which is far below what 1e8 cells can tell */
static const double SETTLED = 1e-6;
/* Pace: rounds of three, where gaps hold masses that hardly differ in the likelihood */
enum { ROUNDS = 2000 };

typedef struct {
    size_t count, hidings;
    double cells;
    const ur_hiding *hiding;
    size_t *first, *last; /* hidings: of the steps that each holds, the first and the one after */
    double *seen;         /* count: cells of this value; 0 of a gap */
    double *sum, *rise;   /* count + 1: scratch */
} turnbull;

/* ---- where mass may lie ---- */

static void place_steps(const double *value, size_t count, const double *from, const double *to,
                        size_t hidings, double *seen, ur_steps *out)
{
    size_t i = 0, f = 0, t = 0;
    double begun = NAN;                /* an interval, and no end of anything since */
    while (i < count || t < hidings) { /* at one place: ends, then values, then beginnings */
        double end = t < hidings ? to[t] : INFINITY, at = i < count ? value[i] : INFINITY;
        double begin = f < hidings ? from[f] : INFINITY;
        if (t < hidings && end <= at && end <= begin) {
            if (!isnan(begun)) {
                out->low[out->count] = begun;
                out->value[out->count++] = end;
            }
            begun = NAN;
            t++;
        } else if (i < count && at <= begin) {
            size_t first = i;
            while (i < count && value[i] == at)
                i++;
            seen[out->count] = (double)(i - first);
            out->alone += i - first == 1;
            out->low[out->count] = out->value[out->count] = at;
            out->count++;
            begun = NAN;
        } else {
            begun = begin;
            f++;
        }
    }
}

/* the first step of which an end lies beyond x, or at x where it is a gap that begins there */
static size_t first_after(const double *ends, const ur_steps *s, double x, int beginning)
{
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t k = (from + to) / 2;
        int gap = s->low[k] < s->value[k];
        int within = ends[k] < x || (ends[k] == x && (beginning ? !gap : gap));
        *(within ? &from : &to) = within ? k + 1 : k;
    }
    return from;
}

/* ---- how much of it ---- */

/* out (count) of p; returns the largest g */
static double settle_once(const turnbull *t, const double *p, double *out)
{
    double most = 0, held = 0;
    t->sum[0] = 0;
    memset(t->rise, 0, (t->count + 1) * sizeof *t->rise);
    for (size_t k = 0; k < t->count; k++)
        t->sum[k + 1] = t->sum[k] + p[k];
    for (size_t h = 0; h < t->hidings; h++) {
        double mass = t->sum[t->last[h]] - t->sum[t->first[h]];
        double ratio = t->hiding[h].cells / fmax(mass, DBL_MIN);
        t->rise[t->first[h]] += ratio;
        t->rise[t->last[h]] -= ratio;
    }
    for (size_t k = 0; k < t->count; k++) {
        held += t->rise[k];
        out[k] = (t->seen[k] + p[k] * fmax(held, 0)) / t->cells;
        most = fmax(most, p[k] > 0 ? out[k] / p[k] : 0);
    }
    return most;
}

/* p, of which one and two are the next two: far along the way that they show; 0 where that leaves
 * the masses that there can be */
static int leap(size_t count, const double *p, const double *one, const double *two, double *to)
{
    double r = 0, v = 0, total = 0;
    for (size_t k = 0; k < count; k++) {
        double step = one[k] - p[k], bend = two[k] - one[k] - step;
        r += step * step;
        v += bend * bend;
    }
    double a = v > 0 ? fmax(1, sqrt(r / v)) : 1;
    for (size_t k = 0; k < count; k++) {
        double step = one[k] - p[k], bend = two[k] - one[k] - step;
        to[k] = p[k] + 2 * a * step + a * a * bend;
        if (!(to[k] >= 0) || (to[k] == 0 && p[k] > 0))
            return 0;
        total += to[k];
    }
    for (size_t k = 0; k < count; k++)
        to[k] /= total;
    return 1;
}

static void settle(const turnbull *t, double *p, double *room)
{
    double *one = room, *two = room + t->count, *far = two + t->count;
    for (int round = 0; round < ROUNDS; round++) {
        if (settle_once(t, p, one) <= 1 + SETTLED)
            return;
        settle_once(t, one, two);
        if (leap(t->count, p, one, two, far))
            settle_once(t, far, p);
        else
            memcpy(p, two, t->count * sizeof *p);
    }
}

unrelu_status ur_steps_settle(ur_arena *arena, const double *value, size_t count, ur_steps *out,
                              unrelu_error *err)
{
    UR_ARENA(own);
    size_t h = out->hidings, most = count + h;
    turnbull t = {.hidings = h, .cells = out->observed, .hiding = out->hiding};
    double *from = ur_take(&own, h, sizeof *from), *to = ur_take(&own, h, sizeof *to);
    double *scratch = ur_take(&own, h, sizeof *scratch);
    t.first = ur_take(&own, h, sizeof *t.first);
    t.last = ur_take(&own, h, sizeof *t.last);
    t.seen = ur_take(&own, most, sizeof *t.seen);
    t.sum = ur_take(&own, most + 1, sizeof *t.sum);
    t.rise = ur_take(&own, most + 1, sizeof *t.rise);
    double *p = ur_take(&own, most, sizeof *p), *room = ur_take(&own, most, 3 * sizeof *room);
    out->low = ur_take(arena, most, sizeof *out->low);
    out->value = ur_take(arena, most, sizeof *out->value);
    out->sum = ur_take(arena, most, sizeof *out->sum);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < h; i++) {
        from[i] = out->hiding[i].low; /* by which they are sorted */
        to[i] = out->hiding[i].high;
    }
    ur_sort(to, scratch, h);
    place_steps(value, count, from, to, h, t.seen, out);
    t.count = out->count;
    for (size_t i = 0; i < h; i++) {
        t.first[i] = first_after(out->low, out, from[i], 1);
        t.last[i] = first_after(out->value, out, out->hiding[i].high, 0);
    }
    for (size_t k = 0; k < t.count; k++)
        p[k] = 1 / (double)t.count;
    settle(&t, p, room);
    double sum = 0;
    for (size_t k = 0; k < t.count; k++)
        out->sum[k] = sum += p[k];
    for (size_t k = 0; k < t.count; k++) /* the last is 1 */
        out->sum[k] /= sum;
    return UNRELU_OK;
}
