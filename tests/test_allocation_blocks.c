/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over rows in memory, against a loop, at several thread counts, and without memory. */
#include "allocations.h"

#include "pass/blocks.h"

#include <math.h>
#include <stdatomic.h>

enum { N = 5003, LEN = 3 };

static double x[N];
static atomic_size_t widest, calls;

/* sums of x, of its square and of 1, rounded differently in every order of additions; scratch
 * must be the thread's own */
static void add(const void *context, size_t first, size_t rows, double *scratch, double *sum)
{
    assert_ptr_equal(context, x);
    atomic_fetch_add(&calls, 1);
    if (rows > atomic_load(&widest))
        atomic_store(&widest, rows);
    for (size_t i = 0; i < rows; i++)
        scratch[i] = x[first + i];
    for (size_t i = 0; i < rows; i++) {
        sum[0] += scratch[i];
        sum[1] += scratch[i] * scratch[i];
        sum[2]++;
    }
}

static ur_blocks blocks_of(size_t n, size_t step, size_t chunk, size_t chunks)
{
    return (ur_blocks){.n = n,
                       .step = step,
                       .chunk = chunk,
                       .chunks = chunks,
                       .len = LEN,
                       .scratch = step,
                       .add = add,
                       .context = x};
}

/* the contract, in a loop: a chunk from its first row to its last, then the chunks in order */
static void naive(const ur_blocks *b, double *total)
{
    size_t steps = (b->n + b->step - 1) / b->step;
    size_t count =
        b->chunk ? (b->n + b->chunk - 1) / b->chunk : (steps < b->chunks ? steps : b->chunks);
    memset(total, 0, LEN * sizeof *total);
    for (size_t i = 0; i < count; i++) {
        double sum[LEN] = {0};
        size_t first = b->chunk ? i * b->chunk : i * steps / count * b->step;
        size_t end = b->chunk ? (i + 1) * b->chunk : (i + 1) * steps / count * b->step;
        for (size_t r = first; r < end && r < b->n; r++) {
            sum[0] += x[r];
            sum[1] += x[r] * x[r];
            sum[2]++;
        }
        for (size_t j = 0; j < LEN; j++)
            total[j] += sum[j];
    }
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++)
        x[i] = sin((double)(i * i)) * exp(10 * cos((double)i));
}

static void sums_have_the_bits_of_a_loop_at_any_threads(void **state)
{
    (void)state;
    const ur_blocks cases[] = {
        blocks_of(N, 16, 0, 32), blocks_of(N, 16, 0, 7),  blocks_of(N, 700, 0, 32),
        blocks_of(1, 16, 0, 32), blocks_of(16, 16, 0, 1), blocks_of(N, 16, 64, 0),
        blocks_of(N, 64, 64, 0), blocks_of(N, 50, 64, 0), blocks_of(N, N, 2 * N, 0),
    };
    fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double want[LEN];
        naive(&cases[i], want);
        assert_true(want[2] == (double)cases[i].n);
        for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
            double total[LEN] = {NAN, NAN, NAN};
            unrelu_error err = {0};
            unrelu_exec exec = {.size = sizeof exec, .threads = threads};
            atomic_store(&widest, 0);
            must(ur_blocks_sum(&cases[i], &exec, "summing", total, &err), &err);
            assert_memory_equal(total, want, sizeof want);
            assert_true(atomic_load(&widest) <= cases[i].step);
        }
    }
}

/* the sum in one chunk has other bits than in 32: the test above would notice another order */
static void chunks_can_be_seen_in_the_bits(void **state)
{
    (void)state;
    ur_blocks one = blocks_of(N, N, N, 0), many = blocks_of(N, 16, 0, 32);
    double a[LEN], b[LEN];
    unrelu_error err = {0};
    fill();
    must(ur_blocks_sum(&one, NULL, "summing", a, &err), &err);
    must(ur_blocks_sum(&many, NULL, "summing", b, &err), &err);
    assert_true(a[0] != b[0]);
    assert_true(fabs(a[0] - b[0]) < 1e-9 * sqrt(a[1]));
}

static int now(void *context)
{
    (void)context;
    return atomic_load(&calls) >= 10;
}

static void cancel_stops(void **state)
{
    (void)state;
    ur_blocks blocks = blocks_of(N, 16, 16, 0);
    double total[LEN];
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 3, .cancelled = now};
    atomic_store(&calls, 0);
    assert_int_equal(ur_blocks_sum(&blocks, &exec, "summing", total, &err), UNRELU_ECANCELLED);
    assert_true(atomic_load(&calls) < 20);
}

static unrelu_status sum_once(unrelu_error *err)
{
    ur_blocks blocks = blocks_of(N, 16, 0, 32);
    double total[LEN];
    unrelu_exec exec = {.size = sizeof exec, .threads = 3};
    return ur_blocks_sum(&blocks, &exec, "summing", total, err);
}

static void sums_survive_a_failed_allocation(void **state)
{
    (void)state;
    fill();
    exhaust(sum_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_bits_of_a_loop_at_any_threads),
        cmocka_unit_test(chunks_can_be_seen_in_the_bits),
        cmocka_unit_test(cancel_stops),
        cmocka_unit_test(sums_survive_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
