/* SPDX-License-Identifier: Apache-2.0 */
/* Lifted complementarity. Where z.y is one neuron relu(w.x), (z.y)(z.y - w.x) = 0 on every sample
 * and for every law of x: linear in z (z; -w)', so a null vector of the features
 *     F = [vech(yy'); y (x) x].
 * The null space has dimension k where nothing else holds on the samples (checked, not proven);
 * the parts that belong to vech(yy') span {z_i z_i'}, which rank_ones.c takes apart, and the rest
 * of the vector of zz' is z (-w)'. With a hidden bias x holds a 1. With an output bias y is centred
 * and neuron i is z.y + t, t unknown:
 *     (z.y + t)(z.y + t - w.x) = <zz', yy'> - (z.y)(g.x) - t (g + t one).x,  g = w - 2t one,
 * with one.x = 1: F gets x as well, the leading part stays zz'.
 * Rows of F are weighted by 1 / (0.3 + |x|^2 / d), which keeps the gap where tails are heavy.
 * D = k (k + 1) / 2 + k d features (d one larger with a bias, k one larger in k d with an output
 * bias); n about 1.2 (D - k) is enough. The Gram matrix squares the condition: rows to about
 * 1e-8. Cost n D^2 / 2 + 9 D^3. With noise the answer is biased, but a start.
 * Refuses: nullity above k; no gap after the k-th eigenvalue; D above 3000; not the relu. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/rank_ones.h"
#include "network/exact/lift.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 3000 }; /* features: 72 MB, and 9 D^3 = 2.4e11 operations */
/* k-th over next eigenvalue that still makes a start */
static const double GAP = 0.5;
/* samples for each feature beyond k with which the null space has dimension k */
static const double SAMPLES_A_FEATURE = 1.2;

typedef struct {
    ur_lift l;
    int constant;
    size_t D, pairs;
    double *rms;    /* D: root mean squares of the features */
    double *values; /* D: eigenvalues of the Gram matrix of unit features, increasing */
    double *null;   /* k x D: coefficients of the features */
    size_t nullity;
} lifted;

static size_t features(size_t k, size_t r, int constant)
{
    return ur_lift_pairs(k) + (k + (size_t)(constant != 0)) * r;
}

static unrelu_status check(const ur_start *start, unrelu_error *err)
{
    size_t d = start->sample.d + (size_t)(start->hidden || start->constant);
    size_t D = start->k < 2 * MOST && d < MOST ? features(start->k, d, start->constant) : SIZE_MAX;
    if (start->f.kind != UNRELU_RELU)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` lifted is for the relu alone: it uses f(t) (f(t) - t) = 0; use "
                       "`method` exact or moments");
    if (D > MOST)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` lifted needs the eigenvectors of a matrix of order k (k + 1) / 2 "
                       "+ k d, here above %d (k = %zu, d = %zu): use `method` exact or facets",
                       MOST, start->k, start->sample.d);
    return UNRELU_OK;
}

/* from the Gram matrix of features of unit root mean square; sets rms, values, null, nullity */
static unrelu_status null_space(lifted *t, const unrelu_exec *exec, unrelu_error *err)
{
    size_t D = t->D, n = t->l.n, k = t->l.k, r = t->l.r;
    UR_ARENA(arena);
    double *G = ur_take(&arena, D, D * sizeof *G);
    double *vectors = ur_take(&arena, D, D * sizeof *vectors);
    double *F = ur_take(&arena, UR_LIFT_BLOCK, D * sizeof *F);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < n; first += UR_LIFT_BLOCK) {
        size_t rows = n - first < UR_LIFT_BLOCK ? n - first : UR_LIFT_BLOCK;
        ur_progress(exec, "lifted features", (double)first / (double)n);
        for (size_t i = first; i < first + rows; i++) {
            const double *y = t->l.y + i * k, *x = t->l.x + i * r;
            double *f = F + (i - first) * D, *out = f + t->pairs;
            ur_lift_products(k, y, f);
            for (size_t j = 0; j < k; j++)
                for (size_t l = 0; l < r; l++)
                    *out++ = y[j] * x[l];
            if (t->constant)
                memcpy(out, x, r * sizeof *x);
            ur_scale(D, t->l.factor[i] * t->l.factor[i], f);
        }
        UR_TRY(ur_lift_add(exec, rows, D, F, D, F, 1, G, err));
    }
    for (size_t i = 0; i < D; i++)
        t->rms[i] = G[i * D + i] > 0 ? sqrt(G[i * D + i] / (double)n) : 1;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++)
            G[j * D + i] = G[i * D + j] = G[i * D + j] / (double)n / (t->rms[i] * t->rms[j]);
    UR_TRY(ur_eigen_symmetric(D, G, t->values, vectors, err));
    while (t->nullity < D && t->values[t->nullity] < UR_ROUNDING * t->values[D - 1])
        t->nullity++;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < D; j++)
            t->null[i * D + j] = vectors[j * D + i] / t->rms[j];
    return UNRELU_OK;
}

static unrelu_status check_nullity(const lifted *t, unrelu_error *err)
{
    size_t k = t->l.k, needed = (size_t)ceil(SAMPLES_A_FEATURE * (double)(t->D - k));
    double top = t->values[t->D - 1];
    if (t->nullity > k)
        return ur_fail(err, UNRELU_EDATA,
                       "not identifiable by lifting: nullity %zu > k = %zu: too few samples (%zu, "
                       "needs about %zu), a neuron that never switches, or antiparallel rows; use "
                       "`method` exact or facets",
                       t->nullity, k, t->l.n, needed);
    if (t->nullity < k && !(t->values[k - 1] < GAP * t->values[k]))
        return ur_fail(err, UNRELU_EDATA,
                       "no gap after eigenvalue k = %zu of the lifted features (%.3g and %.3g of "
                       "the largest): the labels are noisy or not those of %zu relu neurons; use "
                       "`method` moments",
                       k, t->values[k - 1] / top, t->values[k] / top, k);
    return UNRELU_OK;
}

/* t from  rest = -t g - t^2 one  (least squares over the two directions) */
static double offset(size_t r, const double *rest, const double *g, const double *one)
{
    double gg = ur_dot(r, g, g), go = ur_dot(r, g, one);
    double oo = ur_dot(r, one, one), rg = ur_dot(r, rest, g);
    double ro = ur_dot(r, rest, one), det = gg * oo - go * go;
    return det > 0 ? -(rg * oo - ro * go) / det : 0;
}

/* Z (k x k) from the leading parts of the null vectors, then w (k x r) and the sign of each z from
 * the null vector whose leading part is zz' */
static unrelu_status read_neurons(const lifted *t, uint64_t seed, double *Z, double *w, double *far,
                                  unrelu_error *err)
{
    size_t k = t->l.k, r = t->l.r, pairs = t->pairs, D = t->D;
    UR_ARENA(arena);
    double *span = ur_take(&arena, k, k * k * sizeof *span);
    double *top = ur_take(&arena, pairs, k * sizeof *top);
    double *target = ur_take(&arena, pairs, k * sizeof *target);
    double *mix = ur_take(&arena, k, k * sizeof *mix);
    double *vectors = ur_take(&arena, k, D * sizeof *vectors);
    double *one = ur_take(&arena, pairs, sizeof *one);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < k; i++)
        ur_lift_matrix(k, t->null + i * D, span + i * k * k);
    UR_TRY(ur_span_split(k, span, seed, UR_STREAM_SPAN, Z, far, err));
    if (!isfinite(*far))
        return ur_fail(err, UNRELU_EDATA,
                       "the null space of the lifted features holds no pure neurons: the labels "
                       "are noisy or not those of %zu relu neurons; use `method` moments",
                       k);
    for (size_t j = 0; j < k; j++) {
        ur_lift_products(k, Z + j * k, one);
        for (size_t i = 0; i < pairs; i++) {
            top[i * k + j] = t->null[j * D + i];
            target[i * k + j] = one[i];
        }
    }
    UR_TRY(ur_least_squares(pairs, k, k, top, target, UR_ROUNDING, mix, NULL, err));
    ur_multiply_tn(k, k, D, mix, t->null, vectors);
    for (size_t j = 0; j < k; j++) {
        const double *M = vectors + j * D + pairs;
        double *z = Z + j * k, *v = w + j * r, level = 0, mean = 0;
        ur_multiply(1, k, r, z, M, v);
        ur_scale(r, -1, v);
        if (t->constant) {
            level = offset(r, M + k * r, v, t->l.one);
            ur_add(r, 2 * level, t->l.one, v);
        }
        for (size_t i = 0; i < t->l.n; i++)
            mean += ur_dot(k, z, t->l.y + i * k) + level;
        if (mean < 0) {
            ur_scale(k, -1, z);
            ur_scale(r, -1, v);
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_start_lifted(const ur_start *start, double *V, double *c, ur_start_note *note,
                              unrelu_error *err)
{
    size_t k = start->k;
    ur_lift_options options = {
        .method = "lifted", .ones = start->hidden || start->constant, .centred = start->constant};
    lifted t = {.constant = start->constant != 0, .pairs = ur_lift_pairs(k)};
    UR_TRY(check(start, err));
    UR_ARENA(arena);
    UR_TRY(ur_lift_new(start, &options, &arena, &t.l, err));
    t.D = features(k, t.l.r, t.constant);
    t.rms = ur_take(&arena, t.D, sizeof *t.rms);
    t.values = ur_take(&arena, t.D, sizeof *t.values);
    t.null = ur_take(&arena, k, t.D * sizeof *t.null);
    double *Z = ur_take(&arena, k, k * sizeof *Z), *w = ur_take(&arena, k, t.l.r * sizeof *w), far;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(null_space(&t, start->exec, err));
    UR_TRY(check_nullity(&t, err));
    UR_TRY(read_neurons(&t, start->seed, Z, w, &far, err));
    UR_TRY(ur_lift_regress(&t.l, start->exec, Z, t.constant, w, err));
    UR_TRY(ur_lift_rows(&t.l, start->sample.d, w, V, c, err));
    for (size_t j = 0; j < k && !start->hidden; j++)
        c[j] = 0;
    double top = t.values[t.D - 1];
    snprintf(note->guarantee, sizeof note->guarantee,
             "none in the paper: (z.a)(z.a - w.x) = 0 on every sample, any input law; nullity = k "
             "was %s",
             t.nullity == k ? "checked" : "not met (labels with noise): an approximate start");
    snprintf(note->assumption, sizeof note->assumption,
             "nullity %zu of %zu lifted features for k = %zu, %zu samples; eigenvalue k %.2g, next "
             "%.2g of the largest; worst distance of zz' from the null space %.2g",
             t.nullity, t.D, k, t.l.n, fmax(0, t.values[k - 1] / top),
             k < t.D ? t.values[k] / top : 1, far);
    return UNRELU_OK;
}
