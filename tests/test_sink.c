/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "write/decimal.h"
#include "write/npz_write.h"
#include "write/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static unrelu_status write_table(const char *path, size_t n, size_t d, const char *const *names,
                                 const double *x, unrelu_error *err)
{
    unrelu_sink *sink;
    unrelu_status status = unrelu_sink_open(path, n, d, names, &sink, err);
    if (status) {
        assert_null(sink);
        return status;
    }
    for (size_t i = 0; i < n && !status; i += 2) /* two rows at a time */
        status = unrelu_sink_write(sink, x + i * d, n - i < 2 ? 1 : 2, err);
    if (!status)
        return unrelu_sink_commit(sink, err);
    unrelu_sink_abort(sink);
    return status;
}

static void expect_bytes(const char *path, const char *bytes)
{
    size_t size;
    unsigned char *found = files_read(path, &size);
    assert_string_equal((char *)found, bytes);
    free(found);
}

/* no temporary file is left in the scratch directory */
static void expect_no_leftovers(void)
{
    DIR *directory = opendir(files_directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strstr(entry->d_name, ".tmp"))
            fail_msg("%s was left behind", entry->d_name);
    closedir(directory);
}

static const double x[] = {0, -0.0, 1.5, 0.1, NAN, 1e300, 1.0 / 3, -5e-324, 123456789};
static const char *const names[] = {"lead", "zinc, total", "a \"b\""};

static void tables_are_written_as_text(void **state)
{
    (void)state;
    const char *path = files_path("t.csv");
    assert_int_equal(write_table(path, 3, 3, names, x, NULL), UNRELU_OK);
    expect_bytes(path, "lead,\"zinc, total\",\"a \"\"b\"\"\"\n0,-0,1.5\n0.1,NA,1e+300\n"
                       "0.3333333333333333,-4.94065645841247e-324,123456789\n");
    assert_int_equal(write_table(files_path("t.tsv"), 3, 3, NULL, x, NULL), UNRELU_OK);
    expect_bytes(files_path("t.tsv"), "0\t-0\t1.5\n0.1\tNA\t1e+300\n"
                                      "0.3333333333333333\t-4.94065645841247e-324\t123456789\n");
    expect_no_leftovers();
}

static void what_is_written_is_read_back_with_the_same_bits(void **state)
{
    (void)state;
    enum { N = 5001, D = 4 };
    double *y = malloc(sizeof *y * N * D);
    uint64_t seed = 3;
    for (size_t i = 0; i < N * D; i++) {
        do {
            uint64_t bits = random_bits(&seed);
            memcpy(&y[i], &bits, sizeof bits);
        } while (!isfinite(y[i]));
        if (i % 7 == 0)
            y[i] = i % 2 ? NAN : 0;
    }
    static const char *const files[] = {"r.npy", "r.csv", "r.tsv"};
    for (size_t f = 0; f < 3; f++) {
        const char *path = files_path(files[f]);
        assert_int_equal(write_table(path, N, D, NULL, y, NULL), UNRELU_OK);
        table t = table_of(path, NULL);
        assert_int_equal(t.n, N);
        for (size_t i = 0; i < N * D; i++)
            if (!isnan(y[i]) || !isnan(t.x[i]))
                assert_memory_equal(&t.x[i], &y[i], sizeof y[i]);
        table_free(&t);
    }
    free(y);
}

static void names_survive_a_round_trip(void **state)
{
    (void)state;
    const char *path = files_path("n.csv");
    assert_int_equal(write_table(path, 3, 3, names, x, NULL), UNRELU_OK);
    table t = table_of(path, NULL);
    for (size_t j = 0; j < 3; j++)
        assert_string_equal(t.names[j], names[j]);
    table_free(&t);
}

static void a_decimal_comma_of_the_locale_is_not_written(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE"))
        skip();
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char text[UR_DECIMAL_MOST];
    size_t size = ur_decimal_write(c_locale, 1.5, text);
    setlocale(LC_ALL, "C");
    freelocale(c_locale);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "1.5", 3);
}

static void expect_same_decimal(locale_t c_locale, double value)
{
    char fast[UR_DECIMAL_MOST + 1], slow[UR_DECIMAL_MOST + 1];
    fast[ur_decimal_write(c_locale, value, fast)] = '\0';
    slow[ur_decimal_write_slow(c_locale, value, slow)] = '\0';
    assert_string_equal(fast, slow);
}

static void the_fast_decimals_are_those_of_printf(void **state)
{
    (void)state;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    uint64_t seed = 11;
    for (double power = 1e-5; power < 1e17; power *= 10) {
        expect_same_decimal(c_locale, power);
        expect_same_decimal(c_locale, nextafter(power, 0));
        expect_same_decimal(c_locale, -nextafter(power, INFINITY));
    }
    for (int e = -20; e < 60; e++) {
        expect_same_decimal(c_locale, ldexp(1, e));
        expect_same_decimal(c_locale, nextafter(ldexp(1, e), 0));
    }
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits(&seed), kind = random_bits(&seed);
        expect_same_decimal(c_locale, ldexp((double)(int64_t)bits, (int)(kind % 63) - 76));
        expect_same_decimal(c_locale, (double)(bits % 1000000) / (kind & 1 ? 1e4 : 1e2));
    }
    freelocale(c_locale);
}

static void standard_output_gets_csv(void **state)
{
    (void)state;
    const char *path = files_path("out");
    int before = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT, 0666);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    unrelu_status status = write_table("-", 1, 3, names, x, NULL);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(fd);
    assert_int_equal(status, UNRELU_OK);
    expect_bytes(path, "lead,\"zinc, total\",\"a \"\"b\"\"\"\n0,-0,1.5\n");
}

static void the_count_of_rows_must_be_right(void **state)
{
    (void)state;
    unrelu_sink *sink;
    unrelu_error err;
    char sentence[600];
    const char *path = files_path("c.npy");
    assert_int_equal(unrelu_sink_open(path, 3, 3, NULL, &sink, &err), UNRELU_OK);
    assert_int_equal(unrelu_sink_write(sink, x, 2, &err), UNRELU_OK);
    assert_int_equal(unrelu_sink_write(sink, x, 2, &err), UNRELU_EUSAGE);
    snprintf(sentence, sizeof sentence, "%s was opened for 3 rows; 2 more do not fit after 2",
             path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(unrelu_sink_commit(sink, &err), UNRELU_EUSAGE);
    snprintf(sentence, sizeof sentence, "%s was opened for 3 rows, but 2 were written", path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(access(path, F_OK), -1);
    expect_no_leftovers();
}

static void bad_targets_are_told(void **state)
{
    (void)state;
    unrelu_error err;
    char sentence[600];
    assert_int_equal(write_table(files_path("x.xls"), 3, 3, NULL, x, &err), UNRELU_EUSAGE);
    snprintf(
        sentence, sizeof sentence,
        "cannot tell the format of %s; samples are written as .npy, .csv or .tsv, or as CSV to "
        "- (standard output)",
        files_path("x.xls"));
    assert_string_equal(err.text, sentence);
    assert_int_equal(write_table(files_path("no/x.npy"), 3, 3, NULL, x, &err), UNRELU_EIO);
    snprintf(sentence, sizeof sentence,
             "cannot write %s: the directory %s does not exist; make it first",
             files_path("no/x.npy"), files_path("no/"));
    assert_string_equal(err.text, sentence);
    mkdir(files_path("d.npy"), 0777);
    assert_int_equal(write_table(files_path("d.npy"), 3, 3, NULL, x, &err), UNRELU_EIO);
    snprintf(sentence, sizeof sentence, "cannot write %s: it is a directory; name a file in it",
             files_path("d.npy"));
    assert_string_equal(err.text, sentence);
    assert_int_equal(write_table("", 3, 3, NULL, x, &err), UNRELU_EUSAGE);
    assert_int_equal(write_table(files_path("z.npy"), 3, 0, NULL, x, &err), UNRELU_EUSAGE);
    ur_npz_writer *w;
    assert_int_equal(ur_npz_writer_open(files_path("no/m.npz"), &w, &err), UNRELU_EIO);
    assert_null(w);
}

/* a full disk, by the limit of a file's size: the old file stays, nothing is left behind */
static void a_full_disk_is_told_and_keeps_the_old_file(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *y = calloc(N, sizeof *y);
    unrelu_error err;
    char sentence[600];
    const char *path = files_text("f.npy", "old");
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 500000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    unrelu_sink *sink;
    assert_int_equal(unrelu_sink_open(path, N, 1, NULL, &sink, &err), UNRELU_OK);
    unrelu_status status = unrelu_sink_write(sink, y, N, &err);
    unrelu_status later = unrelu_sink_commit(sink, NULL);
    ur_npz_writer *w;
    ur_npz_writer_open(files_path("f.npz"), &w, NULL);
    ur_npz_add(w, "y", y, 1, (size_t[]){N});
    unrelu_error npz_err;
    unrelu_status npz = ur_npz_commit(w, &npz_err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, UNRELU_EIO);
    assert_int_equal(later, UNRELU_EIO);
    assert_int_equal(npz, UNRELU_EIO);
    snprintf(sentence, sizeof sentence,
             "cannot write %s: File too large (wrote 500000 of 800128 bytes)", path);
    assert_string_equal(err.text, sentence);
    snprintf(sentence, sizeof sentence,
             "cannot write %s: File too large (wrote 500000 of 800236 bytes)", files_path("f.npz"));
    assert_string_equal(npz_err.text, sentence);
    expect_bytes(path, "old");
    assert_int_equal(access(files_path("f.npz"), F_OK), -1);
    expect_no_leftovers();
    free(y);
}

static void devices_are_written_to_and_never_replaced(void **state)
{
    (void)state;
    ur_file *file;
    unrelu_error err;
    struct stat info;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(ur_file_open("/dev/full", 3, &file, &err), UNRELU_OK);
    assert_int_equal(ur_file_write(file, "abc", 3, &err), UNRELU_OK); /* buffered */
    assert_int_equal(ur_file_commit(file, &err), UNRELU_EIO);
    assert_string_equal(err.text,
                        "cannot write /dev/full: No space left on device (wrote 0 of 3 bytes)");
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void links_and_permissions_of_an_old_file_stay(void **state)
{
    (void)state;
    struct stat info;
    const char *path = files_text("real.csv", "old"), *link = files_path("link.csv");
    chmod(path, 0640);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(write_table(link, 1, 2, NULL, (double[]){1, 2}, NULL), UNRELU_OK);
    expect_bytes(path, "1,2\n");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void abort_leaves_nothing_behind(void **state)
{
    (void)state;
    unrelu_sink *sink;
    const char *path = files_path("a.csv");
    assert_int_equal(unrelu_sink_open(path, 3, 3, NULL, &sink, NULL), UNRELU_OK);
    assert_int_equal(unrelu_sink_write(sink, x, 3, NULL), UNRELU_OK);
    unrelu_sink_abort(sink);
    assert_int_equal(access(path, F_OK), -1);
    expect_no_leftovers();
    unrelu_sink_abort(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_written_as_text),
        cmocka_unit_test(what_is_written_is_read_back_with_the_same_bits),
        cmocka_unit_test(names_survive_a_round_trip),
        cmocka_unit_test(a_decimal_comma_of_the_locale_is_not_written),
        cmocka_unit_test(the_fast_decimals_are_those_of_printf),
        cmocka_unit_test(standard_output_gets_csv),
        cmocka_unit_test(the_count_of_rows_must_be_right),
        cmocka_unit_test(bad_targets_are_told),
        cmocka_unit_test(a_full_disk_is_told_and_keeps_the_old_file),
        cmocka_unit_test(devices_are_written_to_and_never_replaced),
        cmocka_unit_test(links_and_permissions_of_an_old_file_stay),
        cmocka_unit_test(abort_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
