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
/* by how much the probabilities of a row may miss 1: six digits of logarithms leave 1e-6 of it
 * each. Larger, and any negative numbers pass for logarithms of probabilities. */
static const double SUM_MISS = 1e-3;
/* a label below it has fewer digits than a double: close to DBL_MIN */
static const double LEAST_LABEL = 1e-306;
/* floors of the size of the terms of a cell. Smaller, and the largest rounding error of millions of
 * cells is taken for a wrong one; larger, and a wrong row hides among cells with few digits */
static const double FAR_OFF = 30;

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
    data->column_rounding[j] = single ? 0 : rounding;
    if (least > data->floor) { /* the coarsest column names the precision */
        data->floor = least;
        data->tolerance = tolerance;
        strcpy(data->precision, precision);
    }
}

/* ---- digits ---- */

/* of the labels as the file has them */
typedef struct {
    int single; /* all of them: one column of small integers says nothing */
    struct {
        double rounding; /* root mean square, in the unit of the labels; 0: full precision */
        int digits;
    } * column;
} precision;

static double rms_of(size_t n, size_t m, const double *a, size_t j)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i * m + j]));
    for (size_t i = 0; i < n && largest > 0; i++)
        sum += a[i * m + j] / largest * (a[i * m + j] / largest);
    return largest * sqrt(sum / (double)n);
}

static unrelu_status take_digits(const ur_data *data, ur_arena *arena, precision *p,
                                 unrelu_error *err)
{
    size_t n = data->n, m = data->m;
    p->single = ur_digits_single(n * m, data->a);
    p->column = ur_take(arena, m, sizeof *p->column);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t j = 0; j < m; j++) {
        double rms = rms_of(n, m, data->a, j);
        p->column[j].rounding =
            rms * ur_digits_rounding(n, m, data->a, j, rms, &p->column[j].digits);
    }
    return UNRELU_OK;
}

/* ---- logarithms of probabilities ---- */

static unrelu_status check_sum(const unrelu_source *labels, const double *a, size_t row, size_t m,
                               unrelu_error *err)
{
    double sum = 0;
    for (size_t j = 0; j < m; j++)
        sum += exp(a[row * m + j]);
    if (fabs(sum - 1) <= SUM_MISS)
        return UNRELU_OK;
    return ur_fail_at(err, UNRELU_EDATA, row + 1, 0,
                      "%s: the probabilities of row %zu, exp of its labels, add up to %.4g, not to "
                      "1: they are no natural logarithms of probabilities; leave out "
                      "`log-probabilities`",
                      ur_source_label(labels), row + 1, sum);
}

/* Logits are known but for a constant in each row, which their differences to the last class do not
 * have; both ends of a difference are rounded. */
static unrelu_status take_differences(const unrelu_source *labels, ur_arena *arena, ur_data *data,
                                      precision *p, unrelu_error *err)
{
    size_t n = data->n, m = data->m, kept = m - 1;
    if (m < 2)
        return ur_fail(
            err, UNRELU_EDATA,
            "%s has one column, and probabilities of at least two classes are needed for "
            "`log-probabilities`",
            ur_source_label(labels));
    double *a = ur_take(arena, n, kept * sizeof *a);
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < n; i++) {
        UR_TRY(check_sum(labels, data->a, i, m, err));
        for (size_t j = 0; j < kept; j++)
            a[i * kept + j] = data->a[i * m + j] - data->a[i * m + kept];
    }
    for (size_t j = 0; j < kept; j++) {
        p->column[j].rounding = hypot(p->column[j].rounding, p->column[kept].rounding);
        if (p->column[kept].digits > 0 && p->column[kept].digits < p->column[j].digits)
            p->column[j].digits = p->column[kept].digits;
    }
    data->a = a;
    data->m = kept;
    return UNRELU_OK;
}

/* ---- sizes ---- */

/* sizes, units and digits of the columns */
static unrelu_status measure(const unrelu_source *labels, const precision *p, ur_arena *arena,
                             ur_data *data, unrelu_error *err)
{
    size_t n = data->n, d = data->d, m = data->m;
    data->input_rms = ur_take(arena, d, sizeof(double));
    data->column_unit = ur_take(arena, m, sizeof(double));
    data->column_rms = ur_take(arena, m, sizeof(double));
    data->column_floor = ur_take(arena, m, sizeof(double));
    data->column_rounding = ur_take(arena, m, sizeof(double));
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
    for (size_t j = 0; j < m; j++) {
        data->column_rms[j] = sqrt(data->column_rms[j] / (double)n);
        double rms = data->column_rms[j] * data->column_unit[j];
        double rounding = p->column[j].rounding > 0 ? p->column[j].rounding / rms : 0;
        ur_data_set_floor(data, j, p->single, rounding, p->column[j].digits);
    }
    return UNRELU_OK;
}

static unrelu_status load(unrelu_source *inputs, unrelu_source *labels, int logarithms,
                          const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                          unrelu_error *err)
{
    ur_table x, a;
    precision p;
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
    UR_TRY(take_digits(data, arena, &p, err));
    if (logarithms)
        UR_TRY(take_differences(labels, arena, data, &p, err));
    return measure(labels, &p, arena, data, err);
}

unrelu_status ur_data_load(unrelu_source *inputs, unrelu_source *labels, const unrelu_exec *exec,
                           ur_arena *arena, ur_data *data, unrelu_error *err)
{
    return load(inputs, labels, 0, exec, arena, data, err);
}

unrelu_status ur_data_load_logarithms(unrelu_source *inputs, unrelu_source *labels,
                                      const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                                      unrelu_error *err)
{
    return load(inputs, labels, 1, exec, arena, data, err);
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

double ur_data_reach(const ur_data *data, size_t j, double per_unit, double largest, double terms,
                     double e)
{
    double about = (largest * terms + fabs(e)) * per_unit + data->column_rms[j];
    return FAR_OFF * data->column_floor[j] * about;
}
