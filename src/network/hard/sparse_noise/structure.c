/* SPDX-License-Identifier: Apache-2.0 */
/* Whether E may hide a neuron. One that is off for most rows is off in a space of which most rows
 * are met: without it the others still pass every majority, and what it adds is in E. It shows in
 * two ways, and neither is one of wrong cells at random, as in Theorem 14:
 *   rows that are wrong nearly everywhere, more often than a binomial law allows;
 *   a support that depends on x: the indicator of a column's wrong cells, and the number of them
 *   in a row, regressed on the inputs (an F test; its Wilson-Hilferty normal deviate above 4.5). */
#include "base/error.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 256,       /* rows whose neurons are held at a time */
    MOST_ROWS = 20000, /* that the inputs are tested on */
    FEWEST = 10        /* wrong cells, right cells and degrees of freedom that say anything */
};
static const double DEVIATES = 4.5;  /* 1 in 300000 by chance, for each column */
static const double EXPECTED = 0.01; /* dead rows that a support at random may have */

double ur_binomial_below(size_t n, double p, size_t t)
{
    double sum = 0;
    if (t >= n || p <= 0)
        return 1;
    if (p >= 1)
        return 0;
    for (size_t i = 0; i <= t; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                   (double)i * log(p) + (double)(n - i) * log1p(-p));
    return fmin(sum, 1);
}

/* ---- neurons ---- */

/* the largest share of wrong cells of a column where a neuron is on */
static unrelu_status test_neurons(const ur_data *data, const ur_outcome *model, double *worst,
                                  size_t *column, size_t *neuron, unrelu_error *err)
{
    const ur_weights *weights = &model->weights;
    size_t n = data->n, m = data->m, k = weights->k;
    UR_ARENA(arena);
    double *t = ur_take(&arena, BLOCK, k * sizeof *t), *y = ur_take(&arena, BLOCK, m * sizeof *y);
    double *wrong = ur_take(&arena, m, k * sizeof *wrong), *of = ur_take(&arena, k, sizeof *of);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0, at = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        ur_network_forward(weights, data->x + first * data->d, rows, t, y);
        for (size_t i = 0; i < rows * k; i++)
            of[i % k] += t[i] > 0;
        for (; at < model->corrupted && model->E_row[at] < (double)(first + rows); at++)
            for (size_t l = 0; l < k; l++)
                wrong[(size_t)model->E_column[at] * k + l] +=
                    t[((size_t)model->E_row[at] - first) * k + l] > 0;
    }
    for (size_t i = 0; i < m * k; i++) {
        double share = of[i % k] > 0 ? wrong[i] / of[i % k] : 0;
        if (share > *worst) {
            *worst = share;
            *column = i / k;
            *neuron = i % k;
        }
    }
    return UNRELU_OK;
}

/* ---- rows ---- */

/* Rows with so few cells met that none is expected. The typical share of wrong cells is that of the
 * median row, or of all; rows where the network gives 0 say little of it (0 is a common error). */
static unrelu_status count_dead(const ur_data *data, const ur_audit *audit, size_t *dead,
                                unrelu_error *err)
{
    size_t n = data->n, m = data->m, most = m, rows = 0;
    UR_ARENA(arena);
    double *missed = ur_take(&arena, n, sizeof *missed), sum = 0;
    *dead = 0;
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < n; i++)
        if (!audit->idle[i]) {
            sum += (double)audit->missed[i];
            missed[rows++] = (double)audit->missed[i];
        }
    double all = (double)(rows > 0 ? rows : 1) * (double)m;
    double wrong = fmax(ur_median(rows, missed) / (double)m, sum / all);
    for (size_t met = 0; met < (m + 1) / 2; met++) {
        if ((double)n * ur_binomial_below(m, 1 - wrong, met) > EXPECTED)
            break;
        most = m - met; /* that many wrong cells, or more */
    }
    if (most == m && (double)n * pow(wrong, (double)m) > EXPECTED)
        return UNRELU_OK;
    for (size_t i = 0; i < n; i++)
        *dead += audit->missed[i] >= most;
    return UNRELU_OK;
}

/* ---- the inputs ---- */

/* normal deviate of a share R2 of explained variance by q of n - 1 degrees of freedom; never
 * infinite
 */
static double deviate(double R2, size_t q, size_t n)
{
    double left = (double)n - 1 - (double)q;
    if (q == 0 || left < FEWEST)
        return 0;
    double F = R2 / (double)q / (fmax(1 - R2, DBL_EPSILON) / left), c = 2 / (9 * (double)q);
    return (cbrt(F) - (1 - c)) / sqrt(c);
}

/* The largest deviate over the columns' indicators of wrong cells, and the rows' numbers of them
 * (*where = m), regressed on the inputs of at most MOST_ROWS rows that are not idle. */
static unrelu_status test_inputs(const ur_data *data, const ur_outcome *model,
                                 const ur_audit *audit, double *worst, size_t *where,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    UR_TRY(ur_frame_make(data, MOST_ROWS, (ur_terms){1, 0}, 1, &arena, &frame, err));
    size_t m = data->m, p = frame.p, w = m + 1, count = 0;
    int positive = 0;
    size_t *place = ur_take(&arena, data->n, sizeof *place); /* 1 + where a row is; 0: nowhere */
    double *G = ur_take(&arena, p, p * sizeof *G);           /* x'x */
    double *sums = ur_take(&arena, p, w * sizeof *sums);     /* x'y of what is regressed */
    double *solved = ur_take(&arena, p, w * sizeof *solved); /* G^-1 of them */
    double *total = ur_take(&arena, w, sizeof *total), squares = 0; /* of the rows' numbers */
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t i = 0; i < frame.n; i++) {
        double missed = (double)audit->missed[frame.row[i]];
        if (audit->idle[frame.row[i]])
            continue;
        place[frame.row[i]] = i + 1;
        count++;
        total[m] += missed;
        squares += missed * missed;
        ur_ger(p, p, 1, frame.x + i * p, frame.x + i * p, G, p);
    }
    for (size_t i = 0; i < model->corrupted; i++) {
        size_t row = place[(size_t)model->E_row[i]], j = (size_t)model->E_column[i];
        if (row == 0)
            continue;
        for (size_t l = 0; l < p; l++) {
            sums[l * w + j] += frame.x[(row - 1) * p + l];
            sums[l * w + m] += frame.x[(row - 1) * p + l];
        }
        total[j]++;
    }
    memcpy(solved, sums, p * w * sizeof *solved);
    UR_TRY(ur_solve_positive(p, w, G, solved, &positive, err));
    double n = (double)count;
    for (size_t j = 0; j < w && positive; j++) {
        double mean = total[j] / n, spread = (j < m ? total[j] : squares) / n - mean * mean;
        double explained = 0;
        if (total[j] < FEWEST || (j < m && n - total[j] < FEWEST) || !(spread > 0))
            continue;
        for (size_t l = 0; l < p; l++)
            explained += sums[l * w + j] * solved[l * w + j] / n;
        double z = deviate(fmin(fmax(0, explained - mean * mean) / spread, 1), p - 1, count);
        if (z > *worst) {
            *worst = z;
            *where = j;
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_structure_test(const ur_problem *given, const ur_outcome *out,
                                const ur_audit *audit, const char **why, unrelu_error *err)
{
    const ur_data *data = &given->data;
    size_t dead = 0, where = 0, column = 0, neuron = 0;
    double worst = 0, share = 0;
    *why = NULL;
    if (out->corrupted == 0)
        return UNRELU_OK;
    UR_TRY(test_neurons(data, out, &share, &column, &neuron, err));
    UR_TRY(count_dead(data, audit, &dead, err));
    UR_TRY(test_inputs(data, out, audit, &worst, &where, err));
    if (share >= UR_MAJORITY)
        *why = ur_take_text(
            out->arena,
            "label column %zu is not met in %.0f %% of the samples where neuron %zu is on, and "
            "less than half is needed: that entry of U is not certain",
            column + 1, 100 * share, neuron + 1);
    else if (dead > 0)
        *why = ur_take_text(
            out->arena,
            "%zu row%s of labels %s wrong nearly everywhere, which wrong cells at random are not: "
            "a neuron that is on for few samples looks the same",
            dead, dead == 1 ? "" : "s", dead == 1 ? "is" : "are");
    else if (worst > DEVIATES && where < data->m)
        *why = ur_take_text(
            out->arena,
            "which cells of label column %zu are wrong depends on the inputs (%.0f standard "
            "deviations): a neuron with few outputs looks the same",
            where + 1, worst);
    else if (worst > DEVIATES)
        *why = ur_take_text(
            out->arena,
            "how many cells of a row are wrong depends on its inputs (%.0f standard deviations): a "
            "neuron that is missing looks the same",
            worst);
    return UNRELU_OK;
}
