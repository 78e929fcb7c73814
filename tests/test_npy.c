/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "read/format.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#define NPY(descr, order, shape)                                                                   \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static const char *write_npy(const char *name, int version, const char *dictionary,
                             const void *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1024);
    const char *path = files_write(name, bytes, files_npy(bytes, version, dictionary, data, size));
    free(bytes);
    return path;
}

static void expect_table(const char *path, size_t n, size_t d, const double *x)
{
    table t = table_of(path, NULL);
    assert_int_equal(t.n, n);
    assert_int_equal(t.d, d);
    assert_memory_equal(t.x, x, n * d * sizeof *x);
    table_free(&t);
}

static void every_dtype_becomes_doubles(void **state)
{
    (void)state;
    const double bools[] = {1, 0, 1, 1}, signs[] = {1, -2, 3, -4}, counts[] = {1, 2, 3, 250};
    const unsigned char b1[] = {1, 0, 1, 1}, u1[] = {1, 2, 3, 250};
    const int8_t i1[] = {1, -2, 3, -4};
    const int16_t i2[] = {1, -2, 3, -4};
    const int32_t i4[] = {1, -2, 3, -4};
    const int64_t i8[] = {1, -2, 3, -4};
    const uint16_t u2[] = {1, 2, 3, 250};
    const uint32_t u4[] = {1, 2, 3, 250};
    const uint64_t u8[] = {1, 2, 3, 250};
    const float f4[] = {1, -2, 3, -4};
    expect_table(write_npy("a.npy", 1, NPY("|b1", "False", "(2, 2)"), b1, 4), 2, 2, bools);
    expect_table(write_npy("a.npy", 1, NPY("|u1", "False", "(2, 2)"), u1, 4), 2, 2, counts);
    expect_table(write_npy("a.npy", 1, NPY("|i1", "False", "(2, 2)"), i1, 4), 2, 2, signs);
    expect_table(write_npy("a.npy", 1, NPY("<i2", "False", "(2, 2)"), i2, 8), 2, 2, signs);
    expect_table(write_npy("a.npy", 1, NPY("<i4", "False", "(2, 2)"), i4, 16), 2, 2, signs);
    expect_table(write_npy("a.npy", 1, NPY("<i8", "False", "(2, 2)"), i8, 32), 2, 2, signs);
    expect_table(write_npy("a.npy", 1, NPY("<u2", "False", "(2, 2)"), u2, 8), 2, 2, counts);
    expect_table(write_npy("a.npy", 1, NPY("<u4", "False", "(2, 2)"), u4, 16), 2, 2, counts);
    expect_table(write_npy("a.npy", 1, NPY("<u8", "False", "(2, 2)"), u8, 32), 2, 2, counts);
    expect_table(write_npy("a.npy", 1, NPY("<f4", "False", "(2, 2)"), f4, 16), 2, 2, signs);
    expect_table(write_npy("a.npy", 1, NPY("<f8", "False", "(2, 2)"), signs, 32), 2, 2, signs);
}

static void versions_one_to_three_and_other_spellings_are_read(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    for (int version = 1; version <= 3; version++)
        expect_table(write_npy("v.npy", version, NPY("<f8", "False", "(3, 2)"), x, sizeof x), 3, 2,
                     x);
    expect_table(write_npy("v.npy", 1,
                           "{\"shape\":(3L,2L),\"fortran_order\":False,\"descr\":\"<f8\"}", x,
                           sizeof x),
                 3, 2, x);
    expect_table(write_npy("v.npy", 1, NPY("<f8", "False", "(6,)"), x, sizeof x), 6, 1, x);
    expect_table(write_npy("v.npy", 1, NPY("<f8", "True", "(6,)"), x, sizeof x), 6, 1, x);
    expect_table(write_npy("v.npy", 1, NPY("<f8", "True", "(1, 6)"), x, sizeof x), 1, 6, x);
}

/* more rows and columns than a tile has, an odd number of both, several pieces */
static void fortran_order_gives_the_same_rows(void **state)
{
    (void)state;
    enum { N = 20011, D = 11 };
    float *rows = malloc(sizeof(float) * N * D), *columns = malloc(sizeof(float) * N * D);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            rows[i * D + j] = columns[j * N + i] = (float)(i * 16 + j);
    const char *c =
        write_npy("c.npy", 1, NPY("<f4", "False", "(20011, 11)"), rows, sizeof(float) * N * D);
    const char *f =
        write_npy("f.npy", 1, NPY("<f4", "True", "(20011, 11)"), columns, sizeof(float) * N * D);
    table a = table_of(c, NULL), b = table_of(f, NULL);
    assert_int_equal(a.n, N);
    assert_true(a.pieces >= 8);
    assert_int_equal(b.n, N);
    assert_memory_equal(a.x, b.x, sizeof(double) * N * D);
    table_free(&a);
    table_free(&b);
    a = table_of(c, "11,2-4");
    b = table_of(f, "11,2-4");
    assert_int_equal(a.d, 4);
    assert_string_equal(a.names[0], "x11");
    assert_true(a.x[4 * 1000] == 16010 && a.x[4 * 1000 + 1] == 16001);
    assert_memory_equal(a.x, b.x, sizeof(double) * N * 4);
    table_free(&a);
    table_free(&b);
    free(rows);
    free(columns);
}

static void columns_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    const char *path = write_npy("x.npy", 1, NPY("<f8", "False", "(2, 3)"), x, sizeof x);
    expect_refusal(path, "4", UNRELU_EUSAGE,
                   "%s: there is no column 4; the file has columns 1 to 3");
    expect_refusal(path, "0", UNRELU_EUSAGE,
                   "%s: there is no column 0; the file has columns 1 to 3");
    expect_refusal(path, "3-2", UNRELU_EUSAGE,
                   "%s: the columns '3-2' end before they start: write the first one first");
    expect_refusal(path, "1-99999999999999999999999", UNRELU_EUSAGE,
                   "%s: there is no column 1-99999999999999999999999; the file has columns 1 to 3");
    expect_refusal(path, "lead", UNRELU_EUSAGE,
                   "%s: no column is called 'lead': the file has no column names; give numbers "
                   "from 1 to 3");
    expect_refusal(path, "1,1", UNRELU_EUSAGE,
                   "%s: column 1 is chosen twice; name each column once");
    expect_refusal(path, "1,,2", UNRELU_EUSAGE,
                   "%s: empty entry in the list of columns '1,,2'; write for example \"1,3,5-9\"");
    expect_refusal(path, "", UNRELU_EUSAGE,
                   "%s: empty entry in the list of columns ''; write for example \"1,3,5-9\"");
}

static void unusable_dtypes_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *sentence;
    } cases[] = {
        {NPY(">f8", "False", "(2, 2)"), "dtype '>f8' is big-endian"},
        {NPY(">i2", "False", "(2, 2)"), "dtype '>i2' is big-endian"},
        {NPY("|O", "False", "(2, 2)"), "dtype '|O' holds Python objects, which are not read"},
        {NPY("<c16", "False", "(2, 2)"), "dtype '<c16' is complex"},
        {NPY("|S5", "False", "(2, 2)"), "dtype '|S5' holds text"},
        {NPY("|V8", "False", "(2, 2)"), "dtype '|V8' is structured"},
        {NPY("<M8[ns]", "False", "(2, 2)"), "dtype '<M8[ns]' holds dates"},
        {NPY("<f2", "False", "(2, 2)"), "dtype '<f2' is a float of an unsupported size"},
        {NPY("<f16", "False", "(2, 2)"), "dtype '<f16' is a float of an unsupported size"},
        {NPY("<q9", "False", "(2, 2)"), "dtype '<q9' is not known"},
    };
    const double x[4] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sentence[400];
        snprintf(sentence, sizeof sentence,
                 "%%s: %s; save the array as float64, for example numpy.save(file, "
                 "x.astype('<f8'))",
                 cases[i].sentence);
        expect_refusal(write_npy("d.npy", 1, cases[i].dictionary, x, sizeof x), NULL,
                       UNRELU_EFORMAT, sentence);
    }
    expect_refusal(write_npy("d.npy", 1, NPY("<U2", "False", "(2, 2)"), x, sizeof x), NULL,
                   UNRELU_EFORMAT,
                   "%s: dtype '<U2' holds text, not samples; save the numbers as float64");
    expect_refusal(write_npy("d.npy", 1,
                             "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (4,), }",
                             x, sizeof x),
                   NULL, UNRELU_EFORMAT,
                   "%s: the array has a structured dtype (named fields); save its fields as the "
                   "columns of a float64 array, for example "
                   "numpy.lib.recfunctions.structured_to_unstructured(x)");
}

static void unusable_shapes_are_refused(void **state)
{
    (void)state;
    const double x[8] = {0};
    expect_refusal(write_npy("s.npy", 1, NPY("<f8", "False", "()"), x, 8), NULL, UNRELU_EFORMAT,
                   "%s: the array has 0 dimensions, expected 2 (rows are samples, columns are "
                   "coordinates) or 1; reshape it");
    expect_refusal(write_npy("s.npy", 1, NPY("<f8", "False", "(2, 2, 2)"), x, 64), NULL,
                   UNRELU_EFORMAT,
                   "%s: the array has 3 dimensions, expected 2 (rows are samples, columns are "
                   "coordinates) or 1; reshape it");
    expect_refusal(write_npy("s.npy", 1, NPY("<f8", "False", "(0, 5)"), x, 0), NULL, UNRELU_EDATA,
                   "%s has no rows (shape (0, 5)); nothing can be learned");
    expect_refusal(write_npy("s.npy", 1, NPY("<f8", "False", "(5, 0)"), x, 0), NULL, UNRELU_EFORMAT,
                   "%s: the array has shape (5, 0): no columns; rows must be samples, columns "
                   "coordinates");
}

static void sizes_are_checked_against_the_file(void **state)
{
    (void)state;
    const double x[8] = {0};
    expect_refusal(write_npy("t.npy", 1, NPY("<f8", "False", "(1000, 5)"), x, 64), NULL,
                   UNRELU_EFORMAT,
                   "%s: the header promises 5000 elements (40000 bytes), but only 64 bytes follow "
                   "it: the file is truncated; write or copy it again");
    expect_refusal(write_npy("t.npy", 1, NPY("<f8", "False", "(4294967296, 4294967296)"), x, 64),
                   NULL, UNRELU_EFORMAT,
                   "%s: the header's shape (4294967296, 4294967296) is more elements than any file "
                   "holds; the file is damaged");
    expect_refusal(write_npy("t.npy", 1, NPY("<f8", "False", "(99999999999999999999, 1)"), x, 64),
                   NULL, UNRELU_EFORMAT,
                   "%s: the header's shape (99999999999999999999, 1) is more elements than any "
                   "file holds; the file is damaged");
    expect_refusal(write_npy("t.npy", 1, NPY("<f8", "False", "(1152921504606846976, 8)"), x, 64),
                   NULL, UNRELU_EFORMAT,
                   "%s: the header promises 9223372036854775808 elements of 8 bytes, more than any "
                   "file holds; the file is damaged");
}

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    expect_refusal(files_write("h.npy", "", 0), NULL, UNRELU_EFORMAT,
                   "%s is empty (0 bytes); expected a .npy array");
    expect_refusal(files_write("h.npy", "\x93NUMPY\1", 7), NULL, UNRELU_EFORMAT,
                   "%s: 7 bytes are too few for a .npy array (its header alone takes more); write "
                   "or copy it again");
    expect_refusal(files_write("h.npy", "\x93NUMPX\1\0\x76\0{'de", 14), NULL, UNRELU_EFORMAT,
                   "%s: not a .npy array (it does not start with \\x93NUMPY); write it with "
                   "numpy.save");
    expect_refusal(files_write("h.npy", "\x93NUMPY\1\0\x76\0{'de", 14), NULL, UNRELU_EFORMAT,
                   "%s: the .npy header claims 118 bytes, but only 4 follow: the file is truncated "
                   "or damaged; write or copy it again");
    expect_refusal(files_write("h.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{'de", 16), NULL,
                   UNRELU_EFORMAT,
                   "%s: the .npy header claims 4294967295 bytes, but only 4 follow: the file is "
                   "truncated or damaged; write or copy it again");
    expect_refusal(files_write("h.npy", "\x93NUMPY\4\0\x76\0{'de", 14), NULL, UNRELU_EFORMAT,
                   "%s: .npy format version 4.0 is not known; versions 1 to 3 are read");
    expect_refusal(write_npy("h.npy", 1, "{'descr': '<f8', 'shape': (1, 1), }", "12345678", 8),
                   NULL, UNRELU_EFORMAT,
                   "%s: the .npy header cannot be read (a key is missing); the file is damaged or "
                   "not written by numpy.save");
    expect_refusal(write_npy("h.npy", 1, NPY("<f8", "Maybe", "(1, 1)"), "12345678", 8), NULL,
                   UNRELU_EFORMAT,
                   "%s: the .npy header cannot be read ('fortran_order' is neither True nor "
                   "False); the file is damaged or not written by numpy.save");
    expect_refusal(write_npy("h.npy", 1, NPY("<f8", "False", "(1, -1)"), "12345678", 8), NULL,
                   UNRELU_EFORMAT,
                   "%s: the .npy header cannot be read ('shape' is not a tuple of lengths); the "
                   "file is damaged or not written by numpy.save");
    unsigned char *wide = calloc(1, 200000);
    memcpy(wide, "\x93NUMPY\2\0\xa0\x86\1\0", 12);
    expect_refusal(files_write("h.npy", wide, 200000), NULL, UNRELU_EFORMAT,
                   "%s: a .npy header of 100000 bytes is no plain array of numbers (at most 65536 "
                   "are read); save it as a float64 array");
    free(wide);
}

/* a fit of the file's columns is refused with this sentence */
static void expect_unfit(const char *path, const char *columns, const char *message)
{
    unrelu_source_options options = {.size = sizeof options, .columns = columns};
    unrelu_source *source = NULL;
    unrelu_gaussian *model;
    unrelu_error err = {0};
    char expected[512];
    snprintf(expected, sizeof expected, "%s%s", path, message);
    assert_int_equal(unrelu_source_open(path, &options, &source, &err), UNRELU_OK);
    assert_int_equal(unrelu_gaussian_fit(source, NULL, NULL, &model, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, expected);
    unrelu_source_close(source);
}

static void infinities_are_found_with_their_place_and_nan_is_kept(void **state)
{
    (void)state;
    enum { N = 9001, D = 3 };
    double *x = calloc(N * D, sizeof *x);
    x[5] = NAN;
    const char *dictionary = NPY("<f8", "False", "(9001, 3)");
    table t = table_of(write_npy("i.npy", 1, dictionary, x, N * D * sizeof *x), NULL);
    assert_true(isnan(t.x[5]));
    table_free(&t);
    x[3 * 9000 + 1] = -INFINITY;
    const char *path = write_npy("i.npy", 1, dictionary, x, N * D * sizeof *x);
    expect_unfit(path, NULL,
                 ": row 9001, column 2: the value is -inf; every value must be finite (NaN marks "
                 "a missing one)");
    expect_unfit(path, "3,2",
                 ": row 9001, column 2: the value is -inf; every value must be finite (NaN marks "
                 "a missing one)");
    t = table_of(path, "1,3"); /* not among the chosen: not looked at */
    table_free(&t);
    free(x);
}

static void what_is_no_file_is_told(void **state)
{
    (void)state;
    char text[256];
    unrelu_error err = {0};
    unrelu_source *source;
    snprintf(text, sizeof text, "cannot open %s: No such file or directory", files_path("no.npy"));
    expect_refusal(files_path("no.npy"), NULL, UNRELU_EIO, text);
    mkdir(files_path("dir.npy"), 0777);
    snprintf(text, sizeof text, "cannot read %s: it is a directory, not a file",
             files_path("dir.npy"));
    expect_refusal(files_path("dir.npy"), NULL, UNRELU_EIO, text);
    expect_refusal(files_write("noise.dat", "\1\0\2\3", 4), NULL, UNRELU_EFORMAT,
                   "%s is neither text nor a .npy or .npz file; samples are read from .npy, .npz, "
                   ".csv, .tsv, and .csv.gz or .tsv.gz");
    assert_int_equal(unrelu_source_open("", NULL, &source, &err), UNRELU_EUSAGE);
    assert_null(source);
    assert_int_equal(unrelu_source_open(NULL, NULL, &source, NULL), UNRELU_EUSAGE);
}

static void content_wins_over_the_extension(void **state)
{
    (void)state;
    const double x[] = {1, 2};
    table t = table_of(write_npy("x.bin", 1, NPY("<f8", "False", "(2,)"), x, sizeof x), NULL);
    assert_string_equal(t.note, "the content is a .npy array");
    assert_int_equal(t.n, 2);
    table_free(&t);
}

static void a_file_that_shrinks_is_told(void **state)
{
    (void)state;
    double x[100] = {0};
    unrelu_error err = {0};
    unrelu_source *source;
    char sentence[512];
    const char *path = write_npy("z.npy", 1, NPY("<f8", "False", "(50, 2)"), x, sizeof x);
    assert_int_equal(unrelu_source_open(path, NULL, &source, &err), UNRELU_OK);
    assert_int_equal(truncate(path, 500), 0);
    table t = {0};
    assert_int_equal(table_collect(source, &t, &err), UNRELU_EIO);
    snprintf(sentence, sizeof sentence,
             "%s ends at byte 500 where it was longer when it was opened: it changed while it was "
             "read; start again when it is complete",
             path);
    assert_string_equal(err.text, sentence);
    unrelu_source_close(source);
}

typedef struct {
    const unrelu_source *source;
    ur_piece *pieces;
    size_t count, first, step;
    double *x;
    unrelu_status status;
} share;

static void *decode_share(void *context)
{
    share *s = context;
    ur_block block = {0};
    for (size_t i = s->first; i < s->count; i += s->step) {
        const ur_piece *piece = &s->pieces[s->count - 1 - i]; /* last first */
        if ((s->status = ur_source_decode(s->source, piece, &block, NULL)))
            break;
        memcpy(s->x + block.first_row * block.d, block.x, block.rows * block.d * sizeof *s->x);
    }
    ur_block_free(&block);
    return NULL;
}

static void threads_decode_pieces_in_any_order(void **state)
{
    (void)state;
    enum { N = 50000, D = 3, THREADS = 4 };
    double *x = malloc(N * D * sizeof *x), *y = calloc(N * D, sizeof *y);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (double)i;
    unrelu_source *source;
    const char *path =
        write_npy("t.npy", 1, NPY("<f8", "False", "(50000, 3)"), x, N * D * sizeof *x);
    assert_int_equal(unrelu_source_open(path, NULL, &source, NULL), UNRELU_OK);
    ur_piece pieces[64] = {{0}};
    size_t count = 0;
    int more = 1;
    while (more) {
        assert_int_equal(ur_source_take(source, &pieces[count], &more, NULL), UNRELU_OK);
        count += (size_t)more;
    }
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        shares[i] = (share){source, pieces, count, i, THREADS, y, UNRELU_OK};
        pthread_create(&threads[i], NULL, decode_share, &shares[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(shares[i].status, UNRELU_OK);
    }
    assert_memory_equal(x, y, N * D * sizeof *x);
    for (size_t i = 0; i < 64; i++)
        ur_piece_free(&pieces[i]);
    unrelu_source_close(source);
    free(x);
    free(y);
}

static void pieces_have_the_size_that_was_measured_to_be_good(void **state)
{
    (void)state;
    assert_int_equal(ur_piece_rows(10000000, 10), 13107);
    assert_int_equal(ur_piece_rows(100000, 200), 4096);
    assert_int_equal(ur_piece_rows(100000, 1000), 4096);
    assert_int_equal(ur_piece_rows(100000, 100000), 83);
    assert_int_equal(ur_piece_rows(10, 100000000), 1);
    assert_int_equal(ur_piece_rows(8192, 2), 1024);
    assert_int_equal(ur_piece_rows(80000, 2), 10000);
    assert_int_equal(ur_piece_rows(100, 2), 1024);
}

static void memory_is_lent_not_copied(void **state)
{
    (void)state;
    const double x[] = {1, 2, NAN, 4, 5, 6};
    unrelu_source *source;
    unrelu_error err = {0};
    ur_piece piece = {0};
    ur_block block = {0};
    int more;
    assert_int_equal(unrelu_source_memory(x, 3, 2, NULL, &source, &err), UNRELU_OK);
    assert_string_equal(unrelu_source_name(source, 1), "x2");
    assert_string_equal(ur_source_label(source), "matrix in memory");
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(ur_source_take(source, &piece, &more, &err), UNRELU_OK);
        assert_int_equal(ur_source_decode(source, &piece, &block, &err), UNRELU_OK);
        assert_ptr_equal(block.x, x);
        assert_null(block.own);
        assert_true(block.rows == 3 && block.stride == 2 && ur_source_fraction(source) == 1);
        assert_int_equal(ur_source_take(source, &piece, &more, &err), UNRELU_OK);
        assert_false(more);
        assert_int_equal(ur_source_rewind(source, &err), UNRELU_OK);
    }
    unrelu_source_close(source);
    assert_int_equal(unrelu_source_memory(x, 0, 2, NULL, &source, &err), UNRELU_EDATA);
    assert_int_equal(unrelu_source_memory(x, 2, 0, NULL, &source, &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_source_memory(x, SIZE_MAX, 2, NULL, &source, &err), UNRELU_EUSAGE);
    assert_int_equal(unrelu_source_memory(NULL, 2, 2, NULL, &source, &err), UNRELU_EUSAGE);
    assert_null(source);
}

static void columns_of_a_matrix_in_memory_can_be_chosen(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    const unrelu_source_options options = {.size = sizeof options, .columns = "3,1"};
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    double *y = NULL;
    size_t n = 0;
    assert_int_equal(unrelu_source_memory(x, 2, 3, &options, &source, &err), UNRELU_OK);
    assert_int_equal(unrelu_source_columns(source), 2);
    assert_string_equal(unrelu_source_name(source, 0), "x3");
    assert_int_equal(unrelu_source_load(source, NULL, &y, &n, &err), UNRELU_OK);
    assert_int_equal(n, 2);
    assert_memory_equal(y, ((const double[]){3, 1, 6, 4}), 4 * sizeof *y);
    unrelu_free(y);
    unrelu_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_becomes_doubles),
        cmocka_unit_test(versions_one_to_three_and_other_spellings_are_read),
        cmocka_unit_test(fortran_order_gives_the_same_rows),
        cmocka_unit_test(columns_that_do_not_exist_are_refused),
        cmocka_unit_test(unusable_dtypes_are_refused_with_a_remedy),
        cmocka_unit_test(unusable_shapes_are_refused),
        cmocka_unit_test(sizes_are_checked_against_the_file),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(infinities_are_found_with_their_place_and_nan_is_kept),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(content_wins_over_the_extension),
        cmocka_unit_test(a_file_that_shrinks_is_told),
        cmocka_unit_test(threads_decode_pieces_in_any_order),
        cmocka_unit_test(pieces_have_the_size_that_was_measured_to_be_good),
        cmocka_unit_test(memory_is_lent_not_copied),
        cmocka_unit_test(columns_of_a_matrix_in_memory_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
