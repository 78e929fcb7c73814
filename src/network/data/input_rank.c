/* SPDX-License-Identifier: Apache-2.0 */
/* The rank of the inputs over all rows, not over those that a solver saw: a column that is not 0 in
 * one row of a million counts. Columns are brought to a root mean square of 1, then the triangle R
 * of a QR factorisation takes in one block of rows after another, and the singular values of R are
 * those of the inputs: sums of squares would lose half of the digits. Rows only add to singular
 * values, so that the work ends with the rows that show full rank, mostly those of the first
 * block; dependent inputs cost 2 n q^2 flops. */
#include "base/error.h"
#include "dense/linear.h"
#include "network/data/data.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 512 }; /* of a block: where q is small, so that R is factored seldom */

/* R (q x q) takes in `rows` rows from `first` on; work has room for q + rows of them */
static unrelu_status take_in(const ur_data *data, size_t q, size_t first, size_t rows, double *work,
                             double *R, unrelu_error *err)
{
    size_t d = data->d;
    memcpy(work, R, q * q * sizeof *R);
    for (size_t i = 0; i < rows; i++) {
        const double *x = data->x + (first + i) * d;
        double *to = work + (q + i) * q;
        for (size_t l = 0; l < d; l++)
            to[l] = data->input_rms[l] > 0 ? x[l] / data->input_rms[l] : 0;
        if (q > d)
            to[d] = 1;
    }
    return ur_qr_triangle(q + rows, q, work, R, err);
}

unrelu_status ur_input_rank(const ur_data *data, int ones, const unrelu_exec *exec, size_t *rank,
                            unrelu_error *err)
{
    size_t n = data->n, q = data->d + (ones ? 1 : 0), step = q > LEAST_ROWS ? q : LEAST_ROWS;
    size_t look = 1; /* the block after which the singular values are looked at: 1, 2, 4, ... */
    /* all columns have root mean square 1: no singular value of all rows is larger */
    double most = sqrt((double)n * (double)q);
    UR_ARENA(arena);
    double *work = ur_take(&arena, q + step, q * sizeof *work);
    double *R = ur_take(&arena, q, q * sizeof *R), *s = ur_take(&arena, q, sizeof *s);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t block = 1, first = 0; first < n; block++, first += step) {
        size_t rows = n - first < step ? n - first : step;
        if (ur_cancelled(exec))
            return ur_fail_cancelled(err);
        UR_TRY(take_in(data, q, first, rows, work, R, err));
        if (block < look && first + rows < n)
            continue;
        look *= 2;
        UR_TRY(ur_svd(q, q, R, NULL, s, NULL, err));
        if (s[q - 1] > UR_ROUNDING * most)
            break;
    }
    for (*rank = 0; *rank < q && s[*rank] > UR_ROUNDING * s[0];)
        ++*rank;
    return UNRELU_OK;
}
