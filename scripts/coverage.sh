#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh JOBS: which lines of src and cli the tests reach: a table, and pages in
# build-coverage/coverage.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake -S . -B build-coverage -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O1 -g --coverage' -DUNRELU_BENCH=OFF
cmake --build build-coverage -j "$1" --target tests
find build-coverage -name '*.gcda' -delete
ctest --test-dir build-coverage -j "$1" -E '^(install|install_inside|test_numbers_.*)$' --output-on-failure
mkdir -p build-coverage/coverage
gcovr --root . --filter 'src/' --filter 'cli/' --object-directory build-coverage -j "$1" \
    --html-details build-coverage/coverage/index.html --print-summary
