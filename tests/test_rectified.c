/* SPDX-License-Identifier: Apache-2.0 */
/* Section 9.1: what the paper says of the relu holds for other activations too. The hard cases with
 * these, against planted networks; where the algebra ends, it is said. */
#include "networks.h"

#include "base/random.h"

static planted_network plant_with(const char *activation, size_t d, size_t k, size_t m, size_t n,
                                  double noise, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_error err = {0};
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d, o.k = k, o.m = m, o.noise = noise, o.seed = seed, o.kappa_v = 1.5;
    must(unrelu_activation_parse(activation, &o.activation, &err), &err);
    return plant_network_with(o, n);
}

static unrelu_status recover_by(const planted_network *p, unrelu_recover_method method, size_t k,
                                int literal, unrelu_network **model, unrelu_error *err)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = method;
    o.k = k;
    o.literal = literal;
    o.activation = p->options.activation;
    return try_recover(p->x, p->a, p->n, p->d, p->m, &o, NULL, model, err);
}

static void assert_close(const planted_network *p, unrelu_network *model, double most)
{
    unrelu_network_distance distance;
    unrelu_error err = {0};
    must(unrelu_network_compare(p->truth, model, &distance, &err), &err);
    if (distance.missing || distance.extra || !(distance.V_max <= most))
        fail_msg("%s, %s: error of V %g above %g, %zu missing, %zu extra", model->activation_name,
                 model->method, distance.V_max, most, distance.missing, distance.extra);
    unrelu_network_free(model);
}

/* Algorithm 7 and peeling, with fewer labels than neurons: roots of the labels are linear in x */
static void one_sparse_takes_roots_of_powers(void **state)
{
    (void)state;
    const char *const names[] = {"power:2", "power:3", "power:1.5", "relu"};
    for (size_t i = 0; i < 4; i++)
        for (int literal = 0; literal < 2; literal++) {
            planted_network p = plant_with(names[i], 5, 3, 2, 1500, 0, 3 + i);
            unrelu_network *model;
            unrelu_error err = {0};
            must(recover_by(&p, UNRELU_RECOVER_ONE_SPARSE, 3, literal, &model, &err), &err);
            assert_true(model->verdict == UNRELU_VERDICT_EXACT ||
                        model->verdict == UNRELU_VERDICT_UNCERTIFIED);
            assert_true(model->residual <= 1e-12);
            assert_close(&p, model, 1e-9);
            planted_network_free(&p);
        }
}

static void one_sparse_says_where_the_algebra_ends(void **state)
{
    (void)state;
    const char *const names[] = {"leaky:0.1", "expm1", "tanh"};
    const char *const why[] = {"is never 0", "is not homogeneous", "is not homogeneous"};
    for (size_t i = 0; i < 3; i++) {
        planted_network p = plant_with(names[i], 5, 3, 2, 300, 0, 1);
        unrelu_network *model;
        unrelu_error err = {0};
        assert_int_equal(recover_by(&p, UNRELU_RECOVER_ONE_SPARSE, 3, 0, &model, &err),
                         UNRELU_EUSAGE);
        assert_non_null(strstr(err.text, why[i]));
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static const char *const all[] = {"power:2", "leaky:0.1", "expm1", "tanh"};

/* at three tenths of the labels V is known to some hundredths, as it is to the likelihood */
static void any_noise_takes_all_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        planted_network p = plant_with(all[i], 5, 2, 4, 2000, .3, 1);
        unrelu_network *model;
        unrelu_error err = {0};
        must(recover_by(&p, UNRELU_RECOVER_ANY_NOISE, 2, 0, &model, &err), &err);
        assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
        assert_string_equal(model->guarantee_holds, i == 1 ? "no" : "untested"); /* not rectified */
        assert_close(&p, model, .06);
        planted_network_free(&p);
    }
}

static void sparse_noise_takes_all_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        planted_network p = plant_with(all[i], 5, 2, 12, 1000, 0, 2);
        size_t wrong = 0;
        double u[2];
        for (size_t q = 0; q < p.n * p.m; q++) {
            ur_random_uniforms(7, 1, 2 * q, 2, u);
            if (u[0] >= .05)
                continue;
            p.a[q] += 20 * (u[1] - .5);
            wrong++;
        }
        unrelu_network *model;
        unrelu_error err = {0};
        must(recover_by(&p, UNRELU_RECOVER_SPARSE_NOISE, 2, 0, &model, &err), &err);
        if (model->verdict == UNRELU_VERDICT_FAILED)
            fail_msg("%s: %s", all[i], model->failure);
        assert_int_equal(model->corrupted, wrong);
        assert_close(&p, model, 1e-9);
        planted_network_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sparse_takes_roots_of_powers),
        cmocka_unit_test(one_sparse_says_where_the_algebra_ends),
        cmocka_unit_test(any_noise_takes_all_of_them),
        cmocka_unit_test(sparse_noise_takes_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
