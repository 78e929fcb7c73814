#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# errata.sh UNRELU PAGE.md: runs the commands of a page as they stand there, and compares what they
# print. A block that starts with ```sh is run as a whole; its lines that start with "# " are what it
# must print, on standard output and standard error. All blocks are run in one folder, in order.
set -u

unrelu=$(realpath "$1")
page=$(realpath "$2")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH="${unrelu%/*}:$PATH" LC_ALL=C

awk '/^### / { name = substr($0, 5) }
    /^```sh$/ { inside = 1; file = sprintf("block%02d", ++count); print name > (file ".name"); next }
    /^```$/ { inside = 0 }
    inside { print > file }' "$page"
failures=0 blocks=0
for block in block??; do
    [ -s "$block" ] || { echo "$2 has no commands"; exit 1; }
    blocks=$((blocks + 1))
    bash "$block" > "$block.printed" 2>&1
    if ! sed -n 's/^# //p' "$block" | diff - "$block.printed" > "$block.diff"; then
        failures=$((failures + 1))
        echo "${page##*/}: $(cat "$block.name")"
        cat "$block.diff"
    fi
done
echo "${page##*/}: $blocks blocks, $failures failed"
[ "$failures" = 0 ]
