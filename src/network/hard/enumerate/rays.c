/* SPDX-License-Identifier: Apache-2.0 */
/* Extreme rays of C = {z : Y z >= 0} that are not spanned by those known, one by one: for random r
 * orthogonal to the known z, the vertex z of least 1'Y z with Y z >= 0 and r'z = 1. Of many samples
 * C has no other rays than the k neurons, and k programmes find them all, in time that grows as a
 * power of k; of few samples most rays are no neurons, and after TRIES in vain it ends. A programme
 * takes few rows of Y, and rows that its solution violates, until there are none. Where neither r
 * nor -r has a solution, every z of C lies in the span of those known (with probability 1; asked
 * for TRIES times): then there is no network, as with noisy labels, whose C is {0}. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/lp.h"
#include "pass/parallel.h"

#include <string.h>

enum {
    TRIES = 3,        /* programmes in vain, one after another: see above */
    ROUNDS = 60,      /* of taking rows that are violated; then the programme counts as stalled */
    FIRST_ROWS = 8,   /* of a programme, for each unknown, */
    ROWS_OF_ROUND = 4 /* and those that each round adds */
};

typedef struct {
    const ur_neurons *hunt;
    size_t count;             /* rows of the programme */
    unsigned char *in;        /* rows: marks of them */
    double *R;                /* (rows, k) */
    double *c, *r, *z;        /* k */
    double *t;                /* rows: Y z */
    ur_keyed *below, *sorted; /* rows */
} programme;

static void take(programme *p, size_t row)
{
    size_t k = p->hunt->k;
    if (p->in[row])
        return;
    p->in[row] = 1;
    memcpy(p->R + p->count++ * k, p->hunt->Y + row * k, k * sizeof *p->R);
}

/* with the rows that z violates most, until there are none; rows of earlier programmes stay */
static unrelu_status solve(programme *p, ur_lp_outcome *outcome, unrelu_error *err)
{
    const ur_neurons *hunt = p->hunt;
    size_t k = hunt->k;
    for (int round = 0; round < ROUNDS; round++) {
        size_t violated = 0;
        UR_TRY(ur_lp_ray(p->count, k, p->R, p->c, p->r, p->z, outcome, err));
        if (*outcome != UR_LP_OPTIMAL)
            return UNRELU_OK;
        ur_gemv(UR_PLAIN, hunt->rows, k, 1 / ur_norm(k, p->z), hunt->Y, k, p->z, 0, p->t);
        for (size_t i = 0; i < hunt->rows; i++)
            if (p->t[i] < -hunt->tolerance && !p->in[i])
                p->below[violated++] = (ur_keyed){p->t[i], i};
        ur_sort_keyed(p->below, p->sorted, violated);
        for (size_t i = 0; i < violated && i < ROWS_OF_ROUND * k; i++)
            take(p, p->below[i].at);
        if (ur_cancelled(hunt->exec))
            return ur_fail_cancelled(err);
        if (violated == 0)
            return UNRELU_OK;
    }
    *outcome = UR_LP_STALLED;
    return UNRELU_OK;
}

unrelu_status ur_ray_neurons(ur_neurons *hunt, int *spanned, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = hunt->k, rows = hunt->rows, idle = 0, empty = 0;
    size_t first = FIRST_ROWS * k < rows ? FIRST_ROWS * k : rows;
    programme p = {.hunt = hunt,
                   .in = ur_take(&arena, rows, 1),
                   .R = ur_take(&arena, rows, k * sizeof *p.R),
                   .c = ur_take(&arena, k, sizeof *p.c),
                   .r = ur_take(&arena, k, sizeof *p.r),
                   .z = ur_take(&arena, k, sizeof *p.z),
                   .t = ur_take(&arena, rows, sizeof *p.t),
                   .below = ur_take(&arena, rows, sizeof *p.below),
                   .sorted = ur_take(&arena, rows, sizeof *p.sorted)};
    *spanned = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < rows; i++)
        ur_add(k, 1 / (double)rows, hunt->Y + i * k, p.c);
    for (size_t i = 0; i < first; i++)
        take(&p, i);
    for (uint64_t number = 0;
         hunt->found < hunt->k && idle < TRIES && empty < TRIES && hunt->budget > 0; number++) {
        ur_lp_outcome outcome = UR_LP_STALLED, opposite = UR_LP_STALLED;
        int grew = 0;
        ur_progress(hunt->exec, "rays", (double)hunt->found / (double)hunt->k);
        /* along a random direction orthogonal to those known, or its opposite */
        ur_random_normals(hunt->seed, UR_STREAM_ENUMERATE_RAYS, number * k, k, p.r);
        double length = ur_basis_remove(&hunt->basis, hunt->found, p.r);
        ur_scale(k, 1 / length, p.r);
        UR_TRY(solve(&p, &outcome, err));
        if (outcome != UR_LP_OPTIMAL) {
            ur_scale(k, -1, p.r);
            UR_TRY(solve(&p, &opposite, err));
            outcome = opposite == UR_LP_INFEASIBLE ? outcome : opposite;
        }
        if (outcome == UR_LP_OPTIMAL)
            UR_TRY(ur_neurons_try_rough(hunt, p.z, &grew, err));
        empty = outcome == UR_LP_INFEASIBLE ? empty + 1 : 0;
        idle = grew ? 0 : idle + 1;
        hunt->tried++;
        hunt->budget--;
    }
    *spanned = empty == TRIES;
    return UNRELU_OK;
}
