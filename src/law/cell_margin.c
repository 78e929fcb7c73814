/* SPDX-License-Identifier: Apache-2.0 */
/* With t = 1 / s and e = b / s the logarithm of the likelihood,
 *   sum over seen [log t - (t x - e)^2 / 2 - log sqrt(2 pi)] + sum over below log Phi(t l - e),
 * is concave (Olsen): Newton with halved steps from the mean and deviation of what was seen finds
 * its maximum to rounding, in 4 to 12 steps. Equal limits are counted together. */
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
typedef struct {
    double n, sum, square; /* of the values seen, in units: x = center + unit x' */
    double center, unit;
    size_t limits; /* different ones */
    double *limit, *count;
} sample;

typedef struct {
    double value;      /* of the likelihood, but for constants */
    double g[2], h[3]; /* gradient, minus the second derivatives: ee, et, tt */
} expansion;

static void measure(size_t n, const double *x, const unsigned char *state, ur_cell_margin *out,
                    sample *s)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        if (state[i] == UR_SEEN) {
            mean += x[i];
            out->seen++;
        } else if (state[i] == UR_BELOW) {
            s->limit[out->below++] = x[i];
        }
    }
    s->n = (double)out->seen;
    s->center = out->seen ? mean / s->n : 0;
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_SEEN)
            square += (x[i] - s->center) * (x[i] - s->center);
    s->unit = sqrt(square / fmax(s->n, 1));
    ur_sort(s->limit, s->count, out->below);
    for (size_t i = 0; i < out->below; i++) { /* equal ones are counted */
        if (s->limits == 0 || s->limit[i] != s->limit[s->limits - 1]) {
            s->limit[s->limits] = s->limit[i];
            s->count[s->limits++] = 0;
        }
        s->count[s->limits - 1]++;
    }
    if (!(s->unit > 0)) /* one value alone: by its distance from the limits */
        for (size_t i = 0; i < s->limits; i++)
            s->unit = fmax(s->unit, fabs(s->center - s->limit[i]));
    s->unit = s->unit > 0 ? s->unit : 1;
    for (size_t i = 0; i < n; i++)
        if (state[i] == UR_SEEN) {
            double u = (x[i] - s->center) / s->unit;
            s->sum += u;
            s->square += u * u;
        }
    for (size_t i = 0; i < s->limits; i++)
        s->limit[i] = (s->limit[i] - s->center) / s->unit;
}

static expansion expand(const sample *s, double e, double t)
{
    expansion f = {.value =
                       s->n * log(t) - (t * t * s->square - 2 * t * e * s->sum + s->n * e * e) / 2,
                   .g = {t * s->sum - s->n * e, s->n / t - t * s->square + e * s->sum},
                   .h = {s->n, -s->sum, s->n / (t * t) + s->square}};
    for (size_t i = 0; i < s->limits; i++) {
        double l = s->limit[i], u = t * l - e, count = s->count[i];
        double ratio = ur_normal_hazard(-u); /* phi(u) / Phi(u) */
        double curve = count * ratio * (ratio + u);
        f.value += count * ur_normal_log_cdf(u);
        f.g[0] -= count * ratio;
        f.g[1] += count * ratio * l;
        f.h[0] += curve;
        f.h[1] -= curve * l;
        f.h[2] += curve * l * l;
    }
    return f;
}

/* 0 where it did not settle */
static int solve(const sample *s, double *e, double *t, expansion *f, int *steps)
{
    *f = expand(s, *e, *t);
    for (*steps = 0; *steps < STEPS; ++*steps) {
        double det = f->h[0] * f->h[2] - f->h[1] * f->h[1];
        double de = (f->h[2] * f->g[0] - f->h[1] * f->g[1]) / det;
        double dt = (f->h[0] * f->g[1] - f->h[1] * f->g[0]) / det;
        double promised = de * f->g[0] + dt * f->g[1], step = 1;
        if (!isfinite(promised))
            return 0;
        if (promised <= DONE * (s->n + 1))
            return 1;
        int near = promised < NEAR * (s->n + 1);
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
    m->verdict = s->limits ? UR_MARGIN_FITTED : UR_MARGIN_NO_ZEROS;
    m->b = s->center + u * b;
    m->s = u * scale;
    /* db = (de - b dt) / t, ds = -dt / t^2 */
    out->V[0] = u * u * (ee - 2 * b * et + b * b * tt) / (t * t);
    out->V[1] = -u * u * (et - b * tt) / (t * t * t);
    out->V[2] = u * u * tt / (t * t * t * t);
    m->b_se = sqrt(out->V[0]);
    m->s_se = sqrt(out->V[2]);
    m->bs = out->V[1];
    double top = s->limits ? s->limit[s->limits - 1] : 0;
    m->gamma = s->limits ? e - t * top : NO_LIMIT_GAMMA;
    m->gamma_se = s->limits ? sqrt(ee - 2 * top * et + top * top * tt) : m->b_se / m->s;
    out->likelihood = f->value - s->n * (LOG_SQRT_2PI + log(u));
}

unrelu_status ur_cell_margin_fit(size_t n, const double *x, const double *upper,
                                 const unsigned char *state, ur_cell_margin *out, unrelu_error *err)
{
    UR_ARENA(arena);
    sample s = {.limit = ur_take(&arena, n, sizeof *s.limit),
                .count = ur_take(&arena, n, sizeof *s.count)};
    expansion f;
    double e = 0, t = 1;
    (void)upper;
    *out = (ur_cell_margin){.V = {NAN, NAN, NAN}, .likelihood = NAN};
    UR_TRY(ur_arena_status(&arena, err));
    measure(n, x, state, out, &s);
    /* all values equal: is there a limit that keeps s away from 0? */
    int bounded = s.square > 0 || (s.limits && s.limit[0] < 0);
    if (out->seen == 0)
        set_nan(&out->margin, UR_MARGIN_ALL_ZERO);
    else if (!bounded && !s.limits)
        out->margin = (ur_margin){UR_MARGIN_CONSTANT, s.center, 0, INFINITY, 0, 0, NAN, 0, 0};
    else if (!bounded || !solve(&s, &e, &t, &f, &out->margin.iterations))
        set_nan(&out->margin, UR_MARGIN_NO_MAXIMUM);
    else
        finish(&s, e, t, &f, out);
    return UNRELU_OK;
}
