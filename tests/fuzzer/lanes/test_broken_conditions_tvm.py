"""Rows that are drawn for different numbers along an axis, with equal ones in TVM: no result is called wrong that is
right where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from fuzzer.lanes import lanes_of
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from generators.choice import NumpySource
from generators.domain import Bounds, within
from generators.graph import Case, Graph, Input, Invalid
from generators.limits import Limits
from generators.onnx import random_graph as onnx_graph
from generators.relax import random_graph as relax_graph
from generators.table import TABLE, dialect_of
from generators.torch import random_graph as torch_graph
from generators.values import holds
from oracles.compare import judge
from oracles.outcome import Ran
from oracles.reference import expected

pytestmark = [pytest.mark.tvm, pytest.mark.filterwarnings("ignore")]
"""numpy warns of numbers that are not finite."""

LIMITS = Limits(max_nodes=1, max_numel=64)
GENERATE = {"torch": torch_graph.generate, "onnx": onnx_graph.generate, "relax": relax_graph.generate}
DRAWN = 12
"""How often each row is drawn, at most."""


def conditional(name: str) -> Iterator[Case]:
    """Calls of a row with an operand whose numbers must differ."""
    for number in range(DRAWN):
        with suppress(Invalid, KeyError, ValueError):  # a call that needs others before it
            case = GENERATE[dialect_of(name).name](NumpySource(5, number), LIMITS, [TABLE[name]], symbolic=False)
            if any(map(must_differ, case.graph.inputs)):
                yield case


def must_differ(item: Input) -> bool:
    return item.domain.bounds is Bounds.DISTINCT and item.value.type.sizes[item.domain.axis] > 1


@cache
def names() -> tuple[str, ...]:
    return tuple(name for name, op in TABLE.items() if not op.unlisted and next(conditional(name), None))


def broken(case: Case) -> Case:
    """The case with two equal numbers where all must differ."""
    tensors, inputs = dict(case.tensors), []
    for item in case.graph.inputs:
        if must_differ(item):
            array, axis = tensors[item.value.name].copy(), item.domain.axis
            np.moveaxis(array, axis, 0)[1] = np.moveaxis(array, axis, 0)[0]
            tensors[item.value.name] = array
            assert not holds(array, item.domain)
            item = replace(item, domain=within(item.domain.low, item.domain.high))
        inputs.append(item)
    graph: Graph = replace(case.graph, inputs=tuple(inputs))
    return replace(case, graph=graph, tensors=tensors)


def is_wrong(case: Case) -> bool | None:
    """Whether a result of TVM is called wrong; None where there is no result, or nothing to compare it with."""
    lanes = lanes_of(case.graph.dialect)
    outcomes = {}
    for lane in lanes.judges:
        outcomes[lane] = runner_of(lane).run(PreparedCase(case, Quiet()), lane, Quiet())
    right = expected(outcomes)
    plain = lanes.plain[0]
    if right is None:
        return None
    try:
        found = runner_of(plain).run(PreparedCase(case, Quiet()), plain, Quiet())
    except Exception:  # whatever TVM raises about a call that it does not compile
        return None
    return judge(found.outputs, right) is not None if isinstance(found, Ran) else None


@pytest.mark.long
def test_equal_numbers_are_no_finding() -> None:
    """Each row, in the first call that TVM compiles to the right result."""
    tried: set[str] = set()
    for name in names():
        right = next((case for case in conditional(name) if is_wrong(case) is False), None)
        if right is not None:
            assert is_wrong(broken(right)) is not True, f"{name}: {right.graph.nodes[-1]}"
            tried.add(name.partition("-")[0])
    assert tried >= {"argsort", "topk", "ScatterElements", "NonMaxSuppression", "relax.index_put", "relax.scatter_nd"}
