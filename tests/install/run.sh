#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE BUILD CMAKE CC [FLAG...]: installs to an empty prefix, then compiles and runs
# docs/example*.c against that copy, as users do: by pkg-config and by find_package, shared and
# static.
set -euo pipefail

source=$1 build=$2 cmake=$3 cc=$4
shift 4
flags=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

run_quietly() {
    "$@" > "$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
}

run_quietly "$cmake" --install "$build" --prefix "$prefix"
cp "$build/install_manifest.txt" "$work/installed.txt"
libdir=$(dirname "$(find "$prefix" -name libunrelu.a)")
export LD_LIBRARY_PATH=$libdir

# every promised file
for file in bin/unrelu include/unrelu/unrelu.h share/man/man1/unrelu.1 \
    share/bash-completion/completions/unrelu share/zsh/site-functions/_unrelu \
    share/doc/unrelu/LICENSE share/doc/unrelu/README.md share/doc/unrelu/docs/formats.md; do
    [ -s "$prefix/$file" ] || {
        echo "not installed: $file"
        exit 1
    }
done
# what others wrote of the command: its licences are where LICENSE is
notices=$prefix/share/doc/unrelu/licenses
nm "$build/unrelu" > "$work/inside"
while read -r symbol file; do
    if grep -q " [Tt] $symbol\$" "$work/inside" && ! grep -qF "($file)" "$notices/README.md"; then
        echo "the command has $symbol inside, and $notices/README.md does not name $file"
        exit 1
    fi
done << 'END'
cblas_dgemm OpenBLAS.txt
dsyevd_ LAPACK.txt
LAPACKE_dsyevd_work LAPACKE.txt
Clp_newModel EPL-1.0.txt
END
files=$(grep -oE '\([A-Za-z0-9.-]+\.txt\)' "$notices/README.md" | tr -d '()')
for file in $files; do
    grep -qs WARRANTIES "$notices/$file" || {
        echo "no licence: $notices/$file"
        exit 1
    }
done
version=$("$prefix/bin/unrelu" --version | sed 's/^unrelu //')
interface=${version%.*} # a minor version may change it
[ -e "$libdir/libunrelu.so.$version" ] && [ -L "$libdir/libunrelu.so.$interface" ]

# the shared library exports the public interface under its version, and nothing else
nm -D --defined-only "$libdir/libunrelu.so" | awk '{ print $3 }' > "$work/symbols"
grep -qFx "unrelu_version@@UNRELU_$interface" "$work/symbols"
if grep -v -e "^unrelu_[a-z0-9_]*@@UNRELU_$interface\$" -e "^UNRELU_$interface\$" "$work/symbols"; then
    echo "symbols that should be hidden, or have no version"
    exit 1
fi

pc=$libdir/pkgconfig/unrelu.pc
[ "$(pkg-config --modversion "$pc")" = "$version" ]
export PKG_CONFIG_LIBDIR=$libdir/pkgconfig # so that no .pc file but ours is there
read -ra shared <<< "$(pkg-config --cflags --libs unrelu)"
read -ra static <<< "$(pkg-config --static --cflags --libs unrelu)"
unset PKG_CONFIG_LIBDIR
if [[ " ${static[*]} " =~ \ -l(gfortran|bz2|ssl|crypto|zstd|lzma)\  ]]; then
    echo "the dependencies of our dependencies are asked for: ${static[*]}"
    exit 1
fi

examples=(example example_recover example_unmix)
for name in "${examples[@]}"; do
    "$cc" "${flags[@]}" "$source/docs/$name.c" "${shared[@]}" -o "$work/$name.shared"
    "$work/$name.shared" | tee "$work/$name.expected"
    [ -s "$work/$name.expected" ]
done
mv "$libdir"/libunrelu.so* "$work" # so that -lunrelu means the static one
for name in "${examples[@]}"; do
    "$cc" "${flags[@]}" "$source/docs/$name.c" "${static[@]}" -o "$work/$name.static"
done
mv "$work"/libunrelu.so* "$libdir"

cp "$source/tests/install/CMakeLists.txt" "$source"/docs/example*.c "$work"
run_quietly "$cmake" -S "$work" -B "$work/user" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="${flags[*]}" -DVERSION="$version"
run_quietly "$cmake" --build "$work/user"
for name in "${examples[@]}"; do
    for program in "$work/$name.static" "$work/user/${name}_shared" "$work/user/${name}_static"; do
        "$program" | diff "$work/$name.expected" -
    done
done
grep -q '^exact: 10 neurons, residual below 1e-12: yes$' "$work/example_recover.expected"
grep -q '^V and U right to 1e-12: yes$' "$work/example_recover.expected"
grep -q '^exact: 8 units$' "$work/example_unmix.expected"
grep -q '^A right to 1e-12: yes$' "$work/example_unmix.expected"

"$source/scripts/uninstall.sh" "$work" ''
if find "$prefix" ! -type d -print -o -name unrelu -print | grep .; then
    echo "left over by the uninstaller"
    exit 1
fi
echo "the installed copy works by pkg-config and by find_package, shared and static"
