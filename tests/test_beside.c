/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "write/beside.h"
#include "write/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { SOMEBODY = 54321 }; /* a user and a group that are not ours */

/* entries of the scratch directory whose names begin so */
static size_t count(const char *prefix)
{
    size_t found = 0;
    DIR *directory = opendir(files_directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        found += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(directory);
    return found;
}

static void write_text(const char *path, const char *text)
{
    unrelu_error err = {0};
    if (unrelu_file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static void expect_text(const char *path, const char *text)
{
    size_t size;
    unsigned char *found = files_read(path, &size);
    assert_string_equal((char *)found, text);
    free(found);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

/* last written to so many seconds ago; of a link itself */
static void make_old(const char *path, time_t seconds)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= seconds;
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* A child that has a file open, with a name or without one, and waits; *name: its path. */
static pid_t writer(int named, char *name, size_t size)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        ur_beside b;
        int why = (named ? ur_beside_open_named : ur_beside_open)(&b, files_directory, 0666);
        if (why == 0 && write(b.fd, "half", 4) == 4 && write(ready[1], b.name, sizeof b.name) > 0)
            pause();
        _exit(1);
    }
    char told[sizeof((ur_beside *)0)->name] = "";
    close(ready[1]);
    assert_int_equal(read(ready[0], told, sizeof told), sizeof told);
    close(ready[0]);
    snprintf(name, size, "%s%s%s", told[0] ? files_directory : "", told[0] ? "/" : "", told);
    return pid;
}

static void kill_writer(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void a_killed_writer_leaves_nothing_where_files_need_no_name(void **state)
{
    (void)state;
    char name[600];
    pid_t pid = writer(0, name, sizeof name);
    size_t before = count(".unrelu-");
    kill_writer(pid);
    if (*name) {
        unlink(name);
        skip(); /* this file system has no O_TMPFILE */
    }
    assert_int_equal(before, 0);
    assert_int_equal(count(".unrelu-"), 0);
}

static void what_a_killed_writer_left_is_taken_away_once_it_is_old(void **state)
{
    (void)state;
    char name[600];
    kill_writer(writer(1, name, sizeof name));
    write_text(files_path("a.txt"), "a");
    assert_int_equal(access(name, F_OK), 0); /* too young */
    make_old(name, UR_BESIDE_LEFT_SECONDS - 60);
    write_text(files_path("a.txt"), "a");
    assert_int_equal(access(name, F_OK), 0);
    make_old(name, UR_BESIDE_LEFT_SECONDS + 60);
    write_text(files_path("a.txt"), "a");
    assert_int_equal(access(name, F_OK), -1);
    expect_text(files_path("a.txt"), "a");
}

static void the_file_of_a_living_writer_stays_however_old_it_is(void **state)
{
    (void)state;
    char name[600];
    pid_t pid = writer(1, name, sizeof name);
    make_old(name, 100 * UR_BESIDE_LEFT_SECONDS);
    write_text(files_path("a.txt"), "a");
    assert_int_equal(access(name, F_OK), 0);
    kill_writer(pid);
    write_text(files_path("a.txt"), "a");
    assert_int_equal(access(name, F_OK), -1);
}

static void what_is_not_ours_stays(void **state)
{
    (void)state;
    static const char *const names[] = {
        ".unrelu-0123456789abcde.tmp",  ".unrelu-0123456789abcdef0.tmp",
        ".unrelu-0123456789abcdeg.tmp", ".unrelu-0123456789abcdef.tmp2",
        "unrelu-0123456789abcdef.tmp",  ".unrelu-0123456789ABCDEF.tmp",
    };
    enum { NAMES = sizeof names / sizeof *names };
    for (size_t i = 0; i < NAMES; i++)
        make_old(files_text(names[i], "x"), 100 * UR_BESIDE_LEFT_SECONDS);
    char link[600], folder[600], foreign[600];
    snprintf(link, sizeof link, "%s/.unrelu-00000000000000aa.tmp", files_directory);
    snprintf(folder, sizeof folder, "%s/.unrelu-00000000000000bb.tmp", files_directory);
    snprintf(foreign, sizeof foreign, "%s/.unrelu-00000000000000cc.tmp", files_directory);
    assert_int_equal(symlink(files_path(names[0]), link), 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    files_text(".unrelu-00000000000000cc.tmp", "x");
    int other = chown(foreign, SOMEBODY, SOMEBODY) == 0; /* where root runs the tests */
    make_old(link, 100 * UR_BESIDE_LEFT_SECONDS);
    make_old(folder, 100 * UR_BESIDE_LEFT_SECONDS);
    make_old(foreign, 100 * UR_BESIDE_LEFT_SECONDS);
    write_text(files_path("a.txt"), "a");
    for (size_t i = 0; i < NAMES; i++) {
        expect_text(files_path(names[i]), "x");
        unlink(files_path(names[i]));
    }
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unlink(foreign), other ? 0 : -1);
}

static void names_are_random_and_what_bears_one_is_never_written_to(void **state)
{
    (void)state;
    ur_beside a, b;
    assert_int_equal(ur_beside_open_named(&a, files_directory, 0666), 0);
    assert_int_equal(ur_beside_open_named(&b, files_directory, 0666), 0);
    assert_string_not_equal(a.name, b.name);
    assert_int_equal(strspn(a.name + strlen(".unrelu-"), "0123456789abcdef"), 16);
    assert_true(fcntl(a.fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(a.directory, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(a.fd, "whole", 5), 5);
    assert_int_equal(ur_beside_commit(&a, "committed"), 0);
    ur_beside_drop(&a);
    ur_beside_drop(&b);
    expect_text(files_path("committed"), "whole");
    assert_int_equal(count(".unrelu-"), 0);
    assert_int_equal(ur_beside_open(&a, files_path("missing"), 0666), ENOENT);
    ur_beside_drop(&a);
}

static void permissions_stay_and_new_files_obey_the_umask(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0660, 0604, 0777};
    mode_t before = umask(027);
    write_text(files_path("new"), "x");
    assert_int_equal(mode_of(files_path("new")), 0640);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(files_path("new"), modes[i]), 0);
        write_text(files_path("new"), "y");
        assert_int_equal(mode_of(files_path("new")), modes[i]);
    }
    umask(before);
    unlink(files_path("new"));
}

static void the_owner_stays_where_that_may_be_done(void **state)
{
    (void)state;
    struct stat info;
    const char *path = files_text("owned", "old");
    if (chown(path, SOMEBODY, SOMEBODY + 1) != 0)
        skip(); /* for root alone */
    chmod(path, 0640);
    write_text(path, "new");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_uid, SOMEBODY);
    assert_int_equal(info.st_gid, SOMEBODY + 1);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink(path);
}

/* Root takes the place of another user, who is not in the group of the file. */
static void a_group_that_cannot_be_kept_gives_nobody_more(void **state)
{
    (void)state;
    struct stat info;
    const char *path = files_text("shared", "old"), *locked = files_text("locked", "old");
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(files_directory, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chown(path, SOMEBODY, SOMEBODY + 1), 0);
    assert_int_equal(chown(locked, SOMEBODY, SOMEBODY), 0);
    chmod(path, 0664);
    chmod(locked, 0444);
    assert_int_equal(setegid(SOMEBODY), 0);
    assert_int_equal(seteuid(SOMEBODY), 0);
    unrelu_error err = {0}, refused = {0};
    unrelu_status status = unrelu_file_write(path, "new", 3, &err),
                  no = unrelu_file_write(locked, "new", 3, &refused);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(chown(files_directory, 0, 0), 0);
    assert_string_equal(err.text, "");
    assert_int_equal(status, UNRELU_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_gid, SOMEBODY);
    assert_int_equal(info.st_mode & 0777, 0644); /* the group may what all may: read */
    expect_text(path, "new");
    assert_int_equal(no, UNRELU_EIO); /* one that is protected from writing is not replaced */
    assert_non_null(strstr(refused.text, "Permission denied"));
    expect_text(locked, "old");
}

static void links_are_followed_to_files_and_refused_to_nothing(void **state)
{
    (void)state;
    char sentence[700];
    unrelu_error err = {0};
    struct stat info;
    assert_int_equal(mkdir(files_path("there"), 0777), 0);
    const char *file = files_text("there/real", "old"), *link = files_path("link");
    assert_int_equal(symlink("there/real", link), 0);
    chmod(file, 0600);
    write_text(link, "new");
    expect_text(file, "new");
    assert_int_equal(mode_of(file), 0600);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(file);
    assert_int_equal(unrelu_file_write(link, "x", 1, &err), UNRELU_EIO);
    snprintf(sentence, sizeof sentence,
             "cannot write %s: it is a symbolic link to a file that does not exist; remove the "
             "link, or make that file first",
             link);
    assert_string_equal(err.text, sentence);
    assert_int_equal(lstat(link, &info), 0);
    assert_int_equal(access(file, F_OK), -1);
    unlink(link);
    assert_int_equal(symlink("link", link), 0); /* to itself */
    assert_int_equal(unrelu_file_write(link, "x", 1, &err), UNRELU_EIO);
    unlink(link);
}

static void pipes_and_descriptors_are_written_to_as_they_are(void **state)
{
    (void)state;
    const char *fifo = files_path("fifo"), *log = files_text("log", "first,");
    char name[64], got[8] = "";
    struct stat info;
    assert_int_equal(mkfifo(fifo, 0666), 0);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    write_text(fifo, "abc");
    assert_int_equal(read(reader, got, sizeof got), 3);
    assert_string_equal(got, "abc");
    close(reader);
    assert_int_equal(stat(fifo, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    /* what stands in the file of a descriptor stays, as that of cat >> log does */
    int fd = open(log, O_WRONLY | O_APPEND);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    write_text(name, "second");
    close(fd);
    expect_text(log, "first,second");
    unrelu_error err = {0};
    assert_int_equal(unrelu_file_write(name, "x", 1, &err), UNRELU_EIO);
    assert_non_null(strstr(err.text, "Bad file descriptor"));
    /* as CSV where the name does not say what */
    unrelu_sink *sink;
    assert_int_equal(unrelu_sink_open("/dev/null", 1, 1, NULL, &sink, &err), UNRELU_OK);
    unrelu_sink_abort(sink);
}

/* A name that became a directory while the file was written, and a directory that went away. */
static void a_rename_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    unrelu_error err = {0};
    char sentence[700];
    ur_file *file;
    assert_int_equal(ur_file_open(files_path("name"), 0, &file, &err), UNRELU_OK);
    assert_int_equal(ur_file_write(file, "abc", 3, &err), UNRELU_OK);
    assert_int_equal(mkdir(files_path("name"), 0777), 0);
    assert_int_equal(ur_file_commit(file, &err), UNRELU_EIO);
    snprintf(sentence, sizeof sentence, "cannot write %s: Is a directory (wrote 3 bytes)",
             files_path("name"));
    assert_string_equal(err.text, sentence);
    assert_int_equal(count(".unrelu-"), 0);
    assert_int_equal(rmdir(files_path("name")), 0);
    assert_int_equal(mkdir(files_path("gone"), 0777), 0);
    assert_int_equal(ur_file_open(files_path("gone/file"), 0, &file, &err), UNRELU_OK);
    if (rmdir(files_path("gone")) == 0) { /* not where temporary files have names */
        assert_int_equal(ur_file_commit(file, &err), UNRELU_EIO);
        assert_non_null(strstr(err.text, "No such file or directory"));
    } else {
        ur_file_abort(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_leaves_nothing_where_files_need_no_name),
        cmocka_unit_test(what_a_killed_writer_left_is_taken_away_once_it_is_old),
        cmocka_unit_test(the_file_of_a_living_writer_stays_however_old_it_is),
        cmocka_unit_test(what_is_not_ours_stays),
        cmocka_unit_test(names_are_random_and_what_bears_one_is_never_written_to),
        cmocka_unit_test(permissions_stay_and_new_files_obey_the_umask),
        cmocka_unit_test(the_owner_stays_where_that_may_be_done),
        cmocka_unit_test(a_group_that_cannot_be_kept_gives_nobody_more),
        cmocka_unit_test(a_rename_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(links_are_followed_to_files_and_refused_to_nothing),
        cmocka_unit_test(pipes_and_descriptors_are_written_to_as_they_are),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
