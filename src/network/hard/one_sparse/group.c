/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel rows in n log n. Unit rows are sorted by one random projection (radix sort); of two
 * within `tolerance` the projections are, too, so that each row is compared with those first
 * members of classes only that lie at most `tolerance` before it. Rows that are parallel by
 * chance: about C(k, 2) n_2^2 5 tolerance, n_2 rows where the same two neurons are on. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "network/hard/one_sparse/one_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };

typedef struct {
    uint64_t key;
    size_t at;
} entry;

/* order of doubles as that of unsigned numbers */
static uint64_t rank_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

static double value_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(1ULL << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void pass(size_t count, int shift, const entry *from, entry *to)
{
    size_t first[BUCKETS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        first[from[i].key >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t here = first[b];
        first[b] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[first[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

/* an even number of passes ends where it began */
static void sort(size_t count, entry *entries, entry *room)
{
    for (int i = 0; i < PASSES; i += 2) {
        pass(count, BITS * i, entries, room);
        pass(count, BITS * (i + 1), room, entries);
    }
}

typedef struct {
    size_t n, m, p;
    const double *rows, *x;
    double tolerance;
    size_t count;          /* rows that take part */
    double *unit;          /* (count, m) */
    double *key;           /* of the first members of the classes, increasing */
    size_t *row;           /* count */
    entry *order, *room;   /* count */
    size_t *first;         /* these members */
    size_t *size, *of;     /* classes: members beside the first; rows that take part: class */
    unsigned char *spread; /* classes: inputs of two members are not parallel */
} work;

static void work_free(work *w)
{
    free(w->unit);
    free(w->key);
    free(w->row);
    free(w->order);
    free(w->room);
    free(w->first);
    free(w->size);
    free(w->of);
    free(w->spread);
}

static unrelu_status work_new(work *w, unrelu_error *err)
{
    w->unit = ur_alloc(w->n, w->m * sizeof *w->unit);
    w->key = ur_doubles(w->n);
    w->row = ur_alloc(w->n, sizeof *w->row);
    w->order = ur_alloc(w->n, sizeof *w->order);
    w->room = ur_alloc(w->n, sizeof *w->room);
    w->first = ur_alloc(w->n, sizeof *w->first);
    w->size = ur_alloc(w->n, sizeof *w->size);
    w->of = ur_alloc(w->n, sizeof *w->of);
    w->spread = ur_alloc(w->n, 1);
    if (!w->unit || !w->key || !w->row || !w->order || !w->room || !w->first || !w->size ||
        !w->of || !w->spread)
        return ur_fail_memory(err, w->n * (w->m + 10), "numbers of the grouping");
    return UNRELU_OK;
}

static double length_of(size_t m, const double *row)
{
    double top = 0, sum = 0;
    for (size_t j = 0; j < m; j++)
        sum += row[j] * row[j];
    if (sum > 1e-200 && sum < 1e200)
        return sqrt(sum);
    sum = 0;
    for (size_t j = 0; j < m; j++)
        top = fmax(top, fabs(row[j]));
    for (size_t j = 0; j < m && top > 0; j++)
        sum += row[j] / top * (row[j] / top);
    return top * sqrt(sum);
}

static void project(work *w, const unsigned char *skip, const double *along)
{
    size_t m = w->m, count = 0;
    for (size_t i = 0; i < w->n; i++) {
        double length = skip && skip[i] ? 0 : length_of(m, w->rows + i * m);
        double *unit = w->unit + count * m, key = 0;
        if (!(length > 0))
            continue;
        for (size_t j = 0; j < m; j++) {
            unit[j] = w->rows[i * m + j] / length;
            key += along[j] * unit[j];
        }
        w->row[count] = i;
        w->order[count] = (entry){rank_of(key), count};
        count++;
    }
    w->count = count;
}

static double distance(size_t m, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < m; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

/* whether x and y are not multiples of each other */
static int is_apart(size_t p, const double *x, const double *y)
{
    double xx = 0, xy = 0, yy = 0, rest = 0;
    for (size_t j = 0; j < p; j++) {
        xx += x[j] * x[j];
        xy += x[j] * y[j];
        yy += y[j] * y[j];
    }
    for (size_t j = 0; j < p && xx > 0; j++)
        rest += (y[j] - xy / xx * x[j]) * (y[j] - xy / xx * x[j]);
    return rest > 1e-14 * yy;
}

/* classes by their first members; returns their number */
static size_t scan(work *w)
{
    size_t classes = 0, m = w->m;
    for (size_t i = 0; i < w->count; i++) {
        size_t at = w->order[i].at, c = classes;
        double near = value_of(w->order[i].key) - w->tolerance;
        while (c > 0 && w->key[c - 1] >= near &&
               distance(m, w->unit + at * m, w->unit + w->first[c - 1] * m) > w->tolerance)
            c--;
        if (c == 0 || w->key[c - 1] < near) {
            w->first[classes] = at;
            w->key[classes] = near + w->tolerance;
            w->of[at] = classes++;
            continue;
        }
        w->of[at] = --c;
        w->size[c]++;
        if (w->x && !w->spread[c])
            w->spread[c] = (unsigned char)is_apart(w->p, w->x + w->row[w->first[c]] * w->p,
                                                   w->x + w->row[at] * w->p);
    }
    return classes;
}

static int is_class(const work *w, size_t c)
{
    return w->size[c] > 0 && (!w->x || w->spread[c]);
}

static int larger(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* classes of two and more by size, then by their first rows */
static void rank(work *w, size_t classes, ur_groups *g)
{
    size_t m = w->m, kept = 0;
    for (size_t c = 0; c < classes; c++)
        w->room[c] = (entry){0, SIZE_MAX};
    for (size_t i = 0; i < w->count; i++)
        if (w->room[w->of[i]].at == SIZE_MAX)
            w->room[w->of[i]].at = i;
    for (size_t c = 0; c < classes; c++)
        if (is_class(w, c))
            w->order[kept++] = (entry){w->size[c] + 1, w->room[c].at};
    qsort(w->order, kept, sizeof *w->order, larger);
    for (size_t c = 0; c < classes; c++)
        w->first[c] = UR_ALONE;
    for (size_t c = 0; c < kept; c++) {
        w->first[w->of[w->order[c].at]] = c;
        g->size[c] = (size_t)w->order[c].key;
    }
    for (size_t i = 0; i < w->n; i++)
        g->of[i] = UR_ALONE;
    for (size_t i = 0; i < w->count; i++) {
        size_t c = g->of[w->row[i]] = w->first[w->of[i]];
        for (size_t j = 0; c != UR_ALONE && j < m; j++)
            g->direction[c * m + j] += w->rows[w->row[i] * m + j];
    }
    g->count = kept;
    for (size_t c = 0; c < kept; c++) {
        double length = length_of(m, g->direction + c * m);
        for (size_t j = 0; j < m; j++)
            g->direction[c * m + j] /= length;
    }
}

unrelu_status ur_group(size_t n, size_t m, const double *rows, const unsigned char *skip, size_t p,
                       const double *x, double tolerance, uint64_t seed, ur_groups *g,
                       unrelu_error *err)
{
    work w = {.n = n, .m = m, .p = p, .rows = rows, .x = x, .tolerance = tolerance};
    double *along = ur_doubles(m);
    *g = (ur_groups){.of = ur_alloc(n, sizeof *g->of)};
    unrelu_status status = along && g->of ? work_new(&w, err) : ur_fail_memory(err, n, "classes");
    if (status != UNRELU_OK)
        goto done;
    ur_random_normals(seed, UR_STREAM_GROUP, 0, m, along);
    double length = length_of(m, along);
    for (size_t j = 0; j < m; j++)
        along[j] /= length;
    project(&w, skip, along);
    sort(w.count, w.order, w.room);
    size_t classes = scan(&w), kept = 0;
    for (size_t c = 0; c < classes; c++)
        kept += (size_t)is_class(&w, c);
    g->size = ur_alloc(kept, sizeof *g->size);
    g->direction = ur_alloc(kept, m * sizeof *g->direction);
    if (g->size && g->direction)
        rank(&w, classes, g);
    else
        status = ur_fail_memory(err, kept * m, "directions");
done:
    work_free(&w);
    free(along);
    if (status != UNRELU_OK)
        ur_groups_free(g);
    return status;
}

void ur_groups_free(ur_groups *g)
{
    free(g->size);
    free(g->direction);
    free(g->of);
    *g = (ur_groups){0};
}
