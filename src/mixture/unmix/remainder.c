/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what p units leave of the samples is noise.
 *
 * A unit that was not counted is mostly in r = x v, v the singular vector behind the p-th. Normal
 * noise, of one deviation in all samples, makes r a random direction of those orthogonal to y:
 * its parts, each over sqrt(1 - |y_i|^2 / n) and scaled to the mean square 1, are like independent
 * standard normals t_i, and independent of which units are on. That is so whatever the noises of
 * the columns are, and how many directions are left. With a unit in it, r is a function of the
 * units: next to 0 in most samples where that unit is seldom on, and elsewhere of a size that
 * depends on which units are on. Where d = p + 1 nothing else can tell the two apart. Five
 * statistics, each as -ln of a bound of its chance, P(|t| > a) <= exp(-a^2 / 2):
 *
 *   longest   the largest |t_i| of n
 *   spread    the mean of |t|, normal with mean sqrt(2/pi) and variance (1 - 3/pi) / n
 *   size      the correlation of |t| with the rank of |y|, over its deviation 1 / sqrt(n - 1)
 *   scale     that with whether unit k is on, the most surprising of p
 *   shift     the sum of t over the m samples where unit k is on, of variance m - |sum of y|^2 / n
 *             as y't = 0; the most surprising of p and of one for all samples */
#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "dense/blas.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"

#include <math.h>
#include <string.h>

/* of a sample: one that carries a dimension alone leaves nothing, and says nothing */
static const double MOST_LEVERAGE = 0.99;

typedef struct {
    size_t n, p;
    double *t, *size;             /* n; |t| */
    double mean_size, size_scale; /* mean and root mean square deviation of |t| */
} measured;

static void weigh(ur_remainder *worst, ur_remainder_kind kind, size_t at, double value,
                  double surprise)
{
    if (surprise > worst->surprise)
        *worst = (ur_remainder){kind, at, value, surprise};
}

/* 0 where nothing is left at all */
static int measure(const ur_cone *c, const double *direction, measured *s)
{
    double n = (double)s->n, square = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double *y = c->y + i * s->p;
        double leverage = fmin(ur_dot(s->p, y, y) / n, MOST_LEVERAGE), r = 0;
        for (size_t j = 0; j < c->d; j++)
            r += c->x[i * c->d + j] / c->unit[j] * direction[j];
        s->t[i] = r / sqrt(1 - leverage);
        square += s->t[i] * s->t[i];
    }
    if (!(square > 0))
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        s->t[i] /= sqrt(square / n);
        s->size[i] = fabs(s->t[i]);
        s->mean_size += s->size[i] / n;
    }
    s->size_scale = sqrt(fmax(0, 1 - s->mean_size * s->mean_size));
    return 1;
}

static void test_sizes(const measured *s, ur_remainder *worst)
{
    size_t longest = 0;
    double n = (double)s->n, half = sqrt(2 / M_PI), away = s->mean_size - half;
    for (size_t i = 0; i < s->n; i++)
        longest = s->size[i] > s->size[longest] ? i : longest;
    double most = s->size[longest];
    weigh(worst, UR_REMAINDER_LONGEST, longest, most, most * most / 2 - log(n));
    weigh(worst, UR_REMAINDER_SPREAD, 0, s->mean_size / half, away * away * n / (1 - 3 / M_PI) / 2);
}

/* of |t| with v, whose sums over all samples are those of v, v^2 and v |t| */
static double correlation(const measured *s, double sum, double squares, double both)
{
    double n = (double)s->n, mean = sum / n, variance = squares / n - mean * mean;
    if (!(variance > 0 && s->size_scale > 0))
        return 0;
    return (both / n - mean * s->mean_size) / (sqrt(variance) * s->size_scale);
}

static void test_growth(const measured *s, const ur_cone *c, ur_keyed *order, ur_keyed *scratch,
                        ur_remainder *worst)
{
    double ranks = 0, squares = 0, both = 0;
    for (size_t i = 0; i < s->n; i++)
        order[i] = (ur_keyed){ur_norm(s->p, c->y + i * s->p), i};
    ur_sort_keyed(order, scratch, s->n);
    for (size_t i = 0; i < s->n; i++) {
        double rank = (double)i / (double)s->n;
        ranks += rank;
        squares += rank * rank;
        both += rank * s->size[order[i].at];
    }
    double r = correlation(s, ranks, squares, both);
    weigh(worst, UR_REMAINDER_SIZE, 0, r, r * r * (double)(s->n - 1) / 2);
}

/* unit k; p: all samples */
static void test_unit(const measured *s, const ur_cone *c, const double *M, size_t k, double *sum_y,
                      ur_remainder *worst)
{
    size_t p = s->p;
    double on = 0, shift = 0, both = 0;
    memset(sum_y, 0, p * sizeof *sum_y);
    for (size_t i = 0; i < s->n; i++) {
        if (k < p && !(M[i * p + k] > 0))
            continue;
        on++;
        shift += s->t[i];
        both += s->size[i];
        ur_add(p, 1, c->y + i * p, sum_y);
    }
    double r = correlation(s, on, on, both), n = (double)s->n;
    double variance = on - ur_dot(p, sum_y, sum_y) / n;
    weigh(worst, UR_REMAINDER_SCALE, k, r, r * r * (n - 1) / 2 - log((double)p));
    if (variance >= 1) /* else y tells nearly all of it */
        weigh(worst, UR_REMAINDER_SHIFT, k, fabs(shift) / sqrt(variance),
              shift * shift / variance / 2 - log((double)p + 1));
}

unrelu_status ur_unmix_remainder(const ur_cone *c, const double *direction, const double *M,
                                 ur_remainder *worst, unrelu_error *err)
{
    size_t n = c->n, p = c->p;
    UR_ARENA(arena);
    measured s = {.n = n,
                  .p = p,
                  .t = ur_take(&arena, n, sizeof *s.t),
                  .size = ur_take(&arena, n, sizeof *s.size)};
    double *sum_y = ur_take(&arena, p, sizeof *sum_y);
    ur_keyed *order = ur_take(&arena, n, sizeof *order), *room = ur_take(&arena, n, sizeof *room);
    *worst = (ur_remainder){0};
    UR_TRY(ur_arena_status(&arena, err));
    if (!measure(c, direction, &s))
        return UNRELU_OK;
    test_sizes(&s, worst);
    test_growth(&s, c, order, room, worst);
    for (size_t k = 0; k <= p; k++)
        test_unit(&s, c, M, k, sum_y, worst);
    return UNRELU_OK;
}
