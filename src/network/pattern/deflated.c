/* SPDX-License-Identifier: Apache-2.0 */
#include "network/pattern/deflated.h"

#include "dense/blas.h"
#include "dense/linear.h"
#include "network/pattern/pattern.h"

#include <math.h>
#include <string.h>

/* Pace: what a run ends at is decided by its pattern, and judged by rho. */
enum { BLOCK = 512 }; /* rows that are summed at once */
enum { MAX_STEPS = 40, INVERSE_STEPS = 8, LAST_STEPS = 2, AIM_STEPS = 5 };

struct ur_deflated_room {
    unsigned char *in, *next; /* n: S, and the one after it */
    double *t, *yw;           /* n: x v, y w */
    double *xs, *ys;          /* BLOCK rows of x and y that are gathered */
    double *G, *C;            /* sums over S: x x' (p x p), x y' (p x k) */
    double *L, *B;            /* G, or G - G^2 / n, = L L'; B = L^-1 C */
    double *E;                /* I - K = E E' (k x k) */
    double *z, *old;          /* p, k */
};

ur_deflated_room *ur_deflated_room_in(ur_arena *arena, const ur_deflated *q)
{
    size_t n = q->n, p = q->p, k = q->k, number = sizeof(double);
    ur_deflated_room *r = ur_take(arena, 1, sizeof *r);
    if (r)
        *r = (ur_deflated_room){.in = ur_take(arena, n, 1),
                                .next = ur_take(arena, n, 1),
                                .t = ur_take(arena, n, number),
                                .yw = ur_take(arena, n, number),
                                .xs = ur_take(arena, BLOCK, p * number),
                                .ys = ur_take(arena, BLOCK, k * number),
                                .G = ur_take(arena, p, p * number),
                                .C = ur_take(arena, p, k * number),
                                .L = ur_take(arena, p, p * number),
                                .B = ur_take(arena, p, k * number),
                                .E = ur_take(arena, k, k * number),
                                .z = ur_take(arena, p, number),
                                .old = ur_take(arena, k, number)};
    return r;
}

void ur_deflated_aim(const ur_deflated *q, ur_deflated_room *r, const double *w, double *v)
{
    ur_gemv(UR_PLAIN, q->n, q->k, 1, q->y, q->k, w, 0, r->yw);
    for (int step = 0; step < AIM_STEPS; step++) {
        ur_gemv(UR_PLAIN, q->n, q->p, 1, q->x, q->p, v, 0, r->t);
        for (size_t i = 0; i < q->n; i++)
            r->t[i] *= r->yw[i];
        ur_gemv(UR_TURNED, q->n, q->p, 1, q->x, q->p, r->t, 0, v);
        ur_unit_rows(1, q->p, v);
    }
}

/* ---- the pattern ---- */

/* next = {v x > 0}; without signs of v or -v, whichever differs less from `in`. Returns its rows.
 */
static size_t classify(const ur_deflated *q, ur_deflated_room *r, double *v, size_t *changed)
{
    size_t on = 0, differ = 0, n = q->n;
    ur_gemv(UR_PLAIN, n, q->p, 1, q->x, q->p, v, 0, r->t);
    for (size_t i = 0; i < n; i++) {
        r->next[i] = r->t[i] > 0;
        on += r->next[i];
        differ += r->next[i] != r->in[i];
    }
    if (!q->signs && 2 * differ > n) {
        ur_scale(q->p, -1, v);
        for (size_t i = 0; i < n; i++)
            r->next[i] = !r->next[i];
        on = n - on;
        differ = n - differ;
    }
    *changed = differ;
    return on;
}

/* G and C get the rows that are gathered, times sign */
static void add_block(const ur_deflated *q, ur_deflated_room *r, size_t rows, double sign)
{
    size_t p = q->p, k = q->k;
    if (rows == 0)
        return;
    ur_syrk(UR_LOWER, UR_TURNED, p, rows, sign, r->xs, p, 1, r->G, p);
    ur_gemm(UR_TURNED, UR_PLAIN, p, k, rows, sign, r->xs, p, r->ys, k, 1, r->C, k);
}

/* G and C get the rows with in = from and next = to, times sign */
static void add_rows(const ur_deflated *q, ur_deflated_room *r, int from, int to, double sign)
{
    size_t p = q->p, k = q->k, rows = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (r->in[i] != from || r->next[i] != to)
            continue;
        memcpy(r->xs + rows * p, q->x + i * p, p * sizeof *r->xs);
        memcpy(r->ys + rows * k, q->y + i * k, k * sizeof *r->ys);
        if (++rows == BLOCK) {
            add_block(q, r, rows, sign);
            rows = 0;
        }
    }
    add_block(q, r, rows, sign);
}

static void empty_pattern(const ur_deflated *q, ur_deflated_room *r)
{
    memset(r->in, 0, q->n);
    memset(r->G, 0, q->p * q->p * sizeof *r->G);
    memset(r->C, 0, q->p * q->k * sizeof *r->C);
}

/* sums over next, from those over in where fewer rows changed than it has; then in = next */
static void move_pattern(const ur_deflated *q, ur_deflated_room *r, size_t on, size_t changed)
{
    if (changed >= on)
        empty_pattern(q, r);
    add_rows(q, r, 0, 1, 1);
    add_rows(q, r, 1, 0, -1);
    memcpy(r->in, r->next, q->n);
}

/* ---- one step ---- */

/* L, B and E of the pattern; 0 where the inputs of one side do not span their space */
static int reduce(const ur_deflated *q, ur_deflated_room *r)
{
    size_t p = q->p, k = q->k;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            r->L[i * p + j] = r->G[i * p + j];
            r->G[j * p + i] = r->G[i * p + j];
        }
    if (!q->signs)
        ur_syrk(UR_LOWER, UR_PLAIN, p, p, -1 / (double)q->n, r->G, p, 1, r->L, p);
    if (!ur_cholesky_in_place(p, r->L))
        return 0;
    for (size_t i = 0; i < p; i++) {
        double square = r->L[i * (p + 1)] * r->L[i * (p + 1)];
        least = fmin(least, square);
        most = fmax(most, square);
    }
    if (!(least > UR_PATTERN_FLAT * most))
        return 0;
    memcpy(r->B, r->C, p * k * sizeof *r->B);
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, p, k, r->L, p, r->B, k);
    memset(r->E, 0, k * k * sizeof *r->E);
    for (size_t j = 0; j < k; j++)
        r->E[j * (k + 1)] = 1 + UR_ROUNDING; /* at a neuron it is singular */
    ur_syrk(UR_LOWER, UR_TURNED, k, p, -1, r->B, k, 1, r->E, k);
    return ur_cholesky_in_place(k, r->E);
}

static void forget_known(const ur_deflated *q, double *w)
{
    for (size_t j = 0; j < q->knowns; j++)
        ur_add(q->k, -ur_dot(q->k, q->known + j * q->k, w), q->known + j * q->k, w);
}

/* w by inverse iteration with I - K; deflated: from its part beside what is known */
static void turn(const ur_deflated *q, ur_deflated_room *r, int steps, int deflated, double *w)
{
    size_t k = q->k;
    for (int step = 0; step < steps; step++) {
        if (deflated)
            forget_known(q, w);
        ur_scale(k, 1 / ur_norm(k, w), w);
        ur_trsv(UR_LOWER, UR_PLAIN, k, r->E, k, w);
        ur_trsv(UR_LOWER, UR_TURNED, k, r->E, k, w);
    }
    ur_scale(k, 1 / ur_norm(k, w), w);
}

/* v = G^-1 C w at unit length, signed so that y w is positive on S where v x is large: v'C w is the
 * sum of their products there. Returns rho = |B w|^2 / |w|^2. */
static double step_to(const ur_deflated *q, ur_deflated_room *r, double *w, double *v)
{
    size_t p = q->p, k = q->k;
    ur_gemv(UR_PLAIN, p, k, 1, r->C, k, w, 0, r->z);
    double along = ur_dot(p, v, r->z);
    if (q->signs && along < 0)
        ur_scale(k, -1, w);
    ur_gemv(UR_PLAIN, p, k, 1, r->B, k, w, 0, v);
    double rho = ur_dot(p, v, v);
    ur_trsv(UR_LOWER, UR_TURNED, p, r->L, p, v);
    ur_unit_rows(1, p, v);
    return rho;
}

ur_deflated_end ur_deflated_run(const ur_deflated *q, ur_deflated_room *r, double *v, double *w)
{
    static const ur_deflated_end nowhere = {0};
    empty_pattern(q, r);
    for (int step = 0; step < MAX_STEPS; step++) {
        size_t changed, on = classify(q, r, v, &changed);
        if (on < q->p || (!q->signs && q->n - on < q->p))
            return nowhere;
        if (changed > 0) {
            move_pattern(q, r, on, changed);
            if (!reduce(q, r))
                return nowhere;
            turn(q, r, INVERSE_STEPS, 1, w);
            step_to(q, r, w, v);
            continue;
        }
        turn(q, r, LAST_STEPS, 0, w);
        double rho = step_to(q, r, w, v);
        classify(q, r, v, &changed);
        if (changed > 0)
            continue;
        memcpy(r->old, w, q->k * sizeof *w);
        forget_known(q, r->old);
        return (ur_deflated_end){rho, ur_norm(q->k, r->old), on};
    }
    return nowhere;
}
