/* SPDX-License-Identifier: Apache-2.0 */
#include "meet.h"

#if defined(__linux__)
#include <sched.h>
#endif
#include <stdlib.h>
#include <unistd.h>

/* Ranks on one machine share its cores, and none takes more than it may run on. */
int meet_threads(const unrelu_mpi *mpi)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN), own = online;
#if defined(__linux__)
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        own = CPU_COUNT(&cpus);
#endif
    long share = online / mpi->neighbours;
    share = share < own ? share : own;
    return share > 1 ? (int)share : 1;
}

static int count_neighbours(const unrelu_mpi *mpi)
{
    int neighbours = 1;
    MPI_Comm machine;
    if (MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED, mpi->rank, MPI_INFO_NULL, &machine) !=
        MPI_SUCCESS)
        return 1;
    MPI_Comm_size(machine, &neighbours);
    MPI_Comm_free(&machine);
    return neighbours;
}

/* A rank that lacks memory is met like any other that fails: its meeting needs none. */
unrelu_status unrelu_mpi_open(MPI_Comm comm, unrelu_mpi **out, unrelu_error *err)
{
    unrelu_mpi without = {0}, *mpi = unrelu_alloc(1, sizeof *mpi);
    *out = NULL;
    MEET_TRY(meet_mpi(MPI_Comm_dup(comm, &without.comm), err));
    MPI_Comm_rank(without.comm, &without.rank);
    MPI_Comm_size(without.comm, &without.ranks);
    if (mpi) {
        *mpi = without;
        mpi->neighbours = count_neighbours(mpi);
        mpi->room = unrelu_alloc(MEET_SLICE + (size_t)mpi->ranks, sizeof *mpi->room);
        mpi->counts = unrelu_alloc(4 * (size_t)mpi->ranks, sizeof *mpi->counts);
    } else {
        count_neighbours(&without);
    }
    int lacks = !mpi || !mpi->room || !mpi->counts;
    unrelu_mpi *here = mpi ? mpi : &without;
    if (meet(here, MEET_OPEN, 0, lacks ? UNRELU_ENOMEM : 0,
             "not enough memory for what MPI sends and receives")) {
        unrelu_status status = meet_status(here, err);
        MPI_Comm_free(&here->comm);
        here->comm = MPI_COMM_NULL;
        unrelu_mpi_close(mpi);
        return status;
    }
    *out = mpi;
    return UNRELU_OK;
}

void unrelu_mpi_close(unrelu_mpi *mpi)
{
    if (!mpi)
        return;
    if (mpi->comm != MPI_COMM_NULL)
        MPI_Comm_free(&mpi->comm);
    unrelu_free(mpi->room);
    unrelu_free(mpi->counts);
    unrelu_free(mpi);
}
