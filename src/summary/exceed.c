/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/exceed.h"

#include "summary/panel.h"

#include <math.h>
#include <string.h>

enum { PART = 4096, WORDS = PART / 64 }; /* d = 200: 100 KiB of bits, in the second cache */

static size_t len(const void *plan)
{
    size_t d = ((const ur_exceed_plan *)plan)->d;
    return d + 2 * d * d;
}

ur_exceed_view ur_exceed_view_of(const ur_exceed_plan *plan, double *s)
{
    size_t d = plan->d;
    return (ur_exceed_view){s, s + d, s + d + d * d};
}

typedef struct {
    uint64_t *bits; /* d x WORDS */
    double *kept;   /* PART x d, with a cut */
} room;

static void *new_scratch(const void *context, ur_arena *arena)
{
    const ur_exceed_plan *plan = context;
    room *w = ur_take(arena, 1, sizeof *w);
    if (w)
        *w = (room){
            .bits = ur_take_aligned(arena, plan->d, WORDS * sizeof *w->bits),
            .kept = plan->cut ? ur_take(arena, plan->d, PART * sizeof *w->kept) : NULL,
        };
    return w;
}

static unrelu_status update(const void *context, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)err;
    const ur_exceed_plan *plan = context;
    room *w = scratch;
    size_t d = plan->d, size = d * WORDS * sizeof *w->bits;
    ur_exceed_view v = ur_exceed_view_of(plan, s);
    for (size_t first = 0; first < block->rows; first += PART) {
        ur_block part = *block;
        part.x += first * block->stride;
        part.rows = block->rows - first < PART ? block->rows - first : PART;
        if (plan->cut)
            part = ur_rows_kept(&part, plan->cut, w->kept);
        memset(w->bits, 0, size);
        ur_bits_above(part.x, part.rows, d, part.stride, plan->threshold, w->bits, WORDS);
        ur_bits_gram(w->bits, d, WORDS, v.above);
        if (!plan->missing)
            continue;
        memset(w->bits, 0, size);
        for (size_t r = 0; r < part.rows; r++)
            for (size_t j = 0; j < d; j++)
                if (isnan(part.x[r * part.stride + j])) {
                    w->bits[j * WORDS + r / 64] |= UINT64_C(1) << r % 64;
                    v.missing[j]++;
                }
        ur_bits_gram(w->bits, d, WORDS, v.both_absent);
    }
    return UNRELU_OK;
}

const ur_summary ur_exceed = {.len = len, .scratch = new_scratch, .update = update};
