/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu_unmix on planted mixtures (b = 0) as ratios, both sides measured in turns in this run: the
 * whole call by facets against one SVD of the samples, the least that tells their rank, and against
 * the fit of W W' and b alone, on hidden units drawn from the true law; by facets against the
 * published way, where every unit is alone in some sample; two threads against one. One thread
 * where nothing is said. Of each mixture the smallest time, then the mean over the mixtures. A
 * result that is wrong ends the run. */
#include "bench.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

typedef struct {
    size_t p, d, n;
    double noise;
    int separable; /* that way as well */
    int mixtures, turns;
} point;

typedef struct {
    const point *at;
    unrelu_mixture *truth;
    double *x, *m; /* (n, d), (n, p) */
} planted;

static planted plant(const point *at, uint64_t seed)
{
    planted data = {.at = at, .x = room_for(at->n, at->d), .m = room_for(at->n, at->p)};
    unrelu_mixture_plant_options o;
    unrelu_mixture_plant_options_init(&o, sizeof o);
    unrelu_sampler *samples = NULL, *units = NULL;
    unrelu_error err = {0};
    o.d = at->d;
    o.p = at->p;
    o.noise = at->noise;
    o.seed = seed;
    must(unrelu_mixture_plant(&o, &data.truth, &err), &err);
    must(unrelu_mixture_sampler(data.truth, seed, &samples, &err), &err);
    must(unrelu_gaussian_sampler(data.truth->hidden, seed, &units, &err), &err);
    must(unrelu_sampler_draw(samples, 0, at->n, NULL, data.x, &err), &err);
    must(unrelu_sampler_draw(units, 0, at->n, NULL, data.m, &err), &err);
    unrelu_sampler_free(samples);
    unrelu_sampler_free(units);
    return data;
}

static void planted_free(planted *data)
{
    unrelu_mixture_free(data->truth);
    free(data->x);
    free(data->m);
}

static void check(const planted *data, const unrelu_mixture *model)
{
    const point *at = data->at;
    unrelu_mixture_distance far = {0};
    unrelu_error err = {0};
    int noisy = at->noise > 0;
    int right = model->p == at->p &&
                model->verdict == (noisy ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT);
    if (right) {
        must(unrelu_mixture_compare(data->truth, model, &far, &err), &err);
        right = far.A_column < (noisy ? at->noise : 1e-11);
    }
    if (right)
        return;
    fprintf(stderr, "p=%zu d=%zu n=%zu seed %llu by %s: verdict %s, %zu units, error of A %.2g\n",
            at->p, at->d, at->n, (unsigned long long)data->truth->seed, model->method,
            unrelu_verdict_name(model->verdict), model->p, far.A_column);
    exit(1);
}

static double time_unmix(const planted *data, unrelu_unmix_method method, int threads)
{
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    unrelu_source *source = NULL;
    unrelu_mixture *model;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = threads};
    o.method = method;
    must(unrelu_source_memory(data->x, data->at->n, data->at->d, NULL, &source, &err), &err);
    double start = now();
    must(unrelu_unmix(source, &o, &exec, &model, &err), &err);
    double seconds = now() - start;
    check(data, model);
    unrelu_mixture_free(model);
    unrelu_source_close(source);
    return seconds;
}

/* ---- what it is held against, with one thread ---- */

static double time_svd(const planted *data)
{
    size_t n = data->at->n, d = data->at->d;
    double *U = room_for(n, d), *s = room_for(d, 1), *Vt = room_for(d, d);
    unrelu_error err = {0};
    double start = now();
    must(ur_svd(n, d, data->x, U, s, Vt, &err), &err);
    double seconds = now() - start;
    free(U);
    free(s);
    free(Vt);
    return seconds;
}

static double time_fit(const planted *data)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    unrelu_source *source = NULL;
    unrelu_gaussian *model;
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    must(unrelu_source_memory(data->m, data->at->n, data->at->p, NULL, &source, &err), &err);
    double start = now();
    must(unrelu_gaussian_fit(source, &o, &exec, &model, &err), &err);
    double seconds = now() - start;
    unrelu_gaussian_free(model);
    unrelu_source_close(source);
    return seconds;
}

/* ---- the table ---- */

static void row(const point *at, const char *what, double ours, double theirs)
{
    char title[120];
    int used = snprintf(title, sizeof title, "p=%zu d=%zu n=%zu", at->p, at->d, at->n);
    if (at->noise > 0)
        used += snprintf(title + used, sizeof title - (size_t)used, " noise %.2g", at->noise);
    snprintf(title + used, sizeof title - (size_t)used, ": %s", what);
    printf("| %-60s | %8.2f | %10.5f | %10.5f |\n", title, ours / theirs, ours, theirs);
    fflush(stdout);
}

static void measure(const point *at)
{
    enum { ONE, TWO, SEPARABLE, SVD, FIT, COUNT };
    double mean[COUNT] = {0};
    for (int mixture = 0; mixture < at->mixtures; mixture++) {
        planted data = plant(at, (uint64_t)mixture + 1);
        double best[COUNT] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
        for (int turn = 0; turn < at->turns; turn++) {
            best[ONE] = fmin(best[ONE], time_unmix(&data, UNRELU_UNMIX_FACETS, 1));
            best[TWO] = fmin(best[TWO], time_unmix(&data, UNRELU_UNMIX_FACETS, 2));
            if (at->separable)
                best[SEPARABLE] =
                    fmin(best[SEPARABLE], time_unmix(&data, UNRELU_UNMIX_SEPARABLE, 1));
            best[SVD] = fmin(best[SVD], time_svd(&data));
            best[FIT] = fmin(best[FIT], time_fit(&data));
        }
        for (int i = 0; i < COUNT; i++)
            mean[i] += best[i] / at->mixtures;
        planted_free(&data);
    }
    row(at, "facets / one SVD", mean[ONE], mean[SVD]);
    row(at, "facets / fit of W W' and b", mean[ONE], mean[FIT]);
    if (at->separable)
        row(at, "facets / separable", mean[ONE], mean[SEPARABLE]);
    row(at, "1 thread / 2 threads", mean[ONE], mean[TWO]);
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const point all[] = {{5, 10, 100, 0, 0, 10, 5},    {5, 10, 2000, 0, 1, 5, 5},
                         {10, 15, 200, 0, 0, 10, 5},   {10, 15, 2000, .01, 0, 3, 3},
                         {10, 15, 100000, 0, 0, 1, 3}, {20, 30, 400, 0, 0, 3, 3},
                         {50, 60, 1500, 0, 0, 1, 3}};
    UR_BLAS_PINNED;
    printf("| %-60s | %8s | %10s | %10s |\n|%.62s|%.10s|%.12s|%.12s|\n", "what", "ratio", "first s",
           "second s", "----------------------------------------------------------------",
           "----------", "------------", "------------");
    for (size_t i = 0; i < sizeof all / sizeof *all - (quick ? 1 : 0); i++)
        measure(&all[i]);
    return 0;
}
