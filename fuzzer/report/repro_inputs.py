"""The values of a script's inputs, where those of the finding could hide the bug."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.graph import Array, Case, holds_floats
from oracles.finding import Kind

READS_WHAT_IS_NOT_ITS_OWN = (Kind.UNSTABLE, Kind.NONDETERMINISTIC)
"""Results that change between runs. Memory that was never written often holds zeros: beside a result of zeros, it looks
right."""


def telling_inputs(case: Case, kind: Kind) -> Case:
    """The case; of these kinds, float tensors that hold nothing but zeros count from one instead."""
    if kind not in READS_WHAT_IS_NOT_ITS_OWN:
        return case
    return replace(case, tensors={name: _counted(array) for name, array in case.tensors.items()})


def _counted(array: Array) -> Array:
    if not holds_floats(array) or np.any(array.astype(np.float64)):
        return array
    return np.arange(1, array.size + 1).reshape(array.shape).astype(array.dtype)
