/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the rows of a pair of coordinates, four rows at a time: what the likelihood of single
 * cells spends its time on. The order of additions is fixed by the number of rows. */
#ifndef UR_PAIR_SUMS_H
#define UR_PAIR_SUMS_H

#include <stddef.h>

double ur_sum_products(size_t n, const double *a, const double *b);

/* Rows where both are seen, at a and b: sums of a, b, a a, a b, b b; and the score of rho of each,
 * r / (1 - r^2) + (a b (1 + r^2) - r (a^2 + b^2)) / (1 - r^2)^2. */
void ur_sum_seen(size_t n, const double *a, const double *b, double sum[5]);
void ur_score_seen(size_t n, const double *a, const double *b, double r, double *score);

/* Rows where one is seen at u and the other is below l; m is the hazard of g = (r u - l) / o, where
 * o^2 = 1 - r^2. With w' = (r l - u) / o^3 the score of rho is m w'. */
typedef struct {
    size_t n;
    const double *u, *l;
    double *g, *m;
} ur_mixed_rows;

/* sets g and m; sum: of the score, and of its derivative with the sign turned */
void ur_sum_mixed(const ur_mixed_rows *rows, double r, double sum[2]);
/* the same, from g and m as they were set for another rho near by, where that costs less */
void ur_move_mixed(const ur_mixed_rows *rows, double from, double r, double sum[2]);
/* With g and m as they were set for r. sum: of the score's derivatives by u, by u times u, by l,
 * by l times l; g becomes the score of each row. */
void ur_slopes_mixed(const ur_mixed_rows *rows, double r, double sum[4]);

/* How far a row moves rho, given how it moves (b, s) of both margins */
typedef struct {
    size_t n;
    const double *by[4]; /* b and s of the first, b and s of the second: n each */
    double slope[4];     /* of the score by these */
    double information;
    double relative[2]; /* rho / s of both */
} ur_moving_rows;

/* score becomes (score - slopes times how margins move) / information. sum: of the squares of
 * these, of the squares of these and what the product rho s s moves by beside, and of b b, b s, s
 * b, s s of the first margin and the second. */
void ur_move_rows(const ur_moving_rows *rows, double *score, double sum[6]);

#endif
