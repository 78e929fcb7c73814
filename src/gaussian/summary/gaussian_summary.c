/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/summary/gaussian_summary.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "pass/pass.h"
#include "read/npz.h"
#include "write/npz_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 1000 };

void unrelu_summary_free(unrelu_summary *summary)
{
    if (!summary)
        return;
    ur_strings_free(summary->names, summary->plan.d);
    free(summary->limit);
    free(summary->s);
    ur_moments_plan_free(&summary->plan);
    free(summary);
}

size_t unrelu_summary_columns(const unrelu_summary *summary)
{
    return summary->plan.d;
}

size_t unrelu_summary_rows(const unrelu_summary *summary)
{
    double rows = 0;
    for (size_t g = 0; g < summary->plan.groups; g++)
        rows += *ur_moments_group(&summary->plan, summary->s, g);
    return (size_t)rows;
}

/* an empty summary of d columns, names not yet set */
static unrelu_status allocate(size_t d, size_t groups, int pairs, unrelu_summary **out,
                              unrelu_error *err)
{
    unrelu_summary *summary = *out = ur_alloc(1, sizeof *summary);
    if (!summary)
        return ur_fail_memory(err, 1, "summary");
    unrelu_status status = ur_moments_plan_init(&summary->plan, d, err);
    if (status != UNRELU_OK)
        return status;
    summary->plan.groups = groups;
    summary->plan.pairs = pairs;
    if (d > 1 << 20) /* 8 d^2 doubles would not fit in any memory, nor in 64 bits further up */
        return ur_fail(err, UNRELU_ENOMEM, "%zu columns are more than a summary of pairs can hold",
                       d);
    summary->limit = ur_doubles(d);
    summary->names = ur_alloc(d, sizeof *summary->names);
    summary->s = ur_doubles(ur_moments.len(&summary->plan));
    summary->plan.limit = summary->limit;
    if (!summary->limit || !summary->names || !summary->s)
        return ur_fail(err, UNRELU_ENOMEM,
                       "not enough memory for the sums of %zu columns and their pairs (%.1f GB)", d,
                       8e-9 * (double)ur_moments.len(&summary->plan));
    return UNRELU_OK;
}

static unrelu_status collect(unrelu_source *source, const ur_collect_rules *rules,
                             const unrelu_exec *exec, unrelu_summary *summary, unrelu_error *err)
{
    size_t d = summary->plan.d;
    memcpy(summary->limit, rules->limit, d * sizeof *summary->limit);
    for (size_t j = 0; j < d; j++)
        if (!(summary->names[j] = ur_string_copy(unrelu_source_name(source, j))))
            return ur_fail_memory(err, d, "names");
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
    unrelu_status status =
        allocate(unrelu_source_columns(source), rules->groups, rules->pairs, out, err);
    if (status == UNRELU_OK)
        status = collect(source, rules, exec, *out, err);
    if (status != UNRELU_OK) {
        unrelu_summary_free(*out);
        *out = NULL;
    }
    return status;
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

unrelu_status unrelu_summary_collect(unrelu_source *source, const unrelu_gaussian_options *options,
                                     size_t groups, const unrelu_exec *exec, unrelu_summary **out,
                                     unrelu_error *err)
{
    unrelu_gaussian_options defaults = unrelu_gaussian_options_default();
    size_t d = unrelu_source_columns(source);
    *out = NULL;
    if (groups < 1 || groups > MAX_GROUPS)
        return ur_fail(err, UNRELU_EUSAGE, "groups must lie in 1 .. %d, not %zu", MAX_GROUPS,
                       groups);
    if (!options)
        options = &defaults;
    double *limit = ur_doubles(d);
    if (!limit)
        return ur_fail_memory(err, d, "limits");
    UR_BLAS_PINNED;
    unrelu_status status = ur_limits(options, d, limit, err);
    if (status == UNRELU_OK)
        status = ur_source_rewind(source, err);
    if (status == UNRELU_OK) {
        ur_collect_rules rules = {.pairs = 1, .groups = groups, .limit = limit};
        status = ur_summary_collect_rules(source, &rules, exec, out, err);
    }
    free(limit);
    return status;
}

unrelu_status unrelu_summary_merge(unrelu_summary *into, const unrelu_summary *from,
                                   unrelu_error *err)
{
    const ur_moments_plan *a = &into->plan, *b = &from->plan;
    if (a->d != b->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "summaries of %zu and %zu columns cannot be merged: they are of different "
                       "data",
                       a->d, b->d);
    if (a->groups != b->groups)
        return ur_fail(err, UNRELU_EFORMAT,
                       "summaries of %zu and %zu groups cannot be merged: summarize all shards "
                       "with the same --groups",
                       a->groups, b->groups);
    for (size_t j = 0; j < a->d; j++) {
        if (strcmp(into->names[j], from->names[j]) != 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu is called '%s' in one summary and '%s' in another: shards "
                           "must have the same columns in the same order",
                           j + 1, into->names[j], from->names[j]);
        if (into->limit[j] != from->limit[j])
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu (%s) was censored at %g in one summary and at %g in "
                           "another: summarize all shards with the same --censor-at",
                           j + 1, into->names[j], into->limit[j], from->limit[j]);
    }
    size_t len = ur_moments.len(a);
    double *copy = ur_doubles(len); /* absorb empties what it adds */
    if (!copy)
        return ur_fail_memory(err, len, "doubles of a summary");
    memcpy(copy, from->s, len * sizeof *copy);
    ur_moments.absorb(a, into->s, copy);
    free(copy);
    return UNRELU_OK;
}

/* ---- files: the arrays of moments.h under their names, groups first ---- */

typedef struct {
    const char *name;
    size_t dimensions; /* 0: one number, 1: d, 2: d x d; each a group */
    size_t offset;     /* of its first double inside a body */
    int missing;       /* written only where cells are missing */
} field;

enum { FIELDS = 15 };

static void list_fields(size_t d, field fields[FIELDS])
{
    static const char *const names[FIELDS] = {"rows",         "missing_cells",
                                              "rows_dropped", "observed",
                                              "positive",     "sum",
                                              "square",       "gg",
                                              "tt",           "gt",
                                              "gtt",          "mm",
                                              "mg",           "mt",
                                              "mtt"};
    size_t offset = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        size_t dimensions = i < 3 ? 0 : i < 7 ? 1 : 2;
        fields[i] = (field){names[i], dimensions, offset, i >= 11};
        offset += dimensions == 0 ? 1 : dimensions == 1 ? d : d * d;
    }
}

static size_t field_size(const field *f, size_t d)
{
    return f->dimensions == 0 ? 1 : f->dimensions == 1 ? d : d * d;
}

static double missing_cells(const unrelu_summary *summary)
{
    double cells = 0;
    for (size_t g = 0; g < summary->plan.groups; g++)
        cells += ur_moments_group(&summary->plan, summary->s, g)[1];
    return cells;
}

/* gathered[(group, ...)] of one field; the caller frees */
static double *gather(const unrelu_summary *summary, const field *f)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t size = field_size(f, plan->d);
    double *all = ur_alloc(plan->groups, size * sizeof *all);
    for (size_t g = 0; all && g < plan->groups; g++)
        memcpy(all + g * size, ur_moments_group(plan, summary->s, g) + f->offset,
               size * sizeof *all);
    return all;
}

unrelu_status unrelu_summary_save(const unrelu_summary *summary, const char *path,
                                  unrelu_error *err)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t d = plan->d;
    double *gathered[FIELDS] = {NULL};
    field fields[FIELDS];
    list_fields(d, fields);
    ur_npz_writer *w = NULL;
    unrelu_status status = ur_npz_writer_open(path, &w, err);
    if (status != UNRELU_OK)
        return status;
    ur_npz_add_string(w, "kind", "summary");
    ur_npz_add_string(w, "of", "rectified-gaussian");
    ur_npz_add_integer(w, "groups", (int64_t)plan->groups);
    ur_npz_add_strings(w, "names", summary->names, d);
    ur_npz_add(w, "limit", summary->limit, 1, &d);
    ur_npz_add(w, "shift", ur_moments_shift(plan, summary->s), 1, &d);
    ur_npz_add(w, "exponent", ur_moments_exponent(plan, summary->s), 1, &d);
    double missing = missing_cells(summary);
    for (size_t i = 0; status == UNRELU_OK && i < FIELDS; i++) {
        if (fields[i].missing && missing == 0)
            continue;
        size_t shape[3] = {plan->groups, d, d};
        if ((gathered[i] = gather(summary, &fields[i])))
            ur_npz_add(w, fields[i].name, gathered[i], 1 + fields[i].dimensions, shape);
        else
            status = ur_fail_memory(err, plan->groups * d, "rows of a summary");
    }
    if (status == UNRELU_OK)
        status = ur_npz_commit(w, err);
    else
        ur_npz_abort(w);
    for (size_t i = 0; i < FIELDS; i++)
        free(gathered[i]);
    return status;
}

static unrelu_status scatter(ur_npz *npz, const field *f, unrelu_summary *summary,
                             unrelu_error *err)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t size = field_size(f, plan->d);
    double *all = NULL;
    unrelu_status status = ur_npz_doubles(npz, f->name, plan->groups * size, &all, err);
    for (size_t g = 0; status == UNRELU_OK && g < plan->groups; g++)
        memcpy(ur_moments_group(plan, summary->s, g) + f->offset, all + g * size,
               size * sizeof *all);
    free(all);
    return status;
}

static unrelu_status load_vector(ur_npz *npz, const char *name, size_t d, double *to,
                                 unrelu_error *err)
{
    double *values = NULL;
    unrelu_status status = ur_npz_doubles(npz, name, d, &values, err);
    if (status == UNRELU_OK)
        memcpy(to, values, d * sizeof *to);
    free(values);
    return status;
}

/* counts and sums are finite, counts are not negative, exponents are ones we could have set */
static unrelu_status check_content(const unrelu_summary *summary, const char *path,
                                   unrelu_error *err)
{
    const ur_moments_plan *plan = &summary->plan;
    size_t d = plan->d, len = ur_moments.len(plan);
    for (size_t i = 0; i < len; i++)
        if (!isfinite(summary->s[i]))
            return ur_fail(err, UNRELU_EFORMAT, "%s: a sum is not finite: the summary is damaged",
                           path);
    for (size_t j = 0; j < d; j++) {
        double e = ur_moments_exponent(plan, summary->s)[j];
        if (e != floor(e) || e < 0 || e > 8191)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: exponent %g of column %zu is out of range: the summary is damaged",
                           path, e, j + 1);
    }
    for (size_t g = 0; g < plan->groups; g++) {
        ur_moments_view v = ur_moments_view_of(plan, ur_moments_group(plan, summary->s, g));
        for (size_t j = 0; j < d; j++)
            if (!(v.positive[j] >= 0 && v.positive[j] <= v.observed[j] && v.observed[j] <= *v.rows))
                return ur_fail(err, UNRELU_EFORMAT,
                               "%s: column %zu counts %g positive of %g observed cells in %g "
                               "rows: the summary is damaged",
                               path, j + 1, v.positive[j], v.observed[j], *v.rows);
    }
    return UNRELU_OK;
}

static unrelu_status load(ur_npz *npz, const char *path, unrelu_summary **out, unrelu_error *err)
{
    char kind[32] = "";
    double groups = 0;
    size_t ndim = 0, shape[4] = {0};
    unrelu_status status = ur_npz_string(npz, "kind", kind, sizeof kind, err);
    if (status == UNRELU_OK && strcmp(kind, "summary") != 0)
        return ur_fail(err, UNRELU_EFORMAT, "%s is of kind '%s', not a summary", path, kind);
    if (status == UNRELU_OK)
        status = ur_npz_number(npz, "groups", &groups, err);
    if (status == UNRELU_OK)
        status = ur_npz_shape(npz, "gg", &ndim, shape, err);
    if (status != UNRELU_OK)
        return status;
    if (!(groups >= 1 && groups <= MAX_GROUPS) || ndim != 3 || shape[1] != shape[2] || shape[1] < 1)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: %g groups of pair sums in %zu dimensions: not a summary of ours", path,
                       groups, ndim);
    size_t d = shape[1];
    if ((status = allocate(d, (size_t)groups, 1, out, err)) != UNRELU_OK)
        return status;
    unrelu_summary *summary = *out;
    char **names = NULL;
    size_t count = 0;
    if ((status = ur_npz_strings(npz, "names", &names, &count, err)) != UNRELU_OK)
        return status;
    if (count != d) {
        ur_strings_free(names, count);
        return ur_fail(err, UNRELU_EFORMAT, "%s: %zu names for %zu columns", path, count, d);
    }
    ur_strings_free(summary->names, d);
    summary->names = names;
    status = load_vector(npz, "limit", d, summary->limit, err);
    if (status == UNRELU_OK)
        status = load_vector(npz, "shift", d, ur_moments_shift(&summary->plan, summary->s), err);
    if (status == UNRELU_OK)
        status =
            load_vector(npz, "exponent", d, ur_moments_exponent(&summary->plan, summary->s), err);
    field fields[FIELDS];
    list_fields(d, fields);
    for (size_t i = 0; status == UNRELU_OK && i < FIELDS; i++)
        if (!fields[i].missing || missing_cells(summary) > 0)
            status = scatter(npz, &fields[i], summary, err);
    return status == UNRELU_OK ? check_content(summary, path, err) : status;
}

unrelu_status unrelu_summary_load(const char *path, unrelu_summary **out, unrelu_error *err)
{
    ur_npz *npz = NULL;
    *out = NULL;
    unrelu_status status = ur_npz_open(path, &npz, err);
    if (status != UNRELU_OK)
        return status;
    status = load(npz, path, out, err);
    ur_npz_close(npz);
    if (status != UNRELU_OK) {
        unrelu_summary_free(*out);
        *out = NULL;
    }
    return status;
}
