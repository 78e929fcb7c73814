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
    return exec && exec->cancelled && exec->cancelled(exec->context);
}

void ur_progress(const unrelu_exec *exec, const char *stage, double fraction)
{
    if (exec && exec->progress)
        exec->progress(exec->context, stage, fraction);
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

typedef struct {
    const unrelu_exec *exec;
    const char *stage;
    size_t count;
    void (*body)(void *context, size_t i);
    void *context;
    atomic_size_t next;
    atomic_int stop;
} loop;

static void loop_work(void *context, int thread)
{
    loop *l = context;
    for (;;) {
        size_t i = atomic_fetch_add(&l->next, 1);
        if (i >= l->count || atomic_load(&l->stop))
            return;
        if (thread == 0) {
            ur_progress(l->exec, l->stage, (double)i / (double)l->count);
            if (ur_cancelled(l->exec))
                atomic_store(&l->stop, 1);
        }
        l->body(l->context, i);
    }
}

unrelu_status ur_parallel_for(const unrelu_exec *exec, const char *stage, size_t count,
                              void (*body)(void *context, size_t i), void *context,
                              unrelu_error *err)
{
    loop l = {.exec = exec, .stage = stage, .count = count, .body = body, .context = context};
    int threads = ur_threads(exec);
    ur_parallel((size_t)threads < count ? threads : (int)count, loop_work, &l);
    return atomic_load(&l.stop) ? ur_fail_cancelled(err) : UNRELU_OK;
}

/* ---- bodies that fail ---- */

typedef struct {
    unrelu_status (*body)(void *context, size_t i, unrelu_error *err);
    void *context;
    pthread_mutex_t lock;
    atomic_size_t first; /* the smallest i that failed; SIZE_MAX: none did */
    unrelu_status status;
    unrelu_error why;
} trial;

static void try_one(void *context, size_t i)
{
    trial *t = context;
    unrelu_error why = {0};
    if (i > atomic_load(&t->first))
        return;
    unrelu_status status = t->body(t->context, i, &why);
    if (status == UNRELU_OK)
        return;
    pthread_mutex_lock(&t->lock);
    if (i < atomic_load(&t->first)) {
        atomic_store(&t->first, i);
        t->status = status;
        t->why = why;
    }
    pthread_mutex_unlock(&t->lock);
}

unrelu_status ur_each(const unrelu_exec *exec, const char *stage, size_t count,
                      unrelu_status (*body)(void *context, size_t i, unrelu_error *err),
                      void *context, unrelu_error *err)
{
    trial t = {.body = body, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_init(&t.first, SIZE_MAX);
    unrelu_status status = ur_parallel_for(exec, stage, count, try_one, &t, err);
    pthread_mutex_destroy(&t.lock);
    if (status == UNRELU_OK && t.status != UNRELU_OK && err)
        *err = t.why;
    return status == UNRELU_OK ? t.status : status;
}
