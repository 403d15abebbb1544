"""The file of a case of ONNX is made in toolchains too. They have onnx, and no onnxruntime."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

MAKE = """
import sys

sys.modules["onnxruntime"] = None

from fuzzer.lanes.onnx.imported_file import onnx_file
from fuzzer.lanes import MODEL_LANES, MODEL_SAMPLED_LANES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from generators.choice import NumpySource
from generators.onnx.random_graph import generate

case = generate(NumpySource(1, 0), opset=17, symbolic=False)
lanes = {lane.name: lane for lane in (*MODEL_LANES, *MODEL_SAMPLED_LANES)}
plain, converted = lanes["relax-onnx-model-llvm"], lanes["relax-onnx-model-llvm-opset13"]
print(len(onnx_file(PreparedCase(case, Quiet()), plain.importer).graph.node) > 0)
print(runner_of(plain).supports(case, plain))
print(runner_of(converted).supports(case, converted))
"""


def test_the_file_needs_no_onnxruntime_unless_it_is_converted() -> None:
    done = subprocess.run([sys.executable, "-c", MAKE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "True",
        "None",
        "there is no onnxruntime, which confirms the converted file",
    ]
