#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# command.sh UNRELU UNRELU_MPI: the command on 1 to 4 ranks gives what one process gives, and whatever
# fails on one rank ends all of them, with its exit status and one sentence.
set -u

unrelu=$(realpath "$1")
with=$(realpath "$2")
mpirun=$(dirname "$(realpath "$0")")/mpirun.sh
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
"$mpirun" 1 true || exit $?
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# near TOLERANCE A.json B.json: every number, relative to the largest of those under its name; all
# else is equal but for what takes time
near() {
    awk -v tolerance="$1" -v RS='[][{},\n]+' -v FS='": *' '
        { sub(/^[ \t]*/, ""); key = ""; value = $0 }
        NF > 1 { name = key = $1; value = $2 }
        name ~ /seconds|output|version/ { next }
        value == "" { next }
        FNR == NR { want[++n] = value; of[n] = name
                    v = value < 0 ? -value : value + 0; if (v > most[name]) most[name] = v
                    next }
        { i++; if (of[i] != name) { print "other names: " of[i] ", " name; bad = 1; exit }
          if (want[i] ~ /^-?[0-9]/) { e = value - want[i]; if (e < 0) e = -e
              if (e > tolerance * most[name]) { print name ": " value " for " want[i]; bad = 1 } }
          else if (want[i] != value) { print name ": " value " for " want[i]; bad = 1 } }
        END { if (n < 20 || i != n) { print n + 0 " numbers and " i + 0; bad = 1 } exit bad }' "$2" "$3"
}

# refuses STATUS 'PATTERN' ARGUMENTS...: on 4 ranks, at once, in one sentence, and writes nothing
refuses() {
    local want=$1 pattern=$2 status said output=${output:-no.npz}
    shift 2
    "$mpirun" 4 "$with" "$@" -o "$output" > out 2> said
    status=$?
    said=$(grep -v 'header row found' said)
    [ $status = "$want" ] || complain "unrelu-mpi $*: exit $status, not $want: $said"
    # shellcheck disable=SC2053 # a pattern, on purpose
    [[ $said == $pattern ]] || complain "unrelu-mpi $*: $said"
    [ "$(wc -l <<< "$said")" = 1 ] || complain "unrelu-mpi $*: more than a line: $said"
    [ ! -s out ] || complain "unrelu-mpi $* printed: $(head -1 out)"
    [ ! -e "$output" ] || complain "unrelu-mpi $* wrote a file"
}

# npy_of_zeros FILE ROWS COLUMNS: it takes no space
npy_of_zeros() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': ($2, $3), }" > "$1"
    truncate -s $((128 + 8 * $2 * $3)) "$1"
}

"$unrelu" generate gaussian -d 6 -n 20000 --kappa 3 -o p -q || exit 1
"$unrelu" sample p/truth.npz -n 3000 --seed 7 -q -o p/x.csv || exit 1
for i in 1 2 3 4 5; do
    "$unrelu" sample p/truth.npz -n $((i * 1000)) --seed $i -q -o p/s$i.npy || exit 1
done
gzip -k p/x.csv

# ---- the same as one process ----
for options in "" "--angles signs" "--norms median" "--precision single" "--errors robust" "--rank auto"; do
    # shellcheck disable=SC2086 # words
    "$unrelu" fit p/x.npy $options --json -q > one.json || complain "fit $options: exit $?"
    for ranks in $([ "$options" ] && echo 3 || echo 1 2 4); do
        # shellcheck disable=SC2086
        "$mpirun" $ranks "$with" fit p/x.npy $options --json -q > ranks.json ||
            complain "$ranks ranks, fit $options: exit $?"
        # the sandwich is a difference of sums
        near "$([ "$options" = "--errors robust" ] && echo 1e-11 || echo 1e-12)" one.json ranks.json ||
            complain "$ranks ranks, fit $options: another model"
    done
done
# from 64 columns on each rank solves a share of the pairs
"$unrelu" generate gaussian -d 70 -n 3000 -o wide -q && "$unrelu" fit wide/x.npy --json -q > one.json
for ranks in 2 3; do
    "$mpirun" $ranks "$with" fit wide/x.npy --json -q > ranks.json
    near 1e-12 one.json ranks.json || complain "$ranks ranks, 70 columns: another model"
done
"$unrelu" fit p/x.csv --json -q > one.json
"$mpirun" 3 "$with" fit p/x.csv --json -q > ranks.json
near 1e-12 one.json ranks.json || complain "ranges of a CSV file: another model"

# ---- shards ----
for i in 1 2 3; do
    "$unrelu" summarize p/s$i.npy -o s$i.npz -q || exit 1
done
"$unrelu" merge s1.npz s2.npz s3.npz -o merged.npz -q && "$unrelu" fit merged.npz --json -q > one.json
"$mpirun" 4 "$with" fit p/s1.npy p/s2.npy p/s3.npy --json -q > ranks.json
near 1e-12 one.json ranks.json || complain "three shards on four ranks: another model"
"$mpirun" 3 "$with" summarize 'p/s[1-3].npy' -o ranks.npz -q && "$unrelu" fit ranks.npz --json -q > ranks.json
near 1e-12 one.json ranks.json || complain "a summary of shards: another model"
"$mpirun" 2 "$with" fit 'p/s[1-3].npy' --json -q > ranks.json
near 1e-12 one.json ranks.json || complain "three shards on two ranks: another model"

# ---- the model is written once, by rank 0, and the same bits each time ----
for i in 1 2; do
    "$mpirun" 4 "$with" fit p/x.npy -o m$i.npz > text$i 2> said || complain "fit -o: exit $?"
    [ "$(cat said)" = "unrelu: ranks do not look at single values: $(sed -n 's/.*single values: //p' said)
unrelu: fitted in $(sed -n 's/.*fitted in //p' said)
unrelu: the model is in m$i.npz" ] || complain "rank 0 says: $(cat said)"
done
"$unrelu" show m1.npz --json -q > one.json && "$unrelu" show m2.npz --json -q > two.json
near 0 one.json two.json || complain "the same ranks gave other bits"
[ "$(grep -c 'learned' text1)" = 1 ] || complain "not one report: $(cat text1)"
[ "$("$mpirun" 3 "$with" --version)" = "$("$unrelu" --version)" ] || complain "--version"
"$mpirun" 2 "$with" help fit | cmp -s - <("$unrelu" help fit) || complain "help fit"

# ---- rows that are drawn: the same bytes ----
for to in npy csv; do
    "$unrelu" sample p/truth.npz -n 250000 --seed 3 -q -o one.$to
    "$mpirun" 3 "$with" sample p/truth.npz -n 250000 --seed 3 -q -o ranks.$to || complain "sample: exit $?"
    cmp one.$to ranks.$to || complain "sample to .$to: other rows"
done
"$mpirun" 4 "$with" sample p/truth.npz -n 5 -q | cmp - <("$unrelu" sample p/truth.npz -n 5 -q) || complain "sample to standard output"
"$unrelu" generate network -d 6 -k 4 -m 3 -n 100001 -o net -q
"$mpirun" 4 "$with" generate network -d 6 -k 4 -m 3 -n 100001 -o net4 -q || complain "generate: exit $?"
for file in x.npy a.npy truth.npz; do
    cmp net/$file net4/$file || complain "generate: another $file"
done

# ---- what fails on one rank ----
"$unrelu" sample p/truth.npz -n 100 -q -o p/narrow.csv && cut -d, -f1-5 p/narrow.csv > p/five.csv
sed '2001s/^[^,]*/-7/' p/x.csv > p/bad.csv
sed '2001s/^[^,]*/text/' p/x.csv > p/text.csv
: > p/empty.csv
refuses 3 'unrelu: rank 2: p/bad.csv, part 3 of 4: row 2000, column 1*: the value is -7, *' fit p/bad.csv
refuses 3 'unrelu: rank 2: p/text.csv, part 3 of 4: row 2000 (line 2001), column 1*' summarize p/text.csv
ln p/bad.csv p/$'two\nlines.csv'
refuses 3 'unrelu: rank 2: p/two\\x0alines.csv, part 3 of 4: row 2000, *' fit p/$'two\nlines.csv'
refuses 3 'unrelu: rank 1: cannot open p/none.npy: *' fit p/s1.npy p/none.npy p/s2.npy p/s3.npy
refuses 3 'unrelu: cannot open p/none*.npy: *' fit 'p/none*.npy'
refuses 3 'unrelu: rank 2: p/empty.csv is empty*' fit p/s1.npy p/s2.npy p/empty.csv p/s3.npy
refuses 3 'unrelu: rank 3: p/bad.csv: row 2000, column 1*: the value is -7, *' fit p/x.csv p/x.csv p/x.csv p/x.csv p/x.csv p/bad.csv
refuses 3 'unrelu: rank 3: p/five.csv has 5 columns, and p/x.csv has 6*' fit p/x.csv p/x.csv p/x.csv p/x.csv p/x.csv p/five.csv
refuses 3 'unrelu: rank 3: p/five.csv has 5 columns, *' fit p/x.csv p/x.csv p/x.csv p/five.csv
refuses 2 'unrelu: p/x.csv.gz*cannot be read from its middle on*' fit p/x.csv.gz
refuses 2 'unrelu: standard input is of one rank*' fit -
refuses 1 'unrelu: not enough memory*' fit p/x.npy --max-memory 100K
# each its own file
"$mpirun" 2 "$with" fit p/s1.npy -o no.npz : -n 1 "$with" fit p/s2.npy -o no.npz > out 2> said
status=$?
[[ $status = 2 && $(cat said) == 'unrelu: rank 2: it was started with other files or options than rank 0: '* ]] ||
    complain "other files on a rank: exit $status: $(cat said)"
if [ -s out ] || [ -e no.npz ]; then complain "other files on a rank: something was written"; fi
# memory that one rank lacks, early and late
lacked=0
for memory in 2100K 2140K 2180K 2220K 2260K 2300K; do
    "$mpirun" 3 "$with" fit p/x.csv -o no.npz : -n 1 "$with" fit p/x.csv -o no.npz --max-memory $memory > out 2> said
    status=$?
    [ $status = 0 ] && rm no.npz && continue
    grep -q '^unrelu: rank 3: not enough memory' said || status=none
    if [ "$status" != 1 ] || [ -s out ] || [ -e no.npz ]; then complain "$memory on one rank: $status: $(cat said)"; fi
    lacked=$((lacked + 1))
done
[ $lacked -ge 2 ] || complain "no rank lacked memory"
# of the machine's memory each rank takes its share: what 200000 columns lack says how much
npy_of_zeros wide.npy 100 200000
share() { sed -n 's/.*--max-memory is \([0-9]*\):.*/\1/p' "$1"; }
"$unrelu" fit wide.npy 2> one && complain "200000 columns were fitted"
"$mpirun" 2 "$with" fit wide.npy 2> said && complain "200000 columns were fitted"
[ "$(share one)" ] && [ "$(share said)" != $(($(share one) / 2)) ] && complain "not half the memory: $(cat one said)"
output=no.npy refuses 1 'unrelu: not enough memory*' sample p/truth.npz -n 1e6 --max-memory 2500K
if [ -w /dev/full ]; then
    "$mpirun" 3 "$with" sample p/truth.npz -n 1e6 -o /dev/full 2> said
    status=$?
    grep -q '^unrelu: rank 0: .*/dev/full' said || status=none
    [ "$status" = 3 ] || complain "a full disk: $(cat said)"
fi
# ---- what cannot be shared ----
refuses 2 'unrelu: projected SGD*cannot be split over ranks*' fit p/x.npy --method paper
refuses 2 'unrelu: a fit cell by cell*cannot be split over ranks*' fit p/x.npy --angles likelihood
refuses 2 'unrelu: errors by a bootstrap*cannot be split over ranks*' fit p/x.npy --errors bootstrap
refuses 2 'unrelu: fit --judge*cannot be split over 4 ranks*' fit p/x.npy --judge
refuses 2 'unrelu: recover: *does not split it over ranks*' recover p/x.npy p/x.npy
refuses 2 'unrelu: merged.npz is a summary, *' fit merged.npz
"$mpirun" 1 "$with" fit merged.npz --json -q > ranks.json && "$unrelu" fit merged.npz --json -q > one.json
near 0 one.json ranks.json || complain "on one rank everything is as without"

"$mpirun" 1 "$with" fit merged.npz s1.npz > out 2> said
status=$?
[[ $status = 2 && $(cat said) == 'unrelu: merged.npz is a summary, and s1.npz is given too: '* ]] ||
    complain "two summaries: exit $status: $(cat said)"

# ---- a rank that is killed ends all, and a signal too; each has a file of 80 GB to go ----
npy_of_zeros long.npy 1000000000 10
# runs PROCESS...: any of them; one that ended and was not waited for does not
runs() {
    local process
    for process; do
        grep -qs '^State:.[^Z]' "/proc/$process/status" && return
    done
    return 1
}
for how in KILL TERM; do
    "$mpirun" 4 "$with" fit long.npy -o no.npz > out 2> said &
    job=$!
    for ((i = 0; i < 600; i++)); do # until all four read
        mapfile -t members < <(pgrep -P $job -f unrelu-mpi)
        [ ${#members[@]} = 4 ] && readlink /proc/"${members[2]}"/fd/* | grep -q long.npy && break
        sleep 0.1
    done
    if [ $how = KILL ]; then kill -KILL "${members[2]}"; else kill -TERM $job; fi
    for ((i = 0; i < 100; i++)); do
        runs $job "${members[@]}" || break
        sleep 0.1
    done
    runs $job "${members[@]}" && complain "10 s after a SIG$how they still run"
    kill -KILL $job 2> /dev/null
    wait $job && complain "SIG$how: exit 0"
    if [ -s out ] || [ -e no.npz ]; then complain "SIG$how: something was written"; fi
done

[ $failures = 0 ] && echo "unrelu-mpi agrees with unrelu"
exit $((failures > 0))
