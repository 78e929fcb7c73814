/* SPDX-License-Identifier: Apache-2.0 */
/* Which neurons are on in a row, and by how much: R_i = sum_{j in T} c_j u_j with c > 0 and fewer
 * directions in T than labels (t <= m - 1), where such a T is unique for almost all rows. Each set
 * of t directions is one hyperplane test of all rows, so that C(r, t) n dot products are the cost,
 * counted against the budget; the smallest t that fits counts, and a row that two sets of that
 * size fit is left out. Up to m independent directions need no sets: the coefficients are those
 * of least squares. Antiparallel directions are never in one set: c is then that of both. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum {
    MOST_DIRECTIONS = 64,
    MOST_ON = 12,         /* directions of a set */
    ROWS_OF_A_CLASS = 40, /* for each input, */
    MORE_OF_A_CLASS = 100,
    OTHER_ROWS = 20000,
    ZERO_ROWS = 5000,
};
/* Length of a unit direction outside the span of others below which it does not count: its
 * coefficient would have a thousand times the error of the labels. */
static const double FLAT = 1e-3;
/* Tolerances of the sum of two opposite directions, which are means of rows each. */
static const double OPPOSITE = 10;

/* ---- one set of directions ---- */

typedef struct {
    size_t m, t;
    double *Q, *L; /* (t, m) orthonormal, t x t: u_a = sum_{b <= a} L_ab q_b */
    double *out;   /* m: of unit length, orthogonal to all (t < m): most rows fail by it alone */
    double *c;     /* t */
} basis;

static unrelu_status basis_open(ur_arena *arena, basis *b, size_t m, size_t t, unrelu_error *err)
{
    *b = (basis){.m = m,
                 .t = t,
                 .Q = ur_take(arena, t, m * sizeof *b->Q),
                 .L = ur_take(arena, t, t * sizeof *b->L),
                 .out = ur_take(arena, m, sizeof *b->out),
                 .c = ur_take(arena, t, sizeof *b->c)};
    return ur_arena_status(arena, err);
}

/* v minus its parts along the first `count` rows of Q, which are added to L (may be NULL); as
 * dense/basis.h, which does not tell the parts */
static double project_out(const basis *b, size_t count, double *v, double *L)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t a = 0; a < count; a++) {
            double along = ur_short_dot(b->m, v, b->Q + a * b->m);
            for (size_t l = 0; l < b->m; l++)
                v[l] -= along * b->Q[a * b->m + l];
            if (L)
                L[a] += along;
        }
    return sqrt(ur_short_dot(b->m, v, v));
}

/* 0 where the directions are nearly dependent */
static int basis_set(basis *b, const double *direction, const size_t *T)
{
    size_t m = b->m, t = b->t;
    memset(b->L, 0, t * t * sizeof *b->L);
    for (size_t a = 0; a < t; a++) {
        double *v = b->Q + a * m;
        memcpy(v, direction + T[a] * m, m * sizeof *v);
        double length = project_out(b, a, v, b->L + a * t);
        if (length < FLAT)
            return 0;
        b->L[a * t + a] = length;
        for (size_t l = 0; l < m; l++)
            v[l] /= length;
    }
    size_t axis = 0; /* the one that is farthest from the span */
    double least = INFINITY;
    for (size_t l = 0; l < m && t < m; l++) {
        double inside = 0;
        for (size_t a = 0; a < t; a++)
            inside += b->Q[a * m + l] * b->Q[a * m + l];
        axis = inside < least ? l : axis;
        least = fmin(least, inside);
    }
    memset(b->out, 0, m * sizeof *b->out);
    b->out[axis] = 1;
    double length = project_out(b, t, b->out, NULL);
    for (size_t l = 0; l < m; l++)
        b->out[l] /= length;
    return 1;
}

/* row = sum_a c_a u_a, in the least squares */
static void coefficients(const basis *b, const double *row)
{
    size_t m = b->m, t = b->t;
    for (size_t a = t; a-- > 0;) {
        double y = ur_short_dot(m, row, b->Q + a * m);
        for (size_t later = a + 1; later < t; later++)
            y -= b->c[later] * b->L[later * t + a];
        b->c[a] = y / b->L[a * t + a];
    }
}

static double misfit(const basis *b, const double *direction, const size_t *T, const double *row)
{
    double sum = 0;
    for (size_t l = 0; l < b->m; l++) {
        double rest = row[l];
        for (size_t a = 0; a < b->t; a++)
            rest -= b->c[a] * direction[T[a] * b->m + l];
        sum += rest * rest;
    }
    return sqrt(sum);
}

/* ---- sets of t directions ---- */

/* `fits` counts the sets of this size that a row fits */
static void test_rows(const ur_peel *peel, const basis *b, const size_t *T, ur_decoded *d,
                      unsigned char *fits)
{
    size_t m = b->m, t = b->t;
    for (size_t i = 0; i < d->count; i++) {
        const double *row = peel->R + d->row[i] * m;
        double close = peel->tolerance * peel->norm[d->row[i]];
        if ((d->t[i] != UR_UNDECODED && !fits[i]) || fabs(ur_short_dot(m, row, b->out)) > close)
            continue;
        coefficients(b, row);
        int positive = 1;
        for (size_t a = 0; a < t; a++)
            positive &= b->c[a] > close;
        if (!positive || misfit(b, d->direction, T, row) > close)
            continue;
        fits[i] = fits[i] ? 2 : 1;
        d->t[i] = (unsigned char)t;
        memset(d->C + i * d->r, 0, d->r * sizeof *d->C);
        for (size_t a = 0; a < t; a++)
            d->C[i * d->r + T[a]] = b->c[a];
    }
}

static int next_set(size_t r, size_t t, size_t *T)
{
    for (size_t a = t; a-- > 0;)
        if (T[a] < r - t + a) {
            T[a]++;
            for (size_t later = a + 1; later < t; later++)
                T[later] = T[later - 1] + 1;
            return 1;
        }
    return 0;
}

static unrelu_status decode_sets(ur_peel *peel, size_t t, ur_decoded *d, unrelu_error *err)
{
    UR_ARENA(arena);
    size_t T[MOST_ON];
    basis b;
    unsigned char *fits = ur_take(&arena, d->count, 1);
    UR_TRY(basis_open(&arena, &b, peel->frame->m, t, err));
    for (size_t a = 0; a < t; a++)
        T[a] = a;
    for (int more = 1; more; more = next_set(d->r, t, T)) {
        if (ur_cancelled(peel->exec))
            return ur_fail_cancelled(err);
        int opposites = 0;
        for (size_t a = 0; a < t; a++)
            for (size_t other = 0; other < a; other++)
                opposites |= d->opposite[T[a]] == T[other];
        if (!opposites && basis_set(&b, d->direction, T))
            test_rows(peel, &b, T, d, fits);
    }
    for (size_t i = 0; i < d->count; i++) {
        if (fits[i] == 1)
            d->top = (unsigned char)t;
        if (fits[i] == 2) {
            d->t[i] = UR_UNDECODED;
            memset(d->C + i * d->r, 0, d->r * sizeof *d->C);
        }
    }
    return UNRELU_OK;
}

/* ---- independent directions ---- */

static unrelu_status decode_independent(const ur_peel *peel, ur_decoded *d, int *independent,
                                        unrelu_error *err)
{
    size_t m = peel->frame->m, r = d->r, T[MOST_DIRECTIONS];
    UR_ARENA(arena);
    basis b;
    UR_TRY(basis_open(&arena, &b, m, r, err));
    for (size_t a = 0; a < r; a++)
        T[a] = a;
    *independent = basis_set(&b, d->direction, T);
    for (size_t i = 0; i < d->count && *independent; i++) {
        const double *row = peel->R + d->row[i] * m;
        double close = peel->tolerance * peel->norm[d->row[i]], least = 0;
        size_t on = 0;
        if (d->t[i] != UR_UNDECODED)
            continue;
        coefficients(&b, row);
        for (size_t a = 0; a < r; a++) {
            least = fmin(least, b.c[a]);
            on += b.c[a] > close / FLAT;
        }
        if (least < -close / FLAT || misfit(&b, d->direction, T, row) > close)
            continue;
        d->t[i] = (unsigned char)on;
        d->top = on > d->top ? (unsigned char)on : d->top;
        for (size_t a = 0; a < r; a++)
            d->C[i * r + a] = b.c[a] > close / FLAT ? b.c[a] : 0;
    }
    return UNRELU_OK;
}

unrelu_status ur_decode(ur_peel *peel, const ur_groups *g, ur_arena *arena, ur_decoded *d,
                        unrelu_error *err)
{
    size_t n = peel->frame->n, m = peel->frame->m;
    size_t r = g->count < MOST_DIRECTIONS ? g->count : MOST_DIRECTIONS;
    size_t total[MOST_DIRECTIONS + 2] = {0}, seen[MOST_DIRECTIONS + 2] = {0};
    *d = (ur_decoded){.r = r, .top = 1, .row = ur_take(arena, n, sizeof *d->row)};
    UR_TRY(ur_arena_status(arena, err));
    /* at most so many rows of each class, of those in none, of zeros; evenly spread */
    for (int taking = 0; taking < 2; taking++)
        for (size_t i = 0; i < n; i++) {
            size_t c = peel->zero[i] ? r + 1 : g->of[i] < r ? g->of[i] : r;
            if (c == r && peel->faint[i])
                continue;
            if (!taking) {
                total[c]++;
                continue;
            }
            size_t most = c < r    ? ROWS_OF_A_CLASS * peel->frame->p + MORE_OF_A_CLASS
                          : c == r ? (size_t)OTHER_ROWS
                                   : (size_t)ZERO_ROWS;
            size_t step = total[c] > most ? (total[c] + most - 1) / most : 1;
            if (seen[c]++ % step == 0)
                d->row[d->count++] = i;
        }
    d->C = ur_take(arena, d->count, r * sizeof *d->C);
    d->t = ur_take(arena, d->count, 1);
    d->direction = g->direction;
    d->opposite = ur_take(arena, r, sizeof *d->opposite);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t a = 0; a < r; a++) {
        d->opposite[a] = UR_ALONE;
        for (size_t b = 0; b < a; b++) {
            double sum = 0;
            for (size_t l = 0; l < m; l++)
                sum += pow(d->direction[a * m + l] + d->direction[b * m + l], 2);
            if (sqrt(sum) <= OPPOSITE * peel->tolerance) {
                d->opposite[a] = b;
                d->opposite[b] = a;
            }
        }
    }
    for (size_t i = 0; i < d->count; i++) {
        size_t c = g->of[d->row[i]];
        d->t[i] = peel->zero[d->row[i]] ? 0 : c < r ? 1 : UR_UNDECODED;
        if (d->t[i] == 1)
            d->C[i * r + c] = peel->norm[d->row[i]];
    }
    int independent = 0;
    if (r > 1 && r <= m)
        UR_TRY(decode_independent(peel, d, &independent, err));
    double sets = (double)r;
    for (size_t t = 2; t < m && t <= MOST_ON && t <= r && !independent; t++) {
        sets *= (double)(r - t + 1) / (double)t;
        double price = rint(sets) * (double)d->count; /* all of them against all rows */
        if (price > (double)(peel->budget - peel->spent)) {
            peel->exhausted = 1;
            break;
        }
        peel->spent += (uint64_t)price;
        UR_TRY(decode_sets(peel, t, d, err));
    }
    return UNRELU_OK;
}
