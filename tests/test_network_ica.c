/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/blas_pin.h"
#include "dense/linear.h"
#include "network/problem/start.h"
#include "networks.h"

enum { RUNS = 5, MOST_RUNS = 9 };

static ur_start start_of(const planted_network *p)
{
    return (ur_start){
        .sample = {p->n, p->d, p->m, p->x, p->a}, .k = p->k, .f = p->truth->activation, .seed = 7};
}

static planted_network plant_orthonormal(size_t d, size_t k, size_t m, size_t n, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.kappa_v = 1;
    o.seed = seed;
    return plant_network_with(o, n);
}

static double *run_ica(const ur_start *start, ur_start_note *note)
{
    unrelu_error err = {0};
    double *V = calloc(start->k * start->sample.d, sizeof *V);
    assert_non_null(V);
    UR_BLAS_PINNED;
    must(ur_start_ica(start, V, NULL, note, &err), &err);
    return V;
}

static double square_distance(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* rms over the rows of |v_j - v*_j|, signs and all; each row to the nearest one left */
static double row_error(const double *V, const double *truth, size_t k, size_t d)
{
    char taken[64] = {0};
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
        size_t nearest = 0;
        double least = INFINITY;
        for (size_t i = 0; i < k; i++) {
            double far = square_distance(V + j * d, truth + i * d, d);
            if (!taken[i] && far < least) {
                least = far;
                nearest = i;
            }
        }
        taken[nearest] = 1;
        sum += least;
    }
    return sqrt(sum / (double)k);
}

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_error(size_t d, size_t k, size_t m, size_t n, int runs)
{
    double error[MOST_RUNS];
    for (int i = 0; i < runs; i++) {
        planted_network p = plant_orthonormal(d, k, m, n, 40 + (uint64_t)i);
        ur_start start = start_of(&p);
        ur_start_note note;
        double *V = run_ica(&start, &note);
        error[i] = row_error(V, p.truth->V, k, d);
        free(V);
        planted_network_free(&p);
    }
    qsort(error, (size_t)runs, sizeof *error, increasing);
    return error[runs / 2];
}

/* the errors of an independent implementation, 8 runs each */
static void signed_rows_of_orthonormal_networks_come_within_the_known_error(void **state)
{
    (void)state;
    const struct {
        size_t d, k, m, n;
        double rms;
    } known[] = {{10, 5, 8, 200, .165},    {10, 5, 8, 500, .102},   {10, 5, 8, 1000, .071},
                 {10, 5, 8, 5000, .032},   {20, 10, 12, 200, .257}, {20, 10, 12, 500, .153},
                 {20, 10, 12, 1000, .104}, {20, 10, 12, 5000, .047}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double found = median_error(known[i].d, known[i].k, known[i].m, known[i].n,
                                    known[i].n < 1000 ? MOST_RUNS : RUNS);
        if (found > 1.4 * known[i].rms)
            fail_msg("d = %zu, n = %zu: row error %.3f, known is %.3f", known[i].d, known[i].n,
                     found, known[i].rms);
    }
}

static void as_many_labels_as_neurons_are_sketched_too(void **state)
{
    (void)state;
    assert_true(median_error(10, 5, 5, 1000, RUNS) < 1.4 * .071);
}

static void rows_have_length_one(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(10, 5, 8, 500, 3);
    ur_start start = start_of(&p);
    ur_start_note note;
    double *V = run_ica(&start, &note), zero[10] = {0};
    for (size_t j = 0; j < p.k; j++)
        assert_near(square_distance(V + j * p.d, zero, p.d), 1, 1e-14);
    free(V);
    planted_network_free(&p);
}

/* x D and s a + e of the network V, U are x and a of V D^-1, s U, e */
static void units_and_offsets_of_the_data_change_nothing_else(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(6, 3, 4, 800, 5);
    ur_start start = start_of(&p);
    ur_start_note note;
    double *V = run_ica(&start, &note);
    for (size_t i = 0; i < p.n; i++) {
        for (size_t j = 0; j < p.d; j++)
            p.x[i * p.d + j] = ldexp(p.x[i * p.d + j] - 1, 30 * (int)j - 90);
        for (size_t j = 0; j < p.m; j++)
            p.a[i * p.m + j] = 1e200 * (p.a[i * p.m + j] + (double)j);
    }
    double *other = run_ica(&start, &note);
    for (size_t j = 0; j < p.k; j++) {
        double norm = 0;
        for (size_t i = 0; i < p.d; i++) {
            other[j * p.d + i] *= ldexp(1, 30 * (int)i - 90);
            norm = hypot(norm, other[j * p.d + i]);
        }
        for (size_t i = 0; i < p.d; i++)
            other[j * p.d + i] /= norm;
    }
    assert_true(row_error(other, V, p.k, p.d) < 1e-8);
    free(V);
    free(other);
    planted_network_free(&p);
}

static void hidden_and_output_biases_leave_the_rows_in_reach(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 10;
    o.k = 5;
    o.m = 8;
    o.kappa_v = 1;
    o.bias = .5;
    o.seed = 6;
    planted_network p = plant_network_with(o, 5000);
    ur_start start = start_of(&p);
    start.hidden = start.constant = 1;
    ur_start_note note;
    double *V = run_ica(&start, &note);
    assert_true(row_error(V, p.truth->V, p.k, p.d) < .1);
    free(V);
    planted_network_free(&p);
}

static double number_after(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    if (!found)
        fail_msg("\"%s\" is not in \"%s\"", words, text);
    return strtod(found + strlen(words), NULL);
}

/* skewness of f(v_j x) is that of the source, up to the error of v_j */
static double skewness_of_hidden(const planted_network *p, size_t j)
{
    double moment[4] = {0};
    for (size_t i = 0; i < p->n; i++) {
        double t = 0;
        for (size_t q = 0; q < p->d; q++)
            t += p->truth->V[j * p->d + q] * p->x[i * p->d + q];
        t = t > 0 ? t : 0;
        for (int q = 1; q <= 3; q++)
            moment[q] += pow(t, q) / (double)p->n;
    }
    double mean = moment[1], variance = moment[2] - mean * mean;
    return (moment[3] - 3 * mean * moment[2] + 2 * mean * mean * mean) / pow(variance, 1.5);
}

static void the_note_names_the_theorem_and_what_was_measured(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(8, 4, 6, 4000, 9);
    ur_start start = start_of(&p);
    ur_start_note note;
    double *V = run_ica(&start, &note), overlap = 0, mean = 0, covariance = 0;
    double low = INFINITY, high = 0;
    size_t d = p.d;
    for (size_t j = 0; j < p.k; j++) {
        low = fmin(low, skewness_of_hidden(&p, j));
        high = fmax(high, skewness_of_hidden(&p, j));
        for (size_t i = 0; i < j; i++) /* |a - b|^2 = 2 - 2 <a, b> */
            overlap = fmax(overlap, fabs(1 - square_distance(V + i * d, V + j * d, d) / 2));
    }
    double means[8] = {0}, products[8][8] = {{0}};
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < d; j++) {
            means[j] += p.x[i * d + j] / (double)p.n;
            for (size_t q = 0; q < d; q++)
                products[j][q] += p.x[i * d + j] * p.x[i * d + q] / (double)p.n;
        }
    for (size_t j = 0; j < d; j++) {
        mean = fmax(mean, fabs(means[j]));
        for (size_t q = 0; q < d; q++)
            covariance = fmax(covariance, fabs(products[j][q] - means[j] * means[q] - (j == q)));
    }
    const char *said = note.assumption;
    assert_true(number_after(said, "of two sources ") < 3 * 2.33 / sqrt(4000.));
    assert_near(number_after(said, "of the rows "), overlap, .051 * overlap);
    assert_near(number_after(said, "orthonormal: about "), 1 / sqrt(4000.), .001);
    assert_near(number_after(said, "skewness "), low, .05);
    assert_near(number_after(strstr(said, "skewness"), " to "), high, .05);
    assert_near(number_after(said, "|mean| "), mean, .051 * mean);
    assert_near(number_after(said, "|covariance - I| "), covariance, .051 * covariance);
    assert_non_null(strstr(said, "converged in"));
    assert_non_null(strstr(note.guarantee, "Theorem 4"));
    assert_non_null(strstr(note.guarantee, "orthonormal rows"));
    free(V);
    planted_network_free(&p);
}

static void rows_that_are_not_orthonormal_show_in_the_note(void **state)
{
    (void)state;
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = 8;
    o.k = 4;
    o.m = 6;
    o.kappa_v = 20;
    o.seed = 2;
    planted_network p = plant_network_with(o, 4000);
    ur_start start = start_of(&p);
    ur_start_note note;
    double *V = run_ica(&start, &note);
    assert_true(number_after(note.assumption, "of two sources ") > .2);
    free(V);
    planted_network_free(&p);
}

static void refuses(const ur_start *start, const char *words)
{
    unrelu_error err = {0};
    ur_start_note note;
    double *V = calloc(start->k * start->sample.d, sizeof *V);
    assert_int_equal(ur_start_ica(start, V, NULL, &note, &err), UNRELU_EDATA);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    free(V);
}

static void what_has_too_few_dimensions_is_refused_with_numbers(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(6, 3, 5, 300, 1);
    ur_start start = start_of(&p);
    start.k = 4;
    refuses(&start, "k = 4 numbers, have rank 3");
    start.k = 6;
    refuses(&start, "m = 5 labels, k = 6 neurons");
    start.k = 7;
    refuses(&start, "k = 7 neurons have none in d = 6");
    start.k = 3;
    start.sample.n = 3;
    refuses(&start, "more than k = 3 samples, there are 3");
    start.sample.n = p.n;
    memset(p.a, 0, p.n * p.m * sizeof *p.a);
    refuses(&start, "have rank 0");
    planted_network_free(&p);
}

static void inputs_that_do_not_vary_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(6, 3, 5, 300, 1);
    for (size_t i = 0; i < p.n * p.d; i++)
        p.x[i] = 2;
    ur_start start = start_of(&p);
    refuses(&start, "does not vary with the inputs");
    planted_network_free(&p);
}

static void the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(6, 3, 5, 5000, 8);
    ur_start start = start_of(&p);
    ur_start_note note;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1};
    start.exec = &exec;
    double *one = run_ica(&start, &note);
    for (int threads = 2; threads <= 7; threads += 5) {
        exec.threads = threads;
        double *V = run_ica(&start, &note);
        assert_memory_equal(V, one, p.k * p.d * sizeof *V);
        free(V);
    }
    free(one);
    planted_network_free(&p);
}

static int always(void *context)
{
    (void)context;
    return 1;
}

static void a_cancelled_run_says_so(void **state)
{
    (void)state;
    planted_network p = plant_orthonormal(6, 3, 5, 300, 8);
    ur_start start = start_of(&p);
    ur_start_note note;
    double V[18];
    unrelu_error err = {0};
    unrelu_exec exec = {.size = sizeof exec, .threads = 2, .cancelled = always};
    start.exec = &exec;
    assert_int_equal(ur_start_ica(&start, V, NULL, &note, &err), UNRELU_ECANCELLED);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_rows_of_orthonormal_networks_come_within_the_known_error),
        cmocka_unit_test(as_many_labels_as_neurons_are_sketched_too),
        cmocka_unit_test(rows_have_length_one),
        cmocka_unit_test(units_and_offsets_of_the_data_change_nothing_else),
        cmocka_unit_test(hidden_and_output_biases_leave_the_rows_in_reach),
        cmocka_unit_test(the_note_names_the_theorem_and_what_was_measured),
        cmocka_unit_test(rows_that_are_not_orthonormal_show_in_the_note),
        cmocka_unit_test(what_has_too_few_dimensions_is_refused_with_numbers),
        cmocka_unit_test(inputs_that_do_not_vary_are_refused),
        cmocka_unit_test(the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(a_cancelled_run_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
