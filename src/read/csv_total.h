/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that sum up others, which spreadsheets have at their end. */
#ifndef UR_CSV_TOTAL_H
#define UR_CSV_TOTAL_H

#include "read/csv_cell.h"

/* Whether the first cell of a row calls it a total, a sum or a mean: "Total", "Grand total:", ...
 * Words that are names of people or places too (Max, Min) are left: beside them there is a mean. */
int ur_csv_is_total(const ur_cell *cell);

#endif
