/* SPDX-License-Identifier: Apache-2.0 */
/* Values that were rounded: v stands for all that lies within half a unit of it, in the data's own
 * unit. What is known of their distribution function is its value at the edges of these cells. */
#ifndef UR_ROUNDING_H
#define UR_ROUNDING_H

#include "unrelu/unrelu.h"

#include <stddef.h>

/* How a column came from the data: x = transform(raw) 2^-exponent, all 0 where x is raw; and its
 * unit, whole / over, over being a power of ten, which makes multiples exact decimals. whole is 0
 * where values were not rounded, or too finely to matter. */
typedef struct {
    unrelu_transform transform;
    double lambda;
    int exponent;
    double whole, over;
} ur_rounding;

/* finds the unit of values seen: count of them, sorted, in a column of so many cells */
void ur_rounding_find(ur_rounding *r, const double *value, size_t count, double observed);
/* the ends of the cell of a value; low is -inf where the transform has no image of it */
void ur_rounding_cell(const ur_rounding *r, double value, double *low, double *high);
/* what x would be recorded as; -inf where that is 0 or less and a power or logarithm is taken */
double ur_rounding_of(const ur_rounding *r, double x);
/* the end of what is recorded as 0 */
double ur_rounding_of_nothing(const ur_rounding *r);

#endif
