/* SPDX-License-Identifier: Apache-2.0 */
/* Double description: rays of the cone of a few rows, then one row more at a time. Rays on its
 * wrong side go, and each pair of neighbours on both sides leaves one on it (cone_rays.c).
 *
 * Which row: the one most violated. Each row that a ray violates waits in the list of one such
 * ray. Where a ray goes, its rows are handed to rays at h = 0, h the new row; what none of these
 * violates no ray does, as a segment from a ray that goes to one that stays crosses h = 0. So a
 * row meets the rays of its own neighbourhood alone, and most rows are never inserted.
 *
 * At the end all rows meet all rays: one that is violated after all goes through the same once
 * more. Where an inserted row is, digits are lost, and the rays are not called finished. */
#include "cone/cone.h"

#include "base/error.h"
#include "base/memory.h"
#include "cone/cone_rays.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDENT 1e-13 /* of unit rows */

enum { BLOCK = 32 }; /* rays that meet all rows at a time */

/* ---- rows ---- */

/* row i to wait at the ray among `side[0]` that violates it most; none: it is met */
static void assign(ur_description *c, size_t i)
{
    double worst = -c->tolerance;
    size_t at = SIZE_MAX;
    for (size_t j = 0; j < c->sides[0]; j++) {
        size_t r = c->side[0][j];
        double h = ur_description_dot(c->k, ur_description_row(c, i), c->z + r * c->k);
        if (h < worst) {
            worst = h;
            at = r;
        }
    }
    if (at == SIZE_MAX)
        return;
    ur_description_ray *ray = c->ray + at;
    c->next[i] = ray->head;
    ray->head = i + 1;
    if (worst < ray->worst) {
        ray->worst = worst;
        ray->worst_row = i;
    }
}

/* rays below h = 0 leave, those at h = 0 get the zero and become side[0], new ones come; rows of
 * those that left */
static size_t replace_rays(ur_description *c)
{
    size_t kept = 0, orphans = 0, k = c->k, bit = c->inserted - 1;
    c->sides[0] = 0;
    for (size_t r = 0; r < c->count + c->fresh; r++) {
        if (c->ray[r].h < 0) {
            for (size_t i = c->ray[r].head, after; i > 0; i = after) {
                after = c->next[i - 1];
                c->next[i - 1] = orphans;
                orphans = i;
            }
            continue;
        }
        if (kept < r) {
            c->ray[kept] = c->ray[r];
            memcpy(c->z + kept * k, c->z + r * k, k * sizeof *c->z);
            memcpy(ur_description_zeros(c, kept), ur_description_zeros(c, r),
                   c->words * sizeof *c->zero);
        }
        if (c->ray[kept].h == 0) {
            ur_bit_set(ur_description_zeros(c, kept), bit);
            c->ray[kept].key ^= ur_description_mark(bit);
            c->ray[kept].zeros++;
            ur_description_settle(c, kept);
            c->side[0][c->sides[0]++] = kept;
        }
        kept++;
    }
    c->count = kept;
    c->fresh = 0;
    return orphans;
}

static unrelu_status insert(ur_description *c, size_t row, unrelu_error *err)
{
    unrelu_status status = c->inserted == 64 * c->words ? ur_description_widen(c, err) : UNRELU_OK;
    if (status != UNRELU_OK)
        return status;
    for (size_t r = 0; r < c->count; r++) {
        double h = ur_description_dot(c->k, ur_description_row(c, row), c->z + r * c->k);
        c->ray[r].h = fabs(h) <= c->tolerance ? 0 : h;
    }
    status = ur_description_join(c, err);
    if (status != UNRELU_OK || c->full)
        return status;
    c->in[row] = 1;
    c->order[c->inserted++] = row;
    for (size_t i = replace_rays(c), after; i > 0; i = after) {
        after = c->next[i - 1];
        if (i - 1 != row)
            assign(c, i - 1);
    }
    return UNRELU_OK;
}

/* A ray that was led back onto its zeros may meet rows that waited there. */
static int is_violated(const ur_description *c, size_t r, size_t row)
{
    double h = ur_description_dot(c->k, ur_description_row(c, row), c->z + r * c->k);
    return !c->in[row] && h < -c->tolerance;
}

/* the list of ray r without the rows that it meets */
static void refresh(ur_description *c, size_t r)
{
    ur_description_ray *ray = c->ray + r;
    size_t head = ray->head;
    ray->head = 0;
    ray->worst = 0;
    for (size_t i = head, after; i > 0; i = after) {
        after = c->next[i - 1];
        if (!is_violated(c, r, i - 1))
            continue;
        double h = ur_description_dot(c->k, ur_description_row(c, i - 1), c->z + r * c->k);
        c->next[i - 1] = ray->head;
        ray->head = i;
        if (h < ray->worst) {
            ray->worst = h;
            ray->worst_row = i - 1;
        }
    }
}

/* inserts rows for as long as one is violated */
static unrelu_status insert_all(ur_description *c, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    while (status == UNRELU_OK && !c->full) {
        size_t at = SIZE_MAX;
        for (size_t r = 0; r < c->count; r++)
            if (c->ray[r].head > 0 && (at == SIZE_MAX || c->ray[r].worst < c->ray[at].worst))
                at = r;
        if (at == SIZE_MAX)
            break;
        if (!is_violated(c, at, c->ray[at].worst_row)) {
            refresh(c, at);
            continue;
        }
        c->polls = 0;
        status = ur_description_cancelled(c) ? ur_description_fail_cancelled(err)
                                             : insert(c, c->ray[at].worst_row, err);
    }
    return status;
}

/* ---- the first cone ---- */

/* k independent rows, each the farthest from the span of those before */
static unrelu_status choose_rows(ur_description *c, double *B, unrelu_error *err)
{
    size_t k = c->k;
    double *rest = ur_alloc(c->rows, k * sizeof *rest);
    if (!rest)
        return ur_fail_memory(err, c->rows * k, "cells");
    memcpy(rest, c->Y, c->rows * k * sizeof *rest);
    for (size_t b = 0; b < k; b++) {
        size_t best = 0;
        double most = -1;
        for (size_t i = 0; i < c->rows; i++) {
            double size = c->in[i] ? -1 : ur_description_dot(k, rest + i * k, rest + i * k);
            if (size > most) {
                most = size;
                best = i;
            }
        }
        if (!(most > DEPENDENT * DEPENDENT)) {
            free(rest);
            return ur_fail(err, UNRELU_EDATA,
                           "%zu rows of %zu columns have rank %zu: their cone holds a line",
                           c->rows, k, b);
        }
        memcpy(c->q, rest + best * k, k * sizeof *c->q);
        ur_unit_rows(1, k, c->q);
        for (size_t i = 0; i < c->rows; i++)
            ur_add(k, -ur_description_dot(k, rest + i * k, c->q), c->q, rest + i * k);
        memcpy(B + b * k, ur_description_row(c, best), k * sizeof *B);
        c->in[best] = 1;
        c->order[c->inserted++] = best;
    }
    free(rest);
    return UNRELU_OK;
}

/* rays: the columns of the inverse of B, each 0 on all rows of it but one */
static unrelu_status first_cone(ur_description *c, unrelu_error *err)
{
    size_t k = c->k;
    double *B = ur_alloc(k, k * sizeof *B), *eye = ur_alloc(k, k * sizeof *eye);
    double *inverse = ur_alloc(k, k * sizeof *inverse);
    unrelu_status status =
        B && eye && inverse ? choose_rows(c, B, err) : ur_fail_memory(err, k * k, "cells");
    for (size_t j = 0; j < k && status == UNRELU_OK; j++)
        eye[j * k + j] = 1;
    if (status == UNRELU_OK)
        status = ur_least_squares(k, k, k, B, eye, 0, inverse, NULL, err);
    for (size_t r = 0; r < k && status == UNRELU_OK; r++) {
        c->ray[r] = (ur_description_ray){.zeros = k - 1};
        for (size_t j = 0; j < k; j++)
            c->z[r * k + j] = inverse[j * k + r];
        ur_unit_rows(1, k, c->z + r * k);
        for (size_t b = 0; b < k; b++)
            if (b != r) {
                ur_bit_set(ur_description_zeros(c, r), b);
                c->ray[r].key ^= ur_description_mark(b);
            }
        ur_description_settle(c, r);
    }
    if (status == UNRELU_OK) {
        c->count = c->sides[0] = k;
        for (size_t r = 0; r < k; r++)
            c->side[0][r] = r;
        for (size_t i = 0; i < c->rows; i++)
            if (!c->in[i])
                assign(c, i);
    }
    free(B);
    free(eye);
    free(inverse);
    return status;
}

static unrelu_status open_cone(ur_description *c, unrelu_error *err)
{
    size_t first = c->k < 64 ? 4 : c->k / 16;
    c->words = first;
    c->order = ur_alloc(c->rows, sizeof *c->order);
    c->next = ur_alloc(c->rows, sizeof *c->next);
    c->in = ur_alloc(c->rows, 1);
    c->common = ur_alloc(c->words, sizeof *c->common);
    c->tight = ur_alloc(c->rows, sizeof *c->tight);
    c->q = ur_alloc(c->k, c->k * sizeof *c->q);
    if (!c->order || !c->next || !c->in || !c->common || !c->tight || !c->q)
        return ur_fail_memory(err, c->rows, "rows of a cone");
    unrelu_status status = ur_description_reserve(c, c->k, err);
    return status == UNRELU_OK ? first_cone(c, err) : status;
}

/* ---- the end ---- */

/* ray r with h = Y z (rows): `out` keeps it where it violates no row, else rows may wait there */
static void judge(ur_description *c, size_t r, const double *h, ur_rays *out)
{
    uint64_t *zero = out->zeros + out->count * out->words;
    size_t below = 0;
    memset(zero, 0, out->words * sizeof *zero);
    for (size_t i = 0; i < c->rows; i++) {
        if (fabs(h[i]) <= c->tolerance)
            ur_bit_set(zero, i);
        below += h[i] < -c->tolerance;
    }
    if (below == 0)
        memcpy(out->z + c->k * out->count++, c->z + r * c->k, c->k * sizeof *c->z);
    else
        c->side[0][c->sides[0]++] = r;
}

/* all rows meet all rays; side[0]: rays that violate rows */
static unrelu_status check(ur_description *c, ur_rays *out, unrelu_error *err)
{
    size_t k = c->k;
    double *h = ur_alloc(c->rows, BLOCK * sizeof *h);
    unrelu_status status = UNRELU_OK;
    c->sides[0] = 0;
    ur_rays_free(out);
    *out = (ur_rays){.words = (c->rows + 63) / 64, .finished = !c->full};
    out->z = ur_alloc(c->count, k * sizeof *out->z);
    out->zeros = ur_alloc(c->count, out->words * sizeof *out->zeros);
    if (!h || !out->z || !out->zeros)
        status = ur_fail_memory(err, c->count, "rays of a cone");
    for (size_t first = 0; first < c->count && status == UNRELU_OK; first += BLOCK) {
        size_t rays = c->count - first < BLOCK ? c->count - first : BLOCK;
        ur_multiply_nt(rays, k, c->rows, c->z + first * k, c->Y, h);
        for (size_t r = 0; r < rays; r++)
            judge(c, first + r, h + r * c->rows, out);
    }
    free(h);
    return status;
}

/* rows that wait */
static size_t waiting(const ur_description *c)
{
    size_t count = 0;
    for (size_t r = 0; r < c->count; r++)
        for (size_t i = c->ray[r].head; i > 0; i = c->next[i - 1])
            count++;
    return count;
}

unrelu_status ur_rays_find(size_t rows, size_t k, const double *Y, double tolerance, size_t most,
                           const unrelu_exec *exec, ur_rays *rays, unrelu_error *err)
{
    ur_description c = {.rows = rows,
                        .k = k,
                        .most = most > k ? most : k,
                        .Y = Y,
                        .tolerance = tolerance,
                        .exec = exec};
    *rays = (ur_rays){0};
    unrelu_status status = open_cone(&c, err);
    while (status == UNRELU_OK) {
        status = insert_all(&c, err);
        if (status == UNRELU_OK)
            status = check(&c, rays, err);
        if (c.full || status != UNRELU_OK || c.sides[0] == 0)
            break;
        for (size_t i = 0; i < rows; i++)
            if (!c.in[i])
                assign(&c, i);
        if (waiting(&c) == 0) { /* an inserted row is violated: digits are lost */
            rays->finished = 0;
            break;
        }
    }
    rays->inserted = rows - waiting(&c);
    ur_description_free(&c);
    if (status != UNRELU_OK)
        ur_rays_free(rays);
    return status;
}

void ur_rays_free(ur_rays *rays)
{
    free(rays->z);
    free(rays->zeros);
    *rays = (ur_rays){0};
}
