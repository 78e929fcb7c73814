/* SPDX-License-Identifier: Apache-2.0 */
#include "meet.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

unrelu_status meet_fail(unrelu_error *err, unrelu_status status, const char *format, ...)
{
    va_list list;
    if (!err)
        return status;
    *err = (unrelu_error){.code = status};
    va_start(list, format);
    vsnprintf(err->text, sizeof err->text, format, list);
    va_end(list);
    return status;
}

/* FNV-1a, of 48 bits; the end of the text counts */
uint64_t meet_hash(uint64_t before, const char *text)
{
    uint64_t hash = before;
    do
        hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
    while (*text++);
    return hash & 0xffffffffffff;
}

unrelu_status meet_mpi(int result, unrelu_error *err)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (result == MPI_SUCCESS)
        return UNRELU_OK;
    MPI_Error_string(result, text, &length);
    return meet_fail(err, UNRELU_EINTERNAL, "MPI: %.900s", text);
}

unrelu_status meet_status(const unrelu_mpi *mpi, unrelu_error *err)
{
    int code = mpi->failure.code, is_status = code <= UNRELU_ECANCELLED;
    if (code == 0)
        return UNRELU_OK;
    return meet_fail(err, is_status ? (unrelu_status)code : UNRELU_EINTERNAL, "%.1023s",
                     mpi->failure.text);
}

/* the library says so where its own sums told it */
static int is_of_another(const char *text)
{
    return strncmp(text, "another rank failed: ", 21) == 0 || strstr(text, " other ranks failed");
}

/* each the largest over the ranks, which has no order and no rounding */
typedef struct {
    int64_t failed, ended;
    int64_t first;         /* ranks less that of the first that failed */
    int64_t first_own;     /* and of the first that failed by itself */
    int64_t not_own;       /* a rank did not fail by itself */
    int64_t what, no_what; /* and its opposite: the same on all where they are opposite here */
} ballot;

/* the failure of the rank `by`, to all */
static void spread(unrelu_mpi *mpi, const ballot *sum, int by, int code, const char *text)
{
    meet_failure *f = &mpi->failure;
    char said[MEET_TEXT];
    snprintf(said, sizeof said, "%s", text ? text : "");
    if (mpi->rank == by)
        f->code = code;
    MPI_Bcast(&f->code, 1, MPI_INT, by, mpi->comm);
    MPI_Bcast(said, MEET_TEXT, MPI_CHAR, by, mpi->comm);
    int alone = mpi->ranks > 1 && sum->first_own > 0 && sum->not_own;
    f->by = alone ? by : -1;
    if (alone)
        snprintf(f->text, sizeof f->text, "rank %d: %.4000s", by, said);
    else
        memcpy(f->text, said, sizeof said);
}

int meet(unrelu_mpi *mpi, meet_for purpose, size_t what, int code, const char *text)
{
    int own = code != 0 && !mpi->told && !is_of_another(text ? text : "");
    int64_t place = mpi->ranks - mpi->rank;
    ballot mine = {.failed = code != 0,
                   .ended = purpose == MEET_END,
                   .first = code ? place : 0,
                   .first_own = own ? place : 0,
                   .not_own = !own,
                   .what = (int64_t)purpose << 56 | (int64_t)what},
           sum = mine;
    sum.no_what = mine.no_what = -mine.what;
    int result =
        MPI_Allreduce(&mine, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_MAX, mpi->comm);
    mpi->failure.code = 0;
    if (result != MPI_SUCCESS) {
        unrelu_error err;
        mpi->failure.code = (int)meet_mpi(result, &err);
        snprintf(mpi->failure.text, sizeof mpi->failure.text, "%s", err.text);
    } else if (sum.failed) {
        spread(mpi, &sum, mpi->ranks - (int)(sum.first_own ? sum.first_own : sum.first), code,
               text);
    } else if (sum.what != -sum.no_what) {
        mpi->failure.code = UNRELU_EINTERNAL;
        mpi->failure.by = -1;
        snprintf(mpi->failure.text, sizeof mpi->failure.text,
                 "the ranks do not make the same calls, or not with as many numbers");
    }
    mpi->told |= mpi->failure.code != 0;
    mpi->parted = mpi->failure.code != 0 && sum.ended && purpose != MEET_END;
    return mpi->failure.code;
}

int meet_end(unrelu_mpi *mpi, int code, const char *text)
{
    if (!mpi->parted)
        meet(mpi, MEET_END, 0, code, text);
    mpi->parted = mpi->told = 0;
    return mpi->failure.code;
}
