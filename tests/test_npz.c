/* SPDX-License-Identifier: Apache-2.0 */
#include "archives.h"
#include "files.h"

#include "read/archive.h"
#include "read/npz.h"
#include "write/npz_write.h"

#include <fcntl.h>
#include <math.h>
#include <zip.h>
#include <zlib.h>

/* ---- samples ---- */

enum { N = 9000, D = 3 };

static void make_samples(double *rows, double *columns)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            rows[i * D + j] = columns[j * N + i] = i + j * 0.125;
}

static void samples_are_the_same_stored_deflated_and_in_fortran_order(void **state)
{
    (void)state;
    static double rows[N * D], columns[N * D];
    make_samples(rows, columns);
    for (int deflate = 0; deflate < 2; deflate++)
        for (int fortran = 0; fortran < 2; fortran++) {
            archive a = archive_new("x.npz");
            archive_add(&a, "y.npy", NPY("<f8", "False", "(1,)"), rows, 8, deflate);
            archive_add(&a, "x.npy",
                        fortran ? NPY("<f8", "True", "(9000, 3)")
                                : NPY("<f8", "False", "(9000, 3)"),
                        fortran ? columns : rows, sizeof rows, deflate);
            char name[600];
            snprintf(name, sizeof name, "%s:x", archive_close(&a));
            unrelu_source *source;
            table t = {0};
            assert_int_equal(unrelu_source_open(name, NULL, &source, NULL), UNRELU_OK);
            for (int pass = 0; pass < 2; pass++) {
                assert_int_equal(table_collect(source, &t, NULL), UNRELU_OK);
                assert_int_equal(t.n, N);
                assert_int_equal(t.pieces, 8);
                assert_memory_equal(t.x, rows, sizeof rows);
            }
            free(t.x);
            unrelu_source_close(source);
        }
}

static void without_a_name_the_only_array_is_meant(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4};
    archive a = archive_new("one.npz");
    archive_add(&a, "readings.npy", NPY("<f8", "False", "(2, 2)"), x, sizeof x, 1);
    const char *path = archive_close(&a);
    table t = table_of(path, NULL);
    assert_string_equal(t.note, "array 'readings' read");
    assert_memory_equal(t.x, x, sizeof x);
    table_free(&t);
    char name[600], sentence[700];
    snprintf(name, sizeof name, "%s:y", path);
    expect_refusal(name, NULL, UNRELU_EFORMAT,
                   "%s: there is no array of that name; the file holds readings");

    a = archive_new("two.npz");
    archive_add(&a, "b.npy", NPY("<f8", "False", "(2, 2)"), x, sizeof x, 0);
    archive_add(&a, "a.npy", NPY("<f8", "False", "(2, 2)"), x, sizeof x, 0);
    path = archive_close(&a);
    expect_refusal(path, NULL, UNRELU_EFORMAT, "%s holds 2 arrays (b, a); name one, as %s:NAME");
    snprintf(name, sizeof name, "%s:a", path);
    t = table_of(name, "2");
    assert_true(t.n == 2 && t.d == 1 && t.x[0] == 2 && t.x[1] == 4);
    table_free(&t);
    snprintf(sentence, sizeof sentence, "cannot open %s: No such file or directory",
             files_path("none.npz"));
    snprintf(name, sizeof name, "%s:a", files_path("none.npz"));
    expect_refusal(name, NULL, UNRELU_EIO, sentence);
}

static void models_and_summaries_are_no_samples(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *sentence;
    } cases[] = {
        {"rectified-gaussian", "%s is a rectified-gaussian model, not samples; name a sample file, "
                               "or one array of it as %s:NAME"},
        {"summary", "%s is a summary, not samples; give it to 'unrelu fit' or 'unrelu merge', or "
                    "name the file it was made of"},
    };
    for (size_t i = 0; i < 2; i++) {
        ur_npz_writer *w;
        char kind[32];
        const char *path = files_path("k.npz");
        assert_int_equal(ur_npz_writer_open(path, &w, NULL), UNRELU_OK);
        ur_npz_add_string(w, "kind", cases[i].kind);
        ur_npz_add(w, "b", (double[]){1, 2}, 1, (size_t[]){2});
        assert_int_equal(ur_npz_commit(w, NULL), UNRELU_OK);
        expect_refusal(path, NULL, UNRELU_EFORMAT, cases[i].sentence);
        assert_int_equal(unrelu_file_kind(path, kind, sizeof kind, NULL), UNRELU_OK);
        assert_string_equal(kind, cases[i].kind);
    }
}

static void the_kind_of_other_files_is_empty(void **state)
{
    (void)state;
    char kind[32] = "?";
    unrelu_error err;
    assert_int_equal(unrelu_file_kind(files_text("k.csv", "1,2\n"), kind, sizeof kind, &err), 0);
    assert_string_equal(kind, "");
    assert_int_equal(unrelu_file_kind(files_path("missing"), kind, sizeof kind, &err), 0);
    assert_int_equal(unrelu_file_kind("-", kind, sizeof kind, &err), 0);
    archive a = archive_new("k.npz");
    archive_add(&a, "x.npy", NPY("<f8", "False", "(1,)"), "12345678", 8, 0);
    assert_int_equal(unrelu_file_kind(archive_close(&a), kind, sizeof kind, &err), 0);
    assert_string_equal(kind, "");
    a = archive_new("k.npz");
    archive_add(&a, "kind.npy", NPY("<f8", "False", "(1,)"), "12345678", 8, 0);
    assert_int_equal(unrelu_file_kind(archive_close(&a), kind, sizeof kind, &err), 0);
    assert_string_equal(kind, "");
    assert_int_equal(unrelu_file_kind(NULL, kind, sizeof kind, &err), UNRELU_EUSAGE);
}

static void damaged_archives_are_refused(void **state)
{
    (void)state;
    expect_refusal(files_text("d.npz", ""), NULL, UNRELU_EFORMAT,
                   "%s is empty (0 bytes); expected a .npz archive");
    expect_refusal(files_text("d.npz", "a,b\n1,2\n"), NULL, UNRELU_EFORMAT,
                   "%s is not a readable .npz archive (Not a zip archive); write it with "
                   "numpy.savez");
    static double rows[N * D], columns[N * D];
    make_samples(rows, columns);
    archive a = archive_new("d.npz");
    archive_add(&a, "x.npy", NPY("<f8", "False", "(9000, 3)"), rows, sizeof rows, 1);
    const char *path = archive_close(&a);
    size_t size;
    unsigned char *bytes = files_read(path, &size);
    bytes[size / 2] ^= 0x55;
    files_write("d.npz", bytes, size);
    table t;
    unrelu_error err;
    assert_int_equal(table_read(path, NULL, &t, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "d.npz cannot be unpacked ("));
    free(bytes);

    a = archive_new("e.npz"); /* the array promises more than its member holds */
    archive_add(&a, "x.npy", NPY("<f8", "False", "(9000, 4)"), rows, sizeof rows, 1);
    expect_refusal(archive_close(&a), NULL, UNRELU_EFORMAT,
                   "%s: the header promises 36000 elements (288000 bytes), but only 216000 bytes "
                   "follow it: the file is truncated; write or copy it again");
    a = archive_new("e.npz");
    zip_file_add(a.zip, "readme.txt", zip_source_buffer(a.zip, "hello", 5, 0), 0);
    expect_refusal(archive_close(&a), NULL, UNRELU_EFORMAT,
                   "%s holds no arrays; write it with numpy.savez(file, x=samples)");
}

/* A zip64 archive by hand: sizes and offset of the one member only in the extra field. */
static void put(unsigned char **to, uint64_t value, int bytes)
{
    for (; bytes--; value >>= 8)
        *(*to)++ = (unsigned char)value;
}

static void zip64_members_are_read(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    unsigned char npy[512], zip[2048], *to = zip;
    size_t size = files_npy(npy, 1, NPY("<f8", "False", "(3, 2)"), x, sizeof x);
    uint32_t crc = (uint32_t)crc32_z(0, npy, size);
    put(&to, 0x04034b50, 4), put(&to, 45, 2), put(&to, 0, 4), put(&to, 0x210000, 4);
    put(&to, crc, 4), put(&to, UINT32_MAX, 4), put(&to, UINT32_MAX, 4), put(&to, 5, 2);
    put(&to, 20, 2), memcpy(to, "x.npy", 5), to += 5;
    put(&to, 1, 2), put(&to, 16, 2), put(&to, size, 8), put(&to, size, 8);
    memcpy(to, npy, size), to += size;
    uint64_t directory = (uint64_t)(to - zip);
    put(&to, 0x02014b50, 4), put(&to, 45, 2), put(&to, 45, 2), put(&to, 0, 4);
    put(&to, 0x210000, 4), put(&to, crc, 4), put(&to, UINT32_MAX, 4), put(&to, UINT32_MAX, 4);
    put(&to, 5, 2), put(&to, 28, 2), put(&to, 0, 2), put(&to, 0, 2), put(&to, 0, 6);
    put(&to, UINT32_MAX, 4), memcpy(to, "x.npy", 5), to += 5;
    put(&to, 1, 2), put(&to, 24, 2), put(&to, size, 8), put(&to, size, 8), put(&to, 0, 8);
    uint64_t end = (uint64_t)(to - zip);
    put(&to, 0x06064b50, 4), put(&to, 44, 8), put(&to, 45, 2), put(&to, 45, 2), put(&to, 0, 8);
    put(&to, 1, 8), put(&to, 1, 8), put(&to, end - directory, 8), put(&to, directory, 8);
    put(&to, 0x07064b50, 4), put(&to, 0, 4), put(&to, end, 8), put(&to, 1, 4);
    put(&to, 0x06054b50, 4), put(&to, 0, 4), put(&to, 0xffff, 2), put(&to, 0xffff, 2);
    put(&to, UINT32_MAX, 4), put(&to, UINT32_MAX, 4), put(&to, 0, 2);
    const char *path = files_write("z.npz", zip, (size_t)(to - zip));
    int fd = open(path, O_RDONLY);
    assert_int_equal(ur_zip_offset(fd, (uint64_t)(to - zip), 0, size), directory - size);
    assert_int_equal(ur_zip_offset(fd, (uint64_t)(to - zip), 1, size), 0);
    assert_int_equal(ur_zip_offset(fd, (uint64_t)(to - zip) - 1, 0, size), 0);
    close(fd);
    table t = table_of(path, NULL);
    assert_true(t.n == 3 && t.d == 2);
    assert_memory_equal(t.x, x, sizeof x);
    table_free(&t);
}

/* ---- whole arrays ---- */

static const double sigma[] = {1, -2.5, NAN, 0x1p-1074, 1e300, -0.0};
static const uint8_t flags[] = {0, 1, 255};
static const char *const names[] = {"lead", "", "\xce\xb1\xe2\x82\xac\xf0\x9f\x98\x80", "bad\xff"};

static const char *write_model(const char *name)
{
    ur_npz_writer *w;
    const char *path = files_path(name);
    assert_int_equal(ur_npz_writer_open(path, &w, NULL), UNRELU_OK);
    ur_npz_add_string(w, "kind", "rectified-gaussian");
    ur_npz_add(w, "sigma", sigma, 2, (size_t[]){3, 2});
    ur_npz_add(w, "nothing", NULL, 1, (size_t[]){0});
    ur_npz_add_number(w, "lambda", 0.1);
    ur_npz_add_integer(w, "n", 1234567890123);
    ur_npz_add_bytes(w, "flags", flags, 1, (size_t[]){3});
    ur_npz_add_strings(w, "names", names, 4);
    ur_npz_add_strings(w, "none", NULL, 0);
    ur_npz_add_texts(w, "table", names, 2, (size_t[]){2, 2});
    assert_int_equal(ur_npz_commit(w, NULL), UNRELU_OK);
    return path;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    UR_ARENA(arena);
    ur_npz *npz;
    double *x, number;
    const char **strings, *kind;
    size_t count, ndim, shape[4];
    assert_int_equal(ur_npz_open(write_model("m.npz"), &arena, &npz, NULL), UNRELU_OK);
    assert_true(ur_npz_has(npz, "sigma") && !ur_npz_has(npz, "W"));
    assert_int_equal(ur_npz_doubles(npz, "sigma", 6, &arena, &x, NULL), UNRELU_OK);
    assert_memory_equal(x, sigma, sizeof sigma);
    assert_int_equal(ur_npz_doubles(npz, "nothing", 0, &arena, &x, NULL), UNRELU_OK);
    assert_int_equal(ur_npz_doubles(npz, "flags", 3, &arena, &x, NULL), UNRELU_OK);
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 255);
    assert_int_equal(ur_npz_shape(npz, "sigma", &ndim, shape, NULL), UNRELU_OK);
    assert_true(ndim == 2 && shape[0] == 3 && shape[1] == 2);
    assert_int_equal(ur_npz_number(npz, "lambda", &number, NULL), UNRELU_OK);
    assert_true(number == 0.1);
    assert_int_equal(ur_npz_number(npz, "n", &number, NULL), UNRELU_OK);
    assert_true(number == 1234567890123);
    assert_int_equal(ur_npz_strings(npz, "names", 9, 9, &arena, &strings, &count, NULL), UNRELU_OK);
    assert_int_equal(count, 4);
    assert_string_equal(strings[0], "lead");
    assert_string_equal(strings[1], "");
    assert_string_equal(strings[2], names[2]);
    assert_string_equal(strings[3], "bad\xef\xbf\xbd");
    assert_int_equal(ur_npz_strings(npz, "none", 9, 9, &arena, &strings, &count, NULL), UNRELU_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ur_npz_texts(npz, "table", 4, &arena, &strings, NULL), UNRELU_OK);
    assert_int_equal(ur_npz_shape(npz, "table", &ndim, shape, NULL), UNRELU_OK);
    assert_true(ndim == 2 && shape[0] == 2 && shape[1] == 2);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(strings[i], names[i]);
    assert_int_equal(ur_npz_string(npz, "kind", &arena, &kind, NULL), UNRELU_OK);
    assert_string_equal(kind, "rectified-gaussian");
}

static void any_dtype_and_order_is_read_as_doubles_in_c_order(void **state)
{
    (void)state;
    UR_ARENA(arena);
    const float turned[] = {1, 3, 5, 2, 4, 6};
    const int16_t deep[] = {0, 4, 2, 6, 1, 5, 3, 7}; /* (2, 2, 2), first index fastest */
    archive a = archive_new("f.npz");
    archive_add(&a, "x.npy", NPY("<f4", "True", "(3, 2)"), turned, sizeof turned, 1);
    archive_add(&a, "y.npy", NPY("<i2", "True", "(2, 2, 2)"), deep, sizeof deep, 0);
    const uint32_t letters[] = {'a', 'd', 'b', 'e', 'c', 'f'}; /* (2, 3) */
    archive_add(&a, "t.npy", NPY("<U1", "True", "(2, 3)"), letters, sizeof letters, 0);
    ur_npz *npz;
    double *x;
    assert_int_equal(ur_npz_open(archive_close(&a), &arena, &npz, NULL), UNRELU_OK);
    assert_int_equal(ur_npz_doubles(npz, "x", 6, &arena, &x, NULL), UNRELU_OK);
    for (int i = 0; i < 6; i++)
        assert_true(x[i] == i + 1);
    assert_int_equal(ur_npz_doubles(npz, "y", 8, &arena, &x, NULL), UNRELU_OK);
    for (int i = 0; i < 8; i++)
        assert_true(x[i] == i);
    const char **strings;
    assert_int_equal(ur_npz_texts(npz, "t", 6, &arena, &strings, NULL), UNRELU_OK);
    for (int i = 0; i < 6; i++)
        assert_true(strings[i][0] == 'a' + i && strings[i][1] == '\0');
}

static void wrong_arrays_are_told_with_both_counts(void **state)
{
    (void)state;
    UR_ARENA(arena);
    ur_npz *npz;
    double *x, number;
    const char **strings, *text;
    char sentence[700];
    size_t count;
    unrelu_error err;
    const char *path = write_model("m.npz");
    assert_int_equal(ur_npz_open(path, &arena, &npz, &err), UNRELU_OK);
    assert_int_equal(ur_npz_doubles(npz, "W", 6, &arena, &x, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence,
             "%s has no array 'W'; it was not written by this program, or by another version",
             path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(ur_npz_doubles(npz, "sigma", 9, &arena, &x, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:sigma holds 6 numbers, expected 9", path);
    assert_string_equal(err.text, sentence);
    assert_null(x);
    assert_int_equal(ur_npz_doubles(npz, "names", 4, &arena, &x, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:names holds text (dtype '<U4'), expected 4 numbers",
             path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(ur_npz_number(npz, "sigma", &number, &err), UNRELU_EFORMAT);
    assert_int_equal(ur_npz_strings(npz, "sigma", 9, 9, &arena, &strings, &count, &err),
                     UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:sigma holds numbers (dtype '<f8'), expected text",
             path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(ur_npz_string(npz, "names", &arena, &text, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:names holds 4 strings, expected 1", path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(ur_npz_texts(npz, "table", 6, &arena, &strings, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:table holds 4 strings, expected 6", path);
    assert_string_equal(err.text, sentence);
    assert_null(strings);
    assert_int_equal(ur_npz_strings(npz, "table", 9, 9, &arena, &strings, &count, &err),
                     UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s:table has 2 dimensions, expected a list of strings",
             path);
    assert_string_equal(err.text, sentence);
    assert_int_equal(ur_npz_open(files_path("nowhere.npz"), &arena, &npz, &err), UNRELU_EIO);
}

static void equal_models_are_equal_files(void **state)
{
    (void)state;
    size_t one_size, two_size;
    unsigned char *one = files_read(write_model("one.npz"), &one_size);
    unsigned char *two = files_read(write_model("two.npz"), &two_size);
    assert_int_equal(one_size, two_size);
    assert_memory_equal(one, two, one_size);
    free(one);
    free(two);
}

static void libzip_agrees_with_what_was_written(void **state)
{
    (void)state;
    zip_t *zip = zip_open(write_model("m.npz"), ZIP_RDONLY | ZIP_CHECKCONS, NULL);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), 9);
    zip_file_t *file = zip_fopen(zip, "sigma.npy", 0);
    unsigned char bytes[512];
    zip_int64_t size = zip_fread(file, bytes, sizeof bytes);
    assert_int_equal(size, 128 + sizeof sigma);
    assert_memory_equal(
        bytes,
        "\x93NUMPY\1\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)"
        ", } ",
        70);
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, sigma, sizeof sigma);
    assert_int_equal(zip_fread(file, bytes, 1), 0); /* and its checksum is right */
    zip_fclose(file);
    zip_discard(zip);
}

static void the_first_failure_is_kept_until_commit(void **state)
{
    (void)state;
    ur_npz_writer *w;
    unrelu_error err;
    const char *path = files_path("bad.npz");
    assert_int_equal(ur_npz_writer_open(path, &w, &err), UNRELU_OK);
    ur_npz_add(w, "huge", sigma, 2, (size_t[]){SIZE_MAX, 2});
    ur_npz_add_number(w, "x", 1);
    assert_int_equal(ur_npz_commit(w, &err), UNRELU_EINTERNAL);
    assert_non_null(strstr(err.text, "array 'huge' for "));
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_the_same_stored_deflated_and_in_fortran_order),
        cmocka_unit_test(without_a_name_the_only_array_is_meant),
        cmocka_unit_test(models_and_summaries_are_no_samples),
        cmocka_unit_test(the_kind_of_other_files_is_empty),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(zip64_members_are_read),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(any_dtype_and_order_is_read_as_doubles_in_c_order),
        cmocka_unit_test(wrong_arrays_are_told_with_both_counts),
        cmocka_unit_test(equal_models_are_equal_files),
        cmocka_unit_test(libzip_agrees_with_what_was_written),
        cmocka_unit_test(the_first_failure_is_kept_until_commit),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
