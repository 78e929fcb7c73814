/* SPDX-License-Identifier: Apache-2.0 */
/* Each limit of base/limits.h from either side; and that small files which claim or unpack to much
 * are refused before they take memory. */
#include "archives.h"
#include "sanitized.h"

#include "base/limits.h"
#include "read/archive.h"
#include "read/npz.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

/* ---- text ---- */

/* count times a piece of text, between a start and an end, as a .csv.gz */
static const char *packed(const char *start, const char *piece, size_t count, const char *end)
{
    enum { BUFFER = 1 << 20 };
    const char *path = files_path("t.csv.gz");
    size_t size = strlen(piece), used = 0;
    char *buffer = malloc(BUFFER);
    gzFile gz = gzopen(path, "wb1");
    assert_non_null(gz);
    gzputs(gz, start);
    for (size_t i = 0; i < count; i++) {
        memcpy(buffer + used, piece, size);
        used += size;
        if (used + size > BUFFER || i + 1 == count) {
            assert_int_equal(gzwrite(gz, buffer, (unsigned)used), used);
            used = 0;
        }
    }
    gzputs(gz, end);
    assert_int_equal(gzclose(gz), Z_OK);
    free(buffer);
    return path;
}

static void expect_size(const char *path, size_t n, size_t d)
{
    table t = table_of(path, NULL);
    assert_int_equal(t.n, n);
    assert_int_equal(t.d, d);
    table_free(&t);
}

static void blank_lines_end_somewhere(void **state)
{
    enum { SIZE = 64, MOST = UR_BLANK_MOST / SIZE, MEBI = (1 << 20) / SIZE };
    const char *const blanks =
        "\t                                                             \r\n";
    (void)state;
    assert_int_equal(strlen(blanks), SIZE);
    if (!SANITIZED)
        expect_size(packed("", blanks, MOST, "1,2\n3,4\n"), 2, 2);
    expect_refusal(packed("", blanks, MOST + 1, "1,2\n"), NULL, UNRELU_EFORMAT,
                   "%s: line 1048577 ends more than 64 MiB of blank lines; this is no table of "
                   "numbers");
    skip_sanitized(); /* the same further on; 64 MiB take seconds there */
    expect_size(packed("1,2\n", blanks, MOST - 4 * MEBI, "3,4\n"), 2, 2);
    unrelu_error err = {0};
    table t;
    assert_int_equal(table_read(packed("1,2\n", blanks, MOST + 4 * MEBI, "3,4\n"), NULL, &t, &err),
                     UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, " ends more than 64 MiB of blank lines; "));
}

/* in linear time, or they would take hours; 64 MiB take seconds under the sanitizers */
static void remarks_end_somewhere(void **state)
{
    enum { SIZE = 64 };
    const char *const remark = "# 4567890123456789012345678901234567890123456789012345678901234\n";
    (void)state;
    assert_int_equal(strlen(remark), SIZE);
    if (!SANITIZED)
        expect_size(packed("", remark, UR_BLANK_MOST / SIZE, "1,2\n3,4\n"), 2, 2);
    expect_refusal(
        packed("", remark, UR_BLANK_MOST / SIZE + 1, "1,2\n"), NULL, UNRELU_EFORMAT,
        "%s: line 1048577 ends more than 64 MiB of remarks; this is no table of numbers");
}

static void lines_end_somewhere(void **state)
{
    (void)state;
    expect_size(packed("1", " ", UR_LINE_MOST - 1, "\n2\n"), 2, 1);
    expect_refusal(packed("1", " ", UR_LINE_MOST, "\n2\n"), NULL, UNRELU_EFORMAT,
                   "%s: line 1 is longer than 64 MiB; this is no table of numbers");
    expect_size(packed("5\n1", " ", UR_LINE_MOST - 1, "\n2\n"), 3, 1);
    expect_refusal(packed("5\n1", " ", UR_LINE_MOST, "\n2\n"), NULL, UNRELU_EFORMAT,
                   "%s: line 2 is longer than 64 MiB; this is no table of numbers");
}

static void cells_end_somewhere(void **state)
{
    (void)state;
    expect_size(packed("7\n0.", "3", UR_CELL_MOST - 2, "\n"), 2, 1);
    expect_refusal(packed("7\n0.", "3", UR_CELL_MOST - 1, "\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 2 (line 2), column 1: '0.33333333333333333333333333333333333333...' "
                   "has 4097 bytes, where a number takes 4096 at most; correct it, or leave the "
                   "column out with `columns`");
    /* a text that is left out may be longer */
    table t = table_of(packed("a,b\n7,\"", "a", 2 * UR_CELL_MOST, "\"\n"), "1");
    assert_int_equal(t.n, 1);
    table_free(&t);
}

static void names_end_somewhere(void **state)
{
    (void)state;
    expect_size(packed("b,", "a", UR_NAME_MOST, "\n1,2\n"), 1, 2);
    expect_refusal(packed("b,", "a", UR_NAME_MOST + 1, "\n1,2\n"), NULL, UNRELU_EFORMAT,
                   "%s: line 1, column 2: a column name of 4097 bytes, where at most 4096 are "
                   "read; shorten it");
}

static void columns_end_somewhere(void **state)
{
    (void)state;
    static const char *const sentence =
        "%s has 1048577 columns, where at most 1048576 are read; rows must be samples: turn it "
        "where they are columns";
    expect_size(packed("1", ",1", UR_COLUMNS_MOST - 1, "\n"), 1, UR_COLUMNS_MOST);
    expect_refusal(packed("1", ",1", UR_COLUMNS_MOST, "\n"), NULL, UNRELU_EFORMAT, sentence);
    archive a = archive_new("w.npz");
    void *zeros = calloc(UR_COLUMNS_MOST + 1, 1);
    archive_add(&a, "x.npy", NPY("|u1", "False", "(1, 1048577)"), zeros, UR_COLUMNS_MOST + 1, 1);
    expect_refusal(archive_close(&a), NULL, UNRELU_EFORMAT, sentence);
    free(zeros);
}

/* ---- archives ---- */

static void members_end_somewhere(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        archive a = archive_new("m.npz");
        archive_add(&a, "x.npy", NPY("<f8", "False", "(1, 1)"), "12345678", 8, 0);
        for (int i = 1; i < UR_MEMBERS_MOST + more; i++) {
            char name[32];
            snprintf(name, sizeof name, "%d", i);
            assert_true(zip_file_add(a.zip, name, zip_source_buffer(a.zip, "", 0, 0), 0) >= 0);
        }
        if (more)
            expect_refusal(archive_close(&a), NULL, UNRELU_EFORMAT,
                           "%s has 65537 members, where at most 65536 are read; keep fewer arrays "
                           "in a file");
        else
            expect_size(archive_close(&a), 1, 1);
    }
}

/* a network of zeros with one neuron and d inputs, deflated, beside `noise` bytes that are not */
static const char *zero_network(size_t d, size_t noise)
{
    char shape[96];
    uint64_t seed = 1;
    double *zeros = calloc(d, sizeof *zeros);
    unsigned char *dust = malloc(noise + 1);
    archive a = archive_new("z.npz");
    const uint32_t kind[] = {'n', 'e', 't', 'w', 'o', 'r', 'k'};
    for (size_t i = 0; i < noise; i++)
        dust[i] = (unsigned char)random_bits(&seed);
    snprintf(shape, sizeof shape, NPY("<f8", "False", "(%zu, 1)"), d);
    archive_add(&a, "kind.npy", NPY("<U7", "False", "()"), kind, sizeof kind, 0);
    archive_add(&a, "U.npy", shape, zeros, d * sizeof *zeros, 1);
    archive_add(&a, "V.npy", NPY("<f8", "False", "(1, 1)"), zeros, sizeof *zeros, 0);
    archive_add(&a, "dust.npy", NPY("|u1", "False", "(0,)"), dust, noise, 0);
    free(zeros);
    free(dust);
    return archive_close(&a);
}

/* loads it in a process of its own; returns the status, and the MB it took beyond what there was */
static unrelu_status load_apart(const char *path, double *megabytes, unrelu_error *err)
{
    int channel[2], state;
    struct rusage before, after;
    assert_int_equal(pipe(channel), 0);
    getrusage(RUSAGE_SELF, &before);
    pid_t child = fork();
    if (child == 0) {
        unrelu_network *m;
        unrelu_error why = {0};
        unrelu_status status = unrelu_network_load(path, &m, &why);
        unrelu_network_free(m);
        if (write(channel[1], &why, sizeof why) < 0)
            _exit(99);
        _exit((int)status);
    }
    assert_true(child > 0);
    assert_int_equal(read(channel[0], err, sizeof *err), sizeof *err);
    assert_int_equal(wait4(child, &state, 0, &after), child);
    close(channel[0]);
    close(channel[1]);
    assert_true(WIFEXITED(state));
    *megabytes = (double)(after.ru_maxrss - before.ru_maxrss) / 1024;
    return (unrelu_status)WEXITSTATUS(state);
}

static void archives_grow_to_an_end(void **state)
{
    (void)state;
    unrelu_error err;
    double megabytes;
    const size_t free_numbers = UR_EXPANSION_FREE / 8;
    const char *path = zero_network(free_numbers / 2, 0);
    assert_int_equal(load_apart(path, &megabytes, &err), UNRELU_OK);
    path = zero_network(free_numbers + 1, 0); /* its header comes on top */
    assert_int_equal(load_apart(path, &megabytes, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, " bytes, where at most 50 times as many are read (beyond 16 "
                                     "MiB); write it with numpy.savez, which does not compress"));
    /* with so many bytes beside it the same is fine, up to 50 times of all */
    path = zero_network(3 * free_numbers / 2, 1 << 20);
    assert_int_equal(load_apart(path, &megabytes, &err), UNRELU_EFORMAT);
    assert_non_null(
        strstr(err.text, " columns, where at most 1048576 are read")); /* not the ratio */
    path = zero_network(4 * free_numbers, 1 << 20);
    assert_int_equal(load_apart(path, &megabytes, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, " times as many are read"));
}

static void a_small_file_takes_little_memory(void **state)
{
    (void)state;
    enum { NUMBERS = 25 << 20 }; /* 200 MB, in a file of 200 kB */
    unrelu_error err;
    double megabytes = 0;
    assert_int_equal(load_apart(zero_network(NUMBERS, 0), &megabytes, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, " times as many are read"));
    assert_true(megabytes < 20);
}

/* a member that unpacks to more than its entry says is not unpacked to the end */
static void members_hold_what_was_promised(void **state)
{
    (void)state;
    enum { HELD = 1 << 20, SAID = 200 };
    UR_ARENA(arena);
    double *zeros = calloc(HELD, 1), *x;
    ur_npz *npz;
    unrelu_error err;
    size_t size;
    archive a = archive_new("p.npz");
    archive_add(&a, "x.npy", NPY("<f8", "False", "(1,)"), zeros, HELD, 1);
    const char *path = archive_close(&a);
    unsigned char *bytes = files_read(path, &size);
    for (size_t i = 0; i + 28 < size; i++) /* the size in the directory, and in the local header */
        if (!memcmp(bytes + i, "PK\1\2", 4) || !memcmp(bytes + i, "PK\3\4", 4)) {
            size_t at = i + (bytes[i + 2] == 1 ? 24 : 22);
            memset(bytes + at, 0, 4);
            bytes[at] = SAID;
        }
    files_write("p.npz", bytes, size);
    assert_int_equal(ur_npz_open(path, &arena, &npz, &err), UNRELU_OK);
    assert_int_equal(ur_npz_doubles(npz, "x", 1, &arena, &x, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "p.npz:x holds more than the 200 bytes that were promised: "
                                     "the archive is damaged; write it again"));
    free(zeros);
    free(bytes);
}

/* ---- texts of models ---- */

static unrelu_status read_texts(const char *dictionary, size_t size, size_t most, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_npz *npz;
    size_t count;
    const char **strings;
    char *zeros = calloc(size + 1, 1);
    archive a = archive_new("s.npz");
    archive_add(&a, "s.npy", dictionary, zeros, size, 1);
    free(zeros);
    assert_int_equal(ur_npz_open(archive_close(&a), &arena, &npz, err), UNRELU_OK);
    return ur_npz_strings(npz, "s", most, UR_TEXT_MOST, &arena, &strings, &count, err);
}

static void texts_end_somewhere(void **state)
{
    (void)state;
    unrelu_error err;
    assert_int_equal(read_texts(NPY("<U65536", "False", "()"), 4 * UR_TEXT_MOST, 1, &err), 0);
    assert_int_equal(read_texts(NPY("<U65537", "False", "()"), 4 * UR_TEXT_MOST + 4, 1, &err),
                     UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "s.npz:s has texts of 65537 characters, where at most 65536 "
                                     "are read; shorten them"));
    assert_int_equal(read_texts(NPY("<U1", "False", "(1000,)"), 4000, UR_WARNINGS_MOST, &err), 0);
    assert_int_equal(read_texts(NPY("<U1", "False", "(1001,)"), 4004, UR_WARNINGS_MOST, &err),
                     UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "s.npz:s holds 1001 strings, expected 1000 at most"));
    /* a text without characters takes no bytes: any number of them fits */
    assert_int_equal(read_texts(NPY("<U0", "False", "(999999999999,)"), 0, 1000, &err),
                     UNRELU_EFORMAT);
}

/* ---- formulas ---- */

static void formulas_end_somewhere(void **state)
{
    (void)state;
    static const char tail[] = "\np cnf 1 1\n1 0\n";
    unrelu_hardness *instance;
    unrelu_error err = {0};
    for (int more = 0; more < 2; more++) {
        const char *path = files_path("f.cnf"); /* a comment, mostly a hole in the file */
        FILE *file = fopen(path, "wb");
        fputc('c', file);
        fseek(file, UR_FORMULA_MOST - (long)strlen(tail) + more, SEEK_SET);
        fputs(tail, file);
        fclose(file);
        unrelu_status status = unrelu_hardness_encode(path, 0, &instance, &err);
        assert_int_equal(status, more ? UNRELU_EFORMAT : UNRELU_OK);
        unrelu_hardness_free(instance);
    }
    assert_non_null(strstr(err.text, "f.cnf: the formula goes on at line 3 after 64 MiB, where at "
                                     "most so many are read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blank_lines_end_somewhere),
        cmocka_unit_test(remarks_end_somewhere),
        cmocka_unit_test(lines_end_somewhere),
        cmocka_unit_test(cells_end_somewhere),
        cmocka_unit_test(names_end_somewhere),
        cmocka_unit_test(columns_end_somewhere),
        cmocka_unit_test(members_end_somewhere),
        cmocka_unit_test(archives_grow_to_an_end),
        cmocka_unit_test(a_small_file_takes_little_memory),
        cmocka_unit_test(members_hold_what_was_promised),
        cmocka_unit_test(texts_end_somewhere),
        cmocka_unit_test(formulas_end_somewhere),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
