/* SPDX-License-Identifier: Apache-2.0 */
/* The default of --max-memory, on planted files of control groups; what is said where it is short.
 */
#include "files.h"

#include "escape.h"
#include "memory_default.h"
#include "show/model_text.h"
#include "talk.h"

#include <sys/stat.h>

static const char *folder(const char *name)
{
    const char *path = files_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static size_t limit_of(const char *lines)
{
    char cgroup[512], root[512];
    strcpy(cgroup, files_text("cgroup", lines));
    strcpy(root, files_path("fs"));
    return cli_memory_of_group(cgroup, root);
}

static void the_smallest_limit_on_the_way_up_counts(void **state)
{
    (void)state;
    folder("fs");
    folder("fs/jobs");
    folder("fs/jobs/42");
    files_text("fs/jobs/memory.max", "3000000\n");
    files_text("fs/jobs/42/memory.max", "max\n");
    assert_int_equal(limit_of("0::/jobs/42\n"), 3000000);
    files_text("fs/jobs/42/memory.max", "2000000\n");
    assert_int_equal(limit_of("0::/jobs/42\n"), 2000000);
    assert_int_equal(limit_of("0::/jobs\n"), 3000000);
    assert_true(limit_of("0::/\n") == SIZE_MAX);
    files_text("fs/memory.max", "1000\n"); /* of a container, which sees itself as the root */
    assert_int_equal(limit_of("0::/\n"), 1000);
    assert_int_equal(limit_of("0::/jobs/42\n"), 1000);
}

static void groups_of_version_1_count_too(void **state)
{
    (void)state;
    folder("fs/memory");
    folder("fs/memory/batch");
    files_text("fs/memory.max", "max\n");
    files_text("fs/memory/batch/memory.limit_in_bytes", "123456789\n");
    files_text("fs/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    assert_int_equal(limit_of("5:cpu,cpuacct:/batch\n4:memory:/batch\n0::/\n"), 123456789);
    assert_true(limit_of("5:cpu,cpuacct:/batch\n4:memory:/\n") == SIZE_MAX);
}

static void what_cannot_be_read_is_no_limit(void **state)
{
    (void)state;
    assert_true(limit_of("") == SIZE_MAX);
    assert_true(limit_of("nonsense\n0:\n::") == SIZE_MAX);
    assert_true(cli_memory_of_group("/nowhere", "/nowhere") == SIZE_MAX);
}

static void three_quarters_of_this_machine_are_the_most(void **state)
{
    (void)state;
    size_t total = 0, kilobytes = cli_memory_default() / 1024;
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file || fscanf(file, "MemTotal: %zu", &total) != 1)
        total = 0;
    if (file)
        fclose(file);
    if (total == 0)
        skip();
    assert_in_range(kilobytes, 1, total / 4 * 3 + 4);
}

/* what is said on standard error where memory ends under this limit */
static const char *said(size_t limit)
{
    static char text[512];
    FILE *file = fopen(files_path("stderr"), "w+");
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    unrelu_memory_limit(limit);
    int status = cli_no_memory_for("the page");
    unrelu_memory_limit(0);
    dup2(before, STDERR_FILENO);
    close(before);
    assert_int_equal(status, CLI_EXIT_INTERNAL);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void the_limit_is_blamed_only_where_there_is_one(void **state)
{
    (void)state;
    assert_string_equal(said(4096),
                        "unrelu: not enough memory for the page: 0 bytes are in use, and "
                        "--max-memory is 4096\n");
    assert_string_equal(said(0), "unrelu: not enough memory for the page: 0 bytes are in use, and "
                                 "the system gives no more\n");
}

/* and the command ends with exit status 1 */
static void correlations_that_memory_is_too_short_for_are_not_left_out_in_silence(void **state)
{
    (void)state;
    double correlation[] = {1, 0.5, 0.5, 1};
    unrelu_gaussian model = {.d = 2, .correlation = correlation};
    assert_false(cli_print_lost());
    unrelu_memory_limit(1);
    cli_print_correlations(&model, 2, NULL);
    unrelu_memory_limit(0);
    assert_true(cli_print_lost());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_limit_on_the_way_up_counts),
        cmocka_unit_test(groups_of_version_1_count_too),
        cmocka_unit_test(what_cannot_be_read_is_no_limit),
        cmocka_unit_test(three_quarters_of_this_machine_are_the_most),
        cmocka_unit_test(the_limit_is_blamed_only_where_there_is_one),
        cmocka_unit_test(correlations_that_memory_is_too_short_for_are_not_left_out_in_silence),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
