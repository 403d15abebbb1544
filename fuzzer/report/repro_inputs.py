"""Other input values for a script if those of the finding could hide the bug."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.graph import Array, Case, holds_floats
from oracles.finding import Kind

VARYING_RESULTS = (Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC)
"""Kinds of findings whose results change between runs. Memory that was never written often has zeros, which look right
if the result is zeros, too."""


def inputs_that_show_it(case: Case, kind: Kind) -> Case:
    """The case. For findings of `VARYING_RESULTS`, float tensors of zeros are replaced by 1, 2, 3, ..."""
    if kind not in VARYING_RESULTS:
        return case
    return replace(case, tensors={name: _counted(array) for name, array in case.tensors.items()})


def _counted(array: Array) -> Array:
    if not holds_floats(array) or np.any(array.astype(np.float64)):
        return array
    return np.arange(1, array.size + 1).reshape(array.shape).astype(array.dtype)
