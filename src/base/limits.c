/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"

#include "base/error.h"

unrelu_status ur_columns_check(const char *label, size_t columns, unrelu_error *err)
{
    if (columns <= UR_COLUMNS_MOST)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s has %zu columns, where at most %d are read; rows must be samples: turn it "
                   "where they are columns",
                   label, columns, UR_COLUMNS_MOST);
}
