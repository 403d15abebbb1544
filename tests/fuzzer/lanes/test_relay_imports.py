"""What the code of Relay's lanes imports, checked where no TVM with Relay is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuzzer.toolchains import install, relay

LACKING = sorted({*install.AS_HOST, "onnxruntime"} - {*relay.AS_HOST, "numpy", "onnx", "psutil", "ml_dtypes"})
"""The packages of Python that children have beside other TVMs, and not beside the one with Relay."""

PROGRAM = f"""
import sys
from unittest.mock import MagicMock

import tvm

tvm.relay = MagicMock()
for name in ("relay", "relay.build_module", "contrib.graph_executor", "runtime.vm"):
    sys.modules["tvm." + name] = MagicMock()
for name in {LACKING}:
    sys.modules[name] = None
import fuzzer.lanes.relay.lane
"""


@pytest.mark.tvm
def test_the_lanes_import_nothing_that_their_toolchain_lacks() -> None:
    assert LACKING == ["onnxruntime", "onnxscript"]
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
