/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "network/problem/start.h"
#include "networks.h"
#include "paper/two_layer/two_layer.h"

static unrelu_network_plant_options sized(size_t d, size_t k, size_t m, unrelu_inputs law,
                                          uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.kappa_v = o.kappa_u = 3;
    o.inputs = law;
    o.seed = seed;
    return o;
}

static ur_start start_of(const planted_network *p)
{
    return (ur_start){
        .sample = {p->n, p->d, p->m, p->x, p->a}, .k = p->k, .f = {UNRELU_RELU, 0}, .seed = 1};
}

/* largest over true rows of the distance to the nearest found one */
static double error_of(const planted_network *p, const double *V)
{
    double worst = 0;
    for (size_t i = 0; i < p->k; i++) {
        double best = INFINITY;
        for (size_t j = 0; j < p->k; j++) {
            double far = 0;
            for (size_t l = 0; l < p->d; l++)
                far += pow(p->truth->V[i * p->d + l] - V[j * p->d + l], 2);
            best = fmin(best, far);
        }
        worst = fmax(worst, sqrt(best));
    }
    return worst;
}

static double error_at(unrelu_network_plant_options o, size_t n)
{
    planted_network p = plant_network_with(o, n);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    double *V = malloc(p.k * p.d * sizeof *V);
    must(ur_start_symmetric(&start, V, NULL, &note, &err), &err);
    double error = error_of(&p, V);
    free(V);
    planted_network_free(&p);
    return error;
}

static void the_chi2_tail_is_right(void **state)
{
    (void)state;
    const double x[] = {1e-3, 0.5, 2, 10, 40, 100, 300};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        double h = 0.5 * x[i], even = 0, term = exp(-h);
        assert_near(ur_chi2_tail(1, x[i]) / erfc(sqrt(h)), 1, 1e-12);
        assert_near(ur_chi2_tail(2, x[i]) / exp(-h), 1, 1e-12);
        /* 2m degrees: e^-h sum_{j < m} h^j / j! */
        for (int j = 0; j < 50; j++) {
            even += term;
            term *= h / (j + 1);
        }
        assert_near(ur_chi2_tail(100, x[i]) / even, 1, 1e-11);
    }
    assert_true(ur_chi2_tail(3, 0) == 1);
}

static double symmetry_p(const double *x, size_t n, size_t d)
{
    ur_sample sample = {.n = n, .d = d, .x = x};
    ur_symmetry out;
    unrelu_error err = {0};
    must(ur_symmetry_test(&sample, 1, NULL, &out, &err), &err);
    return out.p;
}

/* under symmetry p is close to uniform; at n = 300 a little above */
static void symmetric_laws_are_not_rejected(void **state)
{
    (void)state;
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_BINARY,
                                  UNRELU_INPUTS_T3, UNRELU_INPUTS_LAPLACE};
    enum { RUNS = 20, N = 300, D = 5 };
    double *x = malloc(N * D * sizeof *x);
    unrelu_error err = {0};
    for (size_t law = 0; law < 5; law++) {
        double mean = 0;
        for (uint64_t seed = 1; seed <= RUNS; seed++) {
            unrelu_network_plant_options o = sized(D, 2, 2, laws[law], seed);
            must(unrelu_network_draw(&o, NULL, 0, N, NULL, x, NULL, &err), &err);
            double p = symmetry_p(x, N, D);
            mean += p / RUNS;
            assert_true(p > 1e-3);
        }
        assert_near(mean, 0.55, 0.25); /* 0.29 / sqrt 20 = 0.065 a standard error */
    }
    free(x);
}

static void a_shift_and_a_mixture_are_rejected(void **state)
{
    (void)state;
    enum { N = 2000, D = 10 };
    double *x = malloc(N * D * sizeof *x);
    unrelu_error err = {0};
    unrelu_network_plant_options o = sized(D, 2, 2, UNRELU_INPUTS_MIXTURE, 3);
    must(unrelu_network_draw(&o, NULL, 0, N, NULL, x, NULL, &err), &err);
    assert_true(symmetry_p(x, N, D) < 1e-6);
    ur_random_normals(5, 0, 0, N * D, x);
    assert_true(symmetry_p(x, N, D) > 1e-3);
    for (size_t i = 0; i < N; i++)
        x[i * D] += 0.3;
    assert_true(symmetry_p(x, N, D) < 1e-6);
    free(x);
}

/* x3 has the sign of x1 x2: every margin and every pair is symmetric, the three are not */
static void asymmetry_of_the_joint_law_alone_is_rejected(void **state)
{
    (void)state;
    enum { N = 2000, D = 3 };
    double *x = malloc(N * D * sizeof *x);
    ur_random_normals(6, 0, 0, N * D, x);
    assert_true(symmetry_p(x, N, D) > 1e-3);
    for (size_t i = 0; i < N; i++)
        x[i * D + 2] = copysign(x[i * D + 2], x[i * D] * x[i * D + 1]);
    assert_true(symmetry_p(x, N, D) < 1e-3);
    free(x);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Errors fall as n^-1/2: at n = 5000 their median is 0.025 to 0.036, by law and size, and the
 * logarithm of the median of 7 runs has a deviation of 0.13, so that 0.06 is 4 of these away. Where
 * two neurons come out of the span's random members too close to be told apart, one is found twice
 * and another not at all: 5 of 1800 runs, and rounding decides which. More than 3 of 63 runs would
 * be a chance of 3e-5. */
static void five_thousand_samples_nearly_always_give_every_row_to_a_tenth(void **state)
{
    (void)state;
    skip_sanitized();
    enum { SEEDS = 7 };
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_T3};
    const size_t sizes[3][3] = {{10, 5, 5}, {10, 10, 10}, {20, 8, 12}};
    int missed = 0;
    for (size_t law = 0; law < 3; law++)
        for (size_t s = 0; s < 3; s++) {
            double error[SEEDS];
            for (size_t i = 0; i < SEEDS; i++) {
                error[i] =
                    error_at(sized(sizes[s][0], sizes[s][1], sizes[s][2], laws[law], i + 1), 5000);
                missed += !(error[i] < 0.1);
            }
            qsort(error, SEEDS, sizeof *error, ascending);
            assert_true(error[SEEDS / 2] < 0.06);
        }
    assert_true(missed <= 3);
}

static void the_error_falls_as_the_root_of_n(void **state)
{
    (void)state;
    skip_sanitized();
    double few = 0, many = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        few += log(error_at(sized(6, 3, 4, UNRELU_INPUTS_NORMAL, seed), 1000));
        many += log(error_at(sized(6, 3, 4, UNRELU_INPUTS_NORMAL, seed), 25000));
    }
    assert_near(exp((few - many) / 6), 5, 2.5);
}

/* noise of constant covariance is no bias: the error keeps falling */
static void noise_is_projected_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        unrelu_network_plant_options o = sized(8, 4, 4, UNRELU_INPUTS_UNIFORM, seed);
        o.noise = 0.5;
        assert_true(error_at(o, 40000) < 0.1);
    }
}

static void units_of_inputs_and_labels_do_not_matter(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(5, 3, 4, UNRELU_INPUTS_NORMAL, 1), 3000);
    double V[15], W[15];
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    must(ur_start_symmetric(&start, V, NULL, &note, &err), &err);
    for (size_t i = 0; i < p.n; i++) {
        p.x[i * 5] *= 0x1p-40;
        p.x[i * 5 + 3] *= 0x1p30;
        p.a[i * 4 + 1] *= 0x1p-30;
        p.a[i * 4 + 2] *= 0x1p20;
    }
    must(ur_start_symmetric(&start, W, NULL, &note, &err), &err);
    for (size_t j = 0; j < 3; j++) { /* v x = (v / unit) (unit x), then unit length again */
        double size = 0;
        W[j * 5] *= 0x1p-40;
        W[j * 5 + 3] *= 0x1p30;
        for (size_t i = 0; i < 5; i++)
            size += W[j * 5 + i] * W[j * 5 + i];
        for (size_t i = 0; i < 5; i++)
            assert_near(W[j * 5 + i] / sqrt(size), V[j * 5 + i], 1e-9);
    }
    planted_network_free(&p);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(20, 8, 12, UNRELU_INPUTS_LAPLACE, 4), 3000);
    double V[3][160];
    const int threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads[i]};
        ur_start start = start_of(&p);
        ur_start_note note;
        unrelu_error err = {0};
        start.exec = &exec;
        must(ur_start_symmetric(&start, V[i], NULL, &note, &err), &err);
        assert_memory_equal(V[0], V[i], sizeof V[0]);
    }
    planted_network_free(&p);
}

static void refused(const ur_start *start, const char *words)
{
    ur_start_note note;
    unrelu_error err = {0};
    double V[400];
    assert_int_equal(ur_start_symmetric(start, V, NULL, &note, &err), UNRELU_EDATA);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void what_does_not_apply_is_refused(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(6, 3, 3, UNRELU_INPUTS_MIXTURE, 1), 3000);
    ur_start start = start_of(&p);
    refused(&start, "not symmetric about 0 (p = ");
    start.hidden = 1;
    refused(&start, "has no biases");
    start = start_of(&p);
    start.f = (unrelu_activation){UNRELU_LEAKY, 0.1};
    refused(&start, "relu alone");
    start = start_of(&p);
    start.k = 7;
    refused(&start, "7 neurons, 6 inputs");
    planted_network_free(&p);
    p = plant_network_with(sized(6, 3, 3, UNRELU_INPUTS_NORMAL, 1), 3000);
    start = start_of(&p);
    start.k = 4;
    refused(&start, "rank 3, below the 4 neurons");
    planted_network_free(&p);
}

static void one_neuron_is_found(void **state)
{
    (void)state;
    unrelu_network_plant_options o = sized(5, 1, 1, UNRELU_INPUTS_NORMAL, 1);
    o.kappa_v = o.kappa_u = 0;
    assert_true(error_at(o, 500) < 1e-12);
}

static void the_note_says_what_was_tested(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(6, 3, 3, UNRELU_INPUTS_NORMAL, 1), 3000);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    double V[18];
    must(ur_start_symmetric(&start, V, NULL, &note, &err), &err);
    assert_non_null(strstr(note.guarantee, "Corollary 5"));
    assert_non_null(strstr(note.assumption, "symmetry about 0 not rejected (chi2 = "));
    assert_non_null(strstr(note.assumption, "distinguishing matrix"));
    planted_network_free(&p);
}

static void recovery_from_these_starts_is_exact(void **state)
{
    (void)state;
    const size_t sizes[3][3] = {{10, 5, 5}, {10, 10, 10}, {20, 8, 12}};
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_T3};
    for (size_t law = 0; law < 3; law++)
        for (size_t s = 0; s < 3; s++) {
            unrelu_recover_options options;
            unrelu_recover_options_init(&options, sizeof options);
            options.method = UNRELU_RECOVER_SYMMETRIC;
            options.biases = UNRELU_BIASES_NONE;
            planted_network p = plant_network_with(
                sized(sizes[s][0], sizes[s][1], sizes[s][2], laws[law], 10 + s), 5000);
            unrelu_network *model = recover(&p, &options);
            assert_near(error_of_V(p.truth, model), 0, 1e-10);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chi2_tail_is_right),
        cmocka_unit_test(symmetric_laws_are_not_rejected),
        cmocka_unit_test(a_shift_and_a_mixture_are_rejected),
        cmocka_unit_test(asymmetry_of_the_joint_law_alone_is_rejected),
        cmocka_unit_test(five_thousand_samples_nearly_always_give_every_row_to_a_tenth),
        cmocka_unit_test(the_error_falls_as_the_root_of_n),
        cmocka_unit_test(noise_is_projected_out),
        cmocka_unit_test(units_of_inputs_and_labels_do_not_matter),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(what_does_not_apply_is_refused),
        cmocka_unit_test(one_neuron_is_found),
        cmocka_unit_test(the_note_says_what_was_tested),
        cmocka_unit_test(recovery_from_these_starts_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
