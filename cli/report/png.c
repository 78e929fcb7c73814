/* SPDX-License-Identifier: Apache-2.0 */
/* PNG, ISO/IEC 15948: a signature and chunks of {length, type, data, CRC of type and data}. The
 * pixels are 8-bit indices of a palette (PLTE, with opacities in tRNS), each row with the filter
 * "none" before it, all compressed by zlib. */
#include "png.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

enum { SIGNATURE = 8, FRAME = 12, HEADER = 13, PALETTE = 256 };

static unsigned char *put_number(unsigned char *to, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        *to++ = (unsigned char)(value >> shift);
    return to;
}

static unsigned char *put_chunk(unsigned char *to, const char *type, const unsigned char *data,
                                size_t size)
{
    unsigned char *start = put_number(to, (uint32_t)size);
    memcpy(start, type, 4);
    if (size)
        memcpy(start + 4, data, size);
    return put_number(start + 4 + size, (uint32_t)crc32(0, start, (uInt)(4 + size)));
}

static const char *base64(cli_page *page, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = cli_page_take(page, (size + 2) / 3 * 4 + 1, 1), *to = text;
    for (size_t i = 0; text && i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0U;
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < size ? digits[three & 63] : '=';
    }
    return text ? text : "";
}

const char *cli_png_base64(cli_page *page, size_t width, size_t height, const unsigned char *pixels,
                           const cli_colour *colours, size_t count)
{
    unsigned char header[HEADER] = {0}, palette[3 * PALETTE], alpha[PALETTE];
    size_t raw = (width + 1) * height;
    uLongf size = compressBound((uLong)raw);
    unsigned char *rows = cli_page_take(page, raw, 1), *data = cli_page_take(page, size, 1);
    unsigned char *file =
        cli_page_take(page, SIGNATURE + 5 * FRAME + HEADER + 4 * PALETTE + size, 1);
    if (!rows || !data || !file)
        return "";
    put_number(put_number(header, (uint32_t)width), (uint32_t)height);
    header[8] = 8; /* bits of an index */
    header[9] = 3; /* of a palette */
    for (size_t i = 0; i < count; i++) {
        memcpy(palette + 3 * i, &colours[i], 3);
        alpha[i] = colours[i].alpha;
    }
    for (size_t i = 0; i < height; i++)
        memcpy(rows + i * (width + 1) + 1, pixels + i * width, width);
    page->failed |= compress2(data, &size, rows, (uLong)raw, Z_BEST_COMPRESSION) != Z_OK;
    memcpy(file, "\x89PNG\r\n\x1a\n", SIGNATURE);
    unsigned char *to = put_chunk(file + SIGNATURE, "IHDR", header, sizeof header);
    to = put_chunk(to, "PLTE", palette, 3 * count);
    to = put_chunk(to, "tRNS", alpha, count);
    to = put_chunk(to, "IDAT", data, size);
    to = put_chunk(to, "IEND", NULL, 0);
    return base64(page, file, (size_t)(to - file));
}
