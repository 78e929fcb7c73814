/* SPDX-License-Identifier: Apache-2.0 */
/* The correlation of two coordinates with limits of their own in each cell, by the exact
 * likelihood of the pair given the two margins:
 *   both seen: phi2;  one below: phi(u1) Phi((l2 - rho u1) / sqrt(1 - rho^2));  both: Phi2(l1, l2),
 * u and l standardised by the margins; cells above a limit or between two ends by the probability
 * of what they leave open. Its standard error accounts for those of the margins. */
#ifndef UR_CELL_PAIR_H
#define UR_CELL_PAIR_H

#include "base/arena.h"
#include "law/cell_margin.h"
#include "law/pair.h"

#include <stddef.h>
#include <stdint.h>

enum { UR_CELL_SERIES = 6 };
/* rows at most: their numbers are kept in 32 bits, so that more of them stay in the cache */
#define UR_CELL_PAIR_ROWS UINT32_MAX

/* A column as its pairs need it: all of it lives in an arena */
typedef struct {
    size_t n;
    const unsigned char *state;
    ur_cell_margin margin;
    double *a;        /* n: (x - b) / s, of the value, the limit, the middle; 0: missing */
    double *width;    /* n: of cells between, divided by s; NULL: there are none */
    double *expected; /* n: a, or the mean of what it leaves open: a margin's score in b, times s */
    double *below;    /* n: Phi(a) where below, Phi(-a) where above */
    double *b_by, *s_by;           /* n: how (b, s) move with the row: V times the margin's score */
    size_t *level, levels;         /* n: which of the different limits, where below or above */
    double square;                 /* sum of the squares of expected */
    double series[UR_CELL_SERIES]; /* expected as a function of the normal behind it: mean products
                                    * with its Hermite polynomials 1, 2, ..., which have norm 1 */
} ur_cell_column;

/* with its margin fitted */
unrelu_status ur_cell_column_open(ur_arena *arena, size_t n, const double *x, const double *upper,
                                  const unsigned char *state, ur_cell_column *out,
                                  unrelu_error *err);

/* scratch for columns of n rows, one for each thread */
double *ur_cell_pair_room(ur_arena *arena, size_t n);
/* Rows where either is missing are left out; where none is left rho is 0, not converged. out as
 * ur_pair_six_statistics sets it, NaN errors where a margin has none. At most 0.1 ms at n = 1000
 * where the columns have few different limits. */
void ur_cell_pair_fit(const ur_cell_column *c1, const ur_cell_column *c2, double *room,
                      ur_pair *out);

#endif
