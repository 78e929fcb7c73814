/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of the slowest rank of a fit, best of some runs: what it works, and what its sums take
 * where nobody waits in them, as a rank that waits spins. One line: rows, columns, ranks, seconds,
 * sums over ranks, doubles in them. */
#include "unrelu/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* the sum of libunrelu_mpi, and the CPU time in it */
typedef struct {
    unrelu_exec inner;
    double seconds;
    size_t calls, doubles;
} timed;

static unrelu_status timed_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    timed *t = context;
    double start = cpu();
    unrelu_status status = t->inner.rank_sum(t->inner.context, s, len, err);
    t->seconds += cpu() - start;
    t->calls++;
    t->doubles += len;
    return status;
}

static void must(unrelu_status status, const unrelu_error *err)
{
    if (status == UNRELU_OK)
        return;
    fprintf(stderr, "%s\n", err->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* the rows of this rank of n of a planted model */
static unrelu_source *open_rows(size_t n, size_t d, size_t rank, size_t ranks)
{
    unrelu_error err;
    unrelu_gaussian *truth;
    unrelu_sampler *sampler;
    unrelu_source *source;
    unrelu_gaussian_plant_options how;
    unrelu_gaussian_plant_options_init(&how, sizeof how);
    how.d = d;
    size_t first = n / ranks * rank, rows = rank + 1 < ranks ? n / ranks : n - first;
    double *x = malloc(rows * d * sizeof *x);
    if (!x)
        MPI_Abort(MPI_COMM_WORLD, 1);
    must(unrelu_gaussian_plant(&how, &truth, &err), &err);
    must(unrelu_gaussian_sampler(truth, 1, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, first, rows, NULL, x, &err), &err);
    must(unrelu_source_memory(x, rows, d, NULL, &source, &err), &err);
    unrelu_sampler_free(sampler);
    unrelu_gaussian_free(truth);
    return source; /* x is the operating system's to free */
}

int main(int argc, char **argv)
{
    unrelu_mpi *mpi;
    unrelu_error err;
    double best = 1e300;
    size_t calls = 0, doubles = 0;
    MPI_Init(&argc, &argv);
    must(unrelu_mpi_open(MPI_COMM_WORLD, &mpi, &err), &err);
    size_t n = (size_t)atof(argv[1]), d = (size_t)atof(argv[2]), ranks = unrelu_mpi_ranks(mpi);
    int runs = atoi(argv[3]);
    unrelu_source *source = open_rows(n, d, unrelu_mpi_rank(mpi), ranks);
    for (int run = 0; run < runs; run++) {
        unrelu_gaussian *model;
        timed t = {0};
        unrelu_exec exec;
        unrelu_exec_init(&exec, sizeof exec);
        exec.threads = 1;
        unrelu_mpi_exec(mpi, &exec);
        t.inner = exec;
        exec.rank_sum = exec.rank_sum ? timed_sum : NULL;
        exec.context = &t;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = cpu();
        must(unrelu_gaussian_fit(source, NULL, &exec, &model, &err), &err);
        double work = cpu() - start - t.seconds, slowest, sums;
        unrelu_gaussian_free(model);
        calls = t.calls;
        doubles = t.doubles;
        MPI_Allreduce(&work, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&t.seconds, &sums, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        best = slowest + sums < best ? slowest + sums : best;
    }
    if (unrelu_mpi_rank(mpi) == 0)
        printf("%zu %zu %zu %.4f %zu %zu\n", n, d, ranks, best, calls, doubles);
    unrelu_source_close(source);
    unrelu_mpi_close(mpi);
    MPI_Finalize();
    return 0;
}
