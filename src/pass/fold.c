/* SPDX-License-Identifier: Apache-2.0 */
/* The ordered fold: a few blocks are decoded side by side, then every column walks through
 * them in order, or they are drained one after another. */
#include "base/arena.h"
#include "base/error.h"
#include "pass/parallel.h"
#include "pass/pass.h"

typedef struct {
    const unrelu_source *source;
    const ur_fold *fold;
    void *state;
    ur_piece pieces[UR_FOLD_WINDOW];
    ur_block blocks[UR_FOLD_WINDOW];
    size_t count;
} window;

static void window_end(void *thing)
{
    window *w = thing;
    for (size_t i = 0; i < UR_FOLD_WINDOW; i++) {
        ur_piece_free(&w->pieces[i]);
        ur_block_free(&w->blocks[i]);
    }
}

static unrelu_status decode(void *context, size_t i, unrelu_error *err)
{
    window *w = context;
    w->blocks[i].wanted = w->fold->wanted;
    UR_TRY(ur_source_decode(w->source, &w->pieces[i], &w->blocks[i], err));
    return w->fold->turn ? w->fold->turn(w->state, i, &w->blocks[i], err) : UNRELU_OK;
}

static void walk(void *context, size_t column)
{
    window *w = context;
    for (size_t i = 0; i < w->count; i++)
        w->fold->step(w->state, column, &w->blocks[i]);
}

unrelu_status ur_fold_run(unrelu_source *source, const ur_fold *fold, void *state,
                          const unrelu_exec *exec, const char *stage, unrelu_error *err)
{
    UR_ARENA(arena);
    window *w = ur_take(&arena, 1, sizeof *w);
    ur_arena_adopt(&arena, w, window_end);
    UR_TRY(ur_arena_status(&arena, err));
    *w = (window){.source = source, .fold = fold, .state = state};
    unrelu_exec quiet = exec ? *exec : (unrelu_exec){0};
    quiet.progress = NULL; /* the file's fraction is told instead */
    for (;;) {
        int more = 1;
        for (w->count = 0; w->count < UR_FOLD_WINDOW; w->count++) {
            UR_TRY(ur_source_take(source, &w->pieces[w->count], &more, err));
            if (!more)
                break;
        }
        if (w->count == 0)
            return UNRELU_OK;
        ur_progress(exec, stage, ur_source_fraction(source));
        UR_TRY(ur_each(&quiet, stage, w->count, decode, w, err));
        if (fold->step)
            UR_TRY(ur_parallel_for(&quiet, stage, unrelu_source_columns(source), walk, w, err));
        for (size_t i = 0; i < w->count && fold->drain; i++)
            UR_TRY(fold->drain(state, i, &w->blocks[i], err));
    }
}
