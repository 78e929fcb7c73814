/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer labels than neurons, by `signless`: planted networks, whose k is not told. */
#include "networks.h"

#include "dense/linear.h"

typedef struct {
    size_t d, k, m, n;
    double bias;
    uint64_t seed;
} size;

static planted_network plant_of(size s)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = s.d;
    o.k = s.k;
    o.m = s.m;
    o.bias = s.bias;
    o.seed = s.seed;
    return plant_network_with(o, s.n);
}

static unrelu_recover_options by_signless(void)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_SIGNLESS;
    return o;
}

static void networks_of_fewer_labels_than_neurons_are_exact(void **state)
{
    (void)state;
    static const size sizes[] = {{10, 16, 1, 1100, .5, 1}, {20, 10, 1, 1600, .5, 2},
                                 {6, 12, 2, 500, .5, 3},   {5, 9, 3, 300, .5, 4},
                                 {10, 16, 1, 1100, 0, 5},  {4, 1, 1, 200, .5, 6}};
    unrelu_recover_options o = by_signless();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        planted_network p = plant_of(sizes[i]);
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_true(error_of_V(p.truth, model) < 1e-11);
        assert_true(model->holdout_residual < 1e-12);
        assert_string_equal(model->method, "signless");
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void the_number_of_neurons_may_be_given(void **state)
{
    (void)state;
    planted_network p = plant_of((size){10, 16, 1, 1100, .5, 7});
    unrelu_recover_options o = by_signless();
    o.k = 16;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_true(error_of_V(p.truth, model) < 1e-11);
    assert_string_equal(model->how_k, "given");
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void biases_are_those_asked_for(void **state)
{
    (void)state;
    static const unrelu_biases biases[] = {UNRELU_BIASES_NONE, UNRELU_BIASES_OUTPUT,
                                           UNRELU_BIASES_HIDDEN, UNRELU_BIASES_BOTH};
    static const char *const names[] = {"none", "output", "hidden", "both"};
    planted_network p = plant_of((size){6, 9, 2, 500, 0, 8});
    for (size_t i = 0; i < sizeof biases / sizeof *biases; i++) {
        unrelu_recover_options o = by_signless();
        o.biases = biases[i];
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_true(error_of_V(p.truth, model) < 1e-11);
        assert_string_equal(model->biases, names[i]);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void biases_that_are_not_needed_are_none(void **state)
{
    (void)state;
    planted_network p = plant_of((size){6, 9, 2, 500, 0, 8});
    unrelu_recover_options o = by_signless();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_string_equal(model->biases, "none");
    assert_true(error_of_V(p.truth, model) < 1e-11);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static const char *biases_told(double bias, int digits)
{
    static char told[16];
    planted_network p = plant_of((size){6, 9, 2, 500, bias, 8});
    double unit = pow(10, digits - 1);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = digits > 0 ? round(unit * p.a[i]) / unit : (double)(float)p.a[i];
    unrelu_recover_options o = by_signless();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    snprintf(told, sizeof told, "%s", model->biases);
    unrelu_network_free(model);
    planted_network_free(&p);
    return told;
}

/* Of biases that are 0 labels of few digits leave more than doubles do; of 1e-4 of V, which is as
 * little, labels in single precision show that they are there. */
static void biases_of_rounded_labels_are_told(void **state)
{
    (void)state;
    assert_string_equal(biases_told(0, 5), "none");
    assert_string_equal(biases_told(0, 0), "none");
    assert_string_equal(biases_told(1e-4, 0), "both");
}

/* biases of 1.2: most of these networks have neurons that are rarely on, or rarely off */
static void neurons_of_rare_sides_are_found(void **state)
{
    (void)state;
    size_t exact = 0, wrong = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        planted_network p = plant_of((size){8, 12, 2, 4000, 1.2, seed});
        unrelu_recover_options o = by_signless();
        unrelu_network *model = recover(&p, &o);
        exact += model->verdict == UNRELU_VERDICT_EXACT;
        wrong += model->verdict == UNRELU_VERDICT_EXACT && !(error_of_V(p.truth, model) < 1e-9);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(exact >= 4); /* 2 where no rows are left out */
    assert_int_equal(wrong, 0);
}

static void rows_that_are_too_few_are_told(void **state)
{
    (void)state;
    planted_network p = plant_of((size){10, 16, 1, 300, .5, 9});
    unrelu_recover_options o = by_signless();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_non_null(strstr(model->failure, "tried on 300 rows"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void noise_is_told_from_a_missing_neuron(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 8, 2, 2000, .05, 11);
    unrelu_recover_options o = by_signless();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    assert_non_null(strstr(model->failure, "met no better"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void fewer_neurons_than_there_are_do_not_do(void **state)
{
    (void)state;
    planted_network p = plant_of((size){10, 12, 1, 1100, .5, 12});
    unrelu_recover_options o = by_signless();
    o.k = 11;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    unrelu_network_free(model);
    o.k = 14;
    model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_int_equal(model->k, 12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* the last has many more neurons than inputs and labels */
static void it_is_the_default_for_fewer_labels_than_neurons(void **state)
{
    (void)state;
    static const size sizes[] = {
        {10, 16, 1, 1100, .5, 13}, {8, 10, 4, 500, .5, 14}, {4, 16, 1, 800, .5, 15}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        planted_network p = plant_of(sizes[i]);
        unrelu_network *model = recover(&p, NULL);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_string_equal(model->method, "signless");
        assert_true(error_of_V(p.truth, model) < 1e-11);
        for (size_t j = 0; j < model->warning_count; j++)
            assert_string_not_equal(model->warnings[j].code, "fallback");
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* which lives on when the copy of the data that the method was run on is gone */
/* labels times the inverse root of the covariance of what is not linear in them: alike in all
 * directions, as the labels of noise are, and of a network all the same */
static void make_alike(planted_network *p)
{
    size_t n = p->n, m = p->m, q = p->d + 1;
    unrelu_error err = {0};
    double *Z = malloc(n * q * sizeof *Z), *R = malloc(n * m * sizeof *R), *beta, *C, *Q, *W,
           *values;
    beta = malloc(q * m * sizeof *beta);
    C = calloc(3 * m * m + m, sizeof *C);
    assert_true(Z && R && beta && C);
    Q = C + m * m;
    W = Q + m * m;
    values = W + m * m;
    for (size_t i = 0; i < n; i++) {
        memcpy(Z + i * q, p->x + i * p->d, p->d * sizeof *Z);
        Z[i * q + p->d] = 1;
    }
    must(ur_least_squares(n, q, m, Z, p->a, 1e-14, beta, NULL, &err), &err);
    ur_multiply(n, q, m, Z, beta, R);
    for (size_t i = 0; i < n * m; i++)
        R[i] = p->a[i] - R[i];
    ur_multiply_tn(n, m, m, R, R, C);
    must(ur_eigen_symmetric(m, C, values, Q, &err), &err);
    for (size_t i = 0; i < m * m; i++)
        for (size_t l = 0; l < m; l++)
            W[i] += Q[i / m * m + l] * Q[i % m * m + l] * sqrt((double)n / values[l]);
    ur_multiply(n, m, m, p->a, W, R);
    for (size_t j = 0; j < m; j++) { /* of one size, to which they are brought by powers of two */
        double largest = 0;
        for (size_t i = j; i < n * m; i += m)
            largest = fmax(largest, fabs(R[i]));
        for (size_t i = j; i < n * m; i += m)
            p->a[i] = R[i] / largest;
    }
    free(Z);
    free(R);
    free(beta);
    free(C);
}

static void labels_that_are_alike_as_noise_is_are_tried(void **state)
{
    (void)state;
    planted_network p = plant_of((size){10, 14, 6, 900, .5, 25});
    make_alike(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_string_equal(model->method, "signless");
    assert_true(error_of_V(p.truth, model) < 1e-10);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* where noise is all that the last dimensions hold, signless is passed over */
static void a_shelf_of_noise_is_passed_over(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 5;
    o.k = 3;
    o.m = 8;
    o.noise = .1;
    o.seed = 2;
    planted_network p = plant_network_with(o, 1000);
    unrelu_network *model = recover(&p, NULL);
    size_t passed = 0;
    for (size_t i = 0; i < model->tried_count; i++)
        passed += strncmp(model->tried[i], "signless: not tried", 19) == 0;
    assert_int_equal(passed, 1);
    assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static size_t tried_of(const unrelu_network *model, const char *method)
{
    size_t tried = 0;
    for (size_t i = 0; i < model->tried_count; i++)
        tried += strncmp(model->tried[i], method, strlen(method)) == 0;
    return tried;
}

/* One-sparse and enumerate come before the maximum likelihood where labels do not look noisy, and
 * after it where it leaves a doubt. */
static void noise_is_fitted_before_the_methods_that_it_makes_slow(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double noise;
        size_t tried;
    } of[] = {{4000, .1, 0}, {45, .3, 1}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        unrelu_network_plant_options o;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = 5;
        o.k = 4;
        o.m = 5;
        o.noise = of[i].noise;
        o.seed = 3;
        planted_network p = plant_network_with(o, of[i].n);
        unrelu_network *model = recover(&p, NULL);
        if (of[i].tried == 0)
            assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
        assert_int_equal(tried_of(model, "maximum likelihood"), 1);
        assert_int_equal(tried_of(model, "one-sparse: not tried, as what"), !of[i].tried);
        assert_int_equal(tried_of(model, "one-sparse"), 1);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void the_precision_of_labels_is_told_by_default(void **state)
{
    (void)state;
    static const char *const names[] = {"single", "digits:8"};
    for (int printed = 0; printed < 2; printed++) {
        planted_network p = plant_of((size){8, 10, 4, 500, .5, 14});
        for (size_t i = 0; i < p.n * p.options.m; i++)
            p.a[i] = printed ? round(1e7 * p.a[i]) / 1e7 : (double)(float)p.a[i];
        unrelu_network *model = recover(&p, NULL);
        assert_string_equal(model->method, "signless");
        assert_string_equal(model->precision, names[printed]);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static const char *warning_of(const unrelu_network *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return model->warnings[i].message;
    return NULL;
}

/* 40 and more neurons of 3 inputs and one label: more signs than can be tried */
static void signs_that_cannot_be_decided_are_open(void **state)
{
    (void)state;
    planted_network p = plant_of((size){3, 52, 1, 4000, .3, 15});
    unrelu_recover_options o = by_signless();
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
    assert_non_null(warning_of(model, "signs-open"));
    assert_int_equal(model->k, 52 + 2); /* and a pair v, -v */
    assert_int_equal(model->linear_rank, 1);
    assert_true(model->residual < 1e-12 && model->holdout_residual < 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* a skip connection, and a pair v, -v: the labels are met, and the linear part is told */
static void linear_parts_are_told(void **state)
{
    (void)state;
    planted_network p = plant_of((size){6, 8, 2, 600, .5, 16});
    unrelu_recover_options o = by_signless();
    for (size_t i = 0; i < p.n; i++)
        p.a[2 * i] += p.x[6 * i] - .5 * p.x[6 * i + 3];
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
    assert_non_null(warning_of(model, "linear-part"));
    assert_non_null(warning_of(model, "signs-open"));
    assert_true(model->residual < 1e-12 && model->holdout_residual < 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* Two neurons with opposite rows have one kink, so that their sum is one neuron and a linear part,
 * whichever they are: the function is met, and nothing is called exact. */
static void pairs_of_opposite_rows_are_a_neuron_and_a_linear_part(void **state)
{
    (void)state;
    planted_network p = plant_of((size){6, 8, 2, 600, .5, 21});
    unrelu_recover_options o = by_signless();
    unrelu_error err = {0};
    for (size_t i = 0; i < 6; i++)
        p.truth->V[7 * 6 + i] = -p.truth->V[i];
    p.truth->c[7] = -p.truth->c[0];
    must(unrelu_network_predict(p.truth, p.x, p.n, NULL, p.a, &err), &err);
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_UNCERTIFIED);
    assert_non_null(warning_of(model, "linear-part"));
    assert_true(model->residual < 1e-12 && model->holdout_residual < 1e-12);
    size_t seen = 0; /* the seven kinks are all there, up to sign */
    for (size_t j = 0; j < 7; j++) {
        double least = INFINITY;
        for (size_t l = 0; l < model->k; l++) {
            double same = 0, opposite = 0;
            for (size_t i = 0; i < 6; i++) {
                same = fmax(same, fabs(model->V[l * 6 + i] - p.truth->V[j * 6 + i]));
                opposite = fmax(opposite, fabs(model->V[l * 6 + i] + p.truth->V[j * 6 + i]));
            }
            least = fmin(least, fmin(same, opposite));
        }
        seen += least < 1e-10;
    }
    assert_int_equal(seen, 7);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* three threads share nothing but the pass of the certificate */
static void threads_give_the_same_bits(void **state)
{
    (void)state;
    planted_network p = plant_of((size){10, 16, 1, 1100, .5, 22});
    unrelu_recover_options o = by_signless();
    unrelu_network *models[2];
    for (int i = 0; i < 2; i++) {
        unrelu_exec exec = {.size = sizeof exec, .threads = i == 0 ? 1 : 3};
        unrelu_error err = {0};
        must(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &models[i], &err), &err);
    }
    assert_memory_equal(models[0]->V, models[1]->V, 160 * sizeof(double));
    assert_memory_equal(models[0]->U, models[1]->U, 16 * sizeof(double));
    assert_memory_equal(models[0]->c, models[1]->c, 16 * sizeof(double));
    unrelu_network_free(models[0]);
    unrelu_network_free(models[1]);
    planted_network_free(&p);
}

static void the_slope_of_a_leaky_relu_is_found(void **state)
{
    (void)state;
    unrelu_network_plant_options planted;
    unrelu_network_plant_options_init(&planted, sizeof planted);
    planted.d = 8;
    planted.k = 9;
    planted.m = 2;
    planted.bias = .5;
    planted.seed = 17;
    planted.activation = (unrelu_activation){UNRELU_LEAKY, .1};
    planted_network p = plant_network_with(planted, 700);
    unrelu_recover_options o = by_signless();
    for (int told = 0; told < 2; told++) {
        o.activation = (unrelu_activation){told ? UNRELU_LEAKY : UNRELU_RELU, told ? .1 : 0};
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
        assert_int_equal(model->activation.kind, UNRELU_LEAKY);
        assert_true(model->activation.parameter == .1);
        assert_int_equal(warning_of(model, "leaky-slope") != NULL, !told);
        assert_true(error_of_V(p.truth, model) < 1e-11);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void activations_without_a_fold_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_of((size){4, 3, 2, 200, 0, 10});
    unrelu_recover_options o = by_signless();
    unrelu_network *model;
    unrelu_error err = {0};
    o.activation = (unrelu_activation){UNRELU_POWER, 2};
    assert_int_equal(try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "power:2"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_of_fewer_labels_than_neurons_are_exact),
        cmocka_unit_test(the_number_of_neurons_may_be_given),
        cmocka_unit_test(biases_are_those_asked_for),
        cmocka_unit_test(biases_that_are_not_needed_are_none),
        cmocka_unit_test(biases_of_rounded_labels_are_told),
        cmocka_unit_test(neurons_of_rare_sides_are_found),
        cmocka_unit_test(rows_that_are_too_few_are_told),
        cmocka_unit_test(noise_is_told_from_a_missing_neuron),
        cmocka_unit_test(fewer_neurons_than_there_are_do_not_do),
        cmocka_unit_test(it_is_the_default_for_fewer_labels_than_neurons),
        cmocka_unit_test(labels_that_are_alike_as_noise_is_are_tried),
        cmocka_unit_test(a_shelf_of_noise_is_passed_over),
        cmocka_unit_test(noise_is_fitted_before_the_methods_that_it_makes_slow),
        cmocka_unit_test(the_precision_of_labels_is_told_by_default),
        cmocka_unit_test(signs_that_cannot_be_decided_are_open),
        cmocka_unit_test(linear_parts_are_told),
        cmocka_unit_test(pairs_of_opposite_rows_are_a_neuron_and_a_linear_part),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(the_slope_of_a_leaky_relu_is_found),
        cmocka_unit_test(activations_without_a_fold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
