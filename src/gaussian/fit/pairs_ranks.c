/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs are solved from sums that every rank has: each solves some rows of them, and a sum over
 * numbers of which all ranks but one have 0 brings them to all. */
#include "base/error.h"
#include "gaussian/problem/fit.h"

/* Pace: 2000 pairs take 2 ms, more than a sum over ranks of a network does; fewer are solved by
 * every rank for itself. */
static const size_t WORTH_SHARING = 64;

enum { NUMBERS = 5 /* of a pair: as ur_fit_pairs has them */ };

int ur_fit_shares_pairs(const ur_fit *fit)
{
    const unrelu_exec *exec = fit->exec;
    return exec && exec->rank_sum && exec->ranks > 1 && fit->d >= WORTH_SHARING;
}

/* rows are shorter the further down: they are dealt there and back, 0 1 2 2 1 0 */
int ur_fit_is_own_row(const ur_fit *fit, size_t i)
{
    if (!ur_fit_shares_pairs(fit))
        return 1;
    size_t ranks = fit->exec->ranks, turn = i % (2 * ranks);
    return fit->exec->rank == (turn < ranks ? turn : 2 * ranks - 1 - turn);
}

static void pack(const ur_fit_pairs *p, size_t at, double *x)
{
    x[0] = p->rho[at];
    x[1] = p->rho_se ? p->rho_se[at] : 0;
    x[2] = p->product_se ? p->product_se[at] : 0;
    x[3] = p->n_pair ? p->n_pair[at] : 0;
    x[4] = p->flags ? p->flags[at] : 0;
}

static void unpack(const double *x, const ur_fit_pairs *p, size_t at)
{
    p->rho[at] = x[0];
    if (p->rho_se)
        p->rho_se[at] = x[1];
    if (p->product_se)
        p->product_se[at] = x[2];
    if (p->n_pair)
        p->n_pair[at] = x[3];
    if (p->flags)
        p->flags[at] = (uint8_t)x[4];
}

unrelu_status ur_fit_gather_pairs(const ur_fit *fit, const ur_fit_pairs *pairs, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t d = fit->d, count = d * (d - 1) / 2;
    if (!ur_fit_shares_pairs(fit))
        return UNRELU_OK;
    double *x = ur_take(&arena, count, NUMBERS * sizeof *x), *next = x;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++, next += NUMBERS)
            if (ur_fit_is_own_row(fit, i))
                pack(pairs, i * d + j, next);
    UR_TRY(fit->exec->rank_sum(fit->exec->context, x, NUMBERS * count, err));
    next = x;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++, next += NUMBERS) {
            unpack(next, pairs, i * d + j);
            unpack(next, pairs, j * d + i);
        }
    return UNRELU_OK;
}
