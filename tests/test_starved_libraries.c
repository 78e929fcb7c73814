/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of the whole process fails in turn, in whatever library it is: malloc and its kin
 * are this program's own, and LAPACKE, Clp and GMP call them too. A call then says ENOMEM, or
 * could do without and gives the bits that it always gives; nothing is printed, nobody aborts. */
#include "networks.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- malloc and its kin, by glibc's own ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long countdown; /* 0: off; n: the n-th allocation from now fails */
static atomic_long failed;

static int this_one_fails(void)
{
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1)
        return 0;
    atomic_store(&failed, 1);
    errno = ENOMEM;
    return 1;
}

#pragma GCC visibility push(default) /* or the libraries do not see them */
void *malloc(size_t size)
{
    return this_one_fails() ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    return this_one_fails() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size)
{
    return this_one_fails() ? NULL : __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return this_one_fails() ? NULL : __libc_memalign(alignment, size);
}
#pragma GCC visibility pop

/* ---- what is run ---- */

typedef struct {
    double numbers[256];
    size_t count;
} digest;

typedef unrelu_status (*scenario)(digest *out, unrelu_error *err);

static void note(digest *out, const double *x, size_t count)
{
    for (size_t i = 0; x && i < count; i++) {
        assert_true(out->count < sizeof out->numbers / sizeof *out->numbers);
        out->numbers[out->count++] = x[i];
    }
}

/* what libraries print goes to a file, and cmocka's sentences afterwards to where they always go */
typedef struct {
    FILE *file;
    int out, err;
} listening;

static listening listen_to_libraries(void)
{
    listening l = {tmpfile(), dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    assert_non_null(l.file);
    fflush(stdout);
    dup2(fileno(l.file), STDOUT_FILENO);
    dup2(fileno(l.file), STDERR_FILENO);
    return l;
}

static int is_silent(void)
{
    fflush(stdout);
    return lseek(STDOUT_FILENO, 0, SEEK_END) == 0;
}

static void listen_no_more(listening *l)
{
    fflush(stdout);
    dup2(l->out, STDOUT_FILENO);
    dup2(l->err, STDERR_FILENO);
    close(l->out);
    close(l->err);
    fclose(l->file);
}

/* each of the first allocations fails, then one in so many; returns how many there are */
static long starve(scenario run, long first, long step)
{
    digest whole = {0};
    unrelu_error err = {0};
    must(run(&whole, &err), &err);
    listening l = listen_to_libraries();
    int right = 1, silent = 1, done = 0;
    long nth = 0;
    while (right && silent && !done) {
        digest got = {0};
        memset(&err, 0, sizeof err);
        nth += nth < first ? 1 : step;
        atomic_store(&failed, 0);
        atomic_store(&countdown, nth);
        unrelu_status status = run(&got, &err);
        atomic_store(&countdown, 0);
        done = !atomic_load(&failed);
        silent = is_silent();
        right = status == UNRELU_OK
                    ? memcmp(&got, &whole, sizeof whole) == 0
                    : status == UNRELU_ENOMEM && !done && strstr(err.text, "not enough memory");
    }
    listen_no_more(&l);
    if (!right || !silent)
        fail_msg("allocation %ld: status %d, '%s'%s", nth, (int)err.code, err.text,
                 silent ? "" : ", and a library printed something");
    return nth;
}

/* ---- LAPACK ---- */

static planted_network net;
static unrelu_recover_options options;

static unrelu_status recover_network(digest *out, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_network *model;
    unrelu_status status =
        try_recover(net.x, net.a, net.n, net.d, net.m, &options, &exec, &model, err);
    atomic_store(&countdown, 0);
    if (status == UNRELU_OK) {
        note(out, model->U, model->m * model->k);
        note(out, model->V, model->k * model->d);
    }
    unrelu_network_free(model);
    return status;
}

static void a_recovery_survives_memory_that_lapack_lacks(void **state)
{
    (void)state;
    net = plant_network(4, 2, 3, 60, 0, 1);
    unrelu_recover_options_init(&options, sizeof options);
    assert_true(starve(recover_network, 200, 3) > 100);
    options.method = UNRELU_RECOVER_TENSOR;
    assert_true(starve(recover_network, 50, 7) > 100);
    planted_network_free(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recovery_survives_memory_that_lapack_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
