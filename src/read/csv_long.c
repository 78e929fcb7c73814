/* SPDX-License-Identifier: Apache-2.0 */
#include "read/csv_long.h"

#include "base/error.h"

#include <string.h>

static int is_there(const char *name, const char *const *names, size_t width)
{
    size_t j = 0;
    while (j < width && strcmp(names[j], name) != 0)
        j++;
    return j < width;
}

unrelu_status ur_csv_refuse_long(const char *label, const char *const *names, size_t width,
                                 unrelu_error *err)
{
    static const struct {
        const char *what, *value;
    } forms[] = {{"CharacteristicName", "ResultMeasureValue"},
                 {"Result_Characteristic", "Result_Measure"},
                 {"parm_cd", "result_va"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_there(forms[i].what, names, width) && is_there(forms[i].value, names, width))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: a row holds one result ('%s' says of what, '%s' how much), and has "
                           "to hold a whole sample: examples/wide.awk makes a column of each "
                           "(awk -f wide.awk FILE > wide.csv), or keep the rows of one, and its "
                           "value with `columns`",
                           label, forms[i].what, forms[i].value);
    return UNRELU_OK;
}
