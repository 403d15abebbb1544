"""What the builder promises: nothing of a failed attempt stays, limits hold, and outputs are what people return."""

from __future__ import annotations

import pytest

from generators.builder import LONG, TILES, Builder, Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, DType, Form, Invalid, Layout, Profile, Role
from generators.ops import OPS, TABLE
from generators.random_graph import generate, grow, with_values

CASES = [generate(NumpySource(11, index)) for index in range(600)]


def snapshot(b: Builder) -> tuple[object, ...]:
    return (
        list(b.inputs),
        list(b.nodes),
        [v.name for v in b.values()],
        dict(b._reads),
        dict(b._types),
        dict(b._made),
        dict(b._counts),
        b._results,
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

    def half() -> None:
        builder.emit(TABLE["neg"], (builder.tensor((DType.FLOAT32,)),), {})
        raise Invalid("no")

    assert not builder.attempt(half)
    assert snapshot(builder) == before


def test_every_case_passes_the_gate() -> None:
    for case in CASES:
        check(case)


def test_work_and_memory_are_bounded() -> None:
    for index in range(200):
        builder = Builder(
            NumpySource(4, index), Limits(max_nodes=6, max_numel=1 << 20, max_bytes=1 << 22, max_work=1 << 21)
        )
        grow(builder, 6, OPS)
        types = builder.graph().types.values() if builder.nodes else ()
        assert sum(t.numel * t.dtype.bits // 8 for t in types) <= 1 << 22


def outputs(case: Case) -> tuple[str, ...]:
    return case.graph.outputs


def test_outputs_are_what_people_return() -> None:
    inputs = [{item.value.name for item in case.graph.inputs} for case in CASES]
    assert any(set(outputs(case)) & names for case, names in zip(CASES, inputs, strict=True)), "an input"
    assert any(len(set(outputs(case))) < len(outputs(case)) for case in CASES), "the same value twice"
    read = [{name for node in case.graph.nodes for name in node.args} for case in CASES]
    assert any(set(outputs(case)) & names for case, names in zip(CASES, read, strict=True)), "a value that others read"
    made = [{v.name for node in case.graph.nodes for v in node.results} for case in CASES]
    dead = [m - r - set(outputs(case)) for case, m, r in zip(CASES, made, read, strict=True)]
    assert any(dead), "a result that nobody asks for"


def test_layouts_roles_profiles_and_forms_all_occur() -> None:
    items = [item for case in CASES for item in case.graph.inputs]
    assert {item.layout for item in items} == set(Layout)
    assert {item.role for item in items} == set(Role)
    assert {case.profile for case in CASES} == set(Profile)
    assert {node.form for case in CASES for node in case.graph.nodes} == set(Form)


def test_parameters_are_shared_now_and_then() -> None:
    shared = 0
    for case in CASES:
        params = {item.value.name for item in case.graph.inputs if item.role is Role.PARAM}
        readers = [[node.op for node in case.graph.nodes if name in node.args] for name in params]
        shared += any(len(ops) > 1 for ops in readers)
    assert shared > 0


def test_shapes_have_every_kind_of_size() -> None:
    sizes = {size for case in CASES for item in case.bound.inputs for size in item.value.type.sizes}
    ranks = {item.value.type.rank for case in CASES for item in case.bound.inputs}
    assert {0, 1, 7, 13} <= sizes
    assert sizes & set(TILES)
    assert sizes & set(LONG)
    assert {0, 1, 2, 3, 4, 5} <= ranks


# --- symbolic dimensions

SYMBOLIC = [case for case in (generate(NumpySource(12, index), symbolic=True) for index in range(300)) if case.sizes]


def test_symbolic_cases_are_bound_to_two_to_four_sizes_one_of_them_1() -> None:
    assert len(SYMBOLIC) > 100
    for case in SYMBOLIC:
        instances = case.instances()
        assert 2 <= len(instances) <= 4
        assert any(set(sizes.values()) == {1} for sizes in case.also)
        for each in instances:
            check(each)


def test_symbolic_dimensions_come_with_arithmetic() -> None:
    formulas = {str(dim) for case in SYMBOLIC for value in case.graph.values() for dim in value.type.shape}
    formulas = {text for text in formulas if not text.isdigit()}
    assert {"n", "m"} <= formulas
    assert any("+" in text for text in formulas)
    assert any("*" in text for text in formulas)
    assert any(len({s for v in case.graph.values() for s in v.type.symbols}) == 2 for case in SYMBOLIC)


@pytest.mark.parametrize("name", ["reshape", "expand"])
def test_an_attribute_that_holds_for_one_size_only_is_refused(name: str) -> None:
    """Whatever the row draws for a symbolic operand must hold for all sizes."""
    for index in range(100):
        case = generate(NumpySource(13, index), ops=[TABLE[name], TABLE["neg"]], symbolic=True)
        for each in case.instances():
            check(each)


def test_a_builder_gives_a_case_of_its_profile() -> None:
    builder = Builder(NumpySource(0), profile=Profile.EDGE)
    grow(builder, 2, OPS)
    assert with_values(builder, "here").profile is Profile.EDGE
