/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of any size: arrays, null spaces, and data as fractions of them. */
#include "network/verdict/rational/rational.h"

#include "base/error.h"
#include "base/memory.h"
#include "pass/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_EXPONENT = -2000 }; /* below it a double is 0 */

typedef struct {
    mpz_t *x;
    size_t count;
} list;

static void end(void *integers)
{
    const list *l = integers;
    for (size_t i = 0; i < l->count; i++)
        mpz_clear(l->x[i]);
}

mpz_t *ur_integers(ur_arena *arena, size_t count)
{
    list *l = ur_take(arena, 1, sizeof *l);
    mpz_t *x = ur_take(arena, count, sizeof *x);
    if (!l || !x)
        return NULL;
    *l = (list){x, count};
    for (size_t i = 0; i < count; i++)
        mpz_init(x[i]);
    return ur_arena_adopt(arena, l, end) ? x : NULL;
}

void ur_integers_reduce(mpz_t *x, size_t count)
{
    mpz_t common;
    mpz_init(common);
    for (size_t i = 0; i < count && mpz_cmp_ui(common, 1) != 0; i++)
        mpz_gcd(common, common, x[i]);
    for (size_t i = 0; i < count && mpz_cmp_ui(common, 1) > 0; i++)
        mpz_divexact(x[i], x[i], common);
    mpz_clear(common);
}

void ur_integers_dot(size_t count, mpz_t *x, mpz_t *y, mpz_t out)
{
    mpz_set_ui(out, 0);
    for (size_t i = 0; i < count; i++)
        if (mpz_sgn(x[i]) != 0)
            mpz_addmul(out, x[i], y[i]);
}

void ur_integers_scale(size_t count, mpz_t *x, double *out)
{
    size_t bits = 0;
    for (size_t i = 0; i < count; i++)
        if (mpz_sgn(x[i]) != 0 && mpz_sizeinbase(x[i], 2) > bits)
            bits = mpz_sizeinbase(x[i], 2);
    for (size_t i = 0; i < count; i++) {
        long exponent = 0;
        double digits = mpz_get_d_2exp(&exponent, x[i]);
        long shift = exponent - (long)bits;
        out[i] = shift > LEAST_EXPONENT ? ldexp(digits, (int)shift) : 0;
    }
}

/* ---- null spaces ---- */

/* Null spaces of integer matrices, one row at a time, without fractions. Values are row w_i; the
 * first w_b of value not 0 leaves, and the others become
 *   w_i <- (value_b w_i - value_i w_b) / divisor,   divisor <- value_b.
 * Starting from unit vectors all entries are minors of the matrix of the rows that counted, hence
 * the division is exact (Bareiss) and numbers have at most about r (log2 |row| + log2(r) / 2) bits
 * after r of them. A row that holds costs left * size products, one that counts three times that.
 */
unrelu_status ur_null_make(size_t size, ur_arena *arena, ur_null *null, unrelu_error *err)
{
    int overflow = 0;
    size_t count = ur_product(size, size, &overflow);
    mpz_t *cells = ur_integers(arena, overflow ? SIZE_MAX : count);
    *null = (ur_null){.size = size,
                      .left = size,
                      .own = ur_take(arena, size, sizeof *null->own),
                      .vector = ur_take(arena, size, sizeof *null->vector),
                      .value = ur_integers(arena, size),
                      .divisor = ur_integers(arena, 1),
                      .part = ur_integers(arena, 1)};
    UR_TRY(ur_arena_status(arena, err));
    mpz_set_ui(*null->divisor, 1);
    for (size_t i = 0; i < size; i++) {
        null->own[i] = i;
        null->vector[i] = cells + i * size;
        mpz_set_ui(null->vector[i][i], 1);
    }
    return UNRELU_OK;
}

void ur_null_reduce(ur_null *null)
{
    for (size_t i = 0; i < null->left; i++)
        ur_integers_reduce(null->vector[i], null->size);
    mpz_set_ui(*null->divisor, 1); /* what follows starts anew, in coordinates of these vectors */
}

static void lose(ur_null *null, size_t b, size_t i)
{
    mpz_t *from = null->vector[b], *to = null->vector[i];
    for (size_t l = 0; l < null->size; l++) {
        if (mpz_sgn(from[l]) == 0 && mpz_sgn(to[l]) == 0)
            continue;
        mpz_mul(*null->part, null->value[b], to[l]);
        mpz_submul(*null->part, null->value[i], from[l]);
        mpz_divexact(to[l], *null->part, *null->divisor);
    }
}

size_t ur_null_add(ur_null *null, mpz_t *row)
{
    size_t b = null->left;
    for (size_t i = 0; i < null->left; i++) {
        ur_integers_dot(null->size, null->vector[i], row, null->value[i]);
        if (b == null->left && mpz_sgn(null->value[i]) != 0)
            b = i;
    }
    if (b == null->left)
        return UR_NULL_HOLDS;
    for (size_t i = 0; i < null->left; i++)
        if (i != b)
            lose(null, b, i);
    size_t lost = null->own[b];
    mpz_set(*null->divisor, null->value[b]);
    null->left--;
    memmove(null->own + b, null->own + b + 1, (null->left - b) * sizeof *null->own);
    memmove(null->vector + b, null->vector + b + 1, (null->left - b) * sizeof *null->vector);
    return lost;
}

/* ---- data as fractions ---- */

/* Each cell as the simplest fraction that rounds to it; rows as integers. The numerator is the
 * whole number next to x q: q is at most half of 1 / sqrt(unit in the last place), so that x q is
 * off by less than 1/2. */
static int read_cells(const double *cells, size_t rows, size_t columns, const char *what,
                      uint32_t *q, char *why)
{
    for (size_t i = 0; i < rows * columns; i++) {
        ur_fraction f = {0, 1};
        double most;
        if (!ur_fraction_of(cells[i], &f, &most)) {
            char limit[64] = "too large";
            if (most >= 1)
                snprintf(limit, sizeof limit, "no fraction of a denominator up to %.0f", most);
            snprintf(why, UR_WHY,
                     "row %zu, column %zu of the %s is %.17g, which is %s: exact arithmetic is for "
                     "data of integers or fractions",
                     i / columns + 1, i % columns + 1, what, cells[i], limit);
            return 0;
        }
        q[i] = (uint32_t)f.q;
    }
    return 1;
}

unrelu_status ur_quotients_make(const ur_data *data, const unrelu_exec *exec, ur_arena *arena,
                                ur_quotients *all, char *why, unrelu_error *err)
{
    *all = (ur_quotients){.data = data,
                          .x = ur_take(arena, data->n, data->d * sizeof *all->x),
                          .a = ur_take(arena, data->n, data->m * sizeof *all->a),
                          .scale = ur_integers(arena, 1),
                          .part = ur_integers(arena, 1)};
    UR_TRY(ur_arena_status(arena, err));
    if (read_cells(data->x, data->n, data->d, "inputs", all->x, why))
        read_cells(data->a, data->n, data->m, "labels", all->a, why);
    return ur_cancelled(exec) ? ur_fail_cancelled(err) : UNRELU_OK;
}

static void gather(ur_quotients *all, const uint32_t *q, size_t count)
{
    for (size_t l = 0; l < count; l++)
        if (q[l] > 1)
            mpz_lcm_ui(*all->scale, *all->scale, q[l]);
}

static void spread(ur_quotients *all, const double *x, const uint32_t *q, size_t count, mpz_t *out)
{
    for (size_t l = 0; l < count; l++) {
        mpz_set_d(out[l], nearbyint(x[l] * q[l]));
        if (mpz_cmp_ui(*all->scale, 1) == 0)
            continue;
        mpz_divexact_ui(*all->part, *all->scale, q[l]);
        mpz_mul(out[l], out[l], *all->part);
    }
}

void ur_quotients_row(ur_quotients *all, size_t i, mpz_t *x, mpz_t *a)
{
    const ur_data *data = all->data;
    const uint32_t *x_q = all->x + i * data->d, *a_q = all->a + i * data->m;
    mpz_set_ui(*all->scale, 1);
    gather(all, x_q, data->d);
    gather(all, a_q, data->m);
    spread(all, data->x + i * data->d, x_q, data->d, x);
    spread(all, data->a + i * data->m, a_q, data->m, a);
}
