"""The results that a node test of ONNX expects, and whether a lane gives them, by the rule of the suite itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from generators.graph import Array, DType, Invalid, holds_floats
from generators.onnx.model import Tensor, require_array
from generators.plain_file import MOST_TEXT, read_plain

EXPECTED_NAME = "expected.msgpack"
"""The file beside a case with the results that its test expects."""

BFLOAT16_RTOL = 2**-6
"""Two units in the last place of bfloat16: the least relative tolerance of the suite for it."""


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The expected results of a test, and its tolerances, which onnx.backend.test.case.test_case.TestCase has."""

    outputs: tuple[Tensor, ...]
    rtol: float
    atol: float


def read(folder: Path) -> Expected:
    """What the test of a case in a folder expects. Raise `Invalid` where the folder does not say it."""
    path = folder / EXPECTED_NAME
    try:
        found = msgspec.msgpack.decode(read_plain(path, MOST_TEXT), type=Expected)
    except (OSError, msgspec.DecodeError) as error:
        raise Invalid(f"{path}: {error}; choose another folder") from None
    for each in found.outputs:
        require_array(each, str(path))
    return found


def difference(outputs: Sequence[Array], expected: Expected) -> str:
    """How results differ from the expected ones, in one line; "" where they do not.

    The rule is that of `onnx.backend.test.runner.Runner.assert_similar_outputs` (onnx 1.23): the number of results,
    their shapes and dtypes are equal, and |result - expected| <= atol + rtol |expected| for each element, also for
    integers. NaN equals NaN, and an infinity equals the same infinity."""
    right = [each.array for each in expected.outputs]
    if len(outputs) != len(right):
        return f"{len(outputs)} results, not {len(right)}"
    for place, (actual, wanted) in enumerate(zip(outputs, right, strict=True)):
        if actual.shape != wanted.shape:
            return f"result {place} has the shape {list(actual.shape)}, not {list(wanted.shape)}"
        if actual.dtype != wanted.dtype:
            return f"result {place} is {actual.dtype}, not {wanted.dtype}"
        if why := _other_values(actual, wanted, expected):
            return f"result {place}: {why}"
    return ""


def _other_values(actual: Array, wanted: Array, expected: Expected) -> str:
    rtol = expected.rtol
    if wanted.dtype == DType.BFLOAT16.numpy:
        rtol = max(rtol, BFLOAT16_RTOL)
        actual, wanted = actual.astype(np.float32), wanted.astype(np.float32)
    if not holds_floats(wanted) and wanted.dtype != np.bool_:  # exact differences of any two integers
        actual, wanted = actual.astype(object), wanted.astype(object)
        with np.errstate(all="ignore"):
            near = np.abs(actual - wanted) <= expected.atol + rtol * np.abs(wanted)
    else:
        near = np.isclose(actual, wanted, rtol=rtol, atol=expected.atol, equal_nan=True)
    wrong = np.argwhere(~near.astype(np.bool_))
    if not len(wrong):
        return ""
    first = tuple(map(int, wrong[0]))
    return f"{len(wrong)} of {wanted.size} elements differ; at {list(first)} is {actual[first]}, not {wanted[first]}"
