/* SPDX-License-Identifier: Apache-2.0 */
/* One HTML page that needs nothing beside it: style, script and charts are inside. Where memory
 * runs out on the way, saving says so; all functions take a page of NULL. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stddef.h>

typedef struct cli_page cli_page;

cli_page *cli_page_open(const char *title);
/* Taken as it stands: text that a file gave is escaped first. */
void cli_page_html(cli_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text and what printf makes of it, escaped, for an argument of cli_page_html; bytes that are no
 * text become '?'. They live as long as the page, and are "" where memory runs out. */
const char *cli_page_escaped(cli_page *page, const char *text);
const char *cli_say(cli_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* count elements of size bytes, zeroed, that live as long as the page; NULL: the page failed. */
void *cli_page_take(cli_page *page, size_t count, size_t size);
void cli_page_fail(cli_page *page); /* memory ran out elsewhere */

/* The number of one more chart, from 1 on; charts begin with <figure class="chart">. */
size_t cli_page_next_chart(cli_page *page);
size_t cli_page_charts(const cli_page *page); /* so far */

/* Writes beside path and renames; frees the page; returns the exit status. size (may be NULL):
 * bytes that were written. */
int cli_page_save(cli_page *page, const char *path, size_t *size);
void cli_page_drop(cli_page *page); /* frees it unsaved */

#endif
