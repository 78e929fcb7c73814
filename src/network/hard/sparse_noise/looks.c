/* SPDX-License-Identifier: Apache-2.0 */
/* Whether labels look like low rank plus sparse errors: a submatrix of such labels is one as well,
 * so at most 500 rows and 40 columns of them are enough to tell, for ranks up to 10. A rank that
 * meets most of its cells to rounding is proof; then some cell of all rows must be off. 0.05 to
 * 0.4 s of processor time for any size of labels. */
#include "base/error.h"
#include "base/random.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>

enum { LEAST_COLUMNS = 8, COLUMNS = 40, ROWS = 500, RANK = 10, DRAWS = 500 };

/* whether some row of all is not in the space */
static int is_off(const ur_sparse_cells *all, const size_t *column, size_t m, const ur_subspace *s)
{
    for (size_t i = 0; i < all->n; i++) {
        double size = 0, inside = 0;
        for (size_t l = 0; l < s->r; l++) {
            double at = 0;
            for (size_t j = 0; j < m; j++)
                at +=
                    s->B[j * s->r + l] * all->a[i * all->m + column[j]] * all->per_unit[column[j]];
            inside += at * at;
        }
        for (size_t j = 0; j < m; j++)
            size += pow(all->a[i * all->m + column[j]] * all->per_unit[column[j]], 2);
        if (size - inside > all->tolerance * size)
            return 1;
    }
    return 0;
}

unrelu_status ur_sparse_noise_looks(const ur_problem *given, int *looks, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_sparse_cells all;
    ur_subspace s;
    size_t m = given->data.m < COLUMNS ? given->data.m : COLUMNS, kept = 0;
    size_t n = given->data.n < ROWS ? given->data.n : ROWS;
    int found = 0;
    *looks = 0;
    if (m < LEAST_COLUMNS || n < LEAST_COLUMNS)
        return UNRELU_OK;
    UR_TRY(ur_sparse_cells_open(given, &arena, &all, err));
    size_t *column = ur_take(&arena, m, sizeof *column);
    double *a = ur_take(&arena, n, m * sizeof *a);
    double *random = ur_take(&arena, all.m, sizeof *random);
    ur_sparse_cells few = all;
    few.n = n;
    few.m = m;
    few.a = a;
    few.draws = DRAWS;
    few.per_unit = ur_take(&arena, m, sizeof *few.per_unit);
    UR_TRY(ur_arena_status(&arena, err));
    ur_random_uniforms(all.seed, UR_STREAM_SPARSE_COLUMNS, 0, all.m, random);
    for (size_t j = 0; j < all.m; j++) /* columns at random: so many of those that are left */
        if (random[j] * (double)(all.m - j) < (double)(m - kept) && kept < m) {
            few.per_unit[kept] = all.per_unit[j];
            column[kept++] = j;
        }
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)((double)i * ((double)all.n / (double)n));
        for (size_t j = 0; j < m; j++)
            a[i * m + j] = all.a[row * all.m + column[j]];
    }
    UR_TRY(ur_subspace_find(&few, 0, 0, n, RANK, 0, &arena, &s, &found, err));
    *looks = found && (s.wrong > 0 || s.worst < 1 || is_off(&all, column, m, &s));
    return UNRELU_OK;
}
