"""Scripts of findings in Relay."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from records import record

from fuzzer.lanes import RELAY_LANES
from fuzzer.report.repro import script
from fuzzer.toolchains import registry
from generators import case_file
from generators.graph import Case
from oracles.finding import Evidence, Excess, Kind, Mismatch, Quantity
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Stage

ROOT = Path(__file__).parents[3]
NAMED = {lane.name: lane for lane in RELAY_LANES}
LINEAR, PAD = (case_file.read(ROOT / "corpus" / name) for name in ("linear-4d", "reflect-pad-negative-squeeze"))
REFUSED = Raised(Stage.IMPORT, "tvm._ffi.base.TVMError", "no")
LARGE = Excess(Quantity.LIBRARY, 980_888.0, 361_472.0, "the parameters")


def written(case: Case, lane: LaneSpec, kind: Kind, evidence: Evidence) -> str:
    return script(record(case, kind, lane, evidence, stage=Stage.COMPILE))


def refused(lane: LaneSpec) -> str:
    return written(PAD, lane, Kind.INTERNAL_ERROR, REFUSED)


@pytest.mark.slow
@pytest.mark.parametrize("lane", RELAY_LANES, ids=str)
def test_a_script_is_python_that_asks_for_relay_and_for_nothing_of_relax(lane: LaneSpec) -> None:
    text = refused(lane)
    ast.parse(text)
    assert "`fuzz toolchain python relay repro.py` runs this in it" in " ".join(text.split())
    assert "from tvm import relay\n" in text
    assert "relax" not in text


@pytest.mark.slow
def test_it_does_what_the_lane_does() -> None:
    assert "relay.frontend.from_pytorch(traced, types)" in refused(NAMED["relay-torch-O0"])
    assert "PassContext(opt_level=0):" in refused(NAMED["relay-torch-O0"])
    assert "dynamo=False, opset_version=17" in refused(NAMED["relay-onnx-O4"])
    assert "freeze_params=True" in refused(NAMED["relay-onnx-O4"])
    assert "relay.vm.compile(" in refused(NAMED["relay-torch-vm"])
    assert "lib.export_library(path)" in refused(NAMED["relay-onnx-library"])
    static = refused(NAMED["relay-onnx-dynamic-to-static"])
    assert "freeze_params=False" in static
    assert static.index('bind_params_by_name(mod["main"]') < static.index(
        "mod = relay.transform.DynamicToStatic()(mod)"
    )
    more = replace(NAMED["relay-torch-O0"], disabled=("FuseOps",), asserts=False)
    assert 'disabled_pass=["FuseOps"], config={"tir.disable_assert": True}' in refused(more)


@pytest.mark.slow
def test_a_lane_beside_its_sibling() -> None:
    wrong = Mismatch(0, "a", "b", against="relay-torch-O2", by="library")
    text = written(LINEAR, NAMED["relay-torch-library"], Kind.WRONG_VALUE, wrong)
    assert "def run_tvm():\n    traced" in text
    assert "def run_plain():\n    traced" in text


@pytest.mark.tvm
@pytest.mark.toolchains
@pytest.mark.skipif("relay" not in registry.names(), reason="fuzz toolchain add relay")
@pytest.mark.parametrize(
    ("case", "lane", "kind", "evidence", "code"),
    [
        (PAD, "relay-onnx-O2", Kind.INTERNAL_ERROR, REFUSED, 1),
        (PAD, "relay-onnx-dynamic-to-static", Kind.INTERNAL_ERROR, REFUSED, 1),
        (PAD, "relay-torch-vm", Kind.INTERNAL_ERROR, REFUSED, 0),
        (LINEAR, "relay-torch-library", Kind.BLOAT, LARGE, 1),
        (LINEAR, "relay-onnx-library", Kind.BLOAT, LARGE, 0),
    ],
)
def test_a_script_tells_whether_the_bug_is_there(
    tmp_path: Path, case: Case, lane: str, kind: Kind, evidence: Evidence, code: int
) -> None:
    path = tmp_path / "repro.py"
    path.write_text(written(case, NAMED[lane], kind, evidence))
    command = [sys.executable, "-m", "fuzzer.cli", "toolchain", "python", "relay", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == code, done.stdout + done.stderr
