/* SPDX-License-Identifier: Apache-2.0 */
/* Footnote 4 of the one-layer paper: where b >= 0 the median of x is b. Half the mass lies
 * above it, so that s^2 = 2 E (x - b)_+^2. Influence functions at z = (y - b) / s:
 *   b / s:  (1(z > 0) - 1/2) / phi(0)            variance pi / 2
 *   s^2 / s^2:  2 z_+^2 - 1 - 4 (1(z > 0) - 1/2) variance 5
 * and the covariance of the two is -sqrt(pi / 2). */
#include "base/error.h"
#include "gaussian/problem/fit.h"

#include <math.h>

/* b = median; s from the sums of a pass whose limit is the median: all above it */
static void set_margin(ur_fit_column *c, double n, double median, const unrelu_summary *above)
{
    ur_moments_view v =
        ur_moments_view_of(&above->plan, ur_moments_group(&above->plan, above->s, 0));
    size_t j = c->index;
    double e = ur_moments_exponent(&above->plan, above->s)[j];
    int exponent = e == 0 ? 0 : (int)(e + UR_NO_EXPONENT);
    double shift = ldexp(ur_moments_shift(&above->plan, above->s)[j], -exponent);
    double squares = v.square[j] + 2 * shift * v.sum[j] + shift * shift * v.positive[j];
    ur_margin *m = &c->margin;
    m->b = ldexp(fmax(median - c->limit, 0), -c->exponent);
    m->s = ldexp(sqrt(2 * squares / n), exponent - c->exponent);
    m->gamma = m->b / m->s;
    m->b_se = m->s * sqrt(acos(-1) / 2 / n);
    m->s_se = m->s * sqrt(5 / n) / 2;
    m->bs = -m->s * m->s * sqrt(acos(-1) / 2) / 2 / n; /* ds = s d(s^2 / s^2) / 2 */
    m->gamma_se = NAN;
}

static void end_summary(void *summary)
{
    unrelu_summary_free(summary);
}

unrelu_status ur_fit_median(ur_fit *fit, unrelu_error *err)
{
    enum { LEVELS = 4 }; /* relative error 2^-36 */
    UR_ARENA(arena);
    size_t d = fit->summary->plan.d;
    unrelu_summary *above = NULL;
    double *level = ur_take(&arena, d, sizeof *level), *median = ur_take(&arena, d, sizeof *median);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < d; j++)
        level[j] = 0.5;
    UR_TRY(ur_fit_quantiles(fit, 1, level, LEVELS, median, err));
    UR_TRY(ur_source_rewind(fit->source, err));
    ur_collect_rules rules = {.groups = 1, .limit = median, .negatives = 1, .cut = fit->cut};
    UR_TRY(ur_summary_collect_rules(fit->source, &rules, fit->exec, &above, err));
    ur_arena_adopt(&arena, above, end_summary);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < fit->d; i++) {
        ur_fit_column *c = &fit->columns[i];
        if (c->censored.verdict == UR_MARGIN_CONSTANT)
            continue;
        set_margin(c, fit->v.observed[c->index], median[c->index], above);
        if (!(c->margin.s > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s): no value lies above its median %g, so that footnote "
                           "4 gives no scale; use `norms` censored",
                           c->index + 1, fit->summary->names[c->index], median[c->index]);
    }
    return UNRELU_OK;
}
