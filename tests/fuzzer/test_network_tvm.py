"""Nothing uses the network unless it is asked to, and nothing is left in the user's home folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import onnx
import pytest
import socket_watch
from onnx import TensorProto, helper

from fuzzer.system import no_network
from fuzzer.system.telemetry import OFF

pytestmark = [pytest.mark.tvm, pytest.mark.long]

FUZZ = (sys.executable, "-m", "fuzzer.cli")
PROGRAMS = ("fuzzer.children.", "fuzzer.seeds.")
LAUNCHED = no_network.__file__
"""The interpreter of a script executes this file first."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def watched(home: Path, *command: str) -> set[str]:
    """Run a command of a user who has set no variable that switches something off; return the modules that were
    filtered."""
    if os.uname().machine not in no_network._MACHINES:
        pytest.skip("there is no filter for this machine")
    environment = {name: text for name, text in os.environ.items() if name not in OFF and not name.startswith("XDG_")}
    done = socket_watch.run(command, {**environment, "HOME": str(home)})
    assert done.code == 0, done.errors
    assert not done.sockets
    assert not list(home.iterdir())
    return {word for words in done.filtered for word in words if word.startswith(PROGRAMS) or word == LAUNCHED}


def test_a_campaign_uses_no_network(home: Path, tmp_path: Path) -> None:
    """Its time is so long that the telemetry of onnxruntime would begin to send."""
    options = ("--seed", "1", "--tests", "1", "--workers", "1", "--drain", "0", "--campaign", str(tmp_path / "c"))
    assert watched(home, *FUZZ, "run", *options) == {"fuzzer.children.zygote"}


OTHER_PROCESSES = """
import sys
from pathlib import Path

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.toolchains.toolchain import HOST

path = Path(sys.argv[1])
assert onnx_file.refusal_of(path) == ""
text = f"import onnxruntime; onnxruntime.InferenceSession({str(path)!r})"
assert script.run(text, HOST, Bounds(), path.parent / "script").exit_code == 0
"""


def test_other_processes_use_no_network(home: Path, tmp_path: Path) -> None:
    """onnx and onnxruntime read a file and run the cases that are cut from it; so does a script of a finding."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    path = str(tmp_path / "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    found = watched(home, *FUZZ, "import", path, "--into", str(tmp_path / "c"))
    assert found == {"fuzzer.seeds.onnx.reader.reader", "fuzzer.children.validity"}
    found = watched(home, sys.executable, "-c", OTHER_PROCESSES, path)
    assert found == {"fuzzer.seeds.onnx.reader.refusal", LAUNCHED}
