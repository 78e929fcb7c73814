/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a command, of which the last ones hold samples, and may be named by patterns. */
#ifndef MPI_SHARDS_H
#define MPI_SHARDS_H

#include "unrelu/mpi.h"

typedef struct {
    char *text;
    char **names; /* count, and NULL; those from `first` on hold samples */
    size_t first, count;
} shard_list;

/* Every rank: those that rank 0 finds. */
unrelu_status shards_find(unrelu_mpi *mpi, char *const *files, size_t first, size_t count,
                          shard_list *out, unrelu_error *err);
void shards_free(shard_list *list);

#endif
