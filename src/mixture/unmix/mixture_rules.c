/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: exact (or noisy) where no rule speaks against it. The rules know of the samples, A
 * and the hidden units, not of the way these were found. */
#include "base/error.h"
#include "cone/facet.h"
#include "dense/blas.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"
#include "model/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const ur_unmix *work;
    const unrelu_mixture *model;
    const ur_cone *cone;
    const ur_normals *normals;
    const ur_units *units;
    const double *M; /* n x p */
} facts;

static int is_noisy(const void *f)
{
    return ((const facts *)f)->cone->noise != NULL;
}

static int is_exact(const void *f)
{
    return !is_noisy(f);
}

static unrelu_status test_residual(const void *context, ur_breach *breach)
{
    const facts *f = context;
    const unrelu_mixture *m = f->model;
    if (!(m->residual <= UR_UNMIX_RESIDUAL && m->negative <= f->cone->tolerance))
        ur_breach_tell(breach,
                       "the residual is %.2g and the lowest unit %.2g below 0, where %.0e and "
                       "%.0e are allowed: the samples are mixtures only so far",
                       m->residual, m->negative, UR_UNMIX_RESIDUAL, f->cone->tolerance);
    return UNRELU_OK;
}

static unrelu_status test_facet_count(const void *context, ur_breach *breach)
{
    const facts *f = context;
    size_t count = f->normals->count, p = f->cone->p;
    if (count > p)
        ur_breach_tell(breach,
                       "the cone of the samples has at least %zu facets for p = %zu units, as "
                       "happens where W has rank below p: the %zu with most samples on them "
                       "were taken",
                       count, p, p);
    return UNRELU_OK;
}

/* the unit, from 1, of the normal u */
static size_t unit_of(const facts *f, const double *u)
{
    size_t p = f->cone->p, k = 0;
    while (k + 1 < p && ur_dot(p, f->units->U + k * p, u) < 1 - UR_FACET_SAME)
        k++;
    return k + 1;
}

/* With U^-1 = (a_1, ..): a_i is orthogonal to all normals but u_i, so that where u_h may be another
 * one a_h stands and the others move along it. */
static unrelu_status test_ends(const void *context, ur_breach *breach)
{
    const facts *f = context;
    size_t hinged = f->normals->hinged, p = f->cone->p;
    const double *ends = f->normals->U + (p - hinged) * p;
    if (hinged == 0)
        return UNRELU_OK;
    const char *names = ur_take_text(breach->arena, "%zu", unit_of(f, ends));
    for (size_t h = 1; h < hinged; h++)
        names = ur_take_text(breach->arena, "%s, %zu", names, unit_of(f, ends + h * p));
    UR_TRY(ur_arena_status(breach->arena, breach->err));
    ur_breach_tell(breach,
                   "%zu of %zu facets, of unit%s %s, could not be certified: such a unit is off "
                   "only where others are, but for a single sample, as where rows of W are nearly "
                   "parallel, and the samples' end stands for its facet; columns of A may be off "
                   "by %s: more samples would tell",
                   hinged, p, hinged > 1 ? "s" : "", names,
                   hinged > 1 ? "sums of those of these units"
                              : "multiples of that of this unit, which is right");
    return UNRELU_OK;
}

static unrelu_status test_p(const void *context, ur_breach *breach)
{
    const facts *f = context;
    breach->broken = ur_is_too_few(f->work, f->cone->p); /* told where p was chosen */
    return UNRELU_OK;
}

/* there are directions beyond those of the units, and more in them than rounding makes */
static int leaves_a_remainder(const void *context)
{
    const facts *f = context;
    const ur_cone *c = f->cone;
    return c->noise && c->p < f->work->span.most &&
           f->model->noise > UR_ROUNDING_SURE * f->work->span.rounding;
}

/* what the remainder does that noise does not, as the middle of a sentence */
static void describe_remainder(const ur_remainder *r, size_t p, char *text, size_t size)
{
    switch (r->kind) {
    case UR_REMAINDER_LONGEST:
        snprintf(text, size, "row %zu has %.3g deviations of it", r->at + 1, r->value);
        return;
    case UR_REMAINDER_SPREAD:
        snprintf(text, size, "its mean size is %.3g times that of normal noise of its deviation",
                 r->value);
        return;
    case UR_REMAINDER_SIZE:
        snprintf(text, size, "it is %s in long samples (a correlation of %.2g)",
                 r->value > 0 ? "larger" : "smaller", r->value);
        return;
    case UR_REMAINDER_SCALE:
        snprintf(text, size, "it is %s where unit %zu is on (a correlation of %.2g)",
                 r->value > 0 ? "larger" : "smaller", r->at + 1, r->value);
        return;
    case UR_REMAINDER_SHIFT:
        snprintf(text, size, "its mean is %.3g deviations away from 0", r->value);
        if (r->at < p)
            snprintf(text + strlen(text), size - strlen(text), " where unit %zu is on", r->at + 1);
        return;
    }
}

/* -ln of 1e-300: chances below are told as that, as exp would make them 0 */
static const double TOLD = 690.7;

static unrelu_status test_remainder(const void *context, ur_breach *breach)
{
    const facts *f = context;
    const ur_cone *c = f->cone;
    const ur_span *s = &f->work->span;
    ur_remainder worst;
    char what[160] = "";
    UR_TRY(ur_unmix_remainder(c, s->same_vt + c->p * s->d, f->M, &worst, breach->err));
    double least = s->most - c->p == 1 ? UR_REMAINDER_ALONE : UR_REMAINDER_SURPRISE;
    if (worst.surprise < least)
        return UNRELU_OK;
    describe_remainder(&worst, c->p, what, sizeof what);
    ur_breach_tell(breach,
                   "what p = %zu units leave of the samples is not like noise: %s, which noise "
                   "does with a chance below %.1g; a unit that is seldom on, or that is nearly a "
                   "sum of others, may be in it: another `p`, more samples, or more columns",
                   c->p, what, exp(-fmin(worst.surprise, TOLD)));
    return UNRELU_OK;
}

static int has_exact_pairs(const void *f)
{
    return is_exact(f) && ((const facts *)f)->cone->p > 1;
}

static int has_noisy_pairs(const void *f)
{
    return is_noisy(f) && ((const facts *)f)->cone->p > 1;
}

static unrelu_status test_off(const void *context, ur_breach *breach)
{
    const facts *f = context;
    size_t off = f->model->min_off, needed = UR_FEWEST_OFF * f->cone->p;
    if (off < needed)
        ur_breach_tell(breach,
                       "a unit is off in only %zu samples with others on, and below %d p = %zu "
                       "a facet that is no unit may pass for one: more samples",
                       off, UR_FEWEST_OFF, needed);
    return UNRELU_OK;
}

/* samples where unit j is on: those where i is off, and those where it is just above the noise, in
 * a stretch as long as that from where noise ends below 0 to where a unit counts as on */
static void count_beside(const facts *f, size_t i, size_t j, size_t *off, size_t *near)
{
    static const double END = 2 * UR_NOISE_ON + UR_NOISE_BAND;
    size_t p = f->cone->p;
    double most = END * f->units->deviation[i] * f->units->length[i];
    *off = *near = 0;
    for (size_t r = 0; r < f->cone->n; r++) {
        double m = f->M[r * p + i];
        int on = f->M[r * p + j] > 0;
        *off += on && m == 0;
        *near += on && m > 0 && m <= most;
    }
}

/* Of the pairs, the one that lacks most. */
static unrelu_status test_atoms(const void *context, ur_breach *breach)
{
    const facts *f = context;
    size_t p = f->cone->p, worst = 0, at = 0, least = 0, close = 0;
    for (size_t k = 0; k < p * p; k++) {
        size_t off, near, needed;
        if (k / p == k % p)
            continue;
        count_beside(f, k / p, k % p, &off, &near);
        needed = UR_ATOM_A_NEAR * near + UR_ATOM_FEWEST;
        if (off < needed && needed - off > worst) {
            worst = needed - off;
            at = k;
            least = off;
            close = near;
        }
    }
    if (worst > 0)
        ur_breach_tell(breach,
                       "where unit %zu is on, unit %zu is off in %zu samples and just above the "
                       "noise in %zu: its facet does not stand apart there, and unit %zu may be a "
                       "difference of two, as where rows of W are nearly parallel: more samples, "
                       "or less noise",
                       at % p + 1, at / p + 1, least, close, at / p + 1);
    return UNRELU_OK;
}

/* the first unit that is on in one or two samples; p: none */
static size_t find_outlier(const facts *f)
{
    size_t k = 0;
    while (k < f->cone->p && f->model->hidden->positive[k] >= UR_FEWEST_ON)
        k++;
    return k;
}

static unrelu_status test_outliers(const void *context, ur_breach *breach)
{
    const facts *f = context;
    size_t k = find_outlier(f), n = f->cone->n, p = f->cone->p, row = 0;
    if (k == p)
        return UNRELU_OK;
    while (row < n && !(f->M[row * p + k] > 0))
        row++;
    ur_breach_tell(breach,
                   "unit %zu is on in %.0f of %zu samples, row %zu the first: that may be "
                   "an outlier; leave it out and see",
                   k + 1, f->model->hidden->positive[k], n, row + 1);
    return UNRELU_OK;
}

static unrelu_status test_latent(const void *context, ur_breach *breach)
{
    const facts *f = context;
    ur_latent found;
    UR_TRY(ur_unmix_latent(f->cone->n, f->cone->p, f->M, &found, breach->err));
    if (found.samples > 0)
        ur_breach_tell(breach,
                       "in %zu samples that have the same units on, %zu of these vary in %zu "
                       "dimension%s: W has rank below p = %zu, and then a facet may be no unit",
                       found.samples, found.units, found.rank, found.rank == 1 ? "" : "s",
                       f->cone->p);
    return UNRELU_OK;
}

/* the law of a unit that is on in one or two samples says nothing */
static int has_a_law(const void *f)
{
    return find_outlier(f) == ((const facts *)f)->cone->p;
}

static unrelu_status test_ridges(const void *context, ur_breach *breach)
{
    const facts *f = context;
    const ur_cone *c = f->cone;
    ur_ridge r;
    UR_TRY(ur_unmix_ridge(c->n, f->M, f->model->hidden, f->work->exec, &r, breach->err));
    double triples = (double)c->p * (double)c->p * (double)c->p; /* each on and off */
    if (!(r.surprise < UR_RIDGE_SURPRISE + log(triples)))
        ur_breach_tell(breach,
                       "units %zu and %zu are off together in %zu samples, and unit %zu is %s "
                       "in all of them, where by W W' and b it were %s in %.0f: one of these "
                       "facets may be no unit, as where W has rank below p",
                       r.i + 1, r.j + 1, r.off, r.l + 1, r.on ? "on" : "off", r.on ? "off" : "on",
                       r.expected);
    return UNRELU_OK;
}

static int is_exactly_separable(const void *f)
{
    return is_exact(f) && ((const facts *)f)->work->options->method == UNRELU_UNMIX_SEPARABLE;
}

static unrelu_status test_separable(const void *context, ur_breach *breach)
{
    const facts *f = context;
    const ur_cone *c = f->cone;
    size_t certified = 0;
    ur_facet_search search = {
        .n = c->n, .p = c->p, .Y = c->y, .tolerance = c->tolerance, .exec = f->work->exec};
    UR_TRY(ur_facets_check(&search, c->p, f->normals->U, &certified, breach->err));
    if (certified != c->p)
        ur_breach_tell(breach,
                       "%zu of %zu facets have too few samples on them to be certain: A is "
                       "right if every unit is alone in some sample, and no rule shows that",
                       c->p - certified, c->p);
    return UNRELU_OK;
}

static const ur_rule rules[] = {
    {"uncertified",
     "without noise, the residual over all samples is at most 1e-9, and no unit is below 0 by more "
     "than 1e-8",
     is_exact, test_residual, UNRELU_VERDICT_UNCERTIFIED},
    {"ambiguous", "there are no more than p facets", NULL, test_facet_count,
     UNRELU_VERDICT_AMBIGUOUS},
    {"ambiguous", "without noise, every facet stands without any one of the samples on it",
     is_exact, test_ends, UNRELU_VERDICT_AMBIGUOUS},
    {"p-unsure", "noise explains no more units than the p that gave facets", is_noisy, test_p,
     UNRELU_VERDICT_AMBIGUOUS},
    {"not-noise",
     "with noise, what the units leave of the samples is as noise is: normal, of one size in all "
     "samples, whichever units are on",
     leaves_a_remainder, test_remainder, UNRELU_VERDICT_AMBIGUOUS},
    {"uncertified",
     "without noise, each unit is off in at least 4 p samples where another is on (p > 1)",
     has_exact_pairs, test_off, UNRELU_VERDICT_UNCERTIFIED},
    {"uncertified",
     "with noise, each unit is off in at least 4 p samples where another is on (p > 1)",
     has_noisy_pairs, test_off, UNRELU_VERDICT_AMBIGUOUS},
    {"ambiguous",
     "with noise, where any other unit is on, each unit is off in at least 3 samples more than "
     "twice those where it is just above the noise",
     has_noisy_pairs, test_atoms, UNRELU_VERDICT_AMBIGUOUS},
    {"ambiguous", "each unit is on in at least 3 samples: otherwise these may be outliers", NULL,
     test_outliers, UNRELU_VERDICT_AMBIGUOUS},
    {"ambiguous",
     "without noise, samples with the same units on vary in as many dimensions: otherwise W has "
     "rank below p",
     is_exact, test_latent, UNRELU_VERDICT_AMBIGUOUS},
    {"ambiguous",
     "where two units are off, each third one is off in some of the samples and on in others, as "
     "often as W W' and b let expect",
     has_a_law, test_ridges, UNRELU_VERDICT_AMBIGUOUS},
    {"uncertified", "without noise, by `method` separable: every facet has its certificate",
     is_exactly_separable, test_separable, UNRELU_VERDICT_UNCERTIFIED},
};

enum { RULES = sizeof rules / sizeof *rules };

int unrelu_unmix_rule_at(size_t i, unrelu_rule *out)
{
    return ur_rules_show(rules, RULES, i, out);
}

unrelu_status ur_unmix_judge(ur_unmix *w, const ur_cone *c, const ur_normals *normals,
                             const ur_units *units, const double *M, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    facts f = {w, m, c, normals, units, M};
    UR_ARENA(arena);
    ur_warnings notes = {0};
    m->verdict = c->noise ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT;
    UR_TRY(ur_rules_ask(rules, RULES, &f, &arena, &notes, &m->verdict, err));
    ur_model_warn_all(m, &notes);
    return UNRELU_OK;
}
