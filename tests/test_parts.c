/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a file: together they are the file, and ranks that have one each fit its model. */
#include "files.h"
#include "planted.h"
#include "world.h"

#include <zlib.h>

static unrelu_source *open_part(const char *path, size_t part, size_t parts)
{
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_source_options options;
    unrelu_source_options_init(&options, sizeof options);
    options.part = part;
    options.parts = parts;
    must(unrelu_source_open(path, &options, &source, &err), &err);
    return source;
}

/* the cells of a source, read piece by piece; *n rows, the first of which is row *first */
static double *cells_of(unrelu_source *source, size_t *first, size_t *n)
{
    ur_piece piece = {0};
    ur_block block = {0};
    unrelu_error err = {0};
    size_t d = unrelu_source_columns(source);
    double *x = NULL;
    int more = 1;
    must(ur_source_rewind(source, &err), &err);
    for (*n = 0; more;) {
        must(ur_source_take(source, &piece, &more, &err), &err);
        if (!more)
            break;
        must(ur_source_decode(source, &piece, &block, &err), &err);
        if (*n == 0)
            *first = block.first_row;
        assert_int_equal(block.first_row, *first + *n);
        x = realloc(x, (*n + block.rows) * d * sizeof *x);
        memcpy(x + *n * d, block.x, block.rows * d * sizeof *x);
        *n += block.rows;
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    return x;
}

/* Parts 1 to `most`, each read twice, say in which row of the file they begin, and have its cells.
 */
static void expect_parts(const char *path, size_t most)
{
    size_t rows, first;
    unrelu_error err = {0};
    unrelu_source *whole = open_part(path, 0, 0);
    double *x = cells_of(whole, &first, &rows);
    size_t d = unrelu_source_columns(whole);
    unrelu_source_close(whole);
    for (size_t parts = 1; parts <= most; parts++) {
        unrelu_extent before = {0};
        for (size_t part = 0; part < parts; part++) {
            unrelu_extent own;
            size_t n;
            unrelu_source *source = open_part(path, part, parts);
            must(unrelu_source_extent(source, &own, &err), &err);
            unrelu_source_begin_at(source, &before);
            for (int again = 0; again < 2; again++) {
                double *cells = cells_of(source, &first, &n);
                assert_int_equal(n, own.rows);
                assert_true(n == 0 || first == before.rows);
                if (n)
                    assert_memory_equal(cells, x + before.rows * d, n * d * sizeof *x);
                free(cells);
            }
            before.rows += own.rows;
            before.lines += own.lines;
            unrelu_source_close(source);
        }
        assert_int_equal(before.rows, rows);
    }
    free(x);
}

static const char *write_npy(const char *name, const char *dtype, int fortran, size_t n, size_t d,
                             const void *data, size_t size)
{
    char dictionary[160];
    unsigned char *bytes = malloc(size + 512);
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %zu), }", dtype,
             fortran ? "True" : "False", n, d);
    const char *path = files_write(name, bytes, files_npy(bytes, 1, dictionary, data, size));
    free(bytes);
    return path;
}

static void parts_of_an_array_are_the_array(void **state)
{
    (void)state;
    enum { N = 20011, D = 3 };
    double *x = malloc(N * D * sizeof *x);
    float *single = malloc(N * D * sizeof *single);
    for (size_t i = 0; i < N * D; i++)
        single[i] = (float)(x[i] = sin((double)i) + 2);
    expect_parts(write_npy("c.npy", "<f8", 0, N, D, x, N * D * sizeof *x), 7);
    expect_parts(write_npy("f.npy", "<f8", 1, N, D, x, N * D * sizeof *x), 3);
    expect_parts(write_npy("s.npy", "<f4", 0, N, D, single, N * D * sizeof *single), 3);
    expect_parts(write_npy("few.npy", "<f8", 0, 5, D, x, 5 * D * sizeof *x), 4); /* empty ones */
    free(x);
    free(single);
}

/* blank lines, ends of lines of two kinds, none at the end; a header of more than a share */
static void parts_of_a_text_are_the_text(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    static const char *const heads[] = {"lead,zinc\n", "",
                                        "\"a name longer than any row\",b\r\n\n"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        size_t used = (size_t)sprintf(text, "%s", heads[h]);
        for (size_t i = 0; i < 30000; i++)
            used +=
                (size_t)sprintf(text + used, "%zu,%.*f%s", i, (int)(i % 9), 1.0 / (double)(i + 1),
                                i % 7    ? "\n"
                                : i % 11 ? "\r\n"
                                         : "\n\n");
        expect_parts(files_write("a.csv", text, used - 1), 6);
    }
    expect_parts(files_text("few.csv", "a,b\n1,2\n3,4\n"), 9);
    free(text);
}

static void messages_count_from_the_start_of_the_file(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    size_t used = 0, bad = 20001;
    for (size_t i = 1; i <= 30000; i++)
        used += (size_t)sprintf(text + used, i == bad ? "x,1\n" : i == 100 ? "\n1,2\n" : "1,2\n");
    const char *path = files_write("bad.csv", text, used);
    unrelu_extent before = {0};
    for (size_t part = 0; part < 4; part++) {
        unrelu_extent own;
        unrelu_error err = {0};
        double *x = NULL;
        size_t n;
        unrelu_source *source = open_part(path, part, 4);
        must(unrelu_source_extent(source, &own, &err), &err);
        unrelu_source_begin_at(source, &before);
        unrelu_status status = unrelu_source_load(source, NULL, &x, &n, &err);
        assert_int_equal(status, part == 2 ? UNRELU_EFORMAT : UNRELU_OK);
        if (part == 2)
            assert_non_null(
                strstr(err.text, "bad.csv, part 3 of 4: row 20001 (line 20002), column 1"));
        before.rows += own.rows;
        before.lines += own.lines;
        unrelu_free(x);
        unrelu_source_close(source);
    }
    free(text);
}

static void what_cannot_be_cut_is_refused(void **state)
{
    (void)state;
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    unrelu_source_options options;
    unrelu_source_options_init(&options, sizeof options);
    must(unrelu_source_options_set(&options, "part", "2", &err), &err);
    must(unrelu_source_options_set(&options, "parts", "2", &err), &err);
    const char *path = files_text("a.csv", "1,2\n3,4\n");
    assert_int_equal(unrelu_source_open(path, &options, &source, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "`part` is 2 of 2"));
    options.part = 1;
    path = files_path("a.csv.gz");
    gzFile packed = gzopen(path, "wb");
    gzputs(packed, "1,2\n3,4\n");
    gzclose(packed);
    assert_int_equal(unrelu_source_open(path, &options, &source, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "cannot be read from its middle on"));
    assert_null(source);
}

/* ---- ranks, each with a part ---- */

typedef struct {
    world *w;
    const char *path;
    size_t rank;
    const unrelu_gaussian_options *options;
    unrelu_gaussian *model;
} member;

static unrelu_status rank_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    (void)err;
    member *me = context;
    world_sum(me->w, me->rank, s, len);
    return UNRELU_OK;
}

static void *fit_part(void *context)
{
    member *me = context;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec,
                        .threads = 1,
                        .rank = me->rank,
                        .ranks = me->w->ranks,
                        .rank_sum = rank_sum,
                        .context = me};
    unrelu_source *source = open_part(me->path, me->rank, me->w->ranks);
    must(unrelu_gaussian_fit(source, me->options, &exec, &me->model, &err), &err);
    unrelu_source_close(source);
    return NULL;
}

/* Blocks and what they are counted from are those of one run; only the order of sums differs. */
static void ranks_fit_the_model_of_one(void **state)
{
    (void)state;
    enum { N = 20000, D = 6 };
    const unrelu_precision precisions[] = {UNRELU_PRECISION_DOUBLE, UNRELU_PRECISION_SINGLE};
    unrelu_gaussian_plant_options how;
    unrelu_gaussian_plant_options_init(&how, sizeof how);
    how.d = D;
    how.kappa = 3;
    unrelu_gaussian *truth = plant(how);
    double *x = draw(truth, N, 5);
    const char *path = write_npy("x.npy", "<f8", 0, N, D, x, N * D * sizeof *x);
    for (size_t p = 0; p < 2; p++) {
        unrelu_gaussian_options options;
        unrelu_gaussian_options_init(&options, sizeof options);
        options.precision = precisions[p];
        unrelu_gaussian *one = fit(x, N, D, &options);
        for (size_t ranks = 2; ranks <= 4; ranks++) {
            world w;
            member members[4];
            pthread_t ids[4];
            world_open(&w, ranks);
            for (size_t r = 0; r < ranks; r++) {
                members[r] = (member){&w, path, r, &options, NULL};
                pthread_create(&ids[r], NULL, fit_part, &members[r]);
            }
            for (size_t r = 0; r < ranks; r++)
                pthread_join(ids[r], NULL);
            world_close(&w);
            for (size_t r = 0; r < ranks; r++) {
                const unrelu_gaussian *m = members[r].model;
                assert_int_equal(m->n, N);
                assert_memory_equal(m->sigma, members[0].model->sigma, D * D * sizeof *m->sigma);
                for (size_t i = 0; i < D * D; i++) {
                    assert_near(m->sigma[i], one->sigma[i], 1e-12 * fabs(one->sigma[i]) + 1e-13);
                    assert_near(m->sigma_se[i], one->sigma_se[i], 1e-11 * one->sigma_se[i]);
                }
            }
            for (size_t r = 0; r < ranks; r++)
                unrelu_gaussian_free(members[r].model);
        }
        unrelu_gaussian_free(one);
    }
    free(x);
    unrelu_gaussian_free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_an_array_are_the_array),
        cmocka_unit_test(parts_of_a_text_are_the_text),
        cmocka_unit_test(messages_count_from_the_start_of_the_file),
        cmocka_unit_test(what_cannot_be_cut_is_refused),
        cmocka_unit_test(ranks_fit_the_model_of_one),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
