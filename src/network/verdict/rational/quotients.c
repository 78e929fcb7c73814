/* SPDX-License-Identifier: Apache-2.0 */
/* Each cell as the simplest fraction that rounds to it; rows as integers. The numerator is the
 * whole number next to x q: q is at most half of 1 / sqrt(unit in the last place), so that x q is
 * off by less than 1/2. */
#include "base/error.h"
#include "network/verdict/rational/rational.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>

static int read_cells(const double *cells, size_t rows, size_t columns, const char *what,
                      uint32_t *q, char *why)
{
    for (size_t i = 0; i < rows * columns; i++) {
        ur_fraction f = {0, 1};
        double most;
        if (!ur_fraction_of(cells[i], &f, &most)) {
            char limit[64] = "too large";
            if (most >= 1)
                snprintf(limit, sizeof limit, "no fraction of a denominator up to %.0f", most);
            snprintf(why, UR_WHY,
                     "row %zu, column %zu of the %s is %.17g, which is %s: exact arithmetic is for "
                     "data of integers or fractions",
                     i / columns + 1, i % columns + 1, what, cells[i], limit);
            return 0;
        }
        q[i] = (uint32_t)f.q;
    }
    return 1;
}

unrelu_status ur_quotients_make(const ur_data *data, const unrelu_exec *exec, ur_arena *arena,
                                ur_quotients *all, char *why, unrelu_error *err)
{
    *all = (ur_quotients){.data = data,
                          .x = ur_take(arena, data->n, data->d * sizeof *all->x),
                          .a = ur_take(arena, data->n, data->m * sizeof *all->a),
                          .scale = ur_integers(arena, 1),
                          .part = ur_integers(arena, 1)};
    UR_TRY(ur_arena_status(arena, err));
    if (read_cells(data->x, data->n, data->d, "inputs", all->x, why))
        read_cells(data->a, data->n, data->m, "labels", all->a, why);
    return ur_cancelled(exec) ? ur_fail_cancelled(err) : UNRELU_OK;
}

static void gather(ur_quotients *all, const uint32_t *q, size_t count)
{
    for (size_t l = 0; l < count; l++)
        if (q[l] > 1)
            mpz_lcm_ui(*all->scale, *all->scale, q[l]);
}

static void spread(ur_quotients *all, const double *x, const uint32_t *q, size_t count, mpz_t *out)
{
    for (size_t l = 0; l < count; l++) {
        mpz_set_d(out[l], nearbyint(x[l] * q[l]));
        if (mpz_cmp_ui(*all->scale, 1) == 0)
            continue;
        mpz_divexact_ui(*all->part, *all->scale, q[l]);
        mpz_mul(out[l], out[l], *all->part);
    }
}

void ur_quotients_row(ur_quotients *all, size_t i, mpz_t *x, mpz_t *a)
{
    const ur_data *data = all->data;
    const uint32_t *x_q = all->x + i * data->d, *a_q = all->a + i * data->m;
    mpz_set_ui(*all->scale, 1);
    gather(all, x_q, data->d);
    gather(all, a_q, data->m);
    spread(all, data->x + i * data->d, x_q, data->d, x);
    spread(all, data->a + i * data->m, a_q, data->m, a);
}
