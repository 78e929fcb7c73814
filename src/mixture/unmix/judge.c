/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: exact (or noisy) where no rule speaks against it. The rules know of the samples, A
 * and the hidden units, not of the way these were found. */
#include "base/error.h"
#include "cone/facet.h"
#include "mixture/problem/unmix.h"

#include <math.h>

#define EXACT    1e-9 /* residual */
#define SURPRISE 5.0  /* -ln of the chance at which a missing ridge is an alarm */

enum { FEWEST_OFF = 4, FEWEST_ON = 3 };

/* whether every normal is a facet by its certificate over all samples */
static unrelu_status judge_separable(ur_unmix *w, const ur_cone *c, const double *U,
                                     unrelu_error *err)
{
    size_t certified = 0;
    ur_facet_search search = {
        .n = c->n, .p = c->p, .Y = c->y, .tolerance = c->tolerance, .exec = w->exec};
    unrelu_status status = ur_facets_check(&search, c->p, U, &certified, err);
    if (status != UNRELU_OK || certified == c->p)
        return status;
    w->model->verdict = UNRELU_VERDICT_UNCERTIFIED;
    return ur_mixture_warn(w->model, "uncertified", err,
                           "%zu of %zu facets have too few samples on them to be certain: A is "
                           "right if every unit is alone in some sample, and no rule shows that",
                           c->p - certified, c->p);
}

/* ridges that should be there and are not */
static unrelu_status judge_ridges(ur_unmix *w, const ur_cone *c, const double *M, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    ur_ridge r;
    unrelu_status status = ur_unmix_ridge(c->n, M, &m->hidden, w->exec, &r, err);
    double triples = (double)c->p * (double)c->p * (double)c->p; /* each on and off */
    if (status != UNRELU_OK || r.surprise < SURPRISE + log(triples))
        return status;
    m->verdict = UNRELU_VERDICT_AMBIGUOUS;
    return ur_mixture_warn(m, "ambiguous", err,
                           "units %zu and %zu are off together in %zu samples, and unit %zu is %s "
                           "in all of them, where by W W' and b it were %s in %.0f: one of these "
                           "facets may be no unit, as where W has rank below p",
                           r.i + 1, r.j + 1, r.off, r.l + 1, r.on ? "on" : "off",
                           r.on ? "off" : "on", r.expected);
}

/* a unit that is on in one or two samples is an outlier of them */
static unrelu_status judge_outliers(ur_unmix *w, const ur_cone *c, const double *M,
                                    unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    for (size_t k = 0; k < c->p; k++) {
        size_t row = 0;
        if (m->hidden.positive[k] >= FEWEST_ON)
            continue;
        while (row < c->n && !(M[row * c->p + k] > 0))
            row++;
        m->verdict = UNRELU_VERDICT_AMBIGUOUS;
        return ur_mixture_warn(m, "ambiguous", err,
                               "unit %zu is on in %.0f of %zu samples, row %zu the first: that may "
                               "be an outlier; leave it out and see",
                               k + 1, m->hidden.positive[k], c->n, row + 1);
    }
    return UNRELU_OK;
}

/* W of a rank below p */
static unrelu_status judge_latent(ur_unmix *w, const ur_cone *c, const double *M, unrelu_error *err)
{
    ur_latent found;
    unrelu_status status = ur_unmix_latent(c->n, c->p, M, &found, err);
    if (status != UNRELU_OK || found.samples == 0)
        return status;
    w->model->verdict = UNRELU_VERDICT_AMBIGUOUS;
    return ur_mixture_warn(w->model, "ambiguous", err,
                           "in %zu samples that have the same units on, %zu of these vary in %zu "
                           "dimension%s: W has rank below p = %zu, and then a facet may be no unit",
                           found.samples, found.units, found.rank, found.rank == 1 ? "" : "s",
                           c->p);
}

static unrelu_status uncertify(ur_unmix *w, const ur_cone *c, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    m->verdict = c->noise ? UNRELU_VERDICT_AMBIGUOUS : UNRELU_VERDICT_UNCERTIFIED;
    return ur_mixture_warn(m, "uncertified", err,
                           "a unit is off in only %zu samples with others on, and below %d p = %zu "
                           "a facet that is no unit may pass for one: more samples",
                           m->min_off, FEWEST_OFF, FEWEST_OFF * c->p);
}

static unrelu_status judge_facets(ur_unmix *w, const ur_cone *c, const ur_normals *normals,
                                  unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    if (normals->count > c->p) {
        m->verdict = UNRELU_VERDICT_AMBIGUOUS;
        return ur_mixture_warn(
            m, "ambiguous", err,
            "the cone of the samples has at least %zu facets for p = %zu units, as happens where W "
            "has rank below p: the %zu with most samples on them were taken",
            normals->count, c->p, c->p);
    }
    if (ur_is_too_few(w, c->p) && c->noise) /* with its warning */
        m->verdict = UNRELU_VERDICT_AMBIGUOUS;
    else if (c->p > 1 && m->min_off < FEWEST_OFF * c->p)
        return uncertify(w, c, err);
    return UNRELU_OK;
}

/* The first rule that is not met is told. */
unrelu_status ur_unmix_judge(ur_unmix *w, const ur_cone *c, const ur_normals *normals,
                             const double *M, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    unrelu_verdict good = c->noise ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT;
    m->verdict = good;
    if (!c->noise && (m->residual > EXACT || m->negative > c->tolerance)) {
        m->verdict = UNRELU_VERDICT_UNCERTIFIED;
        return ur_mixture_warn(m, "uncertified", err,
                               "the residual is %.2g and the lowest unit %.2g below 0, where %.0e "
                               "and %.0e are allowed: the samples are mixtures only so far",
                               m->residual, m->negative, EXACT, c->tolerance);
    }
    unrelu_status status = judge_facets(w, c, normals, err);
    if (status == UNRELU_OK && m->verdict == good)
        status = judge_outliers(w, c, M, err);
    if (status == UNRELU_OK && m->verdict == good && !c->noise)
        status = judge_latent(w, c, M, err);
    if (status == UNRELU_OK && m->verdict == good)
        status = judge_ridges(w, c, M, err);
    if (status == UNRELU_OK && m->verdict == good && !c->noise &&
        w->options->method == UNRELU_UNMIX_SEPARABLE)
        status = judge_separable(w, c, normals->U, err);
    return status;
}
