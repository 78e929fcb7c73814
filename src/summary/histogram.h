/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles by a radix search: doubles are mapped to integers in their order, and each pass
 * counts, under the 12 bits per level found so far, the next 12. Counts are additive, so any
 * quantile of any column takes one pass a level: relative error 2^-12 after two, 2^-36 after
 * four. */
#ifndef UR_HISTOGRAM_H
#define UR_HISTOGRAM_H

#include "summary/summary.h"

enum { UR_HISTOGRAM_BITS = 12, UR_HISTOGRAM_BINS = 1 << UR_HISTOGRAM_BITS };

typedef struct {
    size_t d, quantiles; /* searches a column */
    int level;           /* 0, 1, ...: bits above this level's are fixed by prefix */
    uint64_t *prefix;    /* quantiles x d */
    const double *cut;   /* d, or NULL: rows with a cell above it are left out */
} ur_histogram_plan;

extern const ur_summary ur_histogram; /* quantiles x d x UR_HISTOGRAM_BINS counts */

/* Descends one level: given this level's counts of one search and the rank still to find
 * (0-based, among the counted), extends *prefix and lowers *rank. */
void ur_histogram_descend(const double *counts, int level, uint64_t *prefix, double *rank);
/* the middle of what the prefix allows after `levels` levels */
double ur_histogram_result(uint64_t prefix, int levels);

#endif
