/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/fold.h"

#include <math.h>
#include <string.h>

/* Of columns of unit length: what keeps the normal equations positive where two rows are nearly
 * one. Larger, and one refinement does not undo it; smaller, and rounding of F'F exceeds it. */
static const double RIDGE = 1e-13;
static const double MORE_RIDGE = 100; /* times, where that was too little */
/* Of the floor of the labels: below it they count as met (the floor is that of the last fit), and a
 * descent may end. */
static const double MET = 3, ENOUGH = 0.1;

static unrelu_status linear_rest(ur_folds *folds, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_fold_state s;
    folds->base = 1;
    UR_TRY(ur_fold_state_open(folds, 0, &arena, &s, err));
    UR_TRY(ur_fold_evaluate(folds, &s, err));
    folds->base = s.share;
    return UNRELU_OK;
}

unrelu_status ur_folds_open(ur_folds *folds, double data_floor, unrelu_error *err)
{
    size_t cells = folds->n * folds->m;
    folds->floor = data_floor;
    folds->size = ur_dot(cells, folds->a, folds->a);
    UR_TRY(linear_rest(folds, err));
    double square = data_floor * data_floor * folds->size / folds->base;
    folds->met = MET * MET * square;
    folds->least = ENOUGH * ENOUGH * square;
    return UNRELU_OK;
}

double ur_fold_unknowns(const ur_folds *folds, size_t k)
{
    double wide = (double)(folds->p + (folds->constant ? 1 : 0));
    return (double)k * (double)folds->p + (double)folds->m * ((double)k + wide);
}

unrelu_status ur_fold_state_open(const ur_folds *folds, size_t k, ur_arena *arena, ur_fold_state *s,
                                 unrelu_error *err)
{
    size_t n = folds->n, p = folds->p, m = folds->m, q = k + p + (folds->constant ? 1 : 0);
    *s = (ur_fold_state){.k = k, .q = q};
    s->T = ur_take(arena, k, p * sizeof *s->T);
    s->S = ur_take(arena, n, k * sizeof *s->S);
    s->F = ur_take(arena, n, q * sizeof *s->F);
    s->scale = ur_take(arena, q, sizeof *s->scale);
    s->L = ur_take(arena, q, q * sizeof *s->L);
    s->B = ur_take(arena, q, m * sizeof *s->B);
    s->R = ur_take(arena, n, m * sizeof *s->R);
    return ur_arena_status(arena, err);
}

void ur_fold_rows_copy(const ur_folds *folds, const ur_fold_state *from, ur_fold_state *to)
{
    to->k = from->k;
    memcpy(to->T, from->T, from->k * folds->p * sizeof *to->T);
}

static void set_features(const ur_folds *folds, ur_fold_state *s)
{
    size_t n = folds->n, p = folds->p, k = s->k, q = s->q;
    if (k > 0)
        ur_gemm(UR_PLAIN, UR_TURNED, n, k, p, 1, folds->z, p, s->T, p, 0, s->F, q);
    for (size_t i = 0; i < n; i++) {
        double *row = s->F + i * q;
        for (size_t j = 0; j < k; j++) {
            s->S[i * k + j] = copysign(1, row[j]);
            row[j] = fabs(row[j]);
        }
        memcpy(row + k, folds->z + i * p, p * sizeof *row);
        if (folds->constant)
            row[k + p] = 1;
    }
}

/* scale and L; 0 where the features do not even have a factor with the ridge */
static int factor(const ur_folds *folds, ur_fold_state *s, double ridge)
{
    size_t q = s->q;
    ur_syrk(UR_LOWER, UR_TURNED, q, folds->n, 1, s->F, q, 0, s->L, q);
    for (size_t j = 0; j < q; j++) {
        double square = s->L[j * q + j];
        s->scale[j] = square > 0 ? 1 / sqrt(square) : 0;
    }
    for (size_t i = 0; i < q; i++) {
        for (size_t j = 0; j < i; j++)
            s->L[i * q + j] *= s->scale[i] * s->scale[j];
        s->L[i * q + i] = 1 + ridge;
    }
    return ur_cholesky_in_place(q, s->L);
}

/* B += (F'F)^-1 F'R, and R anew; room: q x m */
static void refine(const ur_folds *folds, ur_fold_state *s, double *room)
{
    size_t n = folds->n, m = folds->m, q = s->q;
    ur_multiply_tn(n, q, m, s->F, s->R, room);
    for (size_t j = 0; j < q; j++)
        ur_scale(m, s->scale[j], room + j * m);
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, m, s->L, q, room, m);
    ur_trsm(UR_LEFT, UR_LOWER, UR_TURNED, q, m, s->L, q, room, m);
    for (size_t j = 0; j < q; j++)
        ur_add(m, s->scale[j], room + j * m, s->B + j * m);
    memcpy(s->R, folds->a, n * m * sizeof *s->R);
    ur_gemm(UR_PLAIN, UR_PLAIN, n, m, q, -1, s->F, q, s->B, m, 1, s->R, m);
}

unrelu_status ur_fold_evaluate(const ur_folds *folds, ur_fold_state *s, unrelu_error *err)
{
    enum { REFINEMENTS = 2, TRIES = 4 };
    size_t cells = folds->n * folds->m;
    UR_ARENA(arena);
    s->q = s->k + folds->p + (folds->constant ? 1 : 0);
    double *room = ur_take(&arena, s->q, folds->m * sizeof *room), ridge = RIDGE;
    UR_TRY(ur_arena_status(&arena, err));
    ur_unit_rows(s->k, folds->p, s->T);
    set_features(folds, s);
    int factored = 0;
    for (int i = 0; i < TRIES && !(factored = factor(folds, s, ridge)); i++)
        ridge *= MORE_RIDGE;
    s->share = INFINITY;
    if (!factored)
        return UNRELU_OK;
    memset(s->B, 0, s->q * folds->m * sizeof *s->B);
    memcpy(s->R, folds->a, cells * sizeof *s->R);
    for (int i = 0; i < REFINEMENTS; i++)
        refine(folds, s, room);
    s->share = ur_dot(cells, s->R, s->R) / folds->base;
    return UNRELU_OK;
}
