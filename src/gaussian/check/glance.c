/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/check/glance.h"

#include "base/error.h"
#include "base/order.h"
#include "gaussian/check/judge.h"
#include "gaussian/model/gaussian_model.h"
#include "law/normal.h"
#include "law/power.h"
#include "model/kind.h"
#include "read/format.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS = 1024,          /* a share of 0.05 is known to 0.007, and a column is sorted in 0.1 ms */
    FEWEST_ROWS = 64,     /* where there are so many columns that even these are too many cells: */
    MOST_CELLS = 1 << 20, /* 8 MB; nothing is looked at then */
    LEAST_SEEN = 50,      /* fewer values say nothing of rounding, codes and tails */
    LEAST_PILED = 20, /* nor of piles: of these 5 equal ones stand out where others are single */
    LEAST_PILE = 5,   /* cells */
    FEW_VALUES = 10,  /* measured numbers are more, whatever the unit */
    OTHERS = 8,       /* a pile is so many times what is usual: rounding makes it 2 or 3 */
};
/* A pile is so large a share of the values seen; of a few codes, each of which is, the largest is
 * told only where it is twice what equal ones of ten would be. */
static const double PILE = 0.05, PILE_OF_CODES = 0.2;
/* Two values of a normal that is rounded to steps of h deviations are equal with chance 0.28 h: at
 * 0.04, h is a seventh. */
static const double ALIKE = 0.04;
/* Of 1024 cells of a normal 0.03 lie beyond 4 deviations above the mean, 0.0003 beyond 5: four, or
 * two, by chance in one column of 30 million. One beyond 7 is enough. */
static const double FAR[] = {4, 5, 7};
static const size_t FAR_MANY[] = {4, 2, 1};
enum { FARS = sizeof FAR / sizeof *FAR };

struct ur_glance {
    unrelu_source *source;
    pthread_mutex_t lock;
    size_t d, room, stride; /* room: rows; row r is at r / stride where that is whole */
    double *x;              /* room x d: NaN where no value was seen */
    unsigned char *kept;    /* room */
};

/* ---- rows ---- */

static void make_room(ur_glance *g)
{
    for (size_t k = 0; k < g->room; k++) {
        size_t from = 2 * k;
        g->kept[k] = from < g->room ? g->kept[from] : 0;
        if (g->kept[k] && k > 0)
            memcpy(g->x + k * g->d, g->x + from * g->d, g->d * sizeof *g->x);
    }
    g->stride *= 2;
}

static void keep_row(ur_glance *g, const ur_block *block, size_t i)
{
    size_t row = block->first_row + i;
    double *x = g->x + row / g->stride * g->d;
    g->kept[row / g->stride] = 1;
    for (size_t j = 0; j < g->d; j++) {
        double value = block->x[i * block->stride + j];
        x[j] = (block->mark && block->mark[i * g->d + j]) || isinf(value) ? NAN : value;
    }
}

static void watch(void *watching, const ur_block *block)
{
    ur_glance *g = watching;
    if (block->rows == 0 || block->d != g->d)
        return;
    pthread_mutex_lock(&g->lock);
    while ((block->first_row + block->rows - 1) / g->stride >= g->room)
        make_room(g);
    size_t past = block->first_row % g->stride;
    for (size_t i = past ? g->stride - past : 0; i < block->rows; i += g->stride)
        keep_row(g, block, i);
    pthread_mutex_unlock(&g->lock);
}

static void end(void *glance)
{
    ur_glance *g = glance;
    ur_glance_end(g);
    pthread_mutex_destroy(&g->lock);
}

unrelu_status ur_glance_begin(unrelu_source *source, ur_arena *arena, ur_glance **out,
                              unrelu_error *err)
{
    size_t d = unrelu_source_columns(source), room = MOST_CELLS / (d ? d : 1);
    *out = NULL;
    if (room < FEWEST_ROWS)
        return UNRELU_OK;
    ur_glance *g = ur_take(arena, 1, sizeof *g);
    UR_TRY(ur_arena_status(arena, err));
    g->source = source;
    g->d = d;
    g->room = room < ROWS ? room : ROWS;
    g->stride = 1;
    g->x = ur_take(arena, g->room, d * sizeof *g->x);
    g->kept = ur_take(arena, g->room, 1);
    UR_TRY(ur_arena_status(arena, err));
    pthread_mutex_init(&g->lock, NULL);
    ur_arena_adopt(arena, g, end);
    UR_TRY(ur_arena_status(arena, err));
    source->watch = watch;
    source->watching = g;
    *out = g;
    return UNRELU_OK;
}

void ur_glance_end(ur_glance *g)
{
    if (g && g->source->watching == g)
        g->source->watch = NULL;
}

/* ---- what is seen of one column ---- */

/* how many values equal the one of a typical cell: half of the cells have fewer */
static size_t usual_count(const double *value, size_t count)
{
    size_t cells[ROWS + 1] = {0}, sum = 0, times = 0; /* cells whose value occurs so many times */
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && value[i + same] == value[i];)
            same++;
        cells[same < ROWS ? same : ROWS] += same;
    }
    while (times < ROWS && 2 * sum < count)
        sum += cells[++times];
    return times;
}

ur_glimpse ur_glance_at(const double *value, size_t count)
{
    ur_glimpse g = {.top = NAN, .piled = NAN};
    size_t largest = 0, last = 0, others = 0;
    double n = (double)count, pairs = 0;
    if (count < LEAST_PILED)
        return g;
    size_t usual = usual_count(value, count);
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && value[i + same] == value[i];)
            same++;
        g.different++;
        last = same;
        if (i + same < count && same > largest) {
            largest = same;
            g.piled = value[i];
            g.next = value[i + same];
        }
        int pile = (double)same >= PILE * n && same >= OTHERS * usual;
        others += pile ? 0 : same;
        pairs += pile ? 0 : (double)same * (double)(same - 1);
    }
    int few = g.different <= FEW_VALUES;
    g.top = value[count - 1];
    g.top_share = (double)last / n;
    g.piled_share = (double)largest / n;
    g.alike = others > 1 ? pairs / ((double)others * (double)(others - 1)) : 0;
    if (few && count >= LEAST_SEEN)
        g.flags |= UNRELU_FLAG_FEW_VALUES;
    else if (g.alike >= ALIKE && count >= LEAST_SEEN)
        g.flags |= UNRELU_FLAG_ROUNDED;
    if (g.different > 2 && last >= LEAST_PILE &&
        (few ? g.top_share >= PILE_OF_CODES : g.top_share >= PILE && last >= OTHERS / 2 * usual))
        g.flags |= UNRELU_FLAG_TOP_CODED;
    if (!few && largest >= LEAST_PILE && g.piled_share >= PILE && largest >= OTHERS * usual)
        g.flags |= UNRELU_FLAG_REPEATED_VALUE;
    return g;
}

/* ---- all columns ---- */

typedef struct {
    const ur_glance *glance;
    double *value, *scratch; /* of one column */
    double *step;            /* 3 x (room + 1): of it */
    size_t *count;           /* of the model's columns: values seen */
    double *distance;        /* of these, from the fitted normal */
    ur_glimpse *seen;        /* of these */
    size_t (*far)[FARS];
} tale;

/* values so many deviations above the mean, or from it where none is censored */
static void count_far(const unrelu_gaussian *m, size_t i, const double *value, size_t count,
                      size_t far[FARS])
{
    double lambda = m->lambda ? m->lambda[i] : 0, b, s, limit;
    unrelu_gaussian_margin(m, i, &b, &s, &limit);
    for (size_t k = 0; k < count; k++) {
        /* those of an activation were undone when they were read */
        double y = ur_transform_undoes(m->transform) ? value[k]
                                                     : ur_transform(m->transform, lambda, value[k]);
        double z = isinf(limit) ? fabs(y - b) / s : (y - b) / s;
        for (size_t f = 0; f < FARS; f++)
            far[f] += z > FAR[f];
    }
}

/* the steps of values seen (count, sorted) among cells of which the others lie below the limit */
static ur_steps steps_of(const tale *t, const double *value, size_t count, double observed,
                         double limit)
{
    size_t room = t->glance->room + 1;
    double below = observed - (double)count;
    ur_steps s = {.low = t->step,
                  .value = t->step + room,
                  .sum = t->step + 2 * room,
                  .observed = observed,
                  .seen = (double)count};
    if (below > 0) {
        s.low[0] = -INFINITY;
        s.value[0] = limit;
        s.sum[s.count++] = below / observed;
    }
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && value[i + 1] == value[i])
            continue;
        s.low[s.count] = s.value[s.count] = value[i];
        s.sum[s.count++] = (below + (double)(i + 1)) / observed;
    }
    ur_rounding_find(&s.rounding, value, count, observed);
    return s;
}

/* The rule of judge.h, of fits by one pass, which do not hold the samples; a fit cell by cell has
 * judged its columns by all cells. */
static void judge(tale *t, const unrelu_gaussian *m, size_t i, size_t observed)
{
    double b, s, limit, seen = (double)t->count[i];
    size_t below = 0;
    unrelu_gaussian_margin(m, i, &b, &s, &limit);
    if (strcmp(m->angles, "likelihood") == 0 || strcmp(m->norms, "censored") != 0 ||
        m->rows_dropped || !(s > 0 && s < INFINITY))
        return;
    while (below < t->count[i] && t->value[below] <= limit) /* of noise that was taken out */
        below++;
    const ur_steps steps =
        steps_of(t, t->value + below, t->count[i] - below, (double)observed, limit);
    t->distance[i] = ur_steps_distance(&steps, b, s, NULL);
    int far = t->glance->stride > 1 ? ur_judge_is_far_by_some(t->distance[i], (double)observed)
                                    : ur_judge_is_far(t->distance[i], seen);
    if (far && !(m->flags[i] & UNRELU_FLAG_MISFIT))
        t->seen[i].flags |= UNRELU_FLAG_MISFIT;
}

static int is_far(const size_t far[FARS])
{
    for (size_t f = 0; f < FARS; f++)
        if (far[f] >= FAR_MANY[f])
            return 1;
    return 0;
}

static void look_at(tale *t, unrelu_gaussian *m, size_t i, size_t j, double at)
{
    const ur_glance *g = t->glance;
    size_t n = 0, observed = 0;
    for (size_t k = 0; k < g->room; k++) {
        double x = g->kept[k] ? g->x[k * g->d + j] : NAN;
        observed += isnan(x) ? 0 : 1;
        if (x > at)
            t->value[n++] = x;
    }
    ur_sort(t->value, t->scratch, n);
    t->count[i] = n;
    t->seen[i] = ur_glance_at(t->value, n);
    uint32_t unknown = UNRELU_FLAG_CONSTANT | UNRELU_FLAG_FEW_POSITIVES | UNRELU_FLAG_HEAVY_TAILS |
                       UNRELU_FLAG_NO_TRUNCATED;
    const double *top = ur_source_top(g->source);
    if (top && isfinite(top[j])) /* what is below it may be the largest code */
        t->seen[i].flags &= ~(uint32_t)UNRELU_FLAG_TOP_CODED;
    if (m->flags[i] & UNRELU_FLAG_CONSTANT)
        t->seen[i].flags = 0;
    int known = !(m->flags[i] & unknown) && !m->noise && !m->rows_dropped && m->scale[i] > 0;
    if (n >= LEAST_SEEN && known)
        count_far(m, i, t->value, n, t->far[i]);
    if (n >= LEAST_SEEN && !(m->flags[i] & UNRELU_FLAG_CONSTANT))
        judge(t, m, i, observed);
    if (is_far(t->far[i]))
        t->seen[i].flags |= UNRELU_FLAG_HEAVY_TAILS;
    m->flags[i] |= t->seen[i].flags;
}

/* what is said of the first column that carries the flag, into text */
static void describe(const tale *t, size_t i, uint32_t flag, char *text, size_t size)
{
    const ur_glimpse *g = &t->seen[i];
    size_t f = 0;
    while (f + 1 < FARS && t->far[i][f] < FAR_MANY[f])
        f++;
    if (flag == UNRELU_FLAG_TOP_CODED)
        snprintf(text, size, "the largest value, %.6g, is %.0f %% of those seen", g->top,
                 100 * g->top_share);
    else if (flag == UNRELU_FLAG_REPEATED_VALUE)
        snprintf(text, size, "%.6g is %.0f %% of the values seen, and the next larger one %.6g",
                 g->piled, 100 * g->piled_share, g->next);
    else if (flag == UNRELU_FLAG_FEW_VALUES)
        snprintf(text, size, "%zu different value%s among %zu looked at", g->different,
                 g->different == 1 ? "" : "s", t->count[i]);
    else if (flag == UNRELU_FLAG_ROUNDED)
        snprintf(text, size, "two of its values are equal with a chance of %.0f %%",
                 100 * g->alike);
    else if (flag == UNRELU_FLAG_MISFIT)
        snprintf(text, size, "the distribution is %.2g from that of the fitted normal",
                 t->distance[i]);
    else
        snprintf(text, size,
                 "%zu of %zu values looked at lie more than %g deviations out, where a normal "
                 "has %.2g",
                 t->far[i][f], t->count[i], FAR[f], (double)t->count[i] * ur_normal_cdf(-FAR[f]));
}

static const struct {
    uint32_t flag;
    const char *remedy;
} remedies[] = {
    {UNRELU_FLAG_MISFIT, ur_judge_remedy},
    {UNRELU_FLAG_TOP_CODED, "where it stands for what is larger too, say so with `top`, and where "
                            "it stands for a missing cell, with `na`"},
    {UNRELU_FLAG_REPEATED_VALUE,
     "where it was written for what lies below a limit, give that limit (`censor-at`), and where "
     "it stands for a missing cell, say so with `na`"},
    {UNRELU_FLAG_FEW_VALUES,
     "counts, grades or codes are no measured numbers, and no normal lies behind them as they are"},
    {UNRELU_FLAG_ROUNDED,
     "the values are rounded, or counts: a fit takes them as they stand, and is judged at the "
     "edges of that rounding; cells such as 2.5..3.5 in place of 3 say what is known"},
    {UNRELU_FLAG_HEAVY_TAILS,
     "look at the largest values (`robust` leaves gross outliers out), or take another scale "
     "(`transform`)"},
};

static void warn(const tale *t, unrelu_gaussian *m, uint32_t flag, const char *remedy)
{
    enum { NAMED = 5, WIDTH = 40 };
    char list[256] = "", what[160];
    size_t count = 0, first = 0;
    for (size_t i = 0; i < m->d; i++) {
        size_t used = strlen(list);
        if (!(t->seen[i].flags & flag))
            continue;
        first = count ? first : i;
        if (count++ < NAMED)
            snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "", WIDTH,
                     m->names[i]);
    }
    if (count == 0)
        return;
    describe(t, first, flag, what, sizeof what);
    ur_model_warn(m, unrelu_flag_name(__builtin_ctz(flag)), "%zu column%s (%s%s): %s%.40s%s%s; %s",
                  count, count == 1 ? "" : "s", list, count > NAMED ? ", ..." : "",
                  count > 1 ? "in '" : "", count > 1 ? m->names[first] : "", count > 1 ? "' " : "",
                  what, remedy);
}

unrelu_status ur_glance_tell(const ur_glance *g, const double *at, unrelu_gaussian *m,
                             unrelu_error *err)
{
    UR_ARENA(arena);
    if (!g)
        return UNRELU_OK;
    tale t = {g,
              ur_take(&arena, g->room, sizeof *t.value),
              ur_take(&arena, g->room, sizeof *t.scratch),
              ur_take(&arena, g->room + 1, 3 * sizeof *t.step),
              ur_take(&arena, m->d, sizeof *t.count),
              ur_take(&arena, m->d, sizeof *t.distance),
              ur_take(&arena, m->d, sizeof *t.seen),
              ur_take(&arena, m->d, sizeof *t.far)};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t j = 0, i = 0; j < g->d && i < m->d; j++) {
        /* the model's columns are those of the samples in their order, but for some */
        if (m->d - i != g->d - j && strcmp(m->names[i], unrelu_source_name(g->source, j)) != 0)
            continue;
        int any_sign = m->limit && m->limit[i] < 0 && m->transform == UNRELU_TRANSFORM_NONE;
        any_sign |= ur_transform_undoes(m->transform) || ur_source_is_uncensored(g->source, j);
        look_at(&t, m, i++, j, any_sign ? -INFINITY : at ? at[j] : 0);
    }
    for (size_t k = 0; k < sizeof remedies / sizeof *remedies; k++)
        warn(&t, m, remedies[k].flag, remedies[k].remedy);
    return UNRELU_OK;
}
