#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples.sh UNRELU EXAMPLES [PAGE.md...]: pastes every example of --help, command by command, and every line of the
# pages' blocks that starts with "unrelu ", "awk " or "$ ", into a copy of the folder EXAMPLES. All must succeed.
set -u

unrelu=$(realpath "$1")
examples=$(realpath "$2")
shift 2
pages=()
for page in "$@"; do pages+=("$(realpath "$page")"); done
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
mkdir "$work/bin"
printf '#!/bin/sh\nexec %q "$@"\n' "$unrelu" > "$work/bin/unrelu"
chmod +x "$work/bin/unrelu"
export PATH="$work/bin:$PATH"
count=0 failures=0

# what takes minutes is pasted in its short form
shorter() {
    sed -E 's/^(unrelu reproduce [a-z0-9-]+) -o/\1 --quick -o/; s/two-layer --quick/& --runs 1/'
}

paste_all() { # TITLE < lines
    local line status
    rm -rf "$work/here"
    cp -r "$examples" "$work/here"
    ln -s ../bin "$work/here/build" # pages call the program as it was built: build/unrelu
    cd "$work/here" || exit 1
    while IFS= read -r line; do
        count=$((count + 1))
        bash -o pipefail -c "$line" > "$work/out" 2>&1 < /dev/null
        status=$?
        if [ $status != 0 ]; then
            failures=$((failures + 1))
            echo "$1: exit $status: $line"
            tail -3 "$work/out"
        fi
    done
}

commands=$("$unrelu" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
for command in $commands; do
    "$unrelu" "$command" --help | sed -n '/^ Examples/,$ s/^  \([^ ].*\)/\1/p' | shorter > "$work/lines"
    [ -s "$work/lines" ] || [ "$command" = help ] || { echo "$command --help has no example"; exit 1; }
    paste_all "$command --help" < "$work/lines"
done
for page in "${pages[@]}"; do
    awk '/^```/ { inside = !inside; next } inside && /^(\$ |unrelu |awk )/ { sub(/^\$ /, ""); print }' "$page" |
        sed 's/  *# .*//' | shorter > "$work/lines"
    [ -s "$work/lines" ] || { echo "$page has no command"; exit 1; }
    paste_all "${page##*/}" < "$work/lines"
done
echo "examples: $count lines pasted, $failures failed"
[ "$failures" = 0 ]
