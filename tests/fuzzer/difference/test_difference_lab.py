"""What fails in the patched toolchain alone stays a failure; what fails in both is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import fakes
import pytest
from fakes import CASE, EXACT, ONNXRUNTIME, TORCH, TVM, TVM_C, correct, references

from fuzzer.difference.lab import ALL_TWINS_OF, IN_BOTH, DifferenceLab
from fuzzer.difference.pair import Pair
from fuzzer.toolchains.toolchain import HOST
from generators import case_file
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import EVALUATED, LaneSpec
from oracles.outcome import (
    BaseCosts,
    Broken,
    Facts,
    Frame,
    Outcome,
    Raised,
    Ran,
    Result,
    Skipped,
    Stage,
    Unsupported,
    facts_of,
)

RIGHT = EXACT[:1]
PAIR = Pair(replace(HOST, name="base"), HOST)
TIER_1 = replace(TVM, name="relax-export-evaluated", variant=EVALUATED)
WRONG = fakes.Ran((correct(RIGHT).outputs[0] + 1,))
FRAMES = (Frame("python/tvm/relax/frontend/torch/base_fx_graph_translator.py", 7, "_relu"),)
RAISED = Raised(Stage.IMPORT, "ValueError", "no rule", FRAMES)
UNSUPPORTED = Unsupported(Stage.IMPORT, "no converter for relu")


@dataclass
class FakeLab:
    """Lanes without TVM are right. `outcomes` are those of lanes with TVM, by toolchain and name."""

    outcomes: dict[tuple[str, str], Outcome]
    ran: list[tuple[str, str]] = field(default_factory=list)
    lanes: list[LaneSpec] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    cpu_seconds: float = 0.0

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.ran += [(lane.toolchain, lane.name) for lane in lanes]
        self.lanes += lanes
        right = references(*RIGHT)
        found = {lane: right.get(lane) or self.outcomes.get((lane.toolchain, lane.name)) for lane in lanes}
        return Result({lane: outcome or correct(RIGHT) for lane, outcome in found.items()}, cpu_seconds=1.0)

    run_fresh = run


Make = Callable[..., tuple[DifferenceLab, FakeLab, list[Finding]]]


@pytest.fixture
def made() -> Make:
    def make(**outcomes: Outcome) -> tuple[DifferenceLab, FakeLab, list[Finding]]:
        """By `host_c=` or `base_llvm=`: the outcome of a lane."""
        names = {"llvm": TVM.name, "c": TVM_C.name, "imports": TIER_1.name}
        keys = {key: key.partition("_") for key in outcomes}
        fake = FakeLab({(keys[key][0], names[keys[key][2]]): outcome for key, outcome in outcomes.items()})
        fixed: list[Finding] = []
        lab = DifferenceLab(fake, PAIR, lambda _, finding: fixed.append(finding), named=NAMED)  # type: ignore[arg-type]
        return lab, fake, fixed

    return make


ALL = (*references(*RIGHT), TVM, TVM_C)
NAMED = (TVM, TVM_C)
"""A run of both is a test. Any other run is one of an investigation."""


def test_a_lane_that_is_right_does_not_run_in_the_base(made: Make) -> None:
    lab, fake, fixed = made()
    result = lab.run(not_all_twins(), ALL)
    assert all(isinstance(outcome, Ran) for outcome in result.outcomes.values())
    assert fake.ran == [("host", lane.name) for lane in ALL]
    assert (result.cpu_seconds, lab.comparisons.lanes, fixed) == (1.0, 0, [])


@pytest.mark.parametrize("failure", [WRONG, RAISED])
def test_only_what_the_base_does_right_is_a_failure(made: Make, failure: Outcome) -> None:
    lab, fake, _ = made(host_llvm=failure, host_c=failure, base_c=failure)
    result = lab.run(CASE, ALL)
    assert result.outcomes[TVM] is failure
    assert result.outcomes[TVM_C] is IN_BOTH
    assert list(result.outcomes) == list(ALL)
    assert fake.ran[len(ALL) :] == [("base", TVM.name), ("base", TVM_C.name)]
    assert (result.cpu_seconds, lab.comparisons.lanes) == (2.0, 2)
    assert list(lab.comparisons.both.values()) == [1]


@pytest.mark.parametrize("base", [Skipped("no memory", environment=True), Broken(Stage.IMPORT, "KeyError")])
def test_a_base_that_says_nothing_accuses_nobody(made: Make, base: Outcome) -> None:
    lab, _, _ = made(host_llvm=WRONG, base_llvm=base)
    assert lab.run(CASE, ALL).outcomes[TVM] is IN_BOTH


def test_what_is_supported_no_longer_is_a_failure(made: Make) -> None:
    lab, _, _ = made(host_llvm=UNSUPPORTED, host_c=UNSUPPORTED, base_c=UNSUPPORTED)
    outcomes = lab.run(CASE, ALL).outcomes
    assert outcomes[TVM] == Raised(Stage.IMPORT, "Unsupported", "no converter for relu")
    assert outcomes[TVM_C] is IN_BOTH


def test_a_lane_that_is_investigated_runs_in_the_base(made: Make) -> None:
    """It may cost more than there."""
    costs = BaseCosts(compile_seconds=0.5, constant_bytes=1, built_bytes=2, peak_bytes=3)
    facts = Facts(compile_seconds=0.5, constant_bytes=1, built_bytes=2, peak_bytes=3, kernels=4)
    lab, fake, _ = made(base_llvm=replace(correct(RIGHT), facts=facts))
    (outcome,) = lab.run(not_all_twins(), [TVM]).outcomes.values()
    assert fake.ran == [("host", TVM.name), ("base", TVM.name)]
    assert facts_of(outcome) == Facts(base=costs)


def test_a_lane_that_comes_to_no_end_has_no_costs_in_the_base(made: Make) -> None:
    for failing in ({"host_llvm": RAISED, "base_llvm": RAISED}, {"base_llvm": RAISED}):
        lab, _, _ = made(**failing)
        (outcome,) = lab.run(not_all_twins(), [TVM]).outcomes.values()
        assert facts_of(outcome).base is None


def test_a_base_that_fails_later_is_not_right(made: Make) -> None:
    """A failure with a message is confirmed without the references of values, up to the stage of the failure."""
    lab, fake, _ = made(host_llvm=RAISED, base_llvm=WRONG)
    early = replace(TVM, until=Stage.IMPORT)
    assert lab.run(not_all_twins(), [TORCH, early]).outcomes[early] is IN_BOTH
    assert fake.lanes[2:] == [*list(references(*RIGHT))[1:], replace(TVM, toolchain="base")]


def test_references_may_come_from_an_earlier_run(made: Make) -> None:
    lab, _, _ = made(host_llvm=WRONG, base_llvm=WRONG)
    lab.run(CASE, ALL[:-2])
    assert lab.run(CASE, [TVM]).outcomes == {TVM: IN_BOTH}
    (outcome,) = lab.run(replace(CASE), [TVM]).outcomes.values()
    assert outcome_of(outcome) == WRONG, "nothing is known of another case"


def test_a_failure_that_a_later_run_shows_is_compared_then(made: Make) -> None:
    """The references come after the lane."""
    lab, _, _ = made(host_llvm=WRONG, base_llvm=WRONG)
    (outcome,) = lab.run(CASE, [TVM]).outcomes.values()
    assert outcome_of(outcome) == WRONG
    assert lab.run(CASE, ALL[:-2]).outcomes[TVM] is IN_BOTH


def test_each_run_is_compared_anew(made: Make) -> None:
    lab, fake, _ = made(host_llvm=WRONG)
    for _ in range(3):
        assert lab.run_fresh(CASE, ALL).outcomes[TVM] is WRONG
    assert fake.ran.count(("base", TVM.name)) == 3


def test_values_of_tier_1_are_not_judged(made: Make) -> None:
    lab, fake, _ = made(host_imports=WRONG)
    tier_1 = (*references(*RIGHT), TIER_1)
    assert lab.run(not_all_twins(), tier_1).outcomes[TIER_1] is WRONG
    assert ("base", TIER_1.name) not in fake.ran


def test_an_import_that_fails_in_both_is_soon_only_counted(made: Make) -> None:
    lab, fake, _ = made(host_imports=RAISED, base_imports=RAISED)
    case = not_all_twins()
    for _ in range(10):
        outcomes = lab.run(replace(case), (*references(*RIGHT), TIER_1)).outcomes
        assert outcomes[TIER_1] is IN_BOTH
    assert fake.ran.count(("base", TIER_1.name)) == 5, "the 1st to 4th and the 8th"
    assert list(lab.comparisons.both.values()) == [10]


def test_what_fails_in_the_base_alone_is_fixed(made: Make) -> None:
    lab, _, fixed = made(base_llvm=WRONG, base_imports=RAISED)
    case = next(case for case in cases() if has_all_twins(case))
    lab.run(case, (*references(*RIGHT), TIER_1))
    lab.run(case, (TVM, TVM_C))
    assert [(finding.lane, finding.kind) for finding in fixed] == [
        (TIER_1, Kind.INTERNAL_ERROR),
        (TVM, Kind.WRONG_VALUE),
    ]
    assert lab.comparisons.lanes == 3


def test_a_reference_that_fails_is_no_difference(made: Make) -> None:
    lab, fake, _ = made()
    fake.outcomes["host", ONNXRUNTIME.name] = Raised(Stage.LOAD, "Fail", "no kernel")
    outcomes = lab.run(CASE, (*ALL, ONNXRUNTIME)).outcomes
    assert outcomes[ONNXRUNTIME] is IN_BOTH
    assert isinstance(outcomes[TORCH], Ran)


def outcome_of(outcome: Outcome) -> Outcome:
    """The outcome without its facts."""
    assert isinstance(outcome, Ran)
    return replace(outcome, facts=Facts())


def cases() -> list[Case]:
    return [replace(CASE, tensors={"x0": CASE.tensors["x0"] + number}) for number in range(64)]


def has_all_twins(case: Case) -> bool:
    return int(case_file.digest(case)[:8], 16) % ALL_TWINS_OF == 0


def not_all_twins() -> Case:
    return next(case for case in cases() if not has_all_twins(case))
