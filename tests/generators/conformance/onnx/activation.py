"""Activations."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("PRelu-9", "float32[2,1] float32[3]", {}, "does not broadcast to float32[2,1]"),
    ("PRelu-9", "float32[2] float16[2]", {}, "slope must be float32"),
    ("BiasGelu-1", "float32[2,3] float32[2]", {}, "has not the last size"),
    ("BiasGelu-1", "float32[] float32[]", {}, "has not the last size"),
    ("Shrink-9", "int8[3]", {"bias": 0.5}, "the bias of integers is an integer"),
    ("Softmax-1", "float32[2,3]", {"axis": -1}, "axis -1 is out of range"),  # before opset 11 none counts from the end
    ("Softmax-11", "float32[2]", {}, "axis 1 is out of range for rank 1"),  # 1 is the default before opset 13
    ("Softmax-13", "float32[]", {}, "axis -1 is out of range for rank 0"),
    ("Softsign-1", "float32[]", {}, "no Softsign of rank 0"),
    ("HardSwish-14", "float64[2]", {}, "onnxruntime has no HardSwish of float64"),
    ("Gelu-20", "float32[2]", {"approximate": "erf"}, "approximate must be one of none, tanh or null"),
    ("Dropout-10", "float32[2]", {"outputs": (True, True)}, "a result does not exist"),
    ("Dropout-12", "float32[2]", {"training_mode": True, "outputs": (True, False)}, "the result of training is random"),
    ("Dropout-22", "float32[2]", {"ratio": 1.0, "outputs": (True, False)}, "ratio 1.0 is not within 0 and 1"),
]

RESULTS: Table = [
    ("Relu-14", "int32[2]", {}, "int32[2]"),
    ("Gelu-20", "float16[2,3]", {"approximate": "tanh"}, "float16[2,3]"),
    ("FastGelu-1", "float32[2,3]", {"inputs": (True, False)}, "float32[2,3]"),
    ("FastGelu-1", "float32[2,3] float32[3]", {"inputs": (True, True)}, "float32[2,3]"),
    ("BiasGelu-1", "float32[3] float32[3]", {}, "float32[3]"),
    ("PRelu-7", "float32[2,3,4] float32[3,1]", {}, "float32[2,3,4]"),
    ("Shrink-9", "uint8[3]", {"bias": 2.0, "lambd": 0.5}, "uint8[3]"),
    ("Softmax-11", "float32[2,3]", {"axis": -2}, "float32[2,3]"),
    ("Hardmax-13", "float32[2]", {}, "float32[2]"),
    ("Dropout-7", "float32[2]", {"outputs": (True, False)}, "float32[2]"),
    ("Dropout-12", "float16[2]", {"outputs": (True, True)}, "float16[2] bool[2]"),
    ("Dropout-13", "float32[6]", {"ratio": 0.0, "training_mode": True, "outputs": (False, True)}, "bool[6]"),
]
