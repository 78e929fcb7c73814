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
#include "network/hard/enumerate/face.h"

#include "base/error.h"
#include "base/memory.h"
#include "cone/cone.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ZERO = 1e-12; /* of labels and of inputs, relative to the largest */
static const double CLEAR = 1e-4; /* a rank that needs no second look */
static const double NEW = 1e-7;   /* part of z outside the span of those found */
static const double TIGHT = 1e-9; /* rows that a programme leaves at 0 */
static const double ROUNDING = 1e-14;

void ur_face_free(ur_face *f)
{
    free(f->M);
    free(f->Q);
    free(f->R);
    free(f->U);
    free(f->s);
    free(f->Vt);
    free(f->span);
    free(f->W);
    free(f->N);
    free(f->B);
    free(f->t);
    free(f->z);
    free(f->v);
    free(f->project);
    free(f->on);
    free(f->G);
    free(f->tight);
    memset(f, 0, sizeof *f);
}

unrelu_status ur_face_open(ur_neurons *q, ur_face *f, unrelu_error *err)
{
    size_t wide = q->k + q->p, rows = q->n > 2 * wide ? q->n : 2 * wide;
    *f = (ur_face){.q = q, .wide = wide};
    f->M = ur_alloc(rows, wide * sizeof *f->M);
    f->Q = ur_alloc(2 * wide, wide * sizeof *f->Q);
    f->R = ur_alloc(wide, wide * sizeof *f->R);
    f->U = ur_alloc(wide, wide * sizeof *f->U);
    f->s = ur_doubles(wide);
    f->Vt = ur_alloc(wide, wide * sizeof *f->Vt);
    f->span = ur_alloc(q->k, q->k * sizeof *f->span);
    f->W = ur_alloc(wide, wide * sizeof *f->W);
    f->N = ur_alloc(wide, wide * sizeof *f->N);
    f->B = ur_alloc(wide, q->k * sizeof *f->B);
    f->t = ur_doubles(wide);
    f->z = ur_doubles(q->k);
    f->v = ur_doubles(q->p);
    f->project = ur_alloc(wide, wide * sizeof *f->project);
    f->on = ur_alloc(q->n, sizeof *f->on);
    if (f->M && f->Q && f->R && f->U && f->s && f->Vt && f->span && f->W && f->N && f->B && f->t &&
        f->z && f->v && f->project && f->on)
        return UNRELU_OK;
    ur_face_free(f);
    return ur_fail_memory(err, rows * wide, "cells of a face");
}

/* ---- equations ---- */

/* sqrt(n) y z - x v = 0 at row i of the data, to unit length */
static void set_equation(const ur_face *f, size_t i, double *row)
{
    const ur_neurons *q = f->q;
    double root = sqrt((double)q->n), size = hypot(root * q->y_size[i], q->x_size[i]);
    for (size_t j = 0; j < q->k; j++)
        row[j] = root * q->y[i * q->k + j] / size;
    for (size_t j = 0; j < q->p; j++)
        row[q->k + j] = -q->x[i * q->p + j] / size;
}

/* Vt[*first ..] : rows that span the null space of M (rows x wide, destroyed). Singular values up
 * to tolerance times `unit` count as 0, or times the largest where unit is 0. */
static unrelu_status null_space(ur_face *f, size_t rows, size_t wide, double unit, size_t *first,
                                unrelu_error *err)
{
    unrelu_status status = ur_qr_triangle(rows, wide, f->M, f->R, err);
    if (status == UNRELU_OK)
        status = ur_svd(wide, wide, f->R, f->U, f->s, f->Vt, err);
    *first = 0;
    while (status == UNRELU_OK && *first < wide &&
           f->s[*first] > f->q->tolerance * (unit > 0 ? unit : f->s[0]))
        ++*first;
    return status;
}

/* whether the equations of a few rows of S have no solution */
static unrelu_status look_briefly(ur_face *f, const unsigned char *zero, int *none,
                                  unrelu_error *err)
{
    const ur_neurons *q = f->q;
    size_t rows = 0, rank = 0;
    for (size_t i = 0; i < q->rows && rows < 2 * f->wide; i++)
        if (!zero[i])
            set_equation(f, q->of[i], f->M + f->wide * rows++);
    unrelu_status status = UNRELU_OK;
    if (rows >= f->wide)
        status = ur_qr_pivoted(rows, f->wide, f->M, CLEAR, &rank, f->Q, NULL, NULL, err);
    *none = rank == f->wide;
    return status;
}

/* span: the null space of the zeros among the rows of Y; its dimension */
static unrelu_status set_span(ur_face *f, const unsigned char *zero, size_t *dimension,
                              unrelu_error *err)
{
    const ur_neurons *q = f->q;
    size_t k = q->k, rows = 0, first;
    for (size_t i = 0; i < q->rows; i++)
        if (zero[i])
            memcpy(f->M + k * rows++, q->Y + k * i, k * sizeof *f->M);
    if (rows == 0) /* null_space takes the largest for its unit */
        memset(f->M, 0, k * sizeof *f->M);
    unrelu_status status = null_space(f, rows > 0 ? rows : 1, k, 1, &first, err);
    *dimension = status == UNRELU_OK ? k - first : 0;
    memcpy(f->span, f->Vt + first * k, *dimension * k * sizeof *f->span);
    return status;
}

static double longest(size_t n, const double *size)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, size[i]);
    return most;
}

/* S: rows whose labels do not vanish on the span */
static void set_sides(ur_face *f, size_t dimension)
{
    const ur_neurons *q = f->q;
    double least = ZERO * longest(q->n, q->y_size);
    f->count = 0;
    for (size_t i = 0; i < q->n; i++) {
        double square = 0, allowed = q->tolerance * q->y_size[i] + ROUNDING;
        for (size_t j = 0; j < dimension; j++) {
            double h = ur_dot(q->k, q->y + i * q->k, f->span + j * q->k);
            square += h * h;
        }
        if (q->y_size[i] > least && sqrt(square) > allowed)
            f->on[f->count++] = i;
    }
}

/* W and its dimension */
static unrelu_status set_solutions(ur_face *f, size_t *dimension, unrelu_error *err)
{
    size_t first;
    for (size_t i = 0; i < f->count; i++)
        set_equation(f, f->on[i], f->M + i * f->wide);
    if (f->count == 0)
        memset(f->M, 0, f->wide * sizeof *f->M);
    unrelu_status status = null_space(f, f->count > 0 ? f->count : 1, f->wide, 0, &first, err);
    *dimension = status == UNRELU_OK ? f->wide - first : 0;
    memcpy(f->W, f->Vt + first * f->wide, *dimension * f->wide * sizeof *f->W);
    return status;
}

/* N: what of W has Y_T z = 0; its dimension e */
static unrelu_status set_face(ur_face *f, const unsigned char *zero, size_t dimension, size_t *e,
                              unrelu_error *err)
{
    const ur_neurons *q = f->q;
    size_t rows = 0, first;
    for (size_t i = 0; i < q->rows; i++) {
        if (!zero[i])
            continue;
        for (size_t j = 0; j < dimension; j++)
            f->M[rows * dimension + j] = ur_dot(q->k, q->Y + i * q->k, f->W + j * f->wide);
        rows++;
    }
    if (rows == 0)
        memset(f->M, 0, dimension * sizeof *f->M);
    unrelu_status status = null_space(f, rows > 0 ? rows : 1, dimension, 1, &first, err);
    *e = status == UNRELU_OK ? dimension - first : 0;
    if (*e > 0)
        ur_multiply(*e, dimension, f->wide, f->Vt + first * dimension, f->W, f->N);
    return status;
}

/* Directions t in which the z of the rows of A (rows x wide) leave the span of those found: the
 * first *count rows of Vt (rows wide), by how much in s */
static unrelu_status set_directions(ur_face *f, size_t rows, const double *A, double least,
                                    size_t *count, unrelu_error *err)
{
    const ur_neurons *q = f->q;
    size_t k = q->k;
    size_t most = rows < q->k ? rows : q->k;
    for (size_t i = 0; i < rows; i++) {
        double *z = f->B + i * q->k;
        memcpy(z, A + i * f->wide, q->k * sizeof *z);
        for (size_t j = 0; j < q->found; j++) {
            const double *b = q->basis + j * q->k;
            ur_add(k, -ur_dot(k, b, z), b, z);
        }
    }
    for (size_t i = 0; i < q->k; i++) /* k x rows */
        for (size_t j = 0; j < rows; j++)
            f->M[i * rows + j] = f->B[j * q->k + i];
    unrelu_status status = ur_svd(q->k, rows, f->M, f->U, f->s, f->Vt, err);
    *count = 0;
    while (status == UNRELU_OK && *count < most && f->s[*count] > least)
        ++*count;
    return status;
}

/* ---- neurons ---- */

/* z and v of t, to |z| = 1; 0 where z is 0 or f(x v) = y z does not hold */
static int set_neuron(ur_face *f, size_t e, const double *t)
{
    const ur_neurons *q = f->q;
    double root = sqrt((double)q->n), size_v, size_z;
    memset(f->z, 0, q->k * sizeof *f->z);
    memset(f->v, 0, q->p * sizeof *f->v);
    for (size_t j = 0; j < e; j++) {
        ur_add(q->k, root * t[j], f->N + j * f->wide, f->z);
        ur_add(q->p, t[j], f->N + j * f->wide + q->k, f->v);
    }
    size_z = ur_norm(q->k, f->z);
    if (!(size_z > NEW))
        return 0;
    ur_scale(q->k, 1 / size_z, f->z);
    ur_scale(q->p, 1 / size_z, f->v);
    size_v = ur_norm(q->p, f->v);
    for (size_t i = 0; i < q->n; i++) {
        double s = ur_dot(q->p, q->x + i * q->p, f->v);
        double y = ur_dot(q->k, q->y + i * q->k, f->z);
        double allowed = 10 * q->tolerance * (q->x_size[i] * size_v + q->y_size[i]) + ROUNDING;
        if (!(fabs(fmax(0, s) - y) <= allowed))
            return 0;
    }
    return 1;
}

/* e = 1 */
static void try_signs(ur_face *f, ur_face_end *end)
{
    for (double t = 1; t >= -1 && end->grew == 0; t -= 2)
        if (set_neuron(f, 1, &t))
            end->grew += (size_t)ur_neurons_add(f->q, f->z, f->v, 1);
}

/* cells that are rounding to 0: scaled up by Clp they spoil its answer (1 in 100 tiny instances) */
static void clean(size_t count, double *cells)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(cells[i]) < ROUNDING)
            cells[i] = 0;
}

/* G = rows of inequalities in t: y z >= 0 where the face is not 0, x v <= 0 on T; their number */
static unrelu_status set_inequalities(ur_face *f, const unsigned char *zero, size_t e,
                                      size_t *count, unrelu_error *err)
{
    const ur_neurons *q = f->q;
    free(f->G);
    free(f->tight);
    f->G = ur_alloc(q->rows + q->n, e * sizeof *f->G);
    f->tight = ur_alloc(q->rows + q->n, sizeof *f->tight);
    double least = ZERO * longest(q->n, q->x_size);
    *count = 0;
    if (!f->G || !f->tight)
        return ur_fail_memory(err, (q->rows + q->n) * e, "inequalities of a face");
    for (size_t i = 0, next = 0; i < q->rows + q->n; i++) {
        int labels = i < q->rows;
        size_t at = labels ? i : i - q->rows, length = labels ? q->k : q->p;
        const double *row = labels ? q->Y + at * q->k : q->x + at * q->p;
        double *g = f->G + *count * e, unit = labels ? 1 : -q->x_size[at];
        if (labels ? zero[at] : next < f->count && f->on[next] == at) {
            next += labels ? 0 : 1;
            continue;
        }
        if (fabs(unit) <= least)
            continue;
        for (size_t j = 0; j < e; j++)
            g[j] = ur_dot(length, row, f->N + j * f->wide + (labels ? 0 : q->k)) / unit;
        double size = ur_norm(e, g);
        if (!(size > q->tolerance))
            continue; /* 0 >= 0 */
        ur_scale(e, 1 / size, g);
        ++*count;
    }
    clean(*count * e, f->G);
    return UNRELU_OK;
}

/* t to unit length and onto the rows of G where it is 0 but for rounding */
static void settle(ur_face *f, size_t e, size_t count)
{
    double length = ur_norm(e, f->t), *before = f->s; /* no longer needed */
    size_t tight = 0;
    if (!(length > 0) || !isfinite(length))
        return;
    ur_scale(e, 1 / length, f->t);
    for (size_t i = 0; i < count; i++)
        if (fabs(ur_dot(e, f->G + i * e, f->t)) <= TIGHT)
            f->tight[tight++] = f->G + i * e;
    memcpy(before, f->t, e * sizeof *before);
    if (ur_description_project(e, tight, f->tight, f->project, f->t) == e)
        memcpy(f->t, before, e * sizeof *before);
}

/* c = G'w, w in 1 .. 2: c t is bounded below, and t a corner */
static void set_price(const ur_face *f, size_t e, size_t count, double *price)
{
    memset(price, 0, e * sizeof *price);
    for (size_t i = 0; i < count; i++) {
        double w = 1 + fmod((double)i * 0.6180339887498949, 1);
        ur_add(e, w / (double)count, f->G + i * e, price);
    }
    clean(e, price);
}

/* one programme for each direction and sign, until one adds a neuron */
static unrelu_status try_directions(ur_face *f, size_t e, size_t inequalities, ur_face_end *end,
                                    int *grew, unrelu_error *err)
{
    size_t directions;
    double *price = f->project, *b = f->M; /* M: no longer needed */
    ur_lp_outcome outcome;
    unrelu_status status = set_directions(f, e, f->N, NEW, &directions, err);
    memcpy(b, f->Vt, directions * e * sizeof *b);
    clean(directions * e, b);
    *grew = 0;
    for (size_t i = 0; i < 2 * directions && status == UNRELU_OK && !*grew; i++) {
        double *r = b + i / 2 * e;
        set_price(f, e, inequalities, price);
        status = ur_lp_ray(inequalities, e, f->G, price, r, f->t, &outcome, err);
        ur_scale(e, -1, r);
        if (status != UNRELU_OK || outcome == UR_LP_INFEASIBLE)
            continue;
        if (outcome == UR_LP_OPTIMAL) {
            double reach = 1 / ur_norm(e, f->t); /* r t, at |t| = 1 */
            settle(f, e, inequalities);
            if (set_neuron(f, e, f->t))
                *grew = ur_neurons_add(f->q, f->z, f->v, 0);
            else
                end->unsure |= reach > NEW;
        } else {
            end->unsure = 1;
        }
    }
    end->grew += (size_t)*grew;
    return status;
}

static unrelu_status try_programmes(ur_face *f, const unsigned char *zero, size_t e,
                                    ur_face_end *end, unrelu_error *err)
{
    size_t inequalities;
    int grew = 1;
    unrelu_status status = set_inequalities(f, zero, e, &inequalities, err);
    while (status == UNRELU_OK && grew && f->q->found < f->q->wanted)
        status = try_directions(f, e, inequalities, end, &grew, err);
    return status;
}

unrelu_status ur_face_look(ur_face *f, const unsigned char *zero, ur_face_end *end,
                           unrelu_error *err)
{
    size_t dimension = 0, solutions = 0, outside = 0, e = 0;
    *end = (ur_face_end){0};
    unrelu_status status = look_briefly(f, zero, &end->closed, err);
    if (status != UNRELU_OK || end->closed)
        return status;
    status = set_span(f, zero, &dimension, err);
    if (status != UNRELU_OK || dimension == 0)
        return status;
    set_sides(f, dimension);
    status = set_solutions(f, &solutions, err);
    if (status == UNRELU_OK && solutions > 0)
        status = set_directions(f, solutions, f->W, NEW, &outside, err);
    end->closed = outside == 0;
    if (status != UNRELU_OK || end->closed)
        return status;
    status = set_face(f, zero, solutions, &e, err);
    if (status == UNRELU_OK && e == 1)
        try_signs(f, end);
    else if (status == UNRELU_OK && e > 1)
        status = try_programmes(f, zero, e, end, err);
    return status;
}

unrelu_status ur_face_try(ur_neurons *q, const unsigned char *zero, size_t *grew, unrelu_error *err)
{
    ur_face face;
    ur_face_end end = {0};
    unrelu_status status = ur_face_open(q, &face, err);
    if (status == UNRELU_OK)
        status = ur_face_look(&face, zero, &end, err);
    *grew = end.grew;
    ur_face_free(&face);
    return status;
}
