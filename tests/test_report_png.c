/* SPDX-License-Identifier: Apache-2.0 */
/* The PNG of large heat maps, decoded chunk by chunk. */
#include "pages.h"

#include <zlib.h>

#include "report/png.h"

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    assert_non_null(at);
    return (int)(at - digits);
}

static unsigned char *decode(const char *text, size_t *size)
{
    size_t length = strlen(text), padding = length - strcspn(text, "=");
    assert_true(length % 4 == 0 && padding <= 2);
    unsigned char *bytes = malloc(length), *to = bytes;
    for (size_t i = 0; i < length; i += 4) {
        int all = 0;
        for (size_t k = 0; k < 4; k++)
            all = all << 6 | (text[i + k] == '=' ? 0 : digit_of(text[i + k]));
        *to++ = (unsigned char)(all >> 16);
        *to++ = (unsigned char)(all >> 8);
        *to++ = (unsigned char)all;
    }
    *size = length / 4 * 3 - padding;
    return bytes;
}

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* the next chunk, which must be of this type and whole */
static const unsigned char *chunk(const unsigned char **at, const char *type, size_t *size)
{
    const unsigned char *data = *at + 8;
    *size = number_at(*at);
    assert_memory_equal(*at + 4, type, 4);
    assert_int_equal(number_at(data + *size), crc32(0, *at + 4, (uInt)(4 + *size)));
    *at = data + *size + 4;
    return data;
}

static void check(size_t width, size_t height, const unsigned char *pixels,
                  const cli_colour *colours, size_t count)
{
    cli_page *page = new_page();
    const char *text = cli_png_base64(page, width, height, pixels, colours, count);
    size_t size = 0, part = 0;
    assert_false(page->failed);
    unsigned char *file = decode(text, &size);
    const unsigned char *at = file + 8;
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);

    const unsigned char *head = chunk(&at, "IHDR", &part);
    static const unsigned char indexed[] = {8, 3, 0, 0, 0};
    assert_int_equal(part, 13);
    assert_int_equal(number_at(head), width);
    assert_int_equal(number_at(head + 4), height);
    assert_memory_equal(head + 8, indexed, sizeof indexed);

    const unsigned char *palette = chunk(&at, "PLTE", &part);
    assert_int_equal(part, 3 * count);
    const unsigned char *alpha = chunk(&at, "tRNS", &part);
    assert_int_equal(part, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(palette[3 * i], colours[i].red);
        assert_int_equal(palette[3 * i + 1], colours[i].green);
        assert_int_equal(palette[3 * i + 2], colours[i].blue);
        assert_int_equal(alpha[i], colours[i].alpha);
    }

    const unsigned char *data = chunk(&at, "IDAT", &part);
    uLongf room = (uLongf)((width + 1) * height);
    unsigned char *rows = malloc(room);
    assert_int_equal(uncompress(rows, &room, data, (uLong)part), Z_OK);
    assert_int_equal(room, (width + 1) * height);
    for (size_t i = 0; i < height; i++) {
        assert_int_equal(rows[i * (width + 1)], 0);
        assert_memory_equal(rows + i * (width + 1) + 1, pixels + i * width, width);
    }
    chunk(&at, "IEND", &part);
    assert_int_equal(part, 0);
    assert_ptr_equal(at, file + size);
    free(rows);
    free(file);
    cli_page_drop(page);
}

/* sizes such that base64 ends with 0, 1 and 2 of '=' */
static void pictures_are_what_was_given(void **state)
{
    (void)state;
    cli_colour colours[256];
    unsigned char pixels[40 * 30];
    for (size_t i = 0; i < 256; i++)
        colours[i] = (cli_colour){(unsigned char)i, (unsigned char)(255 - i),
                                  (unsigned char)(7 * i), (unsigned char)(i * i)};
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * i * 31 + i / 7);
    check(40, 30, pixels, colours, 256);
    check(30, 40, pixels, colours, 256);
    for (size_t width = 1; width < 9; width++)
        check(width, 3, pixels, colours, 256);
    memset(pixels, 1, sizeof pixels);
    check(1200, 1, pixels, colours, 2);
    check(1, 1200, pixels, colours, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_are_what_was_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
