#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# after_a_moment.sh SIGNAL COMMAND...: sends the signal a moment after the command began to listen
# for it (.3 s, or MOMENT), however long a busy machine takes to come to that. Linux only.
set -u
number=$(kill -l "$1")
"${@:2}" <&0 &
pid=$!

listens() {
    local caught
    caught=$(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$pid/status" 2> /dev/null)
    (((${caught:-0} >> (number - 1)) & 1))
}
while kill -0 $pid 2> /dev/null && ! listens; do
    sleep 0.05
done
sleep "${MOMENT:-0.3}"
kill -s "$1" $pid
wait $pid
