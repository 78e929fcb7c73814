/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 3, steps 1 to 3: for orthonormal rows of V and standard normal x the hidden units
 * f(v_j x) are independent, so T a with a Gaussian sketch T (k x m) is a square ICA problem.
 * The theorem allows any ICA; here it is the symmetric fixed point of the skewness (1.641 for a
 * rectified normal, where the kurtosis is noisier): with y = P (a - mean) white,
 *   s = W y,  W <- polar(E[s^2 s']) W,  from a random orthonormal W,
 * whose fixed points have E[s_j^3] > 0. Then v_j = the slope of the regression of s_j on [1, x],
 * E[f(v x) x] = E[f'] v, scaled to length 1.
 * Error: rms 0.65 to 1 times sqrt(d / n) a row, measured for (d, k) = (10, 5), (20, 10), (30, 30)
 * and n = 200 to 20000; (30, 30) at n = 200 mostly does not converge, and then it is 1.6 times.
 * Noise in the labels and, worse, rows of V that are not orthonormal bias it: what can be checked
 * is in the note. Refuses k > d, m < k, n <= k, and labels whose sketch has fewer than k singular
 * values above 3e-7 of the largest. Where no start converges the best is kept, and the note says
 * so. Cost: n k (m + k) a step, some 10 steps; a block of rows is all the memory it takes. */
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/problem/start.h"
#include "pass/blocks.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    STEPS = 200, /* of a start; some 10 are taken */
    STARTS = 5,
    CHUNKS = 64, /* of rows, at most */
    BLOCK = 512
};
/* the largest entry of polar(E[s^2 s']) - I at which W stands still: rounding of a mean */
static const double STILL = 1e-10;
/* of the largest singular value of the inputs' correlations: they have half of the digits */
static const double RANK_X = 1e-12;
static const double SKEWNESS_RELU = 1.641;
static const double SOURCE = 2.33; /* sqrt(E s^4) of a rectified normal */

typedef struct {
    double *x, *a, *s, *t; /* (rows, d), (rows, m) centred; (rows, k) */
    size_t rows;
} block;

typedef struct ica {
    const ur_sample *sample;
    unrelu_exec exec;
    size_t k;
    double unit_a, *unit_x;  /* largest sizes of a and of the columns of x: nothing overflows */
    double *mean_a, *mean_x; /* in these units */
    double *M;               /* k x m: s = M (a - mean) */
    double *P, *W;           /* k x m, k x k: M = W P */
    double *sum;             /* of a sweep: k x k, or d x d and d x k */
    void (*add)(const struct ica *p, const block *b, double *sum);
    size_t len;
} ica;

/* ---- sums over the samples ---- */

static void centre(const double *rows, size_t count, size_t width, const double *unit, double all,
                   const double *mean, double *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++)
            out[i * width + j] = rows[i * width + j] / (unit ? unit[j] : all) - mean[j];
}

/* C (m x p) += A' B over `rows` rows */
static void accumulate(size_t rows, size_t m, size_t p, const double *A, const double *B, double *C)
{
    ur_gemm(UR_TURNED, UR_PLAIN, m, p, rows, 1, A, m, B, p, 1, C, p);
}

static void add_covariance(const ica *p, const block *b, double *sum)
{
    accumulate(b->rows, p->k, p->k, b->s, b->s, sum);
}

static void add_contrast(const ica *p, const block *b, double *sum)
{
    for (size_t i = 0; i < b->rows * p->k; i++)
        b->t[i] = b->s[i] * b->s[i];
    accumulate(b->rows, p->k, p->k, b->t, b->s, sum);
}

static void add_regression(const ica *p, const block *b, double *sum)
{
    size_t d = p->sample->d;
    accumulate(b->rows, d, d, b->x, b->x, sum);
    accumulate(b->rows, d, p->k, b->x, b->s, sum + d * d);
}

/* the mean's part of one chunk */
static void add_chunk(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    const ica *p = context;
    const ur_sample *sample = p->sample;
    for (size_t end = first + rows; first < end; first += BLOCK) {
        block b = {.a = scratch, .rows = end - first < BLOCK ? end - first : BLOCK};
        b.s = b.a + BLOCK * sample->m;
        b.t = b.s + BLOCK * p->k;
        b.x = b.t + BLOCK * p->k;
        centre(sample->a + first * sample->m, b.rows, sample->m, NULL, p->unit_a, p->mean_a, b.a);
        if (p->add == add_regression)
            centre(sample->x + first * sample->d, b.rows, sample->d, p->unit_x, 1, p->mean_x, b.x);
        ur_multiply_nt(b.rows, sample->m, p->k, b.a, p->M, b.s);
        p->add(p, &b, sum);
    }
    for (size_t j = 0; j < p->len; j++)
        sum[j] /= (double)sample->n;
}

/* p->sum (len) = mean over the samples */
static unrelu_status sweep_mean(ica *p, void (*add)(const ica *p, const block *b, double *sum),
                                size_t len, unrelu_error *err)
{
    size_t n = p->sample->n, d = p->sample->d, widest = d > p->k ? d : p->k;
    size_t chunk = (n + CHUNKS - 1) / CHUNKS;
    chunk = chunk > BLOCK ? chunk : BLOCK;
    chunk = chunk > 4 * widest ? chunk : 4 * widest; /* sums stay smaller than the data */
    p->add = add;
    p->len = len;
    const ur_blocks blocks = {.n = n,
                              .step = chunk,
                              .chunk = chunk,
                              .len = len,
                              .scratch = BLOCK * (p->sample->m + 2 * p->k + d),
                              .add = add_chunk,
                              .context = p};
    return ur_blocks_sum(&blocks, &p->exec, "ica", p->sum, err);
}

static double largest(const double *column, size_t count, size_t step)
{
    double top = 0;
    for (size_t i = 0; i < count; i++)
        top = fmax(top, fabs(column[i * step]));
    return top > 0 ? top : 1;
}

static void means(const double *rows, size_t n, size_t width, const double *unit, double all,
                  double *mean)
{
    memset(mean, 0, width * sizeof *mean);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            mean[j] += rows[i * width + j] / (unit ? unit[j] : all);
    for (size_t j = 0; j < width; j++)
        mean[j] /= (double)n;
}

/* ---- the steps ---- */

/* P <- L^-1/2 E' P for cov(P a) = E L E'. Twice: the covariance loses the square of the
 * condition number, the second time it is 1. */
static unrelu_status whiten(ica *p, unrelu_error *err)
{
    size_t k = p->k, m = p->sample->m;
    UR_ARENA(arena);
    double *values = ur_take(&arena, k, sizeof *values);
    double *vectors = ur_take(&arena, k, k * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    for (int twice = 0; twice < 2; twice++) {
        memcpy(p->M, p->P, k * m * sizeof *p->M);
        UR_TRY(sweep_mean(p, add_covariance, k * k, err));
        UR_TRY(ur_eigen_symmetric(k, p->sum, values, vectors, err));
        size_t rank = 0;
        double top = values[k - 1];
        for (size_t j = 0; j < k; j++)
            rank += top > 0 && values[j] > UR_ROUNDING * top;
        if (rank < k)
            return ur_fail(err, UNRELU_EDATA,
                           "the labels, sketched to k = %zu numbers, have rank %zu about their "
                           "mean (smallest singular value %.1e of the largest): ICA finds one "
                           "neuron per rank; ask for k = %zu or use another method",
                           k, rank, top > 0 ? sqrt(fmax(0, values[0]) / top) : 0.0,
                           rank > 0 ? rank : 1);
        for (size_t i = 0; i < k * k; i++)
            vectors[i] /= sqrt(values[i % k]);
        ur_multiply_tn(k, k, m, vectors, p->M, p->P);
    }
    return UNRELU_OK;
}

typedef struct {
    double *U, *s, *Vt, *Q, *kept; /* k x k each, s k */
    double *skewness;              /* k, of `kept` */
    double dependence;             /* largest |E[s_i^2 s_j]| of `kept`, i != j */
    double score;                  /* sum of squared skewness of `kept` */
    int steps, converged;
} search;

/* M = W P of the best start */
static unrelu_status separate(ica *p, const ur_start *start, search *f, unrelu_error *err)
{
    size_t k = p->k, m = p->sample->m;
    f->score = -1;
    for (int start_number = 0; start_number < STARTS && !f->converged; start_number++) {
        uint64_t drawn = k * m + (size_t)start_number * k * k;
        double score = 0;
        ur_progress(start->exec, "ica", (double)start_number / STARTS);
        ur_random_normals(start->seed, UR_STREAM_ICA, drawn, k * k, p->W);
        UR_TRY(ur_orthonormalise(k, k, p->W, err));
        f->converged = 0;
        for (f->steps = 0; f->steps < STEPS && !f->converged; f->steps++) {
            double change = 0;
            ur_multiply(k, k, m, p->W, p->P, p->M);
            UR_TRY(sweep_mean(p, add_contrast, k * k, err));
            UR_TRY(ur_svd(k, k, p->sum, f->U, f->s, f->Vt, err));
            ur_multiply(k, k, k, f->U, f->Vt, f->Q);
            for (size_t i = 0; i < k * k; i++)
                change = fmax(change, fabs(f->Q[i] - (i % (k + 1) == 0)));
            ur_multiply(k, k, k, f->Q, p->W, f->U);
            memcpy(p->W, f->U, k * k * sizeof *p->W);
            f->converged = change < STILL;
        } /* the sum is E[s^2 s'] of the last but one W */
        for (size_t j = 0; j < k; j++)
            score += p->sum[j * k + j] * p->sum[j * k + j];
        if (score <= f->score)
            continue;
        f->score = score;
        memcpy(f->kept, p->W, k * k * sizeof *f->kept);
        f->dependence = 0;
        for (size_t i = 0; i < k * k; i++)
            if (i % (k + 1) == 0)
                f->skewness[i / k] = p->sum[i];
            else
                f->dependence = fmax(f->dependence, fabs(p->sum[i]));
    }
    ur_multiply(k, k, m, f->kept, p->P, p->M);
    return UNRELU_OK;
}

typedef struct {
    double *sd, *C, *B, *slope; /* d, d x d, d x k, d x k */
    double mean, covariance;    /* largest |mean| and |covariance - I| of x */
} regression;

static unrelu_status regress(ica *p, regression *r, double *V, unrelu_error *err)
{
    size_t d = p->sample->d, k = p->k;
    UR_TRY(sweep_mean(p, add_regression, d * d + d * k, err));
    /* sd, the correlations C and B = E[x s'] / sd */
    const double *C = p->sum, *B = p->sum + d * d;
    for (size_t i = 0; i < d; i++) {
        r->sd[i] = C[i * d + i] > 0 ? sqrt(C[i * d + i]) : 1;
        r->mean = fmax(r->mean, fabs(p->mean_x[i]) * p->unit_x[i]);
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            double own = C[i * d + j] * p->unit_x[i] * p->unit_x[j];
            r->covariance = fmax(r->covariance, fabs(own - (i == j)));
            r->C[i * d + j] = C[i * d + j] / r->sd[i] / r->sd[j];
        }
        for (size_t j = 0; j < k; j++)
            r->B[i * k + j] = B[i * k + j] / r->sd[i];
    }
    UR_TRY(ur_least_squares(d, d, k, r->C, r->B, RANK_X, r->slope, NULL, err));
    for (size_t j = 0; j < k; j++) {
        double *v = V + j * d;
        for (size_t i = 0; i < d; i++)
            v[i] = r->slope[i * k + j] / r->sd[i] / p->unit_x[i];
        double norm = ur_norm(d, v);
        if (!(norm > 0 && isfinite(norm)))
            return ur_fail(err, UNRELU_EDATA,
                           "source %zu of the labels does not vary with the inputs (slope %g): "
                           "no row of V can be read from it",
                           j + 1, norm);
        ur_scale(d, 1 / norm, v);
    }
    return UNRELU_OK;
}

unrelu_status ur_start_ica(const ur_start *start, double *V, double *c, ur_start_note *note,
                           unrelu_error *err)
{
    (void)c;
    const ur_sample *sample = &start->sample;
    size_t d = sample->d, m = sample->m, k = start->k;
    if (k > d)
        return ur_fail(err, UNRELU_EDATA,
                       "ICA needs orthonormal rows of V: k = %zu neurons have none in d = %zu "
                       "inputs",
                       k, d);
    if (k > m)
        return ur_fail(err, UNRELU_EDATA,
                       "ICA needs as many labels as neurons: m = %zu labels, k = %zu neurons", m,
                       k);
    if (sample->n <= k)
        return ur_fail(err, UNRELU_EDATA, "ICA needs more than k = %zu samples, there are %zu", k,
                       sample->n);
    ica p = {.sample = sample, .k = k};
    search f = {0};
    regression r = {0};
    if (start->exec)
        p.exec = (unrelu_exec){.threads = start->exec->threads,
                               .cancelled = start->exec->cancelled,
                               .context = start->exec->context};
    const struct {
        double **array;
        size_t rows, columns;
    } arrays[] = {
        {&p.unit_x, d, 1},   {&p.mean_a, m, 1},  {&p.mean_x, d, 1}, {&p.M, k, m}, {&p.P, k, m},
        {&p.W, k, k},        {&p.sum, d, d + k}, /* k <= d */
        {&f.U, k, k},        {&f.s, k, 1},       {&f.Vt, k, k},     {&f.Q, k, k}, {&f.kept, k, k},
        {&f.skewness, k, 1}, {&r.sd, d, 1},      {&r.C, d, d},      {&r.B, d, k}, {&r.slope, d, k},
    };
    UR_ARENA(arena);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].array = ur_take(&arena, arrays[i].rows, arrays[i].columns * sizeof(double));
    UR_TRY(ur_arena_status(&arena, err));
    p.unit_a = largest(sample->a, sample->n * m, 1);
    for (size_t j = 0; j < d; j++)
        p.unit_x[j] = largest(sample->x + j, sample->n, d);
    means(sample->a, sample->n, m, NULL, p.unit_a, p.mean_a);
    means(sample->x, sample->n, d, p.unit_x, 1, p.mean_x);
    ur_random_normals(start->seed, UR_STREAM_ICA, 0, k * m, p.P);
    UR_TRY(whiten(&p, err));
    UR_TRY(separate(&p, start, &f, err));
    UR_TRY(regress(&p, &r, V, err));
    double overlap = 0, low = INFINITY, high = -INFINITY, chance = 1 / sqrt((double)sample->n);
    for (size_t i = 0; i < k; i++) {
        low = fmin(low, f.skewness[i]);
        high = fmax(high, f.skewness[i]);
        for (size_t j = 0; j < i; j++)
            overlap = fmax(overlap, fabs(ur_dot(d, V + i * d, V + j * d)));
    }
    snprintf(note->guarantee, sizeof note->guarantee,
             "Theorem 3 and Corollary 2 (U f(V x) to any accuracy from polynomially many samples), "
             "then Theorem 4 (exact without noise): for standard normal x and orthonormal rows of "
             "V only; elsewhere ICA is a guess that the fit must confirm");
    snprintf(note->assumption, sizeof note->assumption,
             "%s in %d steps; largest |E s_i^2 s_j| of two sources %.2g (independent: about %.2g); "
             "skewness %.3g to %.3g (rectified normal: %.4g); largest |<v_i, v_j>| of the rows "
             "%.2g (orthonormal: about %.2g); inputs: largest |mean| %.2g, |covariance - I| %.2g",
             f.converged ? "converged" : "NOT converged", f.steps, f.dependence, SOURCE * chance,
             low, high, SKEWNESS_RELU, overlap, chance, r.mean, r.covariance);
    return UNRELU_OK;
}
