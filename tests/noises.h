/* SPDX-License-Identifier: Apache-2.0 */
/* Noise of ten shapes, none of which depends on the inputs. */
#ifndef NOISES_H
#define NOISES_H

#include "networks.h"

#include "base/random.h"

typedef enum {
    NOISE_NORMAL,
    NOISE_T,      /* Student, 1.5 degrees of freedom: infinite variance */
    NOISE_CAUCHY, /* no mean */
    NOISE_EXPONENTIAL,
    NOISE_SPIKES, /* 1 % of the cells */
    NOISE_SINE,   /* of the row number */
    NOISE_DRIFT,  /* the square of the row number */
    NOISE_RANK_ONE,
    NOISE_RANK_ONE_MEAN,
    NOISE_OFFSET,
    NOISES,
} noise_shape;

static const char *const noise_names[NOISES] = {
    "Gaussian", "t(1.5)", "Cauchy",   "exponential",        "spikes",
    "sine",     "drift",  "rank-one", "rank-one with mean", "constant offset"};

/* one cell: g normal, u and v uniform (of the cell); z normal (of the row), w (of the column) */
static inline double noise_cell(noise_shape shape, double g, double u, double v, double z, double w,
                                double part, double row)
{
    switch (shape) {
    case NOISE_NORMAL:
        return g;
    case NOISE_T:
        return sqrt(1.5 * (pow(u, -2 / 1.5) - 1)) * cos(2 * M_PI * v);
    case NOISE_CAUCHY:
        return tan(M_PI * (u - .5));
    case NOISE_EXPONENTIAL:
        return -log(u);
    case NOISE_SPIKES:
        return u < .01 ? 10 * g : 0;
    case NOISE_SINE:
        return sin(.05 * row + 3 * w);
    case NOISE_DRIFT:
        return w * part * part;
    case NOISE_RANK_ONE:
        return w * z;
    case NOISE_RANK_ONE_MEAN:
        return w * (1 + z);
    default:
        return w;
    }
}

/* E (n x m) with the root mean square `size` */
static inline double *make_noise(noise_shape shape, size_t n, size_t m, double size, uint64_t seed)
{
    double *E = malloc(n * m * sizeof *E), *g = malloc(n * m * sizeof *g),
           *u = malloc(2 * n * m * sizeof *u), *z = malloc((n + m) * sizeof *z), squares = 0;
    assert_non_null(E);
    assert_non_null(g);
    assert_non_null(u);
    assert_non_null(z);
    ur_random_normals(seed, 901, 0, n * m, g);
    ur_random_normals(seed, 902, 0, n + m, z);
    ur_random_uniforms(seed, 903, 0, 2 * n * m, u);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            size_t at = i * m + j;
            E[at] = noise_cell(shape, g[at], u[2 * at], u[2 * at + 1], z[i], z[n + j],
                               (double)i / (double)n, (double)i);
            squares += E[at] * E[at];
        }
    for (size_t i = 0; i < n * m; i++)
        E[i] *= size / sqrt(squares / (double)(n * m));
    free(g);
    free(u);
    free(z);
    return E;
}

static inline double root_mean_square(const double *a, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += a[i] * a[i];
    return sqrt(squares / (double)count);
}

/* adds noise of `level` times the labels' root mean square; returns |E|_F */
static inline double add_noise(planted_network *p, noise_shape shape, double level, uint64_t seed)
{
    double size = level * root_mean_square(p->a, p->n * p->m);
    double *E = make_noise(shape, p->n, p->m, size, seed);
    for (size_t i = 0; i < p->n * p->m; i++)
        p->a[i] += E[i];
    free(E);
    return size * sqrt((double)(p->n * p->m));
}

/* Student noise of `degrees` (1: Cauchy; infinite: normal), scale `level` times the labels' root
 * mean square, by Bailey's way; returns |E|_F */
static inline double add_student(planted_network *p, double degrees, double level, uint64_t seed)
{
    size_t cells = p->n * p->m;
    double size = level * root_mean_square(p->a, cells), squares = 0;
    double *u = malloc(2 * cells * sizeof *u);
    assert_non_null(u);
    ur_random_uniforms(seed, 906, 0, 2 * cells, u);
    for (size_t i = 0; i < cells; i++) {
        double r2 =
            isfinite(degrees) ? degrees * (pow(u[2 * i], -2 / degrees) - 1) : -2 * log(u[2 * i]);
        double e = size * sqrt(r2) * cos(2 * M_PI * u[2 * i + 1]);
        p->a[i] += e;
        squares += e * e;
    }
    free(u);
    return sqrt(squares);
}

static inline double add_cauchy(planted_network *p, double level, uint64_t seed)
{
    return add_student(p, 1, level, seed);
}

/* |A - U f(V X + c) - e|_F by plain loops */
static inline double objective_of(const unrelu_network *model, const planted_network *p)
{
    double squares = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t r = 0; r < p->m; r++) {
            double y = model->e[r];
            for (size_t j = 0; j < model->k; j++) {
                double t = model->c[j];
                for (size_t l = 0; l < p->d; l++)
                    t += model->V[j * p->d + l] * p->x[i * p->d + l];
                y += model->U[r * model->k + j] * (t > 0 ? t : 0);
            }
            squares += (p->a[i * p->m + r] - y) * (p->a[i * p->m + r] - y);
        }
    return sqrt(squares);
}

#endif
