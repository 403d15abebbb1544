"""A known finding of one operator explains a failure if the failure is gone when that operator's results are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import numpy as np
import pytest
from graphs_by_hand import Call, case_of
from small_graphs import evaluated

from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.triage.explained import MOST_RUNS, explained_by
from fuzzer.triage.investigate import Sighting
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Cause, Died, Outcome, Raised, Ran, Result, Stage

WRONG = Finding(Kind.WRONG_VALUE, Component.TVM, fakes.TVM, Stage.RUN, Mismatch(0, "1.0", "2.0"))
DIES = Finding(Kind.DIED, Component.TVM, fakes.TVM, Stage.RUN, Died(Stage.RUN, Cause.SIGNAL, 11))


class Lab:
    """PyTorch's results, and those of TVM's lane: every call of `wrong` adds 1, or ends the process."""

    def __init__(self, wrong: str, *, dies: bool = False) -> None:
        self._wrong, self._dies = wrong, dies
        self.ran: list[tuple[str, ...]] = []
        self.fresh = 0
        self.right_from = self.wrong_from = 9
        """From this run of the lane on, all is right, or all is wrong."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        outputs = evaluated(case)
        outcomes: dict[LaneSpec, Outcome] = dict(
            fakes.references(*(fakes.expect(output, dtype=str(output.dtype)) for output in outputs))
        )
        for lane in lanes:
            if lane.engine is Engine.TVM:
                number = len(self.ran)
                self.ran.append(case.graph.ops)
                wrong = number < self.right_from and (self._wrong in case.graph.ops or number >= self.wrong_from)
                died = Died(Stage.RUN, Cause.SIGNAL, 11)
                outcomes[lane] = (
                    died if wrong and self._dies else Ran(tuple(out + np.float32(wrong) for out in outputs))
                )
        return Result({lane: outcomes.get(lane, Ran(outputs)) for lane in lanes})

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.fresh += 1
        return self.run(case, lanes)


def known(op: str, inputs: str = "float32[2]", finding: Finding = WRONG, where: str = "") -> tuple[Case, Signature]:
    case = case_of({"x0": inputs}, [("v0", op, "x0")], "v0")
    return case, replace(final_signature(signature_of(finding), case), where=where)


def of(finding: Finding) -> Sighting:
    return Sighting(signature_of(finding), finding, (finding.lane,))


def chain(*ops: str, inputs: str = "float32[3]") -> Case:
    calls: list[Call] = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(ops)]
    return case_of({"x0": inputs}, calls, f"v{len(ops) - 1}")


@pytest.mark.parametrize(
    ("ops", "rest"),
    [
        (("neg", "relu", "abs"), ("neg", "abs")),
        (("relu", "abs", "neg"), ("abs", "neg")),
        (("neg", "abs", "relu"), ("neg", "abs")),  # the last: what is left ends with its operand
        (("relu", "neg", "relu", "abs"), ("neg", "abs")),  # all its calls at once
    ],
)
def test_the_operator_at_fault_explains_it_in_one_run(ops: tuple[str, ...], rest: tuple[str, ...]) -> None:
    lab = Lab("relu")
    assert explained_by(lab, chain(*ops), of(WRONG), [known("relu")]) == known("relu")[1]
    assert (lab.ran, lab.fresh) == ([rest], 0)


def test_an_operator_that_is_right_explains_nothing() -> None:
    lab = Lab("relu")
    assert explained_by(lab, chain("neg", "relu", "abs"), of(WRONG), [known("neg"), known("abs")]) is None
    assert lab.ran == [("relu", "abs"), ("neg", "relu")]


def test_the_calls_before_the_operator_stay() -> None:
    lab = Lab("neg")
    assert explained_by(lab, chain("neg", "relu", "abs"), of(WRONG), [known("relu")]) is None
    assert lab.ran == [("neg", "abs")]


def test_the_first_that_explains_it_is_returned() -> None:
    lab = Lab("relu")
    found = explained_by(lab, chain("neg", "relu", "abs"), of(WRONG), [known("abs"), known("relu")])
    assert (found, len(lab.ran)) == (known("relu")[1], 2)


@pytest.mark.parametrize(
    "other",
    [
        known("sign"),  # the case does not call it
        known("relu", "float64[2]"),
        known("relu", where="onnx"),
        known("relu", finding=replace(WRONG, kind=Kind.WRONG_SHAPE)),
        known("relu", finding=DIES),
        (chain("neg", "relu"), known("relu")[1]),  # two operators
    ],
)
def test_nothing_runs_for_a_finding_that_cannot_explain_it(other: tuple[Case, Signature]) -> None:
    lab = Lab("relu")
    assert explained_by(lab, chain("neg", "relu"), of(WRONG), [other]) is None
    assert lab.ran == []


def test_at_most_three_are_tried() -> None:
    lab, ops = Lab("relu"), ("neg", "abs", "sign", "exp", "relu")
    assert explained_by(lab, chain(*ops), of(WRONG), [known(op) for op in ops]) is None
    assert len(lab.ran) == MOST_RUNS


def test_a_case_of_that_operator_alone_is_reduced() -> None:
    """Its attributes may differ: nothing is left that could show that the failure is gone."""
    lab = Lab("relu")
    assert explained_by(lab, chain("relu"), of(WRONG), [known("relu")]) is None
    assert lab.ran == []


def test_deaths_run_in_fresh_children_only_the_rest_three_times_and_the_whole_once() -> None:
    lab = Lab("relu", dies=True)
    assert explained_by(lab, chain("neg", "relu", "abs"), of(DIES), [known("relu", finding=DIES)]) is not None
    assert lab.ran == [*[("neg", "abs")] * 3, ("neg", "relu", "abs")]
    assert lab.fresh == 5  # PyTorch's values too


@pytest.mark.parametrize(
    ("right_from", "wrong_from", "whole"), [(9, 2, 0), (0, 9, 1)], ids=["the rest died once", "the whole is right now"]
)
def test_a_death_that_does_not_show_in_every_run_is_not_explained(right_from: int, wrong_from: int, whole: int) -> None:
    lab = Lab("relu", dies=True)
    lab.right_from, lab.wrong_from = right_from, wrong_from
    assert explained_by(lab, chain("neg", "relu", "abs"), of(DIES), [known("relu", finding=DIES)]) is None
    assert lab.ran == [*[("neg", "abs")] * 3, *[("neg", "relu", "abs")] * whole]


@pytest.mark.parametrize(
    "kind",
    [
        Kind.SECOND_RUN_DIFFERS,
        Kind.NONDETERMINISTIC,
        Kind.TIMED_OUT,
        Kind.OUT_OF_MEMORY,
        Kind.MODIFIED_INPUT,
        Kind.SLOW,
    ],
)
def test_one_run_says_nothing_about_what_does_not_show_in_every_run(kind: Kind) -> None:
    finding, lab = replace(WRONG, kind=kind), Lab("relu")
    assert explained_by(lab, chain("neg", "relu"), of(finding), [known("relu", finding=finding)]) is None
    assert lab.ran == []


def test_another_failure_that_shows_without_the_operator_is_not_explained() -> None:
    """The result of relu has a wrong dtype, which hides that abs is wrong too."""
    dtype = replace(WRONG, kind=Kind.WRONG_DTYPE)
    lab = Lab("abs")
    assert explained_by(lab, chain("neg", "relu", "abs"), of(dtype), [known("relu", finding=dtype)]) is None
    assert lab.ran == [("neg", "abs")]


def test_a_failure_with_a_message_is_known_by_its_message() -> None:
    refused = replace(WRONG, kind=Kind.REJECTED, evidence=Raised(Stage.IMPORT, "ValueError", "no layout"))
    assert explained_by(Lab("relu"), chain("neg", "relu"), of(refused), [known("relu", finding=refused)]) is None
