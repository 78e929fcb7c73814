/* SPDX-License-Identifier: Apache-2.0 */
/* Every public entry point with each of its allocations failing in turn: ENOMEM (or EIO from a
 * library that hides it), outputs zeroed, nothing leaked, and success once none fails. Linked
 * with malloc, calloc, realloc and aligned_alloc wrapped; leaks are the sanitizer build's to
 * find. Allocations inside shared libraries (BLAS, libzip) are not seen. */
#include "planted.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_long countdown; /* 0: off; n: the n-th allocation from now fails */
static atomic_long failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static int this_one_fails(void)
{
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1)
        return 0;
    atomic_store(&failed, 1);
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return this_one_fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    return this_one_fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return this_one_fails() ? NULL : __real_realloc(old, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return this_one_fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---- the world of one test ---- */

enum { N = 400, D = 3 };

static struct {
    char directory[64], npy[96], csv[96], npz[128], model[96], summary[96], out[96];
    unrelu_gaussian truth, learned;
    unrelu_gaussian_options options;
    double *x;
} w;

typedef unrelu_status (*scenario)(unrelu_error *err);

static void exhaust(scenario run)
{
    for (long nth = 1;; nth++) {
        unrelu_error err = {""};
        atomic_store(&failed, 0);
        atomic_store(&countdown, nth);
        unrelu_status status = run(&err);
        atomic_store(&countdown, 0);
        if (!atomic_load(&failed)) {
            must(status, &err);
            assert_true(nth > 1); /* or nothing was tried */
            return;
        }
        if (status == UNRELU_OK)
            continue; /* it could do without */
        if (status != UNRELU_ENOMEM && status != UNRELU_EIO)
            fail_msg("allocation %ld failed, status %d: %s", nth, (int)status, err.text);
        assert_true(err.text[0] != 0);
    }
}

static unrelu_status fit_file(const char *path, unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_gaussian m = {0};
    unrelu_exec exec = {.threads = 1};
    unrelu_status status = unrelu_source_open(path, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, &w.options, &exec, &m, err);
    if (status != UNRELU_OK)
        assert_true(m.d == 0 && m.b == NULL);
    unrelu_gaussian_free(&m);
    unrelu_source_close(source);
    return status;
}

static unrelu_status fit_npy(unrelu_error *err)
{
    return fit_file(w.npy, err);
}
static unrelu_status fit_csv(unrelu_error *err)
{
    return fit_file(w.csv, err);
}
static unrelu_status fit_npz(unrelu_error *err) /* one array of several */
{
    return fit_file(w.npz, err);
}

static unrelu_status fit_memory_two_threads(unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_gaussian m = {0};
    unrelu_exec exec = {.threads = 2};
    unrelu_status status = unrelu_source_memory(w.x, N, D, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit(source, &w.options, &exec, &m, err);
    unrelu_gaussian_free(&m);
    unrelu_source_close(source);
    return status;
}

static unrelu_status summarise(unrelu_error *err)
{
    unrelu_source *source = NULL;
    unrelu_summary *a = NULL, *b = NULL;
    unrelu_gaussian m = {0};
    unrelu_exec exec = {.threads = 1};
    unrelu_status status = unrelu_source_open(w.npy, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_collect(source, NULL, 10, &exec, &a, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_save(a, w.summary, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_load(w.summary, &b, err);
    if (status == UNRELU_OK)
        status = unrelu_summary_merge(a, b, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_fit_summary(a, NULL, &exec, &m, err);
    unrelu_gaussian_free(&m);
    unrelu_summary_free(a);
    unrelu_summary_free(b);
    unrelu_source_close(source);
    return status;
}

static unrelu_status save_and_load(unrelu_error *err)
{
    unrelu_gaussian m = {0};
    char kind[32];
    unrelu_status status = unrelu_gaussian_save(&w.learned, w.model, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_load(w.model, &m, err);
    if (status == UNRELU_OK)
        status = unrelu_file_kind(w.model, kind, sizeof kind, err);
    unrelu_gaussian_free(&m);
    return status;
}

static unrelu_status plant_sample_compare(unrelu_error *err)
{
    unrelu_gaussian_plant_options o = unrelu_gaussian_plant_options_default();
    unrelu_gaussian m = {0};
    unrelu_gaussian_distance far;
    unrelu_sampler *sampler = NULL;
    double x[3 * 5];
    unrelu_exec exec = {.threads = 1};
    unrelu_status status = unrelu_gaussian_plant(&o, &m, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_new(&m, 1, &sampler, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_draw(sampler, 0, 3, &exec, x, err);
    if (status == UNRELU_OK)
        status = unrelu_gaussian_compare(&m, &m, &far, err);
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(&m);
    return status;
}

static unrelu_status write_samples(unrelu_error *err)
{
    unrelu_sink *sink = NULL;
    unrelu_status status = unrelu_sink_open(w.out, N, D, w.truth.names, &sink, err);
    if (status == UNRELU_OK)
        status = unrelu_sink_write(sink, w.x, N, err);
    if (status == UNRELU_OK)
        return unrelu_sink_commit(sink, err);
    unrelu_sink_abort(sink);
    return status;
}

static void every_public_function_survives_a_failed_allocation(void **state)
{
    (void)state;
    exhaust(write_samples);
    exhaust(save_and_load);
    exhaust(plant_sample_compare);
    exhaust(summarise);
}

static void every_method_of_fit_survives_a_failed_allocation(void **state)
{
    (void)state;
    w.options = unrelu_gaussian_options_default();
    exhaust(fit_npy);
    exhaust(fit_csv);
    exhaust(fit_npz);
    exhaust(fit_memory_two_threads);
    w.options.norms = UNRELU_NORMS_TRUNCATED;
    w.x[0] = NAN;
    exhaust(fit_memory_two_threads);
    w.x[0] = 0;
    w.options.norms = UNRELU_NORMS_CENSORED;
    w.options.rank = 2;
    exhaust(fit_npy);
    w.options.rank = 0;
    w.options.robust = 1;
    w.options.additive_noise = UNRELU_NOISE_AUTO;
    exhaust(fit_npy);
    w.options = unrelu_gaussian_options_default();
    w.options.norms = UNRELU_NORMS_MEDIAN;
    w.options.angles = UNRELU_ANGLES_SIGNS;
    exhaust(fit_npy);
    w.options.norms = UNRELU_NORMS_SGD;
    w.options.literal = 1;
    exhaust(fit_npy);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(w.directory, sizeof w.directory, "/tmp/unrelu_allocation_XXXXXX");
    if (!mkdtemp(w.directory))
        return -1;
    const struct {
        char *path;
        const char *name;
    } names[] = {{w.npy, "x.npy"},
                 {w.csv, "x.csv"},
                 {w.model, "m.npz"},
                 {w.summary, "s.npz"},
                 {w.out, "y.csv"}};
    for (size_t i = 0; i < 5; i++)
        snprintf(names[i].path, sizeof w.npy, "%s/%s", w.directory, names[i].name);
    unrelu_gaussian_plant_options o = unrelu_gaussian_plant_options_default();
    o.d = D;
    w.truth = plant(o);
    w.x = draw(&w.truth, N, 3);
    w.options = unrelu_gaussian_options_default();
    w.options.rank = 2;
    w.learned = fit(w.x, N, D, &w.options); /* with flags, warnings and W */
    unrelu_error saved = {""};
    snprintf(w.npz, sizeof w.npz, "%s/array.npz", w.directory);
    must(unrelu_gaussian_save(&w.learned, w.npz, &saved), &saved);
    strcat(w.npz, ":observed");
    const char *files[] = {w.npy, w.csv};
    for (size_t i = 0; i < 2; i++) {
        unrelu_sink *sink = NULL;
        unrelu_error err = {""};
        must(unrelu_sink_open(files[i], N, D, w.truth.names, &sink, &err), &err);
        must(unrelu_sink_write(sink, w.x, N, &err), &err);
        must(unrelu_sink_commit(sink, &err), &err);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", w.directory);
    unrelu_gaussian_free(&w.truth);
    unrelu_gaussian_free(&w.learned);
    free(w.x);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_public_function_survives_a_failed_allocation),
        cmocka_unit_test(every_method_of_fit_survives_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
