/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that belong together: those with the same text, or number, in a column of the file. */
#ifndef UR_GROUPS_H
#define UR_GROUPS_H

#include "base/arena.h"
#include "read/source.h"

typedef struct {
    size_t rows, count;
    size_t *of; /* rows: which of the `count` groups */
} ur_groups;

/* column: a name of the file, or a number from 1 on; whether it is handed out or not. A row where
 * it is missing, and a file with one group, are refused. */
unrelu_status ur_groups_load(unrelu_source *source, const char *column, ur_arena *arena,
                             ur_groups *groups, unrelu_error *err);

/* Sums of squares and products of sums over groups, of what each row moves two numbers by, times
 * G / (G - 1) of G groups: aa, ab, bb, and the fourth powers of b. room: 2 G. */
typedef struct {
    double aa, ab, bb, bbbb;
} ur_group_squares;
ur_group_squares ur_groups_squares(const ur_groups *groups, const double *a, const double *b,
                                   double *room);

#endif
