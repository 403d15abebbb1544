"""The builder undoes failed attempts, keeps its limits, and chooses the outputs that models usually return."""

from __future__ import annotations

import math
from functools import cache

import pytest
from dialect_forms import TORCH_FORMS

from generators.builder import LONG, TILES, Builder, Limits, OpenSizes
from generators.check import check
from generators.choice import NumpySource
from generators.domain import within
from generators.graph import Case, DType, Form, Invalid, Layout, Profile, Role, Symbol, TensorType
from generators.limits import of_large_tensors
from generators.random_graph import grow, with_values
from generators.symbolic import Size
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate


@cache
def cases() -> list[Case]:
    return [generate(NumpySource(11, index)) for index in range(600)]


def snapshot(b: Builder) -> tuple[object, ...]:
    return (
        list(b.inputs),
        list(b.nodes),
        [v.name for v in b.values()],
        dict(b._reads),
        dict(b._types),
        dict(b._producers),
        dict(b._counts),
        set(b._overwritten),
        set(b._dropped),
        list(b._ops),
        (b._results, b._bytes, b._work),
    )


def test_a_failed_attempt_leaves_nothing_behind() -> None:
    failed = 0
    for index in range(300):
        builder = Builder(NumpySource(3, index), Limits(max_numel=64))
        grow(builder, 3, OPS)
        before = snapshot(builder)
        if not builder.grow(OPS[index % len(OPS)], connected=True):
            failed += 1
            assert snapshot(builder) == before
    assert failed > 20


def test_an_attempt_that_raises_leaves_nothing_behind() -> None:
    builder = Builder(NumpySource(3))
    grow(builder, 3, OPS)
    before = snapshot(builder)

    def add_two_nodes_and_raise() -> None:
        (value,) = builder.emit(TABLE["neg"], (builder.tensor((DType.FLOAT32,)),), {})
        (value,) = builder.emit(TABLE["neg"], (value,), {}, Form.INPLACE)
        builder.drop(value)
        raise Invalid("no")

    assert not builder.attempt(add_two_nodes_and_raise)
    assert snapshot(builder) == before


def test_an_attempt_within_an_attempt_is_counted_once() -> None:
    def negated(builder: Builder) -> bool:
        x = builder.fresh_input(TensorType(DType.FLOAT32, (3, 5)))
        return builder.attempt(lambda: len(builder.emit(TABLE["cumsum"], (x,), {"dim": 1, "dtype": None})) == 1)

    plain, nested = Builder(NumpySource(0)), Builder(NumpySource(0))
    assert negated(plain)
    assert nested.attempt(lambda: negated(nested))
    assert plain._work == nested._work == 3 * 5 * 5
    assert nested._bytes == 2 * 3 * 5 * 4, "includes the input, which was added before the inner attempt"


def test_a_call_that_exceeds_a_limit_is_undone() -> None:
    builder = Builder(NumpySource(0), Limits(max_numel=8))
    x = builder.fresh_input(TensorType(DType.FLOAT32, (8,)))
    before = snapshot(builder)
    assert not builder.attempt(lambda: len(builder.emit(TABLE["expand"], (x,), {"shape": (2, 8)})) == 1)
    assert snapshot(builder) == before


@pytest.mark.slow
def test_every_case_passes_check() -> None:
    for case in cases():
        check(case)


@pytest.mark.slow
def test_work_and_memory_are_bounded() -> None:
    for index in range(200):
        builder = Builder(
            NumpySource(4, index), Limits(max_nodes=6, max_numel=1 << 20, max_bytes=1 << 22, max_work=1 << 21)
        )
        grow(builder, 6, OPS)
        types = builder.graph().types if builder.nodes else {}
        assert sum(t.numel * t.dtype.bits // 8 for t in types.values()) <= 1 << 22
        work = 0
        for node in builder.nodes:
            terms = TABLE[node.op].terms
            size = sum(value.type.numel for value in node.results)
            work += terms(tuple(types[name] for name in node.args), node.attrs) * size if terms else 0
        assert work <= 1 << 21


# --- values that are picked


def test_a_value_with_a_domain_is_only_picked_by_the_operator_that_made_it() -> None:
    builder = Builder(NumpySource(0))
    chosen = builder.fresh_input(TensorType(DType.INT64, (2,)), domain=within(0, 3))
    owned = builder.param(DType.INT64, 2), builder.buffer(DType.INT64, 2)
    assert not {chosen.name, *(value.name for value in owned)} & {value.name for value in builder.values()}
    for _ in range(50):
        assert builder.tensor((DType.INT64,)).name not in (chosen.name, owned[0].name, owned[1].name)


def test_a_value_that_is_changed_in_place_is_not_picked_again() -> None:
    builder = Builder(NumpySource(0))
    (x,) = builder.emit(TABLE["neg"], (builder.fresh_input(TensorType(DType.FLOAT32, (2,))),), {})
    (y,) = builder.emit(TABLE["neg"], (x,), {}, Form.INPLACE)
    assert x.name not in {value.name for value in (*builder.values(), *builder.results())}
    for _ in range(50):
        assert builder.pick(lambda t: True, lambda: x.type).name != x.name
    assert x.name not in builder.graph().outputs
    assert y.name in {value.name for value in builder.values()}


@pytest.mark.slow
def test_no_later_node_or_output_reads_a_value_that_was_changed_in_place() -> None:
    for case in cases():
        overwritten: set[str] = set()
        for node in case.graph.nodes:
            assert not overwritten & set(node.args)
            overwritten |= {node.args[0]} if node.form is Form.INPLACE else set()
        assert not overwritten & set(case.graph.outputs)


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "eq", "atan2"])
def test_calls_seldom_have_the_same_operand_twice(name: str) -> None:
    pairs = []
    for index in range(200):
        builder = Builder(NumpySource(5, index))
        grow(builder, 3, [TABLE["neg"], TABLE[name]])
        pairs += [node.args for node in builder.nodes if node.op == name]
    same = sum(first == second for first, second in pairs)
    assert 0 < same < 0.3 * len(pairs)


def test_about_half_of_the_drawn_dtypes_are_float32() -> None:
    builder = Builder(NumpySource(0))
    drawn = [builder.dtype(tuple(DType)) for _ in range(1000)]
    assert 0.45 < drawn.count(DType.FLOAT32) / len(drawn) < 0.65
    assert set(drawn) == set(DType)
    assert {builder.dtype((DType.INT8, DType.BOOL)) for _ in range(50)} == {DType.INT8, DType.BOOL}


@pytest.mark.parametrize("rank", range(6))
def test_shapes_are_within_the_limit(rank: int) -> None:
    builder = Builder(NumpySource(0), Limits(max_numel=64))
    for _ in range(300):
        shape = builder.shape(rank)
        assert len(shape) == rank
        assert TensorType(DType.FLOAT32, shape).numel <= 64


def test_a_tensor_has_one_of_the_given_dtypes_and_ranks() -> None:
    builder = Builder(NumpySource(0))
    for _ in range(200):
        type = builder.tensor((DType.INT8, DType.FLOAT16), ranks=(1, 2)).type
        assert type.dtype in (DType.INT8, DType.FLOAT16)
        assert type.rank in (1, 2)


def outputs(case: Case) -> tuple[str, ...]:
    return case.graph.outputs


def test_outputs_are_sometimes_inputs_repeated_values_and_values_that_nodes_read() -> None:
    inputs = [{item.value.name for item in case.graph.inputs} for case in cases()]
    assert any(set(outputs(case)) & names for case, names in zip(cases(), inputs, strict=True)), "an input"
    assert any(len(set(outputs(case))) < len(outputs(case)) for case in cases()), "the same value twice"
    read = [{name for node in case.graph.nodes for name in node.args} for case in cases()]
    assert any(set(outputs(case)) & names for case, names in zip(cases(), read, strict=True)), (
        "a value that a node reads"
    )
    results = [{v.name for node in case.graph.nodes for v in node.results} for case in cases()]
    dead = [m - r - set(outputs(case)) for case, m, r in zip(cases(), results, read, strict=True)]
    assert any(dead), "a result that is neither read nor an output"


def test_layouts_roles_profiles_and_forms_all_occur() -> None:
    items = [item for case in cases() for item in case.graph.inputs]
    assert {item.layout for item in items} == set(Layout)
    assert {item.role for item in items} == set(Role)
    assert {case.profile for case in cases()} == set(Profile)
    assert {node.form for case in cases() for node in case.graph.nodes} == TORCH_FORMS


def test_operators_with_parameters_sometimes_share_one() -> None:
    shared, ops = 0, [TABLE[name] for name in ("linear", "layer_norm", "prelu")]
    for index in range(100):
        case = generate(NumpySource(11, index), Limits(min_nodes=4), ops)
        params = {item.value.name for item in case.graph.inputs if item.role is Role.PARAM}
        readers = [[node.op for node in case.graph.nodes if name in node.args] for name in params]
        shared += any(len(by) > 1 for by in readers)
    assert 0 < shared < 50


def test_shapes_have_every_kind_of_size() -> None:
    sizes = {size for case in cases() for item in case.bound.inputs for size in item.value.type.sizes}
    ranks = {item.value.type.rank for case in cases() for item in case.bound.inputs}
    assert {0, 1, 7, 13} <= sizes
    assert sizes & set(TILES)
    assert sizes & set(LONG)
    assert {0, 1, 2, 3, 4, 5} <= ranks


# --- symbolic dimensions


@cache
def symbolic_cases() -> list[Case]:
    return [case for case in (generate(NumpySource(12, index), symbolic=True) for index in range(300)) if case.sizes]


@pytest.mark.slow
def test_symbolic_cases_are_bound_to_two_to_four_sizes_one_of_them_1() -> None:
    assert len(symbolic_cases()) > 100
    for case in symbolic_cases():
        instances = case.instances()
        assert 2 <= len(instances) <= 4
        assert any(set(sizes.values()) == {1} for sizes in case.also)
        for each in instances:
            check(each)


@pytest.mark.slow
def test_symbolic_dimensions_come_with_arithmetic() -> None:
    formulas = {str(dim) for case in symbolic_cases() for value in case.graph.values() for dim in value.type.shape}
    formulas = {text for text in formulas if not text.isdigit()}
    assert {"n", "m"} <= formulas
    assert any("+" in text for text in formulas)
    assert any("*" in text for text in formulas)
    assert any(len({s for v in case.graph.values() for s in v.type.symbols}) == 2 for case in symbolic_cases())


def test_a_formula_that_holds_for_one_size_only_is_refused() -> None:
    """For n = 3 the tensor has 9 elements; for n = 1 it has 3."""
    symbols = [Symbol("n", 1, 3)]
    builder = Builder(NumpySource(0), open_sizes=OpenSizes(symbols, {"n": 3}, [{"n": 1}]))
    x = builder.fresh_input(TensorType(DType.FLOAT32, (Size.symbol("n", 3), 3)))
    with pytest.raises(Invalid, match=r"^\[1, 3\] cannot be reshaped to \(9,\)$"):
        builder.emit(TABLE["reshape"], (x,), {"shape": (9,)})
    (y,) = builder.emit(TABLE["reshape"], (x,), {"shape": (-1,)})
    with pytest.raises(Invalid, match=r"^slice: the formula of a result size does not hold at \{'n': 1\}$"):
        builder.emit(TABLE["slice"], (y,), {"dim": 0, "start": 0, "end": 5, "step": 1})
    assert [str(value.type) for value in builder.graph().values()] == ["float32[n,3]", "float32[3*n]"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reshape", "expand"])
def test_an_attribute_that_holds_for_one_size_only_is_refused(name: str) -> None:
    """The attributes that a row draws for a symbolic operand must be valid for all sizes."""
    for index in range(100):
        case = generate(NumpySource(13, index), ops=[TABLE[name], TABLE["neg"]], symbolic=True)
        for each in case.instances():
            check(each)


def test_a_case_has_the_profile_of_its_builder() -> None:
    builder = Builder(NumpySource(0), profile=Profile.EDGE)
    grow(builder, 2, OPS)
    assert with_values(builder, "here").profile is Profile.EDGE


def test_large_shapes_have_more_than_a_hundred_thousand_elements() -> None:
    limits = of_large_tensors(Limits())
    shapes = {Builder(NumpySource(1, number), limits).shape(rank) for number in range(200) for rank in (0, 1, 2, 4)}
    large = {shape for shape in shapes if math.prod(shape) > 100_000}
    assert {len(shape) for shape in large} == {1, 2, 4}
    assert 20 <= 100 * len(large) / len(shapes) <= 80
    assert max(map(math.prod, shapes)) <= limits.max_numel


def test_without_a_share_of_large_shapes_no_choice_is_made_for_them() -> None:
    drawn = [Builder(NumpySource(2, number), Limits()).shape(3) for number in range(50)]
    assert max(map(math.prod, drawn)) <= 4096
