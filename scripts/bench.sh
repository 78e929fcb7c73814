#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BUILD: every benchmark; each prints its own table of ratios.
set -euo pipefail

for program in "$1"/bench/bench_*; do
    case $program in
    */bench_numbers | *.c) continue ;; # 'make numbers' runs that one
    esac
    echo "== $(basename "$program")"
    "$program"
done
