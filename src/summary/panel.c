/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: lifecycle, choice of the kernels at run time, and the plain loops, which define the
 * results. The plain path keeps t in double (rounded to single where asked) and adds row by row. */
#include "panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../memory.h"
#include "panel_kernel.h"

static int plain_wanted;

void ur_panel_use_plain(int plain)
{
    plain_wanted = plain;
}

#ifdef UR_PANEL_AVX2
static int use_fast(void)
{
    return !plain_wanted && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

ur_panel *ur_panel_new(size_t d, int single)
{
    size_t pitch = (d + 3) / 4 * 4;
    int overflow = pitch < d;
    size_t tiles = pitch / (UR_PANEL_LINE / sizeof(double)) + 1; /* plain keeps doubles */
    /* adding a panel to the d x d sums costs 2 % of the work of 960 rows at d = 200, when they
     * fit the last cache, and 8 % at d = 1000 */
    size_t words = d > 400 ? 32 : 16;
    size_t lines = ur_product(tiles, words * UR_PANEL_SPAN, &overflow);
    size_t all_words = ur_product(pitch, words, &overflow);
    ur_panel *panel = ur_alloc(1, sizeof *panel);
    if (!panel)
        return NULL;
    panel->d = d;
    panel->pitch = pitch;
    panel->words = words;
    panel->most = words * UR_PANEL_SPAN;
    panel->single = single;
    if (!overflow) {
        panel->t = ur_alloc_aligned(lines, UR_PANEL_LINE);
        panel->g = ur_alloc_aligned(all_words, sizeof(uint64_t));
        panel->m = ur_alloc_aligned(all_words, sizeof(uint64_t));
        panel->g_at = ur_alloc_aligned(all_words, sizeof(uint64_t));
        panel->m_at = ur_alloc_aligned(all_words, sizeof(uint64_t));
        panel->m_column = ur_alloc(pitch, sizeof(size_t));
        panel->padded = ur_alloc_aligned(pitch, 5 * sizeof(double));
        panel->table = ur_alloc_aligned(UR_PANEL_TABLES << UR_PANEL_GROUP, UR_PANEL_ENTRY);
        panel->product = ur_alloc_aligned(pitch + 2, 2 * UR_PANEL_ENTRY);
    }
    if (panel->t && panel->g && panel->m && panel->g_at && panel->m_at && panel->m_column &&
        panel->padded && panel->table && panel->product)
        return panel;
    ur_panel_free(panel);
    return NULL;
}

void ur_panel_free(ur_panel *panel)
{
    if (!panel)
        return;
    free(panel->t);
    free(panel->g);
    free(panel->m);
    free(panel->g_at);
    free(panel->m_at);
    free(panel->m_column);
    free(panel->padded);
    free(panel->table);
    free(panel->product);
    free(panel);
}

size_t ur_panel_rows(const ur_panel *panel)
{
    return panel->most;
}

/* --- the plain loops --- */

static void scan_plain(const double *x, size_t rows, size_t d, size_t stride, ur_panel_range *range)
{
    for (size_t j = 0; j < d; j++) {
        range->min[j] = INFINITY;
        range->max[j] = -INFINITY;
        range->missing[j] = 0;
    }
    for (size_t r = 0; r < rows; r++) {
        const double *row = x + r * stride;
        for (size_t j = 0; j < d; j++) {
            range->min[j] = fmin(range->min[j], row[j]); /* fmin(a, NaN) = a */
            range->max[j] = fmax(range->max[j], row[j]);
            range->missing[j] += isnan(row[j]) ? 1 : 0;
        }
    }
}

static void pack_plain(ur_panel *panel, const double *x, size_t rows, size_t stride,
                       const ur_panel_columns *columns)
{
    size_t d = panel->d;
    double *t = panel->t;
    panel->missing = 0;
    memset(panel->g, 0, d * panel->words * sizeof(uint64_t));
    memset(panel->m, 0, d * panel->words * sizeof(uint64_t));
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < d; j++) {
            double value = x[r * stride + j], scaled = 0;
            size_t word = j * panel->words + r / UR_PANEL_SPAN;
            uint64_t bit = (uint64_t)1 << (r % UR_PANEL_SPAN);
            if (isnan(value)) {
                panel->m[word] |= bit;
                panel->missing = 1;
            } else {
                columns->observed[j]++;
            }
            if (value > columns->limit[j]) {
                panel->g[word] |= bit;
                scaled = (value - columns->limit[j] - columns->shift[j]) * columns->unit[j];
                columns->positive[j]++;
                columns->sum[j] += scaled;
                columns->square[j] += scaled * scaled;
            }
            t[r * d + j] = panel->single ? (double)(float)scaled : scaled;
        }
}

/* out[i * d + j] += popcount(a_i & b_j), for j >= i if upper, else all j */
static void count_plain(const uint64_t *a, const uint64_t *b, size_t d, size_t words, int upper,
                        double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = upper ? i : 0; j < d; j++) {
            int count = 0;
            for (size_t w = 0; w < words; w++)
                count += __builtin_popcountll(a[i * words + w] & b[j * words + w]);
            out[i * d + j] += count;
        }
}

/* by_t[i * d + j] += sum of bits_i t_j, by_tt[i * d + j] += sum of bits_i t_j^2 */
static void select_plain(const ur_panel *panel, const uint64_t *bits, double *by_t, double *by_tt)
{
    size_t d = panel->d;
    for (size_t r = 0; r < panel->rows; r++) {
        const double *t = (const double *)panel->t + r * d;
        for (size_t i = 0; i < d; i++) {
            if (!(bits[i * panel->words + r / UR_PANEL_SPAN] >> (r % UR_PANEL_SPAN) & 1))
                continue;
            for (size_t j = 0; j < d; j++) {
                by_t[i * d + j] += t[j];
                by_tt[i * d + j] += t[j] * t[j];
            }
        }
    }
}

static void add_plain(const ur_panel *panel, const ur_panel_sums *sums)
{
    size_t d = panel->d;
    for (size_t r = 0; r < panel->rows; r++) {
        const double *t = (const double *)panel->t + r * d;
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++)
                sums->tt[i * d + j] += t[i] * t[j];
    }
    count_plain(panel->g, panel->g, d, panel->words, 1, sums->gg);
    select_plain(panel, panel->g, sums->gt, sums->gtt);
    if (panel->missing) {
        count_plain(panel->m, panel->m, d, panel->words, 1, sums->mm);
        count_plain(panel->m, panel->g, d, panel->words, 0, sums->mg);
        select_plain(panel, panel->m, sums->mt, sums->mtt);
    }
}

static void above_plain(const double *x, size_t rows, size_t d, size_t stride,
                        const double *threshold, uint64_t *bits, size_t words)
{
    memset(bits, 0, d * words * sizeof *bits);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < d; j++)
            if (x[r * stride + j] > threshold[j])
                bits[j * words + r / 64] |= (uint64_t)1 << (r % 64);
}

/* --- the choice --- */

void ur_panel_scan(const double *x, size_t rows, size_t d, size_t stride, ur_panel_range *range)
{
#ifdef UR_PANEL_AVX2
    if (use_fast()) {
        ur_panel_scan_avx2(x, rows, d, stride, range);
        return;
    }
#endif
    scan_plain(x, rows, d, stride, range);
}

void ur_panel_pack(ur_panel *panel, const double *x, size_t rows, size_t stride,
                   const ur_panel_columns *columns)
{
    panel->rows = rows;
#ifdef UR_PANEL_AVX2
    panel->fast = use_fast();
    if (panel->fast) {
        ur_panel_pack_avx2(panel, x, rows, stride, columns);
        return;
    }
#endif
    pack_plain(panel, x, rows, stride, columns);
}

void ur_panel_add(ur_panel *panel, const ur_panel_sums *sums)
{
#ifdef UR_PANEL_AVX2
    if (panel->fast) { /* as it was packed */
        ur_panel_add_avx2(panel, sums);
        return;
    }
#endif
    add_plain(panel, sums);
}

void ur_bits_above(const double *x, size_t rows, size_t d, size_t stride, const double *threshold,
                   uint64_t *bits, size_t words)
{
#ifdef UR_PANEL_AVX2
    if (use_fast()) {
        ur_bits_above_avx2(x, rows, d, stride, threshold, bits, words);
        return;
    }
#endif
    above_plain(x, rows, d, stride, threshold, bits, words);
}

void ur_bits_gram(const uint64_t *bits, size_t d, size_t words, double *gg)
{
#ifdef UR_PANEL_AVX2
    if (use_fast()) {
        ur_bits_gram_avx2(bits, d, words, gg);
        return;
    }
#endif
    count_plain(bits, bits, d, words, 1, gg);
}
