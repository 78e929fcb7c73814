/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/blas_pin.h"

#include <cblas.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;  /* public calls that run now */
static int before; /* threads of BLAS before the first of them */

int ur_blas_pin(void)
{
    pthread_mutex_lock(&lock);
    if (calls++ == 0) {
        before = openblas_get_num_threads();
        if (before != 1)
            openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
    return 1;
}

void ur_blas_unpin(int *pinned)
{
    (void)pinned;
    pthread_mutex_lock(&lock);
    if (--calls == 0 && before != 1)
        openblas_set_num_threads(before);
    pthread_mutex_unlock(&lock);
}
