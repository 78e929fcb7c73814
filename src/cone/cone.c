/* SPDX-License-Identifier: Apache-2.0 */
/* Double description: rays of the cone of a few rows, then one row more at a time. Rays on its
 * wrong side go, and each pair of neighbours on both sides leaves one on it.
 *
 * Which row: the one most violated. Each row that a ray violates waits in the list of one such
 * ray. Where a ray goes, its rows are handed to rays at h = 0, h the new row; what none of these
 * violates no ray does, as a segment from a ray that goes to one that stays crosses h = 0. So a
 * row meets the rays of its own neighbourhood alone, and most rows are never inserted.
 *
 * At the end all rows meet all rays: one that is violated after all goes through the same once
 * more. Where an inserted row is, digits are lost, and the rays are not called finished.
 *
 * Neighbours are rays whose common zeros are zeros of no third ray. Zeros are bits in the order of
 * insertion, and those of a new ray follow from its parents': only the side on which a ray lies is
 * a matter of rounding. A ray with k - 1 zeros has one neighbour for each k - 2 of them: between
 * two of that kind these are found in a hash table, so that data in general position cost O(k) a
 * ray and row; where one is of that kind, k - 2 common zeros are enough. */
#include "cone/cone.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "pass/parallel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A ray of unit length that is off its zeros by more than the rounding of a product is projected
 * back onto them; with less that is asked more often, which takes longer. */
static const double DRIFT = 45 * DBL_EPSILON;
/* part of a zero's row beside the span of others below which it adds nothing to a projection. Rows
 * of one face are dependent to rounding only: smaller, noise would count as a direction. */
static const double REDUNDANT = 1e-10;

enum { BLOCK = 32 };  /* rays that meet all rows at a time */
enum { POLL = 4096 }; /* asks whether it is cancelled once in so many times */
enum { LEAST_ROOM = 64, LEAST_SLOTS = 64 };

typedef struct {
    double h; /* of the row that is inserted; 0: within tolerance */
    double worst;
    size_t head, worst_row; /* rows that wait here, as index + 1; the most violated */
    size_t zeros;
    uint64_t key; /* exclusive or of the marks of its zeros */
} ray_state;

typedef struct {
    size_t slot; /* ray + 1; 0: free */
    uint64_t key;
} edge;

/* the cone of the rows inserted */
typedef struct {
    size_t rows, k, most;
    const double *Y;
    double tolerance;
    const unrelu_exec *exec;
    ur_arena *arena;
    size_t count, fresh, room; /* rays; those that the row at hand adds, behind them */
    ray_state *ray;            /* room */
    double *z;                 /* (room, k) */
    uint64_t *zero;            /* (room, words): bit i: row order[i] */
    size_t words, inserted;
    size_t *order, *next;        /* rows */
    unsigned char *in;           /* rows: whether inserted */
    size_t *side[2];             /* room: rays below and above h = 0, those with many zeros first */
    size_t sides[2], crowded[2]; /* how many, and with many zeros */
    edge *table;
    size_t slots;
    uint64_t *common;     /* words */
    const double **tight; /* rows */
    double *q;            /* k x k */
    int full;             /* most was reached */
    size_t polls;
} cone;

static const double *row_of(const cone *c, size_t i)
{
    return c->Y + i * c->k;
}

/* of row i on ray r */
static double height(const cone *c, size_t i, size_t r)
{
    return ur_short_dot(c->k, row_of(c, i), c->z + r * c->k);
}

static uint64_t *zeros_of(const cone *c, size_t r)
{
    return c->zero + r * c->words;
}

static uint64_t mark(size_t i)
{
    uint64_t x = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static unrelu_status poll(cone *c, unrelu_error *err)
{
    return c->polls++ % POLL == 0 && ur_cancelled(c->exec) ? ur_fail_cancelled(err) : UNRELU_OK;
}

static void unit(size_t k, double *z)
{
    double length = ur_norm(k, z);
    for (size_t j = 0; j < k && length > 0; j++)
        z[j] /= length;
}

/* ---- memory that grows ---- */

static void free_grown(void *of)
{
    cone *c = of;
    ur_free(c->ray);
    ur_free(c->z);
    ur_free(c->zero);
    ur_free(c->side[0]);
    ur_free(c->side[1]);
    ur_free(c->table);
}

/* *old becomes room for count elements, the first `used` of them kept */
static int grow(void **old, size_t used, size_t count, size_t size)
{
    void *larger = ur_alloc(count, size);
    if (!larger)
        return 0;
    if (used > 0)
        memcpy(larger, *old, used * size);
    ur_free(*old);
    *old = larger;
    return 1;
}

/* room for so many rays */
static unrelu_status reserve(cone *c, size_t rays, unrelu_error *err)
{
    size_t used = c->count + c->fresh, room = 2 * c->room > LEAST_ROOM ? 2 * c->room : LEAST_ROOM;
    if (rays <= c->room)
        return UNRELU_OK;
    room = room > rays ? room : rays;
    if (!grow((void **)&c->ray, used, room, sizeof *c->ray) ||
        !grow((void **)&c->z, used, room, c->k * sizeof *c->z) ||
        !grow((void **)&c->zero, used, room, c->words * sizeof *c->zero) ||
        !grow((void **)&c->side[0], c->sides[0], room, sizeof *c->side[0]) ||
        !grow((void **)&c->side[1], c->sides[1], room, sizeof *c->side[1]))
        return ur_fail_memory(err, room, "rays of a cone");
    c->room = room;
    return UNRELU_OK;
}

/* bits for twice as many rows */
static unrelu_status widen(cone *c, unrelu_error *err)
{
    size_t words = 2 * c->words;
    uint64_t *zero = ur_alloc(c->room, words * sizeof *zero);
    if (!zero)
        return ur_fail_memory(err, c->room, "rays of a cone");
    for (size_t r = 0; r < c->count; r++)
        memcpy(zero + r * words, zeros_of(c, r), c->words * sizeof *zero);
    ur_free(c->zero);
    c->zero = zero;
    c->words = words;
    c->common = ur_take(c->arena, words, sizeof *c->common);
    return ur_arena_status(c->arena, err);
}

/* ---- rays ---- */

size_t ur_cone_project(size_t k, size_t count, const double *const *rows, double *q, double *z)
{
    size_t rank = 0;
    for (size_t i = 0; i < count && rank < k; i++) {
        double *next = q + rank * k;
        memcpy(next, rows[i], k * sizeof *next);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < rank; j++)
                ur_add(k, -ur_short_dot(k, next, q + j * k), q + j * k, next);
        if (ur_norm(k, next) < REDUNDANT)
            continue;
        unit(k, next);
        ur_add(k, -ur_short_dot(k, next, z), next, z);
        rank++;
    }
    unit(k, z);
    return rank;
}

/* ray r back onto its zeros, where it has left them */
static void settle(cone *c, size_t r)
{
    size_t count = 0, k = c->k;
    double *z = c->z + r * k, off = 0;
    const uint64_t *zero = zeros_of(c, r);
    for (size_t w = 0; w < c->words; w++)
        for (uint64_t bits = zero[w]; bits; bits &= bits - 1) {
            c->tight[count] = row_of(c, c->order[64 * w + (size_t)__builtin_ctzll(bits)]);
            off = fmax(off, fabs(ur_short_dot(k, c->tight[count++], z)));
        }
    if (off > DRIFT)
        ur_cone_project(k, count, c->tight, c->q, z);
}

static size_t count_common(cone *c, size_t r, size_t s)
{
    const uint64_t *a = zeros_of(c, r), *b = zeros_of(c, s);
    size_t count = 0;
    for (size_t w = 0; w < c->words; w++)
        count += (size_t)__builtin_popcountll(a[w] & b[w]);
    return count;
}

/* whether a third ray has the zeros that these two share */
static int has_third(cone *c, size_t r, size_t s)
{
    const uint64_t *a = zeros_of(c, r), *b = zeros_of(c, s);
    for (size_t w = 0; w < c->words; w++)
        c->common[w] = a[w] & b[w];
    for (size_t t = 0; t < c->count; t++) {
        const uint64_t *zero = zeros_of(c, t);
        size_t w = 0;
        while (w < c->words && (zero[w] & c->common[w]) == c->common[w])
            w++;
        if (w == c->words && t != r && t != s)
            return 1;
    }
    return 0;
}

/* the ray at h = 0 between neighbours on both sides */
static unrelu_status add_between(cone *c, size_t below, size_t above, unrelu_error *err)
{
    size_t at = c->count + c->fresh, k = c->k;
    if (c->count - c->sides[0] + c->fresh >= c->most) {
        c->full = 1;
        return UNRELU_OK;
    }
    UR_TRY(reserve(c, at + 1, err));
    const double *a = c->z + below * k, *b = c->z + above * k;
    double left = -c->ray[below].h, right = c->ray[above].h, *z = c->z + at * k;
    uint64_t *zero = zeros_of(c, at);
    ray_state *ray = c->ray + at;
    *ray = (ray_state){0};
    for (size_t j = 0; j < k; j++)
        z[j] = right * a[j] + left * b[j];
    unit(k, z);
    for (size_t w = 0; w < c->words; w++) {
        zero[w] = zeros_of(c, below)[w] & zeros_of(c, above)[w];
        for (uint64_t bits = zero[w]; bits; bits &= bits - 1) {
            ray->key ^= mark(64 * w + (size_t)__builtin_ctzll(bits));
            ray->zeros++;
        }
    }
    c->fresh++;
    return UNRELU_OK;
}

/* ---- neighbours ---- */

/* rays below and above h = 0 */
static void sort_sides(cone *c)
{
    for (int above = 0; above < 2; above++) {
        c->sides[above] = c->crowded[above] = 0;
        for (int lone = 0; lone < 2; lone++) {
            for (size_t r = 0; r < c->count; r++) {
                double h = above ? c->ray[r].h : -c->ray[r].h;
                if (h > 0 && (c->ray[r].zeros < c->k) == lone)
                    c->side[above][c->sides[above]++] = r;
            }
            if (!lone)
                c->crowded[above] = c->sides[above];
        }
    }
}

/* the rays between ray r above and its neighbours among the rays below in the table */
static unrelu_status join_neighbours(cone *c, size_t r, unrelu_error *err)
{
    for (size_t w = 0; w < c->words; w++)
        /* zeros_of anew each time: add_between may move them */
        for (uint64_t bits = zeros_of(c, r)[w]; bits; bits &= bits - 1) {
            uint64_t key = c->ray[r].key ^ mark(64 * w + (size_t)__builtin_ctzll(bits));
            for (size_t at = (size_t)key;; at++) {
                const edge *e = c->table + (at & (c->slots - 1));
                if (e->slot == 0)
                    break;
                if (e->key == key && count_common(c, r, e->slot - 1) + 2 == c->k)
                    UR_TRY(add_between(c, e->slot - 1, r, err));
            }
        }
    return UNRELU_OK;
}

/* pairs with k - 1 zeros each */
static unrelu_status join_plain(cone *c, unrelu_error *err)
{
    size_t slots = LEAST_SLOTS;
    while (slots < 2 * (c->sides[0] - c->crowded[0]) * c->k)
        slots *= 2;
    if (slots > c->slots) {
        ur_free(c->table);
        c->slots = 0;
        if (!(c->table = ur_alloc(slots, sizeof *c->table)))
            return ur_fail_memory(err, slots, "edges of a cone");
        c->slots = slots;
    }
    memset(c->table, 0, c->slots * sizeof *c->table);
    for (size_t i = c->crowded[0]; i < c->sides[0]; i++) {
        size_t r = c->side[0][i];
        const uint64_t *zero = zeros_of(c, r);
        for (size_t w = 0; w < c->words; w++)
            for (uint64_t bits = zero[w]; bits; bits &= bits - 1) {
                uint64_t key = c->ray[r].key ^ mark(64 * w + (size_t)__builtin_ctzll(bits));
                size_t at = (size_t)key;
                while (c->table[at & (c->slots - 1)].slot != 0)
                    at++;
                c->table[at & (c->slots - 1)] = (edge){r + 1, key};
            }
    }
    for (size_t i = c->crowded[1]; i < c->sides[1] && !c->full; i++) {
        UR_TRY(poll(c, err));
        UR_TRY(join_neighbours(c, c->side[1][i], err));
    }
    return UNRELU_OK;
}

/* pairs one of which has more zeros */
static unrelu_status join_crowded(cone *c, unrelu_error *err)
{
    for (size_t i = 0; i < c->sides[0]; i++) {
        size_t r = c->side[0][i];
        int plain = i >= c->crowded[0];
        size_t last = plain ? c->crowded[1] : c->sides[1];
        for (size_t j = 0; j < last && !c->full; j++) {
            size_t s = c->side[1][j];
            UR_TRY(poll(c, err));
            if (count_common(c, r, s) + 2 < c->k)
                continue;
            if (plain || j >= c->crowded[1] || !has_third(c, r, s))
                UR_TRY(add_between(c, r, s, err));
        }
    }
    return UNRELU_OK;
}

/* ---- rows ---- */

/* row i waits at ray r, where it is at h */
static void wait_at(cone *c, size_t r, size_t i, double h)
{
    ray_state *ray = c->ray + r;
    c->next[i] = ray->head;
    ray->head = i + 1;
    if (h < ray->worst) {
        ray->worst = h;
        ray->worst_row = i;
    }
}

/* row i to wait at the ray among `side[0]` that violates it most; none: it is met */
static void assign(cone *c, size_t i)
{
    double worst = -c->tolerance;
    size_t at = SIZE_MAX;
    for (size_t j = 0; j < c->sides[0]; j++) {
        size_t r = c->side[0][j];
        double h = height(c, i, r);
        if (h < worst) {
            worst = h;
            at = r;
        }
    }
    if (at != SIZE_MAX)
        wait_at(c, at, i, worst);
}

/* rays below h = 0 leave, those at h = 0 get the zero and become side[0], new ones come; rows of
 * those that left */
static size_t replace_rays(cone *c)
{
    size_t kept = 0, orphans = 0, k = c->k, bit = c->inserted - 1;
    c->sides[0] = 0;
    for (size_t r = 0; r < c->count + c->fresh; r++) {
        if (c->ray[r].h < 0) {
            for (size_t i = c->ray[r].head, after; i > 0; i = after) {
                after = c->next[i - 1];
                c->next[i - 1] = orphans;
                orphans = i;
            }
            continue;
        }
        if (kept < r) {
            c->ray[kept] = c->ray[r];
            memcpy(c->z + kept * k, c->z + r * k, k * sizeof *c->z);
            memcpy(zeros_of(c, kept), zeros_of(c, r), c->words * sizeof *c->zero);
        }
        if (c->ray[kept].h == 0) {
            ur_bit_set(zeros_of(c, kept), bit);
            c->ray[kept].key ^= mark(bit);
            c->ray[kept].zeros++;
            settle(c, kept);
            c->side[0][c->sides[0]++] = kept;
        }
        kept++;
    }
    c->count = kept;
    c->fresh = 0;
    return orphans;
}

static unrelu_status insert(cone *c, size_t row, unrelu_error *err)
{
    if (c->inserted == 64 * c->words)
        UR_TRY(widen(c, err));
    for (size_t r = 0; r < c->count; r++) {
        double h = height(c, row, r);
        c->ray[r].h = fabs(h) <= c->tolerance ? 0 : h;
    }
    sort_sides(c);
    UR_TRY(join_plain(c, err));
    if (!c->full)
        UR_TRY(join_crowded(c, err));
    if (c->full) {
        c->fresh = 0;
        return UNRELU_OK;
    }
    c->in[row] = 1;
    c->order[c->inserted++] = row;
    for (size_t i = replace_rays(c), after; i > 0; i = after) {
        after = c->next[i - 1];
        if (i - 1 != row)
            assign(c, i - 1);
    }
    return UNRELU_OK;
}

/* A ray that was led back onto its zeros may meet rows that waited there. */
static int is_violated(const cone *c, size_t r, size_t row)
{
    return !c->in[row] && height(c, row, r) < -c->tolerance;
}

/* inserts rows for as long as one is violated */
static unrelu_status insert_all(cone *c, unrelu_error *err)
{
    while (!c->full) {
        size_t at = SIZE_MAX;
        for (size_t r = 0; r < c->count; r++)
            if (c->ray[r].head > 0 && (at == SIZE_MAX || c->ray[r].worst < c->ray[at].worst))
                at = r;
        if (at == SIZE_MAX)
            break;
        if (is_violated(c, at, c->ray[at].worst_row)) {
            c->polls = 0;
            UR_TRY(poll(c, err));
            UR_TRY(insert(c, c->ray[at].worst_row, err));
            continue;
        }
        size_t head = c->ray[at].head; /* its list again, without the rows that it meets */
        c->ray[at].head = 0;
        c->ray[at].worst = 0;
        for (size_t i = head, after; i > 0; i = after) {
            after = c->next[i - 1];
            if (is_violated(c, at, i - 1))
                wait_at(c, at, i - 1, height(c, i - 1, at));
        }
    }
    return UNRELU_OK;
}

/* ---- the first cone ---- */

/* k independent rows, each the farthest from the span of those before */
static unrelu_status choose_rows(cone *c, double *B, unrelu_error *err)
{
    size_t k = c->k;
    UR_ARENA(arena);
    double *rest = ur_take(&arena, c->rows, k * sizeof *rest);
    UR_TRY(ur_arena_status(&arena, err));
    memcpy(rest, c->Y, c->rows * k * sizeof *rest);
    for (size_t b = 0; b < k; b++) {
        size_t best = 0;
        double most = -1;
        for (size_t i = 0; i < c->rows; i++) {
            double size = c->in[i] ? -1 : ur_short_dot(k, rest + i * k, rest + i * k);
            if (size > most) {
                most = size;
                best = i;
            }
        }
        if (!(most > UR_ROUNDING * UR_ROUNDING)) /* there is no first cone */
            return ur_fail(err, UNRELU_EDATA,
                           "%zu rows of %zu columns have rank %zu: their cone holds a line",
                           c->rows, k, b);
        memcpy(c->q, rest + best * k, k * sizeof *c->q);
        ur_unit_rows(1, k, c->q);
        for (size_t i = 0; i < c->rows; i++)
            ur_add(k, -ur_short_dot(k, rest + i * k, c->q), c->q, rest + i * k);
        memcpy(B + b * k, row_of(c, best), k * sizeof *B);
        c->in[best] = 1;
        c->order[c->inserted++] = best;
    }
    return UNRELU_OK;
}

/* rays: the columns of the inverse of B, each 0 on all rows of it but one */
static unrelu_status open_cone(cone *c, unrelu_error *err)
{
    size_t k = c->k;
    UR_ARENA(arena);
    double *B = ur_take(&arena, k, k * sizeof *B), *eye = ur_take(&arena, k, k * sizeof *eye);
    double *inverse = ur_take(&arena, k, k * sizeof *inverse);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(reserve(c, k, err));
    UR_TRY(choose_rows(c, B, err));
    for (size_t j = 0; j < k; j++)
        eye[j * k + j] = 1;
    UR_TRY(ur_least_squares(k, k, k, B, eye, 0, inverse, NULL, err));
    for (size_t r = 0; r < k; r++) {
        c->ray[r] = (ray_state){.zeros = k - 1};
        for (size_t j = 0; j < k; j++)
            c->z[r * k + j] = inverse[j * k + r];
        ur_unit_rows(1, k, c->z + r * k);
        for (size_t b = 0; b < k; b++)
            if (b != r) {
                ur_bit_set(zeros_of(c, r), b);
                c->ray[r].key ^= mark(b);
            }
        settle(c, r);
        c->side[0][r] = r;
    }
    c->count = c->sides[0] = k;
    for (size_t i = 0; i < c->rows; i++)
        if (!c->in[i])
            assign(c, i);
    return UNRELU_OK;
}

/* ---- the end ---- */

/* All rows meet all rays: `out` keeps those that violate none, the others become side[0]. */
static unrelu_status check(cone *c, ur_rays *out, unrelu_error *err)
{
    size_t k = c->k;
    UR_ARENA(arena);
    double *h = ur_take(&arena, c->rows, BLOCK * sizeof *h);
    UR_TRY(ur_arena_status(&arena, err));
    c->sides[0] = 0;
    ur_rays_free(out);
    *out = (ur_rays){.words = (c->rows + 63) / 64, .finished = !c->full};
    out->z = ur_alloc(c->count, k * sizeof *out->z);
    out->zeros = ur_alloc(c->count, out->words * sizeof *out->zeros);
    if (!out->z || !out->zeros)
        return ur_fail_memory(err, c->count, "rays of a cone");
    for (size_t first = 0; first < c->count; first += BLOCK) {
        size_t rays = c->count - first < BLOCK ? c->count - first : BLOCK;
        ur_multiply_nt(rays, k, c->rows, c->z + first * k, c->Y, h);
        for (size_t r = first; r < first + rays; r++) {
            const double *own = h + (r - first) * c->rows;
            uint64_t *zero = out->zeros + out->count * out->words;
            size_t below = 0;
            memset(zero, 0, out->words * sizeof *zero);
            for (size_t i = 0; i < c->rows; i++) {
                if (fabs(own[i]) <= c->tolerance)
                    ur_bit_set(zero, i);
                below += own[i] < -c->tolerance;
            }
            if (below == 0)
                memcpy(out->z + k * out->count++, c->z + r * k, k * sizeof *c->z);
            else
                c->side[0][c->sides[0]++] = r;
        }
    }
    return UNRELU_OK;
}

/* rows that wait */
static size_t waiting(const cone *c)
{
    size_t count = 0;
    for (size_t r = 0; r < c->count; r++)
        for (size_t i = c->ray[r].head; i > 0; i = c->next[i - 1])
            count++;
    return count;
}

static unrelu_status find(cone *c, ur_rays *rays, unrelu_error *err)
{
    UR_TRY(open_cone(c, err));
    for (;;) {
        UR_TRY(insert_all(c, err));
        UR_TRY(check(c, rays, err));
        if (c->full || c->sides[0] == 0)
            break;
        for (size_t i = 0; i < c->rows; i++)
            if (!c->in[i])
                assign(c, i);
        if (waiting(c) == 0) { /* an inserted row is violated: digits are lost */
            rays->finished = 0;
            break;
        }
    }
    rays->inserted = c->rows - waiting(c);
    return UNRELU_OK;
}

unrelu_status ur_rays_find(size_t rows, size_t k, const double *Y, double tolerance, size_t most,
                           const unrelu_exec *exec, ur_rays *rays, unrelu_error *err)
{
    cone c = {.rows = rows,
              .k = k,
              .most = most > k ? most : k,
              .Y = Y,
              .tolerance = tolerance,
              .exec = exec,
              .words = k < 64 ? 4 : k / 16}; /* bits for 4 k rows at first */
    UR_ARENA(arena);                         /* after c, which it ends: scopes end last first */
    c.arena = &arena;
    c.order = ur_take(&arena, rows, sizeof *c.order);
    c.next = ur_take(&arena, rows, sizeof *c.next);
    c.in = ur_take(&arena, rows, 1);
    c.tight = ur_take(&arena, rows, sizeof *c.tight);
    c.q = ur_take(&arena, k, k * sizeof *c.q);
    *rays = (ur_rays){0};
    c.common = ur_take(&arena, c.words, sizeof *c.common);
    ur_arena_adopt(&arena, &c, free_grown);
    UR_TRY(ur_arena_status(&arena, err));
    unrelu_status status = find(&c, rays, err);
    if (status != UNRELU_OK)
        ur_rays_free(rays);
    return status;
}

void ur_rays_free(ur_rays *rays)
{
    ur_free(rays->z);
    ur_free(rays->zeros);
    *rays = (ur_rays){0};
}
