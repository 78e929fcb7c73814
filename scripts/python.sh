#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# python.sh install|test [BUILD]: the Python package in a virtual environment of its own, build/venv,
# with the library of BUILD (build). `install` takes what Python has where that is enough (Debian's
# packages), else the package index. `test` runs its tests, or says what is missing and passes.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?install or test}
library=${2:-build}
room=build/venv

# what an interpreter lacks for building, and for the tests
lacks() { # PYTHON MODULE...
    local python=$1 module missing=
    shift
    for module in "$@"; do
        "$python" -c "import $module" 2> /dev/null || missing="$missing $module"
    done
    "$python" -c 'import os, sysconfig as s
raise SystemExit(not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))' \
        2> /dev/null || missing="$missing Python.h"
    echo "$missing"
}
building=(pip setuptools wheel cffi numpy sklearn)
testing=(pytest pandas scipy)

# the first interpreter that lacks nothing; else the first that there is
choose() { # MODULE...
    local python chosen=
    for python in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
        command -v "$python" > /dev/null || continue
        [ -n "$chosen" ] || chosen=$python
        if [ -z "$(lacks "$python" "$@")" ]; then
            chosen=$python
            break
        fi
    done
    echo "$chosen"
}

install() { # PYTHON
    local quiet=(--quiet --disable-pip-version-check --force-reinstall)
    rm -rf "$room"
    if [ -z "$(lacks "$1" "${building[@]}")" ]; then
        "$1" -m venv --system-site-packages --without-pip "$room"
        UNRELU_BUILD=$PWD/$library "$room/bin/python" -m pip install "${quiet[@]}" \
            --no-build-isolation --no-deps ./python
    else
        "$1" -m venv "$room"
        UNRELU_BUILD=$PWD/$library "$room/bin/python" -m pip install "${quiet[@]}" './python[test]'
    fi
    "$room/bin/python" -c 'import unrelu; print("unrelu", unrelu.__version__, "in build/venv")'
}

python=$(choose "${building[@]}" "${testing[@]}")
if [ "$what" = install ]; then
    [ -n "$python" ] || {
        echo 'There is no python3 to install into.' >&2
        exit 1
    }
    install "$python"
    exit
fi
missing=python3
[ -z "$python" ] || missing=$(lacks "$python" "${building[@]}" "${testing[@]}")
if [ -n "$missing" ]; then
    echo "The tests of the Python package are skipped: there is no$missing."
    echo '(Debian: python3-{dev,pip,wheel,cffi,sklearn,pytest,pandas,scipy})'
    exit 0
fi
cmake --build "$library" --target unrelu > /dev/null # the library and the command, from one tree
install "$python"
command=
[ ! -x "$library/unrelu" ] || command=$PWD/$library/unrelu
cd python
installed=$("../$room/bin/python" -c 'import os, unrelu; print(os.path.dirname(unrelu.__file__))')
UNRELU_COMMAND=$command "../$room/bin/python" -m pytest -q -p no:cacheprovider \
    -W ignore::unrelu.UnreluWarning tests "$installed"
