/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by hand: all of them alike, in deviations, of margins N(0, 1). */
#include "planted.h"

#include "gaussian/joint/row_likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

static double log_Phi(double t)
{
    return log(erfc(-t / sqrt(2)) / 2);
}

/* n rows with the same cells; R: rho everywhere off the diagonal but in the last column, which is 0
 * there */
static ur_joint_likelihood likelihood_of(size_t n, size_t d, const unsigned char *state,
                                         const double *at, double rho, double last)
{
    ur_cell_column column[MOST] = {{0}};
    const ur_cell_column *columns[MOST];
    double R[MOST * MOST];
    ur_joint_likelihood out;
    unrelu_exec exec;
    unrelu_error err = {0};
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = 1;
    for (size_t j = 0; j < d; j++) {
        unsigned char *states = malloc(n);
        double *a = malloc(n * sizeof *a);
        assert_true(states && a);
        memset(states, state[j], n);
        for (size_t i = 0; i < n; i++)
            a[i] = at[j];
        column[j] = (ur_cell_column){.n = n, .state = states, .a = a, .margin.margin.s = 1};
        columns[j] = &column[j];
        for (size_t k = 0; k < d; k++)
            R[j * d + k] = j == k ? 1 : j + 1 == d || k + 1 == d ? last : rho;
    }
    assert_int_equal(ur_row_likelihoods(&(ur_joint_columns){n, d, columns, R}, &exec, &out, &err),
                     UNRELU_OK);
    for (size_t j = 0; j < d; j++) {
        free((void *)column[j].state);
        free(column[j].a);
    }
    return out;
}

static void near(double found, double want, double tolerance)
{
    if (!(fabs(found - want) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, want, tolerance);
}

/* with all correlations 1/2 every sign pattern of one side has probability 1 / (d + 1) */
static void orthants_have_their_probability_within_the_error(void **state)
{
    (void)state;
    for (size_t d = 3; d <= MOST; d++) {
        unsigned char below[MOST], above[MOST];
        double at[MOST] = {0};
        memset(below, UR_BELOW, sizeof below);
        memset(above, UR_ABOVE, sizeof above);
        ur_joint_likelihood one = likelihood_of(30, d, below, at, .5, .5);
        ur_joint_likelihood two = likelihood_of(30, d, above, at, .5, .5);
        assert_true(one.error > 0 && one.error < .1 && two.error > 0 && two.error < .1);
        near(one.value, -30 * log((double)d + 1), 4 * one.error);
        near(two.value, -30 * log((double)d + 1), 4 * two.error);
    }
}

/* both of correlation 1/2 below -far: by Simpson's rule, over where the first is */
static double log_rare(double far)
{
    enum { STEPS = 4000 };
    double step = 40 / (far * STEPS), sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double rule = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2, u = far + step * i;
        sum += rule * exp((far * far - u * u) / 2) * erfc((far - u / 2) / sqrt(1.5)) / 2;
    }
    return log(sum * step / 3) - far * far / 2 - log(2 * M_PI) / 2;
}

/* of which Phi2 itself has no digit left, down to 1e-200 */
static void rare_cells_of_two_keep_their_digits(void **state)
{
    (void)state;
    const unsigned char states[] = {UR_BELOW, UR_ABOVE, UR_SEEN};
    for (double far = 2; far < 25; far *= 1.7) {
        const double at[] = {-far, far, .5};
        ur_joint_likelihood found = likelihood_of(1, 3, states, at, -.5, 0);
        double want = log_rare(far) - .125 - log(2 * M_PI) / 2;
        near(found.value, want, 1e-8 * fabs(want) + 4 * found.error);
        assert_true(found.error < .01);
    }
}

static void what_has_no_density_or_takes_too_long_is_absent(void **state)
{
    (void)state;
    const unsigned char seen[] = {UR_SEEN, UR_SEEN, UR_SEEN};
    const double at[MOST] = {.5, .5, .5};
    double tiny = 1e-11; /* of a variance */
    assert_true(isnan(likelihood_of(1, 3, seen, at, 1 - tiny / 2, 0).value));
    assert_true(isfinite(likelihood_of(1, 3, seen, at, 1 - 100 * tiny, 0).value));
    /* the second follows from the first, which lies below -1 */
    const unsigned char hidden[] = {UR_BELOW, UR_BELOW, UR_BELOW};
    const double limits[] = {-1, .5, 0};
    ur_joint_likelihood found = likelihood_of(1, 3, hidden, limits, 1, 0);
    near(found.value, log_Phi(-1) - log(2), 1e-9);
    unsigned char below[MOST];
    memset(below, UR_BELOW, sizeof below);
    assert_true(isfinite(likelihood_of(500, MOST, below, at, .5, .5).value));
    assert_true(isnan(likelihood_of(5000, MOST, below, at, .5, .5).value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orthants_have_their_probability_within_the_error),
        cmocka_unit_test(rare_cells_of_two_keep_their_digits),
        cmocka_unit_test(what_has_no_density_or_takes_too_long_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
