/* SPDX-License-Identifier: Apache-2.0 */
/* Whitening here is a change of coordinates for the sake of conditioning: any invertible map of
 * labels and of inputs leaves a k-neuron network one, so an inexact eigenvector costs nothing. */
#include "network/exact/lift.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 64, STEPS = 3 };
#define DROPPED 1e-13 /* of the largest eigenvalue of second moments */
#define SOFT    0.3   /* rows near 0 carry noise alone: 0 loses at d = 3, 1 keeps heavy tails */
#define SQRT2   1.41421356237309504880

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
    unrelu_exec quiet = exec ? *exec : unrelu_exec_default();
    quiet.progress = NULL;
    if (rows * p * q < 200000) /* a thread costs more */
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

static void measure(table *t, size_t j, int centred)
{
    double most = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < t->n; i++)
        most = fmax(most, fabs(t->data[i * t->width + j]));
    if (most == 0)
        return;
    for (size_t i = 0; i < t->n; i++)
        sum += t->data[i * t->width + j] / most;
    double mean = centred ? sum / (double)t->n : 0;
    for (size_t i = 0; i < t->n; i++) {
        double g = t->data[i * t->width + j] / most - mean;
        squares += g * g;
    }
    double rms = sqrt(squares / (double)t->n);
    t->mean[j] = mean * most;
    t->scale[j] = rms > 1e-15 ? 1 / (rms * most) : 0; /* 0: a constant column */
}

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

/* Q (r x p): leading eigenvectors of the second moments over the root of their eigenvalues */
static unrelu_status principal(const table *t, const unrelu_exec *exec, size_t most, double *Q,
                               size_t *rank, unrelu_error *err)
{
    size_t p = t->p;
    double *C = ur_alloc(p, p * sizeof *C), *vectors = ur_alloc(p, p * sizeof *vectors);
    double *values = ur_doubles(p);
    unrelu_status status = UNRELU_OK;
    if (!C || !vectors || !values) {
        status = ur_fail_memory(err, p * p, "second moments");
        goto done;
    }
    for (size_t first = 0; first < t->n && status == UNRELU_OK; first += UR_LIFT_BLOCK)
        status = ur_lift_add(exec, load(t, first), p, t->block, p, t->block, 1, C, err);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++)
            C[j * p + i] = C[i * p + j] = C[i * p + j] / (double)t->n;
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(p, C, values, vectors, err);
    *rank = 0;
    for (size_t i = 0; i < p && i < most && status == UNRELU_OK; i++) {
        double value = values[p - 1 - i];
        if (!(value > DROPPED * values[p - 1]))
            break;
        for (size_t j = 0; j < p; j++)
            Q[i * p + j] = vectors[j * p + p - 1 - i] / sqrt(value);
        ++*rank;
    }
done:
    free(C);
    free(vectors);
    free(values);
    return status;
}

/* out (n x r) and W (r x p), both allocated here; t: n, width, p, data, factor */
static unrelu_status whiten(table t, int centred, size_t most, const unrelu_exec *exec,
                            double **out, double **W, size_t *rank, unrelu_error *err)
{
    t.scale = ur_doubles(t.p);
    t.mean = ur_doubles(t.width);
    t.block = ur_alloc(UR_LIFT_BLOCK, t.p * sizeof *t.block);
    *W = ur_alloc(t.p, t.p * sizeof **W);
    unrelu_status status = UNRELU_OK;
    if (!t.scale || !t.mean || !t.block || !*W) {
        status = ur_fail_memory(err, t.p * UR_LIFT_BLOCK, "numbers to whiten");
        goto done;
    }
    for (size_t j = 0; j < t.width; j++)
        measure(&t, j, centred);
    if (t.p > t.width)
        t.scale[t.width] = 1;
    status = principal(&t, exec, most < t.p ? most : t.p, *W, rank, err);
    if (status != UNRELU_OK || *rank == 0)
        goto done;
    *out = ur_alloc(t.n, *rank * sizeof **out);
    if (!*out) {
        status = ur_fail_memory(err, t.n * *rank, "whitened numbers");
        goto done;
    }
    for (size_t first = 0; first < t.n; first += UR_LIFT_BLOCK) {
        size_t rows = load(&t, first);
        ur_multiply_nt(rows, t.p, *rank, t.block, *W, *out + first * *rank);
    }
    for (size_t i = 0; i < *rank; i++)
        for (size_t j = 0; j < t.p; j++)
            (*W)[i * t.p + j] *= t.scale[j];
done:
    free(t.scale);
    free(t.mean);
    free(t.block);
    return status;
}

static unrelu_status whiten_inputs(const ur_start *start, const double *factor, ur_lift *l,
                                   unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    table t = {.n = s->n, .width = s->d, .p = l->p, .data = s->x, .factor = factor};
    free(l->x);
    free(l->W);
    l->x = l->W = NULL;
    unrelu_status status = whiten(t, 0, l->p, start->exec, &l->x, &l->W, &l->r, err);
    if (status == UNRELU_OK && l->r == 0)
        status = ur_fail(err, UNRELU_EDATA, "all inputs are 0");
    return status;
}

static unrelu_status whiten_labels(const ur_start *start, const ur_lift_options *options,
                                   ur_lift *l, unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    table t = {.n = s->n, .width = s->m, .p = s->m, .data = s->a};
    size_t rank = 0;
    double *E = NULL;
    t.factor = options->scaled ? l->factor : NULL;
    unrelu_status status = whiten(t, options->centred, l->k, start->exec, &l->y, &E, &rank, err);
    free(E);
    if (status == UNRELU_OK && rank < l->k)
        status = ur_fail(err, UNRELU_EDATA,
                         "the labels have rank %zu, below the %zu neurons: --method %s needs at "
                         "least as many independent labels as neurons; use --method auto",
                         rank, l->k, options->method);
    return status;
}

static unrelu_status set_factors(ur_lift *l, unrelu_error *err)
{
    l->factor = ur_doubles(l->n);
    if (!l->factor)
        return ur_fail_memory(err, l->n, "factors of rows");
    for (size_t i = 0; i < l->n; i++) {
        const double *x = l->x + i * l->r;
        l->factor[i] = 1 / sqrt(SOFT + ur_dot(l->r, x, x) / (double)l->r);
    }
    return UNRELU_OK;
}

static unrelu_status set_one(ur_lift *l, unrelu_error *err)
{
    l->one = ur_doubles(l->r);
    if (!l->one)
        return ur_fail_memory(err, l->r, "means");
    for (size_t i = 0; i < l->n; i++)
        ur_add(l->r, 1 / (double)l->n, l->x + i * l->r, l->one);
    return UNRELU_OK;
}

unrelu_status ur_lift_new(const ur_start *start, const ur_lift_options *options, ur_lift *lift,
                          unrelu_error *err)
{
    size_t ones = options->ones != 0;
    *lift = (ur_lift){.n = start->sample.n, .k = start->k, .p = start->sample.d + ones};
    unrelu_status status = whiten_inputs(start, NULL, lift, err);
    if (status == UNRELU_OK)
        status = set_factors(lift, err);
    if (status == UNRELU_OK && options->scaled)
        status = whiten_inputs(start, lift->factor, lift, err);
    if (status == UNRELU_OK)
        status = whiten_labels(start, options, lift, err);
    if (status == UNRELU_OK)
        status = set_one(lift, err);
    if (status != UNRELU_OK)
        ur_lift_free(lift);
    return status;
}

void ur_lift_free(ur_lift *lift)
{
    free(lift->y);
    free(lift->x);
    free(lift->W);
    free(lift->one);
    free(lift->factor);
    *lift = (ur_lift){0};
}

/* ---- rows of V ---- */

typedef struct {
    const ur_lift *lift;
    const double *Z;
    int constant;
    double *w;
    unrelu_status *status;
    unrelu_error *error; /* of each neuron */
} regression;

/* one step; *usable = 0 where the half-space holds too few rows */
static unrelu_status regress_step(const ur_lift *l, const double *z, int constant, double *w,
                                  double *block, double *h, double *G, int *usable,
                                  unrelu_error *err)
{
    size_t r = l->r, k = l->k, on = 0;
    double *b = G + r * r, below = 0;
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
    *usable = on > r;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < i; j++)
            G[j * r + i] = G[i * r + j];
    if (!*usable)
        return UNRELU_OK;
    unrelu_status status = ur_solve_positive(r, 1, G, b, usable, err);
    if (status != UNRELU_OK || !*usable)
        return status;
    double level = constant && on < l->n ? below / (double)(l->n - on) : 0;
    for (size_t j = 0; j < r; j++)
        w[j] = b[j] - level * l->one[j];
    return UNRELU_OK;
}

static void regress_neuron(void *context, size_t j)
{
    regression *t = context;
    const ur_lift *l = t->lift;
    size_t r = l->r;
    int usable = 1;
    unrelu_error *err = &t->error[j];
    double *block = ur_alloc(UR_LIFT_BLOCK, (r + 1) * sizeof *block);
    double *G = ur_alloc(r + 1, r * sizeof *G);
    if (!block || !G)
        t->status[j] = ur_fail_memory(err, (r + 1) * r, "numbers of a regression");
    for (int step = 0; step < STEPS && usable && t->status[j] == UNRELU_OK; step++)
        t->status[j] = regress_step(l, t->Z + j * l->k, t->constant, t->w + j * r, block,
                                    block + UR_LIFT_BLOCK * r, G, &usable, err);
    free(block);
    free(G);
}

unrelu_status ur_lift_regress(const ur_lift *lift, const unrelu_exec *exec, const double *Z,
                              int constant, double *w, unrelu_error *err)
{
    regression t = {.lift = lift, .Z = Z, .constant = constant, .w = w};
    t.status = ur_alloc(lift->k, sizeof *t.status);
    t.error = ur_alloc(lift->k, sizeof *t.error);
    unrelu_status status = UNRELU_OK;
    if (!t.status || !t.error)
        status = ur_fail_memory(err, lift->k, "neurons");
    if (status == UNRELU_OK)
        status = ur_parallel_for(exec, "fitting neurons", lift->k, regress_neuron, &t, err);
    for (size_t j = 0; j < lift->k && status == UNRELU_OK; j++)
        if (t.status[j] != UNRELU_OK)
            status = ur_fail(err, t.status[j], "%s", t.error[j].text);
    free(t.status);
    free(t.error);
    return status;
}

unrelu_status ur_lift_rows(const ur_lift *lift, size_t d, const double *w, double *V, double *c,
                           unrelu_error *err)
{
    double *raw = ur_alloc(lift->k, lift->p * sizeof *raw);
    if (!raw)
        return ur_fail_memory(err, lift->k * lift->p, "rows of V");
    unrelu_status status = UNRELU_OK;
    ur_multiply(lift->k, lift->r, lift->p, w, lift->W, raw);
    for (size_t j = 0; j < lift->k && status == UNRELU_OK; j++) {
        const double *v = raw + j * lift->p;
        double size = ur_norm(d, v);
        if (!(size > 0) || !isfinite(size))
            status = ur_fail(err, UNRELU_EDATA, "neuron %zu does not depend on the inputs", j + 1);
        for (size_t i = 0; i < d; i++)
            V[j * d + i] = v[i] / size;
        if (c)
            c[j] = lift->p > d ? v[d] / size : 0;
    }
    free(raw);
    return status;
}
