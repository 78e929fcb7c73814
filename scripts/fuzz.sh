#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD SECONDS SEED RUNS [TARGET...]: runs each fuzzer of BUILD (all of them) that long, or
# for that many inputs (-1: as many as come in that time; SECONDS 0: however long they take), with
# random numbers of that seed (0: others each time), from the seeds of fuzz/seeds and from what
# earlier runs kept in BUILD/corpus, one on each core. BUILD/executions adds up how many inputs each
# has seen. A
# finding ends it: the input is in BUILD/findings; it becomes a seed, so that the tests run it from
# then on.
set -u
build=$(realpath "$1")
seconds=$2
seed=$3
runs=$4
shift 4
cd "$(dirname "$0")/../fuzz" || exit 1
[ $# -gt 0 ] || set -- fuzz_*.c

# the words that a target may be told
dictionary() {
    case $1 in
    tsv | gz | fit) echo csv ;;
    gaussian | network | mixture | summary | instance) echo model ;;
    *) echo "$1" ;;
    esac
}

# What was freed is kept for some inputs, not for thousands: memory that was just used is fast.
export ASAN_OPTIONS="quarantine_size_mb=2${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
mkdir -p "$build/findings"
touch "$build/executions"

# fuzz NAME
fuzz() {
    local name=$1 log=$build/$1.log status count total
    mkdir -p "$build/corpus/$name"
    "$build/fuzz/fuzz_$name" -seed="$seed" -max_total_time="$seconds" -runs="$runs" -timeout=20 -rss_limit_mb=1024 -max_len=4096 \
        -print_final_stats=1 -artifact_prefix="$build/findings/$name-" \
        -dict="dictionaries/$(dictionary "$name")" "$build/corpus/$name" "$PWD/seeds/$name" > "$log" 2>&1
    status=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$name ${count:-0}" >> "$build/executions"
    total=$(awk -v name="$name" '$1 == name { sum += $2 } END { print sum }' "$build/executions")
    if [ $status = 0 ]; then
        echo "$name: ${count:-0} inputs, $total in all runs"
    else
        echo "$name: stopped with status $status; the end of $log:"
        grep -E 'ERROR|SUMMARY|runtime error|sentence|Test unit' "$log" || tail -n 5 "$log"
    fi
    return $status
}

# one on each core
failed=0 running=0 cores=$(nproc)
for name; do
    name=${name#fuzz_} name=${name%.c}
    if [ $running -ge "$cores" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    fuzz "$name" &
    running=$((running + 1))
done
while [ $running -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit $failed
