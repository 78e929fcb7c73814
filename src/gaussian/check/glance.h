/* SPDX-License-Identifier: Apache-2.0 */
/* What can be seen in columns with no law in mind: values that pile up at the largest one or at
 * another, codes in place of measured numbers, rounding, values far out. */
#ifndef UR_GLANCE_H
#define UR_GLANCE_H

#include "base/arena.h"
#include "unrelu/unrelu.h"

/* Rows of a source that are kept while it is read: those whose number is a multiple of the smallest
 * power of two that leaves few enough, so that they depend on the file alone, not on who reads it.
 */
typedef struct ur_glance ur_glance;

/* Keeps rows from here to ur_glance_end. *out is NULL where there are too many columns for it. */
unrelu_status ur_glance_begin(unrelu_source *source, ur_arena *arena, ur_glance **out,
                              unrelu_error *err);
void ur_glance_end(ur_glance *glance);
/* Flags the columns of a model that was fitted to these samples, and warns of them, with numbers.
 * Of values at or below `at` (of the source's columns, or NULL: 0) nothing is said: they are
 * censored. */
unrelu_status ur_glance_tell(const ur_glance *glance, const double *at, unrelu_gaussian *model,
                             unrelu_error *err);

/* what was seen of one column, sorted (count); values far out come from the fit */
typedef struct {
    uint32_t flags;
    double top, top_share;     /* the largest value, as a share of those seen */
    double piled, piled_share; /* another one that far more cells have than others do */
    double next;               /* the smallest above that one */
    size_t different;          /* values */
    double alike;              /* chance that two values seen are equal */
} ur_glimpse;
ur_glimpse ur_glance_at(const double *value, size_t count);

#endif
