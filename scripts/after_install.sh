#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# after_install.sh BUILD DESTDIR: lets the loader find the installed library, or says how it can.
set -eu

[ -z "$2" ] || exit 0 # a staged copy: its packager does the rest

setting() { sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"; }
BUILD=$1
prefix=$(setting CMAKE_INSTALL_PREFIX)
libdir=$(setting CMAKE_INSTALL_LIBDIR)
case $libdir in
/*) ;;
*) libdir=$prefix/$libdir ;;
esac

PATH=$PATH:/sbin:/usr/sbin
if [ "$(id -u)" = 0 ]; then
    ldconfig
fi

# finds PATTERN COMMAND...: whether what the command prints has the pattern
finds() {
    pattern=$1
    shift
    "$@" 2> /dev/null | grep -qF -- "$pattern"
}
finds "=> $libdir/libunrelu.so" ldconfig -p ||
    echo "Programs find the library with: export LD_LIBRARY_PATH=$libdir"
finds "$libdir/pkgconfig" pkg-config --variable pc_path pkg-config ||
    echo "pkg-config finds it with:       export PKG_CONFIG_PATH=$libdir/pkgconfig"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "The shell finds the command with: export PATH=$prefix/bin:\$PATH" ;;
esac
