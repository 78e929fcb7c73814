/* SPDX-License-Identifier: Apache-2.0 */
/* How many digits each column of labels carries, and with it how closely a network can meet them.
 * Labels stored in single precision err by 3e-8 of their size, a forward pass in single precision
 * by a few times that; printed ones by half a unit of their last digit. Noise of a few such units
 * is noise, and is not taken for rounding. */
#include "memory.h"
#include "model/network/recover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int are_single(const ur_data *data)
{
    for (size_t i = 0; i < data->n * data->m; i++)
        if ((double)(float)data->a[i] != data->a[i])
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

/* Root mean square of the rounding of a column with few digits, relative to its own: that of a
 * last digit of N, or that of the smallest decimal; 0: full precision. */
static double rounding_of(const ur_data *data, size_t j, int *most)
{
    enum { CELLS = 500 };
    size_t step = data->n > CELLS ? data->n / CELLS : 1;
    int decimals = -400;
    *most = 0;
    for (size_t i = 0; i < data->n; i += step) {
        int after, digits = digits_of(data->a[i * data->m + j], &after);
        if (digits > 13)
            return 0;
        *most = digits > *most ? digits : *most;
        decimals = after > decimals ? after : decimals;
    }
    if (*most == 0)
        return 0;
    double rms = data->column_rms[j] * data->column_unit[j], unit = 1 / sqrt(12);
    return fmax(unit * pow(10, 1 - *most), unit * pow(10, -decimals) / rms);
}

static void judge(ur_data *data, size_t j, int single)
{
    int digits;
    double floor = 1e-12, tolerance = 1e-10;
    char precision[16] = "double";
    double rounding = rounding_of(data, j, &digits);
    if (single) {
        floor = 5e-7;
        tolerance = 3e-6;
        strcpy(precision, "single");
    } else if (rounding > 0) {
        floor = fmin(4 * rounding, 1e-3);
        tolerance = fmin(10 * rounding, 1e-2);
        snprintf(precision, sizeof precision, "digits:%u", (unsigned)digits & 15);
    }
    data->column_floor[j] = floor;
    if (floor > data->floor) { /* the coarsest column names the precision */
        data->floor = floor;
        data->tolerance = tolerance;
        strcpy(data->precision, precision);
    }
}

void ur_data_judge(ur_data *data)
{
    int single = are_single(data); /* all of them: one column of small integers says nothing */
    data->floor = 0;
    for (size_t j = 0; j < data->m; j++)
        judge(data, j, single);
}
