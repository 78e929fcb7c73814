#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh BUILD: memcheck of every command on tiny data, and of the tests of readers, writers,
# small solvers and of every kernel of AVX2, which valgrind knows: test_panel, test_moments (sums of
# columns), test_hazard and test_pair_sums have them.
set -u
build=$1
memcheck=(valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite)
failed=0
"$(dirname "$0")/watch.sh" "$build/unrelu" "${memcheck[@]}" || failed=1
for test in csv npy npz sink summary pass panel moments linear margin hazard pair pair_sums random; do
    "${memcheck[@]}" "$build/tests/test_$test" > /dev/null 2> "$build/valgrind.log" && continue
    echo "test_$test:"
    grep -E '^==|FAILED' "$build/valgrind.log" | head -n 40
    failed=1
done
[ $failed = 1 ] || echo "nothing to complain of"
exit $failed
