/* SPDX-License-Identifier: Apache-2.0 */
/* Footnote 2 of the one-layer paper: samples that went through an invertible activation. It is
 * undone where they are read, and the moments are those of plain normals without a limit. */
#ifndef UR_UNDONE_H
#define UR_UNDONE_H

#include "read/source.h"

typedef struct {
    unrelu_transform inverse; /* UNRELU_TRANSFORM_NONE: the ReLU, which is not undone */
    double slope;             /* of leaky; NaN else */
} ur_activation_undone;

enum { UR_ACTIVATION_NAME = 64 };

/* "leaky:0.1", "sigmoid"; 0 where it is none of them */
int ur_activation_read(const char *text, unrelu_transform *inverse, double *slope);
/* and back; "" where there is nothing to undo. name: UR_ACTIVATION_NAME characters */
void ur_activation_write(unrelu_transform inverse, double slope, char *name);
int ur_activation_same(const ur_activation_undone *a, const ur_activation_undone *b);

/* How values are undone. Refused: options that do not go with an activation, a slope that has no
 * inverse. */
unrelu_status ur_undo_of(const unrelu_gaussian_options *options, ur_undo *undo, unrelu_error *err);

#endif
