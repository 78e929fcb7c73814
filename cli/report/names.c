/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "chart.h"
#include "width.h"

enum { CUT = 60 };

const char *cli_name_of(const cli_names *names, size_t i, char *text)
{
    size_t at = names->which ? names->which[i] : i;
    if (names->names)
        snprintf(text, CLI_NAME, "%.*s", (int)cli_text_cut(names->names[at], CUT),
                 names->names[at]);
    else
        snprintf(text, CLI_NAME, "%s%zu", names->letter, at + 1);
    return text;
}
