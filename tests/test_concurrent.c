/* SPDX-License-Identifier: Apache-2.0 */
/* Several public calls at once in one process: each gives, bit by bit, what it gives alone, and
 * BLAS has one thread while any of them runs. Also run under the thread sanitizer (build-tsan). */
#include "mixtures.h"
#include "networks.h"

#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, JOBS = 6, ROWS = 400 };

static struct {
    double *x; /* of a rectified Gaussian, 5 columns */
    planted_network exact, noisy;
    unrelu_gaussian *truth;
    unrelu_mixture *mixture;
    double *mixed; /* ROWS x 6 */
} data;

static atomic_int unpinned, calls;

static void watch(void *context, const char *stage, double fraction)
{
    (void)context, (void)stage, (void)fraction;
    atomic_fetch_add(&calls, 1);
    if (openblas_get_num_threads() != 1)
        atomic_fetch_add(&unpinned, 1);
}

static const unrelu_exec here = {.size = sizeof here, .threads = 2, .progress = watch};

static uint64_t add(uint64_t hash, const double *x, size_t count)
{
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t i = 0; i < count * sizeof *x; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* asserts of cmocka are for its own thread: a failure is the hash 0 */
static uint64_t fit_gaussian(unrelu_angles angles)
{
    unrelu_source *source = NULL;
    unrelu_gaussian *model = NULL;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    uint64_t hash = 0;
    o.angles = angles;
    if (unrelu_source_memory(data.x, ROWS, 5, NULL, &source, NULL) == UNRELU_OK &&
        unrelu_gaussian_fit(source, &o, &here, &model, NULL) == UNRELU_OK)
        hash = add(add(1, model->b, 5), model->sigma, 25);
    unrelu_gaussian_free(model);
    unrelu_source_close(source);
    return hash;
}

static uint64_t recover_network(const planted_network *p)
{
    unrelu_network *model = NULL;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    uint64_t hash = 0;
    if (try_recover(p->x, p->a, p->n, p->d, p->m, &o, &here, &model, NULL) == UNRELU_OK && model->V)
        hash = add(add(1, model->V, model->k * model->d), model->U, model->m * model->k);
    unrelu_network_free(model);
    return hash;
}

static uint64_t unmix_samples(void)
{
    unrelu_source *source = NULL;
    unrelu_mixture *model = NULL;
    uint64_t hash = 0;
    if (unrelu_source_memory(data.mixed, ROWS, 6, NULL, &source, NULL) == UNRELU_OK &&
        unrelu_unmix(source, NULL, &here, &model, NULL) == UNRELU_OK)
        hash = add(1, model->A, model->d * model->p);
    unrelu_mixture_free(model);
    unrelu_source_close(source);
    return hash;
}

static uint64_t draw_samples(void)
{
    unrelu_sampler *sampler = NULL;
    double *x = malloc(2000 * 5 * sizeof *x);
    uint64_t hash = 0;
    if (x && unrelu_gaussian_sampler(data.truth, 7, &sampler, NULL) == UNRELU_OK &&
        unrelu_sampler_draw(sampler, 0, 2000, &here, x, NULL) == UNRELU_OK)
        hash = add(1, x, 2000 * 5);
    unrelu_sampler_free(sampler);
    free(x);
    return hash;
}

static uint64_t run(size_t job)
{
    switch (job % JOBS) {
    case 0:
        return fit_gaussian(UNRELU_ANGLES_H6);
    case 1:
        return recover_network(&data.exact);
    case 2:
        return unmix_samples();
    case 3:
        return recover_network(&data.noisy);
    case 4:
        return fit_gaussian(UNRELU_ANGLES_LIKELIHOOD);
    default:
        return draw_samples();
    }
}

typedef struct {
    size_t first;
    uint64_t hash[JOBS];
    pthread_t id;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    for (size_t i = 0; i < JOBS; i++) /* every thread begins with another call */
        w->hash[(w->first + i) % JOBS] = run(w->first + i);
    return NULL;
}

static void calls_at_once_give_what_they_give_alone(void **state)
{
    (void)state;
    uint64_t alone[JOBS];
    worker workers[THREADS] = {0};
    int before = openblas_get_num_threads();
    for (size_t i = 0; i < JOBS; i++) {
        alone[i] = run(i);
        assert_true(alone[i] != 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].first = i;
        assert_int_equal(pthread_create(&workers[i].id, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].id, NULL);
    for (size_t i = 0; i < THREADS; i++)
        for (size_t j = 0; j < JOBS; j++)
            if (workers[i].hash[j] != alone[j])
                fail_msg("thread %zu: call %zu gives other bits than alone", i, j);
    assert_true(atomic_load(&calls) > THREADS);
    assert_int_equal(atomic_load(&unpinned), 0);
    assert_int_equal(openblas_get_num_threads(), before);
}

static int set_up(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_gaussian_plant_options g;
    unrelu_gaussian_plant_options_init(&g, sizeof g);
    unrelu_mixture_plant_options m;
    unrelu_mixture_plant_options_init(&m, sizeof m);
    unrelu_sampler *sampler = NULL;
    g.kappa = 5;
    data.truth = plant(g);
    data.x = draw(data.truth, ROWS, 1);
    data.exact = plant_network(8, 5, 6, 200, 0, 1);
    data.noisy = plant_network(4, 2, 3, ROWS, 0.1, 2);
    m.d = 6;
    m.p = 4;
    must(unrelu_mixture_plant(&m, &data.mixture, &err), &err);
    data.mixed = malloc(ROWS * 6 * sizeof *data.mixed);
    assert_non_null(data.mixed);
    must(unrelu_mixture_sampler(data.mixture, 3, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, ROWS, NULL, data.mixed, &err), &err);
    unrelu_sampler_free(sampler);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unrelu_gaussian_free(data.truth);
    unrelu_mixture_free(data.mixture);
    planted_network_free(&data.exact);
    planted_network_free(&data.noisy);
    free(data.x);
    free(data.mixed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_at_once_give_what_they_give_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
