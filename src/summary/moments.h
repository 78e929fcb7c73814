/* SPDX-License-Identifier: Apache-2.0 */
/* The summary behind the rectified Gaussian. With G = 1(x > limit), M = 1(x missing) and
 *   t = (x - limit - c) 2^-e where G = 1, else 0
 * it holds, in `groups` parts (tenths of every block, for the jackknife), the counts and sums
 * of each column and the eight d x d cross sums of panel.h. The shift c keeps digits when
 * mean/sd is large, the unit 2^e keeps squares in range; both stand in the head and are fixed
 * by the first block that shows a positive value. Two summaries with different heads are first
 * re-expressed (a linear map) at the larger e and one c, then added. */
#ifndef UR_MOMENTS_H
#define UR_MOMENTS_H

#include "summary/summary.h"

typedef struct {
    size_t d, groups;
    int pairs;                   /* 0: the columns alone */
    int single;                  /* single precision inside a panel */
    const double *limit;         /* d */
    int negatives;               /* nonzero: negative cells are censored, not an error */
    const double *cut;           /* d, or NULL: rows with a cell above it are dropped */
    const unrelu_source *source; /* names for messages; NULL: none */
    double *head;                /* 2 d: shift and exponent, 0 at first; filled by begin */
} ur_moments_plan;

extern const ur_summary ur_moments;

/* One group's arrays inside a summary (or all groups added up). Pair arrays are NULL without
 * pairs. */
typedef struct {
    double *rows, *missing_cells, *rows_dropped;     /* 1 */
    double *observed, *positive, *sum, *square;      /* d */
    double *gg, *tt, *gt, *gtt, *mm, *mg, *mt, *mtt; /* d x d: see ur_panel_sums */
} ur_moments_view;

size_t ur_moments_body_len(const ur_moments_plan *plan);
double *ur_moments_shift(const ur_moments_plan *plan, double *s);    /* d, data units */
double *ur_moments_exponent(const ur_moments_plan *plan, double *s); /* d; 0: unset */
double *ur_moments_group(const ur_moments_plan *plan, double *s, size_t group);
ur_moments_view ur_moments_view_of(const ur_moments_plan *plan, double *body);
/* body = sum of all groups but `skip` (SIZE_MAX: none) */
void ur_moments_total(const ur_moments_plan *plan, const double *s, size_t skip, double *body);

/* exponents are stored as e - UR_NO_EXPONENT, so that a zeroed head says "no value yet" */
#define UR_NO_EXPONENT (-4096.0)
/* of what is stored: largest_exponent finds it bit by bit, in 13 bits */
#define UR_LARGEST_EXPONENT 8191.0

#endif
