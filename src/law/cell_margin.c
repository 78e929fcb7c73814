/* SPDX-License-Identifier: Apache-2.0 */
/* With t = 1 / s and e = b / s the logarithm of the likelihood,
 *   sum over seen [log t - (t x - e)^2 / 2 - log sqrt(2 pi)] + sum over below log Phi(t l - e)
 *   + sum over above log Phi(e - t l) + sum over between log(Phi(t u - e) - Phi(t l - e)),
 * is concave (Olsen): Newton with halved steps from the mean and deviation of what was seen finds
 * its maximum to rounding, in 4 to 12 steps. Equal limits are counted together. There is one unless
 * some value agrees with all that is known: then s goes to 0 (limits of one side alone: b to
 * infinity). */
#include "law/cell_margin.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "law/normal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

enum { STEPS = 200 };
/* The rise that a Newton step promises, for each value seen: done below the first; below the
 * second, the root of DBL_EPSILON, rounding may hide it, and the step is good as it is. */
static const double DONE = 1e-22, NEAR = 0x1p26 * DBL_EPSILON;
/* (b - limit) / s where no cell is below a limit: as good as infinite, and finite */
static const double NO_LIMIT_GAMMA = 8;
/* limits of one side, each different one with how often it occurs */
typedef struct {
    size_t count;
    double *limit, *times;
} limits;

typedef struct {
    double n, sum, square; /* of the values seen, in units: x = center + unit x' */
    double center, unit;
    double low, high; /* the largest lower and the smallest upper end of all that is known */
    limits below, above;
    size_t intervals;
    double *middle, *width;
} sample;

typedef struct {
    double value;      /* of the likelihood, but for constants */
    double g[2], h[3]; /* gradient, minus the second derivatives: ee, et, tt */
} expansion;

/* equal ones are counted; in units of the sample. times is scratch before */
static void group(limits *l, size_t n, const sample *s)
{
    size_t sorted = 1; /* as they are: they are often equal */
    while (sorted < n && l->limit[sorted - 1] <= l->limit[sorted])
        sorted++;
    if (sorted < n)
        ur_sort(l->limit, l->times, n);
    for (size_t i = 0; i < n; i++) {
        if (l->count == 0 || l->limit[i] != l->limit[l->count - 1]) {
            l->limit[l->count] = l->limit[i];
            l->times[l->count++] = 0;
        }
        l->times[l->count - 1]++;
    }
    for (size_t i = 0; i < l->count; i++)
        l->limit[i] = (l->limit[i] - s->center) / s->unit;
}

/* counts, ends, and where the cells are that are seen or between two ends */
static void sort_out(size_t n, const double *x, const double *upper, const unsigned char *state,
                     ur_cell_margin *out, sample *s)
{
    double sum = 0;
    s->low = -INFINITY;
    s->high = INFINITY;
    for (size_t i = 0; i < n; i++) {
        ur_cell c = ur_cell_at(x, upper, state, i);
        double half = c.width / 2;
        if (c.state == UR_MISSING)
            continue;
        if (c.state != UR_BELOW && c.at - half > s->low)
            s->low = c.at - half;
        if (c.state != UR_ABOVE && c.at + half < s->high)
            s->high = c.at + half;
        if (c.state == UR_SEEN) {
            sum += c.at;
            out->seen++;
        } else if (c.state == UR_BELOW) {
            s->below.limit[out->below++] = c.at;
        } else if (c.state == UR_ABOVE) {
            s->above.limit[out->above++] = c.at;
        } else {
            sum += c.at;
            s->middle[out->between] = c.at;
            s->width[out->between++] = c.width;
        }
    }
    double inner = (double)(out->seen + out->between);
    s->center = inner > 0 ? sum / inner : 0;
    s->intervals = out->between;
    s->n = (double)out->seen;
}

/* the spread of what is seen or between; of one value alone, by its distance from the limits */
static double unit_of(size_t n, const double *x, const double *upper, const unsigned char *state,
                      const sample *s)
{
    double square = 0, unit;
    for (size_t i = 0; i < n; i++) {
        ur_cell c = ur_cell_at(x, upper, state, i);
        if (c.state == UR_SEEN || c.state == UR_BETWEEN)
            square += (c.at - s->center) * (c.at - s->center) + c.width * c.width / 12;
    }
    unit = sqrt(square / fmax(s->n + (double)s->intervals, 1));
    for (size_t i = 0; i < n && !(unit > 0); i++) {
        ur_cell c = ur_cell_at(x, upper, state, i);
        if (c.state == UR_BELOW || c.state == UR_ABOVE)
            unit = fmax(unit, fabs(s->center - c.at));
    }
    return unit > 0 ? unit : 1;
}

static void measure(size_t n, const double *x, const double *upper, const unsigned char *state,
                    ur_cell_margin *out, sample *s)
{
    sort_out(n, x, upper, state, out, s);
    s->unit = unit_of(n, x, upper, state, s);
    group(&s->below, out->below, s);
    group(&s->above, out->above, s);
    for (size_t i = 0; i < s->intervals; i++) {
        s->middle[i] = (s->middle[i] - s->center) / s->unit;
        s->width[i] /= s->unit;
    }
    for (size_t i = 0; i < n; i++)
        if (ur_cell_at(x, upper, state, i).state == UR_SEEN) {
            double u = (x[i] - s->center) / s->unit;
            s->sum += u;
            s->square += u * u;
        }
}

/* side as that of ur_hidden */
static void add_limits(const limits *all, double side, double e, double t, expansion *f)
{
    for (size_t i = 0; i < all->count; i++) {
        double l = all->limit[i], u = side * (e - t * l), count = all->times[i];
        double ratio = ur_normal_hazard(-u); /* phi(u) / Phi(u) */
        double curve = count * ratio * (ratio + u);
        f->value += count * ur_normal_log_cdf(u);
        f->g[0] += side * count * ratio;
        f->g[1] -= side * count * ratio * l;
        f->h[0] += curve;
        f->h[1] -= curve * l;
        f->h[2] += curve * l * l;
    }
}

/* the middle is t x - e, the logarithm of the width log t and a constant */
static void add_intervals(const sample *s, double e, double t, expansion *f)
{
    for (size_t i = 0; i < s->intervals; i++) {
        double x = s->middle[i];
        ur_interval at = ur_interval_at((ur_hidden){0, t * x - e, t * s->width[i]});
        f->value += at.log_p;
        f->g[0] -= at.by_m;
        f->g[1] += at.by_m * x + at.by_w / t;
        f->h[0] -= at.by_mm;
        f->h[1] += at.by_mm * x + at.by_mw / t;
        f->h[2] -= at.by_mm * x * x + 2 * at.by_mw * x / t + (at.by_ww - at.by_w) / (t * t);
    }
}

static expansion expand(const sample *s, double e, double t)
{
    expansion f = {.value =
                       s->n * log(t) - (t * t * s->square - 2 * t * e * s->sum + s->n * e * e) / 2,
                   .g = {t * s->sum - s->n * e, s->n / t - t * s->square + e * s->sum},
                   .h = {s->n, -s->sum, s->n / (t * t) + s->square}};
    add_limits(&s->below, -1, e, t, &f);
    add_limits(&s->above, 1, e, t, &f);
    add_intervals(s, e, t, &f);
    return f;
}

/* 0 where it did not settle */
static int solve(const sample *s, double *e, double *t, expansion *f, int *steps)
{
    double cells = s->n + (double)s->intervals + 1;
    *f = expand(s, *e, *t);
    for (*steps = 0; *steps < STEPS; ++*steps) {
        double det = f->h[0] * f->h[2] - f->h[1] * f->h[1];
        double de = (f->h[2] * f->g[0] - f->h[1] * f->g[1]) / det;
        double dt = (f->h[0] * f->g[1] - f->h[1] * f->g[0]) / det;
        double promised = de * f->g[0] + dt * f->g[1], step = 1;
        if (!isfinite(promised))
            return 0;
        if (promised <= DONE * cells)
            return 1;
        int near = promised < NEAR * cells;
        expansion next = *f;
        for (; step > DBL_EPSILON; step /= 2) { /* else it does not rise along the step */
            if (*t + step * dt <= 0)
                continue;
            next = expand(s, *e + step * de, *t + step * dt);
            if (next.value > f->value || near)
                break;
        }
        if (step <= DBL_EPSILON)
            return 0;
        *e += step * de;
        *t += step * dt;
        *f = next;
    }
    return 0;
}

static void set_nan(ur_margin *m, ur_margin_verdict verdict)
{
    *m = (ur_margin){verdict, NAN, NAN, NAN, NAN, NAN, NAN, 0, NAN};
}

static void finish(const sample *s, double e, double t, const expansion *f, ur_cell_margin *out)
{
    ur_margin *m = &out->margin;
    double det = f->h[0] * f->h[2] - f->h[1] * f->h[1];
    double ee = f->h[2] / det, et = -f->h[1] / det, tt = f->h[0] / det;
    double b = e / t, scale = 1 / t, u = s->unit;
    int limited = s->below.count > 0, hidden = limited || s->above.count > 0 || s->intervals > 0;
    m->verdict = hidden ? UR_MARGIN_FITTED : UR_MARGIN_NO_ZEROS;
    m->b = s->center + u * b;
    m->s = u * scale;
    /* db = (de - b dt) / t, ds = -dt / t^2 */
    out->V[0] = u * u * (ee - 2 * b * et + b * b * tt) / (t * t);
    out->V[1] = -u * u * (et - b * tt) / (t * t * t);
    out->V[2] = u * u * tt / (t * t * t * t);
    m->b_se = sqrt(out->V[0]);
    m->s_se = sqrt(out->V[2]);
    m->bs = out->V[1];
    double top = limited ? s->below.limit[s->below.count - 1] : 0;
    m->gamma = limited ? e - t * top : NO_LIMIT_GAMMA;
    m->gamma_se = limited ? sqrt(ee - 2 * top * et + top * top * tt) : m->b_se / m->s;
    out->likelihood = f->value - s->n * (LOG_SQRT_2PI + log(u));
}

static int holds(size_t n, const unsigned char *state, unsigned char which)
{
    for (size_t i = 0; i < n; i++)
        if (state[i] == which)
            return 1;
    return 0;
}

unrelu_status ur_cell_margin_fit(size_t n, const double *x, const double *upper,
                                 const unsigned char *state, ur_cell_margin *out, unrelu_error *err)
{
    UR_ARENA(arena);
    sample s = {0};
    double **const arrays[] = {&s.below.limit, &s.below.times, &s.above.limit,
                               &s.above.times, &s.middle,      &s.width};
    size_t used = 2 + (size_t)(holds(n, state, UR_ABOVE) || upper ? 2 : 0) + (upper ? 2 : 0);
    for (size_t i = 0; i < used; i++)
        *arrays[i] = ur_take(&arena, n, sizeof(double));
    expansion f;
    double e = 0, t = 1;
    *out = (ur_cell_margin){.V = {NAN, NAN, NAN}, .likelihood = NAN};
    UR_TRY(ur_arena_status(&arena, err));
    measure(n, x, upper, state, out, &s);
    /* else one value agrees with all cells, and s goes to 0 */
    int bounded = s.low > s.high, hidden = out->below + out->above + out->between > 0;
    if (isinf(s.low) || isinf(s.high))
        set_nan(&out->margin, UR_MARGIN_ALL_ZERO);
    else if (!bounded && !hidden)
        out->margin = (ur_margin){UR_MARGIN_CONSTANT, s.center, 0, INFINITY, 0, 0, NAN, 0, 0};
    else if (!bounded || !solve(&s, &e, &t, &f, &out->margin.iterations))
        set_nan(&out->margin, UR_MARGIN_NO_MAXIMUM);
    else
        finish(&s, e, t, &f, out);
    return UNRELU_OK;
}
