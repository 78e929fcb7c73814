/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources, one after the other, as one. Rows are counted through; messages name the source
 * and the row in it. */
#include "base/error.h"
#include "base/memory.h"
#include "read/format.h"

#include <string.h>

typedef struct {
    unrelu_source **of;
    size_t count, at, next_index;
    size_t *before; /* count + 1: rows of those before it; up to `at` they are known */
} several;

static unrelu_status rewind_several(unrelu_source *source, unrelu_error *err)
{
    several *s = source->state;
    for (size_t i = 0; i < s->count; i++)
        UR_TRY(ur_source_rewind(s->of[i], err));
    s->at = s->next_index = 0;
    s->before[1] = 0;
    return UNRELU_OK;
}

static unrelu_status take_several(unrelu_source *source, ur_piece *piece, int *more,
                                  unrelu_error *err)
{
    several *s = source->state;
    for (*more = 0; s->at < s->count;) {
        UR_TRY(ur_source_take(s->of[s->at], piece, more, err));
        if (*more)
            break;
        s->at++;
        if (s->at < s->count) /* grows as rows come */
            s->before[s->at + 1] = s->before[s->at];
    }
    if (!*more)
        return UNRELU_OK;
    s->before[s->at + 1] += piece->rows;
    piece->source = s->at;
    piece->index = s->next_index++;
    return UNRELU_OK;
}

static unrelu_status decode_several(const unrelu_source *source, const ur_piece *piece,
                                    ur_block *block, unrelu_error *err)
{
    const several *s = source->state;
    UR_TRY(ur_source_decode(s->of[piece->source], piece, block, err));
    block->first_row += s->before[piece->source];
    return UNRELU_OK;
}

static double fraction_several(const unrelu_source *source)
{
    const several *s = source->state;
    double own = s->at < s->count ? ur_source_fraction(s->of[s->at]) : 0;
    return own < 0 ? own : ((double)s->at + own) / (double)s->count;
}

static int met_limit_several(const unrelu_source *source)
{
    const several *s = source->state;
    for (size_t i = 0; i < s->count; i++)
        if (ur_source_met_limit(s->of[i]))
            return 1;
    return 0;
}

static const unrelu_source *place_several(const unrelu_source *source, size_t *row)
{
    const several *s = source->state;
    size_t i = 0;
    while (i < s->at && i + 1 < s->count && *row >= s->before[i + 1])
        i++;
    *row -= s->before[i];
    return s->of[i];
}

static const ur_format several_format = {
    .rewind = rewind_several,
    .take = take_several,
    .decode = decode_several,
    .fraction = fraction_several,
    .met_limit = met_limit_several,
    .place = place_several,
};

static void end_several(void *thing)
{
    several *s = thing;
    for (size_t i = 0; i < s->count; i++)
        unrelu_source_close(s->of[i]);
}

static unrelu_status check_columns(const unrelu_source *source, const unrelu_source *first,
                                   unrelu_error *err)
{
    if (source->reading.top)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s has top codes (`top`): files with such are not read as one",
                       source->label);
    if (source->d != first->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu columns, and %s has %zu: all files need the same columns",
                       source->label, source->d, first->label, first->d);
    for (size_t j = 0; j < first->d; j++)
        if (strcmp(source->names[j], first->names[j]) != 0)
            return ur_fail(err, UNRELU_EFORMAT,
                           "column %zu of %s is called '%.80s', and that of %s '%.80s': all files "
                           "need the same columns in the same order",
                           j + 1, source->label, source->names[j], first->label, first->names[j]);
    return UNRELU_OK;
}

/* what was asked of the cells is done by each of them */
static unrelu_status open_several(unrelu_source *source, unrelu_source *const *of, size_t count,
                                  unrelu_error *err)
{
    const unrelu_source *first = of[0];
    several *s = ur_take(&source->arena, 1, sizeof *s);
    unrelu_source **copies = ur_take(&source->arena, count, sizeof *copies);
    size_t *before = ur_take(&source->arena, count + 1, sizeof *before);
    const char *label =
        ur_take_text(&source->arena, "%.300s and %zu more", first->label, count - 1);
    source->names = ur_take_copies(&source->arena, first->names, first->d);
    UR_TRY(ur_arena_status(&source->arena, err));
    for (size_t i = 0; i < count; i++)
        UR_TRY(check_columns(of[i], first, err));
    source->format = &several_format;
    source->label = label;
    memcpy(source->note, first->note, sizeof source->note);
    source->d = source->width = first->d;
    source->moved = 1; /* as they may be */
    source->reading.asked = first->reading.asked;
    for (size_t i = 1; i < count; i++) /* the model says that rows were left out */
        source->reading.asked.complete &= of[i]->reading.asked.complete;
    source->reading.uncensored = first->reading.uncensored;
    s->before = before;
    s->of = copies;
    source->state = ur_arena_adopt(&source->arena, s, end_several);
    UR_TRY(ur_arena_status(&source->arena, err)); /* from here on they are closed with it */
    memcpy(copies, of, count * sizeof *copies);
    s->count = count;
    return UNRELU_OK;
}

unrelu_status unrelu_source_join(unrelu_source *const *sources, size_t count, unrelu_source **out,
                                 unrelu_error *err)
{
    *out = NULL;
    if (count == 0)
        return ur_fail(err, UNRELU_EUSAGE, "there are no sources to join");
    unrelu_source *source = ur_alloc(1, sizeof *source);
    if (!source)
        return ur_fail_memory(err, 1, "source");
    unrelu_status status = open_several(source, sources, count, err);
    if (status)
        unrelu_source_close(source);
    else
        *out = source;
    return status;
}
