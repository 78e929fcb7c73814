#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# numbers.sh BUILD: every demanded number in full, into docs/numbers.md.
set -euo pipefail

new=docs/numbers.md.new
failed=0
{
    echo '# Numbers'
    echo
    echo "Measured by \`make numbers\` with $("$1/unrelu" --version | head -n 1)." \
        'Every line is a promise and what was found.'
    echo
} > $new
for program in "$1"/tests/test_numbers_*; do
    case $program in *.*) continue ;; esac
    "$program" --full >> $new || failed=1
done
sed -n '/^## Large files$/,$p' docs/numbers.md >> $new # of make test-large, which takes longer
sed -i -e '$ { /^$/d }' $new
mv $new docs/numbers.md
echo "docs/numbers.md is written"
exit $failed
