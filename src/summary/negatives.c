/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/negatives.h"

#include <math.h>

enum { SIZES = 3 };
static const double unit[SIZES] = {0x1p700, 1, 0x1p-700}; /* tiny, common, huge */

static size_t len(const void *plan)
{
    return (1 + SIZES) * ((const ur_negatives_plan *)plan)->d;
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)scratch;
    (void)err;
    size_t d = ((const ur_negatives_plan *)context)->d;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < d; j++) {
            double x = block->x[r * block->stride + j];
            if (!(x < 0))
                continue;
            size_t size = x > -0x1p-400 ? 0 : x > -0x1p400 ? 1 : 2;
            double scaled = x * unit[size];
            s[j]++;
            s[(1 + size) * d + j] += scaled * scaled;
        }
    return UNRELU_OK;
}

double ur_negatives_count(const ur_negatives_plan *plan, const double *s, size_t column)
{
    (void)plan;
    return s[column];
}

double ur_negatives_rms(const ur_negatives_plan *plan, const double *s, size_t column)
{
    for (size_t size = SIZES; size-- > 0;) { /* the largest present swamp all others */
        double sum = s[(1 + size) * plan->d + column];
        if (sum > 0)
            return sqrt(sum / s[column]) / unit[size];
    }
    return 0;
}

const ur_summary ur_negatives = {.len = len, .update = update};
