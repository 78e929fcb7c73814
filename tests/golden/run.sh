#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU ARRAYS [record]: runs the cases of the file 'cases' with 1, 2 and 7 threads, or with
# those of GOLDEN_THREADS. They must agree in every bit of every array, in what --json prints, in exit
# status and warnings. What the first of them gives is then held against the file 'recorded', bit by
# bit where it was recorded on the same kind of machine, else to a relative 1e-6; 'record' writes that
# file anew.
# Where the processor can, BLAS runs its AVX2 kernels, so that newer ones give the same bits.
set -u
unrelu=$(realpath "$1")
arrays=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
mode=${3:-check}
read -ra counts <<< "${GOLDEN_THREADS:-1 2 7}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH="${unrelu%/*}:$PATH" LC_ALL=C
if grep -qw avx2 /proc/cpuinfo 2> /dev/null; then
    export OPENBLAS_CORETYPE=Haswell
fi

# one_run NAME THREADS ARGUMENTS: lines that say all that came out of it
one_run() {
    local name=$1 threads=$2 output status
    shift 2
    rm -f out.*
    case " $* " in
    *' show '* | *' compare '*) "$unrelu" "$@" -q --json > json 2> text ;;
    *' sample '* | *' predict '*) "$unrelu" "$@" -q --threads "$threads" > json 2> text ;;
    *) "$unrelu" "$@" -q --json --threads "$threads" > json 2> text ;;
    esac
    status=$?
    sed -E -i 's/"(seconds|version)": [^,}]*//g' json
    echo "$name exit $status warnings $(grep -oE '"code": "[^"]*"' json | cut -d'"' -f4 | sort | tr '\n' ',')"
    echo "$name json - $(cksum < json | cut -d' ' -f1) -"
    for output in out.npz out.npy; do
        [ ! -e $output ] || "$arrays" "$name" $output
    done
}

failed=0 count=0
"$arrays" --machine > new
while read -r kind name arguments; do
    case $kind in
    '' | '#'*) ;;
    data)
        mkdir -p "$name"
        # shellcheck disable=SC2086 # words, on purpose
        case $arguments in
        'sh '*) (cd "$name" && eval "${arguments#sh }") ;;
        *) "$unrelu" generate -q $arguments -o "$name" > text ;;
        esac || {
            echo "the data of $name could not be made"
            failed=1
        }
        ;;
    case)
        count=$((count + 1))
        for threads in "${counts[@]}"; do
            # shellcheck disable=SC2086 # words, on purpose
            one_run "$name" "$threads" $arguments > "run.$threads" < /dev/null
        done
        for threads in "${counts[@]:1}"; do
            if ! diff "run.${counts[0]}" "run.$threads" > difference; then
                echo "$name: $threads threads do not give what ${counts[0]} gives"
                cat difference
                failed=1
            fi
        done
        cat "run.${counts[0]}" >> new
        ;;
    esac
done < "$here/cases"

if [ "$mode" = record ]; then
    cp new "$here/recorded"
    echo "recorded $count cases"
    exit $failed
fi

if [ "$(head -n 1 new)" = "$(head -n 1 "$here/recorded")" ]; then
    echo "$count cases, compared bit by bit"
    diff "$here/recorded" new || failed=1
else
    echo "$count cases, recorded on another machine: compared to 1e-6"
    awk 'FNR == 1 { next }
        $2 == "json" { next }
        FNR == NR { key[$1 " " $2] = $0; next }
        {
            was = key[$1 " " $2]
            delete key[$1 " " $2]
            split(was, old)
            same = $2 == "exit" ? was == $0 : $3 == old[3] && ($5 == old[5] ||
                ($5 - old[5]) ^ 2 <= 1e-12 * (old[5] ^ 2 + 1e-12))
            if (!same) { print "< " was; print "> " $0; bad = 1 }
        }
        END { for (k in key) { print "gone: " key[k]; bad = 1 } exit bad }' "$here/recorded" new || failed=1
fi
exit $failed
