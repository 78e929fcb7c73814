/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with a cell above its column's cut are left out, in every pass alike. */
#ifndef UR_OUTLIERS_H
#define UR_OUTLIERS_H

#include "read/source.h"

/* is no cell of x (d) above its cut? */
int ur_row_kept(const double *x, const double *cut, size_t d);
/* the rows of block that are kept, copied to room (block->rows x d) */
ur_block ur_rows_kept(const ur_block *block, const double *cut, double *room);

#endif
