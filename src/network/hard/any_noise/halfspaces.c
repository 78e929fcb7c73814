/* SPDX-License-Identifier: Apache-2.0 */
/* Step 3 of Algorithm 8. A row of M S with row U = e_j sees row a = f(v_j x) + noise; with a
 * dither g spread over the noise its sign is a noisy label of the half-space v_j x > 0, and
 * argmax_{|w| <= 1} sum sign(row a + eta g) w x is the mean of sign x at unit length, whose
 * expectation over g has the closed form 2 Phi(row a / eta) - 1: no dither is drawn. With
 * A'X / n = P s Q' the rows that the paper enumerates are z' s^-1 P', z = Q v_j of length 1: 96
 * random z in k dimensions, three sizes of dither, and both signs of w in place of 10^241 grid
 * points; then k of the 192 by matching pursuit. 96 n (m + p) operations and as many Phi for the
 * half-spaces, n 192^2 for the choice. */
#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/any_noise/any_noise.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { DIRECTIONS = 96 };
static const double dither[] = {.1, .3, 1}; /* of the root mean square of row a, in turn */

/* For white normal x and E independent of it, whatever its mean, E[A'X / n] = U diag(P(on)) V
 * (U V / 2 without biases): its singular spaces are those of U and V. n m p operations. */
unrelu_status ur_any_spaces_make(const ur_any_rows *rows, ur_arena *arena, ur_any_spaces *s,
                                 unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = rows->n, m = rows->m, p = rows->p, r = m < p ? m : p;
    double *centred = ur_take(&own, n, m * sizeof *centred), *M = ur_take(&own, m, p * sizeof *M);
    s->r = r;
    s->P = ur_take(arena, m, r * sizeof *s->P);
    s->s = ur_take(arena, r, sizeof *s->s);
    s->Q = ur_take(arena, r, p * sizeof *s->Q);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_any_centre(n, m, rows->b, centred);
    ur_multiply_tn(n, m, p, centred, rows->x, M);
    for (size_t i = 0; i < m * p; i++)
        M[i] /= (double)n;
    return ur_svd(m, p, M, s->P, s->s, s->Q, err);
}

/* 2 Phi((row a - shift) / eta) - 1 of row i; the sign where eta is 0 */
static double expected_sign(const ur_any_rows *rows, size_t i, const double *row, double shift,
                            double eta)
{
    double t = ur_dot(rows->m, row, rows->b + i * rows->m) - shift;
    return erf(t / (fmax(eta, DBL_MIN) * M_SQRT2));
}

void ur_any_halfspace(const ur_any_rows *rows, const double *row, double shift, double eta,
                      double *w)
{
    size_t n = rows->n, p = rows->p;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += expected_sign(rows, i, row, shift, eta) / (double)n;
    memset(w, 0, p * sizeof *w);
    for (size_t i = 0; i < n; i++)
        ur_add(p, expected_sign(rows, i, row, shift, eta) - mean, rows->x + i * p, w);
    ur_unit_rows(1, p, w);
}

typedef struct {
    const ur_any_rows *rows;
    const ur_any_spaces *spaces;
    size_t dims;
    double *z;   /* (DIRECTIONS, dims) */
    double *row; /* (DIRECTIONS, m) */
    double *W;   /* (2 DIRECTIONS, p): w, then -w */
} search;

static void look(void *context, size_t t)
{
    const search *h = context;
    const ur_any_rows *rows = h->rows;
    const ur_any_spaces *s = h->spaces;
    size_t n = rows->n, p = rows->p, m = rows->m;
    double *row = h->row + t * m, *w = h->W + 2 * t * p, mean = 0, squares = 0;
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < h->dims; l++)
            if (s->s[l] > 0)
                row[j] += s->P[j * s->r + l] * h->z[t * h->dims + l] / s->s[l];
    ur_unit_rows(1, m, row);
    for (size_t i = 0; i < n; i++) {
        double y = ur_dot(m, row, rows->b + i * m);
        mean += y / (double)n;
        squares += y * y / (double)n;
    }
    /* noise with a mean moves 0: every other row is taken about its own */
    ur_any_halfspace(rows, row, t % 2 ? mean : 0, dither[t % 3] * sqrt(squares), w);
    for (size_t l = 0; l < p; l++)
        w[p + l] = -w[l];
}

unrelu_status ur_any_halfspaces(const ur_any_rows *rows, const ur_any_spaces *spaces, size_t k,
                                uint64_t seed, const unrelu_exec *exec, double *V,
                                unrelu_error *err)
{
    UR_ARENA(arena);
    search s = {rows, spaces, .dims = k < spaces->r ? k : spaces->r};
    s.z = ur_take(&arena, DIRECTIONS, s.dims * sizeof *s.z);
    s.row = ur_take(&arena, DIRECTIONS, rows->m * sizeof *s.row);
    s.W = ur_take(&arena, 2 * DIRECTIONS, rows->p * sizeof *s.W);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_normals(seed, UR_STREAM_ANY_DIRECTION, 0, DIRECTIONS * s.dims, s.z);
    UR_TRY(ur_parallel_for(exec, "half-spaces", DIRECTIONS, look, &s, err));
    return ur_any_choose(rows, 2 * DIRECTIONS, s.W, k, V, err);
}
