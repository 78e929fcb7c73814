#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# numbers.sh BUILD: every demanded number in full, into docs/numbers.md.
set -euo pipefail

"$1/tests/test_numbers" --full > docs/numbers.md.new
mv docs/numbers.md.new docs/numbers.md
echo "docs/numbers.md is written"
