/* SPDX-License-Identifier: Apache-2.0 */
#include "allocations.h"

#include "base/arena.h"

static int ended[4], endings;

static void end_one(void *thing)
{
    ended[endings++] = *(int *)thing;
}

static void what_is_taken_is_zero_and_apart(void **state)
{
    (void)state;
    UR_ARENA(arena);
    double *a = ur_take(&arena, 1000, sizeof *a), *b = ur_take(&arena, 10, 100 * sizeof *b);
    char *none = ur_take(&arena, 0, 8);
    assert_non_null(none);
    for (size_t i = 0; i < 1000; i++) {
        assert_true(a[i] == 0 && b[i] == 0);
        a[i] = 1;
        b[i] = 2;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_true(a[i] == 1 && b[i] == 2);
    assert_int_equal(ur_arena_status(&arena, NULL), UNRELU_OK);
}

static void addresses_are_aligned(void **state)
{
    (void)state;
    UR_ARENA(arena);
    for (size_t size = 1; size < 300; size += 7) {
        assert_int_equal((uintptr_t)ur_take(&arena, size, 1) % 16, 0);
        char *line = ur_take_aligned(&arena, size, 1);
        assert_int_equal((uintptr_t)line % 64, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(line[i], 0);
        memset(line, 1, size);
    }
}

static void sizes_out_of_range_fail(void **state)
{
    (void)state;
    unrelu_error err = {0};
    UR_ARENA(arena);
    assert_null(ur_take(&arena, SIZE_MAX / 2, 3));
    assert_int_equal(ur_arena_status(&arena, &err), UNRELU_ENOMEM);
    assert_non_null(strstr(err.text, "than can be counted"));
    UR_ARENA(other);
    assert_null(ur_take_aligned(&other, SIZE_MAX, 1));
    assert_true(ur_arena_failed(&other));
}

static void a_failure_stays_and_is_told(void **state)
{
    (void)state;
    unrelu_error err = {0};
    UR_ARENA(arena);
    atomic_store(&countdown, 2);
    assert_non_null(ur_take(&arena, 5, 1));
    assert_null(ur_take(&arena, 1000000, 1));
    atomic_store(&countdown, 0);
    assert_null(ur_take(&arena, 5, 1));
    assert_string_equal(ur_take_text(&arena, "%d", 1), "");
    assert_string_equal(ur_take_copy(&arena, "text"), "");
    assert_null(ur_take_numbered(&arena, 'x', 3));
    assert_int_equal(ur_arena_status(&arena, &err), UNRELU_ENOMEM);
    assert_non_null(strstr(err.text, "10000"));
}

static void texts_are_whole(void **state)
{
    (void)state;
    char longest[2000];
    UR_ARENA(arena);
    memset(longest, 'y', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *text = ur_take_text(&arena, "%s %d", longest, 7);
    assert_int_equal(strlen(text), sizeof longest + 1);
    assert_string_equal(text + sizeof longest, "7");
    assert_string_equal(ur_take_copy(&arena, longest), longest);
    const char **names = ur_take_numbered(&arena, 'x', 12);
    assert_string_equal(names[0], "x1");
    assert_string_equal(names[11], "x12");
}

static void adopted_things_end_once_and_backwards(void **state)
{
    (void)state;
    int first = 1, second = 2, third = 3;
    endings = 0;
    {
        UR_ARENA(arena);
        assert_ptr_equal(ur_arena_adopt(&arena, &first, end_one), &first);
        ur_arena_adopt(&arena, &second, end_one);
        atomic_store(&countdown, 1);
        assert_null(ur_arena_adopt(&arena, &third, end_one)); /* ended at once */
        atomic_store(&countdown, 0);
        assert_int_equal(endings, 1);
        assert_true(ur_arena_failed(&arena));
    }
    assert_int_equal(endings, 3);
    assert_int_equal(ended[0], 3);
    assert_int_equal(ended[1], 2);
    assert_int_equal(ended[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_zero_and_apart),
        cmocka_unit_test(addresses_are_aligned),
        cmocka_unit_test(sizes_out_of_range_fail),
        cmocka_unit_test(a_failure_stays_and_is_told),
        cmocka_unit_test(texts_are_whole),
        cmocka_unit_test(adopted_things_end_once_and_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
