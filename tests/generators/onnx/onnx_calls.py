"""For the tests of ONNX rows: what a row infers, and what the readers of a file say about drawn cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of, to_proto
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Attr, Case, Invalid, TensorType
from generators.onnx.operator import Operator
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS, ROWS

Expected = tuple[str, str, dict[str, Attr], str]
"""A row, the types of its operands, attributes beside those that are left out, and the result types or the refusal."""


def inferred(row: str, operands: str, attrs: dict[str, Attr]) -> str:
    """The result types of a call, with spaces between them."""
    op = ROWS[row]
    types = tuple(map(TensorType.parse, operands.split()))
    return " ".join(map(str, op.results(types, {**dict.fromkeys(op.schema), **attrs})))


def require_inferred(expected: Expected) -> None:
    row, operands, attrs, result = expected
    assert inferred(row, operands, attrs) == result


def require_refused(expected: Expected) -> None:
    row, operands, attrs, message = expected
    with pytest.raises(Invalid, match=message):
        inferred(row, operands, attrs)


def require_valid(operators: Sequence[Operator], count: int, seed: int = 1) -> None:
    """Draw cases of one to two calls of these operators, over all opsets. The checker takes them, and both readers
    give results of the types of the case. All operators are drawn."""
    names = {operator.name for operator in operators}
    ops = [op for op in OPS if op.name.rpartition("-")[0] in names]
    drawn = set()
    for number in range(count):
        case = generate(NumpySource(seed, number), Limits(max_numel=64, max_nodes=2), ops)
        drawn |= {node.title for node in case.graph.nodes}
        try:
            _require_read(case)
        except Exception as error:
            error.add_note(f"case {number}: {[(node.op, dict(node.attrs), node.form) for node in case.graph.nodes]}")
            raise
    assert drawn >= names


def _require_read(case: Case) -> None:
    file = file_of(case)
    model = to_proto(file.model)
    onnx.checker.check_model(model, full_check=True)
    wanted = [(type.dtype.numpy, type.sizes) for type in case.bound.output_types]
    for read in (by_onnxruntime, by_interpreter):
        with np.errstate(all="ignore"):
            found = [(array.dtype, array.shape) for array in read(model, file.inputs)]
        assert found == wanted, f"{read.__name__} gives {found}, not {wanted}"
