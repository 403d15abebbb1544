"""Which nodes are suspected, what runs to find them, and what a reduction does with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import numpy as np
import pytest
from graphs_by_hand import case_of
from small_graphs import CHAIN, FORK, SISTERS, evaluated, text, texts

from fuzzer.lanes import TORCH, TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.triage.reducers.pointed_node import pointed_node
from fuzzer.triage.reproduce import up_to_failure
from fuzzer.triage.suspects import MOST_BY_NAME, Located, located, named_operators, wrong_outputs
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Built, Cause, Died, Facts, Frame, Outcome, Raised, Ran, Result, Stage

CASE = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu:inplace", "v0"), ("v2", "abs", "v1")], "v2")
WRONG = Finding(Kind.WRONG_VALUE, Component.TVM, fakes.TVM, Stage.RUN, Mismatch(0, "1.0", "2.0"))


def refused(message: str = "no layout", pointed: str = "", stage: Stage = Stage.IMPORT) -> Finding:
    raised = Raised(stage, "ValueError", message, facts=Facts(pointed=pointed))
    return Finding(Kind.REJECTED, Component.TVM, fakes.TVM, stage, raised)


class Lab:
    """PyTorch's results; TVM's lane adds 1 to the results of `wrong` nodes, or has another outcome."""

    def __init__(self, wrong: Sequence[str] = (), outcome: Outcome | None = None) -> None:
        self._wrong, self._outcome = wrong, outcome
        self.ran: list[tuple[tuple[str, ...], list[str]]] = []

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.ran.append((case.graph.outputs, [lane.name for lane in lanes]))
        outputs = evaluated(case)
        outcomes = dict(fakes.references(*map(fakes.expect, outputs)))
        own = tuple(
            out + np.float32(name in self._wrong) for name, out in zip(case.graph.outputs, outputs, strict=True)
        )
        for lane in lanes:
            outcomes.setdefault(lane, self._outcome or Ran(own) if lane.engine is Engine.TVM else Ran(outputs))
        return Result({lane: outcomes[lane] for lane in lanes})


def found(lab: Lab, finding: Finding) -> Located:
    where = located(lab.run, CASE, finding, signature_of(finding))
    assert {name: array.tolist() for name, array in where.computed.items()} == {
        name: array.tolist() for name, array in zip(("v0", "v1", "v2"), _values(), strict=True)
    }
    return where


def _values() -> tuple[np.ndarray, ...]:
    x0 = CASE.tensors["x0"]
    return -x0, np.maximum(-x0, 0), np.abs(np.maximum(-x0, 0))


def test_what_the_exception_names_is_taken_from_the_evidence() -> None:
    lab = Lab()
    assert found(lab, refused(pointed="v1")).suspects == ("v1",)
    assert lab.ran == [(("v0", "v1", "v2"), [TORCH.name])]


def test_the_lane_runs_again_if_the_evidence_names_nothing() -> None:
    """A finding that was read from a file has no pointer."""
    raised = refused(pointed="v2").evidence
    assert isinstance(raised, Raised)
    lab = Lab(outcome=raised)
    assert found(lab, refused()).suspects == ("v2",)
    assert lab.ran == [(("v0", "v1", "v2"), [TORCH.name, fakes.TVM.name])]


@pytest.mark.parametrize(
    "other", [refused(stage=Stage.COMPILE), replace(refused(), lane=fakes.TVM_ONNX)], ids=["later", "onnx"]
)
def test_the_lane_does_not_run_if_it_cannot_name_a_node(other: Finding) -> None:
    lab = Lab()
    assert (found(lab, other).suspects, lab.ran) == ((), [(("v0", "v1", "v2"), [TORCH.name])])


def test_the_first_wrong_value_names_the_node_in_one_run() -> None:
    lab = Lab(wrong=("v1", "v2"))
    assert found(lab, WRONG).suspects == ("v1",)
    assert len(lab.ran) == 1


def test_a_call_that_is_certain_to_be_wrong_is_tried_first_and_the_lane_does_not_run() -> None:
    lab = Lab(wrong=("v1", "v2"))
    located_first = located(lab.run, CASE, WRONG, signature_of(WRONG), ("v2",))
    assert (located_first.suspects, lab.ran) == (("v2",), [(("v0", "v1", "v2"), [TORCH.name])])


@pytest.mark.parametrize("importer", [Importer.EXPORT, Importer.ONNX])
def test_gradients_name_no_value(importer: Importer) -> None:
    lab, lane = Lab(wrong=("v1",)), replace(fakes.TVM, variant="gradient", importer=importer)
    assert (found(lab, replace(WRONG, lane=lane)).suspects, lab.ran) == ((), [(("v0", "v1", "v2"), [TORCH.name])])


def test_nothing_is_suspected_if_every_value_is_right_as_an_output() -> None:
    assert found(Lab(), WRONG).suspects == ()


def test_deaths_run_the_references_only() -> None:
    lab = Lab()
    died = replace(WRONG, kind=Kind.DIED, evidence=Died(Stage.RUN, Cause.SIGNAL, 11))
    assert (found(lab, died).suspects, lab.ran) == ((), [(("v0", "v1", "v2"), [TORCH.name])])


def test_names_of_operators_in_a_message_come_after_the_node_of_the_exception() -> None:
    assert found(Lab(), refused("In relax.abs, no neg", pointed="v1")).suspects == ("v1", "v0", "v2")


@pytest.mark.parametrize(
    ("message", "suspects"),
    [
        ("relax.nn.relu: no", ("v1",)),
        ("CodeGenVM cannot emit relax.negative", ()),
        ("Neg", ("v0",)),
        ("in the function __tvm_ffi_relu_1", ("v1",)),
        ("absolute", ()),
        ("", ()),
    ],
)
def test_operators_are_found_by_whole_names(message: str, suspects: tuple[str, ...]) -> None:
    assert named_operators(CASE.graph, message) == suspects


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("add_scalar", "relax.add: no"),
        ("add_scalar", "no add_scalar"),
        ("leaky_relu", "relax.nn.leakyrelu: no"),
        ("leaky_relu", "in _leaky_relu"),
    ],
)
def test_an_operator_is_found_by_its_other_names(op: str, message: str) -> None:
    attributes = {"other": 2} if op == "add_scalar" else {}
    graph = case_of({"x0": "float32[2]"}, [("v0", op, "x0", attributes)], "v0").graph
    assert named_operators(graph, message) == ("v0",)
    assert named_operators(graph, "no relu_scalar") == ()


def test_operators_are_found_in_the_names_of_functions() -> None:
    finding = refused("no layout", pointed="v0")
    assert isinstance(finding.evidence, Raised)
    raised = replace(finding.evidence, frames=(Frame("a.py", 1, "_abs"), Frame("b.py", 2, "_impl_v13", owner="Relu")))
    assert found(Lab(), replace(finding, evidence=raised)).suspects == ("v0", "v1", "v2")


def test_long_names_come_first_and_there_are_few() -> None:
    """Calls that are alike are named once."""
    calls = [(f"v{place}", "relu" if place != 3 else "hardtanh", f"x{place % 2}") for place in range(6)]
    alike = case_of({"x0": "float32[2]", "x1": "float32[2]"}, calls, " ".join(f"v{place}" for place in range(6))).graph
    assert named_operators(alike, "_relu of hardtanh") == ("v3", "v0")
    calls = [(f"v{place}", "relu" if place != 3 else "hardtanh", f"x{place}") for place in range(6)]
    sizes = {f"x{place}": f"float32[{2 + place}]" for place in range(6)}
    others = case_of(sizes, calls, " ".join(f"v{place}" for place in range(6))).graph
    assert named_operators(others, "_relu of hardtanh") == ("v3", "v0", "v1")
    assert MOST_BY_NAME == 3


def test_a_lane_without_all_results_has_no_wrong_outputs() -> None:
    outcomes = {**fakes.references(fakes.expect([1.0, 2.0])), fakes.TVM: Ran(())}
    assert wrong_outputs(fakes.CASE, fakes.TVM, outcomes) == set()


# --- the pass


def test_each_suspect_is_proposed_alone_with_computed_operands() -> None:
    subject = replace(CHAIN, suspects=("v2", "v0", "gone"))
    assert texts(pointed_node, subject) == ["x0 v1 | v2=add(v1,x0) | v2", "x0 | v0=relu(x0) | v0"]
    assert texts(pointed_node, CHAIN) == []


def test_results_of_one_node_are_one_suspect() -> None:
    assert texts(pointed_node, replace(SISTERS, suspects=("v1", "v0"))) == ["x0 | v0,v1=split(x0) | v0 v1"]


def test_a_single_node_is_not_proposed_again() -> None:
    (alone,) = pointed_node(replace(FORK, suspects=("v1",)))
    assert (text(alone), list(pointed_node(alone))) == ("v0 | v1=neg(v0) | v1", [])


# --- only the stages that decide run


@pytest.mark.parametrize(
    ("stage", "until"),
    [
        (Stage.EXPORT, Stage.EXPORT),
        (Stage.IMPORT, Stage.IMPORT),
        (Stage.TRANSFORM, Stage.COMPILE),  # the same pass can run in either
        (Stage.COMPILE, Stage.COMPILE),
        (Stage.RUN, None),
    ],
)
def test_a_lane_ends_at_the_stage_of_a_message(stage: Stage, until: Stage | None) -> None:
    lanes_run: list[LaneSpec] = []

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        lanes_run.extend(lanes)
        return Result(dict.fromkeys(lanes, Built()))

    plain = TVM_LANES[0]
    dynamo, gradient = replace(plain, importer=Importer.DYNAMO), replace(plain, variant="gradient")
    lanes = (TORCH, dynamo, gradient, plain)
    result = up_to_failure(run, signature_of(refused(stage=stage)))(CASE, lanes)
    assert lanes_run == [TORCH, dynamo, gradient, replace(plain, until=until)]
    assert tuple(result.outcomes) == lanes


def test_a_wrong_result_needs_the_whole_lane() -> None:
    lab = Lab()
    assert up_to_failure(lab.run, signature_of(WRONG)) == lab.run
