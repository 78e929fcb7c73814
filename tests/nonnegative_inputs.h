/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of one sign, and a network with one row of V of one sign: that neuron is never off, so
 * that its z lies inside the cone of the labels, not on a ray. */
#ifndef NONNEGATIVE_INPUTS_H
#define NONNEGATIVE_INPUTS_H

#include "networks.h"

#include "base/random.h"
#include "cone/cone.h"
#include "dense/linear.h"
#include "network/hard/enumerate/enumerate.h"

typedef struct {
    size_t n, d, k;
    double *x, *a; /* (n, d), (n, k) */
} nonnegative_case;

/* whether all neurons but the first are on and off for d rows and more; h: their values */
static inline int nonnegative_alternates(const nonnegative_case *c, const double *h)
{
    for (size_t l = 1; l < c->k; l++) {
        size_t on = 0;
        for (size_t i = 0; i < c->n; i++)
            on += h[i * c->k + l] > 0;
        if (on < c->d || c->n - on < c->d)
            return 0;
    }
    return 1;
}

/* number i of `of`: n = 20 .. 200, k = 2 .. 5, d = k + 1 */
static inline nonnegative_case nonnegative_draw(int i, int of)
{
    size_t k = 2 + (size_t)i % 4, d = k + 1, n = 20 + (size_t)(180 * i / (of > 1 ? of - 1 : 1));
    nonnegative_case c = {n, d, k, malloc(n * d * sizeof(double)), malloc(n * k * sizeof(double))};
    double V[30], U[25], *h = malloc(n * k * sizeof *h);
    assert_non_null(c.x);
    assert_non_null(c.a);
    assert_non_null(h);
    uint64_t tries = 0;
    do {
        ur_random_normals((uint64_t)i, 910, tries * n * d, n * d, c.x);
        ur_random_normals((uint64_t)i, 911, tries * k * d, k * d, V);
        for (size_t j = 0; j < n * d; j++)
            c.x[j] = fabs(c.x[j]);
        for (size_t j = 0; j < d; j++)
            V[j] = fabs(V[j]);
        ur_multiply_nt(n, d, k, c.x, V, h);
        for (size_t j = 0; j < n * k; j++)
            h[j] = fmax(0, h[j]);
        tries++;
    } while (!nonnegative_alternates(&c, h));
    ur_random_normals((uint64_t)i, 912, 0, k * k, U);
    ur_multiply_nt(n, k, k, h, U, c.a);
    free(h);
    return c;
}

static inline void nonnegative_free(nonnegative_case *c)
{
    free(c->x);
    free(c->a);
}

typedef struct {
    size_t by_rays, by_faces; /* neurons found */
    size_t rays, looked;      /* faces */
    int finished;
} nonnegative_counts;

static inline nonnegative_counts nonnegative_count_with(const nonnegative_case *c, uint64_t budget)
{
    nonnegative_counts counts = {0};
    unrelu_error err = {0};
    size_t p;
    ur_frame frame = {.n = c->n, .m = c->k, .d = c->d};
    double *y = malloc(c->n * c->k * sizeof *y);
    frame.x = malloc(c->n * c->d * sizeof *frame.x);
    assert_non_null(frame.x);
    assert_non_null(y);
    must(ur_qr_pivoted(c->n, c->d, c->x, 1e-12, &p, frame.x, NULL, NULL, &err), &err);
    for (size_t i = 0; i < c->n * p; i++)
        frame.x[i] *= sqrt((double)c->n);
    frame.p = p;
    memcpy(y, c->a, c->n * c->k * sizeof *y);
    must(ur_orthonormalise(c->n, c->k, y, &err), &err);
    UR_ARENA(arena);
    ur_neurons q;
    ur_rays rays;
    must(ur_neurons_open(&frame, y, c->k, 1e-9, budget, 1, NULL, &arena, &q, &err), &err);
    must(ur_rays_find(q.rows, q.k, q.Y, q.tolerance, 100000, NULL, &rays, &err), &err);
    assert_true(rays.finished);
    for (size_t r = 0; r < rays.count; r++) {
        int grew;
        must(ur_neurons_try(&q, rays.z + r * q.k, &grew, &err), &err);
    }
    counts.by_rays = q.found;
    counts.rays = rays.count;
    ur_rays_free(&rays);
    ur_arena_end(&arena);
    must(ur_neurons_open(&frame, y, c->k, 1e-9, budget, 1, NULL, &arena, &q, &err), &err);
    must(ur_faces_walk(&q, &counts.finished, &counts.rays, &counts.looked, &err), &err);
    counts.by_faces = q.found;
    free(frame.x);
    free(y);
    return counts;
}

static inline nonnegative_counts nonnegative_count(const nonnegative_case *c)
{
    return nonnegative_count_with(c, 100000);
}

/* of --method enumerate; infinite where it finds no network */
static inline double nonnegative_residual(const nonnegative_case *c)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model;
    unrelu_error err = {0};
    o.method = UNRELU_RECOVER_ENUMERATE;
    must(try_recover(c->x, c->a, c->n, c->d, c->k, &o, NULL, &model, &err), &err);
    double residual = model->verdict == UNRELU_VERDICT_FAILED ? INFINITY : model->residual;
    unrelu_network_free(model);
    return residual;
}

#endif
