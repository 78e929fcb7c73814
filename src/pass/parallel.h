/* SPDX-License-Identifier: Apache-2.0 */
/* The only threads. */
#ifndef UR_PARALLEL_H
#define UR_PARALLEL_H

#include "unrelu/unrelu.h"

/* What a public function does first: *exec, which may be NULL or of an older version, becomes copy,
 * whose threads are a number, at least 1. */
unrelu_status ur_exec_read(const unrelu_exec **exec, unrelu_exec *copy, unrelu_error *err);
/* threads of exec, at least 1 (0 and NULL mean all the cores this process may use) */
int ur_threads(const unrelu_exec *exec);
/* Runs work(context, i) for i = 0 .. threads - 1, i = 0 on the calling thread. With fewer
 * threads to be had than asked, the calls that are left run on the calling thread: work must
 * not wait for another i to start. */
void ur_parallel(int threads, void (*work)(void *context, int thread), void *context);
/* body(context, i) for i in 0 .. count - 1 in any order: each i writes its own results, so
 * that the order cannot be seen. Stops with ECANCELLED where exec says so. */
unrelu_status ur_parallel_for(const unrelu_exec *exec, const char *stage, size_t count,
                              void (*body)(void *context, size_t i), void *context,
                              unrelu_error *err);

/* The same for a body that can fail: of several failures that of the smallest i is reported, at
 * any number of threads, and larger i may not run any more. */
unrelu_status ur_each(const unrelu_exec *exec, const char *stage, size_t count,
                      unrelu_status (*body)(void *context, size_t i, unrelu_error *err),
                      void *context, unrelu_error *err);

int ur_cancelled(const unrelu_exec *exec); /* the unrelu_wish */
void ur_progress(const unrelu_exec *exec, const char *stage, double fraction);
void ur_count(const unrelu_exec *exec, unrelu_counts counts);
unrelu_status ur_fail_cancelled(unrelu_error *err);

#endif
