/* SPDX-License-Identifier: Apache-2.0 */
/* All faces of the cone of the labels. The smallest face that contains a face and a ray has their
 * common zeros: so faces are sets of zeros, and all of them come from the rays by intersection.
 * Rays come first, then the whole cone (neurons that are never off lie inside it), then faces by
 * falling number of zeros. A face that is closed (face.c: no face that contains it has more
 * neurons) is not joined with rays any further, nor a ray that is: on data in general position all
 * rays are closed, and the walk ends with them. Sets that were seen are in a hash table.
 *
 * finished: no neuron is missed by any z, unless rounding hides it; where a linear programme gave
 * up, or what it found did not hold, it is not claimed. Cost: that of the rays, one look a face,
 * faces times rays intersections. */
#include "network/hard/enumerate/enumerate.h"

#include "base/error.h"
#include "cone/cone.h"
#include "pass/parallel.h"

#include <string.h>

enum { MOST_RAYS = 1 << 17, FIRST_SETS = 64 };
static const size_t MOST_CELLS = (size_t)1 << 26; /* words of sets of zeros: 512 MiB */

typedef struct {
    ur_neurons *hunt;
    ur_rays rays;
    size_t *open; /* rays that are not closed */
    size_t opened;
    size_t words;
    ur_arena *store; /* sets, next and table, which grow */
    uint64_t *sets;  /* (capacity, words): zeros of faces */
    size_t *next;    /* capacity: faces with as many zeros that wait, as index + 1 */
    size_t count, capacity;
    size_t *table, slots; /* faces by hash, as index + 1 */
    size_t *waiting;      /* rows + 1: by number of zeros */
    unsigned char *zero;  /* rows */
    size_t looked;
    int missed; /* a face was not looked at, or left in doubt */
} walk;

static void end_rays(void *rays)
{
    ur_rays_free(rays);
}

/* ---- sets of zeros ---- */

/* the slot of this set, or the free one where it belongs */
static size_t slot_of(const walk *w, const uint64_t *set)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < w->words; i++) {
        hash = (hash ^ set[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    size_t at = (size_t)hash & (w->slots - 1);
    while (w->table[at] > 0 &&
           memcmp(w->sets + (w->table[at] - 1) * w->words, set, w->words * sizeof *set) != 0)
        at = (at + 1) & (w->slots - 1);
    return at;
}

static unrelu_status enlarge(walk *w, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t capacity = w->capacity > 0 ? 2 * w->capacity : FIRST_SETS, slots = 4 * capacity;
    uint64_t *sets = ur_take(&arena, capacity, w->words * sizeof *sets);
    size_t *next = ur_take(&arena, capacity, sizeof *next);
    size_t *table = ur_take(&arena, slots, sizeof *table);
    UR_TRY(ur_arena_status(&arena, err));
    if (w->count > 0) {
        memcpy(sets, w->sets, w->count * w->words * sizeof *sets);
        memcpy(next, w->next, w->count * sizeof *next);
    }
    ur_arena old = *w->store; /* ends here */
    *w->store = arena;
    arena = old;
    w->sets = sets;
    w->next = next;
    w->table = table;
    w->capacity = capacity;
    w->slots = slots;
    for (size_t i = 0; i < w->count; i++)
        table[slot_of(w, sets + i * w->words)] = i + 1;
    return UNRELU_OK;
}

/* *fresh: the set was not there before; it is now, unless there are too many */
static unrelu_status add_set(walk *w, const uint64_t *set, int *fresh, unrelu_error *err)
{
    *fresh = 0;
    if (w->count == w->capacity)
        UR_TRY(enlarge(w, err));
    size_t at = slot_of(w, set);
    if (w->table[at] > 0)
        return UNRELU_OK;
    if (w->count * w->words >= MOST_CELLS) {
        w->missed = 1;
        return UNRELU_OK;
    }
    memcpy(w->sets + w->count * w->words, set, w->words * sizeof *set);
    w->table[at] = ++w->count;
    *fresh = 1;
    return UNRELU_OK;
}

/* ---- faces ---- */

static int is_done(const walk *w)
{
    return w->hunt->found == w->hunt->k || w->hunt->budget == 0;
}

/* more faces wait than the budget allows */
static int is_late(const walk *w)
{
    return w->count - w->looked > w->hunt->budget;
}

static unrelu_status look(walk *w, const uint64_t *set, int *closed, unrelu_error *err)
{
    ur_neurons *hunt = w->hunt;
    ur_face_end end;
    if (ur_cancelled(hunt->exec))
        return ur_fail_cancelled(err);
    for (size_t i = 0; i < hunt->rows; i++)
        w->zero[i] = (unsigned char)ur_bit(set, i);
    UR_TRY(ur_face_look(hunt, w->zero, &end, err));
    hunt->budget--;
    hunt->tried++;
    w->looked++;
    w->missed |= end.unsure;
    *closed = end.closed;
    return UNRELU_OK;
}

/* the faces of this one and each of the open rays wait for their turn; set: words of scratch */
static unrelu_status join(walk *w, const uint64_t *of, uint64_t *set, unrelu_error *err)
{
    for (size_t j = 0; j < w->opened && !is_late(w); j++) {
        const uint64_t *ray = w->rays.zeros + w->open[j] * w->words;
        int fresh;
        for (size_t i = 0; i < w->words; i++)
            set[i] = of[i] & ray[i];
        UR_TRY(add_set(w, set, &fresh, err));
        if (!fresh)
            continue;
        size_t zeros = ur_bits_count(w->words, set);
        w->next[w->count - 1] = w->waiting[zeros];
        w->waiting[zeros] = w->count;
    }
    return UNRELU_OK;
}

unrelu_status ur_faces_walk(ur_neurons *hunt, int *finished, size_t *rays, size_t *faces,
                            unrelu_error *err)
{
    size_t words = (hunt->rows + 63) / 64, most = MOST_RAYS;
    walk w = {.hunt = hunt, .words = words};
    UR_ARENA(arena);
    UR_ARENA(store);
    w.store = &store;
    *finished = hunt->found == hunt->k;
    *rays = *faces = 0;
    if (*finished || hunt->budget == 0)
        return UNRELU_OK;
    most = most < MOST_CELLS / words ? most : MOST_CELLS / words;
    most = most < hunt->budget ? most : (size_t)hunt->budget;
    unrelu_status status =
        ur_rays_find(hunt->rows, hunt->k, hunt->Y, hunt->tolerance, most, hunt->exec, &w.rays, err);
    ur_arena_adopt(&arena, &w.rays, end_rays);
    UR_TRY(status);
    w.open = ur_take(&arena, w.rays.count, sizeof *w.open);
    w.waiting = ur_take(&arena, hunt->rows + 1, sizeof *w.waiting);
    w.zero = ur_take(&arena, hunt->rows, 1);
    w.missed = !w.rays.finished;
    uint64_t *set = ur_take(&arena, words, sizeof *set), *of = ur_take(&arena, words, sizeof *of);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t r = 0; r < w.rays.count; r++) {
        int fresh, closed = 1;
        if (is_done(&w)) {
            w.missed = 1;
            break;
        }
        UR_TRY(add_set(&w, w.rays.zeros + r * words, &fresh, err));
        if (fresh)
            UR_TRY(look(&w, w.rays.zeros + r * words, &closed, err));
        if (!closed)
            w.open[w.opened++] = r;
        ur_progress(hunt->exec, "rays", (double)(r + 1) / (double)w.rays.count);
    }
    if (w.opened > 1 && !is_done(&w)) { /* where any face may have neurons still: all together */
        int fresh, closed;
        memcpy(set, w.rays.zeros, words * sizeof *set);
        for (size_t i = words; i < w.rays.count * words; i++)
            set[i % words] &= w.rays.zeros[i];
        UR_TRY(add_set(&w, set, &fresh, err));
        if (fresh)
            UR_TRY(look(&w, set, &closed, err));
    }
    for (size_t j = 0; j < w.opened && !is_late(&w); j++)
        UR_TRY(join(&w, w.rays.zeros + w.open[j] * words, set, err));
    for (size_t zeros = hunt->rows + 1; zeros-- > 0;) {
        while (w.waiting[zeros] > 0 && !is_done(&w)) {
            size_t at = w.waiting[zeros] - 1;
            int closed;
            w.waiting[zeros] = w.next[at];
            memcpy(of, w.sets + at * words, words * sizeof *of); /* sets may move */
            UR_TRY(look(&w, of, &closed, err));
            if (!closed)
                UR_TRY(join(&w, of, set, err));
        }
    }
    for (size_t zeros = 0; zeros <= hunt->rows; zeros++)
        w.missed |= w.waiting[zeros] > 0;
    *rays = w.rays.count;
    *faces = w.looked;
    *finished = hunt->found == hunt->k || !w.missed;
    return UNRELU_OK;
}
