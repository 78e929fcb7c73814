/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says of the cells of a source, besides what they say themselves: which columns tell
 * where others are limits, which are of any sign, from where on values are top codes, what stands
 * for a missing cell. Tokens of text are looked at where text is read; all else is done to each
 * block after it was decoded, whatever the format. */
#ifndef UR_READING_H
#define UR_READING_H

#include "base/arena.h"
#include "read/source.h"

#include <stdatomic.h>

typedef struct {
    unrelu_source_options asked; /* its texts are of the source's arena */
    size_t *indicator_of;        /* of the file's columns: which column handed out it tells of, or
                                    SIZE_MAX;        NULL: none tells */
    unsigned char *uncensored;   /* of the columns handed out; NULL: none */
    double *top;                 /* of these, infinite: none; NULL: none */
    double *na;                  /* numbers that stand for a missing cell */
    const char **tokens;         /* texts that do */
    size_t na_count, token_count;
    atomic_int *met_top; /* a value at a top code was refused; NULL without top */
} ur_reading;

/* what is said of the names of columns that tell of others, without "seen:" before it, which says
 * that their TRUE and 1 are of values that were seen */
const char *ur_reading_indicator(const ur_reading *reading);
int ur_reading_says_seen(const ur_reading *reading);
/* copies what was asked, and takes `na` apart */
unrelu_status ur_reading_start(ur_arena *arena, const unrelu_source_options *asked,
                               ur_reading *reading, unrelu_error *err);
/* whether a text is a token for a missing cell */
int ur_reading_is_missing(const ur_reading *reading, const unsigned char *start,
                          const unsigned char *end);
/* and whether a number is */
int ur_reading_is_missing_number(const ur_reading *reading, double x);
unrelu_status ur_reading_apply(const unrelu_source *source, ur_block *block, unrelu_error *err);

/* what is said of the columns `which` (d of the view) of a source, for a view of these */
unrelu_status ur_reading_view(const unrelu_source *of, const size_t *which, unrelu_source *view,
                              ur_arena *arena, unrelu_error *err);

/* Splits "a,b" at commas outside of double quotes: the next item of *list, without blanks around,
 * and its size; NULL after the last. *list is NULL then. */
const char *ur_reading_item(const char **list, size_t *size);

#endif
