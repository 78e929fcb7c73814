/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks agree by a sum of their own, of as many numbers on each: how many ranks there are, how
 * many came with which status, and what all must have in common. Numbers a_i are equal where
 * sum a_i = ranks a and sum a_i^2 = ranks a^2; digits of 16 bits keep both exact up to 2^21
 * ranks. */
#include "pass/ranks.h"

#include "base/error.h"
#include "pass/parallel.h"

#include <stdint.h>
#include <string.h>

enum { STATUSES = UNRELU_ECANCELLED + 1, DIGITS = 4, DIGIT = 0xffff };

typedef struct {
    double ranks;
    double statuses[STATUSES]; /* ranks with each */
    double columns[2 * DIGITS], len[2 * DIGITS];
} ballot;

static void write_digits(size_t number, double *digits)
{
    for (int i = 0; i < DIGITS; i++) {
        double digit = (double)((uint64_t)number >> 16 * i & DIGIT);
        digits[2 * i] = digit;
        digits[2 * i + 1] = digit * digit;
    }
}

static int is_common(const double *mine, const double *sums, double ranks)
{
    for (int i = 0; i < 2 * DIGITS; i++)
        if (sums[i] != ranks * mine[i])
            return 0;
    return 1;
}

/* the sentence of the only rank that failed, to all others */
static unrelu_status spread_text(const ur_rank_call *call, unrelu_status mine, unrelu_status theirs,
                                 unrelu_error *err)
{
    unrelu_error text = {0};
    double letters[sizeof text.text] = {0};
    for (size_t i = 0; mine != UNRELU_OK && i < sizeof text.text && err->text[i]; i++)
        letters[i] = (unsigned char)err->text[i];
    UR_TRY(call->user->rank_sum(call->user->context, letters, sizeof text.text, err));
    for (size_t i = 0; i < sizeof text.text - 1; i++)
        text.text[i] = (char)(unsigned char)letters[i];
    return mine == UNRELU_OK ? ur_fail(err, theirs, "another rank failed: %.900s", text.text)
                             : mine;
}

/* len: of the sum that is next; 0: the call ends */
static unrelu_status agree(ur_rank_call *call, unrelu_status mine, size_t len, unrelu_error *err)
{
    ballot own = {.ranks = 1}, sum;
    own.statuses[mine] = 1;
    write_digits(call->columns, own.columns);
    write_digits(len, own.len);
    sum = own;
    call->parted = 1; /* unless all is well */
    UR_TRY(call->user->rank_sum(call->user->context, (double *)&sum, sizeof sum / sizeof(double),
                                err));
    double failed = sum.ranks - sum.statuses[UNRELU_OK];
    unrelu_status theirs = UNRELU_OK;
    while (failed > 0 && (theirs == UNRELU_OK || sum.statuses[theirs] == 0))
        theirs++;
    if (failed == 1)
        return spread_text(call, mine, theirs, err);
    if (failed > 0)
        return mine == UNRELU_OK ? ur_fail(err, theirs, "%.0f other ranks failed", failed) : mine;
    if (!is_common(own.columns, sum.columns, sum.ranks))
        return ur_fail(err, UNRELU_EFORMAT,
                       "the samples of this rank have %zu columns, those of another rank have "
                       "another number: all ranks need the same columns",
                       call->columns);
    if (!is_common(own.len, sum.len, sum.ranks))
        return ur_fail(err, UNRELU_EUSAGE,
                       "this rank has %zu numbers to add, another rank has another count: all "
                       "ranks need the same options",
                       len);
    call->parted = 0;
    return UNRELU_OK;
}

/* ---- what the call sees ---- */

static unrelu_status agree_and_sum(void *context, double *s, size_t len, unrelu_error *err)
{
    ur_rank_call *call = context;
    UR_TRY(agree(call, UNRELU_OK, len, err));
    unrelu_status status = call->user->rank_sum(call->user->context, s, len, err);
    call->parted = status != UNRELU_OK;
    return status;
}

static void pass_progress(void *context, const char *stage, double fraction)
{
    ur_progress(((const ur_rank_call *)context)->user, stage, fraction);
}

static int pass_cancelled(void *context)
{
    return ur_cancelled(((const ur_rank_call *)context)->user);
}

const unrelu_exec *ur_ranks_begin(ur_rank_call *call, size_t columns, const unrelu_exec *exec)
{
    *call = (ur_rank_call){.columns = columns};
    if (!exec || !exec->rank_sum)
        return exec;
    call->user = exec;
    call->exec = *exec;
    call->exec.progress = pass_progress;
    call->exec.cancelled = pass_cancelled;
    call->exec.counts = NULL; /* what counts neurons is not summed over ranks */
    call->exec.rank_sum = agree_and_sum;
    call->exec.context = call;
    return &call->exec;
}

unrelu_status ur_ranks_end(ur_rank_call *call, unrelu_status status, unrelu_error *err)
{
    return call->user && !call->parted ? agree(call, status, 0, err) : status;
}

unrelu_status ur_ranks_refuse(const unrelu_exec *exec, const char *what, unrelu_error *err)
{
    if (!exec || !exec->rank_sum)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s looks at all samples in one place and cannot be split over ranks: give it "
                   "all of them on one rank, without a sum over ranks",
                   what);
}
