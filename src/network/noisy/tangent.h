/* SPDX-License-Identifier: Apache-2.0 */
/* What a fit takes away from noise. Weights that move a little move the labels that the network
 * gives in the tangent space of the network at the rows; least squares leave of noise what is
 * orthogonal to it, r = (I - H) noise, H the projection. Its basis here: Q for U and e, the same
 * for every label, and J for V and c, beside it. */
#ifndef UR_TANGENT_H
#define UR_TANGENT_H

#include "network/data/frame.h"
#include "network/problem/outcome.h"

typedef struct {
    size_t n, m;      /* rows and labels */
    size_t outer;     /* columns of Q (n x outer) */
    size_t inner;     /* columns of J (n m x inner); 0 where they would be too many */
    double *Q, *J;    /* J: cell (i, r) in row i m + r */
    double *leverage; /* n m: diagonal of H */
} ur_tangent;

/* x (n x d): rows that the network was fitted to, or some of them */
unrelu_status ur_tangent_make(const ur_weights *w, ur_terms terms, size_t n, const double *x,
                              ur_arena *arena, ur_tangent *tangent, unrelu_error *err);
/* E (n m x columns) becomes E - H E. Of what the network leaves at these rows it takes away what
 * the fit to others has brought. room: (outer m + inner) columns */
void ur_tangent_leave(const ur_tangent *tangent, size_t columns, double *E, double *room);

#endif
