/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with the same units on differ by W z alone: with a units on they vary in a dimensions,
 * or in as many as the rank of W, where that is lower. Then the cone can have facets that belong to
 * no unit. Units that are constant in such samples do not count. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/linear.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"

#include <math.h>
#include <stdlib.h>

/* of one pattern, so many of its samples are looked at: their rank is then that of the law */
enum { SAMPLES_A_UNIT = 2, SAMPLES_MORE = 4 };

typedef struct {
    uint64_t pattern;
    size_t row, on;
} entry;

static int by_pattern(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* a hash of the units that are on, and their number */
static entry read_pattern(const double *m, size_t p, size_t row)
{
    entry e = {.pattern = UINT64_C(14695981039346656037), .row = row};
    for (size_t k = 0; k < p; k++)
        if (m[k] > 0) {
            e.pattern = (e.pattern ^ (k + 1)) * UINT64_C(1099511628211);
            e.on++;
        }
    return e;
}

/* Z (rows x units): the centred values of the units that vary, at length 1; their number */
static size_t centre(const double *M, size_t p, const entry *group, size_t rows, double *Z)
{
    size_t units = 0, on = group->on;
    for (size_t k = 0; k < p; k++) {
        double mean = 0, size = 0;
        if (!(M[group->row * p + k] > 0))
            continue;
        for (size_t i = 0; i < rows; i++)
            mean += M[group[i].row * p + k] / (double)rows;
        for (size_t i = 0; i < rows; i++) {
            Z[i * on + units] = M[group[i].row * p + k] - mean;
            size = hypot(size, Z[i * on + units]);
        }
        if (!(size > UR_UNMIX_LATENT * mean))
            continue;
        for (size_t i = 0; i < rows; i++)
            Z[i * on + units] /= size;
        units++;
    }
    for (size_t i = 0; i < rows && units < on; i++) /* close the gaps of units that are constant */
        for (size_t k = 0; k < units; k++)
            Z[i * units + k] = Z[i * on + k];
    return units;
}

static unrelu_status measure(const double *M, size_t p, const entry *group, size_t rows,
                             ur_latent *found, unrelu_error *err)
{
    size_t on = group->on, rank = 0;
    UR_ARENA(arena);
    double *Z = ur_take(&arena, rows, on * sizeof *Z), *Q = ur_take(&arena, rows, on * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
    size_t units = centre(M, p, group, rows, Z);
    UR_TRY(ur_qr_pivoted(rows, units, Z, UR_UNMIX_LATENT, &rank, Q, NULL, NULL, err));
    if (rank < units)
        *found = (ur_latent){rows, units, rank};
    return UNRELU_OK;
}

unrelu_status ur_unmix_latent(size_t n, size_t p, const double *M, ur_latent *found,
                              unrelu_error *err)
{
    UR_ARENA(arena);
    entry *entries = ur_take(&arena, n, sizeof *entries);
    *found = (ur_latent){0};
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        entries[i] = read_pattern(M + i * p, p, i);
    qsort(entries, n, sizeof *entries, by_pattern);
    for (size_t first = 0, next; first < n && found->samples == 0; first = next) {
        size_t enough = SAMPLES_A_UNIT * entries[first].on + SAMPLES_MORE;
        for (next = first + 1; next < n && entries[next].pattern == entries[first].pattern;)
            next++;
        if (entries[first].on >= 2 && next - first >= enough)
            UR_TRY(measure(M, p, entries + first, enough, found, err));
    }
    return UNRELU_OK;
}
