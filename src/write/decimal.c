/* SPDX-License-Identifier: Apache-2.0 */
#include "write/decimal.h"

#include "memory.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ur_decimal {
    locale_t c_locale;
};

ur_decimal *ur_decimal_new(void)
{
    ur_decimal *decimal = ur_alloc(1, sizeof *decimal);
    if (decimal && !(decimal->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0))) {
        free(decimal);
        return NULL;
    }
    return decimal;
}

void ur_decimal_free(ur_decimal *decimal)
{
    if (decimal)
        freelocale(decimal->c_locale);
    free(decimal);
}

size_t ur_decimal_write(const ur_decimal *decimal, double x, char out[UR_DECIMAL_MOST])
{
    int size = 0;
    if (x == 0 && !signbit(x)) { /* half of a rectified table */
        out[0] = '0';
        return 1;
    }
    if (isnan(x)) {
        memcpy(out, "NA", 2);
        return 2;
    }
    locale_t before = uselocale(decimal->c_locale); /* of this thread only */
    for (int digits = 15; digits <= 17; digits++) {
        size = snprintf(out, UR_DECIMAL_MOST, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            break;
    }
    uselocale(before);
    return (size_t)size;
}
