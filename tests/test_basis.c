/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/basis.h"
#include "dense/blas.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the above */
#include <cmocka.h>

enum { P = 7 };

static void rows_stay_orthonormal_and_span_what_was_added(void **state)
{
    (void)state;
    double rows[P * P], x[P * P], rest[P];
    ur_basis basis = {.length = P, .rows = rows};
    ur_random_normals(3, 1, 0, P * P, x);
    for (size_t i = 1; i < P; i++) /* nearly parallel: one sweep alone would not do */
        for (size_t j = 0; j < P; j++)
            x[i * P + j] = x[j] + 1e-7 * x[i * P + j];
    for (size_t i = 0; i < P; i++)
        assert_true(ur_basis_grow(&basis, x + i * P, 1e-12));
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            assert_true(fabs(ur_dot(P, rows + i * P, rows + j * P) - (i == j)) < 1e-14);
    for (size_t i = 0; i < P; i++) {
        memcpy(rest, x + i * P, sizeof rest);
        assert_true(ur_basis_remove(&basis, i + 1, rest) < 1e-14);
    }
    assert_false(ur_basis_grow(&basis, x, 0)); /* all is spanned */
}

static void what_is_nearly_spanned_is_not_added(void **state)
{
    (void)state;
    double rows[3 * 3], x[3] = {0, 2, 0}, near[3] = {1e-9, 1, 0}, far[3] = {1e-3, 1, 0};
    ur_basis basis = {.length = 3, .rows = rows};
    assert_true(ur_basis_grow(&basis, x, 1e-6));
    assert_true(rows[1] == 1 && x[1] == 2);
    assert_false(ur_basis_grow(&basis, near, 1e-6));
    assert_true(basis.count == 1 && near[1] == 1);
    assert_true(ur_basis_grow(&basis, far, 1e-6));
    assert_true(rows[3] == 1 && rows[4] == 0);
    assert_false(ur_basis_grow(&basis, (double[3]){0}, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stay_orthonormal_and_span_what_was_added),
        cmocka_unit_test(what_is_nearly_spanned_is_not_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
