/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels on tiles of t, written once for both precisions. panel_avx2.c defines
 *   REAL, VEC (32 bytes of REAL), FMADD, BROADCAST (of a REAL in memory), ADD (a VEC to doubles in
 *   memory) and NAME(function). */

enum { NAME(LANES) = 32 / sizeof(REAL), NAME(WIDTH) = UR_PANEL_LINE / sizeof(REAL) };

/* the first row of column j */
AVX2 static inline REAL *NAME(column)(const ur_panel *panel, size_t j)
{
    size_t width = NAME(WIDTH);
    return (REAL *)panel->t + j / width * panel->most * width + j % width;
}

/* entry[m] = sum of the rows that are in the set m, for one vector of columns; one addition each */
INLINE void NAME(subsets)(const VEC row[5], VEC *entry)
{
    VEC r01 = row[0] + row[1];
    VEC low[8] = {{0}, row[0], row[1], r01, row[2], row[0] + row[2], row[1] + row[2], r01 + row[2]};
    VEC high[4] = {{0}, row[3], row[4], row[3] + row[4]};
#pragma GCC unroll 8
    for (size_t m = 1; m < 8; m++)
        entry[2 * m] = low[m];
#pragma GCC unroll 4
    for (size_t h = 1; h < 4; h++) {
        entry[2 * 8 * h] = high[h];
#pragma GCC unroll 8
        for (size_t m = 1; m < 8; m++)
            entry[2 * (8 * h + m)] = low[m] + high[h];
    }
}

/* the tables of UR_PANEL_SPAN rows of one vector of columns; an entry is [t | t t] */
AVX2 static inline void NAME(build)(const VEC *restrict t, VEC *restrict table)
{
    for (size_t k = 0; k < UR_PANEL_TABLES; k++, t += 2 * UR_PANEL_GROUP, table += 2 * 32) {
        VEC row[5], square[5];
#pragma GCC unroll 5
        for (size_t r = 0; r < 5; r++) {
            row[r] = t[2 * r];
            square[r] = row[r] * row[r];
        }
        NAME(subsets)(row, table);
        NAME(subsets)(square, table + 1);
    }
}

/* the entry of table k that the bits of group k name */
INLINE const VEC *NAME(entry)(const VEC *table, size_t k, uint64_t word)
{
    const uint64_t mask = 31 * UR_PANEL_ENTRY;
    uint64_t shifted = k < 2 ? word << (6 - 5 * k) : word >> (5 * k - 6);
    return (const VEC *)((const char *)(table + 2 * 32 * k) + (shifted & mask));
}

/* product_i += sum over groups k of table[k][bits of group k in word_i]; two i at a time: more
 * chains of additions than one has keep the adders busy. count is rounded up to even. */
AVX2 static void NAME(look_up)(const VEC *restrict table, const uint64_t *restrict word,
                               size_t count, VEC *restrict product)
{
    for (size_t i = 0; i < count; i += 2, product += 8) {
        const VEC *one = NAME(entry)(table, 0, word[i]), *two = NAME(entry)(table, 0, word[i + 1]);
        VEC t1 = one[0], tt1 = one[1], t2 = two[0], tt2 = two[1];
#pragma GCC unroll 12
        for (size_t k = 1; k < UR_PANEL_TABLES; k++) {
            one = NAME(entry)(table, k, word[i]);
            two = NAME(entry)(table, k, word[i + 1]);
            t1 += one[0];
            tt1 += one[1];
            t2 += two[0];
            tt2 += two[1];
        }
        product[0] += t1;
        product[1] += tt1;
        product[4] += t2;
        product[5] += tt2;
    }
}

/* The same with tables of 2^3 for few columns, where building 2^5 entries costs more than it saves:
 * per row and vector (2^g - 1 + d) / g, g = 3 against 5 at d = 10: 5.7 against 8.2. */
AVX2 static inline void NAME(build_small)(const VEC *restrict t, VEC *restrict table)
{
    for (size_t k = 0; k < UR_PANEL_SPAN / 3; k++, t += 2 * 3, table += 2 * 8) {
        VEC a = t[0], b = t[2], c = t[4], aa = a * a, bb = b * b, cc = c * c;
        VEC ab = a + b, aabb = aa + bb;
        VEC entry[14] = {a,  aa,    b,       bb,    ab,      aabb,   c,
                         cc, a + c, aa + cc, b + c, bb + cc, ab + c, aabb + cc};
#pragma GCC unroll 14
        for (size_t m = 0; m < 14; m++)
            table[2 + m] = entry[m];
    }
}

AVX2 static void NAME(look_up_small)(const VEC *restrict table, const uint64_t *restrict word,
                                     size_t count, VEC *restrict product)
{
    for (size_t i = 0; i < count; i++, product += 4) {
        VEC t[2] = {product[0], {0}}, tt[2] = {product[1], {0}}; /* two chains of additions each */
#pragma GCC unroll 20
        for (size_t k = 0; k < UR_PANEL_SPAN / 3; k++) {
            const VEC *entry = table + 2 * (8 * k + (word[i] >> 3 * k & 7));
            t[k % 2] += entry[0];
            tt[k % 2] += entry[1];
        }
        product[0] = t[0] + t[1];
        product[1] = tt[0] + tt[1];
    }
}

/* sum[j] += v[j] for j < count */
AVX2 static inline void NAME(add_part)(double *sum, const VEC *v, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] += (double)((const REAL *)v)[j];
}

/* one tile of by_t, by_tt += product; product_i belongs to their row row[i] (NULL: i) */
AVX2 static void NAME(flush)(const ur_panel *panel, const size_t *row, size_t count, size_t start,
                             double *by_t, double *by_tt)
{
    size_t d = panel->d, end = start + NAME(WIDTH) < d ? start + NAME(WIDTH) : d;
    for (size_t i = 0; i < count; i++) {
        const VEC *product = (const VEC *)panel->product + 4 * i;
        size_t at = (row ? row[i] : i) * d, j = start;
        if (end - start == NAME(WIDTH)) {
            ADD(by_t + at + j, product[0]);
            ADD(by_t + at + j + NAME(LANES), product[2]);
            ADD(by_tt + at + j, product[1]);
            ADD(by_tt + at + j + NAME(LANES), product[3]);
            continue;
        }
        for (; j < end; j += NAME(LANES), product += 2) {
            size_t left = end - j < NAME(LANES) ? end - j : NAME(LANES);
            NAME(add_part)(by_t + at + j, product, left);
            NAME(add_part)(by_tt + at + j, product + 1, left);
        }
    }
}

/* by_t, by_tt += bits' [t | t t] */
AVX2 static void NAME(select)(const ur_panel *panel, const uint64_t *bits, const size_t *row,
                              size_t count, double *by_t, double *by_tt)
{
    for (size_t start = 0; count && start < panel->d; start += NAME(WIDTH)) {
        memset(panel->product, 0, (count + 1) * 2 * UR_PANEL_ENTRY);
        for (size_t v = 0; v < 2 && start + v * NAME(LANES) < panel->d; v++)
            for (size_t r = 0; r < panel->rows; r += UR_PANEL_SPAN) {
                const REAL *t = NAME(column)(panel, start + v * NAME(LANES)) + r * NAME(WIDTH);
                const uint64_t *word = bits + r / UR_PANEL_SPAN * panel->pitch;
                VEC *product = (VEC *)panel->product + 2 * v;
                if (panel->d <= UR_PANEL_FEW) {
                    NAME(build_small)((const VEC *)t, panel->table);
                    NAME(look_up_small)(panel->table, word, count, product);
                } else {
                    NAME(build)((const VEC *)t, panel->table);
                    NAME(look_up)(panel->table, word, count, product);
                }
            }
        NAME(flush)(panel, row, count, start, by_t, by_tt);
    }
}

/* out += a' b: 6 columns by one tile, held in 12 registers */
AVX2 static void NAME(outer)(const REAL *const a[6], const REAL *b, size_t rows, VEC *out)
{
    VEC low[6], high[6];
#pragma GCC unroll 6
    for (size_t k = 0; k < 6; k++)
        low[k] = high[k] = (VEC){0};
    for (size_t r = 0; r < rows * NAME(WIDTH); r += NAME(WIDTH)) {
        VEC b0 = *(const VEC *)(b + r), b1 = *(const VEC *)(b + r + NAME(LANES));
#pragma GCC unroll 6
        for (size_t k = 0; k < 6; k++) {
            VEC factor = BROADCAST(a[k] + r);
            low[k] = FMADD(factor, b0, low[k]);
            high[k] = FMADD(factor, b1, high[k]);
        }
    }
#pragma GCC unroll 6
    for (size_t k = 0; k < 6; k++) {
        out[2 * k] += low[k];
        out[2 * k + 1] += high[k];
    }
}

/* product_i = t_i' (the tile from column j on) for i < count */
AVX2 static void NAME(cross)(const ur_panel *panel, size_t count, size_t j)
{
    enum { RUN = 192 }; /* rows that stay in the first cache; short sums also err less */
    memset(panel->product, 0, (count + 5) * UR_PANEL_LINE);
    for (size_t r = 0; r < panel->rows; r += RUN) {
        size_t rows = panel->rows - r < RUN ? panel->rows - r : RUN;
        const REAL *b = NAME(column)(panel, j) + r * NAME(WIDTH);
        for (size_t i = 0; i < count; i += 6) {
            const REAL *a[6];
            for (size_t k = 0; k < 6; k++)
                a[k] = NAME(column)(panel, i + k < count ? i + k : i) + r * NAME(WIDTH);
            NAME(outer)(a, b, rows, (VEC *)panel->product + 2 * i);
        }
    }
}

/* tt += t't, upper triangle */
AVX2 static void NAME(square)(const ur_panel *panel, double *tt)
{
    size_t d = panel->d;
    for (size_t j = 0; j < d; j += NAME(WIDTH)) {
        size_t end = j + NAME(WIDTH) < d ? j + NAME(WIDTH) : d;
        const VEC *product = panel->product;
        NAME(cross)(panel, end, j);
        for (size_t i = 0; i < end; i++, product += 2) {
            if (i <= j && end - j == NAME(WIDTH)) {
                ADD(tt + i * d + j, product[0]);
                ADD(tt + i * d + j + NAME(LANES), product[1]);
                continue;
            }
            for (size_t l = i > j ? i : j; l < end; l++)
                tt[i * d + l] += (double)((const REAL *)product)[l - j];
        }
    }
}
