/* SPDX-License-Identifier: Apache-2.0 */
/* An orthonormal basis that grows vector by vector (Gram-Schmidt). */
#ifndef UR_BASIS_H
#define UR_BASIS_H

#include <stddef.h>

typedef struct {
    size_t length, count;
    double *rows; /* (count, length), with room for as many as shall be added */
} ur_basis;

/* x minus its parts along the first `count` rows of the basis, one after another: rounding leaves
 * 1e-16 |x| of these, which is much where little of x remains */
void ur_basis_sweep(const ur_basis *basis, size_t count, double *x);
/* Sweeps twice: what rounding leaves of the basis after the first time is gone. Returns |x|. */
double ur_basis_remove(const ur_basis *basis, size_t count, double *x);
/* Adds the direction of what x has outside of the basis, where that is longer than `least` and the
 * basis does not span everything; whether it did. x is kept. */
int ur_basis_grow(ur_basis *basis, const double *x, double least);

#endif
