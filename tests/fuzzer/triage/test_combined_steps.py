"""Many steps at once, for a case of one operator."""

from __future__ import annotations

from graphs_by_hand import case_of
from small_graphs import CHAIN, LANE, subject_of

from fuzzer.triage.combined_steps import REDUCERS_OF_AN_INVESTIGATION, combined_steps
from fuzzer.triage.reduce import reduce
from fuzzer.triage.reducers import REDUCERS, Subject
from fuzzer.triage.reproduce import Reproduction
from generators.graph import Case, Form
from oracles.lane import LaneSpec

ALONE = subject_of({"x0": "int8[2,3,4] transposed"}, [("v0", "add_scalar:method", "x0", {"other": 3})], "v0")


TYPES = ("float16[1,1]", "float16[1]")
"""The first can get a plain dtype and a lower rank, the second only a plain dtype."""


def described(subject: Subject) -> tuple[str, Form, list[float]]:
    (item,), (node,) = subject.graph.inputs, subject.graph.nodes
    return str(item.value.type), node.form, subject.case.tensors["x0"].ravel().tolist()


def test_all_steps_are_taken_at_once_then_fewer() -> None:
    proposed = [described(each) for each in combined_steps(ALONE)]
    assert proposed[0] == ("int64[1]", Form.PLAIN, [0])
    assert [form for _, form, _ in proposed] == [Form.PLAIN, Form.METHOD, Form.METHOD]
    assert {type for type, _, _ in proposed} == {"int64[1]", "int64[1,1]"}  # lower_rank has one step left


def test_several_operators_are_cut_before_steps_are_combined() -> None:
    assert list(combined_steps(CHAIN)) == []
    assert list(combined_steps(subject_of({"x0": "float32[1]"}, [("v0", "relu", "x0")], "v0"))) == []


def test_two_steps_are_combined_and_one_is_none() -> None:
    assert [len(list(combined_steps(subject_of({"x0": type}, [("v0", "relu", "x0")], "v0")))) for type in TYPES] == [
        3,
        0,
    ]


def test_a_reduction_with_combined_steps_ends_at_the_same_case_in_fewer_calls() -> None:
    case = case_of({"x0": "int8[2,3,4] transposed"}, [("v0", "relu", "x0"), ("v1", "neg", "v0")], "v1")

    def shows(smaller: Case, lane: LaneSpec) -> Reproduction:
        return Reproduction("neg" in smaller.graph.ops)

    computed = {"v0": case.tensors["x0"]}
    one, other = (
        reduce(Subject(case, LANE, {}, suspects=("v1",)), shows, lambda whole: computed, reducers=reducers)
        for reducers in (REDUCERS, REDUCERS_OF_AN_INVESTIGATION)
    )
    assert one.case.graph == other.case.graph
    assert other.steps == ("pointed_node", "combined_steps", "float_inputs")
    assert other.calls < one.calls
