from __future__ import annotations

import pytest
from eager import in_torch, inferred, types_of
from random_calls import compare_calls, refused_by_both

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, TensorType
from generators.symbolic import Size
from generators.torch.ops import TABLE, Op, join, split

STRICTER = {
    "cat": "PyTorch does not check the dim where all operands are empty vectors",
    "concatenate": "as cat",
    "split": "no results",
    "unbind": "no results",
}


@pytest.mark.parametrize("op", [*join.OPS, *split.OPS], ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    counts = compare_calls(op, 150)
    assert counts.keys() <= {"accepted", "refused", *(["stricter"] if op.name in STRICTER else [])}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("cat", "float32[2,3] float32[3,3]", {"dim": 1}, "along 1"),
        ("cat", "float32[2,3] float32[2]", {"dim": 0}, "of one rank above 0"),
        ("cat", "float32[] float32[]", {"dim": 0}, "of one rank above 0"),
        ("cat", "float32[0] float32[]", {"dim": 0}, "of one rank above 0"),
        ("stack", "float32[2] float32[3]", {"dim": 0}, "one shape"),
        ("vstack", "float32[0] float32[2,1]", {}, "along 0"),
        ("hstack", "float32[2] float32[2,3]", {}, "of one rank above 0"),
        ("block_diag", "float32[2,1,1]", {}, "at most matrices"),
        ("split", "float32[5]", {"sizes": (2, 2), "dim": 0}, "do not add up to 5"),
        ("split", "float32[]", {"sizes": (1,), "dim": 0}, "a rank above 0"),
        ("split_size", "float32[5]", {"split_size_or_sections": 0, "dim": 0}, "5 cannot be split by 0"),
        ("split_size", "float32[5]", {"split_size_or_sections": -1, "dim": 0}, "5 cannot be split by -1"),
        ("chunk", "float32[5]", {"chunks": 0, "dim": 0}, "chunks must be a positive number"),
        ("tensor_split", "float32[5]", {"indices_or_sections": 0, "dim": 0}, "sections must be a positive number"),
        ("hsplit", "float32[2,4]", {"indices_or_sections": 3}, "3 sections do not divide 4"),
        ("vsplit", "float32[4]", {"indices_or_sections": 2}, "vsplit takes rank 2 or more"),
        ("meshgrid", "float32[2] int64[2]", {"indexing": "ij"}, "must share one dtype"),
        ("meshgrid", "float32[2] float32[2,2]", {"indexing": "ij"}, "vectors and 0-d tensors"),
        ("broadcast_tensors", "float32[2] float32[3]", {}, "do not broadcast"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    refused_by_both(op, types_of(types), attrs, message)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "results"),
    [
        ("cat", "bool[2] float64[1] int64[3]", {"dim": 0}, "float64[6]"),
        ("cat", "uint8[2] int8[1]", {"dim": -1}, "int16[3]"),
        ("cat", "float64[0] float32[2,3]", {"dim": -2}, "float64[2,3]"),
        ("cat", "float32[0] float32[1,0]", {"dim": 1}, "float32[1,0]"),
        ("stack", "float16[] bfloat16[]", {"dim": -1}, "float32[2]"),
        ("hstack", "int8[2] int64[]", {}, "int64[3]"),
        ("vstack", "float32[3] float32[2,3]", {}, "float32[3,3]"),
        ("dstack", "float32[3] float32[1,3,2]", {}, "float32[1,3,3]"),
        ("column_stack", "int8[3] float16[3,4]", {}, "float16[3,5]"),
        ("block_diag", "float64[] float16[3] int8[0,2]", {}, "float16[2,6]"),
        ("split", "float32[3]", {"sizes": (0, 3), "dim": -1}, "float32[0] float32[3]"),
        ("split_size", "float32[5]", {"split_size_or_sections": 2, "dim": 0}, "float32[2] float32[2] float32[1]"),
        ("split_size", "float32[0]", {"split_size_or_sections": 0, "dim": 0}, "float32[0]"),
        ("chunk", "float32[6]", {"chunks": 4, "dim": 0}, "float32[2] float32[2] float32[2]"),
        ("chunk", "float32[0]", {"chunks": 2, "dim": 0}, "float32[0] float32[0]"),
        ("tensor_split", "int8[2]", {"indices_or_sections": 3, "dim": 0}, "int8[1] int8[1] int8[0]"),
        ("tensor_split", "int8[5]", {"indices_or_sections": (3, 1, -9), "dim": 0}, "int8[3] int8[0] int8[0] int8[5]"),
        ("vsplit", "bool[4,2]", {"indices_or_sections": (-1,)}, "bool[3,2] bool[1,2]"),
        ("unbind", "bool[2,1]", {"dim": -1}, "bool[2]"),
        ("meshgrid", "float32[2] float32[] float32[4]", {"indexing": "xy"}, " ".join(["float32[1,2,4]"] * 3)),
        ("broadcast_tensors", "float32[2,1] int64[0]", {}, "float32[2,0] int64[2,0]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, results: str) -> None:
    assert inferred(op, types_of(types), attrs) == results
    assert in_torch(op, types_of(types), attrs, count=len(results.split())) == results


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
