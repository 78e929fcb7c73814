/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/problem/start.h"
#include "networks.h"

enum { MOST = 64 }; /* neurons */

typedef struct {
    planted_network p;
    ur_start start;
    double *V, *given, c[MOST], c_given[MOST];
    int exact[MOST];
} problem;

static unrelu_network_plant_options options(size_t d, size_t k, size_t m, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.seed = seed;
    return o;
}

/* out = v turned by `angle` in a random direction; c is not a part of it */
static void turn(const double *v, size_t d, double angle, uint64_t seed, double *out)
{
    double along = 0, norm = 0;
    ur_random_normals(seed, 99, 0, d, out);
    for (size_t i = 0; i < d; i++)
        along += out[i] * v[i];
    for (size_t i = 0; i < d; i++) {
        out[i] -= along * v[i];
        norm = hypot(norm, out[i]);
    }
    for (size_t i = 0; i < d; i++)
        out[i] = cos(angle) * v[i] + sin(angle) * out[i] / norm;
}

/* rows at `angle` from the truth, every second one with the wrong sign */
static problem prepare(unrelu_network_plant_options o, size_t n, double angle)
{
    problem q = {.p = plant_network_with(o, n)};
    size_t d = o.d, k = o.k;
    q.start =
        (ur_start){.sample = {n, d, o.m, q.p.x, q.p.a}, .k = k, .f = o.activation, .seed = o.seed};
    q.V = calloc(k * d, sizeof *q.V);
    q.given = calloc(k * d, sizeof *q.given);
    assert_non_null(q.V);
    assert_non_null(q.given);
    for (size_t j = 0; j < k; j++) {
        double sign = j % 2 ? -1 : 1;
        turn(q.p.truth->V + j * d, d, angle, 1000 * o.seed + j, q.V + j * d);
        for (size_t i = 0; i < d; i++)
            q.V[j * d + i] *= sign;
        q.c[j] = sign * (q.p.truth->c[j] + angle / 4);
    }
    return q;
}

static void exactify(problem *q)
{
    unrelu_error err = {0};
    memcpy(q->given, q->V, q->p.k * q->p.d * sizeof *q->V);
    memcpy(q->c_given, q->c, sizeof q->c);
    for (size_t j = 0; j < MOST; j++)
        q->exact[j] = -1;
    UR_BLAS_PINNED;
    must(ur_exactify_systems(&q->start, q->V, q->c, q->exact, &err), &err);
}

static void finish(problem *q)
{
    planted_network_free(&q->p);
    free(q->V);
    free(q->given);
}

static double error_of_row(const problem *q, size_t j)
{
    double far = q->start.hidden ? fabs(q->c[j] - q->p.truth->c[j]) : 0;
    for (size_t i = 0; i < q->p.d; i++)
        far = fmax(far, fabs(q->V[j * q->p.d + i] - q->p.truth->V[j * q->p.d + i]));
    return far;
}

/* rows found; each is right to the tolerance, with its sign, and the others are as given */
static size_t count_exact(const problem *q, double tolerance)
{
    size_t d = q->p.d, count = 0;
    for (size_t j = 0; j < q->p.k; j++)
        if (q->exact[j] == 1) {
            assert_near(error_of_row(q, j), 0, tolerance);
            count++;
        } else {
            assert_int_equal(q->exact[j], 0);
            assert_memory_equal(q->V + j * d, q->given + j * d, d * sizeof *q->V);
            assert_true(q->c[j] == q->c_given[j]);
        }
    return count;
}

static void all_exact(unrelu_network_plant_options o, size_t n, double angle, double tolerance)
{
    problem q = prepare(o, n, angle);
    q.start.hidden = q.start.constant = o.bias > 0;
    exactify(&q);
    assert_int_equal(count_exact(&q, tolerance), o.k);
    finish(&q);
}

static double share_exact(size_t d, size_t k, size_t m, size_t n, double angle)
{
    size_t count = 0, runs = 5;
    for (size_t i = 0; i < runs; i++) {
        problem q = prepare(options(d, k, m, 70 + i), n, angle);
        exactify(&q);
        count += count_exact(&q, 1e-10);
        finish(&q);
    }
    return (double)count / (double)(runs * k);
}

static void rows_of_either_sign_become_exact_and_signed(void **state)
{
    (void)state;
    all_exact(options(10, 5, 8, 1), 200, .05, 1e-12);
    all_exact(options(20, 10, 12, 2), 400, .05, 1e-12);
}

static void starts_up_to_three_tenths_of_a_radian_are_near_enough(void **state)
{
    (void)state;
    const double angle[] = {.001, .05, .1, .3};
    for (int i = 0; i < 4; i++) {
        assert_true(share_exact(10, 5, 8, 100, angle[i]) >= .9);
        assert_true(share_exact(10, 5, 8, 200, angle[i]) >= .9);
        assert_true(share_exact(20, 10, 12, 2000, angle[i]) >= .9);
    }
}

/* far off, it may still find a neuron, its own or another's */
static void a_start_from_afar_finds_a_neuron_or_stays_as_it_was(void **state)
{
    (void)state;
    size_t found = 0, d = 10, k = 5;
    for (uint64_t seed = 3; seed < 13; seed++) {
        problem q = prepare(options(d, k, 8, seed), 100, 1.3);
        exactify(&q);
        for (size_t j = 0; j < k; j++) {
            double least = INFINITY;
            for (size_t i = 0; i < k; i++) {
                double far = 0;
                for (size_t r = 0; r < d; r++)
                    far = fmax(far, fabs(q.V[j * d + r] - q.p.truth->V[i * d + r]));
                least = fmin(least, far);
            }
            if (q.exact[j])
                assert_near(least, 0, 1e-10);
            else
                assert_memory_equal(q.V + j * d, q.given + j * d, d * sizeof *q.V);
            found += q.exact[j] != 0;
        }
        finish(&q);
    }
    assert_true(found < 10 * k);
    assert_true(found > 0);
}

static void hidden_and_output_biases_are_found_too(void **state)
{
    (void)state;
    unrelu_network_plant_options o = options(10, 5, 8, 4);
    o.bias = .5;
    all_exact(o, 400, .05, 1e-12);
    o = options(20, 10, 12, 5);
    o.bias = .3;
    all_exact(o, 2000, .1, 1e-12);
}

static void an_output_bias_alone_widens_the_span(void **state)
{
    (void)state;
    problem q = prepare(options(8, 4, 6, 6), 300, .05);
    for (size_t i = 0; i < q.p.n; i++)
        for (size_t j = 0; j < q.p.m; j++)
            q.p.a[i * q.p.m + j] += 1 + (double)j;
    q.start.constant = 1;
    exactify(&q);
    assert_int_equal(count_exact(&q, 1e-12), 4);
    finish(&q);
}

static void rectified_powers_are_inverted(void **state)
{
    (void)state;
    const double power[] = {.5, 1.5, 2};
    for (size_t i = 0; i < 3; i++) {
        unrelu_network_plant_options o = options(8, 4, 6, 20 + i);
        o.activation = (unrelu_activation){UNRELU_POWER, power[i]};
        all_exact(o, 400, .05, 1e-12);
    }
}

/* f^-1 has slope 1 / (3 t^2): unweighted, samples near the kink would cost 5 digits */
static void samples_near_the_kink_of_a_cube_cost_no_digits(void **state)
{
    (void)state;
    for (uint64_t seed = 900; seed < 920; seed++) {
        unrelu_network_plant_options o = options(8, 4, 6, seed);
        o.activation = (unrelu_activation){UNRELU_POWER, 3};
        all_exact(o, 400, .05, 1e-13);
    }
}

static void other_activations_and_noise_give_nothing(void **state)
{
    (void)state;
    const unrelu_activation f[] = {{UNRELU_LEAKY, .1}, {UNRELU_EXPM1, 0}, {UNRELU_TANH_POS, 0}};
    for (size_t i = 0; i < 4; i++) {
        unrelu_network_plant_options o = options(8, 4, 6, 30 + i);
        if (i < 3)
            o.activation = f[i];
        else
            o.noise = 1e-3;
        problem q = prepare(o, 300, .01);
        exactify(&q);
        assert_int_equal(count_exact(&q, 0), 0);
        finish(&q);
    }
}

static void units_of_the_data_do_not_matter(void **state)
{
    (void)state;
    problem q = prepare(options(6, 3, 4, 8), 200, .05);
    for (size_t j = 0; j < 3; j++) {
        double norm = 0, norm_truth = 0;
        for (size_t i = 0; i < 6; i++) {
            norm = hypot(norm, q.V[j * 6 + i] *= ldexp(1, 12 * (int)i - 30));
            norm_truth = hypot(norm_truth, q.p.truth->V[j * 6 + i] *= ldexp(1, 12 * (int)i - 30));
        }
        for (size_t i = 0; i < 6; i++) {
            q.V[j * 6 + i] /= norm;
            q.p.truth->V[j * 6 + i] /= norm_truth;
        }
    }
    for (size_t i = 0; i < q.p.n * 6; i++)
        q.p.x[i] = ldexp(q.p.x[i], 30 - 12 * (int)(i % 6));
    for (size_t i = 0; i < q.p.n * 4; i++)
        q.p.a[i] *= i % 4 ? 1e-150 : 1e150;
    exactify(&q);
    assert_int_equal(count_exact(&q, 1e-12), 3);
    finish(&q);
}

static void any_law_of_the_inputs_will_do(void **state)
{
    (void)state;
    const unrelu_inputs law[] = {UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_T3, UNRELU_INPUTS_LAPLACE};
    for (size_t i = 0; i < 3; i++) {
        unrelu_network_plant_options o = options(10, 5, 8, 50 + i);
        o.inputs = law[i];
        all_exact(o, 300, .05, 1e-11);
    }
}

/* the error of v x grows with |x| */
static void heavy_tails_spoil_no_system(void **state)
{
    (void)state;
    size_t count = 0, runs = 20;
    for (uint64_t i = 0; i < runs; i++) {
        unrelu_network_plant_options o = options(10, 5, 8, 900 + i);
        o.inputs = UNRELU_INPUTS_T3;
        problem q = prepare(o, 100, .3);
        exactify(&q);
        count += count_exact(&q, 1e-10);
        finish(&q);
    }
    assert_true((double)count >= .98 * (double)(runs * 5));
}

static void relabel(problem *q)
{
    unrelu_error err = {0};
    must(unrelu_network_predict(q->p.truth, q->p.x, q->p.n, NULL, q->p.a, &err), &err);
}

/* any combination of two neurons with one pattern fits all samples */
static void neurons_that_share_their_pattern_are_not_told_apart(void **state)
{
    (void)state;
    problem q = prepare(options(10, 5, 8, 15), 100, .01);
    turn(q.p.truth->V, 10, 1e-4, 3, q.p.truth->V + 10);
    memcpy(q.V, q.p.truth->V, 20 * sizeof *q.V);
    for (size_t i = 0; i < q.p.n; i++) {
        double t[2] = {0};
        for (size_t j = 0; j < 20; j++)
            t[j / 10] += q.p.truth->V[j] * q.p.x[i * 10 + j % 10];
        assert_true((t[0] > 0) == (t[1] > 0));
    }
    relabel(&q);
    exactify(&q);
    const int expected[] = {0, 0, 1, 1, 1};
    assert_memory_equal(q.exact, expected, sizeof expected);
    assert_int_equal(count_exact(&q, 1e-9), 3);
    finish(&q);
}

/* d active samples are met by some v whatever the labels */
static void a_neuron_needs_more_active_samples_than_inputs(void **state)
{
    (void)state;
    for (size_t most = 10; most <= 11; most++) {
        problem q = prepare(options(10, 5, 8, 16), 300, .01);
        size_t kept = 0, active = 0;
        for (size_t i = 0; i < q.p.n; i++) {
            double t = 0;
            for (size_t j = 0; j < 10; j++)
                t += q.p.truth->V[j] * q.p.x[i * 10 + j];
            active += t > 0;
            if (t > 0 && active > most)
                continue;
            memmove(q.p.x + kept * 10, q.p.x + i * 10, 10 * sizeof *q.p.x);
            memmove(q.p.a + kept++ * 8, q.p.a + i * 8, 8 * sizeof *q.p.a);
        }
        q.start.sample.n = kept;
        exactify(&q);
        assert_int_equal(q.exact[0], most > 10);
        assert_int_equal(count_exact(&q, 1e-10), most > 10 ? 5 : 4);
        finish(&q);
    }
}

static void one_neuron_is_the_smallest_network(void **state)
{
    (void)state;
    all_exact(options(4, 1, 3, 9), 100, .05, 1e-13);
    all_exact(options(1, 1, 1, 9), 20, 0, 1e-13);
}

/* x_6 = x_1 + x_2: v is not determined, v x is */
static void dependent_inputs_give_the_same_function(void **state)
{
    (void)state;
    problem q = prepare(options(5, 3, 4, 11), 200, .05);
    double *x = calloc(q.p.n * 6, sizeof *x), *V = calloc(3 * 6, sizeof *V);
    for (size_t i = 0; i < q.p.n; i++) {
        memcpy(x + i * 6, q.p.x + i * 5, 5 * sizeof *x);
        x[i * 6 + 5] = x[i * 6] + x[i * 6 + 1];
    }
    for (size_t j = 0; j < 3; j++)
        memcpy(V + j * 6, q.V + j * 5, 5 * sizeof *V);
    q.start.sample.x = x;
    q.start.sample.d = 6;
    unrelu_error err = {0};
    must(ur_exactify_systems(&q.start, V, q.c, q.exact, &err), &err);
    for (size_t j = 0; j < 3; j++) {
        assert_int_equal(q.exact[j], 1);
        double there[5], norm = 0;
        for (size_t i = 0; i < 5; i++) {
            there[i] = V[j * 6 + i] + (i < 2 ? V[j * 6 + 5] : 0);
            norm = hypot(norm, there[i]);
        }
        for (size_t i = 0; i < 5; i++)
            assert_near(there[i] / norm, q.p.truth->V[j * 5 + i], 1e-12);
    }
    free(x);
    free(V);
    finish(&q);
}

static void two_starts_of_one_neuron_count_once(void **state)
{
    (void)state;
    problem q = prepare(options(10, 5, 8, 12), 200, .05);
    turn(q.p.truth->V + 10, 10, .03, 5, q.V + 30);
    exactify(&q);
    const int expected[] = {1, 1, 1, 0, 1};
    assert_memory_equal(q.exact, expected, sizeof expected);
    assert_int_equal(count_exact(&q, 1e-12), 4);
    finish(&q);
}

static void labels_without_content_solve_nothing(void **state)
{
    (void)state;
    problem q = prepare(options(5, 3, 4, 13), 100, .01);
    memset(q.p.a, 0, q.p.n * q.p.m * sizeof *q.p.a);
    exactify(&q);
    assert_int_equal(count_exact(&q, 0), 0);
    q.start.sample.n = 2;
    exactify(&q);
    assert_int_equal(count_exact(&q, 0), 0);
    finish(&q);
}

static void the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    double first[50];
    for (int threads = 1; threads <= 7; threads += 3) {
        problem q = prepare(options(10, 5, 8, 14), 300, .1);
        unrelu_exec exec = {.size = sizeof exec, .threads = threads};
        q.start.exec = &exec;
        exactify(&q);
        if (threads == 1)
            memcpy(first, q.V, sizeof first);
        assert_memory_equal(first, q.V, sizeof first);
        finish(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_either_sign_become_exact_and_signed),
        cmocka_unit_test(starts_up_to_three_tenths_of_a_radian_are_near_enough),
        cmocka_unit_test(a_start_from_afar_finds_a_neuron_or_stays_as_it_was),
        cmocka_unit_test(hidden_and_output_biases_are_found_too),
        cmocka_unit_test(an_output_bias_alone_widens_the_span),
        cmocka_unit_test(rectified_powers_are_inverted),
        cmocka_unit_test(samples_near_the_kink_of_a_cube_cost_no_digits),
        cmocka_unit_test(other_activations_and_noise_give_nothing),
        cmocka_unit_test(units_of_the_data_do_not_matter),
        cmocka_unit_test(any_law_of_the_inputs_will_do),
        cmocka_unit_test(heavy_tails_spoil_no_system),
        cmocka_unit_test(neurons_that_share_their_pattern_are_not_told_apart),
        cmocka_unit_test(a_neuron_needs_more_active_samples_than_inputs),
        cmocka_unit_test(one_neuron_is_the_smallest_network),
        cmocka_unit_test(dependent_inputs_give_the_same_function),
        cmocka_unit_test(two_starts_of_one_neuron_count_once),
        cmocka_unit_test(labels_without_content_solve_nothing),
        cmocka_unit_test(the_bits_do_not_depend_on_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
