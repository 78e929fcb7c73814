/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_SYMMETRY_TEST_H
#define UR_SYMMETRY_TEST_H

#include "network/model/network.h"

typedef struct {
    double statistic, p; /* p: chance of so large a statistic under symmetry about 0 */
    size_t degrees;
} ur_symmetry;

unrelu_status ur_symmetry_test(const ur_sample *sample, uint64_t seed, const unrelu_exec *exec,
                               ur_symmetry *out, unrelu_error *err);

/* P(chi2 with `degrees` degrees of freedom > x), to 1e-12 relative */
double ur_chi2_tail(double degrees, double x);

#endif
