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

#include <stdlib.h>
#include <string.h>

unrelu_status ur_null_make(size_t size, ur_null *null, unrelu_error *err)
{
    int overflow = 0;
    size_t count = ur_product(size, size, &overflow);
    *null = (ur_null){.size = size, .left = size};
    mpz_init(null->part);
    mpz_init_set_ui(null->divisor, 1);
    null->free = ur_alloc(size, sizeof *null->free);
    null->vector = ur_alloc(size, sizeof *null->vector);
    null->value = ur_integers(size);
    null->cells = overflow ? NULL : ur_integers(count);
    if (!null->free || !null->vector || !null->value || !null->cells)
        return ur_fail_memory(err, size * size, "integers");
    for (size_t i = 0; i < size; i++) {
        null->free[i] = i;
        null->vector[i] = null->cells + i * size;
        mpz_set_ui(null->vector[i][i], 1);
    }
    return UNRELU_OK;
}

void ur_null_free(ur_null *null)
{
    if (null->size == 0)
        return;
    ur_integers_free(null->cells, null->size * null->size);
    ur_integers_free(null->value, null->size);
    mpz_clear(null->divisor);
    mpz_clear(null->part);
    free(null->vector);
    free(null->free);
    memset(null, 0, sizeof *null);
}

void ur_null_reduce(ur_null *null)
{
    for (size_t i = 0; i < null->left; i++)
        ur_integers_reduce(null->vector[i], null->size);
    mpz_set_ui(null->divisor, 1); /* what follows starts anew, in coordinates of these vectors */
}

static void lose(ur_null *null, size_t b, size_t i)
{
    mpz_t *from = null->vector[b], *to = null->vector[i];
    for (size_t l = 0; l < null->size; l++) {
        if (mpz_sgn(from[l]) == 0 && mpz_sgn(to[l]) == 0)
            continue;
        mpz_mul(null->part, null->value[b], to[l]);
        mpz_submul(null->part, null->value[i], from[l]);
        mpz_divexact(to[l], null->part, null->divisor);
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
    size_t lost = null->free[b];
    mpz_set(null->divisor, null->value[b]);
    null->left--;
    memmove(null->free + b, null->free + b + 1, (null->left - b) * sizeof *null->free);
    memmove(null->vector + b, null->vector + b + 1, (null->left - b) * sizeof *null->vector);
    return lost;
}
