/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources as one: their rows, one after the other, and messages that name the file. */
#include "files.h"
#include "planted.h"

#include "read/source.h"

static unrelu_source *open_file(const char *path)
{
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    must(unrelu_source_open(path, NULL, &source, &err), &err);
    return source;
}

enum { N = 20000, D = 4, FIRST = 7001, SECOND = 9 };

/* a CSV file, rows in memory, an array file: the model of all rows */
static void the_model_is_that_of_all_rows(void **state)
{
    (void)state;
    unrelu_gaussian_plant_options how;
    unrelu_gaussian_plant_options_init(&how, sizeof how);
    how.d = D;
    unrelu_gaussian *truth = plant(how);
    double *x = draw(truth, N, 5);
    unrelu_gaussian *one = fit(x, N, D, NULL), *model = NULL;
    unrelu_source *of[3], *joined = NULL;
    unrelu_sink *sink = NULL;
    unrelu_error err = {0};
    const char *names[] = {"x1", "x2", "x3", "x4"}, *path = files_path("first.csv");
    must(unrelu_sink_open(path, FIRST, D, names, &sink, &err), &err);
    must(unrelu_sink_write(sink, x, FIRST, &err), &err);
    must(unrelu_sink_commit(sink, &err), &err);
    of[0] = open_file(path);
    must(unrelu_source_memory(x + FIRST * D, SECOND, D, NULL, &of[1], &err), &err);
    path = files_path("third.npy");
    must(unrelu_sink_open(path, N - FIRST - SECOND, D, NULL, &sink, &err), &err);
    must(unrelu_sink_write(sink, x + (FIRST + SECOND) * D, N - FIRST - SECOND, &err), &err);
    must(unrelu_sink_commit(sink, &err), &err);
    of[2] = open_file(path);
    must(unrelu_source_join(of, 3, &joined, &err), &err);
    unrelu_extent extent;
    must(unrelu_source_extent(joined, &extent, &err), &err);
    assert_int_equal(extent.rows, N);
    for (int again = 0; again < 2; again++) {
        double *copy = NULL;
        size_t n = 0;
        must(unrelu_source_load(joined, NULL, &copy, &n, &err), &err);
        assert_int_equal(n, N);
        assert_memory_equal(copy, x, N * D * sizeof *x);
        unrelu_free(copy);
    }
    must(unrelu_gaussian_fit(joined, NULL, NULL, &model, &err), &err);
    assert_int_equal(model->n, N);
    for (size_t i = 0; i < D * D; i++)
        assert_near(model->sigma[i], one->sigma[i], 1e-13);
    unrelu_gaussian_free(model);
    unrelu_gaussian_free(one);
    unrelu_source_close(joined);
    unrelu_gaussian_free(truth);
    free(x);
}

static void messages_name_the_file_and_its_row(void **state)
{
    (void)state;
    static const char *const texts[3] = {"1,2\n3,4\n", "5,6\n7,8\n9,1\n", "2,3\n4,5\n"};
    static const char *const names[3] = {"a.csv", "b.csv", "c.csv"};
    for (size_t bad = 0; bad < 3; bad++) {
        unrelu_source *of[3], *joined = NULL;
        unrelu_gaussian *model = NULL;
        unrelu_error err = {0};
        char want[64];
        for (size_t i = 0; i < 3; i++)
            of[i] = open_file(files_text(names[i], i == bad ? "5,6\n7,-8\n" : texts[i]));
        must(unrelu_source_join(of, 3, &joined, &err), &err);
        assert_int_equal(unrelu_gaussian_fit(joined, NULL, NULL, &model, &err), UNRELU_EFORMAT);
        snprintf(want, sizeof want, "%s: row 2, column 2: the value is -8", names[bad]);
        assert_non_null(strstr(err.text, want));
        unrelu_source_close(joined);
    }
}

/* rows with a missing cell are left out, and are not counted */
static void incomplete_rows_are_left_out(void **state)
{
    (void)state;
    static const char *const texts[] = {"1,2\n3,\n0,3\n2,1\n0,0\n", "5,6\n,0\n0,1\n3,0\n,\n"};
    enum { COMPLETE = 7 };
    unrelu_source_options complete;
    unrelu_source *of[2], *joined = NULL;
    unrelu_gaussian *model = NULL;
    unrelu_error err = {0};
    unrelu_source_options_init(&complete, sizeof complete);
    complete.complete = 1;
    for (size_t i = 0; i < 2; i++)
        must(unrelu_source_open(files_text(i ? "b.csv" : "a.csv", texts[i]), &complete, &of[i],
                                &err),
             &err);
    must(unrelu_source_join(of, 2, &joined, &err), &err);
    must(unrelu_gaussian_fit(joined, NULL, NULL, &model, &err), &err);
    assert_int_equal(model->n, COMPLETE);
    assert_non_null(strstr(model->warnings[0].message, "of 10 rows 3 have a missing cell"));
    unrelu_gaussian_free(model);
    unrelu_source_close(joined);
}

static void other_columns_are_refused(void **state)
{
    (void)state;
    unrelu_source *of[2], *joined = NULL;
    unrelu_error err = {0};
    of[0] = open_file(files_text("two.csv", "a,b\n1,2\n3,4\n"));
    of[1] = open_file(files_text("three.csv", "a,b,c\n1,2,3\n3,4,5\n"));
    assert_int_equal(unrelu_source_join(of, 2, &joined, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "three.csv has 3 columns, and "));
    assert_null(joined);
    unrelu_source_close(of[1]); /* it is the caller's still */
    of[1] = open_file(files_text("named.csv", "a,z\n1,2\n3,4\n"));
    assert_int_equal(unrelu_source_join(of, 2, &joined, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "is called 'z', and that of "));
    unrelu_source_close(of[1]);
    unrelu_source_close(of[0]);
    assert_int_equal(unrelu_source_join(of, 0, &joined, &err), UNRELU_EUSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_that_of_all_rows),
        cmocka_unit_test(messages_name_the_file_and_its_row),
        cmocka_unit_test(incomplete_rows_are_left_out),
        cmocka_unit_test(other_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
