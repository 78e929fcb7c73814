/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and labels in memory, every cell finite, and the sizes of the labels' columns. */
#include "network/data/data.h"
#include "base/error.h"
#include "model/samples.h"
#include "read/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char REMEDY[] = "recover needs every cell; leave such rows out of both files";

/* units and sizes of the columns */
static void measure_columns(ur_data *data)
{
    size_t n = data->n, m = data->m;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            data->column_unit[j] = fmax(data->column_unit[j], fabs(data->a[i * m + j]));
    for (size_t j = 0; j < m; j++) {
        double largest = data->column_unit[j];
        data->column_unit[j] = largest > 0 ? ldexp(1, ilogb(largest)) : 0;
        data->unit = fmax(data->unit, data->column_unit[j]);
    }
    for (size_t j = 0; j < m; j++) /* a column of zeros */
        data->column_unit[j] = data->column_unit[j] > 0 ? data->column_unit[j] : data->unit;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double a = data->a[i * m + j] / data->column_unit[j];
            data->column_rms[j] += a * a;
        }
    for (size_t j = 0; j < m; j++)
        data->column_rms[j] = sqrt(data->column_rms[j] / (double)n);
}

static unrelu_status measure(const unrelu_source *labels, ur_arena *arena, ur_data *data,
                             unrelu_error *err)
{
    data->input_rms = ur_take(arena, data->d, sizeof(double));
    data->column_unit = ur_take(arena, data->m, sizeof(double));
    data->column_rms = ur_take(arena, data->m, sizeof(double));
    data->column_floor = ur_take(arena, data->m, sizeof(double));
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j < data->d; j++)
            data->input_rms[j] += data->x[i * data->d + j] * data->x[i * data->d + j];
    for (size_t j = 0; j < data->d; j++)
        data->input_rms[j] = sqrt(data->input_rms[j] / (double)data->n);
    measure_columns(data);
    if (data->unit == 0)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: all %zu labels are 0: no network can be learned from them",
                       ur_source_label(labels), data->n * data->m);
    if (data->unit < 1e-306)
        return ur_fail(err, UNRELU_EDATA,
                       "%s: the largest label is about %.1g, too small to be squared: change its "
                       "unit",
                       ur_source_label(labels), data->unit);
    ur_data_judge(data);
    return UNRELU_OK;
}

/* squares of the inputs must be numbers */
static unrelu_status check_range(const unrelu_source *inputs, const ur_data *data,
                                 unrelu_error *err)
{
    for (size_t i = 0; i < data->n * data->d; i++) {
        double size = fabs(data->x[i]);
        char label[160];
        if (size < 1e100 && (size == 0 || size > 1e-100))
            continue;
        ur_source_column_label(inputs, i % data->d, label, sizeof label);
        return ur_fail(err, UNRELU_EDATA,
                       "%s: row %zu, %s is %g, and inputs between 1e-100 and 1e100 can be squared: "
                       "change the unit of that column",
                       ur_source_label(inputs), i / data->d + 1, label, data->x[i]);
    }
    return UNRELU_OK;
}

static unrelu_status check_rows(const unrelu_source *inputs, const unrelu_source *labels,
                                const ur_table *x, const ur_table *a, unrelu_error *err)
{
    if (x->rows != a->rows)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s has %zu rows and %s has %zu: row i of one belongs to row i of the other",
                       ur_source_label(inputs), x->rows, ur_source_label(labels), a->rows);
    if (x->rows == 0)
        return ur_fail(err, UNRELU_EDATA, "%s has no rows", ur_source_label(inputs));
    return UNRELU_OK;
}

unrelu_status ur_data_load(unrelu_source *inputs, unrelu_source *labels, const unrelu_exec *exec,
                           ur_arena *arena, ur_data *data, unrelu_error *err)
{
    ur_table x, a;
    UR_TRY(ur_table_load(inputs, exec, REMEDY, arena, &x, err));
    UR_TRY(ur_table_load(labels, exec, REMEDY, arena, &a, err));
    UR_TRY(check_rows(inputs, labels, &x, &a, err));
    *data = (ur_data){.n = x.rows, .d = x.columns, .m = a.columns, .x = x.cells, .a = a.cells};
    UR_TRY(check_range(inputs, data, err));
    return measure(labels, arena, data, err);
}

unrelu_status ur_data_hold(size_t n, size_t d, size_t m, const double *x, const double *a,
                           const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                           unrelu_error *err)
{
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_status status = unrelu_source_memory(x, n, d, &inputs, err);
    if (status == UNRELU_OK)
        status = unrelu_source_memory(a, n, m, &labels, err);
    if (status == UNRELU_OK)
        status = ur_data_load(inputs, labels, exec, arena, data, err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return status;
}
