/* SPDX-License-Identifier: Apache-2.0 */
/* The test of noise: labels with noise of many kinds stay `noisy`, labels that are a function of
 * the inputs and of no network that is found are `approximate`. Truth is planted. */
#include "noises.h"

#include "base/arena.h"
#include "base/random.h"
#include "network/data/data.h"
#include "network/noisy/rest.h"
#include "network/noisy/tangent.h"

typedef enum { NORMAL, HEAVY, UNEVEN, SKEW } law;

/* labels of the planted network with noise of the law, of relative size .1 */
static planted_network plant_noisy(size_t d, size_t k, size_t m, size_t n, law noise, uint64_t seed)
{
    planted_network p = plant_network(d, k, m, n, 0, seed);
    double *z = malloc(3 * n * m * sizeof *z);
    assert_non_null(z);
    ur_random_normals(seed, 901, 0, 3 * n * m, z);
    for (size_t i = 0; i < n * m; i++) {
        double *e = z + 3 * i;
        p.a[i] += .1 * (noise == NORMAL  ? e[0]
                        : noise == HEAVY ? e[0] / hypot(e[1], e[2])
                        : noise == SKEW  ? (e[0] * e[0] + e[1] * e[1]) / 2 - 1
                                         : e[0] * exp(p.x[i / m * d]));
    }
    free(z);
    return p;
}

static void labels_with_noise_are_called_noisy(void **state)
{
    (void)state;
    for (int noise = NORMAL; noise <= SKEW; noise++)
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 6); seed++) {
            planted_network p = plant_noisy(3, 2, seed % 2 ? 3 : 1, 200, (law)noise, seed);
            unrelu_recover_options o;
            unrelu_recover_options_init(&o, sizeof o);
            o.k = 2;
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
            assert_non_null(strstr(model->assumption, "does not go along with the inputs"));
            assert_non_null(model->V_se);
            assert_true(model->holdout_residual > 0);
            if (noise == NORMAL) /* 20 rows kept back */
                assert_true(fabs(model->holdout_residual / model->residual - 1) < .5);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* whether the fit is approximate for this reason */
static int says(const unrelu_network *model, const char *words)
{
    int told = 0;
    for (size_t i = 0; i < model->warning_count; i++)
        told |= strcmp(model->warnings[i].code, "approximate") == 0 &&
                strstr(model->warnings[i].message, words) != NULL;
    return told;
}

static const char FOLDS[] = "fits to four fifths of the rows miss";
static const char FEW[] = "alone reached this fit";

/* Where noise is skew or uneven one kind of draws is not of its law: the other is. What fits to a
 * part of the rows leave of the others is compared cell by cell, so that its law does not matter.
 */
static void few_fits_of_skew_or_uneven_noise_are_called_a_function(void **state)
{
    (void)state;
    skip_sanitized();
    size_t told = 0, unstable = 0;
    for (uint64_t seed = 1; seed <= 100; seed++)
        for (int noise = UNEVEN; noise <= SKEW; noise++) {
            planted_network p = plant_noisy(3, 2, 1, seed % 2 ? 60 : 120, (law)noise, 1000 + seed);
            unrelu_recover_options o;
            unrelu_recover_options_init(&o, sizeof o);
            o.k = 2;
            unrelu_network *model = recover(&p, &o);
            int folds = says(model, FOLDS);
            unstable += folds != 0;
            told += model->verdict != UNRELU_VERDICT_NOISY && !folds;
            unrelu_network_free(model);
            planted_network_free(&p);
        }
    assert_true(told <= 2); /* 1 in 100 of 200 */
    assert_true(unstable <= 2);
}

/* One cell of 16000 may hold half of the squares of such noise: it moves the network, and what that
 * leaves at all other rows, which noise alone does not explain. These are of the hundred networks
 * of docs/numbers.md those where most of the test's rows did not see it. */
static void huge_cells_make_no_function_of_noise(void **state)
{
    (void)state;
    skip_sanitized();
    static const uint64_t seeds[] = {11, 14, 60, 62};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        planted_network p = plant_network(10, 5, 8, 2000, 0, seeds[i] + 1);
        add_student(&p, 2, .5 / root_mean_square(p.a, 2000 * 8), seeds[i]);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.labels = UNRELU_LABELS_NOISY;
        o.biases = UNRELU_BIASES_NONE;
        o.k = 5;
        unrelu_network *model = recover(&p, &o);
        assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void expect_approximate(const planted_network *p, const unrelu_recover_options *o)
{
    unrelu_network *model = recover(p, o);
    int told = 0;
    assert_int_equal(model->verdict, UNRELU_VERDICT_APPROXIMATE);
    assert_string_equal(unrelu_verdict_name(model->verdict), "approximate");
    assert_true(model->residual > 0 && model->holdout_residual > 0);
    assert_true(model->noise == 0 && !model->V_se && !model->U_se && model->V);
    for (size_t i = 0; i < model->warning_count; i++)
        told += strcmp(model->warnings[i].code, "approximate") == 0;
    assert_int_equal(told, 1);
    unrelu_network_free(model);
}

static void functions_that_are_no_network_are_called_approximate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_network(2, 2, 1, 300, 0, seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = 3;
        for (size_t i = 0; i < p.n; i++)
            p.a[i] = sin(3 * p.x[2 * i]) + p.x[2 * i + 1] * p.x[2 * i];
        expect_approximate(&p, &o);
        planted_network_free(&p);
    }
}

/* moments of few labels show fewer neurons than are tried: rows of V that are 0 */
static void sums_of_squares_are_called_approximate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_network(5, 2, 2, 200, 0, seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = 5;
        for (size_t i = 0; i < p.n; i++) {
            const double *x = p.x + 5 * i;
            p.a[2 * i] = x[0] * x[0] - x[1] * x[1] + x[2] * x[2];
            p.a[2 * i + 1] = x[1] * x[1] + x[2] * x[0];
        }
        expect_approximate(&p, &o);
        planted_network_free(&p);
    }
}

/* Smooth functions, which 8 to 14 neurons meet to 1 to 8 %: residuals of neighbours are no more
 * alike than those of noise, but for what the fit has taken away. */
static void smooth_functions_that_are_nearly_met_are_no_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++)
        for (int shape = 0; shape < 3; shape++) {
            planted_network p = plant_network(4, 3, 2, 400, 0, seed);
            for (size_t i = 0; i < p.n; i++) {
                double t[3];
                p.a[2 * i] = p.a[2 * i + 1] = 0;
                for (size_t j = 0; j < 3; j++) {
                    t[j] = 0;
                    for (size_t l = 0; l < 4; l++)
                        t[j] += p.truth->V[j * 4 + l] * p.x[4 * i + l];
                    double f = shape == 0   ? sin(2 * t[j])
                               : shape == 1 ? tanh(2 * t[j])
                                            : pow(t[j], 3);
                    for (size_t r = 0; r < 2; r++)
                        p.a[2 * i + r] += p.truth->U[r * 3 + j] * f;
                }
            }
            expect_approximate(&p, NULL);
            planted_network_free(&p);
        }
}

/* One label and 200 rows of 5 inputs: 6 to 13 neurons leave 2 to 15 % of such labels, which goes
 * along with nothing that so few rows show. Fits to four fifths of them find other neurons. */
static void functions_that_few_rows_do_not_show_are_no_noise(void **state)
{
    (void)state;
    skip_sanitized();
    size_t noisy = 0, unstable = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        planted_network p = plant_network(5, 3, 1, 200, 0, seed);
        for (size_t i = 0; i < p.n; i++) {
            p.a[i] = 0;
            for (size_t j = 0; j < 3; j++) {
                double t = (double)j / 2;
                for (size_t l = 0; l < 5; l++)
                    t += p.truth->V[j * 5 + l] * p.x[5 * i + l];
                p.a[i] += p.truth->U[j] * (seed % 2 ? sin(1.5 * t) : tanh(2 * t));
            }
        }
        unrelu_network *model = recover(&p, NULL);
        noisy += model->verdict == UNRELU_VERDICT_NOISY;
        unstable += says(model, FOLDS) != 0;
        assert_true(model->holdout_residual > 0);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(unstable >= 2); /* these were called noisy */
    assert_int_equal(noisy, 0);
}

/* 80 rows of 5 inputs: what 3 to 8 neurons leave of such labels is missed by fits to four fifths of
 * the rows as noise would be. Two labels for each weight show neither noise nor a function. */
static void few_labels_for_each_weight_show_no_noise(void **state)
{
    (void)state;
    skip_sanitized();
    size_t noisy = 0, few = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        planted_network p = plant_network(5, 3, 1, 80, 0, seed);
        for (size_t i = 0; i < p.n; i++) {
            p.a[i] = 0;
            for (size_t j = 0; j < 3; j++) {
                double t = (double)j / 2;
                for (size_t l = 0; l < 5; l++)
                    t += p.truth->V[j * 5 + l] * p.x[5 * i + l];
                p.a[i] += p.truth->U[j] * (seed % 2 ? t * t * t : tanh(2 * t));
            }
        }
        unrelu_network *model = recover(&p, NULL);
        noisy += model->verdict == UNRELU_VERDICT_NOISY;
        few += says(model, FEW) != 0;
        assert_true(!says(model, FEW) || !model->V_se);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(few >= 2); /* these were called noisy */
    assert_true(noisy <= 1);
}

/* 16 weights and 81 labels */
static void noise_of_five_labels_for_each_weight_is_noise(void **state)
{
    (void)state;
    skip_sanitized();
    size_t noisy = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted_network p = plant_noisy(8, 2, 1, 81, NORMAL, 2000 + seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = 2;
        o.biases = UNRELU_BIASES_NONE;
        unrelu_network *model = recover(&p, &o);
        noisy += model->verdict == UNRELU_VERDICT_NOISY;
        assert_false(says(model, FEW));
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(noisy >= 19);
}

/* The start of the tensor does not exist for such inputs, and where the descent from it ends the
 * labels are not met: they have no noise, and none is claimed. */
static void a_method_by_name_claims_no_noise_for_labels_without(void **state)
{
    (void)state;
    size_t unmet = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        planted_network p = plant_network(6, 4, 5, 300, 0, seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = UNRELU_RECOVER_TENSOR;
        o.k = 4;
        ur_random_uniforms(seed, 907, 0, p.n * p.d, p.x);
        for (size_t i = 0; i < p.n * p.d; i++)
            p.x[i] = -log(p.x[i]);
        for (size_t i = 0; i < p.n * p.m; i++) {
            p.a[i] = 0;
            for (size_t j = 0; j < p.k; j++) {
                double t = 0;
                for (size_t l = 0; l < p.d; l++)
                    t += p.truth->V[j * p.d + l] * p.x[i / p.m * p.d + l];
                p.a[i] += p.truth->U[i % p.m * p.k + j] * fmax(0, t);
            }
        }
        unrelu_network *model;
        unrelu_error err = {0};
        if (try_recover(p.x, p.a, p.n, p.d, p.m, &o, NULL, &model, &err) == UNRELU_OK) {
            assert_int_not_equal(model->verdict, UNRELU_VERDICT_NOISY);
            unmet += model->verdict == UNRELU_VERDICT_APPROXIMATE;
        }
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(unmet > 0);
}

/* With 50 labels 200 rows are looked at: they tell noise of the size of the labels from what a
 * network of too few neurons leaves. */
static void few_rows_of_many_labels_tell_noise_from_functions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 4); seed++)
        for (int noise = 0; noise < 2; noise++) {
            planted_network p = plant_network(6, 4, 50, 500, noise, seed);
            unrelu_recover_options o;
            unrelu_recover_options_init(&o, sizeof o);
            o.labels = UNRELU_LABELS_NOISY;
            o.k = noise ? 4 : 3;
            unrelu_network *model = recover(&p, &o);
            assert_int_equal(model->verdict,
                             noise ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_APPROXIMATE);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* labels of the weights with number `at` of V, c, U, e moved by a step */
static void labels_of_moved(const ur_weights *w, size_t at, double step, size_t n, const double *x,
                            double *t, double *y)
{
    size_t V = w->k * w->d, c = V + w->k, U = c + w->m * w->k;
    double *cell = at < V   ? w->V + at
                   : at < c ? w->c + at - V
                   : at < U ? w->U + at - c
                            : w->e + at - U;
    double before = *cell;
    *cell += step;
    ur_network_forward(w, x, n, t, y);
    *cell = before;
}

/* By finite differences: what is left of any labels is orthogonal to what each weight can do. */
static void what_a_fit_leaves_is_beside_all_that_weights_can_do(void **state)
{
    (void)state;
    enum { N = 40, D = 2, K = 3, M = 2, CELLS = N * M };
    const double STEP = 1e-6;
    planted_network p = plant_network(D, K, M, N, 0, 7);
    ur_weights w = ur_network_weights(p.truth);
    UR_ARENA(arena);
    ur_tangent tangent;
    unrelu_error err = {0};
    double kept[CELLS], y[CELLS], z[CELLS], t[N * K], lost = 0;
    double *room = ur_take(&arena, 100, sizeof *room);
    must(ur_tangent_make(&w, (ur_terms){1, 1}, N, p.x, &arena, &tangent, &err), &err);
    ur_random_normals(7, 906, 0, CELLS, kept);
    ur_tangent_leave(&tangent, 1, kept, room);
    for (size_t at = 0; at < K * D + K + M * K + M; at++) {
        double along = 0, size = 0;
        labels_of_moved(&w, at, STEP, N, p.x, t, y);
        labels_of_moved(&w, at, -STEP, N, p.x, t, z);
        for (size_t i = 0; i < CELLS; i++) {
            along += kept[i] * (y[i] - z[i]) / (2 * STEP);
            size += pow((y[i] - z[i]) / (2 * STEP), 2);
        }
        assert_true(size > 0 && fabs(along) < 1e-6 * sqrt(size));
    }
    for (size_t i = 0; i < CELLS; i++)
        lost += tangent.leverage[i];
    /* weights less the lengths of rows of V */
    assert_true(fabs(lost - (K * (D + 1) + M * (K + 1) - K)) < 1e-5);
    planted_network_free(&p);
}

/* k is too small for exact labels */
static void networks_of_too_few_neurons_are_called_approximate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_network p = plant_network(4, 4, 3, 400, 0, seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.k = 2;
        expect_approximate(&p, &o);
        planted_network_free(&p);
    }
}

/* Labels of three layers, which 4 to 9 neurons nearly interpolate: what these leave goes along with
 * nothing, but about many rows the labels are linear to rounding. */
static void labels_that_are_linear_piece_by_piece_are_no_noise(void **state)
{
    (void)state;
    size_t told = 0, noisy = 0;
    for (uint64_t seed = 1; seed <= (SANITIZED ? 2 : 12); seed++) {
        planted_network p = plant_network(3, 2, 2, 400, 0, seed);
        double z[12];
        ur_random_normals(seed, 902, 0, 12, z);
        for (size_t i = 0; i < p.n; i++) {
            double t[2], s[2];
            for (size_t j = 0; j < 2; j++)
                t[j] = fmax(0, z[3 * j] * p.x[3 * i] + z[3 * j + 1] * p.x[3 * i + 1] +
                                   z[3 * j + 2] * p.x[3 * i + 2] + .3);
            for (size_t j = 0; j < 2; j++)
                s[j] = fmax(0, z[6 + 2 * j] * t[0] + z[7 + 2 * j] * t[1] + .2 * z[10 + j]);
            p.a[2 * i] = s[0] + s[1];
            p.a[2 * i + 1] = s[0] - 2 * s[1] + .1;
        }
        unrelu_network *model = recover(&p, NULL);
        noisy += model->verdict == UNRELU_VERDICT_NOISY;
        for (size_t i = 0; i < model->warning_count; i++)
            told += strstr(model->warnings[i].message, "linear in the inputs to rounding") != NULL;
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(told > 0 || SANITIZED);
    assert_int_equal(noisy, 0);
}

/* share of rows about which |x| + noise is linear, in single precision or in double */
static double share_of_pieces(size_t n, double noise, int single)
{
    UR_ARENA(arena);
    double *x = ur_take(&arena, n, sizeof *x), *a = ur_take(&arena, n, sizeof *a), share;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    unrelu_error err = {0};
    ur_data data;
    ur_frame frame;
    must(ur_arena_status(&arena, &err), &err);
    ur_random_normals(3, 903, 0, n, x);
    ur_random_normals(3, 904, 0, n, a);
    for (size_t i = 0; i < n; i++)
        a[i] = single ? (double)(float)fabs(x[i]) : fabs(x[i]) + noise * a[i];
    must(ur_data_hold(n, 1, 1, x, a, &exec, &arena, &data, &err), &err);
    must(ur_frame_make(&data, n, (ur_terms){1, 0}, 0, &arena, &frame, &err), &err);
    must(ur_rest_pieces(&data, &frame, n, &share, &err), &err);
    return share;
}

static void labels_are_linear_to_rounding_or_not(void **state)
{
    (void)state;
    assert_true(share_of_pieces(500, 0, 0) > .95); /* but next to 0 */
    assert_true(share_of_pieces(500, 0, 1) > .9);
    assert_true(share_of_pieces(500, 1e-12, 0) < .01);
    assert_true(share_of_pieces(500, 1e-3, 0) == 0);
}

/* Whole numbers with a noise of 0 or 1 on a grid are linear about one row in fifty. */
static void whole_numbers_are_linear_by_chance(void **state)
{
    (void)state;
    planted_network p = plant_network(1, 1, 1, 400, 0, 1);
    double *z = malloc(p.n * sizeof *z);
    assert_non_null(z);
    ur_random_uniforms(1, 905, 0, p.n, z);
    for (size_t i = 0; i < p.n; i++) {
        p.x[i] = (double)i - 200;
        p.a[i] = fmax(0, p.x[i]) + floor(2 * z[i]);
    }
    free(z);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.k = 1;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* rows that are copies of others have copies of their noise: they count once */
static void copies_of_rows_are_no_neighbours(void **state)
{
    (void)state;
    planted_network p = plant_noisy(3, 2, 1, 300, NORMAL, 5);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.k = 2;
    memcpy(p.x + 450, p.x, 450 * sizeof *p.x);
    memcpy(p.a + 150, p.a, 150 * sizeof *p.a);
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_NOISY);
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_with_noise_are_called_noisy),
        cmocka_unit_test(functions_that_are_no_network_are_called_approximate),
        cmocka_unit_test(sums_of_squares_are_called_approximate),
        cmocka_unit_test(few_fits_of_skew_or_uneven_noise_are_called_a_function),
        cmocka_unit_test(huge_cells_make_no_function_of_noise),
        cmocka_unit_test(functions_that_few_rows_do_not_show_are_no_noise),
        cmocka_unit_test(few_labels_for_each_weight_show_no_noise),
        cmocka_unit_test(noise_of_five_labels_for_each_weight_is_noise),
        cmocka_unit_test(a_method_by_name_claims_no_noise_for_labels_without),
        cmocka_unit_test(few_rows_of_many_labels_tell_noise_from_functions),
        cmocka_unit_test(smooth_functions_that_are_nearly_met_are_no_noise),
        cmocka_unit_test(what_a_fit_leaves_is_beside_all_that_weights_can_do),
        cmocka_unit_test(networks_of_too_few_neurons_are_called_approximate),
        cmocka_unit_test(labels_that_are_linear_piece_by_piece_are_no_noise),
        cmocka_unit_test(labels_are_linear_to_rounding_or_not),
        cmocka_unit_test(whole_numbers_are_linear_by_chance),
        cmocka_unit_test(copies_of_rows_are_no_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
