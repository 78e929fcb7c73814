#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit.sh SECONDS COMMAND...: the command, where none of its processes may take more CPU time than
# that. A busy machine makes a test late, and never makes it fail.
ulimit -S -t "$1"
"${@:2}"
status=$?
if [ $status = $((128 + $(kill -l XCPU))) ]; then
    echo "stopped: it took more than $1 seconds of CPU time"
fi
exit $status
