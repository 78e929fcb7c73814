/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/summary.h"

#include <string.h>

int ur_row_kept(const double *x, const double *cut, size_t d)
{
    int kept = 1;
    for (size_t j = 0; j < d; j++)
        kept &= !(x[j] > cut[j]);
    return kept;
}

ur_block ur_rows_kept(const ur_block *block, const double *cut, double *room)
{
    ur_block kept = *block;
    kept.x = room;
    kept.stride = block->d;
    kept.rows = 0;
    for (size_t r = 0; r < block->rows; r++) {
        const double *x = block->x + r * block->stride;
        if (ur_row_kept(x, cut, block->d))
            memcpy(room + kept.rows++ * block->d, x, block->d * sizeof *x);
    }
    return kept;
}
