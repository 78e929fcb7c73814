/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tolerances of labels with noise lie: a case on either side of each, on pieces alone, so
 * that one that moves by 100 is noticed. */
#include "networks.h"

#include "base/random.h"
#include "network/data/cut_tails.h"
#include "network/data/data.h"
#include "network/hard/any_noise/any_noise.h"
#include "network/noisy/noisy.h"
#include "network/noisy/rest.h"
#include "network/noisy/tangent.h"

enum { N = 400 };

/* ---- tails ---- */

/* A thousand numbers evenly from -1 to 1, whose squares add up to 333, and eight of which, beyond
 * the outer hundredths, are +-`far`. */
static int has_heavy_tails(double far)
{
    enum { ROWS = 1000 };
    static double a[ROWS], b[ROWS];
    unrelu_error err = {0};
    int heavy = 0;
    for (size_t i = 0; i < ROWS; i++)
        a[i] = i < 4 ? -far : i >= ROWS - 4 ? far : (2 * (double)i + 1) / ROWS - 1;
    must(ur_cut_tails(ROWS, 1, a, b, &heavy, &err), &err);
    return heavy;
}

/* squares of 1.35 and 1.7 times those of the cut numbers */
static void tails_are_heavy_that_hold_a_third_of_the_squares(void **state)
{
    (void)state;
    assert_false(has_heavy_tails(sqrt(.35 * 333 / 8)));
    assert_true(has_heavy_tails(sqrt(.7 * 333 / 8)));
}

/* Quantiles of Cauchy's law: the outer eighths begin at tan(3 pi / 8), the cut is twice as far. */
static void heavy_tails_are_cut_where_half_the_range_of_the_rest_ends(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    static double a[ROWS], b[ROWS];
    const double pi = acos(-1);
    unrelu_error err = {0};
    int heavy = 0;
    for (size_t i = 0; i < ROWS; i++)
        a[i] = tan(pi * (((double)i + .5) / ROWS - .5));
    must(ur_cut_tails(ROWS, 1, a, b, &heavy, &err), &err);
    assert_true(heavy);
    assert_near(b[ROWS - 1], 2 * tan(3 * pi / 8), .05);
    assert_near(b[0], -2 * tan(3 * pi / 8), .05);
    assert_true(b[ROWS / 2] == a[ROWS / 2]);
}

/* ---- what is left ---- */

static const double V[] = {.6, .8, -.8, .6}, U[] = {1, .5, -.7, 1.2}, none[2] = {0};
static const ur_weights two = {
    2, 2, 2, {UNRELU_RELU, 0}, (double *)U, (double *)V, (double *)none, (double *)none};
static double x[2 * N], a[2 * N], noise[2 * N];

/* labels of two neurons; sizes: what the floor of a cell is in units of */
static void set_labels(double *sizes)
{
    double rms[2] = {0};
    ur_random_normals(3, 99, 0, 2 * N, x);
    ur_random_normals(3, 98, 0, 2 * N, noise);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 2; j++) {
            double first = U[2 * j] * fmax(0, V[0] * x[2 * i] + V[1] * x[2 * i + 1]);
            double second = U[2 * j + 1] * fmax(0, V[2] * x[2 * i] + V[3] * x[2 * i + 1]);
            a[2 * i + j] = first + second;
            sizes[2 * i + j] = fabs(first) + fabs(second);
            rms[j] += a[2 * i + j] * a[2 * i + j] / N;
        }
    for (size_t i = 0; i < 2 * N; i++)
        sizes[i] += sqrt(rms[i % 2]);
}

static ur_rest rest_of(size_t n, size_t d, size_t m, const ur_weights *w)
{
    UR_ARENA(arena);
    ur_problem given = {.options = {.seed = 1}};
    ur_rest rest;
    unrelu_error err = {0};
    must(ur_data_hold(n, d, m, x, a, NULL, &arena, &given.data, &err), &err);
    must(ur_rest_test(&given, w, (ur_terms){0, 0}, &rest, &err), &err);
    return rest;
}

/* labels of which all but this share are off by so many floors of doubles, which are 1e-12 */
static int cells_are_met(double share, double floors)
{
    static double sizes[2 * N], draws[2 * N];
    set_labels(sizes);
    ur_random_uniforms(3, 97, 0, 2 * N, draws);
    for (size_t i = 0; i < 2 * N; i++)
        if (draws[i] >= share)
            a[i] += floors * 1e-12 * sizes[i] * (noise[i] > 0 ? 1 : -1);
    ur_rest rest = rest_of(N, 2, 2, &two);
    assert_true(rest.met == 0 || fabs(rest.met - share) < .05);
    return rest.met > 0;
}

static void cells_that_are_met_among_others_are_no_noise(void **state)
{
    (void)state;
    assert_true(cells_are_met(.2, 1e5));
    assert_false(cells_are_met(.05, 1e5)); /* too few */
    assert_true(cells_are_met(.5, 3000));
    assert_false(cells_are_met(.5, 300)); /* the others are nearly met too */
}

/* |x|, with noise but for the last rows */
static int rows_are_linear(size_t last)
{
    static const double one[] = {1}, zero[] = {0};
    static const ur_weights w = {
        1, 1, 1, {UNRELU_RELU, 0}, (double *)one, (double *)one, (double *)zero, (double *)zero};
    ur_random_normals(3, 96, 0, N, noise);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i / N - .5;
        a[i] = fabs(x[i]) + (i + last < N ? .1 * noise[i] : 0);
    }
    return rest_of(N, 1, 1, &w).linear > 0;
}

/* 3 in 100, and 9, but for the neighbours of others */
static void rows_about_which_labels_are_linear_are_no_noise_from_1_in_20_on(void **state)
{
    (void)state;
    assert_false(rows_are_linear(16));
    assert_true(rows_are_linear(41));
}

/* ---- the statistic ---- */

enum { FEW = 60, DRAWS = 499, KINDS = 2 };
static const size_t near_rows[KINDS] = {4, 12};

/* sums of s_i s_j over the 4 and the 12 nearest rows j of each i, by plain loops */
static void naive_sums(const double *s, double *sums)
{
    sums[0] = sums[1] = 0;
    for (size_t i = 0; i < FEW; i++)
        for (size_t j = 0; j < FEW; j++) {
            size_t nearer = 0;
            for (size_t l = 0; l < FEW; l++)
                nearer += l != i && fabs(x[i] - x[l]) < fabs(x[i] - x[j]);
            for (size_t kind = 0; kind < KINDS; kind++)
                sums[kind] += j != i && nearer < near_rows[kind] ? s[i] * s[j] : 0;
        }
}

/* The share of its noise that a fit leaves in a row, f of a unit vector; its square counts as a
 * twentieth at least. */
static double left_free(double f)
{
    return sqrt(fmax(.05, 1 - f * f));
}

/* The same of draws of noise: signs, or the order of rows, of the residuals as large as they were
 * before the fit of an output to one neuron f, whose part is then taken off. */
static void naive_draw(int in_order, size_t number, const double *s, const double *f, double *sums)
{
    double uniform[FEW], e[FEW], mean = 0, along = 0;
    size_t order[FEW];
    ur_random_uniforms(1, UR_STREAM_REST, (number + (in_order ? DRAWS : 0)) * FEW, FEW, uniform);
    ur_shuffle(FEW, uniform, order);
    for (size_t i = 0; i < FEW; i++)
        mean += s[i] / left_free(f[i]) / FEW;
    for (size_t i = 0; i < FEW; i++) {
        size_t from = in_order ? order[i] : i;
        e[i] = s[from] / left_free(f[from]) - mean;
        e[i] *= !in_order && uniform[i] < .5 ? -1 : 1;
        along += e[i] * f[i];
    }
    for (size_t i = 0; i < FEW; i++)
        e[i] -= along * f[i];
    naive_sums(e, sums);
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* the larger sum, in what 4 of the 499 draws exceed, from their middle on */
static double naive_statistic(int in_order, const double *s, const double *f)
{
    static double T[KINDS][DRAWS];
    double seen[KINDS], sums[KINDS], largest = 0;
    naive_sums(s, seen);
    for (size_t b = 0; b < DRAWS; b++) {
        naive_draw(in_order, b, s, f, sums);
        for (size_t kind = 0; kind < KINDS; kind++)
            T[kind][b] = sums[kind];
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        qsort(T[kind], DRAWS, sizeof(double), by_size);
        double middle = T[kind][249];
        largest = fmax(largest, (seen[kind] - middle) / (T[kind][494] - middle));
    }
    return largest;
}

/* What a network without outputs leaves of two equal labels of one input, a wave of `length` and
 * noise: neighbours are those in the inputs alone, as all else is 0. The last row is `far` off. */
static void expect_statistic(double length, double spread, double far, int is_function)
{
    static const double zeros[4] = {0}, ones[2] = {1, 1};
    static const ur_weights w = {1,
                                 1,
                                 2,
                                 {UNRELU_RELU, 0},
                                 (double *)zeros,
                                 (double *)ones,
                                 (double *)zeros,
                                 (double *)zeros};
    double s[FEW], f[FEW], squares = 0, size = 0, along = 0;
    ur_random_normals(5, 99, 0, FEW, x);
    ur_random_normals(5, 98, 0, FEW, noise);
    x[FEW - 1] += far;
    for (size_t i = 0; i < FEW; i++) {
        s[i] = a[2 * i] = a[2 * i + 1] = sin(x[i] / length) + spread * noise[i];
        size += pow(fmax(0, x[i]), 2);
    }
    for (size_t i = 0; i < FEW; i++) {
        f[i] = fmax(0, x[i]) / sqrt(size);
        along += f[i] * s[i];
    }
    for (size_t i = 0; i < FEW; i++) {
        s[i] -= along * f[i];
        squares += s[i] * s[i] / FEW;
    }
    for (size_t i = 0; i < FEW; i++)
        s[i] *= sqrt(2 / squares); /* both labels */
    ur_rest rest = rest_of(FEW, 1, 2, &w);
    double signs = naive_statistic(0, s, f), order = naive_statistic(1, s, f);
    assert_int_equal(rest.is_function, is_function);
    if (!is_function) /* the order of rows is not looked at */
        assert_near(rest.deviates, signs, 1e-9);
    else
        assert_near(fmin(fabs(rest.deviates - signs), fabs(rest.deviates - order)), 0, 1e-9);
}

static void what_neighbours_have_alike_is_that_of_naive_loops(void **state)
{
    (void)state;
    expect_statistic(.5, .5, 0, 1);
    expect_statistic(.1, .1, 0, 1);
    expect_statistic(.5, 4, 0, 0);
    expect_statistic(.5, 4, 15, 0); /* 1 - leverage of the last row: about 0.1 */
    expect_statistic(.5, 4, 60, 0); /* about 0.01, below what is divided by */
}

/* different rows that are looked at, of 1000 with m labels of nothing but noise */
static size_t rows_seen(size_t m)
{
    enum { ROWS = 1000 };
    UR_ARENA(arena);
    double *inputs = ur_take(&arena, ROWS, sizeof *inputs);
    double *labels = ur_take(&arena, ROWS, m * sizeof *labels);
    double *zeros = ur_take(&arena, m, sizeof *zeros), one[1] = {1}, zero[1] = {0};
    ur_weights w = {1, 1, m, {UNRELU_RELU, 0}, zeros, one, zero, zeros};
    ur_problem given = {.options = {.seed = 1}};
    ur_rest rest;
    unrelu_error err = {0};
    must(ur_arena_status(&arena, &err), &err);
    ur_random_normals(7, 99, 0, ROWS, inputs);
    ur_random_normals(7, 98, 0, ROWS * m, labels);
    must(ur_data_hold(ROWS, 1, m, inputs, labels, NULL, &arena, &given.data, &err), &err);
    must(ur_rest_test(&given, &w, (ur_terms){0, 0}, &rest, &err), &err);
    return rest.rows;
}

static void at_most_800_rows_and_6400_cells_are_looked_at_but_200_rows_always(void **state)
{
    (void)state;
    assert_int_equal(rows_seen(1), 800);
    assert_int_equal(rows_seen(16), 400);
    assert_int_equal(rows_seen(40), 200);
}

/* ---- what a fit takes away ---- */

/* whether V counts among what is fitted, for n rows of 100 labels and ten weights of V */
static int rows_of_V_are_followed(size_t n)
{
    enum { K = 2, P = 5, LABELS = 100 };
    UR_ARENA(arena);
    double rows[K * P], outer[LABELS * K], zeros[LABELS] = {0};
    double *inputs = ur_take(&arena, n, P * sizeof *inputs);
    ur_weights w = {P, K, LABELS, {UNRELU_RELU, 0}, outer, rows, zeros, zeros};
    ur_tangent tangent;
    unrelu_error err = {0};
    must(ur_arena_status(&arena, &err), &err);
    ur_random_normals(6, 99, 0, n * P, inputs);
    ur_random_normals(6, 98, 0, K * P, rows);
    ur_random_normals(6, 97, 0, LABELS * K, outer);
    must(ur_tangent_make(&w, (ur_terms){0, 0}, n, inputs, &arena, &tangent, &err), &err);
    assert_true(tangent.inner == 0 || tangent.inner == K * P);
    return tangent.inner > 0;
}

static void rows_of_V_are_known_beyond_ten_million_numbers(void **state)
{
    (void)state;
    assert_true(rows_of_V_are_followed(9000));
    assert_false(rows_of_V_are_followed(11000));
}

/* How many weights of one neuron of three inputs the rows determine, of which the third is the
 * second but for so much: the length of v counts once, with u. */
static double weights_determined(double apart)
{
    static double inputs[3 * N];
    double row[3] = {.6, .5, -.4}, one[1] = {1}, zero[1] = {0}, count = 0;
    ur_weights w = {3, 1, 1, {UNRELU_RELU, 0}, one, row, zero, zero};
    UR_ARENA(arena);
    ur_tangent tangent;
    unrelu_error err = {0};
    ur_random_normals(6, 96, 0, 3 * N, inputs);
    for (size_t i = 0; i < N; i++)
        inputs[3 * i + 2] = inputs[3 * i + 1] + apart * inputs[3 * i + 2];
    must(ur_tangent_make(&w, (ur_terms){0, 0}, N, inputs, &arena, &tangent, &err), &err);
    for (size_t i = 0; i < N; i++)
        count += tangent.leverage[i];
    return count;
}

/* Of the Gram matrix of the rest, with ones on its diagonal, the least eigenvalue beside the length
 * is about 1e-7 for the second and 1e-9 for the third. */
static void weights_count_that_the_rows_determine_to_1e_8(void **state)
{
    (void)state;
    assert_near(weights_determined(.1), 3, 1e-3);
    assert_near(weights_determined(9e-5), 3, .3);
    assert_near(weights_determined(9e-6), 2, .3);
}

/* ---- where descents end ---- */

/* What steps without end take off the squares that the largest likelihood leaves, of these, where
 * it starts from rows that are this far from the truth. */
static double left_to_gain(double off, uint64_t seed)
{
    UR_ARENA(arena);
    planted_network p = plant_network(3, 2, 2, 300, .3, seed);
    ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}}};
    ur_outcome out = ur_outcome_in(&arena);
    ur_newton_fit fit;
    ur_frame frame;
    unrelu_error err = {0};
    double rows[6], moved[6];
    must(ur_data_hold(p.n, 3, 2, p.x, p.a, NULL, &arena, &given.data, &err), &err);
    must(ur_frame_make(&given.data, p.n, (ur_terms){0, 0}, 0, &arena, &frame, &err), &err);
    ur_newton problem = ur_frame_problem(&frame, given.options.activation, NULL);
    must(ur_newton_alloc(&problem, 2, &arena, &fit, &err), &err);
    ur_random_normals(seed, 95, 0, 6, moved);
    for (size_t i = 0; i < 6; i++)
        rows[i] = p.truth->V[i] + off * moved[i];
    must(ur_frame_enter(&frame, given.options.activation, 2, rows, (double[2]){0}, fit.V, &err),
         &err);
    must(ur_likelihood(&given, &frame, &fit, &out, &err), &err);
    must(ur_frame_enter(&frame, given.options.activation, 2, out.weights.V, out.weights.c, fit.V,
                        &err),
         &err);
    must(ur_newton_outer(&problem, &fit, &err), &err);
    double before = fit.rss;
    must(ur_newton_solve(&problem, 500, 0, 0, &fit, &err), &err);
    planted_network_free(&p);
    return 1 - fit.rss / before;
}

static void the_largest_likelihood_is_found_to_1e_8(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++)
        assert_true(left_to_gain(.3, seed) < 5e-8);
}

/* the same of the best of a race on the rows of its frame, which ends at 1e-6 */
static void the_best_of_a_race_is_led_to_1e_6_of_its_minimum(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        UR_ARENA(arena);
        planted_network p = plant_network(3, 2, 2, 300, .5, seed);
        const ur_problem given = {.options = {.activation = {UNRELU_RELU, 0}}};
        ur_newton problem = {.n = p.n, .p = 3, .m = 2, .x = p.x, .a = p.a, .f = {UNRELU_RELU, 0}};
        ur_any_fit fit = {.cost = 0};
        unrelu_error err = {0};
        must(ur_newton_alloc(&problem, 2, &arena, &fit.fit, &err), &err);
        ur_random_normals(seed, 95, 0, 6, fit.fit.V);
        for (size_t i = 0; i < 6; i++)
            fit.fit.V[i] = p.truth->V[i] + .3 * fit.fit.V[i];
        must(ur_any_descend(&given, &problem, UR_ANY_DOWN, 0, &fit, &err), &err);
        double before = fit.cost;
        must(ur_newton_solve(&problem, 500, 0, 0, &fit.fit, &err), &err);
        assert_true(1 - fit.fit.rss / before < 5e-6);
        planted_network_free(&p);
    }
}

/* labels without noise but for one cell in a hundred, where those of one label are half of
 * the truth: after 60 rounds of Huber's objective they are all met */
static void labels_that_lag_catch_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        UR_ARENA(arena);
        planted_network p = plant_network(3, 2, 3, 600, 0, seed);
        ur_newton problem = {.n = p.n, .p = 3, .m = 3, .x = p.x, .a = p.a, .f = {UNRELU_RELU, 0}};
        ur_newton_fit fit;
        ur_huber huber;
        unrelu_error err = {0};
        for (size_t i = 0; i < p.n * p.m; i += 97)
            p.a[i] += 10;
        must(ur_newton_alloc(&problem, 2, &arena, &fit, &err), &err);
        ur_random_normals(seed, 94, 0, 6, fit.V);
        for (size_t i = 0; i < 6; i++)
            fit.V[i] = p.truth->V[i] + .01 * fit.V[i];
        for (size_t i = 0; i < 6; i++)
            fit.U[i] = p.truth->U[i] * (i < 2 ? .5 : 1);
        must(ur_newton_huber(&problem, UR_HUBER_ROUNDS, UR_HUBER_STEPS, UR_LIKELIHOOD_GAIN, &fit,
                             &huber, &err),
             &err);
        for (size_t i = 0; i < 6; i++) {
            const double *v = fit.V + i % 2 * 3;
            double length = hypot(hypot(v[0], v[1]), v[2]);
            assert_near(fit.U[i] * length, p.truth->U[i], 1e-6);
        }
        planted_network_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_heavy_that_hold_a_third_of_the_squares),
        cmocka_unit_test(heavy_tails_are_cut_where_half_the_range_of_the_rest_ends),
        cmocka_unit_test(cells_that_are_met_among_others_are_no_noise),
        cmocka_unit_test(rows_about_which_labels_are_linear_are_no_noise_from_1_in_20_on),
        cmocka_unit_test(what_neighbours_have_alike_is_that_of_naive_loops),
        cmocka_unit_test(at_most_800_rows_and_6400_cells_are_looked_at_but_200_rows_always),
        cmocka_unit_test(rows_of_V_are_known_beyond_ten_million_numbers),
        cmocka_unit_test(weights_count_that_the_rows_determine_to_1e_8),
        cmocka_unit_test(the_largest_likelihood_is_found_to_1e_8),
        cmocka_unit_test(the_best_of_a_race_is_led_to_1e_6_of_its_minimum),
        cmocka_unit_test(labels_that_lag_catch_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
