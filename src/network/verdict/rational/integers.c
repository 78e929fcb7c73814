/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of integers of any size. The arrays are ours; the digits are GMP's, which ends the
 * program where memory for them is short: they are few. */
#include "network/verdict/rational/rational.h"

#include <math.h>

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

long ur_integers_scale(size_t count, mpz_t *x, double *out)
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
    return (long)bits;
}
