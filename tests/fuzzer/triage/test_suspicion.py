"""What a failure is suspected of, from what a test has shown and from one run that compiles nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVALUATED_LANES, TVM_LANES
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from fuzzer.triage.suspicion import certain_calls, first_wrong, suspect_of
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, LaneSpec
from oracles.outcome import (
    Built,
    Cause,
    Died,
    Facts,
    Frame,
    Outcome,
    Outcomes,
    Raised,
    Ran,
    Result,
    Stage,
    WrongOperand,
)
from oracles.trace import Trace

CHAIN = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0"), ("v2", "abs", "v1")], "v2")
TWO = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0"), ("v2", "abs", "v0")], "v1 v2")
WRONG = Finding(Kind.WRONG_VALUE, Component.TVM, fakes.TVM, Stage.RUN, Mismatch(0, "1.0", "2.0"))


def refused(message: str = "no layout", pointed: str = "") -> Finding:
    raised = Raised(Stage.IMPORT, "ValueError", message, facts=Facts(pointed=pointed))
    return Finding(Kind.REJECTED, Component.TVM, fakes.TVM, Stage.IMPORT, raised)


def surely(call: str) -> Suspect:
    operator = call.partition(" ")[0]
    return Suspect((operator,), call, Certainty.SEEN, called=(f"torch.{operator}",))


def one_of(*operators: str) -> Suspect:
    return Suspect(operators, certainty=Certainty.ONE_OF, called=tuple(f"torch.{each}" for each in operators))


def shown(*wrong: bool) -> Outcomes:
    """PyTorch gives ones; TVM gives twos where an output is wrong."""
    right = [fakes.expect([1.0, 1.0]) for _ in wrong]
    outputs = tuple(np.full(2, 1.0 + bad, np.float32) for bad in wrong)
    return {**fakes.references(*right), fakes.TVM: Ran(outputs)}


def test_a_list_says_once_what_all_operands_share_and_nothing_of_what_is_not_given() -> None:
    call = "Attention of bfloat16, bfloat16; rank 3, 3; softcap: float zero; softmax_precision: None"
    suspect = Suspect(("Attention",), call, Certainty.SEEN)
    assert suspect.words == "suspect: Attention of bfloat16; rank 3; softcap: float zero"
    assert (
        replace(suspect, operators=("where",), call="where of bool, float32; rank 2, 1").words
        == "suspect: where of bool, float32; rank 2, 1"
    )
    assert replace(suspect, operators=("rand",), call="rand; rank 1").words == "suspect: rand; rank 1"


def test_the_only_call_comes_with_its_operands_and_the_classes_of_its_attributes() -> None:
    case = case_of({"x0": "float16[2,3]"}, [("v0", "cumsum", "x0", {"dim": -1})], "v0")
    died = replace(WRONG, kind=Kind.DIED, evidence=Died(Stage.RUN, Cause.SIGNAL, 11))
    assert suspect_of(case, died, {}) == surely("cumsum of float16; rank 2; dim: int negative; dtype: None")


def test_what_gave_a_wrong_type_is_suspected_and_not_what_raised() -> None:
    facts = Facts(pointed="v2", wrong_operand=WrongOperand("v0", of_dtype=True))
    raised = Raised(Stage.IMPORT, "TypeError", "In relax.abs: no float", facts=facts)
    suspect = suspect_of(CHAIN, replace(refused(), evidence=raised), {})
    assert suspect == replace(surely("neg of float32; rank 1"), shows_as=Kind.WRONG_DTYPE)
    assert suspect.words == "suspect: torch.neg of float32; rank 1; it gives a wrong dtype, and a later call fails"


@pytest.mark.parametrize(
    ("finding", "suspect"),
    [
        (refused(pointed="v1"), surely("relu of float32; rank 1")),
        (refused("relax.abs has no neg"), one_of("neg", "abs")),
        (refused("In relax.nn.relu: no layout"), surely("relu of float32; rank 1")),
        (refused(), one_of("neg", "relu", "abs")),
        (replace(WRONG, kind=Kind.DIED, evidence=Died(Stage.RUN, Cause.SIGNAL, 11)), one_of("neg", "relu", "abs")),
    ],
    ids=["pointed", "named twice", "named", "not named", "dead"],
)
def test_an_exception_points_at_a_call_or_names_operators(finding: Finding, suspect: Suspect) -> None:
    assert suspect_of(CHAIN, finding, {}) == suspect


def test_an_exception_names_the_part_of_tvm_that_raised() -> None:
    frames = (Frame("/project/src/target/source/codegen_c.cc", 1, "tvm::codegen::CodeGenC::VisitExpr_(int)"),)
    raised = replace(refused(), evidence=Raised(Stage.COMPILE, "InternalError", "no type", frames))
    suspect = suspect_of(CHAIN, raised, {})
    assert suspect == replace(one_of("neg", "relu", "abs"), part="codegen: VisitExpr_ in codegen_c.cc")
    assert suspect.words == "suspect: one of torch.neg, torch.relu, torch.abs; codegen: VisitExpr_ in codegen_c.cc"
    assert (NO_SUSPECT.words, NO_SUSPECT.is_known) == ("no suspect", False)


@pytest.mark.parametrize(
    ("wrong", "suspect"),
    [
        ((True, False), surely("relu of float32; rank 1")),
        ((False, True), surely("abs of float32; rank 1")),
        ((True, True), surely("neg of float32; rank 1")),
    ],
)
def test_right_outputs_clear_the_calls_that_they_depend_on(wrong: tuple[bool, ...], suspect: Suspect) -> None:
    assert suspect_of(TWO, WRONG, shown(*wrong)) == suspect


@pytest.mark.parametrize(
    ("suspect", "names"),
    [
        (surely("relu of float32; rank 1"), ("v1",)),
        (surely("relu of float16; rank 1"), ()),
        (one_of("relu"), ()),
        (replace(surely("relu of float32; rank 1"), shows_as=Kind.WRONG_DTYPE), ()),
        (NO_SUSPECT, ()),
    ],
    ids=["seen", "of another dtype", "one of these", "shows as another failure", "unknown"],
)
def test_only_a_call_that_is_certain_is_found_again(suspect: Suspect, names: tuple[str, ...]) -> None:
    assert certain_calls(CHAIN, suspect) == names


def test_few_of_the_calls_that_are_alike_are_found() -> None:
    calls = [(f"v{place}", "neg", "x0") for place in range(4)]
    case = case_of({"x0": "float32[2]"}, calls, "v0 v1 v2 v3")
    assert certain_calls(case, surely("neg of float32; rank 1")) == ("v0", "v1")


def test_many_operators_are_no_suspicion() -> None:
    ops = ("neg", "relu", "abs", "sin", "cos", "exp", "tanh", "sigmoid", "floor", "ceil", "sign", "square", "erf")
    names = ["x0", *(f"v{i}" for i in range(len(ops)))]
    case = case_of({"x0": "float32[2]"}, [(names[i + 1], op, names[i]) for i, op in enumerate(ops)], names[-1])
    assert suspect_of(case, refused(), {}) == NO_SUSPECT


class Lab:
    """PyTorch's results; the lane of tier 1 ends as given."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.lanes = outcome, [""]

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        assert case.graph.outputs == ("v0", "v1", "v2")
        self.lanes = [lane.name for lane in lanes if lane.engine is Engine.TVM]
        outcomes = dict(fakes.references(*(fakes.expect([1.0, 1.0]) for _ in range(3))))
        return Result({lane: outcomes.get(lane, self.outcome) for lane in lanes})


RIGHT = np.ones(2, np.float32)
OTHER_TYPE = Built(Facts(trace=Trace(other_types="result 2 is declared as another type", wrong_result=2)))
PLAIN = replace(WRONG, lane=TVM_LANES[0])


@pytest.mark.parametrize(
    ("outcome", "suspect"),
    [
        (Ran((RIGHT, RIGHT + 1, RIGHT + 1)), surely("relu of float32; rank 1")),
        (Ran((RIGHT, RIGHT, RIGHT)), NO_SUSPECT),
        (OTHER_TYPE, surely("abs of float32; rank 1")),
        (Raised(Stage.IMPORT, "ValueError", ""), NO_SUSPECT),
    ],
    ids=["wrong", "right", "other type", "refused"],
)
def test_the_first_wrong_value_of_the_import(outcome: Outcome, suspect: Suspect) -> None:
    lab = Lab(outcome)
    assert first_wrong(lab.run, CHAIN, PLAIN) == suspect
    assert lab.lanes == [EVALUATED_LANES[0].name]


def test_no_import_is_looked_at_where_the_plain_sibling_is_right_or_no_value_is_wrong() -> None:
    beyond = replace(PLAIN, evidence=Mismatch(0, "1.0", "2.0", by="DataflowUseInplaceCalls"))
    for finding in (beyond, replace(PLAIN, kind=Kind.DIED, evidence=Died(Stage.RUN, Cause.SIGNAL, 11))):
        lab = Lab(Built())
        assert (first_wrong(lab.run, CHAIN, finding), lab.lanes) == (NO_SUSPECT, [""])


@pytest.mark.tvm
@pytest.mark.smoke
def test_a_real_import_is_looked_at(executor: Executor) -> None:
    """TVM 0.27 gives the matmul of float16 the dtype float32."""
    case = case_of(
        {"x0": "float16[2,2]", "x1": "float16[2,2]"},
        [("v0", "neg", "x0"), ("v1", "matmul", "v0 x1"), ("v2", "abs", "v1")],
        "v2",
    )
    finding = replace(PLAIN, kind=Kind.WRONG_DTYPE, evidence=Mismatch(0, "float16", "float32"))
    assert first_wrong(executor.run, case, finding).operators == ("matmul",)
