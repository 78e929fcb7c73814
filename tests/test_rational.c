/* SPDX-License-Identifier: Apache-2.0 */
/* Fits verified in exact arithmetic: planted integer networks come back to the last digit, and
 * what is not exact is refused. */
#include "networks.h"

#include "base/random.h"
#include "files.h"
#include "network/verdict/rational/rational.h"

/* ---- fractions ---- */

static double gcd(double a, double b)
{
    while (b != 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return fabs(a);
}

/* the first denominator that has a whole numerator in the range */
static int brute(double low, double high, double most, ur_fraction *out)
{
    for (double q = 1; q <= most; q++)
        for (double p = floor(low * q) - 1; p <= ceil(high * q) + 1; p++)
            if (p / q >= low && p / q <= high) {
                *out = (ur_fraction){p, q};
                return 1;
            }
    return 0;
}

static void the_simplest_fraction_is_that_of_brute_force(void **state)
{
    (void)state;
    double u[3];
    size_t found = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        ur_random_uniforms(1, i, 0, 3, u);
        double low = (u[0] - 0.5) * pow(10, (double)(i % 4)),
               high = low + u[1] * pow(10, -(double)(i % 7));
        ur_fraction a = {0, 0}, b = {0, 0};
        int is = ur_fraction_between(low, high, 300, &a);
        assert_int_equal(is, brute(low, high, 300, &b));
        found += (size_t)is;
        if (!is)
            continue;
        assert_true(a.q == b.q);
        assert_true(a.p / a.q >= low && a.p / a.q <= high);
        if (a.q > 1) /* of whole numbers there may be several */
            assert_true(a.p == b.p || high - low > 1 / (a.q * a.q));
        assert_true(gcd(a.p, a.q) == 1);
    }
    assert_in_range(found, 1000, 3900);
}

static void a_quotient_is_known_again(void **state)
{
    (void)state;
    double u[2], most;
    ur_fraction f;
    for (uint64_t i = 0; i < 20000; i++) {
        ur_random_uniforms(2, i, 0, 2, u);
        double q = ceil(u[0] * pow(10, 1 + (double)(i % 6))), p = floor((u[1] - 0.5) * 1000 * q);
        double common = gcd(p, q);
        assert_true(ur_fraction_of(p / q, &f, &most));
        assert_true(most == 1e6);
        assert_true(f.p == p / common && f.q == q / common);
    }
    static const struct {
        double x, p, q;
    } known[] = {{0, 0, 1},
                 {-0.0, 0, 1},
                 {0.1, 1, 10},
                 {-2.5, -5, 2},
                 {1e-6, 1, 1000000},
                 {1.0 / 3, 1, 3},
                 {1234.5, 2469, 2},
                 {1e15, 1e15, 1},
                 {-0x1p51 + 1, -0x1p51 + 1, 1},
                 {0.3333333, 3333333, 1e7}};
    for (size_t i = 0; i < 9; i++) {
        assert_true(ur_fraction_of(known[i].x, &f, &most));
        assert_true(f.p == known[i].p && f.q == known[i].q);
    }
    assert_false(ur_fraction_of(known[9].x, &f, &most));
}

/* near 10^5 denominators end where doubles are too coarse to tell fractions apart */
static void a_random_double_is_no_fraction(void **state)
{
    (void)state;
    double x[2000], most;
    size_t taken = 0;
    ur_fraction f;
    ur_random_normals(3, 0, 0, 2000, x);
    for (size_t i = 0; i < 2000; i++)
        taken += (size_t)ur_fraction_of(x[i], &f, &most);
    assert_in_range(taken, 0, 3);
    assert_false(ur_fraction_of(0x1p51, &f, &most));
    assert_true(most < 1);
    assert_false(ur_fraction_of(1e-7, &f, &most));
    assert_true(ur_fraction_of(123456.25, &f, &most) && f.q == 4 && most < 2e5);
}

/* ---- null spaces ---- */

/* the last of three rows is twice the first less the second */
static void rows_that_follow_from_others_hold(void **state)
{
    (void)state;
    static const int rows[][4] = {{6, 10, 15, 0}, {2, 0, 0, 7}, {10, 20, 30, -7}, {0, 0, 1, 0}};
    ur_null null;
    unrelu_error err = {0};
    UR_ARENA(arena);
    mpz_t *row = ur_integers(&arena, 4), dot;
    mpz_init(dot);
    must(ur_null_make(4, &arena, &null, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        for (size_t l = 0; l < 4; l++)
            mpz_set_si(row[l], rows[i][l]);
        size_t lost = ur_null_add(&null, row);
        assert_int_equal(lost, i == 2 ? UR_NULL_HOLDS : i == 3 ? 2 : i);
        for (size_t v = 0; v < null.left; v++)
            for (size_t r = 0; r <= i; r++) {
                for (size_t l = 0; l < 4; l++)
                    mpz_set_si(row[l], rows[r][l]);
                ur_integers_dot(4, row, null.vector[v], dot);
                assert_int_equal(mpz_sgn(dot), 0);
                assert_int_not_equal(mpz_sgn(null.vector[v][null.own[v]]), 0);
            }
    }
    ur_null_reduce(&null);
    assert_int_equal(null.left, 1);
    /* (x, y, 0, w): 6 x + 10 y = 0, 2 x + 7 w = 0 */
    static const int wanted[] = {-35, 21, 0, 10};
    int sign = mpz_sgn(null.vector[0][3]);
    for (size_t l = 0; l < 4; l++)
        assert_int_equal(sign * mpz_get_si(null.vector[0][l]), wanted[l]);
    mpz_clear(dot);
}

/* n rows of n + 1 random integers of 20 bits: entries are minors, and the vector meets them all */
static void a_large_null_space_is_exact(void **state)
{
    (void)state;
    enum { N = 30, SIZE = N + 1 };
    double u[SIZE];
    ur_null null;
    unrelu_error err = {0};
    UR_ARENA(arena);
    mpz_t *rows = ur_integers(&arena, N * SIZE), dot;
    mpz_init(dot);
    must(ur_null_make(SIZE, &arena, &null, &err), &err);
    for (size_t i = 0; i < N; i++) {
        ur_random_normals(4, i, 0, SIZE, u);
        for (size_t l = 0; l < SIZE; l++)
            mpz_set_d(rows[i * SIZE + l], floor(u[l] * 0x1p20));
        assert_int_equal(ur_null_add(&null, rows + i * SIZE), i);
    }
    assert_int_equal(null.left, 1);
    for (size_t i = 0; i < N; i++) {
        ur_integers_dot(SIZE, rows + i * SIZE, null.vector[0], dot);
        assert_int_equal(mpz_sgn(dot), 0);
    }
    for (size_t l = 0; l < SIZE; l++) /* Hadamard's bound */
        assert_in_range(mpz_sizeinbase(null.vector[0][l], 2), 1, N * 26);
    mpz_clear(dot);
}

/* ---- planted integers ---- */

typedef struct {
    size_t n, d, k, m;
    long *V, *U;
    double *x, *a;
} whole;

static long draw_whole(uint64_t *seed, long most)
{
    return (long)(random_bits(seed) % (uint64_t)(2 * most + 1)) - most;
}

static long label_of(const whole *w, size_t i, size_t c)
{
    long sum = 0;
    for (size_t j = 0; j < w->k; j++) {
        long t = 0;
        for (size_t l = 0; l < w->d; l++)
            t += w->V[j * w->d + l] * (long)w->x[i * w->d + l];
        sum += w->U[c * w->k + j] * (t > 0 ? t : 0);
    }
    return sum;
}

static whole plant_whole(size_t n, size_t d, size_t k, size_t m, long most, uint64_t seed)
{
    whole w = {.n = n, .d = d, .k = k, .m = m};
    w.V = malloc(k * d * sizeof *w.V);
    w.U = malloc(m * k * sizeof *w.U);
    w.x = malloc(n * d * sizeof *w.x);
    w.a = malloc(n * m * sizeof *w.a);
    for (size_t i = 0; i < k * d; i++)
        w.V[i] = draw_whole(&seed, most);
    for (size_t i = 0; i < m * k; i++)
        w.U[i] = draw_whole(&seed, most);
    for (size_t i = 0; i < n * d; i++)
        w.x[i] = (double)draw_whole(&seed, most);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < m; c++)
            w.a[i * m + c] = (double)label_of(&w, i, c);
    return w;
}

static void whole_free(whole *w)
{
    free(w->V);
    free(w->U);
    free(w->x);
    free(w->a);
}

static unrelu_network *certified(const whole *w, const unrelu_recover_options *options)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    if (options)
        o = *options;
    unrelu_network *model;
    unrelu_error err = {0};
    o.certify = 1;
    must(try_recover(w->x, w->a, w->n, w->d, w->m, &o, NULL, &model, &err), &err);
    return model;
}

static const char *certify_warning(const unrelu_network *model)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, "certify") == 0)
            return model->warnings[i].message;
    return NULL;
}

/* A = f(X V') U' once more, cell by cell, by fractions: x and a are whole numbers over `over` */
static void expect_exact(const whole *w, const unrelu_network *model, unsigned long over)
{
    mpq_t t, sum, weight, cell;
    mpq_inits(t, sum, weight, cell, NULL);
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->m; c++) {
            mpq_set_ui(sum, 0, 1);
            for (size_t j = 0; j < model->k; j++) {
                mpq_set_ui(t, 0, 1);
                for (size_t l = 0; l < w->d; l++) {
                    assert_int_equal(mpq_set_str(weight, model->V_rational[j * w->d + l], 10), 0);
                    mpq_set_si(cell, lround(w->x[i * w->d + l] * (double)over), over);
                    mpq_canonicalize(cell);
                    mpq_mul(cell, cell, weight);
                    mpq_add(t, t, cell);
                }
                mpq_set_str(weight, model->U_rational[c * model->k + j], 10);
                mpq_mul(t, t, weight);
                if (mpq_sgn(t) * mpq_sgn(weight) > 0)
                    mpq_add(sum, sum, t);
            }
            mpq_set_si(cell, lround(w->a[i * w->m + c] * (double)over), over);
            mpq_canonicalize(cell);
            assert_true(mpq_equal(cell, sum));
        }
    mpq_clears(t, sum, weight, cell, NULL);
}

/* the neuron whose row is the planted one without common factor; its U is times that */
static void expect_neuron(const whole *w, const unrelu_network *model, size_t j)
{
    char text[64];
    double common = 0;
    size_t match = model->k;
    for (size_t l = 0; l < w->d; l++)
        common = gcd((double)w->V[j * w->d + l], common);
    for (size_t i = 0; i < model->k; i++) {
        size_t same = 0;
        for (size_t l = 0; l < w->d; l++) {
            snprintf(text, sizeof text, "%ld", w->V[j * w->d + l] / (long)common);
            same += strcmp(model->V_rational[i * w->d + l], text) == 0;
        }
        match = same == w->d ? i : match;
    }
    assert_int_not_equal(match, model->k);
    for (size_t c = 0; c < w->m; c++) {
        snprintf(text, sizeof text, "%ld", w->U[c * w->k + j] * (long)common);
        assert_string_equal(model->U_rational[c * w->k + match], text);
    }
    for (size_t l = 0; l < w->d; l++) { /* the order is that of V */
        double length = 0;
        for (size_t s = 0; s < w->d; s++)
            length += pow((double)w->V[j * w->d + s], 2);
        assert_near(model->V[match * w->d + l], (double)w->V[j * w->d + l] / sqrt(length), 1e-9);
    }
}

static void expect_planted(const whole *w, const unrelu_network *model)
{
    if (!model->V_rational || !model->U_rational) {
        const char *warning = certify_warning(model);
        fail_msg("verdict %s, %s", unrelu_verdict_name(model->verdict), warning ? warning : "");
    }
    assert_null(certify_warning(model));
    assert_int_equal(model->k, w->k);
    for (size_t j = 0; j < w->k; j++)
        expect_neuron(w, model, j);
}

static void planted_integers_come_back_to_the_last_digit(void **state)
{
    (void)state;
    static const struct {
        size_t n, d, k, m;
        long most;
    } sizes[] = {{60, 4, 2, 3, 5},
                 {200, 6, 3, 3, 9},
                 {150, 5, 4, 6, 100},
                 {400, 10, 6, 8, 1000},
                 {80, 3, 1, 1, 3}};
    for (size_t s = 0; s < 5; s++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            whole w =
                plant_whole(sizes[s].n, sizes[s].d, sizes[s].k, sizes[s].m, sizes[s].most, seed);
            unrelu_network *model = certified(&w, NULL);
            expect_planted(&w, model);
            if (seed == 1)
                expect_exact(&w, model, 1);
            unrelu_network_free(model);
            whole_free(&w);
        }
}

/* x and a over a common denominator: V is the same, and so is U */
static void fractions_are_known_from_their_doubles(void **state)
{
    (void)state;
    static const unsigned long over[] = {3, 10, 7, 1000, 90};
    for (uint64_t i = 0; i < 10; i++) {
        whole w = plant_whole(100, 5, 3, 4, 20, 40 + i);
        for (size_t l = 0; l < w.n * w.d; l++)
            w.x[l] /= (double)over[i % 5];
        for (size_t l = 0; l < w.n * w.m; l++)
            w.a[l] /= (double)over[i % 5];
        unrelu_network *model = certified(&w, NULL);
        expect_planted(&w, model);
        expect_exact(&w, model, over[i % 5]);
        unrelu_network_free(model);
        whole_free(&w);
    }
}

/* every row has denominators of its own, and U is none of whole numbers */
static void denominators_may_differ_from_row_to_row(void **state)
{
    (void)state;
    whole w = plant_whole(100, 5, 3, 4, 20, 60);
    for (size_t i = 0; i < w.n; i++) {
        double over = (double)(1 + i % 50);
        for (size_t l = 0; l < w.d; l++)
            w.x[i * w.d + l] /= over;
        for (size_t c = 0; c < w.m; c++)
            w.a[i * w.m + c] /= over * 12;
    }
    unrelu_network *model = certified(&w, NULL);
    assert_non_null(model->V_rational);
    mpq_t u, twelve;
    mpq_inits(u, twelve, NULL);
    mpq_set_ui(twelve, 12, 1);
    const char *products[64];
    char texts[64][64];
    assert_true(w.m * w.k <= 64);
    for (size_t i = 0; i < w.m * w.k; i++) {
        assert_int_equal(mpq_set_str(u, model->U_rational[i], 10), 0);
        mpq_mul(u, u, twelve);
        mpq_get_str(texts[i], 10, u);
        products[i] = texts[i];
    }
    model->U_rational = products;
    mpq_clears(u, twelve, NULL);
    expect_planted(&w, model);
    unrelu_network_free(model);
    whole_free(&w);
}

static void decimals_of_a_csv_file_are_fractions(void **state)
{
    (void)state;
    whole w = plant_whole(60, 4, 2, 3, 30, 70);
    char x[60 * 4 * 8], a[60 * 3 * 16];
    size_t used_x = 0, used_a = 0;
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model;
    unrelu_error err = {0};
    o.certify = 1;
    for (size_t l = 0; l < w.n * w.d; l++)
        used_x += (size_t)sprintf(x + used_x, "%.1f%c", w.x[l] / 10, (l + 1) % w.d ? ',' : '\n');
    for (size_t l = 0; l < w.n * w.m; l++)
        used_a += (size_t)sprintf(a + used_a, "%.1f%c", w.a[l] / 10, (l + 1) % w.m ? ',' : '\n');
    must(unrelu_source_open(files_text("x.csv", x), NULL, &inputs, &err), &err);
    must(unrelu_source_open(files_text("a.csv", a), NULL, &labels, &err), &err);
    must(unrelu_recover(inputs, labels, &o, NULL, &model, &err), &err);
    expect_planted(&w, model);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    unrelu_network_free(model);
    whole_free(&w);
}

static void weights_of_any_size_are_written_in_full(void **state)
{
    (void)state;
    whole w = plant_whole(200, 4, 2, 2, 9, 80);
    for (size_t i = 0; i < w.n * w.m; i++)
        w.a[i] *= 1e9; /* beyond 32 bits */
    for (size_t i = 0; i < w.m * w.k; i++)
        w.U[i] *= 1000000000;
    unrelu_network *model = certified(&w, NULL);
    expect_planted(&w, model);
    unrelu_network_free(model);
    whole_free(&w);
}

/* ---- more than one solution ---- */

/* a column twice, one of zeros, one that is a sum: V is not unique, and still exact */
static void inputs_of_low_rank_are_verified_all_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        whole w = plant_whole(120, 7, 3, 4, 9, 90 + seed);
        for (size_t i = 0; i < w.n; i++) {
            double *x = w.x + i * w.d;
            x[1] = x[0];
            x[2] = 0;
            x[3] = x[4] - 2 * x[5];
            for (size_t c = 0; c < w.m; c++)
                w.a[i * w.m + c] = (double)label_of(&w, i, c);
        }
        unrelu_network *model = certified(&w, NULL);
        assert_null(certify_warning(model));
        assert_non_null(model->V_rational);
        for (size_t j = 0; j < w.k; j++) {
            assert_string_equal(model->V_rational[j * w.d], model->V_rational[j * w.d + 1]);
            assert_string_equal(model->V_rational[j * w.d + 2], "0");
        }
        expect_exact(&w, model, 1);
        unrelu_network_free(model);
        whole_free(&w);
    }
}

/* few rows: many networks fit, and that which was found is rounded to one of fractions */
static void a_network_that_few_rows_leave_free_is_rounded_to_an_exact_one(void **state)
{
    (void)state;
    size_t several = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        whole w = plant_whole(16, 6, 2, 2, 9, 200 + seed);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.biases = UNRELU_BIASES_NONE;
        unrelu_network *model = certified(&w, &o);
        if (model->verdict == UNRELU_VERDICT_UNCERTIFIED && model->k == 2 &&
            model->min_active < w.d) {
            if (!model->V_rational)
                fail_msg("seed %d: %s", (int)seed, certify_warning(model));
            expect_exact(&w, model, 1);
            several++;
        }
        unrelu_network_free(model);
        whole_free(&w);
    }
    assert_in_range(several, 5, 40);
}

/* small integers, where many rows are on kinks, repeated or zero */
static void what_enumeration_finds_among_small_integers_is_exact(void **state)
{
    (void)state;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    size_t verified = 0;
    o.method = UNRELU_RECOVER_ENUMERATE;
    o.biases = UNRELU_BIASES_NONE;
    o.certify = 1;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        whole w = plant_whole(8, 3, 2, 2, 2, 1000 + seed);
        unrelu_network *model;
        unrelu_error err = {0};
        unrelu_status status = try_recover(w.x, w.a, w.n, w.d, w.m, &o, NULL, &model, &err);
        if (status == UNRELU_OK && model->V) {
            if (!model->V_rational)
                fail_msg("seed %d: %s", (int)seed, certify_warning(model));
            expect_exact(&w, model, 1);
            verified++;
        }
        unrelu_network_free(model);
        whole_free(&w);
    }
    assert_in_range(verified, 100, 200);
}

/* ---- one neuron by hand: v = (1, t) ---- */

/* on at (1, 0) alone, where the label is 3; off at the rest, which leaves t in [-1 - 2e-8,
 * -1 - 1e-8] */
static const double narrow_x[] = {1, 0, 100000001, 100000000, -100000002, -100000000, 0, 1, 0, 1};
static const double narrow_a[] = {3, 0, 0, 0, 0};

static ur_fractions by_hand(double t, ur_arena *arena)
{
    double V[] = {1 / hypot(1, t), t / hypot(1, t)}, U = 3 * hypot(1, t), none = 0;
    ur_problem given = {0};
    ur_outcome out = ur_outcome_in(arena);
    ur_fractions fractions;
    unrelu_recover_options_init(&given.options, sizeof given.options);
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_error err = {0};
    out.answer = UR_EXACT;
    out.weights = (ur_weights){.d = 2, .k = 1, .m = 1, .U = &U, .V = V, .c = &none, .e = &none};
    must(unrelu_source_memory(narrow_x, 5, 2, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(narrow_a, 5, 1, NULL, &labels, &err), &err);
    must(ur_data_load(inputs, labels, NULL, arena, &given.data, &err), &err);
    must(ur_rational(&given, &out, UNRELU_VERDICT_UNCERTIFIED, arena, &fractions, &err), &err);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    return fractions;
}

/* -1 is the simplest number within 1e-7, and on the wrong side */
static void a_free_neuron_is_rounded_as_finely_as_its_signs_demand(void **state)
{
    (void)state;
    whole w = {.n = 5, .d = 2, .k = 1, .m = 1, .x = (double *)narrow_x, .a = (double *)narrow_a};
    UR_ARENA(arena);
    ur_fractions found = by_hand(-1 - 1.5e-8, &arena);
    assert_null(found.why);
    expect_exact(&w,
                 &(unrelu_network){
                     .d = 2, .k = 1, .m = 1, .n = 5, .V_rational = found.V, .U_rational = found.U},
                 1);
}

/* by these signs t is -1 - 1e-8 */
static void weights_that_are_not_those_of_the_model_are_refused(void **state)
{
    (void)state;
    UR_ARENA(arena);
    ur_fractions found = by_hand(-1 + 1e-3, &arena);
    assert_null(found.V);
    assert_string_equal(found.why,
                        "not verified in exact arithmetic: the fit is near but not exact: neuron 1 "
                        "is another one in exact arithmetic");
}

/* ---- what is not exact ---- */

static void expect_refusal_of(const whole *w, const unrelu_recover_options *o, const char *why)
{
    unrelu_network *model = certified(w, o);
    const char *warning = certify_warning(model);
    assert_null(model->V_rational);
    assert_null(model->U_rational);
    assert_non_null(warning);
    if (!strstr(warning, why))
        fail_msg("'%s' is not in '%s'", why, warning);
    assert_ptr_equal(strstr(warning, "not verified in exact arithmetic: "), warning);
    unrelu_network_free(model);
}

/* 1/4 of labels of about 1e5 is within single precision, as which whole numbers are taken */
static void a_label_that_is_off_by_a_fraction_is_found(void **state)
{
    (void)state;
    char why[128];
    for (size_t row = 100; row < 300; row += 40) {
        whole w = plant_whole(300, 5, 3, 3, 60, 300 + row);
        w.a[row * 3 + row / 40 % 3] += 0.25;
        snprintf(why, sizeof why, "near but not exact: for neuron 1 row %zu contradicts the rows",
                 row + 1);
        expect_refusal_of(&w, NULL, why);
        whole_free(&w);
    }
    whole w = plant_whole(300, 5, 3, 4, 60, 7); /* more labels than neurons */
    w.a[250 * 4 + 1] -= 0.25;
    expect_refusal_of(&w, NULL,
                      "labels of rows 1 to 251 have rank 4, and 3 neurons give at most 3");
    whole_free(&w);
}

/* a row on the kink, where neither side says what the label is */
static void a_label_on_a_kink_is_looked_at(void **state)
{
    (void)state;
    whole w = plant_whole(120, 3, 1, 2, 50, 8);
    double *x = w.x + 77 * 3;
    x[0] = (double)-w.V[1];
    x[1] = (double)w.V[0];
    x[2] = 0;
    w.a[77 * 2] = w.a[77 * 2 + 1] = 0;
    unrelu_network *model = certified(&w, NULL);
    expect_planted(&w, model);
    unrelu_network_free(model);
    w.a[77 * 2] = 1.0 / 1024 * (double)w.U[0];
    w.a[77 * 2 + 1] = 1.0 / 1024 * (double)w.U[1];
    expect_refusal_of(&w, NULL, "row 78, column 1 of the labels is not met by the weights");
    whole_free(&w);
}

/* 1e-9 is no fraction of a cell of this size */
static void a_cell_that_is_no_fraction_is_named(void **state)
{
    (void)state;
    whole w = plant_whole(200, 5, 3, 4, 60, 9);
    double changed = w.a[33 * 4 + 2] + 1e-9;
    char why[256];
    w.a[33 * 4 + 2] = changed;
    snprintf(
        why, sizeof why,
        "row 34, column 3 of the labels is %.17g, which is no fraction of a denominator up to ",
        changed);
    expect_refusal_of(&w, NULL, why);
    whole_free(&w);
}

static void random_doubles_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 100, 0, 1);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.certify = 1;
    unrelu_network *model = recover(&p, &o);
    assert_int_equal(model->verdict, UNRELU_VERDICT_EXACT);
    char why[256];
    snprintf(
        why, sizeof why,
        "not verified in exact arithmetic: row 1, column 1 of the inputs is %.17g, which is no "
        "fraction of a denominator up to 1000000: exact arithmetic is for data of integers or "
        "fractions",
        p.x[0]);
    assert_string_equal(certify_warning(model), why);
    assert_null(model->V_rational);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void other_networks_are_refused_with_a_reason(void **state)
{
    (void)state;
    whole w = plant_whole(200, 5, 3, 4, 9, 10);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.biases = UNRELU_BIASES_BOTH;
    expect_refusal_of(&w, &o, "the network has biases, and only such without are verified");
    unrelu_recover_options_init(&o, sizeof o);
    o.activation = (unrelu_activation){UNRELU_POWER, 2};
    for (size_t i = 0; i < w.n; i++)
        for (size_t c = 0; c < w.m; c++) {
            w.a[i * w.m + c] = 0;
            for (size_t j = 0; j < w.k; j++) {
                double t = 0;
                for (size_t l = 0; l < w.d; l++)
                    t += (double)w.V[j * w.d + l] * w.x[i * w.d + l];
                w.a[i * w.m + c] += t > 0 ? (double)w.U[c * w.k + j] * t * t : 0;
            }
        }
    expect_refusal_of(&w, &o, "the activation is power:2, and only networks of relu are verified");
    o.activation = (unrelu_activation){UNRELU_RELU, 0};
    o.labels = UNRELU_LABELS_NOISELESS;
    expect_refusal_of(&w, &o, "the verdict is 'failed', and only an exact fit can be verified");
    whole_free(&w);
    uint64_t seed = 1;
    w = plant_whole(200, 5, 3, 4, 9, 10);
    for (size_t i = 0; i < w.n * w.m; i++)
        w.a[i] += (double)draw_whole(&seed, 5);
    expect_refusal_of(&w, NULL, "the verdict is 'noisy', and only an exact fit can be verified");
    whole_free(&w);
}

/* v, -v with u, -u: four neurons, labels of rank three */
static void labels_of_too_low_a_rank_are_refused(void **state)
{
    (void)state;
    whole w = plant_whole(200, 5, 4, 4, 9, 11);
    for (size_t l = 0; l < w.d; l++)
        w.V[l] = -w.V[w.d + l];
    for (size_t c = 0; c < w.m; c++)
        w.U[c * w.k] = -w.U[c * w.k + 1];
    for (size_t i = 0; i < w.n * w.m; i++)
        w.a[i] = (double)label_of(&w, i / w.m, i % w.m);
    expect_refusal_of(&w, NULL,
                      "the labels have rank 3, and 4 neurons are verified from labels of rank 4");
    whole_free(&w);
}

/* of an integer network whose rows are off by this much: why it is not exact, NULL where it is */
static const char *why_of_rows_off_by(double off, ur_arena *arena)
{
    enum { N = 60, D = 3, K = 2, M = 2 };
    static const double V[K * D] = {1, 2, -1, 2, -1, 1}, U[M * K] = {1, 2, -1, 3};
    unrelu_error err = {0};
    static double u[N * D], x[N * D], a[N * M];
    double rows[K * D], outer[M * K], none[K] = {0};
    ur_problem given = {0};
    ur_outcome out = ur_outcome_in(arena);
    ur_fractions fractions;
    ur_random_uniforms(1, 9, 0, N * D, u);
    for (size_t i = 0; i < N; i++) {
        double t[K] = {0};
        for (size_t l = 0; l < D; l++) /* v x is odd: no sample is on a kink */
            x[i * D + l] = 4 * floor(9 * u[i * D + l]) - 16 + (l == 0);
        for (size_t j = 0; j < K; j++)
            for (size_t l = 0; l < D; l++)
                t[j] += V[j * D + l] * x[i * D + l];
        for (size_t r = 0; r < M; r++)
            a[i * M + r] = U[r * K] * fmax(0, t[0]) + U[r * K + 1] * fmax(0, t[1]);
    }
    for (size_t i = 0; i < K * D; i++)
        rows[i] = V[i] / sqrt(6) + off * (i % 2 ? 1 : -1);
    memcpy(outer, U, sizeof outer);
    out.answer = UR_EXACT;
    out.weights = (ur_weights){
        .d = D, .k = K, .m = M, .f = {UNRELU_RELU, 0}, .U = outer, .V = rows, .c = none, .e = none};
    must(ur_data_hold(N, D, M, x, a, NULL, arena, &given.data, &err), &err);
    must(ur_rational(&given, &out, UNRELU_VERDICT_EXACT, arena, &fractions, &err), &err);
    return fractions.why;
}

static void rows_that_are_1e_6_off_are_not_those_of_the_fit(void **state)
{
    (void)state;
    UR_ARENA(arena);
    assert_null(why_of_rows_off_by(0, &arena));
    assert_null(why_of_rows_off_by(2e-7, &arena));
    assert_non_null(strstr(why_of_rows_off_by(1e-5, &arena), "is another one"));
}

static void without_the_option_nothing_is_said(void **state)
{
    (void)state;
    whole w = plant_whole(100, 4, 2, 3, 9, 12);
    unrelu_network *model;
    unrelu_error err = {0};
    must(try_recover(w.x, w.a, w.n, w.d, w.m, NULL, NULL, &model, &err), &err);
    assert_null(model->V_rational);
    assert_null(certify_warning(model));
    unrelu_network_free(model);
    whole_free(&w);
}

/* ---- cancelled ---- */

typedef struct {
    int reached;
    long calls, last; /* cancelled by the last of so many calls */
} stopper;

static void watch(void *context, const char *stage, double fraction)
{
    stopper *s = context;
    (void)fraction;
    s->reached |= strcmp(stage, "exact arithmetic") == 0;
}

static int stop(void *context)
{
    stopper *s = context;
    return s->reached && ++s->calls >= s->last;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    whole w = plant_whole(600, 6, 3, 4, 9, 13);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    long last = 0;
    o.certify = 1;
    for (unrelu_status status = UNRELU_ECANCELLED; status != UNRELU_OK;) {
        stopper s = {.last = ++last};
        unrelu_exec exec = {
            .size = sizeof exec, .threads = 1, .progress = watch, .cancelled = stop, .context = &s};
        unrelu_network *model;
        unrelu_error err = {0};
        status = try_recover(w.x, w.a, w.n, w.d, w.m, &o, &exec, &model, &err);
        assert_true(s.reached);
        assert_int_equal(status, s.calls >= last ? UNRELU_ECANCELLED : UNRELU_OK);
        assert_int_equal(model && model->V_rational, status == UNRELU_OK);
        unrelu_network_free(model);
    }
    assert_in_range(last, 10, 1000);
    whole_free(&w);
}

/* ---- a program that uses GMP itself ---- */

static size_t their_calls; /* of their functions, which mark what they hand out */
enum { MARK = 64 };

static void *their_allocate(size_t size)
{
    unsigned char *memory = malloc(MARK + size);
    assert_non_null(memory);
    memset(memory, 0xa5, MARK);
    their_calls++;
    return memory + MARK;
}

static void their_free(void *memory, size_t size)
{
    unsigned char *whole = (unsigned char *)memory - MARK;
    (void)size;
    for (int i = 0; i < MARK; i++)
        assert_int_equal(whole[i], 0xa5);
    their_calls++;
    free(whole);
}

static void *their_resize(void *memory, size_t from, size_t to)
{
    void *copy = their_allocate(to);
    memcpy(copy, memory, from < to ? from : to);
    their_free(memory, from);
    return copy;
}

static void grow(void *context, const char *stage, double fraction)
{
    mpz_t *power = context;
    (void)stage;
    (void)fraction;
    mpz_mul_2exp(*power, *power, 1000);
    mpz_add_ui(*power, *power, 1);
}

/* what is theirs stays theirs: numbers from before, and such that change while a verification
 * asks them how to go on */
static void a_program_keeps_its_memory_functions_of_gmp(void **state)
{
    (void)state;
    void *(*allocate)(size_t), *(*resize)(void *, size_t, size_t);
    void (*release)(void *, size_t);
    void *(*before_allocate)(size_t), *(*before_resize)(void *, size_t, size_t);
    void (*before_release)(void *, size_t);
    mp_get_memory_functions(&before_allocate, &before_resize, &before_release);
    mp_set_memory_functions(their_allocate, their_resize, their_free);
    mpz_t power;
    mpz_init_set_ui(power, 1);
    whole w = plant_whole(60, 4, 2, 3, 9, 5);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.certify = 1;
    o.biases = UNRELU_BIASES_NONE;
    unrelu_exec exec = {.size = sizeof exec, .threads = 1, .progress = grow, .context = &power};
    unrelu_network *model;
    unrelu_error err = {0};
    must(try_recover(w.x, w.a, w.n, w.d, w.m, &o, &exec, &model, &err), &err);
    assert_non_null(model->V_rational);
    mp_get_memory_functions(&allocate, &resize, &release);
    assert_true(allocate == their_allocate && resize == their_resize && release == their_free);
    assert_true(mpz_sizeinbase(power, 2) > 2000); /* it was asked more than once */
    assert_true(mpz_scan1(power, 1) == 1000);
    size_t bits = mpz_popcount(power), calls = their_calls;
    assert_int_equal(mpz_sizeinbase(power, 2), 1000 * (bits - 1) + 1);
    mpz_clear(power);
    assert_int_equal(their_calls, calls + 1);
    unrelu_network_free(model);
    whole_free(&w);
    mp_set_memory_functions(before_allocate, before_resize, before_release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_keeps_its_memory_functions_of_gmp),
        cmocka_unit_test(the_simplest_fraction_is_that_of_brute_force),
        cmocka_unit_test(a_quotient_is_known_again),
        cmocka_unit_test(a_random_double_is_no_fraction),
        cmocka_unit_test(rows_that_follow_from_others_hold),
        cmocka_unit_test(a_large_null_space_is_exact),
        cmocka_unit_test(planted_integers_come_back_to_the_last_digit),
        cmocka_unit_test(fractions_are_known_from_their_doubles),
        cmocka_unit_test(denominators_may_differ_from_row_to_row),
        cmocka_unit_test(decimals_of_a_csv_file_are_fractions),
        cmocka_unit_test(weights_of_any_size_are_written_in_full),
        cmocka_unit_test(inputs_of_low_rank_are_verified_all_the_same),
        cmocka_unit_test(a_network_that_few_rows_leave_free_is_rounded_to_an_exact_one),
        cmocka_unit_test(what_enumeration_finds_among_small_integers_is_exact),
        cmocka_unit_test(a_free_neuron_is_rounded_as_finely_as_its_signs_demand),
        cmocka_unit_test(weights_that_are_not_those_of_the_model_are_refused),
        cmocka_unit_test(a_label_that_is_off_by_a_fraction_is_found),
        cmocka_unit_test(a_label_on_a_kink_is_looked_at),
        cmocka_unit_test(a_cell_that_is_no_fraction_is_named),
        cmocka_unit_test(random_doubles_are_refused),
        cmocka_unit_test(other_networks_are_refused_with_a_reason),
        cmocka_unit_test(labels_of_too_low_a_rank_are_refused),
        cmocka_unit_test(rows_that_are_1e_6_off_are_not_those_of_the_fit),
        cmocka_unit_test(without_the_option_nothing_is_said),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
