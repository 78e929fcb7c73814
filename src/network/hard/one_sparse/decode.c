/* SPDX-License-Identifier: Apache-2.0 */
/* Which neurons are on in a row, and by how much: R_i = sum_{j in T} c_j u_j with c > 0 and fewer
 * directions in T than labels (t <= m - 1), where such a T is unique for almost all rows. Each set
 * of t directions is one hyperplane test of all rows, so that C(r, t) n dot products are the cost,
 * counted against the budget; the smallest t that fits counts, and a row that two sets of that
 * size fit is left out. Up to m independent directions need no sets: the coefficients are those
 * of least squares. Antiparallel directions are never in one set: c is then that of both. */
#include "base/error.h"
#include "base/memory.h"
#include "network/hard/one_sparse/one_sparse.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DIRECTIONS = 64,
    MOST_ON = 12,
    ROWS_OF_A_CLASS = 40, /* for each input, */
    MORE_OF_A_CLASS = 100,
    OTHER_ROWS = 20000,
    ZERO_ROWS = 5000,
};
static const double FLAT = 1e-3; /* directions this close to the span of others do not count */

void ur_decoded_free(ur_decoded *d)
{
    free(d->row);
    free(d->C);
    free(d->t);
    free(d->direction);
    free(d->opposite);
    *d = (ur_decoded){0};
}

/* ---- rows ---- */

/* at most so many of each class, of those in none, of zeros; evenly spread; returns their number */
static size_t pick_rows(const ur_peel *q, const ur_groups *g, size_t r, size_t *row)
{
    size_t n = q->frame->n, of_class = ROWS_OF_A_CLASS * q->frame->p + MORE_OF_A_CLASS, count = 0;
    size_t total[MOST_DIRECTIONS + 2] = {0}, seen[MOST_DIRECTIONS + 2] = {0};
    for (int taking = 0; taking < 2; taking++)
        for (size_t i = 0; i < n; i++) {
            size_t c = q->zero[i] ? r + 1 : g->of[i] < r ? g->of[i] : r;
            if (c == r && q->dull[i])
                continue;
            if (!taking) {
                total[c]++;
                continue;
            }
            size_t most = c < r ? of_class : c == r ? (size_t)OTHER_ROWS : (size_t)ZERO_ROWS;
            size_t step = total[c] > most ? (total[c] + most - 1) / most : 1;
            if (seen[c]++ % step == 0)
                row[count++] = i;
        }
    return count;
}

static void find_opposites(const ur_peel *q, ur_decoded *d)
{
    size_t m = q->frame->m;
    for (size_t a = 0; a < d->r; a++)
        d->opposite[a] = UR_ALONE;
    for (size_t a = 0; a < d->r; a++)
        for (size_t b = 0; b < a; b++) {
            double sum = 0;
            for (size_t l = 0; l < m; l++)
                sum += pow(d->direction[a * m + l] + d->direction[b * m + l], 2);
            if (sqrt(sum) <= 10 * q->tolerance) {
                d->opposite[a] = b;
                d->opposite[b] = a;
            }
        }
}

static unrelu_status open_decoded(const ur_peel *q, const ur_groups *g, ur_decoded *d,
                                  unrelu_error *err)
{
    size_t n = q->frame->n, m = q->frame->m;
    size_t r = g->count < MOST_DIRECTIONS ? g->count : MOST_DIRECTIONS;
    *d = (ur_decoded){.r = r, .row = ur_alloc(n, sizeof *d->row)};
    if (!d->row)
        return ur_fail_memory(err, n, "rows");
    d->count = pick_rows(q, g, r, d->row);
    d->C = ur_alloc(d->count, r * sizeof *d->C);
    d->t = ur_alloc(d->count, 1);
    d->direction = ur_alloc(r, m * sizeof *d->direction);
    d->opposite = ur_alloc(r, sizeof *d->opposite);
    if (!d->C || !d->t || !d->direction || !d->opposite)
        return ur_fail_memory(err, d->count * r, "coefficients");
    memcpy(d->direction, g->direction, r * m * sizeof *d->direction);
    find_opposites(q, d);
    for (size_t i = 0; i < d->count; i++) {
        size_t c = g->of[d->row[i]];
        d->t[i] = q->zero[d->row[i]] ? 0 : c < r ? 1 : UR_UNDECODED;
        if (d->t[i] == 1)
            d->C[i * r + c] = q->norm[d->row[i]];
    }
    d->top = 1;
    return UNRELU_OK;
}

/* ---- one set of directions ---- */

typedef struct {
    size_t m, t;
    double *Q, *L; /* (t, m) orthonormal, t x t: u_a = sum_{b <= a} L_ab q_b */
    double *out;   /* m: of unit length, orthogonal to all (m > t) */
    double *c;     /* t */
} basis;

static void basis_free(basis *b)
{
    free(b->Q);
    free(b->L);
    free(b->out);
    free(b->c);
}

static unrelu_status basis_new(basis *b, size_t m, size_t t, unrelu_error *err)
{
    *b = (basis){m,
                 t,
                 ur_alloc(t, m * sizeof(double)),
                 ur_alloc(t, t * sizeof(double)),
                 ur_doubles(m),
                 ur_doubles(t)};
    return b->Q && b->L && b->out && b->c ? UNRELU_OK : ur_fail_memory(err, t * m, "directions");
}

static double dot(size_t m, const double *a, const double *b)
{
    double sum = 0;
    for (size_t l = 0; l < m; l++)
        sum += a[l] * b[l];
    return sum;
}

/* v minus its parts along the first `count` rows of Q, which are added to L (may be NULL) */
static double project_out(const basis *b, size_t count, double *v, double *L)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t a = 0; a < count; a++) {
            double along = dot(b->m, v, b->Q + a * b->m);
            for (size_t l = 0; l < b->m; l++)
                v[l] -= along * b->Q[a * b->m + l];
            if (L)
                L[a] += along;
        }
    return sqrt(dot(b->m, v, v));
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
    for (size_t axis = 0; axis < m && t < m; axis++) { /* one is at least sqrt(1 - t / m) long */
        memset(b->out, 0, m * sizeof *b->out);
        b->out[axis] = 1;
        double length = project_out(b, t, b->out, NULL);
        if (length * length < .999 * (double)(m - t) / (double)m)
            continue;
        for (size_t l = 0; l < m; l++)
            b->out[l] /= length;
        break;
    }
    return 1;
}

/* row = sum_a c_a u_a, in the least squares */
static void coefficients(const basis *b, const double *row)
{
    size_t m = b->m, t = b->t;
    for (size_t a = t; a-- > 0;) {
        double y = dot(m, row, b->Q + a * m);
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

static int has_opposites(const ur_decoded *d, size_t t, const size_t *T)
{
    for (size_t a = 0; a < t; a++)
        for (size_t b = 0; b < a; b++)
            if (d->opposite[T[a]] == T[b])
                return 1;
    return 0;
}

/* `fits` counts the sets of this size that a row fits */
static void test_rows(const ur_peel *q, const basis *b, const size_t *T, ur_decoded *d,
                      unsigned char *fits)
{
    size_t m = b->m, t = b->t;
    for (size_t i = 0; i < d->count; i++) {
        const double *row = q->R + d->row[i] * m;
        double close = q->tolerance * q->norm[d->row[i]];
        if ((d->t[i] != UR_UNDECODED && !fits[i]) || fabs(dot(m, row, b->out)) > close)
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

static unrelu_status decode_sets(ur_peel *q, size_t t, ur_decoded *d, unrelu_error *err)
{
    size_t T[MOST_ON];
    basis b = {0};
    unsigned char *fits = ur_alloc(d->count, 1);
    unrelu_status status =
        fits ? basis_new(&b, q->frame->m, t, err) : ur_fail_memory(err, d->count, "marks");
    for (size_t a = 0; a < t; a++)
        T[a] = a;
    for (int more = 1; more && status == UNRELU_OK; more = next_set(d->r, t, T)) {
        if (ur_cancelled(q->exec))
            status = ur_fail_cancelled(err);
        else if (!has_opposites(d, t, T) && basis_set(&b, d->direction, T))
            test_rows(q, &b, T, d, fits);
    }
    for (size_t i = 0; i < d->count && status == UNRELU_OK; i++) {
        if (fits[i] == 1)
            d->top = (unsigned char)t;
        if (fits[i] == 2) {
            d->t[i] = UR_UNDECODED;
            memset(d->C + i * d->r, 0, d->r * sizeof *d->C);
        }
    }
    basis_free(&b);
    free(fits);
    return status;
}

/* all sets of t directions against all rows */
static double price(const ur_decoded *d, size_t t)
{
    double sets = 1;
    for (size_t a = 0; a < t; a++)
        sets *= (double)(d->r - a) / (double)(a + 1);
    return rint(sets) * (double)d->count;
}

/* ---- independent directions ---- */

static unrelu_status decode_independent(const ur_peel *q, ur_decoded *d, int *independent,
                                        unrelu_error *err)
{
    size_t m = q->frame->m, r = d->r, T[MOST_DIRECTIONS];
    basis b;
    unrelu_status status = basis_new(&b, m, r, err);
    for (size_t a = 0; a < r; a++)
        T[a] = a;
    *independent = status == UNRELU_OK && basis_set(&b, d->direction, T);
    for (size_t i = 0; i < d->count && *independent; i++) {
        const double *row = q->R + d->row[i] * m;
        double close = q->tolerance * q->norm[d->row[i]], least = 0;
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
    basis_free(&b);
    return status;
}

unrelu_status ur_decode(ur_peel *q, const ur_groups *g, ur_decoded *d, unrelu_error *err)
{
    size_t m = q->frame->m, most = m > 1 ? m - 1 : 1;
    int independent = 0;
    unrelu_status status = open_decoded(q, g, d, err);
    if (status == UNRELU_OK && d->r > 1 && d->r <= m)
        status = decode_independent(q, d, &independent, err);
    most = most < MOST_ON ? most : MOST_ON;
    most = most < d->r ? most : d->r;
    for (size_t t = 2; t <= most && status == UNRELU_OK && !independent; t++) {
        if (price(d, t) > (double)(q->budget - q->spent)) {
            q->exhausted = 1;
            break;
        }
        q->spent += (uint64_t)price(d, t);
        status = decode_sets(q, t, d, err);
    }
    return status;
}
