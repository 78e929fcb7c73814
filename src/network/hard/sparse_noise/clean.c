/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the labels without their wrong cells, by consensus: cells that agree stay as they are,
 * the others become what the rest of their row says. On these the network is exact. Floors come
 * from the cells that agree: what was filled in has all its digits. */
#include "base/error.h"
#include "dense/linear.h"
#include "model/digits.h"
#include "network/exact/exact.h"
#include "network/hard/enumerate/enumerate.h"
#include "network/hard/sparse_noise/sparse_noise.h"
#include "network/noisy/noisy.h"

#include <math.h>
#include <string.h>

/* least pivot of B'B over the clean cells of a row (1 is best): those it determines lose two digits
 * at most */
static const double FIRM = 0.01;
enum { CANDIDATES = 20000 };

/* whether the clean cells of row i determine the others to all but one or two digits */
static int is_firm(const ur_consensus *c, size_t i)
{
    return c->met[i] > 0 && c->spread[i] > FIRM;
}

/* ---- how many digits the cells that agree carry ---- */

/* those of column j in room; how many */
static size_t agreeing(const ur_sparse_cells *cells, const ur_consensus *c, size_t j, double *room)
{
    size_t count = 0;
    for (size_t i = 0; i < c->rows; i++)
        if (c->clean[i * c->m + j])
            room[count++] = cells->a[c->row[i] * c->m + j];
    return count;
}

static unrelu_status judge(const ur_sparse_cells *cells, const ur_consensus *c, ur_data *data,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    double *room = ur_take(&arena, c->rows, sizeof *room);
    int single = 1, digits = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < c->m && single; j++)
        single = ur_digits_single(agreeing(cells, c, j, room), room);
    data->floor = 0;
    for (size_t j = 0; j < c->m; j++) {
        size_t count = agreeing(cells, c, j, room);
        double rms = data->column_rms[j] * data->column_unit[j];
        double rounding = rms > 0 ? ur_digits_rounding(count, 1, room, 0, rms, &digits) : 0;
        ur_data_set_floor(data, j, single, rounding, digits);
    }
    return UNRELU_OK;
}

/* ---- the basis once more ---- */

/* B by least squares on all cells that agree, where they leave more than a basis of full precision
 * would; *again: B is another */
static unrelu_status refit(const ur_sparse_cells *cells, const ur_consensus *c, double *B,
                           int *again, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t m = c->m, r = c->r, count = 0;
    double *M = ur_take(&arena, c->rows, m * sizeof *M), largest = 0, miss;
    double *D = ur_take(&arena, c->rows, m * sizeof *D);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t j = 0; j < m && c->met[i] > 0; j++) {
            double y = cells->a[c->row[i] * m + j] * cells->per_unit[j];
            double fit = ur_short_dot(r, c->B + j * r, c->at + i * r);
            int clean = c->clean[i * m + j];
            largest = clean ? fmax(largest, fabs(y - fit) / (1 + fabs(fit))) : largest;
            M[count * m + j] = y;
            D[count * m + j] = clean ? y : y + 1 + fabs(y);
        }
        count += is_firm(c, i) && !c->idle[i];
    }
    *again = largest > UR_ROUNDING;
    if (!*again || count <= r)
        return UNRELU_OK;
    UR_TRY(ur_polish(count, m, M, D, r, cells->tolerance, cells->tolerance, cells->exec, B, &miss,
                     err));
    return ur_orthonormalise(m, r, B, err);
}

unrelu_status ur_clean_make(const ur_problem *given, const ur_sparse_cells *cells, size_t rows,
                            ur_subspace *s, ur_arena *arena, ur_clean *clean, unrelu_error *err)
{
    UR_ARENA(own);
    UR_ARENA(voted); /* the consensus */
    size_t n = cells->n, firm = 0;
    int again;
    ur_consensus c;
    *clean = (ur_clean){0};
    rows = rows < n ? rows : n;
    size_t *row = ur_take(&own, rows, sizeof *row);
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < rows; i++)
        row[i] = (size_t)((double)i * ((double)n / (double)rows));
    /* where columns are met less than others, or the basis shows an error, with a better one */
    UR_TRY(ur_consensus_find(cells, rows, row, s->r, s->B, &voted, &c, err));
    UR_TRY(refit(cells, &c, s->B, &again, err));
    if (again) {
        ur_arena_end(&voted);
        UR_TRY(ur_consensus_run(cells, rows, row, s->r, s->B, &voted, &c, err));
    }
    UR_TRY(ur_subspace_judge(&c, s, err));
    for (size_t i = 0; i < c.rows; i++)
        firm += (size_t)is_firm(&c, i);
    if (!ur_subspace_accepted(s) || firm < given->data.d + s->r)
        return UNRELU_OK;
    size_t d = given->data.d, m = c.m;
    double *x = ur_take(arena, firm, d * sizeof *x), *a = ur_take(arena, firm, m * sizeof *a);
    clean->row = ur_take(arena, firm, sizeof *clean->row);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < c.rows; i++) {
        if (!is_firm(&c, i))
            continue;
        size_t from = c.row[i], to = clean->rows++;
        clean->row[to] = from;
        memcpy(x + to * d, given->data.x + from * d, d * sizeof *x);
        for (size_t j = 0; j < m; j++) {
            double fit = ur_short_dot(c.r, c.B + j * c.r, c.at + i * c.r);
            a[to * m + j] = c.clean[i * m + j] ? cells->a[from * m + j] : fit / cells->per_unit[j];
        }
    }
    UR_TRY(ur_data_hold(firm, d, m, x, a, given->exec, arena, &clean->data, err));
    return judge(cells, &c, &clean->data, err);
}

/* ---- the exact network ---- */

unrelu_status ur_clean_recover(const ur_problem *given, const ur_clean *clean, ur_outcome *out,
                               unrelu_error *err)
{
    ur_problem within = *given;
    within.data = clean->data;
    within.options.budget = CANDIDATES; /* of the enumeration: those given are draws */
    UR_TRY(ur_exact_biases(&within, out, err));
    unrelu_activation f = given->options.activation;
    if (out->answer == UR_NONE && f.kind == UNRELU_RELU)
        return ur_enumerate(&within, out, err);
    if (out->answer != UR_NONE || (ur_activation_rectifies(f) && ur_activation_degree(f) > 0))
        return UNRELU_OK;
    /* without patterns: joint Gauss-Newton, which meets labels without noise */
    UR_TRY(ur_noisy(&within, out, err));
    if (out->answer == UR_NOISY) {
        out->closest = fmin(out->closest, out->certificate.residual);
        out->answer = UR_NONE;
    }
    return UNRELU_OK;
}
