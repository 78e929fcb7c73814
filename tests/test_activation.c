/* SPDX-License-Identifier: Apache-2.0 */
#include "planted.h"

#include "dense/activation.h"

enum { KINDS = 9 };

static const unrelu_activation all[KINDS] = {
    {UNRELU_RELU, 0},    {UNRELU_POWER, 2},   {UNRELU_POWER, 3},
    {UNRELU_POWER, 0.5}, {UNRELU_EXPM1, 0},   {UNRELU_EXPM1SQ, 0},
    {UNRELU_LEAKY, 0.1}, {UNRELU_LEAKY, -.5}, {UNRELU_TANH_POS, 0},
};

static double naive(unrelu_activation f, double t)
{
    if (f.kind == UNRELU_LEAKY)
        return t > 0 ? t : f.parameter * t;
    if (t <= 0)
        return 0;
    switch (f.kind) {
    case UNRELU_POWER:
        return exp(f.parameter * log(t));
    case UNRELU_EXPM1:
        return exp(t) - 1;
    case UNRELU_EXPM1SQ:
        return exp(t * t) - 1;
    case UNRELU_TANH_POS:
        return (exp(t) - exp(-t)) / (exp(t) + exp(-t));
    default:
        return t;
    }
}

static void values_follow_the_formulas(void **state)
{
    (void)state;
    enum { COUNT = 61 };
    double t[COUNT], y[COUNT], slope[COUNT];
    for (size_t f = 0; f < KINDS; f++) {
        for (int i = 0; i < COUNT; i++)
            t[i] = (i - 30) / 10.0;
        ur_activation_apply(all[f], COUNT, t, y, slope);
        for (int i = 0; i < COUNT; i++)
            assert_near(y[i], naive(all[f], t[i]), 1e-13 * fmax(1, y[i]));
        ur_activation_apply(all[f], COUNT, t, NULL, NULL);
        ur_activation_apply(all[f], COUNT, t, t, NULL); /* in place */
        assert_memory_equal(t, y, sizeof t);
    }
}

static void slopes_are_the_derivatives(void **state)
{
    (void)state;
    double h = 1e-5;
    for (size_t f = 0; f < KINDS; f++)
        for (double t = -2.05; t < 2.1; t += 0.1) {
            double slope, alone, y;
            ur_activation_apply(all[f], 1, &t, &y, &slope);
            ur_activation_apply(all[f], 1, &t, NULL, &alone);
            double ratio = (naive(all[f], t + h) - naive(all[f], t - h)) / (2 * h);
            assert_near(slope, ratio, 1e-7 * fmax(1, ratio));
            assert_true(slope == alone);
        }
}

static void the_slope_at_the_kink_is_that_of_the_left(void **state)
{
    (void)state;
    double zero = 0;
    for (size_t f = 0; f < KINDS; f++) {
        double slope = NAN;
        ur_activation_apply(all[f], 1, &zero, NULL, &slope);
        assert_true(slope == (all[f].kind == UNRELU_LEAKY ? all[f].parameter : 0));
    }
}

static void a_flat_tanh_keeps_the_digits_of_its_slope(void **state)
{
    (void)state;
    double t = 20, slope;
    ur_activation_apply((unrelu_activation){UNRELU_TANH_POS, 0}, 1, &t, NULL, &slope);
    assert_near(slope / (4 * exp(-40)), 1, 1e-13);
}

static void inverse_undoes_the_activation(void **state)
{
    (void)state;
    for (size_t f = 0; f < KINDS; f++)
        for (double t = 0.05; t < 3; t += 0.1)
            assert_near(ur_activation_inverse(all[f], naive(all[f], t)), t, 1e-12);
    assert_near(ur_activation_inverse((unrelu_activation){UNRELU_LEAKY, 0.1}, -0.3), -3, 1e-15);
}

static void degree_is_how_the_activation_scales(void **state)
{
    (void)state;
    for (size_t f = 0; f < KINDS; f++) {
        double q = ur_activation_degree(all[f]), worst = 0;
        for (double t = -1; t <= 1; t += 0.25)
            worst = fmax(worst, fabs(naive(all[f], 1.7 * t) - pow(1.7, q) * naive(all[f], t)));
        if (q > 0)
            assert_near(worst, 0, 1e-13);
        else
            assert_true(worst > 0.1);
        assert_int_equal(ur_activation_rectifies(all[f]), naive(all[f], -1) == 0);
    }
}

/* ---- Hermite coefficients ---- */

static void hermite_coefficients_are_those_of_the_table(void **state)
{
    (void)state;
    static const struct {
        unrelu_activation f;
        double scale, c[5], tolerance;
    } rows[] = {
        {{UNRELU_RELU, 0}, 1, {.39894, .5, .39894, 0, -.39894}, 1e-5},
        {{UNRELU_LEAKY, 0.1}, 1, {.35905, .55, .35905, 0, -.35905}, 1e-5},
        {{UNRELU_POWER, 2}, 1, {.5, .79788, 1, .79788, 0}, 1e-5},
        {{UNRELU_POWER, 3}, 1, {.79788, 1.5, 2.39365, 3, 2.39365}, 1e-5},
        {{UNRELU_POWER, 0.5}, 1, {.41109, .43002, .20554, -.21501, -.30832}, 1e-5},
        {{UNRELU_EXPM1, 0}, 1, {.88714, 1.38714, 1.78609, 1.78609, 1.38714}, 1e-5},
        {{UNRELU_TANH_POS, 0}, 1, {.27799, .30285, .15072, -.1818, -.32523}, 1e-5},
        {{UNRELU_EXPM1SQ, 0}, 0.3, {.052, .088, .121, .126, .080}, 1e-3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int p = 0; p < 5; p++)
            assert_near(ur_activation_hermite(rows[i].f, rows[i].scale, 0, p), rows[i].c[p],
                        rows[i].tolerance);
}

static double Phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double phi(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1));
}

/* c_p = s^p E f^(p)(s g + b), where f'' of a ReLU is a unit mass at 0 */
static void hermite_coefficients_of_a_shifted_relu_are_closed_forms(void **state)
{
    (void)state;
    unrelu_activation relu = {UNRELU_RELU, 0};
    const double scales[] = {0.2, 1, 3}, shifts[] = {-2, -0.3, 0, 0.7, 4};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 5; j++) {
            double s = scales[i], b = shifts[j], u = b / s;
            double c[] = {s * phi(u) + b * Phi(u), s * Phi(u), s * phi(u), -b * phi(u),
                          s * (u * u - 1) * phi(u)};
            for (int p = 0; p < 5; p++)
                assert_near(ur_activation_hermite(relu, s, b, p), c[p], 1e-13 * (1 + fabs(b) + s));
        }
    assert_near(ur_activation_hermite(relu, 0, 2, 0), 2, 0);
    assert_near(ur_activation_hermite(relu, 0, 2, 1), 0, 0);
    /* a negative scale reflects g: He_p changes sign where p is odd */
    for (int p = 0; p < 5; p++)
        assert_near(ur_activation_hermite(relu, -1.5, 0.4, p),
                    (p % 2 ? -1 : 1) * ur_activation_hermite(relu, 1.5, 0.4, p), 1e-13);
}

static void hermite_coefficients_of_exponentials_are_closed_forms(void **state)
{
    (void)state;
    unrelu_activation expm1_pos = {UNRELU_EXPM1, 0}, square = {UNRELU_EXPM1SQ, 0};
    for (double s = 0.5; s < 9; s *= 2) { /* E e^(s g + b); g > -b / s */
        double b = 0.3, mean = exp(b + s * s / 2) * Phi(s + b / s) - Phi(b / s);
        assert_near(ur_activation_hermite(expm1_pos, s, b, 0) / mean, 1, 1e-12);
    }
    const double scales[] = {0.1, 0.5, 0.65, 0.7, 0.707};
    for (size_t i = 0; i < 5; i++) { /* completes the square in a^2 g^2 + 2 a b g + b^2 - g^2/2 */
        double a = scales[i], b = 0.2, w = 1 / sqrt(1 - 2 * a * a), mu = 2 * a * b * w * w;
        double mean = w * exp(b * b + mu * mu / (2 * w * w)) * Phi((mu + b / a) / w) - Phi(b / a);
        assert_near(ur_activation_hermite(square, a, b, 0) / mean, 1,
                    1e-11 * w); /* t^2 - g^2 / 2 cancels */
    }
    assert_true(ur_activation_hermite(square, sqrt(0.5) + 1e-9, 0, 0) == INFINITY);
    assert_true(ur_activation_hermite(square, 1, -3, 2) == INFINITY);
}

/* ---- names ---- */

static void names_read_back(void **state)
{
    (void)state;
    const char *texts[] = {"relu",    "power:2",   "power:0.5",   "expm1",
                           "expm1sq", "leaky:0.1", "leaky:-0.25", "tanh"};
    unrelu_error err = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        unrelu_activation f;
        char name[48];
        must(unrelu_activation_parse(texts[i], &f, &err), &err);
        unrelu_activation_name(f, name, sizeof name);
        assert_string_equal(name, texts[i]);
    }
    unrelu_activation third = {UNRELU_LEAKY, 1.0 / 3}, again;
    char name[48];
    unrelu_activation_name(third, name, sizeof name);
    must(unrelu_activation_parse(name, &again, &err), &err);
    assert_true(again.kind == third.kind && again.parameter == third.parameter);
    char cut[4];
    unrelu_activation_name(third, cut, sizeof cut);
    assert_string_equal(cut, "lea");
}

static void activations_that_are_a_relu_are_called_so(void **state)
{
    (void)state;
    const char *texts[] = {"power:1", "leaky:0"};
    for (size_t i = 0; i < 2; i++) {
        unrelu_activation f = {UNRELU_TANH_POS, 3};
        unrelu_error err = {0};
        must(unrelu_activation_parse(texts[i], &f, &err), &err);
        assert_int_equal(f.kind, UNRELU_RELU);
        assert_true(f.parameter == 0);
    }
}

static void bad_names_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"sigmoid", "'sigmoid' is no activation; there are relu, power:C, expm1, expm1sq, leaky:S "
                    "and tanh"},
        {"", "'' is no activation; there are relu, power:C, expm1, expm1sq, leaky:S and tanh"},
        {"power", "the activation power needs a number after the colon, as in power:2"},
        {"power:", "the activation power: needs a number after the colon, as in power:2"},
        {"power:2x", "the activation power:2x needs a number after the colon, as in power:2"},
        {"power:nan", "the activation power:nan needs a number after the colon, as in power:2"},
        {"power:0", "the activation power:0 needs an exponent above 0"},
        {"power:-1", "the activation power:-1 needs an exponent above 0"},
        {"leaky:1", "the activation leaky:1 is the identity: the network would be linear, and its "
                    "neurons cannot be told apart"},
        {"leaky:2", "the activation leaky:2 needs a slope below 1: leaky:0.5 with the signs of U, "
                    "V and c turned is the same network"},
        {"relu:3", "the activation relu takes no parameter, not relu:3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unrelu_activation f;
        unrelu_error err = {0};
        assert_int_equal(unrelu_activation_parse(bad[i].text, &f, &err), UNRELU_EUSAGE);
        assert_string_equal(err.text, bad[i].sentence);
    }
    unrelu_activation f;
    assert_int_equal(unrelu_activation_parse(NULL, &f, NULL), UNRELU_EUSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_the_formulas),
        cmocka_unit_test(slopes_are_the_derivatives),
        cmocka_unit_test(the_slope_at_the_kink_is_that_of_the_left),
        cmocka_unit_test(a_flat_tanh_keeps_the_digits_of_its_slope),
        cmocka_unit_test(inverse_undoes_the_activation),
        cmocka_unit_test(degree_is_how_the_activation_scales),
        cmocka_unit_test(hermite_coefficients_are_those_of_the_table),
        cmocka_unit_test(hermite_coefficients_of_a_shifted_relu_are_closed_forms),
        cmocka_unit_test(hermite_coefficients_of_exponentials_are_closed_forms),
        cmocka_unit_test(names_read_back),
        cmocka_unit_test(activations_that_are_a_relu_are_called_so),
        cmocka_unit_test(bad_names_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
