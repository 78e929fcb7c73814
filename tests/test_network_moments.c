/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/linear.h"
#include "network/noisy/score.h"

#include "dense/blas_pin.h"
#include "networks.h"

static ur_start start_of(const planted_network *p)
{
    return (ur_start){.sample = {.n = p->n, .d = p->d, .m = p->m, .x = p->x, .a = p->a},
                      .k = p->k,
                      .f = p->truth->activation,
                      .seed = 1};
}

static double squared(size_t d, const double *u, const double *v, double sign)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += (u[i] - sign * v[i]) * (u[i] - sign * v[i]);
    return sum;
}

/* root mean square over the rows of V* of the distance to the nearest of +-V, each used once */
static double row_error(size_t k, size_t d, const double *truth, const double *V)
{
    double sum = 0;
    int *used = calloc(k, sizeof *used);
    assert_non_null(used);
    for (size_t j = 0; j < k; j++) {
        double nearest = INFINITY;
        size_t which = 0;
        for (size_t l = 0; l < k; l++) {
            double far = fmin(squared(d, truth + j * d, V + l * d, 1),
                              squared(d, truth + j * d, V + l * d, -1));
            if (!used[l] && far < nearest) {
                nearest = far;
                which = l;
            }
        }
        used[which] = 1;
        sum += nearest;
    }
    free(used);
    return sqrt(sum / (double)k);
}

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* median over five seeds; order 0: ur_start_moments of that kind, else ur_start_tensor */
static double median_error(size_t d, size_t k, size_t m, size_t n, const char *f,
                           ur_moments_kind kind, int order)
{
    enum { RUNS = 5 };
    double errors[RUNS];
    unrelu_error err = {0};
    for (size_t i = 0; i < RUNS; i++) {
        unrelu_network_plant_options o;
        unrelu_network_plant_options_init(&o, sizeof o);
        o.d = d;
        o.k = k;
        o.m = m;
        o.seed = 100 + i;
        must(unrelu_activation_parse(f, &o.activation, &err), &err);
        planted_network p = plant_network_with(o, n);
        ur_start start = start_of(&p);
        ur_start_note note;
        double *V = malloc(k * d * sizeof *V);
        must(order ? ur_start_tensor(&start, order, V, &note, &err)
                   : ur_start_moments(&start, kind, V, NULL, &err),
             &err);
        errors[i] = row_error(k, d, p.truth->V, V);
        free(V);
        planted_network_free(&p);
    }
    qsort(errors, RUNS, sizeof *errors, increasing);
    return errors[RUNS / 2];
}

static void at_most(double found, double bound)
{
    if (!(found <= bound))
        fail_msg("row error %.4f, expected at most %.4f", found, bound);
}

/* medians measured over many seeds: .123, .057, .048, .033; bounds 1.5 times that */
static void row_errors_are_those_of_the_theory(void **state)
{
    (void)state;
    double plain = median_error(10, 5, 8, 2000, "relu", UR_MOMENTS_PLAIN, 0),
           linear = median_error(10, 5, 8, 2000, "relu", UR_MOMENTS_LINEAR, 0),
           reduced = median_error(10, 5, 8, 2000, "relu", UR_MOMENTS_REDUCED, 0),
           quadratic = median_error(10, 5, 8, 2000, "relu", UR_MOMENTS_QUADRATIC, 0);
    at_most(plain, .19);
    at_most(linear, .086);
    at_most(reduced, .072);
    at_most(quadratic, .05);
    assert_true(quadratic < reduced && reduced < linear && linear < plain);
}

/* n times 5 divides the error by sqrt 5 */
static void row_errors_fall_with_the_root_of_the_samples(void **state)
{
    (void)state;
    at_most(median_error(10, 5, 8, 10000, "relu", UR_MOMENTS_PLAIN, 0), .083);
    at_most(median_error(10, 5, 8, 10000, "relu", UR_MOMENTS_LINEAR, 0), .038);
    at_most(median_error(10, 5, 8, 10000, "relu", UR_MOMENTS_REDUCED, 0), .031);
    at_most(median_error(10, 5, 8, 10000, "relu", UR_MOMENTS_QUADRATIC, 0), .022);
}

static void larger_networks_are_found_too(void **state)
{
    (void)state;
    at_most(median_error(20, 10, 12, 2000, "relu", UR_MOMENTS_LINEAR, 0), .13);
    at_most(median_error(20, 10, 12, 2000, "relu", UR_MOMENTS_REDUCED, 0), .105);
    at_most(median_error(20, 10, 12, 2000, "relu", UR_MOMENTS_QUADRATIC, 0), .067);
}

static void two_labels_are_enough_for_five_neurons(void **state)
{
    (void)state;
    at_most(median_error(10, 5, 2, 40000, "relu", UR_MOMENTS_QUADRATIC, 0), .06);
}

static void orders_three_and_four_work_where_they_carry_signal(void **state)
{
    (void)state;
    at_most(median_error(10, 5, 8, 10000, "power:2", UR_MOMENTS_PLAIN, 3), .23);
    at_most(median_error(6, 3, 4, 30000, "relu", UR_MOMENTS_PLAIN, 4), .17);
    at_most(median_error(10, 5, 8, 2000, "relu", UR_MOMENTS_PLAIN, 2), .19);
}

/* order 3 keeps d matrices a label, so that one label is enough */
static void order_three_finds_several_neurons_of_one_label(void **state)
{
    (void)state;
    at_most(median_error(6, 3, 1, 40000, "power:2", UR_MOMENTS_PLAIN, 3), .25);
}

/* labels that are polynomials of degree 2 with known Hessians sum_j g_jr v_j v_j' */
typedef struct {
    size_t n, d, k, m;
    double *x, *a, *V;
} polynomial;

static polynomial plant_polynomial(size_t n, size_t d, size_t k, size_t m)
{
    polynomial p = {n,
                    d,
                    k,
                    m,
                    malloc(n * d * sizeof(double)),
                    calloc(n * m, sizeof(double)),
                    malloc(k * d * sizeof(double))};
    double *g = malloc(m * (k + d) * sizeof *g);
    ur_random_uniforms(4, 1, 0, n * d, p.x);
    ur_random_normals(4, 2, 0, k * d, p.V);
    ur_random_normals(4, 3, 0, m * (k + d), g);
    for (size_t i = 0; i < n; i++) /* correlated, far from 0, of scales 1 to 20 */
        for (size_t j = d; j-- > 0;)
            p.x[i * d + j] = 3 + p.x[i * d + j] * (j == 0 ? 20 : 1) + (j ? p.x[i * d + j - 1] : 0);
    for (size_t j = 0; j < k; j++) {
        double size = 0;
        for (size_t a = 0; a < d; a++)
            size += p.V[j * d + a] * p.V[j * d + a];
        for (size_t a = 0; a < d; a++)
            p.V[j * d + a] /= sqrt(size);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < m; r++) {
            double *out = &p.a[i * m + r];
            *out = 7;
            for (size_t a = 0; a < d; a++)
                *out += g[m * k + r * d + a] * p.x[i * d + a];
            for (size_t j = 0; j < k; j++) {
                double t = 0;
                for (size_t a = 0; a < d; a++)
                    t += p.V[j * d + a] * p.x[i * d + a];
                *out += g[r * k + j] * t * t;
            }
        }
    free(g);
    return p;
}

static void polynomial_free(polynomial *p)
{
    free(p->x);
    free(p->a);
    free(p->V);
}

static ur_start start_of_polynomial(const polynomial *p)
{
    return (ur_start){.sample = {.n = p->n, .d = p->d, .m = p->m, .x = p->x, .a = p->a},
                      .k = p->k,
                      .constant = 1,
                      .seed = 1};
}

static void quadratic_labels_are_exact_for_inputs_of_any_law(void **state)
{
    (void)state;
    polynomial p = plant_polynomial(150, 6, 4, 5), full = plant_polynomial(150, 4, 4, 5);
    double V[24], fit;
    unrelu_error err = {0};
    ur_start start = start_of_polynomial(&p);
    must(ur_start_moments(&start, UR_MOMENTS_QUADRATIC, V, &fit, &err), &err);
    assert_true(fit < 1e-9);
    assert_true(row_error(4, 6, p.V, V) < 1e-8);
    start = start_of_polynomial(&full); /* k = d: the row space is all of the space */
    must(ur_start_moments(&start, UR_MOMENTS_REDUCED, V, &fit, &err), &err);
    assert_true(fit < 1e-9);
    assert_true(row_error(4, 4, full.V, V) < 1e-8);
    polynomial_free(&p);
    polynomial_free(&full);
}

/* where e is fitted, what is added to the labels changes nothing, noise or not */
static void an_output_bias_leaves_the_rows_as_they_are(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 2, 5, 500, 0.3, 1);
    ur_start start = start_of(&p);
    unrelu_error err = {0};
    double V[12], moved[12];
    start.constant = 1;
    must(ur_start_moments(&start, UR_MOMENTS_LINEAR, V, NULL, &err), &err);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] += 10 * (double)(i % p.m);
    must(ur_start_moments(&start, UR_MOMENTS_LINEAR, moved, NULL, &err), &err);
    assert_true(row_error(2, 6, V, moved) < 1e-6);
    planted_network_free(&p);
}

static void inputs_are_whitened_and_mapped_back(void **state)
{
    (void)state;
    enum { N = 500, D = 6 };
    polynomial p = plant_polynomial(N, D, 2, 2);
    UR_ARENA(arena);
    ur_white white;
    unrelu_error err = {0};
    double V[2 * D], W[2 * D], shift[2];
    const ur_sample sample = {.n = N, .d = D, .m = 2, .x = p.x, .a = p.a};
    must(ur_white_new(&sample, NULL, &arena, &white, &err), &err);
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++) {
            double mean = 0, product = 0;
            for (size_t i = 0; i < N; i++) {
                mean += white.x[i * D + a] / N;
                product += white.x[i * D + a] * white.x[i * D + b] / N;
            }
            assert_near(mean, 0, 1e-12);
            assert_near(product, a == b, 1e-11);
        }
    ur_white_rows(&white, 2, p.V, W, shift);
    for (size_t i = 0; i < N; i++) {
        double raw = 0, through = shift[1];
        for (size_t a = 0; a < D; a++) {
            raw += p.V[D + a] * p.x[i * D + a];
            through += W[D + a] * white.x[i * D + a];
        }
        assert_near(through, raw, 1e-11);
    }
    memcpy(V, W, sizeof V);
    ur_white_back(&white, 2, V);
    for (size_t i = 0; i < 2 * D; i++)
        assert_near(V[i], p.V[i], 1e-11);
    polynomial_free(&p);
}

static void the_tensor_is_that_of_a_naive_loop(void **state)
{
    (void)state;
    enum { N = 700, D = 5, R = 3 };
    double x[N * D], y[N * R], T[R * D * D * (D + 1) / 2];
    unrelu_error err = {0};
    ur_random_normals(1, 1, 0, N * D, x);
    ur_random_normals(1, 2, 0, N * R, y);
    const ur_white white = {.n = N, .d = D, .x = x};
    for (int outer = 0; outer < 2; outer++) {
        must(ur_score_tensor(&white, R, y, outer, T, &err), &err);
        const double *t = T;
        for (size_t s = 0; s < R; s++)
            for (size_t c = 0; c < (outer ? D : 1); c++)
                for (size_t a = 0; a < D; a++)
                    for (size_t b = a; b < D; b++) {
                        double want = 0;
                        for (size_t i = 0; i < N; i++)
                            want += y[i * R + s] * (outer ? x[i * D + c] : 1) * x[i * D + a] *
                                    x[i * D + b] / N;
                        assert_near(*t++, want, 1e-13);
                    }
    }
}

static void labels_are_white_and_without_linear_part(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 900, 0.1, 3);
    ur_start start = start_of(&p);
    UR_ARENA(arena);
    ur_white white;
    double *y = NULL;
    size_t r = 0;
    unrelu_error err = {0};
    must(ur_white_new(&start.sample, NULL, &arena, &white, &err), &err);
    must(ur_score_labels(&start, &white, 1, &arena, &r, &y, &err), &err);
    assert_int_equal(r, 3);
    for (size_t s = 0; s < r; s++) {
        for (size_t t = 0; t < r; t++) {
            double product = 0;
            for (size_t i = 0; i < p.n; i++)
                product += y[i * r + s] * y[i * r + t] / (double)p.n;
            assert_near(product, s == t, 1e-11);
        }
        for (size_t a = 0; a < p.d; a++) {
            double mean = 0, product = 0;
            for (size_t i = 0; i < p.n; i++) {
                mean += y[i * r + s] / (double)p.n;
                product += y[i * r + s] * white.x[i * p.d + a] / (double)p.n;
            }
            assert_near(mean, 0, 1e-12);
            assert_near(product, 0, 1e-12);
        }
    }
    planted_network_free(&p);
}

/* ---- refusals ---- */

static void refuses(const ur_start *start, ur_moments_kind kind, const char *sentence)
{
    unrelu_error err = {0};
    double *V = malloc(start->k * start->sample.d * sizeof *V);
    assert_int_equal(ur_start_moments(start, kind, V, NULL, &err), UNRELU_EDATA);
    if (!strstr(err.text, sentence))
        fail_msg("found \"%s\", expected \"%s\"", err.text, sentence);
    free(V);
}

static void an_order_without_signal_is_refused_in_a_sentence(void **state)
{
    (void)state;
    planted_network p = plant_network(4, 2, 2, 100, 0, 1);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    double V[8];
    assert_int_equal(ur_start_tensor(&start, 3, V, &note, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "the third Hermite coefficient of relu is 0 (E f''' = 0): order "
                                  "3 carries no signal; use `order` 2");
    must(unrelu_activation_parse("leaky:0.1", &start.f, &err), &err);
    assert_int_equal(ur_start_tensor(&start, 3, V, &note, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "of leaky:0.1 is 0"));
    must(unrelu_activation_parse("power:2", &start.f, &err), &err);
    assert_int_equal(ur_start_tensor(&start, 4, V, &note, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "the fourth Hermite coefficient of power:2 is 0 (E f'''' = 0): "
                                  "order 4 carries no signal; use `order` 2");
    must(unrelu_activation_parse("expm1sq", &start.f, &err), &err);
    assert_int_equal(ur_start_tensor(&start, 2, V, &note, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "of expm1sq is infinite"));
    assert_int_equal(ur_start_tensor(&start, 5, V, &note, &err), UNRELU_EUSAGE);
    planted_network_free(&p);
}

static void what_moments_cannot_do_is_refused_with_numbers(void **state)
{
    (void)state;
    planted_network p = plant_network(4, 2, 3, 100, 0, 1);
    ur_start start = start_of(&p);
    start.k = 5;
    refuses(&start, UR_MOMENTS_LINEAR, "k = 5 > d = 4: moment start skipped");
    start.k = 2;
    start.sample.n = 19; /* 1.3 * 5 * 6 / 2 = 19.5 */
    refuses(&start, UR_MOMENTS_QUADRATIC, "more than 20 samples for d = 4, found 19");
    start.sample.n = 4;
    refuses(&start, UR_MOMENTS_LINEAR, "the 4 inputs have rank 3 about their mean over 4 samples");
    start.sample.n = 100;
    for (size_t i = 0; i < 100; i++)
        p.x[i * 4 + 3] = 2 * p.x[i * 4] - p.x[i * 4 + 1] + 5;
    refuses(&start, UR_MOMENTS_REDUCED, "rank 3 about their mean");
    planted_network_free(&p);

    p = plant_network(4, 2, 4, 100, 0, 1);
    memcpy(p.a, p.x, 400 * sizeof *p.a);
    start = start_of(&p);
    refuses(&start, UR_MOMENTS_LINEAR, "nothing is left after the regression on [1, x]");
    planted_network_free(&p);

    p = plant_network(4, 2, 1, 100, 0, 1);
    start = start_of(&p);
    refuses(&start, UR_MOMENTS_LINEAR, "no unique decomposition");
    planted_network_free(&p);
}

/* squares of binary inputs are constant */
static void binary_inputs_fall_back_to_the_moment(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.inputs = UNRELU_INPUTS_BINARY;
    planted_network p = plant_network_with(o, 3000);
    ur_start start = start_of(&p);
    unrelu_error err = {0};
    double V[50];
    refuses(&start, UR_MOMENTS_QUADRATIC, "squares and products of the 10 inputs");
    must(ur_start_moments(&start, UR_MOMENTS_REDUCED, V, NULL, &err), &err);
    planted_network_free(&p);
}

static void the_note_tells_what_the_score_sees(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 500, 0, 1);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    double V[50];
    must(ur_start_tensor(&start, 2, V, &note, &err), &err);
    assert_non_null(strstr(note.guarantee, "Theorem 5"));
    assert_non_null(strstr(note.assumption, "E f'' = 0.3989 ")); /* phi(0) */
    planted_network_free(&p);
}

/* ---- Algorithm 4 as it is printed ---- */

static double literal_error(const char *activation, int order, size_t n, int threads)
{
    unrelu_network_plant_options o;
    unrelu_exec exec;
    unrelu_error err = {0};
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = threads;
    o.d = 3, o.k = 2, o.m = 1, o.kappa_v = 1;
    must(unrelu_activation_parse(activation, &o.activation, &err), &err);
    planted_network p = plant_network_with(o, n);
    p.truth->U[0] = 1; /* theta meets both columns alike, whatever it is */
    p.truth->U[1] = 1.2;
    must(unrelu_network_predict(p.truth, p.x, p.n, NULL, p.a, &err), &err);
    ur_start start = start_of(&p);
    ur_start_note note;
    double V[6], worst = 0;
    start.exec = &exec;
    must(ur_start_algorithm_4(&start, order, V, &note, &err), &err);
    assert_non_null(strstr(note.assumption, "of one sign with all columns of U"));
    for (size_t j = 0; j < 2; j++) { /* the sine of the angle to the closest row found */
        double best = 0, *v = p.truth->V + j * 3;
        for (size_t l = 0; l < 2; l++)
            best = fmax(best, fabs(ur_short_dot(3, v, V + l * 3)) / sqrt(ur_short_dot(3, v, v)));
        worst = fmax(worst, sqrt(fmax(0, 1 - best * best)));
    }
    planted_network_free(&p);
    return worst;
}

/* The noise that is added is larger than the labels: n is, too. Order 4 has more variance. */
static void algorithm_4_as_printed_finds_the_rows(void **state)
{
    (void)state;
    double third = literal_error("tanh", 3, 200000, 1);
    assert_true(third < .1 && third < .7 * literal_error("tanh", 3, 50000, 1));
    assert_true(literal_error("tanh", 3, 200000, 2) == third);
    assert_true(literal_error("relu", 4, 200000, 1) < .3);
}

static void algorithm_4_as_printed_is_refused_for_relu(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 500, 0, 1);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_error err = {0};
    double V[50];
    assert_int_equal(ur_start_algorithm_4(&start, 3, V, &note, &err), UNRELU_EDATA);
    const char *number = strstr(err.text, "E f''' = ");
    assert_non_null(number);
    assert_true(fabs(strtod(number + strlen("E f''' = "), NULL)) < 1e-12);
    assert_non_null(strstr(err.text, "every lambda_j"));
    planted_network_free(&p);
}

/* no theta has one sign with columns u and -u: one draw in 2^(k - 1) is no more than that */
static void algorithm_4_needs_a_theta_of_one_sign(void **state)
{
    (void)state;
    planted_network p = plant_network(3, 2, 1, 50000, 0, 1);
    unrelu_error err = {0};
    ur_start_note note;
    double V[6];
    p.truth->U[1] = -p.truth->U[0];
    must(unrelu_network_predict(p.truth, p.x, p.n, NULL, p.a, &err), &err);
    ur_start start = start_of(&p);
    assert_int_equal(ur_start_algorithm_4(&start, 4, V, &note, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "one sign"));
    planted_network_free(&p);
}

/* ---- signs ---- */

/* x <- correlated, with a mean; labels anew */
static void move_inputs(planted_network *p)
{
    unrelu_error err = {0};
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = p->d; j-- > 0;)
            p->x[i * p->d + j] =
                0.3 + (j % 2 ? 2 : 1) * p->x[i * p->d + j] + (j ? 0.5 * p->x[i * p->d + j - 1] : 0);
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

/* rows off by about `far`, every other one of the wrong sign; returns how many signs are wrong
 * after the method */
static size_t wrong_signs(const planted_network *p, unrelu_signs method, int constant, double far)
{
    size_t k = p->k, d = p->d, wrong = 0;
    ur_start start = start_of(p);
    unrelu_error err = {0};
    double *V = malloc(k * d * sizeof *V), *off = malloc(k * d * sizeof *V);
    start.constant = constant;
    ur_random_normals(8, 1, 0, k * d, off);
    for (size_t j = 0; j < k; j++)
        for (size_t a = 0; a < d; a++)
            V[j * d + a] = (j % 2 ? -1 : 1) *
                           (p->truth->V[j * d + a] + far * off[j * d + a] / sqrt((double)d));
    must(ur_start_signs(&start, method, V, &err), &err);
    for (size_t j = 0; j < k; j++)
        wrong += squared(d, p->truth->V + j * d, V + j * d, 1) > 1;
    free(V);
    free(off);
    return wrong;
}

static void every_method_finds_the_signs(void **state)
{
    (void)state;
    const unrelu_signs methods[] = {UNRELU_SIGNS_REGRESSION, UNRELU_SIGNS_PROJECTION,
                                    UNRELU_SIGNS_MOMENT};
    const char *const functions[] = {"relu",    "leaky:0.1", "leaky:-2",
                                     "power:2", "power:0.5", "tanh"};
    unrelu_error err = {0};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            unrelu_network_plant_options o;
            unrelu_network_plant_options_init(&o, sizeof o);
            must(unrelu_activation_parse(functions[f], &o.activation, &err), &err);
            o.noise = 0.1;
            o.seed = seed;
            planted_network p = plant_network_with(o, 3000);
            for (size_t i = 0; i < 3; i++) {
                size_t wrong = wrong_signs(&p, methods[i], 0, 0.05);
                if (wrong)
                    fail_msg("%s, seed %d, method %d: %zu signs wrong", functions[f], (int)seed,
                             (int)methods[i], wrong);
            }
            planted_network_free(&p);
        }
}

static void inputs_with_mean_and_covariance_keep_their_signs(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 3000, 0, 5);
    move_inputs(&p);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_REGRESSION, 0, 0.05), 0);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_PROJECTION, 0, 0.05), 0);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_MOMENT, 0, 0.05), 0);
    planted_network_free(&p);
}

static void an_output_bias_does_not_confuse_the_signs(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 3000, 0, 6);
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.m; j++)
            p.a[i * p.m + j] += j % 2 ? 30 : -20;
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_REGRESSION, 1, 0.05), 0);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_PROJECTION, 1, 0.05), 0);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_MOMENT, 1, 0.05), 0);
    planted_network_free(&p);
}

/* exact rows: nothing is left to chance, n is just above the number of features */
static void few_samples_and_exact_rows_give_exact_signs(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 40, 0, 2);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_REGRESSION, 0, 0), 0);
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_PROJECTION, 0, 0), 0);
    planted_network_free(&p);
    p = plant_network(5, 9, 10, 200, 0, 2); /* k > d */
    assert_int_equal(wrong_signs(&p, UNRELU_SIGNS_REGRESSION, 0, 0), 0);
    planted_network_free(&p);
}

/* sum of squares that is left of A (n x m) on F (n x p), or on F without one column */
static double left_over(size_t n, size_t p, size_t m, const double *F, const double *A,
                        size_t without)
{
    double *B = calloc(p * m, sizeof *B), *G = malloc(n * p * sizeof *G), sum = 0;
    memcpy(G, F, n * p * sizeof *G);
    for (size_t i = 0; i < n && without < p; i++)
        G[i * p + without] = 0;
    assert_int_equal(ur_least_squares(n, p, m, G, A, 1e-12, B, NULL, NULL), UNRELU_OK);
    for (size_t i = 0; i < n * m; i++) {
        double fit = 0;
        for (size_t j = 0; j < p; j++)
            fit += G[i / m * p + j] * B[j * m + i % m];
        sum += (A[i] - fit) * (A[i] - fit);
    }
    free(B);
    free(G);
    return sum;
}

/* on labels that are noise the decisions are arbitrary, and still those of the letter */
static void projection_is_algorithm_6_to_the_letter(void **state)
{
    (void)state;
    enum { N = 60, D = 5, K = 4, M = 2, P = 2 * K };
    size_t flips = 0;
    unrelu_error err = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted_network p = plant_network(D, K, M, N, 0, seed);
        ur_start start = start_of(&p);
        double F[N * P], V[K * D];
        move_inputs(&p);
        ur_random_normals(seed, 50, 0, N * M, p.a);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < K; j++) {
                double t = 0;
                for (size_t a = 0; a < D; a++)
                    t += p.truth->V[j * D + a] * p.x[i * D + a];
                F[i * P + j] = fmax(t, 0);
                F[i * P + K + j] = fmax(-t, 0);
            }
        memcpy(V, p.truth->V, sizeof V);
        must(ur_start_signs(&start, UNRELU_SIGNS_PROJECTION, V, &err), &err);
        for (size_t j = 0; j < K; j++) {
            int keep = left_over(N, P, M, F, p.a, K + j) < left_over(N, P, M, F, p.a, j);
            assert_int_equal(squared(D, p.truth->V + j * D, V + j * D, 1) < 1, keep);
            flips += !keep;
        }
        planted_network_free(&p);
    }
    assert_true(flips > 20 && flips < 60); /* of 80 */
}

static void signs_that_cannot_be_found_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(4, 6, 6, 100, 0, 2);
    ur_start start = start_of(&p);
    unrelu_error err = {0};
    double V[24];
    memcpy(V, p.truth->V, sizeof V);
    assert_int_equal(ur_start_signs(&start, UNRELU_SIGNS_PROJECTION, V, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "Algorithm 6 needs k <= d, found k = 6 and d = 4"));
    assert_int_equal(ur_start_signs(&start, UNRELU_SIGNS_MOMENT, V, &err), UNRELU_EDATA);
    start.sample.n = 11;
    assert_int_equal(ur_start_signs(&start, UNRELU_SIGNS_REGRESSION, V, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "more than 1 + d + k = 11 samples, found 11"));
    start.k = 4;
    start.sample.n = 8;
    assert_int_equal(ur_start_signs(&start, UNRELU_SIGNS_PROJECTION, V, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "more samples than its 8 features, found 8"));
    assert_memory_equal(V, p.truth->V, sizeof V);
    planted_network_free(&p);
}

/* ---- biases ---- */

/* from the true rows with every other sign wrong; largest error of c */
static double bias_error(const planted_network *p, size_t *weak)
{
    size_t k = p->k, d = p->d;
    ur_start start = start_of(p);
    unrelu_error err = {0};
    double *V = malloc(k * d * sizeof *V), *c = malloc(k * sizeof *c), worst = 0;
    start.hidden = start.constant = 1;
    for (size_t i = 0; i < k * d; i++)
        V[i] = (i / d % 2 ? -1 : 1) * p->truth->V[i];
    must(ur_start_biases(&start, V, c, weak, &err), &err);
    for (size_t j = 0; j < k; j++) {
        assert_near(squared(d, p->truth->V + j * d, V + j * d, 1), 0, 1e-20);
        worst = fmax(worst, fabs(c[j] - p->truth->c[j]));
    }
    free(V);
    free(c);
    return worst;
}

static planted_network plant_biased(size_t n, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 5;
    o.k = 3;
    o.m = 4;
    o.bias = 0.5;
    o.seed = seed;
    return plant_network_with(o, n);
}

static void biases_are_found_to_the_root_of_the_samples(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        planted_network p = plant_biased(100000, seed);
        size_t weak = 9;
        double error = bias_error(&p, &weak);
        if (!(error < 0.03))
            fail_msg("seed %d: bias off by %.4f", (int)seed, error);
        assert_int_equal(weak, 0);
        planted_network_free(&p);
    }
}

static void biases_survive_a_mean_and_a_covariance(void **state)
{
    (void)state;
    planted_network p = plant_biased(100000, 4);
    size_t weak = 9;
    move_inputs(&p);
    assert_true(bias_error(&p, &weak) < 0.06);
    assert_int_equal(weak, 0);
    planted_network_free(&p);
}

static void biases_follow_rows_that_the_moments_found(void **state)
{
    (void)state;
    planted_network p = plant_biased(100000, 2);
    ur_start start = start_of(&p);
    unrelu_error err = {0};
    double V[15], c[3], nearest;
    size_t weak, which = 0;
    start.hidden = start.constant = 1;
    must(ur_start_moments(&start, UR_MOMENTS_REDUCED, V, NULL, &err), &err);
    must(ur_start_biases(&start, V, c, &weak, &err), &err);
    for (size_t j = 0; j < 3; j++) {
        nearest = INFINITY;
        for (size_t l = 0; l < 3; l++)
            if (squared(5, p.truth->V + j * 5, V + l * 5, 1) < nearest) {
                nearest = squared(5, p.truth->V + j * 5, V + l * 5, 1);
                which = l;
            }
        assert_true(nearest < 0.05 * 0.05);
        assert_near(c[which], p.truth->c[j], 0.06);
    }
    planted_network_free(&p);
}

static void a_neuron_that_hardly_switches_is_counted(void **state)
{
    (void)state;
    planted_network p = plant_biased(20000, 1);
    size_t weak = 0;
    unrelu_error err = {0};
    p.truth->c[1] = 3.5;
    must(unrelu_network_predict(p.truth, p.x, p.n, NULL, p.a, &err), &err);
    ur_start start = start_of(&p);
    double V[15], c[3];
    memcpy(V, p.truth->V, sizeof V);
    must(ur_start_biases(&start, V, c, &weak, &err), &err);
    assert_int_equal(weak, 1);
    assert_true(fabs(c[1]) > 2.4);
    must(unrelu_activation_parse("tanh", &start.f, &err), &err);
    assert_int_equal(ur_start_biases(&start, V, c, &weak, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "hidden biases from moments need relu, not tanh");
    planted_network_free(&p);
}

/* ---- threads ---- */

static void the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    must(unrelu_activation_parse("power:2", &o.activation, &err), &err);
    planted_network p = plant_network_with(o, 5000);
    double V[4][50], first[4][50];
    const int threads[] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        unrelu_exec exec = {.size = sizeof exec, .threads = threads[i]};
        ur_start start = start_of(&p);
        ur_start_note note;
        start.exec = &exec;
        must(ur_start_moments(&start, UR_MOMENTS_REDUCED, V[0], NULL, &err), &err);
        must(ur_start_moments(&start, UR_MOMENTS_QUADRATIC, V[1], NULL, &err), &err);
        must(ur_start_tensor(&start, 3, V[2], &note, &err), &err);
        must(ur_start_tensor(&start, 2, V[3], &note, &err), &err);
        must(ur_start_signs(&start, UNRELU_SIGNS_REGRESSION, V[3], &err), &err);
        if (i == 0)
            memcpy(first, V, sizeof V);
        assert_memory_equal(first, V, sizeof V);
    }
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_errors_are_those_of_the_theory),
        cmocka_unit_test(row_errors_fall_with_the_root_of_the_samples),
        cmocka_unit_test(larger_networks_are_found_too),
        cmocka_unit_test(two_labels_are_enough_for_five_neurons),
        cmocka_unit_test(orders_three_and_four_work_where_they_carry_signal),
        cmocka_unit_test(order_three_finds_several_neurons_of_one_label),
        cmocka_unit_test(quadratic_labels_are_exact_for_inputs_of_any_law),
        cmocka_unit_test(an_output_bias_leaves_the_rows_as_they_are),
        cmocka_unit_test(inputs_are_whitened_and_mapped_back),
        cmocka_unit_test(the_tensor_is_that_of_a_naive_loop),
        cmocka_unit_test(labels_are_white_and_without_linear_part),
        cmocka_unit_test(an_order_without_signal_is_refused_in_a_sentence),
        cmocka_unit_test(what_moments_cannot_do_is_refused_with_numbers),
        cmocka_unit_test(binary_inputs_fall_back_to_the_moment),
        cmocka_unit_test(the_note_tells_what_the_score_sees),
        cmocka_unit_test(algorithm_4_as_printed_finds_the_rows),
        cmocka_unit_test(algorithm_4_as_printed_is_refused_for_relu),
        cmocka_unit_test(algorithm_4_needs_a_theta_of_one_sign),
        cmocka_unit_test(every_method_finds_the_signs),
        cmocka_unit_test(inputs_with_mean_and_covariance_keep_their_signs),
        cmocka_unit_test(an_output_bias_does_not_confuse_the_signs),
        cmocka_unit_test(few_samples_and_exact_rows_give_exact_signs),
        cmocka_unit_test(projection_is_algorithm_6_to_the_letter),
        cmocka_unit_test(signs_that_cannot_be_found_are_refused),
        cmocka_unit_test(biases_are_found_to_the_root_of_the_samples),
        cmocka_unit_test(biases_survive_a_mean_and_a_covariance),
        cmocka_unit_test(biases_follow_rows_that_the_moments_found),
        cmocka_unit_test(a_neuron_that_hardly_switches_is_counted),
        cmocka_unit_test(the_bits_do_not_depend_on_the_threads),
    };
    UR_BLAS_PINNED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
