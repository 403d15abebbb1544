from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.choice import NumpySource
from generators.domain import ANY, NONZERO, POSITIVE, Domain, distinct, index, within
from generators.graph import (
    FLOATS,
    INTEGERS,
    Array,
    DType,
    Input,
    Invalid,
    Layout,
    Profile,
    Role,
    TensorType,
    Value,
    holds_floats,
)
from generators.values import draw, draw_profile, holds, plain

DTYPES = pytest.mark.parametrize("dtype", DType)
EACH_FLOAT = pytest.mark.parametrize("dtype", FLOATS)
ROLES = pytest.mark.parametrize("role", Role)


def item(dtype: DType, *shape: int, role: Role = Role.INPUT, domain: Domain = ANY) -> Input:
    return Input(Value("x0", TensorType(dtype, shape)), role, domain)


def draws(wanted: Input, count: int = 200, profile: Profile = Profile.NORMAL) -> list[Array]:
    return [draw(NumpySource(1, index), wanted, profile) for index in range(count)]


def share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


@given(st.integers(0, 1000), st.sampled_from(DType), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_arrays_have_the_type_of_the_input(index: int, dtype: DType, shape: list[int]) -> None:
    array = draw(NumpySource(0, index), item(dtype, *shape))
    assert (array.dtype, array.shape) == (dtype.numpy, tuple(shape))


@DTYPES
def test_source_determines_values(dtype: DType) -> None:
    wanted = item(dtype, 64)
    for first, second in zip(draws(wanted, 20), draws(wanted, 20), strict=True):
        assert first.tobytes() == second.tobytes()


@DTYPES
def test_a_source_gives_other_values_in_each_draw(dtype: DType) -> None:
    source = NumpySource(0)
    assert len({draw(source, item(dtype, 64)).tobytes() for _ in range(20)}) == 20


@EACH_FLOAT
@ROLES
def test_normal_floats_always_have_negatives_and_zeros(dtype: DType, role: Role) -> None:
    for array in draws(item(dtype, 4, role=role)):
        assert (array < 0).any()
        assert (array == 0).any()
        assert np.isfinite(array.astype(np.float64)).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_normal_integers_are_small(dtype: DType) -> None:
    drawn = set(np.concatenate(draws(item(dtype, 64))).tolist())
    assert drawn == set(range(0 if dtype is DType.UINT8 else -9, 10))


@pytest.mark.exhaustive
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_tensors_of_enough_elements_have_zeros_and_negatives(dtype: DType, profile: Profile) -> None:
    for shape in ((3,), (2, 2), (64,)):
        for array in draws(item(dtype, *shape), profile=profile):
            assert (array == 0).any()
            assert (array < 0).any() or dtype is DType.UINT8


# --- profiles


def test_every_profile_is_drawn_and_most_are_normal() -> None:
    source = NumpySource(0)
    drawn = [draw_profile(source) for _ in range(1000)]
    assert set(drawn) == set(Profile)
    assert drawn.count(Profile.NORMAL) > 700


@EACH_FLOAT
def test_the_edge_profile_has_ties_halves_offsets_and_denormals(dtype: DType) -> None:
    arrays = [a.astype(np.float64) for a in draws(item(dtype, 64), profile=Profile.EDGE)]
    tiny = float(np.finfo(np.float32 if dtype is DType.BFLOAT16 else dtype.value).tiny)
    assert any(len(np.unique(a)) <= 3 for a in arrays)
    assert any((a % 1 == 0.5).all() for a in arrays)
    assert any(a.min() > 500 and a.std() < 3 for a in arrays)
    assert any(((np.abs(a) > 0) & (np.abs(a) < tiny)).any() for a in arrays)
    assert all(np.isfinite(a).all() for a in arrays)


@EACH_FLOAT
def test_the_special_profile_has_nan_infinities_and_signed_zeros(dtype: DType) -> None:
    together = np.concatenate(draws(item(dtype, 64), profile=Profile.SPECIAL)).astype(np.float64)
    assert np.isnan(together).any()
    assert {np.inf, -np.inf} <= set(together[np.isinf(together)].tolist())
    assert (np.signbit(together) & (together == 0)).any()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_extreme_profile_has_the_ends_of_the_range(dtype: DType) -> None:
    together = set(np.concatenate(draws(item(dtype, 64), profile=Profile.EXTREME)).tolist())
    low, high = dtype.range
    assert {low, low + 1, high - 1, high} <= together


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,), (2, 5)])
def test_every_extreme_tensor_has_an_end_of_the_range(dtype: DType, shape: tuple[int, ...]) -> None:
    low, high = dtype.range
    for array in draws(item(dtype, *shape), profile=Profile.EXTREME):
        assert np.isin(array, [low, low + 1, high - 1, high]).any()


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.INT64, DType.INT8])
@pytest.mark.parametrize("domain", [POSITIVE, NONZERO, index(5), within(0, 3), distinct(-4, 6, 0)], ids=str)
def test_a_domain_holds_in_every_profile(domain: Domain, dtype: DType, profile: Profile) -> None:
    for array in draws(item(dtype, 7, 2, domain=domain), 40, profile):
        assert array.dtype == dtype.numpy
        assert holds(array, domain), array
    assert holds(plain(item(dtype, 7, 2, domain=domain)), domain)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.is_float])
def test_nan_is_in_no_domain_and_nothing_is_printed_about_it(dtype: DType) -> None:
    assert not any(
        holds(np.array([np.nan]).astype(dtype.numpy), domain) for domain in (POSITIVE, NONZERO, within(0, 3))
    )


def test_numbers_within_and_outside_of_domains() -> None:
    assert holds(np.array([np.nan, -1.0]), ANY)
    assert not holds(np.array([1.0, np.nan]), POSITIVE)
    assert not holds(np.array([1.0, 0.0]), NONZERO)
    assert not holds(np.array([0, 3]), index(3))
    assert holds(np.array([-3, 2]), index(3))
    assert holds(np.array([[0, 0], [1, 1]]), distinct(0, 1, 0))
    assert not holds(np.array([[0, 0], [1, 1]]), distinct(0, 1, 1))


@pytest.mark.parametrize("domain", [ANY, POSITIVE, NONZERO, index(5), within(-7, 0), distinct(-4, 6, 1)], ids=str)
def test_domains_are_read_back_from_their_text(domain: Domain) -> None:
    assert Domain.parse(str(domain)) == domain


@pytest.mark.parametrize(
    "text", ["", "some", "within", "within 3 1", "within 0 1 along 0", "distinct 0 1", "within 0 1;"]
)
def test_other_domains_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is no domain"):
        Domain.parse(text)


def test_expanded_inputs_have_equal_slices() -> None:
    wanted = Input(Value("x0", TensorType(DType.FLOAT32, (3, 2))), layout=Layout.EXPANDED)
    for array in draws(wanted, 20):
        assert array.shape == (3, 2)
        assert (array == array[:1]).all()


def test_bfloat16_counts_as_a_float() -> None:
    assert [holds_floats(np.zeros(1, d.numpy)) for d in DType] == [d.is_float for d in DType]


def test_booleans_are_true_and_false() -> None:
    assert all(array.any() and not array.all() for array in draws(item(DType.BOOL, 64)))


def test_styles_differ_in_magnitude() -> None:
    largest = [float(np.abs(array).max()) for array in draws(item(DType.FLOAT32, 64))]
    assert share([size > 5 for size in largest]) >= 0.2
    assert share([size < 4.5 for size in largest]) >= 0.2
    whole = [bool((array == np.round(array)).all()) for array in draws(item(DType.FLOAT32, 64))]
    assert 0.2 <= share(whole) <= 0.5


@EACH_FLOAT
def test_nonzero_domain_keeps_both_signs(dtype: DType) -> None:
    for array in draws(item(dtype, 64, domain=NONZERO)):
        assert np.abs(array).min() >= 0.5
        assert array.min() < 0 < array.max()


@pytest.mark.parametrize(
    "wanted",
    [item(DType.BOOL), item(DType.FLOAT32, domain=POSITIVE)],
    ids=["bool", "positive"],
)
def test_0d_values_are_arrays(wanted: Input) -> None:
    assert {type(array) for array in draws(wanted)} == {np.ndarray}


@pytest.mark.parametrize(("domain", "number"), [(ANY, 0), (POSITIVE, 1), (NONZERO, 1), (within(-3, -2), -2)], ids=str)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT8])
def test_plain_values(dtype: DType, domain: Domain, number: int) -> None:
    array = plain(item(dtype, 2, 3, domain=domain))
    assert (array.dtype, array.shape) == (dtype.numpy, (2, 3))
    assert (array == number).all()


@pytest.mark.parametrize(
    ("domain", "row"),
    [(distinct(-1, 1, 1), [-1, 0, 1]), (distinct(-9, 1, 1), [-1, 0, 1]), (distinct(-9, 9, 1), [0, 1, 2])],
    ids=str,
)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT8])
def test_plain_values_of_a_distinct_domain_ascend_in_it(dtype: DType, domain: Domain, row: list[int]) -> None:
    array = plain(item(dtype, 2, 3, domain=domain))
    assert array.dtype == dtype.numpy
    assert array.tolist() == [row, row]
