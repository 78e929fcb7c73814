/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/names.h"
#include "gaussian/cells/cells.h"
#include "model/samples.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const unrelu_source *source;
    const ur_cells_rules *rules;
    ur_table samples, limits; /* limits: empty where there are none */
    unsigned char *any_sign;  /* of columns: no value is censored for what it is */
    unsigned char *told;      /* of columns: another one says which values were seen */
    size_t *at_limit;         /* of columns: values that equal their limit, untold */
} reader;

static const unsigned char states[] = {[UR_BELOW_GIVEN] = UR_BELOW,
                                       [UR_BELOW_UNKNOWN] = UR_BELOW,
                                       [UR_ABOVE_GIVEN] = UR_ABOVE,
                                       [UR_BETWEEN_GIVEN] = UR_BETWEEN};
static const char *const words[] = {
    [UR_ABOVE] = "above a limit", [UR_BETWEEN] = "between two limits"};

static unrelu_status read_cell(const reader *r, size_t row, size_t column, double *value,
                               unsigned char *state, unrelu_error *err)
{
    size_t cell = row * r->samples.columns + column;
    unsigned char mark = r->samples.mark ? r->samples.mark[cell] : 0;
    double x = r->samples.cells[cell], at = r->rules->at ? r->rules->at[column] : 0;
    double limit = r->limits.cells ? r->limits.cells[cell] : NAN; /* NaN: none */
    char what[320] = "", label[160];
    if (isnan(limit) && r->rules->limit)
        limit = r->rules->limit[column];
    if (x == 0 && isnan(limit) && r->rules->zero)
        limit = r->rules->zero[column];
    if (r->any_sign[column])
        at = -INFINITY;
    *value = x;
    *state = mark ? states[mark] : isnan(x) ? UR_MISSING : UR_SEEN;
    if (r->rules->below_only && (*state == UR_ABOVE || *state == UR_BETWEEN)) {
        snprintf(what, sizeof what,
                 "lies %s, which only a fit takes: leave the column out with `columns`",
                 words[*state]);
    } else if (mark == UR_BELOW_UNKNOWN && isnan(*value = limit)) {
        snprintf(what, sizeof what,
                 "is 'ND' (not detected), and its limit is not known: give it with `limit` "
                 "NAME=VALUE, or in a file with `limits`");
    } else if (*state != UR_SEEN) {
        return UNRELU_OK;
    } else if (isinf(x)) {
        snprintf(what, sizeof what, "is infinite: every value must be finite");
    } else if (x == 0 && limit >= 0 && !r->any_sign[column]) {
        *value = limit;
        *state = UR_BELOW;
    } else if (x < limit) {
        snprintf(what, sizeof what,
                 "is %g, below the detection limit %g of that cell: a value was seen there, or it "
                 "was not; correct one of the two",
                 x, limit);
    } else if (x <= at && !r->rules->negative) {
        if (x < 0 && at >= 0)
            snprintf(what, sizeof what,
                     "is %g, and a rectified value is at least 0: correct it, name the column in "
                     "`uncensored` where its values may have any sign, or leave it out with "
                     "`columns`",
                     x);
        *value = at;
        *state = UR_BELOW;
    } else {
        r->at_limit[column] += x == limit && !r->told[column];
    }
    if (!*what)
        return UNRELU_OK;
    ur_source_column_label(r->source, column, label, sizeof label);
    return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu, %s %s", ur_source_label(r->source), row + 1,
                   label, what);
}

static unrelu_status check_limits(const reader *r, const unrelu_source *limits, unrelu_error *err)
{
    const ur_table *x = &r->samples, *l = &r->limits;
    const char *const *names = ur_source_names(r->source), *const *others = ur_source_names(limits);
    size_t j = x->columns == l->columns ? ur_names_conflict(names, others, x->columns) : x->columns;
    if (j < x->columns)
        return ur_fail(err, UNRELU_EFORMAT,
                       "column %zu is '%.60s' in %s and '%.60s' in %s: each limit belongs to "
                       "the cell at its place",
                       j + 1, names[j], ur_source_label(r->source), others[j],
                       ur_source_label(limits));
    if (x->rows != l->rows || x->columns != l->columns)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is %zu x %zu and %s is %zu x %zu: each limit belongs to the cell at its "
                       "place",
                       ur_source_label(r->source), x->rows, x->columns, ur_source_label(limits),
                       l->rows, l->columns);
    for (size_t i = 0; l->mark && i < l->rows * l->columns; i++)
        if (l->mark[i] == UR_ABOVE_GIVEN || l->mark[i] == UR_BETWEEN_GIVEN) {
            char label[160];
            ur_source_column_label(limits, i % l->columns, label, sizeof label);
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s lies %s, and a detection limit is one number: correct "
                           "it, or leave it empty where the cell has none",
                           ur_source_label(limits), i / l->columns + 1, label,
                           words[states[l->mark[i]]]);
        }
    return UNRELU_OK;
}

/* Columns that the user says so of, and those that have a limit below 0, as logarithms have: 0 is a
 * value there. */
static unrelu_status find_signs(reader *r, ur_arena *arena, unrelu_error *err)
{
    size_t d = r->samples.columns;
    r->any_sign = ur_take(arena, d, 1);
    r->told = ur_take(arena, d, 1);
    r->at_limit = ur_take(arena, d, sizeof *r->at_limit);
    UR_TRY(ur_arena_status(arena, err));
    ur_source_told(r->source, r->told);
    for (size_t j = 0; j < d; j++)
        r->any_sign[j] =
            ur_source_is_uncensored(r->source, j) || (r->rules->limit && r->rules->limit[j] < 0);
    for (size_t i = 0; i < r->samples.rows * d; i++) {
        int below = r->samples.mark && r->samples.mark[i] == UR_BELOW_GIVEN;
        if ((below && r->samples.cells[i] < 0) || (r->limits.cells && r->limits.cells[i] < 0))
            r->any_sign[i % d] = 1;
    }
    return UNRELU_OK;
}

unrelu_status ur_cells_load(unrelu_source *source, const ur_cells_rules *rules,
                            const unrelu_exec *exec, ur_arena *arena, ur_cells *cells,
                            unrelu_error *err)
{
    UR_ARENA(own);
    reader r = {.source = source, .rules = rules};
    *cells = (ur_cells){0};
    UR_TRY(ur_table_load(source, exec, NULL, &own, &r.samples, err));
    if (rules->limits) {
        UR_TRY(ur_table_load(rules->limits, exec, NULL, &own, &r.limits, err));
        UR_TRY(check_limits(&r, rules->limits, err));
    }
    UR_TRY(find_signs(&r, &own, err));
    size_t n = r.samples.rows, d = r.samples.columns;
    ur_cells read = {
        .n = n, .d = d, .x = ur_take(arena, n, d * sizeof *read.x), .state = ur_take(arena, n, d)};
    if (r.samples.upper)
        read.upper = ur_take(arena, n, d * sizeof *read.upper);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            UR_TRY(read_cell(&r, i, j, &read.x[j * n + i], &read.state[j * n + i], err));
            if (read.upper)
                read.upper[j * n + i] = r.samples.upper[i * d + j];
        }
    for (size_t j = d; j > 0; j--) {
        size_t count = r.at_limit[j - 1];
        read.at_limit += count;
        read.at_limit_columns += count > 0;
        read.at_limit_first = count > 0 ? j - 1 : read.at_limit_first;
    }
    *cells = read;
    return UNRELU_OK;
}
