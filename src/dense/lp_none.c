/* SPDX-License-Identifier: Apache-2.0 */
/* In place of lp.c, in a library without Clp. */
#include "base/error.h"
#include "dense/lp.h"

unrelu_status ur_lp_ready(const char *user, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s needs linear programmes, and this copy of unrelu was built without Clp",
                   user);
}

unrelu_status ur_lp_ray(size_t n, size_t p, const double *R, const double *c, const double *r,
                        double *u, ur_lp_outcome *outcome, unrelu_error *err)
{
    (void)n;
    (void)p;
    (void)R;
    (void)c;
    (void)r;
    (void)u;
    *outcome = UR_LP_STALLED;
    return ur_lp_ready("this method", err);
}
