/* SPDX-License-Identifier: Apache-2.0 */
/* What several rooms of a rectified Gaussian agree on; what one file alone needs stands there. */
#ifndef UR_GAUSSIAN_TOLERANCE_H
#define UR_GAUSSIAN_TOLERANCE_H

/* Deviations of additive noise at which values are censored: what lies above is y + e again. At 3
 * noise alone passes in one row of 740, and where b < 0 that is a bias of 1.4 standard errors in
 * 1e5 rows; 4 gives up values that were seen, and with them a tenth of the accuracy. */
#define UR_NOISE_CENSORING 3.5

/* Rows that a fit needs: two for a deviation, one more for its error. */
#define UR_FEWEST_ROWS 3

#endif
