/* SPDX-License-Identifier: Apache-2.0 */
/* Directions that no two rows show. Rows where the same two neurons are on (or one of them) lie in
 * the plane of u_i and u_j; three such rows give the plane away, and two planes of one neuron meet
 * in its direction: by chance planes do not meet for m >= 4, and no three of them meet in a line
 * for m = 3. (k = 8, d = 10, m = 4, condition 3: 77 of 100 networks are found from 200 rows, 1
 * in 10 without.) Which of v, -v it is, decoding tells: both are added. Planes through row i are
 * classes of the others without their parts along it, up to sign: n^2 log n, for at most 2000 rows.
 */
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 2000, MOST_PLANES = 200, MOST_LINES = 28 };
/* Part of a unit row across another below which the two span no plane: it is known to tolerance
 * over this. */
static const double ACROSS = 1e-4;
/* Square of the smaller cosine between two planes, less than 1: above 1 minus this they are one. */
static const double ONE_PLANE = 1e-6;
/* Cosine between directions, less than 1: lines within 1.4e-6 of a known direction are that one. */
static const double ONE_LINE = 1e-12;
/* Tolerances that the line of two planes may be off: its own planes', and others that it lies in;
 * to the latter two planes are one that was found from different rows. Planes are known to
 * tolerance over ACROSS at worst, and about the tolerance in most cases. */
static const double MEETING = 100, THROUGH = 1000;

typedef struct {
    size_t m, rows, planes, lines;
    double *unit;  /* (rows, m) */
    double *z;     /* (rows, m): rows without their part along one of them */
    double *plane; /* (MOST_PLANES, 2, m): orthonormal pairs */
    double *line;  /* (MOST_LINES, m) */
    double *v;     /* m */
    double tolerance;
} work;

static double normalise(size_t m, double *v)
{
    double length = sqrt(ur_short_dot(m, v, v));
    for (size_t l = 0; l < m && length > 0; l++)
        v[l] /= length;
    return length;
}

/* the directions, and rows in none of their classes; of parallel ones only the first: two of them
 * and any third would lie in a plane */
static unrelu_status take_rows(const ur_peel *peel, const ur_groups *g, work *w, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = peel->frame->n, m = w->m, others = 0, seen = 0, rows = 0;
    ur_groups parallel;
    for (; rows < g->count && rows < MOST_ROWS / 2; rows++)
        memcpy(w->unit + rows * m, g->direction + rows * m, m * sizeof *w->unit);
    for (size_t i = 0; i < n; i++)
        others += !peel->faint[i] && g->of[i] == UR_ALONE;
    size_t room = MOST_ROWS - rows, step = others > room ? (others + room - 1) / room : 1;
    for (size_t i = 0; i < n; i++) {
        if (peel->faint[i] || g->of[i] != UR_ALONE || seen++ % step != 0)
            continue;
        double *unit = w->unit + rows++ * m;
        memcpy(unit, peel->R + i * m, m * sizeof *unit);
        normalise(m, unit);
    }
    UR_TRY(ur_group(rows, m, w->unit, NULL, 0, NULL, w->tolerance, peel->seed, &arena, &parallel,
                    err));
    for (size_t i = 0; i < rows; i++) {
        size_t c = parallel.of[i];
        if (c != UR_ALONE && parallel.size[c] == 0)
            continue;
        if (c != UR_ALONE)
            parallel.size[c] = 0; /* seen */
        memmove(w->unit + w->rows++ * m, w->unit + i * m, m * sizeof *w->unit);
    }
    return UNRELU_OK;
}

static int is_in_plane(const work *w, size_t a, const double *v, double tolerances)
{
    const double *e = w->plane + a * 2 * w->m, *f = e + w->m;
    double along_e = ur_short_dot(w->m, v, e), along_f = ur_short_dot(w->m, v, f), rest = 0;
    for (size_t l = 0; l < w->m; l++)
        rest += pow(v[l] - along_e * e[l] - along_f * f[l], 2);
    return sqrt(rest) <= tolerances * w->tolerance;
}

static unrelu_status find_planes(const ur_peel *peel, work *w, unrelu_error *err)
{
    size_t m = w->m;
    ur_random_normals(peel->seed, UR_STREAM_PLANES, 0, m, w->v);
    for (size_t i = 0; i + 2 < w->rows; i++) {
        UR_ARENA(arena);
        ur_groups g;
        for (size_t j = i + 1; j < w->rows; j++) { /* without their part along i, of one sign */
            double *z = w->z + (j - i - 1) * m;
            double along = ur_short_dot(m, w->unit + i * m, w->unit + j * m);
            for (size_t l = 0; l < m; l++)
                z[l] = w->unit[j * m + l] - along * w->unit[i * m + l];
            double length = normalise(m, z), turn = ur_short_dot(m, z, w->v) < 0 ? -1 : 1;
            for (size_t l = 0; l < m; l++)
                z[l] = length > ACROSS ? z[l] * turn : 0;
        }
        if (ur_cancelled(peel->exec))
            return ur_fail_cancelled(err);
        UR_TRY(ur_group(w->rows - i - 1, m, w->z, NULL, 0, NULL, w->tolerance, peel->seed, &arena,
                        &g, err));
        for (size_t c = 0; c < g.count && w->planes < MOST_PLANES; c++) {
            double *e = w->plane + w->planes * 2 * m, *f = e + m;
            int found = 0; /* from an earlier row */
            memcpy(e, w->unit + i * m, m * sizeof *e);
            memcpy(f, g.direction + c * m, m * sizeof *f);
            for (size_t a = 0; a < w->planes && !found; a++)
                found = is_in_plane(w, a, e, THROUGH) && is_in_plane(w, a, f, THROUGH);
            double along = ur_short_dot(m, e, f);
            for (size_t l = 0; l < m; l++)
                f[l] -= along * e[l];
            normalise(m, f);
            w->planes += !found;
        }
    }
    return UNRELU_OK;
}

static void find_lines(const ur_groups *g, work *w)
{
    size_t m = w->m, least = m > 3 ? 2 : 3;
    for (size_t a = 0; a < w->planes; a++)
        for (size_t b = 0; b < a && w->lines < MOST_LINES; b++) {
            const double *e = w->plane + a * 2 * m, *f = w->plane + b * 2 * m;
            double ee = ur_short_dot(m, e, f), ef = ur_short_dot(m, e, f + m),
                   fe = ur_short_dot(m, e + m, f), ff = ur_short_dot(m, e + m, f + m);
            /* G = (ee ef; fe ff): cosines; top eigenvector of G G' */
            double p = ee * ee + ef * ef, s = ee * fe + ef * ff, r = fe * fe + ff * ff;
            double angle = .5 * atan2(2 * s, p - r),
                   smaller = .5 * (p + r) - hypot(.5 * (p - r), s);
            if (smaller > 1 - ONE_PLANE)
                continue;
            for (size_t l = 0; l < m; l++)
                w->v[l] = cos(angle) * e[l] + sin(angle) * e[m + l];
            normalise(m, w->v);
            int known = !is_in_plane(w, b, w->v, MEETING); /* or no line */
            size_t through = 0;
            for (size_t c = 0; c < w->lines; c++)
                known |= fabs(ur_short_dot(m, w->v, w->line + c * m)) > 1 - ONE_LINE;
            for (size_t c = 0; c < g->count; c++)
                known |= fabs(ur_short_dot(m, w->v, g->direction + c * m)) > 1 - ONE_LINE;
            for (size_t c = 0; c < w->planes && !known; c++)
                through += (size_t)is_in_plane(w, c, w->v, THROUGH);
            if (through >= least)
                memcpy(w->line + w->lines++ * m, w->v, m * sizeof *w->v);
        }
}

unrelu_status ur_plane_directions(ur_peel *peel, ur_arena *arena, ur_groups *g, size_t *lines,
                                  unrelu_error *err)
{
    UR_ARENA(own);
    size_t m = peel->frame->m;
    work w = {.m = m,
              .tolerance = peel->tolerance,
              .unit = ur_take(&own, MOST_ROWS, m * sizeof *w.unit),
              .z = ur_take(&own, MOST_ROWS, m * sizeof *w.z),
              .plane = ur_take(&own, MOST_PLANES, 2 * m * sizeof *w.plane),
              .line = ur_take(&own, MOST_LINES, m * sizeof *w.line),
              .v = ur_take(&own, m, sizeof *w.v)};
    *lines = 0;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(take_rows(peel, g, &w, err));
    uint64_t price = (uint64_t)w.rows * w.rows / 2; /* pairs of rows are candidates */
    if (price <= peel->budget - peel->spent) {
        peel->spent += price;
        UR_TRY(find_planes(peel, &w, err));
    } else {
        peel->exhausted = 1;
    }
    find_lines(g, &w);
    *lines = w.lines;
    if (w.lines == 0)
        return UNRELU_OK;
    /* both signs of the lines become directions, as classes without rows */
    size_t count = g->count + 2 * w.lines, *size = ur_take(arena, count, sizeof *size);
    double *direction = ur_take(arena, count, m * sizeof *direction);
    UR_TRY(ur_arena_status(arena, err));
    memcpy(size, g->size, g->count * sizeof *size);
    memcpy(direction, g->direction, g->count * m * sizeof *direction);
    for (size_t c = 0; c < 2 * w.lines; c++)
        for (size_t l = 0; l < m; l++)
            direction[(g->count + c) * m + l] = (c & 1 ? -1 : 1) * w.line[c / 2 * m + l];
    *g = (ur_groups){.count = count, .size = size, .direction = direction, .of = g->of};
    return UNRELU_OK;
}
