/* SPDX-License-Identifier: Apache-2.0 */
#include "read/reading.h"

#include "base/error.h"
#include "base/text.h"
#include "read/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ur_reading_item(const char **list, size_t *size)
{
    const char *start = *list, *end = start;
    if (!start)
        return NULL;
    for (int quoted = 0; *end && (quoted || *end != ','); end++)
        quoted ^= *end == '"';
    *list = *end ? end + 1 : NULL;
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *size = (size_t)(end - start);
    return start;
}

static const char *copy(ur_arena *arena, const char *text)
{
    return text ? ur_take_copy(arena, text) : NULL;
}

static unrelu_status check_parts(const unrelu_source_options *asked, unrelu_error *err)
{
    enum { MOST = 1 << 20 }; /* more would make parts of a few bytes */
    if (asked->parts > MOST)
        return ur_fail(err, UNRELU_EUSAGE, "`parts` is %zu, where at most %d can be had",
                       asked->parts, MOST);
    if (asked->part >= (asked->parts ? asked->parts : 1))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`part` is %zu of %zu: parts are numbered from 0, up to `parts` less one",
                       asked->part, asked->parts);
    return UNRELU_OK;
}

static const char seen[] = "seen:";

int ur_reading_says_seen(const ur_reading *reading)
{
    const char *text = reading->asked.indicator;
    return text && strncmp(text, seen, sizeof seen - 1) == 0;
}

const char *ur_reading_indicator(const ur_reading *reading)
{
    return reading->asked.indicator + (ur_reading_says_seen(reading) ? sizeof seen - 1 : 0);
}

unrelu_status ur_reading_start(ur_arena *arena, const unrelu_source_options *asked,
                               ur_reading *reading, unrelu_error *err)
{
    unrelu_source_options own = *asked;
    size_t size, most = asked->na ? strlen(asked->na) + 1 : 0;
    own.columns = copy(arena, asked->columns);
    own.indicator = copy(arena, asked->indicator);
    own.uncensored = copy(arena, asked->uncensored);
    own.top = copy(arena, asked->top);
    own.na = copy(arena, asked->na);
    *reading = (ur_reading){.asked = own};
    UR_TRY(check_parts(asked, err));
    if (own.indicator && (!*own.indicator || !strcmp(own.indicator, seen)))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`indicator` is empty: give the end of the names of columns that tell where "
                       "others are limits");
    if (!own.na)
        return ur_arena_status(arena, err);
    reading->na = ur_take(arena, most, sizeof *reading->na);
    reading->tokens = ur_take(arena, most, sizeof *reading->tokens);
    UR_TRY(ur_arena_status(arena, err));
    for (const char *rest = own.na, *item; (item = ur_reading_item(&rest, &size));) {
        int quoted = size >= 2 && *item == '"' && item[size - 1] == '"';
        const char *token = ur_take_text(arena, "%.*s", (int)size - 2 * quoted, item + quoted);
        UR_TRY(ur_arena_status(arena, err));
        if (!*token)
            continue; /* an empty cell is missing anyway */
        if (ur_text_number(token, &reading->na[reading->na_count]))
            reading->na_count++;
        else
            reading->tokens[reading->token_count++] = token;
    }
    return UNRELU_OK;
}

int ur_reading_is_missing(const ur_reading *reading, const unsigned char *start,
                          const unsigned char *end)
{
    size_t size = (size_t)(end - start);
    for (size_t i = 0; i < reading->token_count; i++)
        if (strlen(reading->tokens[i]) == size && memcmp(reading->tokens[i], start, size) == 0)
            return 1;
    return 0;
}

int ur_reading_is_missing_number(const ur_reading *reading, double x)
{
    for (size_t i = 0; i < reading->na_count; i++)
        if (reading->na[i] == x)
            return 1;
    return 0;
}

static unrelu_status view_indicators(const unrelu_source *of, const size_t *which,
                                     unrelu_source *view, unrelu_error *err)
{
    UR_ARENA(arena);
    const size_t *from = of->reading.indicator_of;
    size_t *place = ur_take(&arena, of->d, sizeof *place);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < of->d; j++)
        place[j] = SIZE_MAX;
    for (size_t j = 0; j < view->d; j++)
        place[which[j]] = j;
    for (size_t k = 0; k < of->width; k++)
        view->reading.indicator_of[k] = from[k] == SIZE_MAX ? SIZE_MAX : place[from[k]];
    return UNRELU_OK;
}

unrelu_status ur_reading_view(const unrelu_source *of, const size_t *which, unrelu_source *view,
                              ur_arena *arena, unrelu_error *err)
{
    const ur_reading *from = &of->reading;
    ur_reading *to = &view->reading;
    size_t d = view->d, width = view->width;
    to->uncensored = from->uncensored ? ur_take(arena, d, 1) : NULL;
    to->top = from->top ? ur_take(arena, d, sizeof *to->top) : NULL;
    to->indicator_of = from->indicator_of ? ur_take(arena, width, sizeof *to->indicator_of) : NULL;
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < d; j++) {
        if (from->uncensored)
            to->uncensored[j] = from->uncensored[which[j]];
        if (from->top)
            to->top[j] = from->top[which[j]];
    }
    return from->indicator_of ? view_indicators(of, which, view, err) : UNRELU_OK;
}

/* ---- blocks ---- */

/* a block whose cells can be changed: lent memory stays as it is */
static unrelu_status make_own(ur_block *block, unrelu_error *err)
{
    const double *x = block->x, *upper = block->upper;
    const unsigned char *mark = block->mark;
    size_t stride = block->stride;
    if (x == block->own)
        return UNRELU_OK;
    UR_TRY(ur_block_reserve(block, block->rows, block->d, err));
    for (size_t i = 0; i < block->rows; i++)
        memcpy(block->own + i * block->d, x + i * stride, block->d * sizeof *x);
    block->mark = mark;
    block->upper = upper;
    return UNRELU_OK;
}

static int has_mark(const ur_block *block, size_t cell)
{
    return block->mark && block->mark[cell];
}

static void set_missing(const ur_reading *r, const ur_block *block)
{
    for (size_t cell = 0; cell < block->rows * block->d; cell++)
        if (ur_reading_is_missing_number(r, block->own[cell]) && !has_mark(block, cell))
            block->own[cell] = NAN;
}

static unrelu_status set_top(const unrelu_source *source, ur_block *block, unrelu_error *err)
{
    const ur_reading *r = &source->reading;
    for (size_t cell = 0; cell < block->rows * block->d; cell++) {
        size_t column = cell % block->d;
        char label[160];
        if (!(block->own[cell] >= r->top[column]) || has_mark(block, cell))
            continue;
        if (block->wanted < UR_ALL_MARKS) {
            atomic_store(r->met_top, 1);
            ur_source_column_label(source, column, label, sizeof label);
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: row %zu, %s is at its top code, which only 'unrelu fit', 'check', "
                           "'report' and 'impute' read",
                           source->label, block->first_row + cell / block->d + 1, label);
        }
        UR_TRY(ur_block_mark(block, cell, UR_ABOVE_GIVEN, err));
        block->own[cell] = r->top[column];
    }
    return UNRELU_OK;
}

/* a row with a missing cell is missing as a whole, so that the others keep their places */
static void set_complete(ur_block *block)
{
    size_t d = block->d;
    for (size_t i = 0; i < block->rows; i++) {
        int missing = 0;
        for (size_t cell = i * d; cell < (i + 1) * d && !missing; cell++)
            missing = isnan(block->own[cell]) && !has_mark(block, cell);
        for (size_t cell = i * d; cell < (i + 1) * d && missing; cell++) {
            block->own[cell] = NAN;
            if (block->mark)
                block->own_mark[cell] = 0;
            if (block->upper)
                block->own_upper[cell] = NAN;
        }
    }
}

unrelu_status ur_reading_apply(const unrelu_source *source, ur_block *block, unrelu_error *err)
{
    const ur_reading *r = &source->reading;
    if (!r->na_count && !r->top && !r->asked.complete)
        return UNRELU_OK;
    UR_TRY(make_own(block, err));
    set_missing(r, block);
    if (r->top)
        UR_TRY(set_top(source, block, err));
    if (r->asked.complete)
        set_complete(block);
    return UNRELU_OK;
}
