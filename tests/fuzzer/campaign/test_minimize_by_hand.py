"""What `fuzz minimize` saves, with a lab that lies: as much as a campaign saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import Call, case_of
from labs import FakeLab
from sightings_by_hand import FRAMES

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file, record
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.lanes import MODEL_LANES, MODEL_SAMPLED_LANES, TVM_LANES
from fuzzer.minimize import minimize
from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_RELEASES, Releases, ReleaseVerdict
from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.triage.investigate import Investigated
from generators.graph import Case
from generators.onnx import model as onnx_model
from generators.onnx.model import OnnxModel
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import WITNESS, Importer, LaneSpec
from oracles.outcome import Broken, Built, Outcome, Raised, Ran, Result, Skipped, Stage, Unsupported

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
    if not (lane.importer.row.reads.is_exported_file and lane.toolchain == "host" and "relu" in case.graph.ops):
        return None
    outputs = tuple(np.array([5.0, 5.0], np.float32) for _ in case.graph.outputs)
    return Ran(outputs, outputs)


def saved(campaign: Path, releases: Releases) -> Path:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")
    finding = Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, Mismatch(0, "0.0", "1.0"))
    signature = signature_of(finding)
    found = Investigated(signature, finding, case, (LANE.name,), 3, 3, case.graph.ops, None, releases=releases)
    with Store(campaign, 1) as store:
        doc = store.save(found, {"tvm": "0.27.0"})
    assert doc is not None
    return campaign / "crashes" / doc.slug


def minimized(folder: Path, out: Path) -> tuple[FakeLab, Path]:
    lab = FakeLab(wrong_outcome, onnx_model.encode(FILE), REPORTS)
    with Store(out, 1) as store:
        (done,) = minimize.run(lab, store, minimize.read(folder), workers=1).minimized
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


def test_a_failure_that_is_known_has_the_operators_and_nodes_of_the_second_model(tmp_path: Path) -> None:
    """Both compile to the same message. Neither is reduced to neg, which a model of difftvm's own would be."""

    def fails(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        wrong = {"relu", "clamp", "neg"} & {*case.graph.ops}
        return Raised(Stage.COMPILE, "RuntimeError", "inff is not declared", FRAMES) if wrong else None

    relu = case_of({"x0": "float32[2]"}, [("v0", "exp", "x0"), ("v1", "relu", "v0")], "v1")
    calls: list[Call] = [("v0", "exp", "x0"), ("v1", "tanh", "v0"), ("v2", "clamp", "v1", {"min": 0.0, "max": 1.0})]
    clamp = case_of({"x0": "float32[2]"}, calls, "v2")
    requests = [
        minimize.MinimizeRequest(case, None, TVM_LANES[:1], reduce=reduce, own_operators=True)
        for case, reduce in ((relu, True), (clamp, True), (clamp, False))
    ]
    with Store(tmp_path, 1) as store:
        done = [each for one in requests for each in minimize.run(FakeLab(fails), store, one, 1).minimized]
    first = done[0].folder
    assert first is not None
    assert [(each.ops, each.nodes, each.known_as, each.folder) for each in done] == [
        (("relu",), (1,), "", first),
        (("clamp",), (2,), first.name, first),
        (("exp", "tanh", "clamp"), (0, 1, 2), first.name, first),
    ]
    assert [each.title for each in done[:2]] == [
        "compiling `torch.relu` fails: inff is not declared",
        "compiling `torch.clamp` fails: inff is not declared",
    ]


class OtherReference(FakeLab):
    """One of the references of ONNX has another outcome; TVM's are right."""

    def __init__(self, variant: str, outcome: Outcome) -> None:
        super().__init__(lambda case, lane, lanes: None)
        self._variant, self._outcome = variant, outcome

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = super().run(case, lanes)
        others = {lane: self._outcome for lane in lanes if lane.variant == self._variant}
        return replace(result, outcomes={**result.outcomes, **others})


@pytest.mark.parametrize(
    ("variant", "outcome", "says", "ending"),
    [
        (
            "eager",
            Raised(Stage.LOAD, "Fail", "no kernel\nfor it"),
            "no lane is judged: onnx does not run the case: load: Fail: no kernel\n",
            "1 lane with a result that cannot be judged: relax-onnx-model-llvm",
        ),
        (
            WITNESS,
            Raised(Stage.RUN, "KeyError", "x"),
            "no values are judged: onnxruntime and the reference evaluator of the onnx package do not agree on them\n",
            "1 lane with a result that cannot be judged: relax-onnx-model-llvm",
        ),
        (
            "eager",
            Unsupported(Stage.LOAD, "opset 28"),
            "the reference evaluator of the onnx package judges alone: onnxruntime: load: opset 28\n",
            "1 lane with the right result: relax-onnx-model-llvm\n2 of 2 elements are judged",
        ),
    ],
)
def test_where_references_do_not_agree_or_lack_a_line_gives_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], variant: str, outcome: Outcome, says: str, ending: str
) -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "Relu-14", "x0")], "v0", opset=17)
    request = minimize.MinimizeRequest(case, None, MODEL_LANES[:1])
    with Store(tmp_path, 1) as store:
        done = minimize.run(OtherReference(variant, outcome), store, request, 1)
    assert done == minimize.Investigation((), tuple(ending.splitlines()))
    assert capsys.readouterr().err == says


def test_where_no_lane_fails_the_endings_of_all_lanes_are_returned(tmp_path: Path) -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "Relu-14", "x0")], "v0", opset=17)
    outcomes: dict[str, Outcome] = {
        "relax-onnx-model-c": Unsupported(Stage.IMPORT, "only constant axes"),
        "relax-onnx-model-zero": Unsupported(Stage.IMPORT, "only constant axes"),
        "relax-onnx-model-cuda": Built(),
        "relax-onnx-model-c-clang": Skipped("none of clang is on PATH"),
        "relax-onnx-model-O0": Broken(Stage.RUN, "KeyError: 'x'\nTraceback"),
    }
    lanes = [lane for lane in (*MODEL_LANES, *MODEL_SAMPLED_LANES) if lane.name in outcomes]
    lab = FakeLab(lambda case, lane, lanes: outcomes.get(lane.name))
    request = minimize.MinimizeRequest(case, None, (MODEL_LANES[0], *lanes))
    with Store(tmp_path, 1) as store:
        done = minimize.run(lab, store, request, 1)
    assert done.minimized == ()
    assert sorted(done.endings) == [
        "1 lane not run: relax-onnx-model-c-clang (none of clang is on PATH)",
        "1 lane with code that this machine cannot run: relax-onnx-model-cuda",
        "1 lane with the right result: relax-onnx-model-llvm",
        "1 lane without a result, which cannot be judged: relax-onnx-model-O0 "
        "(difftvm's own code failed in run: KeyError: 'x')",
        "2 lanes without support for the model: relax-onnx-model-c, relax-onnx-model-zero (import: only constant axes)",
        "2 of 2 elements are judged",
    ]


@pytest.mark.parametrize("fails", [False, True])
def test_the_rest_of_a_case_is_reduced_where_a_lane_refuses_an_operator(tmp_path: Path, fails: bool) -> None:
    """The numbers of nodes are those of the whole case; what is saved has none of the refused operators."""

    def outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        if "Abs" in case.graph.ops:
            return Unsupported(Stage.IMPORT, "no Abs")
        return Raised(Stage.COMPILE, "RuntimeError", "inff", FRAMES) if fails and "Relu" in case.graph.ops else None

    calls = [("v0", "Neg-13", "x0"), ("v1", "Abs-13", "v0"), ("v2", "Exp-13", "v1"), ("v3", "Relu-14", "v2")]
    case = case_of({"x0": "float32[2]"}, calls, "v3", opset=17)
    request = minimize.MinimizeRequest(case, None, MODEL_LANES[:1], own_operators=True)
    with Store(tmp_path, 1) as store:
        found = minimize.run(FakeLab(outcome), store, request, 1)
    if fails:
        (done,) = found.minimized
        assert (done.ops, done.nodes, found.endings) == (("Relu",), (3,), ())
        assert done.folder is not None
        assert finding_file.read(done.folder).ops == ["Relu"]
    else:
        assert found == minimize.Investigation(
            (),
            (
                "1 lane without support for the model: relax-onnx-model-llvm (import: no Abs)",
                "without `Abs`:",
                "  1 lane with the right result: relax-onnx-model-llvm",
                "  4 of 4 elements are judged",
            ),
        )


def test_a_failure_that_several_samples_show_is_listed_once(tmp_path: Path) -> None:

    def fails(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return Raised(Stage.COMPILE, "RuntimeError", "inff is not declared", FRAMES)

    case = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
    requests = [
        minimize.MinimizeRequest(replace(case, origin=name), None, TVM_LANES[:1], reduce=False) for name in "ab"
    ]
    with Store(tmp_path, 1) as store:
        wrong = minimize.joined([minimize.run(FakeLab(fails), store, each, 1) for each in requests])
        right = minimize.joined([minimize.run(FakeLab(lambda *_: None), store, each, 1) for each in requests])
    assert [each.ops for each in wrong.minimized] == [("relu",)]
    assert right == minimize.Investigation(
        (), (f"1 lane with the right result: {TVM_LANES[0].name}", "2 of 2 elements are judged")
    )


@pytest.mark.slow
def test_a_large_case_is_cut_before_it_runs(tmp_path: Path) -> None:
    """Both failures are found, and no lane of TVM runs the whole case."""
    ops = {70: "Relu-14", 140: "Abs-13"}
    calls = [(f"v{n}", ops.get(n, "Neg-13"), f"v{n - 1}" if n else "x0") for n in range(200)]
    case = case_of({"x0": "float32[2]"}, calls, "v199", opset=17)

    def wrong(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        outputs = tuple(np.array([5.0, 5.0], np.float32) for _ in case.graph.outputs)
        return Ran(outputs, outputs) if {"Relu", "Abs"} & {*case.graph.ops} else None

    lab = FakeLab(wrong)
    with Store(tmp_path, 1) as store:
        done = minimize.run(lab, store, minimize.MinimizeRequest(case, None, MODEL_LANES[:1]), 1).minimized
    assert [(each.ops, each.before.operators, each.after.operators) for each in done] == [
        (("Relu",), 200, 1),
        (("Abs",), 200, 1),
    ]
    assert [each.nodes for each in done] == [(70,), (140,)]
    assert len({each.folder for each in done}) == 2
    assert max(len(ops) for ops, lanes in lab.ran if lanes) == 64


def test_a_finding_that_was_run_in_one_release_is_run_in_no_other(tmp_path: Path) -> None:
    lab, folder = minimized(saved(tmp_path / "campaign", NO_RELEASES), tmp_path / "out")
    assert finding_file.read(folder).releases == NO_RELEASES
    assert {lane.toolchain for _, lanes in lab.ran for lane in lanes} == {"host"}
