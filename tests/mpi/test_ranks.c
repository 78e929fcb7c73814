/* SPDX-License-Identifier: Apache-2.0 */
/* libunrelu_mpi on the ranks that it is started on: sums, parts of files, failures. */
#include "unrelu/mpi.h"

#include "files.h"
#include "planted.h"

#include <unistd.h>

static unrelu_mpi *mpi;
static size_t rank, ranks;

/* ---- sums ---- */

static unrelu_exec ranked(void)
{
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = 1;
    unrelu_mpi_exec(mpi, &exec);
    return exec;
}

/* number i of rank r, whose sum depends on the order */
static double number(size_t r, size_t i)
{
    return sin((double)(i + 1)) * pow(10, (double)((i + 7 * r) % 13));
}

/* of all lengths that are added up in another way, and beyond what is sent at a time */
static void sums_add_in_the_order_of_the_ranks(void **state)
{
    (void)state;
    const size_t lens[] = {0, 1, 7, 1000, (1 << 18) / ranks, (1 << 18) / ranks + 1, 700001};
    unrelu_exec exec = ranked();
    for (size_t l = 0; l < sizeof lens / sizeof *lens && exec.rank_sum; l++) {
        size_t len = lens[l];
        unrelu_error err = {0};
        double *s = malloc((len + 1) * sizeof *s);
        for (size_t i = 0; i <= len; i++)
            s[i] = number(rank, i);
        must(exec.rank_sum(exec.context, s, len, &err), &err);
        for (size_t i = 0; i < len; i++) {
            double want = number(0, i);
            for (size_t r = 1; r < ranks; r++)
                want += number(r, i);
            assert_true(s[i] == want);
        }
        assert_true(s[len] == number(rank, len));
        free(s);
    }
}

static int answer_own(void *context)
{
    ++*(int *)context;
    return UNRELU_GO_ON;
}

static void own_functions_are_called_with_their_context(void **state)
{
    (void)state;
    int asked = 0;
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    exec.cancelled = answer_own;
    exec.context = &asked;
    unrelu_mpi_exec(mpi, &exec);
    assert_int_equal(exec.rank, rank);
    assert_int_equal(exec.ranks, ranks);
    assert_true(exec.threads >= 1);
    assert_null(exec.progress);
    assert_int_equal(exec.cancelled(exec.context), UNRELU_GO_ON);
    assert_int_equal(asked, 1);
    assert_int_equal(exec.rank_sum != NULL, ranks > 1);
}

/* ---- what rank 0 collects ---- */

typedef struct {
    size_t calls, fail_at;
} collection;

static unrelu_status take(void *context, size_t from, const double *x, size_t len,
                          unrelu_error *err)
{
    collection *c = context;
    assert_int_equal(from, c->calls++);
    assert_int_equal(len, 100000 * from + 3);
    for (size_t i = 0; i < len; i += 1 + len / 50)
        assert_true(x[i] == number(from, i));
    if (from == c->fail_at)
        snprintf(err->text, sizeof err->text, "the disk is full");
    return from == c->fail_at ? UNRELU_EIO : UNRELU_OK;
}

static void gather_brings_all_to_the_first(void **state)
{
    (void)state;
    double *x = malloc((100000 * ranks + 3) * sizeof *x);
    for (size_t fail = 0; fail < 2; fail++) {
        collection c = {.fail_at = fail ? ranks / 2 : ranks};
        unrelu_error err = {0};
        size_t len = 100000 * rank + 3;
        for (size_t i = 0; i < len; i++)
            x[i] = number(rank, i);
        unrelu_status status = unrelu_mpi_gather(mpi, x, len, take, &c, &err);
        assert_int_equal(status, fail && rank == 0 ? UNRELU_EIO : UNRELU_OK);
        assert_int_equal(unrelu_mpi_agree(mpi, status, &err), fail ? UNRELU_EIO : UNRELU_OK);
        if (fail)
            assert_non_null(strstr(err.text, "the disk is full"));
        assert_int_equal(c.calls, rank ? 0 : fail ? ranks / 2 + 1 : ranks);
    }
    free(x);
}

/* ---- files ---- */

enum { N = 20000, D = 6 };

static double *x; /* N x D, the same on all ranks */
static char folder[300];

static const char *path_of(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%.300s/%.60s", folder, name);
    return path;
}

/* written by rank 0 for all */
static void write_rows(const char *name, size_t first, size_t rows)
{
    unrelu_sink *sink = NULL;
    unrelu_error err = {0};
    if (rank == 0) {
        must(unrelu_sink_open(path_of(name), rows, D, NULL, &sink, &err), &err);
        must(unrelu_sink_write(sink, x + first * D, rows, &err), &err);
        must(unrelu_sink_commit(sink, &err), &err);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static unrelu_gaussian *fit_files(const char *const *paths, size_t count,
                                  const unrelu_gaussian_options *options)
{
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    unrelu_gaussian *model = NULL;
    unrelu_exec exec = ranked();
    must(unrelu_mpi_source(mpi, paths, count, NULL, &source, &err), &err);
    must(unrelu_gaussian_fit(source, options, &exec, &model, &err), &err);
    must(unrelu_mpi_agree(mpi, UNRELU_OK, &err), &err);
    unrelu_source_close(source);
    return model;
}

static void expect_same_bits(const double *a, size_t len)
{
    double *first = malloc(len * sizeof *first);
    memcpy(first, a, len * sizeof *first);
    MPI_Bcast(first, (int)len, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    assert_memory_equal(first, a, len * sizeof *first);
    free(first);
}

/* relative to the root mean square of the array, as entries of sigma may be near 0 */
static void expect_near(const double *a, const double *want, size_t len, double tolerance)
{
    double scale = 0;
    for (size_t i = 0; i < len; i++)
        scale += want[i] * want[i] / (double)len;
    for (size_t i = 0; i < len; i++)
        assert_near(a[i], want[i], tolerance * sqrt(scale));
}

static void expect_model(unrelu_gaussian *m, const unrelu_gaussian *one, double tolerance)
{
    assert_int_equal(m->n, one->n);
    expect_same_bits(m->b, D);
    expect_same_bits(m->sigma, D * D);
    expect_same_bits(m->sigma_se, D * D);
    expect_near(m->b, one->b, D, tolerance);
    expect_near(m->sigma, one->sigma, D * D, tolerance);
    expect_near(m->sigma_se, one->sigma_se, D * D, 10 * tolerance);
    unrelu_gaussian_free(m);
}

/* one file in ranges of rows: the blocks of one process, in double and in single precision */
static void a_file_in_parts_gives_the_model_of_one_process(void **state)
{
    (void)state;
    static const char *const names[] = {"x.npy", "x.csv"};
    unrelu_gaussian_options options;
    unrelu_gaussian_options_init(&options, sizeof options);
    for (size_t f = 0; f < 2; f++)
        for (int single = 0; single < 2; single++) {
            options.precision = single ? UNRELU_PRECISION_SINGLE : UNRELU_PRECISION_DOUBLE;
            unrelu_gaussian *one = fit(x, N, D, &options);
            write_rows(names[f], 0, N);
            const char *path = path_of(names[f]);
            /* blocks of text are cut by bytes: in single precision they round otherwise */
            expect_model(fit_files(&path, 1, &options), one, f && single ? 1e-7 : 1e-12);
            unrelu_gaussian_free(one);
        }
}

/* fewer files than ranks, as many, and more, of other sizes */
static void shards_give_the_model_of_all_rows(void **state)
{
    (void)state;
    char names[8][64], paths[8][512];
    const char *list[8];
    unrelu_gaussian_options options;
    unrelu_gaussian_options_init(&options, sizeof options);
    unrelu_gaussian *one = fit(x, N, D, &options);
    for (size_t files = 1; files <= 6; files++) {
        for (size_t i = 0, first = 0, rows; i < files; i++, first += rows) {
            rows = i + 1 < files ? 1000 * (i + 1) : N - first;
            snprintf(names[i], sizeof names[i], "%zu_%zu.npy", files, i);
            write_rows(names[i], first, rows);
            snprintf(paths[i], sizeof paths[i], "%s", path_of(names[i]));
            list[i] = paths[i];
        }
        expect_model(fit_files(list, files, &options), one, 1e-12);
    }
    unrelu_gaussian_free(one);
}

/* fewer rows than make a block for each rank: all are on the first */
static void a_short_file_leaves_ranks_without_rows(void **state)
{
    (void)state;
    unrelu_gaussian *one = fit(x, 900, D, NULL);
    write_rows("short.npy", 0, 900);
    const char *path = path_of("short.npy");
    expect_model(fit_files(&path, 1, NULL), one, 1e-12);
    unrelu_gaussian_free(one);
}

/* ---- failures ---- */

/* All ranks have this status and this sentence, which names the one that failed where one did. */
static void expect_failure(unrelu_status status, const unrelu_error *err, unrelu_status want,
                           const char *text)
{
    assert_int_equal(status, want);
    assert_int_equal(err->code, want);
    if (!strstr(err->text, text))
        fail_msg("'%s' is not in '%s'", text, err->text);
}

static void a_rank_that_fails_before_a_call_ends_all(void **state)
{
    (void)state;
    for (size_t bad = 0; bad < ranks; bad++) {
        unrelu_error err = {0};
        unrelu_gaussian *model = NULL;
        unrelu_status status = UNRELU_OK;
        unrelu_source *source = NULL;
        unrelu_exec exec = ranked();
        char want[64];
        snprintf(want, sizeof want, ranks > 1 ? "rank %zu: no disk" : "no disk", bad);
        if (rank == bad) {
            status = err.code = UNRELU_EIO;
            snprintf(err.text, sizeof err.text, "no disk");
        } else {
            must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
            status = unrelu_gaussian_fit(source, NULL, &exec, &model, &err);
            assert_int_equal(status, UNRELU_EIO);
            assert_null(model);
        }
        status = unrelu_mpi_agree(mpi, status, &err);
        expect_failure(status, &err, UNRELU_EIO, want);
        unrelu_source_close(source);
        /* and they go on together */
        assert_int_equal(unrelu_mpi_agree(mpi, UNRELU_OK, &err), UNRELU_OK);
    }
}

static void a_refused_cell_names_its_rank_and_row(void **state)
{
    (void)state;
    double kept = x[(N - 1) * D + 2];
    char want[64];
    x[(N - 1) * D + 2] = -1;
    write_rows("bad.csv", 0, N);
    x[(N - 1) * D + 2] = kept;
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    unrelu_gaussian *model = NULL;
    unrelu_exec exec = ranked();
    const char *path = path_of("bad.csv");
    must(unrelu_mpi_source(mpi, &path, 1, NULL, &source, &err), &err);
    unrelu_status status = unrelu_gaussian_fit(source, NULL, &exec, &model, &err);
    status = unrelu_mpi_agree(mpi, status, &err);
    expect_failure(status, &err, UNRELU_EFORMAT, "row 20000, column 3: the value is -1");
    snprintf(want, sizeof want, "rank %zu: ", ranks - 1);
    if (ranks > 1)
        assert_memory_equal(err.text, want, strlen(want));
    unrelu_source_close(source);
}

static void files_fail_on_all_ranks_or_on_none(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_source *source = NULL;
    char missing[512];
    const char *paths[8];
    write_rows("x.npy", 0, N);
    snprintf(missing, sizeof missing, "%s/missing.npy", folder);
    for (size_t i = 0; i < ranks; i++)
        paths[i] = i + 1 < ranks ? path_of("x.npy") : missing;
    unrelu_status status = unrelu_mpi_source(mpi, paths, ranks, NULL, &source, &err);
    expect_failure(status, &err, UNRELU_EIO, "missing.npy");
    assert_null(source);
    status = unrelu_mpi_agree(mpi, status, &err);
    expect_failure(status, &err, UNRELU_EIO, "missing.npy");
    /* other columns than rank 0 */
    unrelu_source_options options;
    unrelu_source_options_init(&options, sizeof options);
    options.columns = rank + 1 == ranks && ranks > 1 ? "1-3" : NULL;
    status = unrelu_mpi_source(mpi, paths, 1, &options, &source, &err);
    if (ranks > 1)
        expect_failure(status, &err, UNRELU_EFORMAT, "has 3 columns");
    unrelu_source_close(source);
    unrelu_mpi_agree(mpi, status, &err);
}

static void other_calls_are_told(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_exec exec = ranked();
    double s[2] = {1, 2};
    if (ranks == 1)
        return;
    unrelu_status status = exec.rank_sum(exec.context, s, rank ? 1 : 2, &err);
    expect_failure(status, &err, UNRELU_EINTERNAL, "do not make the same calls");
    unrelu_mpi_agree(mpi, status, &err);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_add_in_the_order_of_the_ranks),
        cmocka_unit_test(own_functions_are_called_with_their_context),
        cmocka_unit_test(gather_brings_all_to_the_first),
        cmocka_unit_test(a_file_in_parts_gives_the_model_of_one_process),
        cmocka_unit_test(shards_give_the_model_of_all_rows),
        cmocka_unit_test(a_short_file_leaves_ranks_without_rows),
        cmocka_unit_test(a_rank_that_fails_before_a_call_ends_all),
        cmocka_unit_test(a_refused_cell_names_its_rank_and_row),
        cmocka_unit_test(files_fail_on_all_ranks_or_on_none),
        cmocka_unit_test(other_calls_are_told),
    };
    unrelu_error err;
    unrelu_gaussian_plant_options how;
    MPI_Init(&argc, &argv);
    must(unrelu_mpi_open(MPI_COMM_WORLD, &mpi, &err), &err);
    rank = unrelu_mpi_rank(mpi);
    ranks = unrelu_mpi_ranks(mpi);
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : ".");
    unrelu_gaussian_plant_options_init(&how, sizeof how);
    how.d = D;
    how.kappa = 3;
    unrelu_gaussian *truth = plant(how);
    x = draw(truth, N, 5);
    unrelu_gaussian_free(truth);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(x);
    unrelu_mpi_close(mpi);
    MPI_Finalize();
    return failed;
}
