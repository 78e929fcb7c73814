/* SPDX-License-Identifier: Apache-2.0 */
/* Solved by its dual, whose basis is p x p instead of n x n:
 *   max t  subject to  R' l + r t = c,  l >= 0,  t free;
 * u are the prices of the p equations (with Clp's sign of prices, -u). A dual without solution
 * leaves open whether the programme is unbounded or infeasible; with c = 0 the dual has the
 * solution 0, so that it then is unbounded exactly where no u exists. */
#include "dense/lp.h"

#include "base/arena.h"
#include "base/error.h"

#include <Clp_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* of R u >= 0: the smallest that Clp still reaches on rows of length 1. A larger one leaves
 * vertices off by as much; a smaller one makes it give up */
static const double TOLERANCE = 1e-11;

enum { CLP_OPTIMAL, CLP_INFEASIBLE, CLP_UNBOUNDED, CLP_GAVE_UP };

typedef struct {
    int rows, columns; /* p, n + 1 */
    CoinBigIndex *start;
    int *index;
    double *value, *lower, *cost;
} dual;

/* Clp's status for right-hand side c; u may be NULL */
static int dual_solve(const dual *d, const double *c, double *u)
{
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, d->columns, d->rows, d->start, d->index, d->value, d->lower, NULL,
                    d->cost, c, c);
    Clp_setDualTolerance(model, TOLERANCE); /* of R u >= 0 */
    Clp_setPerturbation(model, 100);        /* none */
    Clp_scaling(model, 0); /* cells of 1e-17 make its scaling end "optimal" far off */
    int status = Clp_primal(model, 0);
    if (status == CLP_OPTIMAL && Clp_secondaryStatus(model) != 0)
        status = CLP_GAVE_UP;
    if (status == CLP_OPTIMAL && u) {
        const double *price = Clp_dualRowSolution(model);
        for (int j = 0; j < d->rows; j++)
            u[j] = -price[j];
    }
    Clp_deleteModel(model);
    return status;
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
    dual d = {.rows = (int)p,
              .columns = (int)columns,
              .start = ur_take(&arena, columns + 1, sizeof *d.start),
              .index = ur_take(&arena, count, sizeof *d.index),
              .value = ur_take(&arena, count, sizeof *d.value),
              .lower = ur_take(&arena, columns, sizeof *d.lower),
              .cost = ur_take(&arena, columns, sizeof *d.cost)};
    const double *zero = ur_take(&arena, p, sizeof *zero);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(d.value, R, n * p * sizeof *R);
    memcpy(d.value + n * p, r, p * sizeof *r);
    for (size_t i = 0; i < count; i++)
        d.index[i] = (int)(i % p);
    for (size_t i = 0; i <= columns; i++)
        d.start[i] = (CoinBigIndex)(i * p);
    d.lower[n] = -INFINITY;
    d.cost[n] = -1;
    int found = dual_solve(&d, c, u);
    if (found == CLP_OPTIMAL)
        *outcome = UR_LP_OPTIMAL;
    else if (found == CLP_INFEASIBLE && dual_solve(&d, zero, NULL) == CLP_OPTIMAL)
        *outcome = UR_LP_UNBOUNDED;
    else if (found != CLP_INFEASIBLE && found != CLP_UNBOUNDED)
        *outcome = UR_LP_STALLED;
    return UNRELU_OK;
}
