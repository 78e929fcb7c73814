/* SPDX-License-Identifier: Apache-2.0 */
#include "meet.h"

#include <string.h>

/* ---- sums ---- */

/* s of all ranks to each, which adds them up in their order: for what is short */
static unrelu_status add_short(unrelu_mpi *mpi, double *s, size_t len, unrelu_error *err)
{
    int count = (int)len;
    MEET_TRY(meet_mpi(MPI_Allgather(s, count, MPI_DOUBLE, mpi->room, count, MPI_DOUBLE, mpi->comm),
                      err));
    memcpy(s, mpi->room, len * sizeof *s);
    for (size_t r = 1; r < (size_t)mpi->ranks; r++)
        for (size_t i = 0; i < len; i++)
            s[i] += mpi->room[r * len + i];
    return UNRELU_OK;
}

static int share_of(size_t len, int rank, int ranks)
{
    size_t R = (size_t)ranks, r = (size_t)rank;
    return (int)(len * (r + 1) / R - len * r / R);
}

/* Each rank adds up a share of the numbers, and all get the shares: nobody sends or receives more
 * than twice the numbers, however many ranks there are. */
static unrelu_status add_long(unrelu_mpi *mpi, double *s, size_t len, unrelu_error *err)
{
    int R = mpi->ranks, *out = mpi->counts, *out_at = out + R, *in = out_at + R, *in_at = in + R;
    int own = share_of(len, mpi->rank, R);
    for (int r = 0; r < R; r++) {
        out[r] = share_of(len, r, R);
        out_at[r] = r ? out_at[r - 1] + out[r - 1] : 0;
        in[r] = own;
        in_at[r] = r * own;
    }
    MEET_TRY(meet_mpi(
        MPI_Alltoallv(s, out, out_at, MPI_DOUBLE, mpi->room, in, in_at, MPI_DOUBLE, mpi->comm),
        err));
    double *sum = s + out_at[mpi->rank];
    memcpy(sum, mpi->room, (size_t)own * sizeof *sum);
    for (int r = 1; r < R; r++)
        for (int i = 0; i < own; i++)
            sum[i] += mpi->room[in_at[r] + i];
    return meet_mpi(
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s, out, out_at, MPI_DOUBLE, mpi->comm),
        err);
}

/* Number i is s_0 + s_1 + ..., whichever rank adds it and however it travels. */
static unrelu_status rank_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    unrelu_mpi *mpi = context;
    if (meet(mpi, MEET_SUM, len, 0, NULL))
        return meet_status(mpi, err);
    for (size_t at = 0, part; at < len; at += part) {
        part = len - at < MEET_SLICE ? len - at : MEET_SLICE;
        int is_short = part * (size_t)mpi->ranks <= MEET_SLICE;
        MEET_TRY((is_short ? add_short : add_long)(mpi, s + at, part, err));
    }
    return UNRELU_OK;
}

/* ---- exec ---- */

static void pass_progress(void *context, const char *stage, double fraction)
{
    const unrelu_exec *user = &((unrelu_mpi *)context)->user;
    user->progress(user->context, stage, fraction);
}

static int pass_cancelled(void *context)
{
    const unrelu_exec *user = &((unrelu_mpi *)context)->user;
    return user->cancelled(user->context);
}

static void pass_counts(void *context, const unrelu_counts *counts)
{
    const unrelu_exec *user = &((unrelu_mpi *)context)->user;
    user->counts(user->context, counts);
}

/* An exec of an older program may be shorter than this library's: what it lacks is left alone. */
void unrelu_mpi_exec(unrelu_mpi *mpi, unrelu_exec *exec)
{
    unrelu_exec_init(&mpi->user, sizeof mpi->user);
    size_t size = exec->size < sizeof *exec ? exec->size : sizeof *exec;
    memcpy(&mpi->user, exec, size);
    unrelu_exec own = mpi->user;
    own.size = exec->size;
    own.progress = own.progress ? pass_progress : NULL;
    own.cancelled = own.cancelled ? pass_cancelled : NULL;
    own.counts = own.counts ? pass_counts : NULL;
    own.rank = (size_t)mpi->rank;
    own.ranks = (size_t)mpi->ranks;
    own.rank_sum = mpi->ranks > 1 ? rank_sum : NULL; /* one rank is what it is without MPI */
    own.context = mpi;
    if (own.threads == 0)
        own.threads = meet_threads(mpi);
    memcpy(exec, &own, size);
}

/* ---- gather ---- */

static unrelu_status receive(unrelu_mpi *mpi, double *x, int rank, size_t len, unrelu_error *err)
{
    for (size_t at = 0, part; at < len; at += part) {
        part = len - at < MEET_SLICE ? len - at : MEET_SLICE;
        MEET_TRY(meet_mpi(
            MPI_Recv(x + at, (int)part, MPI_DOUBLE, rank, 0, mpi->comm, MPI_STATUS_IGNORE), err));
    }
    return UNRELU_OK;
}

static unrelu_status send(unrelu_mpi *mpi, const double *x, size_t len, unrelu_error *err)
{
    for (size_t at = 0, part; at < len; at += part) {
        part = len - at < MEET_SLICE ? len - at : MEET_SLICE;
        MEET_TRY(meet_mpi(MPI_Send(x + at, (int)part, MPI_DOUBLE, 0, 0, mpi->comm), err));
    }
    return UNRELU_OK;
}

/* Where `take` fails the rest is received all the same: who sends is not left waiting. */
unrelu_status unrelu_mpi_gather(unrelu_mpi *mpi, double *x, size_t len,
                                unrelu_status (*take)(void *context, size_t rank, const double *x,
                                                      size_t len, unrelu_error *err),
                                void *context, unrelu_error *err)
{
    uint64_t count = len;
    if (meet(mpi, MEET_GATHER, 0, 0, NULL))
        return meet_status(mpi, err);
    if (mpi->rank > 0) {
        MEET_TRY(meet_mpi(MPI_Send(&count, 1, MPI_UINT64_T, 0, 0, mpi->comm), err));
        return send(mpi, x, len, err);
    }
    unrelu_status status = take(context, 0, x, len, err);
    for (int r = 1; r < mpi->ranks; r++) {
        MEET_TRY(
            meet_mpi(MPI_Recv(&count, 1, MPI_UINT64_T, r, 0, mpi->comm, MPI_STATUS_IGNORE), err));
        MEET_TRY(receive(mpi, x, r, count, err));
        if (status == UNRELU_OK)
            status = take(context, (size_t)r, x, count, err);
    }
    return status;
}

/* ---- the rest ---- */

unrelu_status unrelu_mpi_agree(unrelu_mpi *mpi, unrelu_status status, unrelu_error *err)
{
    meet_end(mpi, (int)status, status == UNRELU_OK ? "" : err->text);
    return meet_status(mpi, err);
}

size_t unrelu_mpi_rank(const unrelu_mpi *mpi)
{
    return (size_t)mpi->rank;
}

size_t unrelu_mpi_ranks(const unrelu_mpi *mpi)
{
    return (size_t)mpi->ranks;
}
