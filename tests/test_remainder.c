/* SPDX-License-Identifier: Apache-2.0 */
/* What p units leave of the samples: noise stays noise, and a unit that was not counted does not
 * pass for it. */
#include "mixtures.h"

#include "base/random.h"
#include "mixture/problem/unmix.h"

static const unrelu_warning *warning(const unrelu_mixture *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return &m->warnings[i];
    return NULL;
}

/* ---- each statistic alone ---- */

enum { N = 600, P = 2, D = 3 };

/* samples whose third column is what is left; y and M are drawn apart from it */
typedef struct {
    double x[N * D], y[N * P], unit[D], M[N * P];
} samples;

static samples *draw_samples(uint64_t seed)
{
    samples *s = calloc(1, sizeof *s);
    double *z = calloc(N * (D + P), sizeof *z);
    assert_true(s && z);
    ur_random_normals(seed, 1, 0, N * (D + P), z);
    for (size_t i = 0; i < N; i++) {
        s->x[i * D + 2] = z[i * (D + P)];
        for (size_t k = 0; k < P; k++) {
            s->y[i * P + k] = z[i * (D + P) + 1 + k];
            s->M[i * P + k] = z[i * (D + P) + 3 + k]; /* on where above 0 */
        }
    }
    for (size_t j = 0; j < D; j++)
        s->unit[j] = 1;
    free(z);
    return s;
}

static ur_remainder judge(samples *s)
{
    const double direction[D] = {0, 0, 1};
    ur_cone cone = {.n = N, .d = D, .p = P, .x = s->x, .y = s->y, .unit = s->unit};
    ur_remainder worst;
    unrelu_error err = {0};
    must(ur_unmix_remainder(&cone, direction, s->M, &worst, &err), &err);
    return worst;
}

/* five statistics, each with a bound of its chance */
static void noise_surprises_as_rarely_as_it_says(void **state)
{
    (void)state;
    int above_three = 0, above_six = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        samples *s = draw_samples(seed);
        ur_remainder worst = judge(s);
        above_three += worst.surprise > 3;
        above_six += worst.surprise > 6;
        assert_true(worst.surprise < 10);
        free(s);
    }
    assert_true(above_three > 20 && above_three < 2000 * 5 * exp(-3));
    assert_true(above_six < 2000 * 5 * exp(-6));
}

static void a_long_row_is_named(void **state)
{
    (void)state;
    samples *s = draw_samples(1);
    double square = 0, leverage = 0;
    s->x[17 * D + 2] = 9;
    for (size_t i = 0; i < N; i++) {
        double size = s->y[i * P] * s->y[i * P] + s->y[i * P + 1] * s->y[i * P + 1];
        square += s->x[i * D + 2] * s->x[i * D + 2] / (1 - size / N) / N;
        leverage = i == 17 ? size / N : leverage;
    }
    ur_remainder worst = judge(s);
    double away = 9 / sqrt(square * (1 - leverage));
    assert_int_equal(worst.kind, UR_REMAINDER_LONGEST);
    assert_int_equal(worst.at, 17);
    assert_near(worst.value, away, 1e-12);
    assert_near(worst.surprise, away * away / 2 - log(N), 1e-10);
    free(s);
}

/* 0 in most samples, or the same size in all: both are not normal */
static void sizes_that_are_not_normal_are_seen(void **state)
{
    (void)state;
    samples *s = draw_samples(2), *t = draw_samples(3);
    for (size_t i = 0; i < N; i++) {
        s->x[i * D + 2] = i % 5 == 0 ? s->x[i * D + 2] : 0;
        t->x[i * D + 2] = t->x[i * D + 2] > 0 ? 1 : -1;
    }
    ur_remainder sparse = judge(s), even = judge(t);
    assert_int_equal(sparse.kind, UR_REMAINDER_SPREAD);
    assert_near(sparse.value, sqrt(.2), .05);
    assert_int_equal(even.kind, UR_REMAINDER_SPREAD);
    assert_near(even.value, sqrt(M_PI / 2), .01);
    /* z = (1 - sqrt(2/pi)) sqrt(n / (1 - 3/pi)) */
    assert_near(even.surprise, pow(1 - sqrt(2 / M_PI), 2) * N / (1 - 3 / M_PI) / 2, 2);
    free(s);
    free(t);
}

static void what_grows_with_the_samples_is_seen(void **state)
{
    (void)state;
    samples *s = draw_samples(4);
    for (size_t i = 0; i < N; i++)
        s->x[i * D + 2] *= hypot(s->y[i * P], s->y[i * P + 1]) > 1.2 ? 1 : .5;
    ur_remainder worst = judge(s);
    assert_int_equal(worst.kind, UR_REMAINDER_SIZE);
    assert_true(worst.value > .25 && worst.surprise > 20);
    assert_near(worst.surprise, worst.value * worst.value * (N - 1) / 2, 1e-9);
    free(s);
}

static void what_depends_on_a_unit_is_seen(void **state)
{
    (void)state;
    samples *s = draw_samples(5), *t = draw_samples(6);
    double on = 0, shift = 0, square = 0, sum[P] = {0};
    for (size_t i = 0; i < N; i++) {
        s->x[i * D + 2] *= s->M[i * P + 1] > 0 ? 1 : .5;
        t->x[i * D + 2] += s->M[i * P] != 0 && t->M[i * P] > 0 ? .6 : -.6;
    }
    ur_remainder scale = judge(s), moved = judge(t);
    assert_int_equal(scale.kind, UR_REMAINDER_SCALE);
    assert_int_equal(scale.at, 1);
    assert_true(scale.value > .25);
    for (size_t i = 0; i < N; i++) {
        const double *y = t->y + i * P;
        double r = t->x[i * D + 2] / sqrt(1 - (y[0] * y[0] + y[1] * y[1]) / N);
        square += r * r / N;
        if (!(t->M[i * P] > 0))
            continue;
        on++;
        shift += r;
        sum[0] += y[0];
        sum[1] += y[1];
    }
    double variance = on - (sum[0] * sum[0] + sum[1] * sum[1]) / N;
    assert_int_equal(moved.kind, UR_REMAINDER_SHIFT);
    assert_int_equal(moved.at, 0);
    assert_near(moved.value, shift / sqrt(square * variance), 1e-10);
    assert_near(moved.surprise, moved.value * moved.value / 2 - log(P + 1), 1e-9);
    free(s);
    free(t);
}

static void nothing_left_is_no_surprise(void **state)
{
    (void)state;
    samples *s = draw_samples(7);
    for (size_t i = 0; i < N; i++)
        s->x[i * D + 2] = 0;
    assert_near(judge(s).surprise, 0, 0);
    free(s);
}

/* a sample that carries a dimension alone leaves nothing but rounding, and no division by 0 */
static void a_sample_of_leverage_one_says_nothing(void **state)
{
    (void)state;
    samples *s = draw_samples(8);
    s->y[40 * P] = sqrt(N);
    s->x[40 * D + 2] = 1e-3;
    assert_true(judge(s).surprise < 10);
    s->x[17 * D + 2] = 9; /* is still seen */
    assert_int_equal(judge(s).at, 17);
    free(s);
}

/* ---- samples without noise ---- */

/* d = p, and two units of nearly parallel rows of W: one facet is missing, and p - 1 units leave
 * one direction, which is no noise */
static void exact_samples_are_not_called_noisy(void **state)
{
    (void)state;
    int doubted = 0;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int k = 0; k < 3; k++)
            for (size_t n = 60; n <= 180; n += 120) {
                unrelu_mixture_plant_options o;
                unrelu_mixture_plant_options_init(&o, sizeof o);
                o.d = o.p = 3;
                o.kappa = (const double[]){1e3, 1e4, 1e6}[k];
                o.seed = seed * 100 + 3;
                planted_mixture planted = plant_mixture_with(o, n);
                unrelu_mixture *m;
                unrelu_error err = {0};
                if (try_unmix(planted.x, n, 3, NULL, NULL, &m, &err) == UNRELU_OK) {
                    assert_true(m->verdict != UNRELU_VERDICT_NOISY);
                    if (m->p < 3) {
                        assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
                        const unrelu_warning *why = warning(m, "not-noise");
                        assert_non_null(why);
                        assert_non_null(strstr(why->message, "p = 2 units leave"));
                        doubted++;
                    } else if (m->verdict == UNRELU_VERDICT_EXACT) {
                        assert_near(error_of_A(planted.truth, m), 0, 1e-9);
                    }
                }
                unrelu_mixture_free(m);
                planted_mixture_free(&planted);
            }
    assert_true(doubted >= 5);
}

/* the weakest unit on in ten rows or so, in floats without noise and with noise of 3 % */
static void a_rare_unit_is_not_noise(void **state)
{
    (void)state;
    const struct {
        size_t p, d, n;
        double kappa, noise;
    } at[] = {{3, 3, 1200, 1000, 0}, {8, 10, 1600, 9, .03}, {12, 15, 1200, 1, .03}};
    int doubted = 0, missed = 0; /* a unit below the noise in all its rows */
    for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 8); seed++)
        for (size_t k = 0; k < 3; k++) {
            size_t p = at[k].p, d = at[k].d, n = at[k].n;
            unrelu_mixture_plant_options o;
            unrelu_mixture_plant_options_init(&o, sizeof o);
            o.d = d;
            o.p = p;
            o.kappa = at[k].kappa;
            o.noise = at[k].noise;
            o.seed = seed;
            planted_mixture planted = plant_mixture_with(o, 10);
            free(planted.x);
            planted.truth->hidden->b[p - 1] = -2.6 * planted.truth->hidden->scale[p - 1];
            planted.n = n;
            planted.x = draw_mixture(planted.truth, n, seed);
            for (size_t i = 0; i < n * d && at[k].noise == 0; i++)
                planted.x[i] = (double)(float)planted.x[i];
            unrelu_mixture *m;
            unrelu_error err = {0};
            if (try_unmix(planted.x, n, d, NULL, NULL, &m, &err) == UNRELU_OK && m->p < p) {
                int told = warning(m, "not-noise") != NULL;
                assert_true(told || at[k].noise > 0);
                assert_true(!told || m->verdict == UNRELU_VERDICT_AMBIGUOUS);
                doubted += told;
                missed += !told;
            }
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
    assert_true((doubted >= 12 && missed <= 2) || SANITIZED);
}

/* the other side: true noise with one direction beyond the units stays noisy */
static void noise_in_one_direction_is_noise(void **state)
{
    (void)state;
    int noisy = 0, doubted = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted_mixture planted = plant_mixture(5, 4, 0, 400, 0, seed % 2 ? .01 : 1e-3, seed);
        unrelu_unmix_options o;
        unrelu_unmix_options_init(&o, sizeof o);
        o.p = 4;
        unrelu_mixture *m;
        unrelu_error err = {0};
        if (try_unmix(planted.x, planted.n, 5, &o, NULL, &m, &err) == UNRELU_OK) {
            doubted += warning(m, "not-noise") != NULL;
            noisy += m->verdict == UNRELU_VERDICT_NOISY;
        }
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_int_equal(doubted, 0);
    assert_true(noisy >= 30);
}

/* ---- where the tolerances lie ---- */

/* What the rule says of noise that is larger where unit 1 is on, by so much, printed in a format.
 * Two directions are left with d = 5, one with d = 4. */
static int doubts(size_t d, double grow, const char *format)
{
    const size_t n = 1000;
    char text[64];
    planted_mixture planted = plant_mixture(d, 3, 0, n, 0, 0, 3);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    double *e = malloc(n * d * sizeof *e);
    assert_non_null(e);
    ur_random_normals(11, 1, 0, n * d, e);
    for (size_t i = 0; i < n; i++) {
        double size = 0;
        for (size_t j = 0; j < d; j++)
            size += planted.x[i * d + j] * planted.x[i * d + j];
        for (size_t j = 0; j < d; j++)
            planted.x[i * d + j] += .002 * (1 + grow * (size > (double)d / 2)) * e[i * d + j];
    }
    for (size_t i = 0; i < n * d && format; i++) {
        snprintf(text, sizeof text, format, planted.x[i]);
        planted.x[i] = strtod(text, NULL);
    }
    o.p = 3;
    unrelu_mixture *m = unmix(&planted, &o);
    int doubted = warning(m, "not-noise") != NULL;
    assert_int_equal(m->verdict, doubted ? UNRELU_VERDICT_AMBIGUOUS : UNRELU_VERDICT_NOISY);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
    free(e);
    return doubted;
}

static void the_surprise_has_a_limit(void **state)
{
    (void)state;
    for (size_t d = 4; d <= 5; d++) {
        assert_false(doubts(d, 0, NULL));
        assert_false(doubts(d, .05, NULL));
        assert_true(doubts(d, .8, NULL));
    }
    assert_true(doubts(5, .8, "%.4f")); /* 70 deviations of the rounding */
}

/* in one row of ten, of 4000, there is something of 3e-4 of the units' size */
static void a_chance_below_all_numbers_is_not_0(void **state)
{
    enum { ROWS = 4000, WIDE = 4 };
    (void)state;
    planted_mixture planted = plant_mixture(WIDE, 3, 0, ROWS, 0, 0, 4);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    double e[WIDE];
    for (size_t i = 0; i < ROWS; i++) {
        ur_random_normals(12, 1, WIDE * i, WIDE, e);
        for (size_t j = 0; j < WIDE; j++)
            planted.x[i * WIDE + j] +=
                1e-7 * e[j] + (i % 10 ? 0 : 3e-4 * sin((double)i) * (j % 2 ? 1 : -1));
    }
    o.p = 3;
    unrelu_mixture *m = unmix(&planted, &o);
    const unrelu_warning *why = warning(m, "not-noise");
    assert_non_null(why);
    assert_non_null(strstr(why->message, "with a chance below 1e-300"));
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_surprises_as_rarely_as_it_says),
        cmocka_unit_test(a_long_row_is_named),
        cmocka_unit_test(sizes_that_are_not_normal_are_seen),
        cmocka_unit_test(what_grows_with_the_samples_is_seen),
        cmocka_unit_test(what_depends_on_a_unit_is_seen),
        cmocka_unit_test(nothing_left_is_no_surprise),
        cmocka_unit_test(a_sample_of_leverage_one_says_nothing),
        cmocka_unit_test(exact_samples_are_not_called_noisy),
        cmocka_unit_test(a_rare_unit_is_not_noise),
        cmocka_unit_test(noise_in_one_direction_is_noise),
        cmocka_unit_test(the_surprise_has_a_limit),
        cmocka_unit_test(a_chance_below_all_numbers_is_not_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
