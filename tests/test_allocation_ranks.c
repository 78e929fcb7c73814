/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as ranks: where one fails, all return, and none waits in a sum. */
#include "allocations.h"

#include "base/error.h"
#include "networks.h"
#include "pass/ranks.h"
#include "world.h"

#include <unistd.h>

enum { RANKS = 3, N = 60, D = 4, SECONDS = 1200 /* then somebody waits for ever */ };

typedef struct rank {
    world *w;
    size_t place, d;
    const double *x; /* N x d; NULL: an empty shard */
    unrelu_gaussian_options options;
    int summarise;
    int (*cancelled)(void *context);
    size_t sums; /* rank_sum was called */
    unrelu_gaussian *model;
    unrelu_summary *summary;
    unrelu_status status;
    unrelu_error err;
} rank;

static unrelu_status rank_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    rank *me = context;
    (void)err;
    me->sums++;
    world_sum(me->w, me->place, s, len);
    return UNRELU_OK;
}

static void *run_rank(void *context)
{
    rank *me = context;
    unrelu_exec exec = {.size = sizeof exec,
                        .threads = 1,
                        .rank_sum = rank_sum,
                        .cancelled = me->cancelled,
                        .context = me};
    unrelu_source *source = NULL;
    unrelu_source_memory(me->x, me->x ? N : 0, me->d, NULL, &source, &me->err);
    if (me->summarise)
        me->status = unrelu_summary_collect(source, &me->options, 1, &exec, &me->summary, &me->err);
    else
        me->status = unrelu_gaussian_fit(source, &me->options, &exec, &me->model, &me->err);
    unrelu_source_close(source);
    return NULL;
}

static void run_all(rank *ranks)
{
    world w;
    pthread_t ids[RANKS];
    world_open(&w, RANKS);
    alarm(SECONDS);
    for (size_t i = 0; i < RANKS; i++) {
        ranks[i].w = &w;
        ranks[i].place = i;
        assert_int_equal(pthread_create(&ids[i], NULL, run_rank, &ranks[i]), 0);
    }
    for (size_t i = 0; i < RANKS; i++)
        pthread_join(ids[i], NULL);
    alarm(0);
    world_close(&w);
    assert_false(w.different);
    for (size_t i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].sums, ranks[0].sums);
        if (ranks[i].status == UNRELU_OK)
            continue;
        assert_int_equal(ranks[i].err.code, ranks[i].status);
        assert_null(ranks[i].model); /* nothing is left behind */
        assert_null(ranks[i].summary);
    }
}

static double samples[RANKS][N * (D + 1)];

static void begin(rank *ranks)
{
    for (size_t r = 0; r < RANKS; r++) {
        for (size_t i = 0; i < N * (D + 1); i++)
            samples[r][i] = fmax(0, sin((double)(i * i + 31 * r)) + 0.4);
        ranks[r] = (rank){.d = D, .x = samples[r]};
        unrelu_gaussian_options_init(&ranks[r].options, sizeof ranks[r].options);
    }
}

static void end(rank *ranks)
{
    for (size_t r = 0; r < RANKS; r++) {
        unrelu_gaussian_free(ranks[r].model);
        unrelu_summary_free(ranks[r].summary);
    }
}

/* rank `place` failed by itself, the others by it */
static void assert_one_failed(const rank *ranks, size_t place, unrelu_status status,
                              const char *text)
{
    for (size_t i = 0; i < RANKS; i++) {
        char want[sizeof ranks->err.text + 32];
        snprintf(want, sizeof want, "another rank failed: %s", ranks[place].err.text);
        assert_int_equal(ranks[i].status, status);
        if (i != place)
            assert_string_equal(ranks[i].err.text, want);
    }
    assert_non_null(strstr(ranks[place].err.text, text));
    assert_null(strstr(ranks[place].err.text, "another rank"));
}

static void ranks_that_do_not_fail_agree(void **state)
{
    (void)state;
    rank ranks[RANKS];
    for (int summarise = 0; summarise < 2; summarise++) {
        begin(ranks);
        for (size_t r = 0; r < RANKS; r++)
            ranks[r].summarise = summarise;
        run_all(ranks);
        for (size_t r = 0; r < RANKS; r++) {
            must(ranks[r].status, &ranks[r].err);
            if (summarise)
                assert_int_equal(unrelu_summary_rows(ranks[r].summary), RANKS * N);
            else
                assert_memory_equal(ranks[r].model->sigma, ranks[0].model->sigma,
                                    D * D * sizeof(double));
        }
        end(ranks);
    }
}

static void a_refused_cell_ends_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    for (size_t r = 0; r < RANKS; r++)
        for (int summarise = 0; summarise < 2; summarise++) {
            begin(ranks);
            for (size_t i = 0; i < RANKS; i++)
                ranks[i].summarise = summarise;
            samples[r][(N - 1) * D + 2] = -1;
            run_all(ranks);
            assert_one_failed(ranks, r, UNRELU_EFORMAT, "row 60, column 3: the value is -1");
            for (size_t i = 0; i < RANKS; i++) /* a cell of another rank is none of this one's */
                assert_int_equal(ranks[i].err.row, i == r ? N : 0);
        }
}

/* a cell that only the pass for quantiles or for noise would refuse */
static void a_failure_in_an_early_pass_ends_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    begin(ranks);
    for (size_t r = 0; r < RANKS; r++)
        ranks[r].options.robust = 1;
    samples[1][5] = INFINITY;
    run_all(ranks);
    assert_one_failed(ranks, 1, UNRELU_EFORMAT, "row 2, column 2");
}

static void an_empty_shard_ends_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    for (int summarise = 0; summarise < 2; summarise++) {
        begin(ranks);
        for (size_t i = 0; i < RANKS; i++)
            ranks[i].summarise = summarise;
        ranks[2].x = NULL; /* its source cannot be opened; it makes the call all the same */
        run_all(ranks);
        assert_one_failed(ranks, 2, UNRELU_EDATA, "there are no samples");
    }
}

static void another_number_of_columns_ends_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    /* 4, 5, 3: the mean is what the first has */
    begin(ranks);
    ranks[1].d = D + 1;
    ranks[2].d = D - 1;
    run_all(ranks);
    for (size_t i = 0; i < RANKS; i++) {
        char want[64];
        snprintf(want, sizeof want, "of this rank have %zu columns", ranks[i].d);
        assert_int_equal(ranks[i].status, UNRELU_EFORMAT);
        assert_non_null(strstr(ranks[i].err.text, want));
    }
}

static void other_options_end_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    begin(ranks);
    ranks[1].options.rank = UNRELU_RANK_AUTO; /* keeps ten sums where the others keep one */
    run_all(ranks);
    for (size_t i = 0; i < RANKS; i++) {
        assert_int_equal(ranks[i].status, UNRELU_EUSAGE);
        assert_non_null(strstr(ranks[i].err.text, "all ranks need the same options"));
    }
    begin(ranks);
    ranks[0].options.radius = 0;
    run_all(ranks);
    assert_one_failed(ranks, 0, UNRELU_EUSAGE, "radius");
}

static void several_failures_are_counted(void **state)
{
    (void)state;
    rank ranks[RANKS];
    begin(ranks);
    ranks[0].options.radius = 0;
    ranks[2].x = NULL;
    run_all(ranks);
    assert_int_equal(ranks[0].status, UNRELU_EUSAGE);
    assert_int_equal(ranks[2].status, UNRELU_EDATA);
    assert_int_equal(ranks[1].status, UNRELU_EUSAGE);
    assert_string_equal(ranks[1].err.text, "2 other ranks failed");
}

static int yes(void *context)
{
    (void)context;
    return 1;
}

static void cancelling_one_rank_ends_all(void **state)
{
    (void)state;
    rank ranks[RANKS];
    begin(ranks);
    ranks[1].cancelled = yes;
    run_all(ranks);
    assert_one_failed(ranks, 1, UNRELU_ECANCELLED, "interrupted");
}

/* every allocation of the three ranks in turn, before, between and after the sums */
static void a_failed_allocation_ends_all_ranks(void **state)
{
    (void)state;
    rank ranks[RANKS];
    for (long nth = 1;; nth++) {
        begin(ranks);
        atomic_store(&failed, 0);
        atomic_store(&countdown, nth);
        run_all(ranks);
        atomic_store(&countdown, 0);
        size_t bad = 0, told = 0;
        for (size_t i = 0; i < RANKS; i++) {
            bad += ranks[i].status != UNRELU_OK;
            told += strncmp(ranks[i].err.text, "another rank failed: ", 21) == 0;
        }
        end(ranks);
        if (!atomic_load(&failed)) {
            assert_int_equal(bad, 0);
            assert_true(nth > 100);
            return;
        }
        if (bad == 0)
            continue; /* it could do without, or a source was not opened in time */
        assert_int_equal(bad, RANKS);
        assert_int_equal(told, RANKS - 1);
        for (size_t i = 0; i < RANKS; i++) /* a source that was not opened is NULL */
            assert_true(ranks[i].status == UNRELU_ENOMEM || ranks[i].status == UNRELU_EDATA);
    }
}

/* ---- what cannot be summed ---- */

static size_t asked;

static unrelu_status one_rank(void *context, double *s, size_t len, unrelu_error *err)
{
    (void)context;
    (void)s;
    (void)len;
    (void)err;
    asked++;
    return UNRELU_OK;
}

static int never(void *context)
{
    (void)context;
    fail_msg("work was begun");
    return 1;
}

static void what_cannot_be_summed_refuses_at_once(void **state)
{
    (void)state;
    unrelu_exec exec = {
        .size = sizeof exec, .threads = 1, .rank_sum = one_rank, .cancelled = never};
    rank ranks[RANKS];
    begin(ranks);
    unrelu_source *source = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(samples[0], N, D, NULL, &source, &err), &err);
    unrelu_gaussian_options options[3];
    for (int i = 0; i < 3; i++)
        unrelu_gaussian_options_init(&options[i], sizeof options[i]);
    options[0].angles = UNRELU_ANGLES_LIKELIHOOD;
    options[1].transform = UNRELU_TRANSFORM_LOG;
    options[2].norms = UNRELU_NORMS_SGD;
    unrelu_gaussian *model;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(unrelu_gaussian_fit(source, &options[i], &exec, &model, &err),
                         UNRELU_EUSAGE);
        assert_non_null(strstr(err.text, "cannot be split over ranks"));
    }
    asked = 0;
    unrelu_gaussian *fitted = NULL;
    must(unrelu_gaussian_fit(source, NULL, NULL, &fitted, &err), &err);
    unrelu_goodness *goodness;
    assert_int_equal(unrelu_gaussian_goodness(fitted, source, NULL, &exec, &goodness, &err),
                     UNRELU_EUSAGE);
    double ks[D], p[D], ties[D];
    assert_int_equal(unrelu_columns_distance(source, NULL, &exec, ks, p, ties, &err),
                     UNRELU_EUSAGE);
    unrelu_transform_advice advice[D + 1];
    assert_int_equal(unrelu_transform_suggest(source, NULL, NULL, &exec, advice, &err),
                     UNRELU_EUSAGE);
    unrelu_network *network;
    assert_int_equal(unrelu_recover(source, source, NULL, &exec, &network, &err), UNRELU_EUSAGE);
    unrelu_mixture *mixture;
    assert_int_equal(unrelu_unmix(source, NULL, &exec, &mixture, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "unmix looks at all samples in one place"));
    assert_int_equal(asked, 0);
    unrelu_gaussian_free(fitted);
    unrelu_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_do_not_fail_agree),
        cmocka_unit_test(a_refused_cell_ends_all_ranks),
        cmocka_unit_test(a_failure_in_an_early_pass_ends_all_ranks),
        cmocka_unit_test(an_empty_shard_ends_all_ranks),
        cmocka_unit_test(another_number_of_columns_ends_all_ranks),
        cmocka_unit_test(other_options_end_all_ranks),
        cmocka_unit_test(several_failures_are_counted),
        cmocka_unit_test(cancelling_one_rank_ends_all),
        cmocka_unit_test(a_failed_allocation_ends_all_ranks),
        cmocka_unit_test(what_cannot_be_summed_refuses_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
