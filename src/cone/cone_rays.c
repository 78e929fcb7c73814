/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours are rays whose common zeros are zeros of no third ray. Zeros are bits in the order of
 * insertion, and those of a new ray follow from its parents': only the side on which a ray lies is
 * a matter of rounding. A ray with k - 1 zeros has one neighbour for each k - 2 of them: between
 * two of that kind these are found in a hash table, so that data in general position cost O(k) a
 * ray and row; where one is of that kind, k - 2 common zeros are enough.
 *
 * Rays that drift from their zeros by more than DRIFT are projected back. */
#include "cone/cone_rays.h"

#include "base/error.h"
#include "base/memory.h"
#include "dense/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT 1e-14
#define SAME  1e-10 /* a row that adds nothing to a projection */

enum { POLL = 4096 };

void ur_description_free(ur_description *c)
{
    free(c->ray);
    free(c->z);
    free(c->zero);
    free(c->order);
    free(c->next);
    free(c->in);
    free(c->side[0]);
    free(c->side[1]);
    free(c->table);
    free(c->common);
    free(c->tight);
    free(c->q);
}

uint64_t ur_description_mark(size_t i)
{
    uint64_t x = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int ur_description_cancelled(ur_description *c)
{
    const unrelu_exec *exec = c->exec;
    return exec && exec->cancelled && c->polls++ % POLL == 0 && exec->cancelled(exec->context);
}

unrelu_status ur_description_fail_cancelled(unrelu_error *err)
{
    return ur_fail(err, UNRELU_ECANCELLED, "interrupted: nothing was written");
}

static void unit(size_t k, double *z)
{
    double length = ur_norm(k, z);
    for (size_t j = 0; j < k && length > 0; j++)
        z[j] /= length;
}

/* ---- memory ---- */

/* *old becomes room for count elements, the first `used` of them kept */
static int grow(void **old, size_t used, size_t count, size_t size)
{
    void *new = ur_alloc(count, size);
    if (!new)
        return 0;
    if (used > 0)
        memcpy(new, *old, used * size);
    free(*old);
    *old = new;
    return 1;
}

unrelu_status ur_description_reserve(ur_description *c, size_t rays, unrelu_error *err)
{
    size_t used = c->count + c->fresh, room = 2 * c->room > 64 ? 2 * c->room : 64;
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

unrelu_status ur_description_widen(ur_description *c, unrelu_error *err)
{
    size_t words = 2 * c->words;
    uint64_t *zero = ur_alloc(c->room, words * sizeof *zero);
    uint64_t *common = ur_alloc(words, sizeof *common);
    if (!zero || !common) {
        free(zero);
        free(common);
        return ur_fail_memory(err, c->room, "rays of a cone");
    }
    for (size_t r = 0; r < c->count; r++)
        memcpy(zero + r * words, ur_description_zeros(c, r), c->words * sizeof *zero);
    free(c->zero);
    free(c->common);
    c->zero = zero;
    c->common = common;
    c->words = words;
    return UNRELU_OK;
}

/* ---- rays ---- */

size_t ur_description_project(size_t k, size_t count, const double *const *rows, double *q,
                              double *z)
{
    size_t rank = 0;
    for (size_t i = 0; i < count && rank < k; i++) {
        double *new = q + rank *k;
        memcpy(new, rows[i], k * sizeof *new);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < rank; j++)
                ur_add(k, -ur_description_dot(k, new, q + j * k), q + j * k, new);
        if (ur_norm(k, new) < SAME)
            continue;
        unit(k, new);
        ur_add(k, -ur_description_dot(k, new, z), new, z);
        rank++;
    }
    unit(k, z);
    return rank;
}

void ur_description_settle(ur_description *c, size_t r)
{
    size_t count = 0, k = c->k;
    double *z = c->z + r * k, off = 0;
    const uint64_t *zero = ur_description_zeros(c, r);
    for (size_t w = 0; w < c->words; w++)
        for (uint64_t bits = zero[w]; bits; bits &= bits - 1) {
            c->tight[count] =
                ur_description_row(c, c->order[64 * w + (size_t)__builtin_ctzll(bits)]);
            off = fmax(off, fabs(ur_description_dot(k, c->tight[count++], z)));
        }
    if (off > DRIFT)
        ur_description_project(k, count, c->tight, c->q, z);
}

static size_t count_common(ur_description *c, size_t r, size_t s)
{
    const uint64_t *a = ur_description_zeros(c, r), *b = ur_description_zeros(c, s);
    size_t count = 0;
    for (size_t w = 0; w < c->words; w++)
        count += (size_t)__builtin_popcountll(a[w] & b[w]);
    return count;
}

/* whether a third ray has the zeros that these two share */
static int third_has(ur_description *c, size_t r, size_t s)
{
    const uint64_t *a = ur_description_zeros(c, r), *b = ur_description_zeros(c, s);
    for (size_t w = 0; w < c->words; w++)
        c->common[w] = a[w] & b[w];
    for (size_t t = 0; t < c->count; t++) {
        const uint64_t *zero = ur_description_zeros(c, t);
        size_t w = 0;
        while (w < c->words && (zero[w] & c->common[w]) == c->common[w])
            w++;
        if (w == c->words && t != r && t != s)
            return 1;
    }
    return 0;
}

/* the ray at h = 0 between neighbours on both sides */
static unrelu_status join(ur_description *c, size_t below, size_t above, unrelu_error *err)
{
    size_t at = c->count + c->fresh, k = c->k;
    if (c->count - c->sides[0] + c->fresh >= c->most) {
        c->full = 1;
        return UNRELU_OK;
    }
    unrelu_status status = ur_description_reserve(c, at + 1, err);
    if (status != UNRELU_OK)
        return status;
    const double *a = c->z + below * k, *b = c->z + above * k;
    double left = -c->ray[below].h, right = c->ray[above].h, *z = c->z + at * k;
    uint64_t *zero = ur_description_zeros(c, at);
    ur_description_ray *new = c->ray + at;
    *new = (ur_description_ray){0};
    for (size_t j = 0; j < k; j++)
        z[j] = right * a[j] + left * b[j];
    unit(k, z);
    for (size_t w = 0; w < c->words; w++) {
        zero[w] = ur_description_zeros(c, below)[w] & ur_description_zeros(c, above)[w];
        for (uint64_t bits = zero[w]; bits; bits &= bits - 1) {
            new->key ^= ur_description_mark(64 * w + (size_t)__builtin_ctzll(bits));
            new->zeros++;
        }
    }
    c->fresh++;
    return UNRELU_OK;
}

/* ---- neighbours ---- */

/* rays below and above h = 0 */
static void split(ur_description *c)
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

static unrelu_status open_table(ur_description *c, size_t entries, unrelu_error *err)
{
    size_t slots = 64;
    while (slots < 2 * entries)
        slots *= 2;
    if (slots > c->slots) {
        free(c->table);
        c->slots = 0;
        if (!(c->table = ur_alloc(slots, sizeof *c->table)))
            return ur_fail_memory(err, slots, "edges of a cone");
        c->slots = slots;
    }
    memset(c->table, 0, c->slots * sizeof *c->table);
    return UNRELU_OK;
}

/* all entries of this key, one a call; *at: where to look on, from the key on */
static size_t look_up(const ur_description *c, uint64_t key, size_t *at)
{
    for (;; ++*at) {
        const ur_description_edge *e = c->table + (*at & (c->slots - 1));
        if (e->slot == 0)
            return SIZE_MAX;
        if (e->key == key) {
            ++*at;
            return e->slot - 1;
        }
    }
}

static void put(ur_description *c, uint64_t key, size_t r)
{
    size_t at = (size_t)key;
    while (c->table[at & (c->slots - 1)].slot != 0)
        at++;
    c->table[at & (c->slots - 1)] = (ur_description_edge){r + 1, key};
}

/* neighbours of ray r above among the rays below in the table */
static unrelu_status meet(ur_description *c, size_t r, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t w = 0; w < c->words; w++) {
        /* zeros_of anew each time: join may move them */
        for (uint64_t bits = ur_description_zeros(c, r)[w]; bits && status == UNRELU_OK;
             bits &= bits - 1) {
            uint64_t key =
                c->ray[r].key ^ ur_description_mark(64 * w + (size_t)__builtin_ctzll(bits));
            size_t at = (size_t)key, s;
            while (status == UNRELU_OK && (s = look_up(c, key, &at)) != SIZE_MAX)
                if (count_common(c, r, s) + 2 == c->k)
                    status = join(c, s, r, err);
        }
    }
    return status;
}

/* pairs with k - 1 zeros each */
static unrelu_status join_plain(ur_description *c, unrelu_error *err)
{
    unrelu_status status = open_table(c, (c->sides[0] - c->crowded[0]) * c->k, err);
    for (size_t i = c->crowded[0]; i < c->sides[0] && status == UNRELU_OK; i++) {
        size_t r = c->side[0][i];
        const uint64_t *zero = ur_description_zeros(c, r);
        for (size_t w = 0; w < c->words; w++)
            for (uint64_t bits = zero[w]; bits; bits &= bits - 1)
                put(c, c->ray[r].key ^ ur_description_mark(64 * w + (size_t)__builtin_ctzll(bits)),
                    r);
    }
    for (size_t i = c->crowded[1]; i < c->sides[1] && status == UNRELU_OK && !c->full; i++)
        status = ur_description_cancelled(c) ? ur_description_fail_cancelled(err)
                                             : meet(c, c->side[1][i], err);
    return status;
}

/* pairs one of which has more zeros */
static unrelu_status join_crowded(ur_description *c, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < c->sides[0]; i++) {
        size_t r = c->side[0][i];
        int plain = i >= c->crowded[0];
        size_t last = plain ? c->crowded[1] : c->sides[1];
        for (size_t j = 0; j < last && status == UNRELU_OK && !c->full; j++) {
            size_t s = c->side[1][j];
            if (ur_description_cancelled(c))
                return ur_description_fail_cancelled(err);
            if (count_common(c, r, s) + 2 < c->k)
                continue;
            if (plain || j >= c->crowded[1] || !third_has(c, r, s))
                status = join(c, r, s, err);
        }
    }
    return status;
}

unrelu_status ur_description_join(ur_description *c, unrelu_error *err)
{
    split(c);
    unrelu_status status = join_plain(c, err);
    if (status == UNRELU_OK && !c->full)
        status = join_crowded(c, err);
    if (status != UNRELU_OK || c->full)
        c->fresh = 0;
    return status;
}
