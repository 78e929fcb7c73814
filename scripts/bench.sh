#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BUILD: every benchmark; each prints its own table of ratios.
set -euo pipefail

# python_with MODULE...: a python3 that has NumPy and the first of the modules that one has, or any
python_with() {
    local module python
    for module; do
        for python in python3 /usr/bin/python3; do
            if "$python" -c "import numpy, $module" 2> /dev/null; then
                echo "$python"
                return
            fi
        done
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
bench=$(dirname "$0")/../bench
if [ -x "$1/bench/mpi/bench_ranks" ]; then
    echo "== ranks"
    "$bench/mpi/bench.sh" "$1/bench/mpi/bench_ranks" "$bench/../tests/mpi/mpirun.sh"
else
    echo "== ranks: unrelu-mpi is not in this build (make mpi)"
fi
echo "== recover_peers"
"$(python_with torch numpy)" "$bench/recover_peers.py" "$1/unrelu"
echo "== unmix_peers"
"$(python_with sklearn)" "$bench/unmix_peers.py" "$1/unrelu"
echo "== the Python package"
room=$(dirname "$0")/../build/venv/bin/python
if [ -x "$room" ]; then
    "$room" "$(dirname "$0")/../python/bench.py"
else
    echo 'build/venv is not there: make python'
fi
