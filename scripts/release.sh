#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# release.sh [VERSION]: build/dist/unrelu-VERSION.tar.gz of what is committed, its checksum, and the
# version's part of CHANGELOG.md. With VERSION, which the sources must have then, that part must be
# there with a date. The tarball is unpacked, built as users would and asked for its version.
set -euo pipefail
cd "$(dirname "$0")/.."
die() {
    echo "$*" >&2
    exit 1
}

git rev-parse --git-dir > /dev/null 2>&1 || die "a tarball is made of what is committed, and there is no git here"
[ -z "$(git status --porcelain)" ] || die "there are changes that are not committed"
number() { git show HEAD:include/unrelu/unrelu.h | sed -n "s/^#define UNRELU_VERSION_$1 *//p"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
[ "${1:-$version}" = "$version" ] || die "the sources are of version $version, not $1"
if [ $# -gt 0 ] && ! grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md; then
    die "CHANGELOG.md has no '## $version (YYYY-MM-DD)'"
fi

name=unrelu-$version dist=$PWD/build/dist
rm -rf "$dist"
mkdir -p "$dist"
git archive --prefix="$name/" HEAD | gzip -9 -n > "$dist/$name.tar.gz"
awk -v head="## $version " 'index($0, head) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md > "$dist/notes.md"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "$dist/$name.tar.gz"
make -C "$work/$name" build > "$work/log" 2>&1 || {
    tail -n 30 "$work/log"
    die "what the tarball holds does not build"
}
[ "$("$work/$name/build/unrelu" --version)" = "unrelu $version" ] || die "it says that it is another version"
(cd "$dist" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
