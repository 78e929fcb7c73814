/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the labels without their wrong cells, by consensus: cells that agree stay as they are,
 * the others become what the rest of their row says. On these the network is exact. Floors come
 * from the cells that agree: what was filled in has all its digits. */
#include "base/error.h"
#include "base/memory.h"
#include "dense/linear.h"
#include "model/digits.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FIRM = 0.01, ROUNDING = 1e-13;

void ur_clean_free(ur_clean *clean)
{
    ur_arena_end(&clean->arena);
    *clean = (ur_clean){0};
}

/* Rows whose clean cells determine the others to all but one or two digits. */
static int is_firm(const ur_consensus *c, size_t i)
{
    return c->met[i] > 0 && c->spread[i] > FIRM;
}

/* the firm rows */
static unrelu_status gather(const ur_recover *r, const ur_sparse_cells *cells,
                            const ur_consensus *c, ur_clean *clean, unrelu_error *err)
{
    size_t d = r->data.d, m = c->m, count = 0;
    for (size_t i = 0; i < c->rows; i++)
        count += (size_t)is_firm(c, i);
    clean->row = ur_take(&clean->arena, count, sizeof *clean->row);
    clean->x = ur_take(&clean->arena, count, d * sizeof *clean->x);
    clean->a = ur_take(&clean->arena, count, m * sizeof *clean->a);
    UR_TRY(ur_arena_status(&clean->arena, err));
    for (size_t i = 0; i < c->rows; i++) {
        if (!is_firm(c, i))
            continue;
        size_t row = c->row[i], to = clean->rows++;
        clean->row[to] = row;
        memcpy(clean->x + to * d, r->data.x + row * d, d * sizeof *clean->x);
        for (size_t j = 0; j < m; j++) {
            double fit = 0;
            for (size_t l = 0; l < c->r; l++)
                fit += c->B[j * c->r + l] * c->at[i * c->r + l];
            clean->a[to * m + j] =
                c->clean[i * m + j] ? cells->a[row * m + j] : fit / cells->per_unit[j];
        }
    }
    return UNRELU_OK;
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

static void set_floor(ur_data *data, size_t j, double floor, double tolerance, const char *name)
{
    data->column_floor[j] = floor;
    if (floor > data->floor) {
        data->floor = floor;
        data->tolerance = tolerance;
        snprintf(data->precision, sizeof data->precision, "%s", name);
    }
}

static unrelu_status judge(const ur_sparse_cells *cells, const ur_consensus *c, ur_data *data,
                           unrelu_error *err)
{
    double *room = ur_doubles(c->rows);
    int single = 1, digits;
    if (!room)
        return ur_fail_memory(err, c->rows, "cells");
    for (size_t j = 0; j < c->m && single; j++)
        single = ur_digits_single(agreeing(cells, c, j, room), room);
    data->floor = 0;
    for (size_t j = 0; j < c->m; j++) {
        size_t count = agreeing(cells, c, j, room);
        double rms = data->column_rms[j] * data->column_unit[j];
        double rounding = rms > 0 ? ur_digits_rounding(count, 1, room, 0, rms, &digits) : 0;
        char name[16];
        if (single) {
            set_floor(data, j, 5e-7, 3e-6, "single");
        } else if (rounding > 0) {
            snprintf(name, sizeof name, "digits:%u", (unsigned)digits & 15);
            set_floor(data, j, fmin(4 * rounding, 1e-3), fmin(10 * rounding, 1e-2), name);
        } else {
            set_floor(data, j, 1e-12, 1e-10, "double");
        }
    }
    free(room);
    return UNRELU_OK;
}

static unrelu_status load(const ur_recover *r, ur_clean *clean, unrelu_error *err)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_status status = unrelu_source_memory(clean->x, clean->rows, r->data.d, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(clean->a, clean->rows, r->data.m, &labels, err);
    if (status == UNRELU_OK)
        status = ur_data_load(inputs, labels, r->exec, &clean->arena, &clean->data, err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}

/* ---- the basis once more ---- */

/* what the agreeing cells leave, at most */
static double largest_miss(const ur_sparse_cells *cells, const ur_consensus *c)
{
    double largest = 0;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->m && c->met[i] > 0; j++) {
            double fit = 0, y = cells->a[c->row[i] * c->m + j] * cells->per_unit[j];
            for (size_t l = 0; l < c->r; l++)
                fit += c->B[j * c->r + l] * c->at[i * c->r + l];
            if (c->clean[i * c->m + j])
                largest = fmax(largest, fabs(y - fit) / (1 + fabs(fit)));
        }
    return largest;
}

/* B by least squares on all cells that agree */
static unrelu_status refit(const ur_sparse_cells *cells, const ur_consensus *c, double *B,
                           unrelu_error *err)
{
    size_t m = c->m, count = 0;
    double miss, *M = ur_alloc(c->rows, m * sizeof *M), *D = ur_alloc(c->rows, m * sizeof *D);
    unrelu_status status = M && D ? UNRELU_OK : ur_fail_memory(err, c->rows * m, "cells");
    for (size_t i = 0; i < c->rows && status == UNRELU_OK; i++) {
        if (!is_firm(c, i) || c->idle[i])
            continue;
        for (size_t j = 0; j < m; j++) {
            double y = cells->a[c->row[i] * m + j] * cells->per_unit[j];
            M[count * m + j] = y;
            D[count * m + j] = c->clean[i * m + j] ? y : y + 1 + fabs(y);
        }
        count++;
    }
    if (status == UNRELU_OK && count > c->r)
        status = ur_polish(count, m, M, D, c->r, cells->tolerance, cells->tolerance, cells->exec, B,
                           &miss, err);
    free(M);
    free(D);
    return status;
}

/* consensus with the basis as it is now */
static unrelu_status again(const ur_sparse_cells *cells, const size_t *row, ur_subspace *s,
                           ur_arena *arena, ur_consensus *c, unrelu_error *err)
{
    size_t rows = c->rows;
    ur_arena_end(arena); /* the last consensus */
    UR_TRY(ur_orthonormalise(cells->m, s->r, s->B, err));
    return ur_consensus_run(cells, rows, row, s->r, s->B, arena, c, err);
}

/* consensus; where columns are met less than others, or the basis shows an error, with a better
 * one */
static unrelu_status decide(const ur_sparse_cells *cells, size_t rows, const size_t *row,
                            ur_subspace *s, ur_arena *arena, ur_consensus *c, unrelu_error *err)
{
    size_t repaired = 0;
    UR_TRY(ur_consensus_run(cells, rows, row, s->r, s->B, arena, c, err));
    UR_TRY(ur_repair(cells, c, s->B, &repaired, err));
    if (repaired > 0)
        UR_TRY(again(cells, row, s, arena, c, err));
    if (!(largest_miss(cells, c) > ROUNDING))
        return UNRELU_OK;
    UR_TRY(refit(cells, c, s->B, err));
    return again(cells, row, s, arena, c, err);
}

unrelu_status ur_clean_make(const ur_recover *r, const ur_sparse_cells *cells, size_t rows,
                            ur_subspace *s, ur_clean *clean, int *accepted, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = cells->n, *row;
    ur_consensus c = {0};
    *clean = (ur_clean){0};
    *accepted = 0;
    rows = rows < n ? rows : n;
    if (!(row = ur_alloc(rows, sizeof *row)))
        return ur_fail_memory(err, rows, "rows");
    for (size_t i = 0; i < rows; i++)
        row[i] = (size_t)((double)i * ((double)n / (double)rows));
    unrelu_status status = decide(cells, rows, row, s, &arena, &c, err);
    if (status == UNRELU_OK)
        status = ur_subspace_judge(&c, s, err);
    if (status == UNRELU_OK)
        status = gather(r, cells, &c, clean, err);
    if (status == UNRELU_OK && ur_subspace_accepted(s) && clean->rows >= r->data.d + s->r) {
        status = load(r, clean, err);
        if (status == UNRELU_OK)
            status = judge(cells, &c, &clean->data, err);
        *accepted = 1;
    }
    free(row);
    return status;
}

/* ---- the exact network ---- */

static unrelu_status find(ur_recover *inner, int *met, unrelu_error *err)
{
    unrelu_biases biases = inner->options->biases;
    *met = 0;
    unrelu_status status = ur_exact(inner, ur_terms_of(biases), met, err);
    if (status == UNRELU_OK && !*met && biases == UNRELU_BIASES_AUTO)
        status = ur_exact(inner, ur_terms_of(UNRELU_BIASES_BOTH), met, err);
    if (status == UNRELU_OK && !*met)
        status = ur_enumerate(inner, met, err);
    return status;
}

unrelu_status ur_clean_recover(ur_recover *r, ur_clean *clean, int *met, unrelu_error *err)
{
    enum { CANDIDATES = 20000 };
    unrelu_recover_options options = *r->options;
    ur_recover inner = *r;
    options.budget = CANDIDATES; /* of the enumeration: r's are draws */
    inner.options = &options;
    inner.data = clean->data;
    r->model->n = clean->rows; /* the shares and counts of the model are of these rows for now */
    unrelu_status status = find(&inner, met, err);
    r->model->n = r->data.n;
    r->model->failure[0] = 0;
    r->model->proof = 0;
    r->best = fmin(r->best, inner.best);
    r->inputs = inner.inputs;
    r->p = inner.p;
    return status;
}
