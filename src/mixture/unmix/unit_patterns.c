/* SPDX-License-Identifier: Apache-2.0 */
/* What the units that are off together tell of W and of the facets.
 *
 * Samples with the same units on differ by W z alone: with a units on they vary in a dimensions,
 * or in as many as the rank of W, where that is lower. Then the cone can have facets that belong to
 * no unit. Units that are constant in such samples do not count.
 *
 * Whether the p facets are all there are. Where the cone is that of p independent units, any two
 * of its facets meet in a ridge that has samples of every other unit. A facet beside the p units,
 * of the form sum_j c_j m_j - m_i >= 0 with several c_j > 0 (as there are where W has rank below
 * p), meets that of a unit j only where all the units of the sum are off. So, if such a facet was
 * taken for a unit, two are off together in samples where a third is never on (or never off),
 * though the fitted hidden layer would have it so in some of them: that number is what counts, a
 * strong correlation does the same and is no alarm. Cost n p^3 / 128. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/linear.h"
#include "mixture/problem/tolerance.h"
#include "mixture/problem/unmix.h"

#include <math.h>
#include <stdlib.h>

/* of one pattern, so many of its samples are looked at: their rank is then that of the law */
enum { SAMPLES_A_UNIT = 2, SAMPLES_MORE = 4 };
enum { DRAWN = 1 << 13 }; /* samples of the fitted law: shares are known to 0.5 % */
/* what is never seen otherwise among those drawn is otherwise in 0.1 %: keeps the logarithm finite
 */
static const double LARGEST_SHARE = 0.999;

/* ---- the rank of W ---- */

typedef struct {
    uint64_t pattern; /* a hash of the units that are on */
    size_t row, on;   /* their number */
} entry;

static int by_pattern(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* the rank of rows of one pattern, by the centred values of the units that vary, at length 1 */
static unrelu_status measure(const double *M, size_t p, const entry *group, size_t rows,
                             ur_latent *found, unrelu_error *err)
{
    size_t units = 0, on = group->on, rank = 0;
    UR_ARENA(arena);
    double *Z = ur_take(&arena, rows, on * sizeof *Z), *Q = ur_take(&arena, rows, on * sizeof *Q);
    UR_TRY(ur_arena_status(&arena, err));
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
    for (size_t i = 0; i < n; i++) {
        entry e = {.pattern = UINT64_C(14695981039346656037), .row = i};
        for (size_t k = 0; k < p; k++)
            if (M[i * p + k] > 0) {
                e.pattern = (e.pattern ^ (k + 1)) * UINT64_C(1099511628211);
                e.on++;
            }
        entries[i] = e;
    }
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

/* ---- ridges ---- */

unrelu_status ur_patterns_make(size_t n, size_t p, const double *M, ur_arena *arena,
                               ur_patterns *out, unrelu_error *err)
{
    *out = (ur_patterns){.n = n, .p = p, .words = (n + 63) / 64};
    out->off = ur_take(arena, p, out->words * sizeof *out->off);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p; k++)
            if (!(M[i * p + k] > 0))
                out->off[k * out->words + i / 64] |= UINT64_C(1) << (i % 64);
    return UNRELU_OK;
}

/* samples where i and j are off; of these in *all those where l is off too */
static size_t count(const ur_patterns *t, size_t i, size_t j, size_t l, size_t *all)
{
    const uint64_t *a = t->off + i * t->words, *b = t->off + j * t->words,
                   *c = t->off + l * t->words;
    size_t both = 0, three = 0;
    for (size_t w = 0; w < t->words; w++) {
        uint64_t off = a[w] & b[w];
        both += (size_t)__builtin_popcountll(off);
        three += (size_t)__builtin_popcountll(off & c[w]);
    }
    *all = three;
    return both;
}

ur_ridge ur_patterns_ridge(const ur_patterns *seen, const ur_patterns *drawn)
{
    ur_ridge worst = {0};
    for (size_t at = 0; at < seen->p * seen->p * seen->p; at++) {
        ur_ridge r = {.i = at / seen->p / seen->p, .j = at / seen->p % seen->p, .l = at % seen->p};
        if (r.j >= r.i || r.l == r.i || r.l == r.j)
            continue;
        size_t all, drawn_all;
        r.off = count(seen, r.i, r.j, r.l, &all);
        if (r.off < UR_FEWEST_RIDGE || (all != r.off && (all > 0 || !drawn)))
            continue;
        double share = 0.5;
        r.on = all == 0;
        if (drawn) {
            size_t both = count(drawn, r.i, r.j, r.l, &drawn_all);
            size_t other = r.on ? drawn_all : both - drawn_all;
            share = both > 0 ? (double)other / (double)both : 0;
        }
        r.expected = share * (double)r.off;
        /* -ln of the chance of none */
        r.surprise = -log1p(-fmin(share, LARGEST_SHARE)) * (double)r.off;
        if (r.surprise > worst.surprise)
            worst = r;
    }
    return worst;
}

static void free_sampler(void *sampler)
{
    unrelu_sampler_free(sampler);
}

unrelu_status ur_unmix_ridge(size_t n, const double *M, const unrelu_gaussian *hidden,
                             const unrelu_exec *exec, ur_ridge *worst, unrelu_error *err)
{
    ur_patterns seen, drawn;
    unrelu_sampler *sampler;
    UR_ARENA(arena);
    double *m = ur_take(&arena, DRAWN, hidden->d * sizeof *m);
    UR_TRY(ur_patterns_make(n, hidden->d, M, &arena, &seen, err));
    UR_TRY(unrelu_gaussian_sampler(hidden, 1, &sampler, err));
    ur_arena_adopt(&arena, sampler, free_sampler);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(unrelu_sampler_draw(sampler, 0, DRAWN, exec, m, err));
    UR_TRY(ur_patterns_make(DRAWN, hidden->d, m, &arena, &drawn, err));
    *worst = ur_patterns_ridge(&seen, &drawn);
    return UNRELU_OK;
}
