/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_SORT_H
#define UR_SORT_H

#include <stddef.h>

/* x (n, no NaN) in increasing order; -0 comes before 0. scratch: n doubles */
void ur_sort(double *x, double *scratch, size_t n);

#endif
