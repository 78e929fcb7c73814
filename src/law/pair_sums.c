/* SPDX-License-Identifier: Apache-2.0 */
/* Each kernel handles one block of LANES rows by vectors of the compiler's, which it makes of
 * whatever the processor has; rows that are left over are followed by zeros, which add nothing. */
#include "law/pair_sums.h"

#include "law/exponential.h"
#include "law/normal.h"

#include <math.h>
#include <string.h>

enum { LANES = 4 };
#define INLINE UR_EXP_INLINE

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

INLINE void load(lanes *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

INLINE double total(const lanes *sum)
{
    return ((*sum)[0] + (*sum)[1]) + ((*sum)[2] + (*sum)[3]);
}

/* what is left of an array, and zeros */
INLINE void rest(double *to, const double *from, size_t n)
{
    for (size_t i = 0; i < LANES; i++)
        to[i] = i < n ? from[i] : 0;
}

/* ---- products ---- */

INLINE void add_products(const double *a, const double *b, lanes *sum)
{
    lanes x, y;
    load(&x, a);
    load(&y, b);
    *sum += x * y;
}

double ur_sum_products(size_t n, const double *a, const double *b)
{
    lanes sum = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_products(a + i, b + i, &sum);
    double left[2][LANES];
    rest(left[0], a + i, n - i);
    rest(left[1], b + i, n - i);
    add_products(left[0], left[1], &sum);
    return total(&sum);
}

/* ---- both seen ---- */

INLINE void add_seen(const double *a, const double *b, lanes sum[5])
{
    lanes x, y;
    load(&x, a);
    load(&y, b);
    sum[0] += x;
    sum[1] += y;
    sum[2] += x * x;
    sum[3] += x * y;
    sum[4] += y * y;
}

void ur_sum_seen(size_t n, const double *a, const double *b, double sum[5])
{
    lanes sums[5] = {{0}};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_seen(a + i, b + i, sums);
    double left[2][LANES];
    rest(left[0], a + i, n - i);
    rest(left[1], b + i, n - i);
    add_seen(left[0], left[1], sums);
    for (int k = 0; k < 5; k++)
        sum[k] = total(&sums[k]);
}

void ur_score_seen(size_t n, const double *a, const double *b, double r, double *score)
{
    double o2 = (1 - r) * (1 + r), none = r / o2, squares = -r / (o2 * o2);
    double product = (1 + r * r) / (o2 * o2);
    for (size_t i = 0; i < n; i++)
        score[i] = none + (a[i] * b[i] * product + (a[i] * a[i] + b[i] * b[i]) * squares);
}

/* ---- one seen ---- */

typedef struct {
    double r, inverse, cube, turn; /* rho, 1 / o, 1 / o^3, 3 rho / o^2 */
} at_rho;

static at_rho at_of(double r)
{
    double o2 = (1 - r) * (1 + r), o = sqrt(o2);
    return (at_rho){r, 1 / o, 1 / (o * o2), 3 * r / o2};
}

INLINE void add_mixed(const double *const from[4], const at_rho *at, lanes sum[2])
{
    lanes u, l, g, m;
    load(&u, from[0]);
    load(&l, from[1]);
    load(&g, from[2]);
    load(&m, from[3]);
    lanes moved = (at->r * l - u) * at->cube, score = m * moved;
    sum[0] += score;
    sum[1] += score * ((m - g) * moved - at->turn) - m * l * at->cube;
}

void ur_sum_mixed(const ur_mixed_rows *p, double r, double sum[2])
{
    at_rho at = at_of(r);
    lanes sums[2] = {{0}};
    size_t i = 0;
    for (size_t k = 0; k < p->n; k++)
        p->g[k] = (r * p->u[k] - p->l[k]) * at.inverse;
    ur_normal_hazards(p->n, p->g, p->m);
    for (; i + LANES <= p->n; i += LANES)
        add_mixed((const double *[]){p->u + i, p->l + i, p->g + i, p->m + i}, &at, sums);
    double left[4][LANES];
    rest(left[0], p->u + i, p->n - i);
    rest(left[1], p->l + i, p->n - i);
    rest(left[2], p->g + i, p->n - i);
    rest(left[3], p->m + i, p->n - i);
    add_mixed((const double *[]){left[0], left[1], left[2], left[3]}, &at, sums);
    sum[0] = total(&sums[0]);
    sum[1] = total(&sums[1]);
}

/* at g the score is left */
INLINE void add_slopes(double *const at[4], const at_rho *c, lanes sum[4])
{
    lanes u, l, g, m;
    load(&u, at[0]);
    load(&l, at[1]);
    load(&g, at[2]);
    load(&m, at[3]);
    lanes moved = (c->r * l - u) * c->cube, score = m * moved, bent = (g - m) * score * c->inverse;
    lanes by_u = -bent * c->r - m * c->cube, by_l = bent + m * (c->r * c->cube);
    sum[0] += by_u;
    sum[1] += by_u * u;
    sum[2] += by_l;
    sum[3] += by_l * l;
    memcpy(at[2], &score, sizeof score);
}

void ur_slopes_mixed(const ur_mixed_rows *p, double r, double sum[4])
{
    at_rho c = at_of(r);
    lanes sums[4] = {{0}};
    size_t i = 0;
    double left[4][LANES];
    for (; i + LANES <= p->n; i += LANES) {
        memcpy(left[0], p->u + i, sizeof left[0]);
        memcpy(left[1], p->l + i, sizeof left[1]);
        add_slopes((double *[]){left[0], left[1], p->g + i, p->m + i}, &c, sums);
    }
    rest(left[0], p->u + i, p->n - i);
    rest(left[1], p->l + i, p->n - i);
    rest(left[2], p->g + i, p->n - i);
    rest(left[3], p->m + i, p->n - i);
    add_slopes((double *[]){left[0], left[1], left[2], left[3]}, &c, sums);
    for (size_t k = i; k < p->n; k++)
        p->g[k] = left[2][k - i];
    for (int k = 0; k < 4; k++)
        sum[k] = total(&sums[k]);
}

/* ---- all rows ---- */

INLINE void move_block(const ur_moving_rows *p, const double *const by[4], double inverse,
                       double *score, lanes sum[6])
{
    lanes b1, s1, b2, s2, moved;
    load(&b1, by[0]);
    load(&s1, by[1]);
    load(&b2, by[2]);
    load(&s2, by[3]);
    load(&moved, score);
    moved -= p->slope[0] * b1 + p->slope[1] * s1 + p->slope[2] * b2 + p->slope[3] * s2;
    moved *= inverse;
    lanes product = moved + p->relative[0] * s1 + p->relative[1] * s2;
    sum[0] += moved * moved;
    sum[1] += product * product;
    sum[2] += b1 * b2;
    sum[3] += b1 * s2;
    sum[4] += s1 * b2;
    sum[5] += s1 * s2;
    memcpy(score, &moved, sizeof moved);
}

void ur_move_rows(const ur_moving_rows *p, double *score, double sum[6])
{
    lanes sums[6] = {{0}};
    double inverse = 1 / p->information, left[5][LANES];
    size_t i = 0;
    const double *const *by = p->by;
    for (; i + LANES <= p->n; i += LANES)
        move_block(p, (const double *[]){by[0] + i, by[1] + i, by[2] + i, by[3] + i}, inverse,
                   score + i, sums);
    for (int k = 0; k < 4; k++)
        rest(left[k], by[k] + i, p->n - i);
    rest(left[4], score + i, p->n - i);
    move_block(p, (const double *[]){left[0], left[1], left[2], left[3]}, inverse, left[4], sums);
    for (size_t k = i; k < p->n; k++)
        score[k] = left[4][k - i];
    for (int k = 0; k < 6; k++)
        sum[k] = total(&sums[k]);
}
