#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# large.sh BUILD: reads files that no memory holds, and puts what was measured at the end of
# docs/numbers.md, which scripts/numbers.sh leaves there.
set -euo pipefail

new=docs/numbers.md.new
failed=0
tests/large/run.sh "$1/unrelu" > "$new.part" || failed=1
cat "$new.part"
sed '/^## Large files$/,$d' docs/numbers.md | sed -e '$ { /^$/d }' > $new
{ echo; cat "$new.part"; } >> $new
rm "$new.part"
mv $new docs/numbers.md
exit $failed
