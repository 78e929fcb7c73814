/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and labels in memory, every cell finite; the sizes of their columns; and how many digits
 * each column of labels carries, with it how closely a network can meet them. Labels stored in
 * single precision err by 3e-8 of their size, a forward pass in single precision by a few times
 * that; printed ones by half a unit of their last digit. Noise of a few such units is noise, and is
 * not taken for rounding. */
#include "network/data/data.h"
#include "base/error.h"
#include "model/digits.h"
#include "model/samples.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char REMEDY[] = "recover needs every cell; leave such rows out of both files";
/* inputs between these can be squared, and so can products of a few of them; the sentence that
 * refuses others says so */
static const double LEAST_INPUT = 1e-100, MOST_INPUT = 1e100;
/* a label below it has fewer digits than a double: close to DBL_MIN */
static const double LEAST_LABEL = 1e-306;

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

/* sizes, units and digits of the columns */
static unrelu_status measure(const unrelu_source *labels, ur_arena *arena, ur_data *data,
                             unrelu_error *err)
{
    size_t n = data->n, d = data->d, m = data->m;
    data->input_rms = ur_take(arena, d, sizeof(double));
    data->column_unit = ur_take(arena, m, sizeof(double));
    data->column_rms = ur_take(arena, m, sizeof(double));
    data->column_floor = ur_take(arena, m, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            data->input_rms[j] += data->x[i * d + j] * data->x[i * d + j];
    for (size_t j = 0; j < d; j++)
        data->input_rms[j] = sqrt(data->input_rms[j] / (double)n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            data->column_unit[j] = fmax(data->column_unit[j], fabs(data->a[i * m + j]));
    for (size_t j = 0; j < m; j++) {
        double largest = data->column_unit[j];
        data->column_unit[j] = largest > 0 ? ldexp(1, ilogb(largest)) : 0;
        data->unit = fmax(data->unit, data->column_unit[j]);
    }
    if (data->unit == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: all %zu labels are 0: no network can be learned from them",
                       ur_source_label(labels), n * m);
    if (data->unit < LEAST_LABEL)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: the largest label is about %.1g, too small to be squared: change its "
                       "unit",
                       ur_source_label(labels), data->unit);
    for (size_t j = 0; j < m; j++) /* a column of zeros */
        data->column_unit[j] = data->column_unit[j] > 0 ? data->column_unit[j] : data->unit;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double a = data->a[i * m + j] / data->column_unit[j];
            data->column_rms[j] += a * a;
        }
    /* all of them: one column of small integers says nothing */
    int single = ur_digits_single(n * m, data->a), digits = 0;
    for (size_t j = 0; j < m; j++) {
        data->column_rms[j] = sqrt(data->column_rms[j] / (double)n);
        double rms = data->column_rms[j] * data->column_unit[j];
        double rounding = ur_digits_rounding(n, m, data->a, j, rms, &digits);
        ur_data_set_floor(data, j, single, rounding, digits);
    }
    return UNRELU_OK;
}

unrelu_status ur_data_load(unrelu_source *inputs, unrelu_source *labels, const unrelu_exec *exec,
                           ur_arena *arena, ur_data *data, unrelu_error *err)
{
    ur_table x, a;
    UR_TRY(ur_table_load(inputs, exec, REMEDY, arena, &x, err));
    UR_TRY(ur_table_load(labels, exec, REMEDY, arena, &a, err));
    if (x.rows != a.rows)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu rows and %s has %zu: row i of one belongs to row i of the other",
                       ur_source_label(inputs), x.rows, ur_source_label(labels), a.rows);
    if (x.rows == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", ur_source_label(inputs));
    *data = (ur_data){.n = x.rows, .d = x.columns, .m = a.columns, .x = x.cells, .a = a.cells};
    for (size_t i = 0; i < data->n * data->d; i++) {
        double size = fabs(data->x[i]);
        char label[160];
        if (size < MOST_INPUT && (size == 0 || size > LEAST_INPUT))
            continue;
        ur_source_column_label(inputs, i % data->d, label, sizeof label);
        return ur_fail(err, UNRELU_EDATA,
                       "%s: row %zu, %s is %g, and inputs between 1e-100 and 1e100 can be squared: "
                       "change the unit of that column",
                       ur_source_label(inputs), i / data->d + 1, label, data->x[i]);
    }
    return measure(labels, arena, data, err);
}

unrelu_status ur_data_hold(size_t n, size_t d, size_t m, const double *x, const double *a,
                           const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                           unrelu_error *err)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, NULL, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(a, n, m, NULL, &labels, err);
    if (status == UNRELU_OK)
        status = ur_data_load(inputs, labels, exec, arena, data, err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}
