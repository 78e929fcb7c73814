/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of units that are off, and ridges that are missing. */
#include "base/random.h"
#include "mixture/problem/unmix.h"
#include "planted.h"

/* what the searches of all tests took */
static ur_arena memory;

static int end_memory(void **state)
{
    (void)state;
    ur_arena_end(&memory);
    return 0;
}

static ur_patterns patterns_of(size_t n, size_t p, const double *M)
{
    ur_patterns t;
    unrelu_error err = {0};
    must(ur_patterns_make(n, p, M, &memory, &t, &err), &err);
    return t;
}

/* units that are on with this chance; where `tied`, the last is off wherever the first two are */
static double *random_units(size_t n, size_t p, double chance, int tied, uint64_t seed)
{
    double *M = malloc(n * p * sizeof *M);
    assert_non_null(M);
    ur_random_uniforms(seed, 1, 0, n * p, M);
    for (size_t i = 0; i < n * p; i++)
        M[i] = M[i] < chance ? M[i] : 0;
    for (size_t i = 0; i < n && tied; i++)
        if (M[i * p] == 0 && M[i * p + 1] == 0)
            M[i * p + p - 1] = 0;
    return M;
}

static int is_off(const double *M, size_t p, size_t i, size_t k)
{
    return !(M[i * p + k] > 0);
}

static void a_bit_is_a_unit_that_is_off(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 63, 64, 65, 200};
    for (size_t s = 0; s < 6; s++) {
        size_t n = sizes[s], p = 3, set = 0;
        double *M = random_units(n ? n : 1, p, .5, 0, s + 1);
        if (n > 1)
            M[3] = -1e-300;
        ur_patterns t = patterns_of(n, p, M);
        assert_true(t.n == n && t.p == p && t.words == (n + 63) / 64);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p; k++) {
                int bit = t.off[k * t.words + i / 64] >> (i % 64) & 1;
                assert_int_equal(bit, is_off(M, p, i, k));
            }
        for (size_t w = 0; w < p * t.words; w++)
            set += (size_t)__builtin_popcountll(t.off[w]);
        for (size_t i = 0; i < n * p; i++)
            set -= (size_t) !(M[i] > 0);
        assert_int_equal(set, 0); /* and no bit beyond n */
        free(M);
    }
}

typedef struct {
    size_t both, all; /* units i and j off; of these with l off too */
} triple;

static triple count(const double *M, size_t n, size_t p, size_t i, size_t j, size_t l)
{
    triple t = {0};
    for (size_t r = 0; r < n; r++)
        if (is_off(M, p, r, i) && is_off(M, p, r, j)) {
            t.both++;
            t.all += (size_t)is_off(M, p, r, l);
        }
    return t;
}

/* by its definition; draws NULL: half of them expected, and l off only */
static ur_ridge naive(const double *M, size_t n, const double *draws, size_t drawn, size_t p)
{
    ur_ridge worst = {0};
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t l = 0; l < p; l++) {
                triple t = count(M, n, p, i, j, l);
                int off = t.all == t.both, on = t.all == 0;
                if (l == i || l == j || t.both < 10 || (!off && (!on || !draws)))
                    continue;
                double share = .5;
                if (draws) {
                    triple u = count(draws, drawn, p, i, j, l);
                    share =
                        u.both == 0 ? 0 : (double)(on ? u.all : u.both - u.all) / (double)u.both;
                }
                double surprise = -(double)t.both * log(1 - fmin(share, .999));
                if (surprise > worst.surprise)
                    worst = (ur_ridge){i, j, l, t.both, on, share * (double)t.both, surprise};
            }
    return worst;
}

static void assert_same(const ur_ridge *a, const ur_ridge *b)
{
    assert_true(a->i == b->i && a->j == b->j && a->l == b->l && a->off == b->off && a->on == b->on);
    assert_near(a->expected, b->expected, 1e-9 * (1 + b->expected));
    assert_near(a->surprise, b->surprise, 1e-9 * (1 + b->surprise));
}

static void the_worst_ridge_is_that_of_a_loop(void **state)
{
    (void)state;
    int alone = 0, by_draws = 0, on = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        size_t p = 3 + seed % 4, n = 20 + 7 * seed % 150, drawn = 300 + seed;
        double *M = random_units(n, p, .3 + .1 * (double)(seed % 5), seed % 3 == 0, seed);
        double *draws = random_units(drawn, p, .5, 0, seed + 1000);
        if (seed % 5 == 0) /* on wherever two are off */
            for (size_t i = 0; i < n; i++)
                if (is_off(M, p, i, 0) && is_off(M, p, i, 1))
                    M[i * p + 2] = 1;
        ur_patterns seen = patterns_of(n, p, M), other = patterns_of(drawn, p, draws);
        ur_ridge found = ur_patterns_ridge(&seen, NULL), want = naive(M, n, NULL, 0, p);
        assert_same(&found, &want);
        alone += found.off > 0;
        found = ur_patterns_ridge(&seen, &other);
        want = naive(M, n, draws, drawn, p);
        assert_same(&found, &want);
        by_draws += found.off > 0;
        on += found.on;
        free(M);
        free(draws);
    }
    assert_true(alone >= 10 && by_draws >= 10 && on >= 3);
}

/* three units off together in `off` samples, on in 20 more */
static ur_patterns all_off_together(size_t off)
{
    double M[3 * 40];
    for (size_t i = 0; i < off + 20; i++)
        M[3 * i] = M[3 * i + 1] = M[3 * i + 2] = i >= off;
    return patterns_of(off + 20, 3, M);
}

static void fewer_than_ten_samples_are_no_ridge(void **state)
{
    (void)state;
    ur_patterns nine = all_off_together(9), ten = all_off_together(10);
    assert_int_equal(ur_patterns_ridge(&nine, NULL).off, 0);
    ur_ridge r = ur_patterns_ridge(&ten, NULL);
    assert_int_equal(r.off, 10);
    assert_near(r.expected, 5, 1e-15);
    assert_near(r.surprise, 10 * log(2), 1e-12);
}

static void draws_without_the_pair_expect_nothing(void **state)
{
    (void)state;
    double draws[64 * 3];
    for (size_t i = 0; i < 64; i++) { /* no two are off together */
        draws[3 * i] = (double)(i % 2);
        draws[3 * i + 1] = (double)((i + 1) % 2);
        draws[3 * i + 2] = 1;
    }
    ur_patterns seen = all_off_together(20), drawn = patterns_of(64, 3, draws);
    assert_int_equal(ur_patterns_ridge(&seen, NULL).off, 20);
    ur_ridge r = ur_patterns_ridge(&seen, &drawn);
    assert_true(r.off == 0 && r.surprise == 0);
}

/* every draw has the third on where two are off, and no sample has it: as if it were so in 99.9 %
 */
static void what_every_draw_has_is_expected_in_999_of_1000(void **state)
{
    (void)state;
    double draws[64 * 3] = {0};
    for (size_t i = 0; i < 64; i++)
        draws[3 * i + i % 3] = 1;
    ur_patterns seen = all_off_together(10), drawn = patterns_of(64, 3, draws);
    assert_near(ur_patterns_ridge(&seen, &drawn).surprise, 10 * log(1000), 1e-9);
}

/* ---- against the fitted hidden layer ---- */

static ur_ridge ridge(const unrelu_gaussian *hidden, size_t n, const double *M)
{
    ur_ridge r;
    unrelu_error err = {0};
    must(ur_unmix_ridge(n, M, hidden, NULL, &r, &err), &err);
    return r;
}

static unrelu_gaussian *plant_units(size_t p, uint64_t seed)
{
    unrelu_gaussian_plant_options o;
    unrelu_gaussian_plant_options_init(&o, sizeof o);
    o.d = p;
    o.seed = seed;
    return plant(o);
}

/* surprise of one triple in p^3 by chance: ln of that and 5 is what counts as an alarm */
static double alarm(size_t p)
{
    return 5 + 3 * log((double)p);
}

static void units_of_full_rank_give_no_alarm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        unrelu_gaussian *truth = plant_units(6, seed);
        double *M = draw(truth, 400, seed);
        unrelu_gaussian *fitted = fit(M, 400, 6, NULL);
        assert_true(ridge(truth, 400, M).surprise < alarm(6));
        assert_true(ridge(fitted, 400, M).surprise < alarm(6));
        unrelu_gaussian_free(truth);
        unrelu_gaussian_free(fitted);
        free(M);
    }
}

/* With w3 = w1 + w2, f = m1 + m2 - m3 >= 0 is a facet, and 0 where w1 z and w2 z have the same
 * sign. Taken for a unit, it and unit 1 are off together only where unit 2 is too. */
static void a_facet_beside_the_units_is_an_alarm(void **state)
{
    (void)state;
    enum { N = 400 };
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double z[3 * N], M[4 * N];
        ur_random_normals(seed, 1, 0, 3 * N, z);
        for (size_t i = 0; i < N; i++) {
            double a = z[3 * i], b = z[3 * i + 1], *m = M + 4 * i;
            m[0] = fmax(0, a);
            m[1] = fmax(0, b);
            m[2] = a * b >= 0 ? 0 : m[0] + m[1] - fmax(0, a + b);
            m[3] = fmax(0, z[3 * i + 2]);
        }
        unrelu_gaussian *fitted = fit(M, N, 4, NULL);
        ur_ridge r = ridge(fitted, N, M);
        assert_true(r.surprise > alarm(4));
        assert_true(r.i == 2 && r.j <= 1 && r.l == 1 - r.j && !r.on);
        assert_near((double)r.off, N / 4, 50);
        unrelu_gaussian_free(fitted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_is_a_unit_that_is_off),
        cmocka_unit_test(the_worst_ridge_is_that_of_a_loop),
        cmocka_unit_test(fewer_than_ten_samples_are_no_ridge),
        cmocka_unit_test(draws_without_the_pair_expect_nothing),
        cmocka_unit_test(what_every_draw_has_is_expected_in_999_of_1000),
        cmocka_unit_test(units_of_full_rank_give_no_alarm),
        cmocka_unit_test(a_facet_beside_the_units_is_an_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, end_memory);
}
