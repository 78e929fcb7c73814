/* SPDX-License-Identifier: Apache-2.0 */
/* A panel: a few hundred rows packed for the pair kernels. With t = (x - limit - c) 2^-e on
 * cells above their limit and 0 elsewhere, G = 1(x > limit), M = 1(x is NaN), it adds
 *   G'G, t't, G't, G'(t t)     and, where cells are missing,     M'M, M'G, M't, M'(t t)
 * to double sums: bits by AND and popcount, 0/1 times number by tables of subset sums, t't in
 * registers. Inside a panel numbers are double or single; sums over panels are always double. */
#ifndef UR_PANEL_H
#define UR_PANEL_H

#include "base/arena.h"
#include "summary/column_sums.h"

typedef struct ur_panel ur_panel;

/* single: pack in single precision. NULL where memory ends. */
ur_panel *ur_panel_new(ur_arena *arena, size_t d, int single);
size_t ur_panel_rows(const ur_panel *panel); /* the most rows that pack takes */

/* limit, shift: data units; unit = 2^-e. Overwrites all of `out`, as ur_columns_sweep does. */
void ur_panel_pack(ur_panel *panel, const double *x, size_t rows, size_t stride,
                   const double *limit, const double *shift, const double *unit,
                   const ur_columns *out);

/* All d x d, row-major. gg, tt, mm: upper triangle with diagonal (i <= j). Row = the 0/1 column,
 * column = the number column: gt[i * d + j] += sum over rows of G_i t_j; mg, mt, mtt likewise
 * with M_i. */
typedef struct {
    double *gg, *tt, *gt, *gtt;
    double *mm, *mg, *mt, *mtt; /* touched only when the panel has missing cells */
} ur_panel_sums;
void ur_panel_add(ur_panel *panel, const ur_panel_sums *sums);

/* --- bits alone, for the signs pass: above[i * words + r / 64] bit r % 64 --- */
/* bits of x > threshold for `rows` rows; missing cells count as not above */
void ur_bits_above(const double *x, size_t rows, size_t d, size_t stride, const double *threshold,
                   uint64_t *bits, size_t words);
/* gg[i * d + j] += popcount(bits_i & bits_j), i <= j */
void ur_bits_gram(const uint64_t *bits, size_t d, size_t words, double *gg);

/* The plain loops that the kernels are checked against; same results as the above (counts
 * exactly, sums to rounding). Tests and bench only. */
ur_panel *ur_panel_new_plain(ur_arena *arena, size_t d, int single);
void ur_bits_above_plain(const double *x, size_t rows, size_t d, size_t stride,
                         const double *threshold, uint64_t *bits, size_t words);
void ur_bits_gram_plain(const uint64_t *bits, size_t d, size_t words, double *gg);

#endif
