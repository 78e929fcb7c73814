/* SPDX-License-Identifier: Apache-2.0 */
/* Two neurons with outputs u and -u, told apart along one direction: r = max(0, w_1 x) -
 * max(0, w_2 x). The sign of r gives one of the two patterns of a row (r > 0: the first is on);
 * the other is guessed by the current w, then both w by least squares, until the patterns repeat.
 * With half of the pattern known the first random start was enough in 100 of 100 pairs (d = 5 to
 * 40, n = 100 to 4000), so that moments give no start here. The search is on at most 40 rows for
 * each unknown; what it finds must meet all rows. No start can be told to be the last that is
 * worth trying: not found is not a proof. Cost of a step: n (2 p)^2. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60, ROWS_FOR_EACH = 40 };
/* Singular values of the equations, of the largest: below, the pair is not determined. */
static const double FLAT = 1e-10;

typedef struct {
    size_t n, p;
    const double *x, *r;
    double *t;         /* (n, 2): w x */
    double *Z;         /* (n, 2 p): x where the first is on, -x where the second is */
    double *G, *b;     /* (2 p)^2, 2 p */
    unsigned char *on; /* n: bits 1, 2 */
} fit;

static unrelu_status fit_open(ur_arena *arena, fit *o, unrelu_error *err)
{
    size_t wide = 2 * o->p;
    o->t = ur_take(arena, o->n, 2 * sizeof *o->t);
    o->Z = ur_take(arena, o->n, wide * sizeof *o->Z);
    o->G = ur_take(arena, wide, wide * sizeof *o->G);
    o->b = ur_take(arena, wide, sizeof *o->b);
    o->on = ur_take(arena, o->n, 1);
    return ur_arena_status(arena, err);
}

/* the patterns of w, and the equations Z w = r of them; returns whether they differ from the last
 */
static int set_patterns(fit *o, const double *w)
{
    int changed = 0;
    ur_multiply_nt(o->n, o->p, 2, o->x, w, o->t);
    for (size_t i = 0; i < o->n; i++) {
        int first = o->r[i] > 0 || (o->r[i] < 0 && o->t[2 * i] > 0);
        int second = o->r[i] < 0 || (o->r[i] > 0 && o->t[2 * i + 1] > 0);
        unsigned char on = (unsigned char)(first | second << 1);
        double *z = o->Z + i * 2 * o->p;
        changed |= on != o->on[i];
        o->on[i] = on;
        for (size_t j = 0; j < o->p; j++) {
            z[j] = first * o->x[i * o->p + j];
            z[o->p + j] = -second * o->x[i * o->p + j];
        }
    }
    return changed;
}

/* largest |r - max(0, w_1 x) + max(0, w_2 x)| */
static double misfit(fit *o, const double *w)
{
    double worst = 0;
    ur_multiply_nt(o->n, o->p, 2, o->x, w, o->t);
    for (size_t i = 0; i < o->n; i++)
        worst = fmax(worst, fabs(o->r[i] - fmax(0, o->t[2 * i]) + fmax(0, o->t[2 * i + 1])));
    return worst;
}

/* To a fixed point of patterns and least squares, by normal equations. Rounding of the trace on
 * their diagonal: a direction that no row has does not end the search, and patterns do not see it.
 */
static void alternate(fit *o, double *w)
{
    size_t n = o->n, wide = 2 * o->p;
    memset(o->on, 0, n);
    for (int step = 0; step < STEPS && (set_patterns(o, w) || step == 0); step++) {
        double trace = 0;
        ur_syrk(UR_LOWER, UR_TURNED, wide, n, 1, o->Z, wide, 0, o->G, wide);
        ur_gemv(UR_TURNED, n, wide, 1, o->Z, wide, o->r, 0, o->b);
        for (size_t j = 0; j < wide; j++)
            trace += o->G[j * wide + j];
        for (size_t j = 0; j < wide; j++)
            o->G[j * wide + j] += UR_ROUNDING * trace;
        if (!ur_cholesky_in_place(wide, o->G))
            return;
        ur_trsv(UR_LOWER, UR_PLAIN, wide, o->G, wide, o->b);
        ur_trsv(UR_LOWER, UR_TURNED, wide, o->G, wide, o->b);
        memcpy(w, o->b, wide * sizeof *w);
    }
}

unrelu_status ur_pair_fit(size_t n, size_t p, const double *x, const double *r, double tolerance,
                          uint64_t seed, size_t most, double *w, size_t *starts, int *met,
                          unrelu_error *err)
{
    UR_ARENA(arena);
    size_t wide = 2 * p, step = (n + ROWS_FOR_EACH * wide - 1) / (ROWS_FOR_EACH * wide), rank = 0;
    size_t rows = (n + step - 1) / step; /* evenly spread */
    double *x_few = ur_take(&arena, rows, p * sizeof *x), *r_few = ur_take(&arena, rows, sizeof *r);
    double *sharp = ur_take(&arena, wide, sizeof *sharp);
    *met = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < rows; i++) {
        memcpy(x_few + i * p, x + i * step * p, p * sizeof *x);
        r_few[i] = r[i * step];
    }
    double close = tolerance * sqrt(ur_short_dot(n, r, r) / (double)n);
    fit all = {.n = n, .p = p, .x = x, .r = r}, few = {.n = rows, .p = p, .x = x_few, .r = r_few};
    UR_TRY(fit_open(&arena, &all, err));
    UR_TRY(fit_open(&arena, &few, err));
    for (size_t start = 0; start < most && !*met; start++) {
        ++*starts;
        ur_random_normals(seed, UR_STREAM_PAIR, start * wide, wide, w);
        alternate(&few, w);
        set_patterns(&all, w); /* w of its own patterns on all rows, by a QR factorisation */
        UR_TRY(ur_least_squares(n, wide, 1, all.Z, r, FLAT, sharp, &rank, err));
        *met = rank == wide && misfit(&all, sharp) <= close;
        if (*met)
            memcpy(w, sharp, wide * sizeof *w);
    }
    return UNRELU_OK;
}
