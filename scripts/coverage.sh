#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh JOBS [REGEX]: which lines of src and cli the tests reach. A page for each file in
# build-coverage/coverage, a table by folder in docs/coverage.md; fails where fewer than FLOOR % of
# the lines are reached, of both together or of one of them.
# REGEX: only the tests of these names run, and what they reach is added to what is there already
# (of files that were compiled anew meanwhile, nothing is).
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$1
only=${2:-}
floor=95 # % of the lines
if ! command -v gcovr > /dev/null; then
    echo "make coverage needs gcovr: install the package 'gcovr' (Debian), or run 'pip install gcovr'." >&2
    exit 1
fi

export CCACHE_BASEDIR=           # gcov finds sources by their whole paths
export GCOV_ERROR_FILE=/dev/null # tests compare what is on standard error
cmake -S . -B build-coverage -DCMAKE_BUILD_TYPE=None -DUNRELU_BENCH=OFF \
    -DCMAKE_C_FLAGS='-O1 -g --coverage' -DCMAKE_CXX_FLAGS='-O1 -g --coverage'
cmake --build build-coverage -j "$jobs" --target tests
if [ -n "$only" ]; then
    ctest --test-dir build-coverage -j "$jobs" -R "$only" --output-on-failure
else # without what builds the tree again, what is there for numbers, what compares bits (they are
    # others at -O1), and kill -9, which would leave half-written counts
    find build-coverage -name '*.gcda' -delete
    ctest --test-dir build-coverage -j "$jobs" --output-on-failure \
        -E '^(install|install_inside|golden|core_types|killed|test_numbers_.*)$'
fi

# Threads count without locks, so that a count may come out below 0, which gcovr takes for an error
# unless told; it warns of each.
pages=build-coverage/coverage
mkdir -p $pages
gcovr --root . --filter 'src/' --filter 'cli/' --object-directory build-coverage -j "$jobs" \
    --exclude-directories 'build-coverage/(tests|fuzz|CMakeFiles)' --gcov-ignore-parse-errors \
    --html-details $pages/index.html --csv $pages/files.csv > $pages/log 2>&1 ||
    { tail -5 $pages/log >&2; exit 1; }
if ! scripts/coverage_table.awk -v floor="$floor" $pages/files.csv > $pages/coverage.md; then
    tail -3 $pages/coverage.md >&2
    exit 1
fi
cp $pages/coverage.md docs/coverage.md
sed -n '/^| in all/,/^$/p' docs/coverage.md
echo "docs/coverage.md is written; pages are in $pages/index.html"
