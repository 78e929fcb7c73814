/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/problem/fit.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/model/gaussian_model.h"
#include "pass/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    JACKKNIFE_GROUPS = 10,
    SINGLE_FROM = 96, /* columns: below it double costs no time worth the digits */
    FEWEST_ROWS = 3
};

unrelu_gaussian_options unrelu_gaussian_options_default(void)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    return o;
}

static unrelu_status check_options(const unrelu_gaussian_options *o, unrelu_error *err)
{
    if ((unsigned)o->norms > UNRELU_NORMS_SGD || (unsigned)o->angles > UNRELU_ANGLES_LIKELIHOOD ||
        (unsigned)o->precision > UNRELU_PRECISION_SINGLE)
        return ur_fail(err, UNRELU_EUSAGE, "there are no norms %d, angles %d or precision %d",
                       (int)o->norms, (int)o->angles, (int)o->precision);
    if (o->censor_at && o->censor_count == 0)
        return ur_fail(err, UNRELU_EUSAGE, "an empty list of censoring limits was given");
    if (o->batches < 1 || o->minibatch < 1)
        return ur_fail(err, UNRELU_EUSAGE, "batches (%d) and minibatch (%d) must be at least 1",
                       o->batches, o->minibatch);
    if (!(o->radius > 1 && o->radius < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE,
                       "radius must exceed 1 (the domain (8) is 1/r <= v1 <= r), not %g",
                       o->radius);
    if (!(o->lambda > 0 && o->lambda < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE, "lambda must be positive, not %g", o->lambda);
    if (o->rank < UNRELU_RANK_AUTO)
        return ur_fail(err, UNRELU_EUSAGE, "rank must be positive or auto, not %d", o->rank);
    if (o->additive_noise != UNRELU_NOISE_AUTO &&
        !(o->additive_noise >= 0 && o->additive_noise < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE,
                       "additive noise must be auto or a standard deviation >= 0, not %g",
                       o->additive_noise);
    return UNRELU_OK;
}

static unrelu_status check_one_pass(const unrelu_gaussian_options *o, unrelu_error *err)
{
    const char *what = o->norms == UNRELU_NORMS_SGD       ? "projected SGD (--norms sgd)"
                       : o->norms == UNRELU_NORMS_MEDIAN  ? "--norms median"
                       : o->angles == UNRELU_ANGLES_SIGNS ? "--angles signs"
                       : o->additive_noise != 0           ? "--additive-noise"
                       : o->robust                        ? "--robust"
                       : o->censor_at                     ? "--censor-at"
                       : ur_fit_needs_cells(o)
                           ? "a limit of each cell, a transform, or --angles likelihood"
                           : NULL;
    if (what)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s needs the samples themselves, and a summary does not hold them: give "
                       "the sample file, or use the default method",
                       what);
    return UNRELU_OK;
}

/* ---- the walk ---- */

static unrelu_status solve_pairs(ur_fit *fit, const ur_fit_pairs *out, unrelu_error *err)
{
    if (fit->options->angles == UNRELU_ANGLES_SIGNS)
        return ur_fit_signs(fit, out, err);
    return ur_fit_h6(fit, &fit->v, out, err);
}

static unrelu_status estimate(ur_fit *fit, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    const ur_moments_plan *plan = &fit->summary->plan;
    if (!(fit->body = ur_doubles(ur_moments_body_len(plan))))
        return ur_fail_memory(err, ur_moments_body_len(plan), "sums");
    ur_moments_total(plan, fit->summary->s, SIZE_MAX, fit->body);
    fit->v = ur_moments_view_of(plan, fit->body);
    if (*fit->v.rows < FEWEST_ROWS)
        return ur_fail(err, UNRELU_EDATA, "%.0f row%s cannot support a fit: at least %d are needed",
                       *fit->v.rows, *fit->v.rows == 1 ? "" : "s", FEWEST_ROWS);
    /* the warnings of the margins come before the model's size is known */
    unrelu_status status = ur_fit_margins(fit, err);
    if (status != UNRELU_OK)
        return status;
    unrelu_warning *warnings = m->warnings;
    size_t warning_count = m->warning_count;
    status = ur_gaussian_allocate(m, fit->d, 1, err);
    m->warnings = warnings;
    m->warning_count = warning_count;
    double *product_se = ur_alloc(fit->d, fit->d * sizeof *product_se);
    if (status == UNRELU_OK && !product_se)
        status = ur_fail_memory(err, fit->d, "columns");
    if (status == UNRELU_OK)
        status = ur_fit_set_columns(fit, err);
    ur_fit_pairs out = {m->correlation, m->correlation_se, product_se, m->n_pair, m->pair_flags};
    if (status == UNRELU_OK)
        status = solve_pairs(fit, &out, err);
    if (status == UNRELU_OK)
        status = ur_fit_finish(fit, product_se, err);
    free(product_se);
    return status;
}

static unrelu_status collect(ur_fit *fit, unrelu_summary **summary, unrelu_error *err)
{
    const unrelu_gaussian_options *o = fit->options;
    size_t d = unrelu_source_columns(fit->source);
    double *limit = ur_doubles(d);
    fit->limit = ur_doubles(d);
    unrelu_status status = UNRELU_OK;
    if (!limit || !fit->limit)
        status = ur_fail_memory(err, d, "limits");
    if (status == UNRELU_OK)
        status = ur_limits(o, d, fit->limit, err);
    if (status == UNRELU_OK)
        status = ur_source_rewind(fit->source, err);
    if (status == UNRELU_OK) {
        memcpy(limit, fit->limit, d * sizeof *limit);
        status = ur_fit_noise(fit, limit, err);
    }
    if (status == UNRELU_OK)
        status = ur_fit_cut(fit, limit, err);
    int wide = o->precision == UNRELU_PRECISION_AUTO && d >= SINGLE_FROM;
    ur_collect_rules rules = {
        .pairs = o->angles == UNRELU_ANGLES_H6,
        .single = wide || o->precision == UNRELU_PRECISION_SINGLE,
        .negatives = o->additive_noise != 0,
        .groups =
            o->rank == UNRELU_RANK_NONE || o->angles != UNRELU_ANGLES_H6 ? 1 : JACKKNIFE_GROUPS,
        .limit = limit,
        .cut = fit->cut,
    };
    if (status == UNRELU_OK)
        status = ur_summary_collect_rules(fit->source, &rules, fit->exec, summary, err);
    free(limit);
    return status;
}

static unrelu_status run(unrelu_source *source, const unrelu_summary *given,
                         const unrelu_gaussian_options *options, const unrelu_exec *exec,
                         unrelu_gaussian *model, unrelu_error *err)
{
    unrelu_gaussian_options defaults = unrelu_gaussian_options_default();
    ur_fit fit = {.options = options ? options : &defaults, .exec = exec, .source = source};
    unrelu_summary *collected = NULL;
    UR_BLAS_PINNED;
    memset(model, 0, sizeof *model);
    fit.model = model;
    unrelu_status status = check_options(fit.options, err);
    if (status == UNRELU_OK)
        status = source ? collect(&fit, &collected, err) : check_one_pass(fit.options, err);
    fit.summary = source ? collected : given;
    if (given && status == UNRELU_OK && !(fit.limit = ur_doubles(given->plan.d)))
        status = ur_fail_memory(err, given->plan.d, "limits");
    if (given && status == UNRELU_OK)
        memcpy(fit.limit, given->limit, given->plan.d * sizeof *fit.limit);
    if (status == UNRELU_OK)
        status = estimate(&fit, err);
    if (status != UNRELU_OK)
        unrelu_gaussian_free(model);
    unrelu_summary_free(collected);
    free(fit.body);
    free(fit.columns);
    free(fit.limit);
    free(fit.noise);
    free(fit.cut);
    return status;
}

/* cell by cell, in memory */
static unrelu_status run_cells(unrelu_source *source, const unrelu_gaussian_options *options,
                               const unrelu_exec *exec, unrelu_gaussian *model, unrelu_error *err)
{
    UR_BLAS_PINNED;
    memset(model, 0, sizeof *model);
    unrelu_status status = check_options(options, err);
    if (status == UNRELU_OK)
        status = ur_fit_cells(source, options, exec, model, err);
    if (status != UNRELU_OK)
        unrelu_gaussian_free(model);
    return status;
}

unrelu_status unrelu_gaussian_fit(unrelu_source *source, const unrelu_gaussian_options *options,
                                  const unrelu_exec *exec, unrelu_gaussian *model,
                                  unrelu_error *err)
{
    unrelu_gaussian_options defaults = unrelu_gaussian_options_default();
    const unrelu_gaussian_options *o = options ? options : &defaults;
    if (ur_fit_needs_cells(o))
        return run_cells(source, o, exec, model, err);
    unrelu_status status = run(source, NULL, o, exec, model, err);
    if (status == UNRELU_EFORMAT && ur_source_met_limit(source))
        status = run_cells(source, o, exec, model, err);
    return status;
}

unrelu_status unrelu_gaussian_fit_summary(const unrelu_summary *summary,
                                          const unrelu_gaussian_options *options,
                                          const unrelu_exec *exec, unrelu_gaussian *model,
                                          unrelu_error *err)
{
    return run(NULL, summary, options, exec, model, err);
}
