/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/moments.h"

#include "base/error.h"
#include "summary/column_sums.h"
#include "summary/panel.h"

#include <math.h>
#include <string.h>

/* A cell may exceed the unit by 2^30 before the unit is raised: squares of 2^60 and their sums
 * stay in the range of single precision. */
enum {
    HEADROOM = 30,
    LOWEST_EXPONENT = -1000,
    COLUMN_ROWS = 1024,
    SCALARS = 3,
    COLUMN_ARRAYS = 4,
    PAIR_ARRAYS = 8
};

/* ---- layout ---- */

size_t ur_moments_body_len(const ur_moments_plan *plan)
{
    size_t d = plan->d;
    return SCALARS + COLUMN_ARRAYS * d + (plan->pairs ? PAIR_ARRAYS * d * d : 0);
}

static size_t head_len(const void *plan)
{
    return 2 * ((const ur_moments_plan *)plan)->d;
}

static size_t len(const void *plan)
{
    const ur_moments_plan *p = plan;
    return head_len(p) + p->groups * ur_moments_body_len(p);
}

double *ur_moments_shift(const ur_moments_plan *plan, double *s)
{
    (void)plan;
    return s;
}

double *ur_moments_exponent(const ur_moments_plan *plan, double *s)
{
    return s + plan->d;
}

double *ur_moments_group(const ur_moments_plan *plan, double *s, size_t group)
{
    return s + head_len(plan) + group * ur_moments_body_len(plan);
}

ur_moments_view ur_moments_view_of(const ur_moments_plan *plan, double *body)
{
    size_t d = plan->d;
    double *columns = body + SCALARS;
    ur_moments_view v = {
        .rows = body,
        .missing_cells = body + 1,
        .rows_dropped = body + 2,
        .observed = columns,
        .positive = columns + d,
        .sum = columns + 2 * d,
        .square = columns + 3 * d,
    };
    if (plan->pairs) {
        double *pairs = columns + COLUMN_ARRAYS * d;
        double **arrays[PAIR_ARRAYS] = {&v.gg, &v.tt, &v.gt, &v.gtt, &v.mm, &v.mg, &v.mt, &v.mtt};
        for (size_t i = 0; i < PAIR_ARRAYS; i++)
            *arrays[i] = pairs + i * d * d;
    }
    return v;
}

/* The sections for missing cells come last and are all zero where no cell is missing: they are
 * skipped then, so that their pages are never touched. */
static size_t used_len(const ur_moments_plan *plan, const double *body)
{
    size_t all = ur_moments_body_len(plan);
    return plan->pairs && body[1] == 0 ? all - 4 * plan->d * plan->d : all;
}

void ur_moments_total(const ur_moments_plan *plan, const double *s, size_t skip, double *body)
{
    memset(body, 0, ur_moments_body_len(plan) * sizeof *body);
    for (size_t g = 0; g < plan->groups; g++) {
        const double *from = ur_moments_group(plan, (double *)s, g);
        size_t used = used_len(plan, from);
        for (size_t i = 0; g != skip && i < used; i++)
            body[i] += from[i];
    }
}

/* ---- a change of shift and unit: t' = a t + delta G ---- */

typedef struct {
    double *a, *delta; /* d */
} map;

/* sums of t_j and t_j^2 over d columns, given the counts of G_j in the same rows */
static void map_sums(size_t d, const double *count, double *t, double *tt, const map *m)
{
    for (size_t j = 0; j < d; j++) {
        double a = m->a[j], delta = m->delta[j];
        tt[j] = a * a * tt[j] + 2 * a * delta * t[j] + delta * delta * count[j];
        t[j] = a * t[j] + delta * count[j];
    }
}

static void map_pairs(const ur_moments_plan *plan, const ur_moments_view *v, const map *m,
                      double *count)
{
    size_t d = plan->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            v->tt[i * d + j] = m->a[i] * m->a[j] * v->tt[i * d + j] +
                               m->a[i] * m->delta[j] * v->gt[j * d + i] +
                               m->delta[i] * m->a[j] * v->gt[i * d + j] +
                               m->delta[i] * m->delta[j] * v->gg[i * d + j];
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            count[j] = i <= j ? v->gg[i * d + j] : v->gg[j * d + i];
        map_sums(d, count, v->gt + i * d, v->gtt + i * d, m);
    }
    for (size_t i = 0; i<d && * v->missing_cells> 0; i++)
        map_sums(d, v->mg + i * d, v->mt + i * d, v->mtt + i * d, m);
}

/* Re-expresses every group of s at the given head. Needs 3 d doubles of room. */
static void re_express(const ur_moments_plan *plan, double *s, const double *shift,
                       const double *exponent, double *room)
{
    size_t d = plan->d;
    double *old_shift = ur_moments_shift(plan, s), *old_exponent = ur_moments_exponent(plan, s);
    map m = {room, room + d};
    int changed = 0;
    for (size_t j = 0; j < d; j++) {
        m.a[j] = 1;
        m.delta[j] = 0;
        if (old_exponent[j] != 0 && exponent[j] != 0 &&
            (old_exponent[j] != exponent[j] || old_shift[j] != shift[j])) {
            m.a[j] = ldexp(1, (int)(old_exponent[j] - exponent[j]));
            m.delta[j] = ldexp(old_shift[j] - shift[j], -(int)(exponent[j] + UR_NO_EXPONENT));
            changed = 1;
        }
        if (exponent[j] != 0) {
            old_shift[j] = shift[j];
            old_exponent[j] = exponent[j];
        }
    }
    for (size_t g = 0; changed && g < plan->groups; g++) {
        ur_moments_view v = ur_moments_view_of(plan, ur_moments_group(plan, s, g));
        if (plan->pairs)
            map_pairs(plan, &v, &m, room + 2 * d); /* before the columns: nothing of them used */
        map_sums(d, v.positive, v.sum, v.square, &m);
    }
}

/* ---- merge ---- */

/* of absorb and align: a target head, and re_express's room; of agree: a head and a count */
static size_t room_len(const void *plan)
{
    return 5 * ((const ur_moments_plan *)plan)->d;
}

static void absorb(const void *context, double *into, double *from, double *room)
{
    const ur_moments_plan *plan = context;
    size_t d = plan->d;
    if (memcmp(into, from, head_len(plan) * sizeof *into) != 0) {
        const double *heads[2] = {into, from};
        double *target = room;
        for (size_t j = 0; j < d; j++) {
            int from_only = heads[0][d + j] == 0;
            target[j] = heads[from_only][j];
            target[d + j] = fmax(heads[0][d + j], heads[1][d + j]);
        }
        re_express(plan, into, target, target + d, room + 2 * d);
        re_express(plan, from, target, target + d, room + 2 * d);
    }
    for (size_t g = 0; g < plan->groups; g++) {
        double *to = ur_moments_group(plan, into, g), *body = ur_moments_group(plan, from, g);
        size_t used = used_len(plan, body);
        for (size_t i = 0; i < used; i++) {
            to[i] += body[i];
            body[i] = 0;
        }
    }
    memset(from, 0, head_len(plan) * sizeof *from);
}

static unrelu_status align(const void *context, double *s, const unrelu_exec *exec, double *room,
                           unrelu_error *err)
{
    const ur_moments_plan *plan = context;
    size_t d = plan->d;
    double *target = room, *largest = room + d, *part = room + 2 * d;
    const double *shift = ur_moments_shift(plan, s), *exponent = ur_moments_exponent(plan, s);
    /* the largest exponent over ranks by sums alone: bit by bit from the top, a rank whose exponent
     * still matches the prefix adds 1 where its bit is set */
    memset(largest, 0, d * sizeof *largest);
    for (int bit = 12; bit >= 0; bit--) {
        double step = ldexp(1, bit);
        for (size_t j = 0; j < d; j++)
            part[j] = exponent[j] >= largest[j] + step;
        UR_TRY(exec->rank_sum(exec->context, part, d, err));
        for (size_t j = 0; j < d; j++)
            largest[j] += part[j] > 0 ? step : 0;
    }
    /* one shift: the mean over the ranks that have one, summed in the largest unit */
    for (size_t j = 0; j < d; j++) {
        int has = exponent[j] != 0;
        part[j] = has ? ldexp(shift[j], -(int)(largest[j] + UR_NO_EXPONENT)) : 0;
        part[d + j] = has;
    }
    UR_TRY(exec->rank_sum(exec->context, part, 2 * d, err));
    for (size_t j = 0; j < d; j++)
        target[j] =
            part[d + j] > 0 ? ldexp(part[j] / part[d + j], (int)(largest[j] + UR_NO_EXPONENT)) : 0;
    re_express(plan, s, target, largest, part);
    return UNRELU_OK;
}

/* ---- plan ---- */

/* x to 10 significant bits */
static double rounded(double x)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(rint(m * 1024), e - 10);
}

/* Shift and unit of column j from some rows: the mean of its positives and the exponent of the
 * largest. The mean is rounded, so that data of few digits keep few digits when it is taken off
 * (integers are exact in single precision); where the positives are all equal it is exactly
 * their value, so that a constant column has no spread at all. Leaves both alone where there is
 * no positive. */
static void choose_head(const ur_moments_plan *plan, const ur_block *block, size_t j, double *shift,
                        double *exponent)
{
    double limit = plan->limit[j], low = INFINITY, high = -INFINITY, mean = 0, count = 0;
    double origin = ur_origin(limit);
    for (size_t r = 0; r < block->rows; r++) {
        double x = block->x[r * block->stride + j];
        if (x > limit && x < INFINITY) {
            count++;
            mean += (x - origin - mean) / count;
            low = fmin(low, x - origin);
            high = fmax(high, x - origin);
        }
    }
    if (count == 0)
        return;
    *shift = low == high ? low : rounded(mean);
    *exponent =
        fmax(ilogb(fmax(high, -low)), LOWEST_EXPONENT) - UR_NO_EXPONENT; /* 2^1074 is no double */
}

static unrelu_status begin(void *context, const ur_block *block, unrelu_error *err)
{
    (void)err;
    ur_moments_plan *plan = context;
    ur_block pilot = *block;
    size_t enough = 256 + 65536 / plan->d; /* any shift near the mean will do */
    pilot.rows = block->rows < enough ? block->rows : enough;
    for (size_t j = 0; j < plan->d; j++)
        choose_head(plan, &pilot, j, &plan->head[j], &plan->head[plan->d + j]);
    return UNRELU_OK;
}

/* Where ranks are not numbered each keeps its own, and align finds one for all in the end. */
static unrelu_status agree(void *context, const unrelu_exec *exec, double *room, unrelu_error *err)
{
    ur_moments_plan *plan = context;
    size_t d = plan->d;
    double *firsts = room + 2 * d;
    for (size_t i = 0; i < 2 * d; i++)
        room[i] = exec->rank == 0 ? plan->head[i] : 0;
    *firsts = exec->rank == 0;
    UR_TRY(exec->rank_sum(exec->context, room, 2 * d + 1, err));
    for (size_t j = 0; *firsts == 1 && j < d; j++)
        if (room[d + j] != 0) { /* else rank 0 saw no value above the limit */
            plan->head[j] = room[j];
            plan->head[d + j] = room[d + j];
        }
    return UNRELU_OK;
}

/* ---- update ---- */

typedef struct {
    ur_panel *panel;    /* for pairs */
    ur_columns columns; /* of a part (d each) */
    double *unit;       /* 2^-e (d) */
    double *room;       /* target head and re_express's room (5 d) */
    double *kept;       /* rows that robust keeps (part rows x d) */
    size_t most;        /* rows of a part */
} scratch;

static void *new_scratch(const void *context, ur_arena *arena)
{
    const ur_moments_plan *plan = context;
    size_t d = plan->d;
    scratch *w = ur_take(arena, 1, sizeof *w);
    double *arrays = ur_take(arena, d, 12 * sizeof *arrays);
    if (!arrays)
        return NULL;
    w->columns = (ur_columns){arrays,         arrays + d,     arrays + 2 * d,
                              arrays + 3 * d, arrays + 4 * d, arrays + 5 * d};
    w->unit = arrays + 6 * d;
    w->room = arrays + 7 * d;
    w->most = COLUMN_ROWS;
    if (plan->pairs && (w->panel = ur_panel_new(arena, d, plan->single)))
        w->most = ur_panel_rows(w->panel);
    if (plan->cut)
        w->kept = ur_take(arena, d, w->most * sizeof(double));
    return w;
}

/* A negative value is explained by noise or by a limit below 0, and by nothing else. */
static int is_refused(const ur_moments_plan *plan, size_t j, double x)
{
    return isinf(x) || (x < 0 && plan->limit[j] >= 0 && !plan->negatives);
}

static unrelu_status refuse_cell(const ur_moments_plan *plan, const ur_block *part, size_t j,
                                 unrelu_error *err)
{
    size_t r = 0;
    while (r + 1 < part->rows && !is_refused(plan, j, part->x[r * part->stride + j]))
        r++;
    double x = part->x[r * part->stride + j];
    size_t row = part->first_row + r;
    const char *label = plan->source ? ur_source_place(plan->source, &row) : "samples";
    char column[128] = "column";
    if (plan->source)
        ur_source_column_label(plan->source, j, column, sizeof column);
    row++; /* people count from 1 */
    if (isinf(x))
        return ur_fail_at(err, UNRELU_EFORMAT, row, j + 1,
                          "%s: row %zu, %s: the value is %g; every value must be finite (NaN "
                          "marks a missing one)",
                          label, row, column, x);
    return ur_fail_at(
        err, UNRELU_EFORMAT, row, j + 1,
        "%s: row %zu, %s: the value is %g, but a rectified value is never negative: name the "
        "column in `uncensored` if its values have any sign; a fit takes `additive-noise` SD|auto "
        "if noise was added after the rectifier, and `censor-at` T with T < 0 if values are "
        "censored there",
        label, row, column, x);
}

static void set_units(const ur_moments_plan *plan, scratch *w, double *s)
{
    const double *exponent = ur_moments_exponent(plan, s);
    for (size_t j = 0; j < plan->d; j++)
        w->unit[j] = exponent[j] == 0 ? 1 : ldexp(1, -(int)(exponent[j] + UR_NO_EXPONENT));
}

/* The head of s must suit this part: columns that show their first positive get the plan's
 * head or, where the first block had none, one of their own; a unit that is too small is
 * raised. Returns whether anything changed. */
static int fit_head(const ur_moments_plan *plan, scratch *w, double *s, const ur_block *part)
{
    size_t d = plan->d;
    double *shift = ur_moments_shift(plan, s), *exponent = ur_moments_exponent(plan, s);
    double *target = w->room;
    int raise = 0, chosen = 0;
    memcpy(target, s, 2 * d * sizeof *s);
    for (size_t j = 0; j < d; j++) {
        double top = w->columns.max[j] - ur_origin(plan->limit[j]);
        if (plan->limit[j] < -DBL_MAX) /* values of any sign count */
            top = fmax(top, -w->columns.min[j]);
        if (!(top > 0))
            continue;
        double needed = ilogb(top) - UR_NO_EXPONENT;
        chosen |= exponent[j] == 0;
        if (exponent[j] == 0 && plan->head[d + j] != 0) {
            shift[j] = target[j] = plan->head[j];
            exponent[j] = target[d + j] = plan->head[d + j];
        } else if (exponent[j] == 0) {
            choose_head(plan, part, j, &shift[j], &exponent[j]);
            target[j] = shift[j];
            target[d + j] = exponent[j];
        }
        if (needed > exponent[j] + HEADROOM) {
            target[d + j] = needed;
            raise = 1;
        }
    }
    if (raise)
        re_express(plan, s, target, target + d, w->room + 2 * d);
    set_units(plan, w, s);
    return raise || chosen;
}

/* the columns of a part at the present head; with pairs also packs it */
static void look(const ur_moments_plan *plan, scratch *w, double *s, const ur_block *part)
{
    const double *shift = ur_moments_shift(plan, s);
    if (plan->pairs)
        ur_panel_pack(w->panel, part->x, part->rows, part->stride, plan->limit, shift, w->unit,
                      &w->columns);
    else
        ur_columns_sweep(part->x, part->rows, plan->d, part->stride, plan->limit, shift, w->unit,
                         &w->columns);
}

/* at most w->most rows */
static unrelu_status add_part(const ur_moments_plan *plan, scratch *w, double *s, double *body,
                              const ur_block *whole, unrelu_error *err)
{
    ur_block part = *whole;
    ur_moments_view v = ur_moments_view_of(plan, body);
    set_units(plan, w, s);
    look(plan, w, s, &part);
    int outlier = 0;
    for (size_t j = 0; j < plan->d; j++) {
        double low = w->columns.min[j], high = w->columns.max[j];
        int empty = low > high; /* all missing */
        if (!empty && (is_refused(plan, j, low) || is_refused(plan, j, high)))
            return refuse_cell(plan, &part, j, err);
        outlier |= plan->cut && high > plan->cut[j];
    }
    if (outlier) {
        part = ur_rows_kept(whole, plan->cut, w->kept);
        *v.rows_dropped += (double)(whole->rows - part.rows);
        if (part.rows == 0)
            return UNRELU_OK;
        look(plan, w, s, &part);
    }
    if (fit_head(plan, w, s, &part))
        look(plan, w, s, &part);
    *v.rows += (double)part.rows;
    for (size_t j = 0; j < plan->d; j++) {
        *v.missing_cells += w->columns.missing[j];
        v.observed[j] += (double)part.rows - w->columns.missing[j];
        v.positive[j] += w->columns.positive[j];
        v.sum[j] += w->columns.sum[j];
        v.square[j] += w->columns.square[j];
    }
    ur_panel_sums sums = {v.gg, v.tt, v.gt, v.gtt, v.mm, v.mg, v.mt, v.mtt};
    if (plan->pairs)
        ur_panel_add(w->panel, &sums);
    return UNRELU_OK;
}

static unrelu_status update(const void *context, void *room, double *s, const ur_block *block,
                            unrelu_error *err)
{
    const ur_moments_plan *plan = context;
    scratch *w = room;
    size_t most = w->most;
    for (size_t g = 0; g < plan->groups; g++) {
        /* turned by the row, so that blocks of few rows do not all fall into one group */
        double *body = ur_moments_group(plan, s, (g + block->first_row) % plan->groups);
        size_t end = block->rows * (g + 1) / plan->groups;
        for (size_t r = block->rows * g / plan->groups; r < end; r += most) {
            ur_block part = *block;
            part.x += r * block->stride;
            part.first_row += r;
            part.rows = end - r < most ? end - r : most;
            UR_TRY(add_part(plan, w, s, body, &part, err));
        }
    }
    return UNRELU_OK;
}

const ur_summary ur_moments = {
    .len = len,
    .head = head_len,
    .begin = begin,
    .agree = agree,
    .scratch = new_scratch,
    .update = update,
    .room = room_len,
    .absorb = absorb,
    .align = align,
};
