#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# uninstall.sh BUILD DESTDIR: removes the files that BUILD/installed.txt lists, below DESTDIR, and
# those folders of ours that are empty then.
set -eu

installed=$1/installed.txt
destdir=$2
[ -r "$installed" ] || {
    echo "'make install' was not run from here: there is no $installed" >&2
    exit 1
}

while IFS= read -r file || [ -n "$file" ]; do
    rm -f -- "$destdir$file"
    folder=$(dirname -- "$destdir$file")
    while case $folder/ in */unrelu/*) true ;; *) false ;; esac; do
        rmdir -- "$folder" 2> /dev/null || break
        folder=$(dirname -- "$folder")
    done
done < "$installed"
rm -f -- "$installed"
