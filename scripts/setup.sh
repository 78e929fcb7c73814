#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that the build needs and that are missing; --tests adds those of the tests,
# --coverage, --valgrind and --fuzz those of make coverage, valgrind and fuzz, --dev those of .ci/run.
# --mpi: Open MPI. --browser: what the tests of pages and of formulas need (commands that are there stay as they are).
set -eu

packages="build-essential cmake pkg-config libopenblas-dev liblapacke-dev
    coinor-libclp-dev libcerf-dev libjansson-dev libzip-dev zlib1g-dev librandom123-dev libgmp-dev"
case ${1:-} in
--tests) packages="$packages libcmocka-dev" ;;
--coverage) packages="$packages libcmocka-dev gcovr" ;;
--valgrind) packages="$packages libcmocka-dev valgrind" ;;
--fuzz) packages="$packages clang libclang-rt-dev" ;;
--mpi) packages="$packages libcmocka-dev libopenmpi-dev openmpi-bin" ;;
--dev) packages="$packages libcmocka-dev clang libclang-rt-dev clang-format shellcheck debootstrap
    libopenmpi-dev openmpi-bin python3-numpy python3-onnx python3-dev python3-pip python3-venv python3-wheel python3-cffi
    python3-sklearn python3-pandas python3-scipy python3-pytest python3-matplotlib" ;;
--browser)
    packages=
    for command in minisat chromium python3; do
        command -v "$command" > /dev/null || packages="$packages $command"
    done
    ;;
esac

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    echo "This is not a Debian system; the build needs what these packages hold there:" >&2
    echo "$packages" >&2
    exit 0 # they may be there under other names: let the build find out
fi

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null || true)
    case $status in
    ii*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    as_root="sudo -n"
elif command -v sudo > /dev/null && [ -t 0 ]; then
    as_root=sudo
else
    echo "Packages are missing, and installing them needs root. Run this, then try again:" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086 # words, on purpose
$as_root env DEBIAN_FRONTEND=noninteractive $install
