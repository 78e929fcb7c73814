/* SPDX-License-Identifier: Apache-2.0 */
/* m = max(limit, D F z + b), the limit being 0 for a ReLU, with D the scales and F F' the
 * correlation (eigenvalues below 0, if the model has any, count as 0, and rows of F are made unit
 * again, so that scales stay). A rectified Gaussian yields
 * x = m, a mixture x = A m + noise e. Row r uses normals r k .. r k + k - 1 of one stream for z and
 * r d .. r d + d - 1 of another for e, and products are formed in chunks of fixed rows: any slice
 * of rows has the same bits. */
#include "model/sampler.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "law/power.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, STREAM_SAMPLES = 3, STREAM_NOISE = 41 };
/* eigenvalues of a correlation of p columns below this, times p, are rounding and left out */
static const double NO_EIGENVALUE = 1e-15;

struct unrelu_sampler {
    size_t d, p, k; /* columns of x, of m, of z */
    uint64_t seed;
    unrelu_transform transform;
    double noise;
    double clipped;  /* the eigenvalue below 0, or 0 */
    double *factor;  /* k x p: F' */
    double *columns; /* 4 x p: scale, b, limit, lambda */
    double *At;      /* p x d: A'; NULL: x = m */
};

void unrelu_sampler_free(unrelu_sampler *s)
{
    if (!s)
        return;
    ur_free(s->factor);
    ur_free(s->columns);
    ur_free(s->At);
    ur_free(s);
}

static unrelu_status set_factor(unrelu_sampler *s, const double *correlation, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t p = s->p;
    double *values = ur_take(&arena, p, sizeof *values);
    double *vectors = ur_take(&arena, p, p * sizeof *vectors);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_eigen_symmetric(p, correlation, values, vectors, err));
    for (size_t j = 0; j < p; j++)
        if (values[j] > NO_EIGENVALUE * (double)p) {
            for (size_t i = 0; i < p; i++)
                s->factor[s->k * p + i] = vectors[i * p + j] * sqrt(values[j]);
            s->k++;
        }
    s->clipped = values[0] < -UR_INDEFINITE * (double)p ? values[0] : 0;
    for (size_t i = 0; s->clipped < 0 && i < p; i++) {
        double square = 0;
        for (size_t j = 0; j < s->k; j++)
            square += s->factor[j * p + i] * s->factor[j * p + i];
        for (size_t j = 0; j < s->k; j++)
            s->factor[j * p + i] /= sqrt(square);
    }
    return UNRELU_OK;
}

double unrelu_sampler_clipped(const unrelu_sampler *s)
{
    return s->clipped;
}

static unrelu_status fill(unrelu_sampler *s, const ur_sampled *law, unrelu_error *err)
{
    size_t p = s->p, d = s->d;
    s->factor = ur_alloc(p, p * sizeof *s->factor);
    s->columns = ur_alloc(p, 4 * sizeof *s->columns);
    s->At = law->A ? ur_alloc(p, d * sizeof *s->At) : NULL;
    if (!s->factor || !s->columns || (law->A && !s->At))
        return ur_fail_memory(err, p * (p + d), "entries of a factor");
    const double *from[] = {law->scale, law->b, law->limit, law->lambda};
    for (size_t i = 0; i < 4; i++)
        if (from[i])
            memcpy(s->columns + i * p, from[i], p * sizeof *s->columns);
    for (size_t i = 0; law->A && i < d; i++)
        for (size_t j = 0; j < p; j++)
            s->At[j * d + i] = law->A[i * p + j];
    return set_factor(s, law->correlation, err);
}

unrelu_status ur_sampler_make(const ur_sampled *law, uint64_t seed, unrelu_sampler **out,
                              unrelu_error *err)
{
    *out = NULL;
    UR_BLAS_BEGIN(NULL, err);
    unrelu_sampler *s = ur_alloc(1, sizeof *s);
    if (!s)
        return ur_fail_memory(err, 1, "sampler");
    *s = (unrelu_sampler){
        .d = law->d, .p = law->p, .seed = seed, .transform = law->transform, .noise = law->noise};
    unrelu_status status = fill(s, law, err);
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
} draw;

static void rectify(const unrelu_sampler *s, double *m)
{
    size_t p = s->p;
    const double *scale = s->columns, *b = scale + p, *limit = b + p, *lambda = limit + p;
    for (size_t r = 0; r < CHUNK; r++, m += p)
        for (size_t j = 0; j < p; j++) {
            double latent = scale[j] * m[j] + b[j];
            double y = latent > limit[j] ? latent : limit[j];
            m[j] = ur_untransform(s->transform, lambda[j], y);
        }
}

/* x = A m + noise e; e is room for CHUNK x d */
static void mix(const unrelu_sampler *s, size_t start, const double *m, double *x, double *e)
{
    ur_multiply(CHUNK, s->p, s->d, m, s->At, x);
    if (s->noise == 0)
        return;
    ur_random_normals(s->seed, STREAM_NOISE, (uint64_t)start * s->d, CHUNK * s->d, e);
    for (size_t i = 0; i < CHUNK * s->d; i++)
        x[i] += s->noise * e[i];
}

/* chunk i holds rows (first / CHUNK + i) CHUNK .. + CHUNK - 1 of the stream */
static unrelu_status draw_chunk(void *context, size_t i, unrelu_error *err)
{
    UR_ARENA(arena);
    const draw *w = context;
    const unrelu_sampler *s = w->s;
    size_t d = s->d, start = (w->first / CHUNK + i) * CHUNK;
    double *z = ur_take(&arena, CHUNK, (s->k + s->p + (s->At ? 2 * d : 0)) * sizeof *z);
    UR_TRY(ur_arena_status(&arena, err));
    double *m = z + CHUNK * s->k, *x = s->At ? m + CHUNK * s->p : m;
    ur_random_normals(s->seed, STREAM_SAMPLES, (uint64_t)start * s->k, CHUNK * s->k, z);
    ur_multiply(CHUNK, s->k, s->p, z, s->factor, m);
    rectify(s, m);
    if (s->At)
        mix(s, start, m, x, x + CHUNK * d);
    size_t first = w->first > start ? w->first - start : 0, end = w->first + w->rows - start;
    end = end < CHUNK ? end : CHUNK;
    memcpy(w->x + (start + first - w->first) * d, x + first * d, (end - first) * d * sizeof *x);
    return UNRELU_OK;
}

unrelu_status unrelu_sampler_draw(const unrelu_sampler *s, size_t first_row, size_t rows,
                                  const unrelu_exec *exec, double *x, unrelu_error *err)
{
    unrelu_exec here;
    UR_TRY(ur_exec_read(&exec, &here, err));
    if (rows == 0)
        return UNRELU_OK;
    size_t chunks = (first_row + rows - 1) / CHUNK - first_row / CHUNK + 1;
    draw w = {s, first_row, rows, x};
    UR_BLAS_BEGIN(&here.threads, err);
    return ur_each(exec, "drawing", chunks, draw_chunk, &w, err);
}
