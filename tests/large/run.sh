#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU [FOLDER]: files that no memory holds are read to the end in bounded memory. Prints a
# section of docs/numbers.md. The files are holes but for a few blocks of planted rows, so that they
# take no space; that every block was found tells that all was read. Linux only; takes minutes.
set -eu
unrelu=$(realpath "$1")
work=$(mktemp -d "${2:-/tmp}/unrelu-large-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# hole FILE ROWS COLUMNS: a .npy of zeros that takes no space
hole() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f8', 'fortran_order': False, 'shape': ($2, $3), }" > "$1"
    truncate -s $((128 + 8 * $2 * $3)) "$1"
}

# plant FILE COLUMNS ROW: the rows of block.npy, from this row on
plant() {
    dd if=block.npy of="$1" iflag=skip_bytes oflag=seek_bytes skip=128 seek=$((128 + 8 * $2 * $3)) \
        bs=1M conv=notrunc status=none
}

# measure ARGUMENTS...: runs unrelu; $peak is the most memory it held, in MB, and $seconds of CPU, both
# as they were when it was last looked at
measure() {
    local pid kilobytes state=()
    peak=0 seconds=0
    "$unrelu" "$@" &
    pid=$!
    while kilobytes=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' /proc/$pid/status 2> /dev/null) &&
        [ -n "$kilobytes" ]; do
        peak=$((kilobytes / 1024))
        read -r -a state < /proc/$pid/stat || break
        seconds=$(((state[13] + state[14]) / $(getconf CLK_TCK)))
        sleep 0.2
    done
    wait $pid
}

# row SETTING NUMBER MEASURED LEAST MOST: whole numbers; MOST may be inf
row() {
    local kept=yes
    if ! [ "$3" -ge "$4" ] || { [ "$5" != inf ] && [ "$3" -gt "$5" ]; }; then
        kept='**no**' failed=$((failed + 1))
    fi
    echo "| $1 | $2 | $3 | $4 .. $5 | $kept |"
}

# field NAME: of the JSON in out; of a list its first number
field() {
    sed -n "s/.*\"$1\": \[*\([0-9.e+-]*\).*/\1/p" out
}

# fit_hole SETTING ROWS COLUMNS MOST_MB: a file of holes, with three blocks in it, the last at its end
fit_hole() {
    local file=large.npy rows=$2 columns=$3 block=20000 planted
    "$unrelu" generate gaussian -q -d "$columns" -n $block --seed 1 -o plant > /dev/null
    mv plant/x.npy block.npy
    "$unrelu" fit -q block.npy --json > out
    planted=$(field positive)
    hole $file "$rows" "$columns"
    plant $file "$columns" 0
    plant $file "$columns" $((rows / 2))
    plant $file "$columns" $((rows - block))
    measure fit -q $file --json > out
    row "$1" 'rows read' "$(field n)" "$rows" "$rows"
    row "$1" 'positive values of column 1 found' "$(field positive)" $((3 * planted)) $((3 * planted))
    row "$1" 'memory, MB, at most' "$peak" 0 "$4"
    row "$1" 'seconds of CPU' "$seconds" 0 inf
    rm -rf $file plant
}

# summarize_wide SETTING ROWS COLUMNS MOST_MB
summarize_wide() {
    "$unrelu" generate gaussian -q -d "$3" -k 20 -n "$2" --seed 1 -o plant > /dev/null
    measure summarize -q plant/x.npy -o wide.npz --json > out
    row "$1" 'rows read' "$(field n)" "$2" "$2"
    row "$1" 'memory, MB, at most' "$peak" 0 "$4"
    row "$1" 'seconds of CPU' "$seconds" 0 inf
    rm -rf plant wide.npz
}

echo '## Large files'
echo
echo "Measured by \`make test-large\`: sparse files with planted rows at the start, in the middle and at the end."
echo
echo '| setting | number | measured | wanted | kept |'
echo '|---|---|---|---|---|'
# sums of pairs of 5000 columns: 8 d^2 numbers, 1.6 GB, and what is written, .6 GB
summarize_wide '2,000 rows of 5,000 columns, summarized' 2000 5000 4000
fit_hole '3,000,000,000 rows of one column, 24 GB, fitted' 3000000000 1 100
fit_hole '625,000,000 rows of 10 columns, 50 GB, fitted' 625000000 10 100
echo
echo "$failed of the numbers above $([ $failed = 1 ] && echo is || echo are) not kept."
[ $failed = 0 ]
