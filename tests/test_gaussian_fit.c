/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

static unrelu_gaussian_plant_options setting(size_t d, double kappa, uint64_t seed)
{
    unrelu_gaussian_plant_options options;
    unrelu_gaussian_plant_options_init(&options, sizeof options);
    options.d = d;
    options.kappa = kappa;
    options.seed = seed;
    return options;
}

static unrelu_gaussian_options defaults(void)
{
    unrelu_gaussian_options o;
    unrelu_gaussian_options_init(&o, sizeof o);
    return o;
}

static unrelu_gaussian_distance distance(const unrelu_gaussian *truth, const unrelu_gaussian *model)
{
    unrelu_gaussian_distance result;
    unrelu_error err = {0};
    must(unrelu_gaussian_compare(truth, model, &result, &err), &err);
    return result;
}

/* every estimate within `most` of its own standard errors of the truth */
static void assert_within_errors(const unrelu_gaussian *truth, const unrelu_gaussian *m,
                                 double most)
{
    for (size_t i = 0; i < m->d; i++) {
        assert_near(m->b[i], truth->b[i], most * m->b_se[i]);
        assert_near(m->scale[i], truth->scale[i], most * m->scale_se[i]);
        for (size_t j = 0; j < m->d; j++) {
            assert_near(m->sigma[i * m->d + j], truth->sigma[i * m->d + j],
                        most * m->sigma_se[i * m->d + j]);
            assert_near(m->correlation[i * m->d + j], truth->correlation[i * m->d + j],
                        most * m->correlation_se[i * m->d + j]);
        }
    }
}

static void default_fit_finds_the_planted_model(void **state)
{
    (void)state;
    unrelu_gaussian_plant_options o = setting(6, 25, 3);
    o.bias = UNRELU_BIAS_NORMAL; /* any sign */
    unrelu_gaussian *truth = plant(o);
    double *x = draw(truth, 100000, 4);
    unrelu_gaussian *m = fit(x, 100000, 6, NULL);
    assert_within_errors(truth, m, 4.5);
    assert_int_equal(m->n, 100000);
    assert_int_equal(m->repaired, 0);
    assert_true(m->lambda_min > 0);
    assert_string_equal(m->method, "efficient");
    unrelu_gaussian_free(truth);
    unrelu_gaussian_free(m);
    free(x);
}

static void every_method_has_the_same_bits_at_any_thread_count(void **state)
{
    (void)state;
    enum { N = 30000, D = 7 };
    unrelu_gaussian *truth = plant(setting(D, 4, 5));
    double *x = draw(truth, N, 6);
    unrelu_gaussian_options methods[6];
    for (size_t i = 0; i < 6; i++)
        methods[i] = defaults();
    methods[1].norms = UNRELU_NORMS_SGD;
    methods[1].angles = UNRELU_ANGLES_SIGNS;
    methods[1].literal = 1;
    methods[1].batches = 3;
    methods[2].norms = UNRELU_NORMS_MEDIAN;
    methods[2].angles = UNRELU_ANGLES_SIGNS;
    methods[3].precision = UNRELU_PRECISION_SINGLE;
    methods[4].rank = UNRELU_RANK_AUTO;
    methods[5].robust = 1;
    for (size_t k = 0; k < 6; k++) {
        unrelu_gaussian *models[3];
        const int threads[] = {1, 2, 7};
        for (size_t t = 0; t < 3; t++) {
            unrelu_source *source = NULL;
            unrelu_error err = {0};
            unrelu_exec exec = {.size = sizeof exec, .threads = threads[t]};
            must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
            must(unrelu_gaussian_fit(source, &methods[k], &exec, &models[t], &err), &err);
            unrelu_source_close(source);
            assert_memory_equal(models[t]->b, models[0]->b, D * sizeof(double));
            assert_memory_equal(models[t]->sigma, models[0]->sigma, D * D * sizeof(double));
            assert_memory_equal(models[t]->sigma_se, models[0]->sigma_se, D * D * sizeof(double));
            if (models[t]->eigenvalues_se)
                assert_memory_equal(models[t]->eigenvalues_se, models[0]->eigenvalues_se,
                                    D * sizeof(double));
        }
        for (size_t t = 0; t < 3; t++)
            unrelu_gaussian_free(models[t]);
    }
    unrelu_gaussian_free(truth);
    free(x);
}

static void columns_of_any_scale_give_the_same_model(void **state)
{
    (void)state;
    enum { N = 4000, D = 4 };
    const double factor[D] = {0x1p660, 0x1p-660, 1e100, 1e-300};
    unrelu_gaussian *truth = plant(setting(D, 4, 8));
    double *x = draw(truth, N, 9);
    unrelu_gaussian_options single = defaults();
    single.precision = UNRELU_PRECISION_SINGLE;
    for (int pass = 0; pass < 2; pass++) {
        const unrelu_gaussian_options *o = pass ? &single : NULL;
        double tolerance = pass ? 1e-6 : 1e-9;
        unrelu_gaussian *plain = fit(x, N, D, o);
        double *y = malloc(N * D * sizeof *y);
        for (size_t i = 0; i < N * D; i++)
            y[i] = x[i] * factor[i % D];
        unrelu_gaussian *m = fit(y, N, D, o);
        for (size_t i = 0; i < D; i++) {
            assert_near(m->b[i] / factor[i], plain->b[i], tolerance);
            assert_near(m->scale[i] / factor[i], plain->scale[i], tolerance);
            assert_near(m->b_se[i] / factor[i], plain->b_se[i], tolerance);
            for (size_t j = 0; j < D; j++) {
                assert_near(m->correlation[i * D + j], plain->correlation[i * D + j], tolerance);
                assert_near(m->correlation_se[i * D + j], plain->correlation_se[i * D + j],
                            tolerance);
            }
        }
        assert_true(isinf(m->sigma[0]));
        assert_true(m->sigma[D + 1] == 0);
        assert_true(has_warning(m, "sigma-range"));
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(plain);
        free(y);
    }
    unrelu_gaussian_free(truth);
    free(x);
}

static void censoring_at_a_limit_shifts_b_alone(void **state)
{
    (void)state;
    enum { N = 8000, D = 3 };
    const double limit[D] = {-2, 0.5, 100};
    unrelu_gaussian *truth = plant(setting(D, 4, 10));
    double *x = draw(truth, N, 11), *y = malloc(N * D * sizeof *y);
    for (size_t i = 0; i < N * D; i++) { /* below the limit anything may stand */
        y[i] = x[i] > 0 ? x[i] + limit[i % D] : limit[i % D] - (double)(i % 3);
        if (x[i] == 0 && limit[i % D] >= 0)
            y[i] = fmax(0, y[i]); /* but nothing negative that no limit explains */
    }
    unrelu_gaussian_options o = defaults();
    o.censor_at = limit;
    o.censor_count = D;
    unrelu_gaussian *plain = fit(x, N, D, NULL), *m = fit(y, N, D, &o);
    assert_null(plain->limit);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b[i], plain->b[i] + limit[i], 1e-10);
        assert_near(m->limit[i], limit[i], 0);
        assert_near(m->scale[i], plain->scale[i], 1e-10);
        for (size_t j = 0; j < D; j++)
            assert_near(m->correlation[i * D + j], plain->correlation[i * D + j], 1e-9);
    }
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(plain);
    unrelu_gaussian_free(truth);
    free(x);
    free(y);
}

/* ---- missing values ---- */

static void rows_that_are_missing_whole_do_not_count(void **state)
{
    (void)state;
    enum { N = 5000, D = 4 };
    unrelu_gaussian *truth = plant(setting(D, 4, 12));
    double *x = draw(truth, N, 13), *y = malloc(2 * N * D * sizeof *y);
    for (size_t r = 0; r < 2 * N; r++)
        for (size_t j = 0; j < D; j++)
            y[r * D + j] = r % 2 ? NAN : x[r / 2 * D + j];
    unrelu_gaussian *plain = fit(x, N, D, NULL), *m = fit(y, 2 * N, D, NULL);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b[i], plain->b[i], 1e-10);
        assert_near(m->b_se[i], plain->b_se[i], 1e-10);
        for (size_t j = 0; j < D; j++) {
            assert_near(m->correlation[i * D + j], plain->correlation[i * D + j], 1e-9);
            assert_near(m->sigma_se[i * D + j], plain->sigma_se[i * D + j], 1e-9);
            assert_near(m->n_pair[i * D + j], N, 0);
        }
    }
    assert_true(has_warning(m, "missing"));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(plain);
    unrelu_gaussian_free(truth);
    free(x);
    free(y);
}

/* 20 % of the cells missing at random: the errors must still be the standard errors' size */
static void errors_with_missing_cells_are_calibrated(void **state)
{
    (void)state;
    enum { N = 3000, D = 5, RUNS = 60 };
    double b2 = 0, rho2 = 0, sigma2 = 0, pairs = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        unrelu_gaussian *truth = plant(setting(D, 9, 100 + run));
        double *x = draw(truth, N, 200 + run), *coin = draw(truth, N, 300 + run);
        for (size_t i = 0; i < N * D; i++)
            if ((uint64_t)(coin[i] * 1e6 + (double)(i * 7919 % 1000)) % 5 == 0)
                x[i] = NAN;
        unrelu_gaussian *m = fit(x, N, D, NULL);
        for (size_t i = 0; i < D; i++) {
            b2 += pow((m->b[i] - truth->b[i]) / m->b_se[i], 2);
            for (size_t j = i + 1; j < D; j++) {
                size_t at = i * D + j;
                rho2 +=
                    pow((m->correlation[at] - truth->correlation[at]) / m->correlation_se[at], 2);
                sigma2 += pow((m->sigma[at] - truth->sigma[at]) / m->sigma_se[at], 2);
                pairs++;
            }
        }
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
        free(coin);
    }
    /* the rms of 600 (300) standard normals is 1 +- 0.029 (0.041) */
    assert_near(sqrt(rho2 / pairs), 1, 0.12);
    assert_near(sqrt(sigma2 / pairs), 1, 0.12);
    assert_near(sqrt(b2 / (RUNS * D)), 1, 0.16);
}

/* ---- columns that are special ---- */

static void no_zeros_gives_the_plain_gaussian(void **state)
{
    (void)state;
    enum { N = 2000, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 4, 14));
    double *x = draw(truth, N, 15), cov[D * D] = {0};
    long double mean[D] = {0}; /* 1e6 + O(1): a double sum of these loses the digits we check */
    unrelu_sampler *sampler = NULL;
    unrelu_error err = {0};
    for (size_t i = 0; i < D; i++)
        truth->b[i] = 1e6;
    must(unrelu_gaussian_sampler(truth, 3, &sampler, &err), &err);
    must(unrelu_sampler_draw(sampler, 0, N, NULL, x, &err), &err);
    unrelu_sampler_free(sampler);
    for (size_t i = 0; i < N * D; i++)
        mean[i % D] += x[i] / N;
    for (size_t r = 0; r < N; r++)
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                cov[i * D + j] += (double)((x[r * D + i] - mean[i]) * (x[r * D + j] - mean[j]) / N);
    unrelu_gaussian *m = fit(x, N, D, NULL);
    for (size_t i = 0; i < D; i++) {
        assert_near(m->b[i], (double)mean[i], 1e-9);
        assert_true(m->flags[i] & UNRELU_FLAG_NO_ZEROS);
        for (size_t j = 0; j < D; j++) {
            double rho = m->correlation[i * D + j];
            assert_near(m->sigma[i * D + j], cov[i * D + j], 1e-6);
            if (i != j)
                assert_near(m->correlation_se[i * D + j], (1 - rho * rho) / sqrt(N), 1e-4);
        }
    }
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void special_columns_are_flagged(void **state)
{
    (void)state;
    enum { N = 5000, D = 5 };
    unrelu_gaussian *truth = plant(setting(D, 1, 16));
    double *x = draw(truth, N, 17);
    for (size_t r = 0; r < N; r++) {
        x[r * D + 1] = 0.1;                                 /* a zero row of W */
        x[r * D + 2] = 3 * x[r * D];                        /* a copy in another unit */
        x[r * D + 3] = r % 1000 == 7 ? 1.0 + (double)r : 0; /* five positives */
    }
    unrelu_gaussian *m = fit(x, N, D, NULL);
    assert_int_equal(m->flags[1], UNRELU_FLAG_CONSTANT);
    assert_near(m->b[1], 0.1, 0);
    assert_near(m->scale[1], 0, 0);
    assert_true(m->flags[0] & UNRELU_FLAG_DUPLICATE && m->flags[2] & UNRELU_FLAG_DUPLICATE);
    assert_near(m->correlation[2], 1, 1e-12);
    assert_true(m->flags[3] & UNRELU_FLAG_FEW_POSITIVES && m->flags[3] & UNRELU_FLAG_FEW_JOINT);
    assert_true(m->pair_flags[3 * D + 4] & UNRELU_FLAG_FEW_JOINT);
    assert_true(isnan(m->correlation_se[3 * D + 4]) && isnan(m->sigma_se[4 * D + 3]));
    assert_true(isfinite(m->correlation[3 * D + 4]));
    const char *codes[] = {"constant", "duplicate", "few-positives", "few-joint"};
    for (size_t i = 0; i < 4; i++)
        assert_true(has_warning(m, codes[i]));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void refusals_name_the_place_and_the_remedy(void **state)
{
    (void)state;
    enum { N = 50, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 1, 18)), *m;
    double *x = draw(truth, N, 19);
    unrelu_error err = {0};
    unrelu_gaussian_options o = defaults();

    x[7 * D + 1] = -0.25;
    assert_int_equal(try_fit(x, N, D, NULL, &m, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "row 8, column 2: the value is -0.25"));
    assert_non_null(strstr(err.text, "`additive-noise`"));
    x[7 * D + 1] = INFINITY;
    assert_int_equal(try_fit(x, N, D, NULL, &m, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "row 8, column 2: the value is inf"));
    x[7 * D + 1] = 0.25;
    assert_int_equal(try_fit(x, 2, D, NULL, &m, &err), UNRELU_EDATA);

    for (size_t r = 0; r < N; r++)
        x[r * D + 1] = 0;
    assert_int_equal(try_fit(x, N, D, NULL, &m, &err), UNRELU_EDATA);
    assert_non_null(strstr(err.text, "column 2 has no value above 0 among 50"));
    o.drop = 1;
    m = fit(x, N, D, &o);
    assert_int_equal(m->d, 2);
    assert_string_equal(m->names[1], "x3");
    assert_true(has_warning(m, "dropped"));
    unrelu_gaussian_free(m);

    const double limits[2] = {0, 0};
    o.censor_at = limits;
    o.censor_count = 2;
    assert_int_equal(try_fit(x, N, D, &o, &m, &err), UNRELU_EUSAGE);
    unrelu_gaussian_free(truth);
    free(x);
}

/* the correlation of two columns, and its error, with no other column beside them */
static void fit_alone(const double *x, size_t n, size_t d, size_t i, size_t j, double *rho,
                      double *se)
{
    double *two = malloc(2 * n * sizeof *two);
    assert_non_null(two);
    for (size_t r = 0; r < n; r++) {
        two[2 * r] = x[r * d + i];
        two[2 * r + 1] = x[r * d + j];
    }
    unrelu_gaussian *m = fit(two, n, 2, NULL);
    *rho = m->correlation[1];
    *se = m->correlation_se[1];
    unrelu_gaussian_free(m);
    free(two);
}

/* rank 2, biases of both signs: clipping moved pairs by hundreds of their errors, untold */
static void repair_leaves_what_is_known_well(void **state)
{
    (void)state;
    enum { N = 3000, D = 6 };
    size_t told = 0, repaired = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        unrelu_gaussian_plant_options o = setting(D, 1, seed);
        o.k = 2;
        o.bias = UNRELU_BIAS_NORMAL;
        unrelu_gaussian *truth = plant(o);
        double *x = draw(truth, N, seed + 100), farthest = 0;
        unrelu_gaussian *m = fit(x, N, D, NULL);
        repaired += (size_t)m->repaired;
        for (size_t i = 0; i < D; i++)
            for (size_t j = i + 1; j < D; j++) {
                double rho, se;
                fit_alone(x, N, D, i, j, &rho, &se);
                double moved = fabs(m->correlation[i * D + j] - rho) / fmax(se, 1e-6);
                assert_true(isnan(se) || m->correlation_se[i * D + j] == se);
                farthest = isnan(se) ? farthest : fmax(farthest, moved);
                if (se < 1e-3)
                    assert_true(moved < 1);
            }
        assert_true(farthest < 5);
        assert_int_equal(has_warning(m, "repair-moved"), farthest > 1);
        told += farthest > 1;
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
    }
    assert_true(repaired >= 10 && told > 0 && told < 6);
}

/* sums of single precision are off by 1e-7: a total of other columns then has an eigenvalue below 0
 */
static void repair_of_rounding_moves_nothing(void **state)
{
    (void)state;
    enum { N = 2000, D = 8 };
    size_t repaired = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        unrelu_gaussian_plant_options o = setting(D, 1, seed);
        o.bias = UNRELU_BIAS_FIXED;
        o.bias_value = 9;
        unrelu_gaussian *truth = plant(o);
        double *x = draw(truth, N, seed + 50);
        for (size_t r = 0; r < N; r++)
            for (size_t j = 4; j < D; j++)
                x[r * D + j] = x[r * D] + (double)j * x[r * D + 1] + x[r * D + j - 3];
        unrelu_gaussian_options with = defaults();
        unrelu_gaussian *exact = fit(x, N, D, &with);
        with.precision = UNRELU_PRECISION_SINGLE;
        unrelu_gaussian *m = fit(x, N, D, &with);
        repaired += (size_t)m->repaired;
        assert_false(has_warning(m, "repair-moved"));
        for (size_t i = 0; i < D * D; i++)
            assert_near(m->correlation[i], exact->correlation[i], 1e-5);
        unrelu_gaussian_free(exact);
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
    }
    assert_true(repaired > 0);
}

/* copies beside weak pairs, and a constant: the copies stay copies, the constant is alone */
static void repair_knows_copies_and_constants(void **state)
{
    (void)state;
    enum { N = 60, D = 14 };
    unrelu_gaussian_plant_options o = setting(D, 1, 5);
    o.k = 3;
    o.bias = UNRELU_BIAS_NORMAL;
    unrelu_gaussian *truth = plant(o);
    for (int single = 0; single < 2; single++) {
        double *x = draw(truth, N, 6);
        for (size_t r = 0; r < N; r++) {
            x[r * D + 1] = 3 * x[r * D];
            x[r * D + 2] = 7;
        }
        unrelu_gaussian_options with = defaults();
        with.precision = single ? UNRELU_PRECISION_SINGLE : UNRELU_PRECISION_DOUBLE;
        with.drop = 1;
        unrelu_gaussian *m = fit(x, N, D, &with);
        assert_true(m->repaired && m->pair_flags[1] == UNRELU_FLAG_DUPLICATE);
        assert_near(m->correlation[1], 1, 2e-5);
        for (size_t j = 3; j < m->d; j++)
            assert_true(m->correlation[2 * m->d + j] == 0);
        unrelu_gaussian_free(m);
        free(x);
    }
    unrelu_gaussian_free(truth);
}

/* `norms` truncated with `angles` signs: correlations without errors, all of them moved alike */
static void repair_without_errors_takes_all_alike(void **state)
{
    (void)state;
    enum { N = 300, D = 12 };
    unrelu_gaussian_plant_options o = setting(D, 1, 8);
    o.k = 2;
    unrelu_gaussian *truth = plant(o);
    double *x = draw(truth, N, 9);
    unrelu_gaussian_options with = defaults();
    with.norms = UNRELU_NORMS_MEDIAN;
    with.angles = UNRELU_ANGLES_SIGNS;
    unrelu_gaussian *m = fit(x, N, D, &with);
    assert_true(m->repaired && isnan(m->correlation_se[1]));
    assert_false(has_warning(m, "repair-moved"));
    unrelu_gaussian_distance far = distance(truth, m);
    assert_true(far.lambda_min_model > -1e-12 * D && far.correlation_rms < 0.15);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void fewer_rows_than_columns_fit_with_a_warning(void **state)
{
    (void)state;
    enum { N = 20, D = 30 };
    unrelu_gaussian_plant_options o = setting(D, 1, 20);
    o.bias = UNRELU_BIAS_FIXED;
    o.bias_value = 1;
    unrelu_gaussian *truth = plant(o);
    double *x = draw(truth, N, 21);
    unrelu_gaussian *m = fit(x, N, D, NULL);
    assert_true(has_warning(m, "n-below-d") && has_warning(m, "repaired"));
    assert_true(m->lambda_min < 0 && m->repaired);
    /* semidefinite after repair: no direction of the correlation is negative */
    unrelu_gaussian_distance far = distance(truth, m);
    assert_true(far.lambda_min_model > -1e-12 * D && isinf(far.kl) && far.note[0]);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

/* ---- noise and outliers: the numbers of section 7 of the design ---- */

static void additive_noise_is_taken_out(void **state)
{
    (void)state;
    enum { N = 100000, D = 5 };
    const double levels[] = {0.02, 0.1, 0.3}, most[] = {0.0075, 0.010, 0.021};
    unrelu_gaussian *truth = plant(setting(D, 1, 22)), *normal = truth;
    double *x = draw(truth, N, 23), *y = malloc(N * D * sizeof *y);
    double offset[D] = {50, 50, 50, 50, 50}; /* far from 0: plain normals */
    normal->b = offset;
    double *e = draw(normal, N, 24);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < N * D; i++)
            y[i] = x[i] + levels[k] * (e[i] - 50);
        unrelu_gaussian_options o = defaults();
        o.additive_noise = UNRELU_NOISE_AUTO;
        unrelu_gaussian *m = fit(y, N, D, &o);
        /* five-run means there were .0047, .0063, .0131; one run may be 1.6 times that */
        assert_true(distance(truth, m).sigma_error < most[k]);
        assert_near(m->noise[0], levels[k], 0.1 * levels[k]);
        unrelu_gaussian_free(m);
        o.additive_noise = levels[k];
        m = fit(y, N, D, &o);
        assert_true(distance(truth, m).sigma_error < most[k]);
        /* scale^2 = (what was seen)^2 - noise^2: scale times its covariance with b stays */
        double seen = hypot(m->scale[0], m->noise[0]), limit = 3.5 * levels[k];
        o.additive_noise = 0;
        o.censor_at = &limit;
        o.censor_count = 1;
        for (size_t i = 0; i < N * D; i++)
            y[i] = fmax(y[i], 0);
        unrelu_gaussian *plain = fit(y, N, D, &o);
        assert_near(plain->scale[0], seen, 1e-9);
        assert_near(m->b_scale_cov[0] * m->scale[0] / (plain->b_scale_cov[0] * seen), 1, 1e-9);
        unrelu_gaussian_free(plain);
        unrelu_gaussian_free(m);
    }
    free(e);
    free(y);
    free(x);
    unrelu_gaussian_free(truth);
}

/* noise by the uniforms u1, u2: 0 normal, 1 of Laplace, 2 uniform */
static double noise_of(int shape, double u1, double u2)
{
    return shape == 0   ? sqrt(-2 * log(u1)) * cos(6.283185307179586 * u2)
           : shape == 1 ? (u2 < 0.5 ? log(u1) : -log(u1))
                        : 2 * u1 - 1;
}

/* noise of other shapes, and one cell in a hundred of +-20: a fifth of it negative */
static void noise_is_measured_and_judged_by_its_middle(void **state)
{
    (void)state;
    enum { N = 4000, D = 4 };
    unrelu_gaussian *truth = plant(setting(D, 1, 61));
    double *clean = draw(truth, N, 62), *x = malloc(N * D * sizeof *x);
    double *u = malloc(3 * N * D * sizeof *u);
    assert_true(x && u);
    uint64_t next = 1;
    for (size_t i = 0; i < 3 * N * D; i++) {
        next = next * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[i] = ((double)(next >> 12) + 0.5) * 0x1p-52;
    }
    for (int shape = 0; shape < 4; shape++) { /* 3: normal with gross cells */
        for (size_t i = 0; i < N * D; i++) {
            const double *v = u + 3 * i;
            x[i] = clean[i] + 0.2 * noise_of(shape % 3, v[0], v[1]);
            x[i] += shape == 3 && v[2] < 0.01 ? (v[2] < 0.005 ? -20 : 20) : 0;
        }
        unrelu_gaussian_options o = defaults();
        o.additive_noise = UNRELU_NOISE_AUTO;
        o.robust = shape == 3;
        unrelu_gaussian *m = fit(x, N, D, &o);
        assert_int_equal(has_warning(m, "noise-shape"), shape > 0);
        for (size_t i = 0; shape % 3 == 0 && i < D; i++)
            assert_near(m->noise[i], 0.2, 0.03);
        if (shape % 3 == 0)
            assert_true(distance(truth, m).b_error < 0.06);
        unrelu_gaussian_free(m);
    }
    free(u);
    free(x);
    free(clean);
    unrelu_gaussian_free(truth);
}

static void gross_outliers_are_dropped(void **state)
{
    (void)state;
    enum { N = 100000, D = 5 };
    unrelu_gaussian *truth = plant(setting(D, 1, 25));
    double *x = draw(truth, N, 26);
    unrelu_gaussian_options o = defaults();
    o.robust = 1;
    unrelu_gaussian *clean = fit(x, N, D, &o);
    assert_true(distance(truth, clean).sigma_error < 0.008);
    for (size_t i = 0; i < N * D; i += 100) /* 1 % of the cells */
        x[i + i / 100 % D] = 10 * fabs(sin((double)i)) + 3;
    unrelu_gaussian *m = fit(x, N, D, &o), *naive = fit(x, N, D, NULL);
    assert_true(distance(truth, m).sigma_error < 0.015);
    assert_true(distance(truth, naive).sigma_error > 0.1);
    assert_true(m->rows_dropped > 2000 && has_warning(m, "outliers"));
    unrelu_gaussian_free(clean);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(naive);
    unrelu_gaussian_free(truth);
    free(x);
}

/* ---- the other norms and angles ---- */

static void truncated_median_and_signs_agree_with_the_truth(void **state)
{
    (void)state;
    enum { N = 100000, D = 4 };
    unrelu_gaussian_plant_options p = setting(D, 4, 27);
    p.bias = UNRELU_BIAS_FIXED;
    p.bias_value = 0.7;
    unrelu_gaussian *truth = plant(p);
    double *x = draw(truth, N, 28);
    const unrelu_norms norms[] = {UNRELU_NORMS_CENSORED, UNRELU_NORMS_TRUNCATED,
                                  UNRELU_NORMS_MEDIAN};
    for (size_t k = 0; k < 3; k++) {
        unrelu_gaussian_options o = defaults();
        o.norms = norms[k];
        o.angles = UNRELU_ANGLES_SIGNS;
        unrelu_gaussian *m = fit(x, N, D, &o);
        for (size_t i = 0; i < D; i++) {
            assert_near(m->b[i], truth->b[i], 4.5 * m->b_se[i]);
            assert_near(m->scale[i], truth->scale[i], 4.5 * m->scale_se[i]);
            for (size_t j = 0; j < D; j++)
                assert_near(m->correlation[i * D + j], truth->correlation[i * D + j], 0.03);
        }
        if (norms[k] == UNRELU_NORMS_CENSORED)
            assert_within_errors(truth, m, 4.5);
        else
            assert_true(has_warning(m, "no-se") && isnan(m->correlation_se[1]));
        unrelu_gaussian_free(m);
    }
    unrelu_gaussian_free(truth);
    free(x);
}

static unrelu_gaussian_options paper(void)
{
    unrelu_gaussian_options o = defaults();
    o.norms = UNRELU_NORMS_SGD;
    o.angles = UNRELU_ANGLES_SIGNS;
    o.literal = 1;
    return o;
}

static void paper_angles_are_the_literal_count(void **state)
{
    (void)state;
    enum { N = 20000, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 4, 29));
    double *x = draw(truth, N, 30);
    unrelu_gaussian_options o = paper();
    unrelu_gaussian *m = fit(x, N, D, &o);
    for (size_t i = 0; i < D; i++)
        for (size_t j = i + 1; j < D; j++) {
            size_t both = 0;
            for (size_t r = 0; r < N; r++)
                both += x[r * D + i] > m->b[i] && x[r * D + j] > m->b[j];
            double theta = acos(-1) - 2 * acos(-1) * (double)both / N;
            assert_near(m->correlation[i * D + j], cos(theta), 1e-14);
            assert_near(m->sigma[i * D + j], m->scale[i] * m->scale[j] * cos(theta), 1e-14);
        }
    assert_string_equal(m->method, "paper");
    assert_true(has_warning(m, "no-se") && isnan(m->b_se[0]));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void paper_finds_nonnegative_biases_and_says_where_it_cannot(void **state)
{
    (void)state;
    enum { N = 200000, D = 4 };
    unrelu_gaussian *truth = plant(setting(D, 1, 31));
    truth->b[0] = 1;
    truth->b[1] = 0.3;
    truth->b[2] = -0.7;
    double *x = draw(truth, N, 32);
    for (size_t r = 0; r < N; r++)
        x[r * D + 3] = 2.5; /* footnote 3 */
    unrelu_gaussian_options o = paper();
    for (o.batches = 1; o.batches <= 5; o.batches += 4) {
        unrelu_gaussian *m = fit(x, N, D, &o);
        assert_near(m->b[0], 1, 0.06);
        assert_near(m->scale[0], 1, 0.06);
        assert_near(m->b[1], 0.3, 0.2);
        assert_true(m->flags[2] & UNRELU_FLAG_NEGATIVE_BIAS);
        assert_false(m->flags[0] & UNRELU_FLAG_NEGATIVE_BIAS);
        assert_true(m->b[2] >= 0); /* line 4 of Algorithm 1 */
        assert_near(m->b[3], 2.5, 0);
        assert_near(m->scale[3], 0, 0);
        assert_true(has_warning(m, "negative-bias"));
        unrelu_gaussian_free(m);
    }
    unrelu_gaussian_free(truth);
    free(x);
}

/* b far below 0 makes joint positives rare, which the count takes for a correlation of -1 */
static void paper_takes_no_rare_column_for_a_copy(void **state)
{
    (void)state;
    enum { N = 20000, D = 4 };
    unrelu_gaussian *truth = plant(setting(D, 1, 41));
    for (size_t i = 0; i < D; i++)
        truth->b[i] = i == 3 ? -3.2 : 0.4;
    double *x = draw(truth, N, 42);
    for (int rows = 0; rows < 2; rows++) { /* some joint positives, and none at all */
        unrelu_gaussian_options o = paper();
        o.norms = UNRELU_NORMS_CENSORED;
        for (size_t r = 0; rows && r < N; r++)
            if (x[r * D + 3] > 0)
                x[r * D] = x[r * D + 1] = 0;
        unrelu_gaussian *m = fit(x, N, D, &o);
        assert_true(m->flags[3] & UNRELU_FLAG_NEGATIVE_BIAS);
        for (size_t i = 0; i < D; i++) {
            assert_false(m->flags[i] & UNRELU_FLAG_DUPLICATE);
            if (i < 2)
                assert_int_equal(m->pair_flags[i * D + 3], UNRELU_FLAG_FEW_JOINT);
        }
        assert_int_equal(m->pair_flags[1], 0);
        unrelu_gaussian_free(m);
    }
    for (size_t r = 0; r < N; r++) /* a copy is still one */
        x[r * D + 1] = 2 * x[r * D];
    unrelu_gaussian_options o = paper();
    o.norms = UNRELU_NORMS_MEDIAN;
    x[3] = 1; /* column 3 is 0 in all but few rows */
    unrelu_gaussian *m = fit(x, N, D, &o);
    assert_true(m->flags[0] & m->flags[1] & UNRELU_FLAG_DUPLICATE);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

/* footnote 3: a zero row of W, with a bias of 2.5 or of 0 */
static void paper_sets_a_constant_apart(void **state)
{
    (void)state;
    enum { N = 5000, D = 4 };
    unrelu_gaussian *truth = plant(setting(D, 1, 43));
    double *x = draw(truth, N, 44);
    for (int zero = 0; zero < 2; zero++) {
        for (size_t r = 0; r < N; r++)
            x[r * D + 2] = zero ? 0 : 2.5;
        for (unrelu_norms norms = UNRELU_NORMS_CENSORED; norms <= UNRELU_NORMS_SGD; norms++) {
            unrelu_gaussian_options o = paper();
            o.norms = norms;
            o.drop = norms == UNRELU_NORMS_SGD; /* which has nothing to leave out */
            unrelu_gaussian *m = fit(x, N, D, &o);
            assert_int_equal(m->d, D);
            assert_int_equal(m->flags[2], UNRELU_FLAG_CONSTANT);
            assert_true(m->b[2] == (zero ? 0 : 2.5) && m->scale[2] == 0);
            for (size_t i = 0; i < D; i++) {
                assert_true(m->correlation[2 * D + i] == (i == 2));
                assert_true(m->sigma[2 * D + i] == 0);
                assert_int_equal(m->pair_flags[2 * D + i], 0);
                assert_false(m->flags[i] & UNRELU_FLAG_FEW_JOINT);
            }
            double *drawn = draw(m, 10, 1);
            for (size_t r = 0; r < 10; r++)
                assert_true(drawn[r * D + 2] == m->b[2]);
            free(drawn);
            unrelu_gaussian_free(m);
        }
    }
    unrelu_gaussian *none;
    unrelu_error err = {0};
    assert_int_equal(try_fit(x, N, D, NULL, &none, &err), UNRELU_EDATA); /* any sign of b */
    for (size_t r = 0; r < N; r++)
        x[r * D + 2] = NAN;
    unrelu_gaussian_options o = paper();
    assert_int_equal(try_fit(x, N, D, &o, &none, &err), UNRELU_EDATA);
    unrelu_gaussian_free(truth);
    free(x);
}

static void sgd_draws_follow_the_seed(void **state)
{
    (void)state;
    enum { N = 3000, D = 2 };
    unrelu_gaussian *truth = plant(setting(D, 1, 33));
    double *x = draw(truth, N, 34);
    unrelu_gaussian_options o = paper();
    unrelu_gaussian *a = fit(x, N, D, &o), *b = fit(x, N, D, &o);
    o.seed++;
    unrelu_gaussian *c = fit(x, N, D, &o);
    assert_memory_equal(a->scale, b->scale, sizeof(double) * D);
    assert_true(a->scale[0] != c->scale[0]);
    unrelu_error err = {0};
    unrelu_gaussian *none;
    o.minibatch = 2000;
    assert_int_equal(try_fit(x, N, D, &o, &none, &err), UNRELU_EDATA);
    o.minibatch = 10;
    o.radius = 0.5;
    assert_int_equal(try_fit(x, N, D, &o, &none, &err), UNRELU_EUSAGE);
    unrelu_gaussian_free(a);
    unrelu_gaussian_free(b);
    unrelu_gaussian_free(c);
    unrelu_gaussian_free(truth);
    free(x);
}

/* ---- combinations ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* median of column j over the rows without a cell above `wild`; missing cells left out */
static double median_of(const double *x, size_t n, size_t d, size_t j, double wild)
{
    double *kept = malloc(n * sizeof *kept), median;
    size_t count = 0;
    for (size_t r = 0; r < n; r++) {
        int good = !isnan(x[r * d + j]);
        for (size_t k = 0; k < d; k++)
            good &= !(x[r * d + k] > wild);
        if (good)
            kept[count++] = x[r * d + j];
    }
    qsort(kept, count, sizeof *kept, ascending);
    median = kept[count / 2];
    free(kept);
    return median;
}

/* every norm and angle leaves out the same rows, and counts what is left alike */
static void robust_holds_for_all_norms_and_angles(void **state)
{
    (void)state;
    enum { N = 40000, D = 4 };
    unrelu_gaussian_plant_options p = setting(D, 1, 41);
    p.bias = UNRELU_BIAS_FIXED;
    p.bias_value = 0.5;
    unrelu_gaussian *truth = plant(p);
    double *x = draw(truth, N, 42);
    for (size_t i = 0; i < N * D; i += 100)
        x[i + i / 100 % D] = 30 + (double)(i % 7);
    for (size_t i = 3; i < N * D; i += 50)
        x[i] = NAN;
    unrelu_gaussian_options o = defaults();
    o.robust = 1;
    unrelu_gaussian *plain = fit(x, N, D, &o);
    for (int norms = UNRELU_NORMS_CENSORED; norms <= UNRELU_NORMS_SGD; norms++)
        for (int angles = UNRELU_ANGLES_H6; angles <= UNRELU_ANGLES_SIGNS; angles++) {
            o.norms = (unrelu_norms)norms;
            o.angles = (unrelu_angles)angles;
            unrelu_gaussian *m = fit(x, N, D, &o);
            assert_int_equal(m->rows_dropped, plain->rows_dropped);
            assert_memory_equal(m->n_pair, plain->n_pair, D * D * sizeof(double));
            for (size_t i = 0; i < D; i++) {
                assert_near(m->scale[i], truth->scale[i], 0.1);
                assert_near(m->b[i], truth->b[i], 0.2);
                if (o.norms == UNRELU_NORMS_MEDIAN) /* a few rows beyond 4 deviations go too */
                    assert_near(m->b[i], median_of(x, N, D, i, 25), 0.002);
            }
            unrelu_gaussian_free(m);
        }
    unrelu_gaussian_free(plain);
    unrelu_gaussian_free(truth);
    free(x);
}

/* the spread of b and scale over repeated samples is what every norm says of itself */
static void errors_of_all_norms_are_calibrated(void **state)
{
    (void)state;
    enum { N = 2000, D = 3, RUNS = 150 };
    const double gamma[D] = {0.4, 0.9, 1.6};
    for (int norms = UNRELU_NORMS_CENSORED; norms <= UNRELU_NORMS_MEDIAN; norms++) {
        double b2 = 0, s2 = 0, up2 = 0, down2 = 0; /* of b + scale, b - scale */
        unrelu_gaussian_options o = defaults();
        o.norms = (unrelu_norms)norms;
        for (uint64_t run = 0; run < RUNS; run++) {
            unrelu_gaussian *truth = plant(setting(D, 1, 400 + run));
            for (size_t i = 0; i < D; i++)
                truth->b[i] = gamma[i];
            double *x = draw(truth, N, 600 + run);
            unrelu_gaussian *m = fit(x, N, D, &o);
            for (size_t i = 0; i < D; i++) {
                b2 += pow((m->b[i] - truth->b[i]) / m->b_se[i], 2) / (D * RUNS);
                s2 += pow((m->scale[i] - truth->scale[i]) / m->scale_se[i], 2) / (D * RUNS);
                double b = m->b[i] - truth->b[i], s = m->scale[i] - truth->scale[i];
                double squares = pow(m->b_se[i], 2) + pow(m->scale_se[i], 2);
                up2 += pow(b + s, 2) / (squares + 2 * m->b_scale_cov[i]) / (D * RUNS);
                down2 += pow(b - s, 2) / (squares - 2 * m->b_scale_cov[i]) / (D * RUNS);
            }
            unrelu_gaussian_free(m);
            unrelu_gaussian_free(truth);
            free(x);
        }
        /* the rms of 450 standard normals is 1 +- 0.033 */
        assert_near(sqrt(b2), 1, 0.14);
        assert_near(sqrt(s2), 1, 0.14);
        assert_near(sqrt(up2), 1, 0.14); /* no covariance: 0.8 and 1.3 */
        assert_near(sqrt(down2), 1, 0.14);
    }
}

/* a standard error is either right or NaN with a warning */
static void errors_that_are_not_known_are_not_given(void **state)
{
    (void)state;
    enum { N = 3000, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 4, 43));
    double *x = draw(truth, N, 44);
    for (int norms = UNRELU_NORMS_TRUNCATED; norms <= UNRELU_NORMS_SGD; norms++) {
        unrelu_gaussian_options o = defaults();
        o.norms = (unrelu_norms)norms;
        unrelu_gaussian *m = fit(x, N, D, &o);
        assert_true(isnan(m->sigma_se[1]) && has_warning(m, "no-se"));
        assert_true(m->correlation_se[1] > 0); /* h6 has its own margins */
        unrelu_gaussian_free(m);
    }
    x[4] = NAN;
    unrelu_gaussian_options o = defaults();
    o.angles = UNRELU_ANGLES_SIGNS;
    unrelu_gaussian *m = fit(x, N, D, &o);
    assert_true(isnan(m->correlation_se[1]) && has_warning(m, "no-se"));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void a_source_can_be_fitted_twice(void **state)
{
    (void)state;
    enum { N = 3000, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 4, 45)), *a, *b;
    double *x = draw(truth, N, 46);
    unrelu_source *source = NULL;
    unrelu_summary *summary = NULL;
    unrelu_error err = {0};
    must(unrelu_source_memory(x, N, D, NULL, &source, &err), &err);
    must(unrelu_gaussian_fit(source, NULL, NULL, &a, &err), &err);
    must(unrelu_gaussian_fit(source, NULL, NULL, &b, &err), &err);
    must(unrelu_summary_collect(source, NULL, 1, NULL, &summary, &err), &err);
    assert_memory_equal(a->sigma, b->sigma, D * D * sizeof(double));
    assert_int_equal(unrelu_summary_rows(summary), N);
    unrelu_summary_free(summary);
    unrelu_source_close(source);
    unrelu_gaussian_free(a);
    unrelu_gaussian_free(b);
    unrelu_gaussian_free(truth);
    free(x);
}

/* positives alone: the truncated likelihood is the right one, and b = max(0, b) only if literal */
static void truncated_norms_learn_from_positives_alone(void **state)
{
    (void)state;
    enum { N = 40000 };
    unrelu_gaussian *truth = plant(setting(1, 1, 47));
    truth->b[0] = 0.5;
    double *x = draw(truth, 2 * N, 48);
    size_t n = 0;
    for (size_t r = 0; r < 2 * N; r++)
        if (x[r] > 0)
            x[n++] = x[r];
    unrelu_gaussian_options o = defaults();
    o.norms = UNRELU_NORMS_TRUNCATED;
    unrelu_gaussian *m = fit(x, n, 1, &o);
    assert_near(m->b[0], 0.5, 4.5 * m->b_se[0]);
    assert_near(m->scale[0], 1, 4.5 * m->scale_se[0]);
    assert_true(m->b_se[0] < 0.05);
    unrelu_gaussian_free(m);
    free(x);
    truth->b[0] = -0.5;
    x = draw(truth, N, 49);
    o.literal = 1;
    for (int norms = UNRELU_NORMS_CENSORED; norms <= UNRELU_NORMS_SGD; norms++) {
        o.norms = (unrelu_norms)norms;
        if (o.norms == UNRELU_NORMS_MEDIAN)
            continue; /* no value above it */
        m = fit(x, N, 1, &o);
        assert_true(m->b[0] >= 0);
        unrelu_gaussian_free(m);
    }
    unrelu_gaussian_free(truth);
    free(x);
}

/* Most is censored, and a few gross cells: b and the scale move together so that the share of zeros
 * fits, by far more than their errors. Without these cells there is no flag. */
static void gross_cells_in_a_column_that_is_mostly_censored_are_flagged(void **state)
{
    (void)state;
    enum { N = 4000, D = 3 };
    static const double b[D] = {-0.4, -1, -1.6}, size[] = {6, 10, 50};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        unrelu_gaussian *truth = plant(setting(D, 1, seed));
        for (size_t i = 0; i < D; i++)
            truth->b[i] = b[i];
        double *x = draw(truth, N, seed + 50);
        unrelu_gaussian *m = fit(x, N, D, NULL);
        for (size_t i = 0; i < D; i++)
            assert_int_equal(m->flags[i], 0);
        unrelu_gaussian_free(m);
        for (size_t r = seed; r < N; r += 250) /* 0.4 % */
            for (size_t i = 0; i < D; i++)
                x[r * D + i] = size[seed % 3] * (0.5 + (double)(r / 250 % 3));
        m = fit(x, N, D, NULL);
        for (size_t i = 0; i < D; i++) {
            assert_true(fabs(m->b[i] - truth->b[i]) > 5 * m->b_se[i]);
            assert_int_equal(m->flags[i] & ~(uint32_t)UNRELU_FLAG_HEAVY_TAILS, UNRELU_FLAG_MISFIT);
        }
        unrelu_gaussian_free(m);
        unrelu_gaussian_free(truth);
        free(x);
    }
}

static void a_column_that_is_no_rectified_gaussian_is_flagged(void **state)
{
    (void)state;
    enum { N = 3000, D = 2 };
    unrelu_gaussian *truth = plant(setting(D, 1, 50));
    truth->b[0] = truth->b[1] = 0.5;
    double *x = draw(truth, N, 51);
    unrelu_gaussian *m = fit(x, N, D, NULL);
    assert_int_equal(m->flags[0] | m->flags[1], 0);
    unrelu_gaussian_free(m);
    x[10] = 1e5; /* one wild cell */
    m = fit(x, N, D, NULL);
    assert_int_equal(m->flags[0], UNRELU_FLAG_MISFIT);
    assert_int_equal(m->flags[1], 0);
    assert_true(has_warning(m, "misfit"));
    unrelu_gaussian_free(m);
    for (size_t r = 0; r < N; r++) { /* mean / deviation 50, and five zeros that are no normal's */
        x[r * D] = r % 600 ? 50 + x[r * D] : 0;
        x[r * D + 1] += 50;
    }
    m = fit(x, N, D, NULL);
    assert_true(m->flags[0] & UNRELU_FLAG_MISFIT);
    assert_int_equal(m->flags[1] & ~(uint32_t)UNRELU_FLAG_MISFIT, /* many are 0 + 50 */
                     UNRELU_FLAG_NO_ZEROS | UNRELU_FLAG_REPEATED_VALUE);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void correlations_beyond_the_solver_have_no_error_and_a_flag(void **state)
{
    (void)state;
    enum { N = 5000, D = 3 };
    unrelu_gaussian *truth = plant(setting(D, 1, 52));
    truth->b[0] = truth->b[1] = 0.5;
    double *x = draw(truth, N, 53);
    for (size_t r = 0; r < N; r++) { /* 1 - rho about 5e-7 */
        double almost = x[r * D] + (x[r * D] > 0 ? 1e-3 * sin((double)r) : 0);
        x[r * D + 1] = almost > 0 ? almost : 0;
    }
    unrelu_gaussian *m = fit(x, N, D, NULL);
    assert_true(m->pair_flags[1] == UNRELU_FLAG_DUPLICATE && isnan(m->correlation_se[1]));
    assert_true(m->correlation[1] > 0.9999);
    unrelu_gaussian_free(m);
    for (size_t i = 0; i < N * D; i++)
        x[i] += 10; /* without zeros Pearson's needs no clip */
    m = fit(x, N, D, NULL);
    assert_true(1 - m->correlation[1] < 2e-6 && 1 - m->correlation[1] > 0);
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

static void constant_columns_and_noise_do_not_meet(void **state)
{
    (void)state;
    enum { N = 500, D = 2 };
    unrelu_gaussian *truth = plant(setting(D, 1, 54));
    double *x = draw(truth, N, 55);
    for (size_t r = 0; r < N; r++)
        x[r * D] = 2.5;
    unrelu_gaussian_options o = defaults();
    o.additive_noise = UNRELU_NOISE_AUTO;
    unrelu_gaussian *m = fit(x, N, D, &o);
    assert_near(m->b[0], 2.5, 0);
    assert_true(has_warning(m, "noise-unmeasured"));
    unrelu_gaussian_free(m);
    o = defaults();
    o.norms = (unrelu_norms)17;
    unrelu_error err = {0};
    assert_int_equal(try_fit(x, N, D, &o, &m, &err), UNRELU_EUSAGE);
    unrelu_gaussian_free(truth);
    free(x);
}

/* ---- rank ---- */

static void rank_auto_counts_what_the_data_show(void **state)
{
    (void)state;
    enum { N = 20000, D = 10, K = 3 };
    unrelu_gaussian_plant_options p = setting(D, 1, 35);
    p.k = K;
    unrelu_gaussian *truth = plant(p);
    double *x = draw(truth, N, 36);
    unrelu_gaussian_options o = defaults();
    o.rank = UNRELU_RANK_AUTO;
    unrelu_gaussian *m = fit(x, N, D, &o);
    assert_int_equal(m->k, K);
    assert_non_null(strstr(m->how_k, "3 of 10 eigenvalues are distinguishable"));
    double error = 0, norm = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double product = 0;
            for (size_t k = 0; k < K; k++)
                product += m->W[i * K + k] * m->W[j * K + k];
            error += pow(product - truth->sigma[i * D + j], 2);
            norm += pow(truth->sigma[i * D + j], 2);
        }
    assert_true(sqrt(error / norm) < 0.03);
    for (size_t i = 0; i < D; i++)
        assert_true(m->eigenvalues_se[i] > 0 && m->eigenvalues_se[i] < 0.1);
    unrelu_gaussian_free(m);

    o.rank = 11;
    unrelu_error err = {0};
    assert_int_equal(try_fit(x, N, D, &o, &m, &err), UNRELU_EUSAGE);
    o.rank = UNRELU_RANK_AUTO;
    o.angles = UNRELU_ANGLES_SIGNS;
    assert_int_equal(try_fit(x, N, D, &o, &m, &err), UNRELU_EUSAGE);
    o.rank = 2;
    m = fit(x, N, D, &o);
    assert_true(isnan(m->eigenvalues_se[0]) && has_warning(m, "no-se"));
    unrelu_gaussian_free(m);
    unrelu_gaussian_free(truth);
    free(x);
}

/* the spread of an eigenvalue over repeated samples is what the jackknife says it is */
static void jackknife_errors_are_calibrated(void **state)
{
    (void)state;
    enum { N = 4000, D = 4, RUNS = 120 };
    unrelu_gaussian *truth = plant(setting(D, 16, 37));
    unrelu_gaussian_options o = defaults();
    o.rank = D;
    double sum = 0, square = 0, said = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double *x = draw(truth, N, 1000 + run);
        unrelu_gaussian *m = fit(x, N, D, &o);
        sum += m->eigenvalues[0];
        square += m->eigenvalues[0] * m->eigenvalues[0];
        said += m->eigenvalues_se[0] * m->eigenvalues_se[0];
        unrelu_gaussian_free(m);
        free(x);
    }
    double seen = square / RUNS - sum / RUNS * (sum / RUNS);
    /* a variance of 120 runs has a relative error of sqrt(2 / 120) = .13 */
    assert_near(said / RUNS / seen, 1, 0.4);
    unrelu_gaussian_free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_fit_finds_the_planted_model),
        cmocka_unit_test(every_method_has_the_same_bits_at_any_thread_count),
        cmocka_unit_test(columns_of_any_scale_give_the_same_model),
        cmocka_unit_test(censoring_at_a_limit_shifts_b_alone),
        cmocka_unit_test(rows_that_are_missing_whole_do_not_count),
        cmocka_unit_test(errors_with_missing_cells_are_calibrated),
        cmocka_unit_test(no_zeros_gives_the_plain_gaussian),
        cmocka_unit_test(special_columns_are_flagged),
        cmocka_unit_test(refusals_name_the_place_and_the_remedy),
        cmocka_unit_test(repair_leaves_what_is_known_well),
        cmocka_unit_test(repair_of_rounding_moves_nothing),
        cmocka_unit_test(repair_knows_copies_and_constants),
        cmocka_unit_test(repair_without_errors_takes_all_alike),
        cmocka_unit_test(fewer_rows_than_columns_fit_with_a_warning),
        cmocka_unit_test(additive_noise_is_taken_out),
        cmocka_unit_test(noise_is_measured_and_judged_by_its_middle),
        cmocka_unit_test(gross_outliers_are_dropped),
        cmocka_unit_test(truncated_median_and_signs_agree_with_the_truth),
        cmocka_unit_test(paper_angles_are_the_literal_count),
        cmocka_unit_test(paper_finds_nonnegative_biases_and_says_where_it_cannot),
        cmocka_unit_test(paper_takes_no_rare_column_for_a_copy),
        cmocka_unit_test(paper_sets_a_constant_apart),
        cmocka_unit_test(sgd_draws_follow_the_seed),
        cmocka_unit_test(robust_holds_for_all_norms_and_angles),
        cmocka_unit_test(errors_of_all_norms_are_calibrated),
        cmocka_unit_test(errors_that_are_not_known_are_not_given),
        cmocka_unit_test(a_source_can_be_fitted_twice),
        cmocka_unit_test(truncated_norms_learn_from_positives_alone),
        cmocka_unit_test(a_column_that_is_no_rectified_gaussian_is_flagged),
        cmocka_unit_test(gross_cells_in_a_column_that_is_mostly_censored_are_flagged),
        cmocka_unit_test(correlations_beyond_the_solver_have_no_error_and_a_flag),
        cmocka_unit_test(constant_columns_and_noise_do_not_meet),
        cmocka_unit_test(rank_auto_counts_what_the_data_show),
        cmocka_unit_test(jackknife_errors_are_calibrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
