/* SPDX-License-Identifier: Apache-2.0 */
/* Each kernel handles one block of LANES rows by vectors of the compiler's, which it makes of
 * whatever the processor has; rows that are left over are followed by zeros, which add nothing. */
#include "law/pair_sums.h"

#include "law/exponential.h"
#include "law/normal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 4, BLOCK = 512 }; /* BLOCK: rows whose numbers stay in the nearest cache */
#define INLINE UR_EXP_INLINE

/* A kernel NAME_rows, compiled once for every processor, and once for those with vectors of four
 * doubles; the additions, and so the bits, are the same. */
#if defined(__x86_64__) && defined(__GNUC__)
#define KERNEL(NAME, PARAMETERS, ARGUMENTS)                                                        \
    __attribute__((target("avx2"))) static void NAME##_avx2 PARAMETERS                             \
    {                                                                                              \
        NAME##_rows ARGUMENTS;                                                                     \
    }                                                                                              \
    static void NAME PARAMETERS                                                                    \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2"))                                                        \
            NAME##_avx2 ARGUMENTS;                                                                 \
        else                                                                                       \
            NAME##_rows ARGUMENTS;                                                                 \
    }
#else
#define KERNEL(NAME, PARAMETERS, ARGUMENTS)                                                        \
    static void NAME PARAMETERS                                                                    \
    {                                                                                              \
        NAME##_rows ARGUMENTS;                                                                     \
    }
#endif

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(LANES * sizeof(double))));

/* Steps of g over which the hazard goes by its Taylor series, and of how many terms. It has poles
 * where Phi(-g) is 0, at least 2.8 away from any real g, so that the term of t^k is below
 * 2 t^k / 2.8^(k + 1): what is left out is 3e-14 at most. */
enum { NEAR_TERMS = 3, MOST_TERMS = 8 };
static const double NEAR_STEP = 1e-3, MOST_STEP = 0.09;
/* |u - rho l| that most rows are below: a row beyond costs one attempt */
static const double ORDINARY = 4;

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

INLINE void products_rows(size_t n, const double *a, const double *b, double *out)
{
    lanes sum = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_products(a + i, b + i, &sum);
    double left[2][LANES];
    rest(left[0], a + i, n - i);
    rest(left[1], b + i, n - i);
    add_products(left[0], left[1], &sum);
    *out = total(&sum);
}
KERNEL(products, (size_t n, const double *a, const double *b, double *out), (n, a, b, out))

double ur_sum_products(size_t n, const double *a, const double *b)
{
    double sum;
    products(n, a, b, &sum);
    return sum;
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

INLINE void seen_rows(size_t n, const double *a, const double *b, double sum[5])
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
KERNEL(seen, (size_t n, const double *a, const double *b, double sum[5]), (n, a, b, sum))

void ur_sum_seen(size_t n, const double *a, const double *b, double sum[5])
{
    seen(n, a, b, sum);
}

INLINE void scores_rows(size_t n, const double *a, const double *b, double r, double *score)
{
    double o2 = (1 - r) * (1 + r), none = r / o2, squares = -r / (o2 * o2);
    double product = (1 + r * r) / (o2 * o2);
    for (size_t i = 0; i < n; i++)
        score[i] = none + (a[i] * b[i] * product + (a[i] * a[i] + b[i] * b[i]) * squares);
}
KERNEL(scores, (size_t n, const double *a, const double *b, double r, double *score),
       (n, a, b, r, score))

void ur_score_seen(size_t n, const double *a, const double *b, double r, double *score)
{
    scores(n, a, b, r, score);
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

INLINE void place_rows(const ur_mixed_rows *p, const at_rho *at)
{
    for (size_t k = 0; k < p->n; k++)
        p->g[k] = (at->r * p->u[k] - p->l[k]) * at->inverse;
}
KERNEL(place, (const ur_mixed_rows *p, const at_rho *at), (p, at))

INLINE void add_mixed(const lanes *u, const lanes *l, const lanes *g, const lanes *m,
                      const at_rho *at, lanes sum[2])
{
    lanes moved = (at->r * *l - *u) * at->cube, score = *m * moved;
    sum[0] += score;
    sum[1] += score * ((*m - *g) * moved - at->turn) - *m * *l * at->cube;
}

INLINE void mixed_rows(const ur_mixed_rows *p, const at_rho *at, double sum[2])
{
    const double *const from[4] = {p->u, p->l, p->g, p->m};
    lanes sums[2] = {{0}}, v[4];
    double left[4][LANES];
    size_t i = 0;
    for (; i + LANES <= p->n; i += LANES) {
        for (int k = 0; k < 4; k++)
            load(&v[k], from[k] + i);
        add_mixed(&v[0], &v[1], &v[2], &v[3], at, sums);
    }
    for (int k = 0; k < 4; k++) {
        rest(left[k], from[k] + i, p->n - i);
        load(&v[k], left[k]);
    }
    add_mixed(&v[0], &v[1], &v[2], &v[3], at, sums);
    sum[0] = total(&sums[0]);
    sum[1] = total(&sums[1]);
}
KERNEL(mixed, (const ur_mixed_rows *p, const at_rho *at, double sum[2]), (p, at, sum))

void ur_sum_mixed(const ur_mixed_rows *p, double r, double sum[2])
{
    const at_rho at = at_of(r);
    sum[0] = sum[1] = 0;
    for (size_t i = 0; i < p->n; i += BLOCK) {
        size_t n = p->n - i < BLOCK ? p->n - i : BLOCK;
        const ur_mixed_rows block = {n, p->u + i, p->l + i, p->g + i, p->m + i};
        double part[2];
        place(&block, &at);
        ur_normal_hazards(n, block.g, block.m);
        mixed(&block, &at, part);
        sum[0] += part[0];
        sum[1] += part[1];
    }
}

/* The hazard m at g + t, from that at g, by its Taylor series: m' = m^2 - g m, so that
 *   (k + 1) c_k+1 = sum_i c_i c_k-i - g c_k - c_k-1. */
INLINE void series(const lanes *g, const lanes *t, int terms, lanes *m)
{
    lanes c[MOST_TERMS + 1], sum;
    c[0] = *m;
    c[1] = c[0] * (c[0] - *g);
#pragma GCC unroll 8
    for (int k = 1; k < terms; k++) {
        lanes next = c[0] * c[k];
#pragma GCC unroll 8
        for (int i = 1; 2 * i < k; i++)
            next += c[i] * c[k - i];
        next += next;
        if (k % 2 == 0)
            next += c[k / 2] * c[k / 2];
        c[k + 1] = (next - *g * c[k] - c[k - 1]) * (1.0 / (k + 1));
    }
    sum = c[terms];
#pragma GCC unroll 8
    for (int k = terms; k-- > 0;)
        sum = sum * *t + c[k];
    *m = sum;
}

/* of squares of steps of g, the largest so far */
INLINE void keep_largest(const lanes *square, lanes *largest)
{
    masks more = *square > *largest;
    *largest = (lanes)(((masks)*square & more) | ((masks)*largest & ~more));
}

INLINE void move_block(const double *u, const double *l, double *g, double *m, const at_rho *at,
                       int terms, lanes sum[2], lanes *largest)
{
    lanes v[4], to, step, square;
    load(&v[0], u);
    load(&v[1], l);
    load(&v[2], g);
    load(&v[3], m);
    to = (at->r * v[0] - v[1]) * at->inverse;
    step = to - v[2];
    square = step * step;
    keep_largest(&square, largest);
    series(&v[2], &step, terms, &v[3]);
    add_mixed(&v[0], &v[1], &to, &v[3], at, sum);
    memcpy(g, &to, sizeof to);
    memcpy(m, &v[3], sizeof v[3]);
}

/* returns the square of the largest step of g */
INLINE double moved_rows(const ur_mixed_rows *p, const at_rho *at, int terms, double sum[2])
{
    const double *const from[4] = {p->u, p->l, p->g, p->m};
    lanes sums[2] = {{0}}, largest = {0};
    double left[4][LANES], most = 0;
    size_t i = 0;
    for (; i + LANES <= p->n; i += LANES)
        move_block(p->u + i, p->l + i, p->g + i, p->m + i, at, terms, sums, &largest);
    for (int k = 0; k < 4; k++)
        rest(left[k], from[k] + i, p->n - i);
    move_block(left[0], left[1], left[2], left[3], at, terms, sums, &largest);
    for (size_t k = i; k < p->n; k++) {
        p->g[k] = left[2][k - i];
        p->m[k] = left[3][k - i];
    }
    for (int k = 0; k < LANES; k++)
        most = most > largest[k] ? most : largest[k];
    sum[0] = total(&sums[0]);
    sum[1] = total(&sums[1]);
    return most;
}

INLINE void near_rows(const ur_mixed_rows *p, const at_rho *at, double sum[2], double *most)
{
    *most = moved_rows(p, at, NEAR_TERMS, sum);
}
KERNEL(near, (const ur_mixed_rows *p, const at_rho *at, double sum[2], double *most),
       (p, at, sum, most))

INLINE void less_near_rows(const ur_mixed_rows *p, const at_rho *at, double sum[2], double *most)
{
    *most = moved_rows(p, at, MOST_TERMS, sum);
}
KERNEL(less_near, (const ur_mixed_rows *p, const at_rho *at, double sum[2], double *most),
       (p, at, sum, most))

void ur_move_mixed(const ur_mixed_rows *p, double from, double r, double sum[2])
{
    const at_rho at = at_of(r);
    /* how far g moves at u and l of ordinary size: |dg / drho| = |u - rho l| / o^3 */
    double guess = ORDINARY * fabs(r - from) * at.cube, most = INFINITY, limit = 0;
    if (guess <= NEAR_STEP) {
        near(p, &at, sum, &most);
        limit = NEAR_STEP;
    } else if (guess <= MOST_STEP) {
        less_near(p, &at, sum, &most);
        limit = MOST_STEP;
    }
    if (!(most <= limit * limit))
        ur_sum_mixed(p, r, sum);
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

INLINE void slopes_rows(const ur_mixed_rows *p, double r, double sum[4])
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
KERNEL(slopes, (const ur_mixed_rows *p, double r, double sum[4]), (p, r, sum))

void ur_slopes_mixed(const ur_mixed_rows *p, double r, double sum[4])
{
    slopes(p, r, sum);
}

/* ---- all rows ---- */

INLINE void row_block(const ur_moving_rows *p, const double *const by[4], double inverse,
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

INLINE void all_rows(const ur_moving_rows *p, double *score, double sum[6])
{
    lanes sums[6] = {{0}};
    double inverse = 1 / p->information, left[5][LANES];
    size_t i = 0;
    const double *const *by = p->by;
    for (; i + LANES <= p->n; i += LANES)
        row_block(p, (const double *[]){by[0] + i, by[1] + i, by[2] + i, by[3] + i}, inverse,
                  score + i, sums);
    for (int k = 0; k < 4; k++)
        rest(left[k], by[k] + i, p->n - i);
    rest(left[4], score + i, p->n - i);
    row_block(p, (const double *[]){left[0], left[1], left[2], left[3]}, inverse, left[4], sums);
    for (size_t k = i; k < p->n; k++)
        score[k] = left[4][k - i];
    for (int k = 0; k < 6; k++)
        sum[k] = total(&sums[k]);
}
KERNEL(all, (const ur_moving_rows *p, double *score, double sum[6]), (p, score, sum))

void ur_move_rows(const ur_moving_rows *p, double *score, double sum[6])
{
    all(p, score, sum);
}
