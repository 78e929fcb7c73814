/* SPDX-License-Identifier: Apache-2.0 */
#include "network/problem/start.h"
#include "networks.h"

static unrelu_network_plant_options sized(size_t d, size_t k, size_t m, unrelu_inputs law,
                                          uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.inputs = law;
    o.seed = seed;
    return o;
}

static ur_start start_of(const planted_network *p, int hidden, int constant)
{
    return (ur_start){.sample = {p->n, p->d, p->m, p->x, p->a},
                      .k = p->k,
                      .f = {UNRELU_RELU, 0},
                      .hidden = hidden,
                      .constant = constant,
                      .seed = 1};
}

/* largest over true neurons of the distance of (v, c) to the nearest found one */
static double error_of(const planted_network *p, const double *V, const double *c)
{
    double worst = 0;
    for (size_t i = 0; i < p->k; i++) {
        double best = INFINITY;
        for (size_t j = 0; j < p->k; j++) {
            double far = pow(p->truth->c[i] - c[j], 2);
            for (size_t l = 0; l < p->d; l++)
                far += pow(p->truth->V[i * p->d + l] - V[j * p->d + l], 2);
            best = fmin(best, far);
        }
        worst = fmax(worst, sqrt(best));
    }
    return worst;
}

static double solve(const planted_network *p, int hidden, int constant, ur_start_note *note)
{
    ur_start start = start_of(p, hidden, constant);
    unrelu_error err = {0};
    double *V = malloc(p->k * p->d * sizeof *V), *c = malloc(p->k * sizeof *c);
    must(ur_start_lifted(&start, V, c, note, &err), &err);
    double error = error_of(p, V, c);
    for (size_t j = 0; j < p->k; j++) {
        double size = 0;
        for (size_t l = 0; l < p->d; l++)
            size += V[j * p->d + l] * V[j * p->d + l];
        assert_near(size, 1, 1e-12);
        if (!hidden)
            assert_true(c[j] == 0);
    }
    free(V);
    free(c);
    return error;
}

static void the_promised_numbers_of_samples_are_enough(void **state)
{
    (void)state;
    const size_t sizes[3][4] = {{10, 5, 5, 120}, {10, 10, 10, 189}, {20, 8, 12, 245}};
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_T3,
                                  UNRELU_INPUTS_BINARY, UNRELU_INPUTS_MIXTURE};
    ur_start_note note;
    for (size_t law = 0; law < 5; law++)
        for (size_t s = 0; s < 3; s++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                const size_t *z = sizes[s];
                planted_network p =
                    plant_network_with(sized(z[0], z[1], z[2], laws[law], seed), z[3]);
                assert_near(solve(&p, 0, 0, &note), 0, 1e-8);
                planted_network_free(&p);
            }
}

/* labels of the planted V, with c and e cut to what `hidden` and `constant` say */
static void relabel(planted_network *p, int hidden, int constant)
{
    for (size_t j = 0; j < p->k && !hidden; j++)
        p->truth->c[j] = 0;
    for (size_t i = 0; i < p->m && !constant; i++)
        p->truth->e[i] = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t q = 0; q < p->m; q++) {
            double a = p->truth->e[q];
            for (size_t j = 0; j < p->k; j++) {
                double t = p->truth->c[j];
                for (size_t l = 0; l < p->d; l++)
                    t += p->truth->V[j * p->d + l] * p->x[i * p->d + l];
                a += p->truth->U[q * p->k + j] * fmax(t, 0);
            }
            p->a[i * p->m + q] = a;
        }
}

static void biases_of_both_layers_are_found(void **state)
{
    (void)state;
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_MIXTURE, UNRELU_INPUTS_T3};
    ur_start_note note;
    for (size_t law = 0; law < 3; law++)
        for (int mode = 0; mode < 4; mode++) {
            unrelu_network_plant_options o = sized(8, 4, 6, laws[law], 20 + law);
            o.bias = 0.4;
            planted_network p = plant_network_with(o, 300);
            relabel(&p, mode & 1, mode >> 1);
            assert_near(solve(&p, mode & 1, mode >> 1, &note), 0, 1e-8);
            planted_network_free(&p);
        }
}

/* asking for biases that are not there costs nothing */
static void needless_biases_come_out_as_zero(void **state)
{
    (void)state;
    ur_start_note note;
    planted_network p = plant_network_with(sized(8, 4, 6, UNRELU_INPUTS_UNIFORM, 2), 300);
    assert_near(solve(&p, 1, 1, &note), 0, 1e-8);
    planted_network_free(&p);
}

static void more_neurons_than_inputs_are_found(void **state)
{
    (void)state;
    ur_start_note note;
    planted_network p = plant_network_with(sized(4, 7, 8, UNRELU_INPUTS_NORMAL, 5), 400);
    assert_near(solve(&p, 0, 0, &note), 0, 1e-6);
    planted_network_free(&p);
}

static void dependent_and_ill_scaled_inputs_do_not_matter(void **state)
{
    (void)state;
    enum { D = 6, K = 3, N = 200 };
    planted_network p = plant_network_with(sized(D, K, K, UNRELU_INPUTS_NORMAL, 3), N);
    double *x = malloc(N * (D + 1) * sizeof *x), V[K * (D + 1)], c[K];
    for (size_t i = 0; i < N;
         i++) { /* column D is the sum of the first two; column 0 in tiny units */
        memcpy(x + i * (D + 1), p.x + i * D, D * sizeof *x);
        x[i * (D + 1) + D] = x[i * (D + 1)] + x[i * (D + 1) + 1];
        x[i * (D + 1) + 2] *= 1e-9;
    }
    ur_start start = start_of(&p, 0, 0);
    ur_start_note note;
    unrelu_error err = {0};
    start.sample.x = x;
    start.sample.d = D + 1;
    must(ur_start_lifted(&start, V, c, &note, &err), &err);
    for (size_t j = 0; j < K; j++) { /* the same functions: V x is proportional to a true row */
        double best = INFINITY;
        for (size_t t = 0; t < K; t++) {
            double ff = 0, fg = 0, gg = 0;
            for (size_t i = 0; i < N; i++) {
                double f = 0, g = 0;
                for (size_t l = 0; l <= D; l++)
                    f += V[j * (D + 1) + l] * x[i * (D + 1) + l];
                for (size_t l = 0; l < D; l++)
                    g += p.truth->V[t * D + l] * p.x[i * D + l];
                ff += f * f;
                fg += f * g;
                gg += g * g;
            }
            best = fmin(best, 1 - fg / sqrt(ff * gg));
        }
        assert_near(best, 0, 1e-12);
    }
    free(x);
    planted_network_free(&p);
}

static void labels_in_single_precision_are_near_enough(void **state)
{
    (void)state;
    ur_start_note note;
    planted_network p = plant_network_with(sized(10, 5, 8, UNRELU_INPUTS_NORMAL, 4), 400);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = (float)p.a[i];
    assert_near(solve(&p, 0, 0, &note), 0, 1e-4);
    planted_network_free(&p);
}

static void a_little_noise_gives_a_start(void **state)
{
    (void)state;
    ur_start_note note;
    unrelu_network_plant_options o = sized(6, 3, 6, UNRELU_INPUTS_NORMAL, 4);
    o.noise = 1e-3;
    o.kappa_u = o.kappa_v = 2;
    planted_network p = plant_network_with(o, 1000);
    assert_true(solve(&p, 0, 0, &note) < 0.05);
    assert_non_null(strstr(note.guarantee, "not met"));
    planted_network_free(&p);
}

static void refused(const ur_start *start, const char *words)
{
    ur_start_note note;
    unrelu_error err = {0};
    double V[400], c[100];
    assert_int_equal(ur_start_lifted(start, V, c, &note, &err), UNRELU_EDATA);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void what_does_not_apply_is_refused(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(10, 5, 5, UNRELU_INPUTS_NORMAL, 1), 200);
    ur_start start = start_of(&p, 0, 0);
    /* 65 features; a row gives one equation, save where all neurons are off */
    size_t nullity = 65;
    char words[96];
    start.sample.n = 50;
    for (size_t i = 0; i < 50; i++)
        for (size_t q = 0; q < 5; q++)
            if (p.a[i * 5 + q] != 0) {
                nullity--;
                break;
            }
    snprintf(words, sizeof words, "nullity %zu > k = 5: too few samples (50, needs about 72)",
             nullity);
    refused(&start, words);
    start = start_of(&p, 0, 0);
    start.f = (unrelu_activation){UNRELU_LEAKY, 0.1};
    refused(&start, "relu alone");
    start = start_of(&p, 0, 0);
    start.k = 75;
    refused(&start, "above 3000 (k = 75, d = 10)");
    start.k = 6;
    refused(&start, "rank 5, below the 6 neurons");
    planted_network_free(&p);
}

/* Beside the k = 4 of the neurons: r_1 r_2 = 0, and as r_1 - r_2 = v.x is linear, r_j times it
 * for j > 2 */
static void antiparallel_rows_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(6, 4, 4, UNRELU_INPUTS_NORMAL, 1), 400);
    for (size_t l = 0; l < p.d; l++)
        p.truth->V[l] = -p.truth->V[p.d + l];
    relabel(&p, 0, 0);
    ur_start start = start_of(&p, 0, 0);
    refused(&start, "nullity 7 > k = 4");
    planted_network_free(&p);
}

static void labels_of_another_kind_are_refused(void **state)
{
    (void)state;
    unrelu_network_plant_options o = sized(6, 4, 4, UNRELU_INPUTS_NORMAL, 1);
    o.noise = 0.5;
    planted_network p = plant_network_with(o, 400);
    ur_start start = start_of(&p, 0, 0);
    refused(&start, "no gap after eigenvalue k = 4");
    planted_network_free(&p);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(20, 8, 12, UNRELU_INPUTS_LAPLACE, 4), 1500);
    double V[3][160], c[8];
    const int threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads[i]};
        ur_start start = start_of(&p, 0, 0);
        ur_start_note note;
        unrelu_error err = {0};
        start.exec = &exec;
        must(ur_start_lifted(&start, V[i], c, &note, &err), &err);
        assert_memory_equal(V[0], V[i], sizeof V[0]);
    }
    planted_network_free(&p);
}

static int stop_at_once(void *context)
{
    (void)context;
    return 1;
}

static void it_can_be_interrupted(void **state)
{
    (void)state;
    planted_network p = plant_network_with(sized(6, 3, 3, UNRELU_INPUTS_NORMAL, 1), 200);
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .cancelled = stop_at_once};
    ur_start start = start_of(&p, 0, 0);
    ur_start_note note;
    double V[18], c[3];
    start.exec = &exec;
    assert_int_equal(ur_start_lifted(&start, V, c, &note, NULL), UNRELU_ECANCELLED);
    planted_network_free(&p);
}

static void the_note_says_what_was_checked(void **state)
{
    (void)state;
    ur_start_note note;
    planted_network p = plant_network_with(sized(6, 3, 3, UNRELU_INPUTS_NORMAL, 1), 200);
    solve(&p, 0, 0, &note);
    assert_non_null(strstr(note.guarantee, "nullity = k was checked"));
    assert_non_null(
        strstr(note.assumption, "nullity 3 of 24 lifted features for k = 3, 200 samples"));
    planted_network_free(&p);
}

static void recovery_from_these_starts_is_exact(void **state)
{
    (void)state;
    unrelu_recover_options options;
    unrelu_recover_options_init(&options, sizeof options);
    options.method = UNRELU_RECOVER_LIFTED;
    options.biases = UNRELU_BIASES_NONE;
    planted_network p = plant_network_with(sized(20, 8, 12, UNRELU_INPUTS_MIXTURE, 10), 400);
    unrelu_network *model = recover(&p, &options);
    assert_near(error_of_V(p.truth, model), 0, 1e-11);
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_promised_numbers_of_samples_are_enough),
        cmocka_unit_test(biases_of_both_layers_are_found),
        cmocka_unit_test(needless_biases_come_out_as_zero),
        cmocka_unit_test(more_neurons_than_inputs_are_found),
        cmocka_unit_test(dependent_and_ill_scaled_inputs_do_not_matter),
        cmocka_unit_test(labels_in_single_precision_are_near_enough),
        cmocka_unit_test(a_little_noise_gives_a_start),
        cmocka_unit_test(what_does_not_apply_is_refused),
        cmocka_unit_test(antiparallel_rows_are_refused),
        cmocka_unit_test(labels_of_another_kind_are_refused),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(it_can_be_interrupted),
        cmocka_unit_test(the_note_says_what_was_checked),
        cmocka_unit_test(recovery_from_these_starts_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
