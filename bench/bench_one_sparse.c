/* SPDX-License-Identifier: Apache-2.0 */
/* --method one-sparse as ratios, both sides measured in turns in this run: classes of parallel rows
 * against one qsort of as many numbers, the least that sorting costs; the recovery against one
 * evaluation U max(0, V x) of all rows. One thread; the smallest time of the turns. A wrong answer
 * ends the run. */
#include "bench.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { TURNS = 3, BLOCK = 256 };

typedef struct {
    size_t d, k, m, n;
    unrelu_network *truth;
    double *x, *a; /* (n, d), (n, m) */
} planted;

static planted plant(size_t d, size_t k, size_t m, size_t n)
{
    planted data = {.d = d, .k = k, .m = m, .n = n, .x = room_for(n, d), .a = room_for(n, m)};
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    o.d = d;
    o.k = k;
    o.m = m;
    o.kappa_v = 3;
    must(unrelu_network_plant(&o, &data.truth, &err), &err);
    must(unrelu_network_draw(&o, data.truth, 0, n, NULL, data.x, data.a, &err), &err);
    return data;
}

static void planted_free(planted *data)
{
    unrelu_network_free(data->truth);
    free(data->x);
    free(data->a);
}

static double time_grouping(const planted *data)
{
    UR_ARENA(arena);
    ur_groups groups;
    unrelu_error err = {0};
    double start = now();
    must(
        ur_group(data->n, data->m, data->a, NULL, data->d, data->x, 1e-9, 1, &arena, &groups, &err),
        &err);
    double seconds = now() - start;
    size_t large = 0;
    for (size_t c = 0; c < groups.count; c++)
        large += groups.size[c] > 10;
    if (large != data->k) {
        fprintf(stderr, "%zu classes of more than 10 rows, and %zu neurons\n", large, data->k);
        exit(1);
    }
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double time_qsort(const planted *data)
{
    double *keys = room_for(data->n, 1);
    for (size_t i = 0; i < data->n; i++)
        keys[i] = data->a[i * data->m];
    double start = now();
    qsort(keys, data->n, sizeof *keys, ascending);
    double seconds = now() - start;
    free(keys);
    return seconds;
}

static double time_recovery(const planted *data)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_network *model;
    unrelu_network_distance far = {0};
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    o.method = UNRELU_RECOVER_ONE_SPARSE;
    must(unrelu_source_memory(data->x, data->n, data->d, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(data->a, data->n, data->m, NULL, &labels, &err), &err);
    double start = now();
    must(unrelu_recover(inputs, labels, &o, &exec, &model, &err), &err);
    double seconds = now() - start;
    if (model->k == data->k)
        must(unrelu_network_compare(data->truth, model, &far, &err), &err);
    if (model->verdict != UNRELU_VERDICT_EXACT || model->k != data->k || !(far.V_max <= 1e-12)) {
        fprintf(stderr, "n=%zu: verdict %s, error %.2g\n", data->n,
                unrelu_verdict_name(model->verdict), far.V_max);
        exit(1);
    }
    unrelu_network_free(model);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return seconds;
}

static double time_evaluation(const planted *data)
{
    int d = (int)data->d, k = (int)data->k, m = (int)data->m;
    double *t = room_for(BLOCK, data->k), *y = room_for(BLOCK, data->m), sum = 0;
    double start = now();
    for (size_t first = 0; first < data->n; first += BLOCK) {
        size_t rows = data->n - first < BLOCK ? data->n - first : BLOCK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, k, d, 1,
                    data->x + first * data->d, d, data->truth->V, d, 0, t, k);
        for (size_t i = 0; i < rows * data->k; i++)
            t[i] = t[i] > 0 ? t[i] : 0;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, m, k, 1, t, k,
                    data->truth->U, k, 0, y, m);
        sum += y[0];
    }
    double seconds = now() - start;
    free(t);
    free(y);
    return isfinite(sum) ? seconds : NAN;
}

static void compare(const planted *data, const char *what, double (*ours)(const planted *),
                    double (*theirs)(const planted *))
{
    double first = INFINITY, second = INFINITY;
    for (int turn = 0; turn < TURNS; turn++) {
        first = fmin(first, ours(data));
        second = fmin(second, theirs(data));
    }
    printf("| (%zu,%zu,%zu) n=%-8zu %-35s | %8.2f | %10.5f | %10.5f |\n", data->d, data->k, data->m,
           data->n, what, first / second, first, second);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const size_t sizes[] = {1000, 10000, 100000, 1000000};
    UR_BLAS_PINNED;
    printf("| %-55s | %8s | %10s | %10s |\n|%.57s|%.10s|%.12s|%.12s|\n", "what", "ratio", "first s",
           "second s", "---------------------------------------------------------", "----------",
           "------------", "------------");
    for (size_t i = 0; i < (quick ? 3 : 4); i++) {
        planted data = plant(10, 8, 4, sizes[i]);
        if (sizes[i] >= 100000)
            compare(&data, "grouping / qsort of n", time_grouping, time_qsort);
        compare(&data, "recovery / one evaluation", time_recovery, time_evaluation);
        planted_free(&data);
    }
    return 0;
}
