/* SPDX-License-Identifier: Apache-2.0 */
/* BLAS runs on one thread while a public call of ours does: its LAPACK gives other bits at other
 * numbers of threads. Calls may overlap: the first sets the number, the last restores it.
 *
 * OpenBLAS has a buffer for each of our threads that is inside of it, asks for one when it has none
 * left, and asks again for ever where memory is short. So they are asked for here, before a call
 * begins, and only where there is room for them.
 *
 *     UR_BLAS_BEGIN(&exec.threads, err);    in a public function, until it returns
 *
 * leaves it with ENOMEM where there is no room for one buffer. Where there is none for all threads
 * that are wanted (at least 1; NULL: 1), fewer are left in *threads: results do not depend on it.
 */
#ifndef UR_BLAS_PIN_H
#define UR_BLAS_PIN_H

#include "unrelu/unrelu.h"

#define UR_BLAS_BEGIN(threads, err)                                                                \
    UR_BLAS_PIN(threads);                                                                          \
    do {                                                                                           \
        unrelu_status ur_blas_status = ur_blas_check(ur_blas_pinned, err);                         \
        if (ur_blas_status != UNRELU_OK)                                                           \
            return ur_blas_status;                                                                 \
    } while (0)
/* the same without leaving: ur_blas_check(ur_blas_pinned, err) is the status */
#define UR_BLAS_PIN(threads)                                                                       \
    __attribute__((cleanup(ur_blas_unpin), unused)) int ur_blas_pinned = ur_blas_pin(threads)

#define UR_BLAS_PINNED UR_BLAS_PIN(NULL) /* for tests */

/* Address space of one buffer: that of OpenBLAS 0.3.21 for x86-64, of all kernels in one library.
 * Of it, what a product of large matrices needs is used: 20 MB. Smaller, and a call might wait for
 * memory for ever; larger, and it is refused where it could run. */
#define UR_BLAS_BUFFER ((size_t)128 << 20)

int ur_blas_pin(int *threads); /* for how many threads there are buffers */
unrelu_status ur_blas_check(int pinned, unrelu_error *err);
void ur_blas_unpin(int *pinned); /* its variable */

#endif
