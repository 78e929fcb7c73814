#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BUILD: every benchmark; each prints its own table of ratios.
set -euo pipefail

# a python3 that has PyTorch, or any
python_for_peers() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy, torch' 2> /dev/null; then
            echo "$python"
            return
        fi
    done
    echo python3
}

for program in "$1"/bench/bench_*; do
    case $program in
    */bench_numbers | *.c) continue ;; # 'make numbers' runs that one
    esac
    echo "== $(basename "$program")"
    "$program"
done
echo "== recover_peers"
"$(python_for_peers)" "$(dirname "$0")/../bench/recover_peers.py" "$1/unrelu"
