/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a panel for AVX2 and FMA. Their cost for n rows, in vector operations of 32 bytes:
 *   G'[t | t t]   n d^2 / 20 loads with an addition (single; / 10 double) instead of n d^2 / 4
 *                 fused ones: a table has the sums of all subsets of 5 rows, 5 bits of G name one
 *   t't           n d^2 / 16 fused multiplications and additions (single; / 8 double)
 *   G'G           n d^2 / 64: AND, then the bits of each half byte by a table in a register */
#include "summary/panel_kernel.h"

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

/* sum[k][l] = a_k' b_l: 4 columns by `vectors` <= 3 vectors of columns, held in registers */
INLINE void outer_few(const double *a, const double *const b[3], size_t vectors, size_t rows,
                      __m256d sum[4][3])
{
    __m256d s[4][3];
#pragma GCC unroll 12
    for (size_t k = 0; k < 12; k++)
        s[k / 3][k % 3] = _mm256_setzero_pd();
    for (size_t r = 0; r < rows * WIDTH_double; r += WIDTH_double)
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            __m256d factor = _mm256_broadcast_sd(a + r + k);
#pragma GCC unroll 3
            for (size_t l = 0; l < 3; l++)
                if (l < vectors)
                    s[k][l] = _mm256_fmadd_pd(factor, _mm256_load_pd(b[l] + r), s[k][l]);
        }
#pragma GCC unroll 12
    for (size_t k = 0; k < 12; k++)
        sum[k / 3][k % 3] = s[k / 3][k % 3];
}

/* tt += t't over rows [r, r + rows), 4 columns at a time by the vectors from the diagonal on. For
 * few columns, where square_double spends most on cells left of the diagonal or beyond d: 24
 * vector products a row instead of 48 at d = 10. In single precision it saves nothing. */
AVX2 static void square_few(const ur_panel *panel, size_t r, size_t rows, double *tt)
{
    for (size_t i = 0, d = panel->d; i < d; i += 4)
        for (size_t j = i; j < d; j += 3 * 4) {
            const double *a = column_double(panel, i) + r * WIDTH_double, *b[3];
            size_t end = j + 3 * 4 < d ? j + 3 * 4 : d;
            __m256d sum[4][3];
            for (size_t l = 0; l < 3; l++)
                b[l] = column_double(panel, j + 4 * l < d ? j + 4 * l : j) + r * WIDTH_double;
            if (end - j > 2 * 4)
                outer_few(a, b, 3, rows, sum);
            else if (end - j > 4)
                outer_few(a, b, 2, rows, sum);
            else
                outer_few(a, b, 1, rows, sum);
            for (size_t k = 0; k < 4 && i + k < d; k++)
                for (size_t l = j > i ? j : i + k; l < end; l++)
                    tt[(i + k) * d + l] += ((const double *)sum[k])[l - j];
        }
}

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

/* Rows of four columns before the next four: their running results stay in registers. It divides
 * UR_PANEL_SPAN, so the bits of one go to one word. */
enum { PACK_RUN = 20 };

typedef struct { /* pitch each; beyond d no cell is above */
    double *limit, *origin, *shift, *unit, *sum, *square, *min, *max;
} padded_columns;

AVX2 static padded_columns pad(const ur_panel *panel, const double *limit, const double *shift,
                               const double *unit)
{
    size_t d = panel->d, n = panel->pitch;
    double *p = panel->padded;
    padded_columns at = {p,         p + n,     p + 2 * n, p + 3 * n,
                         p + 4 * n, p + 5 * n, p + 6 * n, p + 7 * n};
    for (size_t j = 0; j < n; j++) {
        at.limit[j] = j < d ? limit[j] : INFINITY;
        at.origin[j] = j < d ? ur_origin(limit[j]) : 0;
        at.shift[j] = j < d ? shift[j] : 0;
        at.unit[j] = j < d ? unit[j] : 0;
        at.sum[j] = at.square[j] = 0;
        at.min[j] = INFINITY;
        at.max[j] = -INFINITY;
    }
    return at;
}

/* the running results of four columns */
typedef struct {
    __m256d limit, origin, shift, unit, sum, square, min, max, missing;
    __m256i bits;
} four_columns;

/* rows [r, r + valid) of columns [j, j + lanes), valid <= 4; x is their first cell */
INLINE void pack_four(const ur_panel *panel, const double *x, size_t stride, size_t r, size_t valid,
                      size_t j, size_t lanes, four_columns *at, int single)
{
    float *singles = column_single(panel, j) + r * WIDTH_single;
    double *doubles = column_double(panel, j) + r * WIDTH_double;
    __m256d row[4], above[4], sum = _mm256_setzero_pd(), square = sum;
    load_rows(x, stride, valid, lanes, row);
    for (size_t k = 0; k < 4; k++) {
        _mm_prefetch((const char *)(x + (PACK_RUN + k) * stride), _MM_HINT_T0);
        above[k] = k < valid ? _mm256_cmp_pd(row[k], at->limit, _CMP_GT_OQ) : _mm256_setzero_pd();
        __m256d t = _mm256_sub_pd(_mm256_sub_pd(row[k], at->origin), at->shift);
        t = _mm256_and_pd(above[k], _mm256_mul_pd(t, at->unit));
        at->min = _mm256_min_pd(row[k], at->min); /* the second operand where the first is NaN */
        at->max = _mm256_max_pd(row[k], at->max);
        sum = _mm256_add_pd(sum, t);
        square = _mm256_fmadd_pd(t, t, square);
        if (single)
            _mm_store_ps(singles + k * WIDTH_single, _mm256_cvtpd_ps(t));
        else
            _mm256_store_pd(doubles + k * WIDTH_double, t);
    }
    at->sum = _mm256_add_pd(at->sum, sum);
    at->square = _mm256_add_pd(at->square, square);
    for (size_t k = 0; k < 4; k += 2)
        at->missing = _mm256_or_pd(at->missing, _mm256_cmp_pd(row[k], row[k + 1], _CMP_UNORD_Q));
    __m128i place = _mm_cvtsi64_si128((long long)(r % UR_PANEL_SPAN));
    at->bits = _mm256_or_si256(at->bits, _mm256_sll_epi64(join(above, 4), place));
}

/* rows [r, end) of columns [j, j + lanes); returns a mask of missing cells */
INLINE int pack_run(const ur_panel *panel, const double *x, size_t stride, size_t r, size_t end,
                    size_t j, size_t lanes, const padded_columns *all, int single)
{
    __m256i *word = (__m256i *)(panel->g_at + r / UR_PANEL_SPAN * panel->pitch + j);
    four_columns at = {
        .limit = _mm256_load_pd(all->limit + j),
        .origin = _mm256_load_pd(all->origin + j),
        .shift = _mm256_load_pd(all->shift + j),
        .unit = _mm256_load_pd(all->unit + j),
        .sum = _mm256_load_pd(all->sum + j),
        .square = _mm256_load_pd(all->square + j),
        .min = _mm256_load_pd(all->min + j),
        .max = _mm256_load_pd(all->max + j),
        .missing = _mm256_setzero_pd(),
        .bits = _mm256_load_si256(word),
    };
    for (; r + 4 <= end; r += 4)
        pack_four(panel, x + r * stride + j, stride, r, 4, j, lanes, &at, single);
    if (r < end)
        pack_four(panel, x + r * stride + j, stride, r, end - r, j, lanes, &at, single);
    _mm256_store_pd(all->sum + j, at.sum);
    _mm256_store_pd(all->square + j, at.square);
    _mm256_store_pd(all->min + j, at.min);
    _mm256_store_pd(all->max + j, at.max);
    _mm256_store_si256(word, at.bits);
    return _mm256_movemask_pd(at.missing);
}

INLINE int pack_all(const ur_panel *panel, const double *x, size_t stride,
                    const padded_columns *all, int single)
{
    int missing = 0;
    size_t d = panel->d, whole = d - d % 4;
    for (size_t r = 0; r < panel->rows; r += PACK_RUN) {
        size_t end = r + PACK_RUN < panel->rows ? r + PACK_RUN : panel->rows;
        for (size_t j = 0; j < whole; j += 4)
            missing |= pack_run(panel, x, stride, r, end, j, 4, all, single);
        if (whole < d)
            missing |= pack_run(panel, x, stride, r, end, whole, d - whole, all, single);
    }
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
AVX2 static void find_missing(ur_panel *panel, const double *x, size_t stride, double *missing)
{
    find_bits(x, panel->rows, panel->d, stride, NULL, UR_PANEL_SPAN, panel->m, panel->words);
    for (size_t j = 0; j < panel->d; j++) {
        const uint64_t *words = panel->m + j * panel->words;
        int count = count_bits(words, panel->words);
        if (!count)
            continue;
        missing[j] = count;
        for (size_t w = 0; w < panel->words; w++)
            panel->m_at[w * panel->pitch + panel->m_columns] = words[w];
        panel->m_column[panel->m_columns++] = j;
    }
}

AVX2 void ur_panel_pack_avx2(ur_panel *panel, const double *x, size_t stride, const double *limit,
                             const double *shift, const double *unit, const ur_columns *out)
{
    size_t d = panel->d;
    padded_columns all = pad(panel, limit, shift, unit);
    memset(panel->g_at, 0, panel->words * panel->pitch * sizeof(uint64_t));
    panel->missing =
        panel->single ? pack_all(panel, x, stride, &all, 1) : pack_all(panel, x, stride, &all, 0);
    for (size_t j = 0; j < d; j++) {
        uint64_t *words = panel->g + j * panel->words;
        for (size_t w = 0; w < panel->words; w++)
            words[w] = panel->g_at[w * panel->pitch + j];
        out->positive[j] = count_bits(words, panel->words);
        out->missing[j] = 0;
    }
    memcpy(out->min, all.min, d * sizeof(double));
    memcpy(out->max, all.max, d * sizeof(double));
    memcpy(out->sum, all.sum, d * sizeof(double));
    memcpy(out->square, all.square, d * sizeof(double));
    panel->m_columns = 0;
    if (panel->missing)
        find_missing(panel, x, stride, out->missing);
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

AVX2 static void add_square(const ur_panel *panel, double *tt)
{
    enum { CACHED = 192 }; /* rows of 2 tiles that stay in the first cache */
    if (panel->d > UR_PANEL_FEW) {
        square_double(panel, tt);
        return;
    }
    for (size_t r = 0; r < panel->rows; r += CACHED)
        square_few(panel, r, panel->rows - r < CACHED ? panel->rows - r : CACHED, tt);
}

AVX2 void ur_panel_add_avx2(ur_panel *panel, const ur_panel_sums *sums)
{
    size_t d = panel->d, count = panel->m_columns;
    ur_bits_gram_avx2(panel->g, d, panel->words, sums->gg);
    if (panel->single) {
        square_single(panel, sums->tt);
        select_single(panel, panel->g_at, NULL, d, sums->gt, sums->gtt);
        select_single(panel, panel->m_at, panel->m_column, count, sums->mt, sums->mtt);
    } else {
        add_square(panel, sums->tt);
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
