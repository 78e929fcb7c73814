/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread loops: take a free buffer, take the next piece of the file, decode and summarise
 * it into the buffer, hand the buffer in. Buffers are added to the total in the order of the
 * blocks; one that comes early waits in its place while its thread goes on with another. A
 * thread owns its buffer before it takes a piece, so that the block everybody waits for is
 * always being worked on. */
#include "pass/pass.h"

#include "base/error.h"
#include "base/memory.h"
#include "pass/parallel.h"

#include <pthread.h>
#include <stdlib.h>

typedef enum { FREE, BUSY, READY } buffer_state;

typedef struct {
    buffer_state state;
    size_t block;
    double *s;
} buffer;

typedef struct {
    unrelu_source *source;
    const ur_summary *summary;
    const void *plan;
    const unrelu_exec *exec;
    const char *stage;
    size_t len;
    double *total;

    pthread_mutex_t lock;
    pthread_cond_t freed;
    buffer *buffers;
    size_t buffer_count;
    ur_block first; /* decoded before the threads start; taken by whoever comes first */
    int first_waits;
    int at_end, stop;
    size_t merged; /* blocks added so far */
    size_t failed_block;
    unrelu_status status;
    unrelu_error error;
} pass;

static void fail(pass *p, size_t block, unrelu_status status, const unrelu_error *error)
{
    if (p->status == UNRELU_OK || block < p->failed_block) {
        p->status = status;
        p->error = *error;
        p->failed_block = block;
    }
    p->stop = 1;
}

static void absorb(const pass *p, double *from)
{
    if (p->summary->absorb) {
        p->summary->absorb(p->plan, p->total, from);
        return;
    }
    for (size_t i = 0; i < p->len; i++) {
        p->total[i] += from[i];
        from[i] = 0;
    }
}

static void merge_ready(pass *p)
{
    for (size_t i = 0; i < p->buffer_count;) {
        buffer *b = &p->buffers[i];
        if (b->state == READY && b->block == p->merged) {
            absorb(p, b->s);
            b->state = FREE;
            p->merged++;
            i = 0;
        } else {
            i++;
        }
    }
}

static buffer *wait_for_buffer(pass *p)
{
    while (!p->stop && !p->at_end) {
        for (size_t i = 0; i < p->buffer_count; i++)
            if (p->buffers[i].state == FREE) {
                p->buffers[i].state = BUSY;
                return &p->buffers[i];
            }
        pthread_cond_wait(&p->freed, &p->lock);
    }
    return NULL;
}

/* With the lock held. Returns 0 where there is no more work. */
static int take(pass *p, buffer *b, ur_piece *piece, ur_block *block, int *decoded)
{
    *decoded = p->first_waits;
    if (p->first_waits) {
        ur_block mine = *block;
        *block = p->first;
        p->first = mine;
        p->first_waits = 0;
        b->block = 0;
        return 1;
    }
    unrelu_error error = {0};
    int more = 0;
    unrelu_status status = ur_source_take(p->source, piece, &more, &error);
    if (status != UNRELU_OK)
        fail(p, p->failed_block, status, &error);
    if (status != UNRELU_OK || !more) {
        p->at_end = 1;
        return 0;
    }
    b->block = piece->index;
    return 1;
}

static void tell(pass *p)
{
    ur_progress(p->exec, p->stage, ur_source_fraction(p->source));
    if (!p->stop && ur_cancelled(p->exec)) {
        unrelu_error error;
        ur_fail_cancelled(&error);
        fail(p, 0, UNRELU_ECANCELLED, &error);
    }
}

static void work(void *context, int thread)
{
    (void)thread;
    pass *p = context;
    ur_piece piece = {0};
    ur_block block = {0};
    unrelu_error error = {0};
    void *scratch = p->summary->scratch_new ? p->summary->scratch_new(p->plan) : NULL;

    pthread_mutex_lock(&p->lock);
    if (p->summary->scratch_new && !scratch) {
        ur_fail(&error, UNRELU_ENOMEM, "not enough memory for a thread's scratch");
        fail(p, 0, UNRELU_ENOMEM, &error);
    }
    for (buffer *b; (b = wait_for_buffer(p));) {
        int decoded;
        tell(p);
        if (p->stop || !take(p, b, &piece, &block, &decoded))
            break;
        pthread_mutex_unlock(&p->lock);

        unrelu_status status = UNRELU_OK;
        if (!decoded)
            status = ur_source_decode(p->source, &piece, &block, &error);
        if (status == UNRELU_OK)
            status = p->summary->update(p->plan, scratch, b->s, &block, &error);

        pthread_mutex_lock(&p->lock);
        if (status != UNRELU_OK)
            fail(p, b->block, status, &error);
        b->state = READY;
        if (!p->stop)
            merge_ready(p);
        pthread_cond_broadcast(&p->freed);
    }
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->lock);

    if (scratch)
        p->summary->scratch_free(scratch);
    ur_piece_free(&piece);
    ur_block_free(&block);
}

static unrelu_status first_block(pass *p, void *plan, unrelu_error *err)
{
    ur_piece piece = {0};
    int more = 0;
    unrelu_status status = ur_source_take(p->source, &piece, &more, err);
    if (status == UNRELU_OK && more)
        status = ur_source_decode(p->source, &piece, &p->first, err);
    if (status == UNRELU_OK && more && p->summary->begin)
        status = p->summary->begin(plan, &p->first, err);
    p->first_waits = status == UNRELU_OK && more;
    ur_piece_free(&piece);
    return status;
}

static unrelu_status sum_over_ranks(const pass *p, unrelu_error *err)
{
    if (!p->exec || !p->exec->rank_sum)
        return UNRELU_OK;
    ur_ranks ranks = {p->exec->rank_sum, p->exec->context};
    size_t head = p->summary->head ? p->summary->head(p->plan) : 0;
    unrelu_status status = UNRELU_OK;
    if (p->summary->align)
        status = p->summary->align(p->plan, p->total, &ranks, err);
    if (status == UNRELU_OK)
        status = ranks.sum(ranks.context, p->total + head, p->len - head, err);
    return status;
}

static unrelu_status allocate_buffers(pass *p, int threads, unrelu_error *err)
{
    p->buffer_count = threads > 1 ? (size_t)threads + 2 : 1;
    p->buffers = ur_alloc(p->buffer_count, sizeof *p->buffers);
    for (size_t i = 0; p->buffers && i < p->buffer_count; i++)
        if (!(p->buffers[i].s = ur_doubles(p->len)))
            return ur_fail_memory(err, p->len, "doubles of a summary; use fewer threads");
    return p->buffers ? UNRELU_OK : ur_fail_memory(err, p->buffer_count, "buffers");
}

unrelu_status ur_pass(unrelu_source *source, const ur_summary *summary, void *plan,
                      const unrelu_exec *exec, const char *stage, double *s, unrelu_error *err)
{
    pass p = {.source = source, .summary = summary, .plan = plan, .exec = exec, .stage = stage};
    p.total = s;
    p.len = summary->len(plan);
    p.failed_block = SIZE_MAX;
    int threads = ur_threads(exec);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.freed, NULL);

    unrelu_status status = allocate_buffers(&p, threads, err);
    if (status == UNRELU_OK)
        status = first_block(&p, plan, err);
    if (status == UNRELU_OK) {
        ur_parallel(threads, work, &p);
        status = p.status;
        if (status != UNRELU_OK && err)
            *err = p.error;
    }
    if (status == UNRELU_OK)
        status = sum_over_ranks(&p, err);

    for (size_t i = 0; p.buffers && i < p.buffer_count; i++)
        free(p.buffers[i].s);
    free(p.buffers);
    ur_block_free(&p.first);
    pthread_cond_destroy(&p.freed);
    pthread_mutex_destroy(&p.lock);
    return status;
}
