/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/problem/fit.h"

#include "base/error.h"
#include "base/sized.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/check/glance.h"
#include "gaussian/model/gaussian_model.h"
#include "law/power.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "pass/ranks.h"

#include <math.h>
#include <string.h>

enum {
    JACKKNIFE_GROUPS = 10,
    SINGLE_FROM = 96, /* columns: below it double costs no time worth the digits */
};

/* *o: those given over the defaults */
static unrelu_status read_options(const unrelu_gaussian_options *options,
                                  unrelu_gaussian_options *o, unrelu_error *err)
{
    unrelu_gaussian_options_init(o, sizeof *o);
    UR_TRY(ur_sized_copy(o, sizeof *o, options, "the options", err));
    if ((unsigned)o->norms > UNRELU_NORMS_SGD || (unsigned)o->angles > UNRELU_ANGLES_LIKELIHOOD ||
        (unsigned)o->precision > UNRELU_PRECISION_SINGLE)
        return ur_fail(err, UNRELU_EUSAGE, "there are no norms %d, angles %d or precision %d",
                       (int)o->norms, (int)o->angles, (int)o->precision);
    if ((unsigned)o->errors > UNRELU_ERRORS_CLUSTER)
        return ur_fail(err, UNRELU_EUSAGE, "there are no errors %d", (int)o->errors);
    if (o->errors == UNRELU_ERRORS_CLUSTER && !o->cluster)
        return ur_fail(err, UNRELU_EUSAGE,
                       "`errors` cluster needs the column in which rows that belong together say "
                       "the same: cluster:COLUMN");
    if ((o->errors == UNRELU_ERRORS_ROBUST || o->errors == UNRELU_ERRORS_CLUSTER) &&
        (o->literal || o->norms >= UNRELU_NORMS_MEDIAN || o->angles == UNRELU_ANGLES_SIGNS))
        return ur_fail(
            err, UNRELU_EUSAGE,
            "`errors` robust and cluster go with `norms` censored or truncated and `angles` h6 or "
            "likelihood, whose estimates move smoothly with each row");
    if ((unsigned)o->transform > UNRELU_TRANSFORM_SIGMOID)
        return ur_fail(err, UNRELU_EUSAGE, "there is no transform %d", (int)o->transform);
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

/* ---- the walk ---- */

static unrelu_status estimate(ur_fit *fit, unrelu_error *err)
{
    unrelu_gaussian *m = fit->model;
    int clusters = fit->options->errors == UNRELU_ERRORS_CLUSTER;
    int robust = clusters || fit->options->errors == UNRELU_ERRORS_ROBUST;
    m->errors = robust ? "robust" : "model";
    const ur_moments_plan *plan = &fit->summary->plan;
    double *body = ur_take(fit->arena, ur_moments_body_len(plan), sizeof *body);
    UR_TRY(ur_arena_status(fit->arena, err));
    ur_moments_total(plan, fit->summary->s, SIZE_MAX, body);
    fit->v = ur_moments_view_of(plan, body);
    if (*fit->v.rows < UR_FEWEST_ROWS)
        return ur_fail(err, UNRELU_EDATA, "%.0f row%s cannot support a fit: at least %d are needed",
                       *fit->v.rows, *fit->v.rows == 1 ? "" : "s", UR_FEWEST_ROWS);
    UR_TRY(ur_fit_margins(fit, err));
    UR_TRY(ur_gaussian_allocate(m, fit->d, 1, err));
    UR_TRY(ur_fit_set_columns(fit, err));
    UR_TRY(ur_gaussian_set_activation(m, fit->options->transform, fit->options->boxcox, err));
    double *product_se = ur_take(fit->arena, fit->d, fit->d * sizeof *product_se);
    UR_TRY(ur_arena_status(fit->arena, err));
    double *noise_se = fit->negatives ? ur_take(fit->arena, fit->d, sizeof *noise_se) : NULL;
    UR_TRY(ur_arena_status(fit->arena, err));
    if (noise_se)
        ur_fit_settle_noise(fit, noise_se);
    ur_fit_pairs out = {.rho = m->correlation,
                        .rho_se = m->correlation_se,
                        .product_se = product_se,
                        .n_pair = m->n_pair,
                        .flags = m->pair_flags};
    if (fit->options->angles == UNRELU_ANGLES_SIGNS)
        UR_TRY(ur_fit_signs(fit, &out, err));
    else
        UR_TRY(ur_fit_h6(fit, &fit->v, &out, err));
    if (robust)
        UR_TRY(ur_fit_robust(fit, product_se, err));
    return ur_fit_finish(&(ur_estimate){fit->options, m, product_se, fit, noise_se}, err);
}

static void free_summary(void *summary)
{
    unrelu_summary_free(summary);
}

/* columns without a limit are those of plain normals: for norms and angles that know of these */
static unrelu_status check_uncensored(const unrelu_source *source, const unrelu_gaussian_options *o,
                                      unrelu_error *err)
{
    const char *what = o->literal                          ? "`method` paper"
                       : o->norms != UNRELU_NORMS_CENSORED ? "`norms` other than censored"
                       : o->angles == UNRELU_ANGLES_SIGNS  ? "`angles` signs"
                       : o->additive_noise != 0            ? "`additive-noise`"
                       : ur_transform_undoes(o->transform) ? "`activation`"
                                                           : NULL;
    if (what && ur_source_asked(source)->uncensored)
        return ur_fail(err, UNRELU_EUSAGE, "`uncensored` does not go with %s", what);
    return UNRELU_OK;
}

/* the passes before the margins; fit->summary is what they leave */
static unrelu_status collect(ur_fit *fit, unrelu_error *err)
{
    const unrelu_gaussian_options *o = fit->options;
    size_t d = unrelu_source_columns(fit->source);
    double *limit = ur_take(fit->arena, d, sizeof *limit);
    fit->limit = ur_take(fit->arena, d, sizeof *fit->limit);
    UR_TRY(ur_arena_status(fit->arena, err));
    UR_TRY(ur_limits(o, d, fit->limit, err));
    for (size_t j = 0; j < d; j++)
        if (ur_transform_undoes(o->transform) || ur_source_is_uncensored(fit->source, j))
            fit->limit[j] = -INFINITY;
    UR_TRY(ur_source_rewind(fit->source, err));
    memcpy(limit, fit->limit, d * sizeof *limit);
    UR_TRY(ur_fit_noise(fit, limit, err));
    UR_TRY(ur_fit_cut(fit, limit, err));
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
    unrelu_summary *summary = NULL;
    UR_TRY(ur_summary_collect_rules(fit->source, &rules, fit->exec, &summary, err));
    fit->summary = ur_arena_adopt(fit->arena, summary, free_summary);
    return ur_arena_status(fit->arena, err);
}

/* One pass, or a fit cell by cell. Limits of single cells show in the file only when it is read,
 * and one pass cannot take them: *again says that it came upon one, which is no failure. */
static unrelu_status fit_samples(unrelu_source *source, const unrelu_gaussian_options *o,
                                 const double *lambda, const unrelu_exec *exec, int by_cells,
                                 int *again, unrelu_gaussian **model, unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_gaussian *m = ur_gaussian_new(err);
    ur_fit fit = {o, exec, &arena, source, .model = m};
    *again = 0;
    unrelu_status status = !m         ? UNRELU_ENOMEM
                           : by_cells ? ur_fit_cells(source, o, lambda, exec, m, err)
                                      : collect(&fit, err);
    if (!by_cells && status == UNRELU_OK)
        status = estimate(&fit, err);
    else if (!by_cells)
        *again = status == UNRELU_EFORMAT && ur_source_met_limit(source);
    return ur_model_hand(m, status, model, err);
}

/* Footnote 2 of the paper: what went through an invertible activation is undone where it is read,
 * and the moments are those of plain normals. */
static unrelu_status fit_undone(unrelu_source *source, const unrelu_gaussian_options *o,
                                const unrelu_exec *exec, unrelu_gaussian **model, unrelu_error *err)
{
    int again;
    ur_undo undo;
    UR_TRY(ur_undo_of(o, &undo, err));
    ur_source_undo(source, &undo);
    unrelu_status status = fit_samples(source, o, NULL, exec, 0, &again, model, err);
    ur_source_undo(source, NULL);
    return status;
}

/* by the route that options and cells ask for */
static unrelu_status fit_once(unrelu_source *source, const unrelu_gaussian_options *o,
                              const double *lambda, const unrelu_exec *exec,
                              unrelu_gaussian **model, unrelu_error *err)
{
    int again = 1;
    if (ur_transform_undoes(o->transform))
        return fit_undone(source, o, exec, model, err);
    if (!ur_fit_needs_cells(o)) {
        unrelu_status status = fit_samples(source, o, lambda, exec, 0, &again, model, err);
        if (!again)
            return status;
    }
    UR_TRY(
        ur_ranks_refuse(exec, "a fit cell by cell (limits of cells, transforms, likelihood)", err));
    return fit_samples(source, o, lambda, exec, 1, &again, model, err);
}

/* A fit, and what can be seen of the samples while they are read for it. Of ranks, each of which
 * sees its own rows, nothing is said: all must say the same. */
static unrelu_status fit_and_glance(unrelu_source *source, const unrelu_gaussian_options *o,
                                    const unrelu_exec *exec, unrelu_gaussian **model,
                                    unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(source);
    double *at = ur_take(&arena, d, sizeof *at);
    ur_glance *glance = NULL;
    UR_TRY(ur_arena_status(&arena, err));
    if (!(exec && exec->rank_sum)) {
        UR_TRY(ur_limits(o, d, at, err));
        UR_TRY(ur_glance_begin(source, &arena, &glance, err));
    }
    unrelu_status status = fit_once(source, o, NULL, exec, model, err);
    ur_glance_end(glance);
    return status == UNRELU_OK ? ur_glance_tell(glance, at, *model, err) : status;
}

static unrelu_status fit_source(unrelu_source *source, const unrelu_gaussian_options *options,
                                const unrelu_exec *exec, unrelu_gaussian **model, unrelu_error *err)
{
    unrelu_gaussian_options o;
    if (!source)
        return ur_fail(err, UNRELU_EDATA, "there are no samples: the source is NULL");
    UR_TRY(read_options(options, &o, err));
    UR_TRY(check_uncensored(source, &o, err));
    if (o.norms == UNRELU_NORMS_SGD)
        UR_TRY(ur_ranks_refuse(exec, "projected SGD", err));
    if (o.errors == UNRELU_ERRORS_BOOTSTRAP || o.errors == UNRELU_ERRORS_CLUSTER)
        UR_TRY(ur_ranks_refuse(exec, "errors by a bootstrap or by clusters", err));
    UR_TRY(fit_and_glance(source, &o, exec, model, err));
    return o.errors == UNRELU_ERRORS_BOOTSTRAP
               ? ur_fit_bootstrap(source, &o, exec, fit_once, *model, err)
               : UNRELU_OK;
}

unrelu_status unrelu_gaussian_fit(unrelu_source *source, const unrelu_gaussian_options *options,
                                  const unrelu_exec *exec, unrelu_gaussian **model,
                                  unrelu_error *err)
{
    unrelu_exec here;
    unrelu_error own;
    ur_rank_call ranks;
    err = err ? err : &own;
    *model = NULL;
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_BLAS_PIN(&here.threads);
    exec = ur_ranks_begin(&ranks, source ? unrelu_source_columns(source) : 0, exec);
    unrelu_status status = ur_blas_check(ur_blas_pinned, err);
    if (status == UNRELU_OK)
        status = fit_source(source, options, exec, model, err);
    status = ur_ranks_end(&ranks, status, err);
    return ur_model_hand(*model, status, model, err);
}

/* A summary knows what its samples went through: options may say the same, or nothing. */
static unrelu_status take_activation(const unrelu_summary *summary, unrelu_gaussian_options *o,
                                     unrelu_error *err)
{
    const ur_activation_undone asked = {o->transform, o->boxcox}, *own = &summary->undone;
    char said[UR_ACTIVATION_NAME];
    ur_undo undo;
    ur_activation_write(asked.inverse, asked.slope, said);
    if (*said && !ur_activation_same(&asked, own))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`activation` %s is not what the summary was made with, which is %s: leave "
                       "it out, or summarize the samples again",
                       said, unrelu_summary_activation(summary));
    if (own->inverse == UNRELU_TRANSFORM_NONE)
        return UNRELU_OK;
    if (asked.inverse != UNRELU_TRANSFORM_NONE && !*said)
        return ur_fail(err, UNRELU_EUSAGE,
                       "`transform` does not go with a summary of samples that went through %s",
                       unrelu_summary_activation(summary));
    o->transform = own->inverse;
    o->boxcox = own->slope;
    return ur_undo_of(o, &undo, err);
}

static unrelu_status fit_summary(const unrelu_summary *summary,
                                 const unrelu_gaussian_options *options, const unrelu_exec *exec,
                                 unrelu_gaussian *model, unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_gaussian_options o;
    ur_fit fit = {&o, exec, &arena, .summary = summary, .limit = summary->limit, .model = model};
    UR_TRY(read_options(options, &o, err));
    UR_TRY(take_activation(summary, &o, err));
    const char *what = o.norms == UNRELU_NORMS_SGD        ? "projected SGD (`norms` sgd)"
                       : o.norms == UNRELU_NORMS_MEDIAN   ? "`norms` median"
                       : o.angles == UNRELU_ANGLES_SIGNS  ? "`angles` signs"
                       : o.additive_noise != 0            ? "`additive-noise`"
                       : o.robust                         ? "`robust`"
                       : o.errors >= UNRELU_ERRORS_ROBUST ? "`errors` other than model"
                       : o.censor_at                      ? "`censor-at`"
                       : ur_fit_needs_cells(&o) && !ur_transform_undoes(o.transform)
                           ? "a limit of each cell, a transform, or `angles` likelihood"
                           : NULL;
    if (what)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s needs the samples themselves, and a summary does not hold them: give "
                       "the sample file, or use the default method",
                       what);
    return estimate(&fit, err);
}

unrelu_status unrelu_gaussian_fit_summary(const unrelu_summary *summary,
                                          const unrelu_gaussian_options *options,
                                          const unrelu_exec *exec, unrelu_gaussian **model,
                                          unrelu_error *err)
{
    unrelu_exec here;
    *model = NULL;
    UR_TRY(ur_exec_read(&exec, &here, err));
    here.rank_sum = NULL; /* each rank its own summary */
    UR_BLAS_BEGIN(&here.threads, err);
    unrelu_gaussian *m = ur_gaussian_new(err);
    unrelu_status status = m ? fit_summary(summary, options, exec, m, err) : UNRELU_ENOMEM;
    return ur_model_hand(m, status, model, err);
}
