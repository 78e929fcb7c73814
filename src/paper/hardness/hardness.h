/* SPDX-License-Identifier: Apache-2.0 */
/* From a formula to two neurons and back. */
#ifndef UR_HARDNESS_H
#define UR_HARDNESS_H

#include "model/kind.h"

/* a formula in conjunctive normal form */
typedef struct {
    size_t variables, clauses;
    int *literals; /* of all clauses, each with a 0 behind it */
    size_t count, capacity;
} ur_cnf;

/* "-": standard input */
unrelu_status ur_cnf_read(const char *path, ur_arena *arena, ur_cnf *cnf, unrelu_error *err);

extern const ur_kind ur_hardness_kind; /* hardness_encode.c */

/* columns of X beyond those of the variables: s, the two of the constant, that of alpha */
static inline size_t ur_hardness_extra(int variable_alpha)
{
    return variable_alpha ? 4 : 3;
}

#endif
