/* SPDX-License-Identifier: Apache-2.0 */
/* More neurons than equations, which few labels leave: M = ratio sum_j s_j c_j + eta e' with
 * c_j = t_j b_j' in p m dimensions. With eta projected out, and a direction w orthogonal to all but
 * f of the c_j, one equation is left, w.M = ratio sum s_j w.c_j over these f; its solutions are
 * found by meeting in the middle, 2^(f/2) sums on either side. Each of them gives the other signs
 * by linear equations, and they must come out as +-1. */
#include "network/signless/fold_subset.h"

#include "base/error.h"
#include "base/order.h"
#include "dense/basis.h"
#include "dense/blas.h"
#include "dense/linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* 2^22 sums on either side take 200 MB */
enum { MOST_FREE = 44 };
/* sums that match to within the error, after which the signs count as open */
enum { MOST_MATCHES = 100000 };
/* of a sign by linear equations: those of a sum that matches by chance are no signs */
static const double SIGN_OFF = 1e-2;
/* times the error of the labels, or of rounding, relative to the sum of sizes: an error of M */
static const double REACH = 1000;
/* of a column, what is outside of those before it */
static const double DEPENDS = 1e-9;

typedef struct {
    size_t k, p;       /* p: dimensions, p m of the folds */
    size_t rest, free; /* the first `rest` columns of order[] follow from the `free` others */
    double *C;         /* (k, p): c_j, without their parts along eta */
    double *M;         /* p, the same */
    size_t *order;     /* k */
    ur_basis basis;    /* eta, then the first `rest` columns, then w */
} puzzle;

void ur_signed_sums(size_t count, const double *w, double *sums)
{
    sums[0] = 0;
    for (size_t i = 0; i < count; i++)
        sums[0] -= w[i];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < (size_t)1 << i; j++)
            sums[j | (size_t)1 << i] = sums[j] + 2 * w[i];
}

/* columns by decreasing length; *whole = 0 where there is no direction left for w */
static unrelu_status open_puzzle(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                                 double ratio, ur_arena *arena, puzzle *q, int *whole,
                                 unrelu_error *err)
{
    size_t m = folds->m, p = folds->p * m, k = s->k;
    *q = (puzzle){.k = k, .p = p, .basis = {.length = p}};
    q->C = ur_take(arena, k, p * sizeof *q->C);
    q->M = ur_take(arena, p, sizeof *q->M);
    q->order = ur_take(arena, k, sizeof *q->order);
    q->basis.rows = ur_take(arena, p, p * sizeof *q->C);
    ur_keyed *keys = ur_take(arena, k, sizeof *keys), *scratch = ur_take(arena, k, sizeof *keys);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t r = 0; r < m && eta; r++) { /* of label r: eta in its equations, M as scratch */
        memset(q->M, 0, p * sizeof *q->M);
        for (size_t i = 0; i < folds->p; i++)
            q->M[i * m + r] = eta[i];
        ur_basis_grow(&q->basis, q->M, 0);
    }
    memcpy(q->M, s->B + k * m, p * sizeof *q->M);
    ur_basis_remove(&q->basis, q->basis.count, q->M);
    for (size_t j = 0; j < k; j++) {
        double *c = q->C + j * p;
        memset(c, 0, p * sizeof *c);
        ur_ger(folds->p, m, ratio, s->T + j * folds->p, s->B + j * m, c, m);
        keys[j] = (ur_keyed){-ur_basis_remove(&q->basis, q->basis.count, c), j};
    }
    ur_sort_keyed(keys, scratch, k);
    size_t room = p - q->basis.count; /* dimensions of the equations */
    for (size_t i = 0; i < k; i++)
        q->order[i] = keys[i].at;
    *whole = room > 0 && k > room - 1;
    for (q->rest = 0; *whole && q->rest + 1 < room; q->rest++) {
        const double *c = q->C + q->order[q->rest] * p;
        *whole = ur_basis_grow(&q->basis, c, DEPENDS * ur_norm(p, c));
    }
    q->free = k - q->rest;
    return UNRELU_OK;
}

/* w: the one direction that is left, into the last row of the basis */
static const double *last_direction(puzzle *q)
{
    size_t best = 0;
    double most = -1;
    for (size_t i = q->rest; i < q->k; i++) { /* best of the columns that are free */
        double *w = q->basis.rows + q->basis.count * q->p;
        memcpy(w, q->C + q->order[i] * q->p, q->p * sizeof *w);
        double size = ur_basis_remove(&q->basis, q->basis.count, w);
        if (size > most) {
            most = size;
            best = q->order[i];
        }
    }
    return ur_basis_grow(&q->basis, q->C + best * q->p, 0)
               ? q->basis.rows + (q->basis.count - 1) * q->p
               : NULL;
}

/* the signs that follow from those of the free columns; how far the worst is from +-1. room: p +
 * rest (p + 1) */
static unrelu_status follow(const puzzle *q, int *signs, double *room, double *off,
                            unrelu_error *err)
{
    size_t p = q->p, rest = q->rest;
    double *b = room, *A = b + p, *x = A + p * rest;
    *off = 0;
    if (rest == 0)
        return UNRELU_OK;
    memcpy(b, q->M, p * sizeof *b);
    for (size_t i = rest; i < q->k; i++)
        ur_add(p, -signs[q->order[i]], q->C + q->order[i] * p, b);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < rest; j++)
            A[i * rest + j] = q->C[q->order[j] * p + i];
    UR_TRY(ur_least_squares(p, rest, 1, A, b, UR_ROUNDING, x, NULL, err));
    for (size_t j = 0; j < rest; j++) {
        *off = fmax(*off, fabs(fabs(x[j]) - 1));
        signs[q->order[j]] = x[j] < 0 ? -1 : 1;
    }
    return UNRELU_OK;
}

static void set_free(const puzzle *q, size_t first, size_t count, size_t bits, int *signs)
{
    for (size_t i = 0; i < count; i++)
        signs[q->order[first + i]] = bits >> i & 1 ? 1 : -1;
}

typedef struct {
    const puzzle *q;
    size_t low; /* free columns of the first half */
    double goal, reach;
    ur_keyed *a, *b; /* sums of the halves, sorted */
    size_t na, nb;
    int *try, *signs; /* k: of a match, of the one that passed */
    double *room;
    size_t matches, passed;
} meeting;

static unrelu_status look_at(meeting *o, size_t i, size_t j, unrelu_error *err)
{
    const puzzle *q = o->q;
    double off;
    set_free(q, q->rest, o->low, o->a[i].at, o->try);
    set_free(q, q->rest + o->low, q->free - o->low, o->b[j].at, o->try);
    UR_TRY(follow(q, o->try, o->room, &off, err));
    o->matches++;
    if (!(off <= SIGN_OFF))
        return UNRELU_OK;
    o->passed++;
    memcpy(o->signs, o->try, q->k * sizeof *o->signs);
    return UNRELU_OK;
}

/* all pairs of sums that add up to the goal, while they are few and at most one gives signs */
static unrelu_status meet(meeting *o, unrelu_error *err)
{
    size_t from = o->nb; /* sums b[from], b[from + 1], ... are large enough for a[i] */
    for (size_t i = 0; i < o->na; i++) {
        while (from > 0 && o->a[i].key + o->b[from - 1].key >= o->goal - o->reach)
            from--;
        for (size_t j = from; j < o->nb && o->a[i].key + o->b[j].key <= o->goal + o->reach; j++) {
            if (o->matches >= MOST_MATCHES || o->passed > 1)
                return UNRELU_OK;
            UR_TRY(look_at(o, i, j, err));
        }
    }
    return UNRELU_OK;
}

/* all sums of `count` numbers with signs, in order */
static unrelu_status sort_sums(size_t count, const double *w, ur_arena *arena, ur_keyed **sums,
                               size_t *n, unrelu_error *err)
{
    UR_ARENA(own);
    *n = (size_t)1 << count;
    *sums = ur_take(arena, *n, sizeof **sums);
    ur_keyed *scratch = ur_take(&own, *n, sizeof *scratch);
    double *plain = ur_take(&own, *n, sizeof *plain);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_arena_status(&own, err));
    ur_signed_sums(count, w, plain);
    for (size_t i = 0; i < *n; i++)
        (*sums)[i] = (ur_keyed){plain[i], i};
    ur_sort_keyed(*sums, scratch, *n);
    return UNRELU_OK;
}

unrelu_status ur_fold_subset(const ur_folds *folds, const ur_fold_state *s, const double *eta,
                             double ratio, double error, int *signs, ur_signs_end *end,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    puzzle q;
    int whole;
    *end = UR_SIGNS_OPEN;
    for (size_t j = 0; j < s->k; j++)
        signs[j] = 1;
    UR_TRY(open_puzzle(folds, s, eta, ratio, &arena, &q, &whole, err));
    const double *w = whole && q.free <= MOST_FREE ? last_direction(&q) : NULL;
    if (!w)
        return UNRELU_OK;
    meeting o = {.q = &q, .low = q.free / 2, .goal = ur_dot(q.p, w, q.M), .signs = signs};
    double *on_w = ur_take(&arena, q.free, sizeof *on_w), sizes = fabs(o.goal);
    o.try = ur_take(&arena, q.k, sizeof *o.try);
    o.room = ur_take(&arena, q.p + q.rest * (q.p + 1), sizeof *o.room);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < q.free; i++) {
        on_w[i] = ur_dot(q.p, w, q.C + q.order[q.rest + i] * q.p);
        sizes += fabs(on_w[i]);
    }
    o.reach = REACH * fmax(error, DBL_EPSILON) * sizes;
    UR_TRY(sort_sums(o.low, on_w, &arena, &o.a, &o.na, err));
    UR_TRY(sort_sums(q.free - o.low, on_w + o.low, &arena, &o.b, &o.nb, err));
    UR_TRY(meet(&o, err));
    if (o.passed == 1 && o.matches < MOST_MATCHES)
        *end = UR_SIGNS_FOUND;
    else if (o.passed == 0 && o.matches < MOST_MATCHES)
        *end = UR_SIGNS_NONE;
    return UNRELU_OK;
}
