#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# paste.sh UNRELU EXAMPLES PAGE.md [write]: runs the commands of a page, the lines "$ ..." of its blocks, one after the
# other in a copy of the folder EXAMPLES, and compares what they print with what the page says they do. With "write" the
# page is written anew, for a change that is meant to change what is printed.
set -u

unrelu=$(realpath "$1")
examples=$(realpath "$2")
page=$(realpath "$3")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
mkdir "$work/bin"
printf '#!/bin/sh\nexec %q "$@"\n' "$unrelu" > "$work/bin/unrelu"
chmod +x "$work/bin/unrelu"
export PATH="$work/bin:$PATH" LC_ALL=C
unset NO_COLOR POSIXLY_CORRECT COLUMNS
cp -r "$examples" "$work/here"
cd "$work/here" || exit 1

inside=0 printed=0 commands=0
while IFS= read -r line; do
    case $line in
    '```'*) inside=$((1 - inside)) printed=0 ;;
    '$ '*)
        if [ $inside = 1 ]; then
            printf '%s\n' "$line"
            bash -o pipefail -c "${line#\$ }" < /dev/null 2>&1 ||
                printf 'exit status %d\n' $?
            printed=1 commands=$((commands + 1))
            continue
        fi
        ;;
    esac
    [ $printed = 1 ] || printf '%s\n' "$line"
done < "$page" > "$work/page"

[ $commands -gt 0 ] || { echo "$page has no command"; exit 1; }
if [ "${4-}" = write ]; then
    cp "$work/page" "$page"
else
    diff -u "$page" "$work/page" || exit 1
fi
echo "$(basename "$page"): $commands commands pasted"
