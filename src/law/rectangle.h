/* SPDX-License-Identifier: Apache-2.0 */
/* The likelihood of a pair of cells of which at least one lies between two ends, as a function of
 * the correlation, and how its score moves with both margins. */
#ifndef UR_RECTANGLE_H
#define UR_RECTANGLE_H

#include "law/interval.h"

/* Derivatives by a margin's b and s, times -s: by `at`, and by `at` times it plus by the logarithm
 * of the width. */
typedef struct {
    double log_p;         /* without the density of a value that is seen */
    double by_r, by_rr;   /* score of rho and its derivative */
    double by_r_of[2][2]; /* of cell k: the score by its b and by its s */
} ur_rectangle;

/* seen[k]: cell k is the value cell[k].at. Not both are seen, and one that is not seen is between
 * two ends or the other is seen. |rho| < 1. Costs 1 us where one is seen or narrow, at most 100. */
void ur_rectangle_at(const ur_hidden cell[2], const int seen[2], double rho, ur_rectangle *out);

/* Both cells are below their end or above it, and neither was seen: to the last digits also where
 * the probability is far below the product of the two margins', which takes a sum of positive
 * terms. Costs 10 us. */
void ur_corner_at(const ur_hidden cell[2], double rho, ur_rectangle *out);

#endif
