/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/blocks.h"

#include "pass/ordered.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const ur_blocks *blocks;
    size_t count, next; /* chunks */
} walk;

/* of one thread */
typedef struct {
    size_t chunk;
    double *scratch;
} walker;

static void *new_walker(void *context, ur_arena *arena)
{
    const walk *k = context;
    walker *w = ur_take(arena, 1, sizeof *w);
    if (w)
        w->scratch = ur_take_aligned(arena, k->blocks->scratch, sizeof *w->scratch);
    return w;
}

static size_t steps_of(const ur_blocks *b)
{
    return b->n / b->step + (b->n % b->step != 0);
}

static size_t first_row(const walk *k, size_t chunk)
{
    const ur_blocks *b = k->blocks;
    size_t first = b->chunk ? chunk * b->chunk : chunk * steps_of(b) / k->count * b->step;
    return first < b->n ? first : b->n;
}

static unrelu_status take(void *context, void *mine, size_t *piece, int *more, unrelu_error *err)
{
    walk *k = context;
    (void)err;
    *more = k->next < k->count;
    if (*more)
        *piece = ((walker *)mine)->chunk = k->next++;
    return UNRELU_OK;
}

static unrelu_status add(void *context, void *mine, double *sum, unrelu_error *err)
{
    const walk *k = context;
    const ur_blocks *b = k->blocks;
    const walker *w = mine;
    (void)err;
    size_t end = first_row(k, w->chunk + 1);
    for (size_t first = first_row(k, w->chunk); first < end; first += b->step)
        b->add(b->context, first, end - first < b->step ? end - first : b->step, w->scratch, sum);
    return UNRELU_OK;
}

static double fraction(const void *context)
{
    const walk *k = context;
    return (double)k->next / (double)k->count;
}

unrelu_status ur_blocks_sum(const ur_blocks *blocks, const unrelu_exec *exec, const char *stage,
                            double *total, unrelu_error *err)
{
    assert(blocks->n > 0 && blocks->step > 0 && (blocks->chunk > 0 || blocks->chunks > 0));
    walk k = {.blocks = blocks, .count = steps_of(blocks)};
    if (blocks->chunk)
        k.count = blocks->n / blocks->chunk + (blocks->n % blocks->chunk != 0);
    else if (k.count > blocks->chunks)
        k.count = blocks->chunks;
    const ur_ordered sum = {.len = blocks->len,
                            .pieces = k.count,
                            .mine = new_walker,
                            .take = take,
                            .add = add,
                            .fraction = fraction};
    memset(total, 0, blocks->len * sizeof *total);
    return ur_ordered_sum(&sum, &k, exec, stage, total, err);
}
