/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that starts see: spaces, half-spaces and fits of labels with cut tails lead close to the
 * network. The labels themselves decide in the end. */
#include "base/error.h"
#include "network/data/cut_tails.h"
#include "network/hard/any_noise/any_noise.h"

#include <string.h>

unrelu_status ur_any_rows_make(const ur_data *data, const ur_frame *frame, size_t most,
                               ur_arena *arena, ur_any_rows *rows, unrelu_error *err)
{
    size_t n = most < frame->n ? most : frame->n, p = frame->p, d = frame->d, m = frame->m;
    *rows = (ur_any_rows){.n = n,
                          .p = p,
                          .d = d,
                          .m = m,
                          .frame = frame,
                          .x = ur_take(arena, n, p * sizeof *rows->x),
                          .a = ur_take(arena, n, m * sizeof *rows->a),
                          .b = ur_take(arena, n, m * sizeof *rows->b)};
    if (frame->terms.hidden)
        rows->raw = ur_take(arena, n, d * sizeof *rows->raw);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++) {
        size_t from = (size_t)((double)i * ((double)frame->n / (double)n));
        memcpy(rows->x + i * p, frame->x + from * p, p * sizeof *rows->x);
        memcpy(rows->a + i * m, frame->a + from * m, m * sizeof *rows->a);
        if (rows->raw)
            memcpy(rows->raw + i * d, data->x + frame->row[from] * d, d * sizeof *rows->raw);
    }
    return ur_cut_tails(n, m, rows->a, rows->b, &rows->heavy, err);
}

void ur_any_centre(size_t n, size_t m, const double *a, double *out)
{
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += a[i * m + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            out[i * m + j] = a[i * m + j] - mean;
    }
}
