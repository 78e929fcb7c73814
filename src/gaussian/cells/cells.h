/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory, with what is known of each cell: a value, that it lies at or below a
 * limit of its own, at or above one, between two ends, or nothing. What real data need that one
 * limit a column cannot say. */
#ifndef UR_CELLS_H
#define UR_CELLS_H

#include "base/arena.h"
#include "law/cell_margin.h"

typedef struct {
    size_t n, d;
    double *x; /* (d, n), column by column: the value, the limit, the lower end; NaN: missing */
    unsigned char *state; /* (d, n) */
    double *upper;        /* (d, n), the upper end of cells between, NaN elsewhere; NULL: none */
    /* values that equal their limit, of which nothing says that they were seen: their number, and
     * that of their columns, with the first */
    size_t at_limit, at_limit_columns, at_limit_first;
} ur_cells;

/* --- cells_load.c --- */
typedef struct {
    const double *at;      /* d, or NULL: values at or below are censored there; else at 0 */
    const double *limit;   /* d, or NULL: of cells 'ND' and 0 (NaN: the column has none) */
    unrelu_source *limits; /* n x d, or NULL: of each such cell (NaN: none) */
    const double *zero; /* d, or NULL: where a 0 without such a limit is censored, in place of at */
    int negative;       /* values below 0 are values */
    int below_only;     /* cells above a limit and between two are refused */
} ur_cells_rules;

/* A cell '<v' is below v, '>v' above it, 'a..b' between; 'ND' and 0 are below the limit of the
 * cell, else of the column; a 0 without either is below 0. Refused: 'ND' without a limit, a value
 * other than 0 below its limit, a negative value; in limits a cell above a limit or between two. */
unrelu_status ur_cells_load(unrelu_source *source, const ur_cells_rules *rules,
                            const unrelu_exec *exec, ur_arena *arena, ur_cells *cells,
                            unrelu_error *err);

/* --- transform.c --- */
/* The cells of a column (n), values, limits and ends. Limits that have no image (0 under log)
 * become that of the smallest value, *guessed counts them; a lower end without one becomes -inf.
 * Refused: a value below 0, or at it where it has no image; a negative limit. label names the
 * column. */
unrelu_status ur_transform_column(unrelu_transform transform, double lambda, size_t n, double *x,
                                  double *upper, const unsigned char *state, const char *label,
                                  size_t *guessed, unrelu_error *err);
/* The logarithm of the likelihood of a power, at the best b and s of the transformed values. x and
 * upper in units of the geometric mean of those seen; y is scratch (n, or 2 n with upper). */
unrelu_status ur_transform_likelihood(size_t n, const double *x, const double *upper,
                                      const unsigned char *state, double lambda, double *y,
                                      double *value, unrelu_error *err);
/* The lambda in [-3, 3] of largest censored likelihood of the column */
unrelu_status ur_transform_estimate(size_t n, const double *x, const double *upper,
                                    const unsigned char *state, const char *label, double *lambda,
                                    unrelu_error *err);

#endif
