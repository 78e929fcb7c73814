/* SPDX-License-Identifier: Apache-2.0 */
/* The ordered fold: a few blocks are decoded side by side, then every column walks through
 * them in order. */
#include "base/error.h"
#include "base/memory.h"
#include "pass/parallel.h"
#include "pass/pass.h"

#include <stdlib.h>

enum { WINDOW = 8 }; /* blocks decoded at once: bounded memory, work for 8 threads */

typedef struct {
    const unrelu_source *source;
    const ur_fold *fold;
    void *state;
    ur_piece pieces[WINDOW];
    ur_block blocks[WINDOW];
    unrelu_status status[WINDOW];
    unrelu_error errors[WINDOW];
    size_t count;
} window;

static void decode(void *context, size_t i)
{
    window *w = context;
    w->blocks[i].limits_wanted = w->fold->limits;
    w->status[i] = ur_source_decode(w->source, &w->pieces[i], &w->blocks[i], &w->errors[i]);
}

static void walk(void *context, size_t column)
{
    window *w = context;
    for (size_t i = 0; i < w->count; i++)
        w->fold->step(w->state, column, &w->blocks[i]);
}

static unrelu_status fill(unrelu_source *source, window *w, unrelu_error *err)
{
    int more = 1;
    for (w->count = 0; w->count < WINDOW; w->count++) {
        unrelu_status status = ur_source_take(source, &w->pieces[w->count], &more, err);
        if (status != UNRELU_OK)
            return status;
        if (!more)
            break;
    }
    return UNRELU_OK;
}

static unrelu_status first_failure(const window *w, unrelu_error *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->status[i] != UNRELU_OK) {
            if (err)
                *err = w->errors[i];
            return w->status[i];
        }
    return UNRELU_OK;
}

unrelu_status ur_fold_run(unrelu_source *source, const ur_fold *fold, void *state,
                          const unrelu_exec *exec, const char *stage, unrelu_error *err)
{
    window *w = ur_alloc(1, sizeof *w);
    if (!w)
        return ur_fail_memory(err, 1, "window of blocks");
    w->source = source;
    w->fold = fold;
    w->state = state;
    unrelu_exec quiet = exec ? *exec : unrelu_exec_default();
    quiet.progress = NULL; /* the file's fraction is told instead */
    unrelu_status status;
    while ((status = fill(source, w, err)) == UNRELU_OK && w->count > 0) {
        ur_progress(exec, stage, ur_source_fraction(source));
        status = ur_parallel_for(&quiet, stage, w->count, decode, w, err);
        if (status == UNRELU_OK)
            status = first_failure(w, err);
        if (status == UNRELU_OK)
            status = ur_parallel_for(&quiet, stage, unrelu_source_columns(source), walk, w, err);
        if (status != UNRELU_OK)
            break;
    }
    for (size_t i = 0; i < WINDOW; i++) {
        ur_piece_free(&w->pieces[i]);
        ur_block_free(&w->blocks[i]);
    }
    free(w);
    return status;
}
