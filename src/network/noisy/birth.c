/* SPDX-License-Identifier: Apache-2.0 */
/* Where one neuron is missing, a residual has second moments in its direction: E r_s x x' has the
 * term u_s E f''(v x) v v' (score.h), and with w = R'f(x v) in place of one label the two improve
 * each other. Where the rest is odd, or of many neurons at once, random directions see it. What a
 * row takes of the residual R is |R'g|^2 / |g|^2, g = f(x v) less what the features F span of it.
 */
#include "network/noisy/birth.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/model/network.h"
#include "pass/blocks.h"

#include <math.h>
#include <string.h>

/* Pace: more directions and rounds find better rows; Gauss-Newton behind it decides */
enum { RANDOM = 48, LABELS = 4, ENDS = 2, TURNS = 2, CHANGES = 24, ROUNDS = 3 };
/* all of one round: random ones, and the leading eigenvectors of either sign of each moment */
enum { DIRECTIONS = RANDOM + 2 * ENDS * LABELS };
static const double SIZES[ROUNDS] = {.3, .15, .07}; /* Pace: of the changes, of unit length */
/* Pace: of |g|^2, what is left of a row that the features span says nothing. Gauss-Newton and BIC
 * judge the row that is born. */
static const double SPANNED = 1e-6;
/* Pace: of the mean square of the features, what keeps their equations positive where one is 0.
 * BIC judges the fits that gains and costs lead to. */
static const double RIDGE = 1e-12;
/* fixed, so that the bits do not depend on the threads */
enum { BLOCK = 256, CHUNKS = 32 };

typedef struct {
    const ur_newton *problem;
    size_t k, q;
    double length; /* of a row: 1 where f is homogeneous, else the mean of those there are */
    double *F, *R; /* (n, q), (n, m) */
    double *L;     /* q x q: L L' = F'F and a ridge */
    double *T;     /* (2 DIRECTIONS, p): rows, then their opposites */
    double *W;     /* (LABELS, m): combinations of the labels */
    double *taken; /* 2 DIRECTIONS */
    double *sum;   /* of a pass */
} nursery;

static unrelu_status sum_rows(const nursery *o, ur_blocks pass, const void *context,
                              unrelu_error *err)
{
    pass.n = o->problem->n;
    pass.step = BLOCK;
    pass.chunks = CHUNKS;
    pass.scratch *= BLOCK;
    pass.context = context;
    return ur_blocks_sum(&pass, o->problem->exec, "gauss-newton", o->sum, err);
}

static void add_features(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum)
{
    const nursery *o = context;
    (void)scratch;
    ur_syrk(UR_LOWER, UR_TURNED, o->q, rows, 1, o->F + first * o->q, o->q, 1, sum, o->q);
}

static void set_features(const nursery *o, const ur_newton_fit *fit)
{
    const ur_newton *problem = o->problem;
    size_t k = o->k, q = o->q;
    ur_gemm(UR_PLAIN, UR_TURNED, problem->n, k, problem->p, 1, problem->x, problem->p, fit->V,
            problem->p, 0, o->F, q);
    ur_activation_apply(problem->f, problem->n * q, o->F, o->F, NULL);
    for (size_t i = 0; i < problem->n && q > k; i++)
        o->F[i * q + k] = 1;
}

static double mean_length(const ur_newton *problem, const ur_newton_fit *fit)
{
    double sum = 0;
    if (ur_activation_degree(problem->f) > 0)
        return 1;
    for (size_t j = 0; j < fit->k; j++)
        sum += ur_norm(problem->p, fit->V + j * problem->p) / (double)fit->k;
    return sum > 0 ? sum : 1;
}

static unrelu_status nursery_open(nursery *o, const ur_newton *problem, const ur_newton_fit *fit,
                                  ur_arena *arena, unrelu_error *err)
{
    size_t n = problem->n, m = problem->m, p = problem->p, k = fit->k;
    size_t q = k + (problem->constant != 0), wide = 2 * DIRECTIONS * (q + m + 1);
    size_t moments = LABELS * p * p > q * q ? LABELS * p * p : q * q;
    *o = (nursery){.problem = problem, .k = k, .q = q, .length = mean_length(problem, fit)};
    o->F = ur_take(arena, n, q * sizeof *o->F);
    o->R = ur_take(arena, n, m * sizeof *o->R);
    o->L = ur_take(arena, q, q * sizeof *o->L);
    o->T = ur_take(arena, 2 * DIRECTIONS, p * sizeof *o->T);
    o->W = ur_take(arena, LABELS, m * sizeof *o->W);
    o->taken = ur_take(arena, 2 * DIRECTIONS, sizeof *o->taken);
    o->sum = ur_take(arena, moments > wide ? moments : wide, sizeof *o->sum);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_newton_rest(problem, fit, o->R, err));
    set_features(o, fit);
    UR_TRY(sum_rows(o, (ur_blocks){.add = add_features, .len = q * q, .scratch = 1}, o, err));
    memcpy(o->L, o->sum, q * q * sizeof *o->L);
    double mean = 0;
    for (size_t j = 0; j < q; j++)
        mean += o->L[j * (q + 1)] / (double)q;
    for (size_t j = 0; j < q; j++)
        o->L[j * (q + 1)] += RIDGE * mean;
    if (!(mean > 0) || !ur_cholesky_in_place(q, o->L)) /* features that say nothing: none */
        for (size_t i = 0; i < q * q; i++)
            o->L[i] = i % (q + 1) == 0 ? INFINITY : 0;
    return UNRELU_OK;
}

/* ---- what rows take ---- */

typedef struct {
    const nursery *o;
    size_t count; /* of the rows T, and as many opposites */
} cohort;

/* sum: F'G (q x 2 count), R'G (m x 2 count), squares of the columns of G */
static void add_cohort(const void *context, size_t first, size_t rows, double *G, double *sum)
{
    const cohort *c = context;
    const nursery *o = c->o;
    const ur_newton *problem = o->problem;
    size_t wide = 2 * c->count, p = problem->p, m = problem->m, q = o->q;
    double *squares = sum + (q + m) * wide;
    ur_gemm(UR_PLAIN, UR_TURNED, rows, wide, p, 1, problem->x + first * p, p, o->T, p, 0, G, wide);
    ur_activation_apply(problem->f, rows * wide, G, G, NULL);
    ur_gemm(UR_TURNED, UR_PLAIN, q, wide, rows, 1, o->F + first * q, q, G, wide, 1, sum, wide);
    ur_gemm(UR_TURNED, UR_PLAIN, m, wide, rows, 1, o->R + first * m, m, G, wide, 1, sum + q * wide,
            wide);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < wide; j++)
            squares[j] += G[i * wide + j] * G[i * wide + j];
}

/* taken of the first `count` rows of T, which get their length, and their opposites; *best of them:
 * R'g of it in W's first row */
static unrelu_status judge(nursery *o, size_t count, size_t *best, unrelu_error *err)
{
    size_t p = o->problem->p, m = o->problem->m, q = o->q, wide = 2 * count;
    ur_unit_rows(count, p, o->T);
    ur_scale(count * p, o->length, o->T);
    for (size_t i = 0; i < count * p; i++)
        o->T[count * p + i] = -o->T[i];
    const ur_blocks pass = {.add = add_cohort, .len = (q + m + 1) * wide, .scratch = wide};
    UR_TRY(sum_rows(o, pass, &(cohort){o, count}, err));
    double *C = o->sum, *A = C + q * wide, *squares = A + m * wide;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, wide, o->L, q, C, wide);
    *best = 0;
    for (size_t j = 0; j < wide; j++) {
        double spanned = ur_dot_steps(q, C + j, wide, C + j, wide);
        double takes = ur_dot_steps(m, A + j, wide, A + j, wide);
        double left = fmax(squares[j] - spanned, SPANNED * squares[j]);
        o->taken[j] = left > 0 ? takes / left : 0;
        if (o->taken[j] > o->taken[*best])
            *best = j;
    }
    for (size_t r = 0; r < m; r++)
        o->W[r] = A[r * wide + *best];
    return UNRELU_OK;
}

/* ---- second moments of the residual ---- */

typedef struct {
    const nursery *o;
    size_t labels;
} moments;

/* sum: x'diag(R w_s) x, p x p for each s, lower triangles */
static void add_moments(const void *context, size_t first, size_t rows, double *scratch,
                        double *sum)
{
    const moments *t = context;
    const nursery *o = t->o;
    size_t p = o->problem->p, m = o->problem->m;
    const double *x = o->problem->x + first * p;
    double *y = scratch, *X = scratch + rows;
    for (size_t s = 0; s < t->labels; s++) {
        ur_gemv(UR_PLAIN, rows, m, 1, o->R + first * m, m, o->W + s * m, 0, y);
        for (size_t i = 0; i < rows; i++)
            for (size_t a = 0; a < p; a++)
                X[i * p + a] = y[i] * x[i * p + a];
        ur_gemm(UR_TURNED, UR_PLAIN, p, p, rows, 1, X, p, x, p, 1, sum + s * p * p, p);
    }
}

/* the eigenvectors of the largest values of either sign, ENDS of each, of the moments of so many
 * combinations W, into T from row `from` on */
static unrelu_status lead(nursery *o, size_t labels, size_t from, size_t *count, unrelu_error *err)
{
    size_t p = o->problem->p, ends = ENDS < p ? ENDS : p;
    UR_ARENA(arena);
    double *values = ur_take(&arena, p, sizeof *values);
    double *vectors = ur_take(&arena, p, p * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    const ur_blocks pass = {.add = add_moments, .len = labels * p * p, .scratch = p + 1};
    UR_TRY(sum_rows(o, pass, &(moments){o, labels}, err));
    *count = from;
    for (size_t s = 0; s < labels; s++) {
        UR_TRY(ur_eigen_symmetric(p, o->sum + s * p * p, values, vectors, err));
        for (size_t e = 0; e < 2 * ends; e++, ++*count)
            for (size_t i = 0; i < p; i++)
                o->T[*count * p + i] = vectors[i * p + (e < ends ? e : p - 1 - (e - ends))];
    }
    return UNRELU_OK;
}

static void keep(const nursery *o, size_t best, double *v, double *gain)
{
    if (o->taken[best] > *gain) {
        *gain = o->taken[best];
        memcpy(v, o->T + best * o->problem->p, o->problem->p * sizeof *v);
    }
}

unrelu_status ur_birth(const ur_newton *problem, const ur_newton_fit *fit, uint64_t seed,
                       uint64_t number, double *v, double *gain, unrelu_error *err)
{
    size_t p = problem->p, m = problem->m, count, best, labels = LABELS < m ? LABELS : m;
    uint64_t draws = (number + 1) << 32;
    UR_ARENA(arena);
    nursery o;
    UR_TRY(nursery_open(&o, problem, fit, &arena, err));
    ur_random_normals(seed, UR_STREAM_BIRTHS, draws, labels * m, o.W);
    draws += labels * m;
    ur_random_normals(seed, UR_STREAM_BIRTHS, draws, RANDOM * p, o.T);
    draws += RANDOM * p;
    UR_TRY(lead(&o, labels, RANDOM, &count, err));
    UR_TRY(judge(&o, count, &best, err));
    *gain = -1;
    keep(&o, best, v, gain);
    for (int turn = 0; turn < TURNS && m > 1; turn++) {
        UR_TRY(lead(&o, 1, 0, &count, err));
        UR_TRY(judge(&o, count, &best, err));
        keep(&o, best, v, gain);
    }
    for (size_t round = 0; round < ROUNDS; round++, draws += CHANGES * p) {
        ur_random_normals(seed, UR_STREAM_BIRTHS, draws, CHANGES * p, o.T);
        ur_scale(CHANGES * p, SIZES[round] / sqrt((double)p), o.T);
        for (size_t i = 0; i < CHANGES; i++)
            ur_add(p, 1 / o.length, v, o.T + i * p);
        UR_TRY(judge(&o, CHANGES, &best, err));
        keep(&o, best, v, gain);
    }
    return UNRELU_OK;
}

unrelu_status ur_neuron_costs(const ur_newton *problem, const ur_newton_fit *fit, double *costs,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    nursery o;
    UR_TRY(nursery_open(&o, problem, fit, &arena, err));
    size_t q = o.q, m = problem->m;
    double *unit = ur_take(&arena, q, sizeof *unit);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0; j < fit->k; j++) { /* |u_j|^2 / ((F'F)^-1)_jj */
        memset(unit, 0, q * sizeof *unit);
        unit[j] = 1;
        ur_trsv(UR_LOWER, UR_PLAIN, q, o.L, q, unit);
        double inverse = ur_dot(q, unit, unit);
        costs[j] = 0;
        for (size_t r = 0; r < m; r++)
            costs[j] += fit->U[r * fit->k + j] * fit->U[r * fit->k + j];
        costs[j] = inverse > 0 ? costs[j] / inverse : 0;
    }
    return UNRELU_OK;
}
