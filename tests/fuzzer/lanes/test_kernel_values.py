"""The interpreter of kernels: what it computes, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzzer.lanes.evaluated.common import Outside, Unknown

pytestmark = [pytest.mark.tvm, pytest.mark.smoke]

STEPS = 1_000


def ran(compute: Any, array: np.ndarray, max_steps: int = STEPS) -> np.ndarray:
    """Interpret the kernel of one loop that makes each element from the loaded one."""
    from tvm import te

    from fuzzer.lanes.evaluated.kernel_values import run_kernel  # loads TVM

    x = te.placeholder(array.shape, str(array.dtype), "x")
    function = te.create_prim_func([x, te.compute(array.shape, lambda i: compute(x, i), "y")])
    result = np.zeros_like(array)
    run_kernel(function, [array], [result], max_steps)
    return result


@pytest.mark.parametrize("dividend", [-7, 7, -(2**60) - 1, 2**60 + 1, -(2**53) - 1])
def test_integers_are_divided_towards_zero(dividend: int) -> None:
    from tvm import tirx

    result = ran(lambda x, i: tirx.truncdiv(x[i], tirx.const(2, "int64")), np.array([dividend], np.int64))
    assert result.tolist() == [dividend // 2 if dividend > 0 else -(-dividend // 2)]


def test_a_division_by_zero_has_no_value() -> None:
    from tvm import tirx

    with pytest.raises(Unknown, match="ZeroDivisionError"):
        ran(lambda x, i: tirx.truncdiv(tirx.const(1, "int64"), x[i]), np.array([0], np.int64))


def test_an_access_outside_of_a_buffer_is_reported() -> None:
    with pytest.raises(Outside, match=r"x\[2\] is outside \[2\]"):
        ran(lambda x, i: x[i + 1], np.array([1.0, 2.0], np.float32))


def test_a_kernel_of_too_many_steps_is_refused() -> None:
    array = np.arange(5, dtype=np.float32)
    assert ran(lambda x, i: x[i] + x[i], array, 15).tolist() == (2 * array).tolist()
    with pytest.raises(Unknown, match="a kernel of too many steps"):
        ran(lambda x, i: x[i] + x[i], array, 14)
