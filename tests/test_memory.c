/* SPDX-License-Identifier: Apache-2.0 */
/* What the library holds is counted, and what would be more than the limit is refused with the
 * numbers. That every public call gives back what it took is seen by the count itself. */
#include "files.h"
#include "left_out.h"
#include "mixtures.h"
#include "networks.h"

#include "base/arena.h"
#include "base/error.h"
#include "model/samples.h"
#include "pass/parallel.h"

enum { LIMIT = 1 << 20 };

static void what_is_allocated_is_counted_and_given_back(void **state)
{
    (void)state;
    size_t before = unrelu_memory_used();
    char *a = ur_alloc(1000, 3), *b = ur_alloc_aligned(7, 100), *c = unrelu_alloc(10, 10);
    assert_true(a && b && c);
    size_t after = unrelu_memory_used();
    assert_in_range(after - before, 3000 + 700 + 100, 3000 + 700 + 100 + 300);
    a = ur_resize(a, 100000);
    assert_non_null(a);
    assert_in_range(unrelu_memory_used() - after, 100000 - 3000 - 100, 100000 - 3000 + 100);
    a = ur_resize(a, 10);
    assert_non_null(a);
    assert_true(unrelu_memory_used() < after);
    ur_free(a);
    ur_free(b);
    ur_free(NULL);
    unrelu_free(c);
    assert_int_equal(unrelu_memory_used(), before);
}

static void beyond_the_limit_nothing_is_given(void **state)
{
    (void)state;
    unrelu_error err = {0};
    size_t before = unrelu_memory_used();
    assert_int_equal(unrelu_memory_limit(before + LIMIT), 0);
    char *most = ur_alloc(1, LIMIT / 2);
    assert_non_null(most);
    size_t used = unrelu_memory_used();
    assert_null(ur_alloc(1, LIMIT));
    assert_null(ur_alloc_aligned(1, LIMIT));
    assert_null(ur_resize(most, 2 * LIMIT));
    assert_null(ur_alloc(SIZE_MAX, 2));
    assert_int_equal(ur_memory_shortage().wanted, SIZE_MAX);
    UR_ARENA(arena);
    assert_null(ur_take(&arena, LIMIT, 1));
    assert_int_equal(ur_arena_status(&arena, &err), UNRELU_ENOMEM);
    char numbers[200];
    snprintf(numbers, sizeof numbers, "%zu are in use, and `max-memory` is %zu", used,
             before + LIMIT);
    assert_non_null(strstr(err.text, numbers));
    assert_string_equal(err.option, "max-memory");
    assert_int_equal(unrelu_memory_used(), used);
    ur_free(most);
    most = ur_alloc(1, LIMIT / 2); /* what was given back is there again */
    assert_non_null(most);
    ur_free(most);
    assert_int_equal(unrelu_memory_limit(0), before + LIMIT);
    most = ur_alloc(1, 2 * LIMIT);
    assert_non_null(most);
    ur_free(most);
    assert_int_equal(unrelu_memory_used(), before);
}

static void take_and_give(void *context, size_t i)
{
    (void)context;
    for (size_t round = 0; round < 100; round++)
        ur_free(ur_resize(ur_alloc(i + 1, 8), 100 * (i + 1)));
}

static void threads_count_together(void **state)
{
    (void)state;
    size_t before = unrelu_memory_used();
    unrelu_exec exec = {.size = sizeof exec, .threads = 4};
    assert_int_equal(ur_parallel_for(&exec, NULL, 200, take_and_give, NULL, NULL), UNRELU_OK);
    assert_int_equal(unrelu_memory_used(), before);
}

/* ---- public calls ---- */

static void calls_give_back_what_they_took(void **state)
{
    (void)state;
    size_t before = unrelu_memory_used();
    unrelu_error err = {0};
    char model_file[512], samples_file[512];
    strcpy(model_file, files_path("model.npz"));
    strcpy(samples_file, files_path("x.csv"));

    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = 4;
    unrelu_gaussian *truth = plant(o);
    double *x = draw(truth, 300, 1), *loaded;
    unrelu_gaussian *found = fit(x, 300, 4, NULL), *again;
    must(unrelu_gaussian_save(found, model_file, &err), &err);
    must(unrelu_gaussian_load(model_file, &again, &err), &err);
    unrelu_gaussian_distance distance;
    must(unrelu_gaussian_compare(truth, again, &distance, &err), &err);
    unrelu_sink *sink;
    must(unrelu_sink_open(samples_file, 300, 4, NULL, &sink, &err), &err);
    must(unrelu_sink_write(sink, x, 300, &err), &err);
    must(unrelu_sink_commit(sink, &err), &err);
    unrelu_source *source;
    size_t n;
    must(unrelu_source_open(samples_file, NULL, &source, &err), &err);
    must(unrelu_source_load(source, NULL, &loaded, &n, &err), &err);
    assert_int_equal(n, 300);
    unrelu_goodness *goodness;
    must(unrelu_gaussian_goodness(found, source, NULL, NULL, &goodness, &err), &err);
    unrelu_summary *summary;
    must(unrelu_summary_collect(source, NULL, 1, NULL, &summary, &err), &err);
    unrelu_summary_free(summary);
    unrelu_goodness_free(goodness);
    unrelu_free(loaded);
    unrelu_source_close(source);
    unrelu_gaussian_free(again);
    unrelu_gaussian_free(found);
    unrelu_gaussian_free(truth);
    free(x);

    planted_network net = plant_network(4, 2, 3, 80, 0, 1);
    unrelu_network_free(recover(&net, NULL));
    planted_network_free(&net);
    assert_int_equal(unrelu_memory_used(), before);
}

static void an_unmixing_gives_back_what_it_took(void **state)
{
    (void)state;
    size_t before = unrelu_memory_used();
    unrelu_error err = {0};
    unrelu_mixture *model;
    planted_mixture mix = plant_mixture(3, 2, 0, 80, 0, 0, 1);
    if (try_unmix(mix.x, mix.n, 3, NULL, NULL, &model, &err) != UNRELU_OK)
        skip_what_is_left_out(&err);
    assert_non_null(model);
    unrelu_mixture_free(model);
    planted_mixture_free(&mix);
    assert_int_equal(unrelu_memory_used(), before);
}

/* whatever the limit: the model as ever, or ENOMEM with it, and nothing kept */
static void a_recovery_keeps_every_limit(void **state)
{
    (void)state;
    planted_network net = plant_network(4, 2, 3, 80, 0, 1);
    unrelu_network *whole = recover(&net, NULL), *model;
    size_t before = unrelu_memory_used(), refused = 0, done = 0;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    for (size_t more = 1000; more < 4000000; more += more / 3) {
        unrelu_error err = {0};
        unrelu_memory_limit(before + more);
        unrelu_status status =
            try_recover(net.x, net.a, net.n, net.d, net.m, NULL, &exec, &model, &err);
        unrelu_memory_limit(0);
        if (status == UNRELU_OK) {
            done++;
            assert_memory_equal(model->V, whole->V, whole->k * whole->d * sizeof *whole->V);
        } else {
            refused++;
            assert_int_equal(status, UNRELU_ENOMEM);
            assert_non_null(strstr(err.text, "`max-memory` is"));
        }
        unrelu_network_free(model);
        assert_int_equal(unrelu_memory_used(), before);
    }
    assert_true(refused > 2 && done > 2);
    unrelu_network_free(whole);
    planted_network_free(&net);
}

/* what was read into memory is no longer counted once it is freed */
static void samples_are_counted_until_they_are_freed(void **state)
{
    (void)state;
    size_t before = unrelu_memory_used();
    unrelu_source *source = NULL;
    assert_int_equal(
        unrelu_source_open(files_text("rows.csv", "a,b\n1,2\n<3,4\n5,6\n"), NULL, &source, NULL),
        UNRELU_OK);
    ur_arena arena = {0};
    ur_table t;
    assert_int_equal(ur_table_load(source, NULL, NULL, &arena, &t, NULL), UNRELU_OK);
    assert_int_equal(t.rows, 3);
    assert_non_null(t.mark);
    ur_arena_end(&arena);
    unrelu_source_close(source);
    assert_int_equal(unrelu_memory_used(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allocated_is_counted_and_given_back),
        cmocka_unit_test(beyond_the_limit_nothing_is_given),
        cmocka_unit_test(threads_count_together),
        cmocka_unit_test(calls_give_back_what_they_took),
        cmocka_unit_test(an_unmixing_gives_back_what_it_took),
        cmocka_unit_test(a_recovery_keeps_every_limit),
        cmocka_unit_test(samples_are_counted_until_they_are_freed),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
