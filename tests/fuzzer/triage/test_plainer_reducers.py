"""What each reducer proposes that makes what is left plainer, in order, on graphs made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs_by_hand import Call
from small_graphs import CHAIN, FORK, MIXED, SISTERS, WRITTEN, shapes, subject_of, text, writing

from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.float_inputs import float_inputs
from fuzzer.triage.reducers.plain_types import plain_types, unusual_dtypes
from fuzzer.triage.reducers.plain_values import plain_values, value_complexity
from fuzzer.triage.reducers.plain_writing import plain_writing, written_extras
from fuzzer.triage.reducers.shrink_dims import shrink_dims
from fuzzer.triage.size import size_of
from generators.check import check
from generators.domain import ANY, NONZERO, POSITIVE, distinct, index, within
from generators.graph import Array, Domain, DType, Invalid, Layout
from generators.values import holds

BFLOAT16 = DType.BFLOAT16.numpy


# --- plain_types


def test_plain_types_all_doubles_then_each() -> None:
    subject = subject_of(
        {"x0": "float64[1]", "x1": "int64[1]", "w0": "float64[1]"},
        [("v0", "add", "x0 x1"), ("v1", "add", "v0 w0")],
        "v1",
    )
    proposed = [" ".join(str(i.value.type.dtype) for i in c.graph.inputs) for c in plain_types(subject)]
    assert proposed == ["float32 int64 float32", "float32 int64 float64", "float64 int64 float32"]
    for candidate in plain_types(subject):
        for item in candidate.graph.inputs:
            assert candidate.case.tensors[item.value.name].dtype == item.value.type.dtype.numpy


def test_plain_types_one_double_is_proposed_once() -> None:
    one = subject_of({"x0": "float64[2]"}, [("v0", "neg", "x0")], "v0")
    assert [c.case.tensors["x0"].dtype for c in plain_types(one)] == [np.float32]
    assert list(plain_types(CHAIN)) == []


def dtypes(subject: Subject) -> str:
    return " ".join(item.value.type.dtype for item in subject.graph.inputs)


def test_plain_types_all_then_each_dtype_then_each_input() -> None:
    assert [dtypes(c) for c in plain_types(MIXED)] == [
        "float32 int64 float32 bool float32",
        # float16, bfloat16, int8
        "float32 int8 float32 bool bfloat16",
        "float16 int8 float16 bool float32",
        "float16 int64 float16 bool bfloat16",
        # x0, w0; the others are alone in their dtype
        "float32 int8 float16 bool bfloat16",
        "float16 int8 float32 bool bfloat16",
    ]


def test_plain_types_are_those_of_the_arrays_and_the_numbers_stay() -> None:
    for candidate in plain_types(MIXED):
        for item in candidate.graph.inputs:
            array = candidate.case.tensors[item.value.name]
            assert array.dtype == item.value.type.dtype.numpy
            assert array.tolist() == MIXED.case.tensors[item.value.name].tolist()


@pytest.mark.parametrize(
    ("types", "to"),
    [
        ({"x0": "int64[2]", "x1": "int64[2]"}, ["float32 float32"]),
        ({"x0": "int8[2]", "x1": "bool[2]"}, ["float32 float32"]),
        ({"x0": "int64[2]", "x1": "float16[2]"}, []),
    ],
)
def test_floats_are_tried_where_there_are_none(types: dict[str, str], to: list[str]) -> None:
    """A finding of integers says "for operands that are no floats", which must be true."""
    subject = subject_of(types, [("v0", "add", "x0 x1")], "v0")
    proposed = list(float_inputs(subject))
    assert [dtypes(each) for each in proposed] == to
    for each in proposed:
        assert size_of(each.case, each.lane) < size_of(subject.case, subject.lane)
        assert {array.dtype.name for array in each.case.tensors.values()} == {"float32"}


def test_no_float_is_tried_where_the_domain_forbids_its_numbers() -> None:
    large = 2**24  # float32 does not have the next number
    subject = subject_of({"x0": "int64[2]"}, [("v0", "neg", "x0")], "v0")
    for numbers, count in (([large, large + 1], 0), ([large, large + 2], 1)):
        with_domain = with_values(subject, distinct(0, 2 * large, 0), x0=numbers)
        assert len(list(float_inputs(with_domain))) == count


@pytest.mark.parametrize(
    ("dtype", "to"),
    [
        *((d, "float32") for d in ("float64", "float16", "bfloat16")),
        *((d, "int64") for d in ("int32", "int16", "int8", "uint8")),
        *((d, None) for d in ("float32", "int64", "bool")),
    ],
)
def test_which_types_are_plain(dtype: str, to: str | None) -> None:
    subject = subject_of({"x0": f"{dtype}[2]"}, [("v0", "flip", "x0", {"dims": (0,)})], "v0")
    assert [dtypes(c) for c in plain_types(subject)] == ([] if to is None else [to])
    assert unusual_dtypes(subject.graph) == (to is not None)


@pytest.mark.parametrize(
    ("domain", "number", "expected"),
    [
        (ANY, 1e-300, [0.0]),
        (ANY, 1e300, [float("inf")]),
        (ANY, 0.1, [float(np.float32(0.1))]),
        (POSITIVE, 0.5, [0.5]),
        (POSITIVE, 1e-300, None),
        (NONZERO, -1e-300, None),
        (within(0, 1), 1 - 1e-12, [1.0]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_plain_types_keep_to_the_domain(domain: Domain, number: float, expected: list[float] | None) -> None:
    double = subject_of({"x0": "float64[1]"}, [("v0", "neg", "x0")], "v0")
    proposed = [c.case.tensors["x0"].tolist() for c in plain_types(with_values(double, domain, x0=[number]))]
    assert proposed == ([] if expected is None else [expected])


# --- plain_writing

LAID = "x0 transposed, x1 expanded"
CALLS = ("add:method(alpha=2)", "mul:inplace()", "softmax:module(dim=1)", "sum(dim=(0,), keepdim=True)")


def written(layouts: str = LAID, **calls: str) -> str:
    """As `writing` says it, with some calls replaced by position."""
    return " | ".join(
        [*([layouts] if layouts else []), "; ".join(calls.get(f"v{i}", call) for i, call in enumerate(CALLS))]
    )


def test_writing_as_it_was() -> None:
    assert writing(WRITTEN) == written()


def test_plain_writing_everything_then_one_thing_at_a_time() -> None:
    assert [writing(c) for c in plain_writing(WRITTEN)] == [
        written("", v0="add()", v1="mul()", v2="softmax(dim=1)", v3="sum()"),
        # calls in order: the form, then each attribute
        written(v0="add(alpha=2)"),
        written(v0="add:method()"),
        written(v1="mul()"),
        written(v2="softmax(dim=1)"),
        written(v3="sum(keepdim=True)"),
        written(v3="sum(dim=(0,))"),
        # inputs in order
        written("x1 expanded"),
        written("x0 transposed"),
    ]


def test_plain_writing_changes_nothing_else() -> None:
    for candidate in plain_writing(WRITTEN):
        assert text(candidate) == text(WRITTEN)
        assert shapes(candidate).split(" {")[0] == shapes(WRITTEN).split(" {")[0]
        assert all(candidate.case.tensors[name] is array for name, array in WRITTEN.case.tensors.items())


def test_plain_writing_lowers_the_count_of_frills() -> None:
    assert written_extras(WRITTEN.graph) == 8  # two layouts, three forms, alpha, dim and keepdim
    assert [written_extras(c.graph) for c in plain_writing(WRITTEN)] == [0] + [7] * 8


def test_plain_writing_leaves_what_is_plain_alone() -> None:
    for subject in (CHAIN, FORK, SISTERS):
        assert list(plain_writing(subject)) == []
        assert written_extras(subject.graph) == 0


def test_plain_writing_keeps_attributes_without_a_default() -> None:
    subject = subject_of({"x0": "float32[2,3]"}, [("v0", "pad_constant", "x0", {"pad": (-1, 0), "value": 1.5})], "v0")
    assert [writing(c) for c in plain_writing(subject)] == ["pad_constant(pad=(-1, 0))"] * 2


def test_plain_writing_of_one_thing_is_proposed_twice_at_most() -> None:
    """Everything at once is that one thing; the reducer asks about each candidate once."""
    subject = subject_of({"x0": "float32[2] "}, [("v0", "neg:operator", "x0")], "v0")
    assert [writing(c) for c in plain_writing(subject)] == ["neg()", "neg()"]


@pytest.mark.parametrize("layout", [layout for layout in Layout if layout is not Layout.CONTIGUOUS])
def test_plain_writing_keeps_the_numbers_of_an_input_that_becomes_contiguous(layout: Layout) -> None:
    subject = subject_of({"x0": f"float32[2,3] {layout}"}, [("v0", "neg", "x0")], "v0")
    (plainest, alone) = plain_writing(subject)
    for candidate in (plainest, alone):
        assert candidate.graph.inputs[0].layout is Layout.CONTIGUOUS
        assert candidate.case.tensors["x0"] is subject.case.tensors["x0"]
        check(candidate.case)


# --- shrink_dims


def test_shrink_dims_one_size_everywhere_then_one_at_a_time() -> None:
    subject = subject_of({"x0": "float32[2,5]", "x1": "float32[5]"}, [("v0", "add", "x0 x1")], "v0")
    assert [shapes(c) for c in shrink_dims(subject)] == [
        # 5 everywhere, then 2 everywhere
        "[2, 1] [1]",
        "[2, 2] [2]",
        "[2, 4] [4]",
        "[1, 5] [5]",
        # each dimension alone
        "[1, 5] [5]",
        "[2, 1] [5]",
        "[2, 2] [5]",
        "[2, 4] [5]",
        "[2, 5] [1]",
        "[2, 5] [2]",
        "[2, 5] [4]",
    ]


def test_shrink_dims_sizes_in_attributes_follow() -> None:
    calls: list[Call] = [("v0", "reshape", "x0", {"shape": (3, 2)}), ("v1", "transpose", "v0", {"dim0": 0, "dim1": 1})]
    subject = subject_of({"x0": "float32[2,3]"}, calls, "v1")
    transposed = "{'dim0': 0, 'dim1': 1}"
    assert [shapes(c) for c in shrink_dims(subject)] == [
        f"[2, 1] {{'shape': (1, 2)}} {transposed}",
        f"[2, 2] {{'shape': (2, 2)}} {transposed}",
        f"[1, 3] {{'shape': (3, 1)}} {transposed}",
        f"[1, 3] {{'shape': (3, 2)}} {transposed}",
        f"[2, 1] {{'shape': (3, 2)}} {transposed}",
        f"[2, 2] {{'shape': (3, 2)}} {transposed}",
    ]


def test_shrink_dims_the_types_of_a_call_by_its_name_follow() -> None:
    call = {"call": "torch.ops.aten.special_ndtr.default(a0)", "types": ("float32[2,768]",)}
    subject = subject_of({"x0": "float32[2,768]"}, [("v0", "torch_call", "x0", call)], "v0")
    proposed = [(c.graph.inputs[0].value.type.sizes, c.graph.nodes[0].attrs["types"]) for c in shrink_dims(subject)]
    assert proposed[:5] == [
        ((2, 1), ("float32[2,1]",)),
        ((2, 2), ("float32[2,2]",)),
        ((2, 384), ("float32[2,384]",)),
        ((2, 720), ("float32[2,720]",)),
        ((1, 768), ("float32[1,768]",)),
    ]


def test_shrink_dims_crops_the_arrays() -> None:
    subject = subject_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")
    proposed = {c.case.tensors["x0"].shape: c.case.tensors["x0"].tolist() for c in shrink_dims(subject)}
    assert proposed == {(2, 1): [[0.0], [3.0]], (2, 2): [[0.0, 1.0], [3.0, 4.0]], (1, 3): [[0.0, 1.0, 2.0]]}


def test_shrink_dims_makes_large_sizes_smaller_in_few_steps() -> None:
    """One element at a time would take the whole effort."""
    subject = subject_of({"x0": "float32[1600]"}, [("v0", "neg", "x0")], "v0")
    assert [c.case.tensors["x0"].shape for c in shrink_dims(subject)][:4] == [(1,), (2,), (800,), (1500,)]


def test_shrink_dims_keeps_either_end_where_the_numbers_may_be_what_is_wrong() -> None:
    subject = subject_of({"x0": "float32[3]"}, [("v0", "neg", "x0")], "v0")
    with_ops = replace(subject, needs_ops=True)
    assert [c.case.tensors["x0"].tolist() for c in shrink_dims(subject)] == [[0.0], [0.0, 1.0]] * 2
    assert [c.case.tensors["x0"].tolist() for c in shrink_dims(with_ops)] == [[0.0], [2.0], [0.0, 1.0]] * 2


def test_shrink_dims_leaves_ones_and_scalars_alone() -> None:
    subject = subject_of({"x0": "float32[1,1]", "x1": "float32[]"}, [("v0", "add", "x0 x1")], "v0")
    assert list(shrink_dims(subject)) == []


# --- plain_values


def values(subject: Subject) -> list[list[Any]]:
    """What is proposed, the inputs one after the other."""
    names = [item.value.name for item in subject.graph.inputs]
    return [[c.case.tensors[name].tolist() for name in names] for c in plain_values(subject)]


def with_values(subject: Subject, domain: Domain, **arrays: list[Any]) -> Subject:
    graph = replace(subject.graph, inputs=tuple(replace(item, domain=domain) for item in subject.graph.inputs))
    tensors = {n: np.array(arrays[n], a.dtype) for n, a in subject.case.tensors.items()}
    return replace(subject, case=replace(subject.case, graph=graph, tensors=tensors))


NEG = subject_of({"x0": "float32[3]"}, [("v0", "neg", "x0")], "v0")


def domain_of(domain: Domain) -> set[int]:
    """Which of 0 and 1 are in it."""
    return {number for number in (0, 1) if holds(np.array([number]), domain)}


@pytest.mark.parametrize(
    ("domain", "before", "plain", "counted", "whole"),
    [
        (ANY, [0.25, -0.25, 0.0], [0.0] * 3, [1.0, -2.0, 3.0], [1.0, -1.0, 0.0]),
        (NONZERO, [0.25, -0.25, 7.0], [1.0] * 3, [1.0, -2.0, 3.0], [1.0, -1.0, 7.0]),
        (POSITIVE, [0.25, 1.5, 7.0], [1.0] * 3, [1.0, 2.0, 3.0], [1.0, 2.0, 7.0]),
        (within(-4, 4), [0.25, -3.5, 0.0], [0.0] * 3, [1.0, -2.0, 3.0], [1.0, -4.0, 0.0]),
        (within(0, 4), [0.25, 3.5, 0.0], [0.0] * 3, [1.0, 2.0, 3.0], [1.0, 4.0, 0.0]),
        (within(2, 9), [2.25, 3.5, 9.0], [2.0] * 3, None, [3.0, 4.0, 9.0]),
        (within(-9, -2), [-2.25, -3.5, -9.0], [-2.0] * 3, None, [-3.0, -4.0, -9.0]),
        (within(-1, 1), [0.25, -0.5, 1.0], [0.0] * 3, None, [1.0, -1.0, 1.0]),
    ],
)
def test_plain_values_stay_in_the_domain(
    domain: Domain, before: list[float], plain: list[float], counted: list[float] | None, whole: list[float]
) -> None:
    """What cannot be made plainer within the domain stays as it was."""
    zeros, ones = (before if number not in domain_of(domain) else [float(number)] * 3 for number in (0, 1))
    assert values(with_values(NEG, domain, x0=before)) == [[plain], [ones], [counted or before], [whole], [zeros]]


@pytest.mark.parametrize(
    ("dtype", "domain", "before", "plain", "counted"),
    [
        ("int64", index(4), [-4, 3, 1], [0, 0, 0], [1, -2, 3]),
        ("int64", index(2), [-2, 1, 0], [0, 0, 0], None),
        ("int32", distinct(0, 5, 0), [5, 0, 2], [0, 1, 2], [1, 2, 3]),
        ("int64", distinct(-3, 2, 0), [-1, 2, -3], [0, 1, 2], None),
        ("int64", distinct(2, 4, 0), [4, 2, 3], [2, 3, 4], None),
        ("int8", ANY, [-128, 127, 5], [0, 0, 0], [1, -2, 3]),
        ("int16", POSITIVE, [7, 9, 5], [1, 1, 1], [1, 2, 3]),
        ("uint8", ANY, [255, 0, 5], [0, 0, 0], [1, 2, 3]),
        ("uint8", NONZERO, [255, 1, 5], [1, 1, 1], [1, 2, 3]),
        ("float16", ANY, [7.0, 5.0, 5.0], [0.0] * 3, [1.0, -2.0, 3.0]),
        ("bfloat16", NONZERO, [7.0, 5.0, 5.0], [1.0] * 3, [1.0, -2.0, 3.0]),
        ("bool", ANY, [False, False, True], [False] * 3, [True, False, True]),
    ],
)
def test_plain_values_of_other_dtypes(
    dtype: str, domain: Domain, before: list[int], plain: list[int], counted: list[int] | None
) -> None:
    subject = subject_of({"x0": f"{dtype}[3]"}, [("v0", "flip", "x0", {"dims": (0,)})], "v0")
    given = with_values(subject, domain, x0=before)
    same = [[1] * 3 if holds(np.array([1, 1, 1]), domain) else before]
    last = [0.0] * 3 if dtype.startswith(("float", "bfloat")) and domain == ANY else before
    assert values(given) == [[plain], same, [counted or before], [before], [last]]
    for candidate in plain_values(given):
        assert candidate.case.tensors["x0"].dtype == DType(dtype).numpy
        assert holds(candidate.case.tensors["x0"], domain)


def test_plain_values_of_an_expanded_input_have_equal_slices_or_are_refused() -> None:
    subject = subject_of({"x0": "float32[2,2] expanded"}, [("v0", "neg", "x0")], "v0")
    halves = with_values(subject, ANY, x0=[[0.5, 1.5], [0.5, 1.5]])
    plain, ones, counted, whole, odd_alone = plain_values(halves)
    for candidate in (plain, ones, whole, odd_alone):
        check(candidate.case)
    assert whole.case.tensors["x0"].tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(Invalid, match="x0 is expanded, but its slices differ"):
        check(counted.case)


def test_plain_values_all_inputs_then_each() -> None:
    both = subject_of({"x0": "int64[2]", "x1": "bool[2]"}, [("v0", "where", "x1 x0 x0")], "v0")
    x, c = [8, 9], [False, False]
    assert values(with_values(both, ANY, x0=x, x1=c)) == [
        *([[0, 0], [False, False]], [[0, 0], c], [x, [False, False]]),
        *([[1, 1], [True, True]], [[1, 1], c], [x, [True, True]]),
        *([[1, -2], [True, False]], [[1, -2], c], [x, [True, False]]),
        *([x, c], [x, c], [x, c]),
        *([x, c], [x, c], [x, c]),
    ]


def test_plain_values_keep_what_is_not_finite_where_it_is() -> None:
    nan, inf = float("nan"), float("inf")
    *_, alone = plain_values(with_values(NEG, ANY, x0=[nan, 0.25, inf]))
    np.testing.assert_array_equal(alone.case.tensors["x0"], np.array([nan, 0.0, inf], np.float32))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([0.0, 0.0], 0),
        ([1.0, 1.0], 0),
        ([True, True], 0),
        ([False, False], 0),
        ([], 0),
        ([1.0, 2.0], 1),
        ([1.0, -2.0], 1),
        ([True, False], 1),
        ([False, True], 2),
        ([2.0, 2.0], 2),
        ([1, 3], 2),
        (np.array([1, 2], np.uint8), 1),
        (np.array([0, 255], np.uint8), 2),
        (np.array([[1, -2], [3, -4]], np.int8), 1),
        (np.array([1, 2, -3], BFLOAT16), 1),
        (np.array([0.5, 1], BFLOAT16), 3),
        (np.zeros(3, np.float16), 0),
        (np.ones((), BFLOAT16), 0),
        ([0.5, 1.0], 3),
        ([float("nan"), 0.0], 4),
        ([float("nan"), 1.0], 5),
        ([float("inf"), 1.0], 5),
    ],
)
def test_complexity(numbers: list[Any] | Array, expected: int) -> None:
    assert value_complexity(np.array(numbers)) == expected
