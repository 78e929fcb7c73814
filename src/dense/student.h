/* SPDX-License-Identifier: Apache-2.0 */
/* How small numbers are by the likeliest of a few Student laws, as a sum of squares: for tails of
 * any weight what n log(sum of squares) is for normal ones. */
#ifndef UR_STUDENT_H
#define UR_STUDENT_H

#include <stddef.h>

/* Q with -2 log L = n log(2 pi e Q / n), L the largest likelihood of r (n numbers) under Student
 * laws of 1, 2, 4 and 8 degrees of freedom and the normal law, of any scale: at most the sum of
 * squares, which it is for normal r. */
double ur_student_squares(size_t n, const double *r);

#endif
