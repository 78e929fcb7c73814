/* SPDX-License-Identifier: Apache-2.0 */
/* Where ranks meet. Before they do anything together each says what it came for, or that it failed;
 * a rank that failed elsewhere says so in the last meeting of all, its end. So all know before
 * anybody waits for what does not come. */
#ifndef MPI_MEET_H
#define MPI_MEET_H

#include <stdint.h>

#include "unrelu/mpi.h"

typedef enum { MEET_SUM = 1, MEET_OPEN, MEET_COLUMNS, MEET_GATHER, MEET_END } meet_for;

enum {
    MEET_TEXT = 4096,     /* bytes of a sentence */
    MEET_SLICE = 1 << 18, /* doubles that are in the hands of MPI at a time: 2 MB */
};

typedef struct {
    int code;     /* 0: all is well; a status; or what else who failed ends with */
    long long by; /* the rank that failed by itself; -1: all did, or none says so */
    char text[MEET_TEXT];
} meet_failure;

struct unrelu_mpi {
    MPI_Comm comm;
    int rank, ranks, neighbours; /* neighbours: ranks on this machine */
    double *room;                /* MEET_SLICE + ranks */
    int *counts;                 /* 4 x ranks, of collectives */
    unrelu_exec user;            /* whose own functions are passed on */
    meet_failure failure;        /* what this rank was told last */
    int told;                    /* of a failure of another rank: what it says later is no news */
    int parted;                  /* who failed is at its end, and this rank's end is met already */
};

/* All ranks come to the same meeting. code: 0, or this rank failed, with this text. Returns the
 * code of the failure, which is then in mpi->failure on all ranks, or 0. what: a number that must
 * be the same on all. */
int meet(unrelu_mpi *mpi, meet_for purpose, size_t what, int code, const char *text);
/* the last meeting; what was told already is not met again */
int meet_end(unrelu_mpi *mpi, int code, const char *text);

/* a number below 2^48 that tells texts apart, one after the other; it begins as MEET_HASH */
#define MEET_HASH 14695981039346656037ULL
uint64_t meet_hash(uint64_t before, const char *text);

int meet_threads(const unrelu_mpi *mpi); /* of a rank that is not told how many */

/* the failure for the library; EINTERNAL where its code is no status */
unrelu_status meet_status(const unrelu_mpi *mpi, unrelu_error *err);
unrelu_status meet_fail(unrelu_error *err, unrelu_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* what MPI returned, where the handler of the communicator let it */
unrelu_status meet_mpi(int result, unrelu_error *err);

#define MEET_TRY(call)                                                                             \
    do {                                                                                           \
        unrelu_status meet_try = (call);                                                           \
        if (meet_try != UNRELU_OK)                                                                 \
            return meet_try;                                                                       \
    } while (0)

#endif
