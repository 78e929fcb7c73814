/* SPDX-License-Identifier: Apache-2.0 */
/* With Mills' ratio R(t) = Phi(-t) / phi(t), t >= 0, the hazard is
 *   1 / R(g) for g >= 0,   phi(g) / (1 - phi(g) R(-g)) for g < 0.
 * (t + 5) R(t) is smooth in y = (t - 5) / (t + 5) from -1 to 1: its Chebyshev series, cut at degree
 * 23 where the rest is 4e-17, is written here in powers of y (no coefficient is above 2, so that
 * rounding stays at some units in the last place). One plain expression without branches, which
 * the compiler turns into vectors. */
#include "law/exponential.h"
#include "law/normal.h"

#include <math.h>

#define INV_SQRT_2PI 0.39894228040143267794
#define CENTRE       5.0   /* of the series' variable y */
#define LARGEST      1e300 /* the hazard is g to rounding; 1 / (g + 5) stays a normal number */
#define FARTHEST     37.5  /* phi(37.5) = 2e-306 */
#define INLINE       UR_EXP_INLINE

static const double series[24] = {
    0x1.ed96b8318f6c4p+0,  -0x1.aaf94e206d6dap+0, 0x1.3dd60739e79a7p+0,   -0x1.9262efbe12bcep-1,
    0x1.a7927af8ee7c7p-2,  -0x1.62d360c6407c8p-3, 0x1.ab031a060edf5p-5,   -0x1.ebbc3253d404ep-8,
    -0x1.06239757ad594p-9, 0x1.660d41b5713bcp-10, -0x1.381fdaf715630p-13, -0x1.0596f2526778fp-13,
    0x1.5ec0154f60792p-15, 0x1.4eb2b5608b4afp-17, -0x1.d1c5bd0b80276p-18, -0x1.c0dc4175c836fp-21,
    0x1.23ac2a4690152p-20, 0x1.9f417e777da80p-24, -0x1.6ae6bb3c70f1dp-23, -0x1.2ae5c280e3c39p-26,
    0x1.8f6afd6b7f337p-26, 0x1.b5ffe8a939796p-29, -0x1.0e97b936649b5p-29, -0x1.6ee3fdc84b8f2p-32,
};

/* exp(high + low) for -706 < high <= 0 and small low; r^14 / 14! = 4e-18 is left out */
INLINE double exp_of(double high, double low)
{
    double shifted = (high + low) * M_LOG2E + UR_EXP_SHIFT, k = shifted - UR_EXP_SHIFT;
    double r = high - k * UR_LN2_HIGH + low - k * UR_LN2_LOW;
    return ur_exp_scale(ur_exp_series(1 / 6227020800.0 * r + 1 / 479001600.0, r), shifted);
}

/* t^2 in two parts: that of a multiple of 1/16, which is exact, and the rest */
INLINE double density(double t)
{
    double coarse = (t + 0x1.8p48) - 0x1.8p48;
    return INV_SQRT_2PI * exp_of(-0.5 * coarse * coarse, -0.5 * (t - coarse) * (t + coarse));
}

INLINE double hazard(double g)
{
    double t = fabs(g), near;
    t = t > LARGEST ? LARGEST : t;
    near = t > FARTHEST ? FARTHEST : t;
    double inverse = 1 / (t + CENTRE), y = (t - CENTRE) * inverse, y2 = y * y;
    double even = series[22], odd = series[23];
    for (int i = 10; i >= 0; i--) {
        even = even * y2 + series[2 * i];
        odd = odd * y2 + series[2 * i + 1];
    }
    double ratio = (even + odd * y) * inverse, phi = density(near);
    double top = g < 0 ? phi : 1, bottom = g < 0 ? 1 - phi * ratio : ratio;
    return top / bottom;
}

INLINE void hazards(size_t n, const double *g, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = hazard(g[i]);
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("avx2,fma"))) static void hazards_avx2(size_t n, const double *g, double *out)
{
    hazards(n, g, out);
}

void ur_normal_hazards(size_t n, const double *g, double *out)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        hazards_avx2(n, g, out);
    else
        hazards(n, g, out);
}

#else

void ur_normal_hazards(size_t n, const double *g, double *out)
{
    hazards(n, g, out);
}

#endif
