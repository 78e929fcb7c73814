/* SPDX-License-Identifier: Apache-2.0 */
/* The logarithm of the probability that a standard normal lies below a limit, above one, or between
 * two ends, with its derivatives. An interval is known by its middle m and its width w, so that
 * nothing cancels where it is narrow. */
#ifndef UR_INTERVAL_H
#define UR_INTERVAL_H

/* where a cell lies that was not seen */
typedef struct {
    int side;         /* -1: at or below `at`; 1: at or above it; 0: around it */
    double at, width; /* the limit, or the middle; width: of side 0 alone, finite and above 0 */
} ur_hidden;

typedef struct {
    double log_p;
    double by_m, by_w; /* by `at`, and by the logarithm of the width (0 where there is none) */
    double by_mm, by_mw, by_ww;
} ur_interval;

ur_interval ur_interval_at(ur_hidden cell);

#endif
