/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/near_rows.h"

#include "base/error.h"
#include "base/order.h"
#include "base/random.h"
#include "dense/blas.h"

unrelu_status ur_near_rows_class(const ur_near_rows *near, uint64_t seed, uint64_t stream,
                                 ur_arena *arena, ur_row_classes *classes, unrelu_error *err)
{
    UR_ARENA(own);
    size_t n = near->count, length = near->length;
    double *along = ur_take(&own, length, sizeof *along);
    ur_keyed *order = ur_take(&own, n, sizeof *order), *scratch = ur_take(&own, n, sizeof *scratch);
    double *key = ur_take(&own, n, sizeof *key); /* of the first members, increasing */
    *classes = (ur_row_classes){.first = ur_take(arena, n, sizeof *classes->first),
                                .of = ur_take(arena, n, sizeof *classes->of)};
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    ur_random_normals(seed, stream, 0, length, along);
    double reach = near->reach * ur_norm(length, along);
    for (size_t i = 0; i < n; i++)
        order[i] = (ur_keyed){ur_dot(length, near->rows + i * length, along), i};
    ur_sort_keyed(order, scratch, n);
    for (size_t i = 0; i < n; i++) {
        size_t row = order[i].at, c = classes->count;
        while (c > 0 && order[i].key - key[c - 1] <= reach &&
               !near->is_near(near->context, row, classes->first[c - 1]))
            c--;
        if (c == 0 || !(order[i].key - key[c - 1] <= reach)) {
            c = ++classes->count;
            classes->first[c - 1] = row;
            key[c - 1] = order[i].key;
        }
        classes->of[row] = c - 1;
    }
    return UNRELU_OK;
}
