# SPDX-License-Identifier: Apache-2.0
"""evaluate.py NET --float32|--float64: net.onnx in the current folder is valid and gives the labels
of NET/a.npy, net.safetensors has the weights of NET/truth.npz, and y.npy the labels of these."""

import json
import struct
import sys

import numpy as np
import onnx
from onnx import numpy_helper

single = sys.argv[2] == "--float32"
near = 1e-5 if single else 1e-13
inputs, labels = np.load(sys.argv[1] + "/x.npy"), np.load(sys.argv[1] + "/a.npy")
truth = np.load(sys.argv[1] + "/truth.npz")
scale = np.abs(labels).max()

OPERATORS = {
    "Relu": lambda a: np.maximum(a, 0),
    "Neg": np.negative,
    "Mul": np.multiply,
    "Sub": np.subtract,
    "Exp": np.exp,
    "Tanh": np.tanh,
    "Pow": np.power,
}

model = onnx.load("net.onnx")
onnx.checker.check_model(model, full_check=True)
values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
dtype = np.float32 if single else np.float64
assert all(value.dtype == dtype for value in values.values())
values["x"] = inputs.astype(dtype)
for node in model.graph.node:
    of = [values[name] for name in node.input]
    if node.op_type == "Gemm":
        assert [(a.name, a.i) for a in node.attribute] == [("transB", 1)]
        values[node.output[0]] = of[0] @ of[1].T + of[2]
    else:
        values[node.output[0]] = OPERATORS[node.op_type](*of)
assert [value.name for value in model.graph.output] == ["y"]
assert np.abs(values["y"] - labels).max() <= near * scale, "labels of net.onnx"

data = open("net.safetensors", "rb").read()
(length,) = struct.unpack("<Q", data[:8])
assert length % 8 == 0
header = json.loads(data[8 : 8 + length])
assert header.pop("__metadata__")["format"] == "pt"
names = {"0.weight": "V", "0.bias": "c", "2.weight": "U", "2.bias": "e"}
assert header.keys() == names.keys()
for name, entry in header.items():
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    found = np.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
    assert entry["dtype"] == ("F32" if single else "F64")
    assert np.array_equal(found, truth[names[name]].astype(dtype)), name
assert max(entry["data_offsets"][1] for entry in header.values()) == len(data) - 8 - length
assert np.abs(np.load("y.npy") - labels).max() <= near * scale, "labels of net.safetensors"
