/* SPDX-License-Identifier: Apache-2.0 */
/* Whitening here is a change of coordinates for the sake of conditioning: any invertible map of
 * labels and of inputs leaves a k-neuron network one, so an inexact eigenvector costs nothing. */
#include "network/exact/lift.h"

#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    PANEL = 64,
    STEPS = 3,             /* of least squares, each from the half-space of the one before */
    WORTH_THREADS = 200000 /* products: with fewer a thread costs more than it saves */
};
/* of a column's largest value: a root mean square below it is rounding, the column a constant */
static const double CONSTANT = 4 * DBL_EPSILON;
/* rows near 0 carry noise alone: 0 loses at d = 3, 1 keeps heavy tails */
static const double SOFT = 0.3;
static const double SQRT2 = 1.41421356237309504880;

void ur_lift_products(size_t k, const double *y, double *out)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < i; j++)
            *out++ = SQRT2 * y[i] * y[j];
        *out++ = y[i] * y[i];
    }
}

void ur_lift_matrix(size_t k, const double *v, double *M)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < i; j++)
            M[i * k + j] = M[j * k + i] = *v++ / SQRT2;
        M[i * k + i] = *v++;
    }
}

/* ---- sums over blocks ---- */

typedef struct {
    size_t rows, p, q;
    const double *L, *R;
    int symmetric;
    double *C;
} product;

static void add_panel(void *context, size_t i)
{
    const product *t = context;
    size_t first = i * PANEL, end = first + PANEL < t->p ? first + PANEL : t->p;
    size_t width = t->symmetric ? end : t->q;
    ur_gemm(UR_TURNED, UR_PLAIN, (end - first), width, t->rows, 1, t->L + first, t->p, t->R, t->q,
            1, t->C + first * t->q, t->q);
}

unrelu_status ur_lift_add(const unrelu_exec *exec, size_t rows, size_t p, const double *L, size_t q,
                          const double *R, int symmetric, double *C, unrelu_error *err)
{
    product t = {rows, p, q, L, R, symmetric, C};
    unrelu_exec quiet = exec ? *exec : (unrelu_exec){0};
    quiet.progress = NULL;
    if (rows * p * q < WORTH_THREADS)
        quiet.threads = 1;
    return ur_parallel_for(&quiet, "", (p + PANEL - 1) / PANEL, add_panel, &t, err);
}

/* ---- whitening ---- */

typedef struct {
    size_t n, width, p; /* p = width, and 1 where ones are appended */
    const double *data;
    const double *factor; /* n, or NULL */
    double *scale;        /* p: 1 / root mean square */
    double *mean;         /* width: subtracted, zero where not centred */
    double *block;        /* UR_LIFT_BLOCK x p */
} table;

static size_t load(const table *t, size_t first)
{
    size_t rows = t->n - first < UR_LIFT_BLOCK ? t->n - first : UR_LIFT_BLOCK;
    for (size_t i = 0; i < rows; i++) {
        const double *row = t->data + (first + i) * t->width;
        double *out = t->block + i * t->p, factor = t->factor ? t->factor[first + i] : 1;
        for (size_t j = 0; j < t->width; j++)
            out[j] = (row[j] - t->mean[j]) * t->scale[j] * factor;
        if (t->p > t->width)
            out[t->width] = factor;
    }
    return rows;
}

/* out (n x r) and W (r x p), both the arena's, NULL where the rank r <= most is 0: W has the
 * leading eigenvectors of the second moments over the root of their eigenvalues. t: n, width, p,
 * data, factor */
static unrelu_status whiten(table t, int centred, size_t most, const unrelu_exec *exec,
                            ur_arena *arena, double **out, double **W, size_t *rank,
                            unrelu_error *err)
{
    size_t p = t.p;
    UR_ARENA(own);
    double *C = ur_take(&own, p, p * sizeof *C), *values = ur_take(&own, p, sizeof *values);
    double *vectors = ur_take(&own, p, p * sizeof *vectors);
    t.scale = ur_take(&own, p, sizeof *t.scale);
    t.mean = ur_take(&own, t.width, sizeof *t.mean);
    t.block = ur_take(&own, UR_LIFT_BLOCK, p * sizeof *t.block);
    *W = ur_take(arena, p, p * sizeof **W);
    *rank = 0;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < t.width; j++) {
        double most = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < t.n; i++)
            most = fmax(most, fabs(t.data[i * t.width + j]));
        if (most == 0)
            continue;
        for (size_t i = 0; i < t.n; i++)
            sum += t.data[i * t.width + j] / most;
        double mean = centred ? sum / (double)t.n : 0;
        for (size_t i = 0; i < t.n; i++) {
            double g = t.data[i * t.width + j] / most - mean;
            squares += g * g;
        }
        double rms = sqrt(squares / (double)t.n);
        t.mean[j] = mean * most;
        t.scale[j] = rms > CONSTANT ? 1 / (rms * most) : 0;
    }
    if (p > t.width)
        t.scale[t.width] = 1;
    for (size_t first = 0; first < t.n; first += UR_LIFT_BLOCK)
        UR_TRY(ur_lift_add(exec, load(&t, first), p, t.block, p, t.block, 1, C, err));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++)
            C[j * p + i] = C[i * p + j] = C[i * p + j] / (double)t.n;
    UR_TRY(ur_eigen_symmetric(p, C, values, vectors, err));
    for (size_t i = p; i-- > 0 && *rank < most && values[i] > UR_ROUNDING * values[p - 1]; ++*rank)
        for (size_t j = 0; j < p; j++)
            (*W)[*rank * p + j] = vectors[j * p + i] / sqrt(values[i]);
    if (*rank == 0)
        return UNRELU_OK;
    *out = ur_take(arena, t.n, *rank * sizeof **out);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t first = 0; first < t.n; first += UR_LIFT_BLOCK) {
        size_t rows = load(&t, first);
        ur_multiply_nt(rows, p, *rank, t.block, *W, *out + first * *rank);
    }
    for (size_t i = 0; i < *rank; i++)
        for (size_t j = 0; j < p; j++)
            (*W)[i * p + j] *= t.scale[j];
    return UNRELU_OK;
}

static unrelu_status whiten_inputs(const ur_start *start, const double *factor, ur_arena *arena,
                                   ur_lift *l, unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    table t = {.n = s->n, .width = s->d, .p = l->p, .data = s->x, .factor = factor};
    UR_TRY(whiten(t, 0, l->p, start->exec, arena, &l->x, &l->W, &l->r, err));
    return l->r == 0 ? ur_fail(err, UNRELU_EDATA, "all inputs are 0") : UNRELU_OK;
}

unrelu_status ur_lift_new(const ur_start *start, const ur_lift_options *options, ur_arena *arena,
                          ur_lift *l, unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    size_t n = s->n, ones = options->ones != 0, rank = 0;
    double *E;
    *l = (ur_lift){.n = n, .k = start->k, .p = s->d + ones};
    l->factor = ur_take(arena, n, sizeof *l->factor);
    UR_TRY(ur_arena_status(arena, err));
    UR_ARENA(before); /* inputs before scaling */
    UR_TRY(whiten_inputs(start, NULL, options->scaled ? &before : arena, l, err));
    for (size_t i = 0; i < n; i++) {
        const double *x = l->x + i * l->r;
        l->factor[i] = 1 / sqrt(SOFT + ur_dot(l->r, x, x) / (double)l->r);
    }
    ur_arena_end(&before);
    if (options->scaled)
        UR_TRY(whiten_inputs(start, l->factor, arena, l, err));
    table labels = {.n = n, .width = s->m, .p = s->m, .data = s->a};
    labels.factor = options->scaled ? l->factor : NULL;
    UR_TRY(whiten(labels, options->centred, l->k, start->exec, arena, &l->y, &E, &rank, err));
    if (rank < l->k)
        return ur_fail(err, UNRELU_EDATA,
                       "the labels have rank %zu, below the %zu neurons: `method` %s needs at "
                       "least as many independent labels as neurons; use `method` auto",
                       rank, l->k, options->method);
    l->one = ur_take(arena, l->r, sizeof *l->one);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++)
        ur_add(l->r, 1 / (double)n, l->x + i * l->r, l->one);
    return UNRELU_OK;
}

/* ---- rows of V ---- */

typedef struct {
    const ur_lift *lift;
    const double *Z;
    int constant;
    double *w;
} regression;

/* A neuron's steps end where its half-space holds too few rows. */
static unrelu_status regress_neuron(void *context, size_t j, unrelu_error *err)
{
    const regression *t = context;
    const ur_lift *l = t->lift;
    size_t r = l->r, k = l->k;
    const double *z = t->Z + j * k;
    int usable = 1;
    UR_ARENA(arena);
    double *block = ur_take(&arena, UR_LIFT_BLOCK, r * sizeof *block), *w = t->w + j * r;
    double *h = ur_take(&arena, UR_LIFT_BLOCK, sizeof *h);
    double *G = ur_take(&arena, r + 1, r * sizeof *G), *b = G + r * r;
    UR_TRY(ur_arena_status(&arena, err));
    for (int step = 0; step < STEPS; step++) {
        double below = 0;
        size_t on = 0;
        memset(G, 0, (r * r + r) * sizeof *G);
        for (size_t first = 0; first < l->n; first += UR_LIFT_BLOCK) {
            size_t rows = l->n - first < UR_LIFT_BLOCK ? l->n - first : UR_LIFT_BLOCK, kept = 0;
            for (size_t i = first; i < first + rows; i++) {
                const double *x = l->x + i * r;
                double out = ur_dot(k, z, l->y + i * k);
                if (ur_dot(r, w, x) > 0) {
                    memcpy(block + kept * r, x, r * sizeof *x);
                    h[kept++] = out;
                } else {
                    below += out;
                }
            }
            if (kept == 0)
                continue;
            ur_syrk(UR_LOWER, UR_TURNED, r, kept, 1, block, r, 1, G, r);
            ur_gemv(UR_TURNED, kept, r, 1, block, r, h, 1, b);
            on += kept;
        }
        if (on <= r)
            break;
        for (size_t i = 0; i < r; i++)
            for (size_t c = 0; c < i; c++)
                G[c * r + i] = G[i * r + c];
        UR_TRY(ur_solve_positive(r, 1, G, b, &usable, err));
        if (!usable)
            break;
        double level = t->constant && on < l->n ? below / (double)(l->n - on) : 0;
        for (size_t i = 0; i < r; i++)
            w[i] = b[i] - level * l->one[i];
    }
    return UNRELU_OK;
}

unrelu_status ur_lift_regress(const ur_lift *lift, const unrelu_exec *exec, const double *Z,
                              int constant, double *w, unrelu_error *err)
{
    regression t = {.lift = lift, .Z = Z, .constant = constant, .w = w};
    return ur_each(exec, "fitting neurons", lift->k, regress_neuron, &t, err);
}

unrelu_status ur_lift_rows(const ur_lift *lift, size_t d, const double *w, double *V, double *c,
                           unrelu_error *err)
{
    UR_ARENA(arena);
    double *raw = ur_take(&arena, lift->k, lift->p * sizeof *raw);
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply(lift->k, lift->r, lift->p, w, lift->W, raw);
    for (size_t j = 0; j < lift->k; j++) {
        const double *v = raw + j * lift->p;
        double size = ur_norm(d, v);
        if (!(size > 0) || !isfinite(size))
            return ur_fail(err, UNRELU_EDATA, "neuron %zu does not depend on the inputs", j + 1);
        for (size_t i = 0; i < d; i++)
            V[j * d + i] = v[i] / size;
        if (c)
            c[j] = lift->p > d ? v[d] / size : 0;
    }
    return UNRELU_OK;
}
