/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 4, steps 1 to 4, as it is printed (--method tensor --literal): S_p the Hermite score of
 * order p = 3, or 4 in its place; labels scaled such that the largest row has length 1 (Remark 5),
 * and a standard normal G added to them; the tensor E[a' (x) S_p(x)] collapsed by one random theta
 *   T = sum_j lambda_j v_j^(x)p,   lambda_j = c_p <U_j, theta>,   c_p = E f^(p)(g),
 * and taken apart by the tensor power method after whitening (Janzamin, Sedghi and Anandkumar,
 * which Theorem 5 rests on): M = sum_j c_2 <U_j, theta> v_j v_j' is collapsed by the same theta,
 * W M W' = +-I_k, and T(W', ..., W') has orthogonal components, found one after another.
 * What the paper does not say: the whitening needs weights <U_j, theta> of one sign, so theta is
 * drawn until the k leading eigenvalues of M have one; that is one draw in 2^(k - 1). Inputs are
 * whitened by their mean and covariance (Remark 3).
 * For relu c_3 = 0: order 3 is refused. The added G is larger than the labels. Largest sine of an
 * angle for orthonormal V, d = 3, k = 2, one label, U = (1, 1.2): tanh .15 at n = 5e4, .07 at 2e5;
 * relu of order 4 .19 at 2e5. With several labels theta may be nearly orthogonal to a column of U:
 * largest errors of V of .03 to 1.2 at n = 2e5 to 1e6, for (d, k, m) = (3, 2, 3) and (4, 2, 3). */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DRAWS = 2000,   /* of theta: for k = 8 one in 128 will do */
    STARTS = 20,    /* of the power method for each neuron */
    STEPS = 200,    /* of a start: it converges quadratically, or cubically */
    ROWS = 256,     /* of a step of a mean */
    MOST = 1 << 22, /* numbers of T */
};
/* 1 - |<v, next v>| at which the power method stands still: the rounding of 64 products */
static const double STILL = 64 * DBL_EPSILON;

typedef struct {
    const ur_start *start;
    const ur_white *white;
    int order;
    size_t k, size; /* k^order */
    double *a;      /* (n, m): A' */
    double *theta;  /* m */
    double *E;      /* (k, d): leading eigenvectors of M, a row each */
    double *root;   /* k: square roots of their |eigenvalues| */
    double *W;      /* (k, d) */
    double *G;      /* (k, k): W W' */
    double *T;      /* size */
    int draw;       /* that theta is */
} literal;

/* A' = A / max_i |A_i| + G */
static void add_normals(literal *q)
{
    const ur_sample *s = &q->start->sample;
    double largest = 0;
    for (size_t i = 0; i < s->n; i++)
        largest = fmax(largest, ur_norm(s->m, s->a + i * s->m));
    ur_random_normals(q->start->seed, UR_STREAM_TENSOR, 0, s->n * s->m, q->a);
    for (size_t i = 0; i < s->n * s->m; i++)
        q->a[i] += largest > 0 ? s->a[i] / largest : 0;
}

/* ---- theta and W ---- */

/* the k eigenvalues of M that are largest in size; 1 where they have one sign */
static int lead(literal *q, const double *values, const double *vectors)
{
    size_t d = q->white->d, low = 0, high = d, k = q->k;
    double sign = 0;
    for (size_t j = 0; j < k; j++) {
        size_t at = fabs(values[low]) > fabs(values[high - 1]) ? low++ : --high;
        double way = values[at] > 0 ? 1 : -1;
        if (values[at] == 0 || (j > 0 && way != sign))
            return 0;
        sign = way;
        q->root[j] = sqrt(fabs(values[at]));
        for (size_t i = 0; i < d; i++) {
            q->E[j * d + i] = vectors[i * d + at];
            q->W[j * d + i] = q->E[j * d + i] / q->root[j];
        }
    }
    return 1;
}

static unrelu_status draw_theta(literal *q, unrelu_error *err)
{
    const ur_white *white = q->white;
    size_t n = white->n, d = white->d, m = q->start->sample.m, packed = ur_packed(d);
    UR_ARENA(arena);
    double *T = ur_take(&arena, m, packed * sizeof *T), *mean = ur_take(&arena, m, sizeof *mean);
    double *M = ur_take(&arena, d, d * sizeof *M), *flat = ur_take(&arena, packed, sizeof *flat);
    double *values = ur_take(&arena, d, sizeof *values);
    double *vectors = ur_take(&arena, d, d * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_score_tensor(white, m, q->a, 0, T, err));
    for (size_t i = 0; i < n * m; i++)
        mean[i % m] += q->a[i] / (double)n;
    for (size_t s = 0; s < m; s++) /* S_2 = xx' - I */
        for (size_t a = 0, i = 0; a < d; i += d - a, a++)
            T[s * packed + i] -= mean[s];
    for (q->draw = 1; q->draw <= DRAWS; q->draw++) {
        uint64_t drawn = (uint64_t)n * m + (uint64_t)q->draw * m;
        ur_random_normals(q->start->seed, UR_STREAM_TENSOR, drawn, m, q->theta);
        ur_multiply(1, m, packed, q->theta, T, flat);
        ur_score_unpack(d, flat, M);
        UR_TRY(ur_eigen_symmetric(d, M, values, vectors, err));
        if (lead(q, values, vectors)) {
            ur_gram(q->k, d, q->W, q->G);
            return UNRELU_OK;
        }
    }
    return ur_fail(err, UNRELU_EDATA,
                   "`literal`: of %d random vectors theta none gives the %zu leading eigenvalues "
                   "of the collapsed second moment one sign, which the whitening of the tensor "
                   "power method needs (about one in %.0f does); leave out `literal`",
                   DRAWS, q->k, pow(2, (double)q->k - 1));
}

/* ---- T(W', ..., W') ---- */

/* sums of y u_a u_b ..., y u_a u_b, y u_a, y for u = W x, y = theta a' */
static void add_products(const void *context, size_t first, size_t rows, double *scratch,
                         double *sum)
{
    const literal *q = context;
    size_t k = q->k, d = q->white->d, m = q->start->sample.m, size = q->size;
    double *u = scratch, *lower = sum + size;
    for (size_t i = first; i < first + rows; i++) {
        double y = ur_short_dot(m, q->theta, q->a + i * m);
        for (size_t a = 0; a < k; a++)
            u[a] = ur_short_dot(d, q->W + a * d, q->white->x + i * d);
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++) {
                double two = y * u[a] * u[b];
                lower[a * k + b] += two;
                for (size_t c = 0; c < k; c++) {
                    double *to = sum + ((a * k + b) * k + c) * (q->order == 4 ? k : 1);
                    if (q->order == 3)
                        *to += two * u[c];
                    for (size_t e = 0; e < k && q->order == 4; e++)
                        to[e] += two * u[c] * u[e];
                }
            }
        for (size_t a = 0; a < k; a++)
            lower[k * k + a] += y * u[a];
        lower[k * k + k] += y;
    }
}

/* from products to the score, whose Hermite polynomials have W W' for I */
static void make_score(const literal *q, const double *lower, double *T)
{
    size_t k = q->k;
    const double *G = q->G, *two = lower, *one = lower + k * k, none = one[k];
    for (size_t i = 0; i < q->size; i++) {
        size_t a = i % k, b = i / k % k, c = i / (k * k) % k, e = i / (k * k * k);
        if (q->order == 3)
            T[i] -= one[a] * G[b * k + c] + one[b] * G[a * k + c] + one[c] * G[a * k + b];
        else
            T[i] += none * (G[a * k + b] * G[c * k + e] + G[a * k + c] * G[b * k + e] +
                            G[a * k + e] * G[b * k + c]) -
                    two[a * k + b] * G[c * k + e] - two[a * k + c] * G[b * k + e] -
                    two[a * k + e] * G[b * k + c] - two[b * k + c] * G[a * k + e] -
                    two[b * k + e] * G[a * k + c] - two[c * k + e] * G[a * k + b];
    }
}

static unrelu_status collapse(literal *q, unrelu_error *err)
{
    size_t k = q->k, len = q->size + k * k + k + 1;
    UR_ARENA(arena);
    double *sum = ur_take(&arena, len, sizeof *sum);
    UR_TRY(ur_arena_status(&arena, err));
    const ur_blocks blocks = {.n = q->white->n,
                              .len = len,
                              .step = ROWS,
                              .scratch = k,
                              .add = add_products,
                              .context = q};
    UR_TRY(ur_mean_of_rows(blocks, len, q->white->exec, sum, err));
    memcpy(q->T, sum, q->size * sizeof *sum);
    make_score(q, sum + q->size, q->T);
    return UNRELU_OK;
}

/* ---- the power method ---- */

/* out (k) = T(I, v, ..., v); work: k^(order - 1) */
static void contract(const literal *q, const double *v, double *work, double *out)
{
    size_t k = q->k, rest = q->size / k;
    const double *from = q->T;
    for (; rest >= k; rest /= k) { /* over the last place */
        for (size_t i = 0; i < rest; i++)
            work[i] = ur_short_dot(k, from + i * k, v);
        from = work;
    }
    memcpy(out, work, k * sizeof *out);
}

static void subtract(literal *q, double weight, const double *v)
{
    size_t k = q->k;
    for (size_t i = 0; i < q->size; i++) {
        double product = weight;
        size_t at = i;
        for (int place = 0; place < q->order; place++, at /= k)
            product *= v[at % k];
        q->T[i] -= product;
    }
}

/* rows of Z (k x k), the largest weights first, and their weights */
static unrelu_status decompose(literal *q, double *Z, double *weights, unrelu_error *err)
{
    size_t k = q->k;
    UR_ARENA(arena);
    double *work = ur_take(&arena, q->size / k, sizeof *work), *v = ur_take(&arena, k, sizeof *v);
    double *next = ur_take(&arena, k, sizeof *next);
    UR_TRY(ur_arena_status(&arena, err));
    uint64_t drawn = (uint64_t)1 << 48;
    for (size_t j = 0; j < k; j++) {
        ur_progress(q->start->exec, "power method", (double)j / (double)k);
        for (int start = 0; start < STARTS; start++, drawn += k) {
            double weight = 0, still = 0;
            ur_random_normals(q->start->seed, UR_STREAM_TENSOR, drawn, k, v);
            ur_unit_rows(1, k, v);
            for (int step = 0; step < STEPS && 1 - still > STILL; step++) {
                contract(q, v, work, next);
                weight = ur_short_dot(k, v, next);
                ur_unit_rows(1, k, next);
                still = fabs(ur_short_dot(k, v, next));
                memcpy(v, next, k * sizeof *v);
            }
            contract(q, v, work, next);
            weight = ur_short_dot(k, v, next);
            if (start > 0 && fabs(weight) <= fabs(weights[j]))
                continue;
            weights[j] = weight;
            memcpy(Z + j * k, v, k * sizeof *v);
        }
        subtract(q, weights[j], Z + j * k);
        if (ur_cancelled(q->start->exec))
            return ur_fail_cancelled(err);
    }
    return UNRELU_OK;
}

/* an order without signal: lambda_j = 0 for every neuron, and T is noise */
static unrelu_status check_signal(unrelu_activation f, int order, unrelu_error *err)
{
    double c = ur_activation_hermite(f, 1, 0, order);
    char name[48];
    if (fabs(c) >= UR_NO_SIGNAL) /* or infinite */
        return ur_tensor_signal(f, order, err);
    unrelu_activation_name(f, name, sizeof name);
    return ur_fail(err, UNRELU_EDATA,
                   "`literal`: Algorithm 4 of order %d has no signal for %s: its Hermite "
                   "coefficient, E f%s = %.1g by quadrature, is 0, and so is every lambda_j; use "
                   "`order` %d, or leave out `literal`",
                   order, name, order == 3 ? "'''" : "''''", c, order == 3 ? 4 : 3);
}

/* k^order, or 0 where that is too many */
static size_t numbers_of(size_t k, int order)
{
    size_t size = 1;
    for (int i = 0; i < order && size > 0; i++)
        size = size > MOST / k ? 0 : size * k;
    return size;
}

unrelu_status ur_start_algorithm_4(const ur_start *start, int order, double *V, ur_start_note *note,
                                   unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_sample *s = &start->sample;
    size_t n = s->n, d = s->d, m = s->m, k = start->k;
    ur_white white = {0};
    literal q = {
        .start = start, .white = &white, .order = order, .k = k, .size = numbers_of(k, order)};
    UR_TRY(check_signal(start->f, order, err));
    UR_TRY(ur_score_check(start, err));
    if (q.size == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "`literal`: the tensor of k = %zu neurons and order %d has more than %d "
                       "numbers; leave out `literal`",
                       k, order, (int)MOST);
    UR_TRY(ur_white_new(s, start->exec, &arena, &white, err));
    q.a = ur_take(&arena, n, m * sizeof *q.a);
    q.theta = ur_take(&arena, m, sizeof *q.theta);
    q.E = ur_take(&arena, k, d * sizeof *q.E);
    q.W = ur_take(&arena, k, d * sizeof *q.W);
    q.root = ur_take(&arena, k, sizeof *q.root);
    q.G = ur_take(&arena, k, k * sizeof *q.G);
    q.T = ur_take(&arena, q.size, sizeof *q.T);
    double *Z = ur_take(&arena, k, k * sizeof *Z), *weights = ur_take(&arena, k, sizeof *weights);
    UR_TRY(ur_arena_status(&arena, err));
    add_normals(&q);
    UR_TRY(draw_theta(&q, err));
    UR_TRY(collapse(&q, err));
    UR_TRY(decompose(&q, Z, weights, err));
    for (size_t i = 0; i < k * k; i++) /* v = E |L|^(1/2) z */
        Z[i] *= q.root[i % k];
    ur_multiply(k, k, d, Z, q.E, V);
    ur_white_back(&white, k, V);
    snprintf(note->guarantee, sizeof note->guarantee,
             "Theorem 5 and Corollary 4 (Algorithm 4%s): V up to signs and order, approximately, "
             "for Gaussian inputs and U, V of full rank k; Algorithm 5 (`exactify` systems) then "
             "makes it exact",
             order == 3 ? " as it is printed" : " with the score of order 4 for that of order 3");
    snprintf(note->assumption, sizeof note->assumption,
             "theta is draw %d, of one sign with all columns of U; weights of the power method "
             "%.3g to %.3g",
             q.draw, weights[0], weights[k - 1]);
    return UNRELU_OK;
}
