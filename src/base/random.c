/* SPDX-License-Identifier: Apache-2.0 */
/* Position i is word i mod 4 of Philox block i / 4, key (seed, stream). Words 0 and 1 of a
 * block make one Box-Muller pair, words 2 and 3 the next. log and sincos are polynomials of our
 * own (error 2 ulp): plain loops that the compiler vectorises, and the same bits whatever libm. */
#include "base/random.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

#define BLOCKS 64 /* Philox blocks in one batch: all buffers stay in the first-level cache */
#define WORDS  (4 * BLOCKS)

enum { UNIFORMS, NORMALS };

static void draw_words(uint64_t seed, uint64_t stream, uint64_t block, int kind,
                       uint64_t words[WORDS])
{
    philox4x64_key_t key = {{seed, stream}};
    for (uint64_t i = 0; i < BLOCKS; i++) {
        philox4x64_ctr_t counter = {{block + i, (uint64_t)kind, 0, 0}};
        counter = philox4x64(counter, key);
        memcpy(words + 4 * i, counter.v, sizeof counter.v);
    }
}

/* the top 52 bits k of a word -> (2 k + 1) 2^-53: never 0, never 1 */
static inline double uniform(uint64_t word)
{
    uint64_t bits = (word >> 12) | 0x3ff0000000000000u; /* 1 + k 2^-52 */
    double x;
    memcpy(&x, &bits, sizeof x);
    return x - 1 + 0x1p-53;
}

/* log u for u in (0, 1): u = 2^e m, m in [sqrt(1/2), sqrt 2), log m = 2 artanh((m-1)/(m+1)) */
static inline double log_unit(double u)
{
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    uint64_t shifted = bits - 0x3fe6a09e667f3bcdu; /* the bits of sqrt(1/2) */
    uint64_t exponent = shifted & 0xfff0000000000000u;
    bits -= exponent;
    double m;
    memcpy(&m, &bits, sizeof m);
    /* the exponent field, a small negative integer, as a double without a 64-bit conversion */
    uint64_t biased = ((shifted >> 52) ^ 0x800u) | 0x4330000000000000u; /* 2^52 + 2048 + e */
    double e;
    memcpy(&e, &biased, sizeof e);
    e -= 0x1p52 + 2048;
    double s = (m - 1) / (m + 1), z = s * s; /* z <= 0.0295: 11 terms reach 1e-17 */
    double p = 1 / 23.0;
    p = p * z + 1 / 21.0;
    p = p * z + 1 / 19.0;
    p = p * z + 1 / 17.0;
    p = p * z + 1 / 15.0;
    p = p * z + 1 / 13.0;
    p = p * z + 1 / 11.0;
    p = p * z + 1 / 9.0;
    p = p * z + 1 / 7.0;
    p = p * z + 1 / 5.0;
    p = p * z + 1 / 3.0;
    return e * M_LN2 + 2 * (s + s * z * p);
}

/* cos and sin of 2 pi v: nearest quarter turn, then Taylor on |x| <= pi / 4 */
static inline void turn(double v, double *cosine, double *sine)
{
    double shifted = 4 * v + 0x1.8p52; /* rounds 4 v to an integer, kept in the low bits */
    uint64_t quarter;
    memcpy(&quarter, &shifted, sizeof quarter);
    double x = 2 * M_PI * (v - 0.25 * (shifted - 0x1.8p52)), z = x * x;
    double s = -1 / 1307674368000.0;
    s = s * z + 1 / 6227020800.0;
    s = s * z - 1 / 39916800.0;
    s = s * z + 1 / 362880.0;
    s = s * z - 1 / 5040.0;
    s = s * z + 1 / 120.0;
    s = s * z - 1 / 6.0;
    s = x + x * z * s;
    double c = 1 / 20922789888000.0;
    c = c * z - 1 / 87178291200.0;
    c = c * z + 1 / 479001600.0;
    c = c * z - 1 / 3628800.0;
    c = c * z + 1 / 40320.0;
    c = c * z - 1 / 720.0;
    c = c * z + 1 / 24.0;
    c = 1 - 0.5 * z + z * z * c;
    /* a quarter turn swaps, quarters 1 and 2 negate the cosine, 2 and 3 the sine */
    uint64_t cs, ss, swap = -(quarter & 1);
    memcpy(&cs, &c, sizeof cs);
    memcpy(&ss, &s, sizeof ss);
    uint64_t cut = (cs ^ ss) & swap;
    cs ^= cut ^ ((((quarter + 1) >> 1) & 1) << 63);
    ss ^= cut ^ (((quarter >> 1) & 1) << 63);
    memcpy(cosine, &cs, sizeof cs);
    memcpy(sine, &ss, sizeof ss);
}

static void make_uniforms(const uint64_t words[WORDS], double *out)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = uniform(words[i]);
}

static void make_normals(const uint64_t words[WORDS], double *out)
{
    double radius[WORDS / 2], c[WORDS / 2], s[WORDS / 2];
    for (int i = 0; i < WORDS / 2; i++)
        radius[i] = sqrt(-2 * log_unit(uniform(words[2 * i])));
    for (int i = 0; i < WORDS / 2; i++)
        turn(uniform(words[2 * i + 1]), &c[i], &s[i]);
    for (int i = 0; i < WORDS / 2; i++) {
        out[2 * i] = radius[i] * c[i];
        out[2 * i + 1] = radius[i] * s[i];
    }
}

static void draw(uint64_t seed, uint64_t stream, uint64_t first, uint64_t count, int kind,
                 double *out)
{
    uint64_t words[WORDS];
    double values[WORDS];
    uint64_t block = first / 4, skip = first % 4;
    while (count > 0) {
        draw_words(seed, stream, block, kind, words);
        if (kind == NORMALS)
            make_normals(words, values);
        else
            make_uniforms(words, values);
        uint64_t take = WORDS - skip < count ? WORDS - skip : count;
        memcpy(out, values + skip, take * sizeof *out);
        out += take;
        count -= take;
        block += BLOCKS;
        skip = 0;
    }
}

void ur_random_normals(uint64_t seed, uint64_t stream, uint64_t first, uint64_t count, double *out)
{
    draw(seed, stream, first, count, NORMALS, out);
}

void ur_random_uniforms(uint64_t seed, uint64_t stream, uint64_t first, uint64_t count, double *out)
{
    draw(seed, stream, first, count, UNIFORMS, out);
}

void ur_shuffle(size_t n, const double *uniforms, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(uniforms[i - 1] * (double)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}
