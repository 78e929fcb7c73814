/* SPDX-License-Identifier: Apache-2.0 */
/* sum_l |v_l x_l| is at most the product of the lengths of (v_l s_l) and (x_l / s_l), s_l the root
 * mean square of column l: a bound on the terms of v x that no unit of a column changes. The row
 * gets the mean length beside its own, so that a row of zeros is on the kink of c = 1e-16. */
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
