"""Kernels that round nothing on whole numbers, and the comparison of their schedules bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tvm import te, topi

from fuzzer.lanes.evaluated.interpreter import near
from fuzzer.lanes.relax.exact import is_exact, stays_exact
from fuzzer.lanes.relax.schedules import compared

pytestmark = pytest.mark.tvm


def kernel(compute: Callable[..., Any], *shapes: tuple[int, ...], dtype: str = "float32") -> Any:
    tensors = [te.placeholder(shape, dtype, name) for shape, name in zip(shapes, "abc", strict=False)]
    return te.create_prim_func([*tensors, compute(*tensors)])


@pytest.mark.parametrize(
    ("compute", "shapes", "exact"),
    [
        (topi.matmul, ((3, 5), (5, 4)), True),
        (lambda a: topi.nn.relu(topi.sum(a, axis=1)), ((3, 5),), True),
        (lambda a: topi.max(a, axis=0), ((3, 5),), True),
        (lambda a: topi.nn.pad(a, [1, 1]), ((3, 5),), True),
        (lambda a: a * te.const(2.0, "float32"), ((3,),), True),
        (lambda a: a * te.const(0.5, "float32"), ((3,),), False),
        (lambda a: a + te.const(-1.0, "float32"), ((3,),), False),
        (lambda a, b: a - b, ((3,), (3,)), False),
        (lambda a, b: a / b, ((3,), (3,)), False),
        (topi.exp, ((3,),), False),
        (lambda a: topi.min(a, axis=0), ((3, 5),), False),
    ],
)
def test_which_kernels_are_exact(compute: Callable[..., Any], shapes: tuple[tuple[int, ...], ...], exact: bool) -> None:
    assert is_exact(kernel(compute, *shapes)) is exact


@pytest.mark.parametrize(
    ("dtype", "largest", "exact"),
    [
        ("float32", 2.0**24, True),
        ("float32", 2.0**24 + 2, False),
        ("float16", 2048.0, True),
        ("float16", 2050.0, False),
    ],
)
def test_results_must_be_small_enough(dtype: str, largest: float, exact: bool) -> None:
    added = kernel(lambda a, b: a + b, (2,), (2,), dtype=dtype)
    assert stays_exact(added, [np.array([1.0, largest])]) is exact


def total(count: int, of: int) -> Callable[..., Any]:
    """A sum of the first `count` of `of` numbers."""

    def compute(a: Any) -> Any:
        k = te.reduce_axis((0, count), "k")
        return te.compute((1,), lambda i: te.sum(a[k + i * of], axis=k), "total")

    return compute


def test_a_schedule_that_leaves_out_one_of_many_terms_is_found() -> None:
    """The difference is within the tolerance of kernels that round."""
    count = 100_000
    before, after = (kernel(total(terms, count), (count,)) for terms in (count, count - 1))
    assert compared("total", before, before) == ""
    difference = compared("total", before, after)
    found, right = (float(word) for word in (difference.split()[0], difference.split()[-4]))
    assert near(np.array([found], np.float32), np.array([right], np.float32))
    assert found < right
