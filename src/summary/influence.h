/* SPDX-License-Identifier: Apache-2.0 */
/* The squares of what each row moves the estimates by, added over rows: variances that hold
 * whatever the law. Where estimates are functions of sums over rows, a row moves them by the
 * derivative of the function along what the row adds to the sums: a polynomial in its cells, whose
 * coefficients the caller knows. The moves of a column's own b and s are those that leave the row
 * out, where the caller knows its information. */
#ifndef UR_INFLUENCE_H
#define UR_INFLUENCE_H

#include "summary/summary.h"

/* with t = (x - origin of limit) unit - shift where x > limit: b and s move by [0] where the cell
 * is at the limit, by [1] + [2] t + [3] t t above it */
typedef struct {
    size_t index; /* in the block */
    double limit, unit, shift, s;
    double b_by[4], s_by[4];
    double b;              /* as t + shift is */
    double information[3]; /* of left_out.h, of all rows; 0: moves of single rows are as above */
} ur_influence_column;

/* What each kind of row adds to the sums of a pair: both cells at their limits; the first above;
 * the second above; both. rho moves by these coefficients. */
enum {
    UR_NEITHER,
    UR_FIRST,
    UR_FIRST_T,
    UR_FIRST_TT,
    UR_SECOND,
    UR_SECOND_T,
    UR_SECOND_TT,
    UR_BOTH,
    UR_BOTH_T1,
    UR_BOTH_T2,
    UR_BOTH_T1T1,
    UR_BOTH_T2T2,
    UR_BOTH_T1T2,
    UR_PAIR_TERMS
};
typedef struct {
    double rho, by[UR_PAIR_TERMS];
} ur_influence_pair;

typedef struct {
    size_t all, d;                      /* columns of a block, and those that are looked at */
    const double *cut;                  /* all, or NULL: as in the moments */
    const ur_influence_column *columns; /* d */
    const ur_influence_pair *pairs;     /* d x d, i < j; NULL: the columns alone */
} ur_influence_plan;

typedef struct {
    double *bb, *bs, *ss, *ssss; /* d: of b and s, and the fourth powers of s, rows left out */
    double *rho, *product;       /* d x d, i < j: of rho, and of rho s1 s2 divided by s1 s2 */
} ur_influence_view;

/* one cell: where it lies, t, and what it moves b and s by */
typedef enum { UR_AT_LIMIT, UR_ABOVE_LIMIT, UR_ABSENT } ur_influence_kind;
typedef struct {
    ur_influence_kind kind;
    double t, b, s;
} ur_influence_cell;
ur_influence_cell ur_influence_of(const ur_influence_column *column, double x);
/* what a row moves rho by */
double ur_influence_pair_of(const ur_influence_pair *pair, const ur_influence_cell *first,
                            const ur_influence_cell *second);

extern const ur_summary ur_influence;
ur_influence_view ur_influence_view_of(const ur_influence_plan *plan, double *s);

#endif
