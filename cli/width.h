/* SPDX-License-Identifier: Apache-2.0 */
/* Text that fits a terminal. */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include <stddef.h>

/* Characters of a line: one less than COLUMNS, or than 80 where that is not set. */
int cli_width(void);
/* Characters of the first `length` bytes of UTF-8. */
int cli_text_width(const char *text, size_t length);
/* Bytes of the first `most` characters, or of all where there are fewer. */
size_t cli_text_cut(const char *text, size_t most);
/* Prints text to its end and ends the line, breaking lines at blanks where they get too long.
 * column: where the line stands now; indent: where the words start, on the next lines too. Line
 * breaks of the text stay. */
void cli_print_wrapped(const char *text, int column, int indent);

#endif
