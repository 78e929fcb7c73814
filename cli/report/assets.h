/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the build puts into the program: the page's style and script, and the chart library
 * where it could be had. */
#ifndef CLI_REPORT_ASSETS_H
#define CLI_REPORT_ASSETS_H

#include <stddef.h>

typedef struct {
    const char *text;
    size_t size; /* 0: not in this build */
} cli_asset;

cli_asset cli_page_css(void);
cli_asset cli_page_js(void);
cli_asset cli_chart_licences(void);
/* charts/NAME.json: what is the same in every chart of that kind */
cli_asset cli_chart_spec(const char *name);

enum { CLI_CHART_SCRIPTS = 3 };
cli_asset cli_chart_script(size_t i); /* in the order in which a page needs them */
/* the same file at a CDN, with the hash for the integrity attribute */
const char *cli_chart_url(size_t i);
const char *cli_chart_hash(size_t i);

#endif
