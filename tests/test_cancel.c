/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is told to stop, at whichever time it asks, stops: no method takes that for a start
 * that failed, tries another one, and returns what is weaker than it would have been. */
#include "mixtures.h"
#include "networks.h"

typedef struct {
    size_t asked, stop; /* from which time on it shall stop */
} asking;

static int stop_then(void *context)
{
    asking *a = context;
    return a->asked++ >= a->stop;
}

typedef unrelu_status job(const void *context, const unrelu_exec *exec, unrelu_error *err);

/* The first times, the last ones, and some between; whether it was asked at all. */
static size_t expect_stops(job *run, const void *context, const char *what)
{
    asking all = {.stop = SIZE_MAX};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .cancelled = stop_then, .context = &all};
    unrelu_error err = {0};
    unrelu_status undisturbed = run(context, &exec, &err);
    if (undisturbed != UNRELU_EDATA) /* which is an answer too */
        must(undisturbed, &err);
    for (size_t k = 0; k < all.asked; k = k < 4 || k + 4 > all.asked ? k + 1 : k + k / 2) {
        asking one = {.stop = k};
        exec.context = &one;
        if (run(context, &exec, &err) != UNRELU_ECANCELLED)
            fail_msg("%s: told to stop at %zu of %zu, it ended with: %s", what, k, all.asked,
                     err.code ? err.text : "success");
    }
    return all.asked;
}

typedef struct {
    const planted_network *p;
    unrelu_recover_options options;
} recovery;

static unrelu_status run_recover(const void *context, const unrelu_exec *exec, unrelu_error *err)
{
    const recovery *r = context;
    unrelu_network *model;
    *err = (unrelu_error){0};
    unrelu_status status =
        try_recover(r->p->x, r->p->a, r->p->n, r->p->d, r->p->m, &r->options, exec, &model, err);
    unrelu_network_free(model);
    return status;
}

static void recoveries_stop_by_every_method(void **state)
{
    static const char *const methods[] = {
        "auto",   "exact",     "moments",    "ica",       "tensor",       "symmetric", "lifted",
        "facets", "enumerate", "one-sparse", "any-noise", "sparse-noise", "signless"};
    static const double noises[] = {0, 0.1};
    (void)state;
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        planted_network p = plant_network(4, 2, 3, 120, noises[i], 1);
        for (size_t j = 0; j < sizeof methods / sizeof *methods; j++) {
            recovery r = {.p = &p};
            unrelu_error err = {0};
            unrelu_recover_options_init(&r.options, sizeof r.options);
            must(unrelu_recover_options_set(&r.options, "method", methods[j], &err), &err);
            r.options.k = 2;
            expect_stops(run_recover, &r, methods[j]);
        }
        planted_network_free(&p);
    }
}

static unrelu_status run_unmix(const void *context, const unrelu_exec *exec, unrelu_error *err)
{
    const planted_mixture *p = context;
    unrelu_mixture *model;
    *err = (unrelu_error){0};
    unrelu_status status = try_unmix(p->x, p->n, p->truth->d, NULL, exec, &model, err);
    unrelu_mixture_free(model);
    return status;
}

static void unmixing_stops(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        planted_mixture p = plant_mixture(4, 3, 0, 600, 0, noisy ? 0.005 : 0, 1);
        assert_true(expect_stops(run_unmix, &p, "unmix") > 0);
        planted_mixture_free(&p);
    }
}

static const char *const fits[][2] = {{"method", "efficient"},  {"method", "paper"},
                                      {"angles", "likelihood"}, {"rank", "auto"},
                                      {"norms", "median"},      {"robust", "yes"}};

typedef struct {
    const planted_mixture *p;
    const char *const *option;
} fitting;

static unrelu_status run_fit(const void *context, const unrelu_exec *exec, unrelu_error *err)
{
    const fitting *f = context;
    unrelu_source *samples = NULL;
    unrelu_gaussian *model = NULL;
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    *err = (unrelu_error){0};
    must(unrelu_gaussian_options_set(&o, f->option[0], f->option[1], err), err);
    must(unrelu_source_memory(f->p->x, f->p->n, f->p->truth->d, NULL, &samples, err), err);
    unrelu_status status = unrelu_gaussian_fit(samples, &o, exec, &model, err);
    unrelu_source_close(samples);
    unrelu_gaussian_free(model);
    return status;
}

static void fits_stop(void **state)
{
    (void)state;
    planted_mixture p = plant_mixture(4, 4, 0, 600, 0.3, 0, 1);
    for (size_t i = 0; i < 600 * 4; i++)
        p.x[i] = p.x[i] > 0 ? p.x[i] : 0;
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        fitting f = {.p = &p, .option = fits[i]};
        assert_true(expect_stops(run_fit, &f, fits[i][1]) > 0);
    }
    planted_mixture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recoveries_stop_by_every_method),
        cmocka_unit_test(unmixing_stops),
        cmocka_unit_test(fits_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
