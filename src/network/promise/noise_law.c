/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a network leaves looks like noise with mean 0 and tails no heavier than those of a
 * normal law. Sub-Gaussian noise is what no sample can prove: what can be told is that the mean of
 * a column is not 0, or that a cell is farther off than N normal ones would be. Columns have
 * standard deviations of their own. */
#include "base/error.h"
#include "network/promise/promise.h"

#include <math.h>

unrelu_status ur_noise_law_test(const ur_problem *given, const ur_weights *weights,
                                ur_noise_law *law, unrelu_error *err)
{
    UR_ARENA(arena);
    const ur_data *data = &given->data;
    size_t n = data->n, m = data->m;
    double *y = ur_take(&arena, n, m * sizeof *y);
    *law = (ur_noise_law){.cells = n * m, .mean_p = 1, .tail_p = 1};
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_network_outputs(weights, data->x, n, given->exec, y, err));
    for (size_t j = 0; j < m; j++) {
        double mean = 0, squares = 0, unit = data->column_unit[j], largest = 0;
        for (size_t i = 0; i < n; i++)
            mean += (data->a[i * m + j] / unit - y[i * m + j] / unit) / (double)n;
        for (size_t i = 0; i < n; i++) {
            double r = data->a[i * m + j] / unit - y[i * m + j] / unit - mean;
            squares += r * r / (double)n;
            largest = fmax(largest, fabs(r));
        }
        double sd = sqrt(squares), z = sd > 0 ? mean / sd * sqrt((double)n) : 0;
        if (fabs(z) > fabs(law->mean_z)) {
            law->mean_z = z;
            law->mean_column = j;
        }
        law->tail = fmax(law->tail, sd > 0 ? largest / sd : 0);
    }
    law->mean_p = fmin(1, (double)m * ur_two_sided(law->mean_z));
    law->tail_p = fmin(1, (double)law->cells * ur_two_sided(law->tail));
    return UNRELU_OK;
}
