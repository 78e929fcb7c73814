/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "dense/near_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the above */
#include <cmocka.h>

enum { N = 400, P = 3, KINDS = 37 };

static int within(const void *context, size_t a, size_t b)
{
    const ur_near_rows *near = context;
    double sum = 0;
    for (size_t j = 0; j < P; j++)
        sum += pow(near->rows[a * P + j] - near->rows[b * P + j], 2);
    return sqrt(sum) <= near->reach;
}

/* a naive double loop: rows near each other are in one class and no others, as the kinds lie apart
 */
static void classes_are_those_of_all_pairs(void **state)
{
    (void)state;
    UR_ARENA(arena);
    double rows[N * P], kind[KINDS * P];
    ur_near_rows near = {N, P, rows, 1e-3, within, &near};
    ur_row_classes classes;
    ur_random_normals(5, 1, 0, KINDS * P, kind);
    ur_random_normals(5, 2, 0, N * P, rows);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++)
            rows[i * P + j] = kind[i * i % KINDS * P + j] + 1e-5 * rows[i * P + j];
    assert_int_equal(ur_near_rows_class(&near, 7, 3, &arena, &classes, NULL), UNRELU_OK);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            assert_int_equal(classes.of[a] == classes.of[b], within(&near, a, b));
    for (size_t c = 0; c < classes.count; c++)
        assert_int_equal(classes.of[classes.first[c]], c);
    assert_int_equal(classes.count, (KINDS + 1) / 2); /* squares modulo a prime */
}

static void no_rows_have_no_classes(void **state)
{
    (void)state;
    UR_ARENA(arena);
    ur_near_rows near = {.length = P, .is_near = within, .context = &near};
    ur_row_classes classes;
    assert_int_equal(ur_near_rows_class(&near, 7, 3, &arena, &classes, NULL), UNRELU_OK);
    assert_int_equal(classes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_all_pairs),
        cmocka_unit_test(no_rows_have_no_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
