/* SPDX-License-Identifier: Apache-2.0 */
/* Section 4.3 of the two-layer paper: the pure-neuron detector of Ge, Kuditipudi, Li and Wang,
 * in a form of the same expectation and smaller variance. For x symmetric about 0, whitened, and
 * y = k leading directions of the labels,
 *     B = E[y x'], s = B x (the odd part of y), e = y - s (the even part, U |V x| / 2),
 *     T = E[(vech(ee') - vech(ss')) vech(xx')'],
 * and u'(ee' - ss')u = (u.y)(u.y - 2 u'Bx) vanishes where u.y is one neuron: the k least left
 * singular vectors of T span {z_i z_i'}, z_i . y = neuron i, which span.c takes apart. Noise of
 * constant covariance adds multiples of one known row to those of T: projected out, always. Each
 * sample is first scaled by 1 / sqrt(0.3 + |x|^2 / d): still the same network and a symmetric law,
 * but a bounded one (Student's t with 3 degrees of freedom: angle 0.02 in place of 0.5 at n =
 * 5000). The angle of z falls as n^-1/2; then each row of V is a regression of z.y on x over its
 * half-space. Cost: n k^2 d^2 / 4 multiply-adds, one matrix T (k (k + 1) / 2 x d (d + 1) / 2).
 * Refuses inputs that the test of symmetry rejects at 1e-3, biases, k > d, rank of labels < k. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/rank_ones.h"
#include "network/exact/lift.h"
#include "paper/two_layer/symmetry_test.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 3000 }; /* order of an eigenproblem: two matrices of 72 MB */
/* Chance of rejecting symmetric inputs: small, as symmetry is what the user asked for. */
static const double LEVEL = 1e-3;

static unrelu_status check(const ur_start *start, ur_symmetry *test, unrelu_error *err)
{
    if (start->f.kind != UNRELU_RELU)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric is for the relu alone: it uses relu(t) - relu(-t) = t; "
                       "use `method` moments");
    if (start->hidden || start->constant)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric has no biases: with them the labels' even part is no "
                       "longer |V x|; use `bias` none, or `method` lifted or facets");
    if (start->k > start->sample.d)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric needs V of full row rank: %zu neurons, %zu inputs",
                       start->k, start->sample.d);
    if (ur_lift_pairs(start->k) > MOST)
        return ur_fail(err, UNRELU_EDATA,
                       "`method` symmetric with %zu neurons is an eigenproblem of order %zu, more "
                       "than %d: use `method` exact or facets",
                       start->k, ur_lift_pairs(start->k), MOST);
    UR_TRY(ur_symmetry_test(&start->sample, start->seed, start->exec, test, err));
    if (test->p < LEVEL)
        return ur_fail(err, UNRELU_EDATA,
                       "the inputs are not symmetric about 0 (p = %.2g, chi2 = %.4g with %zu "
                       "degrees of freedom): `method` symmetric does not apply; use `method` "
                       "facets or lifted",
                       test->p, test->statistic, test->degrees);
    return UNRELU_OK;
}

typedef struct {
    double *B;       /* k x r */
    double *s;       /* UR_LIFT_BLOCK x k */
    double *left;    /* UR_LIFT_BLOCK x pairs of k */
    double *right;   /* UR_LIFT_BLOCK x pairs of r */
    double *scratch; /* pairs of k */
    double *noise;   /* pairs of r: E[factor^2 vech(xx')] */
} blocks;

static void fill(const ur_lift *l, size_t first, size_t rows, blocks *b)
{
    size_t k = l->k, r = l->r, pk = ur_lift_pairs(k), pr = ur_lift_pairs(r);
    ur_multiply_nt(rows, r, k, l->x + first * r, b->B, b->s);
    for (size_t i = 0; i < rows; i++) {
        double *s = b->s + i * k, *out = b->left + i * pk;
        ur_lift_products(k, s, b->scratch);
        for (size_t j = 0; j < k; j++)
            s[j] = l->y[(first + i) * k + j] - s[j];
        ur_lift_products(k, s, out);
        ur_add(pk, -1, b->scratch, out);
        ur_lift_products(r, l->x + (first + i) * r, b->right + i * pr);
        ur_add(pr, l->factor[first + i] * l->factor[first + i], b->right + i * pr, b->noise);
    }
}

/* T <- T (I - cc' / |c|^2) */
static void project_noise(size_t pk, size_t pr, const double *c, double *T)
{
    double cc = ur_dot(pr, c, c);
    for (size_t i = 0; i < pk && cc > 0; i++)
        ur_add(pr, -ur_dot(pr, T + i * pr, c) / cc, c, T + i * pr);
}

static unrelu_status moment(const ur_lift *l, const unrelu_exec *exec, double *T, unrelu_error *err)
{
    size_t k = l->k, r = l->r, pk = ur_lift_pairs(k), pr = ur_lift_pairs(r);
    UR_ARENA(arena);
    blocks b = {.B = ur_take(&arena, k, r * sizeof *b.B),
                .s = ur_take(&arena, UR_LIFT_BLOCK, k * sizeof *b.s),
                .left = ur_take(&arena, UR_LIFT_BLOCK, pk * sizeof *b.left),
                .right = ur_take(&arena, UR_LIFT_BLOCK, pr * sizeof *b.right),
                .scratch = ur_take(&arena, pk, sizeof *b.scratch),
                .noise = ur_take(&arena, pr, sizeof *b.noise)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < l->n; first += UR_LIFT_BLOCK) {
        size_t rows = l->n - first < UR_LIFT_BLOCK ? l->n - first : UR_LIFT_BLOCK;
        UR_TRY(ur_lift_add(exec, rows, k, l->y + first * k, r, l->x + first * r, 0, b.B, err));
    }
    ur_scale(k * r, 1 / (double)l->n, b.B);
    for (size_t first = 0; first < l->n; first += UR_LIFT_BLOCK) {
        size_t rows = l->n - first < UR_LIFT_BLOCK ? l->n - first : UR_LIFT_BLOCK;
        ur_progress(exec, "fourth moments", (double)first / (double)l->n);
        fill(l, first, rows, &b);
        UR_TRY(ur_lift_add(exec, rows, pk, b.left, pr, b.right, 0, T, err));
    }
    for (size_t i = 0; i < pk; i++)
        ur_scale(pr, 1 / (double)l->n, T + i * pr);
    project_noise(pk, pr, b.noise, T);
    return UNRELU_OK;
}

/* span (k x k^2): the k least left singular vectors; the singular values around the gap */
static unrelu_status least(size_t k, size_t pr, const double *T, double *span, double around[3],
                           unrelu_error *err)
{
    UR_ARENA(arena);
    size_t pk = ur_lift_pairs(k);
    double *TT = ur_take(&arena, pk, pk * sizeof *TT);
    double *vectors = ur_take(&arena, pk, pk * sizeof *vectors);
    double *values = ur_take(&arena, pk, sizeof *values), *one = ur_take(&arena, pk, sizeof *one);
    UR_TRY(ur_arena_status(&arena, err));
    ur_gram(pk, pr, T, TT);
    UR_TRY(ur_eigen_symmetric(pk, TT, values, vectors, err));
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < pk; j++)
            one[j] = vectors[j * pk + i];
        ur_lift_matrix(k, one, span + i * k * k);
    }
    size_t at[3] = {k - 1, k < pk ? k : pk - 1, pk - 1};
    for (int i = 0; i < 3; i++)
        around[i] = sqrt(fmax(0, values[at[i]]));
    return UNRELU_OK;
}

/* signs of z by a positive mean of z.y; w = E[(z.y) x] */
static void orient(const ur_lift *l, double *Z, double *w)
{
    for (size_t j = 0; j < l->k; j++) {
        double *z = Z + j * l->k, *row = w + j * l->r, mean = 0;
        for (size_t i = 0; i < l->n; i++) {
            double h = ur_dot(l->k, z, l->y + i * l->k);
            ur_add(l->r, h, l->x + i * l->r, row);
            mean += h;
        }
        if (mean < 0) {
            ur_scale(l->k, -1, z);
            ur_scale(l->r, -1, row);
        }
    }
}

static void describe(const ur_symmetry *test, size_t k, const double around[3], double far,
                     ur_start_note *note)
{
    snprintf(note->guarantee, sizeof note->guarantee,
             "Corollary 5 with Theorem 8 (Ge, Kuditipudi, Li, Wang) of the two-layer paper: exact "
             "in polynomial time for inputs symmetric about 0 mixed with a normal law, U and V of "
             "rank k, a distinguishing matrix of full rank, no biases");
    int used = snprintf(note->assumption, sizeof note->assumption,
                        "symmetry about 0 not rejected (chi2 = %.4g, %zu degrees of freedom, p = "
                        "%.2g); ",
                        test->statistic, test->degrees, test->p);
    if (k > 1)
        snprintf(note->assumption + used, sizeof note->assumption - (size_t)used,
                 "distinguishing matrix: singular values %.2g (last of the null space), %.2g "
                 "(next) of the largest; worst distance of zz' from it %.2g",
                 around[0] / around[2], around[1] / around[2], far);
    else
        snprintf(note->assumption + used, sizeof note->assumption - (size_t)used,
                 "one neuron: no distinguishing matrix");
}

unrelu_status ur_start_symmetric(const ur_start *start, double *V, ur_start_note *note,
                                 unrelu_error *err)
{
    ur_lift_options options = {.method = "symmetric", .scaled = 1};
    ur_symmetry test;
    UR_ARENA(arena);
    ur_lift l;
    size_t k = start->k;
    double around[3], far;
    UR_TRY(check(start, &test, err));
    UR_TRY(ur_lift_new(start, &options, &arena, &l, err));
    size_t pk = ur_lift_pairs(k), pr = ur_lift_pairs(l.r);
    double *T = ur_take(&arena, pk, pr * sizeof *T);
    double *span = ur_take(&arena, k, k * k * sizeof *span);
    double *Z = ur_take(&arena, k, k * sizeof *Z), *w = ur_take(&arena, k, l.r * sizeof *w);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(moment(&l, start->exec, T, err));
    UR_TRY(least(k, pr, T, span, around, err));
    UR_TRY(ur_span_split(k, span, start->seed, UR_STREAM_SPAN, Z, &far, err));
    if (!isfinite(far))
        return ur_fail(err, UNRELU_EDATA,
                       "the %zu least singular vectors of the fourth moments hold no pure "
                       "neurons: too few samples (%zu) or not a relu network",
                       k, l.n);
    orient(&l, Z, w);
    UR_TRY(ur_lift_regress(&l, start->exec, Z, 0, w, err));
    UR_TRY(ur_lift_rows(&l, start->sample.d, w, V, NULL, err));
    describe(&test, k, around, far, note);
    return UNRELU_OK;
}
