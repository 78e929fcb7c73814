#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU: networks of every activation, written by `unrelu export` and read by others: ONNX's
# own checker and a few lines of NumPy (evaluate.py). 77: Python, NumPy or ONNX is not installed.
set -eu

unrelu=$(realpath "$1")
here=$(realpath "${0%/*}")
python=/usr/bin/python3 # which sees Debian's packages
[ -x $python ] || python=python3
if ! $python -c 'import numpy, onnx' 2> /dev/null; then
    echo "skipped: Python with NumPy and ONNX is not installed (python3-onnx)"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for f in relu power:1.5 leaky:0.1 expm1 expm1sq tanh; do
    "$unrelu" generate network -q -d 4 -k 3 -m 2 -n 50 --bias 0.3 --activation $f -o net
    for float32 in '' --float32; do
        # shellcheck disable=SC2086 # nothing, or one word
        "$unrelu" export -q net/truth.npz $float32 -o net.onnx
        # shellcheck disable=SC2086
        "$unrelu" export -q net/truth.npz $float32 -o net.safetensors
        "$unrelu" predict -q net.safetensors net/x.npy -o y.npy
        $python "$here/evaluate.py" net "${float32:---float64}" || {
            echo "activation $f $float32"
            exit 1
        }
    done
done
