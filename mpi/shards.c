/* SPDX-License-Identifier: Apache-2.0 */
#include "shards.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meet.h"

static int put(FILE *out, const char *name)
{
    return fwrite(name, strlen(name) + 1, 1, out) == 1;
}

/* what is no file of that name may be a pattern; one that nothing fits stays, and is not found */
static int put_files(FILE *out, const char *name)
{
    glob_t found = {0};
    if (access(name, F_OK) == 0)
        return put(out, name);
    int done = glob(name, GLOB_NOCHECK, NULL, &found) == 0;
    for (size_t i = 0; done && i < found.gl_pathc; i++)
        done = put(out, found.gl_pathv[i]);
    globfree(&found);
    return done;
}

/* rank 0: all names, one after the other, each with its NUL */
static char *write_names(char *const *files, size_t first, size_t count, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    int done = out != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = (i < first ? put : put_files)(out, files[i]);
    if (out && fclose(out) != 0)
        done = 0;
    if (!done) {
        free(text);
        text = NULL;
    }
    return text;
}

static int split(shard_list *list, size_t size)
{
    for (size_t i = 0; i < size; i++)
        list->count += list->text[i] == '\0';
    list->names = calloc(list->count + 1, sizeof *list->names);
    char *at = list->text;
    for (size_t i = 0; list->names && i < list->count; i++, at += strlen(at) + 1)
        list->names[i] = at;
    return list->names != NULL;
}

unrelu_status shards_find(unrelu_mpi *mpi, char *const *files, size_t first, size_t count,
                          shard_list *out, unrelu_error *err)
{
    static const char lacking[] = "not enough memory for the names of files";
    size_t bytes = 0;
    *out = (shard_list){.first = first};
    if (mpi->rank == 0)
        out->text = write_names(files, first, count, &bytes);
    int lacks = mpi->rank == 0 && !out->text;
    if (meet(mpi, MEET_OPEN, 0, lacks ? UNRELU_ENOMEM : 0, lacking))
        return meet_status(mpi, err);
    int size = (int)bytes; /* an argument list is far below 2 GB */
    MEET_TRY(meet_mpi(MPI_Bcast(&size, 1, MPI_INT, 0, mpi->comm), err));
    if (mpi->rank > 0)
        out->text = calloc((size_t)size + 1, 1);
    if (meet(mpi, MEET_OPEN, 0, out->text ? 0 : UNRELU_ENOMEM, lacking))
        return meet_status(mpi, err);
    MEET_TRY(meet_mpi(MPI_Bcast(out->text, size, MPI_CHAR, 0, mpi->comm), err));
    lacks = !split(out, (size_t)size);
    return meet(mpi, MEET_OPEN, 0, lacks ? UNRELU_ENOMEM : 0, lacking) ? meet_status(mpi, err)
                                                                       : UNRELU_OK;
}

void shards_free(shard_list *list)
{
    free(list->text);
    free(list->names);
    *list = (shard_list){0};
}
