/* SPDX-License-Identifier: Apache-2.0 */
/* locale_t and what takes one: numbers have a point here, whatever the locale of the program. */
#ifndef UR_C_LOCALE_H
#define UR_C_LOCALE_H

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h> /* what others have in the two above */
#endif

#endif
