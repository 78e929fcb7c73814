/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/negatives.h"

#include <math.h>

enum { OBSERVED, NEGATIVE, BEYOND, INNER, SQUARE, NUMBERS };

static size_t len(const void *plan)
{
    return NUMBERS * ((const ur_negatives_plan *)plan)->d;
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)scratch;
    (void)err;
    const ur_negatives_plan *plan = context;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t j = 0; j < plan->d; j++) {
            double x = block->x[r * block->stride + j], *own = s + NUMBERS * j;
            own[OBSERVED] += !isnan(x);
            if (!(x < 0))
                continue;
            own[NEGATIVE]++;
            if (!plan->bound)
                continue;
            double part = -x / plan->bound[j];
            own[BEYOND] += part > 1;
            own[INNER] += part <= plan->inner;
            own[SQUARE] += part > 1 ? 0 : part * part;
        }
    return UNRELU_OK;
}

ur_negatives_view ur_negatives_of(const ur_negatives_plan *plan, const double *s, size_t column)
{
    (void)plan;
    const double *own = s + NUMBERS * column;
    return (ur_negatives_view){own[OBSERVED], own[NEGATIVE], own[BEYOND], own[INNER], own[SQUARE]};
}

const ur_summary ur_negatives = {.len = len, .update = update};
