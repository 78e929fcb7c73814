/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of five that fit 64 bits: what turns decimal digits into binary ones and back. */
#ifndef UR_FIVES_H
#define UR_FIVES_H

#include <stdint.h>

enum { UR_FIVES_MOST = 27 };
extern const uint64_t ur_fives[UR_FIVES_MOST + 1];

#endif
