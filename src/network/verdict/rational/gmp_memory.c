/* SPDX-License-Identifier: Apache-2.0 */
/* GMP ends the program where memory is short, and its functions for memory are one set for the
 * whole process. Ours are there while any call of ours runs. In threads that are not inside of such
 * a call they hand everything on to those that were there before. Inside, what is allocated is
 * listed, and a failure jumps out of GMP to ur_gmp_run: integers are as the jump found them then,
 * so that none of them is touched any more, and the list alone says what is to be freed. */
#include "network/verdict/rational/rational.h"

#include "base/error.h"
#include "base/memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdalign.h>

typedef struct block {
    struct block *before, *after;
    alignas(max_align_t) unsigned char bytes[];
} block;

typedef struct {
    jmp_buf failure;
    block *last;
    size_t wanted; /* by what failed; 0: nothing did */
} scope;

static _Thread_local scope *inside; /* NULL: this thread is in no call of ours */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t scopes; /* calls that run now */
static void *(*old_allocate)(size_t size);
static void *(*old_resize)(void *memory, size_t from, size_t to);
static void (*old_free)(void *memory, size_t size);

static block *block_of(void *memory)
{
    return (block *)((unsigned char *)memory - offsetof(block, bytes));
}

static void *link_block(block *b)
{
    if (b->before)
        b->before->after = b;
    if (b->after)
        b->after->before = b;
    else
        inside->last = b;
    return b->bytes;
}

_Noreturn static void fail(size_t wanted)
{
    inside->wanted = wanted;
    longjmp(inside->failure, 1);
}

static void *allocate(size_t size)
{
    if (!inside)
        return old_allocate(size);
    block *b = size <= SIZE_MAX - sizeof *b ? ur_resize(NULL, sizeof *b + size) : NULL;
    if (!b)
        fail(size);
    *b = (block){.before = inside->last};
    return link_block(b);
}

static void *resize(void *memory, size_t from, size_t to)
{
    if (!inside)
        return old_resize(memory, from, to);
    block *b = to <= SIZE_MAX - sizeof *b ? ur_resize(block_of(memory), sizeof *b + to) : NULL;
    if (!b)
        fail(to);
    return link_block(b);
}

static void release(void *memory, size_t size)
{
    if (!inside) {
        old_free(memory, size);
        return;
    }
    if (inside->wanted) /* integers are not to be trusted */
        return;
    block *b = block_of(memory);
    if (b->before)
        b->before->after = b->after;
    if (b->after)
        b->after->before = b->before;
    else
        inside->last = b->before;
    ur_free(b);
}

static void begin(scope *s)
{
    pthread_mutex_lock(&lock);
    if (scopes++ == 0) {
        mp_get_memory_functions(&old_allocate, &old_resize, &old_free);
        mp_set_memory_functions(allocate, resize, release);
    }
    pthread_mutex_unlock(&lock);
    inside = s;
}

static void finish(scope *s)
{
    while (s->last) {
        block *b = s->last;
        s->last = b->before;
        ur_free(b);
    }
    inside = NULL;
    pthread_mutex_lock(&lock);
    if (--scopes == 0)
        mp_set_memory_functions(old_allocate, old_resize, old_free);
    pthread_mutex_unlock(&lock);
}

/* ---- the caller's functions, which may use GMP themselves ---- */

static void their_progress(void *context, const char *stage, double fraction)
{
    const unrelu_exec *theirs = context;
    scope *kept = inside;
    inside = NULL;
    theirs->progress(theirs->context, stage, fraction);
    inside = kept;
}

static int their_cancelled(void *context)
{
    const unrelu_exec *theirs = context;
    scope *kept = inside;
    inside = NULL;
    int cancelled = theirs->cancelled(theirs->context);
    inside = kept;
    return cancelled;
}

unrelu_exec ur_gmp_exec(unrelu_exec *theirs)
{
    unrelu_exec own = *theirs;
    own.context = theirs;
    own.progress = theirs->progress ? their_progress : NULL;
    own.cancelled = theirs->cancelled ? their_cancelled : NULL;
    own.counts = NULL; /* integers are no neurons */
    return own;
}

static unrelu_status attempt(scope *s, unrelu_status (*work)(void *context, unrelu_error *err),
                             void *context, unrelu_error *err)
{
    if (setjmp(s->failure) == 0)
        return work(context, err);
    return ur_fail(err, UNRELU_ENOMEM, "not enough memory: %zu bytes were wanted for an integer",
                   s->wanted);
}

unrelu_status ur_gmp_run(unrelu_status (*work)(void *context, unrelu_error *err),
                         void (*end)(void *context), void *context, unrelu_error *err)
{
    scope s = {.last = NULL};
    begin(&s);
    unrelu_status status = attempt(&s, work, context, err);
    end(context);
    finish(&s);
    return status;
}
