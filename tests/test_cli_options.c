/* SPDX-License-Identifier: Apache-2.0 */
/* Options that a command hands to the library: what --help says they may be is what the library
 * takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"

typedef int list_options(size_t i, unrelu_option *out);

static const char *values_of(list_options *list, const char *name)
{
    unrelu_option option;
    for (size_t i = 0; list(i, &option); i++)
        if (strcmp(option.name, name) == 0)
            return option.values;
    fail_msg("the library has no option '%s'", name);
    return NULL;
}

static size_t check_rows(const cli_command *command, list_options *list)
{
    size_t count = 0;
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) {
        if (o->kind != CLI_LIBRARY)
            continue;
        assert_string_equal(o->arg, values_of(list, o->name));
        count++;
    }
    return count;
}

static void help_and_library_have_the_same_words(void **state)
{
    (void)state;
    assert_int_equal(check_rows(&cli_fit, unrelu_gaussian_option), 11);
    assert_int_equal(check_rows(&cli_recover, unrelu_recover_option), 8);
    assert_int_equal(check_rows(&cli_unmix, unrelu_unmix_option), 1);
}

static void only_commands_with_a_setter_hand_over(void **state)
{
    (void)state;
    const cli_option *o;
    for (size_t c = 0; c < cli_command_count; c++)
        for (size_t i = 0; (o = cli_option_at(cli_commands[c], i)); i++)
            if (o->kind == CLI_LIBRARY)
                assert_true(cli_commands[c]->start && cli_commands[c]->set && o->arg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_library_have_the_same_words),
        cmocka_unit_test(only_commands_with_a_setter_hand_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
