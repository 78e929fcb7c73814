/* SPDX-License-Identifier: Apache-2.0 */
/* With L = log P, P = Phi(h) - Phi(l), h, l = m +- w / 2, and the densities of both ends over P,
 * r_h and r_l: d = r_h - r_l = -E z, s = r_h + r_l, and
 *   L_m = d,   L_mm = -d (d + m) - w s / 2,   by log w: L_w = w s / 2,
 *   L_mw = -(w s (d + m) + w^2 d / 2) / 2,
 *   L_ww = L_w - L_w^2 - w^2 (m d + w s / 2) / 4.
 * d + m = -E(z - m) and w s are all that is needed, and both are computed without cancellation:
 * where the interval is narrow from integrals over it, else from Phi in the tail where it is
 * smaller. */
#include "law/interval.h"

#include "law/gauss8.h"
#include "law/normal.h"

#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* An interval is narrow up to this width, and up to this change of the density's logarithm over it:
 * 8 nodes give all digits there, and beyond Phi(h) and Phi(l) differ by a tenth of the larger. */
static const double NARROW_WIDTH = 0.5, NARROW_CHANGE = 2;

static ur_interval one_side(double side, double at)
{
    double u = -side * at, ratio = ur_normal_hazard(-u); /* phi(u) / Phi(u) */
    return (ur_interval){
        .log_p = ur_normal_log_cdf(u), .by_m = -side * ratio, .by_mm = -ratio * (ratio + u)};
}

/* shift = d + m, ends = w s */
static ur_interval from_parts(double log_p, double m, double w, double shift, double ends)
{
    double d = shift - m, by_w = ends / 2;
    return (ur_interval){.log_p = log_p,
                         .by_m = d,
                         .by_w = by_w,
                         .by_mm = -d * shift - ends / 2,
                         .by_mw = -(ends * shift + w * w * d / 2) / 2,
                         .by_ww = by_w - by_w * by_w - w * w * (m * d + ends / 2) / 4};
}

/* P = phi(m) int exp(-m t - t^2 / 2) dt over |t| <= w / 2 */
static ur_interval narrow(double m, double w)
{
    double half = w / 2, whole = 0, moment = 0;
    for (int i = 0; i < 8; i++) {
        double t = half * (i < 4 ? -ur_node8[3 - i] : ur_node8[i - 4]);
        double f = ur_weight8[i < 4 ? 3 - i : i - 4] * exp(-t * (m + t / 2));
        whole += f;
        moment += f * t;
    }
    double ends = 2 * exp(-half * half / 2) * cosh(m * half) / (whole * half) * w;
    double log_p = -m * m / 2 - LOG_SQRT_2PI + log(whole * half);
    return from_parts(log_p, m, w, -moment / whole, ends);
}

/* m <= 0 */
static ur_interval wide(double m, double w)
{
    double h = m + w / 2, l = m - w / 2, log_h = ur_normal_log_cdf(h);
    double share = exp(ur_normal_log_cdf(l) - log_h), rest = 1 - share; /* Phi(l) of Phi(h) */
    double by_h = ur_normal_hazard(-h) / rest, by_l = ur_normal_hazard(-l) * share / rest;
    return from_parts(log_h + log1p(-share), m, w, by_h - by_l + m, w * (by_h + by_l));
}

ur_interval ur_interval_at(ur_hidden cell)
{
    double m = cell.at, w = cell.width;
    if (cell.side != 0)
        return one_side(cell.side, m);
    if (w <= NARROW_WIDTH && fabs(m) * w <= NARROW_CHANGE)
        return narrow(m, w);
    ur_interval out = wide(-fabs(m), w);
    if (m > 0) { /* the mirror image */
        out.by_m = -out.by_m;
        out.by_mw = -out.by_mw;
    }
    return out;
}
