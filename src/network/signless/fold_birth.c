/* SPDX-License-Identifier: Apache-2.0 */
/* A new row where a fit stalls: of random directions t the one whose |z t|, with what the features
 * have of it projected out, takes most of the residual; then the best of random changes to it, in
 * rounds of smaller and smaller ones. The residual loses what the row takes, and the next one is
 * looked for. n q operations a direction. */
#include "base/error.h"
#include "base/random.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/model/network.h"
#include "network/signless/fold.h"

#include <math.h>
#include <string.h>

/* Pace: more directions find better rows and take longer; the descent behind it decides */
enum { DIRECTIONS = 400, CHANGES = 60, ROUNDS = 3 };
static const double SIZES[ROUNDS] = {.3, .15, .07}; /* Pace: of the changes, of unit length */
/* Of |z t|^2: what is left of one that the features span says nothing. Pace: it chooses where a
 * descent starts, and the share that this reaches judges it. */
static const double SPANNED = 1e-6;

typedef struct {
    const ur_folds *folds;
    const ur_fold_state *s;
    ur_basis born;   /* what the rows so far take, orthonormal */
    double *R;       /* (n, m): less what these take */
    double *T, *G;   /* (DIRECTIONS, p), (n, DIRECTIONS) */
    double *C;       /* (q, DIRECTIONS): Q'G */
    double *A, *E;   /* (m, DIRECTIONS): R'G; (born, DIRECTIONS) */
    double *squares; /* DIRECTIONS */
} cradle;

static unrelu_status cradle_open(cradle *o, const ur_folds *folds, const ur_fold_state *s,
                                 size_t count, ur_arena *arena, unrelu_error *err)
{
    size_t n = folds->n, m = folds->m;
    *o = (cradle){.folds = folds, .s = s, .born = {.length = n}};
    o->born.rows = ur_take(arena, count, n * sizeof *o->R);
    o->R = ur_take(arena, n, m * sizeof *o->R);
    o->T = ur_take(arena, DIRECTIONS, folds->p * sizeof *o->T);
    o->G = ur_take(arena, n, DIRECTIONS * sizeof *o->G);
    o->C = ur_take(arena, s->q, DIRECTIONS * sizeof *o->C);
    o->A = ur_take(arena, m, DIRECTIONS * sizeof *o->A);
    o->E = ur_take(arena, count, DIRECTIONS * sizeof *o->E);
    o->squares = ur_take(arena, DIRECTIONS, sizeof *o->squares);
    UR_TRY(ur_arena_status(arena, err));
    memcpy(o->R, s->R, n * m * sizeof *o->R);
    return UNRELU_OK;
}

/* sums of squares of the columns of A (rows x count) added, times a factor */
static void add_squares(size_t rows, size_t count, double factor, const double *A, double *sum)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < count; j++)
            sum[j] += factor * A[i * count + j] * A[i * count + j];
}

/* the best of T's first `count` directions: which, and the share of the residual that it takes */
static size_t choose(cradle *o, size_t count, double *taken)
{
    const ur_folds *folds = o->folds;
    const ur_fold_state *s = o->s;
    size_t n = folds->n, p = folds->p, m = folds->m, q = s->q, best = 0;
    double left[DIRECTIONS] = {0};
    ur_unit_rows(count, p, o->T);
    ur_multiply_nt(n, p, count, folds->z, o->T, o->G);
    for (size_t i = 0; i < n * count; i++)
        o->G[i] = fabs(o->G[i]);
    ur_multiply_tn(n, q, count, s->F, o->G, o->C);
    for (size_t j = 0; j < q; j++)
        ur_scale(count, s->scale[j], o->C + j * count);
    ur_trsm(UR_LEFT, UR_LOWER, UR_PLAIN, q, count, s->L, q, o->C, count);
    ur_multiply_tn(n, m, count, o->R, o->G, o->A);
    memset(o->squares, 0, count * sizeof *o->squares);
    add_squares(n, count, 1, o->G, o->squares);
    memcpy(left, o->squares, count * sizeof *left);
    add_squares(q, count, -1, o->C, left);
    if (o->born.count > 0) {
        ur_multiply(o->born.count, n, count, o->born.rows, o->G, o->E);
        add_squares(o->born.count, count, -1, o->E, left);
    }
    *taken = -1;
    for (size_t j = 0; j < count; j++) {
        double takes = 0;
        for (size_t r = 0; r < m; r++)
            takes += o->A[r * count + j] * o->A[r * count + j];
        takes /= fmax(left[j], SPANNED * o->squares[j]);
        if (takes > *taken) {
            *taken = takes;
            best = j;
        }
    }
    return best;
}

/* the residual loses what |z t| outside of the features takes of it; room: n + q + m */
static void deflate(cradle *o, const double *t, double *room)
{
    const ur_folds *folds = o->folds;
    const ur_fold_state *s = o->s;
    size_t n = folds->n, q = s->q, m = folds->m;
    double *g = room, *c = room + n, *r = c + q;
    ur_gemv(UR_PLAIN, n, folds->p, 1, folds->z, folds->p, t, 0, g);
    for (size_t i = 0; i < n; i++)
        g[i] = fabs(g[i]);
    ur_gemv(UR_TURNED, n, q, 1, s->F, q, g, 0, c);
    for (size_t j = 0; j < q; j++)
        c[j] *= s->scale[j];
    ur_trsv(UR_LOWER, UR_PLAIN, q, s->L, q, c);
    ur_trsv(UR_LOWER, UR_TURNED, q, s->L, q, c);
    for (size_t j = 0; j < q; j++)
        c[j] *= s->scale[j];
    ur_gemv(UR_PLAIN, n, q, -1, s->F, q, c, 1, g);
    if (!ur_basis_grow(&o->born, g, 0))
        return;
    const double *direction = o->born.rows + (o->born.count - 1) * n;
    ur_gemv(UR_TURNED, n, m, 1, o->R, m, direction, 0, r);
    ur_ger(n, m, -1, direction, r, o->R, m);
}

/* one row t (p); draws: numbers of the stream from there on, DIRECTIONS p in each of 1 + ROUNDS */
static void give_birth(cradle *o, uint64_t seed, uint64_t draws, double *t)
{
    size_t p = o->folds->p;
    double taken, best;
    ur_random_normals(seed, UR_STREAM_BIRTHS, draws, DIRECTIONS * p, o->T);
    size_t j = choose(o, DIRECTIONS, &best);
    memcpy(t, o->T + j * p, p * sizeof *t);
    for (size_t round = 0; round < ROUNDS; round++) {
        draws += DIRECTIONS * p;
        ur_random_normals(seed, UR_STREAM_BIRTHS, draws, CHANGES * p, o->T);
        ur_scale(CHANGES * p, SIZES[round] / sqrt((double)p), o->T);
        for (size_t i = 0; i < CHANGES; i++)
            ur_add(p, 1, t, o->T + i * p);
        j = choose(o, CHANGES, &taken);
        if (taken > best) {
            best = taken;
            memcpy(t, o->T + j * p, p * sizeof *t);
        }
    }
}

unrelu_status ur_fold_births(const ur_folds *folds, size_t count, uint64_t seed, uint64_t draws,
                             ur_fold_state *s, unrelu_error *err)
{
    size_t p = folds->p, each = (1 + ROUNDS) * DIRECTIONS * p, born = 0;
    UR_ARENA(arena);
    cradle o;
    UR_TRY(cradle_open(&o, folds, s, count, &arena, err));
    double *room = ur_take(&arena, folds->n + s->q + folds->m, sizeof *room);
    double *T = ur_take(&arena, count, p * sizeof *T);
    UR_TRY(ur_arena_status(&arena, err));
    for (; born < count; born++) {
        give_birth(&o, seed, draws + born * each, T + born * p);
        deflate(&o, T + born * p, room);
    }
    memcpy(s->T + s->k * p, T, count * p * sizeof *T);
    s->k += count;
    return UNRELU_OK;
}
