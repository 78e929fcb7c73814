/* SPDX-License-Identifier: Apache-2.0 */
/* m = max(limit, D F z + b), the limit being 0 for a ReLU, with D the scales and F F' the
 * correlation (eigenvalues below 0, if the model has any, count as 0). A rectified Gaussian yields
 * x = m, a mixture x = A m + noise e. Row r uses normals r k .. r k + k - 1 of one stream for z and
 * r d .. r d + d - 1 of another for e, and products are formed in chunks of fixed rows: any slice
 * of rows has the same bits. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "gaussian/cells/cells.h"
#include "mixture/model/mixture.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, STREAM_SAMPLES = 3 };

struct unrelu_sampler {
    size_t d, p, k; /* columns of x, of m, of z */
    uint64_t seed;
    double *factor;            /* k x p: F' */
    double *scale, *b, *limit; /* p */
    unrelu_transform transform;
    double *lambda; /* p, or NULL */
    double *At;     /* p x d: A'; NULL: x = m */
    double noise;
};

void unrelu_sampler_free(unrelu_sampler *s)
{
    if (!s)
        return;
    free(s->factor);
    free(s->scale);
    free(s->b);
    free(s->limit);
    free(s->lambda);
    free(s->At);
    free(s);
}

static unrelu_status set_factor(unrelu_sampler *s, const double *correlation, unrelu_error *err)
{
    size_t p = s->p;
    double *values = ur_doubles(p), *vectors = ur_alloc(p, p * sizeof *vectors);
    unrelu_status status = UNRELU_OK;
    if (!values || !vectors)
        status = ur_fail_memory(err, p * p, "eigenvectors");
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(p, correlation, values, vectors, err);
    for (size_t j = 0; status == UNRELU_OK && j < p; j++)
        if (values[j] > 1e-15 * (double)p) {
            for (size_t i = 0; i < p; i++)
                s->factor[s->k * p + i] = vectors[i * p + j] * sqrt(values[j]);
            s->k++;
        }
    free(values);
    free(vectors);
    return status;
}

static unrelu_status check(const unrelu_gaussian *model, unrelu_error *err)
{
    size_t p = model->d;
    for (size_t i = 0; i < p; i++)
        if (!isfinite(model->b[i]) || !isfinite(model->scale[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) has b %g and scale %g: no samples can be drawn", i + 1,
                           model->names[i], model->b[i], model->scale[i]);
    for (size_t i = 0; i < p * p; i++)
        if (!isfinite(model->correlation[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "a correlation is not a number: no samples can be "
                           "drawn");
    return UNRELU_OK;
}

unrelu_status unrelu_sampler_new(const unrelu_gaussian *model, uint64_t seed, unrelu_sampler **out,
                                 unrelu_error *err)
{
    size_t p = model->d;
    *out = NULL;
    unrelu_status status = check(model, err);
    if (status != UNRELU_OK)
        return status;
    unrelu_sampler *s = ur_alloc(1, sizeof *s);
    if (!s)
        return ur_fail_memory(err, 1, "sampler");
    *s = (unrelu_sampler){.d = p, .p = p, .seed = seed, .transform = model->transform};
    s->factor = ur_alloc(p, p * sizeof *s->factor);
    s->scale = ur_doubles(p);
    s->b = ur_doubles(p);
    s->limit = ur_doubles(p);
    s->lambda = model->lambda ? ur_doubles(p) : NULL;
    UR_BLAS_PINNED;
    if (!s->factor || !s->scale || !s->b || !s->limit || (model->lambda && !s->lambda))
        status = ur_fail_memory(err, p * p, "entries of a factor");
    if (status == UNRELU_OK) {
        memcpy(s->scale, model->scale, p * sizeof *s->scale);
        memcpy(s->b, model->b, p * sizeof *s->b);
        if (model->limit)
            memcpy(s->limit, model->limit, p * sizeof *s->limit);
        if (s->lambda)
            memcpy(s->lambda, model->lambda, p * sizeof *s->lambda);
        status = set_factor(s, model->correlation, err);
    }
    if (status == UNRELU_OK)
        *out = s;
    else
        unrelu_sampler_free(s);
    return status;
}

static unrelu_status check_mixture(const unrelu_mixture *model, unrelu_error *err)
{
    if (!model->A || model->hidden.d != model->p)
        return ur_fail(err, UNRELU_EUSAGE, "the mixture has %s: no samples can be drawn",
                       model->A ? "another number of units than of columns of A" : "no A");
    for (size_t i = 0; i < model->d * model->p; i++)
        if (!isfinite(model->A[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "A has %g at row %zu, column %zu: no samples can be drawn", model->A[i],
                           i / model->p + 1, i % model->p + 1);
    if (!(model->noise >= 0 && model->noise < INFINITY))
        return ur_fail(err, UNRELU_EDATA, "the noise is %g: no samples can be drawn", model->noise);
    return UNRELU_OK;
}

unrelu_status unrelu_sampler_new_mixture(const unrelu_mixture *model, uint64_t seed,
                                         unrelu_sampler **out, unrelu_error *err)
{
    size_t d = model->d, p = model->p;
    unrelu_gaussian hidden = model->hidden;
    hidden.limit = NULL; /* units are off at 0, whatever they were fitted by */
    *out = NULL;
    unrelu_status status = check_mixture(model, err);
    if (status == UNRELU_OK)
        status = unrelu_sampler_new(&hidden, seed, out, err);
    if (status != UNRELU_OK)
        return status;
    unrelu_sampler *s = *out;
    s->d = d;
    s->noise = model->noise;
    if (!(s->At = ur_alloc(p, d * sizeof *s->At))) {
        unrelu_sampler_free(s);
        *out = NULL;
        return ur_fail_memory(err, p * d, "entries of A");
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < p; j++)
            s->At[j * d + i] = model->A[i * p + j];
    return UNRELU_OK;
}

typedef struct {
    const unrelu_sampler *s;
    size_t first, rows;
    double *x;
    unrelu_status *status; /* chunks */
} draw;

static void rectify(const unrelu_sampler *s, double *m)
{
    for (size_t r = 0; r < CHUNK; r++, m += s->p)
        for (size_t j = 0; j < s->p; j++) {
            double latent = s->scale[j] * m[j] + s->b[j];
            double y = latent > s->limit[j] ? latent : s->limit[j];
            m[j] = ur_transform_back(s->transform, s->lambda ? s->lambda[j] : 0, y);
        }
}

/* x = A m + noise e; e is room for CHUNK x d */
static void mix(const unrelu_sampler *s, size_t start, const double *m, double *x, double *e)
{
    ur_multiply(CHUNK, s->p, s->d, m, s->At, x);
    if (s->noise == 0)
        return;
    ur_random_normals(s->seed, UR_STREAM_MIXTURE_NOISE, (uint64_t)start * s->d, CHUNK * s->d, e);
    for (size_t i = 0; i < CHUNK * s->d; i++)
        x[i] += s->noise * e[i];
}

/* chunk i holds rows (first / CHUNK + i) CHUNK .. + CHUNK - 1 of the stream */
static void draw_chunk(void *context, size_t i)
{
    const draw *w = context;
    const unrelu_sampler *s = w->s;
    size_t d = s->d, start = (w->first / CHUNK + i) * CHUNK;
    double *z = ur_alloc(CHUNK, (s->k + s->p + (s->At ? 2 * d : 0)) * sizeof *z);
    if (!z) {
        w->status[i] = UNRELU_ENOMEM;
        return;
    }
    double *m = z + CHUNK * s->k, *x = s->At ? m + CHUNK * s->p : m;
    ur_random_normals(s->seed, STREAM_SAMPLES, (uint64_t)start * s->k, CHUNK * s->k, z);
    ur_multiply(CHUNK, s->k, s->p, z, s->factor, m);
    rectify(s, m);
    if (s->At)
        mix(s, start, m, x, x + CHUNK * d);
    size_t first = w->first > start ? w->first - start : 0, end = w->first + w->rows - start;
    end = end < CHUNK ? end : CHUNK;
    memcpy(w->x + (start + first - w->first) * d, x + first * d, (end - first) * d * sizeof *x);
    free(z);
}

unrelu_status unrelu_sampler_draw(const unrelu_sampler *s, size_t first_row, size_t rows,
                                  const unrelu_exec *exec, double *x, unrelu_error *err)
{
    if (rows == 0)
        return UNRELU_OK;
    size_t chunks = (first_row + rows - 1) / CHUNK - first_row / CHUNK + 1;
    draw w = {s, first_row, rows, x, ur_alloc(chunks, sizeof *w.status)};
    if (!w.status)
        return ur_fail_memory(err, chunks, "chunks");
    UR_BLAS_PINNED;
    unrelu_status status = ur_parallel_for(exec, "drawing", chunks, draw_chunk, &w, err);
    for (size_t i = 0; status == UNRELU_OK && i < chunks; i++)
        if (w.status[i] != UNRELU_OK)
            status = ur_fail_memory(err, CHUNK, "rows of samples");
    free(w.status);
    return status;
}
