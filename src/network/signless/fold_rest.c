/* SPDX-License-Identifier: Apache-2.0 */
/* What a student leaves of the labels of rows that it was not fitted to. */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/signless.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256, HELD_ROWS = 2000 }; /* at a time; at most */

void ur_fold_enter(const ur_problem *given, const ur_frame *frame, size_t count, const size_t *row,
                   double *raw, double *z, double *a)
{
    const ur_data *data = &given->data;
    size_t d = data->d, q = frame->q, m = data->m;
    for (size_t i = 0; i < count; i++) {
        memcpy(raw + i * q, data->x + row[i] * d, d * sizeof *raw);
        if (q > d)
            raw[i * q + d] = 1;
        for (size_t r = 0; r < m; r++)
            a[i * m + r] = data->a[row[i] * m + r] / frame->unit[r];
    }
    ur_multiply(count, q, frame->p, raw, frame->back, z);
}

unrelu_status ur_fold_rest(const ur_problem *given, const ur_student *student, size_t count,
                           const size_t *row, double *R, unrelu_error *err)
{
    const ur_fold_state *s = &student->s;
    const ur_frame *frame = &student->frame;
    size_t p = frame->p, m = frame->m, k = s->k, wide = frame->q > p ? frame->q : p;
    UR_ARENA(arena);
    double *raw = ur_take(&arena, ROWS, wide * sizeof *raw);
    double *z = ur_take(&arena, ROWS, p * sizeof *z), *G = ur_take(&arena, ROWS, k * sizeof *G);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < count; first += ROWS, R += ROWS * m) {
        size_t rows = count - first < ROWS ? count - first : ROWS;
        ur_fold_enter(given, frame, rows, row + first, raw, z, R);
        ur_multiply_nt(rows, p, k, z, s->T, G);
        for (size_t i = 0; i < rows * k; i++)
            G[i] = fabs(G[i]);
        if (k > 0)
            ur_gemm(UR_PLAIN, UR_PLAIN, rows, m, k, -1, G, k, s->B, m, 1, R, m);
        ur_gemm(UR_PLAIN, UR_PLAIN, rows, m, p, -1, z, p, s->B + k * m, m, 1, R, m);
        for (size_t i = 0; i < rows && student->folds.constant; i++)
            ur_add(m, -1, s->B + (k + p) * m, R + i * m);
    }
    return UNRELU_OK;
}

unrelu_status ur_fold_held_share(const ur_problem *given, const ur_student *student, double *share,
                                 unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t count = 0, m = data->m;
    UR_ARENA(arena);
    unsigned char *used = ur_frame_mark(&student->frame, data->n, &arena);
    size_t *row = ur_take(&arena, HELD_ROWS, sizeof *row);
    double *R = ur_take(&arena, HELD_ROWS, m * sizeof *R);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < data->n && count < HELD_ROWS; i++)
        if (used && !used[i])
            row[count++] = i;
    UR_TRY(ur_fold_rest(given, student, count, row, R, err));
    double squares = ur_dot(count * m, R, R) / (double)(count > 0 ? count : 1);
    *share = squares / (student->folds.base / (double)student->folds.n);
    return UNRELU_OK;
}
