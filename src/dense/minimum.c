/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/minimum.h"

#include "base/error.h"

#include <math.h>

static const double GOLDEN = 0.6180339887498949; /* (sqrt 5 - 1) / 2 */

unrelu_status ur_minimum_find(const ur_minimum *search, double *x, unrelu_error *err)
{
    double least = INFINITY, centre = 0, value[2];
    for (size_t i = 0; i < search->points; i++) {
        double at = search->from + (double)i * search->step;
        UR_TRY(search->f(search->context, at, value, err));
        if (value[0] < least) {
            least = value[0];
            centre = at;
        }
    }
    double low = centre - search->step, high = centre + search->step;
    double inner[] = {high - GOLDEN * (high - low), low + GOLDEN * (high - low)};
    for (int i = 0; i < 2; i++)
        UR_TRY(search->f(search->context, inner[i], &value[i], err));
    for (int i = 0; i < search->sections && high - low > search->width; i++) {
        int left = value[0] < value[1];
        *(left ? &high : &low) = inner[left];
        inner[left] = inner[!left];
        value[left] = value[!left];
        inner[!left] = left ? high - GOLDEN * (high - low) : low + GOLDEN * (high - low);
        UR_TRY(search->f(search->context, inner[!left], &value[!left], err));
    }
    *x = (low + high) / 2;
    return UNRELU_OK;
}
