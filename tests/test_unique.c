/* SPDX-License-Identifier: Apache-2.0 */
/* When an exact fit may be called exact: every rule of network_rules.c and certify.c with data that
 * break it and, where it is close, data that keep it. */
#include "networks.h"

#include "base/random.h"

static void relabel(planted_network *p)
{
    unrelu_error err = {0};
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

static int says(const unrelu_network *m, const char *words)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strstr(m->warnings[i].message, words))
            return 1;
    return 0;
}

static void expect(const planted_network *p, const unrelu_recover_options *o,
                   unrelu_verdict verdict, const char *words)
{
    unrelu_network *m = recover(p, o);
    if (m->verdict != verdict || (words && !says(m, words)))
        fail_msg("%s, expected %s saying '%s'; first warning: %s", unrelu_verdict_name(m->verdict),
                 unrelu_verdict_name(verdict), words ? words : "",
                 m->warning_count ? m->warnings[0].message : "none");
    unrelu_network_free(m);
}

static void expect_not_exact(const planted_network *p)
{
    unrelu_network *m = recover(p, NULL);
    if (m->verdict == UNRELU_VERDICT_EXACT)
        fail_msg("called exact: residual %g, precision %s", m->residual, m->precision);
    unrelu_network_free(m);
}

/* ---- labels that are met ---- */

static void noise_in_a_small_column_does_not_hide_behind_a_large_one(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 400, 0, 3);
    double noise[400];
    ur_random_normals(1, 99, 0, 400, noise);
    for (size_t i = 0; i < 400; i++)
        p.a[i * 4] *= 1e8;
    expect(&p, NULL, UNRELU_VERDICT_EXACT, NULL); /* the scale alone does no harm */
    for (size_t i = 0; i < 400; i++)
        p.a[i * 4 + 2] += 1e-5 * noise[i];
    expect_not_exact(&p);
    planted_network_free(&p);
}

/* rounds to so many significant digits, after adding noise of so many units of the last one */
static void print_labels(planted_network *p, int digits, double units)
{
    double *noise = malloc(p->n * p->m * sizeof *noise);
    ur_random_normals(2, 99, 0, p->n * p->m, noise);
    for (size_t i = 0; i < p->n * p->m; i++) {
        char text[40];
        double last = pow(10, floor(log10(fabs(p->a[i]) + 1e-9)) + 1 - digits);
        snprintf(text, sizeof text, "%.*g", digits, p->a[i] + units * last * noise[i]);
        p->a[i] = atof(text);
    }
    free(noise);
}

static void noise_of_a_few_last_digits_is_not_taken_for_rounding(void **state)
{
    (void)state;
    for (int digits = 5; digits <= 8; digits += SANITIZED ? 3 : 1) {
        planted_network p = plant_network(10, 5, 8, 600, 0, 5);
        print_labels(&p, digits, 0);
        expect(&p, NULL, UNRELU_VERDICT_EXACT, "decimal digits");
        relabel(&p);
        print_labels(&p, digits, 10);
        expect_not_exact(&p);
        planted_network_free(&p);
    }
}

static void one_wrong_row_of_many_with_few_digits_is_seen(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 20000, 0, 6);
    print_labels(&p, 5, 0);
    expect(&p, NULL, UNRELU_VERDICT_EXACT, "decimal digits");
    size_t row = 777; /* the first from there on whose labels are not small themselves */
    while (fabs(p.a[row * 4]) < .5)
        row++;
    for (size_t j = 0; j < 4; j++)
        p.a[row * 4 + j] *= 1.1;
    expect_not_exact(&p);
    planted_network_free(&p);
}

/* its share of the residual is below the floor: only the cell itself shows it */
static void one_wrong_cell_does_not_drown_in_many_that_fit(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 2, 200000, 0, 18);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_EXACT;
    expect(&p, &o, UNRELU_VERDICT_EXACT, NULL);
    p.a[123456] += 5e-10;
    expect(&p, &o, UNRELU_VERDICT_FAILED, NULL);
    planted_network_free(&p);
}

static void digits_are_those_of_every_column(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 2, 2, 5000, 3e-4, 7);
    for (size_t i = 0; i < p.n; i++)
        p.a[i * 2] = 0; /* no digit at all, beside doubles with noise */
    expect_not_exact(&p);
    planted_network_free(&p);
}

/* ---- networks that are the only ones ---- */

static void a_single_neuron_that_is_always_on_is_not_identifiable(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 1, 2, 200, 0, 8);
    for (size_t i = 0; i < p.n; i++)
        for (size_t l = 0; l < 3; l++)
            p.x[i * 3 + l] += 10 * p.truth->V[l];
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "not identifiable");
    planted_network_free(&p);
}

static void samples_on_a_kink_leave_it_open(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 3, 300, 0, 9);
    static const double V[] = {1, 0, 0, 0, .6, .8};
    memcpy(p.truth->V, V, sizeof V);
    for (size_t i = 0; i < p.n; i++) /* the first input takes five values, 0 among them */
        p.x[i * 3] = fmax(-2, fmin(2, rint(p.x[i * 3])));
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "on the kink");
    for (size_t i = 0; i < p.n; i++) /* and now none of them 0 */
        p.x[i * 3] += .5;
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_EXACT, NULL);
    planted_network_free(&p);
}

static void an_antiparallel_pair_is_unique_unless_another_row_lies_in_its_span(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 4, 6, 400, 0, 10);
    double *V = p.truth->V;
    for (size_t l = 0; l < 5; l++)
        V[5 + l] = -V[l];
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_EXACT, NULL);
    planted_network_free(&p);

    p = plant_network(2, 5, 7, 500, 0, 11); /* two pairs span the plane, the fifth lies in it */
    for (size_t l = 0; l < 2; l++) {
        p.truth->V[2 + l] = -p.truth->V[l];
        p.truth->V[6 + l] = -p.truth->V[4 + l];
    }
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "opposite samples");
    planted_network_free(&p);
}

static void an_antiparallel_pair_beside_output_biases_is_not_unique(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 6, 400, 0, 12);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.biases = UNRELU_BIASES_BOTH;
    for (size_t l = 0; l < 5; l++)
        p.truth->V[5 + l] = -p.truth->V[l];
    for (size_t j = 0; j < 3; j++)
        p.truth->c[j] = j == 0 ? .3 : j == 1 ? -.3 : .1;
    for (size_t j = 0; j < 6; j++)
        p.truth->e[j] = .2 * (double)j;
    relabel(&p);
    unrelu_network *m = recover(&p, &o);
    assert_int_equal(m->verdict, UNRELU_VERDICT_UNCERTIFIED);
    unrelu_network_free(m);
    planted_network_free(&p);
}

static void nearly_dependent_inputs_cost_the_certificate(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 300, 0, 13);
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 5 + 1] = p.x[i * 5] + 1e-3 * p.x[i * 5 + 1];
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_EXACT, NULL);
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 5 + 1] = p.x[i * 5] + 1e-8 * (p.x[i * 5 + 1] - p.x[i * 5]);
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "nearly dependent");
    planted_network_free(&p);
}

static void few_values_are_not_confirmed_by_more_rows_of_them(void **state)
{
    (void)state;
    planted_network p = plant_network(2, 2, 3, 400, 0, 14);
    for (size_t i = 0; i < 2 * p.n; i++) /* 25 different rows, none on a kink */
        p.x[i] = fmax(-2, fmin(2, rint(p.x[i]))) + .05;
    relabel(&p);
    expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "different rows");
    planted_network_free(&p);
}

/* ---- inputs that do not span their space ---- */

typedef enum { ZERO, CONSTANT, SUM, AFFINE, RANK_3 } lack;

/* planted weights, and inputs that lack a dimension (RANK_3: all but three, and noise) */
static planted_network plant_lacking(lack what, double noise, uint64_t seed)
{
    planted_network p = plant_network(7, 4, 6, 500, 0, seed);
    double z[3 * 7], *e = malloc(p.n * 7 * sizeof *e);
    ur_random_normals(seed, 98, 0, 3 * 7, z);
    ur_random_normals(seed, 99, 0, p.n * 7, e);
    for (size_t i = 0; i < p.n; i++) {
        double *x = p.x + i * 7, three[3] = {x[0], x[1], x[2]};
        if (what == AFFINE) /* of the first three columns one is 1 */
            for (size_t l = 0; l < 3; l++)
                x[l] = l == i % 3;
        else if (what == RANK_3)
            for (size_t l = 0; l < 7; l++)
                x[l] = three[0] * z[l] + three[1] * z[7 + l] + three[2] * z[14 + l] +
                       noise * e[i * 7 + l];
        else
            x[6] = what == ZERO ? 0 : what == CONSTANT ? -.7 : x[0] + x[1];
    }
    free(e);
    relabel(&p);
    return p;
}

static void expect_rank(const planted_network *p, const unrelu_recover_options *o, size_t rank)
{
    unrelu_network *m = recover(p, o);
    assert_int_equal(m->inputs_rank, rank);
    unrelu_verdict verdict = rank < p->d ? UNRELU_VERDICT_UNCERTIFIED : UNRELU_VERDICT_EXACT;
    if (m->verdict != verdict)
        fail_msg("%s with rank %zu; %s", unrelu_verdict_name(m->verdict), rank,
                 m->warning_count ? m->warnings[0].message : "no warning");
    if (rank == p->d)
        assert_near(error_of_V(p->truth, m), 0, 1e-8);
    else
        assert_true(says(m, "the inputs have rank"));
    assert_near(m->residual, 0, 1e-12);
    unrelu_network_free(m);
}

static void inputs_that_do_not_span_their_space_are_not_certified(void **state)
{
    (void)state;
    static const struct {
        lack what;
        unrelu_biases biases;
        size_t rank;
    } cases[] = {
        {ZERO, UNRELU_BIASES_AUTO, 6},     {ZERO, UNRELU_BIASES_NONE, 6},
        {CONSTANT, UNRELU_BIASES_AUTO, 6}, {CONSTANT, UNRELU_BIASES_HIDDEN, 6},
        {CONSTANT, UNRELU_BIASES_BOTH, 6}, {CONSTANT, UNRELU_BIASES_NONE, 7},
        {SUM, UNRELU_BIASES_AUTO, 6},      {SUM, UNRELU_BIASES_BOTH, 6},
        {AFFINE, UNRELU_BIASES_AUTO, 6},   {RANK_3, UNRELU_BIASES_AUTO, 3},
        {AFFINE, UNRELU_BIASES_NONE, 7}, /* by more rows than the solver saw */
    };
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        planted_network p = plant_lacking(cases[t].what, 0, 21);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.biases = cases[t].biases;
        expect_rank(&p, &o, cases[t].rank);
        planted_network_free(&p);
    }
}

/* whichever way the network is found */
static void no_method_certifies_inputs_that_do_not_span_their_space(void **state)
{
    (void)state;
    static const unrelu_recover_method methods[] = {
        UNRELU_RECOVER_EXACT,     UNRELU_RECOVER_LIFTED,     UNRELU_RECOVER_FACETS,
        UNRELU_RECOVER_ENUMERATE, UNRELU_RECOVER_ONE_SPARSE,
    };
    planted_network p = plant_lacking(SUM, 0, 22);
    for (size_t t = 0; t < sizeof methods / sizeof *methods; t++) {
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = methods[t];
        o.k = 4;
        expect_rank(&p, &o, 6);
    }
    planted_network_free(&p);
}

/* a few directions and noise: V is known to the digits that these leave */
static void noise_of_1e_6_in_the_other_directions_is_enough(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 41; seed++) {
        planted_network p = plant_lacking(RANK_3, 1e-6, seed);
        expect_rank(&p, NULL, 7);
        planted_network_free(&p);
        p = plant_lacking(RANK_3, 1e-9, seed);
        expect(&p, NULL, UNRELU_VERDICT_UNCERTIFIED, "nearly dependent");
        planted_network_free(&p);
    }
}

/* The solver sees about 90 of 20000 rows, none of those where x_7 is not 0: the rank is that of all
 * rows, and what the solver did not see is not certified. */
static void a_column_that_few_rows_have_counts_for_the_rank(void **state)
{
    (void)state;
    planted_network p = plant_network(7, 4, 6, 20000, 0, 23);
    for (size_t j = 0; j < 4; j++)
        p.truth->V[j * 7 + 6] = 0;
    for (size_t i = 0; i < p.n; i++)
        if (i < 11 || i > 15)
            p.x[i * 7 + 6] = 0;
    relabel(&p);
    unrelu_network *m = recover(&p, NULL);
    assert_int_equal(m->inputs_rank, 7);
    assert_int_equal(m->verdict, UNRELU_VERDICT_UNCERTIFIED);
    unrelu_network_free(m);
    planted_network_free(&p);
}

/* Dummies that add up to 1 can give the constant e: a neuron that is never off, and one more than
 * there are. */
static void the_constant_is_not_counted_as_a_neuron(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        planted_network p = plant_lacking(AFFINE, 0, seed);
        for (size_t j = 0; j < 4; j++)
            p.truth->c[j] = .3 - .2 * (double)j;
        for (size_t i = 0; i < 6; i++)
            p.truth->e[i] = 1 + .2 * (double)i;
        relabel(&p);
        unrelu_network *m = recover(&p, NULL);
        assert_int_equal(m->k, 4);
        assert_string_equal(m->biases, "both");
        assert_int_equal(m->verdict, UNRELU_VERDICT_UNCERTIFIED);
        unrelu_network_free(m);
        planted_network_free(&p);
    }
}

/* more labels than neurons, without noise and without patterns: their rank is k */
static void labels_of_leaky_neurons_have_no_more_neurons_than_dimensions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        unrelu_network_plant_options plant;
        unrelu_network_plant_options_init(&plant, sizeof plant);
        plant.d = 6;
        plant.k = 4;
        plant.m = 14;
        plant.seed = seed;
        plant.activation = (unrelu_activation){UNRELU_LEAKY, .01};
        planted_network p = plant_network_with(plant, 400);
        for (size_t j = 0; j < 4 && seed % 2; j++)
            p.truth->c[j] = .4 * (double)j - .5;
        for (size_t i = 0; i < 14 && seed % 2; i++)
            p.truth->e[i] = 1 - .1 * (double)i;
        relabel(&p);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.activation = plant.activation;
        unrelu_network *m = recover(&p, &o);
        assert_int_equal(m->k, 4);
        assert_int_equal(m->verdict, UNRELU_VERDICT_EXACT);
        assert_near(error_of_V(p.truth, m), 0, 1e-9);
        unrelu_network_free(m);
        planted_network_free(&p);
    }
}

/* ---- what is refused ---- */

static void expect_refusal(const planted_network *p, const char *words)
{
    unrelu_network *m;
    unrelu_error err = {0};
    assert_int_equal(try_recover(p->x, p->a, p->n, p->d, p->m, NULL, NULL, &m, &err), UNRELU_EDATA);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void labels_that_never_change_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 2, 100, 0, 15);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = i % 2 ? 2.5 : -1;
    expect_refusal(&p, "the same in all 100 rows");
    planted_network_free(&p);
}

static void inputs_that_cannot_be_squared_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 2, 100, 0, 16);
    p.x[7 * 3 + 1] = 1e160;
    expect_refusal(&p, "row 8, column 2");
    planted_network_free(&p);
}

static void labels_of_any_size_have_standard_errors(void **state)
{
    (void)state;
    static const double sizes[] = {1e-160, 1e160};
    for (int s = 0; s < 2; s++) {
        planted_network p = plant_network(5, 2, 3, 500, .1, 17);
        for (size_t i = 0; i < p.n * p.m; i++)
            p.a[i] *= sizes[s];
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = 2;
        unrelu_network *m = recover(&p, &o);
        assert_int_equal(m->verdict, UNRELU_VERDICT_NOISY);
        assert_near(m->noise / sizes[s], .1, .01);
        for (size_t i = 0; i < m->m * m->k; i++)
            assert_true(m->U_se[i] > 0 && m->U_se[i] < .1 * sizes[s]);
        unrelu_network_free(m);
        planted_network_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_in_a_small_column_does_not_hide_behind_a_large_one),
        cmocka_unit_test(noise_of_a_few_last_digits_is_not_taken_for_rounding),
        cmocka_unit_test(one_wrong_row_of_many_with_few_digits_is_seen),
        cmocka_unit_test(one_wrong_cell_does_not_drown_in_many_that_fit),
        cmocka_unit_test(digits_are_those_of_every_column),
        cmocka_unit_test(a_single_neuron_that_is_always_on_is_not_identifiable),
        cmocka_unit_test(samples_on_a_kink_leave_it_open),
        cmocka_unit_test(an_antiparallel_pair_is_unique_unless_another_row_lies_in_its_span),
        cmocka_unit_test(an_antiparallel_pair_beside_output_biases_is_not_unique),
        cmocka_unit_test(nearly_dependent_inputs_cost_the_certificate),
        cmocka_unit_test(few_values_are_not_confirmed_by_more_rows_of_them),
        cmocka_unit_test(inputs_that_do_not_span_their_space_are_not_certified),
        cmocka_unit_test(no_method_certifies_inputs_that_do_not_span_their_space),
        cmocka_unit_test(noise_of_1e_6_in_the_other_directions_is_enough),
        cmocka_unit_test(a_column_that_few_rows_have_counts_for_the_rank),
        cmocka_unit_test(the_constant_is_not_counted_as_a_neuron),
        cmocka_unit_test(labels_of_leaky_neurons_have_no_more_neurons_than_dimensions),
        cmocka_unit_test(labels_that_never_change_are_refused),
        cmocka_unit_test(inputs_that_cannot_be_squared_are_refused),
        cmocka_unit_test(labels_of_any_size_have_standard_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
