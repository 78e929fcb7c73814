/* SPDX-License-Identifier: Apache-2.0 */
/* How well the steps are known. Where cells hide below limits, n times the variance of their F is
 * F^2 C, C being the sum over the steps above of mass / (F at it, F below it, share of limits below
 * it) (Greenwood's formula, reversed); where none does, C is 1 / F - 1. F differs from the law
 * like a Brownian bridge at C / (1 + C), times (1 + C) F (Hall and Wellner 1980): divided by that,
 * distances have a law that depends on limits little. With none, or at one limit, that is 1. Cells
 * above limits are the mirror image; what cells between two ends hide is taken as seen. */
#include "base/error.h"
#include "gaussian/check/steps.h"

#include <math.h>

/* by cells below limits: from the largest step down */
static void know_below(const ur_steps *s, size_t belows, double *known)
{
    double C = 0, hidden = 0; /* of limits, the share above */
    for (size_t k = s->count, h = belows; k-- > 0;) {
        double F = s->sum[k], less = k ? s->sum[k - 1] : 0;
        for (; h > 0 && s->hiding[h - 1].high > s->value[k]; h--)
            hidden +=
                s->hiding[h - 1].cells / (s->observed * ur_steps_before(s, s->hiding[h - 1].high));
        C += (F - less) / (F * less * (1 - hidden));
        known[k] = less > 0 && hidden < 1 ? fmin(1, 1 / ((1 + C) * less)) : known[k + 1];
    }
}

/* by cells above limits: from the smallest step up */
static void know_above(const ur_steps *s, size_t belows, double *known)
{
    double C = 0, hidden = 0, last = 1;
    for (size_t k = 0, h = belows; k < s->count; k++) {
        double S = 1 - (k ? s->sum[k - 1] : 0), less = 1 - s->sum[k];
        for (; h < s->hidings && s->hiding[h].low < s->low[k]; h++)
            if (s->hiding[h].high == INFINITY)
                hidden +=
                    s->hiding[h].cells / (s->observed * (1 - ur_steps_up_to(s, s->hiding[h].low)));
        C += (S - less) / (S * less * (1 - hidden));
        last = less > 0 && hidden < 1 ? fmin(1, 1 / ((1 + C) * less)) : last;
        known[k + 1] *= last;
    }
}

void ur_steps_known(const ur_steps *s, double *known)
{
    size_t belows = 0;
    for (size_t k = 0; k <= s->count; k++)
        known[k] = 1;
    while (belows < s->hidings && s->hiding[belows].low == -INFINITY)
        belows++;
    if (belows > 0)
        know_below(s, belows, known);
    if (belows < s->hidings)
        know_above(s, belows, known);
}

unrelu_status ur_steps_known_distance(const ur_steps *s, double b, double scale, double *distance,
                                      unrelu_error *err)
{
    UR_ARENA(arena);
    double *known = ur_take(&arena, s->count + 1, sizeof *known);
    UR_TRY(ur_arena_status(&arena, err));
    ur_steps_known(s, known);
    *distance = ur_steps_distance(s, b, scale, known);
    return UNRELU_OK;
}
