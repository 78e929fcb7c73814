/* SPDX-License-Identifier: Apache-2.0 */
/* libunrelu_mpi: calls of libunrelu whose sums go over the ranks of an MPI communicator. Every rank
 * has its part of the rows, makes the same calls, and gets the same model, bit by bit:
 *
 *     unrelu_mpi *mpi;
 *     unrelu_exec exec;
 *     unrelu_mpi_open(MPI_COMM_WORLD, &mpi, &err);
 *     unrelu_exec_init(&exec, sizeof exec);
 *     unrelu_mpi_exec(mpi, &exec);
 *     status = unrelu_mpi_source(mpi, &path, 1, NULL, &source, &err);
 *     if (status == UNRELU_OK)
 *         status = unrelu_gaussian_fit(source, NULL, &exec, &model, &err);
 *     status = unrelu_mpi_agree(mpi, status, &err);
 *
 * Nobody waits for a rank that failed: where ranks meet (unrelu_mpi_source, a sum,
 * unrelu_mpi_gather) those that came fail with the status and the sentence of the one that went on
 * to unrelu_mpi_agree. What MPI itself reports, a rank that was killed among it, is left to the
 * error handler of the communicator; that which MPI sets by itself ends the job. */
#ifndef UNRELU_MPI_H
#define UNRELU_MPI_H

#include <mpi.h>

#include "unrelu/unrelu.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UNRELU_MPI_API __attribute__((visibility("default")))
#else
#define UNRELU_MPI_API
#endif

typedef struct unrelu_mpi unrelu_mpi;

/* Every rank of comm, which is duplicated. MPI is initialised by the caller. */
UNRELU_MPI_API unrelu_status unrelu_mpi_open(MPI_Comm comm, unrelu_mpi **out, unrelu_error *err);
UNRELU_MPI_API void unrelu_mpi_close(unrelu_mpi *mpi); /* every rank; takes NULL */
UNRELU_MPI_API size_t unrelu_mpi_rank(const unrelu_mpi *mpi);
UNRELU_MPI_API size_t unrelu_mpi_ranks(const unrelu_mpi *mpi);

/* Sets rank, ranks and rank_sum of exec, whose own functions are called as before, with their own
 * context; where it has threads 0, the cores of the machine are shared among its ranks. The sum
 * adds in the order of the ranks: its bits depend on how many there are, and on nothing else. One
 * exec at a time, for as long as mpi is open. */
UNRELU_MPI_API void unrelu_mpi_exec(unrelu_mpi *mpi, unrelu_exec *exec);

/* Every rank: opens the part of this rank of one or more files, the same list on each rank. Where
 * there are fewer files than ranks, ranks share a file, and each reads a range of its rows (`part`
 * and `parts` of options are set here); where there are more, each takes as many whole files as
 * another, or one more. Columns have the same number and
 * names in all files. Fails on all ranks or on none. */
UNRELU_MPI_API unrelu_status unrelu_mpi_source(unrelu_mpi *mpi, const char *const *paths,
                                               size_t count, const unrelu_source_options *options,
                                               unrelu_source **out, unrelu_error *err);

/* Every rank: takes the len doubles of x of each to rank 0, which `take` is called on, once for
 * each rank and in their order. x of rank 0 has room for what any of them has, and is overwritten.
 */
UNRELU_MPI_API unrelu_status unrelu_mpi_gather(unrelu_mpi *mpi, double *x, size_t len,
                                               unrelu_status (*take)(void *context, size_t rank,
                                                                     const double *x, size_t len,
                                                                     unrelu_error *err),
                                               void *context, unrelu_error *err);

/* Every rank, once where its work ends, with what became of it: returns the same on each, UNRELU_OK
 * or the status of the first rank that failed by itself, with its sentence ("rank 2: ..."; without
 * the rank where all failed by themselves). err is not NULL. */
UNRELU_MPI_API unrelu_status unrelu_mpi_agree(unrelu_mpi *mpi, unrelu_status status,
                                              unrelu_error *err);

#ifdef __cplusplus
}
#endif

#endif
