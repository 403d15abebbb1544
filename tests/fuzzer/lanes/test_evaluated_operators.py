"""The definitions of Relax operators by which difftvm evaluates a module."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fuzzer.lanes.evaluated import reference
from fuzzer.lanes.evaluated.common import Unknown
from fuzzer.lanes.evaluated.nan import COMPARING
from fuzzer.lanes.evaluated.operators import OF_ONE_DTYPE, OPERATORS, value_of
from fuzzer.lanes.evaluated.ties import TIES, has_ties

NO_ATTRS = SimpleNamespace()
FALSE, FLOATS = torch.tensor(False), torch.tensor([-2.5])


@pytest.mark.parametrize("name", OF_ONE_DTYPE)
def test_arithmetic_with_operands_of_two_dtypes_is_not_defined(name: str) -> None:
    with pytest.raises(Unknown, match="operands of two dtypes"):
        value_of(name, NO_ATTRS, (FALSE, FLOATS))


def test_each_operator_with_an_unspecified_nan_has_a_definition() -> None:
    assert COMPARING - OPERATORS.keys() == set()


def test_a_comparison_may_have_operands_of_two_dtypes() -> None:
    assert value_of("less", NO_ATTRS, (FLOATS, torch.tensor([1]))).tolist() == [True]
    assert value_of("equal", NO_ATTRS, (FLOATS, FLOATS)).tolist() == [True]


def test_floats_are_divided_before_they_are_rounded_down() -> None:
    one, tenth = torch.tensor([1.0]), torch.tensor([0.1])
    assert value_of("floor_divide", NO_ATTRS, (one, tenth)).tolist() == [10.0]
    assert torch.floor_divide(one, tenth).tolist() == [9.0]
    assert value_of("floor_divide", NO_ATTRS, (torch.tensor([-7]), torch.tensor([2]))).tolist() == [-4]


def test_the_dividend_may_be_a_number() -> None:
    """`T.float32(100.0)`, a PrimValue: TVM's importer writes 100 // x so."""
    assert value_of("floor_divide", NO_ATTRS, (100.0, torch.tensor([3.0, -3.0]))).tolist() == [33.0, -34.0]
    assert value_of("floor_divide", NO_ATTRS, (100, torch.tensor([3, -3]))).tolist() == [33, -34]


@pytest.mark.parametrize(
    ("named", "like", "value", "expected"),
    [
        ("bfloat16", torch.tensor([True]), torch.tensor(100.0), 100.0),
        (None, torch.tensor([True]), torch.tensor(100.0), True),
        ("void", torch.tensor([1]), torch.tensor(-2.25), -2),
        ("int64", torch.tensor([1.0]), torch.tensor(-2), -2),
    ],
)
def test_a_filled_tensor_has_the_dtype_that_is_named_or_else_that_of_the_operand(
    named: str | None, like: torch.Tensor, value: torch.Tensor, expected: float
) -> None:
    found = value_of("full_like", SimpleNamespace(dtype=named), (like, value))
    assert found.tolist() == [expected]
    assert found.dtype == (like.dtype if named in (None, "void") else getattr(torch, named or ""))


def test_a_product_is_computed_in_the_dtype_of_its_result() -> None:
    """In int8, 8 times 16 would be -128."""
    x, y = torch.tensor([[8]], dtype=torch.int8), torch.tensor([[16]], dtype=torch.int8)
    assert value_of("matmul", SimpleNamespace(out_dtype="float32"), (x, y)).tolist() == [[128.0]]
    assert value_of("matmul", SimpleNamespace(out_dtype="void"), (x, y)).tolist() == [[-128]]


def test_prelu_multiplies_zero_by_the_slope() -> None:
    """As PyTorch and TVM's kernel do: the result is NaN where the slope is infinite."""
    x, slope = torch.tensor([[0.0, -1.0, 2.0]]), torch.tensor([torch.inf, 3.0, torch.inf])
    found = value_of("nn.prelu", SimpleNamespace(axis=1), (x, slope))
    assert torch.equal(found.nan_to_num(-9.0), torch.tensor([[-9.0, -3.0, 2.0]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_gelu_of_infinity_is_infinity(dtype: torch.dtype) -> None:
    """PyTorch 2.13 gives NaN for 40 of them, and infinity for one."""
    x = torch.full((40,), torch.inf, dtype=dtype)
    assert torch.equal(value_of("nn.gelu", NO_ATTRS, (x,)), x)
    numbers = torch.linspace(-4, 4, 40).to(dtype)
    found, known = value_of("nn.gelu", NO_ATTRS, (numbers,)), torch.nn.functional.gelu(numbers)
    assert found.dtype is dtype
    torch.testing.assert_close(found, known)


NORM = SimpleNamespace(axes=[-1], axis=0, epsilon=1e-12, center=True, scale=True, training=False)
GROUPS = SimpleNamespace(axes=[2], channel_axis=1, num_groups=1, epsilon=1e-12, center=True, scale=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("name", "attrs", "shape", "params"),
    [
        ("nn.layer_norm", NORM, (3,), 2),
        ("nn.batch_norm", NORM, (3, 2), 4),
        ("nn.group_norm", GROUPS, (2, 3, 4), 2),
        ("nn.instance_norm", SimpleNamespace(**{**vars(GROUPS), "channel_axis": 1}), (2, 3, 4), 2),
    ],
)
def test_a_norm_of_equal_numbers_in_half_precision_is_its_shift(
    name: str, attrs: Any, shape: tuple[int, ...], params: int, dtype: torch.dtype
) -> None:
    """A variance of zero: the epsilon decides, and is zero in float16."""
    x, zeros, shift = torch.zeros(shape, dtype=dtype), torch.zeros(3, dtype=dtype), torch.full((3,), 7.0, dtype=dtype)
    found = value_of(name, attrs, (x, zeros + 1, shift, zeros, zeros)[: params + 1])
    result = found[0] if isinstance(found, tuple) else found
    assert result.dtype is dtype
    assert torch.equal(result, torch.full(shape, 7.0, dtype=dtype))


ROWS = torch.tensor([[1.0, 3.0, 2.0], [3.0, 2.0, 1.0]])
"""No row has equal elements; the tensor has, and so has none of the columns."""


@pytest.mark.parametrize("name", TIES)
def test_only_equal_elements_along_the_axis_are_ties(name: str) -> None:
    def attrs(axis: int | None) -> Any:
        return SimpleNamespace(axis=axis, k=2, largest=True, ret_type="both", descending=False)

    assert not has_ties(name, attrs(1), (ROWS,))
    assert not has_ties(name, attrs(-2), (ROWS,))
    assert has_ties(name, attrs(0), (torch.tensor([[1.0, 3.0], [1.0, 2.0]]),))
    assert not has_ties(name, attrs(-1), (torch.tensor(1.0),))


def test_an_index_among_all_elements_looks_at_all_elements() -> None:
    attrs = SimpleNamespace(axis=None)
    assert has_ties("argmax", attrs, (ROWS,))
    assert has_ties("argmin", attrs, (ROWS,))
    assert not has_ties("argmax", attrs, (torch.tensor([1, 1, 2]),)), "only the largest element counts"


@pytest.mark.parametrize(
    ("k", "ret_type", "ties"), [(1, "both", False), (2, "indices", True), (2, "values", False), (0, "both", True)]
)
def test_the_first_elements_have_a_tie_where_another_element_could_take_their_place(
    k: int, ret_type: str, ties: bool
) -> None:
    attrs = SimpleNamespace(axis=0, k=k, largest=True, ret_type=ret_type)
    assert has_ties("topk", attrs, (torch.tensor([1.0, 2.0, 3.0, 2.0]),)) is ties


def test_other_operators_have_no_ties() -> None:
    assert not has_ties("add", NO_ATTRS, (FLOATS, FLOATS))


@pytest.mark.parametrize(
    ("size", "count", "sizes"), [(7, 3, [3, 3, 1]), (4, 2, [2, 2]), (0, 2, [0, 0]), (3, 3, [1, 1, 1])]
)
def test_a_split_into_equal_parts_has_as_many_parts_as_it_says(size: int, count: int, sizes: list[int]) -> None:
    attrs = SimpleNamespace(indices_or_sections=count, axis=0)
    assert [part.shape[0] for part in value_of("split", attrs, (torch.arange(size),))] == sizes


def test_a_split_whose_last_part_has_a_negative_size_is_not_defined() -> None:
    """TVM infers the sizes 2, 2, 2 and -1."""
    with pytest.raises(Unknown, match="a negative size"):
        value_of("split", SimpleNamespace(indices_or_sections=4, axis=0), (torch.arange(5),))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "variance", "std"])
def test_a_reduction_over_no_axis_keeps_the_shape(name: str) -> None:
    """Unlike `dim=()` of PyTorch, which is all dimensions."""
    found = value_of(name, SimpleNamespace(axis=[], keepdims=False), (ROWS,))
    assert torch.equal(found, torch.zeros_like(ROWS) if name in ("variance", "std") else ROWS)


@pytest.mark.parametrize("rows", [0, 2])
def test_gather_nd_without_coordinates_gives_the_whole_tensor_for_each_row(rows: int) -> None:
    """What masked_select of a tensor of rank 0 becomes through ONNX."""
    attrs, index = SimpleNamespace(batch_dims=0), torch.zeros((rows, 0), dtype=torch.int64)
    assert value_of("gather_nd", attrs, (torch.tensor(5.0), index)).tolist() == [5.0] * rows
    assert value_of("gather_nd", attrs, (ROWS, index)).shape == (rows, 2, 3)


def test_numbers_are_rounded_to_a_grid_and_back() -> None:
    attrs = SimpleNamespace(axis=1, out_dtype="int8")
    x, step, zero = torch.tensor([[0.24, 1.0], [-0.26, 900.0]]), torch.tensor([0.5, 2.0]), torch.tensor([1, -3])
    found = value_of("quantize", attrs, (x, step, zero.to(torch.int8)))
    assert (found.tolist(), found.dtype) == ([[1, -3], [0, 127]], torch.int8)
    back = value_of("dequantize", SimpleNamespace(axis=1, out_dtype="float32"), (found, step, zero.to(torch.int32)))
    assert back.tolist() == [[0.0, 0.0], [-0.5, 260.0]]
    one = value_of("quantize", SimpleNamespace(axis=0, out_dtype="uint8"), (x, torch.tensor(0.5), torch.tensor(1)))
    assert one.tolist() == [[1, 3], [0, 255]]


@pytest.mark.parametrize(
    ("axis", "keepdims", "expected"),
    [
        ((1,), False, ([2.0, 2.0], [2, 1])),
        ((-2,), True, ([[1.0, 2.0, 1.0]], [[0, 1, 1]])),
        (None, False, 2.0),
        ((0, 1), True, [[2.0]]),
    ],
)
def test_the_median_is_the_smaller_of_two_in_the_middle(axis: Any, keepdims: bool, expected: Any) -> None:
    found = value_of("median", SimpleNamespace(axis=axis, keepdims=keepdims), (ROWS,))
    assert (tuple(each.tolist() for each in found) if isinstance(found, tuple) else found.tolist()) == expected


def test_axes_are_cut_into_blocks_which_are_padded_at_the_end() -> None:
    attrs = SimpleNamespace(index_map="lambda i0, i1: (i1 // 2, i0, i1 % 2,)", pad_value=9)
    assert value_of("layout_transform", attrs, (ROWS,)).tolist() == [[[1, 3], [3, 2]], [[2, 9], [1, 9]]]


@pytest.mark.parametrize(
    ("begin", "end", "strides", "expected"),
    [((0, -2), (2, 3), (1, 1), [[3, 2], [2, 1]]), ((1, 2), (-3, 0), (-1, -2), [[1], [2]])],
)
def test_bounds_of_a_slice_may_be_tensors(begin: Any, end: Any, strides: Any, expected: Any) -> None:
    found = value_of("dynamic_strided_slice", NO_ATTRS, (ROWS, *map(torch.tensor, (begin, end, strides))))
    assert found.tolist() == expected


def test_windows_sizes_and_dropout() -> None:
    window = value_of("hamming_window", SimpleNamespace(dtype="float64"), (3, False, 0.5, 0.25))
    assert window.tolist() == pytest.approx([0.25, 0.75, 0.25])
    assert value_of("hamming_window", SimpleNamespace(dtype="float32"), (1, True, 0.5, 0.25)).tolist() == [1.0]
    assert value_of("size", NO_ATTRS, (ROWS,)).item() == 6
    assert [each.tolist() for each in value_of("nn.dropout", SimpleNamespace(rate=0.5), (FLOATS,))] == [[-2.5], [1.0]]


def test_operators_that_are_named_for_their_tolerance_are_defined() -> None:
    assert OPERATORS.keys() >= reference.EXACT | reference.ADDING
    assert not reference.EXACT & reference.ADDING


@pytest.mark.parametrize(
    ("name", "attrs", "shapes", "terms"),
    [
        ("matmul", {}, ((2, 5), (5, 3)), 5),
        ("nn.conv2d", {"kernel_layout": "OIHW"}, ((1, 3, 64, 64), (8, 3, 3, 3)), 27),
        ("nn.conv2d", {"kernel_layout": "HWIO"}, ((1, 64, 64, 3), (3, 3, 3, 8)), 27),
        ("nn.conv1d_transpose", {"kernel_layout": "IOW"}, ((1, 4, 9), (4, 2, 3)), 12),
        ("nn.avg_pool2d", {"pool_size": (2, 3)}, ((1, 3, 64, 64),), 6),
        ("sum", {}, ((4, 5),), 20),
    ],
)
def test_how_many_numbers_are_added(
    name: str, attrs: dict[str, Any], shapes: tuple[tuple[int, ...], ...], terms: int
) -> None:
    assert reference._terms(name, SimpleNamespace(**attrs), [torch.ones(shape) for shape in shapes]) == terms
