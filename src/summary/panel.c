/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: lifecycle, choice of the kernels at run time, and the plain loops, which define the
 * results. The plain path keeps t in double (rounded to single where asked) and adds row by row. */

#include "summary/panel_kernel.h"

#include <math.h>
#include <string.h>

static int has_fast(void)
{
#ifdef UR_PANEL_AVX2
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

ur_panel *ur_panel_new_plain(ur_arena *arena, size_t d, int single)
{
    size_t pitch = d <= SIZE_MAX - 3 ? (d + 3) / 4 * 4 : d; /* which is more than can be taken */
    size_t tiles = pitch / (UR_PANEL_LINE / sizeof(double)) + 1; /* plain keeps doubles */
    /* adding a panel to the d x d sums costs 2 % of the work of 960 rows at d = 200, when they
     * fit the last cache, and 8 % at d = 1000 */
    size_t words = d > 400 ? 32 : 16;
    size_t column = words * sizeof(uint64_t); /* of bits, in bytes */
    ur_panel *panel = ur_take(arena, 1, sizeof *panel);
    if (!panel)
        return NULL;
    *panel = (ur_panel){
        .d = d,
        .pitch = pitch,
        .words = words,
        .most = words * UR_PANEL_SPAN,
        .single = single,
        .t = ur_take_aligned(arena, tiles, words * UR_PANEL_SPAN * UR_PANEL_LINE),
        .g = ur_take_aligned(arena, pitch, column),
        .m = ur_take_aligned(arena, pitch, column),
        .g_at = ur_take_aligned(arena, pitch, column),
        .m_at = ur_take_aligned(arena, pitch, column),
        .m_column = ur_take(arena, pitch, sizeof(size_t)),
        .padded = ur_take_aligned(arena, pitch, 8 * sizeof(double)),
        .table = ur_take_aligned(arena, UR_PANEL_TABLES << UR_PANEL_GROUP, UR_PANEL_ENTRY),
        .product = ur_take_aligned(arena, pitch + 2, 2 * UR_PANEL_ENTRY),
    };
    return ur_arena_failed(arena) ? NULL : panel;
}

ur_panel *ur_panel_new(ur_arena *arena, size_t d, int single)
{
    ur_panel *panel = ur_panel_new_plain(arena, d, single);
    if (panel)
        panel->fast = has_fast();
    return panel;
}

size_t ur_panel_rows(const ur_panel *panel)
{
    return panel->most;
}

/* --- the plain loops --- */

/* t and the bits; the sums of the columns are a sweep of their own */
static void pack_plain(ur_panel *panel, const double *x, size_t stride, const double *limit,
                       const double *shift, const double *unit)
{
    size_t d = panel->d;
    double *t = panel->t;
    panel->missing = 0;
    memset(panel->g, 0, d * panel->words * sizeof(uint64_t));
    memset(panel->m, 0, d * panel->words * sizeof(uint64_t));
    for (size_t r = 0; r < panel->rows; r++)
        for (size_t j = 0; j < d; j++) {
            double value = x[r * stride + j], scaled = 0;
            size_t word = j * panel->words + r / UR_PANEL_SPAN;
            uint64_t bit = (uint64_t)1 << (r % UR_PANEL_SPAN);
            if (isnan(value)) {
                panel->m[word] |= bit;
                panel->missing = 1;
            }
            if (value > limit[j]) {
                panel->g[word] |= bit;
                scaled = (value - ur_origin(limit[j]) - shift[j]) * unit[j];
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

void ur_bits_above_plain(const double *x, size_t rows, size_t d, size_t stride,
                         const double *threshold, uint64_t *bits, size_t words)
{
    memset(bits, 0, d * words * sizeof *bits);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < d; j++)
            if (x[r * stride + j] > threshold[j])
                bits[j * words + r / 64] |= (uint64_t)1 << (r % 64);
}

void ur_bits_gram_plain(const uint64_t *bits, size_t d, size_t words, double *gg)
{
    count_plain(bits, bits, d, words, 1, gg);
}

/* --- the choice --- */

void ur_panel_pack(ur_panel *panel, const double *x, size_t rows, size_t stride,
                   const double *limit, const double *shift, const double *unit,
                   const ur_columns *out)
{
    panel->rows = rows;
#ifdef UR_PANEL_AVX2
    if (panel->fast) {
        ur_panel_pack_avx2(panel, x, stride, limit, shift, unit, out);
        return;
    }
#endif
    pack_plain(panel, x, stride, limit, shift, unit);
    ur_columns_sweep(x, rows, panel->d, stride, limit, shift, unit, out);
}

void ur_panel_add(ur_panel *panel, const ur_panel_sums *sums)
{
#ifdef UR_PANEL_AVX2
    if (panel->fast) {
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
    if (has_fast()) {
        ur_bits_above_avx2(x, rows, d, stride, threshold, bits, words);
        return;
    }
#endif
    ur_bits_above_plain(x, rows, d, stride, threshold, bits, words);
}

void ur_bits_gram(const uint64_t *bits, size_t d, size_t words, double *gg)
{
#ifdef UR_PANEL_AVX2
    if (has_fast()) {
        ur_bits_gram_avx2(bits, d, words, gg);
        return;
    }
#endif
    ur_bits_gram_plain(bits, d, words, gg);
}
