/* SPDX-License-Identifier: Apache-2.0 */
/* OpenBLAS without threads of its own: one_blas_thread.c does that before main. */
#ifndef CLI_ONE_BLAS_THREAD_H
#define CLI_ONE_BLAS_THREAD_H

/* The environment as it was given; the first call of main. */
void cli_variables_restore(void);

#endif
