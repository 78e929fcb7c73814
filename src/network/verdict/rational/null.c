/* SPDX-License-Identifier: Apache-2.0 */
/* Null spaces of integer matrices, one row at a time, without fractions. Values are row w_i; the
 * first w_b of value not 0 leaves, and the others become
 *   w_i <- (value_b w_i - value_i w_b) / divisor,   divisor <- value_b.
 * Starting from unit vectors all entries are minors of the matrix of the rows that counted, hence
 * the division is exact (Bareiss) and numbers have at most about r (log2 |row| + log2(r) / 2) bits
 * after r of them. A row that holds costs left * size products, one that counts three times that.
 */
#include "base/error.h"
#include "base/memory.h"
#include "network/verdict/rational/rational.h"

#include <string.h>

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
