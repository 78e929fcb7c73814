#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh JOBS BUILD...: CTest in each build, and the summaries of all of them at the end.
set -u

jobs=$1
shift
failed=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

for build in "$@"; do
    echo "== tests in $build"
    ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error 2>&1 |
        tee "$logs/$build"
    [ "${PIPESTATUS[0]}" = 0 ] || failed=1
done

if ! grep -qs '^UNRELU_MPI:BOOL=ON' "$1/CMakeCache.txt"; then
    echo
    echo "unrelu-mpi is not in this build, and was not tested: make mpi"
fi
for build in "$@"; do
    echo
    echo "== $build"
    sed -n '/tests passed/,$p; /^No tests were found/p' "$logs/$build"
done
exit $failed
