/* SPDX-License-Identifier: Apache-2.0 */
/* What of a text reaches a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "table.h"
#include "width.h"

static void harmful_characters_are_spelt_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"lead", "lead"},
        {"dose, mg \xc2\xb5 \xe6\xb0\xb4 \xf0\x9f\x92\xa7",
         "dose, mg \xc2\xb5 \xe6\xb0\xb4 \xf0\x9f\x92\xa7"},
        {"a\\x1b", "a\\x1b"},
        {"\x1b[2J\x07", "\\x1b[2J\\x07"},
        {"\x7f\r", "\\x7f\\x0d"},
        {"\xc2\x85\xc2\x9b", "\\u0085\\u009b"}, /* C1: next line, CSI */
        {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae",
         "\\u202a\\u202b\\u202c\\u202d\\u202e"},
        {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069"},
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
        {"\xff\xc3(\xe2\x82", "\\xff\\xc3(\\xe2\\x82"},           /* no UTF-8 */
        {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"},    /* too long; a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},             /* beyond U+10FFFF */
        {"\xe2\x80\xaf\xe2\x80\xa7", "\xe2\x80\xaf\xe2\x80\xa7"}, /* their neighbours are fine */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[200], *shown = NULL;
        size_t size;
        cli_escape(out, sizeof out, cases[i].text);
        assert_string_equal(out, cases[i].shown);
        FILE *stream = open_memstream(&shown, &size);
        int width = cli_show_text(stream, cases[i].text, strlen(cases[i].text));
        fclose(stream);
        assert_string_equal(shown, cases[i].shown);
        assert_int_equal(width, cli_text_width(shown, size)); /* of what is shown */
        free(shown);
    }
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    char out[8];
    cli_escape(out, sizeof out, "ab\x1b\x1b");
    assert_string_equal(out, "ab\\x1b");
    cli_escape(out, sizeof out, "abcdef\xc2\xb5");
    assert_string_equal(out, "abcdef");
}

/* a name is cut by what is shown of it, and its column is as wide as that */
static void columns_of_tables_are_as_wide_as_what_is_shown(void **state)
{
    (void)state;
    static cli_table table;
    cli_table_start(&table, 1);
    cli_table_add_name(&table, "\x1b[31mred");
    assert_int_equal(cli_table_width(&table), 2 + 11);
    cli_table_add_name(&table, "\x1b\x1b\x1b\x1b\x1b\x1b");
    assert_string_equal(table.cell[1], "\\x1b\\x1b\\x1b\\x1b\\...");
    assert_int_equal(cli_table_width(&table), 2 + 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmful_characters_are_spelt_out),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(columns_of_tables_are_as_wide_as_what_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
