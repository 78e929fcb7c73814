/* SPDX-License-Identifier: Apache-2.0 */
/* Unmixing without noise: what comes back, what does not matter, what is refused. */
#include "units.h"

#include "base/random.h"
#include "dense/linear.h"

static double *numbers(size_t count)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static unrelu_unmix_options asking(size_t p)
{
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.p = p;
    return o;
}

static unrelu_unmix_options separable(void)
{
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.method = UNRELU_UNMIX_SEPARABLE;
    return o;
}

static int mixture_warns(const unrelu_mixture *m, const char *code)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i].code, code) == 0)
            return 1;
    return 0;
}

static void assert_exact(const planted_mixture *planted, const unrelu_mixture *model,
                         double tolerance)
{
    assert_string_equal(unrelu_verdict_name(model->verdict), "exact");
    assert_int_equal(model->p, planted->truth->p);
    assert_near(error_of_A(planted->truth, model), 0, tolerance);
}

/* the sentence has each of the fragments, separated by | */
static void assert_says(const unrelu_error *err, const char *fragments)
{
    char copy[512], *rest = copy, *part;
    snprintf(copy, sizeof copy, "%s", fragments);
    while ((part = strsep(&rest, "|")))
        if (!strstr(err->text, part))
            fail_msg("'%s' is missing in: %s", part, err->text);
}

static void assert_refused_as(unrelu_status expected, const double *x, size_t n, size_t d,
                              const unrelu_unmix_options *o, const char *fragments)
{
    unrelu_mixture *model;
    unrelu_error err = {0};
    unrelu_status status = try_unmix(x, n, d, o, NULL, &model, &err);
    if (status != expected)
        fail_msg("status %d, expected %d (%s): %s", (int)status, (int)expected, fragments,
                 err.text);
    assert_says(&err, fragments);
    assert_null(model);
}

static void assert_refused(const double *x, size_t n, size_t d, const unrelu_unmix_options *o,
                           const char *fragments)
{
    assert_refused_as(UNRELU_EDATA, x, n, d, o, fragments);
}

/* the hidden units that the samples were made of (n x p): x = A m, checked */
static double *hidden_units(const planted_mixture *planted)
{
    size_t n = planted->n, d = planted->truth->d, p = planted->truth->p;
    double *M = draw(planted->truth->hidden, n, planted->options.seed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double x = 0;
            for (size_t k = 0; k < p; k++)
                x += planted->truth->A[j * p + k] * M[i * p + k];
            assert_near(planted->x[i * d + j], x, 1e-13);
        }
    return M;
}

/* ---- what comes back ---- */

typedef struct {
    size_t n;
    double bias;
} setting;

static const setting settings[] = {{100, 0}, {205, .7}, {515, 1.3}};

static void A_comes_back_to_rounding(void **state)
{
    (void)state;
    for (size_t s = 0; s < 3; s++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            planted_mixture planted =
                plant_mixture(8, 5, 0, settings[s].n, settings[s].bias, 0, seed);
            unrelu_mixture *m = unmix(&planted, NULL);
            assert_exact(&planted, m, 1e-12);
            assert_int_equal(m->facets, 5);
            assert_int_equal(m->samples_checked, settings[s].n);
            assert_int_equal(m->n, settings[s].n);
            assert_true(m->tries >= 5 && m->seed == 1);
            assert_true(m->noise == 0 && m->relative_noise == 0 && m->A_se == NULL);
            assert_string_equal(m->method, "facets");
            assert_string_equal(m->precision, "double");
            assert_string_equal(m->names[7], "x8");
            assert_string_equal(m->hidden->names[4], "u5");
            assert_non_null(strstr(m->how_p, "the rank of the samples: singular value 5"));
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
}

static void columns_have_unit_length_and_come_by_decreasing_size_of_their_units(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_mixture planted = plant_mixture(9, 6, 0, 300, .2, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        double *M = hidden_units(&planted), before = INFINITY;
        size_t of[6];
        for (size_t j = 0; j < 6; j++)
            of[nearest_unit(planted.truth, m, j)] = j;
        for (size_t k = 0; k < 6; k++) {
            double length = 0, square = 0;
            for (size_t i = 0; i < 9; i++)
                length += m->A[i * 6 + k] * m->A[i * 6 + k];
            for (size_t i = 0; i < 300; i++)
                square += M[i * 6 + of[k]] * M[i * 6 + of[k]];
            assert_near(length, 1, 1e-14);
            assert_true(square < before);
            before = square;
        }
        free(M);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void p_is_found_out(void **state)
{
    (void)state;
    for (size_t p = 2; p <= 9; p++) {
        planted_mixture planted = plant_mixture(p + 2, p, 0, 40 * p, 0, 0, p);
        unrelu_mixture *m = unmix(&planted, NULL);
        assert_exact(&planted, m, 1e-12);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void p_can_be_given(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 200, 0, 0, 2);
    unrelu_unmix_options o = asking(5);
    unrelu_mixture *m = unmix(&planted, &o);
    assert_exact(&planted, m, 1e-12);
    unrelu_mixture_free(m);
    o.p = 4;
    assert_refused(planted.x, 200, 8, &o,
                   "the samples have rank 5 to rounding|singular value 5 is|number 6 is|"
                   "no mixtures of p = 4 units|`p` 5");
    o.p = 6;
    assert_refused(planted.x, 200, 8, &o,
                   "the samples have rank 5, and mixtures of p = 6 units would have rank 6|`p` 5");
    o.p = 9;
    assert_refused(planted.x, 200, 8, &o, "p = 9 units|8 columns");
    o.p = 8; /* as many as columns: rank 5 still */
    assert_refused(planted.x, 200, 8, &o, "have rank 5|p = 8");
    planted_mixture_free(&planted);
}

static void as_many_units_as_columns_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_mixture planted = plant_mixture(5, 5, 0, 150, 0, 0, seed);
        unrelu_unmix_options o = asking(5);
        unrelu_mixture *m = unmix(&planted, NULL), *given = unmix(&planted, &o);
        assert_exact(&planted, m, 1e-12);
        assert_exact(&planted, given, 1e-12);
        assert_string_equal(m->how_p, "the number of columns: full rank without noise");
        unrelu_mixture_free(m);
        unrelu_mixture_free(given);
        planted_mixture_free(&planted);
    }
}

static void fewer_samples_than_columns_do(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(200, 4, 0, 90, 0, 0, 3);
    unrelu_mixture *m = unmix(&planted, NULL);
    assert_exact(&planted, m, 1e-12);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

static void more_latent_directions_than_units_change_nothing(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 4, 9, 100, 0, 0, 3);
    unrelu_mixture *m = unmix(&planted, NULL);
    assert_exact(&planted, m, 1e-12);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

static void one_unit_is_a_ray(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(4, 1, 0, 60, .3, 0, 3);
    unrelu_unmix_options o = asking(1);
    assert_refused(planted.x, 60, 4, NULL, "lie on one ray|`p` 1");
    unrelu_mixture *m = unmix(&planted, &o);
    assert_exact(&planted, m, 1e-14);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

/* full rank, and no noise: not fewer units with the last for noise */
static void as_many_units_as_columns(void **state)
{
    (void)state;
    const size_t p[] = {2, 5, 10, 20};
    for (size_t j = 0; j < 4; j++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            planted_mixture planted = plant_mixture(p[j], p[j], 0, 50 * p[j], 0, 0, seed);
            unrelu_mixture *m = unmix(&planted, NULL);
            assert_exact(&planted, m, 1e-12);
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
}

static void a_sample_beyond_the_span_of_all_others_is_named(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(7, 4, 0, 300, 0, 0, 2);
    for (size_t j = 0; j < 7; j++)
        planted.x[41 * 7 + j] += (double)(j * j) - 3;
    assert_refused(planted.x, 300, 7, NULL, "row 42 alone carries|p = 5|leave it out");
    planted_mixture_free(&planted);
}

/* ---- W of rank below p ---- */

static void where_there_are_facets_that_are_no_units_exact_is_still_right(void **state)
{
    (void)state;
    int exact = 0, ambiguous = 0, more = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted_mixture planted = plant_mixture(8, 5, 3, 500, 0, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        if (m->verdict == UNRELU_VERDICT_EXACT) {
            exact++;
            assert_near(error_of_A(planted.truth, m), 0, 1e-11);
            assert_false(mixture_warns(m, "ambiguous"));
        } else {
            ambiguous++;
            assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
            assert_true(mixture_warns(m, "ambiguous"));
            more += m->facets > 5;
        }
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(ambiguous >= 6 && more >= 2 && exact + ambiguous == 12);
}

/* the first warning with these words; warning_count: none has them */
static size_t find_message(const unrelu_mixture *m, const char *words)
{
    size_t i = 0;
    while (i < m->warning_count && !strstr(m->warnings[i].message, words))
        i++;
    return i;
}

/* seen in samples of one pattern, also where there are p facets and no more */
static void a_rank_below_p_is_seen(void **state)
{
    (void)state;
    int alone = 0, second = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted_mixture planted = plant_mixture(8, 5, 4, 500, 0, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        size_t facets = find_message(m, "facets for p = 5 units");
        size_t rank = find_message(m, "W has rank below p = 5");
        assert_true((facets < m->warning_count) == (m->facets > 5));
        if (rank < m->warning_count) {
            assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
            alone += m->facets == 5;
            second += facets < rank; /* both rules are told, the more important first */
        }
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(alone >= 2 && second >= 1);
}

/* six units without noise, five asked for: what is left is no noise */
static void units_that_leave_too_much_are_refused(void **state)
{
    (void)state;
    unrelu_unmix_options o = asking(5);
    int left = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted_mixture planted = plant_mixture(6, 6, 0, 400, 0, 0, seed);
        unrelu_mixture *m;
        unrelu_error err = {0};
        unrelu_status status = try_unmix(planted.x, 400, 6, &o, NULL, &m, &err);
        /* the sixth may be so weak that the user, who gave p, is believed */
        assert_true(status == UNRELU_EDATA || m->residual < 4 * m->relative_noise);
        left += strstr(err.text, "times the noise that the singular values") != NULL;
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(left >= 1);
}

/* few facets, so that one may be missed and another stand for a unit */
static void units_in_a_plane_are_ambiguous_rather_than_wrong(void **state)
{
    (void)state;
    int exact = 0, wrong = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        planted_mixture planted = plant_mixture(5, 3, 2, 200, 0, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        double error = error_of_A(planted.truth, m);
        if (m->verdict == UNRELU_VERDICT_EXACT) {
            exact++;
            assert_near(error, 0, 1e-11);
        } else {
            assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
            wrong += !(error < 1e-6);
        }
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(exact >= 3 && wrong >= 1);
}

/* ---- what does not matter ---- */

/* the same columns in some order, entries relative to the unit of their rows */
static void assert_same_A(const unrelu_mixture *a, const unrelu_mixture *b, double tolerance)
{
    assert_int_equal(a->p, b->p);
    assert_near(error_of_A(a, b), 0, tolerance);
}

static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 150, 0, 0, 4);
    unrelu_mixture *m = unmix(&planted, NULL);
    double row[8];
    for (size_t i = 0; i < 75; i++) { /* back to front */
        double *a = planted.x + i * 8, *b = planted.x + (149 - i) * 8;
        memcpy(row, a, sizeof row);
        memcpy(a, b, sizeof row);
        memcpy(b, row, sizeof row);
    }
    unrelu_mixture *other = unmix(&planted, NULL);
    assert_exact(&planted, other, 1e-12);
    assert_same_A(m, other, 1e-13);
    assert_int_equal(m->min_off, other->min_off);
    for (size_t k = 0; k < 5; k++)
        assert_near(other->hidden->b[k], m->hidden->b[k], 1e-10);
    unrelu_mixture_free(m);
    unrelu_mixture_free(other);
    planted_mixture_free(&planted);
}

static void a_positive_factor_scales_the_hidden_layer_alone(void **state)
{
    (void)state;
    const double factors[] = {0x1p40, 0x1p-70, 1e-90, 3.7, 1e95};
    for (size_t f = 0; f < 5; f++) {
        planted_mixture planted = plant_mixture(8, 5, 0, 150, .2, 0, 5);
        unrelu_mixture *m = unmix(&planted, NULL);
        for (size_t i = 0; i < 150 * 8; i++)
            planted.x[i] *= factors[f];
        unrelu_mixture *other = unmix(&planted, NULL);
        assert_exact(&planted, other, 1e-12);
        if (f < 2) /* powers of two */
            assert_memory_equal(m->A, other->A, 40 * sizeof *m->A);
        for (size_t k = 0; k < 5; k++)
            assert_near(other->hidden->b[k] / factors[f], m->hidden->b[k], 1e-10);
        for (size_t k = 0; k < 25; k++)
            assert_near(other->hidden->correlation[k], m->hidden->correlation[k], 1e-10);
        unrelu_mixture_free(m);
        unrelu_mixture_free(other);
        planted_mixture_free(&planted);
    }
}

/* rows of A, each column at unit length again */
static void scale_rows(unrelu_mixture *m, const double *unit)
{
    for (size_t k = 0; k < m->p; k++) {
        double square = 0;
        for (size_t j = 0; j < m->d; j++) {
            m->A[j * m->p + k] *= unit[j];
            square += m->A[j * m->p + k] * m->A[j * m->p + k];
        }
        for (size_t j = 0; j < m->d; j++)
            m->A[j * m->p + k] /= sqrt(square);
    }
}

/* the smallest rows have all their digits too */
static void columns_may_have_wildly_different_units(void **state)
{
    (void)state;
    const double unit[] = {1e6, 1e-6, 1, 1e-6, 1e6, 1e3, 1e-3, 7};
    double back[8];
    planted_mixture planted = plant_mixture(8, 5, 0, 150, 0, 0, 6);
    unrelu_mixture *m = unmix(&planted, NULL);
    for (size_t i = 0; i < 150 * 8; i++)
        planted.x[i] *= unit[i % 8];
    unrelu_mixture *other = unmix(&planted, NULL);
    assert_int_equal(other->verdict, UNRELU_VERDICT_EXACT);
    for (size_t j = 0; j < 8; j++)
        back[j] = 1 / unit[j];
    scale_rows(other, back);
    assert_same_A(m, other, 1e-12);
    unrelu_mixture_free(m);
    unrelu_mixture_free(other);
    planted_mixture_free(&planted);
}

static void the_order_of_columns_does_not_matter(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 150, 0, 0, 7);
    for (size_t i = 0; i < 150; i++)
        for (size_t j = 0; j < 4; j++) {
            double *x = planted.x + i * 8, t = x[j];
            x[j] = x[7 - j];
            x[7 - j] = t;
        }
    for (size_t k = 0; k < 5; k++)
        for (size_t j = 0; j < 4; j++) {
            double *A = planted.truth->A, t = A[j * 5 + k];
            A[j * 5 + k] = A[(7 - j) * 5 + k];
            A[(7 - j) * 5 + k] = t;
        }
    unrelu_mixture *m = unmix(&planted, NULL);
    assert_exact(&planted, m, 1e-12);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

static void columns_of_zeros_are_rows_of_zeros_in_A(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 150, 0, 0, 7);
    for (size_t i = 0; i < 150; i++)
        planted.x[i * 8 + 3] = 0;
    memset(planted.truth->A + 15, 0, 5 * sizeof(double));
    unrelu_mixture *m = unmix(&planted, NULL);
    assert_exact(&planted, m, 1e-12);
    for (size_t k = 0; k < 5; k++)
        assert_true(fabs(m->A[15 + k]) < 1e-14);
    unrelu_mixture_free(m);
    planted_mixture_free(&planted);
}

static void samples_of_zeros_and_repeated_ones_do_no_harm(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 100, 0, 0, 8);
    double *x = numbers(350 * 8);
    memcpy(x + 50 * 8, planted.x, 800 * sizeof *x);
    memcpy(x + 200 * 8, planted.x, 800 * sizeof *x);
    for (size_t i = 0; i < 50; i++) /* and one row many times */
        memcpy(x + (300 + i) * 8, planted.x + 7 * 8, 8 * sizeof *x);
    unrelu_mixture *m;
    unrelu_error err = {0};
    must(try_unmix(x, 350, 8, NULL, NULL, &m, &err), &err);
    assert_exact(&planted, m, 1e-12);
    unrelu_mixture_free(m);
    free(x);
    planted_mixture_free(&planted);
}

static unrelu_mixture *unmix_by(const planted_mixture *planted, int threads, uint64_t seed)
{
    unrelu_exec exec = {.size = sizeof exec, .threads = threads};
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    unrelu_mixture *m;
    unrelu_error err = {0};
    o.seed = seed;
    must(try_unmix(planted->x, planted->n, planted->truth->d, &o, &exec, &m, &err), &err);
    return m;
}

static void assert_same_bits(const unrelu_mixture *a, const unrelu_mixture *b)
{
    size_t p = a->p, d = a->d;
    assert_int_equal(b->p, p);
    assert_memory_equal(a->A, b->A, d * p * sizeof(double));
    assert_true(!a->A_se == !b->A_se);
    if (a->A_se)
        assert_memory_equal(a->A_se, b->A_se, d * p * sizeof(double));
    assert_memory_equal(a->hidden->b, b->hidden->b, p * sizeof(double));
    assert_memory_equal(a->hidden->sigma, b->hidden->sigma, p * p * sizeof(double));
    assert_memory_equal(a->hidden->sigma_se, b->hidden->sigma_se, p * p * sizeof(double));
    assert_true(a->residual == b->residual && a->negative == b->negative && a->noise == b->noise);
    assert_true(a->tries == b->tries && a->verdict == b->verdict);
}

/* several blocks of rows; with noise too */
static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        planted_mixture planted = plant_mixture(8, 5, 0, 9000, 0, noisy * .01, 9);
        unrelu_mixture *one = unmix_by(&planted, 1, 1);
        assert_int_equal(one->verdict, noisy ? UNRELU_VERDICT_NOISY : UNRELU_VERDICT_EXACT);
        for (int threads = 2; threads <= 7; threads += 5) {
            unrelu_mixture *many = unmix_by(&planted, threads, 1);
            assert_same_bits(one, many);
            unrelu_mixture_free(many);
        }
        unrelu_mixture_free(one);
        planted_mixture_free(&planted);
    }
}

static void a_seed_gives_the_same_bits_and_another_the_same_A(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 150, 0, 0, 10);
    unrelu_mixture *m = unmix_by(&planted, 2, 3), *again = unmix_by(&planted, 2, 3),
                   *other = unmix_by(&planted, 2, 4);
    assert_same_bits(m, again);
    assert_true(m->seed == 3 && other->seed == 4);
    assert_exact(&planted, other, 1e-12);
    unrelu_mixture_free(m);
    unrelu_mixture_free(again);
    unrelu_mixture_free(other);
    planted_mixture_free(&planted);
}

/* ---- the hidden layer ---- */

static void the_hidden_layer_is_the_fit_of_the_true_units(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        planted_mixture planted = plant_mixture(8, 5, 0, 600, .3, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        double *M = hidden_units(&planted), *sorted = numbers(600 * 5);
        size_t least = 600;
        for (size_t j = 0; j < 5; j++) {
            size_t k = nearest_unit(planted.truth, m, j), positive = 0, off = 0;
            for (size_t i = 0; i < 600; i++) {
                const double *row = M + i * 5;
                int any = row[0] > 0 || row[1] > 0 || row[2] > 0 || row[3] > 0 || row[4] > 0;
                sorted[i * 5 + k] = row[j];
                positive += row[j] > 0;
                off += any && !(row[j] > 0);
            }
            assert_true(m->hidden->positive[k] == (double)positive);
            assert_true(m->hidden->observed[k] == 600);
            least = off < least ? off : least;
        }
        assert_int_equal(m->min_off, least);
        unrelu_gaussian *direct = fit(sorted, 600, 5, NULL);
        for (size_t k = 0; k < 5; k++) {
            assert_near(m->hidden->b[k], direct->b[k], 1e-9);
            assert_near(m->hidden->b_se[k], direct->b_se[k], 1e-9);
            assert_near(m->hidden->scale[k], direct->scale[k], 1e-9);
        }
        for (size_t k = 0; k < 25; k++) {
            assert_near(m->hidden->sigma[k], direct->sigma[k], 1e-9);
            assert_near(m->hidden->sigma_se[k], direct->sigma_se[k], 1e-9);
            assert_near(m->hidden->correlation[k], direct->correlation[k], 1e-9);
        }
        unrelu_gaussian_free(direct);
        free(M);
        free(sorted);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

static void b_and_sigma_are_within_five_standard_errors(void **state)
{
    (void)state;
    const double bias[] = {-.7, 0, 1};
    for (size_t s = 0; s < 3; s++) {
        planted_mixture planted = plant_mixture(7, 4, 0, 3000, bias[s], 0, s + 1);
        unrelu_mixture *m = unmix(&planted, NULL);
        z_scores z = {0};
        z_add_b(&z, planted.truth, m);
        z_add_sigma(&z, planted.truth, m);
        assert_true(z.of == 14);
        assert_true(z.square < 25 && z_rms(&z) > .2 && z_rms(&z) < 2);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

/* ---- the certificate, by its definition ---- */

typedef struct {
    double residual, negative;
} certificate;

/* M = X A (A'A)^-1, below `on` deviations of its noise 0; y'y = n M (M'M)^-1 M', h = M over its
 * root mean square. Residuals are in units of the columns: powers of two near their largest
 * value. */
static certificate naive_certificate(const double *x, size_t n, size_t d, const unrelu_mixture *m)
{
    size_t p = m->p;
    certificate c = {0};
    double *G = numbers(p * p), *inverse = numbers(p * p), *left = numbers(d * p),
           *M = numbers(n * p), *unit = numbers(d), away = 0, total = 0;
    int positive;
    ur_multiply_tn(d, p, p, m->A, m->A, G);
    for (size_t k = 0; k < p; k++)
        inverse[k * p + k] = 1;
    must(ur_solve_positive(p, p, G, inverse, &positive, NULL), &(unrelu_error){0});
    ur_multiply(d, p, p, m->A, inverse, left);
    ur_multiply(n, d, p, x, left, M);
    ur_multiply_tn(n, p, p, M, M, G);
    double *rms = numbers(p), *noise = numbers(p);
    for (size_t k = 0; k < p; k++) {
        rms[k] = sqrt(G[k * p + k] / (double)n);
        noise[k] = m->noise * sqrt(inverse[k * p + k]);
    }
    memset(inverse, 0, p * p * sizeof *inverse);
    for (size_t k = 0; k < p; k++)
        inverse[k * p + k] = 1;
    must(ur_solve_positive(p, p, G, inverse, &positive, NULL), &(unrelu_error){0});
    for (size_t i = 0; i < n * d; i++)
        unit[i % d] = fmax(unit[i % d], fabs(x[i]));
    for (size_t j = 0; j < d; j++)
        unit[j] = m->noise > 0 ? 1 : ldexp(1, ilogb(unit[j]));
    for (size_t i = 0; i < n; i++) {
        double *row = M + i * p, square = 0;
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++)
                square += (double)n * row[k] * inverse[k * p + l] * row[l];
        for (size_t k = 0; k < p; k++) {
            double size = sqrt(square);
            if (size > 0)
                c.negative =
                    fmax(c.negative, m->noise > 0 ? -row[k] / noise[k] : -row[k] / rms[k] / size);
            double off = m->noise > 0 ? 3 * noise[k] : 1e-8 * size * rms[k];
            row[k] = row[k] > off ? row[k] : 0;
        }
        for (size_t j = 0; j < d; j++) {
            double fit = 0;
            for (size_t k = 0; k < p; k++)
                fit += row[k] * m->A[j * p + k];
            away += pow((x[i * d + j] - fit) / unit[j], 2);
            total += pow(x[i * d + j] / unit[j], 2);
        }
    }
    c.residual = sqrt(away / total);
    double *const all[] = {G, inverse, left, M, unit, rms, noise};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return c;
}

static void residual_and_negative_are_those_of_A(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        planted_mixture planted = plant_mixture(8, 5, 0, 400, 0, 0, seed);
        unrelu_mixture *m = unmix(&planted, NULL);
        certificate c = naive_certificate(planted.x, 400, 8, m);
        assert_true(m->residual < 1e-14 && m->residual > 1e-17);
        assert_true(m->residual < 20 * c.residual && c.residual < 20 * m->residual);
        assert_true(m->negative < 1e-13 && m->negative > 1e-17);
        assert_true(m->negative < 50 * c.negative && c.negative < 50 * m->negative);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
        planted = plant_mixture(8, 5, 0, 400, 0, .01, seed);
        m = unmix(&planted, NULL);
        c = naive_certificate(planted.x, 400, 8, m);
        assert_int_equal(m->verdict, UNRELU_VERDICT_NOISY);
        assert_near(m->residual / c.residual, 1, 1e-9);
        assert_near(m->negative / c.negative, 1, 1e-9);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
}

/* ---- what is refused ---- */

static void samples_that_say_nothing_are_refused(void **state)
{
    (void)state;
    double *x = numbers(60 * 4), *t = numbers(60 * 4);
    unrelu_unmix_options o = asking(2);
    assert_refused(x, 60, 4, NULL, "all 60 samples are 0");
    assert_refused(x, 60, 4, &o, "all 60 samples are 0");
    ur_random_uniforms(1, 1, 0, 240, t);
    assert_refused(t, 2, 4, NULL, "2 rows|at least 3");
    assert_refused(t, 1, 4, NULL, "1 row |at least 3");
    for (size_t i = 0; i < 240; i++)
        x[i] = i % 4 == 3 ? 0 : (double)(i % 4 + 1) * t[i / 4];
    assert_refused(x, 60, 4, NULL, "all 60 samples that are not 0 lie on one ray|`p` 1");
    memset(x + 4 * 40, 0, 20 * 4 * sizeof *x);
    assert_refused(x, 60, 4, NULL, "all 40 samples that are not 0 lie on one ray");
    memcpy(x, t, 240 * sizeof *x);
    memset(x + 4 * 6, 0, 54 * 4 * sizeof *x);
    o.p = 4;
    assert_refused(x, 60, 4, &o, "6 samples that are not 0|p = 4|2 p = 8|20 p = 80");
    assert_refused(x, 60, 4, NULL, "6 samples that are not 0 have rank 4|2 p = 8");
    free(x);
    free(t);
}

static void too_few_samples_are_told_how_many_are_needed(void **state)
{
    (void)state;
    int refused = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        planted_mixture planted = plant_mixture(9, 6, 0, 20, 0, 0, seed);
        unrelu_mixture *m;
        unrelu_error err = {0};
        unrelu_status status = try_unmix(planted.x, 20, 9, NULL, NULL, &m, &err);
        if (status != UNRELU_OK) {
            refused++;
            assert_int_equal(status, UNRELU_EDATA);
            assert_says(&err, "found | of 6 facets in | tries among 20 samples: more samples "
                              "(about 20 p = 120");
        } else
            assert_int_equal(m->verdict, UNRELU_VERDICT_UNCERTIFIED);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(refused >= 4);
}

/* Where unit `rare` is on in few samples, a unit shows its facet if it is off in two of these at
 * least: in one, that sample is a coloop, and in none the others leave two directions. By the true
 * units, in how many is it so? */
static size_t facets_shown(const planted_mixture *planted, size_t rare, size_t *on)
{
    size_t n = planted->n, p = planted->truth->p, shown = 1;
    double *M = hidden_units(planted);
    *on = 0;
    for (size_t i = 0; i < n; i++)
        *on += M[i * p + rare] > 0;
    for (size_t k = 0; k < p; k++) {
        size_t off = 0;
        for (size_t i = 0; i < n; i++)
            off += M[i * p + rare] > 0 && M[i * p + k] == 0;
        shown += k != rare && off >= 2;
    }
    free(M);
    return shown;
}

/* p = 20, one unit on in about 10 rows, without noise: all 20 are found and right where the samples
 * show their facets, else it is refused with as many as they show. Never is it 19 units and noise,
 * not even where d = p and nothing tells the seldom unit from noise. */
static void a_unit_that_is_seldom_on_is_found_or_told(void **state)
{
    static const struct {
        size_t d, n;
        double bias;
    } cases[] = {{23, 800, -2.1}, {20, 700, -2}, {40, 400, -2}};
    enum { P = 20, RARE = 7 };
    size_t exact = 0, refused = 0;
    (void)state;
    for (size_t c = 0; c < 3; c++)
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 4); seed++) {
            size_t d = cases[c].d, n = cases[c].n, on;
            planted_mixture planted = plant_mixture(d, P, 0, n, 0, 0, seed);
            unrelu_gaussian *hidden = planted.truth->hidden;
            hidden->b[RARE] = cases[c].bias * hidden->scale[RARE];
            free(planted.x);
            planted.x = draw_mixture(planted.truth, n, seed);
            size_t shown = facets_shown(&planted, RARE, &on);
            unrelu_mixture *m;
            unrelu_error err = {0};
            unrelu_status status = try_unmix(planted.x, n, d, NULL, NULL, &m, &err);
            char told[160];
            assert_in_range(on, 3, 19);
            snprintf(told, sizeof told, "found %zu of 20 facets|a unit is on in %zu samples", shown,
                     on);
            if (shown == P) {
                must(status, &err);
                assert_exact(&planted, m, 1e-10);
                exact++;
            } else {
                assert_int_equal(status, UNRELU_EDATA);
                if (d > P) /* else the last attempt speaks, which was made with noise */
                    assert_says(&err, told);
                refused++;
            }
            unrelu_mixture_free(m);
            planted_mixture_free(&planted);
        }
    assert_true((exact >= 4 && refused >= 4) || SANITIZED);
}

/* Units 0 and 1 of 4: 1 is off only where 0 is, in two thirds of those samples or, if `twins`, in
 * all of them, so that then neither has a facet of its own. */
static void a_unit_that_is_off_only_with_another_is_ambiguous(void **state)
{
    enum { N = 400, P = 4 };
    (void)state;
    for (int twins = 0; twins < 2; twins++) {
        double *x = numbers(N * P), A[P * P], z[P];
        ur_random_normals(3, 1, 0, P * P, A);
        for (size_t i = 0; i < N; i++) {
            double first, m[P];
            ur_random_normals(4, 1, P * i, P, z);
            first = fmax(0, z[0]);
            m[0] = first;
            m[1] = first * (2 + sin(z[1])) + (twins ? 0 : fmax(0, z[1] - 0.4));
            m[2] = fmax(0, z[2]);
            m[3] = fmax(0, z[3]);
            for (size_t j = 0; j < P; j++)
                for (size_t k = 0; k < P; k++)
                    x[i * P + j] += A[j * P + k] * m[k];
        }
        unrelu_mixture *m;
        unrelu_error err = {0};
        must(try_unmix(x, N, P, NULL, NULL, &m, &err), &err);
        assert_int_equal(m->verdict, UNRELU_VERDICT_AMBIGUOUS);
        assert_int_equal(m->p, P);
        assert_int_equal(m->facets, twins ? 2 : 3);
        assert_true(m->residual < 1e-12 && m->negative < 1e-8);
        size_t told = find_message(m, twins ? "2 of 4 facets, of units "
                                            : "1 of 4 facets, of unit "); /* then its name */
        assert_true(told < m->warning_count);
        assert_string_equal(m->warnings[told].code, "ambiguous");
        if (!twins) { /* the unit without a certificate is the one whose column is right */
            size_t unit = 0;
            assert_int_equal(
                sscanf(m->warnings[told].message, "1 of 4 facets, of unit %zu,", &unit), 1);
            double along = 0, size = 0;
            for (size_t j = 0; j < P; j++) {
                along += m->A[j * P + unit - 1] * A[j * P + 1];
                size += A[j * P + 1] * A[j * P + 1];
            }
            assert_true(fabs(along / sqrt(size) - 1) < 1e-12);
        }
        unrelu_mixture_free(m);
        free(x);
    }
}

static void what_is_no_mixture_is_refused(void **state)
{
    (void)state;
    double *x = numbers(400 * 6), z[3];
    for (size_t i = 0; i < 400; i++) { /* rank 3, on all sides */
        ur_random_normals(1, 1, 3 * i, 3, z);
        for (size_t j = 0; j < 6; j++)
            x[i * 6 + j] = z[0] * sin((double)j) + z[1] * cos((double)j) + z[2] * (double)j;
    }
    assert_refused(x, 400, 6, NULL, "found 0 of 3 facets|among 400 samples");
    ur_random_normals(2, 1, 0, 2400, x);
    assert_refused(x, 400, 6, NULL, "400");
    unrelu_unmix_options o = asking(3);
    assert_refused(x, 400, 6, &o, "p = 3 units|noise|3 to 5 %");
    free(x);
}

/* among the rows that are searched first, and not among them */
static void a_row_beyond_the_cone_is_named(void **state)
{
    (void)state;
    for (size_t n = 300; n <= 6000; n *= 20)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            planted_mixture planted = plant_mixture(8, 5, 0, n, 0, 0, seed);
            for (size_t j = 0; j < 8; j++)
                planted.x[77 * 8 + j] = -planted.x[77 * 8 + j];
            assert_refused(planted.x, n, 8, NULL,
                           "the cone of most samples has 5 facets, but 1 of |row 78 by |"
                           "leave such rows out");
            planted_mixture_free(&planted);
        }
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 100, 0, 0, 2);
    double kept = planted.x[27];
    planted.x[27] = NAN;
    assert_refused_as(UNRELU_EFORMAT, planted.x, 100, 8, NULL, "row 4|column 4|unmix needs every");
    planted.x[27] = INFINITY;
    assert_refused_as(UNRELU_EFORMAT, planted.x, 100, 8, NULL, "row 4|column 4");
    planted.x[27] = kept;
    for (size_t i = 0; i < 100; i++)
        planted.x[i * 8 + 3] *= 1e101;
    assert_refused(planted.x, 100, 8, NULL, "column 4|1e100");
    for (size_t i = 0; i < 100; i++)
        planted.x[i * 8 + 3] *= 1e-210;
    assert_refused(planted.x, 100, 8, NULL, "column 4|1e-100");
    planted_mixture_free(&planted);
    unrelu_unmix_options o;
    unrelu_unmix_options_init(&o, sizeof o);
    o.method = (unrelu_unmix_method)7;
    assert_refused_as(UNRELU_EUSAGE, &kept, 1, 1, &o, "no method 7");
}

static int always(void *context)
{
    (void)context;
    return 1;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    planted_mixture planted = plant_mixture(8, 5, 0, 100, 0, 0, 2);
    unrelu_exec exec = {.size = sizeof exec, .cancelled = always};
    unrelu_mixture *m;
    unrelu_error err = {0};
    assert_int_equal(try_unmix(planted.x, 100, 8, NULL, &exec, &m, &err), UNRELU_ECANCELLED);
    assert_null(m);
    planted_mixture_free(&planted);
}

/* ---- the paper's way ---- */

static void separable_samples_give_A_by_the_papers_way(void **state)
{
    (void)state;
    unrelu_unmix_options o = separable();
    for (size_t p = 3; p <= 4; p++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            planted_mixture planted = plant_mixture(p + 3, p, 0, 600, 0, 0, seed);
            unrelu_mixture *m = unmix(&planted, &o), *facets = unmix(&planted, NULL);
            assert_exact(&planted, m, 1e-12);
            assert_string_equal(m->method, "separable");
            assert_same_A(m, facets, 1e-12);
            assert_int_equal(m->min_off, facets->min_off);
            unrelu_mixture_free(m);
            unrelu_mixture_free(facets);
            planted_mixture_free(&planted);
        }
}

static void samples_that_are_not_separable_are_refused_with_the_number_needed(void **state)
{
    (void)state;
    unrelu_unmix_options o = separable();
    planted_mixture planted = plant_mixture(12, 8, 0, 200, 0, 0, 1);
    assert_refused(planted.x, 200, 12, &o,
                   "not separable|in none of the 200 samples|samples would be needed|"
                   "`method` facets");
    planted_mixture_free(&planted);
}

/* right by chance or by samples, but never wrong and exact */
static void no_wrong_A_is_called_exact(void **state)
{
    (void)state;
    int uncertified = 0, wrong_uncertified = 0, exact = 0;
    for (int run = 0; run < 300; run++) {
        size_t p = 2 + (size_t)run % 3, n = 4 + (size_t)run / 3 % 27;
        planted_mixture planted = plant_mixture(p + 2, p, 0, n, 0, 0, (uint64_t)run + 1);
        unrelu_unmix_options o = run % 2 ? separable() : asking(0);
        unrelu_mixture *m;
        unrelu_error err = {0};
        unrelu_status status = try_unmix(planted.x, n, p + 2, &o, NULL, &m, &err);
        if (status == UNRELU_OK) {
            double error = error_of_A(planted.truth, m);
            if (m->verdict == UNRELU_VERDICT_EXACT) {
                exact++;
                assert_near(error, 0, 1e-10);
            } else {
                uncertified += m->verdict == UNRELU_VERDICT_UNCERTIFIED;
                wrong_uncertified += m->verdict == UNRELU_VERDICT_UNCERTIFIED && !(error < 1e-6);
                assert_true(mixture_warns(m, "uncertified") || mixture_warns(m, "ambiguous"));
            }
        } else
            assert_int_equal(status, UNRELU_EDATA);
        unrelu_mixture_free(m);
        planted_mixture_free(&planted);
    }
    assert_true(exact > 10 && uncertified > 20 && wrong_uncertified > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(A_comes_back_to_rounding),
        cmocka_unit_test(columns_have_unit_length_and_come_by_decreasing_size_of_their_units),
        cmocka_unit_test(p_is_found_out),
        cmocka_unit_test(p_can_be_given),
        cmocka_unit_test(as_many_units_as_columns_are_found),
        cmocka_unit_test(fewer_samples_than_columns_do),
        cmocka_unit_test(more_latent_directions_than_units_change_nothing),
        cmocka_unit_test(one_unit_is_a_ray),
        cmocka_unit_test(as_many_units_as_columns),
        cmocka_unit_test(a_sample_beyond_the_span_of_all_others_is_named),
        cmocka_unit_test(where_there_are_facets_that_are_no_units_exact_is_still_right),
        cmocka_unit_test(a_rank_below_p_is_seen),
        cmocka_unit_test(units_that_leave_too_much_are_refused),
        cmocka_unit_test(units_in_a_plane_are_ambiguous_rather_than_wrong),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(a_positive_factor_scales_the_hidden_layer_alone),
        cmocka_unit_test(columns_may_have_wildly_different_units),
        cmocka_unit_test(the_order_of_columns_does_not_matter),
        cmocka_unit_test(columns_of_zeros_are_rows_of_zeros_in_A),
        cmocka_unit_test(samples_of_zeros_and_repeated_ones_do_no_harm),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(a_seed_gives_the_same_bits_and_another_the_same_A),
        cmocka_unit_test(the_hidden_layer_is_the_fit_of_the_true_units),
        cmocka_unit_test(b_and_sigma_are_within_five_standard_errors),
        cmocka_unit_test(residual_and_negative_are_those_of_A),
        cmocka_unit_test(samples_that_say_nothing_are_refused),
        cmocka_unit_test(too_few_samples_are_told_how_many_are_needed),
        cmocka_unit_test(a_unit_that_is_seldom_on_is_found_or_told),
        cmocka_unit_test(a_unit_that_is_off_only_with_another_is_ambiguous),
        cmocka_unit_test(what_is_no_mixture_is_refused),
        cmocka_unit_test(a_row_beyond_the_cone_is_named),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(separable_samples_give_A_by_the_papers_way),
        cmocka_unit_test(samples_that_are_not_separable_are_refused_with_the_number_needed),
        cmocka_unit_test(no_wrong_A_is_called_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
