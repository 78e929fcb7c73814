/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/blas_pin.h"

#include "base/error.h"

#include <cblas.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* OpenBLAS's own, which no header of it declares: a buffer, which stays where it is once it is
 * given back, for the next one who asks. Another BLAS need not have them. */
__attribute__((weak)) void *blas_memory_alloc(int position);
__attribute__((weak)) void blas_memory_free(void *buffer);

/* OpenBLAS has two for each thread that it was built for, and 50 at least. Beyond these it
 * complains on standard error; beyond 640 it ends the program. */
enum { FEWEST_BUFFERS = 50, MOST_BUFFERS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;   /* public calls that run now */
static int before;  /* threads of BLAS before the first of them */
static int buffers; /* that are there for us */
static int in_use;  /* of them, by calls that run now */
/* of this thread: calls inside of one another, and the buffers of the outermost, which are for all
 * of them */
static _Thread_local int depth, own;

static int has_room(size_t bytes)
{
    void *trial = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return trial != MAP_FAILED && munmap(trial, bytes) == 0;
}

static int most_buffers(void)
{
    static const char key[] = "MAX_THREADS=";
    const char *built_for = strstr(openblas_get_config(), key);
    long most = built_for ? 2 * strtol(built_for + strlen(key), NULL, 10) : 0;
    return most < FEWEST_BUFFERS ? FEWEST_BUFFERS : most > MOST_BUFFERS ? MOST_BUFFERS : (int)most;
}

/* Asks for all of them before it gives one back, so that they are different ones. Beyond the first
 * there must be room for two: a further thread is worth less than memory for the data. */
static void take_buffers(int wanted)
{
    void *held[MOST_BUFFERS];
    int count = 0, most = most_buffers();
    wanted = wanted < most ? wanted : most;
    while (count < wanted && has_room(UR_BLAS_BUFFER << (count > 0)))
        held[count++] = blas_memory_alloc ? blas_memory_alloc(0) : NULL;
    for (int i = 0; i < count; i++)
        if (held[i])
            blas_memory_free(held[i]);
    buffers = count > buffers ? count : buffers;
}

int ur_blas_pin(int *threads)
{
    int wanted = threads ? *threads : 1;
    pthread_mutex_lock(&lock);
    if (calls++ == 0) {
        before = openblas_get_num_threads();
        if (before != 1)
            openblas_set_num_threads(1);
    }
    if (depth++ == 0) {
        if (in_use + wanted > buffers)
            take_buffers(in_use + wanted);
        own = buffers - in_use < wanted ? buffers - in_use : wanted;
        in_use += own;
    }
    int given = own < wanted ? own : wanted;
    pthread_mutex_unlock(&lock);
    if (threads)
        *threads = given;
    return given;
}

unrelu_status ur_blas_check(int pinned, unrelu_error *err)
{
    if (pinned > 0)
        return UNRELU_OK;
    return ur_fail(err, UNRELU_ENOMEM,
                   "not enough memory: %zu bytes of address space were wanted for BLAS",
                   UR_BLAS_BUFFER);
}

void ur_blas_unpin(int *pinned)
{
    (void)pinned;
    pthread_mutex_lock(&lock);
    if (--depth == 0)
        in_use -= own;
    if (--calls == 0 && before != 1)
        openblas_set_num_threads(before);
    pthread_mutex_unlock(&lock);
}
