/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_CUT_TAILS_H
#define UR_CUT_TAILS_H

#include "unrelu/unrelu.h"

/* b (n, m) = labels a with every column cut at both ends where tails are heavy, else as a */
unrelu_status ur_cut_tails(size_t n, size_t m, const double *a, double *b, int *heavy,
                           unrelu_error *err);

#endif
