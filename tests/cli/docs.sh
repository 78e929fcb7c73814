#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh UNRELU docs/cli.md: what is generated from the tables of options, methods and rules is
# committed as it is, and is right in its own language.
set -eu

unrelu=$1 committed=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$unrelu" --write-docs markdown > "$work/cli.md"
diff -u "$committed" "$work/cli.md" || {
    echo "docs/cli.md is not what the option tables say: run 'make docs'"
    exit 1
}

"$unrelu" --write-docs methods > "$work/methods.md"
diff -u "${committed%/*}/methods.md" "$work/methods.md" || {
    echo "docs/methods.md is not what the tables of methods and rules say: run 'make docs'"
    exit 1
}

"$unrelu" --write-docs man > "$work/unrelu.1"
if command -v groff > /dev/null; then
    groff -man -Tascii -ww -z "$work/unrelu.1" 2> "$work/groff"
    cat "$work/groff"
    [ ! -s "$work/groff" ]
fi
# every code of a rule is explained in docs/formats.md
# shellcheck disable=SC2016 # backquotes of the table
sed -n 's/^|.* | `\([a-z-]*\)` | [`a-z -]* |$/\1/p' "$work/methods.md" | sort -u > "$work/rules"
[ "$(wc -l < "$work/rules")" -ge 6 ]
while read -r code; do
    grep -qF "| \`$code\` |" "${committed%/*}/formats.md" || {
        echo "docs/formats.md does not explain the code '$code' of a rule"
        exit 1
    }
done < "$work/rules"
# every code of a flag or warning is explained there too
# shellcheck disable=SC2016 # backquotes of the table
sed -n '/^## Flags and warning codes/,$ s/^| `\([a-z-]*\)`.*/\1/p' "${committed%/*}/formats.md" |
    while read -r code; do
        grep -qF "\\fB${code//-/\\-}\\fR" "$work/unrelu.1" || {
            echo "the man page does not explain '$code' of docs/formats.md: see cli/codes.c"
            exit 1
        }
    done

"$unrelu" --write-docs zsh > "$work/_unrelu"
if command -v zsh > /dev/null; then
    zsh -n "$work/_unrelu"
fi

"$unrelu" --write-docs bash > "$work/unrelu.bash"
# shellcheck source=/dev/null
. "$work/unrelu.bash"
expect() { # WANTED WORD...: completions of the last word
    local wanted=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _unrelu || true # compopt fails outside of a completion
    [ "${COMPREPLY[*]}" = "$wanted" ] || {
        echo "completing '$*': got '${COMPREPLY[*]}', expected '$wanted'"
        exit 1
    }
}
cd "$work"
expect 'show' unrelu sho
expect 'sample show summarize' unrelu s
expect 'truncated' unrelu fit --norms t
expect 'median' unrelu fit --norms = m
expect '--method --minibatch --max-memory' unrelu fit --m
expect '' unrelu fit --batches ''
expect 'cli.md' unrelu fit c
expect 'unrelu.1' unrelu fit -o unrelu.1
expect 'gaussian network mixture inputs' unrelu generate ''
expect 'recover report reproduce' unrelu r
expect 'unmix' unrelu u
expect 'separable' unrelu unmix --method s
expect 'unrelu.1' unrelu unmix unrelu.1
expect 'tensor' unrelu recover --method t
expect 'uniform' unrelu generate --inputs u
expect 'fit' unrelu help f
echo "docs/cli.md, docs/methods.md, man page and completions are right"
