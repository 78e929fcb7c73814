/* SPDX-License-Identifier: Apache-2.0 */
/* What a column brings to its pairs, computed once: standardised cells, their expectations where
 * they are below a limit, and how its margin moves with each row. */
#include "base/error.h"
#include "law/cell_pair.h"
#include "law/hazard.h"
#include "law/normal.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* scratch: n */
static void number_limits(ur_cell_column *c, double *scratch)
{
    size_t below = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == UR_BELOW)
            scratch[below++] = c->a[i];
    qsort(scratch, below, sizeof *scratch, compare);
    for (size_t i = 0; i < below; i++)
        if (c->levels == 0 || scratch[i] != scratch[c->levels - 1])
            scratch[c->levels++] = scratch[i];
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == UR_BELOW) {
            const double *found = bsearch(&c->a[i], scratch, c->levels, sizeof *scratch, compare);
            c->level[i] = (size_t)(found - scratch);
        }
}

static void standardise(ur_cell_column *c, const double *x)
{
    const ur_margin *m = &c->margin.margin;
    for (size_t i = 0; i < c->n; i++) {
        c->a[i] = c->state[i] == UR_MISSING ? 0 : (x[i] - m->b) / m->s;
        c->expected[i] = -c->a[i];
    }
    ur_normal_hazards(c->n, c->expected, c->below);
    for (size_t i = 0; i < c->n; i++) {
        int below = c->state[i] == UR_BELOW;
        c->expected[i] = below ? -c->below[i] : c->a[i];
        c->below[i] = below ? ur_normal_cdf(c->a[i]) : 0;
    }
}

static void set_influence(ur_cell_column *c)
{
    const double *V = c->margin.V;
    for (size_t i = 0; i < c->n; i++) {
        double e = c->expected[i], by_b = e / c->margin.margin.s;
        double by_s = (c->a[i] * e - (c->state[i] == UR_SEEN)) / c->margin.margin.s;
        c->b_by[i] = V[0] * by_b + V[1] * by_s;
        c->s_by[i] = V[1] * by_b + V[2] * by_s;
    }
}

unrelu_status ur_cell_column_open(ur_arena *arena, size_t n, const double *x,
                                  const unsigned char *state, ur_cell_column *out,
                                  unrelu_error *err)
{
    UR_ARENA(own);
    double *scratch = ur_take(&own, n, sizeof *scratch);
    *out = (ur_cell_column){.n = n, .state = state};
    double **const arrays[] = {&out->a, &out->expected, &out->below, &out->b_by, &out->s_by};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ur_take(arena, n, sizeof(double));
    out->level = ur_take(arena, n, sizeof *out->level);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_cell_margin_fit(n, x, state, &out->margin, err));
    if (out->margin.margin.s > 0) {
        standardise(out, x);
        set_influence(out);
        number_limits(out, scratch);
    }
    return UNRELU_OK;
}
