from __future__ import annotations

import pytest
from eager import inferred, types_of

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, TensorType
from generators.symbolic import Size
from generators.torch.ops import TABLE, Op, join, split


@pytest.mark.parametrize(
    ("op", "form", "attrs", "text"),
    [
        ("cat", Form.PLAIN, {"dim": 0}, "torch.cat((a, b))"),
        ("cat", Form.FUNCTION, {"dim": -1}, "torch.concat((a, b), dim=-1)"),
        ("concatenate", Form.FUNCTION, {"dim": 1}, "torch.concatenate((a, b), axis=1)"),
        ("vstack", Form.FUNCTION, {}, "torch.row_stack((a, b))"),
        ("split", Form.PLAIN, {"sizes": (1, 2), "dim": -1}, "torch.split(a, (1, 2), dim=-1)"),
        ("split", Form.FUNCTION, {"sizes": (1, 2), "dim": 0}, "torch.split_with_sizes(a, (1, 2))"),
        ("split_size", Form.METHOD, {"split_size_or_sections": 2, "dim": 1}, "a.split(2, 1)"),
        ("hsplit", Form.METHOD, {"indices_or_sections": (1,)}, "a.hsplit((1,))"),
        ("meshgrid", Form.FUNCTION, {"indexing": "xy"}, "torch.meshgrid([a, b], indexing='xy')"),
    ],
)
def test_source_texts(op: str, form: Form, attrs: Attrs, text: str) -> None:
    assert TABLE[op].render(("a", "b"), attrs, form) == text


@pytest.mark.parametrize(
    ("op", "attrs", "results"),
    [
        ("cat", {"dim": 0}, "int8[2*n]"),
        ("stack", {"dim": 0}, "int8[2,n]"),
        ("split", {"sizes": (6,), "dim": 0}, "int8[6]"),
        ("chunk", {"chunks": 2, "dim": 0}, "int8[(n+1)//2] int8[-(n+1)//2+n]"),
        ("split_size", {"split_size_or_sections": 4, "dim": 0}, "int8[4] int8[n-4]"),
        ("tensor_split", {"indices_or_sections": (1,), "dim": 0}, "int8[1] int8[n-1]"),
    ],
)
def test_symbolic_sizes_keep_their_formula(op: str, attrs: Attrs, results: str) -> None:
    x = TensorType.parse("int8[6]").with_shape(Size.symbol("n", 6))
    operands = (x, x) if TABLE[op].arity[1] > 1 else (x,)
    assert " ".join(str(type.formal()) for type in TABLE[op].results(operands, attrs)) == results


@pytest.mark.parametrize("op", [op for op in (*join.OPS, *split.OPS) if op.lists], ids=lambda op: op.name)
def test_few_pieces_are_drawn(op: Op) -> None:
    for index in range(100):
        builder = Builder(NumpySource(1, index))
        if builder.grow(op):
            assert 1 <= len(builder.nodes[-1].results) <= split.MOST_PIECES


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("unbind", {"dim": 1}),
        ("split_size", {"split_size_or_sections": 1, "dim": 1}),
        ("chunk", {"chunks": 10**10, "dim": 1}),
        ("tensor_split", {"indices_or_sections": 10**10, "dim": 1}),
    ],
)
def test_billions_of_results_are_refused(op: str, attrs: Attrs) -> None:
    with pytest.raises(Invalid):
        inferred(op, types_of("float32[0,9999999999]"), attrs)
