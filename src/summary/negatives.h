/* SPDX-License-Identifier: Apache-2.0 */
/* Count and sum of squares of the negative cells of each column: noise that was added after
 * the rectifier shows its size there. Squares are summed apart for tiny, common and huge cells,
 * each in a fixed unit: nothing overflows, and any two summaries add. */
#ifndef UR_NEGATIVES_H
#define UR_NEGATIVES_H

#include "summary/summary.h"

typedef struct {
    size_t d;
} ur_negatives_plan;

extern const ur_summary ur_negatives; /* d counts, then 3 x d sums */

double ur_negatives_count(const ur_negatives_plan *plan, const double *s, size_t column);
/* root mean square; 0 where there are none */
double ur_negatives_rms(const ur_negatives_plan *plan, const double *s, size_t column);

#endif
