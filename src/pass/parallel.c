/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/parallel.h"

#include "base/error.h"
#include "base/sized.h"
#include "base/system.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

void unrelu_exec_init(unrelu_exec *exec, size_t size)
{
    const unrelu_exec defaults = {0};
    ur_sized_init(exec, size, &defaults, sizeof defaults);
}

unrelu_status ur_exec_read(const unrelu_exec **exec, unrelu_exec *copy, unrelu_error *err)
{
    *copy = (unrelu_exec){.size = sizeof *copy};
    UR_TRY(ur_sized_copy(copy, sizeof *copy, *exec, "the members of exec", err));
    copy->threads = ur_threads(copy);
    *exec = copy;
    return UNRELU_OK;
}

int ur_threads(const unrelu_exec *exec)
{
    if (exec && exec->threads > 0)
        return exec->threads < MAX_THREADS ? exec->threads : MAX_THREADS;
    int cores = ur_cores();
    return cores < MAX_THREADS ? cores : MAX_THREADS;
}

int ur_cancelled(const unrelu_exec *exec)
{
    return exec && exec->cancelled ? exec->cancelled(exec->context) : UNRELU_GO_ON;
}

void ur_progress(const unrelu_exec *exec, const char *stage, double fraction)
{
    if (exec && exec->progress)
        exec->progress(exec->context, stage, fraction);
}

void ur_count(const unrelu_exec *exec, unrelu_counts counts)
{
    if (exec && exec->counts)
        exec->counts(exec->context, &counts);
    else
        ur_progress(exec, counts.stage, counts.fraction);
}

unrelu_status ur_fail_cancelled(unrelu_error *err)
{
    return ur_fail(err, UNRELU_ECANCELLED, "interrupted: nothing was written");
}

typedef struct {
    void (*work)(void *context, int thread);
    void *context;
    int thread;
    pthread_t id;
} job;

static void *run(void *argument)
{
    job *j = argument;
    j->work(j->context, j->thread);
    return NULL;
}

void ur_parallel(int threads, void (*work)(void *context, int thread), void *context)
{
    job jobs[MAX_THREADS];
    int started = 1;
    for (; started < threads; started++) {
        jobs[started] = (job){work, context, started, 0};
        if (pthread_create(&jobs[started].id, NULL, run, &jobs[started]))
            break;
    }
    work(context, 0);
    for (int i = started; i < threads; i++)
        work(context, i);
    for (int i = 1; i < started; i++)
        pthread_join(jobs[i].id, NULL);
}

/* ---- loops ---- */

typedef struct {
    const unrelu_exec *exec;
    const char *stage;
    size_t count;
    unrelu_status (*body)(void *context, size_t i, unrelu_error *err);
    void *context;
    atomic_size_t next;
    atomic_int cancelled;
    pthread_mutex_t lock; /* of the failure: */
    atomic_size_t first;  /* the smallest i that failed; SIZE_MAX: none did */
    unrelu_status status;
    unrelu_error why;
} loop;

static void loop_work(void *context, int thread)
{
    loop *l = context;
    for (;;) {
        size_t i = atomic_fetch_add(&l->next, 1);
        unrelu_error why = {0};
        if (i >= l->count || i > atomic_load(&l->first) || atomic_load(&l->cancelled))
            return;
        if (thread == 0) {
            ur_progress(l->exec, l->stage, (double)i / (double)l->count);
            if (ur_cancelled(l->exec))
                atomic_store(&l->cancelled, 1);
        }
        unrelu_status status = l->body(l->context, i, &why);
        if (status == UNRELU_OK)
            continue;
        pthread_mutex_lock(&l->lock);
        if (i < atomic_load(&l->first)) {
            atomic_store(&l->first, i);
            l->status = status;
            l->why = why;
        }
        pthread_mutex_unlock(&l->lock);
    }
}

unrelu_status ur_each(const unrelu_exec *exec, const char *stage, size_t count,
                      unrelu_status (*body)(void *context, size_t i, unrelu_error *err),
                      void *context, unrelu_error *err)
{
    loop l = {.exec = exec,
              .stage = stage,
              .count = count,
              .body = body,
              .context = context,
              .lock = PTHREAD_MUTEX_INITIALIZER};
    int threads = ur_threads(exec);
    atomic_init(&l.first, SIZE_MAX);
    ur_parallel((size_t)threads < count ? threads : (int)count, loop_work, &l);
    pthread_mutex_destroy(&l.lock);
    if (atomic_load(&l.cancelled))
        return ur_fail_cancelled(err);
    if (l.status != UNRELU_OK && err)
        *err = l.why;
    return l.status;
}

typedef struct {
    void (*body)(void *context, size_t i);
    void *context;
} plain;

static unrelu_status run_plain(void *context, size_t i, unrelu_error *err)
{
    const plain *p = context;
    (void)err;
    p->body(p->context, i);
    return UNRELU_OK;
}

unrelu_status ur_parallel_for(const unrelu_exec *exec, const char *stage, size_t count,
                              void (*body)(void *context, size_t i), void *context,
                              unrelu_error *err)
{
    return ur_each(exec, stage, count, run_plain, &(plain){body, context}, err);
}
