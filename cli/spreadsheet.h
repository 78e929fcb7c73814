/* SPDX-License-Identifier: Apache-2.0 */
/* A spreadsheet that opens a CSV file runs a cell that begins with =, +, - or @ as a formula. Names
 * of columns come from files of others; they are written as they are, so that they match, unless
 * --spreadsheet-safe asks for an apostrophe before such a name, which spreadsheets take for text.
 */
#ifndef CLI_SPREADSHEET_H
#define CLI_SPREADSHEET_H

#include <stddef.h>

#include "cli.h"

/* the row of a command's table; its field is the int `field` of the type */
#define CLI_SPREADSHEET_ROW(type, field)                                                           \
    {                                                                                              \
        "spreadsheet-safe", 0, NULL,                                                               \
            "in CSV put an apostrophe before names of columns, and texts that are passed on, "     \
            "that a "                                                                              \
            "spreadsheet would run as formulas: those that begin with =, +, - or @",               \
            CLI_TO(CLI_FLAG, type, field)                                                          \
    }

/* The names with apostrophes where they need them, in one piece of memory for free; NULL where
 * memory ends. */
const char **cli_safe_names(const char *const *names, size_t count);

#endif
