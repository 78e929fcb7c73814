/* SPDX-License-Identifier: Apache-2.0 */
/* What a cell of one column says of a cell of another: that its value was seen, or is a limit. */
#ifndef UR_CSV_SAID_H
#define UR_CSV_SAID_H

#include "read/csv_cell.h"
#include "read/reading.h"

typedef enum {
    UR_SAYS_NOTHING,
    UR_SAYS_SEEN,
    UR_SAYS_BELOW,
    UR_SAYS_ABOVE,
    UR_SAYS_MISSING
} ur_said;

ur_said ur_csv_said(const ur_reading *reading, locale_t c_locale, const ur_cell *cell);

#endif
