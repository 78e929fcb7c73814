/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"
#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* after the above */
#include <cmocka.h>

static void bits_are_in_the_order_of_numbers_and_come_back(void **state)
{
    (void)state;
    static const double x[] = {-INFINITY, -1e300, -2,    -1,  -1e-310, -0.0,
                               0.0,       1e-310, 0.999, 1.0, 1e300,   INFINITY};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        assert_true(i == 0 || ur_ordered_bits(x[i - 1]) < ur_ordered_bits(x[i]));
        assert_memory_equal(&x[i], &(double){ur_ordered_value(ur_ordered_bits(x[i]))}, sizeof *x);
    }
}

/* sizes on both sides of where the radix sort begins; every third key is one of five values */
static void sorting_by_keys_keeps_the_order_of_equals(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 96, 97, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        double *key = malloc((n + 1) * sizeof *key), *plain = malloc((n + 1) * sizeof *plain);
        ur_keyed *x = malloc((n + 1) * sizeof *x), *scratch = malloc((n + 1) * sizeof *scratch);
        double *room = malloc((n + 1) * sizeof *room);
        ur_random_normals(1, 2, 0, n, key);
        for (size_t i = 0; i < n; i++) {
            key[i] = i % 3 ? key[i] : floor(key[i]);
            plain[i] = key[i];
            x[i] = (ur_keyed){key[i], i};
        }
        ur_sort_keyed(x, scratch, n);
        ur_sort(plain, room, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(x[i].key == key[x[i].at] && x[i].key == plain[i]);
            if (i > 0)
                assert_true(x[i - 1].key < x[i].key ||
                            (x[i - 1].key == x[i].key && x[i - 1].at < x[i].at));
        }
        free(key);
        free(plain);
        free(x);
        free(scratch);
        free(room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_in_the_order_of_numbers_and_come_back),
        cmocka_unit_test(sorting_by_keys_keeps_the_order_of_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
