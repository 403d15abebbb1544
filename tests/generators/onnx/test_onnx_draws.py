"""Most draws of each row are accepted, and each attribute is set in some: a rule that refuses too much shows here."""

from __future__ import annotations

import pytest
from rows import each_row

from fuzzer.coverage.onnx.features import reasons
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Node, Profile
from generators.onnx.operator import NodeForm
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST
from generators.op import Op

DRAWS = 60


def accepted(op: Op) -> list[Node]:
    """The calls that draws of the row alone make."""
    assert isinstance(op.source, NodeForm)
    schema = op.source.schema
    opset = 13 if schema.domain else max(schema.since, OLDEST)
    calls = []
    for index in range(DRAWS):
        builder = Builder(NumpySource(17, index), Limits(), Profile.NORMAL, dialect="onnx", opset=opset)
        if builder.grow(op):
            calls.append(next(node for node in builder.nodes if node.op == op.name))
    return calls


@pytest.mark.exhaustive
@each_row(OPS)
def test_most_draws_are_accepted_and_each_attribute_is_set_in_some(op: Op) -> None:
    calls = accepted(op)
    assert len(calls) > DRAWS / 2
    never = {key for key in op.schema if all(node.attrs[key] is None for node in calls)}
    title = op.name.rpartition("-")[0]
    assert all(f"{title} attribute {key}" in reasons() for key in never), never
