"""onnxruntime sends nothing, starts no thread and leaves no file, wherever difftvm imports it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.isolate.executor import Executor
from fuzzer.system import processes
from fuzzer.system.telemetry import OFF

SESSION = """
import os
import numpy as np
from onnx import TensorProto, helper
before = len(os.listdir("/proc/self/task"))
from fuzzer.lanes.onnx import session

values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session.run(session.load(model), {"x": np.ones(1, np.float32)})
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.slow
def test_a_session_starts_no_thread_and_leaves_no_file(tmp_path: Path) -> None:
    environment = {name: text for name, text in os.environ.items() if name not in OFF and not name.startswith("XDG_")}
    environment |= {**processes.ONE_THREAD, "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, env=environment)
    assert done.stdout == "0\n", done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.tvm
@pytest.mark.smoke
def test_a_zygote_has_one_thread(executor: Executor) -> None:
    assert processes.used(executor._zygote.pid).threads == 1
