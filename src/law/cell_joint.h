/* SPDX-License-Identifier: Apache-2.0 */
/* How likely the cells of two columns are together. */
#ifndef UR_CELL_JOINT_H
#define UR_CELL_JOINT_H

#include "law/cell_pair.h"

/* The logarithm of the likelihood of all rows, of margins as they were fitted and |rho| <= 1: of a
 * row where one is missing that of the other. NaN where a margin has no scale. */
double ur_cell_joint_likelihood(const ur_cell_column *c1, const ur_cell_column *c2, double rho);

#endif
