#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# killed.sh UNRELU [KILLS]: kills commands that replace a file, by kill -9 at random times (24 of
# them, or KILLS). After each there is the old file or the new one, byte for byte. What temporary
# files are left is taken away by the next write, once they are old; a study goes on from its table.
set -u
export LC_ALL=C
unrelu=$(realpath "$1") kills=${2:-24} failed=0
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
RANDOM=1

complain() {
    echo "$*"
    failed=1
}

# run_and_kill SECONDS COMMAND...: kills it at a random time up to these
run_and_kill() {
    local most=$1 pid
    shift
    "$@" > out 2> err &
    pid=$!
    sleep "$(awk -v most="$most" -v r=$RANDOM 'BEGIN { print most * r / 32768 }')"
    kill -9 $pid 2> /dev/null
    wait $pid 2> /dev/null
}

# seconds COMMAND...: how long it takes undisturbed, and a little more
seconds() {
    local start=$EPOCHREALTIME
    "$@" > out 2> err || complain "$*: $(cat err)"
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print 1.2 * (b - a) }'
}

# try FILE KILLS ARGUMENTS...: the command that replaces FILE
try() {
    local file=$1 count=$2 most old=0 new=0
    shift 2
    most=$(seconds "$unrelu" "$@")
    cp "$file" new
    for ((i = 0; i < count; i++)); do
        cp "$work/old" "$file"
        run_and_kill "$most" "$unrelu" "$@"
        if cmp -s old "$file"; then
            old=$((old + 1))
        elif cmp -s new "$file"; then
            new=$((new + 1))
        else
            complain "$*: killed, it leaves neither the old file nor the new one"
        fi
    done
    echo "$*: $old times the old file, $new times the new one"
}

"$unrelu" generate gaussian -q -d 20 -n 20000 --seed 2 -o plant || exit 1
mkdir result
head -c 3000000 plant/x.npy > old # not what any of them writes
each=$(((kills + 3) / 4))
try result/rows.npy $each sample -q plant/truth.npz -n 50000 -o result/rows.npy
try result/sums.npz $each summarize -q plant/x.npy -o result/sums.npz
try result/page.html $each report -q plant/truth.npz plant/x.npy -o result/page.html
try result/x.npy $each generate gaussian -q -d 20 -n 50000 -o result

left=$(find result -name '.unrelu-*' | wc -l)
find result -name '.unrelu-*' -exec touch -d '-1 hour' {} +
"$unrelu" sample -q plant/truth.npz -n 1 -o result/rows.npy || complain "the last write failed"
[ "$(find result -name '.unrelu-*' | wc -l)" = 0 ] || complain "what killed commands left is still there"
echo "$left temporary files were left, and taken away by the next write"

# but for its 17th column, the seconds
study=(reproduce figure1 --quick --runs 1 -q)
most=$(seconds "$unrelu" "${study[@]}" -o whole)
for ((i = 0; i < 3; i++)); do
    run_and_kill "$most" "$unrelu" "${study[@]}" -o killed
done
"$unrelu" "${study[@]}" -o killed > out || complain "the study does not go on from what is there"
cmp <(cut -d, --complement -f17 whole/figure1.csv) <(cut -d, --complement -f17 killed/figure1.csv) ||
    complain "a study that was killed ends otherwise"
exit $failed
