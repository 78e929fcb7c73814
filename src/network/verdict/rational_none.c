/* SPDX-License-Identifier: Apache-2.0 */
/* In place of rational/, in a library without GMP. */
#include "base/error.h"
#include "network/problem/recover.h"

unrelu_status ur_rational_ready(unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "a certificate in exact arithmetic needs GMP, and this copy of unrelu was built "
                   "without it");
}

unrelu_status ur_rational(ur_recover *r, unrelu_error *err)
{
    (void)r;
    return ur_rational_ready(err);
}
