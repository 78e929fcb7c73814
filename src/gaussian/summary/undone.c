/* SPDX-License-Identifier: Apache-2.0 */
#include "gaussian/summary/undone.h"

#include "base/error.h"
#include "base/text.h"
#include "law/power.h"

#include <math.h>
#include <string.h>

static const char LEAKY[] = "leaky:";
enum { PREFIX = sizeof LEAKY - 1 };

int ur_activation_read(const char *text, unrelu_transform *inverse, double *slope)
{
    *slope = NAN;
    *inverse = UNRELU_TRANSFORM_SIGMOID;
    if (strcmp(text, "sigmoid") == 0)
        return 1;
    *inverse = UNRELU_TRANSFORM_LEAKY;
    return strncmp(text, LEAKY, PREFIX) == 0 && ur_text_number(text + PREFIX, slope) &&
           *slope > 0 && *slope < INFINITY;
}

void ur_activation_write(unrelu_transform inverse, double slope, char *name)
{
    *name = '\0';
    if (inverse == UNRELU_TRANSFORM_SIGMOID)
        strcpy(name, "sigmoid");
    else if (inverse == UNRELU_TRANSFORM_LEAKY)
        unrelu_activation_name((unrelu_activation){UNRELU_LEAKY, slope}, name, UR_ACTIVATION_NAME);
}

int ur_activation_same(const ur_activation_undone *a, const ur_activation_undone *b)
{
    return a->inverse == b->inverse &&
           (a->inverse != UNRELU_TRANSFORM_LEAKY || a->slope == b->slope);
}

static double undo_leaky(double slope, double x)
{
    return ur_transform(UNRELU_TRANSFORM_LEAKY, slope, x);
}

static double undo_sigmoid(double none, double x)
{
    return ur_transform(UNRELU_TRANSFORM_SIGMOID, none, x);
}

unrelu_status ur_undo_of(const unrelu_gaussian_options *o, ur_undo *undo, unrelu_error *err)
{
    int leaky = o->transform == UNRELU_TRANSFORM_LEAKY;
    const char *what = o->literal                              ? "`method` paper"
                       : o->norms != UNRELU_NORMS_CENSORED     ? "`norms` other than censored"
                       : o->angles != UNRELU_ANGLES_H6         ? "`angles` other than h6"
                       : o->additive_noise != 0                ? "`additive-noise`"
                       : o->robust                             ? "`robust`"
                       : o->censor_at || o->limit || o->limits ? "a limit"
                                                               : NULL;
    if (what)
        return ur_fail(err, UNRELU_EUSAGE,
                       "%s does not go with `activation`: what an invertible activation gave is "
                       "undone, and has a plain mean and covariance",
                       what);
    if (leaky && !(o->boxcox > 0 && o->boxcox < INFINITY))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`activation` leaky needs a slope above 0, not %g: it is not invertible",
                       o->boxcox);
    *undo = (ur_undo){leaky ? undo_leaky : undo_sigmoid, o->boxcox, leaky ? -INFINITY : 0,
                      leaky ? INFINITY : 1, leaky ? "leaky ReLU" : "sigmoid"};
    return UNRELU_OK;
}
