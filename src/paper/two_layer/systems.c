/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 5 (and steps 4 to 8 of Algorithm 3) on the first l = 20 (d + k) samples. For neuron j
 * with approximate row v, signs q = + and -, and a threshold tau:
 *   h = w Y, |w| = 1, with h = 0 where q (v x + c) < -tau;   Y spans the labels (with 1 where
 *   there is an output bias), so that f(v_j x + c_j) is such an h and the only one;
 *   then z x = f^-1(h) where h > 0, by least squares; v_j = z / |z|.
 * Differences from the letter: samples within tau of the kink are left out of the first system
 * instead of being called zeros (one misplaced sample leaves no solution); tau is tried from a
 * list of multiples of the root mean square of v x, growing, and for each sample in proportion
 * to |x|, as the error of v x is; w is a null vector from a singular value decomposition, not
 * one of k systems with (w)_r = 1; and the systems are solved once more with the zeros of z x.
 * A row counts as solved where the null vector is unique and |f(z x) - h| <= 1e-9 |h| over all l
 * samples. Rows are then right to 1e-13 for well-conditioned data; the start may be off by up to
 * 0.3 rad. A row that solves no system, or finds a neuron another row has found, is left as it
 * was: so are all rows where f has no zero pattern (leaky) or is not homogeneous (f^-1(s h) = z x
 * would have to be solved for the scale s too).
 * Cost: 2 TAUS singular value decompositions of (l, k) a neuron at worst. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/problem/start.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* 3 times the start's error; the last is for 0.5 rad, and leaves 7% of normal samples */
static const double TAU[] = {0, .01, .03, .1, .3, .6, 1, 1.5};
enum { TAUS = sizeof TAU / sizeof *TAU, ROWS = 20 }; /* ROWS: samples, for each d + k */
/* Singular value of the next vector, against the largest, above which there is one null vector at
 * most; whether there is one the residual tells. */
static const double NEXT_VALUE = 1e-6;
/* |f(z x) - h|, of |h|: a row that solves its systems is met to 1e-13, and one that does not to no
 * less than the misplaced samples are off. */
static const double RESIDUAL = 1e-9;
static const double KINK = 1e-4; /* h^(1/degree) below this is too near 0 to be inverted */

typedef struct {
    const ur_start *start;
    size_t l, p, r; /* samples, columns of x, rank of Y */
    size_t rank_x;
    double *x;      /* (l, p): columns over unit, ones last where c is fitted */
    double *unit;   /* p: root mean squares */
    double *length; /* l: |x_i| over its root mean square */
    double *Y;      /* (l, r) */
    double *V, *c;
    int *exact;
} systems;

typedef struct {
    double *t, *h;         /* l */
    double *rows, *U;      /* (max(l, r), max(p, r)), (max(l, r), r) */
    double *right, *s, *w; /* max(l, r); r; r */
    double *Vt;            /* r x r */
    double *z;             /* p */
    char *zero;            /* l */
} scratch;

/* ---- the two systems of one neuron ---- */

/* h = Y w for the null vector w of the rows of Y marked zero; *unique = 0 where there is more than
 * one */
static unrelu_status null_vector(const systems *y, scratch *o, int *unique, unrelu_error *err)
{
    size_t r = y->r, count = 0;
    *unique = 0;
    for (size_t i = 0; i < y->l; i++)
        if (o->zero[i])
            memcpy(o->rows + r * count++, y->Y + i * r, r * sizeof *o->rows);
    if (count + 1 < r)
        return UNRELU_OK;
    for (; count < r; count++) /* a thin decomposition needs r rows to show the null vector */
        memset(o->rows + r * count, 0, r * sizeof *o->rows);
    UR_TRY(ur_svd(count, r, o->rows, o->U, o->s, o->Vt, err));
    /* Y has orthonormal columns: 1 is the scale where there is but one of them */
    double first = r > 1 ? o->s[0] : 1, next = r > 1 ? o->s[r - 2] : 1;
    *unique = next > NEXT_VALUE * first;
    memcpy(o->w, o->Vt + (r - 1) * r, r * sizeof *o->w);
    ur_multiply(y->l, r, 1, y->Y, o->w, o->h);
    double sum = 0;
    for (size_t i = 0; i < y->l; i++)
        sum += o->h[i];
    if (sum < 0)
        ur_scale(y->l, -1, o->h);
    return UNRELU_OK;
}

/* z of z x = f^-1(h) where h > 0, each equation weighted by f'(f^-1(h)): the errors of h are
 * equal, those of f^-1(h) are not */
static unrelu_status row_of(const systems *y, scratch *o, int *solved, unrelu_error *err)
{
    size_t p = y->p, count = 0, rank = 0;
    double top = 0, degree = ur_activation_degree(y->start->f);
    *solved = 0;
    for (size_t i = 0; i < y->l; i++)
        top = fmax(top, o->h[i]);
    double least = top * pow(KINK, degree), negative = RESIDUAL * top * sqrt((double)y->l);
    for (size_t i = 0; i < y->l; i++) {
        if (o->h[i] < -negative) /* no neuron: its residual alone is too large */
            return UNRELU_OK;
        if (o->h[i] <= least)
            continue;
        double t = ur_activation_inverse(y->start->f, o->h[i]);
        double weight = degree == 1 ? 1 : o->h[i] / t;
        for (size_t j = 0; j < p; j++)
            o->rows[count * p + j] = weight * y->x[i * p + j];
        o->right[count++] = weight * t;
    }
    if (count <= y->rank_x)
        return UNRELU_OK;
    UR_TRY(ur_least_squares(count, p, 1, o->rows, o->right, UR_ROUNDING, o->z, &rank, err));
    double *miss = o->right; /* f(z x) - h over all samples */
    ur_multiply(y->l, p, 1, y->x, o->z, o->t);
    ur_activation_apply(y->start->f, y->l, o->t, miss, NULL);
    ur_add(y->l, -1, o->h, miss);
    *solved = rank == y->rank_x && ur_norm(y->l, miss) / ur_norm(y->l, o->h) <= RESIDUAL;
    return UNRELU_OK;
}

static unrelu_status neuron(void *context, size_t j, unrelu_error *err)
{
    UR_ARENA(arena);
    const systems *y = context;
    size_t d = y->start->sample.d, l = y->l, r = y->r, tall = l > r ? l : r;
    double *t = ur_take(&arena, l, sizeof *t);
    scratch o = {.t = ur_take(&arena, l, sizeof *o.t),
                 .h = ur_take(&arena, l, sizeof *o.h),
                 .rows = ur_take(&arena, tall, (y->p > r ? y->p : r) * sizeof *o.rows),
                 .U = ur_take(&arena, tall, r * sizeof *o.U),
                 .right = ur_take(&arena, tall, sizeof *o.right),
                 .s = ur_take(&arena, r, sizeof *o.s),
                 .w = ur_take(&arena, r, sizeof *o.w),
                 .Vt = ur_take(&arena, r, r * sizeof *o.Vt),
                 .z = ur_take(&arena, y->p, sizeof *o.z),
                 .zero = ur_take(&arena, l, 1)};
    int solved = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < y->p; i++)
        o.z[i] = y->unit[i] * (i < d ? y->V[j * d + i] : y->c[j]);
    ur_multiply(l, y->p, 1, y->x, o.z, t);
    double rms = ur_norm(l, t) / sqrt((double)l);
    for (int i = 0; i < 2 * TAUS && !solved; i++) {
        for (size_t row = 0; row < l; row++)
            o.zero[row] = (i % 2 ? -1 : 1) * t[row] < -TAU[i / 2] * rms * y->length[row];
        solved = 1;
        for (int again = 0; again < 2 && solved; again++) { /* with the zeros of the row found */
            for (size_t row = 0; row < l && again; row++)
                o.zero[row] = o.t[row] <= 0;
            UR_TRY(null_vector(y, &o, &solved, err));
            if (solved)
                UR_TRY(row_of(y, &o, &solved, err));
        }
    }
    if (!solved)
        return UNRELU_OK;
    for (size_t i = 0; i < y->p; i++) /* V_j = z / |z| in the data's own units, c_j with it */
        o.z[i] /= y->unit[i];
    double norm = ur_norm(d, o.z);
    y->exact[j] = norm > 0 && isfinite(norm);
    for (size_t i = 0; i < d && y->exact[j]; i++)
        y->V[j * d + i] = o.z[i] / norm;
    if (y->start->hidden && y->exact[j])
        y->c[j] = o.z[d] / norm;
    return UNRELU_OK;
}

/* ---- what all neurons share ---- */

/* out (l, width): the columns of rows over their root mean squares, then ones where asked */
static void scale_columns(const double *rows, size_t l, size_t width, int ones, double *unit,
                          double *out)
{
    size_t p = width + (ones != 0);
    for (size_t j = 0; j < width; j++) {
        double norm = ur_norm_steps(l, rows + j, width) / sqrt((double)l);
        unit[j] = norm > 0 ? norm : 1;
        for (size_t i = 0; i < l; i++)
            out[i * p + j] = rows[i * width + j] / unit[j];
    }
    for (size_t i = 0; i < l && ones; i++)
        out[i * p + width] = unit[width] = 1;
}

unrelu_status ur_exactify_systems(const ur_start *start, double *V, double *c, int *exact,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_sample *s = &start->sample;
    size_t k = start->k, d = s->d, most = ROWS * (d + k);
    memset(exact, 0, k * sizeof *exact);
    if (!ur_activation_rectifies(start->f) || ur_activation_degree(start->f) == 0)
        return UNRELU_OK;
    size_t l = s->n < most ? s->n : most, p = d + (start->hidden != 0);
    size_t m = s->m + (start->constant != 0), least = l < (m > p ? m : p) ? l : m > p ? m : p;
    systems y = {.start = start,
                 .l = l,
                 .p = p,
                 .x = ur_take(&arena, l, p * sizeof *y.x),
                 .unit = ur_take(&arena, p, sizeof *y.unit),
                 .length = ur_take(&arena, l, sizeof *y.length),
                 .Y = ur_take(&arena, l, least * sizeof *y.Y),
                 .V = V,
                 .c = c,
                 .exact = exact};
    double *a = ur_take(&arena, l, m * sizeof *a), *unit = ur_take(&arena, m, sizeof *unit);
    double *Q = ur_take(&arena, l, least * sizeof *Q);
    double *V_start = ur_take(&arena, k, d * sizeof *V), *c_start = ur_take(&arena, k, sizeof *c);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(V_start, V, k * d * sizeof *V);
    if (start->hidden)
        memcpy(c_start, c, k * sizeof *c);
    scale_columns(s->a, l, s->m, start->constant, unit, a);
    UR_TRY(ur_qr_pivoted(l, m, a, UR_TOLERANCE_DOUBLE, &y.r, y.Y, NULL, NULL, err));
    scale_columns(s->x, l, d, start->hidden, y.unit, y.x);
    for (size_t i = 0; i < l; i++)
        y.length[i] = ur_norm(p, y.x + i * p) / sqrt((double)p);
    UR_TRY(ur_qr_pivoted(l, p, y.x, UR_ROUNDING, &y.rank_x, Q, NULL, NULL, err));
    if (y.r > 0)
        UR_TRY(ur_each(start->exec, "systems", k, neuron, &y, err));
    for (size_t j = 1; j < k; j++) /* of two rows that found one neuron the later keeps its start */
        for (size_t i = 0; i < j && exact[j]; i++) {
            double far = start->hidden ? fabs(c[i] - c[j]) : 0;
            for (size_t q = 0; q < d; q++)
                far = fmax(far, fabs(V[i * d + q] - V[j * d + q]));
            if (!exact[i] || far > UR_SAME_ROW)
                continue;
            exact[j] = 0;
            memcpy(V + j * d, V_start + j * d, d * sizeof *V);
            if (start->hidden)
                c[j] = c_start[j];
        }
    return UNRELU_OK;
}
