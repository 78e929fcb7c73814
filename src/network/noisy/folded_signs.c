/* SPDX-License-Identifier: Apache-2.0 */
/* With rows t_j known but for their signs, the features of a network are (|x t_j| + s_j x t_j) / 2:
 * their products are those of |x t_j| and x t_j, summed once, so that what a choice of signs leaves
 * of the labels costs a Cholesky factor of order k. From several choices the sign, or pair of
 * signs, that lowers it most is turned until none does. */
#include "network/noisy/folded.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <math.h>
#include <string.h>

/* Pace: choices to begin from; pairs are turned up to so many rows */
enum { CHOICES = 12, PAIRS = 40, BLOCK = 256 };
/* Pace: of the diagonal, what keeps the equations of two rows that are nearly one positive. The
 * likelihood judges the signs. */
static const double RIDGE = 1e-12;

typedef struct {
    size_t k, q, m;      /* q: k and the constant */
    double *G, *C, *D;   /* (k, k): |x t_i|.|x t_j|, x t_i.|x t_j|, x t_i.x t_j */
    double *g, *c;       /* k: |x t_j|.1, x t_j.1 */
    double *Ga, *Ca, *a; /* (k, m), (k, m), m: the same with the labels, and 1 with them */
    double n, size;      /* rows, squares of the labels */
    double *H, *B;       /* q x q, q x m */
} tableau;

static unrelu_status tableau_open(const ur_frame *frame, size_t k, const double *T, ur_arena *arena,
                                  tableau *o, unrelu_error *err)
{
    size_t m = frame->m, p = frame->p, q = k + (frame->terms.constant ? 1 : 0);
    *o = (tableau){.k = k, .q = q, .m = m, .n = (double)frame->n, .size = frame->size};
    o->G = ur_take(arena, k, k * sizeof *o->G);
    o->C = ur_take(arena, k, k * sizeof *o->C);
    o->D = ur_take(arena, k, k * sizeof *o->D);
    o->g = ur_take(arena, k, sizeof *o->g);
    o->c = ur_take(arena, k, sizeof *o->c);
    o->Ga = ur_take(arena, k, m * sizeof *o->Ga);
    o->Ca = ur_take(arena, k, m * sizeof *o->Ca);
    o->a = ur_take(arena, m, sizeof *o->a);
    o->H = ur_take(arena, q, q * sizeof *o->H);
    o->B = ur_take(arena, q, m * sizeof *o->B);
    double *L = ur_take(arena, BLOCK, k * sizeof *L), *F = ur_take(arena, BLOCK, k * sizeof *F);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t first = 0; first < frame->n; first += BLOCK) {
        size_t rows = frame->n - first < BLOCK ? frame->n - first : BLOCK;
        const double *a = frame->a + first * m;
        ur_gemm(UR_PLAIN, UR_TURNED, rows, k, p, 1, frame->x + first * p, p, T, p, 0, L, k);
        for (size_t i = 0; i < rows * k; i++)
            F[i] = fabs(L[i]);
        ur_gemm(UR_TURNED, UR_PLAIN, k, k, rows, 1, F, k, F, k, 1, o->G, k);
        ur_gemm(UR_TURNED, UR_PLAIN, k, k, rows, 1, L, k, F, k, 1, o->C, k);
        ur_gemm(UR_TURNED, UR_PLAIN, k, k, rows, 1, L, k, L, k, 1, o->D, k);
        ur_gemm(UR_TURNED, UR_PLAIN, k, m, rows, 1, F, k, a, m, 1, o->Ga, m);
        ur_gemm(UR_TURNED, UR_PLAIN, k, m, rows, 1, L, k, a, m, 1, o->Ca, m);
        for (size_t i = 0; i < rows; i++) {
            ur_add(k, 1, F + i * k, o->g);
            ur_add(k, 1, L + i * k, o->c);
            ur_add(m, 1, a + i * m, o->a);
        }
    }
    return UNRELU_OK;
}

/* what these signs leave of the labels */
static double left_by(tableau *o, const int *s)
{
    size_t k = o->k, q = o->q, m = o->m;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++)
            o->H[i * q + j] = (o->G[i * k + j] + s[i] * o->C[i * k + j] + s[j] * o->C[j * k + i] +
                               s[i] * s[j] * o->D[i * k + j]) /
                              4;
        for (size_t r = 0; r < m; r++)
            o->B[i * m + r] = (o->Ga[i * m + r] + s[i] * o->Ca[i * m + r]) / 2;
        if (q > k)
            o->H[k * q + i] = (o->g[i] + s[i] * o->c[i]) / 2;
    }
    if (q > k) {
        o->H[k * q + k] = o->n;
        memcpy(o->B + k * m, o->a, m * sizeof *o->a);
    }
    for (size_t i = 0; i < q; i++)
        o->H[i * (q + 1)] *= 1 + RIDGE;
    if (!ur_cholesky_in_place(q, o->H))
        return INFINITY;
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, m, o->H, q, o->B, m);
    return o->size - ur_dot(q * m, o->B, o->B);
}

/* the turn of signs i and j (i == j: of one) that lowers *rss most; 0: none does */
static int turn(tableau *o, int pairs, int *s, double *rss)
{
    size_t first = o->k, second = o->k;
    for (size_t i = 0; i < o->k; i++)
        for (size_t j = pairs ? 0 : i; j <= i; j++) {
            s[i] = -s[i];
            s[j] = j == i ? s[j] : -s[j];
            double left = left_by(o, s);
            s[i] = -s[i];
            s[j] = j == i ? s[j] : -s[j];
            if (left < *rss) {
                *rss = left;
                first = i;
                second = j;
            }
        }
    if (first == o->k)
        return 0;
    s[first] = -s[first];
    if (second != first)
        s[second] = -s[second];
    return 1;
}

unrelu_status ur_folded_signs(const ur_frame *frame, size_t k, const double *T, uint64_t seed,
                              size_t attempt, int *signs, double *rss, unrelu_error *err)
{
    UR_ARENA(arena);
    tableau o;
    UR_TRY(tableau_open(frame, k, T, &arena, &o, err));
    double *draws = ur_take(&arena, k, sizeof *draws);
    int *s = ur_take(&arena, k, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    *rss = INFINITY;
    for (size_t choice = 0; choice < CHOICES; choice++) {
        ur_random_normals(seed, UR_STREAM_BIRTHS, (uint64_t)(attempt + 1) << 56 | choice << 40, k,
                          draws);
        for (size_t j = 0; j < k; j++)
            s[j] = draws[j] < 0 ? -1 : 1;
        double left = left_by(&o, s);
        while (turn(&o, 0, s, &left) || (k <= PAIRS && turn(&o, 1, s, &left)))
            continue;
        if (left < *rss) {
            *rss = left;
            memcpy(signs, s, k * sizeof *s);
        }
    }
    return UNRELU_OK;
}
