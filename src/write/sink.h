/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table to a file, as unrelu_sink_open, with texts among the numbers. */
#ifndef UR_SINK_H
#define UR_SINK_H

#include "unrelu/unrelu.h"

/* whether a path is written as .npy, which holds numbers alone */
int ur_sink_is_array(const char *path);
/* safe: an apostrophe before names and texts that a spreadsheet would run as formulas */
unrelu_status ur_sink_open(const char *path, size_t n, size_t d, const char *const *names, int safe,
                           unrelu_sink **out, unrelu_error *err);
/* One row, not of .npy: texts[j], or x[j] where that is NULL (d each). */
unrelu_status ur_sink_write_mixed(unrelu_sink *sink, const double *x, const char *const *texts,
                                  unrelu_error *err);

#endif
