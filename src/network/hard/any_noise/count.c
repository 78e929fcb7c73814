/* SPDX-License-Identifier: Apache-2.0 */
/* How many neurons labels with noise show. For E independent of x the moments of the labels with
 * any features of x are U times those of the neurons, so that their rank is at most k: features
 * are x and, for up to 30 inputs, its products (where U f is nearly even in x, x alone sees
 * little). Labels with cut tails are not U f any more, but their moments with x alone have the rows
 * of V as row space: these are looked at too where tails are heavy, and the larger number counts.
 * Shuffling the rows of the labels leaves all but the dependence on x. A singular value counts
 * where it exceeds, beside the ones before it, those of all 20 shuffles and their mean by four
 * deviations. Noise of any law, over rows and labels, is as likely in the shuffles as in the data
 * where the rows of x are exchangeable. 21 n m q operations for q features. Finds at most m, and
 * less where a neuron adds less than sqrt((m + q) / n) of the noise. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHUFFLES = 20, PRODUCTS_P = 30, MOST_CELLS = 4000000 };
static const double DEVIATIONS = 4;
static const double ROUNDING = 1e-14; /* of squares: singular values beyond 1e-7 are not seen */

typedef struct {
    size_t n, m, q;
    double *phi;      /* (n, q): features */
    double *a;        /* (n, m): labels about their means */
    double *shuffled; /* (n, m) */
    size_t *order;    /* n */
    double *uniform;  /* n */
    double *M;        /* m x q */
    double *G;        /* (1 + SHUFFLES, m, m): M M' of the data, then of the shuffles */
} work;

static void work_free(work *w)
{
    free(w->phi);
    free(w->a);
    free(w->shuffled);
    free(w->order);
    free(w->uniform);
    free(w->M);
    free(w->G);
}

/* x, then x_a x_b, all of unit variance for normal x */
static void set_features(const ur_any_rows *rows, int products, work *w)
{
    size_t p = rows->p;
    for (size_t i = 0; i < w->n; i++) {
        const double *x = rows->x + i * p;
        double *out = w->phi + i * w->q;
        memcpy(out, x, p * sizeof *out);
        out += p;
        for (size_t a = 0; a < p && products; a++)
            for (size_t b = 0; b <= a; b++)
                *out++ = a == b ? x[a] * x[a] * M_SQRT1_2 : x[a] * x[b];
    }
}

static unrelu_status open_work(const ur_any_rows *rows, const double *a, int products, work *w,
                               unrelu_error *err)
{
    size_t p = rows->p, m = w->m = rows->m, q = w->q = p + (products ? p * (p + 1) / 2 : 0);
    size_t most = MOST_CELLS / q > 1000 ? MOST_CELLS / q : 1000;
    w->n = rows->n < most ? rows->n : most;
    w->phi = ur_alloc(w->n, q * sizeof *w->phi);
    w->a = ur_alloc(w->n, m * sizeof *w->a);
    w->shuffled = ur_alloc(w->n, m * sizeof *w->shuffled);
    w->order = ur_alloc(w->n, sizeof *w->order);
    w->uniform = ur_doubles(w->n);
    w->M = ur_alloc(m, q * sizeof *w->M);
    w->G = ur_alloc((1 + SHUFFLES) * m, m * sizeof *w->G);
    if (!w->phi || !w->a || !w->shuffled || !w->order || !w->uniform || !w->M || !w->G)
        return ur_fail_memory(err, w->n * (q + 2 * m), "numbers of the shuffles");
    set_features(rows, products, w);
    ur_any_centre(w->n, m, a, w->a);
    return UNRELU_OK;
}

static void shuffle(uint64_t seed, size_t number, work *w)
{
    size_t n = w->n, m = w->m;
    ur_random_uniforms(seed, UR_STREAM_ANY_SHUFFLE, (uint64_t)number * n, n, w->uniform);
    for (size_t i = 0; i < n; i++)
        w->order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(w->uniform[i - 1] * (double)i), kept = w->order[i - 1];
        w->order[i - 1] = w->order[other];
        w->order[other] = kept;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(w->shuffled + i * m, w->a + w->order[i] * m, m * sizeof *w->a);
}

static void moments(work *w, const double *a, double *G)
{
    ur_multiply_tn(w->n, w->m, w->q, a, w->phi, w->M);
    ur_gram(w->m, w->q, w->M, G);
}

/* G <- (I - u u') G (I - u u') */
static void project_out(size_t m, const double *u, double *G)
{
    for (int side = 0; side < 2; side++) {
        size_t along = side ? m : 1, across = side ? 1 : m;
        for (size_t i = 0; i < m; i++) {
            double dot = 0;
            for (size_t j = 0; j < m; j++)
                dot += u[j] * G[i * across + j * along];
            for (size_t j = 0; j < m; j++)
                G[i * across + j * along] -= dot * u[j];
        }
    }
}

/* whether the root of `value` is above those of the shuffles */
static unrelu_status test_value(const work *w, double value, double *values, int *clear,
                                unrelu_error *err)
{
    double sum = 0, squares = 0, most = 0, root = sqrt(fmax(0, value));
    unrelu_status status = UNRELU_OK;
    for (size_t t = 1; t <= SHUFFLES && status == UNRELU_OK; t++) {
        status = ur_eigen_symmetric(w->m, w->G + t * w->m * w->m, values, NULL, err);
        double top = sqrt(fmax(0, values[w->m - 1]));
        sum += top;
        squares += top * top;
        most = fmax(most, top);
    }
    double mean = sum / SHUFFLES, variance = fmax(0, squares / SHUFFLES - mean * mean);
    *clear = root > most && root > mean + DEVIATIONS * sqrt(variance);
    return status;
}

static unrelu_status test_all(work *w, size_t *k, unrelu_error *err)
{
    size_t m = w->m;
    double *values = ur_doubles(m), *vectors = ur_alloc(m, m * sizeof *vectors);
    double *room = ur_doubles(m), *u = ur_doubles(m);
    int clear = 1;
    unrelu_status status = UNRELU_OK;
    if (!values || !vectors || !room || !u)
        status = ur_fail_memory(err, m * m, "singular values");
    if (status == UNRELU_OK)
        status = ur_eigen_symmetric(m, w->G, values, vectors, err);
    while (status == UNRELU_OK && clear && *k < m) {
        size_t at = m - 1 - *k;
        if (!(values[at] > ROUNDING * values[m - 1]))
            break;
        status = test_value(w, values[at], room, &clear, err);
        for (size_t j = 0; j < m; j++)
            u[j] = vectors[j * m + at];
        for (size_t t = 1; t <= SHUFFLES && clear; t++)
            project_out(m, u, w->G + t * m * m);
        *k += clear != 0;
    }
    free(values);
    free(vectors);
    free(room);
    free(u);
    return status;
}

unrelu_status ur_any_shown(const ur_any_rows *rows, const double *a, int cut, uint64_t seed,
                           size_t *k, unrelu_error *err)
{
    work w = {0};
    *k = 0;
    unrelu_status status = open_work(rows, a, !cut && rows->p <= PRODUCTS_P, &w, err);
    if (status == UNRELU_OK)
        moments(&w, w.a, w.G);
    for (size_t t = 0; t < SHUFFLES && status == UNRELU_OK; t++) {
        shuffle(seed, t, &w);
        moments(&w, w.shuffled, w.G + (t + 1) * w.m * w.m);
    }
    if (status == UNRELU_OK)
        status = test_all(&w, k, err);
    work_free(&w);
    return status;
}

unrelu_status ur_any_count(const ur_any_rows *rows, uint64_t seed, size_t *k, unrelu_error *err)
{
    size_t cut = 0;
    unrelu_status status = ur_any_shown(rows, rows->a, 0, seed, k, err);
    if (status == UNRELU_OK && rows->heavy)
        status = ur_any_shown(rows, rows->b, 1, seed, &cut, err);
    *k = *k > cut ? *k : cut;
    *k = *k > 1 ? *k : 1;
    return status;
}
