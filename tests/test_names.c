/* SPDX-License-Identifier: Apache-2.0 */
/* Which column is which, and which name was meant. */
#include "base/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define LIST(...)                                                                                  \
    (const char *[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void expect(const char *const *found, size_t width, const char *const *wanted, size_t count,
                   ur_names_result result, const size_t *places)
{
    size_t place[8], missing;
    assert_int_equal(ur_names_match(found, width, wanted, count, place, &missing), result);
    for (size_t j = 0; places && j < width; j++)
        assert_int_equal(place[j], places[j]);
}

static void columns_are_found_by_name_and_others_left_out(void **state)
{
    (void)state;
    const char **wanted = LIST("b", "a");
    expect(LIST("a", "b"), 2, wanted, 2, UR_NAMES_FOUND, (size_t[]){1, 0});
    expect(LIST("a", "other", "b"), 3, wanted, 2, UR_NAMES_FOUND, (size_t[]){1, 2, 0});
    expect(LIST("a", "c"), 2, wanted, 2, UR_NAMES_MISSING, NULL);
    expect(LIST("b"), 1, wanted, 2, UR_NAMES_MISSING, NULL);
    size_t place[2], missing;
    ur_names_match(LIST("b", "c"), 2, wanted, 2, place, &missing);
    assert_int_equal(missing, 1);
}

static void names_that_occur_twice_are_taken_in_order(void **state)
{
    (void)state;
    expect(LIST("a", "b", "a"), 3, LIST("a", "a", "b"), 3, UR_NAMES_FOUND, (size_t[]){0, 2, 1});
    expect(LIST("a", "b"), 2, LIST("a", "a"), 2, UR_NAMES_MISSING, NULL);
}

static void without_names_the_place_decides(void **state)
{
    (void)state;
    expect(LIST("x1", "x2"), 2, LIST("a", "b"), 2, UR_NAMES_FOUND, (size_t[]){0, 1});
    expect(LIST("a", "b"), 2, LIST("x1", "x2"), 2, UR_NAMES_FOUND, (size_t[]){0, 1});
    expect(LIST("a", "b"), 2, NULL, 2, UR_NAMES_FOUND, (size_t[]){0, 1});
    expect(LIST("a", "b", "c"), 3, NULL, 2, UR_NAMES_COUNT, NULL);
    expect(LIST("x1", "x2", "x3"), 3, LIST("a", "b"), 2, UR_NAMES_MISSING, NULL);
    /* numbers at other places are names */
    expect(LIST("x1", "x2"), 2, LIST("x2", "x1"), 2, UR_NAMES_FOUND, (size_t[]){1, 0});
}

static void what_is_not_utf_8_is_known_by_its_ascii(void **state)
{
    (void)state;
    assert_true(ur_name_same("temp\xe9rature", "temp\xef\xbf\xbdrature"));
    assert_false(ur_name_same("temp\xe9rature", "tempo\xef\xbf\xbdrature"));
    assert_false(ur_name_same("temp\xc3\xa9rature", "temperature"));
}

static void lists_conflict_where_both_have_names(void **state)
{
    (void)state;
    const char **names = LIST("a", "b", "c");
    assert_int_equal(ur_names_conflict(names, LIST("a", "b", "c"), 3), 3);
    assert_int_equal(ur_names_conflict(names, LIST("x1", "b", "x3"), 3), 3);
    assert_int_equal(ur_names_conflict(names, LIST("a", "x3", "c"), 3), 1);
}

static void expect_nearest(const char *text, const char *meant)
{
    const char **names = LIST("temperature", "pressure", "pH");
    const char *found = ur_names_nearest(names, 3, text, strlen(text));
    assert_int_equal(!found, !meant);
    if (meant)
        assert_string_equal(found, meant);
}

static void slips_of_a_name_are_understood(void **state)
{
    (void)state;
    expect_nearest("temprature", "temperature");
    expect_nearest("PRESSURE", "pressure");
    expect_nearest("ph", "pH");
    expect_nearest("humidity", NULL);
    assert_null(ur_names_nearest(NULL, 0, "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_and_others_left_out),
        cmocka_unit_test(names_that_occur_twice_are_taken_in_order),
        cmocka_unit_test(without_names_the_place_decides),
        cmocka_unit_test(what_is_not_utf_8_is_known_by_its_ascii),
        cmocka_unit_test(lists_conflict_where_both_have_names),
        cmocka_unit_test(slips_of_a_name_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
