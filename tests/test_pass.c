/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include "base/error.h"
#include "pass/parallel.h"
#include "pass/pass.h"

#include <pthread.h>
#include <unistd.h>

/* A summary that shows the order of additions in its bits: a sum of numbers of very different
 * sizes, and a count. Blocks can be made to take their time, the first ones most, so that they
 * are ready in another order than that of the file. */
typedef struct {
    size_t begun, fail_from;
    int dawdle;
} plan;

enum { ROWS = 100000 };

static size_t two(const void *p)
{
    (void)p;
    return 2;
}

static unrelu_status begin(void *p, const ur_block *block, unrelu_error *err)
{
    (void)err;
    assert_int_equal(block->first_row, 0);
    ((plan *)p)->begun++;
    return UNRELU_OK;
}

static unrelu_status update(const void *p, void *scratch, double *s, const ur_block *block,
                            unrelu_error *err)
{
    (void)scratch;
    if (((const plan *)p)->dawdle)
        usleep((useconds_t)(20000 * (ROWS - block->first_row) / ROWS));
    for (size_t r = 0; r < block->rows; r++) {
        if (block->first_row + r >= ((const plan *)p)->fail_from)
            return ur_fail(err, UNRELU_EDATA, "row %zu", block->first_row + r);
        s[0] += block->x[r * block->stride] * exp2((double)((block->first_row + r) / 1000 % 61));
        s[1] += 1;
    }
    return UNRELU_OK;
}

static const ur_summary probe = {.len = two, .begin = begin, .update = update};

static double *numbers(void)
{
    double *x = malloc(ROWS * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < ROWS; i++)
        x[i] = 1.0 / (double)(i + 1);
    return x;
}

static unrelu_status run(const double *x, plan *p, const unrelu_exec *exec, double s[2],
                         unrelu_error *err)
{
    unrelu_source *source = NULL;
    s[0] = s[1] = 0;
    must(unrelu_source_memory(x, ROWS, 1, NULL, &source, err), err);
    unrelu_status status = ur_pass(source, &probe, p, exec, "test", s, err);
    unrelu_source_close(source);
    return status;
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    double *x = numbers(), one[2], many[2];
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    plan p = {.fail_from = SIZE_MAX};
    must(run(x, &p, &exec, one, &err), &err);
    assert_int_equal((size_t)one[1], ROWS);
    assert_int_equal(p.begun, 1);
    const int threads[] = {2, 3, 7};
    for (size_t i = 0; i < 3; i++)
        for (int repeat = 0; repeat < 5; repeat++) {
            exec.threads = threads[i];
            p.dawdle = repeat == 0;
            must(run(x, &p, &exec, many, &err), &err);
            assert_memory_equal(one, many, sizeof one);
        }
    free(x);
}

static void earliest_error_is_reported(void **state)
{
    (void)state;
    double *x = numbers(), s[2];
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 4};
    plan p = {.fail_from = 30000};
    for (int repeat = 0; repeat < 10; repeat++) {
        assert_int_equal(run(x, &p, &exec, s, &err), UNRELU_EDATA);
        assert_string_equal(err.text, "row 30000");
    }
    free(x);
}

static int always(void *context)
{
    (void)context;
    return 1;
}

static void cancel_stops(void **state)
{
    (void)state;
    double *x = numbers(), s[2];
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 2, .cancelled = always};
    plan p = {.fail_from = SIZE_MAX};
    assert_int_equal(run(x, &p, &exec, s, &err), UNRELU_ECANCELLED);
    free(x);
}

static void note_progress(void *context, const char *stage, double fraction)
{
    (void)stage;
    double *last = context;
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
}

static void progress_moves_forward(void **state)
{
    (void)state;
    double *x = numbers(), s[2], last = 0;
    unrelu_error err = {0};
    unrelu_exec exec = {
        .size = sizeof exec, .threads = 3, .progress = note_progress, .context = &last};
    plan p = {.fail_from = SIZE_MAX};
    must(run(x, &p, &exec, s, &err), &err);
    assert_true(last > 0.5);
    free(x);
}

/* ---- two ranks: two threads that meet in the sum ---- */

typedef struct {
    pthread_barrier_t meet;
    double *parts[2];
} world;

typedef struct {
    world *w;
    int rank;
    const double *x;
    size_t n, d;
    unrelu_gaussian *model;
    unrelu_status status;
    unrelu_error err;
} rank;

static unrelu_status rank_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    (void)err;
    rank *me = context;
    me->w->parts[me->rank] = s;
    pthread_barrier_wait(&me->w->meet);
    double *total = malloc((len + 1) * sizeof *total);
    for (size_t i = 0; i < len; i++)
        total[i] = me->w->parts[0][i] + me->w->parts[1][i];
    pthread_barrier_wait(&me->w->meet);
    memcpy(s, total, len * sizeof *s);
    free(total);
    return UNRELU_OK;
}

static void *run_rank(void *context)
{
    rank *me = context;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .rank_sum = rank_sum, .context = me};
    unrelu_source *source = NULL;
    me->status = unrelu_source_memory(me->x, me->n, me->d, NULL, &source, &me->err);
    if (me->status == UNRELU_OK)
        me->status = unrelu_gaussian_fit(source, NULL, &exec, &me->model, &me->err);
    unrelu_source_close(source);
    return NULL;
}

static void two_ranks_learn_what_one_learns(void **state)
{
    (void)state;
    enum { N = 30000, D = 4, CUT = 11000 };
    unrelu_gaussian_plant_options options;
    unrelu_gaussian_plant_options_init(&options, sizeof options);
    options.d = D;
    unrelu_gaussian *truth = plant(options);
    double *x = draw(truth, N, 5);
    for (size_t i = 0; i < CUT; i++) /* one rank never sees a positive of column 2 */
        x[i * D + 2] = 0;
    for (size_t i = 0; i < N; i++) /* and units differ */
        x[i * D + 1] *= i < CUT ? 1e40 : 1e38;
    unrelu_gaussian *whole = fit(x, N, D, NULL);

    world w;
    pthread_barrier_init(&w.meet, NULL, 2);
    rank ranks[2] = {{.w = &w, .rank = 0, .x = x, .n = CUT, .d = D},
                     {.w = &w, .rank = 1, .x = x + CUT * D, .n = N - CUT, .d = D}};
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, run_rank, &ranks[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(ids[i], NULL);
        must(ranks[i].status, &ranks[i].err);
    }
    assert_int_equal(ranks[0].model->n, N);
    assert_memory_equal(ranks[0].model->sigma, ranks[1].model->sigma, D * D * sizeof(double));
    for (size_t i = 0; i < D; i++) {
        assert_near(ranks[0].model->b[i], whole->b[i], 1e-12 * whole->scale[i]);
        for (size_t j = 0; j < D; j++)
            assert_near(ranks[0].model->correlation[i * D + j], whole->correlation[i * D + j],
                        1e-11);
    }
    for (int i = 0; i < 2; i++)
        unrelu_gaussian_free(ranks[i].model);
    pthread_barrier_destroy(&w.meet);
    unrelu_gaussian_free(whole);
    unrelu_gaussian_free(truth);
    free(x);
}

/* fails at 40, 41, ... and, later in time, at 30 */
static unrelu_status fail_late(void *seen, size_t i, unrelu_error *err)
{
    if (i == 30)
        usleep(20000);
    ((char *)seen)[i] = 1;
    return i == 30 || i >= 40 ? ur_fail(err, UNRELU_EDATA, "at %zu", i) : UNRELU_OK;
}

static void the_smallest_failing_index_is_reported(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 7; threads += 3) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads};
        unrelu_error err = {0};
        char seen[1000] = {0};
        assert_int_equal(ur_each(&exec, "", 1000, fail_late, seen, &err), UNRELU_EDATA);
        assert_string_equal(err.text, "at 30");
        for (size_t i = 0; i < 30; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(seen[999], 0); /* nobody waits for what cannot matter */
        assert_int_equal(ur_each(&exec, "", 30, fail_late, seen, NULL), UNRELU_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(earliest_error_is_reported),
        cmocka_unit_test(the_smallest_failing_index_is_reported),
        cmocka_unit_test(cancel_stops),
        cmocka_unit_test(progress_moves_forward),
        cmocka_unit_test(two_ranks_learn_what_one_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
