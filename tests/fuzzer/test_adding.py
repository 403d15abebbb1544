"""docs/adding.md: an operator that is added as the page says, and only so, is drawn, judged and reduced correctly."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.children.validity import NOT_FINITE, OK, verdict
from fuzzer.lanes import SAMPLED_LANES
from fuzzer.lanes.torch.envelope import envelope
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.simpler_operators import operator_complexity, plainer_operators, simpler_operators
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Array, Attrs, Case, Input
from generators.op import Arithmetic, Op
from generators.torch.ops import TABLE
from generators.torch.random_graph import generate

PAGE = Path(__file__).parents[2] / "docs" / "adding.md"
LANE = next(lane for lane in SAMPLED_LANES if lane.name == "relax-export-asserts")


@pytest.fixture
def op(monkeypatch: pytest.MonkeyPatch) -> Op:
    """The row of the page's first code block, in the table."""
    section = PAGE.read_text().split("## An operator")[1].split("\n## ")[0]
    (block,) = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    scope: dict[str, object] = {}
    exec(block, scope)
    (row,) = (value for value in scope.values() if isinstance(value, Op))
    assert row.name not in TABLE, "the page adds an operator that is not there yet"
    monkeypatch.setitem(TABLE, row.name, row)
    return row


def summed(dtype: str, name: str, attrs: Attrs) -> Case:
    calls: list[Call] = [("v0", name, "x0", attrs)]
    return case_of({"x0": f"{dtype}[64,3]"}, calls, "v0", uniform)


def uniform(item: Input) -> Array:
    type = item.value.type
    return np.random.default_rng(5).uniform(1, 2, type.sizes).astype(type.dtype.numpy)


@pytest.mark.slow
def test_the_added_operator_is_drawn_with_the_types_that_pytorch_gives(op: Op) -> None:
    for seed in range(20):
        case = generate(NumpySource(seed), ops=(op,), symbolic=False)
        check(case)
        assert set(case.graph.ops) == {op.name}
        word, why = verdict(case)
        assert word in (OK, NOT_FINITE), why


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_added_operator_has_the_envelope_of_the_sum_that_it_is(op: Op, dtype: str) -> None:
    spread, ill = envelope(summed(dtype, op.name, {"size": (1, 3)}))
    right, _ = envelope(summed(dtype, "sum", {"dim": (0,), "keepdim": True, "dtype": None}))
    assert spread.tolist() == right.tolist()
    assert not ill.any()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_envelope_follows_the_arithmetic_of_the_row(op: Op, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = summed(dtype, op.name, {"size": (1, 3)})
    spread, _ = envelope(case)
    monkeypatch.setitem(TABLE, op.name, replace(op, arithmetic=Arithmetic.FUNCTION))
    as_function, _ = envelope(case)
    assert (as_function > spread).all()


def test_the_added_operator_is_reduced_to_its_plainer_one(op: Op) -> None:
    subject = Subject(summed("float32", op.name, {"size": (1, 3)}), LANE, {})
    (candidate,) = simpler_operators(subject)
    (node,) = candidate.graph.nodes
    assert plainer_operators(op.name, 0) == ("sum",)
    assert (node.op, dict(node.attrs)) == ("sum", {"dim": None, "keepdim": False, "dtype": None})
    assert (operator_complexity(subject.graph), operator_complexity(candidate.graph)) == (1, 0)
