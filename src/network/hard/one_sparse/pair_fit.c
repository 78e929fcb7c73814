/* SPDX-License-Identifier: Apache-2.0 */
/* Two neurons with outputs u and -u, told apart along one direction: r = max(0, w_1 x) -
 * max(0, w_2 x). The sign of r gives one of the two patterns of a row (r > 0: the first is on);
 * the other is guessed by the current w, then both w by least squares, until the patterns repeat.
 * With half of the pattern known the first random start was enough in 100 of 100 pairs (d = 5 to
 * 40, n = 100 to 4000), so that moments give no start here. The search is on at most 40 rows for
 * each unknown; what it finds must meet all rows. No start can be told to be the last that is
 * worth trying: not found is not a proof. Cost of a step: n (2 p)^2. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, ROWS_FOR_EACH = 40 };

typedef struct {
    size_t n, p;
    const double *x, *r;
    double size, tolerance; /* root mean square of r; of the residual, relative to it */
    double *t;              /* (n, 2): w x */
    double *Z;              /* (n, 2 p): x where the first is on, -x where the second is */
    double *G, *b;          /* (2 p)^2, 2 p */
    unsigned char *on;      /* n: bits 1, 2 */
} fit;

static void fit_free(fit *o)
{
    free(o->t);
    free(o->Z);
    free(o->G);
    free(o->b);
    free(o->on);
}

static unrelu_status fit_new(fit *o, unrelu_error *err)
{
    size_t q = 2 * o->p;
    o->t = ur_alloc(o->n, 2 * sizeof *o->t);
    o->Z = ur_alloc(o->n, q * sizeof *o->Z);
    o->G = ur_alloc(q, q * sizeof *o->G);
    o->b = ur_doubles(q);
    o->on = ur_alloc(o->n, 1);
    return o->t && o->Z && o->G && o->b && o->on ? UNRELU_OK
                                                 : ur_fail_memory(err, o->n * q, "equations");
}

/* the patterns of w; returns whether they differ from the last */
static int set_patterns(fit *o, const double *w)
{
    int changed = 0;
    ur_multiply_nt(o->n, o->p, 2, o->x, w, o->t);
    for (size_t i = 0; i < o->n; i++) {
        int first = o->r[i] > 0 || (o->r[i] < 0 && o->t[2 * i] > 0);
        int second = o->r[i] < 0 || (o->r[i] > 0 && o->t[2 * i + 1] > 0);
        unsigned char on = (unsigned char)(first | second << 1);
        changed |= on != o->on[i];
        o->on[i] = on;
    }
    return changed;
}

static void set_equations(fit *o)
{
    size_t p = o->p;
    for (size_t i = 0; i < o->n; i++) {
        double *z = o->Z + i * 2 * p, first = o->on[i] & 1, second = o->on[i] >> 1;
        for (size_t j = 0; j < p; j++) {
            z[j] = first * o->x[i * p + j];
            z[p + j] = -second * o->x[i * p + j];
        }
    }
}

/* w of these patterns by normal equations; 0 where they are singular */
static int solve_quickly(fit *o, double *w)
{
    size_t q = 2 * o->p;
    size_t n = o->n, size = q;
    double trace = 0;
    set_equations(o);
    ur_syrk(UR_LOWER, UR_TURNED, size, n, 1, o->Z, size, 0, o->G, size);
    ur_gemv(UR_TURNED, n, size, 1, o->Z, size, o->r, 0, o->b);
    for (size_t j = 0; j < q; j++)
        trace += o->G[j * q + j];
    for (size_t j = 0; j < q; j++)
        o->G[j * q + j] += 1e-12 * trace;
    if (!ur_cholesky_in_place(q, o->G))
        return 0;
    ur_trsv(UR_LOWER, UR_PLAIN, size, o->G, size, o->b);
    ur_trsv(UR_LOWER, UR_TURNED, size, o->G, size, o->b);
    memcpy(w, o->b, q * sizeof *w);
    return 1;
}

/* largest |r - max(0, w_1 x) + max(0, w_2 x)|, over the size of r */
static double misfit(fit *o, const double *w)
{
    double worst = 0;
    ur_multiply_nt(o->n, o->p, 2, o->x, w, o->t);
    for (size_t i = 0; i < o->n; i++)
        worst = fmax(worst, fabs(o->r[i] - fmax(0, o->t[2 * i]) + fmax(0, o->t[2 * i + 1])));
    return worst / o->size;
}

/* to a fixed point of patterns and least squares; whether it fits, nearly */
static int alternate(fit *o, double *w)
{
    memset(o->on, 0, o->n);
    for (int step = 0; step < STEPS && (set_patterns(o, w) || step == 0); step++)
        if (!solve_quickly(o, w))
            return 0;
    return misfit(o, w) < 1e-6 + o->tolerance;
}

/* w of its own patterns by a QR factorisation; whether it fits */
static unrelu_status sharpen(fit *o, double *w, int *met, unrelu_error *err)
{
    size_t q = 2 * o->p, rank = 0;
    double *sharp = ur_doubles(q);
    unrelu_status status = sharp ? UNRELU_OK : ur_fail_memory(err, q, "weights");
    if (status == UNRELU_OK) {
        set_patterns(o, w);
        set_equations(o);
        status = ur_least_squares(o->n, q, 1, o->Z, o->r, 1e-10, sharp, &rank, err);
    }
    *met = status == UNRELU_OK && rank == q && misfit(o, sharp) <= o->tolerance;
    if (*met)
        memcpy(w, sharp, q * sizeof *w);
    free(sharp);
    return status;
}

/* few: evenly spread rows of all */
static unrelu_status thin(const fit *all, fit *few, double **room, unrelu_error *err)
{
    size_t p = all->p, most = ROWS_FOR_EACH * 2 * p, step = (all->n + most - 1) / most;
    *few = (fit){.p = p, .size = all->size, .tolerance = all->tolerance};
    *room = NULL;
    few->n = (all->n + step - 1) / step;
    if (!(*room = ur_alloc(few->n, (p + 1) * sizeof **room)))
        return ur_fail_memory(err, few->n * p, "rows");
    double *r = *room + few->n * p;
    for (size_t i = 0; i < few->n; i++) {
        memcpy(*room + i * p, all->x + i * step * p, p * sizeof **room);
        r[i] = all->r[i * step];
    }
    few->x = *room;
    few->r = r;
    return fit_new(few, err);
}

unrelu_status ur_pair_fit(size_t n, size_t p, const double *x, const double *r, double tolerance,
                          uint64_t seed, size_t most, double *w, size_t *starts, int *met,
                          unrelu_error *err)
{
    fit all = {.n = n, .p = p, .x = x, .r = r, .tolerance = tolerance}, few = {0};
    double *room = NULL, squares = 0;
    *met = 0;
    for (size_t i = 0; i < n; i++)
        squares += r[i] * r[i];
    all.size = sqrt(squares / (double)n);
    unrelu_status status = fit_new(&all, err);
    if (status == UNRELU_OK)
        status = thin(&all, &few, &room, err);
    for (size_t start = 0; start < most && status == UNRELU_OK && !*met; start++) {
        ++*starts;
        ur_random_normals(seed, UR_STREAM_PAIR, start * 2 * p, 2 * p, w);
        if (alternate(&few, w))
            status = sharpen(&all, w, met, err);
    }
    fit_free(&all);
    fit_free(&few);
    free(room);
    return status;
}
