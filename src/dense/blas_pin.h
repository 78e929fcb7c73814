/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS runs on one thread while a public call of ours does: its LAPACK gives other bits at other
 * numbers of threads. Calls may overlap: the first sets the number, the last restores it.
 *
 *     UR_BLAS_PINNED;      at the head of a public function, until it returns */
#ifndef UR_BLAS_PIN_H
#define UR_BLAS_PIN_H

#define UR_BLAS_PINNED                                                                             \
    __attribute__((cleanup(ur_blas_unpin), unused)) int ur_blas_pinned = ur_blas_pin()

int ur_blas_pin(void);           /* returns 1 */
void ur_blas_unpin(int *pinned); /* its variable */

#endif
