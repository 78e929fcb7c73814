#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_spdx.sh [FILE...]: every source file names the licence once, at its top. Without arguments:
# all of them.
set -eu
if [ $# = 0 ]; then
    cd "$(dirname "$0")/.."
    exec find . \( -path './build*' -o -path ./python/build -o -path ./.git \) -prune -o -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' \
        -o -name '*.py' -o -name '*.cmake' -o -name '*.css' -o -name '*.js' -o -name CMakeLists.txt \
        -o -name Makefile \) -exec scripts/check_spdx.sh {} +
fi

wrong=0
for file; do
    [ "$(head -n 5 "$file" | grep -c 'SPDX-License-Identifier: Apache-2.0')" = 1 ] || {
        echo "$file does not have one line 'SPDX-License-Identifier: Apache-2.0' at its top"
        wrong=1
    }
done
exit $wrong
