/* SPDX-License-Identifier: Apache-2.0 */
/* A double as the shortest decimal of 15, 16 or 17 digits that reads back as the same bits,
 * with a point whatever the locale; NaN as NA. The text is that of printf's %.15g, %.16g or
 * %.17g. */
#ifndef UR_DECIMAL_H
#define UR_DECIMAL_H

#include "base/c_locale.h"

#include <stddef.h>

enum { UR_DECIMAL_MOST = 32 };

/* returns the length; out is not terminated; c_locale is newlocale(..., "C") */
size_t ur_decimal_write(locale_t c_locale, double x, char out[UR_DECIMAL_MOST]);
/* by printf and strtod: for every double, and the oracle of the fast way */
size_t ur_decimal_write_slow(locale_t c_locale, double x, char out[UR_DECIMAL_MOST]);

#endif
