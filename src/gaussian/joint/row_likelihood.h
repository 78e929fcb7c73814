/* SPDX-License-Identifier: Apache-2.0 */
/* How likely the cells of many columns are together. */
#ifndef UR_ROW_LIKELIHOOD_H
#define UR_ROW_LIKELIHOOD_H

#include "law/cell_pair.h"

typedef struct {
    size_t n, d;
    const ur_cell_column *const *column; /* d: with their margins */
    const double *correlation;           /* d x d */
} ur_joint_columns;

typedef struct {
    double value; /* the logarithm of the likelihood of all rows */
    double error; /* its standard error; 0: no row hides more than two cells, none two
                   * that are rarer together than 1e-6 */
} ur_joint_likelihood;

/* value is NaN where the columns are not independent enough for a density, where a margin has no
 * scale, where the error is above 0.1, or where all this would take more than some 0.3 s. */
unrelu_status ur_row_likelihoods(const ur_joint_columns *columns, const unrelu_exec *exec,
                                 ur_joint_likelihood *out, unrelu_error *err);

/* Of each row (n), by as many points as there can be, whatever it costs; variance (n): of its
 * error. NaN where a row has no density. Every margin has a scale. */
unrelu_status ur_row_likelihoods_each(const ur_joint_columns *columns, const unrelu_exec *exec,
                                      double *value, double *variance, unrelu_error *err);

#endif
