/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/negatives.h"

#include <math.h>

static size_t len(const void *plan)
{
    return 2 * ((const ur_negatives_plan *)plan)->d;
}

static unrelu_status begin(void *context, const ur_block *block, unrelu_error *err)
{
    (void)err;
    ur_negatives_plan *plan = context;
    for (size_t j = 0; j < plan->d; j++) {
        double top = 0;
        for (size_t r = 0; r < block->rows; r++)
            top = fmax(top, fabs(block->x[r * block->stride + j]));
        plan->unit[j] = top > 0 && top < INFINITY ? ldexp(1, -(int)fmax(ilogb(top), -1000)) : 1;
    }
    return UNRELU_OK;
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)scratch;
    (void)err;
    const ur_negatives_plan *plan = context;
    size_t d = plan->d;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < d; j++) {
            double x = block->x[r * block->stride + j] * plan->unit[j];
            s[j] += x < 0;
            s[d + j] += x < 0 ? x * x : 0;
        }
    return UNRELU_OK;
}

const ur_summary ur_negatives = {.len = len, .begin = begin, .update = update};
