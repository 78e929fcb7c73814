/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/basis.h"

#include "dense/blas.h"

#include <string.h>

void ur_basis_sweep(const ur_basis *basis, size_t count, double *x)
{
    size_t length = basis->length;
    for (size_t j = 0; j < count; j++) {
        const double *row = basis->rows + j * length;
        ur_add(length, -ur_dot(length, row, x), row, x);
    }
}

double ur_basis_remove(const ur_basis *basis, size_t count, double *x)
{
    ur_basis_sweep(basis, count, x);
    ur_basis_sweep(basis, count, x);
    return ur_norm(basis->length, x);
}

int ur_basis_grow(ur_basis *basis, const double *x, double least)
{
    size_t length = basis->length;
    if (basis->count == length)
        return 0;
    double *row = basis->rows + basis->count * length;
    memcpy(row, x, length * sizeof *row);
    double rest = ur_basis_remove(basis, basis->count, row);
    if (!(rest > least))
        return 0;
    ur_scale(length, 1 / rest, row);
    basis->count++;
    return 1;
}
