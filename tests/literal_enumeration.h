/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms 1 and 2 of the two-layer paper as they are printed, for n <= 8, d, k <= 3 and small
 * integers, in exact arithmetic: whether there are U, V with f(X V') U' = A, given rank(A) = k.
 * Corrected slips: z in R^k and w in R^d; a sign pattern is a support among the n samples; the
 * empty one gives y = 0, which is independent of nothing. In place of the 2n disjuncts
 * +-[f(y)(I - P)]_t >= 1 of Remark 1 there are 2 (k - i + 1): +-c.z >= 1 for c in a basis of the z
 * orthogonal to those found; both say that z is not in their span. No code is shared with the
 * library. */
#ifndef LITERAL_ENUMERATION_H
#define LITERAL_ENUMERATION_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL_N = 8, LITERAL_D = 3, LITERAL_K = 3, LITERAL_M = 4 };
enum { LITERAL_ROWS = 2 * LITERAL_N + 2, LITERAL_COLUMNS = LITERAL_D + LITERAL_K + 1 };

typedef struct {
    int n, d, m, k; /* k: rank of A */
    int X[LITERAL_N][LITERAL_D], A[LITERAL_N][LITERAL_M];
} literal_instance;

/* ---- rational numbers ---- */

__extension__ typedef __int128 literal_wide;

typedef struct {
    int64_t up, down; /* down > 0, no common factor */
} rational;

static inline rational rational_of(literal_wide up, literal_wide down)
{
    literal_wide a = up < 0 ? -up : up, b = down < 0 ? -down : down;
    while (b != 0) {
        literal_wide rest = a % b;
        a = b;
        b = rest;
    }
    if (down < 0)
        a = -a;
    up /= a;
    down /= a;
    if (up > INT64_MAX || up < -INT64_MAX || down > INT64_MAX) {
        fprintf(stderr, "a rational number is out of range\n");
        abort();
    }
    return (rational){(int64_t)up, (int64_t)down};
}

static inline rational rational_int(int64_t value)
{
    return (rational){value, 1};
}

static inline rational rational_times(rational a, rational b)
{
    return rational_of((literal_wide)a.up * b.up, (literal_wide)a.down * b.down);
}

static inline rational rational_over(rational a, rational b)
{
    return rational_of((literal_wide)a.up * b.down, (literal_wide)a.down * b.up);
}

static inline rational rational_plus(rational a, rational b)
{
    return rational_of((literal_wide)a.up * b.down + (literal_wide)b.up * a.down,
                       (literal_wide)a.down * b.down);
}

static inline rational rational_minus(rational a)
{
    return (rational){-a.up, a.down};
}

/* ---- is there u with a u = b, a u >= b? ---- */

/* Row r says: its variable = T[r][0] + sum over j of T[r][j] times the variable of column j.
 * Variables 1 .. columns are u, then come the slacks of the rows. */
typedef struct {
    int rows, columns;
    rational T[LITERAL_ROWS][LITERAL_COLUMNS];
    int equal[LITERAL_ROWS];
    int basic[LITERAL_ROWS], other[LITERAL_COLUMNS]; /* the variables; 0: a column that is gone */
} programme;

/* sum of a[j] u_j (>= or ==) b */
static inline void programme_add(programme *p, const int *a, int sign, int64_t b, int equal)
{
    int r = p->rows++;
    for (int j = 1; j <= p->columns; j++)
        p->T[r][j] = rational_int(sign * a[j - 1]);
    p->T[r][0] = rational_int(-b);
    p->equal[r] = equal;
}

static inline void programme_pivot(programme *p, int row, int column)
{
    rational by = p->T[row][column];
    for (int j = 0; j <= p->columns; j++)
        if (j != column)
            p->T[row][j] = rational_minus(rational_over(p->T[row][j], by));
    p->T[row][column] = rational_over(rational_int(1), by);
    for (int i = 0; i < p->rows; i++) {
        rational factor = p->T[i][column];
        if (i == row || factor.up == 0)
            continue;
        for (int j = 0; j <= p->columns; j++)
            p->T[i][j] = j == column
                             ? rational_times(factor, p->T[row][j])
                             : rational_plus(p->T[i][j], rational_times(factor, p->T[row][j]));
    }
    int variable = p->basic[row];
    p->basic[row] = p->other[column];
    p->other[column] = variable;
}

static inline void programme_drop(programme *p, int column)
{
    p->other[column] = 0;
    for (int i = 0; i < p->rows; i++)
        p->T[i][column] = rational_int(0);
}

static inline int is_slack(const programme *p, int variable)
{
    return variable > p->columns;
}

/* equations are solved for u and leave; what is left of u goes to the rows */
static inline int programme_reduce(programme *p)
{
    for (int i = 0; i < p->rows; i++) {
        int at = 0;
        if (!p->equal[i])
            continue;
        for (int j = 1; j <= p->columns && at == 0; j++)
            if (p->other[j] != 0 && p->T[i][j].up != 0)
                at = j;
        if (at == 0 && p->T[i][0].up != 0)
            return 0;
        if (at == 0)
            continue;
        programme_pivot(p, i, at);
        programme_drop(p, at);
    }
    for (int j = 1; j <= p->columns; j++) {
        int at = -1;
        if (p->other[j] == 0 || is_slack(p, p->other[j]))
            continue;
        for (int i = 0; i < p->rows && at < 0; i++)
            if (!p->equal[i] && is_slack(p, p->basic[i]) && p->T[i][j].up != 0)
                at = i;
        if (at >= 0)
            programme_pivot(p, at, j);
        else
            programme_drop(p, j); /* in no row: may be 0 */
    }
    return 1;
}

/* 1 with u where there is one; the dual simplex method by least indices, which is finite */
static inline int programme_solve(programme *p, rational *u)
{
    for (int i = 0; i < p->rows; i++)
        p->basic[i] = p->columns + 1 + i;
    for (int j = 1; j <= p->columns; j++)
        p->other[j] = j;
    if (!programme_reduce(p))
        return 0;
    for (;;) {
        int row = -1, column = 0;
        for (int i = 0; i < p->rows; i++)
            if (is_slack(p, p->basic[i]) && p->T[i][0].up < 0 &&
                (row < 0 || p->basic[i] < p->basic[row]))
                row = i;
        if (row < 0)
            break;
        for (int j = 1; j <= p->columns; j++)
            if (p->other[j] != 0 && p->T[row][j].up > 0 &&
                (column == 0 || p->other[j] < p->other[column]))
                column = j;
        if (column == 0)
            return 0;
        programme_pivot(p, row, column);
    }
    for (int j = 0; j < p->columns; j++)
        u[j] = rational_int(0);
    for (int i = 0; i < p->rows; i++)
        if (!is_slack(p, p->basic[i]))
            u[p->basic[i] - 1] = p->T[i][0];
    return 1;
}

/* ---- linear algebra ---- */

/* rank of the rows of M (n x m); the columns of the pivots */
static inline int literal_rank(int n, int m, const int *M, int *pivots)
{
    rational T[LITERAL_N][LITERAL_N];
    int rank = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i][j] = rational_int(M[i * m + j]);
    for (int j = 0; j < m && rank < n; j++) {
        int at = rank;
        while (at < n && T[at][j].up == 0)
            at++;
        if (at == n)
            continue;
        for (int l = 0; l < m; l++) {
            rational swap = T[at][l];
            T[at][l] = T[rank][l];
            T[rank][l] = swap;
        }
        for (int i = rank + 1; i < n; i++) {
            rational factor = rational_minus(rational_over(T[i][j], T[rank][j]));
            for (int l = j; l < m; l++)
                T[i][l] = rational_plus(T[i][l], rational_times(factor, T[rank][l]));
        }
        pivots[rank++] = j;
    }
    return rank;
}

/* ---- Lemma 1 ---- */

typedef struct {
    const literal_instance *of;
    int basis[LITERAL_N][LITERAL_K]; /* V': k independent labels */
    unsigned char pattern[1 << LITERAL_N];
    int64_t z[LITERAL_K][LITERAL_K]; /* of the neurons found */
    int found;
    int systems, patterns, programmes; /* how many there were */
} literal_search;

/* the support of w V', where w V' = b on the k rows of this subset */
static inline void literal_support(literal_search *s, int subset, int b)
{
    int k = s->of->k, support = 0;
    rational w[LITERAL_COLUMNS];
    programme p = {.columns = k};
    for (int i = 0, bit = 0; i < s->of->n; i++)
        if (subset >> i & 1)
            programme_add(&p, s->basis[i], 1, b >> bit++ & 1, 1);
    s->systems++;
    if (!programme_solve(&p, w))
        return;
    for (int i = 0; i < s->of->n; i++) {
        rational h = rational_int(0);
        for (int j = 0; j < k; j++)
            h = rational_plus(h, rational_times(rational_int(s->basis[i][j]), w[j]));
        support |= (h.up > 0) << i;
    }
    s->patterns += !s->pattern[support];
    s->pattern[support] = 1;
}

static inline void literal_patterns(literal_search *s)
{
    int n = s->of->n, k = s->of->k, rows[LITERAL_K * LITERAL_K], pivots[LITERAL_K];
    for (int subset = 0; subset < 1 << n; subset++) {
        int count = 0;
        for (int i = 0; i < n && count <= k; i++)
            if (subset >> i & 1) {
                if (count < k)
                    memcpy(rows + count * k, s->basis[i], (size_t)k * sizeof *rows);
                count++;
            }
        if (count != k || literal_rank(k, k, rows, pivots) < k)
            continue;
        for (int b = 0; b < 1 << k; b++)
            literal_support(s, subset, b);
    }
}

/* ---- Algorithm 1 ---- */

/* c.z != 0 for the c of a basis of what is orthogonal to the z found; how many */
static inline int literal_complement(const literal_search *s, int64_t c[LITERAL_K][LITERAL_K])
{
    int k = s->of->k, count = 0;
    memset(c, 0, sizeof(int64_t[LITERAL_K][LITERAL_K]));
    if (s->found == 0) {
        for (int j = 0; j < k; j++)
            c[j][j] = 1;
        return k;
    }
    const int64_t *a = s->z[0], *b = s->z[1];
    if (k == 2) {
        c[0][0] = -a[1];
        c[0][1] = a[0];
        return 1;
    }
    if (s->found == 2) { /* the cross product */
        for (int j = 0; j < 3; j++)
            c[0][j] = a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3];
        return 1;
    }
    int big = a[0] != 0 ? 0 : a[1] != 0 ? 1 : 2;
    for (int j = 0; j < 3; j++) {
        if (j == big)
            continue;
        c[count][big] = -a[j];
        c[count++][j] = a[big];
    }
    return count;
}

/* z of integers without a common factor */
static inline void literal_clear(int k, const rational *u, int64_t *z)
{
    int64_t down = 1, factor = 0;
    for (int j = 0; j < k; j++)
        down *= rational_of(down, u[j].down).down; /* the least common multiple */
    for (int j = 0; j < k; j++) {
        rational cell = rational_times(u[j], rational_int(down));
        z[j] = cell.up;
        int64_t a = factor, b = z[j] < 0 ? -z[j] : z[j];
        while (b != 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        factor = a;
    }
    for (int j = 0; j < k && factor > 1; j++)
        z[j] /= factor;
}

/* y >= 1 on S, <= 0 elsewhere; y = w X; y_S = z V'; sign c.z >= 1 */
static inline int literal_programme(literal_search *s, int support, const int64_t *c, int sign)
{
    const literal_instance *in = s->of;
    programme p = {.columns = in->k + in->d};
    rational u[LITERAL_COLUMNS];
    int row[LITERAL_COLUMNS];
    for (int i = 0; i < in->n; i++) {
        int on = support >> i & 1;
        for (int j = 0; j < in->k; j++)
            row[j] = s->basis[i][j];
        for (int j = 0; j < in->d; j++)
            row[in->k + j] = on ? -in->X[i][j] : 0;
        programme_add(&p, row, 1, 0, 1); /* z V' = y on S, 0 elsewhere */
        memset(row, 0, sizeof row);
        for (int j = 0; j < in->d; j++)
            row[in->k + j] = in->X[i][j];
        programme_add(&p, row, on ? 1 : -1, on, 0);
    }
    if (c) {
        int r = p.rows;
        memset(row, 0, sizeof row);
        programme_add(&p, row, 1, 1, 0);
        for (int j = 0; j < in->k; j++)
            p.T[r][j + 1] = rational_int(sign * c[j]);
    }
    s->programmes++;
    if (!programme_solve(&p, u))
        return 0;
    if (c)
        literal_clear(in->k, u, s->z[s->found++]);
    return 1;
}

/* ---- Algorithm 2 ---- */

static inline int literal_step(literal_search *s)
{
    int64_t c[LITERAL_K][LITERAL_K];
    int count = literal_complement(s, c);
    for (int support = 1; support < 1 << s->of->n; support++) {
        if (!s->pattern[support] || !literal_programme(s, support, NULL, 0))
            continue;
        for (int j = 0; j < count; j++)
            for (int sign = 1; sign >= -1; sign -= 2)
                if (literal_programme(s, support, c[j], sign))
                    return 1;
    }
    return 0;
}

/* 1: there is a network of k = rank(A) neurons; *search (may be NULL) tells the work */
static inline int literal_feasible(const literal_instance *in, literal_search *search)
{
    literal_search own, *s = search ? search : &own;
    int pivots[LITERAL_M], cells[LITERAL_N * LITERAL_M];
    memset(s, 0, sizeof *s);
    s->of = in;
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->m; j++)
            cells[i * in->m + j] = in->A[i][j];
    if (literal_rank(in->n, in->m, cells, pivots) != in->k)
        return -1;
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->k; j++)
            s->basis[i][j] = in->A[i][pivots[j]];
    literal_patterns(s);
    while (s->found < in->k)
        if (!literal_step(s))
            return 0;
    return 1;
}

#endif
