/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_MATCH_H
#define UR_MATCH_H

#include "unrelu/unrelu.h"

#define UR_UNMATCHED SIZE_MAX

/* The one-to-one assignment of least total cost: match[i] is the column of row i. cost (rows x
 * columns) is finite. min(rows, columns) pairs are made; a row left over has UR_UNMATCHED. */
unrelu_status ur_match(size_t rows, size_t columns, const double *cost, size_t *match,
                       unrelu_error *err);

#endif
