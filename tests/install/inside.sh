#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# inside.sh SOURCE CMAKE CC: the library inside of another project, by FetchContent and by
# add_subdirectory: unrelu::unrelu as find_package gives it, and no command, test, benchmark or
# installed file of ours.
set -euo pipefail

source=$1 cmake=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run_quietly() {
    "$@" > "$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
}
project() { # BUILD OPTION...
    local build=$work/$1
    shift
    run_quietly "$cmake" -S "$source/tests/install/inside" -B "$build" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DEXAMPLE="$source/docs/example.c" "$@"
}
is() { # TYPE
    grep -qx -- "-- unrelu::unrelu is a $1" "$work/log" || {
        echo "unrelu::unrelu is not a $1"
        grep -F 'unrelu::unrelu is' "$work/log"
        exit 1
    }
}

# all that the library is made of
tar -C "$source" -czf "$work/unrelu.tar.gz" CMakeLists.txt cmake include src

project fetched -DURL="$work/unrelu.tar.gz"
is SHARED_LIBRARY
run_quietly "$cmake" --build "$work/fetched" -j "$(nproc)"
"$work/fetched/example"
run_quietly "$cmake" --install "$work/fetched" --prefix "$work/prefix"
programs=$(find "$work/fetched" -type f -perm -u+x ! -name '*.so*' ! -path '*/CMakeFiles/*' -printf '%f ')
[ "$programs" = 'example ' ] || {
    echo "more than the library was built: $programs"
    exit 1
}
[ ! -e "$work/fetched/_deps/unrelu-build/src/libunrelu.a" ]
[ ! -e "$work/prefix" ] || {
    echo "somebody else's project installs our files:"
    find "$work/prefix"
    exit 1
}

for shared in ON OFF; do
    project folder -DFOLDER="$source" -DBUILD_SHARED_LIBS=$shared
    is "$([ $shared = ON ] && echo SHARED || echo STATIC)_LIBRARY"
done
echo "the library works inside of another project, by FetchContent and by add_subdirectory"
