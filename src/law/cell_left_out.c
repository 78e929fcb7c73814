/* SPDX-License-Identifier: Apache-2.0 */
#include "law/cell_left_out.h"

#include "law/left_out.h"

static ur_margin_row row_at(const ur_cell_column *c, size_t i)
{
    double a = c->a[i], m = c->expected[i];
    if (c->state[i] == UR_SEEN)
        return ur_margin_row_seen(a);
    if (c->state[i] != UR_BETWEEN)
        return ur_margin_row_limited(a, m);
    ur_interval f = ur_interval_at((ur_hidden){0, a, c->width[i]});
    double by_t = a * f.by_mm + f.by_mw;
    return (ur_margin_row){{m, f.by_w - a * m},
                           {-f.by_mm, by_t, f.by_w - f.by_ww - a * (by_t + f.by_mw)}};
}

ur_cell_left_out ur_cell_left_out_sums(const ur_cell_column *c)
{
    double H[3], s = c->margin.margin.s;
    ur_cell_left_out sum = {0, 0, 0, 0};
    ur_left_out_information(c->margin.V, s, H);
    for (size_t i = 0; i < c->n; i++) {
        double move[2];
        if (c->state[i] == UR_MISSING)
            continue;
        ur_margin_row row = row_at(c, i);
        ur_left_out_move(H, &row, move);
        double square = s * move[1] * s * move[1];
        sum.bb += s * move[0] * s * move[0];
        sum.bs += s * move[0] * s * move[1];
        sum.ss += square;
        sum.ssss += square * square;
    }
    return sum;
}
