/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with a row for each result, of which one column says what was measured and another how
 * much: fitted as they stand, arsenic and temperature would be one column. */
#ifndef UR_CSV_LONG_H
#define UR_CSV_LONG_H

#include "unrelu/unrelu.h"

#include <stddef.h>

/* Refuses names of such a table, as water quality data are handed out (WQX, legacy and 3.0; NWIS).
 */
unrelu_status ur_csv_refuse_long(const char *label, const char *const *names, size_t width,
                                 unrelu_error *err);

#endif
