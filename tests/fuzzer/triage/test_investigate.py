"""One investigation with fake steps and fake lanes: their order, and what is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import fakes
import pytest
from graphs_by_hand import case_of
from labs import FakeLab, WrongOutcome

from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import final_signature, signature_of
from fuzzer.signature.blame import NO_RELEASES, Blame, Place, Releases, ReleaseVerdict
from fuzzer.triage import exported
from fuzzer.triage import investigate as module
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.candidates import Effort
from fuzzer.triage.investigate import Investigated, Sighting, Unfinished, investigate, may_run_in_used_children
from fuzzer.triage.metered import MeteredLab, Step
from fuzzer.triage.naming import NamedFailure
from fuzzer.triage.reduce import UNCONFIRMED_CANDIDATES, OtherFailure, Reduction
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reproduce import observe
from fuzzer.triage.suspect import Certainty, Suspect
from fuzzer.triage.suspects import Located
from generators.graph import Case
from generators.onnx.model import OnnxModel
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Built, Cause, Died, Facts, IllFormed, Outcome, Raised, Result, Stage

CASE = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")
SMALL = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
LANE = fakes.TVM_ONNX
OTHERS = (Release("0.26.0", "old"), Release("0.27.0", "host"))
REPORTS = (SanitizerReport(Tool.MEMCHECK, 1, "Invalid write"),)


def wrong(worst: str) -> Finding:
    return Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, Mismatch(0, "0.0", worst))


def sighting_of(finding: Finding) -> Sighting:
    return Sighting(signature_of(finding), finding, (finding.lane,))


class Steps:
    """Replaces steps of the investigation by ones that record their call and give what the test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.taken: list[tuple[str, str]] = []

    def replace(self, place: object, step: str, result: object) -> None:
        self._monkeypatch.setattr(place, step, self.recorder(step, result))

    def recorder(self, step: str, result: object) -> Callable[..., Any]:
        def take(*arguments: object, **options: object) -> object:
            of = [argument.case if isinstance(argument, Subject) else argument for argument in arguments]
            cases = [each for each in of if isinstance(each, Case)]
            self.taken.append((step, ", ".join(cases[0].graph.ops)))
            return result

        return take


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    made = Steps(monkeypatch)
    made.replace(module, "located", Located({}, ()))
    made.replace(module, "reproduces", True)
    made.replace(
        module,
        "reduce",
        Reduction(
            SMALL, LANE, 5, True, other_failures=(OtherFailure(CASE, OTHER_FINDING), OtherFailure(CASE, EXPORTERS))
        ),
    )
    made.replace(
        module, "name_failure", NamedFailure(final_signature(signature_of(SHOWN), SMALL), SHOWN, (LANE, fakes.TVM))
    )
    made.replace(module, "blame", BLAME)
    made.replace(module, "in_releases", RELEASES)
    made.replace(exported, "onnx_file", FILE)
    return made


FOUND, SHOWN = wrong("1.0"), wrong("2.0")
OTHER_FINDING = Finding(
    Kind.REJECTED, Component.TVM, LANE, Stage.IMPORT, Raised(Stage.IMPORT, "ValueError", "no layout")
)
EXPORTERS = replace(OTHER_FINDING, component=Component.EXPORTER)
BLAME = Blame(Place.PASS, "relu", "FuseOps")
RELEASES = Releases((("0.26.0", ReleaseVerdict.PASSES), ("0.27.0", ReleaseVerdict.FAILS)))
FILE = OnnxModel(9, {"": 20}, (), (), (), {})
CONFIRMING = [("reproduces", "neg, relu")] * 3


class NothingRuns(FakeLab):
    def __init__(self) -> None:
        super().__init__(lambda case, lane, lanes: None)

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Any:
        raise AssertionError("all steps are replaced")


def test_each_step_is_taken_once_in_order_on_the_reduced_case(steps: Steps) -> None:
    examine = steps.recorder("examine", REPORTS)
    found = investigate(NothingRuns(), CASE, sighting_of(FOUND), lambda lane: OTHERS, examine)
    assert steps.taken == [
        ("located", "neg, relu"),
        ("reduce", "neg, relu"),
        ("name_failure", "relu"),
        *[("reproduces", "relu")] * 2,
        ("blame", "relu"),
        ("in_releases", "relu"),
        ("onnx_file", "relu"),
        ("examine", "relu"),
    ]
    assert found == Investigated(
        final_signature(signature_of(SHOWN), SMALL, BLAME),
        SHOWN,
        SMALL,
        (LANE.name, fakes.TVM.name),
        3,
        3,
        ("neg", "relu"),
        Reduction(
            SMALL, LANE, 5, True, other_failures=(OtherFailure(CASE, OTHER_FINDING), OtherFailure(CASE, EXPORTERS))
        ),
        REPORTS,
        BLAME,
        RELEASES,
        FILE,
        ((CASE, sighting_of(OTHER_FINDING)),),
    )
    assert found.signature.blamed == ("pass", "FuseOps")


def test_what_state_can_influence_is_confirmed_first(steps: Steps) -> None:
    died = replace(FOUND, kind=Kind.DIED, evidence=Died(Stage.RUN, Cause.SIGNAL, 11))
    investigate(NothingRuns(), CASE, sighting_of(died), lambda lane: OTHERS, steps.recorder("examine", REPORTS))
    assert steps.taken[:6] == [
        *CONFIRMING,
        ("located", "neg, relu"),
        ("reduce", "neg, relu"),
        ("name_failure", "relu"),
    ]


def test_a_failure_that_fresh_children_do_not_show_is_investigated_again_in_them_and_is_flaky(steps: Steps) -> None:
    steps.replace(module, "reproduces", False)
    examine = steps.recorder("examine", REPORTS)
    found = investigate(NothingRuns(), CASE, sighting_of(FOUND), lambda lane: OTHERS, examine)
    assert steps.taken == [
        ("located", "neg, relu"),
        ("reduce", "neg, relu"),
        ("name_failure", "relu"),
        ("reproduces", "relu"),
        *CONFIRMING,
        ("onnx_file", "neg, relu"),
        ("examine", "neg, relu"),
    ]
    assert (found.again, found.runs, found.finding, found.releases) == (0, 3, FOUND, NO_RELEASES)


def test_what_fails_before_it_runs_is_not_examined(steps: Steps) -> None:
    steps.replace(module, "name_failure", NamedFailure(signature_of(OTHER_FINDING), OTHER_FINDING, (LANE,)))
    investigate(
        NothingRuns(), CASE, sighting_of(OTHER_FINDING), lambda lane: OTHERS, steps.recorder("examine", REPORTS)
    )
    assert [step for step, _ in steps.taken][-1] == "onnx_file"


# --- the evidence is that of the case that is saved

OTHER = next(lane for lane in TVM_LANES if lane.importer is not fakes.TVM.importer)


def refused(case: Case) -> Raised:
    """Numbers in a message are no part of a signature; here they tell of which case the message is."""
    return fakes.raised(Stage.IMPORT, "ValueError", f"no layout for {len(case.graph.ops)} calls", fakes.REFUSAL)


def in_company(lanes: Sequence[LaneSpec]) -> bool:
    """Whether this is the run that names the finding: other importers run too."""
    return OTHER in lanes


def relu_is_refused(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    return refused(case) if lane == fakes.TVM and "relu" in case.graph.ops else None


def investigated(lab: FakeLab) -> Investigated:
    finding = Finding(Kind.REJECTED, Component.TVM, fakes.TVM, Stage.IMPORT, refused(CASE))
    return investigate(lab, CASE, sighting_of(finding), lambda lane: (), lab.examine)


def message(found: Investigated) -> str:
    assert isinstance(found.finding.evidence, Raised)
    return found.finding.evidence.message


def test_a_failure_that_the_naming_run_misses_is_run_once_more_alone() -> None:
    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return None if in_company(lanes) else relu_is_refused(case, lane, lanes)

    lab = FakeLab(wrong_outcome)
    found = investigated(lab)
    assert (found.case.graph.ops, message(found)) == (("relu",), "no layout for 1 calls")
    assert (found.flaky, found.lanes) == (False, (fakes.TVM.name,))
    naming = next(index for index, (_, lanes) in enumerate(lab.ran) if in_company(lanes))
    assert lab.ran[naming + 1] == (("relu",), (fakes.TVM,))


def test_a_failure_that_shows_no_more_when_it_is_named_is_flaky() -> None:
    """What is saved is the case that was found, with its own evidence."""
    gone: list[bool] = []

    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        if in_company(lanes):
            gone.append(True)
        return None if gone else relu_is_refused(case, lane, lanes)

    lab = FakeLab(wrong_outcome)
    found = investigated(lab)
    assert (found.case, message(found)) == (CASE, "no layout for 2 calls")
    assert (found.flaky, found.again, found.runs, found.reduction) == (True, 0, 3, None)
    naming = next(index for index, (_, lanes) in enumerate(lab.ran) if in_company(lanes))
    after = [("relu",), *[("neg", "relu")] * 3]
    assert [ops for ops, _ in lab.ran[naming + 1 :]] == after, "there is no blame, and no other release runs"


def test_candidates_run_in_used_children_and_the_result_in_three_fresh_ones() -> None:
    lab = FakeLab(relu_is_refused)
    found = investigated(lab)
    assert (found.flaky, found.again, found.runs) == (False, 3, 3)
    assert lab.fresh == list(range(len(lab.ran) - 3, len(lab.ran)))
    assert {ops for ops, _ in lab.ran[-3:]} == {("relu",)}


def used_children_are_wrong(lab: FakeLab, hidden: Callable[[Case, Sequence[LaneSpec]], bool]) -> None:
    """Fresh children show that relu is refused, but not where it is `hidden`. Used ones always show it."""

    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        is_fresh = bool(lab.fresh) and lab.fresh[-1] == len(lab.ran) - 1
        return None if is_fresh and hidden(case, lanes) else relu_is_refused(case, lane, lanes)

    lab._wrong_outcome = wrong_outcome


def test_a_case_that_only_used_children_reduce_so_far_is_reduced_again_in_fresh_ones() -> None:
    """There relu alone is right, and the case with neg fails in each of three runs."""
    lab = FakeLab(relu_is_refused)
    used_children_are_wrong(lab, lambda case, lanes: case.graph.ops == ("relu",))
    found = investigated(lab)
    assert (found.case.graph.ops, found.flaky, found.again, found.runs) == (("neg", "relu"), False, 3, 3)


def test_after_used_children_were_wrong_blame_runs_in_fresh_ones() -> None:
    lab = FakeLab(relu_is_refused)
    used_children_are_wrong(lab, lambda case, lanes: case.graph.ops == ("relu",))
    investigated(lab)
    confirmed = next(index for index in lab.fresh if lab.ran[index][0] == ("neg", "relu"))
    assert lab.fresh[lab.fresh.index(confirmed) :] == list(range(confirmed, len(lab.ran)))


def test_a_case_that_fresh_children_do_not_show_when_it_is_named_is_flaky() -> None:
    """They show it whenever it runs with few lanes."""
    hidden: list[bool] = []

    def hide(case: Case, lanes: Sequence[LaneSpec]) -> bool:
        """The case when it is named, and in the run after."""
        hidden.append(in_company(lanes) or (bool(hidden) and hidden[-1] and lab.ran[-2][0] == case.graph.ops))
        return hidden[-1]

    lab = FakeLab(relu_is_refused)
    used_children_are_wrong(lab, hide)
    found = investigated(lab)
    assert (found.case, message(found)) == (CASE, "no layout for 2 calls")
    assert (found.flaky, found.again, found.runs, found.reduction) == (True, 3, 5, None)


def test_other_failures_that_used_children_show_are_kept_if_all_is_done_again() -> None:
    """Used children show once that neg fails in another way."""
    lab = FakeLab(relu_is_refused)
    other = fakes.raised(Stage.IMPORT, "TypeError", "another", fakes.REFUSAL)

    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return other if not lab.fresh and lane == fakes.TVM and case.graph.ops == ("neg",) else None

    lab._wrong_outcome = wrong_outcome
    found = investigated(lab)
    assert (found.flaky, found.again) == (True, 0)
    assert [(case.graph.ops, each.finding.evidence) for case, each in found.other_failures] == [(("neg",), other)]


def test_a_case_that_does_not_fail_any_more_is_not_reduced() -> None:
    ops = ("neg", "relu", "abs", "exp", "tanh", "sigmoid", "sin", "cos")
    calls: list[Any] = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(ops)]
    case, lab = case_of({"x0": "float32[2]"}, calls, "v7"), FakeLab(lambda case, lane, lanes: None)
    finding = Finding(Kind.REJECTED, Component.TVM, fakes.TVM, Stage.IMPORT, refused(case))
    found = investigate(lab, case, sighting_of(finding), lambda lane: (), lab.examine)
    assert (found.flaky, found.again, found.runs) == (True, 0, 3)
    assert [each == ops for each, _ in lab.ran] == [True, *[False] * UNCONFIRMED_CANDIDATES, True, *[True] * 3]
    assert lab.fresh == list(range(len(lab.ran) - 3, len(lab.ran)))


def needs_both(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
    """One lane refuses cases with relu and exp."""
    return refused(case) if lane == fakes.TVM and {"relu", "exp"} <= {*case.graph.ops} else None


OPS_OF_LONG = ("neg", "relu", "abs", "tanh", "sin", "exp", "cos", "sigmoid")


def investigated_in_parts(seconds: float, shown: WrongOutcome = needs_both) -> tuple[Investigated, MeteredLab]:
    """Each run takes one CPU second."""
    calls: list[Any] = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(OPS_OF_LONG)]
    case, lab = case_of({"x0": "float32[2]"}, calls, "v7"), MeteredLab(FakeLab(shown))
    finding = Finding(Kind.REJECTED, Component.TVM, fakes.TVM, Stage.IMPORT, refused(case))
    part = Effort(60, seconds, lambda: lab.cpu_seconds, is_part=True)
    return investigate(lab, case, sighting_of(finding), lambda lane: (), lab.examine, effort=part), lab


def test_the_call_that_is_certain_is_run_alone_before_anything_else() -> None:
    calls: list[Any] = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(OPS_OF_LONG)]
    case, lab = case_of({"x0": "float32[2]"}, calls, "v7"), FakeLab(relu_is_refused)
    finding = Finding(Kind.REJECTED, Component.TVM, fakes.TVM, Stage.IMPORT, refused(case))
    suspect = Suspect(("relu",), "relu of float32; rank 1", Certainty.SEEN)
    sighting = replace(sighting_of(finding), suspect=suspect)
    found = investigate(lab, case, sighting, lambda lane: (), lab.examine)
    assert (found.case.graph.ops, found.flaky) == (("relu",), False)
    assert lab.ran[0] == (OPS_OF_LONG, ()), "PyTorch alone computes the operands"
    assert lab.ran[1][0] == ("relu",)


def test_a_part_of_an_investigation_ends_with_a_smaller_case_that_shows_the_failure() -> None:
    with pytest.raises(Unfinished) as unfinished:
        investigated_in_parts(3.0)
    found = unfinished.value
    assert {"relu", "exp"} <= {*found.case.graph.ops}
    assert 2 <= len(found.case.graph.nodes) < len(OPS_OF_LONG)
    assert found.sighting.finding.evidence == refused(found.case)
    assert (found.sighting.lanes, set(found.costs)) == ((fakes.TVM,), {Step.REDUCE})


def test_a_part_that_suffices_is_a_whole_investigation() -> None:
    found, _ = investigated_in_parts(1000.0)
    assert (found.case.graph.ops, found.flaky) == (("relu", "exp"), False)
    alone, lab = investigated_in_parts(3.0, relu_is_refused)
    assert (alone.case.graph.ops, alone.flaky) == (("relu",), False)
    assert alone.reduction is not None
    assert alone.reduction.finished, "no later part makes one call plainer"
    assert lab.cpu_seconds > 3


@pytest.mark.parametrize(
    ("finding", "used"),
    [
        (FOUND, True),
        (OTHER_FINDING, True),
        (replace(FOUND, kind=Kind.SECOND_RUN_DIFFERS), False),
        (replace(FOUND, kind=Kind.DIED), False),
        (replace(FOUND, kind=Kind.MODIFIED_INPUT), False),
        (replace(FOUND, lane=replace(LANE, target="cuda")), False),
        (replace(FOUND, lane=replace(LANE, fresh=True)), False),
    ],
)
def test_only_what_state_does_not_influence_is_reduced_in_used_children(finding: Finding, used: bool) -> None:
    assert may_run_in_used_children(finding) is used


def test_another_lane_that_shows_it_does_not_stand_for_the_one_that_was_reduced() -> None:
    """In company, another importer shows the failure, and the lane that was reduced does not."""

    def wrong_outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        shown_by = OTHER if in_company(lanes) else fakes.TVM
        return refused(case) if lane == shown_by and "relu" in case.graph.ops else None

    found = investigated(FakeLab(wrong_outcome))
    assert (found.finding.lane, message(found)) == (fakes.TVM, "no layout for 1 calls")
    assert found.lanes == (OTHER.name, fakes.TVM.name)


class IllFormedAndWrong(FakeLab):
    """The plain lane makes an ill-formed module. Its result, which it has where it does not end before, is wrong."""

    def __init__(self, after: str) -> None:
        super().__init__(lambda case, lane, lanes: None)
        self._broken = Facts(ill_formed=IllFormed(after, "ValueError", "no"))

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = super().run(case, lanes)
        wrong = replace(fakes.nan((fakes.expect([1.0, -2.0]),)), facts=self._broken)
        own = {
            lane: Built(self._broken) if lane.until else wrong for lane in lanes if fakes.as_named(lane) == TVM_LANES[0]
        }
        return replace(result, outcomes={**result.outcomes, **own})


@pytest.mark.parametrize("after", ["import", "FuseOps"])
def test_what_follows_an_ill_formed_module_is_saved(after: str) -> None:
    """Lanes of the reduction end where the module shows to be ill-formed."""
    lab = IllFormedAndWrong(after)
    (sighted,) = observe(lab.run, CASE, TVM_LANES[0]).findings
    found = investigate(lab, CASE, sighting_of(sighted), lambda lane: (), lab.examine)
    assert found.finding.evidence == IllFormed(after, "ValueError", "no", Kind.WRONG_VALUE)
