/* SPDX-License-Identifier: Apache-2.0 */
/* Microseconds (CPU, least of several runs) of one pairwise likelihood fit at n = 1000 and
 * n = 106: with one limit a column, with 3, with a limit of its own in each cell; and of all pairs
 * of d = 91 columns. */
#include "base/random.h"
#include "law/cell_pair.h"

#include "bench.h"

#include <math.h>

enum { ROWS = 1000, PAIRS = 100, REPEATS = 20, MOST = 91 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
    size_t n, d;
    double *x, *rho; /* (d, n); rho of columns 2 k and 2 k + 1 */
    unsigned char *state;
    ur_cell_column *column;
    ur_arena arena;
} sample;

static double limit_of(int limits, size_t row, double gamma, double u)
{
    double third = 0.4 * (double)(row % 3) - 0.4;
    return -gamma + (limits == 1 ? 0 : limits == 3 ? third : 1.2 * u - 0.6);
}

static void plant(sample *s, int limits)
{
    unrelu_error err;
    for (size_t j = 0; j < s->d; j++) {
        double *x = s->x + j * s->n, p[3], u[ROWS];
        ur_random_uniforms(1, j, 0, 3, p);
        ur_random_uniforms(2, j, 0, s->n, u);
        ur_random_normals(1, j, 0, s->n, x);
        double rho = j % 2 ? 0.9 * (2 * p[2] - 1) : 0, gamma = -0.7 + 2 * p[0];
        s->rho[j] = rho;
        for (size_t i = 0; i < s->n && j % 2; i++)
            x[i] = rho * x[i - s->n] + sqrt(1 - rho * rho) * x[i];
        if (j % 2 == 0)
            continue;
        for (size_t k = j - 1; k <= j; k++)
            for (size_t i = 0; i < s->n; i++) {
                double l = limit_of(limits, i, gamma, u[i]), *y = s->x + k * s->n;
                s->state[k * s->n + i] = y[i] <= l;
                y[i] = fmax(y[i], l);
            }
    }
    for (size_t j = 0; j < s->d; j++)
        must(ur_cell_column_open(&s->arena, s->n, s->x + j * s->n, NULL, s->state + j * s->n,
                                 &s->column[j], &err),
             &err);
}

static void open_sample(sample *s, size_t n, size_t d, int limits)
{
    *s = (sample){n,  d, room_for(d, n), room_for(d, 1), calloc(d, n), calloc(d, sizeof *s->column),
                  {0}};
    if (!s->state || !s->column)
        exit(1);
    plant(s, limits);
}

static void close_sample(sample *s)
{
    ur_arena_end(&s->arena);
    free(s->x);
    free(s->rho);
    free(s->state);
    free(s->column);
}

static void bench_pairs(size_t n, int limits)
{
    sample s;
    ur_pair out[PAIRS];
    double best = INFINITY, evaluations = 0, z2 = 0;
    open_sample(&s, n, 2 * PAIRS, limits);
    double *room = ur_cell_pair_room(&s.arena, n);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = cpu_seconds();
        for (size_t k = 0; k < PAIRS; k++)
            ur_cell_pair_fit(&s.column[2 * k], &s.column[2 * k + 1], room, &out[k]);
        best = fmin(best, cpu_seconds() - start);
    }
    for (size_t k = 0; k < PAIRS; k++) {
        evaluations += out[k].evaluations;
        z2 += pow((out[k].rho - s.rho[2 * k + 1]) / out[k].rho_se, 2);
    }
    printf("n %4zu, %s  %7.2f us/pair, %.2f evaluations, z rms %.2f\n", n,
           limits == 1   ? "one limit a column   "
           : limits == 3 ? "3 limits a column    "
                         : "a limit for each cell",
           1e6 * best / PAIRS, evaluations / PAIRS, sqrt(z2 / PAIRS));
    close_sample(&s);
}

static void bench_all(size_t n, size_t d, int limits)
{
    sample s;
    double sink = 0, start = cpu_seconds();
    open_sample(&s, n, d, limits);
    double *room = ur_cell_pair_room(&s.arena, n);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            ur_pair out;
            ur_cell_pair_fit(&s.column[i], &s.column[j], room, &out);
            sink += out.rho;
        }
    printf("n %4zu, d %zu, %d limits  %.3f s for all columns and pairs%s\n", n, d, limits,
           cpu_seconds() - start, isfinite(sink) ? "" : " (?)");
    close_sample(&s);
}

int main(void)
{
    bench_pairs(1000, 1);
    bench_pairs(1000, 3);
    bench_pairs(1000, 0);
    bench_pairs(106, 1);
    bench_all(106, MOST, 1);
    bench_all(106, MOST, 0);
    return 0;
}
