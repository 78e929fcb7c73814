/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which an exact fit is called the only one, as a table that docs are written from. */
#ifndef UR_RULES_H
#define UR_RULES_H

#include "network/verdict/verdict.h"

typedef struct {
    const char *code;     /* of the warning where it is broken */
    const char *demand;   /* what must hold */
    unrelu_verdict worst; /* that a fit may have which breaks it */
} ur_rule;

/* in the order in which they are told; NULL behind the last */
const ur_rule *ur_rule_at(size_t i);

#endif
