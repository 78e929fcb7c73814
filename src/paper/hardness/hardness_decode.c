/* SPDX-License-Identifier: Apache-2.0 */
/* What V says of a formula.
 *
 * Residual: the largest |alpha f(V x) - a| over the rows; labels beyond the first are 0, as is what
 * alpha makes of them. With variable alpha, (alpha_1 x, alpha_2
 * y) is put in place of V: alpha_i = 1 / |last entry of row i| is what the last two rows of X
 * demand (their residual is 1 or more where these entries do not have opposite signs). Dividing
 * last keeps integers exact. n d operations.
 *
 * Decoding: variable i is true where x_i > 0; where s is true all are complemented. With a residual
 * e < 1/3 every x_i is within e of +-1, g and h sum up to 1/2 within 3 e / 2, so a closed clause of
 * M literals, all false, has a residual of 1 - (4 M - 3) e at least: e < 1 / (4 M - 2) rules it
 * out. */
#include "base/error.h"
#include "model/samples.h"
#include "paper/hardness/hardness.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

static unrelu_status check_finite(const unrelu_hardness *h, const double *V, unrelu_error *err)
{
    for (size_t i = 0; i < h->k * h->d; i++)
        if (!isfinite(V[i]))
            return ur_fail(err, UNRELU_EDATA,
                           "V has %g at row %zu, column %zu, where a finite number is needed", V[i],
                           i / h->d + 1, i % h->d + 1);
    return UNRELU_OK;
}

/* alpha_i f(v x) for a row v of V; 0 where alpha cannot be had */
static double output(const unrelu_hardness *h, const double *v, const double *x)
{
    double sum = 0, scale = h->variable_alpha ? fabs(v[h->d - 1]) : 1;
    for (size_t j = 0; j < h->d; j++)
        sum += v[j] * x[j];
    return scale == 0 || sum <= 0 ? 0 : sum / scale;
}

unrelu_status unrelu_hardness_residual(const unrelu_hardness *h, const double *V, double *residual,
                                       unrelu_error *err)
{
    double worst = 0;
    *residual = 0;
    UR_TRY(check_finite(h, V, err));
    for (size_t i = 0; i < h->n; i++) {
        const double *x = h->X + i * h->d;
        double off = fabs(output(h, V, x) + output(h, V + h->d, x) - h->A[i * h->m]);
        if (!(off <= worst))
            worst = isnan(off) ? INFINITY : off;
    }
    *residual = worst;
    return UNRELU_OK;
}

unrelu_status unrelu_hardness_decode(const unrelu_hardness *h, const double *V, int *literals,
                                     unrelu_error *err)
{
    memset(literals, 0, h->variables * sizeof *literals);
    UR_TRY(check_finite(h, V, err));
    int complement = V[h->variables] > 0;
    for (size_t i = 0; i < h->variables; i++) {
        int name = (int)i + 1;
        literals[i] = (V[i] > 0) != complement ? name : -name;
    }
    return UNRELU_OK;
}

unrelu_status unrelu_hardness_read(const unrelu_hardness *h, unrelu_source *source, double *V,
                                   unrelu_error *err)
{
    static const char remedy[] = "every entry of V must be a finite number";
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    ur_table t;
    UR_ARENA(arena);
    memset(V, 0, h->k * h->d * sizeof *V);
    UR_TRY(ur_table_load(source, &exec, remedy, &arena, &t, err));
    if (t.rows != h->k || t.columns != h->d)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: V is %zu x %zu, where the instance needs %zu x %zu",
                       ur_source_label(source), t.rows, t.columns, h->k, h->d);
    memcpy(V, t.cells, h->k * h->d * sizeof *V);
    return UNRELU_OK;
}
