/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "read/format.h"

#include <string.h>

unrelu_status ur_source_set_places(unrelu_source *source, ur_arena *arena, unrelu_error *err)
{
    if (!source->pick)
        return UNRELU_OK;
    source->place = ur_take(arena, source->width, sizeof *source->place);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < source->width; j++)
        source->place[j] = SIZE_MAX;
    for (size_t j = 0; j < source->d; j++)
        source->place[source->pick[j]] = j;
    return UNRELU_OK;
}

unrelu_status ur_source_view(unrelu_source *of, const size_t *which, size_t d, ur_arena *arena,
                             unrelu_source **out, unrelu_error *err)
{
    unrelu_source *view = ur_take(arena, 1, sizeof *view);
    size_t *pick = ur_take(arena, d, sizeof *pick);
    const char **names = ur_take(arena, d, sizeof *names);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < d; j++) {
        pick[j] = of->pick ? of->pick[which[j]] : which[j];
        names[j] = of->names[which[j]];
    }
    *view = *of;
    memset(&view->arena, 0, sizeof view->arena); /* it owns nothing */
    view->watch = NULL;
    view->pick = pick;
    view->d = d;
    view->names = names;
    of->moved = 1; /* whatever is read next rewinds */
    *out = view;
    UR_TRY(ur_source_set_places(view, arena, err));
    return ur_reading_view(of, which, view, arena, err);
}

static unrelu_status read_texts(unrelu_source *source, ur_texts *out, unrelu_error *err)
{
    ur_piece piece = {0};
    int more = 1;
    unrelu_status status = ur_source_rewind(source, err);
    while (status == UNRELU_OK && more) {
        status = ur_source_take(source, &piece, &more, err);
        if (status == UNRELU_OK && more)
            status = source->format->add_texts(source, &piece, out, err);
    }
    ur_piece_free(&piece);
    return status;
}

unrelu_status ur_source_texts(unrelu_source *source, ur_texts *out, unrelu_error *err)
{
    *out = (ur_texts){0};
    if (!source->place || !source->format->add_texts)
        return UNRELU_OK;
    return ur_source_texts_of(source, source->place, out, err);
}

unrelu_status ur_source_texts_of(unrelu_source *source, const size_t *place, ur_texts *out,
                                 unrelu_error *err)
{
    *out = (ur_texts){.columns = source->width, .names = source->all_names, .place = place};
    return read_texts(source, out, err);
}

void ur_texts_free(ur_texts *texts)
{
    ur_free(texts->bytes);
    *texts = (ur_texts){0};
}
