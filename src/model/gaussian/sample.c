/* SPDX-License-Identifier: Apache-2.0 */
/* x = max(limit, D F z + b), the limit being 0 for a ReLU, with D the scales and F F' the
 * correlation (eigenvalues below 0, if the model has any, count as 0). Row r uses normals r k .. r
 * k + k - 1 of one stream, and products are formed in chunks of fixed rows: any slice of rows has
 * the same bits. */
#include "dense/linear.h"
#include "dense/random.h"
#include "error.h"
#include "memory.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, STREAM_SAMPLES = 3 };

struct unrelu_sampler {
    size_t d, k;
    uint64_t seed;
    double *factor; /* k x d: F' */
    double *scale, *b, *limit;
};

void unrelu_sampler_free(unrelu_sampler *s)
{
    if (!s)
        return;
    free(s->factor);
    free(s->scale);
    free(s->b);
    free(s->limit);
    free(s);
}

static unrelu_status set_factor(unrelu_sampler *s, const double *correlation, unrelu_error *err)
{
    size_t d = s->d;
    double *values = ur_doubles(d), *vectors = ur_alloc(d, d * sizeof *vectors);
    unrelu_status status = UNRELU_OK;
    if (!values || !vectors)
        status = ur_fail_memory(err, d * d, "eigenvectors");
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(d, correlation, values, vectors, err);
    for (size_t j = 0; status == UNRELU_OK && j < d; j++)
        if (values[j] > 1e-15 * (double)d) {
            for (size_t i = 0; i < d; i++)
                s->factor[s->k * d + i] = vectors[i * d + j] * sqrt(values[j]);
            s->k++;
        }
    free(values);
    free(vectors);
    return status;
}

unrelu_status unrelu_sampler_new(const unrelu_gaussian *model, uint64_t seed, unrelu_sampler **out,
                                 unrelu_error *err)
{
    size_t d = model->d;
    *out = NULL;
    for (size_t i = 0; i < d; i++)
        if (!isfinite(model->b[i]) || !isfinite(model->scale[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%s) has b %g and scale %g: no samples can be drawn", i + 1,
                           model->names[i], model->b[i], model->scale[i]);
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(model->correlation[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "a correlation is not a number: no samples can be "
                           "drawn");
    unrelu_sampler *s = ur_alloc(1, sizeof *s);
    if (!s)
        return ur_fail_memory(err, 1, "sampler");
    *s = (unrelu_sampler){.d = d, .seed = seed};
    s->factor = ur_alloc(d, d * sizeof *s->factor);
    s->scale = ur_doubles(d);
    s->b = ur_doubles(d);
    s->limit = ur_doubles(d);
    unrelu_status status = UNRELU_OK;
    int saved = ur_blas_pin();
    if (!s->factor || !s->scale || !s->b || !s->limit)
        status = ur_fail_memory(err, d * d, "entries of a factor");
    if (status == UNRELU_OK) {
        memcpy(s->scale, model->scale, d * sizeof *s->scale);
        memcpy(s->b, model->b, d * sizeof *s->b);
        if (model->limit)
            memcpy(s->limit, model->limit, d * sizeof *s->limit);
        status = set_factor(s, model->correlation, err);
    }
    ur_blas_unpin(saved);
    if (status == UNRELU_OK)
        *out = s;
    else
        unrelu_sampler_free(s);
    return status;
}

typedef struct {
    const unrelu_sampler *s;
    size_t first, rows;
    double *x;
    unrelu_status *status; /* chunks */
} draw;

/* chunk i holds rows (first / CHUNK + i) CHUNK .. + CHUNK - 1 of the stream */
static void draw_chunk(void *context, size_t i)
{
    const draw *w = context;
    const unrelu_sampler *s = w->s;
    size_t d = s->d, start = (w->first / CHUNK + i) * CHUNK;
    double *z = ur_alloc(CHUNK, (s->k + d) * sizeof *z);
    if (!z) {
        w->status[i] = UNRELU_ENOMEM;
        return;
    }
    double *y = z + CHUNK * s->k;
    ur_random_normals(s->seed, STREAM_SAMPLES, (uint64_t)start * s->k, CHUNK * s->k, z);
    ur_multiply(CHUNK, s->k, d, z, s->factor, y);
    for (size_t r = 0; r < CHUNK; r++) {
        if (start + r < w->first || start + r >= w->first + w->rows)
            continue;
        double *to = w->x + (start + r - w->first) * d;
        for (size_t j = 0; j < d; j++) {
            double latent = s->scale[j] * y[r * d + j] + s->b[j];
            to[j] = latent > s->limit[j] ? latent : s->limit[j];
        }
    }
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
    int saved = ur_blas_pin();
    unrelu_status status = ur_parallel_for(exec, "drawing", chunks, draw_chunk, &w, err);
    ur_blas_unpin(saved);
    for (size_t i = 0; status == UNRELU_OK && i < chunks; i++)
        if (w.status[i] != UNRELU_OK)
            status = ur_fail_memory(err, CHUNK, "rows of samples");
    free(w.status);
    return status;
}
