/* SPDX-License-Identifier: Apache-2.0 */
/* A call that is made on several ranks, each with its part of the samples, and whose sums go over
 * all of them. No rank may wait in a sum for one that failed: before each sum, and once where the
 * call ends, the ranks agree whether all of them came so far. A rank that fails on its way says so
 * at the end of its call, which the others meet at their next sum; then every rank returns.
 *
 *     ur_rank_call ranks;
 *     exec = ur_ranks_begin(&ranks, columns, exec);
 *     unrelu_status status = ...(exec), which may fail anywhere
 *     return ur_ranks_end(&ranks, status, err);
 *
 * Without a sum over ranks all of this does nothing. */
#ifndef UR_RANKS_H
#define UR_RANKS_H

#include "unrelu/unrelu.h"

typedef struct {
    const unrelu_exec *user; /* NULL: one rank */
    unrelu_exec exec;        /* as the user's, but its sums agree first */
    size_t columns;          /* of the samples, the same on each rank */
    int parted;              /* all ranks know of a failure: none waits for another */
} ur_rank_call;

/* what the call is to be given in place of exec */
const unrelu_exec *ur_ranks_begin(ur_rank_call *call, size_t columns, const unrelu_exec *exec);
/* The status of this rank where it failed, with its sentence; else that of a rank that did, with
 * "another rank failed: " and its sentence. err is not NULL. */
unrelu_status ur_ranks_end(ur_rank_call *call, unrelu_status status, unrelu_error *err);

/* EUSAGE where there are several ranks, for what looks at all samples in one place: "recover" */
unrelu_status ur_ranks_refuse(const unrelu_exec *exec, const char *what, unrelu_error *err);

#endif
