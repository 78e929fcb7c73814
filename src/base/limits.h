/* SPDX-License-Identifier: Apache-2.0 */
/* What a file may hold at most. Whoever goes beyond is refused with the place, the value found and
 * the limit, before anything of that size is allocated. docs/formats.md ("Limits") lists them. */
#ifndef UR_LIMITS_H
#define UR_LIMITS_H

#include "unrelu/unrelu.h"

enum {
    /* of samples, models and summaries: 8 d^2 sums of more would fit in no memory */
    UR_COLUMNS_MOST = 1 << 20,
    /* bytes of a column's name: questions of a survey take some hundreds */
    UR_NAME_MOST = 4096,
    /* bytes of a line of text: 64 for each of the most columns */
    UR_LINE_MOST = 64 << 20,
    /* bytes of a cell that is read as a number; the digits of a double take 1077 at most */
    UR_CELL_MOST = 4096,
    /* bytes of blank lines in a row, before the first row, between rows, and at the end; and of
     * remarks above a table */
    UR_BLANK_MOST = 64 << 20,
    /* members of an archive */
    UR_MEMBERS_MOST = 1 << 16,
    /* All members of an archive unpacked, over the bytes of its file, where they are kept: models,
     * summaries, samples in Fortran order. Numbers that were measured shrink to a half; our own
     * files are not compressed at all. */
    UR_EXPANSION_MOST = 50,
    /* bytes unpacked below which any ratio is fine */
    UR_EXPANSION_FREE = 16 << 20,
    /* bytes of the header of a .safetensors file, which is kept: of 60,000 arrays */
    UR_TENSORS_HEADER_MOST = 8 << 20,
    /* characters of a text that is no name: kind, a sentence, a list of flags, a fraction */
    UR_TEXT_MOST = 1 << 16,
    /* warnings of a model */
    UR_WARNINGS_MOST = 1000,
    /* bytes of a formula: its instance, a dense matrix, is far larger */
    UR_FORMULA_MOST = 64 << 20,
};

/* refuses more than UR_COLUMNS_MOST */
unrelu_status ur_columns_check(const char *label, size_t columns, unrelu_error *err);

#endif
