#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU INJECT [full|first:NUMBER|NUMBER [REGEX]]: every command on tiny data, while the k-th call of the system
# fails, once or from then on (inject.c), for memory, mmap, open, read, write, rename, fsync and close.
# Each run must end with a documented exit status, and where that is not what it is without a fault,
# with a sentence on standard error; what it leaves is what it leaves without a fault, or nothing.
# k: NUMBER values of each (4), spread over the calls that the command makes; the first so many; full:
# all of them.
# REGEX: only of the commands and calls whose 'NAME CALL' it matches whole, as in 'fit.* (sync|close)'.
set -u
unrelu=$(realpath "$1")
inject=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
most=${3:-4}
only=${4:-.*}
shelf=/dev/shm # files in memory: fsync of thousands of them on a busy disk takes minutes
[ -w $shelf ] || shelf=/tmp
work=$(mktemp -d -p $shelf)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C OPENBLAS_NUM_THREADS=1
unset NO_COLOR COLUMNS

# shellcheck source=tests/every_command.sh
. "$here/../every_command.sh"
make_data "$unrelu" || exit 1

# ---- one run ----

# Runs are copies of one process (inject.c): there are hundreds of thousands, so that nothing is
# started for one that ends as most do.
# begin ARGUMENTS...: the command that all runs are of; what it writes goes to the folder 'out'
begin() {
    arguments=("$@")
    if has_threads "$1"; then # one of them, so that calls come in the same order
        arguments+=(--threads 1)
    fi
    coproc server {
        exec env UNRELU_FAULT=serve UNRELU_FAULT_COUNT="$PWD/count" LD_PRELOAD="$inject" \
            "$unrelu" "${arguments[@]}" 2> /dev/null
    }
}

end() {
    local to=${server[1]}
    exec {to}>&-
    # shellcheck disable=SC2154 # coproc sets it
    wait "$server_PID"
}

# run FAULT
run() {
    if [ ! -d out ] || is_left; then
        rm -rf out
        mkdir out
    fi
    [ "${arguments[0]}" != reproduce ] || cp study/figure1.csv out/
    echo "$1" >&"${server[1]}"
    read -r status <&"${server[0]}" || status=none
}

# whether there is anything in the folder 'out'
is_left() {
    local file
    for file in out/* out/.[!.]*; do
        [ ! -e "$file" ] || return 0
    done
    return 1
}

# what was printed, but for times
printed() { sed -E 's/"seconds": [^,}]*//' stdout; }

failures=0 runs=0
# complain NAME FAULT WHAT
complain() {
    echo "$1, $2: $3 (exit $status)"
    sed -n '1,3s/^/    /p' stderr
    failures=$((failures + 1))
}

# must_fail FAULT: whether it hits what is written in any case. Files that were read may fail to close.
must_fail() {
    case $1 in
    sync:* | close:1:on) ;;
    *) return 1 ;;
    esac
}

# judge NAME FAULT: against what is in the folder 'right'
judge() {
    local file
    runs=$((runs + 1))
    case $status in
    0 | 1 | 2 | 3 | 4 | 5 | 130) ;;
    142) complain "$1" "$2" "it was still running after 60 s" ;; # the alarm of inject.c
    *) complain "$1" "$2" "no documented exit status" ;;
    esac
    if [ "$status" = "$right" ]; then
        cmp -s stdout right.stdout || [ "$(printed)" = "$right_printed" ] || complain "$1" "$2" "other results"
        must_fail "$2" && complain "$1" "$2" "what is not safe on disk was not told"
    elif ! [ -s stderr ]; then
        complain "$1" "$2" "nothing was said"
    fi
    for file in out/* out/.[!.]*; do
        [ -e "$file" ] || continue
        if [ -e "right/${file#out/}" ]; then
            cmp -s "$file" "right/${file#out/}" || complain "$1" "$2" "$file is not as it should be"
        else
            complain "$1" "$2" "$file is left behind"
        fi
    done
    if [ "$status" = "$right" ] && [ "$status" = 0 ]; then
        for file in right/*; do
            [ ! -e "$file" ] || [ -e "out/${file#right/}" ] || complain "$1" "$2" "${file#right/} is missing"
        done
    fi
}

# the k that are tried of N calls
some_of() {
    if [ "$most" = full ] || [ "$1" -le "${most#first:}" ]; then
        seq 1 "$1"
    elif [ "$most" != "${most#first:}" ]; then
        seq 1 "${most#first:}"
    else
        awk -v n="$1" -v most="$most" 'BEGIN { for (i = 0; i < most; i++) print 1 + int(i * (n - 1) / (most - 1)) }'
    fi
}

# faults NAME ARGUMENTS...
faults() {
    local name=$1 call count k how
    shift
    begin "$@"
    run none
    right=$status
    rm -rf right
    mv out right
    right_printed=$(printed)
    mv stdout right.stdout
    mv count counts
    grep -q '^memory [1-9]' counts || complain "$name" none "no call was counted"
    case $right in
    0 | 4 | 5) ;;
    *) complain "$name" none "it fails by itself" ;;
    esac
    while read -r call count <&3; do
        [[ "$name $call" =~ ^($only)$ ]] || continue
        for k in $(some_of "$count"); do
            for how in once on; do
                run "$call:$k:$how"
                judge "$name" "$call:$k:$how"
            done
        done
    done 3< counts
    end
}

every_command faults
begin fit g.csv -o out/m.npz
run sync:2:once # the first is of the file, the second of its directory
grep -q 'out/m.npz is written, but its directory' stderr ||
    complain fit sync:2:once "it was not told that the file is there"
end
echo "$runs runs with a fault, $failures complaints"
[ $failures = 0 ]
