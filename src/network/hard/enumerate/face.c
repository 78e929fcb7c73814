/* SPDX-License-Identifier: Apache-2.0 */
/* K = {(z, v) : Y_T z = 0, X_S v = Y_S z, Y_S z >= 0, X_T v <= 0} of one face. S are the rows of y
 * that do not vanish on the null space of the face's zeros among the rows of Y: all rows of the
 * data take part, also those of zero or repeated labels.
 *
 * W, the null space of X_S v = Y_S z, comes first: S only grows with the face, so that where the z
 * of W lie in the span of those found, neither this face nor any that contains it has more. Most
 * faces end there, and most of these with 2 (k + p) rows of S whose equations have full rank.
 * Then N, the part of W with Y_T z = 0, of dimension e:
 *   e = 1   a neuron, its negative, or nothing, by signs;
 *   e > 1   G t >= 0, b t = +-1 for each b of a basis of the directions in which z = N t leaves the
 *           span of those found: linear programmes in e unknowns, again after each success.
 * What a programme finds is moved onto the rows it leaves at 0, and each neuron is put to the test
 * f(x v) = y z on all rows. Unknowns are scaled so that sqrt(n) y and x have columns of size 1, and
 * equations to unit length. Cost: n (k + p)^2 and 2 programmes a direction. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "cone/cone.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/lp.h"

#include <math.h>
#include <string.h>

/* Inputs of this share of the longest are rounding of larger ones. */
static const double ZERO = 1e-12;
/* Pivots of a few unit equations, of the largest: above, their rank needs no second look. */
static const double CLEAR = 1e-4;
/* Part of z outside the span of those found that makes another neuron of it. */
static const double NEW = 1e-7;
/* Inequalities that a programme leaves at 0: its own tolerance is 1e-9. */
static const double TIGHT = 1e-9;
static const double ROUNDING = 1e-14; /* of numbers of size 1 after a few hundred operations */
static const double LOOSE = 10;       /* tolerances that f(x v) = y z may be missed by */
/* Weights of the rows in the price of a corner: 1 + the multiples of it modulo 1, all different. */
static const double GOLDEN = 0.6180339887498949;

unrelu_status ur_face_open(ur_neurons *hunt, ur_arena *arena, ur_face *f, unrelu_error *err)
{
    size_t wide = hunt->k + hunt->p, rows = hunt->n > 2 * wide ? hunt->n : 2 * wide;
    *f = (ur_face){.hunt = hunt,
                   .wide = wide,
                   .M = ur_take(arena, rows, wide * sizeof *f->M),
                   .Q = ur_take(arena, 2 * wide, wide * sizeof *f->Q),
                   .R = ur_take(arena, wide, wide * sizeof *f->R),
                   .U = ur_take(arena, wide, wide * sizeof *f->U),
                   .s = ur_take(arena, wide, sizeof *f->s),
                   .Vt = ur_take(arena, wide, wide * sizeof *f->Vt),
                   .span = ur_take(arena, hunt->k, hunt->k * sizeof *f->span),
                   .W = ur_take(arena, wide, wide * sizeof *f->W),
                   .N = ur_take(arena, wide, wide * sizeof *f->N),
                   .B = ur_take(arena, wide, hunt->k * sizeof *f->B),
                   .t = ur_take(arena, 2 * wide, sizeof *f->t),
                   .z = ur_take(arena, hunt->k, sizeof *f->z),
                   .v = ur_take(arena, hunt->p, sizeof *f->v),
                   .project = ur_take(arena, wide, wide * sizeof *f->project),
                   .on = ur_take(arena, hunt->n, sizeof *f->on)};
    return ur_arena_status(arena, err);
}

/* ---- equations ---- */

/* sqrt(n) y z - x v = 0 at row i of the data, to unit length */
static void set_equation(const ur_face *f, size_t i, double *row)
{
    const ur_neurons *hunt = f->hunt;
    double root = sqrt((double)hunt->n), size = hypot(root * hunt->y_size[i], hunt->x_size[i]);
    for (size_t j = 0; j < hunt->k; j++)
        row[j] = root * hunt->y[i * hunt->k + j] / size;
    for (size_t j = 0; j < hunt->p; j++)
        row[hunt->k + j] = -hunt->x[i * hunt->p + j] / size;
}

/* Vt[*first ..] : rows that span the null space of M (rows x wide, destroyed). Singular values up
 * to tolerance times `unit` count as 0, or times the largest where unit is 0. */
static unrelu_status null_space(ur_face *f, size_t rows, size_t wide, double unit, size_t *first,
                                unrelu_error *err)
{
    if (rows == 0)
        memset(f->M, 0, wide * sizeof *f->M);
    UR_TRY(ur_qr_triangle(rows > 0 ? rows : 1, wide, f->M, f->R, err));
    UR_TRY(ur_svd(wide, wide, f->R, f->U, f->s, f->Vt, err));
    *first = 0;
    while (*first < wide && f->s[*first] > f->hunt->tolerance * (unit > 0 ? unit : f->s[0]))
        ++*first;
    return UNRELU_OK;
}

/* S: rows whose labels do not vanish on the span */
static void set_sides(ur_face *f, size_t dimension)
{
    const ur_neurons *hunt = f->hunt;
    f->count = 0;
    for (size_t i = 0; i < hunt->n; i++) {
        double square = 0, allowed = hunt->tolerance * hunt->y_size[i] + ROUNDING;
        for (size_t j = 0; j < dimension; j++) {
            double h = ur_dot(hunt->k, hunt->y + i * hunt->k, f->span + j * hunt->k);
            square += h * h;
        }
        if (hunt->y_size[i] > hunt->small && sqrt(square) > allowed)
            f->on[f->count++] = i;
    }
}

/* Directions t in which the z of the rows of A (rows x wide) leave the span of those found: the
 * first *count rows of Vt (rows wide), by how much in s */
static unrelu_status set_directions(ur_face *f, size_t rows, const double *A, size_t *count,
                                    unrelu_error *err)
{
    const ur_neurons *hunt = f->hunt;
    size_t k = hunt->k, most = rows < k ? rows : k;
    for (size_t i = 0; i < rows; i++) {
        memcpy(f->B + i * k, A + i * f->wide, k * sizeof *f->B);
        ur_basis_sweep(&hunt->basis, hunt->found, f->B + i * k);
    }
    for (size_t i = 0; i < k; i++) /* k x rows */
        for (size_t j = 0; j < rows; j++)
            f->M[i * rows + j] = f->B[j * k + i];
    UR_TRY(ur_svd(k, rows, f->M, f->U, f->s, f->Vt, err));
    *count = 0;
    while (*count < most && f->s[*count] > NEW)
        ++*count;
    return UNRELU_OK;
}

/* ---- neurons ---- */

/* z and v of t, to |z| = 1; 0 where z is 0 or f(x v) = y z does not hold */
static int set_neuron(ur_face *f, size_t e, const double *t)
{
    const ur_neurons *hunt = f->hunt;
    double root = sqrt((double)hunt->n), size_v, size_z;
    memset(f->z, 0, hunt->k * sizeof *f->z);
    memset(f->v, 0, hunt->p * sizeof *f->v);
    for (size_t j = 0; j < e; j++) {
        ur_add(hunt->k, root * t[j], f->N + j * f->wide, f->z);
        ur_add(hunt->p, t[j], f->N + j * f->wide + hunt->k, f->v);
    }
    size_z = ur_norm(hunt->k, f->z);
    if (!(size_z > NEW))
        return 0;
    ur_scale(hunt->k, 1 / size_z, f->z);
    ur_scale(hunt->p, 1 / size_z, f->v);
    size_v = ur_norm(hunt->p, f->v);
    for (size_t i = 0; i < hunt->n; i++) {
        double s = ur_dot(hunt->p, hunt->x + i * hunt->p, f->v);
        double y = ur_dot(hunt->k, hunt->y + i * hunt->k, f->z);
        double allowed =
            LOOSE * hunt->tolerance * (hunt->x_size[i] * size_v + hunt->y_size[i]) + ROUNDING;
        if (!(fabs(fmax(0, s) - y) <= allowed))
            return 0;
    }
    return 1;
}

/* cells that are rounding to 0: scaled up by Clp they spoil its answer (1 in 100 tiny instances) */
static void clean(size_t count, double *cells)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(cells[i]) < ROUNDING)
            cells[i] = 0;
}

/* G = rows of inequalities in t: y z >= 0 where the face is not 0, x v <= 0 on T */
static void set_inequalities(ur_face *f, const unsigned char *zero, size_t e)
{
    const ur_neurons *hunt = f->hunt;
    f->inequalities = 0;
    for (size_t i = 0, next = 0; i < hunt->rows + hunt->n; i++) {
        int labels = i < hunt->rows;
        size_t at = labels ? i : i - hunt->rows, length = labels ? hunt->k : hunt->p;
        const double *row = labels ? hunt->Y + at * hunt->k : hunt->x + at * hunt->p;
        double *g = f->G + f->inequalities * e, unit = labels ? 1 : -hunt->x_size[at];
        if (labels ? zero[at] : next < f->count && f->on[next] == at) {
            next += labels ? 0 : 1;
            continue;
        }
        if (fabs(unit) <= ZERO * hunt->longest)
            continue;
        for (size_t j = 0; j < e; j++)
            g[j] = ur_dot(length, row, f->N + j * f->wide + (labels ? 0 : hunt->k)) / unit;
        double size = ur_norm(e, g);
        if (!(size > hunt->tolerance))
            continue; /* 0 >= 0 */
        ur_scale(e, 1 / size, g);
        f->inequalities++;
    }
    clean(f->inequalities * e, f->G);
}

/* t to unit length and onto the rows of G where it is 0 but for rounding */
static void settle(ur_face *f, size_t e)
{
    double length = ur_norm(e, f->t), *before = f->s; /* no longer needed */
    size_t tight = 0;
    if (!(length > 0) || !isfinite(length))
        return;
    ur_scale(e, 1 / length, f->t);
    for (size_t i = 0; i < f->inequalities; i++)
        if (fabs(ur_dot(e, f->G + i * e, f->t)) <= TIGHT)
            f->tight[tight++] = f->G + i * e;
    memcpy(before, f->t, e * sizeof *before);
    if (ur_cone_project(e, tight, f->tight, f->project, f->t) == e)
        memcpy(f->t, before, e * sizeof *before);
}

/* one programme for each direction and sign, until one adds a neuron */
static unrelu_status try_directions(ur_face *f, size_t e, ur_face_end *end, int *grew,
                                    unrelu_error *err)
{
    size_t directions;
    double *price = f->t + f->wide, *b = f->M; /* M: no longer needed */
    *grew = 0;
    UR_TRY(set_directions(f, e, f->N, &directions, err));
    memcpy(b, f->Vt, directions * e * sizeof *b);
    clean(directions * e, b);
    memset(price, 0, e * sizeof *price);
    for (size_t i = 0; i < f->inequalities; i++) { /* bounded below, and its t a corner */
        double w = 1 + fmod((double)i * GOLDEN, 1);
        ur_add(e, w / (double)f->inequalities, f->G + i * e, price);
    }
    clean(e, price);
    for (size_t i = 0; i < 2 * directions && !*grew; i++) {
        double *r = b + i / 2 * e;
        ur_lp_outcome outcome;
        UR_TRY(ur_lp_ray(f->inequalities, e, f->G, price, r, f->t, &outcome, err));
        ur_scale(e, -1, r);
        if (outcome == UR_LP_INFEASIBLE)
            continue;
        if (outcome == UR_LP_OPTIMAL) {
            double reach = 1 / ur_norm(e, f->t); /* r t, at |t| = 1 */
            settle(f, e);
            if (set_neuron(f, e, f->t))
                *grew = ur_neurons_add(f->hunt, f->z, f->v, 0);
            else
                end->unsure |= reach > NEW;
        } else {
            end->unsure = 1;
        }
    }
    end->grew += (size_t)*grew;
    return UNRELU_OK;
}

unrelu_status ur_face_look(ur_face *f, const unsigned char *zero, ur_face_end *end,
                           unrelu_error *err)
{
    const ur_neurons *hunt = f->hunt;
    size_t k = hunt->k, wide = f->wide, rows = 0, rank = 0, first = 0, outside = 0;
    *end = (ur_face_end){0};
    /* whether the equations of a few rows of S have no solution */
    for (size_t i = 0; i < hunt->rows && rows < 2 * wide; i++)
        if (!zero[i])
            set_equation(f, hunt->of[i], f->M + wide * rows++);
    if (rows >= wide)
        UR_TRY(ur_qr_pivoted(rows, wide, f->M, CLEAR, &rank, f->Q, NULL, NULL, err));
    end->closed = rank == wide;
    if (end->closed)
        return UNRELU_OK;
    /* the span of the face: the null space of its zeros */
    rows = 0;
    for (size_t i = 0; i < hunt->rows; i++)
        if (zero[i])
            memcpy(f->M + k * rows++, hunt->Y + k * i, k * sizeof *f->M);
    UR_TRY(null_space(f, rows, k, 1, &first, err));
    if (first == k)
        return UNRELU_OK;
    memcpy(f->span, f->Vt + first * k, (k - first) * k * sizeof *f->span);
    set_sides(f, k - first);
    /* W */
    for (size_t i = 0; i < f->count; i++)
        set_equation(f, f->on[i], f->M + i * wide);
    UR_TRY(null_space(f, f->count, wide, 0, &first, err));
    size_t solutions = wide - first;
    memcpy(f->W, f->Vt + first * wide, solutions * wide * sizeof *f->W);
    if (solutions > 0)
        UR_TRY(set_directions(f, solutions, f->W, &outside, err));
    end->closed = outside == 0;
    if (end->closed)
        return UNRELU_OK;
    /* N: what of W has Y_T z = 0 */
    rows = 0;
    for (size_t i = 0; i < hunt->rows; i++) {
        for (size_t j = 0; j < solutions && zero[i]; j++)
            f->M[rows * solutions + j] = ur_dot(k, hunt->Y + i * k, f->W + j * wide);
        rows += zero[i];
    }
    UR_TRY(null_space(f, rows, solutions, 1, &first, err));
    size_t e = solutions - first;
    if (e > 0)
        ur_multiply(e, solutions, wide, f->Vt + first * solutions, f->W, f->N);
    for (double t = 1; e == 1 && t >= -1 && end->grew == 0; t -= 2)
        if (set_neuron(f, 1, &t))
            end->grew += (size_t)ur_neurons_add(f->hunt, f->z, f->v, 1);
    if (e < 2)
        return UNRELU_OK;
    UR_ARENA(arena);
    f->G = ur_take(&arena, hunt->rows + hunt->n, e * sizeof *f->G);
    f->tight = ur_take(&arena, hunt->rows + hunt->n, sizeof *f->tight);
    UR_TRY(ur_arena_status(&arena, err));
    set_inequalities(f, zero, e);
    for (int grew = 1; grew && hunt->found < hunt->wanted;)
        UR_TRY(try_directions(f, e, end, &grew, err));
    return UNRELU_OK;
}

unrelu_status ur_face_try(ur_neurons *hunt, const unsigned char *zero, size_t *grew,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    ur_face face;
    ur_face_end end;
    *grew = 0;
    UR_TRY(ur_face_open(hunt, &arena, &face, err));
    UR_TRY(ur_face_look(&face, zero, &end, err));
    *grew = end.grew;
    return UNRELU_OK;
}
