/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the inputs look like normal ones with mean 0. Shape: the skewness of every column
 * (D'Agostino's transform) and its kurtosis (Anscombe and Glynn's), which are what they are for a
 * sample of any normal law, and Mardia's kurtosis of all columns, E|x|^4 of whitened x, d (d + 2)
 * for normal x, which sees what mixtures of many columns hide from each. The smallest p of the
 * 2 d + 1 tests counts, times their number. The mean: n x' S^-1 x of the mean x in Bartlett's form,
 * chi2 with d degrees of freedom. Rows are i.i.d. by assumption. */
#include "base/arena.h"
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/noisy/score.h"
#include "network/promise/promise.h"
#include "paper/two_layer/two_layer.h"

#include <math.h>
#include <string.h>

enum {
    LEAST = 20,        /* rows: the transforms are for so many */
    MOST = 100000,     /* rows: more would see departures that no recovery does */
    LEAST_A_COLUMN = 3 /* rows a column, for what is joint */
};

double ur_two_sided(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

double ur_unskewed(double standardised, double skewness)
{
    double g = 2 / skewness, A = 6 + 4 * g * (g + sqrt(1 + g * g));
    double below = 1 + standardised * sqrt(2 / (A - 4));
    double root = below > 0 ? cbrt((1 - 2 / A) / below) : INFINITY;
    return (1 - 2 / (9 * A) - root) / sqrt(2 / (9 * A));
}

/* of a sample's skewness g1 */
static double z_of_skewness(double g1, double n)
{
    double y = g1 * sqrt((n + 1) * (n + 3) / (6 * (n - 2)));
    double b2 =
        3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
    double w2 = sqrt(2 * (b2 - 1)) - 1;
    return asinh(y * sqrt((w2 - 1) / 2)) / sqrt(log(w2) / 2);
}

/* of a sample's kurtosis b2 */
static double z_of_kurtosis(double b2, double n)
{
    double mean = 3 * (n - 1) / (n + 1);
    double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    double skewness = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) *
                      sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
    return ur_unskewed((b2 - mean) / sqrt(variance), skewness);
}

/* Of Mardia's kurtosis: to first order the mean of h(s) = s^2 - 2 (d + 2) s + d (d + 2), s chi2
 * with d degrees of freedom, whose third moment gives the skewness. */
static double z_of_mardia(double found, double n, double d)
{
    double mean = d * (d + 2) * (n - 1) / (n + 1);
    double variance = 8 * d * (d + 2) * (n - 3) * (n - d - 1) * (n - d + 1) /
                      ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    double h[3] = {d * (d + 2), -2 * (d + 2), 1}, cube[7] = {0}, third = 0, moment = 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int l = 0; l < 3; l++)
                cube[i + j + l] += h[i] * h[j] * h[l];
    for (int j = 0; j < 7; moment *= d + 2 * j, j++)
        third += cube[j] * moment;
    return ur_unskewed((found - mean) / sqrt(variance),
                       third / pow(8 * d * (d + 2), 1.5) / sqrt(n));
}

static void take_worse(ur_inputs_law *law, double z, const char *what, size_t column, double value,
                       double usual)
{
    double p = ur_two_sided(z);
    law->tests++;
    if (law->tests > 1 && !(p < law->p))
        return;
    law->p = p;
    law->what = what;
    law->column = column;
    law->value = value;
    law->usual = usual;
}

static void test_column(const ur_sample *s, size_t j, ur_inputs_law *law)
{
    double n = (double)s->n, mean = 0, moment[5] = {0};
    for (size_t i = 0; i < s->n; i++)
        mean += s->x[i * s->d + j] / n;
    for (size_t i = 0; i < s->n; i++) {
        double t = s->x[i * s->d + j] - mean;
        moment[2] += t * t / n;
    }
    double sd = sqrt(moment[2]);
    if (!(sd > UR_ROUNDING * fabs(mean))) /* a constant */
        return;
    for (size_t i = 0; i < s->n; i++) {
        double t = (s->x[i * s->d + j] - mean) / sd;
        moment[3] += t * t * t / n;
        moment[4] += t * t * t * t / n;
    }
    take_worse(law, z_of_skewness(moment[3], n), "skewness", j, moment[3], 0);
    take_worse(law, z_of_kurtosis(moment[4], n), "kurtosis", j, moment[4], 3);
}

/* Mardia's kurtosis and the mean, where the inputs have full rank about it */
static unrelu_status test_jointly(const ur_sample *s, const unrelu_exec *exec, ur_inputs_law *law,
                                  unrelu_error *err)
{
    UR_ARENA(arena);
    ur_white white;
    unrelu_error why = {0};
    unrelu_status status = ur_white_new(s, exec, &arena, &white, &why);
    if (status == UNRELU_EDATA)
        return UNRELU_OK;
    if (status != UNRELU_OK) {
        if (err)
            *err = why;
        return status;
    }
    size_t d = s->d;
    double n = (double)s->n, fourth = 0;
    law->rank = d;
    for (size_t i = 0; i < s->n; i++) {
        double square = ur_dot(d, white.x + i * d, white.x + i * d);
        fourth += square * square / n;
    }
    take_worse(law, z_of_mardia(fourth, n, (double)d), "kurtosis", SIZE_MAX, fourth,
               (double)(d * (d + 2)));
    ur_solve_lower(d, white.L, white.mean);
    law->mean_chi2 = (n - 1 - (double)d / 2) * log1p(ur_dot(d, white.mean, white.mean));
    law->mean_p = ur_chi2_tail((double)d, law->mean_chi2);
    return UNRELU_OK;
}

unrelu_status ur_inputs_law_test(const ur_data *data, const unrelu_exec *exec, ur_inputs_law *law,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    size_t n = data->n < MOST ? data->n : MOST, d = data->d;
    ur_sample s = {.n = n, .d = d, .x = data->x};
    *law = (ur_inputs_law){.rows = n, .p = NAN, .mean_p = NAN, .what = ""};
    if (n < LEAST || n < LEAST_A_COLUMN * d)
        return UNRELU_OK;
    if (n < data->n) { /* evenly spaced */
        double *rows = ur_take(&arena, n, d * sizeof *rows);
        UR_TRY(ur_arena_status(&arena, err));
        for (size_t i = 0; i < n; i++)
            memcpy(rows + i * d, data->x + (size_t)((double)i * ((double)data->n / (double)n)) * d,
                   d * sizeof *rows);
        s.x = rows;
    }
    for (size_t j = 0; j < d; j++)
        test_column(&s, j, law);
    UR_TRY(test_jointly(&s, exec, law, err));
    law->p = fmin(1, law->p * (double)law->tests);
    return UNRELU_OK;
}
