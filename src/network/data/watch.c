/* SPDX-License-Identifier: Apache-2.0 */
#include "network/data/watch.h"

#include "base/error.h"
#include "base/system.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

static void pass_progress(void *context, const char *stage, double fraction)
{
    ur_progress(((const ur_watch *)context)->user, stage, fraction);
}

static void pass_counts(void *context, const unrelu_counts *counts)
{
    ur_count(((const ur_watch *)context)->user, *counts);
}

static int ask(void *context)
{
    ur_watch *watch = context;
    int wish = ur_cancelled(watch->user), going = UNRELU_GO_ON;
    if (watch->finishing)
        return wish == UNRELU_STOP_AND_KEEP ? UNRELU_GO_ON : wish;
    if (wish == UNRELU_GO_ON && ur_seconds() >= watch->end) {
        atomic_store(&watch->late, 1);
        wish = UNRELU_STOP_AND_KEEP;
    }
    atomic_compare_exchange_strong(&watch->stopped, &going, wish);
    return atomic_load(&watch->stopped);
}

void ur_watch_begin(ur_watch *watch, const unrelu_exec *user, double limit)
{
    watch->user = user;
    watch->exec = *user;
    watch->exec.context = watch;
    watch->exec.progress = pass_progress;
    watch->exec.counts = pass_counts;
    watch->exec.cancelled = ask;
    watch->limit = limit;
    watch->end = limit > 0 ? ur_seconds() + limit : INFINITY;
}

void ur_watch_end(ur_watch *watch)
{
    for (size_t i = 0; i < UR_KEPT_KINDS; i++)
        ur_arena_end(&watch->kept[i].arena);
    ur_arena_end(&watch->arena);
}

int ur_watch_keeps(const ur_watch *watch)
{
    return watch && atomic_load(&watch->stopped) == UNRELU_STOP_AND_KEEP;
}

unrelu_status ur_watch_show(ur_watch *watch, const ur_frame *frame, ur_find find, unrelu_error *err)
{
    size_t k = find.known + find.others, q = frame->q;
    ur_kept *kept = watch ? &watch->kept[find.kind] : NULL;
    if (!watch || k == 0 || !(kept->k == 0 || find.measure < kept->measure))
        return UNRELU_OK;
    ur_arena_end(&kept->arena);
    *kept = (ur_kept){.k = 0};
    double *rows = ur_take(&kept->arena, k, q * sizeof *rows);
    UR_TRY(ur_arena_status(&kept->arena, err));
    if (find.known > 0)
        ur_frame_back(frame, find.known, find.V, rows);
    if (find.others > 0)
        ur_frame_back(frame, find.others, find.W, rows + find.known * q);
    kept->rows = rows;
    kept->k = k;
    kept->q = q;
    kept->terms = frame->terms;
    kept->wanted = find.wanted;
    kept->starts = find.starts;
    kept->measure = find.measure;
    return UNRELU_OK;
}

unrelu_status ur_watch_tell(ur_watch *watch, unrelu_error *err, const char *format, ...)
{
    if (!watch)
        return UNRELU_OK;
    if (watch->tried_count == watch->tried_room) {
        size_t room = 2 * watch->tried_room + 8;
        const char **more = ur_take(&watch->arena, room, sizeof *more);
        UR_TRY(ur_arena_status(&watch->arena, err));
        if (watch->tried_count > 0)
            memcpy(more, watch->tried, watch->tried_count * sizeof *more);
        watch->tried = more;
        watch->tried_room = room;
    }
    va_list values;
    va_start(values, format);
    watch->tried[watch->tried_count++] = ur_take_values(&watch->arena, format, values);
    va_end(values);
    return ur_arena_status(&watch->arena, err);
}
