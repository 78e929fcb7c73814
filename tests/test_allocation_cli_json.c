/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says in JSON and in tables, with each allocation failing in turn: all of it, or
 * not enough memory, and never a part of it as if it were all. */
#include "allocations.h"

#include "reproduce/study.h"

static study planned;
static char *right; /* the text without a failure */
static size_t right_length;

static unrelu_status out_of_memory(unrelu_error *err)
{
    snprintf(err->text, sizeof err->text, "not enough memory");
    return UNRELU_ENOMEM;
}

/* the first text is the right one, every other must be the same */
static unrelu_status judge(cli_json *json, unrelu_error *err)
{
    size_t length;
    char *text = cli_json_dump(json, &length);
    if (!text)
        return out_of_memory(err);
    if (!right) {
        right = text;
        right_length = length;
        return UNRELU_OK;
    }
    int same = length == right_length && memcmp(text, right, length) == 0;
    unrelu_free(text);
    assert_true(same);
    return UNRELU_OK;
}

static unrelu_status write_study(unrelu_error *err)
{
    cli_json json = cli_study_json(&planned);
    return judge(&json, err);
}

static unrelu_status write_names(unrelu_error *err)
{
    static const char *names[] = {"\xc3\xa9", "b"}; /* e with an accent, in UTF-8 */
    static uint32_t flags[2];
    unrelu_gaussian model = {.d = 2, .n = 3, .names = names, .flags = flags};
    cli_json json = cli_json_start("show");
    cli_json_gaussian(&json, &model);
    return judge(&json, err);
}

static unrelu_status print_study(unrelu_error *err)
{
    FILE *shown = stdout;
    stdout = tmpfile();
    assert_non_null(stdout);
    int status = cli_study_print(&planned);
    size_t length = (size_t)ftell(stdout);
    fclose(stdout);
    stdout = shown;
    if (status != 0)
        return out_of_memory(err);
    if (!right_length)
        right_length = length;
    assert_int_equal(length, right_length);
    return UNRELU_OK;
}

static void try_it(scenario run)
{
    unrelu_error err = {0};
    right = NULL;
    right_length = 0;
    must(run(&err), &err);
    exhaust(run);
    unrelu_free(right);
}

static void the_json_of_a_study_is_whole(void **state)
{
    (void)state;
    cli_study_plan(&planned, &cli_study_figure1, 0, 1, 1);
    try_it(write_study);
}

static void names_are_not_lost(void **state)
{
    (void)state;
    try_it(write_names);
    assert_int_equal(unrelu_memory_used(), 0);
}

static void tables_are_not_lost(void **state)
{
    (void)state;
    cli_study_plan(&planned, &cli_study_figure1, 0, 1, 1);
    try_it(print_study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_json_of_a_study_is_whole),
                                       cmocka_unit_test(names_are_not_lost),
                                       cmocka_unit_test(tables_are_not_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
