/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/histogram.h"

#include "base/order.h"

#include <math.h>
#include <string.h>

static size_t len(const void *plan)
{
    const ur_histogram_plan *p = plan;
    return p->quantiles * p->d * UR_HISTOGRAM_BINS;
}

static uint64_t key_of(double x)
{
    return ur_ordered_bits(x + 0.0); /* -0 counts as 0 */
}

static int shift_of(int level)
{
    return 64 - UR_HISTOGRAM_BITS * (level + 1);
}

static uint64_t above_level(uint64_t key, int level)
{
    return level == 0 ? 0 : key >> shift_of(level - 1);
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)scratch;
    (void)err;
    const ur_histogram_plan *p = context;
    int shift = shift_of(p->level);
    for (size_t r = 0; r < block->rows; r++) {
        const double *row = block->x + r * block->stride;
        if (p->cut && !ur_row_kept(row, p->cut, p->d))
            continue;
        for (size_t j = 0; j < p->d; j++) {
            if (isnan(row[j]))
                continue;
            uint64_t key = key_of(row[j]);
            for (size_t q = 0; q < p->quantiles; q++) {
                size_t search = q * p->d + j;
                if (above_level(key, p->level) == above_level(p->prefix[search], p->level))
                    s[search * UR_HISTOGRAM_BINS + (key >> shift) % UR_HISTOGRAM_BINS]++;
            }
        }
    }
    return UNRELU_OK;
}

void ur_histogram_descend(const double *counts, int level, uint64_t *prefix, double *rank)
{
    size_t bin = 0;
    while (bin + 1 < UR_HISTOGRAM_BINS && *rank >= counts[bin])
        *rank -= counts[bin++];
    *prefix |= (uint64_t)bin << shift_of(level);
}

double ur_histogram_result(uint64_t prefix, int levels)
{
    if (prefix == key_of(0))
        return 0;
    return ur_ordered_value(prefix | UINT64_C(1) << (shift_of(levels - 1) - 1));
}

const ur_summary ur_histogram = {.len = len, .update = update};
