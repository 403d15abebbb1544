"""Hypothesis strategies draw valid values, and shrink failing cases to small ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from generators.domain import NONZERO, POSITIVE, Domain, within
from generators.graph import ANY, Array, Case, DType, Input, Layout, Profile, TensorType, Value
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.strategies import _elements, cases, graphs, tensors
from generators.values import holds, plain

pytestmark = pytest.mark.slow

SEARCH = settings(max_examples=1500)
F32 = TensorType.parse("float32[3,4]")


def smallest(wanted: set[str], *ops: str) -> Case:
    table = {"ops": [TABLE[name] for name in ops]} if ops else {}
    return find(cases(**table), lambda case: wanted <= set(case.graph.ops), settings=SEARCH)  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_a_case_shrinks_to_the_one_operator_that_matters() -> None:
    """The calls before it and after it are removed."""
    ops = [*OPS[::11], TABLE["softmax"], TABLE["add"]]
    found = find(cases(ops=ops), lambda case: not {"softmax", "add"}.isdisjoint(case.graph.ops), settings=SEARCH)
    (node,) = found.graph.nodes
    assert node.op in ("softmax", "add")
    assert {str(item.value.type) for item in found.graph.inputs} == {"float32[]"}
    assert all((array == 0).all() for array in found.tensors.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("wanted", [("tanh",), ("abs", "tanh")])
@pytest.mark.long
def test_a_case_shrinks_to_the_calls_that_matter(wanted: tuple[str, ...]) -> None:
    found = smallest(set(wanted), "neg", "abs", "relu", "add", "tanh", "sub", "exp")
    assert sorted(found.graph.ops) == sorted(wanted)
    assert {(i.layout, i.domain) for i in found.graph.inputs} == {(Layout.CONTIGUOUS, ANY)}
    assert all((array == 0).all() for array in found.tensors.values())


@pytest.mark.long
def test_a_tensor_shrinks_to_the_one_number_that_matters() -> None:
    found = find(tensors(F32), lambda array: bool((array > 2).any()), settings=SEARCH)
    assert sorted(found.reshape(-1).tolist()) == [0.0] * 11 + [3.0]


def test_the_numbers_of_a_case_shrink_to_those_that_matter() -> None:
    ops = [TABLE["neg"], TABLE["floor"]]
    found = find(cases(ops=ops), lambda case: any((a < -4).any() for a in case.tensors.values()), settings=SEARCH)
    (array,) = found.tensors.values()
    assert (len(found.graph.nodes), array.tolist()) == (1, -5.0)


def test_large_tensors_are_plain_where_their_numbers_do_not_matter() -> None:
    found = find(tensors(TensorType.parse("int64[8,8]")), lambda array: True, settings=SEARCH)
    assert not found.any()


@given(graphs(ops=[TABLE[name] for name in ("add", "exp", "neg")]))
@settings(max_examples=60)
def test_graphs_have_the_given_operators_and_their_guards(graph: object) -> None:
    assert set(graph.ops) <= {"add", "exp", "neg", "clamp"}  # type: ignore[attr-defined]


DOMAINS = (ANY, POSITIVE, NONZERO, within(-3, 4), within(2, 2))


@given(data=st.data())
@settings(max_examples=300)
def test_elements_are_in_their_domain_and_dtype(data: st.DataObject) -> None:
    dtype, profile = data.draw(st.sampled_from(DType)), data.draw(st.sampled_from(Profile))
    domain: Domain = data.draw(st.sampled_from(DOMAINS))
    if dtype in (DType.BOOL, DType.UINT8) and domain.low < 0:
        domain = within(0, 1)
    if dtype is DType.BOOL and domain.low > 1:
        domain = within(1, 1)
    number = data.draw(_elements(dtype, domain, profile))
    array: Array = np.array([number], dtype.numpy)
    assert holds(array, domain)
    assert holds(plain(Input(Value("x0", TensorType(dtype, (1,))), domain=domain)), domain)


@pytest.mark.parametrize(
    ("dtype", "profile", "fits"),
    [
        ("float32", Profile.SPECIAL, np.isnan),
        ("float16", Profile.EDGE, lambda array: array == 512),
        ("int8", Profile.EXTREME, lambda array: array == -128),
        ("uint8", Profile.EXTREME, lambda array: array == 254),
    ],
)
def test_each_profile_has_its_numbers(dtype: str, profile: Profile, fits: object) -> None:
    type = TensorType(DType(dtype), (2,))
    found = find(tensors(type, profile), lambda array: bool(fits(array).any()), settings=SEARCH)
    assert np.count_nonzero(found == 0) == 1
