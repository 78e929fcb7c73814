/* SPDX-License-Identifier: Apache-2.0 */
/* One HTML page that needs nothing beside it: style, script and charts are inside. Where memory
 * runs out on the way the page has failed: nothing is added any more, and saving says so. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stddef.h>

typedef struct {
    char *body; /* `size` bytes of text, and a zero byte; NULL: none yet */
    size_t size, room;
    const char *title;       /* escaped */
    size_t charts;           /* so far; they begin with <figure class="chart"> */
    struct cli_piece *taken; /* by cli_page_take */
    int failed;
} cli_page;

/* Returns page, which ends with one of the two below. */
cli_page *cli_page_open(cli_page *page, const char *title);
/* Writes beside path and renames; returns the exit status. size (may be NULL): bytes that were
 * written. */
int cli_page_save(cli_page *page, const char *path, size_t *size);
void cli_page_drop(cli_page *page); /* unsaved */

/* Taken as it stands: text that a file gave is escaped first. */
void cli_html(cli_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what lives as long as the page ---- */
/* count elements of size bytes, zeroed; NULL: the page has failed */
void *cli_page_take(cli_page *page, size_t count, size_t size);
/* as printf has it; "" where memory runs out */
const char *cli_text(cli_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* cut, where it has more characters than `most` (0: any number is fine), to these, with "…" in
 * the middle: names often differ at their ends */
const char *cli_shortened(cli_page *page, const char *text, size_t most);
/* For cli_html; bytes that are no text become '?'. "" where memory runs out. */
const char *cli_escaped(cli_page *page, const char *text);

#endif
