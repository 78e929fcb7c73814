/* SPDX-License-Identifier: Apache-2.0 */
/* What several rooms of a rectified Gaussian agree on; what one file alone needs stands there. */
#ifndef UR_GAUSSIAN_TOLERANCE_H
#define UR_GAUSSIAN_TOLERANCE_H

/* Deviations of additive noise at which values are censored: what lies above is y + e again. 2 let
 * noise through, 3 to 4 serve alike, more give up values that were seen. */
#define UR_NOISE_CENSORING 3.0

/* Rows that a fit needs: two for a deviation, one more for its error. */
#define UR_FEWEST_ROWS 3

#endif
