"""What `fuzz minimize` saves, with a lab that lies: as much as a campaign saves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.campaign import minimize
from fuzzer.campaign.store import Store
from fuzzer.findings import finding_file, record
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_RELEASES, Releases, ReleaseVerdict
from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.triage.investigate import Confirmed
from generators.graph import Case
from generators.onnx import model as onnx_model
from generators.onnx.model import OnnxModel
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Outcome, Ran, Stage

LANE = next(lane for lane in TVM_LANES if lane.importer is Importer.ONNX)
FILE = OnnxModel(9, {"": 20}, (), (), (), {})
REPORTS = (SanitizerReport(Tool.MEMCHECK, 1, "Invalid write"),)
BEFORE = Releases(
    (("0.25.0", ReleaseVerdict.PASSES), ("0.26.0", ReleaseVerdict.FAILS), ("0.27.0", ReleaseVerdict.FAILS))
)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two other releases: the finding was run in the older one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, version in (("old", "0.25.0"), ("between", "0.26.9")):
        with registry.new_folder(name):
            registry.save(Toolchain(name, "/opt/python"), {"tvm": version})


def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    """Relu is wrong in what is imported of ONNX; in the old release it was right."""
    if not (lane.importer.is_onnx and lane.toolchain == "host" and "relu" in case.graph.ops):
        return None
    outputs = tuple(np.array([5.0, 5.0], np.float32) for _ in case.graph.outputs)
    return Ran(outputs, outputs)


def saved(campaign: Path, releases: Releases) -> Path:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")
    finding = Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, Mismatch(0, "0.0", "1.0"))
    signature = signature_of(finding)
    found = Confirmed(signature, finding, case, (LANE.name,), 3, 3, case.graph.ops, None, releases=releases)
    with Store(campaign, 1) as store:
        doc = store.save(found, {"tvm": "0.27.0"})
    assert doc is not None
    return campaign / "crashes" / doc.slug


def minimized(folder: Path, out: Path) -> tuple[FakeLab, Path]:
    lab = FakeLab(wrong_outcome, onnx_model.encode(FILE), REPORTS)
    with Store(out, 1) as store:
        (done,) = minimize.run(lab, store, minimize.read(folder), workers=1)
    assert done.folder is not None
    return lab, done.folder


def test_a_minimized_finding_keeps_its_onnx_file_its_releases_and_its_sanitizer_reports(tmp_path: Path) -> None:
    lab, folder = minimized(saved(tmp_path / "campaign", BEFORE), tmp_path / "out")
    doc = finding_file.read(folder)
    assert doc.ops == ["relu"]
    assert record.read(folder).onnx == FILE
    assert doc.releases == Releases((("0.25.0", ReleaseVerdict.PASSES), ("0.27.0", ReleaseVerdict.FAILS)))
    assert doc.reports == REPORTS
    assert lab.examined == [(("relu",), doc.lane)]


def test_a_finding_that_was_run_in_one_release_is_run_in_no_other(tmp_path: Path) -> None:
    lab, folder = minimized(saved(tmp_path / "campaign", NO_RELEASES), tmp_path / "out")
    assert finding_file.read(folder).releases == NO_RELEASES
    assert {lane.toolchain for _, lanes in lab.ran for lane in lanes} == {"host"}
