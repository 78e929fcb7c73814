/* SPDX-License-Identifier: Apache-2.0 */
/* The labels alone. Where f is 0 left of its kink, the labels a = U f(V x + c) are non-negative
 * mixtures of the k columns of U; neuron j is off on a facet of their cone, a u_j with
 * h_j = u_j a >= 0 and h_j = 0 wherever it is off (dense/facet.h). Inputs are used only at the
 * end: h_j = s f(v_j x + c_j), so v_j and c_j are least squares of f^-1(h_j / s) over the samples
 * where h_j > 0. s is free where f is homogeneous (|v_j| = 1), else what leaves the least
 * residual. Any law of the inputs, k > d too; then the cone may have facets that are no neurons,
 * which their residual on x gives away.
 * About 24 k samples where neurons are on half the time, 12 k / P(off) in general; exact to
 * rounding. Labels with noise (seen in singular values beyond the k-th, so m > k is needed) give
 * an approximation up to noise of about 3 %. Refuses leaky f, an output bias (the cone then has
 * no apex at 0), labels of rank below k, and fewer than k facets. */
#include "base/arena.h"
#include "base/error.h"
#include "cone/facet.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "dense/lp.h"
#include "dense/minimum.h"
#include "network/problem/start.h"
#include "network/problem/tolerance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* of the labels: facets are found up to about 3 % */
static const double MOST_NOISE = 0.05;
/* noise of labels that were rounded to single precision */
static const double SINGLE = 3e-8;
/* Of |y|: h at the zeros of a certified facet, which are rounding; and in deviations of the noise.
 * Above these a neuron is on. Ten times larger: small outputs are left out of its regression. */
static const double OFF = 100 * UR_ROUNDING, OFF_NOISE = 6;
/* Of f^-1(h) on x: above, h is no neuron. A neuron leaves rounding there, any other facet what is
 * not linear in x. */
static const double RESIDUAL = 1e-6;
enum {
    SCALE_GRID = 24,  /* s = e^-12 .. e^12 of the largest h */
    SCALE_STEPS = 60, /* golden sections: 0.618^60 = 3e-13 */
    /* rows that are looked at: more cost time and find no more */
    ROWS_LEAST = 2000,
    ROWS_A_NEURON = 100,
    ROWS_AN_INPUT = 10,
    SAMPLES_A_NEURON = 24, /* to find all facets, where neurons are on half the time */
    EXTRA = 20, /* facets that are no neurons, and 2 k: looked for where there are such */
};

typedef struct {
    const ur_start *start;
    size_t n, d, m, k, q; /* rows taken; q: unknowns of a neuron, d and 1 where c is fitted */
    double *x;            /* (n, q), columns at length 1 */
    double *a;            /* (n, m) */
    double *unit;         /* q: the columns' lengths */
    double *B, *y;        /* m x k, (n, k): y = a B, y'y = n I */
    double *size;         /* |y| */
    double sigma, *noise; /* deviation of the noise of a relative to its root mean square; k x k */
    double *h;            /* n */
    double *v;            /* one row of q for each facet, and its residual */
    double *residual;
    ur_arena *arena;
    ur_facets facets;
} cone;

/* ---- the rows ---- */

static int is_zero(const double *a, size_t m)
{
    for (size_t j = 0; j < m; j++)
        if (a[j] != 0)
            return 0;
    return 1;
}

/* evenly spread rows with labels other than 0 */
static void take_rows(cone *p, size_t carrying)
{
    const ur_sample *s = &p->start->sample;
    size_t seen = 0, taken = 0;
    double largest = 0;
    for (size_t i = 0; i < s->n && taken < p->n; i++) {
        const double *a = s->a + i * s->m, *x = s->x + i * s->d;
        if (is_zero(a, s->m) ||
            seen++ != (size_t)((double)taken * ((double)carrying / (double)p->n)))
            continue;
        memcpy(p->a + taken * s->m, a, s->m * sizeof *a);
        memcpy(p->x + taken * p->q, x, s->d * sizeof *x);
        if (p->q > s->d)
            p->x[taken * p->q + s->d] = 1;
        taken++;
    }
    p->n = taken;
    for (size_t i = 0; i < taken * s->m; i++)
        largest = fmax(largest, fabs(p->a[i]));
    int exponent;
    frexp(largest, &exponent);
    for (size_t i = 0; i < taken * s->m; i++)
        p->a[i] = ldexp(p->a[i], -exponent);
    for (size_t j = 0; j < p->q; j++) {
        p->unit[j] = ur_norm_steps(taken, p->x + j, p->q);
        if (p->unit[j] > 0)
            for (size_t i = 0; i < taken; i++)
                p->x[i * p->q + j] /= p->unit[j];
    }
}

/* ---- the labels as k mixtures ---- */

/* y = a B rather than the singular vectors themselves: each row keeps its own relative accuracy */
static unrelu_status whiten(cone *p, unrelu_error *err)
{
    size_t least = p->n < p->m ? p->n : p->m, k = p->k;
    double total = 0, tail = 0;
    UR_ARENA(arena);
    double *U = ur_take(&arena, p->n, least * sizeof *U), *s = ur_take(&arena, least, sizeof *s);
    double *Vt = ur_take(&arena, least, p->m * sizeof *Vt);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_svd(p->n, p->m, p->a, U, s, Vt, err));
    size_t rank = 0;
    while (rank < least && s[rank] > UR_TOLERANCE_DOUBLE * s[0])
        rank++;
    if (rank < k)
        return ur_fail(err, UNRELU_EDATA,
                       "the labels of %zu samples that are not all 0 have rank %zu, and facets of "
                       "k = %zu neurons need rank %zu: more outputs, more samples, or the method "
                       "exact",
                       p->n, rank, k, k);
    for (size_t j = 0; j < least; j++) {
        total += s[j] * s[j];
        tail += j < k ? 0 : s[j] * s[j];
    }
    size_t single = 0; /* labels that are numbers of single precision */
    while (single < p->n * p->m && (double)(float)p->a[single] == p->a[single])
        single++;
    p->sigma = single == p->n * p->m ? SINGLE : 0;
    if (rank > k)
        p->sigma = fmax(p->sigma, sqrt(tail / total * (double)p->m / (double)(p->m - k)));
    if (p->sigma > MOST_NOISE)
        return ur_fail(err, UNRELU_EDATA,
                       "the labels have rank %zu; what is beyond rank k = %zu would be noise of "
                       "%.2g %% of the labels, and facets are found up to about 3 %%: another k, "
                       "or the method moments",
                       rank, k, 100 * p->sigma);
    double rms = sqrt(total / ((double)p->n * (double)p->m)), root = sqrt((double)p->n);
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < p->m; i++)
            p->B[i * k + j] = Vt[j * p->m + i] * root / s[j];
        double deviation = p->sigma * rms * root / s[j];
        p->noise[j * k + j] = deviation * deviation;
    }
    ur_multiply(p->n, p->m, k, p->a, p->B, p->y);
    for (size_t i = 0; i < p->n; i++)
        p->size[i] = ur_norm(k, p->y + i * k);
    return UNRELU_OK;
}

/* ---- a facet's neuron ---- */

typedef struct {
    const cone *p;
    const double *h;
    size_t count;   /* rows where the neuron is on */
    double largest; /* of h there */
    size_t *row;
    double *x, *t;   /* (count, q), count: weighted */
    double *v;       /* q */
    double residual; /* relative */
} regression;

/* Least squares of t = f^-1(h / scale), each row weighted by f'(t) over the accuracy of h: a
 * fraction of |y|, or the noise. The residual is relative to t, about its mean where c is
 * fitted. */
static unrelu_status regress(regression *g, double scale, unrelu_error *err)
{
    const cone *p = g->p;
    size_t q = p->q;
    double total = 0, sum = 0, weights = 0, left = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t row = g->row[i];
        double t = ur_activation_inverse(p->start->f, g->h[row] / scale), slope;
        ur_activation_apply(p->start->f, 1, &t, NULL, &slope);
        double weight = p->sigma > 0 ? slope : slope / p->size[row];
        g->t[i] = weight * t;
        for (size_t j = 0; j < q; j++)
            g->x[i * q + j] = weight * p->x[row * q + j];
        total += g->t[i] * g->t[i];
        sum += weight * g->t[i];
        weights += weight * weight;
    }
    if (p->start->hidden)
        total -= sum / weights * sum;
    g->residual = INFINITY;
    if (!isfinite(total) || total <= 0)
        return UNRELU_OK;
    UR_TRY(ur_least_squares(g->count, q, 1, g->x, g->t, UR_ROUNDING, g->v, NULL, err));
    for (size_t i = 0; i < g->count; i++) {
        double e = g->t[i] - ur_dot(q, g->x + i * q, g->v);
        left += e * e;
    }
    g->residual = sqrt(left / total);
    return UNRELU_OK;
}

static unrelu_status regress_at(void *of, double exponent, double *residual, unrelu_error *err)
{
    regression *g = of;
    double beyond = g->p->start->f.kind == UNRELU_TANH_POS; /* h / s < 1 */
    UR_TRY(regress(g, g->largest * (beyond + exp(exponent)), err));
    *residual = g->residual;
    return UNRELU_OK;
}

/* v = the neuron of facet u, in the data's coordinates */
static unrelu_status neuron(cone *p, const double *u, double *v, double *residual,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    regression g = {.p = p,
                    .h = p->h,
                    .row = ur_take(&arena, p->n, sizeof *g.row),
                    .x = ur_take(&arena, p->n, p->q * sizeof *g.x),
                    .t = ur_take(&arena, p->n, sizeof *g.t),
                    .v = v};
    double variance = 0;
    UR_TRY(ur_arena_status(&arena, err));
    ur_multiply(p->n, p->k, 1, p->y, u, p->h);
    for (size_t j = 0; j < p->k; j++)
        variance += p->noise[j * p->k + j] * u[j] * u[j];
    for (size_t i = 0; i < p->n; i++)
        if (p->h[i] > fmax(OFF * p->size[i], OFF_NOISE * sqrt(variance))) {
            g.row[g.count++] = i;
            g.largest = fmax(g.largest, p->h[i]);
        }
    *residual = INFINITY;
    if (g.count < p->q)
        return UNRELU_OK;
    if (ur_activation_degree(p->start->f) > 0) {
        UR_TRY(regress(&g, g.largest, err));
    } else { /* the scale of least residual; g is as the last one tried left it */
        ur_minimum search = {.f = regress_at,
                             .context = &g,
                             .from = -SCALE_GRID / 2,
                             .step = 1,
                             .points = SCALE_GRID + 1,
                             .sections = SCALE_STEPS};
        double exponent;
        UR_TRY(ur_minimum_find(&search, &exponent, err));
    }
    *residual = g.residual;
    for (size_t j = 0; j < p->q; j++)
        v[j] = p->unit[j] > 0 ? v[j] / p->unit[j] : 0;
    return UNRELU_OK;
}

/* facets, and the neuron of each */
static unrelu_status find_neurons(cone *p, size_t extra, unrelu_error *err)
{
    const ur_start *start = p->start;
    ur_facet_search search = {.n = p->n,
                              .p = p->k,
                              .Y = p->y,
                              .noise = p->sigma > 0 ? p->noise : NULL,
                              .wanted = p->k,
                              .extra = extra,
                              .seed = start->seed,
                              .stream = UR_STREAM_FACETS,
                              .exec = start->exec};
    UR_TRY(ur_facets_find(&search, p->arena, &p->facets, err));
    size_t count = p->facets.count;
    if (count < p->k)
        return ur_fail(
            err, UNRELU_EDATA,
            "found only %zu of %zu facets in %zu tries (n = %zu samples%s): more samples "
            "(about 24 k = %zu, more where neurons are seldom off) or another method",
            count, p->k, p->facets.tries, p->n, p->sigma > 0 ? " with noise" : "",
            SAMPLES_A_NEURON * p->k);
    p->v = ur_take(p->arena, count, p->q * sizeof *p->v);
    p->residual = ur_take(p->arena, count, sizeof *p->residual);
    UR_TRY(ur_arena_status(p->arena, err));
    for (size_t j = 0; j < count; j++)
        UR_TRY(neuron(p, p->facets.U + j * p->k, p->v + j * p->q, &p->residual[j], err));
    return UNRELU_OK;
}

/* how many facets have a smaller residual, or the same and were found earlier */
static size_t place(const cone *p, size_t j)
{
    size_t before = 0;
    for (size_t i = 0; i < p->facets.count; i++)
        before += p->residual[i] < p->residual[j] || (i < j && p->residual[i] == p->residual[j]);
    return before;
}

/* facets that are neurons */
static size_t fitting(const cone *p)
{
    size_t count = 0;
    for (size_t j = 0; j < p->facets.count; j++)
        count += p->residual[j] <= (p->sigma > 0 ? DBL_MAX : RESIDUAL);
    return count;
}

/* the k facets of least residual, in the order found; worst: the largest residual of them */
static unrelu_status choose(const cone *p, double *V, double *c, double *worst, unrelu_error *err)
{
    int homogeneous = ur_activation_degree(p->start->f) > 0;
    size_t taken = 0;
    for (size_t j = 0; j < p->facets.count; j++)
        if (place(p, j) + 1 == p->k)
            *worst = p->residual[j];
    if (fitting(p) < p->k)
        return ur_fail(err, UNRELU_EDATA,
                       "of %zu facets of the labels' cone only %zu are f(v x%s) of the inputs, and "
                       "k = %zu (residual %.2g): another activation or biases, or more samples",
                       p->facets.count, fitting(p), p->start->hidden ? " + c" : "", p->k, *worst);
    for (size_t j = 0; j < p->facets.count; j++) {
        if (place(p, j) >= p->k)
            continue;
        const double *v = p->v + j * p->q;
        double length = homogeneous ? ur_norm(p->d, v) : 1;
        for (size_t i = 0; i < p->d; i++)
            V[taken * p->d + i] = v[i] / length;
        c[taken++] = p->q > p->d ? v[p->d] / length : 0;
    }
    return UNRELU_OK;
}

/* ---- the method ---- */

unrelu_status ur_start_facets(const ur_start *start, double *V, double *c, ur_start_note *note,
                              unrelu_error *err)
{
    const ur_sample *s = &start->sample;
    size_t most = ROWS_LEAST, carrying = 0, zeros = SIZE_MAX, number = sizeof(double);
    double worst = 0;
    char name[64];
    unrelu_activation_name(start->f, name, sizeof name);
    if (!ur_activation_rectifies(start->f))
        return ur_fail(err, UNRELU_EDATA,
                       "facets need an activation that is 0 left of its kink, which %s is not: use "
                       "the method exact",
                       name);
    if (start->constant)
        return ur_fail(err, UNRELU_EDATA,
                       "facets need labels without an output bias (their cone has its apex at 0): "
                       "use the method exact");
    UR_TRY(ur_lp_ready("the method 'facets'", err));
    if (start->k == 0)
        return UNRELU_OK;
    most = ROWS_A_NEURON * start->k > most ? ROWS_A_NEURON * start->k : most;
    most = ROWS_AN_INPUT * s->d > most ? ROWS_AN_INPUT * s->d : most;
    for (size_t i = 0; i < s->n; i++)
        carrying += !is_zero(s->a + i * s->m, s->m);
    size_t n = carrying < most ? carrying : most, m = s->m, k = start->k;
    size_t q = s->d + (start->hidden ? 1 : 0);
    UR_ARENA(arena);
    cone p = {.start = start,
              .arena = &arena,
              .n = n,
              .d = s->d,
              .m = m,
              .k = k,
              .q = q,
              .x = ur_take(&arena, n, q * number),
              .a = ur_take(&arena, n, m * number),
              .y = ur_take(&arena, n, k * number),
              .B = ur_take(&arena, m, k * number),
              .noise = ur_take(&arena, k, k * number),
              .unit = ur_take(&arena, q, number),
              .size = ur_take(&arena, n, number),
              .h = ur_take(&arena, n, number)};
    UR_TRY(ur_arena_status(&arena, err));
    take_rows(&p, carrying);
    UR_TRY(whiten(&p, err));
    /* with k > d, or few distinct inputs, there are facets beside the neurons': then all of them */
    for (int again = 0; again < 2; again++) {
        UR_TRY(find_neurons(&p, again ? EXTRA + 2 * k : 0, err));
        if (fitting(&p) >= k)
            break;
    }
    UR_TRY(choose(&p, V, c, &worst, err));
    for (size_t j = 0; j < p.facets.count; j++)
        zeros = p.facets.zeros[j] < zeros ? p.facets.zeros[j] : zeros;
    if (p.sigma > 0)
        snprintf(note->guarantee, sizeof note->guarantee,
                 "none of the paper's theorems; with noise a facet is one by the count of samples "
                 "near it, without a certificate");
    else
        snprintf(note->guarantee, sizeof note->guarantee,
                 "none of the paper's theorems; every facet has its certificate: no sample beyond "
                 "it, at least %zu on it, of rank k - 1 without any one of them",
                 zeros);
    snprintf(note->assumption, sizeof note->assumption,
             "labels in the cone of k columns of U, each neuron off on many samples: %zu facets in "
             "%zu tries on %zu samples, noise %.2g; inputs used for V alone, residual %.2g",
             p.facets.count, p.facets.tries, p.n, p.sigma, worst);
    return UNRELU_OK;
}
