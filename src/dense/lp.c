/* SPDX-License-Identifier: Apache-2.0 */
/* Solved by its dual, whose basis is p x p instead of n x n:
 *   max t  subject to  R' l + r t = c,  l >= 0,  t free;
 * u are the prices of the p equations (with Clp's sign of prices, -u). A dual without solution
 * leaves open whether the programme is unbounded or infeasible; with c = 0 the dual has the
 * solution 0, so that it then is unbounded exactly where no u exists. */
#include "dense/lp.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "dense/clp.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* of R u >= 0: the smallest that Clp still reaches on rows of length 1. A larger one leaves
 * vertices off by as much; a smaller one makes it give up */
static const double TOLERANCE = 1e-11;

/* Bytes that Clp 1.17 takes at most: its copies of the matrix, what it keeps of columns, the
 * factors of a basis of a matrix without zeros, and what it takes for any programme. From 100 x 100
 * to 400 x 2000 and 12 x 100000 cells it took .7 to .99 of this. */
static size_t workspace(const ur_clp *dual)
{
    size_t rows = (size_t)dual->rows, columns = (size_t)dual->columns;
    return 24 * rows * columns + 220 * columns + 130 * rows * rows + 1400000;
}

/* Clp's end for right-hand side c; u may be NULL */
static unrelu_status solve_dual(const ur_clp *dual, const double *c, double *u, ur_clp_end *end,
                                unrelu_error *err)
{
    size_t bytes = workspace(dual);
    if (!ur_reserve(bytes))
        return ur_fail_shortage(err, ur_memory_shortage());
    *end = ur_clp_solve(dual, c, TOLERANCE, u);
    ur_release(bytes);
    if (*end == UR_CLP_NO_MEMORY)
        return ur_fail(err, UNRELU_ENOMEM,
                       "not enough memory: up to %zu bytes were wanted for a linear programme "
                       "of %d rows and %d columns",
                       bytes, dual->rows, dual->columns);
    if (*end == UR_CLP_THREW)
        return ur_fail(err, UNRELU_EINTERNAL,
                       "Clp failed on a linear programme of %d rows and %d "
                       "columns",
                       dual->rows, dual->columns);
    for (int j = 0; *end == UR_CLP_OPTIMAL && u && j < dual->rows; j++)
        u[j] = -u[j];
    return UNRELU_OK;
}

unrelu_status ur_lp_ready(const char *user, unrelu_error *err)
{
    (void)user;
    (void)err;
    return UNRELU_OK;
}

unrelu_status ur_lp_ray(size_t n, size_t p, const double *R, const double *c, const double *r,
                        double *u, ur_lp_outcome *outcome, unrelu_error *err)
{
    *outcome = UR_LP_INFEASIBLE;
    if (p == 0)
        return UNRELU_OK;
    if (n >= INT_MAX / p - 1)
        return ur_fail(err, UNRELU_EDATA,
                       "a linear programme of %zu rows and %zu unknowns is too large", n, p);
    UR_ARENA(arena);
    size_t columns = n + 1, count = columns * p;
    int *start = ur_take(&arena, columns + 1, sizeof *start);
    int *index = ur_take(&arena, count, sizeof *index);
    double *value = ur_take(&arena, count, sizeof *value);
    double *lower = ur_take(&arena, columns, sizeof *lower);
    double *cost = ur_take(&arena, columns, sizeof *cost);
    double *zero = ur_take(&arena, p, sizeof *zero), *found = ur_take(&arena, p, sizeof *found);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(value, R, n * p * sizeof *R);
    memcpy(value + n * p, r, p * sizeof *r);
    for (size_t i = 0; i < count; i++)
        index[i] = (int)(i % p);
    for (size_t i = 0; i <= columns; i++)
        start[i] = (int)(i * p);
    lower[n] = -INFINITY;
    cost[n] = -1;
    ur_clp dual = {(int)p, (int)columns, start, index, value, lower, cost};
    ur_clp_end end, of_zero = UR_CLP_GAVE_UP;
    UR_TRY(solve_dual(&dual, c, found, &end, err));
    if (end == UR_CLP_INFEASIBLE)
        UR_TRY(solve_dual(&dual, zero, NULL, &of_zero, err));
    if (end == UR_CLP_OPTIMAL) {
        *outcome = UR_LP_OPTIMAL;
        memcpy(u, found, p * sizeof *u);
    } else if (end == UR_CLP_INFEASIBLE && of_zero == UR_CLP_OPTIMAL)
        *outcome = UR_LP_UNBOUNDED;
    else if (end != UR_CLP_INFEASIBLE && end != UR_CLP_UNBOUNDED)
        *outcome = UR_LP_STALLED;
    return UNRELU_OK;
}
