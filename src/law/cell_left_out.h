/* SPDX-License-Identifier: Apache-2.0 */
/* How far the margin of a column of cells moves where each row in turn is left out. */
#ifndef UR_CELL_LEFT_OUT_H
#define UR_CELL_LEFT_OUT_H

#include "law/cell_pair.h"

/* sums over rows of products of what they move b and s by, and of fourth powers */
typedef struct {
    double bb, bs, ss, ssss;
} ur_cell_left_out;

/* The column's margin has a scale and errors. */
ur_cell_left_out ur_cell_left_out_sums(const ur_cell_column *column);

#endif
