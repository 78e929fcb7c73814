/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a file are handed out: "lead,3,5-9". */
#ifndef UR_COLUMNS_H
#define UR_COLUMNS_H

#include "read/format.h"

/* Sets width, d, pick and names of the source. names (width of them) may be NULL: then columns
 * are called x1, x2, ... spec may be NULL: all columns. An entry that equals a name means that
 * column, else it is a 1-based number or range; the order of the entries is kept. */
unrelu_status ur_columns_choose(unrelu_source *source, const char *spec, size_t width,
                                char *const *names, unrelu_error *err);

#endif
