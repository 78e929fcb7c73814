#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# core_types.sh UNRELU ARRAYS [NAME...]: runs cases of the files "cases" and "more_cases" (those
# named; else all that do not take long) with the BLAS kernels of three kinds of CPU (OPENBLAS_CORETYPE). Other kernels
# round in another order: exit status, verdicts, counts, texts and warnings must be the same, and
# numbers the same to 1e-10, to 1e-7 where sums are in single precision; a number is compared with
# the largest of its array, or with 1 where that is larger (planted data are of size 1). Data are
# made once. 77: BLAS has no such kernels here. What else differs is named below, with the reason.
set -u
unrelu=$(realpath "$1")
arrays=$(realpath "$2")
shift 2
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH="${unrelu%/*}:$PATH" LC_ALL=C
types="Prescott Sandybridge Haswell"

for type in $types; do
    OPENBLAS_CORETYPE=$type "$arrays" --machine > machine 2> /dev/null
    case $(cat machine) in
    "$type,"*) ;;
    *)
        echo "skipped: BLAS has no kernels of $type here"
        exit 77
        ;;
    esac
done

# cases that take seconds: a search for a network that is not there, and one of six starts
is_long() {
    case $1 in
    recover-no-network | recover-noisy) ;;
    *) return 1 ;;
    esac
}

# is_wanted NAME WANTED...
is_wanted() {
    local name=$1 wanted
    shift
    for wanted; do
        [ "$wanted" != "$name" ] || return 0
    done
    [ $# = 0 ] && ! is_long "$name"
}

# one_run TYPE ARGUMENTS: all that comes out of it, in the file TYPE
one_run() {
    local type=$1 output
    shift
    rm -f out.*
    case $1 in
    show | compare | sample | predict) set -- "$@" -q ;;
    *) set -- "$@" -q --json --threads 1 ;;
    esac
    OPENBLAS_CORETYPE=$type "$unrelu" "$@" > json 2> text < /dev/null
    {
        echo "exit status $?"
        for output in out.npz out.npy; do
            [ ! -e $output ] || "$arrays" --values $output
        done
        echo "warning codes $(grep -oE '"code": "[^"]*"' json | cut -d'"' -f4 | sort | tr '\n' ',')"
    } > "$type"
}

# near TOLERANCE FILE FILE: texts say numbers in their own digits, which may round apart
near() {
    awk -v tolerance="$1" '
        FNR == NR { lines++; was[$1, $2] = $3; if ($3 == $3 + 0 && $2 == $2 + 0) size[$1] = max(size[$1], abs($3)); next }
        {
            count++
            if (!(($1, $2) in was)) { print $0 " is new"; bad = 1; next }
            old = was[$1, $2]
            if ($3 == old || $1 ~ /^(how_|guarantee_because|assumption|warning_messages)/) next
            if ($2 == $2 + 0 && abs($3 - old) <= tolerance * max(1, size[$1])) next
            off = $2 == $2 + 0 ? sprintf(", apart by %.2g of %.3g", abs($3 - old), max(1, size[$1])) : ""
            print $1 " " $2 ": " old " and " $3 off
            bad = 1
        }
        function abs(x) { return x < 0 ? -x : x }
        function max(x, y) { return x > y ? x : y }
        END { if (count != lines) { print lines " values and " count; bad = 1 } exit bad }' "$2" "$3"
}

failed=0 count=0 other_bits=0
while read -r kind name arguments; do
    case $kind in
    data)
        mkdir -p "$name"
        # shellcheck disable=SC2086 # words, on purpose
        case $arguments in
        'sh '*) (cd "$name" && eval "${arguments#sh }") ;;
        *) "$unrelu" generate -q $arguments -o "$name" > text ;;
        esac || failed=1
        ;;
    case)
        is_wanted "$name" "$@" || continue
        count=$((count + 1))
        for type in $types; do
            # shellcheck disable=SC2086 # words, on purpose
            one_run "$type" $arguments
        done
        tolerance=1e-10
        case $name in
        fit-wide) tolerance=1e-7 ;; # 120 columns: single precision inside of a block
        # a noisy fit ends where a step gains less than 1e-7 of the residual sum of squares; its
        # kinks make that rough, so that rounding decides where in there (2.6e-10 was seen)
        recover-noisy-bias) tolerance=1e-8 ;;
        # draws parameters, whose correlations are repaired by a descent that ends where a step gains
        # less than 1e-4 squared standard errors; with --fixed-parameters no number differs
        # (7.5e-10 of 4.3 was seen)
        impute-draws) tolerance=1e-8 ;;
        esac
        for type in ${types#* }; do
            cmp -s "${types%% *}" "$type" || other_bits=$((other_bits + 1))
            near $tolerance "${types%% *}" "$type" > difference && continue
            echo "$name: ${types%% *} and $type:"
            head -n 5 difference
            failed=1
        done
        ;;
    esac
done < <(cat "$here/cases" "$here/more_cases")
echo "$count cases with the kernels of: $types; $other_bits times some bits differed"
if [ $other_bits = 0 ] && [ $# = 0 ]; then
    echo "none ever did: the kernels are not what they are called"
    failed=1
fi
exit $failed
