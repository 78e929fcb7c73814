/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mixture/unmix.h"

#include "dense/facet.h"
#include "dense/linear.h"
#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NOISE 0.05 /* relative: facets are found up to 3 to 5 % */
#define HIGH_NOISE 0.03
#define ROUNDING   1e-14 /* relative: below it noise is rounding of doubles */
#define NOT_NOISE  3.0   /* of what is left, in long samples over short ones */
#define UNIFORM    1e-6 /* relative: below it noise may be rounding, which grows with the samples */
#define UNEVEN     1.15
#define SMALL_GAP  2.0
#define SURPRISE   5.0  /* -ln of the chance at which a missing ridge is an alarm */
#define MOST_LEFT  4.0  /* deviations of the noise */
#define EXACT      1e-9 /* residual */

enum { FEWEST_ROWS = 3, ATTEMPTS = 4, FEWEST_OFF = 4, FEWEST_ON = 3 };

typedef struct {
    size_t p;
    double sigma; /* 0: no noise */
} attempt;

typedef struct {
    const unrelu_unmix_options *options;
    const unrelu_exec *exec;
    unrelu_source *source;
    ur_table x;
    ur_span span;
    attempt attempts[ATTEMPTS];
    size_t attempt_count;
    size_t too_noisy; /* p by the gap, where what is beyond is more noise than can be dealt with */
    unrelu_mixture *model;
} unmixing;

/* ---- what to try ---- */

static double relative(const ur_span *s, double sigma)
{
    return sigma / s->rms;
}

static void add_attempt(unmixing *w, size_t p, double sigma)
{
    w->attempts[w->attempt_count++] = (attempt){p, sigma};
}

static int is_rounding(const ur_span *s, double sigma)
{
    return sigma > 0 && sigma < 4 * s->rounding;
}

/* the samples have a rank below their number and that of their columns: there is no noise */
static unrelu_status choose_by_rank(unmixing *w, unrelu_error *err)
{
    const ur_span *s = &w->span;
    size_t p = w->options->p;
    if (p > s->rank)
        return ur_fail(err, UNRELU_EDATA,
                       "the samples have rank %zu, and mixtures of p = %zu units would have rank "
                       "%zu: -p %zu, or more samples",
                       s->rank, p, p, s->rank);
    if (p > 0 && p < s->rank)
        return ur_fail(err, UNRELU_EDATA,
                       "the samples have rank %zu to rounding (singular value %zu is %.2g of the "
                       "first, number %zu is %.2g): they are no mixtures of p = %zu units, and "
                       "noise would leave no rank below %zu; -p %zu",
                       s->rank, s->rank, s->each[s->rank - 1] / s->each[0], s->rank + 1,
                       s->each[s->rank] / s->each[0], p, s->most, s->rank);
    add_attempt(w, s->rank, 0);
    double sigma = ur_span_noise(s, s->rank);
    if (relative(s, sigma) > ROUNDING) /* tiny noise: shorter samples are nothing but noise */
        add_attempt(w, s->rank, sigma);
    return UNRELU_OK;
}

static unrelu_status refuse_noise(const ur_span *s, size_t p, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EDATA,
                   "what is beyond p = %zu units would be noise of deviation %.3g, %.2g %% of the "
                   "samples' root mean square %.3g, and facets are found up to about 3 to 5 %%: "
                   "another -p, or less noise",
                   p, ur_span_noise(s, p), 100 * relative(s, ur_span_noise(s, p)), s->rms);
}

/* p units and noise, where that is little enough */
static void add_noisy(unmixing *w, size_t p)
{
    const ur_span *s = &w->span;
    double sigma = fmax(ur_span_noise(s, p), s->rounding);
    if (relative(s, sigma) <= MOST_NOISE)
        add_attempt(w, p, sigma);
    else if (w->too_noisy == 0)
        w->too_noisy = p;
}

/* full rank: noise, or as many units as columns */
static unrelu_status choose_by_gap(unmixing *w, unrelu_error *err)
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
    if (w->attempt_count == 0 && w->too_noisy > 0)
        return refuse_noise(s, w->too_noisy, err);
    if (w->attempt_count == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples of %zu columns have full rank, and no gap in their singular "
                       "values tells units from noise: more samples than 2 p are needed, or -p",
                       s->n, s->d);
    return UNRELU_OK;
}

static unrelu_status choose(unmixing *w, unrelu_error *err)
{
    const ur_span *s = &w->span;
    size_t p = w->options->p;
    if (p > s->d)
        return ur_fail(err, UNRELU_EDATA,
                       "p = %zu units cannot be told apart in %zu columns: p is at most the number "
                       "of columns",
                       p, s->d);
    if (p > 0 && s->nonzero < 2 * p)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples that are not 0 cannot tell p = %zu units apart: at least 2 p = "
                       "%zu are needed, about 20 p = %zu where units are off half the time",
                       s->nonzero, p, 2 * p, 20 * p);
    if (p == 0 && s->rank == 1)
        return ur_fail(err, UNRELU_EDATA,
                       "all %zu samples that are not 0 lie on one ray: a single unit, and nothing "
                       "to unmix; 'unrelu fit' on any one column learns it, and -p 1 gives the ray",
                       s->nonzero);
    return s->rank < s->most ? choose_by_rank(w, err) : choose_by_gap(w, err);
}

/* ---- one attempt ---- */

/* whether the singular values tell of more units than p, which was not given */
static int is_too_few(const unmixing *w, size_t p)
{
    const ur_span *s = &w->span;
    return s->rank == s->most && w->options->p == 0 && p < ur_span_flat(s);
}

static unrelu_status describe_p(unmixing *w, const attempt *t, unrelu_error *err)
{
    const ur_span *s = &w->span;
    unrelu_mixture *m = w->model;
    char *text = m->how_p;
    size_t size = sizeof m->how_p, p = t->p;
    const char *given = w->options->p ? "given, and " : "";
    if (t->sigma == 0 && s->rank < s->most)
        snprintf(
            text, size,
            "%sthe rank of the samples: singular value %zu is %.2g of the first, the next %.2g",
            given, p, s->each[p - 1] / s->each[0], s->each[p] / s->each[0]);
    else if (t->sigma == 0)
        snprintf(text, size, "%sthe number of columns: full rank without noise", given);
    else if (p < s->most)
        snprintf(text, size,
                 "%s: singular value %zu is %.2g times the next, and those beyond are as of noise "
                 "of deviation %.3g (the largest is %.2f times what noise makes)",
                 w->options->p ? "given" : "the gap of the singular values", p,
                 s->same[p - 1] / s->same[p], t->sigma, ur_span_excess(s, p));
    else
        snprintf(text, size, "%sthe number of columns, with rounding for noise", given);
    unrelu_status status = UNRELU_OK;
    if (is_rounding(s, t->sigma))
        status = ur_mixture_warn(m, "low-precision", err,
                                 "the samples carry %s precision: its rounding, of deviation %.2g, "
                                 "is taken for noise",
                                 s->precision, t->sigma);
    if (status == UNRELU_OK && t->sigma > 0 && p < s->most && ur_span_excess(s, p) > UNEVEN)
        status = ur_mixture_warn(
            m, "noise-uneven", err,
            "the singular values beyond p = %zu reach %.2g times what equal noise in every column "
            "makes: there may be more units, or columns with more noise than others; errors of A "
            "are then too small",
            p, ur_span_excess(s, p));
    if (status == UNRELU_OK && t->sigma > 0 && !w->options->p && p < s->most && p < ur_span_flat(s))
        status = ur_mixture_warn(m, "p-unsure", err,
                                 "by the singular values there would be %zu units, for so many no "
                                 "facets were found; for %zu they were",
                                 ur_span_flat(s), p);
    else if (status == UNRELU_OK && t->sigma > 0 && p < s->most &&
             s->same[p - 1] < SMALL_GAP * s->same[p])
        status = ur_mixture_warn(m, "p-unsure", err,
                                 "singular value %zu is only %.2f times the next: p may be another",
                                 p, s->same[p - 1] / s->same[p]);
    if (status == UNRELU_OK && relative(s, t->sigma) > HIGH_NOISE)
        status = ur_mixture_warn(m, "noise-high", err,
                                 "noise of %.2g %% of the samples' root mean square: from about "
                                 "3 %% on facets may be missed",
                                 100 * relative(s, t->sigma));
    return status;
}

/* whether every normal is a facet by its certificate over all samples */
static unrelu_status judge_separable(unmixing *w, const ur_cone *c, const double *U,
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
static unrelu_status judge_ridges(unmixing *w, const ur_cone *c, const double *M, unrelu_error *err)
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
static unrelu_status judge_outliers(unmixing *w, const ur_cone *c, const double *M,
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
static unrelu_status judge_latent(unmixing *w, const ur_cone *c, const double *M, unrelu_error *err)
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

static unrelu_status uncertify(unmixing *w, const ur_cone *c, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    m->verdict = c->noise ? UNRELU_VERDICT_AMBIGUOUS : UNRELU_VERDICT_UNCERTIFIED;
    return ur_mixture_warn(m, "uncertified", err,
                           "a unit is off in only %zu samples with others on, and below %d p = %zu "
                           "a facet that is no unit may pass for one: more samples",
                           m->min_off, FEWEST_OFF, FEWEST_OFF * c->p);
}

static unrelu_status judge_facets(unmixing *w, const ur_cone *c, const ur_normals *normals,
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
    if (is_too_few(w, c->p) && c->noise) /* with its warning */
        m->verdict = UNRELU_VERDICT_AMBIGUOUS;
    else if (c->p > 1 && m->min_off < FEWEST_OFF * c->p)
        return uncertify(w, c, err);
    return UNRELU_OK;
}

/* The first rule that is not met is told. */
static unrelu_status judge(unmixing *w, const ur_cone *c, const ur_normals *normals,
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

static unrelu_status warn_unknown_errors(unrelu_mixture *m, unrelu_error *err)
{
    size_t units = 0;
    for (size_t k = 0; k < m->p; k++)
        units += isnan(m->A_se[k]) != 0;
    if (units == 0)
        return UNRELU_OK;
    return ur_mixture_warn(m, "no-se", err,
                           "%zu of %zu columns of A have no standard errors: too few samples are "
                           "near a facet",
                           units, m->p);
}

static unrelu_status set_A(unmixing *w, const ur_cone *c, const ur_units *units,
                           const double *bread, const double *pull, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    size_t d = c->d, p = c->p;
    unrelu_status status = ur_mixture_alloc(m, err);
    for (size_t i = 0; i < d * p && status == UNRELU_OK; i++)
        m->A[i] = units->G[i % p * d + i / p] / units->length[i % p];
    if (status != UNRELU_OK || !c->noise)
        return status;
    if (!(m->A_se = ur_alloc(d, p * sizeof *m->A_se)))
        return ur_fail_memory(err, d * p, "errors of A");
    if (w->options->method == UNRELU_UNMIX_SEPARABLE) {
        for (size_t i = 0; i < d * p; i++)
            m->A_se[i] = NAN;
        return ur_mixture_warn(m, "no-se", err,
                               "columns of A are single samples, chosen as the most extreme ones "
                               "with their noise: no standard error can be had; --method facets "
                               "has one, and is several times as accurate");
    }
    status =
        ur_unmix_errors(c, w->exec, units->U, units->inverse, bread, pull, units->G, m->A_se, err);
    return status == UNRELU_OK ? warn_unknown_errors(m, err) : status;
}

/* the warnings of the fit of the hidden layer become the model's */
static unrelu_status take_warnings(unrelu_mixture *m, unrelu_error *err)
{
    unrelu_gaussian *hidden = &m->hidden;
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < hidden->warning_count && status == UNRELU_OK; i++)
        status = ur_mixture_warn(m, hidden->warnings[i].code, err, "hidden layer: %s",
                                 hidden->warnings[i].message);
    free(hidden->warnings);
    hidden->warnings = NULL;
    hidden->warning_count = 0;
    return status;
}

/* with noise: what is left must be no more than that */
static unrelu_status check_residual(const unmixing *w, const ur_cone *c, const ur_certificate *all,
                                    unrelu_error *err)
{
    double left = w->span.common * sqrt(all->left / ((double)c->n * (double)c->d));
    if (!c->noise || left <= MOST_LEFT * c->sigma)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EDATA,
                   "p = %zu units leave %.3g of the samples (root mean square), %.2g times the "
                   "noise that the singular values tell of: these are no mixtures of %zu units; "
                   "another -p, or more samples",
                   c->p, left, left / c->sigma, c->p);
}

static unrelu_status set_hidden(unmixing *w, const ur_cone *c, const ur_units *units, double *M,
                                unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    ur_certificate all;
    unrelu_status status = ur_units_fill(c, units, w->exec, M, &all, err);
    if (status == UNRELU_OK)
        status = ur_units_fit(c, units, M, w->options->seed, w->exec, &m->hidden, err);
    if (status != UNRELU_OK)
        return status;
    m->residual = sqrt(all.left / all.total);
    m->negative = all.negative;
    m->samples_checked = c->n;
    m->min_off = c->n;
    for (size_t k = 0; k < c->p; k++) {
        size_t off = ur_units_off(c->n, c->p, M, k);
        m->min_off = off < m->min_off ? off : m->min_off;
    }
    status = check_residual(w, c, &all, err);
    return status == UNRELU_OK ? take_warnings(m, err) : status;
}

static unrelu_status finish(unmixing *w, const ur_cone *c, ur_normals *normals, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    size_t p = c->p;
    ur_units units = {0};
    double *M = ur_alloc(c->n, p * sizeof *M); /* before that, the pull of the samples */
    double *bread = ur_alloc(p, p * p * sizeof *bread);
    unrelu_status status = UNRELU_OK;
    if (!M || !bread)
        status = ur_fail_memory(err, c->n * p, "hidden units");
    m->p = p;
    m->facets = normals->count;
    m->tries = normals->tries;
    if (!c->noise) /* met to rounding, however few digits the samples have */
        snprintf(m->precision, sizeof m->precision, "double");
    if (status == UNRELU_OK)
        status = ur_units_make(c, normals->U, &units, err);
    if (status == UNRELU_OK && c->noise && w->options->method == UNRELU_UNMIX_FACETS) {
        status = ur_unmix_polish(c, w->exec, units.U, bread, M, err);
        if (status == UNRELU_OK)
            status = ur_units_derive(c, &units, err);
    }
    if (status == UNRELU_OK)
        status = set_A(w, c, &units, bread, M, err);
    if (status == UNRELU_OK)
        status = set_hidden(w, c, &units, M, err);
    if (status == UNRELU_OK)
        status = judge(w, c, normals, M, err);
    ur_units_free(&units);
    free(M);
    free(bread);
    return status;
}

/* with noise: what is beyond p must not grow with the samples */
static unrelu_status check_growth(unmixing *w, const attempt *t, const ur_cone *c,
                                  unrelu_error *err)
{
    double ratio = 1;
    if (!c->noise || c->p == c->d || is_rounding(&w->span, t->sigma) ||
        relative(&w->span, t->sigma) < UNIFORM)
        return UNRELU_OK;
    unrelu_status status = ur_cone_growth(c, &ratio, err);
    if (status != UNRELU_OK || ratio < NOT_NOISE)
        return status;
    if (w->options->p > 0)
        return ur_mixture_warn(w->model, "noise-uneven", err,
                               "what p = %zu units leave of the samples is %.2g times larger in "
                               "long ones than in short ones: that is no noise of one deviation",
                               c->p, sqrt(ratio));
    return ur_fail(err, UNRELU_EDATA,
                   "what p = %zu units leave of the samples is %.2g times larger in long ones than "
                   "in short ones: that is no noise; -p %zu takes it for noise all the same",
                   c->p, sqrt(ratio), c->p);
}

static unrelu_status try(unmixing *w, const attempt *t, unrelu_error *err)
{
    const ur_span *s = &w->span;
    ur_cone cone = {0};
    ur_normals normals = {0};
    if (s->nonzero < 2 * t->p)
        return ur_fail(err, UNRELU_EDATA,
                       "%zu samples that are not 0 have rank %zu, and cannot tell so many units "
                       "apart: at least 2 p = %zu are needed, about 20 p = %zu where units are off "
                       "half the time",
                       s->nonzero, t->p, 2 * t->p, 20 * t->p);
    /* rounding is larger where samples are */
    double sigma = is_rounding(s, t->sigma) ? 2 * t->sigma : t->sigma;
    unrelu_status status = ur_cone_make(s, t->p, sigma, w->exec, &cone, err);
    if (status == UNRELU_OK)
        status = check_growth(w, t, &cone, err);
    if (status == UNRELU_OK)
        status = w->options->method == UNRELU_UNMIX_SEPARABLE
                     ? ur_unmix_separable(&cone, w->options->seed, w->exec, &normals, err)
                     : ur_unmix_facets(&cone, w->options->seed, w->exec, &normals, err);
    if (status == UNRELU_OK)
        status = describe_p(w, t, err);
    if (status == UNRELU_OK)
        status = finish(w, &cone, &normals, err);
    w->model->noise = t->sigma;
    w->model->relative_noise = relative(s, t->sigma);
    ur_cone_free(&cone);
    ur_normals_free(&normals);
    return status;
}

/* ---- the walk ---- */

static unrelu_status set_names(unmixing *w, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    if (!(m->names = ur_alloc(m->d, sizeof *m->names)))
        return ur_fail_memory(err, m->d, "names");
    for (size_t j = 0; j < m->d; j++)
        if (!(m->names[j] = ur_string_copy(unrelu_source_name(w->source, j))))
            return ur_fail_memory(err, m->d, "names");
    return UNRELU_OK;
}

/* an empty model for the next attempt */
static unrelu_status begin(unmixing *w, unrelu_error *err)
{
    unrelu_mixture *m = w->model;
    unrelu_mixture_free(m);
    *m = (unrelu_mixture){.d = w->span.d, .n = w->span.n, .seed = w->options->seed};
    snprintf(m->method, sizeof m->method, "%s",
             w->options->method == UNRELU_UNMIX_SEPARABLE ? "separable" : "facets");
    snprintf(m->precision, sizeof m->precision, "%s", w->span.precision);
    return set_names(w, err);
}

static void tell_noise(const unmixing *w, unrelu_error *err)
{
    size_t used = err ? strlen(err->text) : 0, p = w->too_noisy;
    double sigma = ur_span_noise(&w->span, p);
    if (err && w->options->p == w->span.d && w->attempt_count == 1)
        snprintf(err->text + used, sizeof err->text - used,
                 "; with noise, p must be below the number of columns, %zu", w->span.d);
    if (err && p > 0)
        snprintf(err->text + used, sizeof err->text - used,
                 "; or there %s %zu unit%s and noise of deviation %.3g, %.2g %% of the samples' "
                 "root mean square, where facets are found up to about 3 to 5 %%",
                 p == 1 ? "is" : "are", p, p == 1 ? "" : "s", sigma,
                 100 * relative(&w->span, sigma));
}

static unrelu_status run(unmixing *w, unrelu_error *err)
{
    static const char remedy[] = "unmix needs every cell; leave such rows out";
    unrelu_status status = ur_table_load(w->source, w->exec, remedy, &w->x, err);
    if (status == UNRELU_OK && w->x.rows < FEWEST_ROWS)
        status = ur_fail(err, UNRELU_EDATA, "%zu row%s cannot be unmixed: at least %d are needed",
                         w->x.rows, w->x.rows == 1 ? "" : "s", FEWEST_ROWS);
    if (status == UNRELU_OK)
        status = ur_span_measure(w->source, &w->x, w->exec, &w->span, err);
    if (status == UNRELU_OK)
        status = choose(w, err);
    int told = 0;
    for (size_t i = 0; i < w->attempt_count && status == UNRELU_OK; i++) {
        unrelu_error why = {""};
        status = begin(w, &why);
        if (status == UNRELU_OK)
            status = try(w, &w->attempts[i], &why);
        if (status == UNRELU_OK)
            return UNRELU_OK;
        /* of several attempts, what the first with noise says helps most */
        if (err && (i == 0 || (w->attempts[i].sigma > 0 && !told) || status != UNRELU_EDATA))
            *err = why;
        told |= w->attempts[i].sigma > 0;
        if (status == UNRELU_EDATA && i + 1 < w->attempt_count)
            status = UNRELU_OK;
    }
    if (status == UNRELU_EDATA && w->attempt_count > 0)
        tell_noise(w, err);
    return status;
}

unrelu_status unrelu_unmix(unrelu_source *source, const unrelu_unmix_options *options,
                           const unrelu_exec *exec, unrelu_mixture *model, unrelu_error *err)
{
    unrelu_unmix_options defaults = unrelu_unmix_options_default();
    unmixing w = {
        .options = options ? options : &defaults, .exec = exec, .source = source, .model = model};
    memset(model, 0, sizeof *model);
    if ((unsigned)w.options->method > UNRELU_UNMIX_SEPARABLE)
        return ur_fail(err, UNRELU_EUSAGE, "there is no method %d", (int)w.options->method);
    int saved = ur_blas_pin();
    unrelu_status status = run(&w, err);
    if (status != UNRELU_OK)
        unrelu_mixture_free(model);
    ur_table_free(&w.x);
    ur_span_free(&w.span);
    ur_blas_unpin(saved);
    return status;
}
