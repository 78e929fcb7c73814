/* SPDX-License-Identifier: Apache-2.0 */
#include "model/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ur_digits_single(size_t count, const double *cells)
{
    for (size_t i = 0; i < count; i++)
        if ((double)(float)cells[i] != cells[i])
            return 0;
    return 1;
}

/* significant decimal digits of x, and of those the ones after the point; 99 beyond 15 */
static int digits_of(double x, int *decimals)
{
    char text[32];
    *decimals = -400;
    if (x == 0)
        return 0;
    snprintf(text, sizeof text, "%.14e", x);
    if (strtod(text, NULL) != x)
        return 99;
    char *e = strchr(text, 'e'), *last = e - 1;
    int exponent = atoi(e + 1), digits = 15;
    for (; digits > 1 && *last == '0'; last--)
        digits--;
    *decimals = digits - 1 - exponent;
    return digits;
}

double ur_digits_rounding(size_t n, size_t m, const double *cells, size_t j, double rms,
                          int *digits)
{
    enum { CELLS = 500, MOST_DIGITS = 13 }; /* with more, a cell is a double that was not rounded */
    size_t step = n > CELLS ? n / CELLS : 1;
    int decimals = -400;
    *digits = 0;
    for (size_t i = 0; i < n; i += step) {
        int after, count = digits_of(cells[i * m + j], &after);
        if (count > MOST_DIGITS)
            return 0;
        *digits = count > *digits ? count : *digits;
        decimals = after > decimals ? after : decimals;
    }
    if (*digits == 0)
        return 0;
    double unit = 1 / sqrt(12);
    return fmax(unit * pow(10, 1 - *digits), unit * pow(10, -decimals) / rms);
}
