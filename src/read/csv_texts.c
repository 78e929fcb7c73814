/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_texts.h"

#include "base/error.h"
#include "base/memory.h"
#include "read/csv_cell.h"

#include <string.h>

static unrelu_status reserve(ur_texts *t, size_t more, unrelu_error *err)
{
    if (more <= t->capacity - t->size)
        return UNRELU_OK;
    size_t wanted = t->size + more;
    wanted += wanted / 2;
    char *grown = ur_resize(t->bytes, wanted);
    if (!grown)
        return ur_fail_memory(err, wanted, "bytes of other columns");
    t->bytes = grown;
    t->capacity = wanted;
    return UNRELU_OK;
}

/* as ur_cell_name: "" is one quote, and a NUL would end the text */
static void add(ur_texts *t, const ur_cell *cell)
{
    for (const unsigned char *s = cell->start; s < cell->end; s++) {
        t->bytes[t->size++] = *s ? (char)*s : '?';
        if (*s == '"' && s + 1 < cell->end && s[1] == '"')
            s++;
    }
    t->bytes[t->size++] = '\0';
}

unrelu_status ur_csv_add_texts(const ur_piece *piece, unsigned char separator, ur_texts *t,
                               unrelu_error *err)
{
    const unsigned char *s = piece->bytes, *end = s + piece->size;
    for (; s < end; s++) {
        const unsigned char *feed = memchr(s, '\n', (size_t)(end - s));
        if (ur_is_blank_line(s, separator)) {
            s = feed;
            continue;
        }
        UR_TRY(reserve(t, (size_t)(feed - s) + t->columns, err));
        for (size_t j = 0; j < t->columns; j++) {
            ur_cell cell = ur_cell_find(s, separator);
            if (t->place[j] == SIZE_MAX)
                add(t, &cell);
            s = *cell.next == '\n' ? cell.next : cell.next + 1; /* of a short line the rest is "" */
        }
        s = feed;
        t->rows++;
    }
    return UNRELU_OK;
}
