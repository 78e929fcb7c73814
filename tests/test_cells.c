/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "base/random.h"
#include "gaussian/cells/cells.h"
#include "law/power.h"

#include <math.h>

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

static unrelu_source *open_source(const char *path)
{
    unrelu_source *source;
    unrelu_error err = {0};
    if (unrelu_source_open(path, NULL, &source, &err))
        fail_msg("%s", err.text);
    return source;
}

/* limits: the text of a second file, or NULL */
static unrelu_status load(const char *text, const char *limits, ur_cells_rules rules,
                          ur_arena *arena, ur_cells *cells, unrelu_error *err)
{
    unrelu_source *source = open_source(files_text("cells.csv", text)), *second = NULL;
    if (limits)
        rules.limits = second = open_source(files_text("limits.csv", limits));
    unrelu_status status = ur_cells_load(source, &rules, NULL, arena, cells, err);
    unrelu_source_close(source);
    if (second)
        unrelu_source_close(second);
    return status;
}

/* what is known, row by row: "=1.5" seen, "<0.25" below, ">5" above, "1..2" between, "?" missing */
static void expect(const char *text, const char *limits, ur_cells_rules rules, const char *known)
{
    UR_ARENA(arena);
    ur_cells cells;
    unrelu_error err = {0};
    char found[1024] = "";
    if (load(text, limits, rules, &arena, &cells, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < cells.n; i++)
        for (size_t j = 0; j < cells.d; j++) {
            double x = cells.x[j * cells.n + i];
            char cell[64] = "?";
            int state = cells.state[j * cells.n + i];
            if (state == UR_MISSING)
                assert_true(isnan(x));
            else if (state == UR_BETWEEN)
                snprintf(cell, sizeof cell, "%g..%g", x, cells.upper[j * cells.n + i]);
            else
                snprintf(cell, sizeof cell, "%c%g", "=<?>"[state], x);
            if (state != UR_BETWEEN && cells.upper)
                assert_true(isnan(cells.upper[j * cells.n + i]));
            strcat(found, cell);
            strcat(found, j + 1 < cells.d ? " " : "\n");
        }
    assert_string_equal(found, known);
}

/* %s stands for the path of the samples, and then of the limits */
static void expect_refused(const char *text, const char *limits, ur_cells_rules rules,
                           const char *format)
{
    UR_ARENA(arena);
    ur_cells cells;
    unrelu_error err = {0};
    char sentence[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sentence, sizeof sentence, format, files_path("cells.csv"), files_path("limits.csv"));
#pragma GCC diagnostic pop
    assert_int_equal(load(text, limits, rules, &arena, &cells, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, sentence);
    assert_null(cells.x);
    assert_null(cells.state);
}

/* ---- what each cell says ---- */

static void plain_numbers_are_seen_and_zeros_below_0(void **state)
{
    (void)state;
    ur_cells_rules none = {0};
    expect("a,b\n1.5,0\n0,2\n", NULL, none, "=1.5 <0\n<0 =2\n");
    expect("a,b\n1,\nNA,NaN\n", NULL, none, "=1 ?\n? ?\n");
    expect("1\n2\n0\n", NULL, none, "=1\n=2\n<0\n");
    expect("a,b\n-0,1e-300\n", NULL, none, "<0 =1e-300\n");
}

static void a_cell_may_give_its_own_limit(void **state)
{
    (void)state;
    ur_cells_rules none = {0}, limit = {.limit = (double[]){0.1, 7}};
    expect("a,b\n<0.25,1\n< 0.25,<0.5\n2,\"<0.75\"\n", NULL, none,
           "<0.25 =1\n<0.25 <0.5\n=2 <0.75\n");
    expect("a,b\n<0,<-1\n", NULL, none, "<0 <-1\n");
    /* and it wins over other limits */
    expect("a,b\n<0.25,<9\n", NULL, limit, "<0.25 <9\n");
    expect("a,b\n<0.25,8\n", "3,5\n", limit, "<0.25 =8\n");
}

static void cells_may_lie_above_a_limit_or_between_two(void **state)
{
    (void)state;
    ur_cells_rules none = {0}, limit = {.limit = (double[]){2, NAN}, .at = (double[]){0, 1}};
    expect("a,b\n>5,1\n2,0.2..0.5\n<1,>=-3\n", NULL, none, ">5 =1\n=2 0.2..0.5\n<1 >-3\n");
    /* what they say of themselves wins over other limits */
    expect("a,b\n>1,-2..3\n0..5,0.5\n", NULL, limit, ">1 -2..3\n0..5 <1\n");
}

static void nd_and_0_are_below_the_limit_of_the_column(void **state)
{
    (void)state;
    ur_cells_rules rules = {.limit = (double[]){0.5, NAN}};
    expect("a,b\nND,0\n0,3\nnd,\n0.5,0.01\n", NULL, rules,
           "<0.5 <0\n<0.5 =3\n<0.5 ?\n=0.5 =0.01\n");
}

static void limits_of_a_file_come_before_those_of_columns(void **state)
{
    (void)state;
    ur_cells_rules both = {.limit = (double[]){0.5, 0.75}}, none = {0};
    expect("a,b\nND,0\n0,ND\n2,3\n", "a,b\n0.1,\n,0.2\n1,1\n", both,
           "<0.1 <0.75\n<0.5 <0.2\n=2 =3\n");
    expect("a,b\nND,0\n1,0\n", "0.1,0.2\n1,NA\n", none, "<0.1 <0.2\n=1 <0\n");
}

static void values_at_or_below_censor_at_are_below_it(void **state)
{
    (void)state;
    ur_cells_rules rules = {.at = (double[]){-1, 2}};
    expect("a,b\n-0.5,2.5\n-1,2\n-3,0\n0,1\n<4,<5\n", NULL, rules,
           "=-0.5 =2.5\n<-1 <2\n<-1 <2\n=0 <2\n<4 <5\n");
    rules.limit = (double[]){NAN, 3};
    expect("a,b\n1,0\n1,ND\n1,3\n", NULL, rules, "=1 <3\n=1 <3\n=1 =3\n");
}

static void negative_values_may_be_values(void **state)
{
    (void)state;
    ur_cells_rules rules = {.negative = 1};
    expect("a,b\n-0.5,0\n<-2,1\n", NULL, rules, "=-0.5 =0\n<-2 =1\n");
}

static void more_rows_than_one_piece_are_kept_in_order(void **state)
{
    (void)state;
    enum { ROWS = 60000 };
    char *text = malloc(ROWS * 24), *end = text;
    UR_ARENA(arena);
    ur_cells cells;
    unrelu_error err = {0};
    for (int i = 0; i < ROWS; i++)
        end += sprintf(end, i % 5 ? "%d,1\n" : "<%d,0\n", i + 1);
    if (load(text, NULL, (ur_cells_rules){0}, &arena, &cells, &err))
        fail_msg("%s", err.text);
    assert_int_equal(cells.n, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(cells.x[i] == (double)(i + 1) && cells.x[ROWS + i] == (i % 5 ? 1 : 0));
        assert_int_equal(cells.state[i], i % 5 ? UR_SEEN : UR_BELOW);
        assert_int_equal(cells.state[ROWS + i], i % 5 ? UR_SEEN : UR_BELOW);
    }
    free(text);
}

/* ---- what is refused ---- */

static void nd_without_a_limit_is_refused(void **state)
{
    (void)state;
    const char *sentence = "%s: row 2, column 2 (b) is 'ND' (not detected), and its limit is not "
                           "known: give it with `limit` NAME=VALUE, or in a file with `limits`";
    expect_refused("a,b\n1,2\n3,ND\n", NULL, (ur_cells_rules){0}, sentence);
    expect_refused("a,b\nND,2\n3,ND\n", NULL, (ur_cells_rules){.limit = (double[]){1, NAN}},
                   sentence);
    expect_refused("a,b\n1,2\n3,ND\n", "1,1\n1,\n", (ur_cells_rules){0}, sentence);
}

static void a_value_below_its_limit_is_refused(void **state)
{
    (void)state;
    const char *sentence =
        "%s: row 2, column 1 (a) is 0.25, below the detection limit 0.5 of that cell: a value was "
        "seen there, or it was not; correct one of the two";
    expect_refused("a,b\n1,2\n0.25,3\n", NULL, (ur_cells_rules){.limit = (double[]){0.5, NAN}},
                   sentence);
    expect_refused("a,b\n1,2\n0.25,3\n", "1,1\n0.5,1\n", (ur_cells_rules){0}, sentence);
}

static void negative_and_infinite_values_are_refused(void **state)
{
    (void)state;
    expect_refused("a,b\n1,-2\n3,1\n", NULL, (ur_cells_rules){0},
                   "%s: row 1, column 2 (b) is -2, and a rectified value is at least 0: "
                   "correct it, name the column in `uncensored` where its values may have any "
                   "sign, or leave it out with `columns`");
    UR_ARENA(arena);
    ur_cells cells;
    unrelu_error err = {0};
    unrelu_source *source;
    ur_cells_rules rules = {.negative = 1};
    const double x[] = {1, 2, -INFINITY, 1};
    assert_int_equal(unrelu_source_memory(x, 2, 2, NULL, &source, &err), UNRELU_OK);
    assert_int_equal(ur_cells_load(source, &rules, NULL, &arena, &cells, &err), UNRELU_EFORMAT);
    assert_string_equal(err.text, "matrix in memory: row 2, column 1 is infinite: every value must "
                                  "be finite");
    unrelu_source_close(source);
}

static void cells_above_and_between_are_refused_where_only_below_is_known(void **state)
{
    (void)state;
    ur_cells_rules below = {.below_only = 1}, none = {0};
    expect("a,b\n<5,1\n", NULL, below, "<5 =1\n");
    expect_refused("a,b\n1,>5\n", NULL, below,
                   "%s: row 1, column 2 (b) lies above a limit, which only a fit takes: leave the "
                   "column out with `columns`");
    expect_refused("a,b\n1,5..6\n", NULL, below,
                   "%s: row 1, column 2 (b) lies between two limits, which only a fit takes: leave "
                   "the column out with `columns`");
    expect_refused("a,b\n1,2\n3,0\n", "a,b\n1,1\n1,>2\n", none,
                   "%.0s%s: row 2, column 2 (b) lies above a limit, and a detection limit is one "
                   "number: correct it, or leave it empty where the cell has none");
    expect_refused("a,b\n1,2\n3,0\n", "a,b\n0..1,1\n1,2\n", none,
                   "%.0s%s: row 1, column 1 (a) lies between two limits, and a detection limit is "
                   "one number: correct it, or leave it empty where the cell has none");
}

static void limits_of_another_shape_are_refused(void **state)
{
    (void)state;
    const char *rest = ": each limit belongs to the cell at its place";
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%%s is 2 x 2 and %%s is 1 x 2%s", rest);
    expect_refused("1,2\n3,4\n", "1,1\n", (ur_cells_rules){0}, sentence);
    snprintf(sentence, sizeof sentence, "%%s is 2 x 2 and %%s is 2 x 3%s", rest);
    expect_refused("1,2\n3,4\n", "1,1,1\n1,1,1\n", (ur_cells_rules){0}, sentence);
}

/* ---- transforms ---- */

static void transforms_go_forth_and_back(void **state)
{
    (void)state;
    static const double lambdas[] = {-2, -0.5, -1e-9, 0, 1e-9, 0.3, 1, 2.5};
    static const double values[] = {1e-6, 0.01, 0.7, 1, 3.5, 1000, 1e8};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double x = values[i];
        for (int t = UNRELU_TRANSFORM_NONE; t < UNRELU_TRANSFORM_BOXCOX; t++) {
            unrelu_transform kind = (unrelu_transform)t;
            near(ur_untransform(kind, 0, ur_transform(kind, 0, x)) / x, 1, 1e-13);
        }
        near(ur_transform(UNRELU_TRANSFORM_SQRT, 0, x), sqrt(x), 0);
        near(ur_transform(UNRELU_TRANSFORM_LOG, 0, x), log(x), 0);
        for (size_t k = 0; k < sizeof lambdas / sizeof *lambdas; k++) {
            double l = lambdas[k], y = ur_transform(UNRELU_TRANSFORM_BOXCOX, l, x);
            double naive = fabs(l) > 1e-6 ? (pow(x, l) - 1) / l : log(x);
            near(y, naive, 1e-6 * (1 + fabs(naive)));
            /* where lambda is far below 0 large values come together */
            if (l * log(x) > -10)
                near(ur_untransform(UNRELU_TRANSFORM_BOXCOX, l, y) / x, 1, 1e-9);
        }
    }
}

static void ends_of_the_ranges_are_told(void **state)
{
    (void)state;
    unrelu_transform boxcox = UNRELU_TRANSFORM_BOXCOX;
    assert_true(ur_transform(boxcox, 0.5, 0) == -2);
    assert_true(ur_transform(boxcox, 0, 0) == -INFINITY);
    assert_true(ur_transform(boxcox, -1, 0) == -INFINITY);
    assert_true(ur_untransform(boxcox, 0.5, -3) == 0);
    assert_true(ur_untransform(boxcox, -0.5, 2.5) == INFINITY);
    assert_true(ur_untransform(UNRELU_TRANSFORM_SQRT, 0, -1) == 0);
    assert_true(ur_untransform(UNRELU_TRANSFORM_NONE, 0, -1) == -1);
}

static void columns_are_transformed_with_their_limits(void **state)
{
    (void)state;
    const unsigned char kinds[] = {UR_SEEN, UR_BELOW, UR_MISSING, UR_BELOW};
    double x[] = {4, 0.25, NAN, 0};
    size_t guessed = 9;
    assert_int_equal(ur_transform_column(UNRELU_TRANSFORM_SQRT, 0, 4, x, NULL, kinds, "column 1",
                                         &guessed, NULL),
                     UNRELU_OK);
    assert_true(x[0] == 2 && x[1] == 0.5 && isnan(x[2]) && x[3] == 0);
    assert_int_equal(guessed, 0);
    double y[] = {4, 0.25, NAN, 0};
    ur_transform_column(UNRELU_TRANSFORM_BOXCOX, 0.5, 4, y, NULL, kinds, "column 1", &guessed,
                        NULL);
    assert_true(y[0] == 2 && y[1] == -1 && isnan(y[2]) && y[3] == -2);
    assert_int_equal(guessed, 0);
    double z[] = {-4, -0.25, NAN, 0};
    ur_transform_column(UNRELU_TRANSFORM_NONE, 0, 4, z, NULL, kinds, "column 1", &guessed, NULL);
    assert_true(z[0] == -4 && z[1] == -0.25 && z[3] == 0);
}

static void limits_without_an_image_are_guessed_and_counted(void **state)
{
    (void)state;
    const unsigned char kinds[] = {UR_SEEN, UR_BELOW, UR_SEEN, UR_BELOW, UR_BELOW};
    static const double given[] = {4, 0.25, 3, 0, 0};
    double x[5];
    size_t guessed;
    memcpy(x, given, sizeof x);
    ur_transform_column(UNRELU_TRANSFORM_LOG, 0, 5, x, NULL, kinds, "column 1", &guessed, NULL);
    near(x[0], log(4), 1e-15);
    near(x[1], log(0.25), 1e-15);
    near(x[3], log(3), 1e-15);
    near(x[4], log(3), 1e-15);
    assert_int_equal(guessed, 2);
    memcpy(x, given, sizeof x);
    ur_transform_column(UNRELU_TRANSFORM_BOXCOX, -1, 5, x, NULL, kinds, "column 1", &guessed, NULL);
    near(x[3], 1 - 1 / 3.0, 1e-15);
    assert_int_equal(guessed, 2);
}

static void values_without_an_image_are_refused(void **state)
{
    (void)state;
    const unsigned char kinds[] = {UR_SEEN, UR_SEEN, UR_BELOW};
    double negative[] = {1, -2, 0}, zero[] = {1, 0, 0}, limit[] = {1, 2, -0.5}, lambda;
    size_t guessed;
    unrelu_error err = {0};
    assert_int_equal(ur_transform_column(UNRELU_TRANSFORM_SQRT, 0, 3, negative, NULL, kinds,
                                         "column 2 (lead)", &guessed, &err),
                     UNRELU_EDATA);
    assert_string_equal(err.text, "column 2 (lead), row 2 is -2: a transform is for values above "
                                  "0; leave the column out or use `transform` none");
    assert_int_equal(ur_transform_column(UNRELU_TRANSFORM_LOG, 0, 3, zero, NULL, kinds, "column 1",
                                         &guessed, &err),
                     UNRELU_EDATA);
    assert_string_equal(err.text, "column 1, row 2 is 0: a transform is for values above 0; leave "
                                  "the column out or use `transform` none");
    assert_int_equal(ur_transform_column(UNRELU_TRANSFORM_LOG, 0, 3, limit, NULL, kinds, "column 1",
                                         &guessed, &err),
                     UNRELU_EDATA);
    assert_string_equal(err.text, "column 1, row 3 is below the limit -0.5: a transform needs "
                                  "limits of at least 0");
    assert_int_equal(ur_transform_estimate(3, negative, NULL, kinds, "column 7", &lambda, &err),
                     UNRELU_EDATA);
    assert_string_equal(err.text, "column 7, row 2 is -2: a transform is for values above 0; leave "
                                  "the column out or use `transform` none");
}

/* ---- lambda ---- */

enum { N = 1500 };

/* x = back of N(b, s^2), some of it below the limits in turn */
static void plant(double lambda, double b, double s, const double limits[3], uint64_t seed,
                  double *x, unsigned char *kinds)
{
    ur_random_normals(seed, 1, 0, N, x);
    for (size_t i = 0; i < N; i++) {
        double l = limits[i % 3];
        x[i] = ur_untransform(UNRELU_TRANSFORM_BOXCOX, lambda, b + s * x[i]);
        kinds[i] = x[i] <= l ? UR_BELOW : UR_SEEN;
        x[i] = fmax(x[i], l);
    }
}

/* Without limits the variance of lambda's estimate at 0 is near 2 / (3 n s^2); limits add to it.
 * The spread over samples says what its error is, and the mean must lie within that. */
static void a_planted_lambda_is_found_within_its_error(void **state)
{
    (void)state;
    enum { SAMPLES = 12 };
    static const struct {
        double lambda, b, s, limits[3], most; /* most: of the spread */
    } cases[] = {
        {0, 0.5, 1, {0.5, 1, 1.2}, 0.07},
        {0.5, 1, 1, {0.2, 0.4, 1}, 0.15},
        {-0.5, -0.5, 0.5, {0.3, 0.5, 0.6}, 0.2},
        {1, 3, 1, {0.5, 2, 3}, 0.3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double sum = 0, square = 0, x[N];
        unsigned char kinds[N];
        for (uint64_t seed = 0; seed < SAMPLES; seed++) {
            double found;
            plant(cases[k].lambda, cases[k].b, cases[k].s, cases[k].limits, 10 + seed, x, kinds);
            assert_int_equal(ur_transform_estimate(N, x, NULL, kinds, "", &found, NULL), UNRELU_OK);
            sum += found - cases[k].lambda;
            square += pow(found - cases[k].lambda, 2);
        }
        double mean = sum / SAMPLES, spread = sqrt(square / SAMPLES);
        if (!(spread < cases[k].most && fabs(mean) < 3 * spread / sqrt(SAMPLES)))
            fail_msg("lambda %g: off by %g on average, spread %g", cases[k].lambda, mean, spread);
    }
}

/* the maximum of a parabola through three values about it */
static void lambda_is_where_the_likelihood_is_largest(void **state)
{
    (void)state;
    const double h = 2e-4;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double x[N], y[N], f[3], found, mean = 0, seen = 0;
        unsigned char kinds[N];
        plant(0.4, 1, 1, (double[]){0.1, 0.3, 0.5}, seed, x, kinds);
        assert_int_equal(ur_transform_estimate(N, x, NULL, kinds, "", &found, NULL), UNRELU_OK);
        for (size_t i = 0; i < N; i++)
            if (kinds[i] == UR_SEEN) {
                mean += log(x[i]);
                seen++;
            }
        for (size_t i = 0; i < N; i++)
            x[i] /= exp(mean / seen);
        for (int k = 0; k < 3; k++)
            ur_transform_likelihood(N, x, NULL, kinds, found + (k - 1) * h, y, &f[k], NULL);
        near(h * (f[2] - f[0]) / (f[0] - 2 * f[1] + f[2]) / 2, 0, 2e-6);
    }
}

static void units_do_not_change_lambda(void **state)
{
    (void)state;
    static const double units[] = {1e-100, 1e-3, 1, 1e4, 1e100};
    double x[N], scaled[N], first = NAN;
    unsigned char kinds[N];
    plant(0.4, 1, 1, (double[]){0.1, 0.3, 0.5}, 3, x, kinds);
    for (size_t k = 0; k < 5; k++) {
        double found;
        for (size_t i = 0; i < N; i++)
            scaled[i] = units[k] * x[i];
        assert_int_equal(ur_transform_estimate(N, scaled, NULL, kinds, "", &found, NULL),
                         UNRELU_OK);
        first = isnan(first) ? found : first;
        near(found, first, 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers_are_seen_and_zeros_below_0),
        cmocka_unit_test(a_cell_may_give_its_own_limit),
        cmocka_unit_test(cells_may_lie_above_a_limit_or_between_two),
        cmocka_unit_test(nd_and_0_are_below_the_limit_of_the_column),
        cmocka_unit_test(limits_of_a_file_come_before_those_of_columns),
        cmocka_unit_test(values_at_or_below_censor_at_are_below_it),
        cmocka_unit_test(negative_values_may_be_values),
        cmocka_unit_test(more_rows_than_one_piece_are_kept_in_order),
        cmocka_unit_test(nd_without_a_limit_is_refused),
        cmocka_unit_test(a_value_below_its_limit_is_refused),
        cmocka_unit_test(negative_and_infinite_values_are_refused),
        cmocka_unit_test(cells_above_and_between_are_refused_where_only_below_is_known),
        cmocka_unit_test(limits_of_another_shape_are_refused),
        cmocka_unit_test(transforms_go_forth_and_back),
        cmocka_unit_test(ends_of_the_ranges_are_told),
        cmocka_unit_test(columns_are_transformed_with_their_limits),
        cmocka_unit_test(limits_without_an_image_are_guessed_and_counted),
        cmocka_unit_test(values_without_an_image_are_refused),
        cmocka_unit_test(a_planted_lambda_is_found_within_its_error),
        cmocka_unit_test(lambda_is_where_the_likelihood_is_largest),
        cmocka_unit_test(units_do_not_change_lambda),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
