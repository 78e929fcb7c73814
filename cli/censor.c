/* SPDX-License-Identifier: Apache-2.0 */
#include "censor.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "talk.h"

static size_t count_commas(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

int cli_parse_limits(const char *text, double **limits, size_t *count)
{
    *limits = NULL;
    *count = 0;
    if (!text)
        return 1;
    char *copy = strdup(text), *rest = copy, *item;
    *limits = malloc((count_commas(text) + 1) * sizeof **limits);
    int good = copy && *limits;
    if (!good)
        cli_error("not enough memory");
    while (good && (item = strsep(&rest, ",")))
        good = cli_parse_real("--censor-at", item, -DBL_MAX, DBL_MAX, "a number",
                              &(*limits)[(*count)++]);
    free(copy);
    return good;
}
