/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples until each of several events was seen often enough.
 *
 * Terms of the binomial law as deviances (C. Loader, "Fast and accurate computation of binomial
 * probabilities", 2000): no factorial of a large number is subtracted from another, so that n may
 * be 1e15. The sum begins at the end of the tail that is nearer to the mode and goes outwards,
 * about sqrt(n) terms. */
#include "plan/plan.h"

#include <float.h>
#include <math.h>

/* of n, where doubles do not tell n from n + 1: the search ends some of them apart, so that there
 * is always one between */
static const double RESOLUTION = 8 * DBL_EPSILON;

/* ln j! - (j + 1/2) ln j + j - ln(2 pi) / 2 */
static double stirling_error(double j)
{
    enum { SERIES_FROM = 16 }; /* the next term of the series is below 1e-16 there */
    if (j >= SERIES_FROM)
        return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / (j * j)) / (j * j)) / (j * j)) /
               j;
    double factorial = 1;
    for (double i = 2; i <= j; i++)
        factorial *= i;
    return log(factorial) - (j + 0.5) * log(j) + j - log(2 * M_PI) / 2;
}

/* x ln(x / m) + m - x */
static double deviance(double x, double m)
{
    double e = (m - x) / x;
    return x * (e - log1p(e));
}

/* P(Bin(n, q) = j) */
static double term(double n, double q, double j)
{
    if (j == 0)
        return exp(n * log1p(-q));
    if (j == n)
        return exp(n * log(q));
    double errors = stirling_error(n) - stirling_error(j) - stirling_error(n - j);
    return exp(errors - deviance(j, n * q) - deviance(n - j, n * (1 - q))) /
           sqrt(2 * M_PI * j * ((n - j) / n));
}

double ur_count_below(double n, double q, double least)
{
    double sum = 0, j = least - 1;
    if (least <= 0)
        return 0;
    if (least > n || q <= 0)
        return 1;
    if (q >= 1)
        return 0;
    double odds = q / (1 - q);
    if (j < n * q) { /* downwards from the largest of them */
        for (double t = term(n, q, j); j >= 0 && t > sum * DBL_EPSILON; j--) {
            sum += t;
            t *= j / (n - j + 1) / odds;
        }
        return fmin(1, sum);
    }
    j++;
    for (double t = term(n, q, j); j <= n && t > sum * DBL_EPSILON; j++) {
        sum += t;
        t *= (n - j) / (j + 1) * odds;
    }
    return fmax(0, 1 - sum);
}

static int is_enough(double n, size_t kinds, const double *share, const double *of, double least,
                     double failure)
{
    double sum = 0;
    for (size_t i = 0; i < kinds; i++)
        sum += of[i] * ur_count_below(n, share[i], least);
    return sum <= failure;
}

double ur_count_enough(size_t kinds, const double *share, const double *of, double least,
                       double failure)
{
    double low = least - 1, high = least;
    for (size_t i = 0; i < kinds; i++)
        if (!(share[i] > 0))
            return INFINITY;
    while (!is_enough(high, kinds, share, of, least, failure)) {
        low = high;
        high *= 2;
        if (isinf(high))
            return INFINITY;
    }
    while (high - low > fmax(1, high * RESOLUTION)) {
        double n = floor(low + (high - low) / 2);
        if (is_enough(n, kinds, share, of, least, failure))
            high = n;
        else
            low = n;
    }
    return high;
}
