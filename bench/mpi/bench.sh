#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BENCH_RANKS MPIRUN: CPU time of the slowest rank, and how much of the work more ranks save.
set -euo pipefail
for size in "1e7 10 7" "1e5 200 15"; do
    for ranks in 1 2 4; do
        # shellcheck disable=SC2086 # words
        "$2" $ranks "$1" $size
    done
done | awk 'BEGIN { print "       n     d  ranks  CPU of the slowest, s  efficiency  sums   doubles" }
    $3 == 1 { one = $4 }
    { printf "%8d %5d %6d %21.4f  %10.2f  %4d  %8d\n", $1, $2, $3, $4, one / ($3 * $4), $5, $6 }'
