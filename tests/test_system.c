/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include "base/system.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static void the_cores_of_this_process_are_counted(void **unused)
{
    (void)unused;
    assert_true(ur_cores() >= 1);
    assert_true(ur_cores_online() >= ur_cores());
#if defined(CPU_COUNT) && !defined(UR_POSIX_ONLY)
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int online = ur_cores_online();
    size_t first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(ur_cores(), 1);
    assert_int_equal(ur_cores_online(), online); /* what systems without affinity are left with */
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
#endif
}

static void check_temporary(int fd, int other)
{
    struct stat info, others;
    char text[4] = "";
    assert_true(fd >= 0 && other >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(fstat(other, &others), 0);
    assert_int_equal(info.st_nlink, 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(info.st_ino != others.st_ino);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(pwrite(fd, "abc", 3, 5), 3);
    assert_int_equal(pread(fd, text, 3, 5), 3);
    assert_string_equal(text, "abc");
    close(fd);
    close(other);
}

static void temporary_files_have_no_name(void **unused)
{
    (void)unused;
    check_temporary(ur_temporary_open(), ur_temporary_open());
    check_temporary(ur_temporary_open_named(), ur_temporary_open_named());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cores_of_this_process_are_counted),
        cmocka_unit_test(temporary_files_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
