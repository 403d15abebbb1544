"""What no framework defines is not compared, and everything else is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.cases.scalar_loss import leaves
from fuzzer.lanes import GRADIENT_REFERENCES, lanes_of
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.runners import runner_of
from fuzzer.lanes.torch.envelope import TORCH as TORCH_DIALECT
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import ANY, Bounds
from generators.graph import Array, Case, DType, Input, Invalid, TensorType
from generators.random_graph import with_values
from generators.table import TABLE, dialect_of
from generators.undefined import INTEGER_QUOTIENT, ROWS, rows_of
from generators.undefined import Call as UndefinedCall
from oracles.compare import judge
from oracles.expected_output import Expected
from oracles.finding import Kind
from oracles.outcome import Ran
from oracles.reference import expected

pytestmark = pytest.mark.filterwarnings("ignore")
"""numpy warns of numbers that are not finite."""

NAN, INF = float("nan"), float("inf")
LEAST, MOST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Example:
    """A call with numbers, and which elements of each output are undefined: 1 for those, 0 for others."""

    row: str
    types: str
    op: str
    attrs: Mapping[str, Any]
    numbers: tuple[Any, ...]
    undefined: tuple[Any, ...]

    @property
    def case(self) -> Case:
        types = {f"x{place}": type for place, type in enumerate(self.types.split())}
        given = dict(zip(types, self.numbers, strict=True))
        results = " ".join(f"y{place}" for place in range(len(self.undefined)))
        call: Call = (results, self.op, " ".join(types), dict(self.attrs))

        def array(item: Input) -> Array:
            return np.array(given[item.value.name], item.value.type.dtype.numpy)

        return case_of(types, (call,), results, array, opset=25 if dialect_of(self.op).opsets else 0)


TO = {"non_blocking": False, "copy": False}
RANKING = {"dim": 0, "descending": True, "stable": False}
EDGES = (1.5, NAN, -INF, -2147483648.9, 2147483648.0, 2147483520.0)
PLACE = {"axis": 1, "keepdims": False}
BOXES = np.array([[(0, 0, 1, 1), (0, 0, 2, 2)]])
APART = np.array([[(0, 0, 1, 1), (5, 5, 6, 6), (9, 9, 10, 10)]])
GRID = {"scale": 0.25, "zero_point": 0, "quant_min": 0, "quant_max": 255}


def _image(*numbers: int) -> Array:
    """One image of one row."""
    return np.array([[[numbers]]])


EXAMPLES = (
    # PyTorch
    Example("conversion-to-integer", "float32[6]", "to", {"dtype": "int32", **TO}, (EDGES,), ((0, 1, 1, 0, 1, 0),)),
    Example(
        "conversion-to-integer",
        "float32[4]",
        "to",
        {"dtype": "uint8", **TO},
        ((-1, -0.5, 255.5, 256),),
        ((1, 0, 0, 1),),
    ),
    Example("conversion-to-integer", "float16[3]", "to", {"dtype": "int64", **TO}, ((INF, 60000, 3),), ((1, 0, 0),)),
    Example("conversion-to-integer", "float32[3]", "to", {"dtype": "bool", **TO}, ((NAN, INF, 0),), ((0, 0, 0),)),
    Example("conversion-to-integer", "float32[2]", "to_uint8", {}, ((NAN, 7),), ((1, 0),)),
    Example("conversion-to-integer", "float32[2] int8[1]", "type_as", {}, ((300, 7), (0,)), ((1, 0),)),
    Example(
        "conversion-to-integer",
        "float32[2,2]",
        "sum",
        {"dim": (1,), "keepdim": False, "dtype": "int64"},
        (((NAN, 1), (2.5, 3.5)),),
        ((1, 0),),
    ),
    Example(
        "conversion-to-integer", "float32[3]", "cumsum", {"dim": 0, "dtype": "int32"}, ((1.5, NAN, 2),), ((0, 1, 1),)
    ),
    Example("conversion-to-integer", "int32[2] float32[2]", "copy", {}, ((1, 2), (NAN, 3)), ((1, 0),)),
    Example("quantization-of-nan", "float32[3]", "fake_quantize", GRID, ((NAN, INF, 9.9),), ((1, 1, 0),)),
    Example(
        "shift-too-far",
        "int32[4] int32[4]",
        "bitwise_left_shift",
        {},
        ((1, 1, 1, 0), (-1, 31, 32, 40)),
        ((1, 0, 1, 1),),
    ),
    Example("shift-too-far", "int8[2] int8[2]", "bitwise_right_shift", {}, ((-5, 5), (8, 7)), ((1, 0),)),
    Example("shift-too-far", "int32[2]", "bitwise_left_shift_scalar", {"other": 32}, ((1, 0),), ((1, 1),)),
    Example("integer-quotient", "int32[2] int32[2]", "floor_divide", {}, ((LEAST, 7), (-1, -1)), ((1, 0),)),
    Example("integer-quotient", "int32[2] int32[2]", "remainder", {}, ((LEAST, 7), (-1, -1)), ((1, 0),)),
    Example("integer-quotient", "int32[2]", "floor_divide_scalar", {"other": -1}, ((LEAST, 7),), ((1, 0),)),
    Example("integer-quotient", "int32[2]", "rfloor_divide_scalar", {"other": LEAST}, ((-1, 7),), ((1, 0),)),
    Example("open-order", "float32[5]", "sort", RANKING, ((1, 2, 1, NAN, NAN),), ((0,) * 5, (1, 1, 0, 1, 1))),
    Example("open-order", "float32[2]", "sort", {**RANKING, "stable": True}, ((1, 1),), ((0, 0), (0, 0))),
    Example("open-order", "float32[3]", "argsort", RANKING, ((1, 2, 1),), ((0, 1, 1),)),
    Example("open-order", "float32[4]", "topk", {"k": 2, "dim": 0}, ((1, 2, 2, 3),), ((0, 0), (0, 1))),
    Example("open-order", "float32[3]", "topk", {"k": 2, "dim": 0, "sorted": False}, ((1, 2, 3),), ((1, 1), (1, 1))),
    Example("open-order", "int8[4]", "topk", {"k": 2, "dim": 0}, ((1, 2, 2, 3),), ((0, 0), (0, 1))),
    Example("open-order", "float32[2,3]", "kthvalue", {"k": 2, "dim": 1}, (((1, 1, 0), (1, 2, 3)),), ((0, 0), (1, 0))),
    Example("open-order", "float32[2,3]", "median_dim", {"dim": 1}, (((1, 1, 0), (1, 2, 3)),), ((0, 0), (1, 0))),
    Example("open-order", "float32[3]", "median_dim", {"dim": 0}, ((1, NAN, NAN),), (0, 0)),
    Example("open-order", "float32[2,3]", "nanmedian_dim", {"dim": 1}, (((1, 1, 0), (1, 2, 3)),), ((0, 0), (1, 0))),
    Example("open-order", "float32[4]", "cummax", {"dim": 0}, ((1, 2, 2, 3),), ((0,) * 4, (0, 0, 1, 0))),
    Example("open-order", "float32[4]", "cummin", {"dim": 0}, ((3, 3, 0, 1),), ((0,) * 4, (0, 1, 0, 0))),
    Example(
        "open-order",
        "float32[1,1,6]",
        "max_pool1d_with_indices",
        {"kernel_size": 2, "stride": 2, "padding": 0, "dilation": 1, "ceil_mode": False},
        ((((1, 1, 0, 3, 5, 5),),),),
        ((((0, 0, 0),),), (((1, 0, 1),),)),
    ),
    Example(
        "open-order",
        "float32[1,2,4]",
        "adaptive_max_pool1d_with_indices",
        {"output_size": 2},
        ((((1, 1, 0, 3), (4, 4, 4, 5)),),),
        ((((0, 0), (0, 0)),), (((1, 0), (1, 0)),)),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2] float32[2]",
        "scatter",
        {"dim": 0},
        ((1, 2, 3), (1, 1), (5, 6)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2] float32[3]",
        "scatter",
        {"dim": 0},
        ((1, 2, 3), (1, 1), (5, 6, 7)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2] float32[2]",
        "scatter",
        {"dim": 0, "reduce": "add"},
        ((1, 2, 3), (1, 1), (5, 6)),
        ((0, 0, 0),),
    ),
    Example(
        "written-twice",
        "float32[3,1] int64[2] float32[2,1]",
        "index_copy",
        {"dim": 0},
        (((1,), (2,), (3,)), (2, 2), ((5,), (6,))),
        (((0,), (0,), (1,)),),
    ),
    Example("written-twice", "float32[3] int64[2] float32[2]", "put", {}, ((1, 2, 3), (0, -3), (5, 6)), ((1, 0, 0),)),
    Example(
        "written-twice", "float32[3] int64[3] float32[3]", "put", {}, ((1, 2, 3), (0, 0, 1), (5, 5, 6)), ((0,) * 3,)
    ),
    Example(
        "written-twice",
        "float32[2,3] float32[3] int64[3] int64[3]",
        "index_put",
        {},
        (((1, 2, 3), (4, 5, 6)), (7, 8, 9), (0, -2, 1), (2, 2, 0)),
        (((0, 0, 1), (0, 0, 0)),),
    ),
    Example(
        "written-twice",
        "float32[3] float32[2] int64[2]",
        "index_put",
        {"accumulate": True},
        ((1, 2, 3), (5, 6), (1, 1)),
        ((0, 0, 0),),
    ),
    Example(
        "written-twice",
        "float32[2,2,3] float32[2,3] int64[3]",
        "setitem",
        {"index": ("-1", "...", "{2}")},
        (np.zeros((2, 2, 3)), ((1, 2, 5), (3, 3, 6)), (0, 0, 2)),
        ((((0,) * 3,) * 2, ((1, 0, 0), (0, 0, 0))),),
    ),
    Example(
        "written-twice",
        "float32[3,4] float32[1,2,1,3] int64[2]",
        "setitem",
        {"index": ("{2}", "None", "1:")},
        (np.zeros((3, 4)), ((((1, 2, 3),), ((1, 5, 3),)),), (-1, 2)),
        (((0,) * 4, (0,) * 4, (0, 0, 1, 0)),),
    ),
    Example(
        "written-twice",
        "float32[3] float32[2] int64[2]",
        "setitem_update",
        {"index": ("{2}",), "operator": "+="},
        ((1, 2, 3), (5, 6), (1, 1)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[3] float32[1] bool[3]",
        "setitem",
        {"index": ("{2}",)},
        ((1, 2, 3), (5,), (1, 1, 0)),
        ((0, 0, 0),),
    ),
    Example(
        "written-twice",
        "float32[1,2,2] int64[1,2,2]",
        "max_unpool1d",
        {"kernel_size": 2},
        ((((1, 2), (3, 4)),), (((3, 3), (0, 3)),)),
        ((((0, 0, 0, 1), (0,) * 4),),),
    ),
    Example(
        "written-twice",
        "float32[1,1,1,2] int64[1,1,1,2]",
        "max_unpool2d",
        {"kernel_size": 2},
        (_image(1, 2), _image(5, 5)),
        (_image(0, 0, 0, 0, 0, 1, 0, 0).reshape(1, 1, 2, 4),),
    ),
    # ONNX
    Example("conversion-to-integer", "float32[6]", "Cast-25", {"to": "int32"}, (EDGES,), ((0, 1, 1, 0, 1, 0),)),
    Example("conversion-to-integer", "float32[2]", "Cast-25", {"to": "uint8"}, ((-1, 255),), ((1, 0),)),
    Example("conversion-to-integer", "float32[2] int8[1]", "CastLike-25", {}, ((128, -128), (0,)), ((1, 0),)),
    Example("conversion-to-integer", "int32[2] float32[2]", "Pow-15", {}, ((9, 2), (20.0, 3.0)), ((1, 0),)),
    Example(
        "quantization-of-nan",
        "float32[3] float32[]",
        "QuantizeLinear-25",
        {"inputs": (True, True, False)},
        ((NAN, INF, 3), 0.5),
        ((1, 1, 0),),
    ),
    Example(
        "quantization-without-range", "float32[4]", "DynamicQuantizeLinear-11", {}, ((NAN, 1, 2, 3),), ((1,) * 4, 1, 1)
    ),
    Example("quantization-without-range", "float32[4]", "DynamicQuantizeLinear-11", {}, ((0,) * 4,), ((1,) * 4, 1, 1)),
    Example(
        "quantization-without-range", "float32[4]", "DynamicQuantizeLinear-11", {}, ((0, 1, 2, 3),), ((0,) * 4, 0, 0)
    ),
    Example("shift-too-far", "uint8[2] uint8[2]", "BitShift-11", {"direction": "LEFT"}, ((5, 5), (8, 7)), ((1, 0),)),
    Example("order-of-nan", "float32[2,2]", "ArgMax-13", {"axis": 1, "keepdims": 0}, (((NAN, 1), (2, 3)),), ((1, 0),)),
    Example("order-of-nan", "float32[1,2]", "ArgMax-13", {"axis": 1, "keepdims": 0}, (((NAN, NAN),),), ((1,),)),
    Example("order-of-nan", "float32[2] float32[2]", "Max-13", {}, ((NAN, 1), (2, 3)), ((1, 0),)),
    Example("order-of-nan", "float32[3]", "Hardmax-13", {"axis": -1}, ((0, NAN, 0),), ((1, 1, 1),)),
    Example("order-of-nan", "float32[2,2]", "Hardmax-13", {"axis": 1}, (((1, NAN), (2, 3)),), (((1, 1), (0, 0)),)),
    Example("order-of-nan", "float32[2,2]", "Hardmax-13", {"axis": None}, (((1, NAN), (2, 3)),), (((1, 1), (0, 0)),)),
    Example("open-order", "float32[3]", "TopK-24", {"K": (2,)}, ((1, 2, 2),), ((0, 0), (0, 0))),
    Example("open-order", "float32[3]", "TopK-24", {"K": (2,), "sorted": 0}, ((1, 2, 3),), ((1, 1), (1, 1))),
    Example(
        "open-order",
        "float32[1,2,4] float32[1,1,2]",
        "NonMaxSuppression-11",
        {"max_output_boxes_per_class": 1, "iou_threshold": 1.0},
        (BOXES, (((3, 3),),)),
        (((0, 0, 1),),),
    ),
    Example(
        "open-order",
        "float32[1,2,4] float32[1,1,2]",
        "NonMaxSuppression-11",
        {"max_output_boxes_per_class": 2, "iou_threshold": 0.5, "then": "Size"},
        (BOXES, (((3, 3),),)),
        (0,),
    ),
    Example(
        "open-order",
        "float32[1,3,4] float32[1,1,3]",
        "NonMaxSuppression-11",
        {"max_output_boxes_per_class": 1, "iou_threshold": 1.0},
        (APART, (((3, 3, INF),),)),
        (((0, 0, 0),),),
    ),
    Example(
        "open-order",
        "float32[1,3,4] float32[1,1,3]",
        "NonMaxSuppression-11",
        {"max_output_boxes_per_class": 3, "iou_threshold": 1.0},
        (APART, (((INF, 3, INF),),)),
        (((0, 0, 1), (0, 0, 1), (0, 0, 0)),),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2] float32[2]",
        "ScatterElements-18",
        {},
        ((1, 2, 3), (1, -2), (5, 6)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2,1] float32[2]",
        "ScatterND-18",
        {},
        ((1, 2, 3), ((1,), (1,)), (5, 6)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[1,2,1,1] int64[1,2,1,1]",
        "MaxUnpool-22",
        {"kernel_shape": (2, 2)},
        (_image(1, 2).reshape(1, 2, 1, 1), _image(5, 5).reshape(1, 2, 1, 1)),
        (_image(0, 0, 0, 0, 0, 1, 0, 0).reshape(1, 2, 2, 2),),
    ),
    Example(
        "reduction-of-nothing",
        "float32[0,2]",
        "ReduceMean-18",
        {"axes": (0,), "keepdims": 0},
        (np.zeros((0, 2)),),
        ((1, 1),),
    ),
    # Relax
    Example("conversion-to-integer", "float32[6]", "relax.astype", {"dtype": "int32"}, (EDGES,), ((0, 1, 1, 0, 1, 0),)),
    Example(
        "open-order",
        "float32[4]",
        "relax.argsort",
        {"axis": 0, "descending": False, "dtype": "int64"},
        ((2, 1, 2, 0),),
        ((0, 0, 1, 1),),
    ),
    Example(
        "open-order",
        "float32[4]",
        "relax.topk",
        {"k": 2, "axis": -1, "ret_type": "both", "largest": True, "dtype": "int32"},
        ((2, 1, 2, 0),),
        ((0, 0), (1, 1)),
    ),
    Example("open-order", "float32[2,2]", "relax.argmax", PLACE, (((2, 2), (1, 5)),), ((1, 0),)),
    Example("open-order", "float32[2,2]", "relax.argmin", PLACE, (((2, 2), (1, 5)),), ((1, 0),)),
    Example(
        "open-order",
        "float32[2,3]",
        "relax.median",
        {"axis": (1,), "keepdims": False},
        (((2, 2, 5), (1, 5, 5)),),
        ((0, 0), (1, 1)),
    ),
    Example(
        "written-twice",
        "float32[3,1] int64[2,1] float32[2,1]",
        "relax.scatter_elements",
        {"axis": 0, "reduction": "update"},
        (((1,), (2,), (3,)), ((2,), (2,)), ((5,), (6,))),
        (((0,), (0,), (1,)),),
    ),
    Example(
        "written-twice",
        "float32[3] int64[2,1] float32[2]",
        "relax.scatter_nd",
        {"reduction": "update"},
        ((1, 2, 3), ((1,), (1,)), (5, 6)),
        ((0, 1, 0),),
    ),
    Example(
        "written-twice",
        "float32[2,2] int64[2] int64[2] float32[2]",
        "relax.index_put",
        {"accumulate": False},
        (((1, 2), (3, 4)), (1, 1), (0, 0), (5, 6)),
        (((0, 0), (1, 0)),),
    ),
)


def reference_of(case: Case) -> tuple[Expected, ...]:
    lanes = lanes_of(case.graph.dialect).judges
    outcomes = {lane: runner_of(lane).run(PreparedCase(case, Quiet()), lane, Quiet()) for lane in lanes}
    right = expected(outcomes)
    assert right is not None
    return right


def with_other(right: tuple[Expected, ...], chosen: tuple[Array, ...]) -> tuple[Array, ...]:
    """The eager results with other numbers where they are chosen."""
    return tuple(
        np.where(mask, ~each.eager if each.eager.dtype == bool else np.where(each.eager == 3, 4, 3), each.eager).astype(
            each.eager.dtype
        )
        for each, mask in zip(right, chosen, strict=True)
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.op}-{each.row}")
def test_exactly_the_undefined_elements_are_not_compared(example: Example) -> None:
    right = reference_of(example.case)
    undefined = tuple(np.array(mask, np.bool_) for mask in example.undefined)
    assert [each.ill.tolist() for each in right] == [mask.tolist() for mask in undefined]
    assert judge(with_other(right, undefined), right) is None
    if all(mask.all() for mask in undefined):
        return
    found = judge(with_other(right, tuple(~mask for mask in undefined)), right)
    assert found is not None
    assert found[0] is Kind.WRONG_VALUE


OF_RESULTS = re.compile(r"max_?unpool.*|.*max_pool.*_with_indices", re.IGNORECASE)
"""Rows whose operands are results of other calls in each draw."""


@pytest.mark.parametrize("op", [name for name in TABLE if rows_of(name)])
def test_each_drawn_call_has_an_answer(op: str) -> None:
    """The rows take every form of attributes: those that are left out too."""
    dialect, row, answers = dialect_of(op), TABLE[op], 0
    opsets = [each for each in dialect.opsets.drawn() if row in dialect.opsets.rows_at(each)] if dialect.opsets else []
    for seed in range(30):
        source = NumpySource(5, seed)
        opset = opsets[seed % len(opsets)] if opsets else None
        try:
            case = dialect.draw(source, Limits(max_nodes=1), [row], symbolic=False, opset=opset).case()
        except Invalid:
            continue
        for node in case.graph.nodes:
            if node.op == op and set(node.args) <= set(case.tensors):
                types = tuple(case.graph.types[arg] for arg in node.args)
                numbers = [case.tensors[arg] for arg in node.args]
                args = tuple(each.astype(np.float64) if each.dtype.kind in "fV" else each for each in numbers)
                call = UndefinedCall(args, types, tuple(value.type for value in node.results), node.attrs)
                for _, where in rows_of(op):
                    where(call)
                    answers += 1
    assert answers or OF_RESULTS.fullmatch(op)


def test_an_integer_quotient_of_onnx_is_found_without_a_run() -> None:
    """onnxruntime ends the process there, or raises, so that the case has no reference."""
    ((row, where),) = rows_of("Div-14")
    types = (TensorType(DType.INT32, (3,)),) * 2
    call = UndefinedCall((np.array([LEAST, 7, 7], np.int32), np.array([-1, 0, -1], np.int32)), types, types[:1], {})
    assert row.name == INTEGER_QUOTIENT
    assert where(call).results[0].tolist() == [True, True, False]


def test_each_row_has_an_example_in_each_dialect() -> None:
    shown = {(each.row, dialect_of(each.op).name) for each in EXAMPLES if any(np.any(mask) for mask in each.undefined)}
    of = {op.partition("-")[0]: dialect_of(op).name for op in TABLE}
    wanted = {(row.name, of[op.partition("-")[0]]) for row in ROWS for op in row.where}
    assert wanted - shown == {(INTEGER_QUOTIENT, "onnx")}


def test_what_does_not_depend_on_an_undefined_number_is_compared() -> None:
    """The product with zero is zero whatever the number is, and what is computed from it alone is not known."""
    calls: tuple[Call, ...] = (
        ("i0", "to", "x0", {"dtype": "int32", **TO}),
        ("z0", "mul", "i0 x1"),
        ("n0", "add_scalar", "i0", {"other": 1}),
        ("s0", "sign", "n0"),
    )
    numbers = {"x0": np.array([NAN, 5.0], np.float32), "x1": np.array([0, 2], np.int32)}
    case = case_of({"x0": "float32[2]", "x1": "int32[2]"}, calls, "z0 n0 s0", lambda item: numbers[item.value.name])
    assert [each.ill.tolist() for each in reference_of(case)] == [[False, False], [True, False], [True, False]]


def test_what_equal_numbers_are_read_by_is_compared() -> None:
    """Whichever of equal scores is taken, the score is the same; what stands beside it is not."""
    calls: tuple[Call, ...] = (
        ("y0 i0", "topk", "x0", {"k": 2, "dim": 0, "largest": True, "sorted": True}),
        ("y1", "gather", "x0 i0", {"dim": 0}),
        ("y2", "gather", "x1 i0", {"dim": 0}),
    )
    numbers = {"x0": np.array([3, 2, 2, 0], np.float32), "x1": np.array([5, 6, 7, 8], np.float32)}
    types = dict.fromkeys(numbers, "float32[4]")
    case = case_of(types, calls, "y0 i0 y1 y2", lambda item: numbers[item.value.name])
    assert [each.ill.tolist() for each in reference_of(case)] == [
        *([False, False], [False, True], [False, False], [False, True]),
    ]


WITHOUT_TIES = (
    *("sort", "argsort", "topk", "kthvalue", "median_dim", "nanmedian_dim", "cummax", "cummin"),
    *(f"{name}_pool{rank}d_with_indices" for name in ("max", "adaptive_max") for rank in (1, 2, 3)),
)
"""Rows that are drawn for numbers without ties, because PyTorch does not say which of equal ones it takes."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_TIES)
def test_equal_numbers_may_be_taken_in_any_order(name: str) -> None:
    """The first one of equal numbers, or the last one: neither is a finding."""
    tried = 0
    for number in range(25):
        builder = Builder(NumpySource(5, number), Limits(max_numel=64))
        if not builder.grow(TABLE[name]):
            continue
        case, positions = with_values(builder), builder.nodes[-1].results[-1].name
        item = next((each for each in case.graph.inputs if each.domain.bounds is Bounds.DISTINCT), None)
        if item is None or positions not in case.graph.outputs or builder.nodes[-1].attrs.get("stable") is True:
            continue
        array = case.tensors[item.value.name].astype(np.float64) // 3
        inputs = tuple(replace(each, domain=ANY) for each in case.graph.inputs)
        graph = replace(case.graph, inputs=inputs, outputs=(positions,))
        equal = replace(
            case, graph=graph, tensors={**case.tensors, item.value.name: array.astype(item.value.type.dtype.numpy)}
        )
        right = reference_of(equal)
        steps = np.linspace(0, 0.4, array.size).reshape(array.shape)
        for distinguished in (array + steps, array - steps):
            other = legal_positions(equal, item, distinguished)
            assert judge((other,), right) is None
            tried += bool((other != right[0].eager).any())
    assert tried >= 3


RANKINGS: dict[str, dict[str, Any]] = {
    "sort": RANKING,
    "argsort": RANKING,
    "topk": {"k": 9, "dim": 0},
    **{f"{name}_dim": {"dim": 0} for name in ("median", "nanmedian")},
    "kthvalue": {"k": 6, "dim": 0},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKINGS)
@pytest.mark.parametrize("turned", [False, True])
def test_each_place_of_equal_numbers_in_a_ranking_is_open(name: str, turned: bool) -> None:
    """Also a place that has the same one of them in each of a few orders, as the middle one from the front and the
    back."""
    attrs = {key: 1 if key == "dim" and turned else value for key, value in RANKINGS[name].items()}
    results = "y0" if name == "argsort" else "v0 y0"
    several = np.repeat(np.arange(3), (4, 3, 4)).astype(np.float32)
    for seed in range(30):
        numbers = np.random.default_rng(seed).permuted(np.tile(several, (2, 1)), axis=1)
        given = numbers if turned else numbers.T.copy()
        types = {"x0": f"float32[{','.join(map(str, given.shape))}]"}
        call: Call = (results, name, "x0", attrs)
        (right,) = reference_of(case_of(types, (call,), "y0", lambda item, given=given: given))
        assert right.ill.all(), given


def legal_positions(case: Case, item: Input, distinguished: Array) -> Array:
    """The positions of a case whose inputs have no equal numbers any more."""
    return Program(replace(case, tensors={**case.tensors, item.value.name: distinguished}), TORCH_DIALECT).run(PLAIN)[0]


def test_gradients_that_depend_on_an_undefined_number_are_not_compared() -> None:
    """The gradient of x1 is the converted number; that of x2 is 1."""
    numbers = {"x0": np.array([NAN, 5.5], np.float32), "x1": np.ones(2, np.float32), "x2": np.ones(2, np.float32)}
    calls: tuple[Call, ...] = (
        ("i0", "to", "x0", {"dtype": "int32", **TO}),
        ("y0", "mul", "i0 x1"),
        ("y1", "add", "y0 x2"),
    )
    case = case_of(dict.fromkeys(numbers, "float32[2]"), calls, "y1", lambda item: numbers[item.value.name])
    lanes = {lane.variant: lane for lane in GRADIENT_REFERENCES}
    outcome = runner_of(lanes["gradient-envelope"]).run(
        PreparedCase(case, Quiet()), lanes["gradient-envelope"], Quiet()
    )
    assert isinstance(outcome, Ran)
    names = leaves(case)
    ill = dict(zip(("sum", *names), outcome.outputs[len(outcome.outputs) // 2 :], strict=True))
    assert {name: ill[name].tolist() for name in ("x1", "x2")} == {"x1": [True, False], "x2": [False, False]}


def test_nothing_is_compared_where_the_number_decides_whether_the_graph_runs() -> None:
    """An undefined number is an index here: PyTorch makes 0 of NaN, and another number may be out of range."""
    numbers = {"x0": np.array([NAN], np.float32), "x1": np.array([5.0, 6.0], np.float32)}
    calls: tuple[Call, ...] = (
        ("i0", "to_uint8", "x0"),
        ("i1", "to", "i0", {"dtype": "int64", **TO}),
        ("y0", "index_select", "x1 i1", {"dim": 0}),
        ("y1", "neg", "x1"),
    )
    case = case_of({"x0": "float32[1]", "x1": "float32[2]"}, calls, "y0 y1", lambda item: numbers[item.value.name])
    assert [each.ill.tolist() for each in reference_of(case)] == [[True], [True, True]]
