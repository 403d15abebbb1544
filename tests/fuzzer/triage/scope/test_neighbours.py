"""Cases near a given one are valid, and make the same calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.triage.scope.neighbours import drawn_attributes, neighbours, with_types, with_usual_numbers
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Property
from generators.check import check
from generators.choice import NumpySource
from generators.domain import NONZERO
from generators.graph import DRAWN, Case, DType, TensorType

CONV = case_of({"x0": "float32[1,2,5,5]", "w0": "float32[3,2,3,3]"}, [("v0", "conv2d", "x0 w0")], "v0")
CHAIN = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0"), ("v1", "cumsum", "v0", {"dim": 1})], "v1")
SUM = case_of({"x0": "float32[2,3]"}, [("v0", "cumsum", "x0", {"dim": 1})], "v0")


@pytest.mark.parametrize("case", [CONV, CHAIN, SUM], ids=lambda case: "-".join(case.graph.ops))
@pytest.mark.parametrize("with_numbers", [True, False])
def test_neighbours_are_valid_and_make_the_same_calls(case: Case, with_numbers: bool) -> None:
    found = list(neighbours(NumpySource(1), [case], 150, with_numbers=with_numbers))
    assert len(found) > 100
    for each in found:
        check(each)
        assert each.graph.ops == case.graph.ops


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "least"),
    [("dtype", 9), ("rank", 5), ("size -1", 8), ("layout", 3), ("constant", 2), ("zeros", 3), ("NaN", 2)],
)
def test_each_property_of_an_operand_varies(what: str, least: int) -> None:
    found = list(neighbours(NumpySource(2), [SUM], 600, with_numbers=True))
    assert len({properties(each).get(Property(0, "operand 0", what)) for each in found}) >= least


def test_attributes_and_forms_vary() -> None:
    found = [properties(each) for each in neighbours(NumpySource(3), [SUM], 300, with_numbers=True)]
    assert len({each[Property(0, "dim", "value")] for each in found}) > 4
    assert len({each[Property(0, "dtype", "value")] for each in found}) > 3
    assert len({each[Property(0, "call", "form")] for each in found}) > 1


@pytest.mark.parametrize("dtype", [dtype for dtype in DRAWN if dtype is not DType.BOOL])
def test_usual_numbers_are_neither_zero_nor_special_and_have_both_signs(dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[64]"}, [("v0", "neg", "x0")], "v0")
    numbers = with_usual_numbers(NumpySource(1), case).tensors["x0"].astype(np.float64)
    assert np.isfinite(numbers).all()
    assert numbers.all()
    assert (numbers < 0).any() == (dtype is not DType.UINT8)
    assert bool((numbers != np.round(numbers)).any()) == dtype.is_float


def test_usual_numbers_stay_in_the_domain_of_their_input() -> None:
    calls: list[Call] = [("v0", "embedding", "x0 w0")]
    case = case_of({"x0": "int64[3]", "w0": "float32[4,2]"}, calls, "v0")
    for seed in range(20):
        check(with_usual_numbers(NumpySource(seed), case))


def test_operands_without_a_legal_attribute_have_no_drawn_ones() -> None:
    """gather along a dimension of size 0 has no index."""
    case = case_of({"x0": "float32[2]", "x1": "int64[1]"}, [("v0", "gather", "x0 x1", {"dim": 0})], "v0")
    (node,) = case.graph.nodes
    source = NumpySource(0)
    assert drawn_attributes(source, node, [TensorType.parse("float32[0]"), TensorType.parse("int64[0]")]) is None
    assert drawn_attributes(source, node, case.graph.arg_types(node)) is not None


def test_usual_numbers_stay_in_the_domain() -> None:
    case = case_of({"x0": "bool[]"}, [("v0", "logical_not", "x0")], "v0", lambda item: np.array(True))
    (item,) = case.graph.inputs
    nonzero = replace(case, graph=replace(case.graph, inputs=(replace(item, domain=NONZERO),)))
    for seed in range(20):
        usual = with_usual_numbers(NumpySource(seed), nonzero)
        check(usual)
        assert usual.tensors["x0"].shape == ()


def test_types_with_too_many_elements_are_none() -> None:
    """The draw of their numbers would take longer than all runs."""
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    source = NumpySource(0)
    at_most = with_types(source, case, {"x0": TensorType(DType.FLOAT32, (1 << 14,))})
    assert at_most is not None
    assert with_types(source, case, {"x0": TensorType(DType.FLOAT32, ((1 << 14) + 1,))}) is None
