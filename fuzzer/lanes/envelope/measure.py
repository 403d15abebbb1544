"""The envelope: how far correct implementations of a case may differ, for each output element (docs/tolerance.md).

The method is Monte Carlo arithmetic. The graph is evaluated in float64, node by node, many times. Each evaluation is a
`Sample`. To push a number means to perturb it by as much as a correct implementation of its operator may be off. The
operator's row says how the operator rounds (`Arithmetic` in `generators/op.py`):

- The result of one step (an operation that IEEE 754 rounds correctly, a cast) or of a sum is pushed by one unit in the
  last place of its dtype (`EPS` x |value|), the result of a function by `FUNCTION_UNITS` units. In half precision one
  unit is enough for all operators: PyTorch computes in float32 and rounds once.
- Each operand of a sum is pushed by sqrt(terms) units of the precision in which the sum accumulates, because the error
  of a sum grows with its terms, not with its result. Half precision accumulates in float32. The results of functions
  that contain a sum are pushed by at least half as much: a normalisation gives the same result however its operands
  are scaled, so pushed operands alone would not show the error of its sum.

A pushed number is rounded to its own dtype. The result of an addition, a product or a cast is not pushed if its dtype
holds it exactly (`Arithmetic.EXACT_WHERE_HELD`): every implementation gives the same number.

Of the samples of `NARROW`, one only rounds, one pushes all values away from zero, one pushes them towards zero, and six
push each value up or down at random. Where the graph compares floats, those of `PARTLY` push each value by a random
part of that: two numbers that may be equal are seldom equal where both move as far as they may. The largest distance
from the evaluation without rounding is the spread. Where the graph has several sums of many terms, those of `BY_SUM`
push one sum away from zero and the next one towards it. The samples of `WIDER` push `WIDE` times as far. They find
elements that are ill-conditioned: integers that change, numbers that become NaN or infinite, and numbers that move much
further than the spread predicts. Then floats that are compared are made equal, and those of which integers or
booleans are made become 0, where all these have pushed them far enough (`ON_A_JUMP`).

Where the sizes of a result depend on pushed numbers, nothing is comparable once they change (`OtherSizes`).

An envelope for a device pushes results as far as the language of the device permits
(`fuzzer.lanes.envelope.devices`). Where it gives NaN and infinities no meaning, no element of a case with one is
compared.

What no framework defines is marked as ill-conditioned too: an element that changes where other numbers are in place of
undefined ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fuzzer.lanes.envelope.other_sizes import OtherSizes
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.envelope.push import flushes, tiny
from fuzzer.lanes.envelope.sample import (
    BY_SUM,
    FLUSHED,
    IN_HALF,
    NARROW,
    ON_A_JUMP,
    ONE_PASS_SAMPLES,
    PARTLY,
    PLAIN,
    WIDE,
    WIDER,
    Sample,
)
from generators.graph import Array, DType

LAST_UNITS = 1.5
"""Units in the last place that are added to the spread of each element that moved. They stand for the last rounding of
two implementations, which the samples seldom show in full."""


def envelope(program: Program) -> list[Array]:
    """The envelope of each output (float64), and then for each output which elements are ill-conditioned (bool)."""
    truth = program.run(PLAIN)
    dtypes = [type.dtype for type in program.graph.output_types]
    spread = [np.zeros(array.shape) for array in truth]
    ill_conditioned = [np.zeros(array.shape, np.bool_) for array in truth]
    extra = ONE_PASS_SAMPLES * program.has_variance + (IN_HALF,) * program.may_be_in_half
    extra += (FLUSHED,) * program.saw_denormals
    narrow = (*NARROW, *PARTLY * program.compares_floats, *BY_SUM * program.has_many_sums)
    for sample in (*extra, *(() if program.exact else narrow)):
        for i, moved in enumerate(_results(program, sample, ill_conditioned)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            spread[i] = np.maximum(spread[i], distance)
            ill_conditioned[i] |= jumped
    if program.saw_denormals:  # then any difference below the smallest normal number is allowed
        for i, dtype in enumerate(dtypes):
            spread[i] = np.maximum(spread[i], tiny(dtype)) if flushes(dtype) else spread[i]
    for outputs in program.run_otherwise():
        for i, moved in enumerate(outputs):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            size = np.abs(truth[i].astype(np.float64))  # the smallest integer has no absolute value in its own dtype
            ill_conditioned[i] |= jumped | (distance > 2 * WIDE * (spread[i] + 1e-9 * size))
    for mask, undefined in zip(ill_conditioned, _undefined(program, truth, dtypes), strict=True):
        mask |= undefined | (program.saw_not_finite and program.accuracy is not None and program.accuracy.finite)
    unit = [_unit(array, dtype) for array, dtype in zip(truth, dtypes, strict=True)]
    for sample in () if program.exact else (*WIDER, *ON_A_JUMP * program.compares_floats):
        for i, moved in enumerate(_results(program, sample, ill_conditioned)):
            distance, jumped = _compare(moved, truth[i], dtypes[i])
            ill_conditioned[i] |= jumped | (distance > 2 * WIDE * (spread[i] + unit[i]))
    for i, units in enumerate(unit):
        spread[i] = np.where(spread[i] > 0, spread[i] + LAST_UNITS * units, 0.0)
    return [*spread, *ill_conditioned]


def _results(program: Program, sample: Sample, ill_conditioned: list[npt.NDArray[np.bool_]]) -> list[Array]:
    """The results of one evaluation; none where the sizes of a result depend on numbers, and these were pushed to other
    sizes. Then every element is ill-conditioned: a right implementation may have more elements, or fewer."""
    try:
        return program.run(sample)
    except OtherSizes:
        for mask in ill_conditioned:
            mask |= True
        return []


def _undefined(program: Program, truth: list[Array], dtypes: list[DType]) -> list[npt.NDArray[np.bool_]]:
    """Which elements of each output depend on a number that no framework defines (`generators.undefined`): they change
    with it. All do where the graph cannot be evaluated with another such number."""
    masks = [np.zeros(array.shape, np.bool_) for array in truth]
    for outputs in program.run_undefined():
        for mask, moved, right, dtype in zip(masks, outputs or truth, truth, dtypes, strict=True):
            distance, jumped = _compare(moved, right, dtype)
            mask |= (distance > 0) | jumped | (outputs is None)
    return masks


def _compare(moved: Array, truth: Array, dtype: DType) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The distance of each number from the truth, and which numbers jumped: another integer, or NaN or infinite in only
    one of the two."""
    if not dtype.is_float:
        return np.zeros(truth.shape), np.asarray(moved != truth)
    with np.errstate(invalid="ignore", over="ignore"):
        own, right = moved.astype(dtype.numpy), truth.astype(dtype.numpy)  # infinite where too large for the dtype
        finite = np.isfinite(own) & np.isfinite(right)
        same = finite | (own == right) | (np.isnan(own) & np.isnan(right))
        return np.where(finite, np.abs(moved - truth), 0.0), ~same


def _unit(truth: Array, dtype: DType) -> Array:
    """One unit in the last place of each number; 0 for integers and booleans."""
    if not dtype.is_float:
        return np.zeros(truth.shape)
    return dtype.eps * np.maximum(np.abs(np.where(np.isfinite(truth), truth, 0.0)), tiny(dtype))
