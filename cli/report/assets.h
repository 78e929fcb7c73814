/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the build puts into the program, each with a zero byte after it. */
#ifndef CLI_REPORT_ASSETS_H
#define CLI_REPORT_ASSETS_H

extern const char cli_page_css[], cli_page_js[];

#endif
