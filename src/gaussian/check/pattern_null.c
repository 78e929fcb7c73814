/* SPDX-License-Identifier: Apache-2.0 */
/* What the distance of a column with several limits is where its law is right: p = (r + 1) /
 * (runs + 1), r of `runs` simulated columns being at least as far from theirs. A simulated cell is
 * normal, and hides as the column's cells do: of c cells among n that are known to lie in A alone,
 * a value in A hides so with chance c / (n F(A)), F being the column's own steps. These are the
 * chances where what is hidden knows of the value no more than that it lies in A (with the steps
 * they are a maximum of the likelihood); what is left over is seen. So no limit of a cell that was
 * seen need be known.
 *
 * Of few cells these chances are known badly, and a column whose limits hide more by chance is far
 * from its law for that reason: p would be too large (one in 40 below .05 at 30 cells, of two
 * limits). Distances are therefore multiplied by how well the steps are known at their place
 * (steps_known.c), which makes their law depend little on what hides where (with one limit it does
 * not change them); and simulated columns draw how they hide evenly, not at random, as a design has
 * it.
 *
 * sqrt n D has a law that depends on n little (Stephens 1974): beyond what has 400 values seen,
 * smaller columns are simulated. A run stops where enough are as far, with p = r / runs, which is
 * as valid (Besag and Clifford 1991). */
#include "base/error.h"
#include "base/random.h"
#include "gaussian/check/goodness.h"

#include <math.h>

/* ENOUGH: a p of 0.1 is then known to a tenth of it */
enum { RUNS = 999, SEEN = 400, COARSE_SEEN = 2000, MOST_CELLS = 8000, ENOUGH = 100 };

/* Where values are rounded to units of h deviations, s is off by h^2 / 24 of itself whatever n is,
 * and sqrt n D is not free of n: from steps of this share (h is an eighth) more are simulated. */
static const double COARSE = 0.05;

/* Limits in deviations from b (of rounded values as they are), of cells below from the largest
 * down, above from the smallest up: the chance of this one or one before it; and intervals with the
 * chance of each. */
typedef struct {
    size_t belows, aboves, betweens;
    double *below, *below_chance, *above, *above_chance;
    ur_hiding *between;          /* cells: the chance */
    double b, scale;             /* of the law: 0 and 1, of limits in deviations from b */
    const ur_rounding *rounding; /* NULL: none. What becomes `least` or less lies below that; what
                                  * becomes 0, and has no image, below `nothing` */
    double least, nothing;
} pattern;

static double chance_of(const ur_steps *s, const ur_hiding *h)
{
    double up_to = h->high == INFINITY ? 1 : ur_steps_before(s, h->high);
    double mass = up_to - (h->low == -INFINITY ? 0 : ur_steps_up_to(s, h->low));
    return mass > 0 ? fmin(1, h->cells / (s->observed * mass)) : 0;
}

static void find_pattern(const ur_steps *s, double b, double scale, pattern *p)
{
    double total = 0;
    size_t belows = 0;
    while (belows < s->hidings && s->hiding[belows].low == -INFINITY)
        belows++;
    for (size_t k = belows; k > 0; k--) {
        total += chance_of(s, &s->hiding[k - 1]);
        p->below[p->belows] = (s->hiding[k - 1].high - b) / scale;
        p->below_chance[p->belows++] = fmin(1, total);
    }
    total = 0;
    for (size_t k = belows; k < s->hidings; k++) {
        const ur_hiding *h = &s->hiding[k];
        double low = (h->low - b) / scale, chance = chance_of(s, h);
        if (h->high < INFINITY) {
            p->between[p->betweens++] = (ur_hiding){low, (h->high - b) / scale, chance};
            continue;
        }
        total += chance;
        p->above[p->aboves] = low;
        p->above_chance[p->aboves++] = fmin(1, total);
    }
}

/* the first of which the chance is above u */
static size_t drawn(const double *chance, size_t count, double u)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t k = (from + to) / 2;
        *(chance[k] <= u ? &from : &to) = chance[k] <= u ? k + 1 : k;
    }
    return from;
}

/* the chance that x hides below a limit: of those at or above it */
static double chance_below(const pattern *p, double x)
{
    size_t from = 0, to = p->belows;
    while (from < to) {
        size_t k = (from + to) / 2;
        *(p->below[k] >= x ? &from : &to) = p->below[k] >= x ? k + 1 : k;
    }
    return from ? p->below_chance[from - 1] : 0;
}

/* Of u in (0, 1), small ones hide x below a limit, large ones above, and those next to the former
 * between two ends. */
static unsigned char hide(const pattern *p, double u, double *x, double *upper)
{
    size_t below = drawn(p->below_chance, p->belows, u);
    size_t above = drawn(p->above_chance, p->aboves, 1 - u);
    double y = *x, left = u - (p->betweens ? chance_below(p, y) : 0);
    if (below < p->belows && y <= p->below[below]) {
        *x = p->below[below];
        return UR_BELOW;
    }
    if (above < p->aboves && y >= p->above[above]) {
        *x = p->above[above];
        return UR_ABOVE;
    }
    for (size_t k = 0; k < p->betweens && p->between[k].low < y; k++) {
        if (y >= p->between[k].high || (left -= p->between[k].cells) >= 0)
            continue;
        *x = p->between[k].low;
        *upper = p->between[k].high;
        return UR_BETWEEN;
    }
    return UR_SEEN;
}

/* What is simulated of values that were rounded is so too, in the column's own unit. */
static void find_rounding(const ur_steps *s, double b, double scale, pattern *p)
{
    size_t first = 0;
    p->rounding = &s->rounding;
    p->b = b;
    p->scale = scale;
    p->least = -INFINITY;
    p->nothing = ur_rounding_of_nothing(&s->rounding);
    while (first < s->count && s->low[first] < s->value[first])
        first++;
    if (s->hidings && s->hiding[0].low == -INFINITY && first < s->count &&
        s->value[first] > s->hiding[0].high)
        p->least = s->hiding[0].high; /* no value was recorded at it */
}

static unsigned char record(const pattern *p, double *x)
{
    double y = ur_rounding_of(p->rounding, *x);
    int below = y <= p->least || y == -INFINITY;
    *x = below ? fmax(p->least, p->nothing) : y;
    return below ? UR_BELOW : UR_SEEN;
}

static double stretched(double n, double distance)
{
    return distance * (sqrt(n) + UR_STEPHENS_A + UR_STEPHENS_C / sqrt(n));
}

/* cells that lie between two ends: as good as seen where these are close */
static double intervals_of(const ur_steps *s)
{
    double cells = 0;
    for (size_t k = 0; k < s->hidings; k++)
        cells += isfinite(s->hiding[k].low) && isfinite(s->hiding[k].high) ? s->hiding[k].cells : 0;
    return cells;
}

static int is_coarse(const ur_steps *s)
{
    for (size_t k = 0; k < s->count; k++)
        if (s->low[k] == s->value[k] && s->sum[k] - (k ? s->sum[k - 1] : 0) >= COARSE)
            return 1;
    return 0;
}

/* NaN: it could not be fitted */
static unrelu_status simulate(const pattern *p, size_t n, const ur_pattern_test *test,
                              uint64_t seed, uint64_t run, double *room, double *distance,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    double *x = room, *u = room + n, *upper = u + n;
    ur_known known = {.n = n, .x = x, .upper = p->betweens ? upper : NULL};
    unsigned char *state = ur_take(&arena, n, 1);
    ur_cell_margin fit = {.margin = {.b = p->b, .s = p->scale}};
    ur_steps steps;
    *distance = NAN;
    UR_TRY(ur_arena_status(&arena, err));
    known.state = state;
    ur_random_normals(seed, test->stream, run * n, n, x);
    ur_random_uniforms(seed, test->stream, run * n, n, u);
    for (size_t i = 0; i < n; i++) {
        u[i] = ((double)i + u[i]) / (double)n;
        upper[i] = NAN;
        x[i] = p->b + p->scale * x[i];
        state[i] = hide(p, u[i], &x[i], &upper[i]);
        if (state[i] == UR_SEEN && p->rounding)
            state[i] = record(p, &x[i]);
    }
    if (test->fitted)
        UR_TRY(ur_cell_margin_fit(n, x, known.upper, state, &fit, err));
    UR_TRY(ur_steps_find(&arena, &known, &steps, err));
    if (p->rounding)
        steps.rounding = *p->rounding;
    if (fit.margin.s > 0 && isfinite(fit.margin.b) && steps.count > 0)
        UR_TRY(ur_steps_known_distance(&steps, fit.margin.b, fit.margin.s, distance, err));
    return UNRELU_OK;
}

unrelu_status ur_pattern_p(const ur_pattern_test *test, size_t runs, uint64_t seed, double *p,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_steps *s = test->steps;
    double *limits = ur_take(&arena, s->hidings, 4 * sizeof *limits);
    double told = fmax(s->seen + intervals_of(s), 1);
    int rounded = s->rounding.whole > 0, wanted = rounded && is_coarse(s) ? COARSE_SEEN : SEEN;
    double n = fmin(s->observed, ceil(wanted * s->observed / told));
    size_t cells = (size_t)fmin(n, MOST_CELLS), far = 0, done = 0, want = runs ? runs : RUNS;
    double *room = ur_take(&arena, cells, 3 * sizeof *room), distance;
    double own = stretched(s->observed, test->distance);
    pattern hidden = {.scale = 1,
                      .below = limits,
                      .below_chance = limits + s->hidings,
                      .above = limits + 2 * s->hidings,
                      .above_chance = limits + 3 * s->hidings,
                      .between = ur_take(&arena, s->hidings, sizeof *hidden.between)};
    *p = NAN;
    UR_TRY(ur_arena_status(&arena, err));
    find_pattern(s, rounded ? 0 : test->b, rounded ? 1 : test->s, &hidden);
    if (rounded)
        find_rounding(s, test->b, test->s, &hidden);
    for (size_t run = 0; run < want && far < ENOUGH; run++) {
        UR_TRY(simulate(&hidden, cells, test, seed, run, room, &distance, err));
        done += (size_t)!isnan(distance);
        far += (size_t)(stretched((double)cells, distance) >= own);
    }
    *p = far >= ENOUGH ? (double)far / (double)done : (double)(far + 1) / (double)(done + 1);
    return UNRELU_OK;
}
