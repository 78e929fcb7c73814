/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "cone/facet.h"
#include "dense/linear.h"
#include "planted.h"

#include <float.h>

/* samples of max(0, W z + b) mixed by a random matrix and whitened */
typedef struct {
    size_t n, p;
    double *M; /* (n, p): the mixtures' weights, the truth */
    double *Y;
    double *noise; /* p x p covariance */
} mixture;

static double *numbers(size_t count)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* q: dimension of z. m = p + 4 observed columns, so that noise does not hide in the span. */
static mixture mix(size_t p, size_t n, size_t q, double b, double sigma, uint64_t seed)
{
    size_t m = p + 4;
    mixture x = {n, p, numbers(n * p), numbers(n * p), numbers(p * p)};
    double *W = numbers(p * q), *z = numbers(n * q), *A = numbers(m * p), *X = numbers(n * m),
           *e = numbers(n * m), *G = numbers(m * m), *values = numbers(m),
           *vectors = numbers(m * m), *B = numbers(m * p);
    unrelu_error err = {0};
    ur_random_normals(seed, 1, 0, p * q, W);
    for (size_t i = 0; i < p && q == p; i++)
        W[i * q + i] += 3; /* well conditioned */
    ur_random_normals(seed, 2, 0, n * q, z);
    ur_random_normals(seed, 3, 0, m * p, A);
    for (size_t i = 0; i < p; i++)
        A[i * p + i] += 3;
    ur_random_normals(seed, 4, 0, n * m, e);
    ur_multiply_nt(n, q, p, z, W, x.M);
    for (size_t i = 0; i < n * p; i++)
        x.M[i] = fmax(0, x.M[i] + b);
    ur_multiply_nt(n, p, m, x.M, A, X);
    for (size_t i = 0; i < n * m; i++)
        X[i] += sigma * e[i];
    ur_multiply_tn(n, m, m, X, X, G);
    must(ur_eigen_symmetric(m, G, values, vectors, &err), &err);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < p; j++)
            B[i * p + j] = vectors[i * m + 4 + j] * sqrt((double)n / values[4 + j]);
    ur_multiply(n, m, p, X, B, x.Y);
    ur_multiply_tn(m, p, p, B, B, x.noise);
    for (size_t i = 0; i < p * p; i++)
        x.noise[i] *= sigma * sigma;
    double *const all[] = {W, z, A, X, e, G, values, vectors, B};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return x;
}

static void mixture_free(mixture *x)
{
    free(x->M);
    free(x->Y);
    free(x->noise);
}

/* what the searches of all tests took */
static ur_arena memory;

static int end_memory(void **state)
{
    (void)state;
    ur_arena_end(&memory);
    return 0;
}

static ur_facets find(const ur_facet_search *search)
{
    ur_facets facets;
    unrelu_error err = {0};
    must(ur_facets_find(search, &memory, &facets, &err), &err);
    return facets;
}

static ur_facets find_in(const mixture *x, size_t extra, uint64_t seed)
{
    ur_facet_search search = {
        .n = x->n, .p = x->p, .Y = x->Y, .wanted = x->p, .extra = extra, .seed = seed};
    return find(&search);
}

/* distance of the directions of Y u and of column j of M */
static double distance(const mixture *x, const double *u, size_t j)
{
    double *h = numbers(x->n), hh = 0, mm = 0, sum = 0;
    ur_multiply(x->n, x->p, 1, x->Y, u, h);
    for (size_t i = 0; i < x->n; i++) {
        double t = x->M[i * x->p + j];
        hh += h[i] * h[i];
        mm += t * t;
    }
    for (size_t i = 0; i < x->n; i++) {
        double t = h[i] / sqrt(hh) - x->M[i * x->p + j] / sqrt(mm);
        sum += t * t;
    }
    free(h);
    return sqrt(sum);
}

/* the column of M that facet k is, or p */
static size_t column_of(const mixture *x, const ur_facets *f, size_t k, double tolerance)
{
    size_t j = 0;
    while (j < x->p && distance(x, f->U + k * x->p, j) > tolerance)
        j++;
    return j;
}

static size_t zeros_of(const mixture *x, size_t j)
{
    size_t count = 0;
    for (size_t i = 0; i < x->n; i++) {
        double largest = 0;
        for (size_t l = 0; l < x->p; l++)
            largest = fmax(largest, x->M[i * x->p + l]);
        count += largest > 0 && x->M[i * x->p + j] == 0;
    }
    return count;
}

/* every unit once, to rounding, with as many zeros as were planted */
static void assert_complete(const mixture *x, const ur_facets *f)
{
    char seen[64] = {0};
    assert_int_equal(f->count, x->p);
    assert_true(f->tries >= x->p);
    for (size_t k = 0; k < x->p; k++) {
        size_t j = column_of(x, f, k, 1e-12);
        assert_true(j < x->p && !seen[j]);
        seen[j] = 1;
        if (x->p > 1)
            assert_int_equal(f->zeros[k], zeros_of(x, j));
    }
}

static void twenty_samples_a_unit_give_all_facets_to_rounding(void **state)
{
    (void)state;
    const size_t sizes[] = {2, 3, 5, 10, 20};
    for (size_t s = 0; s < 5; s++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            mixture x = mix(sizes[s], 20 * sizes[s], sizes[s], 0, 0, seed);
            ur_facets f = find_in(&x, 0, seed);
            assert_complete(&x, &f);
            mixture_free(&x);
        }
}

static void units_that_are_seldom_off_need_samples_in_proportion(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mixture x = mix(8, 1000, 8, 3.5, 0, seed);
        ur_facets f = find_in(&x, 0, seed);
        assert_complete(&x, &f);
        mixture_free(&x);
    }
}

static void too_few_samples_give_fewer_facets_but_none_that_is_false(void **state)
{
    (void)state;
    size_t found = 0, runs = 0, complete = 0;
    for (size_t n = 13; n <= 28; n += 3)
        for (uint64_t seed = 1; seed <= 8; seed++, runs++) {
            mixture x = mix(5, n, 5, 0, 0, seed);
            ur_facets f = find_in(&x, 5, seed);
            for (size_t k = 0; k < f.count; k++)
                assert_true(column_of(&x, &f, k, 1e-10) < 5);
            found += f.count;
            complete += f.count == 5;
            mixture_free(&x);
        }
    assert_true(found > 2 * runs && complete < runs);
}

/* whether u = (0, 0, 1) is among the facets of these samples and 60 in the cone above it */
static int floor_is_found(size_t count, const double *on_floor)
{
    enum { ABOVE = 60 };
    double Y[3 * (ABOVE + 8)], t[3 * ABOVE];
    int found = 0;
    ur_random_uniforms(3, 1, 0, 3 * ABOVE, t);
    memcpy(Y, on_floor, 3 * count * sizeof *Y);
    for (size_t i = 0; i < ABOVE; i++) {
        double *y = Y + 3 * (count + i);
        y[0] = 0.1 + t[3 * i];
        y[1] = 0.1 + t[3 * i + 1];
        y[2] = 0.1 + 5 * t[3 * i + 2];
    }
    ur_facet_search search = {.n = count + ABOVE, .p = 3, .Y = Y, .wanted = 9, .tries = 300};
    ur_facets f = find(&search);
    for (size_t k = 0; k < f.count; k++)
        found += fabs(f.U[3 * k + 2] - 1) < 1e-12;
    return found;
}

static void a_sample_that_alone_holds_a_facet_up_is_no_evidence(void **state)
{
    (void)state;
    const double held[] = {1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 1, 0};
    const double repeated[] = {1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 1, 0, 0, 1, 0};
    const double supported[] = {1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 1, 0, 0, 2, 0};
    assert_int_equal(floor_is_found(4, held), 0);
    assert_int_equal(floor_is_found(5, repeated), 0);
    assert_int_equal(floor_is_found(5, supported), 1);
}

/* a cone over a square has four facets in three dimensions */
static void facets_beyond_the_wanted_are_reported(void **state)
{
    (void)state;
    enum { N = 80 };
    double Y[3 * N], t[2 * N];
    ur_random_uniforms(8, 1, 0, 2 * N, t);
    for (size_t i = 0; i < N; i++) {
        double *y = Y + 3 * i, side = i & 1 ? 1 : -1;
        y[i / 2 % 2] = side * (1 + t[2 * i]);
        y[1 - i / 2 % 2] = (1 + t[2 * i]) * (2 * t[2 * i + 1] - 1);
        y[2] = 1 + t[2 * i];
    }
    ur_facet_search search = {.n = N, .p = 3, .Y = Y, .wanted = 3, .seed = 2};
    ur_facets alone = find(&search);
    assert_int_equal(alone.count, 3);
    search.extra = 12;
    ur_facets f = find(&search);
    assert_int_equal(f.count, 4);
    assert_true(f.tries >= alone.tries + 12);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(f.zeros[k], N / 4);
        assert_near(f.U[3 * k + 2], sqrt(0.5), 1e-12);
    }
}

static void with_noise_facets_are_found_to_a_fraction_of_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (double sigma = 1e-6; sigma < 0.2; sigma *= 100) {
            mixture x = mix(5, 350, 5, 0, sigma, seed);
            ur_facet_search search = {
                .n = x.n, .p = 5, .Y = x.Y, .noise = x.noise, .wanted = 5, .extra = 5};
            ur_facets f = find(&search);
            char seen[5] = {0};
            assert_int_equal(f.count, 5);
            for (size_t k = 0; k < 5; k++) {
                /* h carries noise of its own: of sigma / |h| with |h| about 2 */
                size_t j = column_of(&x, &f, k, 2 * sigma);
                assert_true(j < 5 && !seen[j]);
                seen[j] = 1;
                assert_true(10 * f.zeros[k] > 9 * zeros_of(&x, j));
            }
            ur_facets exact = find_in(&x, 0, seed);
            assert_int_equal(exact.count, 0);
            mixture_free(&x);
        }
}

/* ---- certificates of given normals ---- */

/* the u with Y u nearest to column j of M, at length 1 */
static void normal_of(const mixture *x, size_t j, double *u)
{
    double *column = numbers(x->n);
    unrelu_error err = {0};
    for (size_t i = 0; i < x->n; i++)
        column[i] = x->M[i * x->p + j];
    must(ur_least_squares(x->n, x->p, 1, x->Y, column, 1e-13, u, NULL, &err), &err);
    ur_unit_rows(1, x->p, u);
    free(column);
}

static size_t certified(const mixture *x, int noisy, size_t count, const double *U)
{
    ur_facet_search search = {
        .n = x->n, .p = x->p, .Y = x->Y, .noise = noisy ? x->noise : NULL, .wanted = x->p};
    size_t good;
    unrelu_error err = {0};
    must(ur_facets_check(&search, count, U, &good, &err), &err);
    return good;
}

static void only_facets_are_certified(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int noisy = 0; noisy < 2; noisy++) {
            mixture x = mix(5, 200, 5, 0, noisy ? 1e-4 : 0, seed);
            double U[25], other[5];
            for (size_t j = 0; j < 5; j++)
                normal_of(&x, j, U + 5 * j);
            assert_int_equal(certified(&x, noisy, 5, U), 5);
            assert_int_equal(certified(&x, noisy, 2, U + 10), 2);
            ur_random_normals(seed, 9, 0, 5, other);
            ur_unit_rows(1, 5, other);
            assert_int_equal(certified(&x, noisy, 1, other), 0);
            for (size_t i = 0; i < 5; i++) /* off where two units are, which is no facet */
                other[i] = U[i] + U[5 + i];
            ur_unit_rows(1, 5, other);
            assert_int_equal(certified(&x, noisy, 1, other), 0);
            for (size_t i = 0; i < 5; i++)
                other[i] = -U[i];
            assert_int_equal(certified(&x, noisy, 1, other), 0);
            memcpy(other, U + 15, sizeof other);
            other[0] += .01; /* near a facet is none */
            ur_unit_rows(1, 5, other);
            assert_int_equal(certified(&x, noisy, 1, other), 0);
            mixture_free(&x);
        }
}

/* one sample beyond a facet and one that alone holds it up */
static void a_certificate_looks_at_every_sample(void **state)
{
    (void)state;
    mixture x = mix(4, 120, 4, 0, 0, 3);
    double U[16];
    for (size_t j = 0; j < 4; j++)
        normal_of(&x, j, U + 4 * j);
    assert_int_equal(certified(&x, 0, 4, U), 4);
    for (size_t i = 0; i < 4; i++)
        x.Y[119 * 4 + i] -= 10 * U[8 + i];
    size_t beyond = 0;
    for (size_t j = 0; j < 4; j++) {
        double h = 0;
        for (size_t i = 0; i < 4; i++)
            h += x.Y[119 * 4 + i] * U[4 * j + i];
        beyond += h < 0;
    }
    assert_true(beyond >= 1);
    assert_int_equal(certified(&x, 0, 4, U), 4 - beyond);
    mixture_free(&x);
}

/* ---- a cone with a facet beside the units: w3 = w1 + w2, so that m1 + m2 >= m3 ---- */

/* units from the fourth on have bias b */
static mixture mix_dependent(size_t p, size_t n, double b, uint64_t seed)
{
    mixture x = {n, p, numbers(n * p), numbers(n * p), numbers(p * p)};
    double *z = numbers(n * p), *G = numbers(p * p), *values = numbers(p), *B = numbers(p * p);
    unrelu_error err = {0};
    ur_random_normals(seed, 1, 0, n * p, z);
    for (size_t i = 0; i < n; i++) {
        z[i * p + 2] = z[i * p] + z[i * p + 1];
        for (size_t k = 0; k < p; k++)
            x.M[i * p + k] = fmax(0, z[i * p + k] + (k > 2 ? b : 0));
    }
    ur_multiply_tn(n, p, p, x.M, x.M, G);
    must(ur_eigen_symmetric(p, G, values, B, &err), &err);
    for (size_t i = 0; i < p * p; i++)
        B[i] *= sqrt((double)n / values[i % p]);
    ur_multiply(n, p, p, x.M, B, x.Y);
    free(z);
    free(G);
    free(values);
    free(B);
    return x;
}

static size_t rank_of(const ur_facets *f, size_t p)
{
    double s[8];
    size_t rank = 0;
    unrelu_error err = {0};
    assert_true(p <= 8 && f->count >= p);
    must(ur_svd(f->count, p, f->U, NULL, s, NULL, &err), &err);
    while (rank < p && s[rank] > 1e-6 * s[0])
        rank++;
    return rank;
}

static void a_facet_that_is_no_unit_is_found_beside_them(void **state)
{
    (void)state;
    int opposite = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        mixture x = mix_dependent(3, 90, 0, seed);
        ur_facets f = find_in(&x, 10, seed);
        char seen[4] = {0};
        assert_int_equal(f.count, 4);
        for (size_t k = 0; k < 4; k++) {
            size_t j = column_of(&x, &f, k, 1e-10);
            assert_false(seen[j]);
            seen[j] = 1;
        }
        opposite += f.way[3] == UR_FACET_OPPOSITE;
        mixture_free(&x);
    }
    assert_true(opposite >= 5);
}

/* the four of the first three units are found before some of the others, which are seldom off */
static void as_many_facets_as_dimensions_are_independent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        mixture x = mix_dependent(6, 100, 1, seed);
        ur_facets f = find_in(&x, 1, seed);
        assert_int_equal(rank_of(&f, 6), 6);
        mixture_free(&x);
    }
}

/* Samples where both units are off, their noise larger along (1, -1): u = (1, 1) has them on it,
 * none below and none near, but they leave two directions to the noise. */
static void a_sum_of_two_facets_is_none_with_noise(void **state)
{
    (void)state;
    enum { N = 90 };
    double Y[3 * N], t[2 * N], s = 1e-3, noise[9] = {s * s, 0, 0, 0, s * s, 0, 0, 0, s * s};
    const double U[] = {sqrt(.5), sqrt(.5), 0};
    ur_random_uniforms(4, 1, 0, 2 * N, t);
    for (size_t i = 0; i < N; i++) {
        double *y = Y + 3 * i, side = i % 2 ? 1 : -1;
        y[0] = i < 40 ? side * s / 2 : 1 + t[2 * i];
        y[1] = i < 40 ? -side * s / 2 : 1 + t[2 * i + 1];
        y[2] = 1 + t[2 * i];
    }
    mixture x = {N, 3, NULL, Y, noise};
    assert_int_equal(certified(&x, 1, 1, U), 0);
    for (size_t i = 0; i < 20; i++) { /* with one of them on, that of the other is a facet */
        Y[3 * i] = 1 + t[i];
        Y[3 * i + 1] = (i % 2 ? 1 : -1) * s / 4;
    }
    const double second[] = {0, 1, 0};
    assert_int_equal(certified(&x, 1, 1, second), 1);
    assert_int_equal(certified(&x, 1, 1, U), 0);
}

static void one_mixture_has_one_facet_and_nothing_has_none(void **state)
{
    (void)state;
    const double up[] = {1, 0, 2, 3}, down[] = {-1, -2, 0}, both[] = {1, -1}, zero[] = {0, 0, 0, 0};
    ur_facet_search search = {.n = 4, .p = 1, .Y = up, .wanted = 1};
    ur_facets f = find(&search);
    assert_int_equal(f.count, 1);
    assert_true(f.U[0] == 1);
    search.n = 3;
    search.Y = down;
    f = find(&search);
    assert_int_equal(f.count, 1);
    assert_true(f.U[0] == -1);
    const ur_facet_search empty[] = {{.n = 2, .p = 1, .Y = both, .wanted = 1},
                                     {.n = 2, .p = 2, .Y = zero, .wanted = 2},
                                     {.n = 0, .p = 2, .Y = zero, .wanted = 2},
                                     {.n = 1, .p = 2, .Y = up, .wanted = 2}};
    for (size_t i = 0; i < 4; i++) {
        f = find(&empty[i]);
        assert_int_equal(f.count, 0);
    }
}

static void a_seed_gives_the_same_bits_and_another_the_same_facets(void **state)
{
    (void)state;
    mixture x = mix(6, 120, 6, 0, 0, 9);
    ur_facets f = find_in(&x, 0, 1), same = find_in(&x, 0, 1), other = find_in(&x, 0, 2);
    assert_memory_equal(f.U, same.U, 36 * sizeof *f.U);
    assert_memory_not_equal(f.U, other.U, 36 * sizeof *f.U);
    assert_complete(&x, &other);
    mixture_free(&x);
}

static int always(void *context)
{
    (void)context;
    return 1;
}

static void a_search_can_be_cancelled(void **state)
{
    (void)state;
    mixture x = mix(3, 60, 3, 0, 0, 1);
    unrelu_exec exec = {.size = sizeof exec, .cancelled = always};
    ur_facet_search search = {.n = 60, .p = 3, .Y = x.Y, .wanted = 3, .exec = &exec};
    ur_facets f;
    unrelu_error err = {0};
    assert_int_equal(ur_facets_find(&search, &memory, &f, &err), UNRELU_ECANCELLED);
    mixture_free(&x);
}

/* Rows on one axis and a single other one hold up a plane that all others are above. */
static void with_noise_too_one_sample_is_no_evidence(void **state)
{
    (void)state;
    enum { AXIS = 40, ABOVE = 100, N = AXIS + ABOVE + 2 };
    double Y[N * 3], t[N * 3], noise[9] = {0}, s = 1e-4;
    unrelu_error err = {0};
    ur_random_normals(9, 1, 0, N * 3, Y);
    ur_random_uniforms(9, 2, 0, N * 3, t);
    for (size_t i = 0; i < N; i++) {
        double m[3] = {0, 0, .5 + t[i * 3]};
        if (i >= AXIS) {
            m[1] = .5 + t[i * 3 + 1];
            m[0] = m[1] * (i < AXIS + ABOVE ? .5 + t[i * 3 + 2] : .2);
        }
        for (size_t j = 0; j < 3; j++)
            Y[i * 3 + j] = m[j] + s * Y[i * 3 + j];
    }
    for (size_t j = 0; j < 3; j++)
        noise[j * 4] = s * s;
    const double u[3] = {1 / sqrt(1.04), -.2 / sqrt(1.04), 0};
    for (size_t extra = 1; extra <= 2; extra++) { /* one such sample, and two */
        size_t good;
        ur_facet_search search = {.n = AXIS + ABOVE + extra, .p = 3, .Y = Y, .noise = noise};
        must(ur_facets_check(&search, 1, u, &good, &err), &err);
        assert_int_equal(good, extra - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_samples_a_unit_give_all_facets_to_rounding),
        cmocka_unit_test(units_that_are_seldom_off_need_samples_in_proportion),
        cmocka_unit_test(too_few_samples_give_fewer_facets_but_none_that_is_false),
        cmocka_unit_test(a_sample_that_alone_holds_a_facet_up_is_no_evidence),
        cmocka_unit_test(facets_beyond_the_wanted_are_reported),
        cmocka_unit_test(with_noise_facets_are_found_to_a_fraction_of_it),
        cmocka_unit_test(only_facets_are_certified),
        cmocka_unit_test(a_certificate_looks_at_every_sample),
        cmocka_unit_test(a_facet_that_is_no_unit_is_found_beside_them),
        cmocka_unit_test(as_many_facets_as_dimensions_are_independent),
        cmocka_unit_test(a_sum_of_two_facets_is_none_with_noise),
        cmocka_unit_test(one_mixture_has_one_facet_and_nothing_has_none),
        cmocka_unit_test(a_seed_gives_the_same_bits_and_another_the_same_facets),
        cmocka_unit_test(a_search_can_be_cancelled),
        cmocka_unit_test(with_noise_too_one_sample_is_no_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, end_memory);
}
