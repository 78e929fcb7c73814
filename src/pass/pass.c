/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/pass.h"

#include "base/error.h"
#include "pass/ordered.h"
#include "pass/parallel.h"

#include <stdint.h>

typedef struct {
    unrelu_source *source;
    const ur_summary *summary;
    const void *plan;
    double *room;   /* of absorb and align */
    ur_block first; /* decoded before the threads start; taken by whoever comes first */
    int first_waits;
} pass;

/* of one thread */
typedef struct {
    void *scratch;
    ur_piece piece;
    ur_block block;
    int decoded;
} reader;

static void end_reader(void *thing)
{
    reader *r = thing;
    ur_piece_free(&r->piece);
    ur_block_free(&r->block);
}

static void *new_reader(void *context, ur_arena *arena)
{
    const pass *p = context;
    reader *r = ur_arena_adopt(arena, ur_take(arena, 1, sizeof *r), end_reader);
    if (r && p->summary->scratch)
        r->scratch = p->summary->scratch(p->plan, arena);
    return r;
}

static unrelu_status take(void *context, void *mine, size_t *index, int *more, unrelu_error *err)
{
    pass *p = context;
    reader *r = mine;
    r->decoded = *more = p->first_waits;
    *index = 0;
    if (p->first_waits) {
        ur_block own = r->block;
        r->block = p->first;
        p->first = own;
        p->first_waits = 0;
        return UNRELU_OK;
    }
    UR_TRY(ur_source_take(p->source, &r->piece, more, err));
    *index = r->piece.index;
    return UNRELU_OK;
}

static unrelu_status add(void *context, void *mine, double *s, unrelu_error *err)
{
    const pass *p = context;
    reader *r = mine;
    if (!r->decoded)
        UR_TRY(ur_source_decode(p->source, &r->piece, &r->block, err));
    return p->summary->update(p->plan, r->scratch, s, &r->block, err);
}

static void absorb(void *context, double *into, double *from)
{
    const pass *p = context;
    p->summary->absorb(p->plan, into, from, p->room);
}

static double fraction(const void *context)
{
    return ur_source_fraction(((const pass *)context)->source);
}

static unrelu_status first_block(pass *p, void *plan, unrelu_error *err)
{
    ur_piece piece = {0};
    int more = 0;
    unrelu_status status = ur_source_take(p->source, &piece, &more, err);
    if (status == UNRELU_OK && more)
        status = ur_source_decode(p->source, &piece, &p->first, err);
    if (status == UNRELU_OK && more && p->summary->begin)
        status = p->summary->begin(plan, &p->first, err);
    p->first_waits = status == UNRELU_OK && more;
    ur_piece_free(&piece);
    return status;
}

unrelu_status ur_pass(unrelu_source *source, const ur_summary *summary, void *plan,
                      const unrelu_exec *exec, const char *stage, double *s, unrelu_error *err)
{
    UR_ARENA(arena);
    pass p = {.source = source, .summary = summary, .plan = plan};
    const ur_ordered sum = {.len = summary->len(plan),
                            .pieces = SIZE_MAX,
                            .mine = new_reader,
                            .take = take,
                            .add = add,
                            .absorb = summary->absorb ? absorb : NULL,
                            .fraction = fraction};
    p.room = ur_take(&arena, summary->room ? summary->room(plan) : 0, sizeof *p.room);
    UR_TRY(ur_arena_status(&arena, err));
    int ranked = exec && exec->rank_sum;
    unrelu_status status = first_block(&p, plan, err);
    if (status == UNRELU_OK && ranked && summary->agree)
        status = summary->agree(plan, exec, p.room, err);
    if (status == UNRELU_OK)
        status = ur_ordered_sum(&sum, &p, exec, stage, s, err);
    ur_block_free(&p.first);
    if (status != UNRELU_OK || !ranked)
        return status;
    size_t head = summary->head ? summary->head(plan) : 0;
    if (summary->align)
        UR_TRY(summary->align(plan, s, exec, p.room, err));
    return exec->rank_sum(exec->context, s + head, sum.len - head, err);
}
