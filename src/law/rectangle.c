/* SPDX-License-Identifier: Apache-2.0 */
/* Given z1 = u the other is N(rho u, o^2), o^2 = 1 - rho^2, and lies in its cell with probability
 * exp L(u, rho). A cell of two that were not seen: P = int phi(u) exp L(u, rho) du over the first
 * one, which is between two ends; the integrand is positive and smooth, and its derivatives are
 * integrated with it, so that nothing cancels in narrow cells. By b of the first margin
 *   d P = int d/du f du,   by s: int d/du (u f) du,   f = phi exp L.
 * Gauss-Legendre in panels of 1.5, or of 1.5 o / |rho| around where the bounds of the second cell
 * cross the first: 8 nodes leave 1e-12. */
#include "law/rectangle.h"

#include "law/gauss8.h"

#include <math.h>
#include <string.h>

/* beyond it the density of a normal is below the smallest number */
static const double FAR = 38;
/* of panels in deviations, and how many of them a bound is away where it is not felt */
static const double PANEL = 1.5, FELT = 8;
/* Of a corner: log f is concave, and falls from the corner on. Panels in which it falls by FALL, up
 * to where it fell by FALLEN: 8 nodes leave 1e-9, and exp(-40) is left out. */
static const double FALL = 4, FALLEN = 40;
/* Pace: the least step of panels, in deviations, so that rounding cannot stop them */
static const double LEAST_PANEL = 1e-6;

/* L and its derivatives by rho, by u, by (b, s) of the cell, and of the one by rho by the others */
typedef struct {
    double value, r, rr, u, ru, b, s, rb, rs;
} conditional;

static conditional given(double u, ur_hidden cell, double rho)
{
    double o2 = (1 - rho) * (1 + rho), o = sqrt(o2), o3 = o * o2, at = cell.at;
    ur_interval f = ur_interval_at((ur_hidden){cell.side, (at - rho * u) / o, cell.width / o});
    /* how the middle and the logarithm of the width move with rho */
    double m = (rho * at - u) / o3, mm = at / o3 + 3 * rho * m / o2;
    double w = rho / o2, ww = (1 + rho * rho) / (o2 * o2);
    double by_m = f.by_mm * m + f.by_mw * w, by_w = f.by_mw * m + f.by_ww * w;
    conditional c = {.value = f.log_p,
                     .r = f.by_m * m + f.by_w * w,
                     .rr = by_m * m + by_w * w + f.by_m * mm + f.by_w * ww,
                     .u = -rho / o * f.by_m,
                     .ru = -rho / o * by_m - f.by_m / o3,
                     .b = f.by_m / o,
                     .rb = by_m / o + f.by_m * rho / o3};
    c.s = at * c.b + f.by_w;
    c.rs = at * c.rb + by_w;
    return c;
}

/* ---- two that were not seen ---- */

/* of f times 1, L_r, ...: P and its derivatives, all divided by exp(top) */
enum { P, R, RR, B1, S1, B2, S2, RB1, RS1, RB2, RS2, SUMS };

typedef struct {
    double top;
    double sum[SUMS];
} integral;

static void add_node(integral *all, double u, double weight, const conditional *c)
{
    double log_f = c->value - u * u / 2, slope = c->u - u; /* of log f by u */
    if (log_f > all->top) {
        double smaller = exp(all->top - log_f);
        for (int k = 0; k < SUMS; k++)
            all->sum[k] *= smaller;
        all->top = log_f;
    }
    double f = weight * exp(log_f - all->top), moved = slope * c->r + c->ru;
    const double term[SUMS] = {[P] = 1,
                               [R] = c->r,
                               [RR] = c->rr + c->r * c->r,
                               [B1] = slope,
                               [S1] = 1 + u * slope,
                               [B2] = c->b,
                               [S2] = c->s,
                               [RB1] = moved,
                               [RS1] = c->r + u * moved,
                               [RB2] = c->b * c->r + c->rb,
                               [RS2] = c->s * c->r + c->rs};
    for (int k = 0; k < SUMS; k++)
        all->sum[k] += f * term[k];
}

/* a panel from u on, down where step is negative */
static void add_panel(ur_hidden second, double rho, double u, double step, integral *all)
{
    for (int i = 0; i < 4; i++)
        for (int side = -1; side <= 1; side += 2) {
            double at = u + step / 2 * (1 + side * ur_node8[i]);
            conditional c = given(at, second, rho);
            add_node(all, at, fabs(step) / 2 * ur_weight8[i], &c);
        }
}

/* from u on: up to where a bound of the cell is felt, in smaller steps there */
static double panel_at(double u, ur_hidden cell, double rho)
{
    double o = sqrt((1 - rho) * (1 + rho)), blur = o / fabs(rho), step = PANEL;
    for (int end = -1; end <= 1 && blur < 1; end += 2) {
        if (cell.side != 0 && end > 0)
            break;
        double crossing = (cell.at + end * cell.width / 2) / rho, before = crossing - FELT * blur;
        if (u < before)
            step = fmin(step, before - u);
        else if (u < crossing + FELT * blur)
            step = fmin(step, PANEL * blur);
    }
    return fmax(step, LEAST_PANEL);
}

static void integrate(ur_hidden first, ur_hidden second, double rho, integral *all)
{
    double low = fmax(-FAR, first.at - first.width / 2), u = low;
    double high = fmin(FAR, first.at + first.width / 2), whole = high - low;
    *all = (integral){.top = -INFINITY};
    while (whole > 0 && u < high) {
        double step = panel_at(u, second, rho), left = high - u;
        step = left < 2 * step ? (left <= step ? left : left / 2) : step;
        add_panel(second, rho, u, step, all);
        u = left <= step ? high : u + step;
    }
}

/* first: the cell over which was integrated */
static void set_result(const integral *all, int first, ur_rectangle *out)
{
    const double *s = all->sum, p = s[P];
    *out = (ur_rectangle){.log_p = -INFINITY};
    if (!(p > 0))
        return;
    double score = s[R] / p;
    out->log_p = all->top + log(p) - log(2 * M_PI) / 2;
    out->by_r = score;
    out->by_rr = s[RR] / p - score * score;
    const double first_by[2] = {(s[RB1] - score * s[B1]) / p, (s[RS1] - score * s[S1]) / p};
    const double second_by[2] = {(s[RB2] - score * s[B2]) / p, (s[RS2] - score * s[S2]) / p};
    memcpy(out->by_r_of[first], first_by, sizeof first_by);
    memcpy(out->by_r_of[1 - first], second_by, sizeof second_by);
}

void ur_corner_at(const ur_hidden cell[2], double rho, ur_rectangle *out)
{
    double u = cell[0].at, way = cell[0].side, o = sqrt((1 - rho) * (1 + rho));
    conditional c = given(u, cell[1], rho);
    double fall = way * (u - c.u), step = PANEL * fmin(1, o / fabs(rho));
    integral all = {.top = -INFINITY};
    if (fall > 0)
        step = fmin(step, FALL / fall);
    step = way * fmax(step, LEAST_PANEL);
    do {
        add_panel(cell[1], rho, u, step, &all);
        u += step;
        c = given(u, cell[1], rho);
    } while (way * u < FAR && c.value - u * u / 2 > all.top - FALLEN);
    set_result(&all, 0, out);
}

void ur_rectangle_at(const ur_hidden cell[2], const int seen[2], double rho, ur_rectangle *out)
{
    /* that is seen, else the narrower one of two between */
    int first = seen[0]                          ? 0
                : seen[1] || cell[0].side != 0   ? 1
                : cell[1].side != 0              ? 0
                : cell[0].width <= cell[1].width ? 0
                                                 : 1;
    int second = 1 - first;
    if (seen[first]) {
        double u = cell[first].at;
        conditional c = given(u, cell[second], rho);
        *out = (ur_rectangle){.log_p = c.value, .by_r = c.r, .by_rr = c.rr};
        memcpy(out->by_r_of[first], (double[]){c.ru, u * c.ru}, sizeof(double[2]));
        memcpy(out->by_r_of[second], (double[]){c.rb, c.rs}, sizeof(double[2]));
        return;
    }
    integral all;
    integrate(cell[first], cell[second], rho, &all);
    set_result(&all, first, out);
}
