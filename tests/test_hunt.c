/* SPDX-License-Identifier: Apache-2.0 */
/* The deflated search: all neurons from few starts, with their signs; what it leaves to the one
 * with signs; what is linear. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/problem/tolerance.h"

/* a = U relu(V x + c) + M x + e, V of unit rows, n rows of d normal inputs */
typedef struct {
    size_t n, d, k, m;
    double *x, *V, *c, *a;
} net;

static void normals(net *s, uint64_t stream, size_t count, double *to)
{
    ur_random_normals(17 + s->k, stream, 0, count, to);
}

static net make(size_t d, size_t k, size_t m, size_t n)
{
    net s = {.n = n, .d = d, .k = k, .m = m};
    s.x = calloc(n * d, sizeof *s.x);
    s.V = calloc(k * d, sizeof *s.V);
    s.c = calloc(k, sizeof *s.c);
    s.a = calloc(n * m, sizeof *s.a);
    normals(&s, 81, n * d, s.x);
    normals(&s, 82, k * d, s.V);
    normals(&s, 83, k, s.c);
    for (size_t j = 0; j < k; j++) {
        double norm = 0;
        for (size_t i = 0; i < d; i++)
            norm = hypot(norm, s.V[j * d + i]);
        for (size_t i = 0; i < d; i++)
            s.V[j * d + i] /= norm;
        s.c[j] *= .4;
    }
    return s;
}

static double reach(const net *s, size_t i, size_t j)
{
    double t = 0;
    for (size_t l = 0; l < s->d; l++)
        t += s->V[j * s->d + l] * s->x[i * s->d + l];
    return t;
}

/* linear: a skip connection of that rank */
static void set_labels(net *s, size_t linear)
{
    double *U = calloc(s->m * s->k, sizeof *U), *M = calloc(s->m * s->d, sizeof *M);
    normals(s, 84, s->m * s->k, U);
    normals(s, 85, s->m * s->d, M);
    for (size_t i = 0; i < s->n; i++)
        for (size_t r = 0; r < s->m; r++) {
            double *a = s->a + i * s->m + r;
            *a = .3;
            for (size_t j = 0; j < s->k; j++)
                *a += U[r * s->k + j] * fmax(0, reach(s, i, j) + s->c[j]);
            for (size_t l = 0; l < linear; l++)
                *a += M[r * s->d + l] * s->x[i * s->d + l];
        }
    free(U);
    free(M);
}

static void net_free(net *s)
{
    free(s->x);
    free(s->V);
    free(s->c);
    free(s->a);
}

typedef struct {
    ur_data data;
    ur_frame frame;
    size_t rank;
    ur_search search;
    ur_found found;
} hunted;

/* without signs, on all rows */
static void hunt(const net *s, int threads, ur_arena *arena, hunted *h)
{
    static unrelu_exec exec;
    unrelu_error err = {0};
    exec = (unrelu_exec){.size = sizeof exec, .threads = threads};
    must(ur_data_hold(s->n, s->d, s->m, s->x, s->a, NULL, arena, &h->data, &err), &err);
    must(ur_frame_make(&h->data, s->n, (ur_terms){1, 1}, 1, arena, &h->frame, &err), &err);
    double *y = ur_take(arena, s->n, (s->m + 1) * sizeof *y);
    assert_non_null(y);
    must(ur_frame_labels(&h->frame, h->data.tolerance, &h->rank, y, NULL, &err), &err);
    h->search = (ur_search){.frame = &h->frame,
                            .y = y,
                            .rank = h->rank,
                            .wanted = h->rank - 1,
                            .degree = 1,
                            .slack = ur_exact_slack(&h->data),
                            .seed = 1,
                            .exec = &exec};
    must(ur_exact_kinks(&h->search, h->data.tolerance, arena, &h->found, &err), &err);
}

/* neurons of the net among rows first .. first + count - 1 of what was found, signs and all */
static size_t neurons(const net *s, const hunted *h, size_t first, size_t count)
{
    size_t right = 0, p = h->frame.p;
    double *rows = calloc(s->k * (s->d + 1), sizeof *rows), *V = calloc(s->k * p, sizeof *V);
    ur_rows_join(s->k, s->d, s->d + 1, s->V, s->c, rows);
    ur_frame_forth(&h->frame, s->k, rows, V);
    ur_unit_rows(s->k, p, V);
    for (size_t j = 0; j < s->k; j++)
        right += (size_t)ur_is_row_of(count, p, h->found.V + first * p, V + j * p);
    free(rows);
    free(V);
    return right;
}

static void all_neurons_are_found_from_few_starts_at_any_number_of_threads(void **state)
{
    (void)state;
    enum { K = 30 };
    net s = make(20, K, 32, 1000);
    hunted one = {0};
    set_labels(&s, 0);
    UR_ARENA(arena);
    hunt(&s, 1, &arena, &one);
    assert_int_equal(one.rank, K + 1);
    assert_int_equal(one.found.found, K);
    assert_int_equal(neurons(&s, &one, 0, K), K);
    assert_int_equal(one.found.opposite, 0);
    assert_true(one.found.complete);
    assert_true(one.found.starts <= 3 * K / 2);
    for (int threads = 2; threads <= 7; threads += 5) {
        hunted more = {0};
        hunt(&s, threads, &arena, &more);
        assert_int_equal(more.found.starts, one.found.starts);
        assert_memory_equal(more.found.V, one.found.V, K * one.frame.p * sizeof(double));
    }
    net_free(&s);
}

/* 6 rows of 300 where the last neuron is off: 8 are wanted on both sides without signs, 6 with */
static void a_neuron_with_few_rows_on_one_side_is_found_with_signs(void **state)
{
    (void)state;
    enum { D = 6, K = 5, N = 300, OFF = 6 };
    net s = make(D, K, K, N);
    unrelu_error err = {0};
    double low[OFF + 1] = {0};
    for (size_t i = 0; i <= OFF; i++)
        low[i] = INFINITY;
    for (size_t i = 0; i < N; i++) { /* the OFF + 1 smallest v x */
        double t = reach(&s, i, K - 1);
        for (size_t l = 0; l <= OFF; l++)
            if (t < low[l]) {
                double next = low[l];
                low[l] = t;
                t = next;
            }
    }
    s.c[K - 1] = -(low[OFF - 1] + low[OFF]) / 2;
    set_labels(&s, 0);
    UR_ARENA(arena);
    hunted h = {0};
    hunt(&s, 1, &arena, &h);
    assert_int_equal(h.found.found, K - 1);
    assert_int_equal(neurons(&s, &h, 0, K - 1), K - 1);
    assert_false(h.found.complete);
    must(ur_exact_signed(&h.search, &h.found, &err), &err);
    assert_int_equal(h.found.found, K);
    assert_int_equal(neurons(&s, &h, 0, K), K);
    net_free(&s);
}

static void a_pair_of_opposite_neurons_is_one_kink_that_passes_with_both_signs(void **state)
{
    (void)state;
    enum { D = 6, K = 5 };
    net s = make(D, K, K, 300);
    for (size_t i = 0; i < D; i++)
        s.V[(K - 1) * D + i] = -s.V[i];
    s.c[K - 1] = -s.c[0];
    set_labels(&s, 0);
    UR_ARENA(arena);
    hunted h = {0};
    hunt(&s, 1, &arena, &h);
    assert_int_equal(h.rank, K + 1);
    assert_int_equal(h.found.found, K - 1);
    assert_int_equal(h.found.opposite, 1);
    assert_true(h.found.complete);
    assert_int_equal(neurons(&s, &h, 0, K), K);
    net_free(&s);
}

static void a_skip_connection_is_no_kink(void **state)
{
    (void)state;
    enum { D = 6, K = 5 };
    net s = make(D, K, 8, 300);
    set_labels(&s, 2);
    UR_ARENA(arena);
    hunted h = {0};
    hunt(&s, 1, &arena, &h);
    assert_int_equal(h.rank, K + 1 + 2);
    assert_int_equal(h.found.found, K);
    assert_int_equal(h.found.opposite, 0);
    assert_true(h.found.complete);
    assert_int_equal(neurons(&s, &h, 0, K), K);
    net_free(&s);
}

/* The constant swallowed nearly all starts of the search with signs alone, which gave up. */
static void a_wide_network_with_biases_is_exact(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_recover_options options;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_recover_options_init(&options, sizeof options);
    o.d = 24;
    o.k = 60;
    o.m = 64;
    o.bias = .5;
    o.seed = 2;
    planted_network p = plant_network_with(o, 2000);
    unrelu_network *model = recover(&p, &options);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_true(error_of_V(p.truth, model) < 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_neurons_are_found_from_few_starts_at_any_number_of_threads),
        cmocka_unit_test(a_neuron_with_few_rows_on_one_side_is_found_with_signs),
        cmocka_unit_test(a_pair_of_opposite_neurons_is_one_kink_that_passes_with_both_signs),
        cmocka_unit_test(a_skip_connection_is_no_kink),
        cmocka_unit_test(a_wide_network_with_biases_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
