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

unrelu_status ur_rational(const ur_problem *given, const ur_outcome *out, unrelu_verdict verdict,
                          ur_arena *arena, ur_fractions *fractions, unrelu_error *err)
{
    (void)given;
    (void)out;
    (void)verdict;
    (void)arena;
    (void)fractions;
    return ur_rational_ready(err);
}
