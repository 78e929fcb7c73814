#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# watch.sh UNRELU [WATCHER...]: every command on tiny data (tests/every_command.sh), of ROWS rows
# where that is set, with three threads, run by WATCHER, which says so where something is wrong and
# exits with 99 then:
#   watch.sh build/unrelu valgrind -q --error-exitcode=99
#   ROWS=5000 watch.sh build-tsan/unrelu
set -u
unrelu=$(realpath "$1")
shift
watcher=("$@")
here=$(realpath "$(dirname "$0")")
shelf=/dev/shm # files in memory: fsync of thousands of them on a busy disk takes minutes
[ -w $shelf ] || shelf=/tmp
work=$(mktemp -d -p $shelf)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/every_command.sh
. "$here/../tests/every_command.sh"
make_data "$unrelu" "${ROWS:-}" || exit 1

failed=0 runs=0
# shellcheck disable=SC2317 # every_command calls it
watch() {
    local name=$1 status
    shift
    rm -rf out
    mkdir out
    [ "$1" != reproduce ] || cp study/figure1.csv out/
    if has_threads "$1"; then
        set -- "$@" --threads 3
    fi
    "${watcher[@]}" "$unrelu" "$@" > stdout 2> stderr < /dev/null
    status=$?
    runs=$((runs + 1))
    case $status in
    0 | 4 | 5) ;;
    *)
        echo "$name: exit status $status"
        head -n 60 stderr
        failed=1
        ;;
    esac
}
every_command watch
echo "$runs commands watched"
exit $failed
