/* SPDX-License-Identifier: Apache-2.0 */
/* How a running call hears of signals: Python's handlers run in the thread that called alone, so
 * that this one, where the library asks it, lets Python look, and all others are told what came of
 * it. */
#include <pthread.h>
#include <time.h>
#include <unrelu/unrelu.h>

/* Seconds between two looks: each waits for the interpreter's lock, up to 5 ms where another thread
 * computes; and a keyboard interrupt is not felt to be late by a tenth of a second. */
#define BETWEEN_LOOKS 0.1

typedef struct {
    void *handle; /* of Python's side of the call */
    int stopped;  /* what the library is answered */
    pthread_t caller;
    double next; /* when to look again */
} python_call;

static int python_signals(void *handle);
static void python_progress(void *handle, const char *stage, double fraction);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int look(void *context)
{
    python_call *call = context;
    if (call->stopped || !pthread_equal(call->caller, pthread_self()))
        return call->stopped;
    double time = now();
    if (time < call->next)
        return 0;
    call->stopped = python_signals(call->handle);
    call->next = now() + BETWEEN_LOOKS;
    return call->stopped;
}

static void tell(void *context, const char *stage, double fraction)
{
    python_call *call = context;
    python_progress(call->handle, stage, fraction);
}

static void python_call_start(python_call *call, unrelu_exec *exec, int threads, int progress)
{
    call->stopped = 0;
    call->caller = pthread_self();
    call->next = now() + BETWEEN_LOOKS;
    unrelu_exec_init(exec, sizeof *exec);
    exec->threads = threads;
    exec->cancelled = look;
    exec->progress = progress ? tell : NULL;
    exec->context = call;
}
