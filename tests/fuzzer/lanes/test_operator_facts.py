"""The numeric facts of operator rows agree with each other and with the implementations in `fuzzer/lanes`."""

from __future__ import annotations

import pytest

from fuzzer.lanes.torch.one_pass import ONE_PASS
from fuzzer.lanes.torch.skipped_padding import WITHOUT_ZEROS
from generators.graph import DType, TensorType
from generators.op import ZEROS_OF_BASE, ZEROS_WHERE_BOOL, Arithmetic, never, zeros_of
from generators.torch.ops import TABLE

F32 = TensorType(DType.FLOAT32, (4,))
I64, BOOL = F32.with_dtype(DType.INT64), F32.with_dtype(DType.BOOL)


def test_only_an_operator_that_rounds_has_an_arithmetic() -> None:
    exact = [op for op in TABLE.values() if op.terms is None]
    assert {op.name: op.arithmetic for op in exact if op.arithmetic is not Arithmetic.FUNCTION} == {}


def test_zero_sensitive_operands_exist() -> None:
    places = {op.name: op.zero_sensitivity.operands or () for op in TABLE.values()}
    assert {name: found for name, found in places.items() if not set(found) <= set(range(TABLE[name].arity[1]))} == {}


def test_each_operator_that_multiplies_by_zeros_has_an_implementation_without_them() -> None:
    assert set(WITHOUT_ZEROS) == {name for name, op in TABLE.items() if op.multiplies_by_zero is not never}


def test_each_one_pass_variance_belongs_to_an_operator() -> None:
    assert set(ONE_PASS) <= set(TABLE)


@pytest.mark.parametrize(("padding", "expected"), [(0, False), ((0, 1), True), ((0, 0), False), ("same", True)])
def test_a_convolution_multiplies_by_zeros_where_it_pads(padding: int | tuple[int, ...] | str, expected: bool) -> None:
    assert TABLE["conv2d"].multiplies_by_zero((), {"padding": padding}) is expected


@pytest.mark.parametrize(("p", "expected"), [(1.0, True), (0.0, False)])
def test_a_dropout_multiplies_by_zeros_where_it_drops_all(p: float, expected: bool) -> None:
    assert TABLE["dropout_training"].multiplies_by_zero((), {"p": p}) is expected


def test_zero_sensitivity_gives_positions_of_operands() -> None:
    assert list(zeros_of(0, 1).places((F32, F32), (F32,))) == [0, 1]
    assert list(ZEROS_WHERE_BOOL.places((F32, F32), (BOOL,))) == [0, 1]
    assert list(ZEROS_WHERE_BOOL.places((F32, F32), (F32,))) == []
    assert list(ZEROS_OF_BASE.places((F32, F32), (F32,))) == [0]
    assert list(ZEROS_OF_BASE.places((F32, I64), (F32,))) == []


ALIKE = (
    ("sum", "mean", Arithmetic.SUM),
    ("sum", "masked_select_sum", Arithmetic.SUM),
    ("sum", "getitem_mask_sum", Arithmetic.SUM),
    ("mm", "bmm", Arithmetic.SUM),
    ("conv_transpose1d", "conv_transpose3d", Arithmetic.SUM_IN_HALF),
    ("full_like", "empty_like", Arithmetic.EXACT_WHERE_HELD),
    ("full", "full_size", Arithmetic.EXACT_WHERE_HELD),
    ("full", "empty_shape", Arithmetic.EXACT_WHERE_HELD),
    ("leaky_relu", "rrelu", Arithmetic.ONE_STEP),
    ("sqrt", "div", Arithmetic.ONE_STEP),
    ("exp", "softmax", Arithmetic.FUNCTION),
)


@pytest.mark.parametrize(("one", "other", "arithmetic"), ALIKE)
def test_siblings_round_alike(one: str, other: str, arithmetic: Arithmetic) -> None:
    assert TABLE[one].arithmetic is TABLE[other].arithmetic is arithmetic


def test_what_casts_to_bool_reads_zeros_whether_it_assigns_by_index_or_by_method() -> None:
    """With a mask and one number, index_put casts the number, as `x[mask] = number` does."""
    types = (BOOL, F32, BOOL)
    for name in ("setitem", "index_put"):
        assert list(TABLE[name].zero_sensitivity.places(types, (BOOL,))) == [0, 1, 2]
