/* SPDX-License-Identifier: Apache-2.0 */
/* The command that writes pages, with each of its allocations failing in turn: it says so and
 * leaves no page, or does without. */
#include "allocations.h"
#include "files.h"

#include "cli.h"
#include "talk.h"

enum { MOST = 20 };

/* words are split at blanks; the files are in the scratch directory, where the test is */
static int run(const cli_command *command, const char *line)
{
    char words[256], *argv[MOST + 1] = {NULL}, *rest = words;
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *word; argc < MOST && (word = strsep(&rest, " "));)
        argv[argc++] = word;
    return cli_run(command, argc, argv);
}

static unrelu_status report(const char *line, unrelu_error *err)
{
    remove("page.html");
    int status = run(&cli_report, line);
    assert_int_equal(status == 0, access("page.html", F_OK) == 0);
    snprintf(err->text, sizeof err->text, "exit status %d", status);
    return status == 0                   ? UNRELU_OK
           : status == CLI_EXIT_INTERNAL ? UNRELU_ENOMEM
           : status == CLI_EXIT_FILE     ? UNRELU_EIO
                                         : UNRELU_EUSAGE;
}

static unrelu_status report_with_samples(unrelu_error *err)
{
    return report("report -q two.npz two/x.npy --threads 1 -o page.html", err);
}
static unrelu_status report_many_columns(unrelu_error *err)
{
    return report("report -q many/truth.npz -o page.html", err);
}
static unrelu_status report_network(unrelu_error *err)
{
    return report("report -q net/truth.npz net/x.npy net/a.npy --threads 1 -o page.html", err);
}
static unrelu_status report_mixture(unrelu_error *err)
{
    return report("report -q mix/truth.npz -o page.html", err);
}

static void pages_survive_a_failed_allocation(void **state)
{
    (void)state;
    assert_int_equal(run(&cli_generate, "generate gaussian -q -d 2 -n 60 -o two"), 0);
    assert_int_equal(run(&cli_generate, "generate gaussian -q -d 40 -n 5 -o many"), 0);
    assert_int_equal(run(&cli_generate, "generate network -q -d 3 -k 2 -m 2 -n 20 -o net"), 0);
    assert_int_equal(run(&cli_generate, "generate mixture -q -d 4 -p 2 -n 5 -o mix"), 0);
    assert_int_equal(run(&cli_fit, "fit -q two/x.npy --rank 2 -o two.npz"), 0);
    exhaust(report_with_samples);
    exhaust(report_many_columns);
    exhaust(report_network);
    exhaust(report_mixture);
}

static int enter_directory(void **state)
{
    return files_setup(state) == 0 ? chdir(files_directory) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_survive_a_failed_allocation)};
    return cmocka_run_group_tests(tests, enter_directory, files_teardown);
}
