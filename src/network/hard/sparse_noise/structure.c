/* SPDX-License-Identifier: Apache-2.0 */
/* Whether E may hide a neuron. One that is off for most rows is off in a space of which most rows
 * are met: without it the others still pass every majority, and what it adds is in E. It shows in
 * two ways, and neither is one of wrong cells at random, as in Theorem 14:
 *   rows that are wrong nearly everywhere, more often than a binomial law allows;
 *   a support that depends on x: the indicator of a column's wrong cells, and the number of them
 *   in a row, regressed on the inputs (an F test; its Wilson-Hilferty normal deviate above 4.5). */
#include "base/error.h"
#include "dense/linear.h"
#include "network/hard/sparse_noise/sparse_noise.h"

#include <math.h>

enum {
    BLOCK = 256,       /* rows whose neurons are held at a time */
    MOST_ROWS = 20000, /* that the inputs are tested on */
    FEWEST = 10        /* wrong cells, right cells and degrees of freedom that say anything */
};
static const double DEVIATES = 4.5;  /* 1 in 300000 by chance, for each column */
static const double EXPECTED = 0.01; /* dead rows that a support at random may have */
static const double MAJORITY = 0.5;  /* of the samples of a neuron in which a column is met */
/* Share of variance that is left, at least: an indicator that the inputs explain is a deviate of
 * thousands, and not infinite. */
static const double LEFT = 1e-12;

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

/* on (n, k): which are on */
static unrelu_status set_on(const ur_data *data, const ur_weights *model, unsigned char *on,
                            unrelu_error *err)
{
    UR_ARENA(arena);
    size_t k = model->k, n = data->n;
    double *t = ur_take(&arena, BLOCK, k * sizeof *t);
    double *y = ur_take(&arena, BLOCK, model->m * sizeof *y);
    UR_TRY(ur_arena_status(&arena, err));
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        ur_network_forward(model, data->x + first * model->d, rows, t, y);
        for (size_t i = 0; i < rows * k; i++)
            on[first * k + i] = t[i] > 0;
    }
    return UNRELU_OK;
}

/* the largest share of wrong cells of a column where a neuron is on */
static unrelu_status test_neurons(const ur_data *data, const ur_outcome *model, double *worst,
                                  size_t *column, size_t *neuron, unrelu_error *err)
{
    size_t n = data->n, m = data->m, k = model->weights.k;
    UR_ARENA(arena);
    unsigned char *on = ur_take(&arena, n, k);
    double *wrong = ur_take(&arena, m, k * sizeof *wrong), *of = ur_take(&arena, k, sizeof *of);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(set_on(data, &model->weights, on, err));
    for (size_t i = 0; i < n * k; i++)
        of[i % k] += on[i];
    for (size_t i = 0; i < model->corrupted; i++)
        for (size_t l = 0; l < k; l++)
            wrong[(size_t)model->E_column[i] * k + l] += on[(size_t)model->E_row[i] * k + l];
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

/* normal deviate of a share R2 of explained variance by q of n - 1 degrees of freedom */
static double deviate(double R2, size_t q, size_t n)
{
    double left = (double)n - 1 - (double)q;
    if (q == 0 || left < FEWEST)
        return 0;
    double F = R2 / (double)q / (fmax(1 - R2, LEFT) / left), c = 2 / (9 * (double)q);
    return (cbrt(F) - (1 - c)) / sqrt(c);
}

typedef struct {
    size_t n, p, m;
    double *G;      /* p x p: x'x over the rows that count */
    double *sums;   /* (m + 1, p): x'y of each column's indicator, and of the rows' counts */
    double *solved; /* (p, m + 1): G^-1 of them */
    double *total, *square;
} moments;

static unrelu_status moments_open(ur_arena *arena, size_t m, size_t p, moments *s,
                                  unrelu_error *err)
{
    *s = (moments){.p = p,
                   .m = m,
                   .G = ur_take(arena, p, p * sizeof *s->G),
                   .sums = ur_take(arena, m + 1, p * sizeof *s->sums),
                   .solved = ur_take(arena, p, (m + 1) * sizeof *s->solved),
                   .total = ur_take(arena, m + 1, sizeof *s->total),
                   .square = ur_take(arena, m + 1, sizeof *s->square)};
    return ur_arena_status(arena, err);
}

/* place (n): 1 + where a row is in the frame, 0: not there or idle */
static void add_rows(const ur_frame *frame, const ur_audit *audit, size_t *place, moments *s)
{
    for (size_t i = 0; i < frame->n; i++) {
        const double *x = frame->x + i * s->p;
        double missed = (double)audit->missed[frame->row[i]];
        if (audit->idle[frame->row[i]])
            continue;
        place[frame->row[i]] = i + 1;
        s->n++;
        s->total[s->m] += missed;
        s->square[s->m] += missed * missed;
        for (size_t a = 0; a < s->p; a++)
            for (size_t b = 0; b < s->p; b++)
                s->G[a * s->p + b] += x[a] * x[b];
    }
}

static void add_cells(const ur_outcome *model, const ur_frame *frame, const size_t *place,
                      moments *s)
{
    size_t p = s->p, m = s->m;
    for (size_t i = 0; i < model->corrupted; i++) {
        size_t row = place[(size_t)model->E_row[i]], j = (size_t)model->E_column[i];
        if (row == 0)
            continue;
        const double *x = frame->x + (row - 1) * p;
        for (size_t l = 0; l < p; l++) {
            s->sums[j * p + l] += x[l];
            s->sums[m * p + l] += x[l];
        }
        s->total[j]++;
        s->square[j]++;
    }
}

/* over columns, and the rows' counts (*where = m) */
static unrelu_status largest_deviate(moments *s, double *worst, size_t *where, unrelu_error *err)
{
    double n = (double)s->n;
    size_t p = s->p, w = s->m + 1;
    int positive = 0;
    for (size_t j = 0; j < w; j++)
        for (size_t l = 0; l < p; l++)
            s->solved[l * w + j] = s->sums[j * p + l];
    UR_TRY(ur_solve_positive(p, w, s->G, s->solved, &positive, err));
    for (size_t j = 0; j < w && positive; j++) {
        double mean = s->total[j] / n, spread = s->square[j] / n - mean * mean, explained = 0;
        if (s->total[j] < FEWEST || (j < s->m && n - s->total[j] < FEWEST) || !(spread > 0))
            continue;
        for (size_t l = 0; l < p; l++)
            explained += s->sums[j * p + l] * s->solved[l * w + j] / n;
        double R2 = fmin(fmax(0, explained - mean * mean) / spread, 1);
        double z = deviate(R2, p - 1, s->n);
        if (z > *worst) {
            *worst = z;
            *where = j;
        }
    }
    return UNRELU_OK;
}

static unrelu_status test_inputs(const ur_data *data, const ur_outcome *model,
                                 const ur_audit *audit, double *worst, size_t *where,
                                 unrelu_error *err)
{
    UR_ARENA(arena);
    size_t *place = ur_take(&arena, data->n, sizeof *place);
    ur_frame frame;
    moments s;
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_frame_make(data, MOST_ROWS, (ur_terms){1, 0}, 1, &arena, &frame, err));
    UR_TRY(moments_open(&arena, data->m, frame.p, &s, err));
    add_rows(&frame, audit, place, &s);
    add_cells(model, &frame, place, &s);
    return largest_deviate(&s, worst, where, err);
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
    if (share >= MAJORITY)
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
