from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.choice import NumpySource
from generators.domain import ANY, NONZERO, POSITIVE
from generators.graph import FLOATS, Array, Domain, DType, Input, Role, TensorType, Value
from generators.values import draw, plain

DTYPES = pytest.mark.parametrize("dtype", DType)
EACH_FLOAT = pytest.mark.parametrize("dtype", FLOATS)
ROLES = pytest.mark.parametrize("role", Role)


def item(dtype: DType, *shape: int, role: Role = Role.INPUT, domain: Domain = ANY) -> Input:
    return Input(Value("x0", TensorType(dtype, shape)), role, domain)


def draws(wanted: Input, count: int = 200) -> list[Array]:
    return [draw(NumpySource(1, index), wanted) for index in range(count)]


def share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


@given(st.integers(0, 1000), st.sampled_from(DType), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_type_is_the_inputs(index: int, dtype: DType, shape: list[int]) -> None:
    array = draw(NumpySource(0, index), item(dtype, *shape))
    assert (array.dtype, array.shape) == (dtype.numpy, tuple(shape))


@DTYPES
def test_source_determines_values(dtype: DType) -> None:
    wanted = item(dtype, 64)
    for first, second in zip(draws(wanted, 20), draws(wanted, 20), strict=True):
        assert first.tobytes() == second.tobytes()


@DTYPES
def test_one_source_gives_other_values_each_time(dtype: DType) -> None:
    source = NumpySource(0)
    assert len({draw(source, item(dtype, 64)).tobytes() for _ in range(20)}) == 20


@EACH_FLOAT
@ROLES
def test_normal_floats_have_negatives_and_zeros(dtype: DType, role: Role) -> None:
    arrays = draws(item(dtype, 64, role=role))
    assert all((array < 0).any() and (array > 0).any() for array in arrays)
    assert share([bool((array == 0).any()) for array in arrays]) >= 0.95
    assert all(np.isfinite(array).all() for array in arrays)


def test_normal_integers_have_negatives_and_zeros_and_are_small() -> None:
    arrays = draws(item(DType.INT64, 64))
    assert all((array < 0).any() and (array > 0).any() for array in arrays)
    assert share([bool((array == 0).any()) for array in arrays]) >= 0.95
    assert set(np.concatenate(arrays)) == set(range(-9, 10))


def test_booleans_are_both() -> None:
    assert all(array.any() and not array.all() for array in draws(item(DType.BOOL, 64)))


def test_styles_differ_in_magnitude() -> None:
    largest = [float(np.abs(array).max()) for array in draws(item(DType.FLOAT32, 64))]
    assert share([size > 5 for size in largest]) >= 0.2
    assert share([size < 4.5 for size in largest]) >= 0.2
    whole = [bool((array == np.round(array)).all()) for array in draws(item(DType.FLOAT32, 64))]
    assert 0.2 <= share(whole) <= 0.5


@EACH_FLOAT
@ROLES
def test_positive_domain(dtype: DType, role: Role) -> None:
    for array in draws(item(dtype, 64, role=role, domain=POSITIVE)):
        assert array.dtype == dtype.numpy
        assert array.min() >= 0.5


@EACH_FLOAT
@ROLES
def test_nonzero_domain_keeps_both_signs(dtype: DType, role: Role) -> None:
    for array in draws(item(dtype, 64, role=role, domain=NONZERO)):
        assert array.dtype == dtype.numpy
        assert np.abs(array).min() >= 0.5
        assert array.min() < 0 < array.max()


@pytest.mark.parametrize("domain", [POSITIVE, NONZERO])
def test_domains_of_integers(domain: Domain) -> None:
    for array in draws(item(DType.INT64, 64, domain=domain)):
        assert (array > 0).all() if domain is POSITIVE else (array != 0).all()


@pytest.mark.parametrize(
    "wanted",
    [item(DType.BOOL), item(DType.FLOAT32, domain=POSITIVE)],
    ids=["bool", "positive"],
)
def test_0d_values_are_arrays(wanted: Input) -> None:
    assert {type(array) for array in draws(wanted)} == {np.ndarray}


@pytest.mark.parametrize("domain", Domain)
@DTYPES
def test_plain_values(dtype: DType, domain: Domain) -> None:
    array = plain(item(dtype, 2, 3, domain=domain))
    assert (array.dtype, array.shape) == (dtype.numpy, (2, 3))
    assert (array == (0 if domain is ANY else 1)).all()
