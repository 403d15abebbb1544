"""Rows of Relax: what they refuse, the types that they infer, and that every row is drawn."""

from __future__ import annotations

import pytest

from generators.check import check
from generators.choice import NumpySource
from generators.graph import Attrs, Form, Invalid, TensorType
from generators.limits import Limits
from generators.op import Op
from generators.relax.ops import FAMILIES, OPS, TABLE
from generators.relax.random_graph import generate
from generators.relax.row import RelaxForm
from generators.relax.schema import schemas


def types(*texts: str) -> tuple[TensorType, ...]:
    return tuple(map(TensorType.parse, texts))


CONV: Attrs = {"strides": (2, 1), "padding": (1, 0, 0, 1), "dilation": (1, 2), "groups": 1, "out_dtype": None}
POOL: Attrs = {"pool_size": (2, 2), "strides": (2, 2), "padding": (0, 0, 0, 0), "dilation": (1, 1), "ceil_mode": False}

RESIZED: Attrs = {
    "size": (2, 3),
    "roi": None,
    "layout": "NHWC",
    "method": "nearest_neighbor",
    "coordinate_transformation_mode": "asymmetric",
    "rounding_method": "floor",
    "cubic_alpha": -0.75,
    "cubic_exclude": 0,
    "extrapolation_value": 0.0,
    "out_dtype": None,
}


def transposed_refused(nd: int) -> list[tuple[Attrs, str]]:
    """Attributes of a transposed convolution: each of its lists is too short, or has a number that is too small."""
    one, none = (1,) * nd, (0,) * nd
    good: Attrs = {"strides": one, "padding": none * 2, "output_padding": none, "dilation": one, "groups": 1}
    lists = ("strides", "padding", "output_padding", "dilation")
    short: list[tuple[Attrs, str]] = [({**good, key: ()}, f"takes numbers of {nd} dimensions") for key in lists]
    return [*short, ({**good, "dilation": none}, "are positive"), ({**good, "padding": (-1,) * 2 * nd}, "are positive")]


RESULTS: tuple[tuple[str, tuple[str, ...], Attrs, tuple[str, ...]], ...] = (
    ("add", ("float32[2,3]", "float32[3]"), {}, ("float32[2,3]",)),
    ("equal", ("int64[2,1]", "int64[3]"), {}, ("bool[2,3]",)),
    ("astype", ("float32[2]",), {"dtype": "int8"}, ("int8[2]",)),
    ("sum", ("float32[2,3,4]",), {"axis": (0, -1), "keepdims": True}, ("float32[1,3,1]",)),
    ("argmax", ("float16[2,3]",), {"axis": None, "keepdims": False}, ("int64[]",)),
    ("cumsum", ("int32[2,3]",), {"axis": None, "dtype": "int64", "exclusive": True}, ("int64[6]",)),
    ("reshape", ("bool[2,6]",), {"shape": (3, -1)}, ("bool[3,4]",)),
    ("expand_dims", ("float32[2,3]",), {"axis": (0, -1)}, ("float32[1,2,3,1]",)),
    ("split", ("float32[7]",), {"indices_or_sections": (2, 3), "axis": 0}, ("float32[2]", "float32[1]", "float32[4]")),
    ("concat", ("int8[2,1]", "int8[2,3]"), {"axis": -1}, ("int8[2,4]",)),
    (
        "strided_slice",
        ("float32[5,6]",),
        {"axes": (1, 0), "begin": (-4, 1), "end": (2147483647, 4), "strides": (2, 1)},
        ("float32[3,2]",),
    ),
    ("take", ("float32[5,6]", "int32[2,2]"), {"axis": -1, "mode": "fast"}, ("float32[5,2,2]",)),
    ("gather_nd", ("float32[5,6,7]", "int64[3,2]"), {"batch_dims": 0}, ("float32[3,7]",)),
    ("arange", (), {"start": 5, "end": 0, "step": -2, "dtype": "int64"}, ("int64[3]",)),
    (
        "topk",
        ("float32[2,5]",),
        {"k": 3, "axis": 1, "ret_type": "both", "largest": True, "dtype": "int32"},
        ("float32[2,3]", "int32[2,3]"),
    ),
    ("matmul", ("int8[4,2,3]", "int8[3]"), {"out_dtype": "int32"}, ("int32[4,2]",)),
    ("nn.conv2d", ("float32[1,2,5,6]", "float32[4,2,2,2]"), CONV, ("float32[1,4,3,5]",)),
    ("nn.max_pool2d", ("float32[1,2,5,6]",), POOL, ("float32[1,2,2,3]",)),
    (
        "nn.batch_norm",
        ("float32[2,3]", *("float32[3]",) * 4),
        {"axis": 1, "epsilon": 0.1, "center": True, "scale": True, "momentum": 0.1, "training": False},
        ("float32[2,3]", "float32[3]", "float32[3]"),
    ),
    (
        "nn.attention",
        ("float32[1,2,3,4]", "float32[1,5,3,4]", "float32[1,5,3,6]"),
        {"scale": None},
        ("float32[1,2,3,6]",),
    ),
    ("one_hot", ("int32[2]",), {"on_value": 1.0, "off_value": 0.0, "depth": 3, "axis": 0}, ("float64[3,2]",)),
    ("call_tir-row_sum", ("float16[2,3]",), {}, ("float16[2]",)),
    ("image.resize2d", ("float32[1,4,6,5]",), RESIZED, ("float32[1,2,3,5]",)),
    ("image.resize2d", ("float32[1,4,6,5]",), {**RESIZED, "out_dtype": "float16"}, ("float16[1,2,3,5]",)),
    (
        "quantize",
        ("float32[2,3]", "float32[2]", "int32[2]"),
        {"axis": -2, "out_dtype": "uint8"},
        ("uint8[2,3]",),
    ),
    ("dequantize", ("int8[2,3]", "float32[]", "int8[]"), {"axis": 1, "out_dtype": "float16"}, ("float16[2,3]",)),
    ("median", ("float32[2,3]",), {"axis": (1,), "keepdims": True}, ("float32[2,1]", "int64[2,1]")),
    ("median", ("int32[2,3]",), {"axis": (0, 1), "keepdims": False}, ("int32[]",)),
    (
        "layout_transform",
        ("int8[2,5]",),
        {"index_map": "lambda i0, i1: (i1 // 3, i0, i1 % 3,)", "pad_value": 1},
        ("int8[2,2,3]",),
    ),
    (
        "dynamic_strided_slice",
        ("float32[5,6]",),
        {"begin": (-1, 4), "end": (-6, 6), "strides": (-2, 3)},
        ("float32[3,1]",),
    ),
    ("shape_to_tensor", ("bool[2,5,1]",), {}, ("int64[3]",)),
    ("size", ("bool[2,5,1]",), {}, ("int64[]",)),
    ("nn.dropout", ("float16[2]",), {"rate": 0.5}, ("float16[2]", "float16[2]")),
)

REFUSED: tuple[tuple[str, tuple[str, ...], Attrs, str], ...] = (
    ("add", ("float32[2]", "float16[2]"), {}, "operands of several dtypes"),
    ("add", ("float32[0]", "float32[0]"), {}, "has no elements"),
    ("exp", ("int32[2]",), {}, "is not defined for int32"),
    *(
        (f"nn.conv{nd}d_transpose", (f"float32[1,2{',3' * nd}]", f"float32[2,1{',2' * nd}]"), attrs, why)
        for nd in (1, 2, 3)
        for attrs, why in transposed_refused(nd)
    ),
    ("clip", ("float32[2]",), {"min": 2.0, "max": 1.0}, "min is above max"),
    ("reshape", ("float32[5]",), {"shape": (2, -1)}, "do not part into rows of 2"),
    ("permute_dims", ("float32[2,3]",), {"axes": (0, 0)}, "name one twice"),
    ("split", ("float32[5]",), {"indices_or_sections": 2, "axis": 0}, "does not part into 2"),
    ("arange", (), {"start": 0, "end": 0, "step": 1, "dtype": "int64"}, "the range has 0 numbers"),
    ("matmul", ("float32[2,3]", "float32[2,3]"), {"out_dtype": None}, "have no product"),
    ("nn.conv2d", ("float32[1,3,5,6]", "float32[4,2,2,2]"), CONV, "does not fit"),
    ("nn.max_pool2d", ("float32[1,2,5,6]",), {**POOL, "padding": (2, 0, 0, 0)}, "pads more than half a window"),
    ("image.resize2d", ("float32[1,4,6,5]",), {**RESIZED, "rounding_method": "round", "size": (8, 3)}, "a matter of"),
    ("image.resize2d", ("float32[1,4,6,5]",), {**RESIZED, "roi": (0.0,) * 4}, "a region is for tf_crop_and_resize"),
    ("image.resize2d", ("float32[1,0,6,5]",), RESIZED, "has no pixels"),
    ("quantize", ("float32[2,3]", "float16[2]", "int8[2]"), {"axis": 0, "out_dtype": "int8"}, "no scale of"),
    ("layout_transform", ("int8[5]",), {"index_map": "lambda i0: (i0 // 2, i0 % 2,)", "pad_value": None}, "padding is"),
    ("layout_transform", ("int8[4]",), {"index_map": "lambda i0: (i0 // 2, i0 % 4,)", "pad_value": None}, "not there"),
    ("layout_transform", ("int8[4]",), {"index_map": "exit()", "pad_value": None}, "a map of indices"),
    ("dynamic_strided_slice", ("int8[4]",), {"begin": (3,), "end": (1,), "strides": (1,)}, "no elements"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "attrs", "results"), RESULTS)
def test_a_row_infers_types(name: str, operands: tuple[str, ...], attrs: Attrs, results: tuple[str, ...]) -> None:
    assert TABLE[f"relax.{name}"].results(types(*operands), attrs) == types(*results)


@pytest.mark.parametrize(("name", "operands", "attrs", "why"), REFUSED)
def test_a_row_refuses(name: str, operands: tuple[str, ...], attrs: Attrs, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        TABLE[f"relax.{name}"].results(types(*operands), attrs)


def test_rows_are_operators_of_the_registry() -> None:
    forms = [row.source for row in OPS if isinstance(row.source, RelaxForm)]
    assert all(form.schema is schemas()[form.schema.name] and form.schema.function for form in forms)
    assert set(FAMILIES) == set(TABLE)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_each_row_is_drawn_in_valid_cases(op: Op) -> None:
    drawn = [generate(NumpySource(5, number), Limits(max_nodes=1), [op], symbolic=number == 0) for number in range(6)]
    for case in drawn:
        check(case)
    assert all(case.graph.nodes[-1].op == op.name for case in drawn)


@pytest.mark.slow
def test_all_forms_are_drawn() -> None:
    cases = [generate(NumpySource(5, number)) for number in range(300)]
    assert {node.form for case in cases for node in case.graph.nodes} == {Form.PLAIN, Form.BRANCH, *OWN_FORMS}


OWN_FORMS = (
    *(Form.BINDING, Form.SUBROUTINE, Form.TUPLE, Form.MATCH_CAST, Form.OPEN, Form.RECURSION),
    *(Form.PRIMITIVE, Form.LOCAL, Form.CLOSURE, Form.TWICE, Form.SAME_NAME),
)


def test_only_rows_of_one_operand_have_variable_sizes() -> None:
    rows = [row for row in OPS if Form.OPEN in row.forms]
    assert rows == [row for row in OPS if Form.PRIMITIVE in row.forms]
    assert {row.arity for row in rows} == {(1, 1)}
    assert not TABLE["relax.nn.relu"].expresses(Form.OPEN, types("float32[]"), {})
