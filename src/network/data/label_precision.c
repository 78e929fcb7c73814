/* SPDX-License-Identifier: Apache-2.0 */
/* How many digits each column of labels carries, and with it how closely a network can meet them.
 * Labels stored in single precision err by 3e-8 of their size, a forward pass in single precision
 * by a few times that; printed ones by half a unit of their last digit. Noise of a few such units
 * is noise, and is not taken for rounding. */
#include "model/digits.h"
#include "network/data/data.h"
#include "network/problem/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ur_data_set_floor(ur_data *data, size_t j, int single, double rounding, int digits)
{
    double least = UR_FLOOR_DOUBLE, tolerance = UR_TOLERANCE_DOUBLE;
    char precision[16] = "double";
    if (single) {
        least = UR_FLOOR_SINGLE;
        tolerance = UR_TOLERANCE_SINGLE;
        strcpy(precision, "single");
    } else if (rounding > 0) {
        least = fmin(UR_FLOOR_ROUNDINGS * rounding, UR_FLOOR_MOST);
        tolerance = fmin(UR_TOLERANCE_ROUNDINGS * rounding, UR_TOLERANCE_MOST);
        snprintf(precision, sizeof precision, "digits:%u", (unsigned)digits & 15);
    }
    data->column_floor[j] = least;
    if (least > data->floor) { /* the coarsest column names the precision */
        data->floor = least;
        data->tolerance = tolerance;
        strcpy(data->precision, precision);
    }
}

void ur_data_judge(ur_data *data)
{
    /* all of them: one column of small integers says nothing */
    int single = ur_digits_single(data->n * data->m, data->a), digits = 0;
    data->floor = 0;
    for (size_t j = 0; j < data->m; j++) {
        double rms = data->column_rms[j] * data->column_unit[j];
        double rounding = ur_digits_rounding(data->n, data->m, data->a, j, rms, &digits);
        ur_data_set_floor(data, j, single, rounding, digits);
    }
}
