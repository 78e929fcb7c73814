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
#include "network/hard/enumerate/face.h"

#include "base/error.h"
#include "base/memory.h"
#include "cone/cone.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RAYS = 1 << 17 };
static const size_t MOST_CELLS = (size_t)1 << 26; /* words of sets of zeros: 512 MiB */

typedef struct {
    ur_neurons *q;
    ur_face face;
    ur_rays rays;
    size_t *open; /* rays that are not closed */
    size_t opened;
    size_t words;
    uint64_t *sets; /* (room, words): zeros of faces */
    size_t *next;   /* room: faces with as many zeros that wait, as index + 1 */
    size_t count, room;
    size_t *waiting;      /* rows + 1: by number of zeros */
    size_t *table, slots; /* faces by hash, as index + 1 */
    unsigned char *zero;  /* rows */
    size_t looked;
    int missed; /* a face was not looked at, or left in doubt */
} walk;

static void walk_free(walk *w)
{
    ur_face_free(&w->face);
    ur_rays_free(&w->rays);
    free(w->open);
    free(w->sets);
    free(w->next);
    free(w->waiting);
    free(w->table);
    free(w->zero);
}

/* ---- sets of zeros ---- */

static uint64_t hash(size_t words, const uint64_t *set)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < words; i++) {
        h = (h ^ set[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* the slot of this set, or the free one where it belongs */
static size_t slot_of(const walk *w, const uint64_t *set)
{
    size_t at = (size_t)hash(w->words, set) & (w->slots - 1);
    while (w->table[at] > 0 &&
           memcmp(w->sets + (w->table[at] - 1) * w->words, set, w->words * sizeof *set) != 0)
        at = (at + 1) & (w->slots - 1);
    return at;
}

static unrelu_status make_room(walk *w, unrelu_error *err)
{
    size_t room = w->room > 0 ? 2 * w->room : 64, slots = 4 * room;
    uint64_t *sets = ur_alloc(room, w->words * sizeof *sets);
    size_t *next = ur_alloc(room, sizeof *next), *table = ur_alloc(slots, sizeof *table);
    if (!sets || !next || !table) {
        free(sets);
        free(next);
        free(table);
        return ur_fail_memory(err, room, "faces of a cone");
    }
    if (w->count > 0) {
        memcpy(sets, w->sets, w->count * w->words * sizeof *sets);
        memcpy(next, w->next, w->count * sizeof *next);
    }
    free(w->sets);
    free(w->next);
    free(w->table);
    w->sets = sets;
    w->next = next;
    w->table = table;
    w->room = room;
    w->slots = slots;
    for (size_t i = 0; i < w->count; i++)
        table[slot_of(w, sets + i * w->words)] = i + 1;
    return UNRELU_OK;
}

/* *fresh: the set was not there before; it is now, unless there are too many */
static unrelu_status add_set(walk *w, const uint64_t *set, int *fresh, unrelu_error *err)
{
    unrelu_status status = w->count == w->room ? make_room(w, err) : UNRELU_OK;
    *fresh = 0;
    if (status != UNRELU_OK)
        return status;
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
    return w->q->found == w->q->wanted || w->q->budget == 0;
}

/* more faces wait than the budget allows */
static int is_late(const walk *w)
{
    return w->count - w->looked > w->q->budget;
}

static unrelu_status look(walk *w, const uint64_t *set, int *closed, unrelu_error *err)
{
    ur_neurons *q = w->q;
    ur_face_end end;
    *closed = 1;
    if (ur_cancelled(q->exec))
        return ur_fail_cancelled(err);
    for (size_t i = 0; i < q->rows; i++)
        w->zero[i] = (unsigned char)ur_bit(set, i);
    unrelu_status status = ur_face_look(&w->face, w->zero, &end, err);
    q->budget--;
    q->tried++;
    w->looked++;
    w->missed |= end.unsure;
    *closed = end.closed;
    return status;
}

static unrelu_status look_at_rays(walk *w, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    size_t r = 0;
    for (; r < w->rays.count && status == UNRELU_OK && !is_done(w); r++) {
        const uint64_t *set = w->rays.zeros + r * w->words;
        int fresh, closed;
        status = add_set(w, set, &fresh, err);
        if (status == UNRELU_OK && fresh)
            status = look(w, set, &closed, err);
        if (status == UNRELU_OK && fresh && !closed)
            w->open[w->opened++] = r;
        ur_progress(w->q->exec, "rays", (double)(r + 1) / (double)w->rays.count);
    }
    w->missed |= r < w->rays.count;
    return status;
}

/* where any face may have neurons still: all rays together */
static unrelu_status look_at_cone(walk *w, uint64_t *set, unrelu_error *err)
{
    int fresh, closed;
    if (w->opened < 2 || is_done(w))
        return UNRELU_OK;
    memcpy(set, w->rays.zeros, w->words * sizeof *set);
    for (size_t r = 1; r < w->rays.count; r++)
        for (size_t i = 0; i < w->words; i++)
            set[i] &= w->rays.zeros[r * w->words + i];
    unrelu_status status = add_set(w, set, &fresh, err);
    return status == UNRELU_OK && fresh ? look(w, set, &closed, err) : status;
}

/* the faces of this one and each of the open rays wait for their turn; set: words of room */
static unrelu_status join(walk *w, const uint64_t *of, uint64_t *set, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < w->opened && status == UNRELU_OK && !is_late(w); j++) {
        const uint64_t *ray = w->rays.zeros + w->open[j] * w->words;
        int fresh;
        for (size_t i = 0; i < w->words; i++)
            set[i] = of[i] & ray[i];
        status = add_set(w, set, &fresh, err);
        if (status == UNRELU_OK && fresh) {
            size_t zeros = ur_bits_count(w->words, set);
            w->next[w->count - 1] = w->waiting[zeros];
            w->waiting[zeros] = w->count;
        }
    }
    return status;
}

static unrelu_status look_at_faces(walk *w, uint64_t *set, uint64_t *of, unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t j = 0; j < w->opened && status == UNRELU_OK && !is_late(w); j++)
        status = join(w, w->rays.zeros + w->open[j] * w->words, set, err);
    for (size_t zeros = w->q->rows + 1; zeros-- > 0;)
        while (w->waiting[zeros] > 0 && status == UNRELU_OK && !is_done(w)) {
            size_t at = w->waiting[zeros] - 1;
            int closed;
            w->waiting[zeros] = w->next[at];
            memcpy(of, w->sets + at * w->words, w->words * sizeof *of); /* sets may move */
            status = look(w, of, &closed, err);
            if (status == UNRELU_OK && !closed)
                status = join(w, of, set, err);
        }
    for (size_t zeros = 0; zeros <= w->q->rows; zeros++)
        w->missed |= w->waiting[zeros] > 0;
    return status;
}

static unrelu_status open_walk(walk *w, unrelu_error *err)
{
    ur_neurons *q = w->q;
    size_t words = (q->rows + 63) / 64, most = MOST_RAYS;
    most = most < MOST_CELLS / words ? most : MOST_CELLS / words;
    most = most < q->budget ? most : (size_t)q->budget;
    unrelu_status status =
        ur_rays_find(q->rows, q->k, q->Y, q->tolerance, most, q->exec, &w->rays, err);
    if (status == UNRELU_OK)
        status = ur_face_open(q, &w->face, err);
    if (status != UNRELU_OK)
        return status;
    w->words = words;
    w->open = ur_alloc(w->rays.count, sizeof *w->open);
    w->waiting = ur_alloc(q->rows + 1, sizeof *w->waiting);
    w->zero = ur_alloc(q->rows, 1);
    w->missed = !w->rays.finished;
    if (!w->open || !w->waiting || !w->zero)
        return ur_fail_memory(err, w->rays.count, "rays of a cone");
    return UNRELU_OK;
}

unrelu_status ur_faces_walk(ur_neurons *q, int *finished, size_t *rays, size_t *faces,
                            unrelu_error *err)
{
    walk w = {.q = q};
    uint64_t *set = NULL, *of = NULL;
    *finished = q->found == q->wanted;
    *rays = *faces = 0;
    if (*finished || q->budget == 0)
        return UNRELU_OK;
    unrelu_status status = open_walk(&w, err);
    if (status == UNRELU_OK) {
        set = ur_alloc(w.words, sizeof *set);
        of = ur_alloc(w.words, sizeof *of);
        if (!set || !of)
            status = ur_fail_memory(err, w.words, "words");
    }
    if (status == UNRELU_OK)
        status = look_at_rays(&w, err);
    if (status == UNRELU_OK)
        status = look_at_cone(&w, set, err);
    if (status == UNRELU_OK)
        status = look_at_faces(&w, set, of, err);
    *rays = w.rays.count;
    *faces = w.looked;
    *finished = status == UNRELU_OK && (q->found == q->wanted || !w.missed);
    free(set);
    free(of);
    walk_free(&w);
    return status;
}
