/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sources, by name. */
#include "model/options.h"

#include <stddef.h>

#define AT(field) offsetof(unrelu_source_options, field)

static const ur_option table[] = {
    {"columns", UR_OPTION_TEXT, AT(columns), "LIST", 0, 0, "a list of columns", NULL},
    {"single-pass", UR_OPTION_YES, AT(single_pass), NULL, 0, 0, "yes or no", NULL},
    {"indicator", UR_OPTION_TEXT, AT(indicator), "SUFFIX", 0, 0, "the end of a column's name",
     NULL},
    {"uncensored", UR_OPTION_TEXT, AT(uncensored), "NAMES", 0, 0, "a list of columns", NULL},
    {"top", UR_OPTION_TEXT, AT(top), "V|NAME=V", 0, 0, "a number, or NAME=V with commas between",
     NULL},
    {"na", UR_OPTION_TEXT, AT(na), "TOKEN", 0, 0, "what stands for a missing cell", NULL},
    {"complete", UR_OPTION_YES, AT(complete), NULL, 0, 0, "yes or no", NULL},
    {"part", UR_OPTION_SIZE, AT(part), "N", 0, 1 << 20, "a whole number, from 0", NULL},
    {"parts", UR_OPTION_SIZE, AT(parts), "N", 0, 1 << 20, "how many parts there are", NULL},
    {0},
};

unrelu_status unrelu_source_options_set(unrelu_source_options *options, const char *name,
                                        const char *value, unrelu_error *err)
{
    return ur_option_set(table, options, name, value, err);
}

int unrelu_source_option(size_t i, unrelu_option *out)
{
    return ur_option_show(table, i, out);
}
