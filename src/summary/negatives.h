/* SPDX-License-Identifier: Apache-2.0 */
/* Count and sum of squares of the negative cells of each column: noise that was added after
 * the rectifier shows its size there. */
#ifndef UR_NEGATIVES_H
#define UR_NEGATIVES_H

#include "summary/summary.h"

typedef struct {
    size_t d;
    double *unit; /* d: filled by begin with a power of two near 1 / max |x| of the first block */
} ur_negatives_plan;

extern const ur_summary ur_negatives; /* d counts, then d sums of (x unit)^2 */

#endif
