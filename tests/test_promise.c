/* SPDX-License-Identifier: Apache-2.0 */
/* Whether theorems hold: the tests of laws have the size they state and see what is planted, and
 * each method by name decides as the planted network and its inputs do. */
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "network/data/data.h"
#include "network/promise/promise.h"

/* ---- laws of inputs ---- */

static ur_inputs_law law_of(size_t n, size_t d, double *x)
{
    ur_data data = {.n = n, .d = d, .x = x};
    ur_inputs_law law;
    unrelu_error err = {0};
    must(ur_inputs_law_test(&data, NULL, &law, &err), &err);
    return law;
}

/* Normal inputs of any covariance: p is below a level no more often than that, but for what the
 * transforms leave, and not much less: the tests are nearly independent. */
static void normal_inputs_are_rejected_as_rarely_as_stated(void **state)
{
    (void)state;
    enum { RUNS = 3000, N = 60, D = 3 };
    static double x[N * D];
    size_t below = 0, rejected = 0, moved = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        ur_random_normals(run, 1, 0, N * D, x);
        for (size_t i = 0; i < N; i++) {
            x[i * D + 1] = 3 * x[i * D + 1] + 2 * x[i * D];
            x[i * D + 2] += x[i * D];
        }
        ur_inputs_law law = law_of(N, D, x);
        assert_int_equal(law.tests, 2 * D + 1);
        assert_int_equal(law.rank, D);
        below += law.p < .05;
        rejected += law.p < UR_CONDITION_LEVEL;
        moved += law.mean_p < .05;
    }
    assert_true((double)below > RUNS * .025 && (double)below < RUNS * .065);
    assert_true(rejected <= 12); /* 3 expected */
    assert_true((double)moved > RUNS * .035 && (double)moved < RUNS * .065);
}

/* 1 / chi2 with A degrees of freedom, the law that the transform is made for: mean 1 / (A - 2),
 * variance 2 / ((A - 2)^2 (A - 4)), skewness 4 sqrt(2 (A - 4)) / (A - 6) */
static void a_skewed_statistic_becomes_normal(void **state)
{
    (void)state;
    /* lower 5 % and 0.1 %, upper 5 % points of chi2 with 20 degrees of freedom */
    const double points[] = {10.8508, 5.9210, 31.4104}, normal[] = {1.6449, 3.0902, -1.6449};
    for (int i = 0; i < 3; i++)
        assert_near(
            ur_unskewed((1 / points[i] - 1. / 18) * 18 * sqrt(16. / 2), 4 * sqrt(2. * 16) / 14),
            normal[i], i == 1 ? .04 : .01); /* cube roots: 3.06 for 3.09 */
}

/* mean of (x' Sigma^-1 x)^2 about the mean, by solves */
static double naive_kurtosis(size_t n, size_t d, const double *x)
{
    double mean[10] = {0}, Sigma[100] = {0}, y[10], fourth = 0;
    int positive;
    for (size_t i = 0; i < n * d; i++)
        mean[i % d] += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < d * d; a++)
            Sigma[a] +=
                (x[i * d + a / d] - mean[a / d]) * (x[i * d + a % d] - mean[a % d]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t a = 0; a < d; a++)
            y[a] = x[i * d + a] - mean[a];
        assert_int_equal(ur_solve_positive(d, 1, Sigma, y, &positive, NULL), UNRELU_OK);
        for (size_t a = 0; a < d; a++)
            square += y[a] * (x[i * d + a] - mean[a]);
        fourth += square * square / (double)n;
    }
    return fourth;
}

/* Sums of ten uniform numbers have a kurtosis of 2.88: no column shows it in 2000 rows, all do. */
static void mixed_inputs_are_seen_jointly(void **state)
{
    (void)state;
    enum { N = 2000, D = 10 };
    double *u = malloc(N * D * sizeof *u), *x = malloc(N * D * sizeof *x), Q[D * D];
    ur_random_uniforms(3, 1, 0, N * D, u);
    ur_random_normals(3, 2, 0, D * D, Q);
    assert_int_equal(ur_orthonormalise(D, D, Q, NULL), UNRELU_OK);
    for (size_t i = 0; i < N * D; i++)
        u[i] -= .5;
    ur_multiply(N, D, D, u, Q, x);
    ur_inputs_law law = law_of(N, D, x);
    assert_int_equal(law.column, SIZE_MAX);
    assert_true(law.p < 1e-6);
    assert_near(law.usual, D * (D + 2), 0);
    assert_near(law.value, naive_kurtosis(N, D, x), 1e-9);
    free(u);
    free(x);
}

static void a_shifted_mean_and_a_constant_column_are_seen(void **state)
{
    (void)state;
    enum { N = 500, D = 4 };
    static double x[N * D];
    ur_random_normals(5, 1, 0, N * D, x);
    for (size_t i = 0; i < N; i++)
        x[i * D + 2] += .4;
    ur_inputs_law law = law_of(N, D, x);
    assert_true(law.mean_p < 1e-6 && law.p > UR_CONDITION_LEVEL);
    for (size_t i = 0; i < N; i++)
        x[i * D + 2] = 7;
    law = law_of(N, D, x);
    assert_int_equal(law.rank, 0);
    assert_int_equal(law.tests, 2 * (D - 1));
    assert_true(isnan(law.mean_p));
    assert_int_equal(law_of(10, D, x).tests, 0); /* too few rows */
}

/* ---- methods ---- */

static unrelu_network *recover_by(const planted_network *p, unrelu_recover_method method, size_t k)
{
    unrelu_recover_options o;
    unrelu_network *model;
    unrelu_error err = {0};
    unrelu_recover_options_init(&o, sizeof o);
    o.method = method;
    o.k = k;
    must(try_recover(p->x, p->a, p->n, p->d, p->m, &o, NULL, &model, &err), &err);
    return model;
}

static void assert_holds(const unrelu_network *model, const char *holds, const char *because)
{
    if (strcmp(model->guarantee_holds, holds) != 0 || !strstr(model->guarantee_because, because))
        fail_msg("%s: %s: %s (expected %s: %s)", model->method, model->guarantee_holds,
                 model->guarantee_because, holds, because);
}

static const struct {
    unrelu_recover_method method;
    size_t d, k, m, n;
    unrelu_inputs inputs;
    double kappa_v, noise, bias;
    const char *holds, *because;
} cases[] = {
    {UNRELU_RECOVER_MOMENTS, 8, 4, 6, 3000, 0, 0, .1, 0, "yes", "V has rank 4 for k = 4"},
    {UNRELU_RECOVER_MOMENTS, 8, 4, 6, 3000, UNRELU_INPUTS_LAPLACE, 0, .1, 0, "no", "not normal"},
    {UNRELU_RECOVER_MOMENTS, 8, 4, 6, 3000, UNRELU_INPUTS_UNIFORM, 0, .1, 0, "no", "not normal"},
    {UNRELU_RECOVER_MOMENTS, 3, 5, 6, 3000, 0, 0, .1, 0, "no", "k = 5 neurons and d = 3 inputs"},
    {UNRELU_RECOVER_MOMENTS, 8, 4, 2, 3000, 0, 0, .1, 0, "no", "k = 4 neurons and m = 2 labels"},
    {UNRELU_RECOVER_MOMENTS, 8, 4, 6, 3000, 0, 0, .1, .5, "no", "the network has biases (both)"},
    {UNRELU_RECOVER_ICA, 8, 4, 6, 3000, 0, 1, 0, 0, "yes", "overlap"},
    {UNRELU_RECOVER_ICA, 8, 4, 6, 3000, 0, 5, 0, 0, "no", "overlap"},
    {UNRELU_RECOVER_ICA, 8, 4, 6, 3000, 0, 1, .1, 0, "no", "not met"},
    {UNRELU_RECOVER_TENSOR, 8, 4, 6, 3000, 0, 0, 0, 0, "yes", "of order 2 is 0.3989"},
    {UNRELU_RECOVER_TENSOR, 8, 4, 6, 3000, UNRELU_INPUTS_BINARY, 0, 0, 0, "no", "not normal"},
    {UNRELU_RECOVER_SYMMETRIC, 8, 4, 6, 3000, UNRELU_INPUTS_UNIFORM, 0, 0, 0, "yes", "symmetry"},
    {UNRELU_RECOVER_LIFTED, 8, 4, 6, 3000, 0, 0, 0, 0, "untested", "no theorem is claimed"},
    {UNRELU_RECOVER_EXACT, 8, 4, 6, 3000, 0, 0, 0, 0, "untested", "no theorem is claimed"},
    {UNRELU_RECOVER_AUTO, 8, 4, 6, 3000, UNRELU_INPUTS_LAPLACE, 0, .1, 0, "no", "not normal"},
    {UNRELU_RECOVER_ONE_SPARSE, 4, 3, 2, 2000, 0, 1, 0, 0, "yes", "is on alone in"},
    {UNRELU_RECOVER_ONE_SPARSE, 10, 6, 3, 500, 0, 1, 0, 0, "no", "Algorithm 7 needs d = 10"},
    {UNRELU_RECOVER_ANY_NOISE, 6, 2, 4, 1000, 0, 0, .5, 0, "untested", "constants as 1"},
    {UNRELU_RECOVER_ANY_NOISE, 6, 2, 4, 1000, UNRELU_INPUTS_LAPLACE, 0, .5, 0, "no", "not normal"},
    {UNRELU_RECOVER_SPARSE_NOISE, 6, 2, 12, 1000, 0, 0, 0, 0, "no", "|cosine| of two columns of U"},
};

static void each_method_by_name_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unrelu_network_plant_options o;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = cases[i].d;
        o.k = cases[i].k;
        o.m = cases[i].m;
        o.inputs = cases[i].inputs;
        o.kappa_v = cases[i].kappa_v;
        o.noise = cases[i].noise;
        o.bias = cases[i].bias;
        planted_network p = plant_network_with(o, cases[i].n);
        if (cases[i].method == UNRELU_RECOVER_SPARSE_NOISE)
            for (size_t q = 0; q < p.n * p.m; q += 37)
                p.a[q] += 5;
        unrelu_network *model = recover_by(&p, cases[i].method, cases[i].k);
        assert_holds(model, cases[i].holds, cases[i].because);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static double number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    assert_non_null(at);
    return strtod(at + strlen(what), NULL);
}

/* the figures of a decision are those of a naive loop over the planted network */
static void figures_are_those_of_the_planted_network(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 2000, 0, 7);
    const double *V = p.truth->V;
    double worst = 0;
    size_t alone[4] = {0}, rarest = p.n;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < a; b++) {
            double m[5] = {0};
            for (size_t i = 0; i < p.n; i++) {
                double s = ur_short_dot(8, V + a * 8, p.x + i * 8);
                double t = ur_short_dot(8, V + b * 8, p.x + i * 8), n = (double)p.n;
                m[0] += s / n, m[1] += t / n, m[2] += s * s / n, m[3] += t * t / n;
                m[4] += s * t / n;
            }
            double r = (m[4] - m[0] * m[1]) / sqrt((m[2] - m[0] * m[0]) * (m[3] - m[1] * m[1]));
            worst = fmax(worst, fabs(r));
        }
    for (size_t i = 0; i < p.n; i++) {
        size_t on = 0, last = 0;
        for (size_t j = 0; j < 4; j++)
            if (ur_short_dot(8, V + j * 8, p.x + i * 8) > 0)
                on++, last = j;
        alone[last] += on == 1;
    }
    for (size_t j = 0; j < 4; j++)
        rarest = alone[j] < rarest ? alone[j] : rarest;
    unrelu_network *model = recover_by(&p, UNRELU_RECOVER_ICA, 4);
    assert_near(number_after(model->guarantee_because, "and v_j x, is "), worst, .006);
    assert_near(number_after(model->guarantee_because, "orthonormal: about "),
                1 / sqrt((double)p.n), .0005);
    unrelu_network_free(model);
    model = recover_by(&p, UNRELU_RECOVER_ONE_SPARSE, 4);
    assert_string_equal(model->guarantee_holds, "yes");
    assert_near(number_after(model->guarantee_because, "is on alone in "), (double)rarest, 0);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* u and -u, which Theorem 11 allows as printed */
static void antiparallel_outputs_break_theorem_11(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 2, 1500, 0, 2);
    unrelu_error err = {0};
    for (size_t j = 0; j < 2; j++)
        p.truth->U[j * 3 + 1] = -2 * p.truth->U[j * 3];
    must(unrelu_network_predict(p.truth, p.x, p.n, NULL, p.a, &err), &err);
    unrelu_network *model = recover_by(&p, UNRELU_RECOVER_ONE_SPARSE, 3);
    assert_holds(model, "no", "two columns of U are parallel");
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* ---- where conditions break ---- */

static ur_holds ask(const ur_condition *condition, ur_case *c)
{
    ur_finding finding;
    unrelu_error err = {0};
    must(condition->test(c, &finding, &err), &err);
    assert_true(finding.figure[0]);
    return finding.holds;
}

static void conditions_break_where_they_say(void **state)
{
    (void)state;
    UR_ARENA(arena);
    double rms[2] = {1, 1}, V[4] = {1, 0, 1, 0}, U[4] = {1, 1, 0, 0};
    ur_inputs_law law = {.tests = 5, .rank = 2, .what = "skewness"};
    ur_problem given = {.data = {.n = 100, .d = 2, .m = 2, .input_rms = rms}};
    ur_outcome out = ur_outcome_in(&arena);
    out.answer = UR_EXACT;
    out.weights = (ur_weights){.d = 2, .k = 2, .m = 2, .U = U, .V = V};
    ur_case c = {.given = &given, .out = &out, .k = 2, .arena = &arena, .inputs = &law};
    const double level = 1e-3, rank = 1e-9;
    for (int kept = 0; kept < 2; kept++) {
        double factor = kept ? 5 : .2;
        ur_holds expected = kept ? UR_KEPT : UR_BROKEN;
        law.p = law.mean_p = factor * level;
        assert_int_equal(ask(&ur_inputs_normal, &c), expected);
        assert_int_equal(ask(&ur_inputs_centred, &c), expected);
        V[3] = 2 * factor * rank; /* singular values sqrt 2 and V[3] / sqrt 2 */
        assert_int_equal(ask(&ur_v_has_rank, &c), expected);
        U[3] = 2 * factor * rank;
        assert_int_equal(ask(&ur_u_has_rank, &c), expected);
        U[3] = sqrt(2 * factor * 1e-12); /* 1 - cosine is half its square */
        assert_int_equal(ask(&ur_no_parallel_outputs, &c), expected);
        U[1] = rank / factor, U[3] = 1;
        assert_int_equal(ask(&ur_u_is_orthogonal, &c), expected);
        U[1] = 1;
    }
    law.tests = 0;
    assert_int_equal(ask(&ur_inputs_normal, &c), UR_UNTESTED);
    out.answer = UR_NONE;
    assert_int_equal(ask(&ur_v_has_rank, &c), UR_UNTESTED);
    c.k = 3; /* what k alone decides */
    assert_int_equal(ask(&ur_v_has_rank, &c), UR_BROKEN);
    assert_int_equal(ask(&ur_u_has_rank, &c), UR_BROKEN);
}

/* ---- noise ---- */

static void heavy_tails_and_an_offset_break_theorem_10(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 4, 2000, 0, 3);
    double *g = malloc(2 * p.n * p.m * sizeof *g), *clean = malloc(p.n * p.m * sizeof *clean);
    memcpy(clean, p.a, p.n * p.m * sizeof *clean);
    ur_random_normals(4, 1, 0, 2 * p.n * p.m, g);
    for (int what = 0; what < 3; what++) {
        for (size_t i = 0; i < p.n * p.m; i++) {
            double laplace = g[i] * sqrt(-2 * log(ur_two_sided(g[p.n * p.m + i])));
            p.a[i] = clean[i] + .1 * (what == 0 ? g[i] : what == 1 ? laplace : g[i] + 1);
        }
        unrelu_network *model = recover_by(&p, UNRELU_RECOVER_MOMENTS, 3);
        if (what == 0)
            assert_holds(model, "yes", "normal tails is not rejected");
        else if (what == 1)
            assert_holds(model, "no", "heavier tails");
        else /* an output bias takes it up, or it is seen */
            assert_string_equal(model->guarantee_holds, "no");
        unrelu_network_free(model);
    }
    free(g);
    free(clean);
    planted_network_free(&p);
}

/* ---- the distinguishing matrix ---- */

/* Binary inputs in two dimensions: x1 x2 and the squares are all the products there are, and the
 * last two are constant, so that two columns of V are one too many. */
static void a_deficient_distinguishing_matrix_is_seen(void **state)
{
    (void)state;
    enum { N = 400 };
    double x[N * 2], rms[2] = {1, 1}, V[6] = {.8, .6, -.6, .8, .28, .96}, ratio;
    unrelu_error err = {0};
    ur_data data = {.n = N, .d = 2, .x = x, .input_rms = rms};
    ur_weights w = {.d = 2, .k = 3, .m = 3, .V = V};
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = i & 1 ? 1 : -1;
        x[2 * i + 1] = i & 2 ? 1 : -1;
    }
    must(ur_distinguishing(&data, &w, &ratio, &err), &err);
    assert_near(ratio, 0, 1e-12);
    ur_random_normals(1, 1, 0, N * 2, x);
    w.k = 2; /* one pair and E xx': two columns of three numbers */
    must(ur_distinguishing(&data, &w, &ratio, &err), &err);
    assert_true(ratio > .01);
}

/* whether so many neurons of d = 10 inputs are asked about: 2 rows a pair, each 55 k^2 / 2
 * multiply-adds, in all 2e7 for 30 and 3e9 for 100 */
static int is_distinguishing_worth_it(size_t k, size_t n)
{
    enum { D = 10 };
    double *x = malloc(n * D * sizeof *x), *V = malloc(k * D * sizeof *V), rms[D], ratio;
    unrelu_error err = {0};
    ur_data data = {.n = n, .d = D, .x = x, .input_rms = rms};
    ur_weights w = {.d = D, .k = k, .m = k, .V = V};
    ur_random_normals(1, 2, 0, n * D, x);
    ur_random_normals(1, 3, 0, k * D, V);
    for (size_t l = 0; l < D; l++)
        rms[l] = 1;
    must(ur_distinguishing(&data, &w, &ratio, &err), &err);
    free(x);
    free(V);
    return isfinite(ratio);
}

static void the_distinguishing_matrix_is_made_where_that_takes_a_second(void **state)
{
    (void)state;
    assert_true(is_distinguishing_worth_it(30, 900));
    assert_false(is_distinguishing_worth_it(100, 10000));
}

/* What three conditions ask of a network that was not found is told once. */
static void a_reason_is_told_once(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 300, .3, 3);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_SPARSE_NOISE;
    o.k = 3;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_FAILED);
    const char *first = strstr(model->guarantee_because, "no network was found");
    assert_non_null(first);
    assert_null(strstr(first + 1, "no network was found"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_table_of_methods_lists_its_conditions(void **state)
{
    (void)state;
    unrelu_method method;
    unrelu_condition condition;
    size_t conditions = 0;
    for (size_t i = 0; unrelu_recover_method_at(i, &method); i++)
        for (size_t j = 0; unrelu_recover_condition_at(i, j, &condition); j++, conditions++)
            assert_true(condition.theorem[0] && condition.what[0] && condition.how[0]);
    assert_true(conditions > 50);
    assert_int_equal(unrelu_recover_condition_at(99, 0, &condition), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_inputs_are_rejected_as_rarely_as_stated),
        cmocka_unit_test(a_skewed_statistic_becomes_normal),
        cmocka_unit_test(mixed_inputs_are_seen_jointly),
        cmocka_unit_test(a_shifted_mean_and_a_constant_column_are_seen),
        cmocka_unit_test(each_method_by_name_decides),
        cmocka_unit_test(figures_are_those_of_the_planted_network),
        cmocka_unit_test(antiparallel_outputs_break_theorem_11),
        cmocka_unit_test(conditions_break_where_they_say),
        cmocka_unit_test(heavy_tails_and_an_offset_break_theorem_10),
        cmocka_unit_test(a_deficient_distinguishing_matrix_is_seen),
        cmocka_unit_test(the_distinguishing_matrix_is_made_where_that_takes_a_second),
        cmocka_unit_test(a_reason_is_told_once),
        cmocka_unit_test(the_table_of_methods_lists_its_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
