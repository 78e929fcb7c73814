/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_total.h"

#include <string.h>
#include <strings.h>

int ur_csv_is_total(const ur_cell *cell)
{
    static const char *const words[] = {"total", "totals", "grand total", "subtotal",
                                        "sum",   "mean",   "average"};
    size_t size = (size_t)(cell->end - cell->start);
    if (size == 0 || !strchr("TtGgSsMmAa", *cell->start))
        return 0;
    size -= cell->start[size - 1] == ':';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && strncasecmp(words[i], (const char *)cell->start, size) == 0)
            return 1;
    return 0;
}
