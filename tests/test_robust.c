/* SPDX-License-Identifier: Apache-2.0 */
/* Noisy labels by Huber's objective: the descent, the warning, k and the standard errors. */
#include "noises.h"

#include "dense/huber.h"
#include "network/newton/newton.h"

static const char *warning_of(const unrelu_network *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return model->warnings[i].message;
    return NULL;
}

static unrelu_recover_options noisy(size_t k, int robust)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.labels = UNRELU_LABELS_NOISY;
    o.k = k;
    o.biases = k ? UNRELU_BIASES_NONE : UNRELU_BIASES_AUTO;
    o.robust = robust;
    return o;
}

/* what a network leaves, by plain loops */
static double *rest(const unrelu_network *model, const planted_network *p)
{
    double *R = malloc(p->n * p->m * sizeof *R);
    unrelu_error err = {0};
    assert_non_null(R);
    must(unrelu_network_predict(model, p->x, p->n, NULL, R, &err), &err);
    for (size_t i = 0; i < p->n * p->m; i++)
        R[i] = p->a[i] - R[i];
    return R;
}

/* no step of any weight lowers the objective by more than a millionth of the deviance of one
 * parameter */
static void the_descent_ends_where_no_weight_lowers_the_objective(void **state)
{
    (void)state;
    enum { N = 1000, D = 4, K = 2, M = 3 };
    static const double laws[] = {1, INFINITY};
    for (int law = 0; law < 2; law++) {
        UR_ARENA(arena);
        planted_network p = plant_network(D, K, M, N, 0, 5);
        add_student(&p, laws[law], .5, 5);
        ur_newton problem = {.n = N, .p = D, .m = M, .x = p.x, .a = p.a, .f = {UNRELU_RELU, 0}};
        ur_newton_fit fit;
        ur_huber huber, other;
        unrelu_error err = {0};
        double R[N * M];
        must(ur_newton_alloc(&problem, K, &arena, &fit, &err), &err);
        memcpy(fit.V, p.truth->V, K * D * sizeof *fit.V);
        memcpy(fit.U, p.truth->U, M * K * sizeof *fit.U);
        must(ur_newton_huber(&problem, 60, 0, 1e-10, &fit, &huber, &err), &err);
        for (size_t i = 0; i < K * D; i++) /* no steps: V stays */
            assert_near(fit.V[i], p.truth->V[i], 1e-12);
        must(ur_newton_huber(&problem, 60, 6, 1e-10, &fit, &huber, &err), &err);
        must(ur_newton_rest(&problem, &fit, R, &err), &err);
        assert_near(ur_huber_of(N * M, R, 1).objective, huber.objective, 1e-9 * huber.objective);
        double squares = 0;
        for (size_t i = 0; i < N * M; i++)
            squares += R[i] * R[i];
        assert_near(fit.rss, squares, 1e-9 * squares);
        for (size_t i = 0; i < K * (D + M); i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double *w = i < K * D ? fit.V + i : fit.U + (i - K * D), kept = *w;
                *w += .003 * sign;
                must(ur_newton_rest(&problem, &fit, R, &err), &err);
                other = ur_huber_of(N * M, R, 1);
                assert_true(other.objective > huber.objective - 1e-6 * huber.scale);
                *w = kept;
            }
        planted_network_free(&p);
    }
}

/* A few huge cells decide on k; with 2 neurons for 3 what is left is a function of the inputs, and
 * that their tails are heavy is still told. */
static void heavy_tails_are_told_where_they_led_to_too_few_neurons(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 2000, 0, 7);
    add_student(&p, 2, .5, 7);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_APPROXIMATE);
    assert_true(model->k < 3);
    assert_non_null(warning_of(model, "heavy-tails"));
    assert_non_null(warning_of(model, "approximate"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void heavy_tails_are_told_and_robust_finds_k(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {6, 7, 12, 15};
    size_t wrong = 0;
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof seeds / sizeof *seeds); i++) {
        planted_network p = plant_network(6, 3, 5, 2000, 0, seeds[i]);
        add_student(&p, 2, .5, seeds[i]);
        unrelu_recover_options o = noisy(0, 0);
        unrelu_network *model = recover(&p, &o);
        const char *text = warning_of(model, "heavy-tails");
        assert_non_null(text);
        assert_non_null(strstr(text, "`robust`"));
        assert_null(strstr(model->assumption, "Huber"));
        wrong += model->k != 3;
        unrelu_network_free(model);
        o = noisy(0, 1);
        model = recover(&p, &o);
        assert_int_equal(model->k, 3);
        assert_string_equal(model->biases, "none");
        assert_null(warning_of(model, "heavy-tails"));
        assert_non_null(strstr(model->assumption, "Huber"));
        assert_non_null(strstr(model->how_k, "Student"));
        assert_true(error_of_V(p.truth, model) < .1);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(wrong > 0 || SANITIZED); /* or these samples show nothing */
}

static void normal_noise_is_not_called_heavy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        planted_network p = plant_network(6, 3, 5, seed % 2 ? 300 : 3000, .5, seed);
        for (size_t i = 0; i < p.n * p.m; i++) /* labels of different deviations */
            p.a[i] = ldexp(p.a[i], (int)(i % p.m));
        unrelu_recover_options o = noisy(3, 0);
        unrelu_network *squares = recover(&p, &o);
        assert_null(warning_of(squares, "heavy-tails"));
        unrelu_network_free(squares);
        planted_network_free(&p);
    }
}

/* s psi and psi' of the residuals by plain loops, and errors of least squares for that deviation */
static void errors_are_the_sandwich_of_the_estimate(void **state)
{
    (void)state;
    enum { N = 2000, D = 5, K = 2, M = 3 };
    planted_network p = plant_network(D, K, M, N, 0, 9);
    add_student(&p, 2, .5, 9);
    unrelu_recover_options o = noisy(K, 1);
    unrelu_network *model = recover(&p, &o);
    double *R = rest(model, &p), parameters = K * (D + M - 1), cells = N * M, inside = 0, psi2 = 0;
    double s = model->noise * sqrt(1 - parameters / cells), c = 1.345 * s;
    for (size_t i = 0; i < N * M; i++) {
        inside += fabs(R[i]) <= c;
        psi2 += pow(fmin(fabs(R[i]), c), 2);
    }
    double share = inside / cells, spread = sqrt(psi2 / (cells - parameters)) / share *
                                            (1 + parameters / cells * (1 - share) / share);
    assert_near(ur_huber_of(N * M, R, 1).scale, s, 1e-6 * s);
    ur_newton problem = {.n = N, .p = D, .m = M, .x = p.x, .a = p.a, .f = {UNRELU_RELU, 0}};
    ur_newton_fit fit = {.k = K, .V = model->V, .U = model->U, .e = model->e};
    double V_se[K * D], U_se[M * K];
    int singular;
    unrelu_error err = {0};
    must(ur_newton_errors(&problem, &fit, D, spread, V_se, U_se, NULL, &singular, &err), &err);
    for (size_t i = 0; i < K * D; i++)
        assert_near(model->V_se[i], V_se[i], 1e-4 * V_se[i]);
    for (size_t i = 0; i < M * K; i++)
        assert_near(model->U_se[i], U_se[i], 1e-4 * U_se[i]);
    free(R);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void threads_and_units_change_nothing(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 4, 1200, 0, 4);
    add_cauchy(&p, .3, 4);
    unrelu_recover_options o = noisy(0, 1);
    unrelu_network *first = recover(&p, &o);
    assert_int_equal(first->k, 3);
    for (int threads = 1; threads <= 7; threads += 6) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads};
        unrelu_network *model;
        unrelu_error err = {0};
        must(try_recover(p.x, p.a, p.n, p.d, p.m, &o, &exec, &model, &err), &err);
        assert_memory_equal(model->V, first->V, 18 * sizeof *first->V);
        assert_memory_equal(model->U_se, first->U_se, 12 * sizeof *first->U_se);
        unrelu_network_free(model);
    }
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = ldexp(p.a[i], 400);
    unrelu_network *model = recover(&p, &o);
    assert_memory_equal(model->V, first->V, 18 * sizeof *first->V);
    assert_near(ldexp(model->noise, -400), first->noise, 1e-12 * first->noise);
    unrelu_network_free(model);
    unrelu_network_free(first);
    planted_network_free(&p);
}

/* labels without noise are met, robust or not; with hidden biases and another activation, too */
static void other_fits_are_robust_too(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 2, 3, 400, 0, 7);
    unrelu_recover_options o = noisy(0, 1);
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    assert_true(error_of_V(p.truth, model) < 1e-9);
    unrelu_network_free(model);
    planted_network_free(&p);
    unrelu_network_plant_options plan;
    unrelu_network_plant_options_init(&plan, sizeof plan);
    plan.d = 5;
    plan.k = 2;
    plan.m = 4;
    plan.bias = .5;
    plan.activation = (unrelu_activation){.kind = UNRELU_LEAKY, .parameter = .1};
    p = plant_network_with(plan, 4000);
    add_cauchy(&p, .2, 3);
    o = noisy(2, 1);
    o.biases = UNRELU_BIASES_BOTH;
    o.activation = plan.activation;
    model = recover(&p, &o);
    assert_true(error_of_V(p.truth, model) < .1);
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descent_ends_where_no_weight_lowers_the_objective),
        cmocka_unit_test(heavy_tails_are_told_where_they_led_to_too_few_neurons),
        cmocka_unit_test(heavy_tails_are_told_and_robust_finds_k),
        cmocka_unit_test(normal_noise_is_not_called_heavy),
        cmocka_unit_test(errors_are_the_sandwich_of_the_estimate),
        cmocka_unit_test(threads_and_units_change_nothing),
        cmocka_unit_test(other_fits_are_robust_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
