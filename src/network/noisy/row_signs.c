/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of rows that are known up to sign, and hidden biases. Three ways to the signs:
 * REGRESSION. With f(-z) = f(z) - s z (relu: s = 1, leaky: s = 1 + slope) a row of the wrong sign
 *   only adds a linear term: regress A on [1, x, f(Vx)], M = -s sum_{wrong j} u_j v_j', and
 *     [(U'U) . (VV')] b = -diag(U'MV')   (. elementwise)
 *   gives b_j = s where j is wrong, 0 where it is right. Other f: PROJECTION. n (k + d)^2
 *   operations. (10, 5, 8), n = 1000, noise 1, rows .3 off: all of 100 signs right by each of the
 *   three ways; with kappa(V) = 20 97, 97 and 96 of them.
 * PROJECTION, Algorithm 6: the residual of A on the 2k features f(v_j x), f(-v_j x) without
 *   f(-v_i x), against that without f(v_i x). Leaving feature l out of a regression adds
 *   |beta_l|^2 / (Gram^-1)_ll to its sum of squares, so that one solve serves all k. relu and
 *   leaky need k <= d, else the features are dependent.
 * MOMENT. In a regression on [1, v_j x, (v_j x)^2 - 1], x white, the coefficients of neuron j are
 *   c_1 U_j and c_2 U_j / 2: c_1 changes sign with v_j, c_2 does not.
 * Biases (Gaussian x, relu): those coefficients are Phi(c_j) U_j and phi(c_j) U_j / 2; their ratio
 *   is +- Phi(c_j) / phi(c_j), increasing in c_j. Beyond |c_j| = 2.5 phi(c_j) < .018: too little of
 *   a kink to be measured; such c_j are held within +-4 and counted as weak. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "law/normal.h"
#include "network/noisy/score.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of a feature's variance, added to it so that dependent features have coefficients too, which are
 * shared among them: the rounding of a mean of 4096^2 products. */
static const double RIDGE = 4096 * DBL_EPSILON;
static const double WEAK_BIAS = 2.5, LARGEST_BIAS = 4;
static const double WRONG = 0.5; /* b_j / s is 0 or 1, but for errors */
/* Samples that Algorithm 6 looks at: signs need no more. */
enum { ROWS_A_NEURON = 40, ROWS_LEAST = 2000 };
/* Newton's steps of a bias, and its accuracy relative to 1 + |c|: rounding */
enum { BIAS_STEPS = 60 };
static const double BIAS_STILL = 4 * DBL_EPSILON;

/* rows of V in white coordinates, and how features are made of them */
typedef struct {
    const ur_start *start;
    ur_white white;
    double *W, *shift; /* k x d, k: v_j x = W_j white + shift_j */
} frame;

static unrelu_status frame_new(const ur_start *start, const double *V, ur_arena *arena, frame *c,
                               unrelu_error *err)
{
    size_t k = start->k, d = start->sample.d;
    *c = (frame){.start = start};
    UR_TRY(ur_white_new(&start->sample, start->exec, arena, &c->white, err));
    c->W = ur_take(arena, k, d * sizeof *c->W);
    c->shift = ur_take(arena, k, sizeof *c->shift);
    UR_TRY(ur_arena_status(arena, err));
    ur_white_rows(&c->white, k, V, c->W, c->shift);
    return UNRELU_OK;
}

/* z (rows x k) = v_j x */
static void project(const frame *c, const double *x, size_t rows, double *z)
{
    size_t k = c->start->k, d = c->white.d;
    for (size_t i = 0; i < rows; i++)
        memcpy(z + i * k, c->shift, k * sizeof *z);
    ur_gemm(UR_PLAIN, UR_TURNED, rows, k, d, 1, x, d, c->W, d, 1, z, k);
}

/* of the labels on p features */
static ur_regression regression_on(const frame *c, size_t p, size_t extra,
                                   void (*features)(const void *context, const double *x,
                                                    size_t rows, double *F, double *extra))
{
    return (ur_regression){.white = &c->white,
                           .p = p,
                           .q = c->start->sample.m,
                           .extra = extra,
                           .features = features,
                           .context = c,
                           .b = c->start->sample.a};
}

static void flip(size_t d, double *v)
{
    for (size_t i = 0; i < d; i++)
        v[i] = -v[i];
}

/* ---- REGRESSION ---- */

static void linear_features(const void *context, const double *x, size_t rows, double *F, double *z)
{
    const frame *c = context;
    size_t k = c->start->k, d = c->white.d, p = 1 + d + k;
    project(c, x, rows, z);
    ur_activation_apply(c->start->f, rows * k, z, z, NULL);
    for (size_t i = 0; i < rows; i++) {
        F[i * p] = 1;
        memcpy(F + i * p + 1, x + i * d, d * sizeof *F);
        memcpy(F + i * p + 1 + d, z + i * k, k * sizeof *F);
    }
}

static unrelu_status by_regression(const frame *c, double odd, double *V, unrelu_error *err)
{
    size_t k = c->start->k, d = c->white.d, n = c->white.n, m = c->start->sample.m, p = 1 + d + k;
    const ur_regression r = regression_on(c, p, k, linear_features);
    int positive;
    if (n <= p)
        return ur_fail(err, UNRELU_EDATA,
                       "signs by regression need more than 1 + d + k = %zu samples, found %zu", p,
                       n);
    UR_ARENA(arena);
    double *beta = ur_take(&arena, p, m * sizeof *beta), *b = ur_take(&arena, k, sizeof *b);
    double *H = ur_take(&arena, k, k * sizeof *H), *VV = ur_take(&arena, k, k * sizeof *VV);
    double *UM = ur_take(&arena, k, d * sizeof *UM);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_regress(&r, RIDGE, beta, &positive, err));
    const double *M = beta + m, *U = beta + (1 + d) * m; /* M' (d x m), U' (k x m), white */
    ur_gram(k, m, U, H);
    ur_gram(k, d, c->W, VV);
    for (size_t i = 0; i < k * k; i++)
        H[i] *= VV[i];
    ur_multiply_nt(k, m, d, U, M, UM);
    for (size_t j = 0; j < k; j++)
        b[j] = -ur_dot(d, UM + j * d, c->W + j * d);
    UR_TRY(ur_regression_solve(k, 1, H, b, RIDGE, &positive, err));
    for (size_t j = 0; j < k; j++)
        if (b[j] / odd > WRONG)
            flip(d, V + j * d);
    return UNRELU_OK;
}

/* ---- PROJECTION ---- */

static void both_features(const void *context, const double *x, size_t rows, double *F, double *z)
{
    const frame *c = context;
    size_t k = c->start->k, p = 2 * k + (c->start->constant != 0);
    double *opposite = z + rows * k;
    project(c, x, rows, z);
    for (size_t i = 0; i < rows * k; i++)
        opposite[i] = -z[i];
    ur_activation_apply(c->start->f, 2 * rows * k, z, z, NULL);
    for (size_t i = 0; i < rows; i++) {
        F[i * p + p - 1] = 1;
        memcpy(F + i * p, z + i * k, k * sizeof *F);
        memcpy(F + i * p + k, opposite + i * k, k * sizeof *F);
    }
}

/* what the sum of squares gains without feature l; S holds beta (m columns), then Gram^-1 */
static double loss(const double *S, size_t m, size_t p, size_t l)
{
    const double *row = S + l * (m + p);
    double size = 0;
    for (size_t j = 0; j < m; j++)
        size += row[j] * row[j];
    return row[m + l] > 0 ? size / row[m + l] : 0;
}

static unrelu_status by_projection(const frame *c, double *V, unrelu_error *err)
{
    size_t k = c->start->k, d = c->white.d, n = c->white.n, m = c->start->sample.m,
           p = 2 * k + (c->start->constant != 0);
    size_t want = ROWS_A_NEURON * k > ROWS_LEAST ? ROWS_A_NEURON * k : ROWS_LEAST;
    size_t rows = n < want ? n : want;
    const ur_regression r = regression_on(c, p, 2 * k, both_features);
    int positive;
    unrelu_activation_kind kind = c->start->f.kind;
    if (k > d && (kind == UNRELU_RELU || kind == UNRELU_LEAKY))
        return ur_fail(err, UNRELU_EDATA,
                       "Algorithm 6 needs k <= d, found k = %zu and d = %zu: f(v x) - f(-v x) is "
                       "linear in x; use `signs` regression",
                       k, d);
    if (rows <= p)
        return ur_fail(err, UNRELU_EDATA,
                       "Algorithm 6 needs more samples than its %zu features, found %zu", p, rows);
    UR_ARENA(arena);
    double *gram = ur_take(&arena, p, p * sizeof *gram);
    double *cross = ur_take(&arena, p, m * sizeof *cross);
    double *S = ur_take(&arena, p, (m + p) * sizeof *S);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_regression_means(&r, rows, gram, cross, err));
    for (size_t i = 0; i < p; i++) {
        memcpy(S + i * (m + p), cross + i * m, m * sizeof *S);
        S[i * (m + p) + m + i] = 1;
    }
    UR_TRY(ur_regression_solve(p, m + p, gram, S, RIDGE, &positive, err));
    for (size_t j = 0; j < k; j++)
        if (loss(S, m, p, j) < loss(S, m, p, k + j))
            flip(d, V + j * d);
    return UNRELU_OK;
}

/* ---- MOMENT and biases ---- */

typedef struct {
    double *beta;         /* (1 + 2k) x m */
    const double *G, *Ut; /* k x m: coefficients of v_j x, and of ((v_j x)^2 - 1) / sqrt 2 */
    double *scale;        /* k: |L'v_j| */
    double *ratio;        /* k: <G_j, Ut_j> / |Ut_j|^2 */
} hermite;

/* W holds unit rows and shift is 0: z = unit white combinations */
static void hermite_features(const void *context, const double *x, size_t rows, double *F,
                             double *z)
{
    const frame *c = context;
    size_t k = c->start->k, p = 1 + 2 * k;
    project(c, x, rows, z);
    for (size_t i = 0; i < rows; i++) {
        F[i * p] = 1;
        for (size_t j = 0; j < k; j++) {
            double t = z[i * k + j];
            F[i * p + 1 + j] = t;
            F[i * p + 1 + k + j] = (t * t - 1) * M_SQRT1_2;
        }
    }
}

static unrelu_status hermite_fit(frame *c, ur_arena *arena, hermite *h, unrelu_error *err)
{
    size_t d = c->white.d, k = c->start->k, m = c->start->sample.m, n = c->white.n, p = 1 + 2 * k;
    const ur_regression r = regression_on(c, p, k, hermite_features);
    int positive = 0;
    h->beta = ur_take(arena, p, m * sizeof *h->beta);
    h->scale = ur_take(arena, k, sizeof *h->scale);
    h->ratio = ur_take(arena, k, sizeof *h->ratio);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < k; j++) {
        h->scale[j] = ur_norm(d, c->W + j * d);
        if (!(h->scale[j] > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "row %zu that was found for V is 0: the moments of the labels show "
                           "fewer than %zu neurons",
                           j + 1, k);
        ur_scale(d, 1 / h->scale[j], c->W + j * d);
    }
    memset(c->shift, 0, k * sizeof *c->shift);
    UR_TRY(ur_regress(&r, 0, h->beta, &positive, err));
    if (!positive)
        return ur_fail(err, UNRELU_EDATA,
                       "v_j x and (v_j x)^2 of the %zu rows found for V are linearly dependent "
                       "over %zu samples",
                       k, n);
    h->G = h->beta + m;
    h->Ut = h->G + k * m;
    for (size_t j = 0; j < k; j++) {
        const double *g = h->G + j * m, *u = h->Ut + j * m;
        double size = ur_dot(m, u, u);
        h->ratio[j] = size > 0 ? ur_dot(m, g, u) / (M_SQRT2 * size) : 0;
    }
    return UNRELU_OK;
}

static unrelu_status by_moment(frame *c, double *V, unrelu_error *err)
{
    size_t d = c->white.d;
    UR_ARENA(arena);
    hermite h;
    UR_TRY(ur_score_check(c->start, err));
    UR_TRY(hermite_fit(c, &arena, &h, err));
    double sign = ur_activation_hermite(c->start->f, 1, 0, 1) *
                  ur_activation_hermite(c->start->f, 1, 0, 2); /* below 0: leaky, slope < -1 */
    for (size_t j = 0; j < c->start->k; j++)
        if (h.ratio[j] * (sign < 0 ? -1 : 1) < 0)
            flip(d, V + j * d);
    return UNRELU_OK;
}

/* c with Phi(c) / phi(c) = ratio: ln of the hazard h(g), g = -c, is concave and increasing with
 * slope h(g) - g, so that Newton's steps are monotone after the first */
static double bias_of(double ratio)
{
    double g = 0;
    if (!(ratio > 0))
        return -LARGEST_BIAS;
    for (int step = 0; step < BIAS_STEPS; step++) {
        double hazard = ur_normal_hazard(g), move = -log(hazard * ratio) / (hazard - g);
        double next = fmin(fmax(g + move, -LARGEST_BIAS), LARGEST_BIAS);
        if (fabs(next - g) <= BIAS_STILL * (1 + fabs(g)))
            break;
        g = next;
    }
    return -g;
}

unrelu_status ur_start_biases(const ur_start *start, double *V, double *c, size_t *weak,
                              unrelu_error *err)
{
    size_t d = start->sample.d;
    UR_ARENA(arena);
    frame frame;
    hermite h;
    *weak = 0;
    if (start->f.kind != UNRELU_RELU) {
        char name[48];
        unrelu_activation_name(start->f, name, sizeof name);
        return ur_fail(err, UNRELU_EDATA, "hidden biases from moments need relu, not %s", name);
    }
    UR_TRY(ur_score_check(start, err));
    UR_TRY(frame_new(start, V, &arena, &frame, err));
    UR_TRY(hermite_fit(&frame, &arena, &h, err));
    for (size_t j = 0; j < start->k; j++) {
        double inner = bias_of(fabs(h.ratio[j])); /* v x + c = scale (unit white + inner) */
        *weak += fabs(inner) > WEAK_BIAS;
        if (h.ratio[j] < 0)
            flip(d, V + j * d);
        c[j] = h.scale[j] * inner - ur_dot(d, V + j * d, frame.white.mean);
    }
    return UNRELU_OK;
}

unrelu_status ur_start_signs(const ur_start *start, unrelu_signs method, double *V,
                             unrelu_error *err)
{
    unrelu_activation f = start->f;
    double odd = f.kind == UNRELU_RELU ? 1 : f.kind == UNRELU_LEAKY ? 1 + f.parameter : 0;
    UR_ARENA(arena);
    frame frame;
    if (f.kind == UNRELU_LEAKY && odd == 0)
        return UNRELU_OK; /* |z|: rows have no sign */
    UR_TRY(frame_new(start, V, &arena, &frame, err));
    if (method == UNRELU_SIGNS_MOMENT)
        return by_moment(&frame, V, err);
    if (method == UNRELU_SIGNS_PROJECTION || odd == 0)
        return by_projection(&frame, V, err);
    return by_regression(&frame, odd, V, err);
}
