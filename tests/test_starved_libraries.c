/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of the whole process fails in turn, in whatever library it is: malloc and its kin
 * are this program's own, and LAPACKE, Clp, GMP, libzip and zlib call them too. A call then says
 * ENOMEM, or could do without and gives the bits that it always gives; nothing is printed, nobody
 * aborts. */
#include "files.h"
#include "left_out.h"
#include "mixtures.h"
#include "networks.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>
#include <zlib.h>

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
    unrelu_status first_status = run(&whole, &err);
    if (first_status != UNRELU_OK)
        skip_what_is_left_out(&err);
    must(first_status, &err);
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
        for (size_t i = 0; model->V_rational && i < model->k * model->d; i++)
            note(out, (double[]){strtod(model->V_rational[i], NULL)}, 1);
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

/* ---- libzip and zlib ---- */

static char model_file[512], packed_file[512];

static unrelu_status load_network(digest *out, unrelu_error *err)
{
    unrelu_network *model;
    unrelu_status status = unrelu_network_load(model_file, &model, err);
    atomic_store(&countdown, 0);
    if (status == UNRELU_OK)
        note(out, model->V, model->k * model->d);
    unrelu_network_free(model);
    return status;
}

static unrelu_status load_packed(digest *out, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_source *source = NULL;
    double *x = NULL;
    size_t n = 0;
    unrelu_status status = unrelu_source_open(packed_file, NULL, &source, err);
    if (status == UNRELU_OK)
        status = unrelu_source_load(source, &exec, &x, &n, err);
    atomic_store(&countdown, 0);
    note(out, x, 2 * n);
    unrelu_free(x);
    unrelu_source_close(source);
    return status;
}

/* not as a file that is damaged */
static void files_survive_memory_that_libzip_or_zlib_lacks(void **state)
{
    (void)state;
    unrelu_error err = {0};
    strcpy(model_file, files_path("net.npz"));
    strcpy(packed_file, files_path("x.csv.gz"));
    net = plant_network(4, 2, 3, 10, 0, 1);
    must(unrelu_network_save(net.truth, model_file, &err), &err);
    assert_true(starve(load_network, 10000, 1) > 100);
    planted_network_free(&net);
    gzFile packed = gzopen(packed_file, "wb");
    assert_non_null(packed);
    for (int i = 0; i < 50; i++)
        gzprintf(packed, "%d,%d\n", i, i * i % 7);
    assert_int_equal(gzclose(packed), Z_OK);
    assert_true(starve(load_packed, 10000, 1) > 10);
}

/* ---- GMP ---- */

/* a network of small whole numbers, verified as fractions */
static void a_verification_survives_memory_that_gmp_lacks(void **state)
{
    (void)state;
    enum { N = 40, D = 3, K = 2, M = 2 };
    static const double V[K][D] = {{3, -2, 1}, {1, 4, -2}}, U[M][K] = {{2, 1}, {-1, 3}};
    net = (planted_network){.n = N, .d = D, .k = K, .m = M};
    net.x = calloc(N * D, sizeof *net.x);
    net.a = calloc(N * M, sizeof *net.a);
    assert_true(net.x && net.a);
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < D; l++)
            net.x[i * D + l] = (i * (7 + 4 * l) + i * i * (l + 1)) % 41 - 20;
        for (int j = 0; j < K; j++) {
            double t = 0;
            for (int l = 0; l < D; l++)
                t += V[j][l] * net.x[i * D + l];
            for (int r = 0; r < M; r++)
                net.a[i * M + r] += U[r][j] * fmax(t, 0);
        }
    }
    unrelu_recover_options_init(&options, sizeof options);
    options.biases = UNRELU_BIASES_NONE;
    options.certify = 1;
    assert_true(starve(recover_network, 1000, 1) > 400);
    digest whole = {0};
    unrelu_error err = {0};
    must(recover_network(&whole, &err), &err);
    assert_int_equal(whole.count, K * (M + D) + K * D); /* it was verified */
    planted_network_free(&net);
}

/* ---- Clp ---- */

static planted_mixture mix;

static unrelu_status unmix_samples(digest *out, unrelu_error *err)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_mixture *model;
    unrelu_status status = try_unmix(mix.x, mix.n, mix.truth->d, NULL, &exec, &model, err);
    atomic_store(&countdown, 0);
    if (status == UNRELU_OK)
        note(out, model->A, model->d * model->p);
    unrelu_mixture_free(model);
    return status;
}

static void an_unmixing_survives_memory_that_clp_lacks(void **state)
{
    (void)state;
    mix = plant_mixture(3, 2, 0, 60, 0, 0, 1);
    assert_true(starve(unmix_samples, 300, 7) > 1000);
    planted_mixture_free(&mix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recovery_survives_memory_that_lapack_lacks),
        cmocka_unit_test(files_survive_memory_that_libzip_or_zlib_lacks),
        cmocka_unit_test(a_verification_survives_memory_that_gmp_lacks),
        cmocka_unit_test(an_unmixing_survives_memory_that_clp_lacks),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
