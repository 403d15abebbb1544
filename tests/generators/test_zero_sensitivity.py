"""Operators that depend on zeros or their signs get operands on which all implementations agree, in every generator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from eager import run
from rows import each_row

from fuzzer.lanes.base.arrays import laid_out, to_torch
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import POSITIVE
from generators.graph import ANY, Array, DType, Graph, Input, Invalid, Layout, Profile, TensorType, Value
from generators.mutate import mutate
from generators.op import Op
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from generators.values import draw
from generators.zero_sensitivity import zeros_agree

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

F32 = TensorType(DType.FLOAT32, (4,))
READERS = [op for op in OPS if op.reads_zeros]
BOTH = pytest.mark.parametrize("profile", [Profile.NORMAL, Profile.SPECIAL])
CLAMPS: tuple[tuple[object, object, bool], ...] = (
    (0.5, 8, True),
    (0.5, None, True),
    (None, -1, True),
    (5, -1, True),  # all numbers are -1
    (1, 0.0, False),
    (-1, 1, False),
    (0, None, False),
    (None, 1, False),
)


def variance(b: Builder, times: float) -> Value:
    """Emit mean(x * times * x) + 0.001. It is known to be positive only if `times` is 1."""
    x = b.fresh_input(F32)
    square = emit(b, "mul", x, x if times == 1 else emit(b, "mul_scalar", x, other=times))
    return emit(b, "add_scalar", emit(b, "mean", square, dim=(0,)), other=1e-3)


def test_a_variance_and_its_epsilon_are_away_from_zero() -> None:
    b = Builder(NumpySource(0))
    emit(b, "rsqrt", variance(b, 1))
    with pytest.raises(Invalid, match="rsqrt depends on the zeros"):
        emit(b, "rsqrt", variance(b, -1))
    special = Builder(NumpySource(0), profile=Profile.SPECIAL)
    assert not zeros_agree(special, variance(special, 1))


@pytest.mark.parametrize(
    ("square", "add", "sqrt", "alpha"),
    [
        ("mul", "add", "sqrt", {}),
        ("mul", "add", "sqrt", {"alpha": -1}),
        ("Mul-14", "Add-14", "Sqrt-13", {}),
    ],
)
def test_a_positive_number_and_a_square_are_away_from_zero_in_both_dialects(
    square: str, add: str, sqrt: str, alpha: dict[str, int]
) -> None:
    b = Builder(NumpySource(0)) if square == "mul" else Builder(NumpySource(0), dialect="onnx", opset=17)
    x, epsilon = b.fresh_input(F32), b.fresh_input(F32, domain=POSITIVE)
    root = emit(b, sqrt, emit(b, add, epsilon, emit(b, square, x, x), **alpha))
    assert zeros_agree(b, root) == (not alpha)


def emit(b: Builder, op: str, *args: Value, **attrs: object) -> Value:
    return b.emit(TABLE[op], args, {**TABLE[op].defaults, **attrs})[0]


@BOTH
@pytest.mark.parametrize("op", ["signbit", "reciprocal", "argwhere_sum", "count_nonzero", "logical_not", "any"])
def test_inputs_and_parts_of_them_are_accepted_and_computed_floats_refused(op: str, profile: Profile) -> None:
    b = Builder(NumpySource(0), profile=profile)
    x = b.fresh_input(F32)
    part = emit(b, "unsqueeze", emit(b, "detach", x), dim=0)
    emit(b, op, part)
    whole = emit(b, "trunc", x)
    assert not zeros_agree(b, whole)
    for value in (whole, emit(b, "detach", whole), emit(b, "to", x, dtype="float16")):
        with pytest.raises(Invalid, match=f"^{op} depends on the zeros of computed values$"):
            emit(b, op, value)
    if op != "reciprocal":
        emit(b, op, emit(b, "isnan", whole))


@pytest.mark.parametrize(("low", "high", "agree"), CLAMPS)
def test_zeros_agree_after_a_clamp_that_excludes_zero(low: object, high: object, agree: bool) -> None:
    b = Builder(NumpySource(0))
    held = emit(b, "clamp", emit(b, "neg", b.fresh_input(F32)), min=low, max=high)
    assert zeros_agree(b, held) is agree


def test_in_the_special_profile_a_clamp_needs_a_nan_to_num_before_it() -> None:
    b = Builder(NumpySource(0), profile=Profile.SPECIAL)
    x = emit(b, "neg", b.fresh_input(F32))
    assert not zeros_agree(b, emit(b, "clamp", x, min=1))
    assert zeros_agree(b, emit(b, "clamp", emit(b, "nan_to_num", x), min=1))


POWERS: tuple[tuple[str, list[int]], ...] = (("float32", [0]), ("int64", []))


@pytest.mark.parametrize(("exponent", "expected"), POWERS)
def test_powers_with_integer_exponents_do_not_depend_on_zeros(exponent: str, expected: list[int]) -> None:
    types = (F32, F32.with_dtype(DType(exponent)))
    assert list(TABLE["pow"].zero_sensitivity.places(types, (F32,))) == expected


@pytest.mark.parametrize(("dtype", "expected"), [("bool", [0]), ("int32", [])])
def test_a_cast_depends_on_zeros_if_it_gives_booleans(dtype: str, expected: list[int]) -> None:
    assert list(TABLE["to"].zero_sensitivity.places((F32,), (F32.with_dtype(DType(dtype)),))) == expected


# --- generators obey the rules


def graphs_of(profile: Profile, count: int) -> Iterator[Graph]:
    """Yield generated and mutated graphs of operators that depend on zeros and of operators that compute."""
    ops = [*READERS, *(TABLE[name] for name in ("neg", "add", "mul", "floor") * 5)]
    for index in range(count):
        source = NumpySource(13, index)
        case = generate(source, Limits(max_numel=64, min_nodes=4), ops, profile=profile, symbolic=False)
        yield case.graph
        yield mutate(source, case, ops=ops).graph


def replayed(graph: Graph, profile: Profile) -> Builder:
    """Return a builder to which the nodes of the graph have been added."""
    b = Builder(NumpySource(0), Limits(), profile)
    names = {item.value.name: b.adopt(item) for item in graph.inputs}
    for node in graph.nodes:
        results = b.emit(TABLE[node.op], [names[name] for name in node.args], node.attrs, node.form)
        names |= {old.name: new for old, new in zip(node.results, results, strict=True)}
    return b


@pytest.mark.slow
@BOTH
def test_generation_and_mutation_obey_the_rules(profile: Profile) -> None:
    sensitive = computed = 0
    for graph in graphs_of(profile, 120):
        replayed(graph, profile)  # raises Invalid for operands whose zeros may differ
        results = {value.name for node in graph.nodes for value in node.results}
        for node in graph.nodes:
            if TABLE[node.op].reads_zeros:
                sensitive += 1
                computed += not results.isdisjoint(node.args)
    assert sensitive > 300
    assert computed > 0.1 * sensitive


@pytest.mark.parametrize("index", [4, 2079])
def test_no_operator_reads_the_sign_of_a_computed_nan(index: int) -> None:
    """In two cases of the special profile, the results of an earlier version depended on the sign of a computed NaN."""
    replayed(generate(NumpySource(5, index), profile=Profile.SPECIAL, symbolic=False).graph, Profile.SPECIAL)


# --- the rows compared with PyTorch


def signed(item: Input, sign: int, index: int) -> Array:
    """Draw numbers for the input, about half of them zeros and NaN of this sign."""
    array = draw(NumpySource(12, index), item, Profile.SPECIAL)
    rng = np.random.default_rng(index)
    for number in (0.0, np.nan):
        array[rng.random(array.shape) < 0.3] = np.copysign(number, sign)
    return array


def bits(results: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Return the results as numbers that can be compared: without NaN, and without the signs of zeros."""
    return [result.double().nan_to_num(12345.0, 1e300, -1e300) + 0.0 for result in results]


@pytest.mark.exhaustive
@each_row(op for op in OPS if not op.reads_zeros)
def test_no_other_row_reads_signs_of_zeros_or_nan(op: Op) -> None:
    """The signs of one input's zeros and NaN change. PyTorch's results must stay equal, apart from these signs."""
    for index in range(4):
        b = Builder(NumpySource(11, index), Limits(max_numel=64), Profile.SPECIAL)
        if not b.grow(op):
            continue
        graph = Graph(tuple(b.inputs), tuple(b.nodes), tuple(v.name for v in b.nodes[-1].results))
        numbers = {item.value.name: draw(NumpySource(12, index), item, Profile.SPECIAL) for item in graph.inputs}
        for item in graph.inputs:
            if item.value.type.dtype.is_float and item.domain == ANY and item.layout is not Layout.EXPANDED:
                one, other = (
                    bits(results(graph, numbers | {item.value.name: signed(item, s, index)})) for s in (1, -1)
                )
                assert all(map(torch.equal, one, other))


def results(graph: Graph, numbers: dict[str, Array]) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return run(graph, lambda item: laid_out(to_torch(numbers[item.value.name]), item.layout))
