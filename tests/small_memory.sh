#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# small_memory.sh UNRELU: every command in an address space of 60 to 260 MB. Each ends with its
# result, or with status 1 and a sentence that says how much memory was wanted; 127 is the loader's,
# where not even the libraries fit. None waits for memory (CPU time is limited), none is killed.
set -u
unrelu=$(realpath "$1")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
failures=0 runs=0 refused=0 done=0

make() { "$unrelu" "$@" -q > /dev/null || exit 1; }
make generate gaussian -d 4 -n 300 -o gaussian
make generate network -d 4 -k 2 -m 3 -n 200 -o network
make fit gaussian/x.npy -o gaussian.npz
make recover network/x.npy network/a.npy -o network.npz
make summarize gaussian/x.npy -o summary.npz
make generate network -d 5 -k 6 -m 2 -n 200 -o few
make generate network -d 60 -k 20 -m 1 -n 500 --noise 0.1 -o noisy # a search on all threads
make export network.npz -o network.safetensors
printf 'p cnf 3 2\n1 2 0 -1 3 0\n' > formula.cnf
unmix=() # only where Clp is in this build
if "$unrelu" generate mixture -d 4 -p 3 -n 300 -o mixture -q && "$unrelu" unmix mixture/x.npy -q > /dev/null 2> /dev/null; then
    unmix=("unmix mixture/x.npy -o out.npz")
fi

for megabytes in 60 80 100 140 180 220 260; do
    for arguments in "fit gaussian/x.npy -o out.npz" "recover network/x.npy network/a.npy -o out.npz" \
        "recover few/x.npy few/a.npy -o out.npz" "recover noisy/x.npy noisy/a.npy --threads 2 -o out.npz" "certify network.safetensors network/x.npy network/a.npy -o out.npz" \
        "recover network/x.npy network/a.npy --start network.safetensors -o out.npz" \
        "fit gaussian/x.npy --errors bootstrap:3 -o out.npz" "export network.npz -o out.onnx" \
        "${unmix[@]}" "predict network.npz network/x.npy -o out.csv" "impute gaussian.npz gaussian/x.npy -o out.csv" \
        "sample gaussian.npz -n 10 -o out.csv" "compare network/truth.npz network.npz" "show gaussian.npz" \
        "report gaussian.npz -o out.html" "check gaussian/x.npy" "plan gaussian -d 5 --error 0.1" \
        "summarize gaussian/x.npy -o out.npz" "merge summary.npz summary.npz -o out.npz" \
        "generate network -d 4 -k 2 -m 3 -n 100 -o out" "hardness encode formula.cnf -o out.npz" "help fit"; do
        rm -rf out out.*
        # shellcheck disable=SC2086 # words, on purpose
        (ulimit -S -t 20 -v $((megabytes * 1024)) && exec "$unrelu" $arguments) > said 2> why
        status=$?
        runs=$((runs + 1))
        case $status in
        0 | 5) done=$((done + 1)) ;; # 5: a network that is not exact
        1) refused=$((refused + 1)) && grep -q 'not enough memory' why ;;
        127) grep -q 'loading shared libraries' why ;;
        *) false ;;
        esac || {
            failures=$((failures + 1))
            echo "$megabytes MB: unrelu $arguments: status $status"
            cat why
        }
    done
done
echo "$runs runs: $done done, $refused refused, $failures wrong"
[ $failures = 0 ] && [ $refused -gt 0 ] && [ $done -gt 0 ]
