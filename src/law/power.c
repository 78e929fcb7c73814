/* SPDX-License-Identifier: Apache-2.0 */
#include "law/power.h"

#include <math.h>

double ur_transform(unrelu_transform transform, double lambda, double x)
{
    switch (transform) {
    case UNRELU_TRANSFORM_NONE:
        return x;
    case UNRELU_TRANSFORM_SQRT:
        return sqrt(x);
    case UNRELU_TRANSFORM_LOG:
        return log(x);
    case UNRELU_TRANSFORM_LEAKY:
        return x < 0 ? x / lambda : x;
    case UNRELU_TRANSFORM_SIGMOID:
        return log(x) - log1p(-x);
    case UNRELU_TRANSFORM_BOXCOX:
        break;
    }
    if (lambda == 0)
        return log(x);
    return x > 0 ? expm1(lambda * log(x)) / lambda : lambda > 0 ? -1 / lambda : -INFINITY;
}

double ur_untransform(unrelu_transform transform, double lambda, double y)
{
    switch (transform) {
    case UNRELU_TRANSFORM_NONE:
        return y;
    case UNRELU_TRANSFORM_SQRT:
        return y > 0 ? y * y : 0;
    case UNRELU_TRANSFORM_LOG:
        return exp(y);
    case UNRELU_TRANSFORM_LEAKY:
        return y < 0 ? lambda * y : y;
    case UNRELU_TRANSFORM_SIGMOID:
        return 1 / (1 + exp(-y));
    case UNRELU_TRANSFORM_BOXCOX:
        break;
    }
    if (lambda == 0)
        return exp(y);
    double power = 1 + lambda * y;
    return power > 0 ? exp(log1p(lambda * y) / lambda) : lambda > 0 ? 0 : INFINITY;
}

int ur_transform_takes(unrelu_transform transform, double x)
{
    if (transform == UNRELU_TRANSFORM_NONE || transform == UNRELU_TRANSFORM_LEAKY)
        return 1;
    return transform == UNRELU_TRANSFORM_SIGMOID ? x > 0 && x < 1 : x >= 0;
}

int ur_transform_undoes(unrelu_transform transform)
{
    return transform == UNRELU_TRANSFORM_LEAKY || transform == UNRELU_TRANSFORM_SIGMOID;
}

const char *const ur_transform_words[] = {"none",   "sqrt",          "log",
                                          "boxcox", "inverse-leaky", "inverse-sigmoid"};

const char *unrelu_transform_name(unrelu_transform transform)
{
    return (size_t)transform <= UNRELU_TRANSFORM_SIGMOID ? ur_transform_words[transform] : "";
}
