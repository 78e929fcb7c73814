/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting, merging and keeping moments. A file holds what moments.h lists, groups first: counts
 * as integers, and of symmetric sums the upper triangle row by row. */
#include "gaussian/summary/gaussian_summary.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/sized.h"
#include "dense/linear.h"
#include "law/power.h"
#include "model/fields.h"
#include "pass/parallel.h"
#include "pass/pass.h"
#include "pass/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 1000 };

void unrelu_summary_free(unrelu_summary *summary)
{
    if (summary)
        ur_arena_end(&summary->arena);
    ur_free(summary);
}

size_t unrelu_summary_columns(const unrelu_summary *summary)
{
    return summary->plan.d;
}

const char *unrelu_summary_activation(const unrelu_summary *summary)
{
    return *summary->activation ? summary->activation : "relu";
}

size_t unrelu_summary_rows(const unrelu_summary *summary)
{
    double rows = 0;
    for (size_t g = 0; g < summary->plan.groups; g++)
        rows += *ur_moments_group(&summary->plan, summary->s, g);
    return (size_t)rows;
}

/* where a call fails there is no summary */
static unrelu_status settle(unrelu_status status, unrelu_summary **out)
{
    if (status != UNRELU_OK) {
        unrelu_summary_free(*out);
        *out = NULL;
    }
    return status;
}

/* an empty summary of d columns, without names yet */
static unrelu_status allocate(size_t d, size_t groups, int pairs, unrelu_summary **out,
                              unrelu_error *err)
{
    unrelu_summary *summary = *out = ur_alloc(1, sizeof *summary);
    if (!summary)
        return ur_fail_memory(err, 1, "summary");
    ur_arena *arena = &summary->arena;
    summary->limit = ur_take(arena, d, sizeof *summary->limit);
    summary->plan = (ur_moments_plan){.d = d,
                                      .groups = groups,
                                      .pairs = pairs,
                                      .limit = summary->limit,
                                      .head = ur_take(arena, d, 2 * sizeof(double))};
    summary->s = ur_take(arena, ur_moments.len(&summary->plan), sizeof *summary->s);
    if (ur_arena_failed(arena))
        return ur_fail_memory(err, ur_moments.len(&summary->plan),
                              "sums of columns and their pairs");
    return UNRELU_OK;
}

static unrelu_status collect(unrelu_source *source, const ur_collect_rules *rules,
                             const unrelu_exec *exec, unrelu_summary **out, unrelu_error *err)
{
    size_t d = unrelu_source_columns(source);
    UR_TRY(allocate(d, rules->groups, rules->pairs, out, err));
    unrelu_summary *summary = *out;
    memcpy(summary->limit, rules->limit, d * sizeof *summary->limit);
    summary->names = ur_take_copies(&summary->arena, ur_source_names(source), d);
    UR_TRY(ur_arena_status(&summary->arena, err));
    ur_moments_plan *plan = &summary->plan;
    plan->single = rules->single;
    plan->negatives = rules->negatives;
    plan->cut = rules->cut;
    plan->source = source;
    unrelu_status status =
        ur_pass(source, &ur_moments, plan, exec, "reading samples", summary->s, err);
    plan->cut = NULL;
    plan->source = NULL;
    return status;
}

unrelu_status ur_summary_collect_rules(unrelu_source *source, const ur_collect_rules *rules,
                                       const unrelu_exec *exec, unrelu_summary **out,
                                       unrelu_error *err)
{
    return settle(collect(source, rules, exec, out, err), out);
}

unrelu_status ur_limits(const unrelu_gaussian_options *options, size_t d, double *limit,
                        unrelu_error *err)
{
    size_t count = options->censor_at ? options->censor_count : 0;
    if (count > 1 && count != d)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%zu censoring limits were given for %zu columns: give one, or one for "
                       "each column",
                       count, d);
    for (size_t j = 0; j < d; j++) {
        limit[j] = count == 0 ? 0 : options->censor_at[count == 1 ? 0 : j];
        if (!isfinite(limit[j]))
            return ur_fail(err, UNRELU_EUSAGE, "the censoring limit of column %zu is not a number",
                           j + 1);
    }
    return UNRELU_OK;
}

static void set_activation(unrelu_summary *summary, unrelu_transform inverse, double slope)
{
    summary->undone = (ur_activation_undone){inverse, slope};
    ur_activation_write(inverse, slope, summary->activation);
}

/* limit: d, none of which counts */
static unrelu_status collect_undone(unrelu_source *source, const unrelu_gaussian_options *o,
                                    ur_collect_rules rules, double *limit, const unrelu_exec *exec,
                                    unrelu_summary **out, unrelu_error *err)
{
    ur_undo undo;
    UR_TRY(ur_undo_of(o, &undo, err));
    for (size_t j = 0; j < unrelu_source_columns(source); j++)
        limit[j] = -INFINITY;
    rules.limit = limit;
    ur_source_undo(source, &undo);
    unrelu_status status = ur_summary_collect_rules(source, &rules, exec, out, err);
    ur_source_undo(source, NULL);
    if (status == UNRELU_OK)
        set_activation(*out, o->transform, o->boxcox);
    return status;
}

static unrelu_status collect_samples(unrelu_source *source, const unrelu_gaussian_options *options,
                                     size_t groups, const unrelu_exec *exec, unrelu_summary **out,
                                     unrelu_error *err)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    if (!source)
        return ur_fail(err, UNRELU_EDATA, "there are no samples: the source is NULL");
    if (groups < 1 || groups > MAX_GROUPS)
        return ur_fail(err, UNRELU_EUSAGE, "groups must lie in 1 .. %d, not %zu", MAX_GROUPS,
                       groups);
    UR_ARENA(arena);
    size_t d = unrelu_source_columns(source);
    double *limit = ur_take(&arena, d, sizeof *limit);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_limits(&o, d, limit, err));
    for (size_t j = 0; j < d; j++)
        if (ur_source_is_uncensored(source, j))
            limit[j] = -INFINITY;
    UR_TRY(ur_source_rewind(source, err));
    ur_collect_rules rules = {.pairs = 1, .groups = groups, .limit = limit};
    return ur_transform_undoes(o.transform)
               ? collect_undone(source, &o, rules, limit, exec, out, err)
               : ur_summary_collect_rules(source, &rules, exec, out, err);
}

unrelu_status unrelu_summary_collect(unrelu_source *source, const unrelu_gaussian_options *options,
                                     size_t groups, const unrelu_exec *exec, unrelu_summary **out,
                                     unrelu_error *err)
{
    unrelu_exec here;
    unrelu_error own;
    ur_rank_call ranks;
    err = err ? err : &own;
    *out = NULL;
    UR_TRY(ur_exec_read(&exec, &here, err));
    exec = ur_ranks_begin(&ranks, source ? unrelu_source_columns(source) : 0, exec);
    unrelu_status status = collect_samples(source, options, groups, exec, out, err);
    return settle(ur_ranks_end(&ranks, status, err), out);
}

/* ---- merge ---- */

static unrelu_status check_same(const unrelu_summary *into, const unrelu_summary *from,
                                unrelu_error *err)
{
    if (into->plan.d != from->plan.d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "summaries of %zu and %zu columns cannot be merged: they are of different "
                       "data",
                       into->plan.d, from->plan.d);
    if (!ur_activation_same(&into->undone, &from->undone))
        return ur_fail(err, UNRELU_EFORMAT,
                       "the samples of one summary went through %s and those of another through "
                       "%s: summarize all shards with the same `activation`",
                       unrelu_summary_activation(into), unrelu_summary_activation(from));
    for (size_t j = 0; j < into->plan.d; j++) {
        if (strcmp(into->names[j], from->names[j]) != 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu is called '%s' in one summary and '%s' in another: shards "
                           "must have the same columns in the same order",
                           j + 1, into->names[j], from->names[j]);
        if (into->limit[j] != from->limit[j])
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu (%s) was censored at %g in one summary and at %g in "
                           "another: summarize all shards with the same `censor-at`",
                           j + 1, into->names[j], into->limit[j], from->limit[j]);
    }
    return UNRELU_OK;
}

/* a copy of s with the groups of `plan`, or with all of them added up where there is one only */
static double *copy_sums(ur_arena *arena, const unrelu_summary *from, const ur_moments_plan *plan)
{
    double *copy = ur_take(arena, ur_moments.len(plan), sizeof *copy);
    if (!copy)
        return NULL;
    if (plan->groups == from->plan.groups)
        return memcpy(copy, from->s, ur_moments.len(plan) * sizeof *copy);
    memcpy(copy, from->s, 2 * plan->d * sizeof *copy); /* shift and exponent */
    ur_moments_total(&from->plan, from->s, SIZE_MAX, ur_moments_group(plan, copy, 0));
    return copy;
}

unrelu_status unrelu_summary_merge(unrelu_summary *into, const unrelu_summary *from,
                                   unrelu_error *err)
{
    UR_TRY(check_same(into, from, err));
    ur_moments_plan plan = into->plan;
    UR_ARENA(arena);
    UR_ARENA(fresh); /* what fails here does not fail the summary */
    double *room = ur_take(&arena, ur_moments.room(&plan), sizeof *room);
    plan.groups = into->plan.groups == from->plan.groups ? plan.groups : 1;
    double *own = plan.groups < into->plan.groups ? copy_sums(&fresh, into, &plan) : into->s;
    double *copy = copy_sums(&arena, from, &plan); /* absorb empties what it adds */
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_arena_status(&fresh, err));
    ur_moments.absorb(&plan, own, copy, room);
    ur_arena_give(&fresh, &into->arena);
    into->s = own;
    into->plan.groups = plan.groups;
    return UNRELU_OK;
}

/* ---- files ---- */

#define COUNTS(member, at) UR_FIELD(ur_moments_view, member, UR_COUNTS, at, 0, 1)
#define SUMS(member, at)   UR_FIELD(ur_moments_view, member, UR_ARRAY, at, 0, 1)

/* groups g, columns d, upper triangle t; the last four are there where cells are missing */
static const ur_field fields[] = {
    COUNTS(rows, "g"),
    COUNTS(missing_cells, "g"),
    COUNTS(rows_dropped, "g"),
    COUNTS(observed, "gd"),
    COUNTS(positive, "gd"),
    SUMS(sum, "gd"),
    SUMS(square, "gd"),
    COUNTS(gg, "gt"),
    SUMS(tt, "gt"),
    SUMS(gt, "gdd"),
    SUMS(gtt, "gdd"),
    COUNTS(mm, "gt"),
    COUNTS(mg, "gdd"),
    SUMS(mt, "gdd"),
    SUMS(mtt, "gdd"),
};
enum { FIELDS = sizeof fields / sizeof *fields, OF_MISSING = 4 };

typedef size_t sizes_of[3];

static ur_fields table_of(const unrelu_summary *summary, const ur_field *rows, size_t count,
                          sizes_of sizes)
{
    size_t d = summary->plan.d;
    sizes[0] = summary->plan.groups;
    sizes[1] = d;
    sizes[2] = d * (d + 1) / 2;
    return (ur_fields){rows, count, "gdt", sizes};
}

static size_t fields_of(const unrelu_summary *summary)
{
    double missing = 0;
    for (size_t g = 0; g < summary->plan.groups; g++)
        missing += ur_moments_group(&summary->plan, summary->s, g)[1];
    return missing > 0 ? FIELDS : FIELDS - OF_MISSING;
}

/* where a view has the array of a field */
static double **member_of(ur_moments_view *v, const ur_field *f)
{
    return (double **)(void *)((char *)v + f->offset);
}

static size_t own_size(const ur_field *f, size_t d)
{
    size_t dimensions = strlen(f->shape) - 1;
    return f->shape[1] == 't' || dimensions == 2 ? d * d : dimensions == 1 ? d : 1;
}

/* Between the arrays of the groups, d x d, and those of a file: `all` is (groups, size). */
static void convert(const unrelu_summary *summary, const ur_field *f, double *all, int to_file)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t d = plan->d;
    int triangle = f->shape[1] == 't';
    for (size_t g = 0; g < plan->groups; g++) {
        ur_moments_view v = ur_moments_view_of(plan, ur_moments_group(plan, summary->s, g));
        double *own = *member_of(&v, f);
        for (size_t i = 0; i < (triangle ? d : 1); i++) {
            size_t skip = triangle ? i * d + i : 0, count = triangle ? d - i : own_size(f, d);
            memcpy(to_file ? all : own + skip, to_file ? own + skip : all, count * sizeof *all);
            all += count;
        }
    }
}

static unrelu_status save(const unrelu_summary *summary, const ur_npz_target *to, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_moments_plan *plan = &summary->plan;
    sizes_of sizes;
    const ur_fields table = table_of(summary, fields, fields_of(summary), sizes);
    ur_moments_view all = {0};
    for (size_t i = 0; i < table.count; i++) {
        double **member = member_of(&all, &fields[i]);
        size_t size = 1;
        for (const char *letter = fields[i].shape; *letter; letter++)
            size *= sizes[strchr(table.letters, *letter) - table.letters];
        if ((*member = ur_take(&arena, size, sizeof(double))))
            convert(summary, &fields[i], *member, 1);
    }
    UR_TRY(ur_arena_status(&arena, err));
    ur_npz_writer *w = NULL;
    UR_TRY(ur_model_create(to, "summary", &w, err));
    ur_npz_add_string(w, "of", "rectified-gaussian");
    if (*summary->activation)
        ur_npz_add_string(w, "activation", summary->activation);
    ur_npz_add_integer(w, "groups", (int64_t)plan->groups);
    ur_npz_add_strings(w, "names", summary->names, plan->d);
    ur_npz_add(w, "limit", summary->limit, 1, &plan->d);
    ur_npz_add(w, "shift", ur_moments_shift(plan, summary->s), 1, &plan->d);
    ur_npz_add(w, "exponent", ur_moments_exponent(plan, summary->s), 1, &plan->d);
    ur_fields_save(w, &table, &all);
    return ur_npz_commit(w, err);
}

static unrelu_status load_vector(ur_npz *npz, const char *name, size_t d, double *to,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    double *values = NULL;
    UR_TRY(ur_npz_doubles(npz, name, d, &arena, &values, err));
    memcpy(to, values, d * sizeof *to);
    return UNRELU_OK;
}

static ur_field field_of(size_t i, int format)
{
    ur_field f = fields[i];
    if (format == 0 && strcmp(f.shape, "gt") == 0)
        f.shape = "gdd";
    return f;
}

/* one at a time, so that a file needs little more memory than its summary */
static unrelu_status load_sums(ur_npz *npz, const char *path, int format, unrelu_summary *summary,
                               unrelu_error *err)
{
    for (size_t i = 0; i < FIELDS && i < fields_of(summary); i++) {
        UR_ARENA(arena);
        const ur_field f = field_of(i, format);
        ur_moments_view one = {0};
        sizes_of sizes;
        const ur_fields table = table_of(summary, &f, 1, sizes);
        UR_TRY(ur_fields_load(npz, path, &table, &arena, &one, err));
        convert(summary, &f, *member_of(&one, &f), 0);
    }
    return UNRELU_OK;
}

/* two cells are above their limits in no more rows than either; squares are not negative */
static unrelu_status check_pairs(const ur_moments_view *v, size_t d, const char *path,
                                 unrelu_error *err)
{
    for (size_t i = 0; i < d; i++) {
        if (!(v->square[i] >= 0))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: square has %g for column %zu, where a sum of squares is needed: "
                           "the summary is damaged",
                           path, v->square[i], i + 1);
        for (size_t j = i; j < d; j++)
            if (v->gg[i * d + j] > fmin(v->positive[i], v->positive[j]))
                return ur_fail(err, UNRELU_EFORMAT,
                               "%s: gg counts %g rows where columns %zu and %zu are both above "
                               "their limits, which %g and %g are: the summary is damaged",
                               path, v->gg[i * d + j], i + 1, j + 1, v->positive[i],
                               v->positive[j]);
    }
    return UNRELU_OK;
}

static unrelu_status check_counts(const unrelu_summary *summary, size_t g, const char *path,
                                  unrelu_error *err)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t d = plan->d;
    ur_moments_view v = ur_moments_view_of(plan, ur_moments_group(plan, summary->s, g));
    for (size_t j = 0; j < d; j++)
        if (!(v.positive[j] >= 0 && v.positive[j] <= v.observed[j] && v.observed[j] <= *v.rows))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: column %zu counts %g positive of %g observed cells in %g "
                           "rows: the summary is damaged",
                           path, j + 1, v.positive[j], v.observed[j], *v.rows);
    for (size_t i = 0; i < fields_of(summary); i++) {
        const double *x = *member_of(&v, &fields[i]);
        for (size_t k = 0; fields[i].kind == UR_COUNTS && k < own_size(&fields[i], d); k++)
            if (!(x[k] >= 0 && x[k] < 0x1p53 && x[k] == floor(x[k])))
                return ur_fail(err, UNRELU_EFORMAT,
                               "%s: %s has %g, where a count is needed: the summary is damaged",
                               path, fields[i].name, x[k]);
    }
    return check_pairs(&v, d, path, err);
}

/* sums are finite, counts are counts, exponents are ones we could have set */
static unrelu_status check_content(const unrelu_summary *summary, const char *path,
                                   unrelu_error *err)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t len = ur_moments.len(plan);
    for (size_t i = 0; i < len; i++)
        if (!isfinite(summary->s[i]))
            return ur_fail(err, UNRELU_EFORMAT, "%s: a sum is not finite: the summary is damaged",
                           path);
    for (size_t j = 0; j < plan->d; j++) {
        double e = ur_moments_exponent(plan, summary->s)[j];
        if (e != floor(e) || e < 0 || e > UR_LARGEST_EXPONENT)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: exponent %g of column %zu is out of range: the summary is damaged",
                           path, e, j + 1);
    }
    for (size_t g = 0; g < plan->groups; g++)
        UR_TRY(check_counts(summary, g, path, err));
    return UNRELU_OK;
}

/* what there is to undo, and limits that fit it */
static unrelu_status load_activation(ur_npz *npz, const char *path, unrelu_summary *summary,
                                     unrelu_error *err)
{
    unrelu_transform inverse = UNRELU_TRANSFORM_NONE;
    double slope = NAN;
    const char *text = "";
    if (ur_npz_has(npz, "activation")) {
        UR_TRY(ur_npz_string(npz, "activation", &summary->arena, &text, err));
        if (!ur_activation_read(text, &inverse, &slope))
            return ur_fail(
                err, UNRELU_EFORMAT,
                "%s: the activation '%.40s' is neither sigmoid nor leaky:S with S above 0", path,
                text);
    }
    set_activation(summary, inverse, slope);
    for (size_t j = 0; j < summary->plan.d; j++)
        if (inverse ? summary->limit[j] != -INFINITY : !isfinite(summary->limit[j]))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: column %zu has the limit %g, which does not go with the "
                           "activation %s: the summary is damaged",
                           path, j + 1, summary->limit[j], unrelu_summary_activation(summary));
    return UNRELU_OK;
}

/* every array is there, in its shape: d and groups are what they all say */
static unrelu_status check_shapes(ur_npz *npz, const char *path, int format, size_t d,
                                  size_t groups, unrelu_error *err)
{
    const unrelu_summary claimed = {.plan = {.d = d, .groups = groups}};
    for (size_t i = 0; i < FIELDS; i++) {
        ur_field f = field_of(i, format);
        sizes_of sizes;
        const ur_fields table = table_of(&claimed, &f, 1, sizes);
        f.needed = i < FIELDS - OF_MISSING;
        UR_TRY(ur_fields_check(npz, path, &table, err));
    }
    return UNRELU_OK;
}

static unrelu_status load(const ur_npz_origin *from, unrelu_summary **out, unrelu_error *err)
{
    const char *path = from->path;
    UR_ARENA(arena);
    ur_npz *npz = NULL;
    double groups = 0;
    size_t ndim = 0, shape[4] = {0};
    const char *const *names = NULL;
    int format = 0;
    UR_TRY(ur_model_open(&arena, from, "summary", &npz, err));
    UR_TRY(ur_format_check(npz, path, &format, err));
    UR_TRY(ur_npz_number(npz, "groups", &groups, err));
    UR_TRY(ur_npz_shape(npz, "gt", &ndim, shape, err));
    if (!(groups >= 1 && groups <= MAX_GROUPS) || ndim != 3 || shape[1] != shape[2] || shape[1] < 1)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: %g groups of pair sums in %zu dimensions: not a summary of ours", path,
                       groups, ndim);
    size_t d = shape[1];
    UR_TRY(ur_columns_check(path, d, err));
    UR_TRY(check_shapes(npz, path, format, d, (size_t)groups, err));
    UR_TRY(ur_names_load(npz, path, "names", d, &arena, &names, err));
    if (!names)
        return ur_fail(err, UNRELU_EFORMAT, "%s has no array 'names': not a summary of ours", path);
    UR_TRY(allocate(d, (size_t)groups, 1, out, err));
    unrelu_summary *summary = *out;
    summary->names = ur_take_copies(&summary->arena, names, d);
    UR_TRY(ur_arena_status(&summary->arena, err));
    UR_TRY(load_vector(npz, "limit", d, summary->limit, err));
    UR_TRY(load_activation(npz, path, summary, err));
    UR_TRY(load_vector(npz, "shift", d, ur_moments_shift(&summary->plan, summary->s), err));
    UR_TRY(load_vector(npz, "exponent", d, ur_moments_exponent(&summary->plan, summary->s), err));
    UR_TRY(load_sums(npz, path, format, summary, err));
    return check_content(summary, path, err);
}

unrelu_status unrelu_summary_load(const char *path, unrelu_summary **out, unrelu_error *err)
{
    *out = NULL;
    return settle(load(&(ur_npz_origin){.path = path}, out, err), out);
}

unrelu_status unrelu_summary_save(const unrelu_summary *summary, const char *path,
                                  unrelu_error *err)
{
    return save(summary, &(ur_npz_target){.path = path}, err);
}

unrelu_status unrelu_summary_pack(const unrelu_summary *summary, void **bytes, size_t *size,
                                  unrelu_error *err)
{
    return save(summary, &(ur_npz_target){.bytes = bytes, .size = size}, err);
}

unrelu_status unrelu_summary_unpack(const void *bytes, size_t size, unrelu_summary **out,
                                    unrelu_error *err)
{
    *out = NULL;
    const ur_npz_origin from = ur_npz_origin_of("summary in memory", bytes, size);
    return settle(load(&from, out, err), out);
}
