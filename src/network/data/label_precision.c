/* SPDX-License-Identifier: Apache-2.0 */
/* How many digits each column of labels carries, and with it how closely a network can meet them.
 * Labels stored in single precision err by 3e-8 of their size, a forward pass in single precision
 * by a few times that; printed ones by half a unit of their last digit. Noise of a few such units
 * is noise, and is not taken for rounding. */
#include "model/digits.h"
#include "network/problem/recover.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void judge(ur_data *data, size_t j, int single)
{
    int digits;
    double floor = 1e-12, tolerance = 1e-10;
    char precision[16] = "double";
    double rms = data->column_rms[j] * data->column_unit[j];
    double rounding = ur_digits_rounding(data->n, data->m, data->a, j, rms, &digits);
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
    /* all of them: one column of small integers says nothing */
    int single = ur_digits_single(data->n * data->m, data->a);
    data->floor = 0;
    for (size_t j = 0; j < data->m; j++)
        judge(data, j, single);
}
