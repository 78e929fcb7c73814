/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of readers and writers: a scratch directory, files byte by byte, whole tables. */
#ifndef TEST_FILES_H
#define TEST_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "read/source.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char files_directory[64];

static inline int files_setup(void **state)
{
    (void)state;
    strcpy(files_directory, "/tmp/unrelu-test-XXXXXX");
    return mkdtemp(files_directory) ? 0 : -1;
}

static int files_remove(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static inline int files_teardown(void **state)
{
    (void)state;
    return nftw(files_directory, files_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* a path in the scratch directory; good until the eighth call after it */
static inline const char *files_path(const char *name)
{
    static char paths[8][512];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", files_directory, name);
    return path;
}

static inline const char *files_write(const char *name, const void *bytes, size_t size)
{
    const char *path = files_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *files_text(const char *name, const char *text)
{
    return files_write(name, text, strlen(text));
}

/* bytes of a file; the caller frees */
static inline unsigned char *files_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

/* A .npy array: header by hand, then the data; returns its size. */
static inline size_t files_npy(unsigned char *out, int version, const char *dictionary,
                               const void *data, size_t size)
{
    size_t prefix = version == 1 ? 10 : 12, text = strlen(dictionary) + 1;
    size_t total = (prefix + text + 63) / 64 * 64, length = total - prefix;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    for (size_t i = 8; i < prefix; i++, length >>= 8)
        out[i] = (unsigned char)length;
    memset(out + prefix, ' ', total - prefix);
    memcpy(out + prefix, dictionary, text - 1);
    out[total - 1] = '\n';
    memcpy(out + total, data, size);
    return total + size;
}

typedef struct {
    size_t n, d, pieces;
    double *x;
    char note[512];
    char **names;
} table;

static inline void table_free(table *t)
{
    free(t->x);
    for (size_t j = 0; j < t->d; j++)
        free(t->names[j]);
    free(t->names);
    memset(t, 0, sizeof *t);
}

/* everything between open and close, from an open source */
static inline unrelu_status table_collect(unrelu_source *source, table *t, unrelu_error *err)
{
    ur_piece piece = {0};
    ur_block block = {0};
    int more = 0;
    unrelu_status status = ur_source_rewind(source, err);
    t->n = t->pieces = 0;
    t->d = unrelu_source_columns(source);
    while (!status && !(status = ur_source_take(source, &piece, &more, err)) && more) {
        status = ur_source_decode(source, &piece, &block, err);
        if (status)
            break;
        assert_int_equal(piece.index, t->pieces++);
        assert_int_equal(block.first_row, t->n);
        assert_int_equal(block.rows, piece.rows);
        t->x = realloc(t->x, (t->n + block.rows) * t->d * sizeof *t->x);
        for (size_t i = 0; i < block.rows; i++)
            memcpy(t->x + (t->n + i) * t->d, block.x + i * block.stride, t->d * sizeof *t->x);
        t->n += block.rows;
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    return status;
}

static inline unrelu_status table_read(const char *path, const char *columns, table *t,
                                       unrelu_error *err)
{
    unrelu_source *source;
    unrelu_source_options options = {.size = sizeof options, .columns = columns};
    memset(t, 0, sizeof *t);
    unrelu_status status = unrelu_source_open(path, &options, &source, err);
    if (status) {
        assert_null(source);
        return status;
    }
    snprintf(t->note, sizeof t->note, "%s", unrelu_source_note(source));
    t->d = unrelu_source_columns(source);
    t->names = calloc(t->d, sizeof *t->names);
    for (size_t j = 0; j < t->d; j++)
        t->names[j] = strdup(unrelu_source_name(source, j));
    status = table_collect(source, t, err);
    unrelu_source_close(source);
    if (status)
        table_free(t);
    return status;
}

/* reads all, asserts success */
static inline table table_of(const char *path, const char *columns)
{
    table t;
    unrelu_error err = {0};
    if (table_read(path, columns, &t, &err))
        fail_msg("%s: %s", path, err.text);
    return t;
}

/* reading fails with this status and sentence, %s standing for the path wherever it occurs */
static inline void expect_refusal(const char *path, const char *columns, unrelu_status status,
                                  const char *format)
{
    table t;
    unrelu_error err = {0};
    char sentence[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sentence, sizeof sentence, format, path, path, path);
#pragma GCC diagnostic pop
    unrelu_status got = table_read(path, columns, &t, &err);
    assert_string_equal(err.text, sentence);
    assert_int_equal(got, status);
}

/* fixed-seed generator of the tests (splitmix64) */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
