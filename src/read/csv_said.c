/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_said.h"

#include "base/limits.h"

#include <string.h>
#include <strings.h>

ur_said ur_csv_said(const ur_reading *reading, locale_t c_locale, const ur_cell *cell)
{
    static const struct {
        ur_said says;
        const char *word;
        int truth;
    } words[] = {{UR_SAYS_SEEN, "", 0},
                 {UR_SAYS_SEEN, "FALSE", 1},
                 {UR_SAYS_SEEN, "F", 1},
                 {UR_SAYS_SEEN, "NO", 1},
                 {UR_SAYS_SEEN, "N", 1},
                 {UR_SAYS_SEEN, "=", 0},
                 {UR_SAYS_SEEN, "E", 0},
                 {UR_SAYS_SEEN, "J", 0},
                 {UR_SAYS_BELOW, "TRUE", 1},
                 {UR_SAYS_BELOW, "T", 1},
                 {UR_SAYS_BELOW, "YES", 1},
                 {UR_SAYS_BELOW, "Y", 1},
                 {UR_SAYS_BELOW, "<", 0},
                 {UR_SAYS_BELOW, "<=", 0},
                 {UR_SAYS_BELOW, "\xe2\x89\xa4", 0},
                 {UR_SAYS_BELOW, "U", 0},
                 {UR_SAYS_BELOW, "UJ", 0},
                 {UR_SAYS_BELOW, "ND", 0},
                 {UR_SAYS_BELOW, "BDL", 0},
                 {UR_SAYS_ABOVE, ">", 0},
                 {UR_SAYS_ABOVE, ">=", 0},
                 {UR_SAYS_ABOVE, "\xe2\x89\xa5", 0}};
    size_t size = (size_t)(cell->end - cell->start);
    const char *text = (const char *)cell->start;
    double value, upper;
    /* TRUE and 1 may mean that a value was seen */
    int turned = ur_reading_says_seen(reading);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == size && strncasecmp(words[i].word, text, size) == 0)
            return !turned || !words[i].truth      ? words[i].says
                   : words[i].says == UR_SAYS_SEEN ? UR_SAYS_BELOW
                                                   : UR_SAYS_SEEN;
    if (size > UR_CELL_MOST)
        return UR_SAYS_NOTHING;
    if (ur_reading_is_missing(reading, cell->start, cell->end))
        return UR_SAYS_MISSING;
    ur_cell_kind kind = ur_cell_read(cell, c_locale, &value, &upper);
    if (kind == UR_CELL_MISSING)
        return UR_SAYS_MISSING;
    if (kind == UR_CELL_NUMBER && (value == 0 || value == 1))
        return (value == 1) != turned ? UR_SAYS_BELOW : UR_SAYS_SEEN;
    if (kind == UR_CELL_NUMBER && ur_reading_is_missing_number(reading, value))
        return UR_SAYS_MISSING;
    return UR_SAYS_NOTHING;
}
