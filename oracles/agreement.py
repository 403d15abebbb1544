"""Where there is no full reference, lanes with the same importer agree: a lane that differs from all others is wrong.

Without an envelope, only a difference that no rounding explains counts: the number, shapes and dtypes of outputs,
integers and booleans, and floats that differ by more than half of their digits. At least three lanes are needed, and
all but one must agree. Lanes whose passes change the rounding are left out. So are cases of ONNX whose witness does not
agree with onnxruntime: what they mean is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from generators.graph import Array, Case, holds_floats
from oracles.finding import OTHER_LANES, Component, Finding, Kind, Mismatch
from oracles.identical import difference
from oracles.lane import Engine, LaneSpec, returns_gradients
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import eager_run, expected, witnesses_disagree
from oracles.transforms import Rounding, rounding_in

QUORUM = 3
"""The smallest number of lanes that can single one out."""


def agreement(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    if expected(outcomes) is not None or eager_run(outcomes) is None or witnesses_disagree(outcomes):
        return
    groups: dict[object, dict[LaneSpec, tuple[Array, ...]]] = {}
    for lane, out in outcomes.items():
        if lane.engine is Engine.TVM and isinstance(out, Ran) and rounding_in(lane) is Rounding.SAME:
            groups.setdefault((lane.importer, lane.toolchain, returns_gradients(lane)), {})[lane] = out.outputs
    for group in groups.values():
        if found := odd_one_out(group):
            lane, (kind, evidence) = found
            yield Finding(kind, Component.TVM, lane, Stage.RUN, evidence)


def odd_one_out(group: Mapping[LaneSpec, tuple[Array, ...]]) -> tuple[LaneSpec, tuple[Kind, Mismatch]] | None:
    """Return the lane that agrees with no other, where all others agree with each other, and how it differs."""
    if len(group) < QUORUM:
        return None
    for lane, outputs in group.items():
        others = [result for other, result in group.items() if other != lane]
        if all(_agree(others[0], other) for other in others) and not any(_agree(other, outputs) for other in others):
            found = difference(others[0], outputs, OTHER_LANES)
            return (lane, found) if found else None
    return None


def _agree(one: tuple[Array, ...], other: tuple[Array, ...]) -> bool:
    return len(one) == len(other) and all(map(_close, one, other))


def _close(one: Array, other: Array) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not holds_floats(one) or one.size == 0:
        return bool(np.array_equal(one, other))
    a, b = one.astype(np.float64), other.astype(np.float64)
    finite = a[np.isfinite(a)]
    scale = float(np.max(np.abs(finite))) if finite.size else 0.0
    half_of_the_digits = {2: 2.0**-4, 4: 2.0**-11, 8: 2.0**-26}[one.dtype.itemsize]
    return bool(np.allclose(a, b, rtol=0.0, atol=half_of_the_digits * scale, equal_nan=True))
