/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of units and which noise to try, in which order, by the singular values; and what
 * the user is told of the choice. */
#include "base/error.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"

#include <math.h>
#include <stdio.h>

double ur_relative_noise(const ur_span *s, double sigma)
{
    return sigma / s->rms;
}

static void add_attempt(ur_unmix *w, size_t p, double sigma)
{
    w->attempts[w->attempt_count++] = (ur_attempt){p, sigma};
}

int ur_is_rounding(const ur_span *s, double sigma)
{
    return sigma > 0 && sigma < UR_NOISE_OF_ROUNDING * s->rounding;
}

/* the samples have a rank below their number and that of their columns: there is no noise */
static unrelu_status choose_by_rank(ur_unmix *w, unrelu_error *err)
{
    const ur_span *s = &w->span;
    size_t p = w->options->p;
    if (p > s->rank)
        return ur_fail(err, UNRELU_EDATA,
                       "the samples have rank %zu, and mixtures of p = %zu units would have rank "
                       "%zu: `p` %zu, or more samples",
                       s->rank, p, p, s->rank);
    if (p > 0 && p < s->rank)
        return ur_fail(err, UNRELU_EDATA,
                       "the samples have rank %zu to rounding (singular value %zu is %.2g of the "
                       "first, number %zu is %.2g): they are no mixtures of p = %zu units, and "
                       "noise would leave no rank below %zu; `p` %zu",
                       s->rank, s->rank, s->each[s->rank - 1] / s->each[0], s->rank + 1,
                       s->each[s->rank] / s->each[0], p, s->most, s->rank);
    add_attempt(w, s->rank, 0);
    double sigma = ur_span_noise(s, s->rank);
    if (ur_relative_noise(s, sigma) > UR_UNMIX_FLOOR) /* noise that only short samples show */
        add_attempt(w, s->rank, sigma);
    return UNRELU_OK;
}

/* p units and noise, where that is little enough */
static void add_noisy(ur_unmix *w, size_t p)
{
    const ur_span *s = &w->span;
    double sigma = fmax(ur_span_noise(s, p), s->rounding);
    if (ur_relative_noise(s, sigma) <= UR_NOISE_MOST)
        add_attempt(w, p, sigma);
    else if (w->too_noisy == 0)
        w->too_noisy = p;
}

/* full rank: noise, or as many units as columns */
static unrelu_status choose_by_gap(ur_unmix *w, unrelu_error *err)
{
    const ur_span *s = &w->span;
    size_t asked = w->options->p, flat = asked ? asked : ur_span_flat(s);
    size_t gap = asked ? 0 : ur_span_gap(s);
    int square = s->most == s->d && (!asked || asked == s->d);
    if (square) /* a certificate without noise is worth more than a fit with noise */
        add_attempt(w, s->d, 0);
    if (flat > 0 && flat < s->most)
        add_noisy(w, flat);
    if (gap > 0 && gap != flat)
        add_noisy(w, gap);
    if (square && s->rounding > 0)
        add_attempt(w, s->d, s->rounding);
    double noise = ur_span_noise(s, w->too_noisy);
    if (w->attempt_count == 0 && w->too_noisy > 0)
        return ur_fail(err, UNRELU_EDATA,
                       "what is beyond p = %zu units would be noise of deviation %.3g, %.2g %% of "
                       "the samples' root mean square %.3g, and facets are found up to about 3 to "
                       "5 %%: another `p`, or less noise",
                       w->too_noisy, noise, 100 * ur_relative_noise(s, noise), s->rms);
    if (w->attempt_count == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples of %zu columns have full rank, and no gap in their singular "
                       "values tells units from noise: more samples than 2 p are needed, or `p`",
                       s->n, s->d);
    return UNRELU_OK;
}

unrelu_status ur_attempts_choose(ur_unmix *w, unrelu_error *err)
{
    const ur_span *s = &w->span;
    size_t p = w->options->p;
    if (p > s->d)
        return ur_fail(err, UNRELU_EDATA,
                       "p = %zu units cannot be told apart in %zu columns: p is at most the number "
                       "of columns",
                       p, s->d);
    if (p > 0 && s->nonzero < UR_FEWEST_A_UNIT * p)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples that are not 0 cannot tell p = %zu units apart: at least 2 p = "
                       "%zu are needed, about 20 p = %zu where units are off half the time",
                       s->nonzero, p, UR_FEWEST_A_UNIT * p, UR_USUAL_A_UNIT * p);
    if (p == 0 && s->rank == 1)
        return ur_fail(
            err, UNRELU_EDATA,
            "all %zu samples that are not 0 lie on one ray: a single unit, and nothing "
            "to unmix; 'unrelu fit' on any one column learns it, and `p` 1 gives the ray",
            s->nonzero);
    return s->rank < s->most ? choose_by_rank(w, err) : choose_by_gap(w, err);
}

/* ---- what is told ---- */

int ur_is_too_few(const ur_unmix *w, size_t p)
{
    const ur_span *s = &w->span;
    return s->rank == s->most && w->options->p == 0 && p < ur_span_flat(s);
}

void ur_attempt_describe(ur_unmix *w, const ur_attempt *t)
{
    const ur_span *s = &w->span;
    unrelu_mixture *m = w->model;
    ur_arena *arena = ur_model_arena(m);
    size_t p = t->p;
    int beyond = t->sigma > 0 && p < s->most; /* noise that the singular values tell of */
    const char *given = w->options->p ? "given, and " : "";
    if (t->sigma == 0 && s->rank < s->most)
        m->how_p = ur_take_text(
            arena,
            "%sthe rank of the samples: singular value %zu is %.2g of the first, the next %.2g",
            given, p, s->each[p - 1] / s->each[0], s->each[p] / s->each[0]);
    else if (t->sigma == 0)
        m->how_p = ur_take_text(arena, "%sthe number of columns: full rank without noise", given);
    else if (p < s->most)
        m->how_p = ur_take_text(
            arena,
            "%s: singular value %zu is %.2g times the next, and those beyond are as of noise "
            "of deviation %.3g (the largest is %.2f times what noise makes)",
            w->options->p ? "given" : "the gap of the singular values", p,
            s->same[p - 1] / s->same[p], t->sigma, ur_span_excess(s, p));
    else
        m->how_p = ur_take_text(arena, "%sthe number of columns, with rounding for noise", given);
    if (ur_is_rounding(s, t->sigma))
        ur_model_warn(m, "low-precision",
                      "the samples carry %s precision: its rounding, of deviation %.2g, "
                      "is taken for noise, and a unit weaker than that is not seen",
                      s->precision, t->sigma);
    else if (beyond && ur_span_excess(s, p) > UR_EXCESS_EVEN)
        ur_model_warn(
            m, "noise-uneven",
            "the singular values beyond p = %zu reach %.2g times what equal noise in every column "
            "makes: there may be more units, or columns with more noise than others; errors of A "
            "are then too small",
            p, ur_span_excess(s, p));
    if (beyond && ur_is_too_few(w, p))
        ur_model_warn(m, "p-unsure",
                      "by the singular values there would be %zu units, for so many no "
                      "facets were found; for %zu they were",
                      ur_span_flat(s), p);
    else if (beyond && s->same[p - 1] < UR_GAP_SMALL * s->same[p])
        ur_model_warn(m, "p-unsure",
                      "singular value %zu is only %.2f times the next: p may be another", p,
                      s->same[p - 1] / s->same[p]);
    if (ur_relative_noise(s, t->sigma) > UR_NOISE_HIGH)
        ur_model_warn(m, "noise-high",
                      "noise of %.2g %% of the samples' root mean square: from about 3 %% "
                      "on facets may be missed",
                      100 * ur_relative_noise(s, t->sigma));
}
