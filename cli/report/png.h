/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of few colours as a PNG, for a data: address. */
#ifndef CLI_REPORT_PNG_H
#define CLI_REPORT_PNG_H

#include <stddef.h>

#include "page.h"

typedef struct {
    unsigned char red, green, blue, alpha; /* alpha 0: transparent, 255: opaque */
} cli_colour;

/* pixels: width x height indices of the count (up to 256) colours, row by row. Returns the file
 * in base64, which lives as long as the page; "" where memory ran out. */
const char *cli_png_base64(cli_page *page, size_t width, size_t height, const unsigned char *pixels,
                           const cli_colour *colours, size_t count);

#endif
