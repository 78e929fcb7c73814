/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the samples tell the neurons apart where no pattern of the labels shows each of them.
 * Move w_a = u_a v_a by delta and w_b by -delta: only samples on different sides of the two kinks
 * see it (m = 1, f = relu), so that they must span the p dimensions of delta; and they must do so
 * with any one of them left out, or the network hinges on that one and nothing checks its label.
 * Of more labels and other f the same is asked of all weights at once: no leverage of 1. */
#include "base/error.h"
#include "network/problem/tolerance.h"
#include "network/verdict/verdict.h"

#include <math.h>

/* operations that are worth it; the rows that the solver saw are taken in any case */
static const double COST = 2e10;

size_t ur_apart_rows(const ur_data *data, const ur_frame *seen, size_t k)
{
    double each = pow((double)(k * seen->p), 2) * (double)data->m;
    size_t most = (size_t)fmin((double)data->n, COST / each);
    return most > seen->n ? most : seen->n;
}

/* the pair of neurons with the fewest samples on different sides of their kinks */
static void count_between(const ur_sides *s, ur_apart *apart)
{
    apart->between = s->n;
    for (size_t a = 0; a < s->k; a++)
        for (size_t b = 0; b < a; b++) {
            size_t between = 0;
            for (size_t i = 0; i < s->n; i++)
                between += s->told[i * s->k + a] * s->told[i * s->k + b] < 0;
            if (between < apart->between) {
                apart->between = between;
                apart->first = b;
                apart->second = a;
            }
        }
}

unrelu_status ur_apart_measure(const ur_problem *given, const ur_data *data, const ur_frame *seen,
                               const ur_weights *w, ur_apart *apart, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame all;
    ur_sides sides;
    ur_newton_fit fit;
    *apart = (ur_apart){.rows = ur_apart_rows(data, seen, w->k)};
    UR_TRY(ur_frame_make(data, apart->rows, seen->terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, w->f, given->exec);
    UR_TRY(ur_newton_alloc(&problem, w->k, &arena, &fit, err));
    UR_TRY(ur_frame_enter(&all, w->f, w->k, w->V, w->c, fit.V, err));
    UR_TRY(ur_newton_outer(&problem, &fit, err));
    UR_TRY(ur_newton_leverage(&problem, &fit, &apart->hinge, err));
    apart->hinge.row = all.row[apart->hinge.row];
    apart->p = all.p;
    if (w->f.kind != UNRELU_RELU || w->m > 1 || w->k == 1)
        return UNRELU_OK;
    UR_TRY(ur_sides_set(data, w, &all, &arena, &sides, err));
    apart->counted = 1;
    count_between(&sides, apart);
    return UNRELU_OK;
}
