#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# after_a_second.sh SIGNAL COMMAND...: sends the signal a second after the command began to listen
# for it, however long a busy machine takes to come to that. Linux only.
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
sleep 1
kill -s "$1" $pid
wait $pid
