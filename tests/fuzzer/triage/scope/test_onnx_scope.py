"""What a scope says of cases of ONNX: what is left out, how constants are called, and numbers in few digits."""

from __future__ import annotations

import pytest
from graphs_by_hand import Call, case_of

from fuzzer.triage.scope.drawing import one_call
from fuzzer.triage.scope.operand_count import with_operands_left_out_and_added
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Condition, Property, Relation, Statement
from fuzzer.triage.scope.variations import variations
from fuzzer.triage.scope.words import phrase
from generators.choice import NumpySource
from generators.table import dialect_of

LEAKY = case_of({"x0": "float32[2,3]"}, [("v0", "LeakyRelu-16", "x0", {"alpha": 0.10000000149011612})], "v0", opset=17)
CONV_CALLS: list[Call] = [("v0", "Conv-11", "x0 x1 x2", {"inputs": (True, True, True)})]
CONV = case_of({"x0": "float32[1,2,3]", "x1": "float32[2,2,1]", "x2": "float32[2]"}, CONV_CALLS, "v0", opset=17)


def test_rows_say_what_is_left_out_and_who_owns_a_value() -> None:
    rows = {(each.what, each.value) for each in variations(NumpySource(0), LEAKY, with_numbers=False)}
    assert {("alpha", "left out"), ("alpha", "0.1"), ("role of x0", "initializer"), ("role of x0", "input")} <= rows
    assert not any(what.startswith("layout") for what, _ in rows)


def test_an_operand_that_may_be_left_out_is_a_property_by_its_name() -> None:
    assert properties(CONV)[Property(0, "B", "given")] is True
    assert not any(each.subject == "inputs" for each in properties(CONV))


def test_calls_with_fewer_operands_say_so() -> None:
    found = {
        count: case.graph.nodes[0].attrs["inputs"]
        for count, case in with_operands_left_out_and_added(NumpySource(0), CONV)
    }
    assert found == {2: (True, True, False), 3: (True, True, True)}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(Property(0, "B", "given"), Relation.IN, (False,)), "where `B` is left out"),
        (Condition(Property(0, "B", "given"), Relation.NOT_IN, (False,)), "where `B` is given"),
        (Condition(Property(0, "alpha", "value"), Relation.IN, (None,)), "where `alpha` is left out"),
        (Condition(Property(0, "alpha", "value"), Relation.NOT_IN, (None,)), "where `alpha` is given"),
    ],
)
def test_words_for_what_is_left_out(condition: Condition, words: str) -> None:
    assert phrase(Statement((condition,)), CONV.graph) == words


def test_cases_of_an_operator_are_drawn_at_the_opset_of_the_finding() -> None:
    for seed in range(5):
        graph = one_call(NumpySource(seed), "LeakyRelu-16", 17).graph
        assert (graph.opset, graph.nodes[0].op) == (17, "LeakyRelu-16")
    assert [dialect_of(op).has(op, 17) for op in ("LeakyRelu-6", "LeakyRelu-16", "relu")] == [False, True, True]


def test_a_drawn_call_returns_all_its_results() -> None:
    """A failure may need any of them: a drawn graph that returns only the first would pass for no reason that a
    statement can give."""
    counts = set()
    for seed in range(30):
        for name, opset in (("SkipLayerNormalization-1", 17), ("native_layer_norm", 0)):
            graph = one_call(NumpySource(seed), name, opset).graph
            assert graph.outputs == tuple(value.name for value in graph.nodes[-1].results)
            counts.add(len(graph.outputs))
    assert {1, 3} <= counts
