"""The two tiers with a real TVM: nothing that an importer does wrong is lost, and nothing right is called wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings
from fuzzer.campaign.test.tier_lanes import takes_everything
from fuzzer.campaign.test.tier_one import ImportVerdict, on_plain_lanes, references, verdicts
from fuzzer.campaign.test.tiers import TieredResult, run_test
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVALUATED_LANES, OFTEN, SAMPLED_LANES, SCREENING, TORCH_LANES, plain_of
from fuzzer.signature import signature_of
from fuzzer.signature.blame import Place
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.triage.reproduce import judged_by, judged_run, settled
from generators import case_file
from generators.graph import Case
from oracles.finding import Component, Kind
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Outcome, Ran, Result, Stage
from oracles.siblings import essential

pytestmark = pytest.mark.tvm

ROOT = Path(__file__).parents[3]
MIX = LaneMix(SCREENING, SAMPLED_LANES, OFTEN, DRAWN, steered=True)
SETTINGS = Settings(Path(), 1, MIX, guided=True)
INDEX = next(index for index in range(100) if not takes_everything(1, index))
EXPORT = EVALUATED_LANES[0]
IMPORTING = {essential(plain_of(lane)): lane for lane in EVALUATED_LANES}
"""The lane of tier 1 of each plain lane, which an earlier version may have saved without its checks."""


def shipped() -> list[Path]:
    """Findings of TVM on a plain lane of an importer."""
    docs = ((path.parent, finding_file.read(path.parent)) for path in sorted((ROOT / "crashes").glob("*/finding.json")))
    return [folder for folder, doc in docs if doc.component is Component.TVM and essential(doc.lane) in IMPORTING]


def tier_1_of(executor: Executor, case: Case, lane: LaneSpec) -> dict[LaneSpec, Outcome]:
    result = executor.run(case, tuple(dict.fromkeys((*TORCH_LANES, *references((lane,)), lane))))
    return result.outcomes


def identifiers(case: Case, result: Result, lane: LaneSpec) -> list[str]:
    """The signatures of what the plain lane of a lane of tier 1 shows."""
    found = judge_all(case, result.outcomes)
    return [signature_of(finding).id for finding in found if finding.lane == plain_of(lane)]


def at_the_import(doc: FindingDoc) -> bool:
    return doc.kind is Kind.ILL_FORMED or doc.identity.stage is Stage.IMPORT


@pytest.mark.parametrize("folder", shipped(), ids=lambda folder: folder.name)
def test_a_shipped_finding_shows_in_tier_1_or_its_lane_may_run_in_tier_2(executor: Executor, folder: Path) -> None:
    doc, case = finding_file.read_with_case(folder)
    lane = IMPORTING[essential(doc.lane)]
    outcomes = tier_1_of(executor, case, lane)
    verdict = verdicts(outcomes)[lane]
    if at_the_import(doc):
        assert verdict is ImportVerdict.FAILED
        tier_1 = settled(executor.run, case, on_plain_lanes(executor.run(case, tuple(outcomes))))
        compiled = judged_run(executor.run, case, judged_by(plain_of(lane)))
        assert identifiers(case, tier_1, lane) == identifiers(case, compiled, lane)
    elif doc.kind.is_numeric and doc.blame.place is Place.FRONTEND:
        assert verdict in (ImportVerdict.WRONG, ImportVerdict.UNDECIDED)
    else:
        assert verdict is not ImportVerdict.FAILED


@pytest.mark.parametrize("folder", sorted((ROOT / "corpus").glob("*/case.json")), ids=lambda path: path.parent.name)
def test_founding_cases_are_right_on_every_importer_that_supports_them(executor: Executor, folder: Path) -> None:
    """Their bugs are in Relay, which has no tier 1. The importer of torch.fx is left out: it ignores padding="same",
    which is a bug of its own."""
    case = case_file.read(folder.parent)
    for lane in (each for each in EVALUATED_LANES if each.importer is not Importer.FX):
        outcomes = tier_1_of(executor, case, lane)
        assert verdicts(outcomes)[lane] is not ImportVerdict.WRONG
        result = on_plain_lanes(executor.run(case, tuple(outcomes)))
        assert [f for f in judge_all(case, result.outcomes) if f.component is Component.TVM] == []


WRONG_CONVERTERS = """
from tvm import relax
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

original = ExportedProgramImporter.create_convert_map


def planted(self):
    table = dict(original(self))
    table["tanh.default"] = self._unary_op(relax.op.sin)
    table["exp.default"] = lambda node: self.block_builder.emit(
        relax.op.astype(relax.op.exp(self.env[node.args[0]]), "float64")
    )
    return table


ExportedProgramImporter.create_convert_map = planted
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    """A TVM whose importer reads tanh as sin, and the result of exp as float64."""
    folder = tmp_path_factory.mktemp("planted")
    path = folder / "wrong_converters.py"
    path.write_text(WRONG_CONVERTERS)
    with Executor(folder / "scratch", Toolchain("host", sys.executable, preload=read(path))) as started:
        yield started


def done_on(executor: Executor, op: str) -> tuple[TieredResult, list[tuple[Kind, str]]]:
    case = case_of({"x0": "float32[2,3]"}, [("v0", op, "x0")], "v0")
    done = run_test(executor.run, SETTINGS, 1, INDEX, case, LaneChooser())
    return done, [(finding.kind, finding.lane.name) for finding in judge_all(case, done.result.outcomes)]


@pytest.mark.parametrize(("op", "kind"), [("tanh", Kind.WRONG_VALUE), ("exp", Kind.WRONG_DTYPE)])
@pytest.mark.long
def test_a_wrong_converter_is_found_and_compiled_code_shows_it(wrong: Executor, op: str, kind: Kind) -> None:
    done, found = done_on(wrong, op)
    assert (kind, "relax-export-llvm") in found
    assert done.evaluation_disagrees == ()
    assert isinstance(done.result.outcomes[SCREENING[0]], Ran)


@pytest.mark.parametrize(
    ("numbers", "verdict"), [([3.0, 1.0, 2.0], ImportVerdict.RIGHT), ([1.0, 1.0, 0.0], ImportVerdict.UNDECIDED)]
)
def test_the_place_of_equal_elements_is_undecided(
    executor: Executor, numbers: list[float], verdict: ImportVerdict
) -> None:
    case = case_of({"x0": "float32[3]"}, [("v0", "argmax", "x0", {"dim": 0, "keepdim": False})], "v0")
    case = replace(case, tensors={"x0": np.array(numbers, np.float32)})
    assert verdicts(tier_1_of(executor, case, EXPORT)) == {EXPORT: verdict}


def test_a_right_converter_is_not_compiled_for_its_values(wrong: Executor) -> None:
    done, found = done_on(wrong, "sigmoid")
    assert found == []
    assert EXPORT in done.result.outcomes
