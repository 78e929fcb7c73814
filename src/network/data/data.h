/* SPDX-License-Identifier: Apache-2.0 */
/* Both files in memory, checked; how many digits the labels carry. */
#ifndef UR_DATA_H
#define UR_DATA_H

#include "base/arena.h"
#include "network/problem/tolerance.h"

/* --- data.c --- */
unrelu_status ur_data_load(unrelu_source *inputs, unrelu_source *labels, const unrelu_exec *exec,
                           ur_arena *arena, ur_data *data, unrelu_error *err);
/* the same of natural logarithms of probabilities: labels are the differences to the last column */
unrelu_status ur_data_load_logarithms(unrelu_source *inputs, unrelu_source *labels,
                                      const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                                      unrelu_error *err);
/* the same of x (n x d) and a (n x m), which are borrowed */
unrelu_status ur_data_hold(size_t n, size_t d, size_t m, const double *x, const double *a,
                           const unrelu_exec *exec, ur_arena *arena, ur_data *data,
                           unrelu_error *err);

/* Floor, tolerance and precision of column j, whose labels are rounded so (0: they carry all
 * digits); data->floor is 0 before the first */
void ur_data_set_floor(ur_data *data, size_t j, int single, double rounding, int digits);

/* How far off a cell of column j may be and still be met, in the unit of its column, where no row
 * is to drown in millions: `terms` sums |f(v x + c)| over the neurons of its row, largest is that
 * of |U_ij|; per_unit = 1 / column_unit[j]. */
double ur_data_reach(const ur_data *data, size_t j, double per_unit, double largest, double terms,
                     double e);

/* --- input_rank.c --- */
/* rank of x (n x d), or of [x 1] where `ones`, over all rows and to within rounding */
unrelu_status ur_input_rank(const ur_data *data, int ones, const unrelu_exec *exec, size_t *rank,
                            unrelu_error *err);

/* --- distinct.c --- */
/* how many rows of x (n x d) differ from each other, from those of `used` (marks, may be NULL:
 * those rows do not count either); stops at `enough` */
unrelu_status ur_distinct(const double *x, size_t n, size_t d, const unsigned char *used,
                          size_t enough, size_t *count, unrelu_error *err);

#endif
