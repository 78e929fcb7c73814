/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a panel, shared by panel.c (lifecycle, plain loops) and panel_avx2.c. */
#ifndef UR_PANEL_KERNEL_H
#define UR_PANEL_KERNEL_H

#include "summary/panel.h"

enum {
    UR_PANEL_GROUP = 5,   /* rows of a table of 2^5 subset sums: best of 4, 5, 6 at d = 200, 1000 */
    UR_PANEL_FEW = 18,    /* columns up to which tables of 2^3 do less work */
    UR_PANEL_TABLES = 12, /* in use at once */
    UR_PANEL_SPAN = UR_PANEL_GROUP * UR_PANEL_TABLES, /* rows in a word of bits: 60 of 64 */
    UR_PANEL_LINE = 64,                               /* bytes of a row in a tile: 2 vectors */
    UR_PANEL_ENTRY = 64,                              /* of a table: a vector of t, one of t t */
};

struct ur_panel {
    size_t d, pitch; /* pitch: d rounded up to 4 */
    size_t words;    /* of bits a column has: a multiple of 4 */
    size_t most;     /* rows: words * UR_PANEL_SPAN */
    size_t rows;     /* packed now */
    int single, fast, missing;
    /* plain: rows x d doubles. fast: tiles of UR_PANEL_LINE bytes a row, the `most` rows
     * of a tile contiguous */
    void *t;
    uint64_t *g, *m; /* bits by column: UR_PANEL_SPAN rows a word */
    uint64_t *g_at;  /* fast only: the same by word, pitch columns each */
    uint64_t *m_at;  /* likewise, but only the m_columns columns that miss a cell: */
    size_t *m_column;
    size_t m_columns;
    double *padded; /* limit, origin, shift, unit, sum, square, min, max: pitch each */
    void *table;    /* UR_PANEL_TABLES tables of 2^GROUP entries; each first one is 0 */
    void *product;  /* 2 lines a column: the products with one tile, before they become double */
};

#if defined(__x86_64__) && defined(__GNUC__)
#define UR_PANEL_AVX2 1
void ur_panel_pack_avx2(ur_panel *panel, const double *x, size_t stride, const double *limit,
                        const double *shift, const double *unit, const ur_columns *out);
void ur_panel_add_avx2(ur_panel *panel, const ur_panel_sums *sums);
void ur_bits_above_avx2(const double *x, size_t rows, size_t d, size_t stride,
                        const double *threshold, uint64_t *bits, size_t words);
void ur_bits_gram_avx2(const uint64_t *bits, size_t d, size_t words, double *gg);
#endif

#endif
