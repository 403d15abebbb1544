"""How odd a case is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.triage.natural.oddity import oddity, usual_rank
from fuzzer.triage.scope.neighbours import with_attributes
from generators.graph import Case, Form, Input, Node


def counted(item: Input) -> np.ndarray:
    numbers = np.arange(1, item.value.type.numel + 1)
    signed = np.where(numbers % 2 == 0, -numbers, numbers)
    return signed.reshape(item.value.type.sizes).astype(item.value.type.dtype.numpy)


def neg(type: str) -> Case:
    return case_of({"x0": type}, [("v0", "neg", "x0")], "v0", counted)


def test_the_plainest_case_is_not_odd() -> None:
    assert oddity(neg("float32[2,3]")) == 0


@pytest.mark.parametrize(
    ("odd", "usual"),
    [
        ("int64[2,3]", "float32[2,3]"),
        ("bfloat16[2,3]", "int64[2,3]"),
        ("float32[]", "float32[3]"),
        ("float32[6]", "float32[2,3]"),
        ("float32[2,2]", "float32[2,3]"),
        ("float32[1,3]", "float32[2,3]"),
        ("float32[0,3]", "float32[1,3]"),
        ("float32[2,13]", "float32[2,3]"),
        ("float32[2,3,4,5,6]", "float32[2,3,4,5]"),
        ("float32[2,3] transposed", "float32[2,3]"),
    ],
)
def test_what_is_odder(odd: str, usual: str) -> None:
    assert oddity(neg(odd)) > oddity(neg(usual))


def test_numbers_that_are_equal_or_follow_no_rule_are_odd() -> None:
    case = neg("float32[2,3]")
    for array in (np.zeros((2, 3)), np.linspace(0.1, 2.3, 6).reshape(2, 3), np.full((2, 3), np.nan)):
        assert oddity(replace(case, tensors={"x0": array.astype(np.float32)})) > 0


def test_attributes_that_are_not_at_their_defaults_and_other_forms_are_odd() -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "softplus", "x0")], "v0", counted)
    other = with_attributes(case, 0, {"beta": 2.0})
    assert oddity(case) == 0
    assert other is not None
    assert oddity(other) == 2
    nodes = (replace(case.graph.nodes[0], form=Form.METHOD),)
    assert oddity(replace(case, graph=replace(case.graph, nodes=nodes))) == 1


def test_a_name_says_the_rank_of_the_first_operand() -> None:
    named = {"conv1d": 3, "max_pool2d": 4, "max_pool3d_with_indices": 5, "relu": None, "pad_constant": None}
    assert {op: usual_rank(Node(op, ("x0",), {}, ())) for op in named} == named


def test_an_image_without_its_batch_is_odd() -> None:
    calls = [("v0", "max_pool2d", "x0", {"kernel_size": 2})]
    batched, alone = (case_of({"x0": type}, calls, "v0", counted) for type in ("float32[2,3,4,5]", "float32[3,4,5]"))
    assert oddity(batched) < oddity(alone)


def test_a_factor_of_zero_is_odd() -> None:
    def sub(alpha: float) -> int:
        types = {"x0": "float32[2,3]", "x1": "float32[2,3]"}
        return oddity(case_of(types, [("v0", "sub", "x0 x1", {"alpha": alpha})], "v0"))

    assert sub(1) < sub(2) < sub(0) == sub(-2.5)
