/* SPDX-License-Identifier: Apache-2.0 */
#include "network/problem/start.h"
#include "networks.h"

typedef struct {
    unrelu_status status;
    double V[1024], c[64];
    ur_start_note note;
    unrelu_error err;
} result;

static result start_at(const planted_network *p, ur_start start)
{
    result r = {.status = UNRELU_OK};
    start.sample = (ur_sample){p->n, p->d, p->m, p->x, p->a};
    start.seed = 5;
    if (!start.k)
        start.k = p->k;
    r.status = ur_start_facets(&start, r.V, r.c, &r.note, &r.err);
    return r;
}

static result start_plain(const planted_network *p)
{
    return start_at(p, (ur_start){.f = p->truth->activation});
}

/* the labels without their output bias */
static void take_off(planted_network *p)
{
    memset(p->truth->e, 0, p->m * sizeof *p->truth->e);
    unrelu_error err = {0};
    must(unrelu_network_draw(&p->options, p->truth, 0, p->n, NULL, p->x, p->a, &err), &err);
}

/* largest distance of a true neuron (v, c) from the nearest learned one */
static double worst_error(const planted_network *p, const result *r)
{
    int homogeneous = ur_activation_degree(p->truth->activation) > 0;
    double worst = 0;
    must(r->status, &r->err);
    for (size_t i = 0; i < p->k; i++) {
        const double *v = p->truth->V + i * p->d;
        double nearest = INFINITY, length = 0;
        for (size_t l = 0; l < p->d; l++)
            length += v[l] * v[l];
        length = homogeneous ? sqrt(length) : 1;
        for (size_t j = 0; j < p->k; j++) {
            double far = fabs(r->c[j] - p->truth->c[i] / length);
            for (size_t l = 0; l < p->d; l++)
                far = fmax(far, fabs(r->V[j * p->d + l] - v[l] / length));
            nearest = fmin(nearest, far);
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

static void assert_exact(unrelu_network_plant_options o, size_t n, double tolerance)
{
    planted_network p = plant_network_with(o, n);
    if (o.bias > 0)
        take_off(&p);
    result r = start_at(&p, (ur_start){.f = o.activation, .hidden = o.bias > 0});
    assert_near(worst_error(&p, &r), 0, tolerance);
    planted_network_free(&p);
}

static void twenty_four_samples_a_neuron_are_enough_for_every_law(void **state)
{
    (void)state;
    const size_t size[][4] = {{5, 3, 3, 72}, {10, 5, 5, 120}, {10, 10, 10, 240}, {20, 8, 12, 192}};
    const unrelu_inputs laws[] = {UNRELU_INPUTS_NORMAL, UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_T3,
                                  UNRELU_INPUTS_LAPLACE, UNRELU_INPUTS_MIXTURE};
    for (size_t s = 0; s < 4; s++)
        for (size_t law = 0; law < 5; law++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                unrelu_network_plant_options o;
                unrelu_network_plant_options_init(&o, sizeof o);
                o.d = size[s][0];
                o.k = size[s][1];
                o.m = size[s][2];
                o.inputs = laws[law];
                o.seed = seed;
                assert_exact(o, size[s][3], 1e-12);
            }
}

static void hidden_biases_are_recovered_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        unrelu_network_plant_options o;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = 10;
        o.k = 5;
        o.m = 8;
        o.bias = 0.5;
        o.seed = seed;
        assert_exact(o, 300, 1e-12);
    }
}

static void every_rectifying_activation_is_inverted_with_its_scale(void **state)
{
    (void)state;
    const char *const names[] = {"power:2", "power:0.5", "expm1", "expm1sq", "tanh"};
    for (size_t i = 0; i < 5; i++)
        for (double bias = 0; bias < 1 && !(i == 3 && bias > 0); bias += 0.5) {
            unrelu_network_plant_options o;
            unrelu_network_plant_options_init(&o, sizeof o);
            unrelu_error err = {0};
            o.d = 8;
            o.k = 4;
            o.m = 5;
            o.bias = bias;
            must(unrelu_activation_parse(names[i], &o.activation, &err), &err);
            assert_exact(o, 300, 1e-10);
        }
}

/* a miss must be refused: a facet that is no neuron never passes for one */
static void more_neurons_than_inputs_are_told_from_other_facets(void **state)
{
    (void)state;
    int exact = 0, ambiguous = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted_network p = plant_network(3, 6, 6, 300, 0, seed);
        result r = start_plain(&p);
        size_t facets = 0;
        if (r.status == UNRELU_OK) {
            assert_near(worst_error(&p, &r), 0, 1e-11);
            sscanf(strstr(r.note.assumption, "samples: "), "samples: %zu facets", &facets);
            exact++;
            ambiguous += facets > p.k;
        } else {
            assert_int_equal(r.status, UNRELU_EDATA);
        }
        planted_network_free(&p);
    }
    assert_true(exact >= 10 && ambiguous > 0);
}

static void units_of_inputs_and_labels_do_not_matter(void **state)
{
    (void)state;
    planted_network p = plant_network(4, 3, 3, 200, 0, 2);
    result before = start_plain(&p);
    assert_near(worst_error(&p, &before), 0, 1e-12);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] *= 1e250;
    for (size_t i = 0; i < p.n; i++)
        p.x[4 * i + 2] *= 1e-6;
    result after = start_plain(&p);
    must(after.status, &after.err);
    for (size_t j = 0; j < 3; j++) /* v_3 grows by 1e6 before the row is scaled to length 1 */
        for (size_t l = 0; l < 4; l++) {
            double scale = after.V[4 * j + 2] / before.V[4 * j + 2];
            assert_near(after.V[4 * j + l], scale * before.V[4 * j + l] * (l == 2 ? 1 : 1e-6),
                        1e-11);
        }
    planted_network_free(&p);
}

static void many_samples_are_thinned_out_and_rows_of_zeros_passed_over(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 4, 9000, 0, 3);
    result r = start_plain(&p);
    assert_near(worst_error(&p, &r), 0, 1e-12);
    assert_non_null(strstr(r.note.assumption, "3 facets in 3 tries on 2000 samples"));
    p.n = 120;
    size_t off = 0;
    for (size_t i = 0; i < p.n; i++)
        off += p.a[4 * i] == 0 && p.a[4 * i + 1] == 0;
    char expected[64];
    snprintf(expected, sizeof expected, "on %zu samples", p.n - off);
    r = start_plain(&p);
    assert_near(worst_error(&p, &r), 0, 1e-12);
    assert_true(off > 0);
    assert_non_null(strstr(r.note.assumption, expected));
    planted_network_free(&p);
}

static void noise_seen_beyond_rank_k_gives_an_approximation(void **state)
{
    (void)state;
    for (double noise = 1e-4; noise < 0.02; noise *= 10) {
        planted_network p = plant_network(10, 5, 8, 600, noise, 4);
        result r = start_plain(&p);
        assert_near(worst_error(&p, &r), 0, noise);
        assert_true(worst_error(&p, &r) > 1e-3 * noise);
        assert_non_null(strstr(r.note.guarantee, "without a certificate"));
        planted_network_free(&p);
    }
}

static void labels_in_single_precision_give_as_many_digits(void **state)
{
    (void)state;
    for (size_t m = 5; m <= 8; m += 3) {
        planted_network p = plant_network(10, 5, m, 300, 0, 6);
        for (size_t i = 0; i < p.n * m; i++)
            p.a[i] = (float)p.a[i];
        result r = start_plain(&p);
        assert_near(worst_error(&p, &r), 0, 1e-6);
        planted_network_free(&p);
    }
}

static void assert_refused(const planted_network *p, ur_start start, const char *text)
{
    result r = start_at(p, start);
    assert_int_equal(r.status, UNRELU_EDATA);
    if (!strstr(r.err.text, text))
        fail_msg("\"%s\", expected \"%s\"", r.err.text, text);
    for (size_t i = 0; i < 20; i++)
        assert_true(r.V[i] == 0);
}

static void what_cannot_work_is_refused_with_its_numbers(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 10;
    o.k = 5;
    o.m = 5;
    o.bias = 0.5;
    planted_network p = plant_network_with(o, 300);
    take_off(&p);
    assert_refused(&p, (ur_start){.f = {UNRELU_LEAKY, 0.1}},
                   "facets need an activation that is 0 left of its kink, which leaky:0.1 is not");
    assert_refused(&p, (ur_start){.constant = 1}, "facets need labels without an output bias");
    assert_refused(&p, (ur_start){.k = 6}, "have rank 5, and facets of k = 6 neurons need rank 6");
    assert_refused(&p, (ur_start){.k = 4}, "the labels have rank 5; what is beyond rank k = 4");
    assert_refused(&p, (ur_start){.hidden = 0}, "only 0 are f(v x) of the inputs, and k = 5");
    p.n = 14;
    assert_refused(&p, (ur_start){.hidden = 1}, "of 5 facets in 70 tries (n = 14 samples)");
    assert_refused(&p, (ur_start){.hidden = 1}, "(about 24 k = 120, more where");
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_four_samples_a_neuron_are_enough_for_every_law),
        cmocka_unit_test(hidden_biases_are_recovered_too),
        cmocka_unit_test(every_rectifying_activation_is_inverted_with_its_scale),
        cmocka_unit_test(more_neurons_than_inputs_are_told_from_other_facets),
        cmocka_unit_test(units_of_inputs_and_labels_do_not_matter),
        cmocka_unit_test(many_samples_are_thinned_out_and_rows_of_zeros_passed_over),
        cmocka_unit_test(noise_seen_beyond_rank_k_gives_an_approximation),
        cmocka_unit_test(labels_in_single_precision_give_as_many_digits),
        cmocka_unit_test(what_cannot_work_is_refused_with_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
