/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/linear.h"
#include "mixture/problem/unmix.h"
#include "planted.h"

#define BEYOND_P 4 /* columns of x beyond p, so that noise does not hide in the span */

/* samples x = M A' + noise in the coordinates of their span */
typedef struct {
    ur_cone cone;
    double *x;
    double *M; /* (n, p): the truth */
} planted;

static double *numbers(size_t count)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* max(0, W z + b), W = I + spread times normal numbers */
static double *units(size_t n, size_t p, double b, double spread, uint64_t seed)
{
    double *M = numbers(n * p), *z = numbers(n * p), *W = numbers(p * p);
    ur_random_normals(seed, 1, 0, p * p, W);
    for (size_t i = 0; i < p * p; i++)
        W[i] = spread * W[i] + (i % (p + 1) == 0);
    ur_random_normals(seed, 2, 0, n * p, z);
    ur_multiply_nt(n, p, p, z, W, M);
    for (size_t i = 0; i < n * p; i++)
        M[i] = fmax(0, M[i] + b);
    free(z);
    free(W);
    return M;
}

static void whiten(planted *x, double sigma)
{
    ur_cone *c = &x->cone;
    size_t n = c->n, d = c->d, p = c->p;
    double *G = numbers(d * d), *values = numbers(d), *vectors = numbers(d * d);
    unrelu_error err = {0};
    ur_multiply_tn(n, d, d, x->x, x->x, G);
    must(ur_eigen_symmetric(d, G, values, vectors, &err), &err);
    for (size_t j = 0; j < p; j++) {
        double scale = sqrt(values[d - p + j] / (double)n);
        for (size_t i = 0; i < d; i++) {
            c->B[i * p + j] = vectors[i * d + d - p + j] / scale;
            c->C[j * d + i] = vectors[i * d + d - p + j] * scale;
        }
        if (sigma > 0)
            c->noise[j * p + j] = sigma * sigma / (scale * scale);
    }
    ur_multiply(n, d, p, x->x, c->B, c->y);
    free(G);
    free(values);
    free(vectors);
}

/* takes M */
static planted mix(double *M, size_t n, size_t p, double sigma, uint64_t seed)
{
    size_t d = p + BEYOND_P;
    planted x = {{.n = n, .d = d, .p = p, .sigma = sigma, .tolerance = 1e-8}, numbers(n * d), M};
    double *A = numbers(d * p), *e = numbers(n * d);
    x.cone.x = x.x;
    x.cone.y = numbers(n * p);
    x.cone.B = numbers(d * p);
    x.cone.C = numbers(p * d);
    x.cone.noise = sigma > 0 ? numbers(p * p) : NULL;
    ur_random_normals(seed, 3, 0, d * p, A);
    for (size_t i = 0; i < p; i++)
        A[i * p + i] += 3;
    ur_random_normals(seed, 4, 0, n * d, e);
    ur_multiply_nt(n, p, d, M, A, x.x);
    for (size_t i = 0; i < n * d; i++)
        x.x[i] += sigma * e[i];
    whiten(&x, sigma);
    free(A);
    free(e);
    return x;
}

static void planted_free(planted *x)
{
    double *const all[] = {x->x, x->M, x->cone.y, x->cone.B, x->cone.C, x->cone.noise};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* sample i has unit i alone, for i < p */
static void plant_alone(double *M, size_t p)
{
    memset(M, 0, p * p * sizeof *M);
    for (size_t i = 0; i < p; i++)
        M[i * p + i] = 0.5 + (double)i / (double)p;
}

static int each_is_alone(const double *M, size_t n, size_t p)
{
    size_t found = 0;
    char *seen = calloc(p, 1);
    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        size_t on = 0, last = 0;
        for (size_t j = 0; j < p; j++)
            if (M[i * p + j] > 0) {
                on++;
                last = j;
            }
        found += on == 1 && !seen[last];
        seen[last] |= on == 1;
    }
    free(seen);
    return found == p;
}

/* distance of the directions of y u and of column j of M */
static double distance(const planted *x, const double *u, size_t j)
{
    size_t n = x->cone.n, p = x->cone.p;
    double *h = numbers(n), hh = 0, mm = 0, sum = 0;
    ur_multiply(n, p, 1, x->cone.y, u, h);
    for (size_t i = 0; i < n; i++) {
        hh += h[i] * h[i];
        mm += x->M[i * p + j] * x->M[i * p + j];
    }
    for (size_t i = 0; i < n; i++) {
        double t = h[i] / sqrt(hh) - x->M[i * p + j] / sqrt(mm);
        sum += t * t;
    }
    free(h);
    return sqrt(sum);
}

/* the largest distance of a unit to the normal next to it; each must be next to one */
static double error_of(const planted *x, const ur_normals *f)
{
    size_t p = x->cone.p;
    char *taken = calloc(p, 1);
    double worst = 0;
    assert_non_null(taken);
    assert_int_equal(f->count, p);
    assert_int_equal(f->tries, 1);
    for (size_t k = 0; k < p; k++) {
        size_t best = 0;
        double length = 0;
        for (size_t j = 0; j < p; j++) {
            length += f->U[k * p + j] * f->U[k * p + j];
            if (distance(x, f->U + k * p, j) < distance(x, f->U + k * p, best))
                best = j;
        }
        assert_near(length, 1, 1e-14);
        worst = fmax(worst, taken[best] ? 2 : distance(x, f->U + k * p, best));
        taken[best] = 1;
    }
    free(taken);
    return worst;
}

/* what the searches of all tests took */
static ur_arena memory;

static int end_memory(void **state)
{
    (void)state;
    ur_arena_end(&memory);
    return 0;
}

static ur_normals unmix(const planted *x)
{
    ur_normals f;
    unrelu_error err = {0};
    must(ur_unmix_separable(&x->cone, 1, NULL, &memory, &f, &err), &err);
    return f;
}

static void assert_refused(const ur_cone *cone, const char *sentence, unrelu_error *err)
{
    ur_normals f;
    assert_int_equal(ur_unmix_separable(cone, 1, NULL, &memory, &f, err), UNRELU_EDATA);
    assert_non_null(strstr(err->text, sentence));
    assert_int_equal(ur_unmix_separable(cone, 1, NULL, &memory, &f, NULL), UNRELU_EDATA);
}

static double number_needed(const unrelu_error *err)
{
    const char *at = strstr(err->text, "about ");
    assert_non_null(at);
    return strtod(at + strlen("about "), NULL);
}

static void a_unit_alone_in_a_sample_each_gives_the_normals_to_rounding(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 5, 10, 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            size_t p = sizes[s], n = 20 * p;
            double *M = units(n, p, 0, 0.1, seed);
            plant_alone(M, p);
            planted x = mix(M, n, p, 0, seed);
            ur_normals f = unmix(&x);
            assert_true(error_of(&x, &f) < 1e-12);
            planted_free(&x);
        }
}

static void success_is_that_every_unit_is_alone_in_some_sample(void **state)
{
    (void)state;
    const size_t sizes[] = {100, 140, 600};
    for (size_t s = 0; s < 3; s++) {
        size_t p = 6, n = sizes[s], separable = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            planted x = mix(units(n, p, 0, 0, seed), n, p, 0, seed);
            ur_normals f;
            int truth = each_is_alone(x.M, n, p);
            unrelu_status status = ur_unmix_separable(&x.cone, 1, NULL, &memory, &f, NULL);
            assert_int_equal(status, truth ? UNRELU_OK : UNRELU_EDATA);
            if (truth)
                assert_true(error_of(&x, &f) < 1e-12);
            separable += (size_t)truth;
            planted_free(&x);
        }
        assert_true(separable > 5 && (n == 600 || separable < 45));
    }
}

/* where n is small chance makes cones of p edges: no sample is beyond them either */
static void few_samples_give_the_units_where_alone_and_else_a_cone_or_a_refusal(void **state)
{
    (void)state;
    size_t n = 16, p = 3, refused = 0, chance = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        planted x = mix(units(n, p, 0, 0, seed), n, p, 0, seed);
        ur_normals f;
        int alone = each_is_alone(x.M, n, p);
        unrelu_status status = ur_unmix_separable(&x.cone, 1, NULL, &memory, &f, NULL);
        if (alone) {
            assert_int_equal(status, UNRELU_OK);
            assert_true(error_of(&x, &f) < 1e-12);
        } else if (status == UNRELU_OK) {
            double h[48];
            ur_multiply_nt(n, p, p, x.cone.y, f.U, h);
            for (size_t i = 0; i < n * p; i++)
                assert_true(h[i] > -1e-7);
            chance++;
        } else {
            assert_int_equal(status, UNRELU_EDATA);
            refused++;
        }
        planted_free(&x);
    }
    assert_true(refused > 5 && chance < 20);
}

/* (ln p + .37) / min P of the planted units' shares of zeros */
static double shares_need(const planted *x)
{
    size_t n = x->cone.n, p = x->cone.p;
    double least = 1;
    for (size_t i = 0; i < p; i++) {
        double P = 1;
        for (size_t j = 0; j < p; j++) {
            double off = 0;
            for (size_t l = 0; l < n; l++)
                off += x->M[l * p + j] == 0;
            P *= i == j ? 1 - off / (double)n : off / (double)n;
        }
        least = fmin(least, P);
    }
    return (log((double)p) + 0.37) / least;
}

static void the_samples_needed_are_told_by_the_zeros_that_facets_finds(void **state)
{
    (void)state;
    const struct {
        size_t p, n;
        double b, sigma, need;
    } runs[] = {
        {8, 200, 0, 0, 627}, {7, 400, 0.5, 0, 3882}, {10, 600, 1, 0, 5e7}, {8, 300, 0, 1e-3, 627}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        size_t n = runs[r].n, p = runs[r].p;
        planted x = mix(units(n, p, runs[r].b, 0, r + 1), n, p, runs[r].sigma, r + 1);
        unrelu_error err;
        assert_refused(&x.cone, "`method` facets finds: it has A already, use it", &err);
        assert_non_null(strstr(err.text, "not separable"));
        double need = number_needed(&err);
        assert_near(need / shares_need(&x), 1, 0.06 + 100 * runs[r].sigma);
        assert_true(need > runs[r].need / 2 && need < runs[r].need * 2);
        planted_free(&x);
    }
}

static void without_facets_units_on_half_the_time_are_assumed(void **state)
{
    (void)state;
    planted x = mix(units(14, 6, 0, 0, 1), 14, 6, 0, 1);
    unrelu_error err;
    assert_refused(&x.cone, "an assumption", &err);
    assert_near(number_needed(&err), (log(6) + 0.37) * 64, 3);
    planted_free(&x);
}

/* two units that are always on: any plane cone has two edges */
static void with_noise_edges_that_chance_may_have_made_are_refused(void **state)
{
    (void)state;
    planted x = mix(units(50, 2, 6, 0, 1), 50, 2, 1e-4, 1);
    unrelu_error err;
    assert_refused(&x.cone, "chance may have made this edge", &err);
    planted_free(&x);
}

/* 1 is nearest to m_1 - 2 m_2, so that least squares has the unit 2 alone on the wrong side */
static void a_linear_programme_helps_where_least_squares_has_samples_on_the_wrong_side(void **state)
{
    (void)state;
    size_t n = 60, p = 3, wrong = 0;
    double *M = units(n, p, 0, 0, 1), mean[3] = {0};
    for (size_t i = 0; i < n; i++) {
        M[i * p] = i % 2 ? 3 : 1;
        M[i * p + 1] = i % 2 ? 1 : 0;
    }
    for (size_t i = 0; i < 4; i++) {
        M[i * p] = 0;
        M[i * p + 1] = 0.1 * (double)(i + 1);
        M[i * p + 2] = i % 2 ? 0.1 : 0;
    }
    for (size_t i = 4; i < 8; i++) {
        M[i * p] = i < 6 ? 0 : 1;
        M[i * p + 1] = 0;
        M[i * p + 2] = i < 6 ? 1 : 0;
    }
    planted x = mix(M, n, p, 0, 1);
    for (size_t i = 0; i < n * p; i++)
        mean[i % p] += x.cone.y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double h = 0;
        for (size_t j = 0; j < p; j++)
            h += mean[j] * x.cone.y[i * p + j];
        wrong += h < -1e-3;
    }
    assert_true(wrong > 0);
    ur_normals f = unmix(&x);
    assert_true(error_of(&x, &f) < 1e-12);
    planted_free(&x);
}

static void samples_in_no_half_space_are_refused(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 3};
    for (size_t s = 0; s < 2; s++) {
        size_t p = sizes[s], n = 100;
        double *M = units(n, p, 0, 0, 1);
        for (size_t i = 0; i < n * p / 2; i++)
            M[n * p / 2 + i] = -M[i];
        planted x = mix(M, n, p, 0, 1);
        unrelu_error err;
        assert_refused(&x.cone, "no hyperplane", &err);
        planted_free(&x);
    }
}

static void samples_of_a_smaller_rank_are_refused(void **state)
{
    (void)state;
    planted x = mix(units(100, 3, 0, 0, 1), 100, 3, 0, 1);
    unrelu_error err;
    for (size_t i = 0; i < 100; i++)
        x.cone.y[3 * i + 1] = x.cone.y[3 * i];
    assert_refused(&x.cone, "span 2 of the 3 dimensions", &err);
    planted_free(&x);
}

static void samples_within_their_noise_are_left_out(void **state)
{
    (void)state;
    planted x = mix(units(100, 3, 0, 0, 1), 100, 3, 1e-3, 1);
    unrelu_error err;
    for (size_t i = 0; i < 98 * 3; i++)
        x.cone.y[i] *= 1e-4;
    assert_refused(&x.cone, "of 100 samples are not 0 by 6 deviations", &err);
    planted_free(&x);
}

/* plain successive projections would take a short sample, whose noise scaling has blown up: 50
 * times the error */
static void noise_moves_the_normals_by_about_as_much(void **state)
{
    (void)state;
    const double sigmas[] = {1e-6, 1e-4, 1e-3};
    for (size_t s = 0; s < 3; s++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            size_t p = seed % 2 ? 3 : 5, n = 40 * p * p;
            planted x = mix(units(n, p, 0, 0.2, seed), n, p, sigmas[s], seed);
            ur_normals f = unmix(&x);
            assert_true(error_of(&x, &f) < 5 * sigmas[s]);
            planted_free(&x);
        }
}

/* the noise of the samples taken for edges moves the normals, and is allowed for: without that a
 * third of these succeed */
static void with_noise_samples_are_separable_as_without(void **state)
{
    (void)state;
    size_t n = 80, p = 5, separable = 0, found = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted x = mix(units(n, p, 0, 0.2, seed), n, p, 1e-4, seed);
        ur_normals f;
        int truth = each_is_alone(x.M, n, p);
        unrelu_status status = ur_unmix_separable(&x.cone, 1, NULL, &memory, &f, NULL);
        separable += (size_t)truth;
        found += truth && status == UNRELU_OK;
        if (status == UNRELU_OK)
            assert_true(error_of(&x, &f) < 2e-3);
        else
            assert_int_equal(status, UNRELU_EDATA);
        planted_free(&x);
    }
    assert_true(separable > 10 && separable < 30);
    assert_true(10 * found >= 9 * separable);
}

static void the_lengths_of_samples_do_not_matter(void **state)
{
    (void)state;
    size_t n = 200, p = 4;
    double factor[200];
    planted x = mix(units(n, p, 0, 0.1, 3), n, p, 0, 3);
    ur_normals before = unmix(&x);
    ur_random_uniforms(5, 0, 0, n, factor);
    for (size_t i = 0; i < n * p; i++)
        x.cone.y[i] *= 1e3 * pow(factor[i / p], 4);
    ur_normals after = unmix(&x);
    for (size_t k = 0; k < p; k++) {
        double nearest = 2;
        for (size_t l = 0; l < p; l++) {
            double far = 0;
            for (size_t j = 0; j < p; j++)
                far = fmax(far, fabs(before.U[k * p + j] - after.U[l * p + j]));
            nearest = fmin(nearest, far);
        }
        assert_true(nearest < 1e-13);
    }
    planted_free(&x);
}

static int now(void *context)
{
    (void)context;
    return 1;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    planted x = mix(units(100, 3, 0, 0, 1), 100, 3, 0, 1);
    const unrelu_exec exec = {.size = sizeof exec, .cancelled = now};
    unrelu_error err;
    ur_normals f;
    assert_int_equal(ur_unmix_separable(&x.cone, 1, &exec, &memory, &f, &err), UNRELU_ECANCELLED);
    planted_free(&x);
}

/* ---- where the tolerances lie ---- */

/* two units, alone in the first two samples, of which the second is of this size */
static unrelu_status unmix_small(double size)
{
    double y[] = {1, 0, 0, size};
    ur_normals found;
    UR_ARENA(memory);
    const ur_cone cone = {.n = 2, .d = 2, .p = 2, .x = y, .y = y, .tolerance = 1e-8};
    return ur_unmix_separable(&cone, 1, NULL, &memory, &found, NULL);
}

static void a_sample_of_1e_12_of_the_others_is_not_0(void **state)
{
    (void)state;
    assert_int_equal(unmix_small(1e-11), UNRELU_OK);
    assert_int_equal(unmix_small(1e-13), UNRELU_EDATA);
}

/* two units whose columns are opposite but for `open`, half and half */
static unrelu_status unmix_open(double open)
{
    double y[] = {1, open, -1, open, .5, open, -.3, open};
    ur_normals found;
    UR_ARENA(memory);
    const ur_cone cone = {.n = 4, .d = 2, .p = 2, .x = y, .y = y, .tolerance = 1e-8};
    return ur_unmix_separable(&cone, 1, NULL, &memory, &found, NULL);
}

static void a_cone_open_by_1e_9_has_a_side(void **state)
{
    (void)state;
    assert_int_equal(unmix_open(1e-8), UNRELU_OK);
    assert_int_equal(unmix_open(1e-10), UNRELU_EDATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_alone_in_a_sample_each_gives_the_normals_to_rounding),
        cmocka_unit_test(success_is_that_every_unit_is_alone_in_some_sample),
        cmocka_unit_test(few_samples_give_the_units_where_alone_and_else_a_cone_or_a_refusal),
        cmocka_unit_test(the_samples_needed_are_told_by_the_zeros_that_facets_finds),
        cmocka_unit_test(without_facets_units_on_half_the_time_are_assumed),
        cmocka_unit_test(with_noise_edges_that_chance_may_have_made_are_refused),
        cmocka_unit_test(
            a_linear_programme_helps_where_least_squares_has_samples_on_the_wrong_side),
        cmocka_unit_test(samples_in_no_half_space_are_refused),
        cmocka_unit_test(samples_of_a_smaller_rank_are_refused),
        cmocka_unit_test(samples_within_their_noise_are_left_out),
        cmocka_unit_test(noise_moves_the_normals_by_about_as_much),
        cmocka_unit_test(with_noise_samples_are_separable_as_without),
        cmocka_unit_test(the_lengths_of_samples_do_not_matter),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(a_sample_of_1e_12_of_the_others_is_not_0),
        cmocka_unit_test(a_cone_open_by_1e_9_has_a_side),
    };
    return cmocka_run_group_tests(tests, NULL, end_memory);
}
