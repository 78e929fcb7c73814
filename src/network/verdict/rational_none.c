/* SPDX-License-Identifier: Apache-2.0 */
/* In place of rational/, in a library without GMP. */
#include "base/error.h"
#include "network/verdict/verdict.h"

unrelu_status ur_rational_ready(unrelu_error *err)
{
    return ur_fail(err, UNRELU_EUSAGE,
                   "a certificate in exact arithmetic needs GMP, and this copy of unrelu was built "
                   "without it");
}

unrelu_status ur_rational(const ur_problem *given, unrelu_network *model, unrelu_error *err)
{
    (void)given;
    (void)model;
    return ur_rational_ready(err);
}
