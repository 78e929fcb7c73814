/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread loops: take a free buffer, take the next piece, sum it into the buffer, hand the
 * buffer in. Buffers are added to the total in the order of the pieces; one that comes early waits
 * in its place while its thread goes on with another. A thread owns its buffer before it takes a
 * piece, so that the piece everybody waits for is always being worked on. */
#include "pass/ordered.h"

#include "base/error.h"
#include "pass/parallel.h"

#include <pthread.h>
#include <stdint.h>

typedef enum { FREE, BUSY, READY } buffer_state;

typedef struct {
    buffer_state state;
    size_t piece;
    double *sum;
} buffer;

typedef struct {
    const ur_ordered *what;
    void *context;
    const unrelu_exec *exec;
    const char *stage;
    double *total;

    pthread_mutex_t lock;
    pthread_cond_t freed;
    buffer *buffers;
    size_t buffer_count;
    int at_end, stop;
    size_t merged; /* pieces added so far */
    size_t failed_piece;
    unrelu_status status;
    unrelu_error error;
} queue;

static void fail(queue *q, size_t piece, unrelu_status status, const unrelu_error *error)
{
    if (q->status == UNRELU_OK || piece < q->failed_piece) {
        q->status = status;
        q->error = *error;
        q->failed_piece = piece;
    }
    q->stop = 1;
}

static void absorb(const queue *q, double *sum)
{
    if (q->what->absorb) {
        q->what->absorb(q->context, q->total, sum);
        return;
    }
    for (size_t i = 0; i < q->what->len; i++) {
        q->total[i] += sum[i];
        sum[i] = 0;
    }
}

static void merge_ready(queue *q)
{
    for (size_t i = 0; i < q->buffer_count;) {
        buffer *b = &q->buffers[i];
        if (b->state == READY && b->piece == q->merged) {
            absorb(q, b->sum);
            b->state = FREE;
            q->merged++;
            i = 0;
        } else {
            i++;
        }
    }
}

static buffer *wait_for_buffer(queue *q)
{
    while (!q->stop && !q->at_end) {
        for (size_t i = 0; i < q->buffer_count; i++)
            if (q->buffers[i].state == FREE) {
                q->buffers[i].state = BUSY;
                return &q->buffers[i];
            }
        pthread_cond_wait(&q->freed, &q->lock);
    }
    return NULL;
}

/* returns 0 where there is no more work */
static int take(queue *q, buffer *b, void *mine)
{
    unrelu_error error = {0};
    int more = 0;
    ur_progress(q->exec, q->stage, q->what->fraction(q->context));
    if (!q->stop && ur_cancelled(q->exec)) {
        ur_fail_cancelled(&error);
        fail(q, 0, UNRELU_ECANCELLED, &error);
    }
    if (q->stop)
        return 0;
    unrelu_status status = q->what->take(q->context, mine, &b->piece, &more, &error);
    if (status != UNRELU_OK)
        fail(q, q->failed_piece, status, &error);
    q->at_end |= status != UNRELU_OK || !more;
    return !q->at_end;
}

static void work(void *argument, int thread)
{
    (void)thread;
    queue *q = argument;
    unrelu_error error = {0};
    UR_ARENA(arena);
    void *mine = q->what->mine(q->context, &arena);
    pthread_mutex_lock(&q->lock);
    if (ur_arena_status(&arena, &error) != UNRELU_OK)
        fail(q, 0, UNRELU_ENOMEM, &error);
    for (buffer *b; (b = wait_for_buffer(q)) && take(q, b, mine);) {
        pthread_mutex_unlock(&q->lock);
        unrelu_status status = q->what->add(q->context, mine, b->sum, &error);
        pthread_mutex_lock(&q->lock);
        if (status != UNRELU_OK)
            fail(q, b->piece, status, &error);
        b->state = READY;
        if (!q->stop)
            merge_ready(q);
        pthread_cond_broadcast(&q->freed);
    }
    pthread_cond_broadcast(&q->freed);
    pthread_mutex_unlock(&q->lock);
}

unrelu_status ur_ordered_sum(const ur_ordered *what, void *context, const unrelu_exec *exec,
                             const char *stage, double *total, unrelu_error *err)
{
    UR_ARENA(arena);
    queue q = {.what = what, .context = context, .exec = exec, .stage = stage, .total = total};
    q.failed_piece = SIZE_MAX;
    int threads = ur_threads(exec);
    if ((size_t)threads > what->pieces)
        threads = (int)what->pieces;
    q.buffer_count = threads > 1 ? (size_t)threads + 2 : 1;
    q.buffers = ur_take(&arena, q.buffer_count, sizeof *q.buffers);
    for (size_t i = 0; q.buffers && i < q.buffer_count; i++)
        if (!(q.buffers[i].sum = ur_take(&arena, what->len, sizeof(double))))
            return ur_fail_memory(err, what->len, "doubles of a summary; use fewer threads");
    UR_TRY(ur_arena_status(&arena, err));
    pthread_mutex_init(&q.lock, NULL);
    pthread_cond_init(&q.freed, NULL);
    ur_parallel(threads, work, &q);
    pthread_cond_destroy(&q.freed);
    pthread_mutex_destroy(&q.lock);
    if (q.status != UNRELU_OK && err)
        *err = q.error;
    return q.status;
}
