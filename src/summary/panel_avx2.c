/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a panel for AVX2 and FMA. Their cost for n rows, in vector operations of 32 bytes:
 *   G'[t | t t]   n d^2 / 20 loads with an addition (single; / 10 double) instead of n d^2 / 4
 *                 fused ones: a table has the sums of all subsets of 5 rows, 5 bits of G name one
 *   t't           n d^2 / 16 fused multiplications and additions (single; / 8 double)
 *   G'G           n d^2 / 64: AND, then the bits of each half byte by a table in a register */
#include "panel_kernel.h"

#ifdef UR_PANEL_AVX2

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,fma,popcnt")))
#define INLINE AVX2 static inline __attribute__((always_inline))

/* ---- t and t t times bits and each other ---- */

AVX2 static inline void add_doubles(double *sum, __m256d v)
{
    _mm256_storeu_pd(sum, _mm256_add_pd(_mm256_loadu_pd(sum), v));
}

AVX2 static inline void add_singles(double *sum, __m256 v)
{
    add_doubles(sum, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
    add_doubles(sum + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
}

#define REAL         float
#define VEC          __m256
#define NAME(f)      f##_single
#define FMADD        _mm256_fmadd_ps
#define BROADCAST(p) _mm256_broadcast_ss(p)
#define ADD          add_singles
#include "panel_tile.h"
#undef REAL
#undef VEC
#undef NAME
#undef FMADD
#undef BROADCAST
#undef ADD

#define REAL         double
#define VEC          __m256d
#define NAME(f)      f##_double
#define FMADD        _mm256_fmadd_pd
#define BROADCAST(p) _mm256_broadcast_sd(p)
#define ADD          add_doubles
#include "panel_tile.h"

/* ---- rows of x: 4 rows by 4 columns at a time ---- */

enum { STRIP = 256 }; /* columns whose running results fit a small array */

/* the first `lanes` lanes, 0 beyond */
AVX2 static inline __m256d load(const double *p, size_t lanes)
{
    if (lanes >= 4)
        return _mm256_loadu_pd(p);
    __m256i index = _mm256_set_epi64x(3, 2, 1, 0);
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)lanes), index));
}

/* 4 rows; where fewer are left the last one is repeated, and not `valid` */
AVX2 static inline void load_rows(const double *x, size_t stride, size_t valid, size_t lanes,
                                  __m256d row[4])
{
    for (size_t k = 0; k < 4; k++)
        row[k] = load(x + (k < valid ? k : valid - 1) * stride, lanes);
}

/* bit k of a lane = the lane of mask[k] */
AVX2 static inline __m256i join(const __m256d mask[4], size_t valid)
{
    __m256d bits = _mm256_setzero_pd();
    for (size_t k = 0; k < 4; k++) {
        __m256d bit = _mm256_castsi256_pd(_mm256_set1_epi64x(k < valid ? 1 << k : 0));
        bits = _mm256_or_pd(bits, _mm256_and_pd(mask[k], bit));
    }
    return _mm256_castpd_si256(bits);
}

AVX2 static inline void put_bits(uint64_t *words, __m256i bits, size_t shift)
{
    __m256i *at = (__m256i *)words;
    bits = _mm256_sll_epi64(bits, _mm_cvtsi64_si128((long long)shift));
    _mm256_storeu_si256(at, _mm256_or_si256(_mm256_loadu_si256(at), bits));
}

typedef struct {
    double min[STRIP], max[STRIP];
    int64_t missing[STRIP];
} strip_range;

INLINE void scan_rows(const double *x, size_t stride, size_t valid, size_t d, strip_range *range)
{
    for (size_t j = 0; j < d; j += 4) {
        __m256d row[4], min = _mm256_loadu_pd(range->min + j),
                        max = _mm256_loadu_pd(range->max + j);
        __m256i missing = _mm256_loadu_si256((__m256i *)(range->missing + j));
        load_rows(x + j, stride, valid, d - j, row);
        for (size_t k = 0; k < 4; k++) {
            min = _mm256_min_pd(row[k], min); /* the second operand where the first is NaN */
            max = _mm256_max_pd(row[k], max);
            if (k < valid)
                missing = _mm256_sub_epi64(
                    missing, _mm256_castpd_si256(_mm256_cmp_pd(row[k], row[k], _CMP_UNORD_Q)));
        }
        _mm256_storeu_pd(range->min + j, min);
        _mm256_storeu_pd(range->max + j, max);
        _mm256_storeu_si256((__m256i *)(range->missing + j), missing);
    }
}

AVX2 static void scan_strip(const double *x, size_t rows, size_t d, size_t stride,
                            strip_range *range)
{
    size_t r = 0;
    for (size_t j = 0; j < STRIP; j++) {
        range->min[j] = INFINITY;
        range->max[j] = -INFINITY;
        range->missing[j] = 0;
    }
    for (; r + 4 <= rows; r += 4)
        scan_rows(x + r * stride, stride, 4, d, range);
    if (r < rows)
        scan_rows(x + r * stride, stride, rows - r, d, range);
}

AVX2 void ur_panel_scan_avx2(const double *x, size_t rows, size_t d, size_t stride,
                             ur_panel_range *range)
{
    for (size_t j = 0; j < d; j += STRIP) {
        strip_range part;
        size_t columns = d - j < STRIP ? d - j : STRIP;
        scan_strip(x + j, rows, columns, stride, &part);
        memcpy(range->min + j, part.min, columns * sizeof(double));
        memcpy(range->max + j, part.max, columns * sizeof(double));
        for (size_t k = 0; k < columns; k++)
            range->missing[j + k] = (double)part.missing[k];
    }
}

/* bits of x > threshold, or of missing cells where threshold is NULL; span rows a word */
INLINE void find_bits(const double *x, size_t rows, size_t d, size_t stride,
                      const double *threshold, size_t span, uint64_t *bits, size_t words)
{
    for (size_t first = 0; first < d; first += STRIP)
        for (size_t start = 0, w = 0; w < words; start += span, w++) {
            uint64_t word[STRIP] = {0};
            size_t columns = d - first < STRIP ? d - first : STRIP;
            for (size_t r = start; r < rows && r < start + span; r += 4) {
                size_t valid = rows - r < 4 ? rows - r : 4;
                const double *at = x + r * stride + first;
                for (size_t j = 0; j < columns; j += 4) {
                    __m256d row[4], limit = _mm256_setzero_pd();
                    if (threshold)
                        limit = load(threshold + first + j, columns - j);
                    load_rows(at + j, stride, valid, columns - j, row);
                    for (size_t k = 0; k < 4; k++) /* rows are far apart: no stream to guess */
                        _mm_prefetch((const char *)(at + j + (8 + k) * stride), _MM_HINT_T0);
                    for (size_t k = 0; k < 4; k++)
                        row[k] = threshold ? _mm256_cmp_pd(row[k], limit, _CMP_GT_OQ)
                                           : _mm256_cmp_pd(row[k], row[k], _CMP_UNORD_Q);
                    put_bits(word + j, join(row, valid), r - start);
                }
            }
            for (size_t j = 0; j < columns; j++)
                bits[(first + j) * words + w] = word[j];
        }
}

AVX2 void ur_bits_above_avx2(const double *x, size_t rows, size_t d, size_t stride,
                             const double *threshold, uint64_t *bits, size_t words)
{
    find_bits(x, rows, d, stride, threshold, 64, bits, words);
}

/* ---- packing ---- */

typedef struct {
    double *limit, *shift, *unit, *sum, *square; /* pitch each; beyond d no cell is above */
} padded_columns;

AVX2 static padded_columns pad(const ur_panel *panel, const ur_panel_columns *columns)
{
    size_t d = panel->d, pitch = panel->pitch;
    double *p = panel->padded;
    padded_columns padded = {p, p + pitch, p + 2 * pitch, p + 3 * pitch, p + 4 * pitch};
    for (size_t j = 0; j < pitch; j++) {
        padded.limit[j] = j < d ? columns->limit[j] : INFINITY;
        padded.shift[j] = j < d ? columns->shift[j] : 0;
        padded.unit[j] = j < d ? columns->unit[j] : 0;
        padded.sum[j] = padded.square[j] = 0;
    }
    return padded;
}

/* rows [r, r + valid) of the panel; returns a mask of missing cells */
INLINE int pack_rows(const ur_panel *panel, const double *x, size_t stride, size_t r, size_t valid,
                     const padded_columns *at, int single)
{
    __m256d missing = _mm256_setzero_pd();
    uint64_t *words = panel->g_at + r / UR_PANEL_SPAN * panel->pitch;
    for (size_t j = 0, d = panel->d; j < d; j += 4) {
        __m256d row[4], mask[4], sum = _mm256_load_pd(at->sum + j);
        __m256d square = _mm256_load_pd(at->square + j), limit = _mm256_load_pd(at->limit + j);
        __m256d shift = _mm256_load_pd(at->shift + j), unit = _mm256_load_pd(at->unit + j);
        float *singles = column_single(panel, j) + r * WIDTH_single;
        double *doubles = column_double(panel, j) + r * WIDTH_double;
        load_rows(x + j, stride, valid, d - j, row);
        missing = _mm256_or_pd(missing, _mm256_cmp_pd(row[0], row[1], _CMP_UNORD_Q));
        missing = _mm256_or_pd(missing, _mm256_cmp_pd(row[2], row[3], _CMP_UNORD_Q));
        for (size_t k = 0; k < 4; k++) {
            mask[k] = k < valid ? _mm256_cmp_pd(row[k], limit, _CMP_GT_OQ) : _mm256_setzero_pd();
            __m256d t = _mm256_sub_pd(_mm256_sub_pd(row[k], limit), shift);
            t = _mm256_and_pd(mask[k], _mm256_mul_pd(t, unit));
            sum = _mm256_add_pd(sum, t);
            square = _mm256_fmadd_pd(t, t, square);
            if (single)
                _mm_store_ps(singles + k * WIDTH_single, _mm256_cvtpd_ps(t));
            else
                _mm256_store_pd(doubles + k * WIDTH_double, t);
        }
        _mm256_store_pd(at->sum + j, sum);
        _mm256_store_pd(at->square + j, square);
        put_bits(words + j, join(mask, 4), r % UR_PANEL_SPAN);
    }
    return _mm256_movemask_pd(missing);
}

INLINE int pack_all(const ur_panel *panel, const double *x, size_t stride, const padded_columns *at,
                    int single)
{
    int missing = 0;
    size_t r = 0;
    for (; r + 4 <= panel->rows; r += 4)
        missing |= pack_rows(panel, x + r * stride, stride, r, 4, at, single);
    if (r < panel->rows)
        missing |= pack_rows(panel, x + r * stride, stride, r, panel->rows - r, at, single);
    return missing;
}

AVX2 static int count_bits(const uint64_t *word, size_t words)
{
    int count = 0;
    for (size_t w = 0; w < words; w++)
        count += __builtin_popcountll(word[w]);
    return count;
}

/* m by column, m_at by word for the columns that miss a cell */
AVX2 static void find_missing(ur_panel *panel, const double *x, size_t stride,
                              const ur_panel_columns *columns)
{
    find_bits(x, panel->rows, panel->d, stride, NULL, UR_PANEL_SPAN, panel->m, panel->words);
    for (size_t j = 0; j < panel->d; j++) {
        const uint64_t *words = panel->m + j * panel->words;
        int count = count_bits(words, panel->words);
        if (!count)
            continue;
        columns->observed[j] -= count;
        for (size_t w = 0; w < panel->words; w++)
            panel->m_at[w * panel->pitch + panel->m_columns] = words[w];
        panel->m_column[panel->m_columns++] = j;
    }
}

AVX2 void ur_panel_pack_avx2(ur_panel *panel, const double *x, size_t rows, size_t stride,
                             const ur_panel_columns *columns)
{
    padded_columns at = pad(panel, columns);
    memset(panel->g_at, 0, panel->words * panel->pitch * sizeof(uint64_t));
    panel->missing =
        panel->single ? pack_all(panel, x, stride, &at, 1) : pack_all(panel, x, stride, &at, 0);
    for (size_t j = 0; j < panel->d; j++) {
        uint64_t *words = panel->g + j * panel->words;
        for (size_t w = 0; w < panel->words; w++)
            words[w] = panel->g_at[w * panel->pitch + j];
        columns->positive[j] += count_bits(words, panel->words);
        columns->observed[j] += (double)rows;
        columns->sum[j] += at.sum[j];
        columns->square[j] += at.square[j];
    }
    panel->m_columns = 0;
    if (panel->missing)
        find_missing(panel, x, stride, columns);
}

/* ---- bits times bits ---- */

/* bytes of the result count the bits of the bytes of v */
AVX2 static inline __m256i count_bytes(__m256i v)
{
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                          2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(v, half));
    __m256i high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(v, 4), half));
    return _mm256_add_epi8(low, high);
}

/* the sums of the 4 lanes of each of 4, as doubles (below 2^52) */
AVX2 static inline __m256d lane_sums(const __m256i s[4])
{
    __m256i a =
        _mm256_add_epi64(_mm256_unpacklo_epi64(s[0], s[1]), _mm256_unpackhi_epi64(s[0], s[1]));
    __m256i b =
        _mm256_add_epi64(_mm256_unpacklo_epi64(s[2], s[3]), _mm256_unpackhi_epi64(s[2], s[3]));
    __m256i sum = _mm256_add_epi64(_mm256_permute2x128_si256(a, b, 0x20),
                                   _mm256_permute2x128_si256(a, b, 0x31));
    const __m256d two52 = _mm256_set1_pd(0x1p52);
    __m256d shifted = _mm256_castsi256_pd(_mm256_or_si256(sum, _mm256_castpd_si256(two52)));
    return _mm256_sub_pd(shifted, two52);
}

/* out[j] += popcount(a & b_j) for j < count; words: a multiple of 4, at most 4 * 31, as bytes
 * count to 255 */
AVX2 static inline void count_row(const uint64_t *a, const uint64_t *b, size_t pitch, size_t words,
                                  size_t count, double *out)
{
    for (size_t j = 0; j < count; j += 4) {
        __m256i sum[4];
        const uint64_t *column[4];
        for (size_t k = 0; k < 4; k++) {
            sum[k] = _mm256_setzero_si256();
            column[k] = b + (j + k < count ? j + k : j) * pitch;
        }
        for (size_t w = 0; w < words; w += 4) {
            __m256i row = _mm256_loadu_si256((const __m256i *)(a + w));
            for (size_t k = 0; k < 4; k++) {
                __m256i both =
                    _mm256_and_si256(row, _mm256_loadu_si256((const __m256i *)(column[k] + w)));
                sum[k] = _mm256_add_epi8(sum[k], count_bytes(both));
            }
        }
        for (size_t k = 0; k < 4; k++)
            sum[k] = _mm256_sad_epu8(sum[k], _mm256_setzero_si256());
        __m256d counts = lane_sums(sum);
        if (j + 4 <= count) {
            add_doubles(out + j, counts);
        } else {
            for (size_t k = 0; j + k < count; k++)
                out[j + k] += counts[k];
        }
    }
}

AVX2 void ur_bits_gram_avx2(const uint64_t *bits, size_t d, size_t words, double *gg)
{
    enum { PIECE = 16 }; /* 128 bytes a column: 256 columns in the first cache */
    size_t whole = words / 4 * 4;
    for (size_t w = 0; w < whole; w += PIECE) {
        size_t piece = whole - w < PIECE ? whole - w : PIECE;
        for (size_t i = 0; i < d; i++)
            count_row(bits + i * words + w, bits + i * words + w, words, piece, d - i,
                      gg + i * d + i);
    }
    for (size_t i = 0; i < d && whole < words; i++)
        for (size_t j = i; j < d; j++)
            for (size_t w = whole; w < words; w++)
                gg[i * d + j] += __builtin_popcountll(bits[i * words + w] & bits[j * words + w]);
}

/* ---- all of it ---- */

AVX2 void ur_panel_add_avx2(ur_panel *panel, const ur_panel_sums *sums)
{
    size_t d = panel->d, count = panel->m_columns;
    ur_bits_gram_avx2(panel->g, d, panel->words, sums->gg);
    if (panel->single) {
        square_single(panel, sums->tt);
        select_single(panel, panel->g_at, NULL, d, sums->gt, sums->gtt);
        select_single(panel, panel->m_at, panel->m_column, count, sums->mt, sums->mtt);
    } else {
        square_double(panel, sums->tt);
        select_double(panel, panel->g_at, NULL, d, sums->gt, sums->gtt);
        select_double(panel, panel->m_at, panel->m_column, count, sums->mt, sums->mtt);
    }
    for (size_t k = 0; k < count; k++) {
        size_t i = panel->m_column[k];
        const uint64_t *m = panel->m + i * panel->words;
        count_row(m, m, panel->words, panel->words, d - i, sums->mm + i * d + i);
        count_row(m, panel->g, panel->words, panel->words, d, sums->mg + i * d);
    }
}

#endif
