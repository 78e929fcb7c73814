#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# one_thread.sh UNRELU: with --threads 1 there is one thread, none of OpenBLAS's, whatever the
# environment asks of it; 77: no /proc, or OpenBLAS starts none on one core.
set -u
unrelu=$(realpath "$1")
[ -d /proc/self/task ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkfifo rows
failures=0

# threads_of COMMAND...: how many it has while it waits for rows
threads_of() {
    "$@" fit - --threads 1 < rows > /dev/null 2>&1 &
    local id=$! state=
    exec 7> rows
    for _ in $(seq 200); do # until it sleeps in read
        read -r _ _ state _ < "/proc/$id/stat"
        [ "$state" = S ] && grep -q -e pipe -e '^0$' "/proc/$id/wchan" 2> /dev/null && break
        sleep 0.05
    done
    find "/proc/$id/task" -mindepth 1 -maxdepth 1 | wc -l
    exec 7>&-
    wait "$id"
}

for environment in "PWD=$work" "_=unrelu" "OPENBLAS_NUM_THREADS=4"; do
    threads=$(threads_of env -i "$environment" "$unrelu")
    [ "$threads" = 1 ] || {
        failures=$((failures + 1))
        echo "$environment: $threads threads"
    }
done
[ $failures = 0 ]
