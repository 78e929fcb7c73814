/* SPDX-License-Identifier: Apache-2.0 */
/* sum_l |v_l x_l| is at most the product of the lengths of (v_l s_l) and (x_l / s_l), s_l the root
 * mean square of column l: a bound on the terms of v x that no unit of a column changes. The row
 * gets the mean length beside its own, so that a row of zeros is on the kink of c = 1e-16. */
#include "network/data/sides.h"

#include "base/error.h"
#include "dense/activation.h"
#include "dense/blas.h"
#include "network/data/data.h"

#include <math.h>

double ur_kink_row(const ur_data *data, const double *x)
{
    double sum = 0;
    for (size_t l = 0; l < data->d; l++)
        if (data->input_rms[l] > 0)
            sum += x[l] / data->input_rms[l] * (x[l] / data->input_rms[l]);
    return sqrt(sum) + sqrt((double)data->d);
}

double ur_kink_neuron(const ur_data *data, const double *v)
{
    double sum = 0;
    for (size_t l = 0; l < data->d; l++)
        sum += v[l] * data->input_rms[l] * (v[l] * data->input_rms[l]);
    return sqrt(sum);
}

/* Whether a label shows on which side of its kink each neuron is: |U_rj| f(|t_j|), what the label
 * would change by, is more than a cell may be off by and still be met. */
static void set_told(const ur_data *data, const ur_weights *w, const double *largest,
                     const double *t, double *size, signed char *told)
{
    size_t k = w->k, m = w->m;
    double terms = 0;
    for (size_t j = 0; j < k; j++)
        size[j] = fabs(t[j]);
    ur_activation_apply(w->f, k, size, size, NULL);
    for (size_t j = 0; j < k; j++)
        terms += t[j] > 0 ? fabs(size[j]) : 0;
    for (size_t j = 0; j < k; j++) {
        int seen = 0;
        for (size_t r = 0; r < m && !seen; r++) {
            double per = 1 / data->column_unit[r];
            double reach = ur_data_reach(data, r, per, largest[r], terms, w->e[r]);
            seen = fabs(w->U[r * k + j] * size[j]) * per > reach;
        }
        told[j] = (signed char)(seen ? told[j] : 0);
    }
}

unrelu_status ur_sides_set(const ur_data *data, const ur_weights *weights, const ur_frame *frame,
                           ur_arena *arena, ur_sides *s, unrelu_error *err)
{
    size_t k = weights->k, d = data->d;
    *s = (ur_sides){.n = frame->n, .k = k};
    UR_ARENA(own);
    double *length = ur_take(&own, k, sizeof *length), *t = ur_take(&own, k, sizeof *t);
    double *size = ur_take(&own, k, sizeof *size);
    double *largest = ur_take(&own, weights->m, sizeof *largest);
    s->told = ur_take(arena, s->n, k);
    s->on = ur_take(arena, k, sizeof *s->on);
    s->off = ur_take(arena, k, sizeof *s->off);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_arena_status(&own, err));
    for (size_t i = 0; i < weights->m * k; i++)
        largest[i / k] = fmax(largest[i / k], fabs(weights->U[i]));
    for (size_t j = 0; j < k; j++)
        length[j] = ur_kink_neuron(data, weights->V + j * d);
    for (size_t i = 0; i < s->n; i++) {
        const double *x = data->x + frame->row[i] * d;
        double row = ur_kink_row(data, x), width = ur_kink_width(data);
        int zero = ur_norm(d, x) == 0; /* inputs can be squared */
        for (size_t j = 0; j < k; j++) {
            double kink = width * ur_kink(row, length[j], weights->c[j]);
            t[j] = weights->c[j];
            for (size_t l = 0; l < d; l++)
                t[j] += weights->V[j * d + l] * x[l];
            int side = s->told[i * k + j] = (signed char)((t[j] > kink) - (t[j] < -kink));
            s->on[j] += side > 0;
            s->off[j] += side < 0;
            s->on_kink += side == 0 && !zero;
        }
        set_told(data, weights, largest, t, size, s->told + i * k);
    }
    return UNRELU_OK;
}

int ur_sides_compare(const ur_sides *s, size_t a, size_t b)
{
    int same = 1, opposite = 1;
    for (size_t i = 0; i < s->n && (same || opposite); i++) {
        int product = s->told[i * s->k + a] * s->told[i * s->k + b];
        same &= product >= 0;
        opposite &= product <= 0;
    }
    return same ? 1 : opposite ? -1 : 0;
}
