/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others on a terminal: names, words and paths come from files. Characters that would move
 * the cursor, colour or turn what is shown around are spelt out: control characters and bytes that
 * are no UTF-8 as \x1b, marks of direction and separators of lines as \u202e. JSON and pages have
 * escapes of their own. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* as much as fits, ended by a zero, never half a character */
void cli_escape(char *out, size_t size, const char *text);
/* whether all of it is UTF-8 */
int cli_is_utf8(const char *text);
/* The first `length` bytes to a stream; line feeds stay. Returns the characters that were shown.
 * stream NULL: counts them only. */
int cli_show_text(FILE *stream, const char *text, size_t length);
/* As printf, through cli_show_text: for whatever holds text of others. */
int cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* whether memory ended in one of these, or somebody left out for want of it what he was to print */
int cli_print_lost(void);
void cli_print_lose(void);

#endif
