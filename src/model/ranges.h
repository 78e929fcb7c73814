/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers a member of a model may hold. The tables of members (fields.h) name one of these,
 * and whoever loads a file refuses what lies outside, by name and value. */
#ifndef UR_RANGES_H
#define UR_RANGES_H

#include "unrelu/unrelu.h"

#include <stdint.h>

typedef struct {
    double least, most;
    int unknown;   /* NaN is fine too: what could not be had */
    int whole;     /* no fractions */
    int symmetric; /* a square matrix, to within rounding; and its diagonal: */
    double diagonal_least, diagonal_most;
    const char *needed; /* "a standard error", for the message */
} ur_range;

extern const ur_range ur_is_finite, ur_is_known; /* the second: or NaN */
extern const ur_range ur_is_bounded;             /* any number, infinite ones too, or NaN */
extern const ur_range ur_is_size, ur_is_size_or_unknown, ur_is_error, ur_is_share, ur_is_limit,
    ur_is_top;
extern const ur_range ur_is_boxcox; /* |lambda| at most 10, as options have it */
extern const ur_range ur_is_count;
extern const ur_range ur_are_covariances, ur_are_correlations, ur_are_errors, ur_are_counts;

/* for columns: x is one number, and no matrix; a matrix may have none, as U of no neurons */
#define UR_ONE_NUMBER SIZE_MAX

/* x is rows x columns; most: of counts, how many there can be; 0: not known */
unrelu_status ur_range_check(const char *path, const char *name, const ur_range *range,
                             const double *x, size_t rows, size_t columns, size_t most,
                             unrelu_error *err);

#endif
