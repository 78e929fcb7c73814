#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU FILE.test: runs the commands of a test file in an empty folder and compares what
# they print and how they exit. The lines of a test file:
#   ## what is tested
#   $ a shell command; unrelu and the scripts of this folder are in the PATH
#   > the next line of the same command
#   1| a line it prints on standard output        2| ... on standard error
#   1~ a pattern, as of the shell's case, for it  2~ ...
#   1* anything more on standard output           2* ... on standard error
#   = 2                                            its exit status, where that is not 0
# All that is printed must be expected. 77: the file needs what was left out of this build.
set -u

unrelu=$(realpath "$1")
file=$(realpath "$2")
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH="${unrelu%/*}:${file%/*}:$PATH" LC_ALL=C
unset NO_COLOR POSIXLY_CORRECT COLUMNS

name='' command='' failures=0 tests=0 left_out=

forget() {
    command='' want_status=0
    want1=() want2=()
}

# fits LINE WANTED
fits() {
    case $2 in
    '~'*)
        # shellcheck disable=SC2053 # a pattern, on purpose
        [[ $1 == ${2#?} ]]
        ;;
    '|'*) [ "$1" = "${2#?}" ] ;;
    *) false ;;
    esac
}

# compare STREAM FILE WANTED...: prints the lines of the file, and before each that is not as
# wanted, behind a minus, the wanted one
compare() {
    local stream=$1 got=$2 same=0 line
    shift 2
    while IFS= read -r line || [ -n "$line" ]; do
        if [ "${1-}" = '*' ]; then
            printf '  %s* %s\n' "$stream" "$line"
            continue
        elif [ $# -gt 0 ] && fits "$line" "$1"; then
            printf '  %s| %s\n' "$stream" "$line"
        else
            same=1
            [ $# = 0 ] || printf -- '- %s%s %s\n' "$stream" "${1:0:1}" "${1:1}"
            printf '+ %s| %s\n' "$stream" "$line"
        fi
        [ $# = 0 ] || shift
    done < "$got"
    for line; do
        [ "$line" = '*' ] || printf -- '- %s%s %s\n' "$stream" "${line:0:1}" "${line:1}"
        [ "$line" = '*' ] || same=1
    done
    return $same
}

finish() {
    [ -n "$command" ] || return 0
    tests=$((tests + 1))
    local counts='' # of lines, in a build that has them: no limit of files may cut these short
    [[ $command != *'ulimit -f'* ]] || counts=$work/.counts
    GCOV_PREFIX=$counts bash -c "$command" > "$work/.out" 2> "$work/.err" < /dev/null
    local status=$? wrong=''
    [ $status = "$want_status" ] || wrong="exit status $status, expected $want_status"
    compare 1 "$work/.out" "${want1[@]}" > "$work/.seen" || wrong+="${wrong:+; }standard output differs"
    left_out=${left_out:-$(grep 'this copy of unrelu was built without' "$work/.err")}
    compare 2 "$work/.err" "${want2[@]}" >> "$work/.seen" || wrong+="${wrong:+; }standard error differs"
    if [ -n "$wrong" ]; then
        failures=$((failures + 1))
        printf '%s: %s\n$ %s\n' "${file##*/}" "$name" "$command"
        cat "$work/.seen"
        printf '*** %s (- expected, + printed)\n\n' "$wrong"
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
if [ $failures != 0 ] && [ -n "$left_out" ]; then
    echo "skipped: $left_out"
    exit 77
fi
[ $failures = 0 ]
