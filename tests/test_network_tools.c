/* SPDX-License-Identifier: Apache-2.0 */
/* Planting, drawing, predicting, comparing, saving. */
#include "members.h"
#include "networks.h"

#include "base/random.h"
#include "dense/linear.h"
#include "files.h"
#include "network/model/network.h"
#include "write/npz_write.h"

static const unrelu_activation relu = {UNRELU_RELU, 0}, squared = {UNRELU_POWER, 2},
                               leaky = {UNRELU_LEAKY, 0.1}, expm1_pos = {UNRELU_EXPM1, 0};

static unrelu_network *planted(unrelu_network_plant_options o)
{
    unrelu_network *m;
    unrelu_error err = {0};
    must(unrelu_network_plant(&o, &m, &err), &err);
    return m;
}

static unrelu_network_plant_options sizes(size_t d, size_t k, size_t m)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    return o;
}

static double naive_f(unrelu_activation f, double t)
{
    switch (f.kind) {
    case UNRELU_POWER:
        return t > 0 ? pow(t, f.parameter) : 0;
    case UNRELU_EXPM1:
        return t > 0 ? exp(t) - 1 : 0;
    case UNRELU_LEAKY:
        return t > 0 ? t : f.parameter * t;
    default:
        return t > 0 ? t : 0;
    }
}

/* label j of one row, by the formula */
static double naive_label(const unrelu_network *m, const double *x, size_t j)
{
    double y = m->e[j];
    for (size_t i = 0; i < m->k; i++) {
        double t = m->c[i];
        for (size_t l = 0; l < m->d; l++)
            t += m->V[i * m->d + l] * x[l];
        y += m->U[j * m->k + i] * naive_f(m->activation, t);
    }
    return y;
}

static double norm(const double *x, size_t count, size_t step)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i * step] * x[i * step];
    return sqrt(sum);
}

static double condition(size_t n, size_t p, const double *A)
{
    double s[64];
    unrelu_error err = {0};
    must(ur_svd(n, p, A, NULL, s, NULL, &err), &err);
    return s[0] / s[(n < p ? n : p) - 1];
}

/* ---- plant ---- */

static void planted_matrices_have_their_condition_numbers(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{10, 5, 8}, {7, 7, 7}, {4, 9, 3}, {20, 2, 2}};
    const double kappas[] = {1, 20, 1000};
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < 3; i++) {
            unrelu_network_plant_options o = sizes(shapes[s][0], shapes[s][1], shapes[s][2]);
            o.kappa_v = kappas[i];
            o.kappa_u = kappas[2 - i];
            o.seed = s + 1;
            unrelu_network *m = planted(o);
            assert_near(condition(m->k, m->d, m->V) / o.kappa_v, 1, 1e-9);
            assert_near(condition(m->m, m->k, m->U) / o.kappa_u, 1, 1e-9);
            for (size_t j = 0; j < m->k; j++)
                assert_near(norm(m->V + j * m->d, m->d, 1), 1, 1e-14);
            unrelu_network_free(m);
        }
}

static void planted_neurons_are_ordered_and_of_unit_length(void **state)
{
    (void)state;
    unrelu_network *m = planted(sizes(10, 5, 8));
    for (size_t j = 0; j < m->k; j++) {
        assert_near(norm(m->V + j * m->d, m->d, 1), 1, 1e-14);
        if (j > 0)
            assert_true(norm(m->U + j, m->m, m->k) <= norm(m->U + j - 1, m->m, m->k));
        assert_true(m->c[j] == 0);
    }
    assert_int_equal(m->verdict, UNRELU_VERDICT_PLANTED);
    assert_string_equal(m->input_names[9], "x10");
    assert_string_equal(m->label_names[0], "a1");
    unrelu_network_free(m);
}

static void planted_lengths_suit_the_activation(void **state)
{
    (void)state;
    static const struct {
        unrelu_activation f;
        double low, high;
    } rows[] = {{{UNRELU_EXPM1, 0}, 0.5, 1.5},
                {{UNRELU_TANH_POS, 0}, 0.5, 1.5},
                {{UNRELU_EXPM1SQ, 0}, 0.3, 0.3},
                {{UNRELU_POWER, 0.5}, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        unrelu_network_plant_options o = sizes(6, 20, 4);
        o.activation = rows[i].f;
        unrelu_network *m = planted(o);
        double low = INFINITY, high = 0;
        for (size_t j = 0; j < m->k; j++) {
            low = fmin(low, norm(m->V + j * m->d, m->d, 1));
            high = fmax(high, norm(m->V + j * m->d, m->d, 1));
        }
        assert_true(low >= rows[i].low - 1e-14 && high <= rows[i].high + 1e-14);
        assert_true(rows[i].low == rows[i].high || (low < 0.7 && high > 1.3));
        unrelu_network_free(m);
    }
}

static void planted_labels_have_unit_size(void **state)
{
    (void)state;
    enum { N = 2000 };
    for (int inputs = UNRELU_INPUTS_NORMAL; inputs <= UNRELU_INPUTS_MIXTURE; inputs++) {
        unrelu_network_plant_options o = sizes(6, 4, 5);
        o.bias = 0.7;
        o.kappa_x = 1 + inputs;
        o.inputs = (unrelu_inputs)inputs;
        planted_network p = plant_network_with(o, N);
        double sum = 0, on = 0;
        for (size_t j = 0; j < p.m; j++) {
            double mean = 0;
            for (size_t i = 0; i < N; i++)
                mean += p.a[i * p.m + j] / N;
            for (size_t i = 0; i < N; i++)
                sum += pow(p.a[i * p.m + j] - mean, 2);
        }
        assert_near(sqrt(sum / (N * 5)), 1, 1e-12);
        for (size_t i = 0; i < N; i++) {
            double t = p.truth->c[2];
            for (size_t l = 0; l < p.d; l++)
                t += p.truth->V[2 * p.d + l] * p.x[i * p.d + l];
            on += (t > 0) / (double)N;
        }
        assert_near(p.truth->active[2], on, 1e-12);
        planted_network_free(&p);
    }
}

static void planted_biases_have_their_spread(void **state)
{
    (void)state;
    unrelu_network_plant_options o = sizes(5, 400, 300);
    o.bias = 0.5;
    unrelu_network *m = planted(o);
    assert_near(norm(m->c, 400, 1) / sqrt(400), 0.5, 4 * 0.5 / sqrt(800));
    assert_near(norm(m->e, 300, 1) / sqrt(300), 0.5, 4 * 0.5 / sqrt(600));
    unrelu_network_free(m);
}

static void a_plan_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t d, k, m;
        double kappa_v, kappa_u, kappa_x, noise, bias;
        unrelu_status status;
        const char *sentence;
    } bad[] = {
        {0, 5, 8, 0, 0, 1, 0, 0, UNRELU_EUSAGE,
         "d, k and m must be at least 1, not d = 0, k = 5, m = 8"},
        {4, 5, 8, 0.5, 0, 1, 0, 0, UNRELU_EUSAGE,
         "the condition number of V must be from 1 to 1e15 (or 0: as it comes), not 0.5"},
        {4, 5, 8, 0, INFINITY, 1, 0, 0, UNRELU_EUSAGE,
         "the condition number of U must be from 1 to 1e15 (or 0: as it comes), not inf"},
        {4, 5, 8, 0, 0, 0, 0, 0, UNRELU_EUSAGE,
         "the condition number of the inputs' covariance must be from 1 to 1e15, not 0"},
        {4, 5, 1, 0, 3, 1, 0, 0, UNRELU_EUSAGE,
         "a condition number of 3 needs two rows and two columns of U"},
        {4, 5, 8, 0, 0, 1, -1, 0, UNRELU_EUSAGE,
         "the noise must be a number of at least 0, not -1"},
        {4, 5, 8, 0, 0, 1, 0, NAN, UNRELU_EUSAGE, "the bias must be a finite number, not nan"},
        {1, 1, 1, 0, 0, 1, 0, 1e9, UNRELU_EDATA,
         "labels at 2000 inputs have a root mean square of 0 about their mean: no scale makes it "
         "1; choose other inputs or a smaller bias"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_network_plant_options o = sizes(bad[i].d, bad[i].k, bad[i].m);
        o.kappa_v = bad[i].kappa_v;
        o.kappa_u = bad[i].kappa_u;
        o.kappa_x = bad[i].kappa_x;
        o.noise = bad[i].noise;
        o.bias = bad[i].bias;
        o.seed = 2; /* with which the neuron of the last one is never on */
        unrelu_network *m;
        unrelu_error err = {0};
        assert_int_equal(unrelu_network_plant(&o, &m, &err), bad[i].status);
        assert_string_equal(err.text, bad[i].sentence);
        assert_null(m);
    }
    unrelu_network_plant_options o = sizes(4, 3, 2);
    unrelu_network *m;
    unrelu_error err = {0};
    o.activation = (unrelu_activation){UNRELU_POWER, -1};
    assert_int_equal(unrelu_network_plant(&o, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the activation power:-1 needs an exponent above 0");
}

static void condition_numbers_are_planted_below_1e15(void **state)
{
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        unrelu_network_plant_options o = sizes(4, 3, 4);
        unrelu_network *m;
        o.kappa_v = beyond ? 2e15 : 5e14;
        assert_int_equal(unrelu_network_plant(&o, &m, NULL), beyond ? UNRELU_EUSAGE : UNRELU_OK);
        unrelu_network_free(m);
    }
}

/* ---- Lemma 16 ---- */

static unrelu_network_plant_options lemma16(double a, uint64_t seed)
{
    unrelu_network_plant_options o = sizes(2, 2, 1);
    o.lemma16 = a;
    o.seed = seed;
    return o;
}

static void the_network_of_lemma_16_is_planted(void **state)
{
    (void)state;
    static const double all[] = {1, 0.5, 0.02, 2e-15};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double a = all[i];
        unrelu_network *m = planted(lemma16(a, 1));
        assert_true(m->d == 2 && m->k == 2 && m->m == 1);
        for (size_t j = 0; j < 2; j++) {
            assert_near(norm(m->V + 2 * j, 2, 1), 1, 1e-15);
            assert_near(m->V[2 * j + 1] / m->V[2 * j], j == 0 ? a : -a, 1e-15 * a);
            assert_near(m->U[j] * m->V[2 * j], 0.5, 1e-15);
            assert_near(m->active[j], 0.5, 0.06); /* 5 standard errors of 2000 rows */
            assert_true(m->c[j] == 0);
        }
        assert_true(m->e[0] == 0 && m->noise == 0);
        if (a > 1e-3)
            assert_near(condition(2, 2, m->V), 1 / a, 1e-10 / a);
        unrelu_network_free(m);
    }
}

/* By name the sizes come with it. */
static void lemma_16_knows_its_sizes(void **state)
{
    (void)state;
    unrelu_error err = {0};
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    must(unrelu_network_plant_options_set(&o, "lemma16", "0.25", &err), &err);
    unrelu_network *m = planted(o);
    assert_near(m->V[1] / m->V[0], 0.25, 1e-15);
    unrelu_network_free(m);
    must(unrelu_network_plant_options_set(&o, "d", "3", &err), &err);
    assert_int_equal(unrelu_network_plant(&o, &m, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the network of `lemma16` has `d` = 2, `k` = 2 and `m` = 1, not "
                                  "3, 2 and 1");
    static const char *const wrong[] = {"0", "-1", "1.01", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(unrelu_network_plant_options_set(&o, "lemma16", wrong[i], &err),
                         UNRELU_EUSAGE);
    static const double values[] = {-0.1, 1.5, 1e-15, NAN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        o = lemma16(values[i], 1);
        assert_int_equal(unrelu_network_plant(&o, &m, &err), UNRELU_EUSAGE);
    }
    static const char *const others[][2] = {
        {"kappa-v", "2"}, {"kappa-u", "2"}, {"bias", "1"}, {"noise", "0.1"}, {"activation", "tanh"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char sentence[128];
        o = lemma16(0.1, 1);
        must(unrelu_network_plant_options_set(&o, others[i][0], others[i][1], &err), &err);
        assert_int_equal(unrelu_network_plant(&o, &m, &err), UNRELU_EUSAGE);
        snprintf(sentence, sizeof sentence,
                 "the network of `lemma16` is given, and its labels are exact: leave out `%s`",
                 others[i][0]);
        assert_string_equal(err.text, sentence);
    }
}

/* The proof of the lemma: labels of a and of 2 a are one and the same wherever |x1| > 2 a |x2|,
 * and differ wherever |x1| < 2 a |x2|. So n rows tell them apart with the probability
 * 1 - (1 - p)^n, p = 2 atan(2 a) / pi: the transition is at n = c kappa, with one c for all a. */
static void n_grows_with_kappa_where_lemma_16_can_be_told(void **state)
{
    (void)state;
    enum { RUNS = 400 };
    static const double all[] = {0.2, 0.05, 0.0125}, over_kappa[] = {0.3, 1, 3};
    const double pi = acos(-1);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            double a = all[i], p = 2 * atan(2 * a) / pi, told = 0;
            size_t n = (size_t)lround(over_kappa[j] / a);
            for (uint64_t seed = 1; seed <= RUNS; seed++) {
                double x[2 * 240], one[240], two[240];
                unrelu_error err = {0};
                unrelu_network_plant_options o = lemma16(a, seed), twice = lemma16(2 * a, seed);
                unrelu_network *m = planted(o), *other = planted(twice);
                must(unrelu_network_draw(&o, m, 0, n, NULL, x, one, &err), &err);
                must(unrelu_network_draw(&twice, other, 0, n, NULL, x, two, &err), &err);
                int differ = 0;
                for (size_t r = 0; r < n; r++) {
                    int between = fabs(x[2 * r]) < 2 * a * fabs(x[2 * r + 1]);
                    assert_near(one[r], naive_label(m, x + 2 * r, 0), 1e-15);
                    if (!between) {
                        assert_near(one[r], fmax(0, x[2 * r]), 1e-14);
                        assert_near(two[r], one[r], 1e-14);
                    }
                    differ |= fabs(two[r] - one[r]) > 1e-14;
                    assert_true(!between || fabs(two[r] - one[r]) > 0);
                }
                told += differ;
                unrelu_network_free(m);
                unrelu_network_free(other);
            }
            double expected = 1 - pow(1 - p, (double)n);
            assert_near(told / RUNS, expected, 5 * sqrt(expected * (1 - expected) / RUNS));
        }
}

/* ---- draw ---- */

static void a_slice_of_a_draw_has_the_same_bits(void **state)
{
    (void)state;
    enum { N = 1000, D = 5, M = 4 };
    static double x[N * D], a[N * M];
    unrelu_error err = {0};
    for (int inputs = UNRELU_INPUTS_NORMAL; inputs <= UNRELU_INPUTS_MIXTURE; inputs++) {
        unrelu_network_plant_options o = sizes(D, 3, M);
        o.inputs = (unrelu_inputs)inputs;
        o.kappa_x = 10;
        o.noise = 0.1;
        planted_network p = plant_network_with(o, N);
        const size_t slices[][2] = {{0, 1}, {255, 2}, {300, 513}, {999, 1}, {10, 0}};
        for (size_t s = 0; s < 5; s++) {
            unrelu_exec exec = {.size = sizeof exec, .threads = (int)s + 1};
            size_t first = slices[s][0], rows = slices[s][1];
            must(unrelu_network_draw(&o, p.truth, first, rows, &exec, x, a, &err), &err);
            assert_memory_equal(x, p.x + first * D, rows * D * sizeof *x);
            assert_memory_equal(a, p.a + first * M, rows * M * sizeof *a);
            must(unrelu_network_draw(&o, NULL, first, rows, &exec, x, NULL, &err), &err);
            assert_memory_equal(x, p.x + first * D, rows * D * sizeof *x);
        }
        planted_network_free(&p);
    }
}

static void laws_have_their_moments(void **state)
{
    (void)state;
    enum { N = 40000, D = 2 };
    static double x[N * D];
    /* variance, and E x^4 where it exists */
    static const double moments[][2] = {{1, 3}, {1, 9.0 / 5}, {1, 1}, {3, 0}, {1, 6}};
    unrelu_error err = {0};
    for (int inputs = UNRELU_INPUTS_NORMAL; inputs <= UNRELU_INPUTS_LAPLACE; inputs++) {
        unrelu_network_plant_options o = sizes(D, 1, 1);
        o.inputs = (unrelu_inputs)inputs;
        must(unrelu_network_draw(&o, NULL, 0, N, NULL, x, NULL, &err), &err);
        double mean = 0, two = 0, four = 0, cross = 0, below = 0;
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < D; j++) {
                double t = x[i * D + j];
                mean += t / (N * D);
                two += t * t / (N * D);
                four += t * t * t * t / (N * D);
                below += (t < -sqrt(3)) / (double)(N * D);
            }
            cross += x[i * D] * x[i * D + 1] / N;
        }
        double variance = moments[inputs][0];
        assert_near(mean, 0, 5 * sqrt(variance / (N * D)));
        assert_near(cross, 0, 5 * variance / sqrt(N));
        if (inputs ==
            UNRELU_INPUTS_T3) { /* the third quartile of t3 is .76489, P(t < -1.732) .0909 */
            assert_near(below, 0.09085, 5 * sqrt(0.083 / (N * D)));
            continue;
        }
        assert_near(two, variance, 5 * sqrt((moments[inputs][1] - 1) / (N * D)) + 1e-12);
        assert_near(four / moments[inputs][1], 1, inputs == UNRELU_INPUTS_LAPLACE ? 0.2 : 0.05);
    }
}

static void the_mixture_is_centred_but_not_symmetric(void **state)
{
    (void)state;
    enum { N = 20000, D = 6 };
    static double x[N * D];
    unrelu_network_plant_options o = sizes(D, 1, 1);
    unrelu_error err = {0};
    double skew = 0, size = 0;
    o.inputs = UNRELU_INPUTS_MIXTURE;
    must(unrelu_network_draw(&o, NULL, 0, N, NULL, x, NULL, &err), &err);
    for (size_t j = 0; j < D; j++) {
        double mean = 0, two = 0, three = 0;
        for (size_t i = 0; i < N; i++) {
            mean += x[i * D + j] / N;
            two += pow(x[i * D + j], 2) / N;
            three += pow(x[i * D + j], 3) / N;
        }
        assert_near(mean, 0, 5 * sqrt(two / N));
        skew = fmax(skew, fabs(three) / pow(two, 1.5));
        size += two / D;
    }
    assert_true(skew > 0.2);
    assert_true(size > 0.5 && size < 2);
}

/* x = T z, z being the inputs without it: no sampling error in T */
static void inputs_are_turned_and_stretched_by_the_condition_number(void **state)
{
    (void)state;
    enum { N = 600, D = 4 };
    static double x[N * D], z[N * D], back[N * D];
    double T[D * D];
    unrelu_error err = {0};
    unrelu_network_plant_options o = sizes(D, 1, 1);
    for (int inputs = UNRELU_INPUTS_NORMAL; inputs <= UNRELU_INPUTS_MIXTURE; inputs++) {
        o.inputs = (unrelu_inputs)inputs;
        o.kappa_x = 1;
        must(unrelu_network_draw(&o, NULL, 0, N, NULL, z, NULL, &err), &err);
        o.kappa_x = 100;
        must(unrelu_network_draw(&o, NULL, 0, N, NULL, x, NULL, &err), &err);
        must(ur_least_squares(N, D, D, z, x, 0, T, NULL, &err), &err);
        ur_multiply(N, D, D, z, T, back);
        for (size_t i = 0; i < N * D; i++)
            assert_near(back[i], x[i], 1e-12 * fmax(1, fabs(x[i])));
        assert_near(condition(D, D, T), 10, 1e-10);
        assert_true(fabs(T[1]) > 0.01); /* turned, not only stretched */
    }
}

static void labels_are_the_network_and_normal_noise(void **state)
{
    (void)state;
    enum { N = 5000 };
    unrelu_network_plant_options o = sizes(6, 4, 3);
    o.bias = 0.4;
    o.noise = 0.25;
    planted_network p = plant_network_with(o, N);
    double sum = 0, next = 0, before = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 3; j++) {
            double noise = p.a[i * 3 + j] - naive_label(p.truth, p.x + i * 6, j);
            sum += noise * noise;
            next += noise * before;
            before = noise;
        }
    assert_near(sqrt(sum / (3 * N)), 0.25, 4 * 0.25 / sqrt(6 * N));
    assert_near(next / (3 * N), 0, 4 * 0.0625 / sqrt(3 * N));
    planted_network_free(&p);
    double x[6], a[3];
    unrelu_error err = {0};
    assert_int_equal(unrelu_network_draw(&o, NULL, 0, 1, NULL, x, a, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "labels need a network with weights");
}

/* ---- normalise ---- */

/* weights that are 0 */
static unrelu_network *empty(size_t d, size_t k, size_t labels)
{
    unrelu_error err = {0};
    unrelu_network *m = ur_network_new(&err);
    assert_non_null(m);
    m->d = d;
    m->k = k;
    m->m = labels;
    must(ur_network_alloc(m, &err), &err);
    return m;
}

/* a network with rows of any length, in no order */
static unrelu_network *rough(unrelu_activation f, uint64_t seed)
{
    unrelu_network *m = empty(4, 6, 3);
    ur_network_set_activation(m, f);
    ur_random_normals(seed, 100, 0, 24, m->V);
    ur_random_normals(seed, 101, 0, 18, m->U);
    ur_random_normals(seed, 102, 0, 6, m->c);
    ur_random_normals(seed, 103, 0, 3, m->e);
    return m;
}

static void normalising_keeps_the_function(void **state)
{
    (void)state;
    const unrelu_activation all[] = {relu, squared, {UNRELU_POWER, 0.5}, leaky, expm1_pos};
    for (size_t f = 0; f < 5; f++) {
        unrelu_network *m = rough(all[f], f + 1), *before = rough(all[f], f + 1);
        unrelu_error err = {0};
        m->V_se = ur_take_doubles(ur_model_arena(m), m->V, 24);
        for (size_t j = 0; j < 6; j++)
            m->active[j] = m->V[j * 4];
        must(ur_network_normalise(m, &err), &err);
        for (size_t i = 0; i < 50; i++) {
            double x[4];
            ur_random_normals(9, i, 0, 4, x);
            for (size_t j = 0; j < 3; j++)
                assert_near(naive_label(m, x, j), naive_label(before, x, j), 1e-11);
        }
        for (size_t j = 0; j < 6; j++) {
            double length = norm(m->V + j * 4, 4, 1), was = norm(m->V_se + j * 4, 4, 1);
            if (f < 4)
                assert_near(length, 1, 1e-15 * 4);
            for (size_t l = 0; l < 4; l++) /* what belongs to a neuron moves with it */
                assert_near(m->V_se[j * 4 + l] / was, m->V[j * 4 + l] / length, 1e-14);
            assert_true(m->active[j] == m->V_se[j * 4]);
            if (j > 0)
                assert_true(norm(m->U + j, 3, 6) <= norm(m->U + j - 1, 3, 6));
        }
        unrelu_network *again = rough(all[f], f + 1);
        memcpy(again->V, m->V, 24 * sizeof(double));
        memcpy(again->U, m->U, 18 * sizeof(double));
        must(ur_network_normalise(again, &err), &err);
        assert_memory_equal(again->V, m->V, 24 * sizeof(double));
        assert_memory_equal(again->U, m->U, 18 * sizeof(double));
        unrelu_network_free(again);
        unrelu_network_free(m);
        unrelu_network_free(before);
    }
}

/* ---- predict ---- */

static void predictions_are_those_of_the_formula(void **state)
{
    (void)state;
    enum { N = 700 };
    const unrelu_activation all[] = {relu, squared, leaky, expm1_pos};
    static double x[N * 4], y[N * 3], z[N * 3];
    unrelu_error err = {0};
    ur_random_normals(3, 1, 0, N * 4, x);
    for (size_t f = 0; f < 4; f++) {
        unrelu_network *m = rough(all[f], 5);
        for (int threads = 1; threads <= 7; threads += 3) {
            unrelu_exec exec = {.size = sizeof exec, .threads = threads};
            must(unrelu_network_predict(m, x, N, &exec, z, &err), &err);
            assert_true(threads == 1 || memcmp(y, z, sizeof y) == 0);
            memcpy(y, z, sizeof y);
        }
        for (size_t i = 0; i < N * 3; i++) {
            double want = naive_label(m, x + i / 3 * 4, i % 3);
            assert_near(y[i], want, 1e-12 * fmax(1, fabs(want)));
        }
        must(unrelu_network_predict(m, x, 0, NULL, z, &err), &err);
        unrelu_network_free(m);
    }
}

static void inputs_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    enum { N = 600 };
    static double x[N * 4], y[N * 3];
    unrelu_network *m = rough(relu, 1), none = {.verdict = UNRELU_VERDICT_FAILED};
    unrelu_error err = {0};
    x[300 * 4 + 2] = NAN;
    x[599 * 4] = INFINITY;
    y[0] = 1;
    assert_int_equal(unrelu_network_predict(m, x, N, NULL, y, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text,
                        "row 301, column 3 of the inputs is nan: a network needs finite inputs");
    assert_true(y[0] == 0);
    assert_int_equal(unrelu_network_predict(&none, x, N, NULL, y, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the network has no weights (its verdict is 'failed')");
    unrelu_network_free(m);
}

static unrelu_status predict_file(const unrelu_network *m, const char *in, const char *columns,
                                  const char *out, size_t *rows, unrelu_error *err)
{
    unrelu_source *source;
    unrelu_source_options options = {.size = sizeof options, .columns = columns};
    must(unrelu_source_open(in, &options, &source, err), err);
    unrelu_status status = unrelu_network_predict_source(m, source, out, NULL, rows, err);
    if (status == UNRELU_OK) /* a source that was read before is read from its start */
        must(unrelu_network_predict_source(m, source, out, NULL, rows, err), err);
    unrelu_source_close(source);
    return status;
}

static void files_are_predicted_row_by_row(void **state)
{
    (void)state;
    enum { N = 9000, D = 4 };
    static double x[N * D], y[N * 3];
    unrelu_error err = {0};
    size_t rows = 0;
    unrelu_network *m = rough(relu, 2);
    ur_random_normals(3, 1, 0, N * D, x);
    must(unrelu_network_predict(m, x, N, NULL, y, &err), &err);
    unrelu_sink *sink;
    const char *in[] = {files_path("x.npy"), files_path("x.csv")};
    const char *out[] = {files_path("a.npy"), files_path("a.csv")};
    for (int i = 0; i < 2; i++) {
        must(unrelu_sink_open(in[i], N, D, NULL, &sink, &err), &err);
        must(unrelu_sink_write(sink, x, N, &err), &err);
        must(unrelu_sink_commit(sink, &err), &err);
        must(predict_file(m, in[i], NULL, out[i], &rows, &err), &err);
        assert_int_equal(rows, N);
        table t = table_of(out[i], NULL);
        assert_int_equal(t.n, N);
        assert_int_equal(t.d, 3);
        for (size_t j = 0; j < N * 3; j++)
            assert_near(t.x[j], y[j], 1e-13 * fmax(1, fabs(y[j])));
        if (i == 1)
            assert_string_equal(t.names[2], "a3");
        table_free(&t);
    }
    /* chosen columns, in another order */
    for (size_t i = 0; i < N; i++) {
        double swap = x[i * D];
        x[i * D] = x[i * D + 3];
        x[i * D + 3] = swap;
    }
    must(unrelu_network_predict(m, x, N, NULL, y, &err), &err);
    must(predict_file(m, in[0], "4,2,3,1", out[0], &rows, &err), &err);
    table t = table_of(out[0], NULL);
    for (size_t j = 0; j < N * 3; j++)
        assert_near(t.x[j], y[j], 1e-13 * fmax(1, fabs(y[j])));
    table_free(&t);
    unrelu_network_free(m);
}

static void files_that_cannot_be_predicted_leave_nothing(void **state)
{
    (void)state;
    char sentence[1024];
    unrelu_error err = {0};
    size_t rows = 7;
    unrelu_network *m = rough(relu, 2);
    const char *out = files_path("refused.csv");
    const char *in = files_text("hole.csv", "p,q,r,s\n1,2,3,4\n5,6,NA,8\n");
    assert_int_equal(predict_file(m, in, NULL, out, &rows, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence,
             "%s: row 2, column 3 (r) is nan: a network needs finite inputs", in);
    assert_string_equal(err.text, sentence);
    assert_int_equal(rows, 0);
    assert_int_not_equal(access(out, F_OK), 0);
    in = files_text("narrow.csv", "p,q,r\n1,2,3\n");
    assert_int_equal(predict_file(m, in, NULL, out, &rows, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s has 3 columns, but the network takes 4 inputs", in);
    assert_string_equal(err.text, sentence);
    assert_int_not_equal(access(out, F_OK), 0);
    unrelu_network_free(m);
}

/* ---- compare ---- */

static unrelu_network_distance distance(const unrelu_network *truth, const unrelu_network *model)
{
    unrelu_network_distance far;
    unrelu_error err = {0};
    must(unrelu_network_compare(truth, model, &far, &err), &err);
    return far;
}

/* neuron j of m becomes neuron order[j] of the result, its row times scale[j] */
static unrelu_network *disguised(const unrelu_network *m, const size_t *order, const double *scale)
{
    unrelu_network *out = empty(m->d, m->k, m->m);
    ur_network_set_activation(out, m->activation);
    memcpy(out->e, m->e, m->m * sizeof(double));
    double q = m->activation.kind == UNRELU_POWER ? m->activation.parameter : 1;
    for (size_t j = 0; j < m->k; j++) {
        size_t to = order[j];
        double s = scale ? scale[j] : 1;
        out->c[to] = s * m->c[j];
        for (size_t l = 0; l < m->d; l++)
            out->V[to * m->d + l] = s * m->V[j * m->d + l];
        for (size_t i = 0; i < m->m; i++)
            out->U[i * m->k + to] = pow(s, -q) * m->U[i * m->k + j];
    }
    return out;
}

static void order_and_scale_of_neurons_do_not_count(void **state)
{
    (void)state;
    const unrelu_activation all[] = {relu, squared, leaky, expm1_pos};
    const size_t order[] = {3, 0, 5, 1, 4, 2};
    const double scale[] = {0.1, 7, 1, 2.5, 1e-3, 40};
    for (size_t f = 0; f < 4; f++) {
        unrelu_network *m = rough(all[f], 8), *same = disguised(m, order, f < 3 ? scale : NULL);
        unrelu_network_distance far = distance(m, same);
        assert_int_equal(far.matched, 6);
        assert_int_equal(far.missing + far.extra, 0);
        double errors[] = {far.V_max,       far.V_frobenius, far.U_max,
                           far.U_frobenius, far.c_max,       far.c_frobenius,
                           far.e_max,       far.e_frobenius, far.function_error};
        for (size_t i = 0; i < 9; i++)
            assert_near(errors[i], 0, 1e-13);
        unrelu_network_free(m);
        unrelu_network_free(same);
    }
}

static void errors_are_those_that_were_made(void **state)
{
    (void)state;
    unrelu_network_plant_options o = sizes(4, 3, 2);
    o.activation = expm1_pos; /* rows keep their length: an error is what was added */
    o.bias = 0.3;
    unrelu_network *m = planted(o), *off = planted(o);
    double top = 0;
    for (size_t i = 0; i < 6; i++)
        top = fmax(top, fabs(m->U[i]));
    off->V[5] += 0.03;
    off->V[0] -= 0.04;
    off->U[1] += 0.01;
    off->c[2] -= 0.02;
    off->e[0] += 0.3;
    off->e[1] += 0.4;
    unrelu_network_distance far = distance(m, off);
    assert_near(far.V_max, 0.04, 1e-14);
    assert_near(far.V_frobenius, 0.05, 1e-14);
    assert_near(far.U_max, 0.01 / top, 1e-14);
    assert_near(far.U_frobenius, 0.01 / norm(m->U, 6, 1), 1e-14);
    assert_near(far.c_max, 0.02, 1e-14);
    assert_near(far.c_frobenius, 0.02, 1e-14);
    assert_near(far.e_max, 0.4, 1e-14);
    assert_near(far.e_frobenius, 0.5, 1e-14);
    unrelu_network_free(m);
    unrelu_network_free(off);
}

static void function_error_is_relative(void **state)
{
    (void)state;
    unrelu_network *m = planted(sizes(5, 4, 3)), *louder = planted(sizes(5, 4, 3));
    for (size_t i = 0; i < 12; i++)
        louder->U[i] *= 1.01;
    unrelu_network_distance far = distance(m, louder);
    assert_near(far.function_error, 0.01, 1e-13);
    assert_near(far.U_frobenius, 0.01, 1e-13);
    assert_true(far.V_max == 0);
    unrelu_network_free(m);
    unrelu_network_free(louder);
}

static void neurons_too_few_and_too_many_are_counted(void **state)
{
    (void)state;
    unrelu_network *m = planted(sizes(5, 4, 3));
    unrelu_network *fewer = empty(5, 3, 3);
    memcpy(fewer->V, m->V + 5, 15 * sizeof(double)); /* without the first */
    for (size_t i = 0; i < 9; i++)
        fewer->U[i] = m->U[i / 3 * 4 + i % 3 + 1];
    unrelu_network_distance far = distance(m, fewer);
    assert_int_equal(far.matched, 3);
    assert_int_equal(far.missing, 1);
    assert_int_equal(far.extra, 0);
    assert_true(far.V_max == 0 && far.U_max == 0 && far.function_error > 0.1);
    far = distance(fewer, m);
    assert_int_equal(far.matched, 3);
    assert_int_equal(far.missing, 0);
    assert_int_equal(far.extra, 1);
    assert_true(far.V_max == 0 && far.U_max == 0);
    unrelu_network_free(m);
    unrelu_network_free(fewer);
}

/* with each other's outputs, so that their order by size does not give them away */
static void neurons_that_differ_in_bias_alone_are_told_apart(void **state)
{
    (void)state;
    unrelu_network *m = rough(relu, 3), *other = rough(relu, 3);
    memcpy(m->V + 4, m->V, 4 * sizeof(double));
    memcpy(other->V + 4, m->V, 4 * sizeof(double));
    for (size_t i = 0; i < 3; i++) {
        other->U[i * 6] = m->U[i * 6 + 1];
        other->U[i * 6 + 1] = m->U[i * 6];
    }
    unrelu_network_distance far = distance(m, other);
    assert_near(far.c_max, 0, 0);
    assert_true(far.U_max > 0.1);
    unrelu_network_free(m);
    unrelu_network_free(other);
}

static void networks_of_another_kind_are_not_compared(void **state)
{
    (void)state;
    unrelu_network *m = planted(sizes(5, 4, 3)), *wide = planted(sizes(6, 4, 3)),
                   *same = planted(sizes(5, 4, 3)), none = {.d = 5, .k = 4, .m = 3};
    unrelu_network_distance far;
    unrelu_error err = {0};
    assert_int_equal(unrelu_network_compare(m, wide, &far, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, "the truth has 5 inputs and 3 labels, the model 6 and 3: they "
                                  "cannot be compared");
    same->activation = squared;
    assert_int_equal(unrelu_network_compare(m, same, &far, &err), UNRELU_EFORMAT);
    assert_string_equal(
        err.text, "the truth has the activation relu, the model power:2: they cannot be compared");
    assert_int_equal(unrelu_network_compare(m, &none, &far, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, "the model has no weights: there is nothing to compare");
    unrelu_network_free(m);
    unrelu_network_free(wide);
    unrelu_network_free(same);
}

/* ---- files ---- */

static double *numbers(const void *model, size_t count, uint64_t stream)
{
    double *x = ur_take(ur_model_arena(model), count, sizeof *x);
    assert_non_null(x);
    ur_random_normals(77, stream, 0, count, x);
    return x;
}

/* fractions of any length */
static const char **fractions(const void *model, size_t count)
{
    ur_arena *arena = ur_model_arena(model);
    const char **texts = ur_take(arena, count, sizeof *texts);
    assert_non_null(texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = i % 3 ? ur_take_text(arena, "-%zu00000000000000000000000000000/%zu", i, i + 7)
                         : ur_take_text(arena, "%zu", i);
    return texts;
}

static unrelu_network *learned(void)
{
    unrelu_network *m = rough(leaky, 4);
    double **errors[] = {&m->U_se, &m->V_se, &m->c_se, &m->e_se};
    static const size_t counts[] = {18, 24, 6, 3};
    for (size_t i = 0; i < 4; i++) {
        *errors[i] = numbers(m, counts[i], i + 1);
        for (size_t k = 0; k < counts[i]; k++)
            (*errors[i])[k] = fabs((*errors[i])[k]);
    }
    m->V_se[3] = NAN;
    m->verdict = UNRELU_VERDICT_UNCERTIFIED;
    m->noise = 0.1;
    m->residual = 1e-3 / 3;
    m->holdout_residual = NAN;
    m->gap = 0.7;
    m->n = 123456789;
    m->samples_checked = 11;
    m->min_active = 12;
    m->min_inactive = 13;
    m->starts = 15;
    m->starts_agree = 14;
    m->linear_rank = 1;
    m->objective = 2.5;
    m->objective_bound = NAN;
    m->incoherence = 1.0 / 7;
    m->corrupted = 2;
    m->E_row = numbers(m, 2, 5);
    m->E_column = numbers(m, 2, 6);
    m->E_value = numbers(m, 2, 7);
    m->E_row[0] = 123456788, m->E_column[0] = 0;
    m->E_row[1] = 5, m->E_column[1] = 2;
    m->V_rational = fractions(m, 24);
    m->U_rational = fractions(m, 18);
    m->seed = UINT64_MAX - 1;
    m->method = "moments";
    m->biases = "both";
    m->precision = "digits:15";
    m->how_k = "rank of the labels";
    m->guarantee = ur_take_text(ur_model_arena(m), "%0700d", 7); /* of any length */
    m->assumption = "caf\xc3\xa9";
    m->guarantee_holds = "no";
    m->guarantee_because = "k = 5 > d = 4";
    static const char *const inputs[] = {"x1", "x2", "dose, mg", "x4"};
    static const char *const labels[] = {"yield", "a2", "a3"};
    m->input_names = inputs;
    m->label_names = labels;
    ur_model_warn(m, "few", "%d samples", 7);
    ur_model_warn(m, "rare", "neuron %d", 2);
    return m;
}

static void a_saved_network_loads_bit_for_bit(void **state)
{
    (void)state;
    unrelu_network *m = learned(), *l;
    unrelu_error err = {0};
    const char *path = files_path("learned.npz");
    must(unrelu_network_save(m, path, &err), &err);
    must(unrelu_network_load(path, &l, &err), &err);
    assert_int_equal(assert_same_members(&m->model, &l->model), 43);
    assert_int_equal(l->warning_count, 2);
    unrelu_network_free(m);
    unrelu_network_free(l);
}

static void a_planted_network_survives_a_file(void **state)
{
    (void)state;
    const unrelu_activation all[] = {relu, squared, expm1_pos};
    for (size_t f = 0; f < 3; f++) {
        unrelu_network_plant_options o = sizes(6, 8, 1);
        o.activation = all[f];
        o.bias = 1;
        unrelu_network *m = planted(o), *l;
        unrelu_error err = {0};
        must(unrelu_network_save(m, files_path("truth.npz"), &err), &err);
        must(unrelu_network_load(files_path("truth.npz"), &l, &err), &err);
        assert_int_equal(l->verdict, UNRELU_VERDICT_PLANTED);
        assert_null(l->V_se);
        assert_true(isnan(l->gap));
        assert_true(!l->E_row && !l->E_column && !l->E_value && !l->V_rational && !l->U_rational);
        assert_memory_equal(m->V, l->V, 48 * sizeof(double));
        assert_true(distance(m, l).function_error == 0);
        unrelu_network_free(m);
        unrelu_network_free(l);
    }
}

/* a file of kind `kind` with U (2 x 3) and V (v rows of 4 columns), and one array more */
typedef struct {
    const char *kind, *activation, *verdict;
    size_t v;
    const char *extra;
    size_t extra_count;
    double bad; /* put into V */
    int without_U;
} parts;

static const char *write_parts(parts p)
{
    static double x[64];
    const char *path = files_path("parts.npz");
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    ur_random_normals(5, 5, 0, 64, x);
    x[0] = -1.5;
    must(ur_npz_writer_open(path, &w, &err), &err);
    size_t U[2] = {2, 3}, V[2] = {p.v, 4};
    double rows[64];
    ur_random_normals(77, 6, 0, 64, rows);
    rows[p.v > 1 ? 6 : 0] = p.bad != 0 ? p.bad : 0.5;
    if (p.kind)
        ur_npz_add_string(w, "kind", p.kind);
    if (p.activation)
        ur_npz_add_string(w, "activation", p.activation);
    if (p.verdict)
        ur_npz_add_string(w, "verdict", p.verdict);
    if (!p.without_U)
        ur_npz_add(w, "U", x, 2, U);
    ur_npz_add(w, "V", rows, 2, V);
    if (p.extra)
        ur_npz_add(w, p.extra, x, 1, &p.extra_count);
    must(ur_npz_commit(w, &err), &err);
    return path;
}

static void weights_alone_make_a_network(void **state)
{
    (void)state;
    unrelu_network *m;
    unrelu_error err = {0};
    must(unrelu_network_load(write_parts((parts){.kind = "network", .v = 3}), &m, &err), &err);
    assert_int_equal(m->d, 4);
    assert_int_equal(m->k, 3);
    assert_int_equal(m->m, 2);
    assert_int_equal(m->activation.kind, UNRELU_RELU);
    assert_true(m->c[2] == 0 && m->e[1] == 0 && isnan(m->active[0]) && isnan(m->gap));
    assert_true(isnan(m->objective) && isnan(m->objective_bound) && isnan(m->incoherence));
    assert_string_equal(m->input_names[3], "x4");
    assert_string_equal(m->label_names[1], "a2");
    double x[4] = {1, 2, -1, 0.5}, y[2];
    must(unrelu_network_predict(m, x, 1, NULL, y, &err), &err);
    assert_near(y[1], naive_label(m, x, 1), 1e-14);
    unrelu_network_free(m);
}

static void a_network_without_neurons_survives_a_file(void **state)
{
    (void)state;
    unrelu_network *m = empty(3, 0, 2), *l;
    unrelu_error err = {0};
    m->e[1] = 4;
    must(unrelu_network_save(m, files_path("none.npz"), &err), &err);
    must(unrelu_network_load(files_path("none.npz"), &l, &err), &err);
    assert_int_equal(l->k, 0);
    double x[3] = {1, 2, 3}, y[2] = {0};
    must(unrelu_network_predict(l, x, 1, NULL, y, &err), &err);
    assert_true(y[0] == 0 && y[1] == 4);
    unrelu_network_free(m);
    unrelu_network_free(l);
}

static void damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        parts file;
        const char *sentence; /* after the path */
    } bad[] = {
        {{.v = 3}, " has no array 'kind': it is not a model written by unrelu"},
        {{.kind = "summary", .v = 3}, " is of kind 'summary', where a network is needed"},
        {{.kind = "network", .v = 5},
         ": U is 2 x 3 and V is 5 x 4, where m x k and k x d are needed"},
        {{.kind = "network", .v = 3, .without_U = 1},
         " has no array 'U'; it was not written by this program, or by another version"},
        {{.kind = "network", .v = 3, .bad = NAN},
         ": V has nan at row 2, column 3, where a finite number is needed"},
        {{.kind = "network", .v = 3, .bad = -INFINITY},
         ": V has -inf at row 2, column 3, where a finite number is needed"},
        {{.kind = "network", .v = 3, .activation = "gelu"},
         ": 'gelu' is no activation; there are relu, power:C, expm1, expm1sq, leaky:S and tanh"},
        {{.kind = "network", .v = 3, .verdict = "good"},
         ": 'good' is no verdict of a network with weights"},
        {{.kind = "network", .v = 3, .verdict = "failed"},
         ": 'failed' is no verdict of a network with weights"},
        {{.kind = "network", .v = 3, .extra = "c", .extra_count = 4},
         ": c is a vector of 4, where a vector of 3 is needed"},
        {{.kind = "network", .v = 3, .extra = "U_se", .extra_count = 6},
         ": U_se is a vector of 6, where 2 x 3 is needed"},
        {{.kind = "network", .v = 3, .extra = "n", .extra_count = 1},
         ": n is -1.5, where a count is needed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_network *m;
        unrelu_error err = {0};
        char sentence[1024];
        const char *path = write_parts(bad[i].file);
        assert_int_equal(unrelu_network_load(path, &m, &err), UNRELU_EFORMAT);
        snprintf(sentence, sizeof sentence, "%s%s", path, bad[i].sentence);
        assert_string_equal(err.text, sentence);
        assert_null(m);
    }
}

/* a file with U (2 x 2) and V (2 x 3) of n = 10 rows, with wrong labels or fractions */
typedef struct {
    size_t rows, columns, values; /* 0: no such array */
    double row, column;           /* of the last one */
    size_t V[2], U[2];            /* 0: no such array */
    const char *text;             /* the last of U */
} hard_parts;

static const char *write_hard_parts(hard_parts p)
{
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const size_t U[] = {2, 2}, V[] = {2, 3};
    const char *path = files_path("hard.npz");
    ur_npz_writer *w = NULL;
    unrelu_error err = {0};
    double row[4] = {0}, column[4] = {0};
    const char *texts[12];
    must(ur_npz_writer_open(path, &w, &err), &err);
    ur_npz_add_string(w, "kind", "network");
    ur_npz_add(w, "U", x, 2, U);
    ur_npz_add(w, "V", x, 2, V);
    ur_npz_add_integer(w, "n", 10);
    if (p.rows)
        ur_npz_add(w, "E_row", row, 1, &p.rows);
    if (p.columns)
        ur_npz_add(w, "E_column", column, 1, &p.columns);
    if (p.values)
        ur_npz_add(w, "E_value", x, 1, &p.values);
    row[p.rows ? p.rows - 1 : 0] = p.row;
    column[p.columns ? p.columns - 1 : 0] = p.column;
    for (size_t i = 0; i < 12; i++)
        texts[i] = "1/2";
    if (p.V[0])
        ur_npz_add_texts(w, "V_rational", texts, 2, p.V);
    texts[3] = p.text ? p.text : texts[3];
    if (p.U[0])
        ur_npz_add_texts(w, "U_rational", texts, p.U[1] ? 2 : 1, p.U);
    must(ur_npz_commit(w, &err), &err);
    return path;
}

static void wrong_labels_and_fractions_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        hard_parts file;
        const char *sentence; /* after the path; NULL: it is read */
    } rows[] = {
        {{.rows = 2, .columns = 2, .values = 2, .row = 9, .column = 1}, NULL},
        {{.rows = 3, .columns = 2, .values = 3},
         ": E_column is a vector of 2, where a vector of 3 is needed"},
        {{.rows = 3, .columns = 3, .values = 2},
         ": E_value is a vector of 2, where a vector of 3 is needed"},
        {{.rows = 2, .columns = 2},
         ": of E_row, E_column and E_value only 2 are there, where all three are needed"},
        {{.values = 2},
         ": of E_row, E_column and E_value only 1 are there, where all three are needed"},
        {{.rows = 2, .columns = 2, .values = 2, .row = 10},
         ": E_row has 10 at place 2, where a whole number from 0 to below 10 is needed"},
        {{.rows = 2, .columns = 2, .values = 2, .row = 1.5},
         ": E_row has 1.5 at place 2, where a whole number from 0 to below 10 is needed"},
        {{.rows = 1, .columns = 1, .values = 1, .column = -1},
         ": E_column has -1 at place 1, where a whole number from 0 to below 2 is needed"},
        {{.rows = 1, .columns = 1, .values = 1, .column = 2},
         ": E_column has 2 at place 1, where a whole number from 0 to below 2 is needed"},
        {{.rows = 1, .columns = 1, .values = 1, .row = NAN},
         ": E_row has nan at row 1, column 1, where a finite number is needed"},
        {{.V = {2, 3}, .U = {2, 2}}, NULL},
        {{.V = {2, 3}, .U = {2, 2}, .text = "-12345678901234567890/987654321"}, NULL},
        {{.V = {2, 3}, .U = {2, 2}, .text = "-0"}, NULL},
        {{.V = {2, 3}}, " has V_rational without U_rational"},
        {{.U = {2, 2}}, " has U_rational without V_rational"},
        {{.V = {3, 2}, .U = {2, 2}}, ": V_rational is 3 x 2, where 2 x 3 is needed"},
        {{.V = {2, 3}, .U = {4}}, ": U_rational is a vector of 4, where 2 x 2 is needed"},
        {{.V = {2, 3}, .U = {2, 2}, .text = "1/0"},
         ": U_rational has no integer or fraction at row 2, column 2"},
        {{.V = {2, 3}, .U = {2, 2}, .text = "0.5"},
         ": U_rational has no integer or fraction at row 2, column 2"},
        {{.V = {2, 3}, .U = {2, 2}, .text = ""},
         ": U_rational has no integer or fraction at row 2, column 2"},
        {{.V = {2, 3}, .U = {2, 2}, .text = "-/2"},
         ": U_rational has no integer or fraction at row 2, column 2"},
        {{.V = {2, 3}, .U = {2, 2}, .text = "1/"},
         ": U_rational has no integer or fraction at row 2, column 2"},
        {{.V = {2, 3}, .U = {2, 2}, .text = "1/2/3"},
         ": U_rational has no integer or fraction at row 2, column 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unrelu_network *m;
        unrelu_error err = {0};
        char sentence[1024];
        const char *path = write_hard_parts(rows[i].file);
        unrelu_status status = unrelu_network_load(path, &m, &err);
        snprintf(sentence, sizeof sentence, "%s%s", rows[i].sentence ? path : "",
                 rows[i].sentence ? rows[i].sentence : "");
        assert_string_equal(err.text, sentence);
        assert_int_equal(status, rows[i].sentence ? UNRELU_EFORMAT : UNRELU_OK);
        assert_int_equal(m ? m->d : 0, rows[i].sentence ? 0 : 3);
        unrelu_network_free(m);
    }
}

/* a file cut anywhere is refused */
static void a_truncated_network_is_refused(void **state)
{
    (void)state;
    unrelu_network *m = learned(), *l;
    unrelu_error err = {0};
    size_t size;
    must(unrelu_network_save(m, files_path("whole.npz"), &err), &err);
    unsigned char *bytes = files_read(files_path("whole.npz"), &size);
    for (size_t cut = 0; cut < size; cut += 97) {
        unrelu_status status = unrelu_network_load(files_write("cut.npz", bytes, cut), &l, &err);
        assert_true(status == UNRELU_EFORMAT || status == UNRELU_EIO);
        assert_null(l);
    }
    free(bytes);
    unrelu_network_free(m);
}

static void a_network_without_weights_is_not_saved(void **state)
{
    (void)state;
    unrelu_network none = {.verdict = UNRELU_VERDICT_FAILED};
    unrelu_error err = {0};
    const char *path = files_path("failed.npz");
    assert_int_equal(unrelu_network_save(&none, path, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "the network has no weights (its verdict is 'failed')");
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_matrices_have_their_condition_numbers),
        cmocka_unit_test(planted_neurons_are_ordered_and_of_unit_length),
        cmocka_unit_test(planted_lengths_suit_the_activation),
        cmocka_unit_test(planted_labels_have_unit_size),
        cmocka_unit_test(planted_biases_have_their_spread),
        cmocka_unit_test(a_plan_that_cannot_be_is_refused),
        cmocka_unit_test(condition_numbers_are_planted_below_1e15),
        cmocka_unit_test(the_network_of_lemma_16_is_planted),
        cmocka_unit_test(lemma_16_knows_its_sizes),
        cmocka_unit_test(n_grows_with_kappa_where_lemma_16_can_be_told),
        cmocka_unit_test(a_slice_of_a_draw_has_the_same_bits),
        cmocka_unit_test(laws_have_their_moments),
        cmocka_unit_test(the_mixture_is_centred_but_not_symmetric),
        cmocka_unit_test(inputs_are_turned_and_stretched_by_the_condition_number),
        cmocka_unit_test(labels_are_the_network_and_normal_noise),
        cmocka_unit_test(normalising_keeps_the_function),
        cmocka_unit_test(predictions_are_those_of_the_formula),
        cmocka_unit_test(inputs_that_are_no_numbers_are_refused),
        cmocka_unit_test(files_are_predicted_row_by_row),
        cmocka_unit_test(files_that_cannot_be_predicted_leave_nothing),
        cmocka_unit_test(order_and_scale_of_neurons_do_not_count),
        cmocka_unit_test(errors_are_those_that_were_made),
        cmocka_unit_test(function_error_is_relative),
        cmocka_unit_test(neurons_too_few_and_too_many_are_counted),
        cmocka_unit_test(neurons_that_differ_in_bias_alone_are_told_apart),
        cmocka_unit_test(networks_of_another_kind_are_not_compared),
        cmocka_unit_test(a_saved_network_loads_bit_for_bit),
        cmocka_unit_test(a_planted_network_survives_a_file),
        cmocka_unit_test(weights_alone_make_a_network),
        cmocka_unit_test(a_network_without_neurons_survives_a_file),
        cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
        cmocka_unit_test(wrong_labels_and_fractions_that_cannot_be_are_refused),
        cmocka_unit_test(a_truncated_network_is_refused),
        cmocka_unit_test(a_network_without_weights_is_not_saved),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
