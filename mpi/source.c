/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of which files a rank reads. */
#include "meet.h"

#include <stdio.h>
#include <string.h>

/* where share i of `shares` begins among `total` things */
static size_t cut(size_t total, size_t i, size_t shares)
{
    return total / shares * i + total % shares * i / shares;
}

/* a range of the rows of one file, or whole files */
typedef struct {
    size_t file, part, parts;
    size_t files; /* from `file` on */
} share;

static share share_of(size_t files, size_t rank, size_t ranks)
{
    share s = {.files = 1};
    if (files > ranks) {
        s.file = cut(files, rank, ranks);
        s.files = cut(files, rank + 1, ranks) - s.file;
        return s;
    }
    while (s.file + 1 < files && cut(ranks, s.file + 1, files) <= rank)
        s.file++;
    size_t first = cut(ranks, s.file, files);
    s.part = rank - first;
    s.parts = cut(ranks, s.file + 1, files) - first;
    return s;
}

static unrelu_status open_whole(const char *const *paths, size_t count,
                                const unrelu_source_options *options, unrelu_source **sources,
                                unrelu_source **out, unrelu_error *err)
{
    for (size_t i = 0; i < count; i++)
        MEET_TRY(unrelu_source_open(paths[i], options, &sources[i], err));
    return unrelu_source_join(sources, count, out, err);
}

static unrelu_status open_share(const char *const *paths, const share *s,
                                unrelu_source_options *options, unrelu_source **out,
                                unrelu_error *err)
{
    options->part = s->parts > 1 ? s->part : 0;
    options->parts = s->parts > 1 ? s->parts : 0;
    if (s->files == 1)
        return unrelu_source_open(paths[s->file], options, out, err);
    unrelu_source **sources = unrelu_alloc(s->files, sizeof *sources);
    if (!sources)
        return meet_fail(err, UNRELU_ENOMEM, "not enough memory for %zu files", s->files);
    unrelu_status status = open_whole(paths + s->file, s->files, options, sources, out, err);
    for (size_t i = 0; i < s->files && status != UNRELU_OK; i++)
        unrelu_source_close(sources[i]);
    unrelu_free(sources);
    return status;
}

static uint64_t hash_names(const unrelu_source *source)
{
    uint64_t hash = MEET_HASH;
    for (size_t j = 0; j < unrelu_source_columns(source); j++)
        hash = meet_hash(hash, unrelu_source_name(source, j));
    return hash;
}

/* All files have the columns of rank 0, under its names. */
static unrelu_status check_columns(unrelu_mpi *mpi, const char *path, const unrelu_source *source,
                                   unrelu_error *err)
{
    uint64_t own[2] = {unrelu_source_columns(source), hash_names(source)},
             first[2] = {own[0], own[1]};
    char text[MEET_TEXT] = "";
    MEET_TRY(meet_mpi(MPI_Bcast(first, 2, MPI_UINT64_T, 0, mpi->comm), err));
    if (own[0] != first[0])
        snprintf(text, sizeof text,
                 "%.900s has %zu columns, and the samples of rank 0 have %zu: all files need the "
                 "same columns",
                 path, (size_t)own[0], (size_t)first[0]);
    else if (own[1] != first[1])
        snprintf(text, sizeof text,
                 "%.900s has other names of columns ('%.60s', ...) than the samples of rank 0: all "
                 "files need the same columns in the same order",
                 path, unrelu_source_name(source, 0));
    return meet(mpi, MEET_COLUMNS, 0, *text ? UNRELU_EFORMAT : 0, text) ? meet_status(mpi, err)
                                                                        : UNRELU_OK;
}

/* Messages of a part of a text file count from the start of the file: rows and lines of the parts
 * before it are those of ranks before this one. Every rank. */
static unrelu_status count_before(unrelu_mpi *mpi, const share *s, unrelu_source *source,
                                  unrelu_error *err)
{
    unrelu_extent own = {0}, before = {0};
    unrelu_error why = {0};
    int wanted = s->parts > 1, any = 0;
    MEET_TRY(meet_mpi(MPI_Allreduce(&wanted, &any, 1, MPI_INT, MPI_MAX, mpi->comm), err));
    if (!any)
        return UNRELU_OK;
    unrelu_status status = wanted ? unrelu_source_extent(source, &own, &why) : UNRELU_OK;
    if (meet(mpi, MEET_COLUMNS, 1, (int)status, why.text))
        return meet_status(mpi, err);
    uint64_t mine[2] = {own.rows, own.lines}, sum[2] = {0, 0};
    MPI_Comm file; /* the ranks that share it */
    MEET_TRY(meet_mpi(MPI_Comm_split(mpi->comm, (int)s->file, mpi->rank, &file), err));
    int result = MPI_Exscan(mine, sum, 2, MPI_UINT64_T, MPI_SUM, file);
    MPI_Comm_free(&file);
    MEET_TRY(meet_mpi(result, err));
    if (s->part > 0)
        before = (unrelu_extent){.rows = sum[0], .lines = sum[1]};
    if (wanted)
        unrelu_source_begin_at(source, &before);
    return UNRELU_OK;
}

unrelu_status unrelu_mpi_source(unrelu_mpi *mpi, const char *const *paths, size_t count,
                                const unrelu_source_options *options, unrelu_source **out,
                                unrelu_error *err)
{
    unrelu_source_options own;
    unrelu_error why = {0};
    unrelu_status status = UNRELU_OK;
    share s = {0};
    *out = NULL;
    unrelu_source_options_init(&own, sizeof own);
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    own.size = sizeof own;
    if (count == 0)
        status = meet_fail(&why, UNRELU_EUSAGE, "there are no files of samples");
    for (size_t i = 0; i < count && mpi->ranks > 1 && status == UNRELU_OK; i++)
        if (strcmp(paths[i], "-") == 0)
            status = meet_fail(&why, UNRELU_EUSAGE,
                               "standard input is of one rank: save the samples as a file that all "
                               "%d can read",
                               mpi->ranks);
    if (status == UNRELU_OK) {
        s = share_of(count, (size_t)mpi->rank, (size_t)mpi->ranks);
        status = open_share(paths, &s, &own, out, &why);
    }
    if (meet(mpi, MEET_OPEN, count, (int)status, why.text))
        status = meet_status(mpi, err);
    if (status == UNRELU_OK)
        status = check_columns(mpi, paths[s.file], *out, err);
    if (status == UNRELU_OK)
        status = count_before(mpi, &s, *out, err);
    if (status != UNRELU_OK) {
        unrelu_source_close(*out);
        *out = NULL;
    }
    return status;
}
