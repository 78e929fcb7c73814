/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu_recover from end to end: planted networks come back, the verdict is never better than
 * the data allow, bad data are refused with numbers, and nothing depends on threads. */
#include "networks.h"

#include <stdatomic.h>

static unrelu_network_plant_options sizes(size_t d, size_t k, size_t m, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = d;
    o.k = k;
    o.m = m;
    o.seed = seed;
    return o;
}

static unrelu_recover_options with_k(size_t k)
{
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.k = k;
    return o;
}

static unrelu_activation activation(const char *name)
{
    unrelu_activation f;
    unrelu_error err = {0};
    must(unrelu_activation_parse(name, &f, &err), &err);
    return f;
}

static const char *warning(const unrelu_network *model, const char *code)
{
    for (size_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i].code, code) == 0)
            return model->warnings[i].message;
    return NULL;
}

/* after V, U, c or e of the truth were changed */
static void relabel(planted_network *p)
{
    unrelu_error err = {0};
    must(unrelu_network_predict(p->truth, p->x, p->n, NULL, p->a, &err), &err);
}

static void describe(const unrelu_network *m, char *out, size_t size)
{
    int at = snprintf(out, size, "%s, k %zu (%s), residual %.3g, biases %s; %s",
                      unrelu_verdict_name(m->verdict), m->k, m->how_k, m->residual, m->biases,
                      m->failure);
    for (size_t i = 0; i < m->warning_count && at > 0 && (size_t)at < size; i++)
        at += snprintf(out + at, size - (size_t)at, " [%s: %s]", m->warnings[i].code,
                       m->warnings[i].message);
}

#define assert_verdict(model, wanted)                                                              \
    do {                                                                                           \
        if ((model)->verdict != (wanted)) {                                                        \
            char text_[4096];                                                                      \
            describe((model), text_, sizeof text_);                                                \
            fail_msg("expected %s: %s", unrelu_verdict_name(wanted), text_);                       \
        }                                                                                          \
    } while (0)

#define assert_warned(model, code)                                                                 \
    do {                                                                                           \
        if (!warning((model), code)) {                                                             \
            char text_[4096];                                                                      \
            describe((model), text_, sizeof text_);                                                \
            fail_msg("expected warning %s: %s", code, text_);                                      \
        }                                                                                          \
    } while (0)

#define assert_not_exact(model)                                                                    \
    do {                                                                                           \
        if ((model)->verdict == UNRELU_VERDICT_EXACT) {                                            \
            char text_[4096];                                                                      \
            describe((model), text_, sizeof text_);                                                \
            fail_msg("must not be exact: %s", text_);                                              \
        }                                                                                          \
    } while (0)

/* relative residual by a plain loop over the model's own arrays */
static double naive_residual(const unrelu_network *m, const double *x, const double *a, size_t n)
{
    double *y = malloc(n * m->m * sizeof *y), rss = 0, size = 0;
    unrelu_error err = {0};
    must(unrelu_network_predict(m, x, n, NULL, y, &err), &err);
    for (size_t i = 0; i < n * m->m; i++) {
        rss += (a[i] - y[i]) * (a[i] - y[i]);
        size += a[i] * a[i];
    }
    free(y);
    return sqrt(rss / size);
}

/* recovers and asks for the verdict "exact", V to the tolerance and a small residual */
static unrelu_network *expect_exact(const planted_network *p, const unrelu_recover_options *o,
                                    double tolerance)
{
    unrelu_network *model = recover(p, o);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_near(error_of_V(p->truth, model), 0, tolerance);
    assert_near(naive_residual(model, p->x, p->a, p->n), 0, 1e-12);
    assert_int_equal(model->samples_checked, p->n);
    return model;
}

static void expect_recovered(unrelu_network_plant_options plan, size_t n,
                             const unrelu_recover_options *o, double tolerance)
{
    planted_network p = plant_network_with(plan, n);
    unrelu_network *model = expect_exact(&p, o, tolerance);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* ---- noiseless labels ---- */

static void planted_networks_come_back_exactly(void **state)
{
    (void)state;
    static const size_t shapes[][4] = {{10, 5, 8, 60},    {10, 5, 5, 80}, {5, 3, 3, 60},
                                       {20, 10, 12, 120}, {1, 1, 1, 60},  {6, 1, 3, 50}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const size_t *s = shapes[i];
            planted_network p = plant_network(s[0], s[1], s[2], s[3], 0, seed);
            unrelu_network *model = expect_exact(&p, NULL, 1e-9);
            assert_int_equal(model->k, s[1]);
            assert_int_equal(model->n, s[3]);
            assert_string_equal(model->biases, "none");
            assert_string_equal(model->precision, "double");
            assert_string_equal(model->method, "auto");
            assert_true(model->how_k[0] != 0);
            assert_null(model->V_se);
            assert_true(model->noise == 0 && model->linear_rank == 0);
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

static void U_comes_back_as_exactly_as_V(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 80, 0, 4);
    unrelu_network *model = expect_exact(&p, NULL, 1e-9);
    unrelu_network_distance far;
    unrelu_error err = {0};
    must(unrelu_network_compare(p.truth, model, &far, &err), &err);
    assert_near(far.U_max, 0, 1e-9);
    assert_near(far.c_max + far.e_max, 0, 0);
    assert_int_equal(far.missing + far.extra, 0);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void every_input_law_will_do(void **state)
{
    (void)state;
    static const unrelu_inputs laws[] = {UNRELU_INPUTS_UNIFORM, UNRELU_INPUTS_BINARY,
                                         UNRELU_INPUTS_T3, UNRELU_INPUTS_LAPLACE};
    for (size_t i = 0; i < 4; i++) {
        unrelu_network_plant_options o = sizes(10, 5, 8, 7);
        o.inputs = laws[i];
        expect_recovered(o, 80, NULL, 1e-9);
    }
}

static void powers_of_the_rectifier_come_back_exactly(void **state)
{
    (void)state;
    static const char *const names[] = {"power:2", "power:1.5", "power:3"};
    for (size_t i = 0; i < 3; i++) {
        unrelu_network_plant_options o = sizes(8, 4, 6, 3);
        unrelu_recover_options r;
        unrelu_recover_options_init(&r, sizeof r);
        o.activation = r.activation = activation(names[i]);
        expect_recovered(o, 120, &r, 1e-9);
    }
}

static void below_fifty_rows_the_fit_is_not_certified(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planted_network p = plant_network(5, 3, 3, 40, 0, seed);
        unrelu_network *model = recover(&p, NULL);
        assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
        assert_warned(model, "uncertified");
        assert_near(model->residual, 0, 1e-12);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    /* and below 6 rows for each input */
    planted_network p = plant_network(20, 4, 6, 110, 0, 1);
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    assert_non_null(strstr(warning(model, "uncertified"), "120"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void rows_that_are_left_over_are_a_hold_out(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 60, 0, 2);
    unrelu_network *model = expect_exact(&p, NULL, 1e-9);
    assert_true(isnan(model->holdout_residual));
    unrelu_network_free(model);
    planted_network_free(&p);
    p = plant_network(10, 5, 8, 1000, 0, 2);
    model = expect_exact(&p, NULL, 1e-9);
    assert_near(model->holdout_residual, 0, 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_counts_of_the_certificate_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 4, 5, 150, 0, 3);
    unrelu_network *model = expect_exact(&p, NULL, 1e-9);
    size_t least_on = p.n, least_off = p.n;
    for (size_t j = 0; j < 4; j++) {
        size_t on = 0;
        for (size_t i = 0; i < p.n; i++) {
            double t = 0;
            for (size_t l = 0; l < 6; l++)
                t += model->V[j * 6 + l] * p.x[i * 6 + l];
            on += t > 0;
        }
        assert_near(model->active[j], (double)on / (double)p.n, 1e-15);
        least_on = on < least_on ? on : least_on;
        least_off = p.n - on < least_off ? p.n - on : least_off;
    }
    assert_int_equal(model->min_active, least_on);
    assert_int_equal(model->min_inactive, least_off);
    assert_near(model->residual, naive_residual(model, p.x, p.a, p.n), 1e-15);
    assert_true(model->gap > 1e-7 && model->gap <= 1);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void more_neurons_than_inputs_are_no_obstacle(void **state)
{
    (void)state;
    expect_recovered(sizes(5, 12, 12, 1), 150, NULL, 1e-9);
    expect_recovered(sizes(2, 5, 6, 1), 200, NULL, 1e-9);
    expect_recovered(sizes(10, 20, 25, 1), 200, NULL, 1e-9);
}

static void antiparallel_rows_are_told_apart(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 100, 0, 5);
    for (size_t j = 0; j < 8; j++)
        p.truth->V[8 + j] = -p.truth->V[j];
    relabel(&p);
    unrelu_network *model = expect_exact(&p, NULL, 1e-9);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void biases_are_found_whichever_there_are(void **state)
{
    (void)state;
    static const struct {
        unrelu_biases biases;
        int c, e;
        const char *name;
    } cases[] = {{UNRELU_BIASES_NONE, 0, 0, "none"},
                 {UNRELU_BIASES_HIDDEN, 1, 0, "hidden"},
                 {UNRELU_BIASES_BOTH, 1, 1, "both"},
                 {UNRELU_BIASES_OUTPUT, 0, 1, "output"},
                 {UNRELU_BIASES_AUTO, 1, 1, "both"}};
    for (size_t i = 0; i < 5; i++) {
        unrelu_network_plant_options o = sizes(6, 4, 7, 11);
        o.bias = .5;
        planted_network p = plant_network_with(o, 300);
        for (size_t j = 0; j < 4 && !cases[i].c; j++)
            p.truth->c[j] = 0;
        for (size_t j = 0; j < 7 && !cases[i].e; j++)
            p.truth->e[j] = 0;
        relabel(&p);
        unrelu_recover_options r;
        unrelu_recover_options_init(&r, sizeof r);
        r.biases = cases[i].biases;
        unrelu_network *model = expect_exact(&p, &r, 1e-9);
        unrelu_network_distance far;
        unrelu_error err = {0};
        must(unrelu_network_compare(p.truth, model, &far, &err), &err);
        assert_string_equal(model->biases, cases[i].name);
        assert_near(far.c_max, 0, 1e-9);
        assert_near(far.e_max, 0, 1e-9);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* columns of x divided by powers of ten: V must be that of the unscaled network */
static void scales_of_the_inputs_do_not_matter(void **state)
{
    (void)state;
    planted_network p = plant_network(7, 4, 6, 120, 0, 8);
    double scale[7], *V = p.truth->V;
    for (size_t j = 0; j < 7; j++) {
        scale[j] = pow(10, -6 + 2 * (double)j);
        for (size_t i = 0; i < p.n; i++)
            p.x[i * 7 + j] *= scale[j];
        for (size_t l = 0; l < 4; l++)
            V[l * 7 + j] /= scale[j];
    }
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    /* unit rows are dominated by the smallest column: compare in the units of each column */
    for (size_t l = 0; l < 4; l++) {
        double best = INFINITY;
        for (size_t h = 0; h < 4; h++) {
            double norm = 0, truth = 0, away = 0;
            for (size_t j = 0; j < 7; j++) {
                norm = hypot(norm, model->V[h * 7 + j] * scale[j]);
                truth = hypot(truth, V[l * 7 + j] * scale[j]);
            }
            for (size_t j = 0; j < 7; j++)
                away =
                    fmax(away, fabs(model->V[h * 7 + j] / norm - V[l * 7 + j] / truth) * scale[j]);
            best = fmin(best, away);
        }
        assert_near(best, 0, 1e-9);
    }
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void scales_of_the_labels_do_not_matter(void **state)
{
    (void)state;
    static const double scales[] = {1e-200, 1e150, 1e-300, 3e300};
    for (size_t s = 0; s < 4; s++) {
        planted_network p = plant_network(8, 4, 6, 100, 0, 2);
        for (size_t i = 0; i < p.n * p.m; i++)
            p.a[i] *= scales[s];
        unrelu_network *model = recover(&p, NULL);
        assert_verdict(model, UNRELU_VERDICT_EXACT);
        assert_near(error_of_V(p.truth, model), 0, 1e-9);
        double largest = 0, planted = 0;
        for (size_t i = 0; i < 24; i++) {
            largest = fmax(largest, fabs(model->U[i]));
            planted = fmax(planted, fabs(p.truth->U[i]) * scales[s]);
        }
        assert_near(largest / planted, 1, 1e-9);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void labels_in_single_precision_are_exact_to_it(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 100, 0, 6);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = (double)(float)p.a[i];
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_string_equal(model->precision, "single");
    assert_warned(model, "single-precision");
    assert_near(error_of_V(p.truth, model), 0, 1e-6);
    assert_true(model->residual > 1e-10 && model->residual < 1e-6);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void labels_with_seven_digits_are_exact_to_them(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 100, 0, 6);
    for (size_t i = 0; i < p.n * p.m; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.6e", p.a[i]);
        p.a[i] = strtod(text, NULL);
    }
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_string_equal(model->precision, "digits:7");
    assert_near(error_of_V(p.truth, model), 0, 1e-5);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_k_that_is_asked_for_is_obeyed_where_the_data_have_it(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 100, 0, 2);
    unrelu_recover_options o = with_k(4);
    unrelu_network *model = expect_exact(&p, &o, 1e-9);
    assert_null(warning(model, "merged"));
    unrelu_network_free(model);
    o = with_k(6); /* more than there are */
    model = expect_exact(&p, &o, 1e-9);
    assert_int_equal(model->k, 4);
    assert_warned(model, "merged");
    unrelu_network_free(model);
    o = with_k(3); /* fewer: no exact fit has three */
    model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_APPROXIMATE); /* and there is no noise */
    assert_int_equal(model->k, 3);
    assert_true(model->residual > 1e-3);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* ---- bad data ---- */

static void expect_refusal(const double *x, const double *a, size_t n, size_t d, size_t m,
                           const unrelu_recover_options *o, unrelu_status status,
                           const char *const *parts)
{
    unrelu_network *model;
    unrelu_error err = {0};
    assert_int_equal(try_recover(x, a, n, d, m, o, NULL, &model, &err), status);
    for (; *parts; parts++)
        if (!strstr(err.text, *parts))
            fail_msg("no \"%s\" in: %s", *parts, err.text);
    assert_null(model);
}

static void cells_that_are_not_finite_are_named(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 60, 0, 1);
    p.x[17 * 5 + 2] = NAN;
    expect_refusal(p.x, p.a, 60, 5, 4, NULL, UNRELU_EFORMAT,
                   (const char *[]){"row 18", "column 3", "NaN", NULL});
    p.x[17 * 5 + 2] = -INFINITY;
    p.x[20 * 5] = NAN; /* later */
    expect_refusal(p.x, p.a, 60, 5, 4, NULL, UNRELU_EFORMAT,
                   (const char *[]){"row 18", "column 3", "infinite", NULL});
    p.x[17 * 5 + 2] = p.x[20 * 5] = 0;
    p.a[59 * 4 + 3] = INFINITY;
    expect_refusal(p.x, p.a, 60, 5, 4, NULL, UNRELU_EFORMAT,
                   (const char *[]){"row 60", "column 4", "infinite", NULL});
    planted_network_free(&p);
}

static void files_of_different_length_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 60, 0, 1);
    unrelu_source *inputs = NULL, *labels = NULL;
    unrelu_network *model;
    unrelu_error err = {0};
    must(unrelu_source_memory(p.x, 60, 5, NULL, &inputs, &err), &err);
    must(unrelu_source_memory(p.a, 59, 4, NULL, &labels, &err), &err);
    assert_int_equal(unrelu_recover(inputs, labels, NULL, NULL, &model, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "60 rows"));
    assert_non_null(strstr(err.text, "59"));
    assert_null(model);
    unrelu_source_close(inputs);
    unrelu_source_close(labels);
    planted_network_free(&p);
}

static void too_few_rows_are_refused_with_the_number_needed(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 14, 0, 1);
    unrelu_recover_options o = with_k(5);
    expect_refusal(p.x, p.a, 14, 10, 8, &o, UNRELU_EDATA,
                   (const char *[]){"14 rows", "10 inputs", "at least 15", NULL});
    expect_refusal(p.x, p.a, 10, 10, 8, NULL, UNRELU_EDATA,
                   (const char *[]){"10 rows", "at least 11", NULL});
    expect_refusal(p.x, p.a, 0, 10, 8, NULL, UNRELU_EDATA, (const char *[]){"no rows", NULL});
    planted_network_free(&p);
}

static void more_neurons_than_labels_could_determine_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 3, 1, 60, 0, 1);
    unrelu_recover_options o = with_k(40); /* 400 weights, 60 labels */
    expect_refusal(p.x, p.a, 60, 10, 1, &o, UNRELU_EDATA,
                   (const char *[]){"400", "60", "too large", NULL});
    planted_network_free(&p);
}

static void labels_that_are_all_zero_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 60, 0, 1);
    memset(p.a, 0, 60 * 4 * sizeof *p.a);
    expect_refusal(p.x, p.a, 60, 5, 4, NULL, UNRELU_EDATA,
                   (const char *[]){"all 240 labels are 0", NULL});
    planted_network_free(&p);
}

static void inputs_that_are_all_zero_are_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 60, 0, 1);
    memset(p.x, 0, 60 * 5 * sizeof *p.x);
    expect_refusal(p.x, p.a, 60, 5, 4, NULL, UNRELU_EDATA, (const char *[]){"inputs are 0", NULL});
    planted_network_free(&p);
}

static void a_repeated_input_column_gives_rows_of_least_norm(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 120, 0, 3);
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 6 + 5] = p.x[i * 6 + 1];
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    for (size_t j = 0; j < model->k; j++) /* least norm: the two columns share their weight */
        assert_near(model->V[j * 6 + 5], model->V[j * 6 + 1], 1e-9);
    assert_int_equal(model->k, 3);
    assert_warned(model, "rank-deficient-inputs");
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void a_constant_input_column_beside_a_bias_is_rank_deficient(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 5, 120, 0, 3);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 5 + 4] = 1;
    relabel(&p);
    o.biases = UNRELU_BIASES_NONE; /* it is one */
    unrelu_network *model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_near(error_of_V(p.truth, model), 0, 1e-9);
    unrelu_network_free(model);
    o.biases = UNRELU_BIASES_HIDDEN;
    model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    assert_warned(model, "rank-deficient-inputs");
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* shifted inputs: neuron 0 never switches off */
static void a_neuron_that_is_always_on_is_not_certified(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 6, 200, 0, 3);
    for (size_t j = 0; j < 6; j++)
        p.truth->V[j] = j == 0;
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 6] += 8;
    relabel(&p);
    for (size_t i = 0; i < p.n; i++)
        assert_true(p.x[i * 6] > 0);
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    assert_non_null(strstr(warning(model, "not-identifiable"), "100 %"));
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void a_neuron_that_is_never_on_is_left_out(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 6, 200, 0, 3);
    for (size_t j = 0; j < 6; j++)
        p.truth->V[j] = j == 0 ? -1 : 0;
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 6] = fabs(p.x[i * 6]);
    relabel(&p);
    unrelu_recover_options o = with_k(3);
    unrelu_network *model = recover(&p, &o);
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    assert_int_equal(model->k, 2);
    assert_warned(model, "merged");
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* active for a handful of rows only: fewer than its own weights */
static void a_neuron_that_is_on_for_fewer_rows_than_inputs_is_not_certified(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 6, 200, 0, 3);
    for (size_t j = 0; j < 6; j++)
        p.truth->V[j] = j == 0 ? -1 : 0;
    for (size_t i = 0; i < p.n; i++)
        p.x[i * 6] = i % 50 == 7 ? -1 - fabs(p.x[i * 6]) : fabs(p.x[i * 6]);
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_not_exact(model);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* two rows so close that no sample lies between them: any two rows of their plane would do */
static void neurons_with_one_pattern_are_not_certified(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 80, 0, 3);
    for (size_t j = 0; j < 6; j++)
        p.truth->V[6 + j] = p.truth->V[j] + (j == 2 ? 1e-3 : 0);
    for (size_t i = 0; i < p.n; i++) {
        double t = 0;
        for (size_t j = 0; j < 6; j++)
            t += p.truth->V[j] * p.x[i * 6 + j];
        assert_true(t > 0 ? t + 1e-3 * p.x[i * 6 + 2] > 0 : t + 1e-3 * p.x[i * 6 + 2] < 0);
    }
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* where neuron 0 is on, only one sample has a fourth coordinate */
static void a_neuron_that_hinges_on_one_sample_is_not_certified(void **state)
{
    (void)state;
    planted_network p = plant_network(4, 2, 3, 52, 0, 3);
    for (size_t j = 0; j < 4; j++)
        p.truth->V[j] = j == 0;
    for (size_t i = 0; i < p.n; i++)
        if (p.x[i * 4] > 0 || i == 11)
            p.x[i * 4 + 3] = i == 11;
    p.x[11 * 4] = 1;
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_near(error_of_V(p.truth, model), 0, 1e-9);
    assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    p.x[11 * 4 + 3] = 0; /* and then none has */
    relabel(&p);
    unrelu_network *flat = recover(&p, NULL);
    assert_verdict(flat, UNRELU_VERDICT_UNCERTIFIED);
    assert_warned(flat, "not-identifiable");
    for (size_t i = 12; i < 20; i++) /* several: all is well */
        if (p.x[i * 4] > 0)
            p.x[i * 4 + 3] = 1 + (double)(i % 3);
    relabel(&p);
    unrelu_network *good = expect_exact(&p, NULL, 1e-9);
    unrelu_network_free(model);
    unrelu_network_free(flat);
    unrelu_network_free(good);
    planted_network_free(&p);
}

static void coinciding_neurons_are_merged(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 100, 0, 5);
    memcpy(p.truth->V + 8, p.truth->V, 8 * sizeof *p.truth->V);
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_int_equal(model->k, 3);
    assert_null(warning(model, "merged"));
    assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
    unrelu_network_free(model);
    unrelu_recover_options o = with_k(4);
    model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_int_equal(model->k, 3);
    assert_warned(model, "merged");
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void a_neuron_without_output_is_left_out(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 100, 0, 5);
    for (size_t i = 0; i < 6; i++)
        p.truth->U[i * 4 + 2] = 0;
    relabel(&p);
    unrelu_recover_options o = with_k(4);
    unrelu_network *model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_int_equal(model->k, 3);
    assert_warned(model, "merged");
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* v, -v with u, -u: u (v x)_+ - u (-v x)_+ = u v x */
static void a_linear_pair_is_reported_with_its_rank(void **state)
{
    (void)state;
    for (int constant = 0; constant < 2; constant++) {
        planted_network p = plant_network(6, 4, 6, 300, 0, 5);
        for (size_t j = 0; j < 6; j++) {
            p.truth->V[6 + j] = -p.truth->V[j];
            p.truth->U[j * 4 + 1] = -p.truth->U[j * 4];
            p.truth->e[j] = constant ? .3 * (double)j : 0;
        }
        for (size_t i = 0; i < p.n * 6; i++)
            p.x[i] += .4; /* a mean, which a constant must not be mixed up with */
        relabel(&p);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.biases = constant ? UNRELU_BIASES_OUTPUT : UNRELU_BIASES_NONE;
        unrelu_network *model = recover(&p, &o);
        assert_near(naive_residual(model, p.x, p.a, p.n), 0, 1e-12);
        assert_near(error_of_V(p.truth, model), 0, 1e-9);
        assert_warned(model, "linear-part");
        assert_int_equal(model->linear_rank, 1);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

/* two neurons with the same output: the labels have one dimension less than the network */
static void neurons_with_one_output_direction_need_the_joint_solver(void **state)
{
    (void)state;
    planted_network p = plant_network(8, 4, 6, 400, 0, 5);
    for (size_t i = 0; i < 6; i++)
        p.truth->U[i * 4 + 1] = p.truth->U[i * 4];
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    if (model->verdict == UNRELU_VERDICT_EXACT)
        assert_near(error_of_V(p.truth, model), 0, 1e-9);
    else
        assert_true(model->warning_count > 0);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* sure: few neurons leave a function that shows; of many the test of noise may see nothing */
static void expect_wrong_model(const planted_network *p, int sure)
{
    unrelu_network *model = recover(p, NULL);
    if (sure || model->verdict != UNRELU_VERDICT_NOISY)
        assert_verdict(model, UNRELU_VERDICT_APPROXIMATE);
    assert_warned(model, "no-exact-fit");
    assert_true(model->residual > 1e-4);
    assert_true((model->noise > 0) == (model->verdict == UNRELU_VERDICT_NOISY));
    unrelu_network_free(model);
}

static void labels_of_another_model_are_never_exact(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 300, 0, 2);
    for (size_t i = 0; i < p.n; i++) { /* two-sided tanh, which no network here is */
        double t[3];
        for (size_t j = 0; j < 3; j++) {
            t[j] = 0;
            for (size_t l = 0; l < 5; l++)
                t[j] += p.truth->V[j * 5 + l] * p.x[i * 5 + l];
        }
        for (size_t o = 0; o < 4; o++) {
            p.a[i * 4 + o] = 0;
            for (size_t j = 0; j < 3; j++)
                p.a[i * 4 + o] += p.truth->U[o * 3 + j] * tanh(t[j]);
        }
    }
    expect_wrong_model(&p, 0);
    /* a third layer on the labels of two */
    relabel(&p);
    for (size_t i = 0; i < p.n * p.m; i++)
        p.a[i] = fmax(0, p.a[i]) - (i % 4 ? .5 * fmax(0, p.a[i - 1]) : 0);
    expect_wrong_model(&p, 1);
    planted_network_free(&p);
}

/* 16 different rows of d = 4, however often they come */
static void repeated_rows_certify_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        unrelu_network_plant_options o = sizes(4, 2, 3, seed);
        o.inputs = UNRELU_INPUTS_BINARY;
        planted_network p = plant_network_with(o, 400);
        unrelu_network *model = recover(&p, NULL);
        assert_not_exact(model);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    /* and the same for 30 normal rows, ten times each */
    planted_network p = plant_network(5, 3, 4, 300, 0, 1);
    for (size_t i = 30; i < 300; i++)
        memcpy(p.x + i * 5, p.x + (i % 30) * 5, 5 * sizeof *p.x);
    relabel(&p);
    unrelu_network *model = recover(&p, NULL);
    assert_not_exact(model);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* few rows: networks that are not the planted one fit too, and the verdict must not say exact
 * where what was found is one of these */
static void fits_that_are_exact_by_chance_are_not_called_exact(void **state)
{
    (void)state;
    int fits = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        planted_network p = plant_network(5, 3, 3, 15, 0, seed);
        unrelu_network *model = recover(&p, NULL);
        assert_not_exact(model);
        fits += model->verdict == UNRELU_VERDICT_UNCERTIFIED;
        unrelu_network_free(model);
        planted_network_free(&p);
    }
    assert_true(fits > 20);
}

static void one_wrong_label_of_a_thousand_rows_is_seen(void **state)
{
    (void)state;
    static const double sizes_of[] = {1, 1e-3, 1e-6};
    for (size_t s = 0; s < 3; s++) {
        planted_network p = plant_network(6, 3, 4, 1000, 0, 1);
        p.a[777 * 4 + 1] += sizes_of[s];
        unrelu_network *model = recover(&p, NULL);
        assert_not_exact(model);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void an_order_of_the_tensor_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    planted_network p = plant_network(5, 3, 4, 60, 0, 1);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.method = UNRELU_RECOVER_TENSOR;
    o.order = 5;
    expect_refusal(p.x, p.a, 60, 5, 4, &o, UNRELU_EUSAGE, (const char *[]){"5", NULL});
    planted_network_free(&p);
}

/* ---- fewer labels than neurons, other activations ---- */

static void fewer_labels_than_neurons_are_solved_jointly(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 3, 400, 0, 1);
    unrelu_recover_options o = with_k(5);
    o.method = UNRELU_RECOVER_MOMENTS; /* the default would end with one-sparse */
    unrelu_network *model = recover(&p, &o);
    assert_warned(model, "joint-solver");
    if (model->verdict == UNRELU_VERDICT_EXACT || model->verdict == UNRELU_VERDICT_UNCERTIFIED)
        assert_near(model->residual, 0, 1e-12);
    if (model->verdict == UNRELU_VERDICT_EXACT)
        assert_near(error_of_V(p.truth, model), 0, 1e-8);
    else
        assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* Two dimensions hold few patterns: neurons of a joint fit may share one (or v, -v have opposite
 * ones), and then parts of one go over to the other at no cost, on held-out rows too. */
static void joint_fits_with_neurons_of_one_pattern_are_not_certified(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        size_t d, k, m, n;
        int pair;
    } cases[] = {{980, 2, 3, 2, 161, 0}, {878, 2, 4, 4, 187, 1}};
    for (size_t i = 0; i < 2; i++) {
        size_t d = cases[i].d, k = cases[i].k, m = cases[i].m;
        planted_network p = plant_network(d, k, m, cases[i].n, 0, cases[i].seed);
        for (size_t j = 0; j < d && cases[i].pair; j++)
            p.truth->V[d + j] = -p.truth->V[j];
        for (size_t j = 0; j < m && cases[i].pair; j++)
            p.truth->U[j * k + 1] = -p.truth->U[j * k];
        relabel(&p);
        unrelu_network *model = recover(&p, NULL);
        if (model->verdict == UNRELU_VERDICT_EXACT)
            assert_near(error_of_V(p.truth, model), 0, 1e-8);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void smooth_and_leaky_activations_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {"expm1", "tanh", "leaky:0.1"};
    static const size_t shapes[][3] = {{5, 3, 3}, {10, 5, 8}};
    for (size_t i = 0; i < 3; i++)
        for (size_t s = 0; s < 2; s++) {
            unrelu_network_plant_options plan = sizes(shapes[s][0], shapes[s][1], shapes[s][2], 3);
            unrelu_recover_options o = with_k(shapes[s][1]);
            plan.activation = o.activation = activation(names[i]);
            planted_network p = plant_network_with(plan, 500);
            unrelu_network *model = recover(&p, &o);
            if (model->verdict == UNRELU_VERDICT_EXACT) {
                assert_near(error_of_V(p.truth, model), 0, 1e-8);
                assert_near(model->residual, 0, 1e-12);
            } else {
                assert_verdict(model, UNRELU_VERDICT_UNCERTIFIED);
                assert_near(error_of_V(p.truth, model), 0, 1e-8);
            }
            unrelu_network_free(model);
            planted_network_free(&p);
        }
}

/* no moments of the labels exist: rows are weighted by their size */
static void exponentials_of_squares_come_back(void **state)
{
    (void)state;
    unrelu_network_plant_options plan = sizes(5, 3, 3, 3);
    unrelu_recover_options o = with_k(3);
    plan.activation = o.activation = activation("expm1sq");
    expect_recovered(plan, 500, &o, 1e-9);
}

/* ---- labels with noise ---- */

/* every entry of V, U, c, e within `wide` of its standard errors */
static void assert_within_errors(const unrelu_network *truth, const unrelu_network *model,
                                 double wide)
{
    size_t d = truth->d, k = truth->k, m = truth->m;
    assert_int_equal(model->k, k);
    for (size_t j = 0; j < k; j++) {
        size_t l = nearest(truth, model, j);
        for (size_t i = 0; i < d; i++) {
            assert_true(model->V_se[l * d + i] > 0);
            assert_near(model->V[l * d + i], truth->V[j * d + i], wide * model->V_se[l * d + i]);
        }
        for (size_t i = 0; i < m; i++)
            assert_near(model->U[i * k + l], truth->U[i * k + j], wide * model->U_se[i * k + l]);
        if (strcmp(model->biases, "both") == 0)
            assert_near(model->c[l], truth->c[j], wide * model->c_se[l]);
    }
    for (size_t i = 0; i < m && strcmp(model->biases, "both") == 0; i++)
        assert_near(model->e[i], truth->e[i], wide * model->e_se[i]);
}

static void assert_noise(const unrelu_network *model, double sigma, size_t n, size_t m)
{
    assert_near(model->noise, sigma, 3 * sigma / sqrt(2 * (double)(n * m)));
}

static void noise_and_number_of_neurons_are_found(void **state)
{
    (void)state;
    static const double sigmas[] = {.1, .5};
    for (size_t s = 0; s < (SANITIZED ? 1 : 2); s++) {
        planted_network p = plant_network(10, 5, 8, 2000, sigmas[s], 9);
        unrelu_network *model = recover(&p, NULL);
        assert_verdict(model, UNRELU_VERDICT_NOISY);
        assert_warned(model, "no-exact-fit");
        assert_int_equal(model->k, 5);
        assert_non_null(strstr(model->how_k, "BIC"));
        assert_string_equal(model->biases, "none");
        assert_within_errors(p.truth, model, 5);
        assert_noise(model, sigmas[s], p.n, p.m);
        assert_near(model->residual, naive_residual(model, p.x, p.a, p.n), 1e-9);
        assert_true(model->starts >= 2 && model->starts_agree >= 1 &&
                    model->starts_agree <= model->starts);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void biases_are_found_under_noise(void **state)
{
    (void)state;
    static const unrelu_biases asked[] = {UNRELU_BIASES_AUTO, UNRELU_BIASES_BOTH};
    for (size_t i = 0; i < 2; i++) {
        unrelu_network_plant_options o = sizes(6, 3, 5, 4);
        o.bias = .5;
        o.noise = .1;
        planted_network p = plant_network_with(o, 2000);
        unrelu_recover_options r = with_k(3);
        r.biases = asked[i];
        unrelu_network *model = recover(&p, &r);
        assert_verdict(model, UNRELU_VERDICT_NOISY);
        assert_string_equal(model->biases, "both");
        assert_string_equal(model->how_k, "given");
        assert_within_errors(p.truth, model, 5);
        assert_noise(model, .1, p.n, p.m);
        unrelu_network_free(model);
        planted_network_free(&p);
    }
}

static void noisy_labels_that_must_be_exact_fail_with_a_sentence(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 300, .1, 4);
    unrelu_recover_options o = with_k(3);
    o.labels = UNRELU_LABELS_NOISELESS;
    for (int exact = 0; exact < 2; exact++) {
        o.method = exact ? UNRELU_RECOVER_EXACT : UNRELU_RECOVER_AUTO;
        unrelu_network *model = recover(&p, &o);
        assert_verdict(model, UNRELU_VERDICT_FAILED);
        assert_true(!model->U && !model->V && !model->c && !model->e && !model->V_se);
        assert_non_null(strstr(model->failure, "no exact fit"));
        assert_true(model->residual > 1e-4);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void noiseless_labels_may_be_fitted_as_noisy(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 5, 300, 0, 4);
    unrelu_recover_options o = with_k(3);
    o.labels = UNRELU_LABELS_NOISY;
    unrelu_network *model = recover(&p, &o);
    assert_near(error_of_V(p.truth, model), 0, 1e-6);
    assert_true(model->verdict == UNRELU_VERDICT_NOISY || model->residual <= 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* ---- the methods by name ---- */

static const struct {
    unrelu_recover_method method;
    const char *name;
} methods[] = {{UNRELU_RECOVER_EXACT, "exact"},
               {UNRELU_RECOVER_MOMENTS, "moments"},
               {UNRELU_RECOVER_ICA, "ica"},
               {UNRELU_RECOVER_TENSOR, "tensor"},
               {UNRELU_RECOVER_SYMMETRIC, "symmetric"},
               {UNRELU_RECOVER_LIFTED, "lifted"},
               {UNRELU_RECOVER_FACETS, "facets"}};

/* orthonormal rows, which Algorithm 3 assumes and all others like */
static planted_network easy(size_t n)
{
    unrelu_network_plant_options o = sizes(6, 3, 5, 2);
    o.kappa_v = 1;
    return plant_network_with(o, n);
}

static void every_method_by_name_ends_exact_on_easy_data(void **state)
{
    (void)state;
    planted_network p = easy(1500);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        unrelu_recover_options o = with_k(3);
        o.method = methods[i].method;
        unrelu_network *model = recover(&p, &o);
        assert_string_equal(model->method, methods[i].name);
        assert_near(error_of_V(p.truth, model), 0, 1e-9);
        assert_verdict(model, UNRELU_VERDICT_EXACT);
        if (methods[i].method > UNRELU_RECOVER_MOMENTS) {
            assert_true(strlen(model->guarantee) > 20);
            assert_true(strlen(model->assumption) > 20);
        }
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void methods_find_k_themselves(void **state)
{
    (void)state;
    planted_network p = easy(1500);
    for (size_t i = 2; i < sizeof methods / sizeof *methods; i++) {
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = methods[i].method;
        unrelu_network *model = expect_exact(&p, &o, 1e-9);
        assert_non_null(strstr(model->how_k, "rank"));
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void methods_fit_noisy_labels_by_maximum_likelihood(void **state)
{
    (void)state;
    unrelu_network_plant_options plan = sizes(6, 3, 5, 2);
    plan.kappa_v = 1;
    plan.noise = .05;
    planted_network p = plant_network_with(plan, 4000);
    for (size_t i = 2; i < 5; i++) {
        unrelu_recover_options o = with_k(3);
        o.method = methods[i].method;
        unrelu_network *model = recover(&p, &o);
        assert_verdict(model, UNRELU_VERDICT_NOISY);
        assert_within_errors(p.truth, model, 5);
        assert_noise(model, .05, p.n, p.m);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

static void third_order_carries_no_signal_of_the_rectifier(void **state)
{
    (void)state;
    planted_network p = easy(500);
    unrelu_recover_options o = with_k(3);
    o.method = UNRELU_RECOVER_TENSOR;
    o.order = 3;
    expect_refusal(
        p.x, p.a, p.n, p.d, p.m, &o, UNRELU_EDATA,
        (const char *[]){"the third Hermite coefficient of relu is 0 (E f''' = 0): order "
                         "3 carries no signal; use `order` 2",
                         NULL});
    planted_network_free(&p);
    unrelu_network_plant_options plan = sizes(6, 3, 5, 2);
    plan.kappa_v = 1;
    plan.activation = o.activation = activation("power:2");
    p = plant_network_with(plan, 4000);
    unrelu_network *model = expect_exact(&p, &o, 1e-9);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_papers_linear_systems_are_exact_from_a_good_start(void **state)
{
    (void)state;
    planted_network p = easy(3000);
    unrelu_recover_options o = with_k(3);
    o.method = UNRELU_RECOVER_LIFTED; /* exact to rounding itself */
    o.exactify = UNRELU_EXACTIFY_SYSTEMS;
    unrelu_network *model = expect_exact(&p, &o, 1e-9);
    unrelu_network_free(model);
    o.method = UNRELU_RECOVER_TENSOR; /* a statistical start: exact or not at all */
    model = recover(&p, &o);
    if (model->verdict == UNRELU_VERDICT_FAILED)
        assert_non_null(strstr(model->failure, "Algorithm 5"));
    else
        assert_near(error_of_V(p.truth, model), 0, 1e-9);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_raw_estimate_of_a_method_is_given_as_it_is(void **state)
{
    (void)state;
    planted_network p = easy(3000);
    unrelu_recover_options o = with_k(3);
    o.method = UNRELU_RECOVER_TENSOR;
    o.exactify = UNRELU_EXACTIFY_NONE;
    unrelu_network *model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_NOISY);
    assert_warned(model, "no-se");
    double error = error_of_V(p.truth, model);
    assert_true(error > 1e-6 && error < .2);
    assert_near(model->residual, naive_residual(model, p.x, p.a, p.n), 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

static void the_symmetric_method_refuses_inputs_that_are_not(void **state)
{
    (void)state;
    planted_network p = easy(2000);
    for (size_t i = 0; i < p.n * p.d; i++)
        p.x[i] = exp(p.x[i]) - 1.6;
    relabel(&p);
    unrelu_recover_options o = with_k(3);
    o.method = UNRELU_RECOVER_SYMMETRIC;
    expect_refusal(p.x, p.a, p.n, p.d, p.m, &o, UNRELU_EDATA, (const char *[]){"symmetric", NULL});
    planted_network_free(&p);
}

static void every_way_to_signs_leads_to_the_network(void **state)
{
    (void)state;
    static const unrelu_signs ways[] = {UNRELU_SIGNS_REGRESSION, UNRELU_SIGNS_PROJECTION,
                                        UNRELU_SIGNS_MOMENT};
    planted_network p = easy(2000);
    for (size_t i = 0; i < 3; i++) {
        unrelu_recover_options o = with_k(3);
        o.method = UNRELU_RECOVER_TENSOR;
        o.signs = ways[i];
        unrelu_network *model = expect_exact(&p, &o, 1e-9);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

/* ---- where it runs ---- */

static int same_bits(const double *a, const double *b, size_t count)
{
    return (!a && !b) || (a && b && memcmp(a, b, count * sizeof *a) == 0);
}

static int same_networks(const unrelu_network *a, const unrelu_network *b)
{
    return a->k == b->k && a->verdict == b->verdict && a->starts_agree == b->starts_agree &&
           same_bits(a->U, b->U, a->m * a->k) && same_bits(a->V, b->V, a->k * a->d) &&
           same_bits(a->c, b->c, a->k) && same_bits(a->e, b->e, a->m) &&
           same_bits(a->V_se, b->V_se, a->k * a->d) && same_bits(&a->residual, &b->residual, 1) &&
           same_bits(&a->noise, &b->noise, 1);
}

static void expect_one_answer(const planted_network *p, const unrelu_recover_options *o)
{
    static const int threads[] = {1, 2, 7, 1};
    unrelu_network *first = NULL;
    for (size_t i = 0; i < 4; i++) {
        unrelu_exec exec;
        unrelu_exec_init(&exec, sizeof exec);
        unrelu_network *model;
        unrelu_error err = {0};
        exec.threads = threads[i];
        must(try_recover(p->x, p->a, p->n, p->d, p->m, o, &exec, &model, &err), &err);
        if (i == 0) {
            first = model;
            continue;
        }
        if (!same_networks(first, model))
            fail_msg("%d threads give other bits", threads[i]);
        unrelu_network_free(model);
    }
    unrelu_network_free(first);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    planted_network p = plant_network(10, 5, 8, 700, 0, 1);
    expect_one_answer(&p, &o);
    planted_network_free(&p);
    p = plant_network(8, 4, 6, 3000, .3, 1);
    o = with_k(4);
    expect_one_answer(&p, &o);
    o.method = UNRELU_RECOVER_MOMENTS;
    expect_one_answer(&p, &o);
    planted_network_free(&p);
    p = easy(1500);
    for (size_t i = 2; i < sizeof methods / sizeof *methods; i++) {
        o = with_k(3);
        o.method = methods[i].method;
        expect_one_answer(&p, &o);
    }
    planted_network_free(&p);
}

static void threads_do_not_change_a_bit_of_a_large_fit(void **state)
{
    (void)state;
    planted_network p = plant_network(100, 40, 50, 700, 0, 1);
    unrelu_network *models[3];
    static const int threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        unrelu_exec exec;
        unrelu_exec_init(&exec, sizeof exec);
        unrelu_error err = {0};
        exec.threads = threads[i];
        must(try_recover(p.x, p.a, p.n, p.d, p.m, NULL, &exec, &models[i], &err), &err);
    }
    assert_verdict(models[0], UNRELU_VERDICT_EXACT);
    assert_near(error_of_V(p.truth, models[0]), 0, 1e-9);
    assert_true(same_networks(models[0], models[1]));
    assert_true(same_networks(models[0], models[2]));
    for (size_t i = 0; i < 3; i++)
        unrelu_network_free(models[i]);
    planted_network_free(&p);
}

static void another_seed_finds_the_same_network(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 5, 8, 100, 0, 1);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.seed = seed;
        unrelu_network *model = expect_exact(&p, &o, 1e-9);
        assert_int_equal(model->seed, seed);
        unrelu_network_free(model);
    }
    planted_network_free(&p);
}

typedef struct {
    atomic_long calls, stages;
    long stop_at; /* 0: never */
    int bad;
} watch;

static void on_progress(void *context, const char *stage, double fraction)
{
    watch *w = context;
    w->bad |= !stage || !stage[0] || !(fraction <= 1);
    atomic_fetch_add(&w->stages, 1);
}

static int on_cancel(void *context)
{
    watch *w = context;
    long call = atomic_fetch_add(&w->calls, 1) + 1;
    return w->stop_at && call >= w->stop_at;
}

/* twenty of the places where the callback is asked say stop */
static void expect_cancellable(const planted_network *p, const unrelu_recover_options *o,
                               int threads)
{
    watch all = {.stop_at = 0};
    unrelu_exec exec = {.size = sizeof exec,
                        .threads = threads,
                        .progress = on_progress,
                        .cancelled = on_cancel,
                        .context = &all};
    unrelu_network *model;
    unrelu_error err = {0};
    must(try_recover(p->x, p->a, p->n, p->d, p->m, o, &exec, &model, &err), &err);
    unrelu_network_free(model);
    long calls = atomic_load(&all.calls), step = calls > 20 ? calls / 20 : 1;
    assert_true(calls > 0);
    assert_true(atomic_load(&all.stages) > 0);
    assert_false(all.bad);
    for (long at = 1; at <= calls; at += step) {
        watch w = {.stop_at = at};
        exec.context = &w;
        unrelu_status status = try_recover(p->x, p->a, p->n, p->d, p->m, o, &exec, &model, &err);
        if (status == UNRELU_OK && atomic_load(&w.calls) < at) { /* threads ask as they come */
            unrelu_network_free(model);
            continue;
        }
        if (status != UNRELU_ECANCELLED)
            fail_msg("stopped at call %ld of %ld: status %d", at, calls, (int)status);
        assert_null(model);
        assert_false(w.bad);
    }
}

static void a_recovery_can_be_cancelled_anywhere(void **state)
{
    (void)state;
    planted_network p = plant_network(6, 3, 4, 300, 0, 1);
    expect_cancellable(&p, NULL, 1);
    expect_cancellable(&p, NULL, 2);
    planted_network_free(&p);
    p = plant_network(6, 3, 4, 600, .2, 1);
    unrelu_recover_options o = with_k(3);
    expect_cancellable(&p, &o, 2);
    planted_network_free(&p);
    p = easy(400);
    for (size_t i = 2; i < sizeof methods / sizeof *methods; i++) {
        o = with_k(3);
        o.method = methods[i].method;
        expect_cancellable(&p, &o, 1);
    }
    planted_network_free(&p);
}

/* 2 inputs and 40 labels: rows that the search takes are fewer than the rank of the noise */
static void noisy_labels_of_many_columns_are_fitted(void **state)
{
    (void)state;
    planted_network p = plant_network(2, 2, 40, 1000, .1, 1);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_NOISY);
    assert_int_equal(model->k, 2);
    assert_near(error_of_V(p.truth, model), 0, .05);
    unrelu_network_free(model);
    planted_network_free(&p);
}

/* before one-sparse, which found this one as a fallback */
static void signless_comes_first_where_labels_are_fewer_than_neurons(void **state)
{
    (void)state;
    planted_network p = plant_network(10, 8, 4, 1000, 0, 3);
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    unrelu_network *model = recover(&p, &o);
    assert_verdict(model, UNRELU_VERDICT_EXACT);
    assert_string_equal(model->method, "signless");
    assert_string_equal(model->biases, "none");
    assert_int_equal(model->warning_count, 0);
    assert_near(error_of_V(p.truth, model), 0, 1e-12);
    unrelu_network_free(model);
    planted_network_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_networks_come_back_exactly),
        cmocka_unit_test(U_comes_back_as_exactly_as_V),
        cmocka_unit_test(every_input_law_will_do),
        cmocka_unit_test(powers_of_the_rectifier_come_back_exactly),
        cmocka_unit_test(below_fifty_rows_the_fit_is_not_certified),
        cmocka_unit_test(rows_that_are_left_over_are_a_hold_out),
        cmocka_unit_test(the_counts_of_the_certificate_are_those_of_a_plain_loop),
        cmocka_unit_test(more_neurons_than_inputs_are_no_obstacle),
        cmocka_unit_test(antiparallel_rows_are_told_apart),
        cmocka_unit_test(biases_are_found_whichever_there_are),
        cmocka_unit_test(scales_of_the_inputs_do_not_matter),
        cmocka_unit_test(scales_of_the_labels_do_not_matter),
        cmocka_unit_test(labels_in_single_precision_are_exact_to_it),
        cmocka_unit_test(labels_with_seven_digits_are_exact_to_them),
        cmocka_unit_test(the_k_that_is_asked_for_is_obeyed_where_the_data_have_it),
        cmocka_unit_test(cells_that_are_not_finite_are_named),
        cmocka_unit_test(files_of_different_length_are_refused),
        cmocka_unit_test(too_few_rows_are_refused_with_the_number_needed),
        cmocka_unit_test(more_neurons_than_labels_could_determine_are_refused),
        cmocka_unit_test(labels_that_are_all_zero_are_refused),
        cmocka_unit_test(inputs_that_are_all_zero_are_refused),
        cmocka_unit_test(a_repeated_input_column_gives_rows_of_least_norm),
        cmocka_unit_test(a_constant_input_column_beside_a_bias_is_rank_deficient),
        cmocka_unit_test(a_neuron_that_is_always_on_is_not_certified),
        cmocka_unit_test(a_neuron_that_is_never_on_is_left_out),
        cmocka_unit_test(a_neuron_that_is_on_for_fewer_rows_than_inputs_is_not_certified),
        cmocka_unit_test(neurons_with_one_pattern_are_not_certified),
        cmocka_unit_test(a_neuron_that_hinges_on_one_sample_is_not_certified),
        cmocka_unit_test(coinciding_neurons_are_merged),
        cmocka_unit_test(a_neuron_without_output_is_left_out),
        cmocka_unit_test(a_linear_pair_is_reported_with_its_rank),
        cmocka_unit_test(neurons_with_one_output_direction_need_the_joint_solver),
        cmocka_unit_test(labels_of_another_model_are_never_exact),
        cmocka_unit_test(repeated_rows_certify_nothing),
        cmocka_unit_test(fits_that_are_exact_by_chance_are_not_called_exact),
        cmocka_unit_test(one_wrong_label_of_a_thousand_rows_is_seen),
        cmocka_unit_test(an_order_of_the_tensor_that_does_not_exist_is_refused),
        cmocka_unit_test(fewer_labels_than_neurons_are_solved_jointly),
        cmocka_unit_test(joint_fits_with_neurons_of_one_pattern_are_not_certified),
        cmocka_unit_test(smooth_and_leaky_activations_come_back),
        cmocka_unit_test(exponentials_of_squares_come_back),
        cmocka_unit_test(noise_and_number_of_neurons_are_found),
        cmocka_unit_test(biases_are_found_under_noise),
        cmocka_unit_test(noisy_labels_that_must_be_exact_fail_with_a_sentence),
        cmocka_unit_test(noiseless_labels_may_be_fitted_as_noisy),
        cmocka_unit_test(every_method_by_name_ends_exact_on_easy_data),
        cmocka_unit_test(methods_find_k_themselves),
        cmocka_unit_test(methods_fit_noisy_labels_by_maximum_likelihood),
        cmocka_unit_test(third_order_carries_no_signal_of_the_rectifier),
        cmocka_unit_test(the_papers_linear_systems_are_exact_from_a_good_start),
        cmocka_unit_test(the_raw_estimate_of_a_method_is_given_as_it_is),
        cmocka_unit_test(the_symmetric_method_refuses_inputs_that_are_not),
        cmocka_unit_test(every_way_to_signs_leads_to_the_network),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(threads_do_not_change_a_bit_of_a_large_fit),
        cmocka_unit_test(another_seed_finds_the_same_network),
        cmocka_unit_test(a_recovery_can_be_cancelled_anywhere),
        cmocka_unit_test(noisy_labels_of_many_columns_are_fitted),
        cmocka_unit_test(signless_comes_first_where_labels_are_fewer_than_neurons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
