/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Two halves of a symmetric matrix may differ by so much of the roots of their variances: products
 * in another order, or numbers that went through single precision. */
static const double ASYMMETRY_MOST = 1e-6;

/* of correlations, and of their 1 */
#define ROUNDING 1e-6
/* doubles beyond 2^53 skip whole numbers */
#define WHOLE_MOST 0x1p53

const ur_range ur_is_finite = {.least = -DBL_MAX, .most = DBL_MAX, .needed = "a finite number"};
const ur_range ur_is_known = {
    .least = -DBL_MAX, .most = DBL_MAX, .unknown = 1, .needed = "a finite number"};
const ur_range ur_is_bounded = {
    .least = -INFINITY, .most = INFINITY, .unknown = 1, .needed = "a number, or NaN"};
const ur_range ur_is_size = {
    .least = 0, .most = DBL_MAX, .needed = "a finite number of at least 0"};
const ur_range ur_is_size_or_unknown = {
    .least = 0, .most = DBL_MAX, .unknown = 1, .needed = "a finite number of at least 0"};
const ur_range ur_is_error = {
    .least = 0, .most = INFINITY, .unknown = 1, .needed = "a number of at least 0, or NaN"};
const ur_range ur_is_share = {
    .least = 0, .most = 1, .unknown = 1, .needed = "a share, from 0 to 1"};
const ur_range ur_is_limit = {
    .least = -INFINITY, .most = DBL_MAX, .needed = "a finite number, or -inf"};
const ur_range ur_is_top = {
    .least = -DBL_MAX, .most = INFINITY, .needed = "a finite number, or inf"};
const ur_range ur_is_boxcox = {.least = -10, .most = 10, .needed = "a power from -10 to 10"};
const ur_range ur_is_count = {.least = 0, .most = WHOLE_MOST, .whole = 1, .needed = "a count"};
/* inf and 0 where a square leaves the range of a double */
const ur_range ur_are_covariances = {.least = -INFINITY,
                                     .most = INFINITY,
                                     .unknown = 1,
                                     .symmetric = 1,
                                     .diagonal_least = 0,
                                     .diagonal_most = INFINITY,
                                     .needed = "a variance"};
const ur_range ur_are_correlations = {.least = -1 - ROUNDING,
                                      .most = 1 + ROUNDING,
                                      .unknown = 1,
                                      .symmetric = 1,
                                      .diagonal_least = 1 - ROUNDING,
                                      .diagonal_most = 1 + ROUNDING,
                                      .needed =
                                          "a correlation, from -1 to 1 and 1 on the diagonal,"};
const ur_range ur_are_errors = {.least = 0,
                                .most = INFINITY,
                                .unknown = 1,
                                .symmetric = 1,
                                .diagonal_least = 0,
                                .diagonal_most = INFINITY,
                                .needed = "a number of at least 0, or NaN"};
const ur_range ur_are_counts = {.least = 0,
                                .most = WHOLE_MOST,
                                .whole = 1,
                                .symmetric = 1,
                                .diagonal_least = 0,
                                .diagonal_most = WHOLE_MOST,
                                .needed = "a count"};

static int is_inside(const ur_range *range, double x, int diagonal)
{
    double least = diagonal ? range->diagonal_least : range->least;
    double most = diagonal ? range->diagonal_most : range->most;
    if (isnan(x))
        return range->unknown;
    return x >= least && x <= most && (!range->whole || x == floor(x));
}

static unrelu_status check_symmetry(const char *path, const char *name, const double *x, size_t d,
                                    unrelu_error *err)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            double a = x[i * d + j], b = x[j * d + i];
            double unit = sqrt(fabs(x[i * d + i])) * sqrt(fabs(x[j * d + j]));
            if (!(unit >= fmax(fabs(a), fabs(b))) || isinf(unit)) /* variances leave the range */
                unit = fmax(fabs(a), fabs(b));
            if (a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= ASYMMETRY_MOST * unit)
                continue;
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: %s has %g at row %zu, column %zu and %g at row %zu, column %zu, "
                           "where a symmetric matrix is needed",
                           path, name, a, i + 1, j + 1, b, j + 1, i + 1);
        }
    return UNRELU_OK;
}

static unrelu_status refuse(const char *path, const char *name, double x, size_t row, size_t column,
                            int alone, const char *needed, unrelu_error *err)
{
    char place[64] = "";
    if (!alone)
        snprintf(place, sizeof place, " at row %zu, column %zu", row + 1, column + 1);
    return ur_fail(err, UNRELU_EFORMAT, "%s: %s %s %g%s, where %s", path, name,
                   alone ? "is" : "has", x, place, needed);
}

unrelu_status ur_range_check(const char *path, const char *name, const ur_range *range,
                             const double *x, size_t rows, size_t columns, size_t most,
                             unrelu_error *err)
{
    char needed[128];
    int alone = columns == UR_ONE_NUMBER;
    size_t width = alone ? 1 : columns;
    for (size_t i = 0; i < rows * width; i++) {
        size_t row = i / width, column = i % width;
        int inside = is_inside(range, x[i], range->symmetric && row == column);
        if (inside && !(most && x[i] > (double)most))
            continue;
        if (inside)
            snprintf(needed, sizeof needed, "at most %zu are possible", most);
        else
            snprintf(needed, sizeof needed, "%s is needed", range->needed);
        return refuse(path, name, x[i], row, column, alone, needed, err);
    }
    return range->symmetric ? check_symmetry(path, name, x, rows, err) : UNRELU_OK;
}
