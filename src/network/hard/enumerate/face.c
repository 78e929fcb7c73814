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

/* Weights of the rows in the price of a corner: 1 + the multiples of it modulo 1, all different. */
static const double GOLDEN = 0.6180339887498949;

/* ---- equations ---- */

/* sqrt(n) y z - x v = 0 at row i of the data, to unit length */
static void set_equation(const ur_neurons *hunt, size_t i, double *row)
{
    double root = sqrt((double)hunt->n), size = hypot(root * hunt->y_size[i], hunt->x_size[i]);
    for (size_t j = 0; j < hunt->k; j++)
        row[j] = root * hunt->y[i * hunt->k + j] / size;
    for (size_t j = 0; j < hunt->p; j++)
        row[hunt->k + j] = -hunt->x[i * hunt->p + j] / size;
}

/* Rows that span the null space of M (rows x wide, room for one at least, destroyed), and how many.
 * Singular values up to tolerance times `unit` count as 0, or times the largest where unit is 0. */
static unrelu_status null_space(const ur_neurons *hunt, size_t rows, size_t wide, double unit,
                                double *M, double *span, size_t *dimension, unrelu_error *err)
{
    UR_ARENA(arena);
    double *R = ur_take(&arena, wide, wide * sizeof *R),
           *U = ur_take(&arena, wide, wide * sizeof *U);
    double *Vt = ur_take(&arena, wide, wide * sizeof *Vt), *s = ur_take(&arena, wide, sizeof *s);
    size_t rank = 0;
    UR_TRY(ur_arena_status(&arena, err));
    if (rows == 0)
        memset(M, 0, wide * sizeof *M);
    UR_TRY(ur_qr_triangle(rows > 0 ? rows : 1, wide, M, R, err));
    UR_TRY(ur_svd(wide, wide, R, U, s, Vt, err));
    while (rank < wide && s[rank] > hunt->tolerance * (unit > 0 ? unit : s[0]))
        rank++;
    *dimension = wide - rank;
    memcpy(span, Vt + rank * wide, *dimension * wide * sizeof *span);
    return UNRELU_OK;
}

/* Directions t (*count, rows; room rows x rows) in which the z of the rows of A (rows x (k + p))
 * leave the span of those found */
static unrelu_status leaving(const ur_neurons *hunt, size_t rows, const double *A, double *t,
                             size_t *count, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = hunt->k, most = rows < k ? rows : k;
    double *B = ur_take(&arena, k, rows * sizeof *B), *U = ur_take(&arena, k, most * sizeof *U);
    double *s = ur_take(&arena, most, sizeof *s), *z = ur_take(&arena, k, sizeof *z);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < rows; j++) {
        memcpy(z, A + j * (k + hunt->p), k * sizeof *z);
        ur_basis_sweep(&hunt->basis, hunt->found, z);
        for (size_t i = 0; i < k; i++)
            B[i * rows + j] = z[i];
    }
    UR_TRY(ur_svd(k, rows, B, U, s, t, err));
    *count = 0;
    while (*count < most && s[*count] > ur_neurons_least(hunt))
        ++*count;
    return UNRELU_OK;
}

/* ---- neurons ---- */

/* N and what is asked of t, the coordinates in it */
typedef struct {
    ur_neurons *hunt;
    size_t e;             /* dimension */
    double *N;            /* (e, k + p) */
    double *z, *v;        /* k, p: the neuron of a t */
    size_t count;         /* of inequalities */
    double *G;            /* (count, e): G t >= 0, rows of unit length */
    const double **tight; /* count */
} slice;

/* z and v of t, to |z| = 1; 0 where z is 0 or f(x v) = y z does not hold */
static int set_neuron(slice *f, const double *t)
{
    const ur_neurons *hunt = f->hunt;
    size_t k = hunt->k, p = hunt->p, wide = k + p;
    memset(f->z, 0, k * sizeof *f->z);
    memset(f->v, 0, p * sizeof *f->v);
    for (size_t j = 0; j < f->e; j++) {
        ur_add(k, sqrt((double)hunt->n) * t[j], f->N + j * wide, f->z);
        ur_add(p, t[j], f->N + j * wide + k, f->v);
    }
    double size_z = ur_norm(k, f->z);
    if (!(size_z > ur_neurons_least(f->hunt)))
        return 0;
    ur_scale(k, 1 / size_z, f->z);
    ur_scale(p, 1 / size_z, f->v);
    double size_v = ur_norm(p, f->v);
    for (size_t i = 0; i < hunt->n; i++) {
        double s = ur_dot(p, hunt->x + i * p, f->v), y = ur_dot(k, hunt->y + i * k, f->z);
        double terms = hunt->x_size[i] * size_v + hunt->y_size[i];
        if (!(fabs(fmax(0, s) - y) <= UR_LOOSE * hunt->tolerance * terms + UR_ROUNDING))
            return 0;
    }
    return 1;
}

/* cells that are rounding to 0: scaled up by Clp they spoil its answer (1 in 100 tiny instances) */
static void clean(size_t count, double *cells)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(cells[i]) < UR_ROUNDING)
            cells[i] = 0;
}

/* G: y z >= 0 where the face is not 0, x v <= 0 on T, the rows that are not in S (on, of `count`)
 */
static void set_inequalities(slice *f, const unsigned char *zero, size_t count, const size_t *on)
{
    const ur_neurons *hunt = f->hunt;
    size_t k = hunt->k, p = hunt->p, e = f->e;
    for (size_t i = 0, next = 0; i < hunt->rows + hunt->n; i++) {
        int labels = i < hunt->rows;
        size_t at = labels ? i : i - hunt->rows;
        const double *row = labels ? hunt->Y + at * k : hunt->x + at * p;
        double *g = f->G + f->count * e, unit = labels ? 1 : -hunt->x_size[at];
        if (labels ? zero[at] : next < count && on[next] == at) {
            next += labels ? 0 : 1;
            continue;
        }
        if (fabs(unit) <= hunt->x_small)
            continue;
        for (size_t j = 0; j < e; j++)
            g[j] = ur_dot(labels ? k : p, row, f->N + j * (k + p) + (labels ? 0 : k)) / unit;
        double size = ur_norm(e, g);
        if (!(size > hunt->tolerance))
            continue; /* 0 >= 0 */
        ur_scale(e, 1 / size, g);
        f->count++;
    }
    clean(f->count * e, f->G);
}

/* one programme for each direction and sign, until one adds a neuron */
static unrelu_status try_directions(slice *f, ur_face_end *end, int *grew, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t e = f->e, directions;
    double *b = ur_take(&arena, e, e * sizeof *b), *price = ur_take(&arena, e, sizeof *price);
    double *t = ur_take(&arena, e, sizeof *t), *before = ur_take(&arena, e, sizeof *before);
    double *project = ur_take(&arena, e, e * sizeof *project);
    *grew = 0;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(leaving(f->hunt, e, f->N, b, &directions, err));
    clean(directions * e, b);
    for (size_t i = 0; i < f->count; i++) /* bounded below, and its t a corner */
        ur_add(e, (1 + fmod((double)i * GOLDEN, 1)) / (double)f->count, f->G + i * e, price);
    clean(e, price);
    for (size_t i = 0; i < 2 * directions && !*grew; i++) {
        double *r = b + i / 2 * e;
        ur_lp_outcome outcome;
        UR_TRY(ur_lp_ray(f->count, e, f->G, price, r, t, &outcome, err));
        ur_scale(e, -1, r);
        if (outcome == UR_LP_INFEASIBLE)
            continue;
        if (outcome != UR_LP_OPTIMAL) {
            end->unsure = 1;
            continue;
        }
        double length = ur_norm(e, t); /* 1 / length: r t, at |t| = 1 */
        if (length > 0 &&
            isfinite(length)) { /* onto the rows of G where it is 0 but for rounding */
            size_t tight = 0;
            ur_scale(e, 1 / length, t);
            for (size_t l = 0; l < f->count; l++)
                if (fabs(ur_dot(e, f->G + l * e, t)) <= f->hunt->tolerance)
                    f->tight[tight++] = f->G + l * e;
            memcpy(before, t, e * sizeof *before);
            if (ur_cone_project(e, tight, f->tight, project, t) == e)
                memcpy(t, before, e * sizeof *before);
        }
        if (set_neuron(f, t))
            *grew = ur_neurons_add(f->hunt, f->z, f->v, 0);
        else
            end->unsure |= 1 / length > ur_neurons_least(f->hunt);
    }
    end->grew += (size_t)*grew;
    return UNRELU_OK;
}

/* ---- the face ---- */

/* whether the equations of a few rows of S have no solution: pivots far above the tolerance */
static unrelu_status is_clear(const ur_neurons *hunt, const unsigned char *zero, int *clear,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    size_t wide = hunt->k + hunt->p, rows = 0, rank = 0;
    double *M = ur_take(&arena, 2 * wide, wide * sizeof *M);
    double *Q = ur_take(&arena, 2 * wide, wide * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < hunt->rows && rows < 2 * wide; i++)
        if (!zero[i])
            set_equation(hunt, hunt->of[i], M + wide * rows++);
    if (rows >= wide)
        UR_TRY(ur_qr_pivoted(rows, wide, M, UR_LOOSE * UR_ROUGH * hunt->tolerance, &rank, Q, NULL,
                             NULL, err));
    *clear = rank == wide;
    return UNRELU_OK;
}

unrelu_status ur_face_look(ur_neurons *hunt, const unsigned char *zero, ur_face_end *end,
                           unrelu_error *err)
{
    *end = (ur_face_end){0};
    UR_TRY(is_clear(hunt, zero, &end->closed, err));
    if (end->closed)
        return UNRELU_OK;
    UR_ARENA(arena);
    size_t n = hunt->n, k = hunt->k, p = hunt->p, wide = k + p, rows = 0, count = 0;
    size_t dimension, solutions, outside = 0;
    double *M = ur_take(&arena, n, wide * sizeof *M);
    double *span = ur_take(&arena, wide, wide * sizeof *span);
    double *W = ur_take(&arena, wide, wide * sizeof *W);
    size_t *on = ur_take(&arena, n, sizeof *on);
    slice f = {.hunt = hunt, .N = ur_take(&arena, wide, wide * sizeof *f.N)};
    f.z = ur_take(&arena, k, sizeof *f.z);
    f.v = ur_take(&arena, p, sizeof *f.v);
    UR_TRY(ur_arena_status(&arena, err));
    /* the span of the face: the null space of its zeros */
    for (size_t i = 0; i < hunt->rows; i++)
        if (zero[i])
            memcpy(M + k * rows++, hunt->Y + k * i, k * sizeof *M);
    UR_TRY(null_space(hunt, rows, k, 1, M, span, &dimension, err));
    if (dimension == 0)
        return UNRELU_OK;
    /* S, the rows whose labels do not vanish on it, and W */
    for (size_t i = 0; i < n; i++) {
        double square = 0, allowed = hunt->tolerance * hunt->y_size[i] + UR_ROUNDING;
        for (size_t j = 0; j < dimension; j++) {
            double h = ur_dot(k, hunt->y + i * k, span + j * k);
            square += h * h;
        }
        if (!(hunt->y_size[i] > hunt->y_small && sqrt(square) > allowed))
            continue;
        set_equation(hunt, i, M + count * wide);
        on[count++] = i;
    }
    UR_TRY(null_space(hunt, count, wide, 0, M, W, &solutions, err));
    if (solutions > 0)
        UR_TRY(leaving(hunt, solutions, W, span, &outside, err));
    end->closed = outside == 0;
    if (end->closed)
        return UNRELU_OK;
    /* N: what of W has Y_T z = 0 */
    rows = 0;
    for (size_t i = 0; i < hunt->rows; i++) {
        for (size_t j = 0; j < solutions && zero[i]; j++)
            M[rows * solutions + j] = ur_dot(k, hunt->Y + i * k, W + j * wide);
        rows += zero[i];
    }
    UR_TRY(null_space(hunt, rows, solutions, 1, M, span, &f.e, err));
    if (f.e > 0)
        ur_multiply(f.e, solutions, wide, span, W, f.N);
    for (double t = 1; f.e == 1 && t >= -1 && end->grew == 0; t -= 2)
        if (set_neuron(&f, &t))
            end->grew += (size_t)ur_neurons_add(hunt, f.z, f.v, 1);
    if (f.e < 2)
        return UNRELU_OK;
    f.G = ur_take(&arena, hunt->rows + n, f.e * sizeof *f.G);
    f.tight = ur_take(&arena, hunt->rows + n, sizeof *f.tight);
    UR_TRY(ur_arena_status(&arena, err));
    set_inequalities(&f, zero, count, on);
    for (int grew = 1; grew && hunt->found < hunt->k;)
        UR_TRY(try_directions(&f, end, &grew, err));
    return UNRELU_OK;
}
