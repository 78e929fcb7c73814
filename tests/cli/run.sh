#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU FILE.test: runs the commands of a test file in an empty folder and compares what
# they print and how they exit. The lines of a test file:
#   ## what is tested
#   $ a shell command; unrelu is in the PATH
#   > the next line of the same command
#   1| a line it prints on standard output        2| ... on standard error
#   1~ a pattern, as of the shell's case, for it  2~ ...
#   1* anything more on standard output           2* ... on standard error
#   = 2                                            its exit status, where that is not 0
# All that is printed must be expected.
set -u

unrelu=$(realpath "$1")
file=$(realpath "$2")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH="${unrelu%/*}:$PATH" LC_ALL=C DATA="${file%/*}/../data"
unset NO_COLOR POSIXLY_CORRECT ARGP_HELP_FMT

name='' command='' failures=0 tests=0

forget() {
    command='' want_status=0
    want1=() want2=()
}

# matches FILE WANTED...: each line of the file against one wanted line
matches() {
    local got=$1 line
    shift
    while IFS= read -r line || [ -n "$line" ]; do
        case ${1-} in
        '~'*)
            # shellcheck disable=SC2053 # a pattern, on purpose
            [[ $line == ${1#?} ]] || return 1
            ;;
        '*'*) return 0 ;;
        '|'*) [ "$line" = "${1#?}" ] || return 1 ;;
        *) return 1 ;;
        esac
        shift
    done < "$got"
    [ $# = 0 ] || [ "$1" = '*' ]
}

finish() {
    [ -n "$command" ] || return 0
    tests=$((tests + 1))
    bash -c "$command" > "$work/.out" 2> "$work/.err" < /dev/null
    local status=$? wrong=''
    [ $status = "$want_status" ] || wrong="exit status $status, expected $want_status"
    matches "$work/.out" "${want1[@]}" || wrong+="${wrong:+; }standard output differs"
    matches "$work/.err" "${want2[@]}" || wrong+="${wrong:+; }standard error differs"
    if [ -n "$wrong" ]; then
        failures=$((failures + 1))
        printf '%s: %s\n$ %s\n' "${file##*/}" "$name" "$command"
        sed 's/^/1| /' "$work/.out"
        sed 's/^/2| /' "$work/.err"
        printf '= %s\n*** %s\n\n' "$status" "$wrong"
    fi
    forget
}

want() { # STREAM MARK TEXT
    local text=$3
    [ "$2" = '*' ] && text=''
    if [ "$1" = 1 ]; then want1+=("$2$text"); else want2+=("$2$text"); fi
}

forget
while IFS= read -r line; do
    case $line in
    '## '*) finish && name=${line#'## '} ;;
    '$ '*) finish && command=${line#'$ '} ;;
    '> '*) command+=$'\n'${line#'> '} ;;
    '>') command+=$'\n' ;;
    [12][\|~\*]*)
        text=${line:2}
        want "${line:0:1}" "${line:1:1}" "${text# }"
        ;;
    '= '*) want_status=${line#'= '} ;;
    '' | '#'*) ;;
    *) echo "${file##*/}: not understood: $line" && exit 1 ;;
    esac
done < "$file"
finish
echo "${file##*/}: $tests commands, $failures failed"
[ $failures = 0 ]
