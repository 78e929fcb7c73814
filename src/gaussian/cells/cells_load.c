/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "gaussian/cells/cells.h"
#include "pass/parallel.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* row by row while the file is read: how many there are is known at its end */
typedef struct {
    size_t rows, columns, capacity; /* capacity in rows */
    double *x;
    unsigned char *below;
} growing;

static void growing_free(growing *g)
{
    free(g->x);
    free(g->below);
}

static unrelu_status grow(growing *g, size_t rows, unrelu_error *err)
{
    if (rows <= g->capacity)
        return UNRELU_OK;
    size_t capacity = g->capacity + g->capacity / 2;
    capacity = capacity > rows ? capacity : rows;
    int overflow = 0;
    size_t count = ur_product(capacity, g->columns, &overflow);
    size_t size = ur_product(count, sizeof *g->x, &overflow);
    double *x = overflow ? NULL : realloc(g->x, size ? size : 1);
    g->x = x ? x : g->x;
    unsigned char *below = x ? realloc(g->below, count ? count : 1) : NULL;
    g->below = below ? below : g->below;
    if (!below)
        return ur_fail_memory(err, capacity * g->columns, "cells");
    g->capacity = capacity;
    return UNRELU_OK;
}

static unrelu_status append(growing *g, const ur_block *block, unrelu_error *err)
{
    unrelu_status status = grow(g, g->rows + block->rows, err);
    for (size_t i = 0; i < block->rows && status == UNRELU_OK; i++) {
        size_t at = (g->rows + i) * g->columns;
        memcpy(g->x + at, block->x + i * block->stride, g->columns * sizeof *g->x);
        if (block->below)
            memcpy(g->below + at, block->below + i * g->columns, g->columns);
        else
            memset(g->below + at, 0, g->columns);
    }
    if (status == UNRELU_OK)
        g->rows += block->rows;
    return status;
}

static unrelu_status read_all(unrelu_source *source, const unrelu_exec *exec, growing *g,
                              unrelu_error *err)
{
    ur_piece piece = {0};
    ur_block block = {.limits_wanted = 1};
    int more = 0;
    *g = (growing){.columns = unrelu_source_columns(source)};
    unrelu_status status = ur_source_rewind(source, err);
    while (status == UNRELU_OK &&
           (status = ur_source_take(source, &piece, &more, err)) == UNRELU_OK && more) {
        ur_progress(exec, "reading", ur_source_fraction(source));
        status = ur_cancelled(exec) ? ur_fail_cancelled(err)
                                    : ur_source_decode(source, &piece, &block, err);
        if (status == UNRELU_OK)
            status = append(g, &block, err);
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    return status;
}

/* ---- from what the file says to what is known ---- */

typedef struct {
    const unrelu_source *source;
    const ur_cells_rules *rules;
    const growing *samples, *limits; /* limits: NULL where there are none */
} reader;

static unrelu_status refuse(const reader *r, size_t row, size_t column, const char *what,
                            unrelu_error *err)
{
    char label[160];
    ur_source_column_label(r->source, column, label, sizeof label);
    return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu, %s %s", ur_source_label(r->source), row + 1,
                   label, what);
}

/* NaN: none */
static double limit_of(const reader *r, size_t row, size_t column)
{
    size_t d = r->samples->columns;
    double limit = r->limits ? r->limits->x[row * d + column] : NAN;
    if (isnan(limit) && r->rules->limit)
        limit = r->rules->limit[column];
    return limit;
}

static unrelu_status refuse_value(const reader *r, size_t row, size_t column, double x,
                                  double limit, unrelu_error *err)
{
    char what[256];
    snprintf(what, sizeof what,
             "is %g, below the detection limit %g of that cell: a value was seen there, or it was "
             "not; correct one of the two",
             x, limit);
    return refuse(r, row, column, what, err);
}

static unrelu_status read_number(const reader *r, size_t row, size_t column, double x,
                                 double *value, unsigned char *state, unrelu_error *err)
{
    double limit = limit_of(r, row, column);
    double at = r->rules->at ? r->rules->at[column] : 0;
    char what[256];
    *value = x;
    *state = UR_SEEN;
    if (isinf(x))
        return refuse(r, row, column, "is infinite: every value must be finite", err);
    if (x == 0 && isnan(limit) && r->rules->zero)
        limit = r->rules->zero[column];
    if (x == 0 && !isnan(limit)) {
        *value = limit;
        *state = UR_BELOW;
    } else if (!isnan(limit) && x < limit) {
        return refuse_value(r, row, column, x, limit, err);
    } else if (x <= at && !r->rules->negative) {
        if (x < 0 && at >= 0) {
            snprintf(what, sizeof what,
                     "is %g, and a rectified value is at least 0: correct it, or leave the column "
                     "out with --columns",
                     x);
            return refuse(r, row, column, what, err);
        }
        *value = at;
        *state = UR_BELOW;
    }
    return UNRELU_OK;
}

static unrelu_status read_cell(const reader *r, size_t row, size_t column, double *value,
                               unsigned char *state, unrelu_error *err)
{
    size_t at = row * r->samples->columns + column;
    double x = r->samples->x[at];
    unsigned char below = r->samples->below[at];
    *value = x;
    *state = below ? UR_BELOW : UR_MISSING;
    if (below == UR_BELOW_UNKNOWN && isnan(*value = limit_of(r, row, column)))
        return refuse(r, row, column,
                      "is 'ND' (not detected), and its limit is not known: give it with --limit "
                      "NAME=VALUE, or in a file with --limits",
                      err);
    if (below || isnan(x))
        return UNRELU_OK;
    return read_number(r, row, column, x, value, state, err);
}

static unrelu_status read_cells(const reader *r, ur_cells *cells, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < cells->n; i++)
        for (size_t j = 0; j < cells->d && status == UNRELU_OK; j++) {
            size_t at = j * cells->n + i;
            status = read_cell(r, i, j, &cells->x[at], &cells->state[at], err);
        }
    return status;
}

/* x1, x2, ... where the file has no names */
static int is_numbered(const unrelu_source *source, size_t j)
{
    char number[32];
    snprintf(number, sizeof number, "x%zu", j + 1);
    return strcmp(unrelu_source_name(source, j), number) == 0;
}

static unrelu_status check_limits(const unrelu_source *source, const unrelu_source *limits,
                                  const growing *x, const growing *l, unrelu_error *err)
{
    for (size_t j = 0; j < x->columns && x->columns == l->columns; j++) {
        const char *name = unrelu_source_name(source, j), *other = unrelu_source_name(limits, j);
        if (strcmp(name, other) != 0 && !is_numbered(source, j) && !is_numbered(limits, j))
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu is '%.60s' in %s and '%.60s' in %s: each limit belongs to "
                           "the cell at its place",
                           j + 1, name, ur_source_label(source), other, ur_source_label(limits));
    }
    if (x->rows != l->rows || x->columns != l->columns)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s is %zu x %zu and %s is %zu x %zu: each limit belongs to the cell at its "
                       "place",
                       ur_source_label(source), x->rows, x->columns, ur_source_label(limits),
                       l->rows, l->columns);
    return UNRELU_OK;
}

unrelu_status ur_cells_load(unrelu_source *source, const ur_cells_rules *rules,
                            const unrelu_exec *exec, ur_cells *cells, unrelu_error *err)
{
    growing x = {0}, l = {0};
    reader r = {source, rules, &x, rules->limits ? &l : NULL};
    *cells = (ur_cells){0};
    unrelu_status status = read_all(source, exec, &x, err);
    if (status == UNRELU_OK && rules->limits)
        status = read_all(rules->limits, exec, &l, err);
    if (status == UNRELU_OK && rules->limits)
        status = check_limits(source, rules->limits, &x, &l, err);
    if (status == UNRELU_OK) {
        cells->n = x.rows;
        cells->d = x.columns;
        cells->x = ur_alloc(x.rows, x.columns * sizeof *cells->x);
        cells->state = ur_alloc(x.rows, x.columns);
        if (!cells->x || !cells->state)
            status = ur_fail_memory(err, x.rows * x.columns, "cells");
    }
    if (status == UNRELU_OK)
        status = read_cells(&r, cells, err);
    growing_free(&x);
    growing_free(&l);
    if (status != UNRELU_OK)
        ur_cells_free(cells);
    return status;
}

void ur_cells_free(ur_cells *cells)
{
    free(cells->x);
    free(cells->state);
    *cells = (ur_cells){0};
}
