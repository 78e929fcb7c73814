/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text to double, correctly rounded (to nearest, ties to even), whatever the locale. */
#ifndef UR_NUMBER_H
#define UR_NUMBER_H

#include "base/c_locale.h"

#include <stdint.h>

/* Reads [+-]digits[.digits][e[+-]digits] at s, which must be followed somewhere by a byte that
 * is no part of a number, with 8 readable bytes behind that. Returns the first byte after the
 * number, or NULL where there is none or it takes the slow way (over 19 digits, an exponent
 * beyond +-27 with more than 53 bits). */
const unsigned char *ur_number_fast(const unsigned char *s, double *out);

/* The same grammar over exactly [s, end), any length; c_locale is newlocale(..., "C"). Returns 0
 * where it is no number. Too large a value is an infinity. *end must not be part of a number. */
int ur_number_exact(const unsigned char *s, const unsigned char *end, locale_t c_locale,
                    double *out);

#endif
