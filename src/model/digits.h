/* SPDX-License-Identifier: Apache-2.0 */
/* How many digits numbers in files carry. Those stored in single precision err by 3e-8 of their
 * size, printed ones by half a unit of their last digit. */
#ifndef UR_DIGITS_H
#define UR_DIGITS_H

#include <stddef.h>

/* whether every cell is a float */
int ur_digits_single(size_t count, const double *cells);
/* Root mean square of the rounding of column j of cells (n x m) with few digits, relative to rms,
 * that of the column: of a last digit of N, or of the smallest decimal; 0: full precision.
 * *digits is N. */
double ur_digits_rounding(size_t n, size_t m, const double *cells, size_t j, double rms,
                          int *digits);

#endif
