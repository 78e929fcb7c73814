/* SPDX-License-Identifier: Apache-2.0 */
/* Networks from anywhere: what is said of the truth, of weights that are off, of other functions,
 * of networks that merely meet their rows; and recoveries that begin from one. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"

static unrelu_network *look_at(const unrelu_network *network, const planted_network *p,
                               const unrelu_recover_options *options)
{
    unrelu_source *x, *a;
    unrelu_network *m = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(p->x, p->n, p->truth->d, NULL, &x, &err), &err);
    must(unrelu_source_memory(p->a, p->n, p->truth->m, NULL, &a, &err), &err);
    must(unrelu_certify(network, x, a, options, NULL, &m, &err), &err);
    unrelu_source_close(x);
    unrelu_source_close(a);
    return m;
}

static int is_warned(const unrelu_network *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

static planted_network planted(size_t d, size_t k, size_t m, size_t n, double noise)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.bias = 0.5;
    o.noise = noise;
    return plant_network_with(o, n);
}

static void the_truth_is_exact(void **state)
{
    (void)state;
    const size_t sizes[][4] = {{10, 5, 8, 400}, {10, 16, 1, 2000}};
    for (size_t i = 0; i < 2; i++) {
        planted_network p = planted(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], 0);
        unrelu_network *m = look_at(p.truth, &p, NULL);
        assert_int_equal(m->verdict, UNRELU_VERDICT_EXACT);
        assert_near(m->residual, 0, 1e-15);
        assert_memory_equal(m->V, p.truth->V, m->k * m->d * sizeof *m->V);
        assert_string_equal(m->method, "as-given");
        assert_true(isnan(m->holdout_residual)); /* which rows were fitted is not known */
        unrelu_network_free(m);
        planted_network_free(&p);
    }
}

/* the largest change of V is a hundredth of what the labels show */
static void weights_that_are_off_are_approximate(void **state)
{
    (void)state;
    planted_network p = planted(10, 5, 8, 400, 0);
    p.truth->V[3] += 1e-6;
    unrelu_network *m = look_at(p.truth, &p, NULL);
    assert_int_equal(m->verdict, UNRELU_VERDICT_APPROXIMATE);
    assert_true(is_warned(m, "approximate"));
    assert_true(m->residual > 1e-9 && m->residual < 1e-5);
    unrelu_network_free(m);
    planted_network_free(&p);
}

/* sigma is that of the noise to three standard errors, sqrt(2 n m) of them in a variance */
static void noise_about_the_truth_is_noise(void **state)
{
    (void)state;
    planted_network p = planted(10, 5, 8, 1000, 0.1);
    unrelu_network *m = look_at(p.truth, &p, NULL);
    assert_int_equal(m->verdict, UNRELU_VERDICT_NOISY);
    assert_null(m->V_se);
    assert_true(is_warned(m, "no-se"));
    assert_near(m->noise, 0.1, 3 * 0.1 / sqrt(2.0 * 8000));
    unrelu_network_free(m);
    p.truth->V[3] += 0.05; /* some eight standard errors */
    m = look_at(p.truth, &p, NULL);
    assert_int_equal(m->verdict, UNRELU_VERDICT_APPROXIMATE);
    unrelu_network_free(m);
    planted_network_free(&p);
}

static void biases_that_are_left_out_are_refused(void **state)
{
    (void)state;
    planted_network p = planted(4, 2, 3, 100, 0);
    unrelu_recover_options o;
    unrelu_source *x, *a;
    unrelu_network *m = NULL;
    unrelu_error err = {0};
    unrelu_recover_options_init(&o, sizeof o);
    o.biases = UNRELU_BIASES_NONE;
    must(unrelu_source_memory(p.x, p.n, 4, NULL, &x, &err), &err);
    must(unrelu_source_memory(p.a, p.n, 3, NULL, &a, &err), &err);
    assert_int_equal(unrelu_certify(p.truth, x, a, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.option, "bias");
    assert_int_equal(unrelu_certify(p.truth, a, x, NULL, NULL, &m, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "takes 4 inputs"));
    o.biases = UNRELU_BIASES_AUTO;
    o.start = p.truth;
    o.method = UNRELU_RECOVER_ICA;
    assert_int_equal(unrelu_recover(x, a, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.option, "method");
    o.method = UNRELU_RECOVER_START;
    o.start = NULL;
    assert_int_equal(unrelu_recover(x, a, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.option, "start");
    o.start = p.truth;
    o.k = 3;
    assert_int_equal(unrelu_recover(x, a, &o, NULL, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.option, "k");
    unrelu_source_close(x);
    unrelu_source_close(a);
    planted_network_free(&p);
}

/* U of a network of n random neurons that meets n labels, which are noise: nothing is behind them
 */
static void a_network_that_meets_its_rows_alone_is_not_certified(void **state)
{
    (void)state;
    enum { N = 120, D = 6, K = N };
    planted_network p = planted(D, K, 1, N, 0);
    unrelu_error err = {0};
    double *F = calloc(N * K, sizeof *F);
    ur_random_normals(5, 77, 0, N, p.a);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < K; j++) {
            double t = p.truth->c[j];
            for (size_t l = 0; l < D; l++)
                t += p.truth->V[j * D + l] * p.x[i * D + l];
            F[i * K + j] = fmax(0, t);
        }
    must(ur_least_squares(N, K, 1, F, p.a, 1e-14, p.truth->U, NULL, &err), &err);
    p.truth->e[0] = 0;
    unrelu_network *m = look_at(p.truth, &p, NULL);
    assert_int_not_equal(m->verdict, UNRELU_VERDICT_EXACT);
    unrelu_network_free(m);
    free(F);
    planted_network_free(&p);
}

/* weights that are off by a thousandth lead back to the truth */
static void recoveries_begin_from_a_network(void **state)
{
    (void)state;
    planted_network p = planted(10, 16, 1, 2000, 0), near = planted(10, 16, 1, 1, 0);
    unrelu_recover_options o;
    for (size_t i = 0; i < 160; i++)
        near.truth->V[i] += i % 2 ? 1e-3 : -1e-3;
    unrelu_recover_options_init(&o, sizeof o);
    o.start = near.truth;
    unrelu_network *m = recover(&p, &o);
    assert_string_equal(m->method, "start");
    assert_true(m->residual < 1e-13);
    assert_true(error_of_V(p.truth, m) < 1e-10);
    unrelu_network_free(m);
    planted_network_free(&near);
    planted_network_free(&p);
}

/* ---- logarithms of probabilities ---- */

/* labels of p become log_softmax of them, rounded to float where single */
static void take_log_softmax(planted_network *p, int single)
{
    for (size_t i = 0; i < p->n; i++) {
        double *a = p->a + i * p->m, sum = 0;
        for (size_t j = 0; j < p->m; j++)
            sum += exp(a[j]);
        for (size_t j = 0; j < p->m; j++) {
            a[j] -= log(sum);
            if (single)
                a[j] = (double)(float)a[j];
        }
    }
}

static void logits_are_learned_from_probabilities(void **state)
{
    (void)state;
    const double within[] = {1e-11, 1e-4};
    for (int single = 0; single < 2; single++) {
        planted_network p = planted(8, 5, 7, 600, 0);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.log_probabilities = 1;
        take_log_softmax(&p, single);
        unrelu_network *m = recover(&p, &o), *same = look_at(p.truth, &p, &o);
        assert_int_equal(m->m, 6);
        assert_int_equal(m->verdict, UNRELU_VERDICT_EXACT);
        assert_string_equal(m->precision, single ? "single" : "double");
        assert_true(error_of_V(same, m) < within[single]);
        assert_int_equal(same->verdict, UNRELU_VERDICT_EXACT); /* whose logits are all seven */
        assert_int_equal(same->m, 6);
        unrelu_network_free(same);
        unrelu_network_free(m);
        planted_network_free(&p);
    }
}

/* probabilities that miss 1 by twice what is allowed; by half of it they pass */
static void what_is_no_logarithm_of_probabilities_is_refused(void **state)
{
    (void)state;
    planted_network p = planted(4, 2, 3, 100, 0);
    unrelu_recover_options o;
    unrelu_network *m;
    unrelu_error err = {0};
    unrelu_recover_options_init(&o, sizeof o);
    o.log_probabilities = 1;
    take_log_softmax(&p, 0);
    for (size_t j = 0; j < 3; j++)
        p.a[6 * 3 + j] += log1p(2e-3);
    assert_int_equal(try_recover(p.x, p.a, p.n, 4, 3, &o, NULL, &m, &err), UNRELU_EDATA);
    assert_string_equal(err.option, "log-probabilities");
    assert_int_equal(err.row, 7);
    for (size_t j = 0; j < 3; j++)
        p.a[6 * 3 + j] -= log1p(2e-3) - log1p(5e-4);
    must(try_recover(p.x, p.a, p.n, 4, 3, &o, NULL, &m, &err), &err);
    unrelu_network_free(m);
    assert_int_equal(try_recover(p.x, p.a, 100, 4, 1, &o, NULL, &m, &err), UNRELU_EDATA);
    planted_network_free(&p);
}

/* a neuron that is never on, one in two parts, one without output: the labels are met, and do not
 * show these weights */
static void weights_that_the_labels_do_not_show_are_not_certified(void **state)
{
    (void)state;
    const double shift[] = {-50, 0, 0}, share[] = {1, 0.5, 0};
    for (size_t i = 0; i < 3; i++) {
        planted_network p = planted(6, 4, 5, 400, 0), wide = planted(6, 5, 5, 1, 0);
        unrelu_network *t = p.truth, *w = wide.truth;
        for (size_t j = 0; j < 5; j++) {
            memcpy(w->V + j * 6, t->V + j % 4 * 6, 6 * sizeof *w->V);
            w->c[j] = t->c[j % 4] + (j == 4 ? shift[i] : 0);
            w->e[j] = t->e[j];
            for (size_t l = 0; l < 5; l++) /* the fifth is a part of the first where i is 1 */
                w->U[l * 5 + j] = t->U[l * 4 + j % 4] * (j == 4 ? share[i] : 1);
        }
        for (size_t l = 0; i == 1 && l < 5; l++)
            w->U[l * 5] *= 1 - share[i];
        unrelu_network *m = look_at(w, &p, NULL);
        assert_int_equal(m->verdict, UNRELU_VERDICT_UNCERTIFIED);
        unrelu_network_free(m);
        planted_network_free(&wide);
        planted_network_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_exact),
        cmocka_unit_test(weights_that_are_off_are_approximate),
        cmocka_unit_test(noise_about_the_truth_is_noise),
        cmocka_unit_test(biases_that_are_left_out_are_refused),
        cmocka_unit_test(a_network_that_meets_its_rows_alone_is_not_certified),
        cmocka_unit_test(weights_that_the_labels_do_not_show_are_not_certified),
        cmocka_unit_test(recoveries_begin_from_a_network),
        cmocka_unit_test(logits_are_learned_from_probabilities),
        cmocka_unit_test(what_is_no_logarithm_of_probabilities_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
