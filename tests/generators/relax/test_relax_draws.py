"""Attributes that rows of Relax draw for operands of any types."""

from __future__ import annotations

import pytest

from generators.choice import NumpySource
from generators.graph import TensorType
from generators.op import Op
from generators.relax.ops import OPS


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_operands_that_a_row_does_not_take_are_no_error(op: Op) -> None:
    for operands in ("float32[]", "float32[2]", "int64[2,3] int64[3]", "float32[2,3,4] bool[4] float32[4]"):
        types = tuple(map(TensorType.parse, operands.split()))
        attrs = op.attrs(NumpySource(1), types)
        assert attrs is None or attrs.keys() == op.schema.keys()
