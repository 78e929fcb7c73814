#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# folders.sh ROOT: which folder of src/ includes which, as docs/design.md has it. No cycle; what the
# rooms of recover share (network/problem) includes none of them, and none includes the corridor
# (network/recover); each foreign library has one folder; the command sees the public header only,
# and the library knows none of its flags. No name of a file twice.
set -eu
shopt -s lastpipe # complain, last in its pipe, sets a variable of this shell
cd "$1"
failed=0

complain() { # SENTENCE, the lines on standard input
    local lines
    lines=$(cat)
    [ -z "$lines" ] && return
    printf '%s\n%s\n' "$1" "$lines"
    failed=1
}

edges=$(grep -rH --include='*.[ch]' '^#include "' src |
    sed -n 's|^src/\(.*\)/[^/]*:#include "\(.*\)/[^/]*"$|\1 \2|p' |
    awk '$1 != $2 && $2 != "unrelu"' | sort -u)
[ "$(wc -l <<< "$edges")" -gt 100 ] # they were found

{ tsort <<< "$edges" > /dev/null; } 2>&1 | complain "folders include each other:"
awk '$1 == "network/problem" && $2 ~ /^network/ && $2 != "network/model"' <<< "$edges" |
    complain "what the rooms share includes a room:"
awk '$2 == "network/recover"' <<< "$edges" | complain "a room includes the corridor:"

# a header of another library, and the folder that may include it
while read -r header folder; do
    { grep -rl --include='*.[ch]' --include='*.cpp' "^#include <$header>" src || true; } | { grep -v "^$folder/" || true; } |
        complain "<$header> is for $folder alone:"
done << 'END'
cblas.h src/dense
lapacke.h src/dense
Clp_C_Interface.h src/dense
gmp.h src/network/verdict/rational
zip.h src/read
cerf.h src/law
Random123/philox.h src/base
END

folders=$(cd src && find . -name '*.h' | sed 's|^\./\([^/]*\)/.*|\1|' | sort -u | paste -sd '|')
{ grep -rnE --include='*.[ch]' "^#include \"($folders)/" cli || true; } |
    complain "the command includes what is not public:"
# memory that base/ does not hand out is not counted by unrelu_memory_limit (write/ asks realpath for some)
{ grep -rnE --include='*.c' '\<(malloc|calloc|realloc|aligned_alloc|strdup|asprintf|free)\(' src || true; } |
    { grep -vE '^src/(base|write)/' || true; } | complain "memory that is not counted (base/memory.h, base/arena.h):"
# a debugger, a profiler and a reader see the name alone; each model has its tolerance.h
for ending in c h; do
    find src cli -name "*.$ending" -printf '%f\n' | sort | uniq -d | { grep -vx tolerance.h || true; } |
        complain "two files have this name:"
done
{ grep -rnE --include='*.[ch]' '"[^"]*--[a-z]' src || true; } |
    complain "the library names a flag of the command; options are named in backquotes:"
[ $failed = 0 ] && echo "$(wc -l <<< "$edges") edges between folders, no cycle"
exit $failed
