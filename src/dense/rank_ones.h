/* SPDX-License-Identifier: Apache-2.0 */
/* The rank-one matrices in a linear space of symmetric ones. */
#ifndef UR_SPAN_H
#define UR_SPAN_H

#include "unrelu/unrelu.h"

/* span: k symmetric k x k matrices, one a row (k x k^2), whose linear span is that of
 * z_1 z_1', .., z_k z_k' with independent z_i, or close to it. Z (k x k) gets unit rows z_i, in
 * no order and up to sign; *worst is the largest distance |z z' - its projection|_F of them,
 * infinite (and Z zero) where the span holds no invertible matrix. Random pairs come from
 * (seed, stream). Cost: O(k^5) at most. */
unrelu_status ur_span_split(size_t k, const double *span, uint64_t seed, uint64_t stream, double *Z,
                            double *worst, unrelu_error *err);

#endif
