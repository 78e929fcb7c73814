/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meet.h"
#include "memory_default.h"
#include "scope.h"
#include "shards.h"
#include "talk.h"
#include "team.h"

enum { EXIT_STATUS = 256 /* added to one: codes below are the library's, where ranks meet */ };

static unrelu_mpi *world;
static shard_list shards;

/* what a rank may have where it shares its machine */
static int begin(cli_shared *shared, size_t first)
{
    if (!shared->max_memory)
        unrelu_memory_limit(cli_memory_default() / (size_t)world->neighbours);
    CLI_CALL(shards_find(world, shared->files, first, shared->file_count, &shards, &err));
    shared->files = shards.names;
    shared->file_count = shards.count;
    return 0;
}

static void set_exec(unrelu_exec *exec)
{
    unrelu_mpi_exec(world, exec);
}

static unrelu_status open_share(const char *path, const unrelu_source_options *options,
                                unrelu_source **source, unrelu_error *err)
{
    const char *const *names = (const char *const *)shards.names;
    for (size_t i = shards.first; i < shards.count; i++)
        if (names[i] == path)
            return unrelu_mpi_source(world, names + i, shards.count - i, options, source, err);
    return unrelu_source_open(path, options, source, err);
}

static unrelu_status gather(double *x, size_t len, cli_take *take, void *context, unrelu_error *err)
{
    return unrelu_mpi_gather(world, x, len, take, context, err);
}

/* --name, --name=V, or a start of the name that no other option has */
static int is_option(const char *word, const char *name, size_t least)
{
    size_t length = strcspn(word, "=");
    return length >= least && strncmp(word, name, length) == 0;
}

/* What a rank is told to do, but for how much of its machine it takes. */
static uint64_t hash_words(char *const *words)
{
    uint64_t hash = MEET_HASH;
    for (; *words; words++) {
        int own = is_option(*words, "--max-memory", sizeof "--ma" - 1) ||
                  is_option(*words, "--threads", sizeof "--th" - 1);
        if (!own)
            hash = meet_hash(hash, *words);
        else if (!strchr(*words, '=') && words[1])
            words++; /* its value */
    }
    return hash;
}

/* mpirun starts other commands on other ranks where it is told to */
static int check_words(char *const *words)
{
    uint64_t own = hash_words(words), first = own;
    CLI_CALL(meet_mpi(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, world->comm), &err));
    return own == first ? 0
                        : cli_usage("it was started with other files or options than rank 0: give "
                                    "all ranks the same (--max-memory and --threads may differ)");
}

int ranks_join(char *const *words)
{
    static cli_team team = {.begin = begin, .exec = set_exec, .open = open_share, .gather = gather};
    CLI_CALL(unrelu_mpi_open(MPI_COMM_WORLD, &world, &err));
    team.rank = (size_t)world->rank;
    team.ranks = (size_t)world->ranks;
    cli_team_joined = &team;
    cli_talk_keep(team.rank > 0);
    int nowhere = team.rank > 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO); /* rank 0 has the same to say */
        close(nowhere);
    }
    return check_words(words);
}

int ranks_end(int status)
{
    int failed = status != 0 && status != CLI_EXIT_UNCERTIFIED;
    if (!world)
        return status;
    int code = meet_end(world, failed ? EXIT_STATUS + status : 0, cli_talk_kept());
    if (world->rank == 0)
        cli_talk_tell(code ? world->failure.text : cli_talk_kept());
    if (code)
        status = code >= EXIT_STATUS ? code - EXIT_STATUS : CLI_EXIT_INTERNAL;
    shards_free(&shards);
    unrelu_mpi_close(world);
    return status;
}
