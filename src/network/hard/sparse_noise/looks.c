/* SPDX-License-Identifier: Apache-2.0 */
/* Whether labels look like low rank plus sparse errors: a submatrix of such labels is one as well,
 * so at most 500 rows and 40 columns of them are enough to tell, for ranks up to 10. A rank that
 * meets most of its cells to rounding is proof; then some cell of all rows must be off. 0.05 to
 * 0.4 s of processor time for any size of labels. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_COLUMNS = 8, COLUMNS = 40, ROWS = 500, RANK = 10, DRAWS = 500 };

/* columns of all, at random; their units go along */
static unrelu_status choose(const ur_sparse_cells *all, size_t count, size_t *column,
                            double *per_unit, unrelu_error *err)
{
    double *random = ur_doubles(all->m);
    if (!random)
        return ur_fail_memory(err, all->m, "columns");
    ur_random_uniforms(all->seed, UR_STREAM_SPARSE_COLUMNS, 0, all->m, random);
    for (size_t j = 0, kept = 0; j < all->m; j++) /* count of those that are left */
        if (random[j] * (double)(all->m - j) < (double)(count - kept) && kept < count) {
            per_unit[kept] = all->per_unit[j];
            column[kept++] = j;
        }
    free(random);
    return UNRELU_OK;
}

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

unrelu_status ur_sparse_noise_looks(const ur_recover *r, int *looks, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_sparse_cells all = {0}, few = {0};
    ur_subspace s = {0};
    size_t m = r->data.m < COLUMNS ? r->data.m : COLUMNS;
    size_t n = r->data.n < ROWS ? r->data.n : ROWS;
    size_t *column = NULL;
    double *a = NULL;
    int found = 0;
    *looks = 0;
    if (m < LEAST_COLUMNS || n < LEAST_COLUMNS)
        return UNRELU_OK;
    unrelu_status status = ur_sparse_cells_open(r, &arena, &all, err);
    if (status != UNRELU_OK)
        goto done;
    column = ur_alloc(m, sizeof *column);
    a = ur_alloc(n, m * sizeof *a);
    few = all;
    few.n = n;
    few.m = m;
    few.a = a;
    few.draws = DRAWS;
    few.per_unit = ur_doubles(m);
    if (!column || !a || !few.per_unit) {
        status = ur_fail_memory(err, n * m, "labels");
        goto done;
    }
    status = choose(&all, m, column, few.per_unit, err);
    for (size_t i = 0; i < n && status == UNRELU_OK; i++) {
        size_t row = (size_t)((double)i * ((double)all.n / (double)n));
        for (size_t j = 0; j < m; j++)
            a[i * m + j] = all.a[row * all.m + column[j]];
    }
    if (status == UNRELU_OK)
        status = ur_subspace_find(&few, 0, 0, n, RANK, 0, &arena, &s, &found, err);
    if (status == UNRELU_OK && found)
        *looks = s.wrong > 0 || s.worst < 1 || is_off(&all, column, m, &s);
done:
    free(column);
    free(a);
    free(few.per_unit);
    return status;
}
