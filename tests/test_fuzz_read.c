/* SPDX-License-Identifier: Apache-2.0 */
/* Valid files, damaged at random (fixed seed, fixed count): every reader must answer with rows or
 * with a sentence, and allocate no more than the file can justify. Crashes, leaks and undefined
 * behaviour are for the sanitizers to see. Out of them, an address space limit turns an
 * oversized allocation into ENOMEM, which no damaged file of these sizes may give. */
#include "files.h"

#include "read/npz.h"
#include "write/npz_write.h"

#include <sys/resource.h>
#include <zip.h>
#include <zlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#else
#define UNDER_ASAN 0
#endif

enum { ROUNDS = 1200, SEED_MOST = 1 << 16, BLOCK_SLACK = 4 << 20 };

typedef struct {
    const char *name;
    unsigned char bytes[SEED_MOST];
    size_t size;
    int packed; /* may unpack to 1032 times its size */
} seed_file;

static seed_file seeds[12];
static size_t seed_count;

static seed_file *new_seed(const char *name, int packed)
{
    seed_file *s = &seeds[seed_count++];
    s->name = name;
    s->packed = packed;
    return s;
}

static void seed_from_file(const char *name, const char *path, int packed)
{
    seed_file *s = new_seed(name, packed);
    unsigned char *bytes = files_read(path, &s->size);
    assert_true(s->size <= SEED_MOST);
    memcpy(s->bytes, bytes, s->size);
    free(bytes);
}

static void seed_arrays(void)
{
    double x[60];
    for (int i = 0; i < 60; i++)
        x[i] = i * 0.25;
    seed_file *s = new_seed("a.npy", 0);
    s->size = files_npy(s->bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 3), }",
                        x, sizeof x);
    s = new_seed("b.npy", 0);
    s->size = files_npy(s->bytes, 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (30, 4), }",
                        x, sizeof x);
    s = new_seed("c.npy", 0);
    s->size = files_npy(s->bytes, 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (480,), }",
                        x, sizeof x);
}

static void seed_archives(void)
{
    const char *path = files_path("seed.npz");
    ur_npz_writer *w;
    double x[60] = {1, 2, 3};
    const char *names[] = {"lead", "zinc", "\xce\xb1"};
    assert_int_equal(ur_npz_writer_open(path, &w, NULL), UNRELU_OK);
    ur_npz_add(w, "x", x, 2, (size_t[]){20, 3});
    assert_int_equal(ur_npz_commit(w, NULL), UNRELU_OK);
    seed_from_file("d.npz", path, 1);
    assert_int_equal(ur_npz_writer_open(path, &w, NULL), UNRELU_OK);
    ur_npz_add_string(w, "kind", "summary");
    ur_npz_add(w, "x", x, 2, (size_t[]){20, 3});
    ur_npz_add_strings(w, "names", names, 3);
    assert_int_equal(ur_npz_commit(w, NULL), UNRELU_OK);
    seed_from_file("e.npz", path, 1);
    for (int fortran = 0; fortran < 2; fortran++) {
        static unsigned char npy[4096];
        size_t size =
            files_npy(npy, 1,
                      fortran ? "{'descr': '<f8', 'fortran_order': True, 'shape': (20, 3), }"
                              : "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 3), }",
                      x, sizeof x);
        zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
        zip_file_add(zip, "x.npy", zip_source_buffer(zip, npy, size, 0), 0);
        assert_int_equal(zip_close(zip), 0);
        seed_from_file(fortran ? "f.npz" : "g.npz", path, 1);
    }
}

static void seed_texts(void)
{
    static const char text[] = "\xef\xbb\xbf"
                               "lead,\"zinc, \"\"total\"\"\",tin\r\n"
                               "1,2.5e-3,-0.12345678901234567\r\n\r\nNA,,\"7\"\r\n"
                               "4, +5.5E+2 ,123456789012345678901234567890\r\n";
    seed_file *s = new_seed("h.csv", 0);
    s->size = sizeof text - 1;
    memcpy(s->bytes, text, s->size);
    s = new_seed("i.tsv", 0);
    s->size = (size_t)sprintf((char *)s->bytes, "1\t2\n\t\n3\tNaN\n");
    s = new_seed("k.csv", 0);
    s->size = (size_t)sprintf((char *)s->bytes, "a,b\n<0.25,ND\n\"< 3\",2\nNA,<-1e3\nnd,5\n");
    const char *path = files_path("seed.csv.gz");
    gzFile gz = gzopen(path, "wb");
    gzwrite(gz, text, sizeof text - 1);
    gzclose(gz);
    seed_from_file("j.csv.gz", path, 1);
}

/* ---- damage ---- */

static size_t below(uint64_t *state, size_t limit)
{
    return limit ? (size_t)(random_bits(state) % limit) : 0;
}

static void write_number(unsigned char *bytes, size_t size, uint64_t *state)
{
    static const uint64_t values[] = {0, 1, 0x7fffffff, 0xffffffff, UINT64_MAX, 1u << 30, 0xffff};
    uint64_t value = values[below(state, 7)];
    size_t width = (size_t)1 << below(state, 4);
    for (size_t at = below(state, size), i = 0; i < width && at + i < size; i++, value >>= 8)
        bytes[at + i] = (unsigned char)value;
}

/* One damage; the buffer has room for twice the largest seed. */
static size_t damage(unsigned char *bytes, size_t size, uint64_t *state)
{
    static const char spice[] = "0123456789,;\t\n\r\"'(){}:<>|.eE+-NAinf\0\x93PK";
    if (size == 0)
        return 0;
    size_t at = below(state, size), length = 1 + below(state, 16);
    if (length > size - at)
        length = size - at;
    switch (below(state, 7)) {
    case 0:
        bytes[at] ^= (unsigned char)(1u << below(state, 8));
        return size;
    case 1:
        bytes[at] = (unsigned char)random_bits(state);
        return size;
    case 2:
        bytes[at] = (unsigned char)spice[below(state, sizeof spice - 1)];
        return size;
    case 3:
        return at; /* truncated */
    case 4:        /* a part left out */
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    case 5: /* a part twice */
        memmove(bytes + at + length, bytes + at, size - at);
        return size + length;
    default:
        write_number(bytes, size, state);
        return size;
    }
}

/* ---- reading whatever it is ---- */

static void read_samples(const char *path, const seed_file *s, size_t size)
{
    unrelu_source *source;
    unrelu_error err = {0};
    ur_piece piece = {0};
    ur_block block = {.wanted = (ur_marks_wanted)(size % 3)};
    int more = 1;
    size_t ratio = s->packed ? 1032 : 1, most = ratio * 8 * size + BLOCK_SLACK;
    unrelu_status status = unrelu_source_open(path, NULL, &source, &err);
    while (!status && more) {
        status = ur_source_take(source, &piece, &more, &err);
        if (!status && more)
            status = ur_source_decode(source, &piece, &block, &err);
        assert_true(piece.capacity <= most && block.capacity * sizeof(double) <= most &&
                    block.bytes_capacity <= most);
    }
    assert_true(status != UNRELU_ENOMEM && status != UNRELU_EINTERNAL);
    assert_true(status == UNRELU_OK || *err.text);
    ur_piece_free(&piece);
    ur_block_free(&block);
    unrelu_source_close(source);
}

static void read_model(const char *path)
{
    UR_ARENA(arena);
    ur_npz *npz;
    const char *kind, **names;
    double *x, number;
    size_t count, ndim, shape[4];
    unrelu_status status[4] = {0};
    if (ur_npz_open(path, &arena, &npz, NULL))
        return;
    status[0] = ur_npz_string(npz, "kind", &arena, &kind, NULL);
    status[1] = ur_npz_doubles(npz, "x", 60, &arena, &x, NULL);
    status[2] = ur_npz_strings(npz, "names", 1000, 1000, &arena, &names, &count, NULL);
    if (!ur_npz_shape(npz, "x", &ndim, shape, NULL) && ndim == 2) {
        int overflow = 0;
        count = ur_product(shape[0], shape[1], &overflow);
        status[3] = ur_npz_doubles(npz, "x", count, &arena, &x, NULL);
    }
    for (int i = 0; i < 4; i++)
        assert_true(status[i] != UNRELU_ENOMEM && status[i] != UNRELU_EINTERNAL);
    ur_npz_number(npz, "x", &number, NULL);
}

static void damaged_files_give_rows_or_a_sentence(void **state)
{
    (void)state;
    static unsigned char bytes[2 * SEED_MOST];
    uint64_t random = 20190101;
    for (size_t k = 0; k < seed_count; k++) {
        const seed_file *s = &seeds[k];
        for (int round = 0; round < ROUNDS; round++) {
            size_t size = s->size;
            memcpy(bytes, s->bytes, size);
            for (size_t times = round ? 1 + below(&random, 4) : 0; times; times--)
                size = damage(bytes, size, &random);
            const char *path = files_write(s->name, bytes, size);
            read_samples(path, s, size);
            if (strstr(s->name, ".npz"))
                read_model(path);
        }
    }
}

static int setup(void **state)
{
    if (files_setup(state))
        return -1;
    seed_arrays();
    seed_archives();
    seed_texts();
#if !UNDER_ASAN
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1u << 30;
    setrlimit(RLIMIT_AS, &limit);
#endif
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_give_rows_or_a_sentence),
    };
    return cmocka_run_group_tests(tests, setup, files_teardown);
}
