"""The reference of a case: the results with which the oracles compare those of other lanes.

A case has a full reference where the eager run, the evaluation in float64 and the envelope all have a result. For a
case of PyTorch these are lanes of PyTorch. A case of ONNX has lanes of its own, and among them a witness: a second
implementation of ONNX. Where the witness and the eager run do not agree, it is not known what the file means, and the
case has no reference. Where onnxruntime does not support the file, the witness alone is the eager run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from generators.graph import Array, holds_floats
from oracles.compare import judge
from oracles.expected_output import ULPS as ULPS
from oracles.expected_output import Expected as Expected
from oracles.expected_output import rounded_to as rounded_to
from oracles.expected_output import rounding_error as rounding_error
from oracles.finding import Kind, Mismatch
from oracles.lane import LaneSpec, is_eager, is_reference, is_witness
from oracles.outcome import Died, Outcome, Outcomes, Raised, Ran, TimedOut, Unsupported
from oracles.remembered import OUTPUTS, REFERENCES, remembered
from oracles.targets import family_of
from oracles.transforms import rounding_in

MAX_PYTORCH_ERROR = 16.0
"""An element where PyTorch is further from the truth than this many (envelope + ULPS) is not compared: PyTorch or
difftvm has a bug there. In benchmarks/calibration.py the furthest of 221,534 elements is at 1.25. Known bugs of this
kind (ldexp through float16, the remainder of bfloat16 by 0.001) are far beyond 16. The same holds for onnxruntime."""

FORWARD = ("eager", "f64", "envelope")
GRADIENT = ("gradient", "gradient-f64", "gradient-envelope")
"""The variants of the reference lanes that together are the reference: the eager result, the truth, the envelope."""

PROCESSOR = "llvm"
"""The target of all reference lanes but the envelopes for devices."""


def eager_run(outcomes: Outcomes) -> Ran | None:
    """Return the eager run of the model; None where the case is invalid. Where onnxruntime does not support a file of
    ONNX, which says nothing about the file, it is the run of the witness alone."""
    eager = [out for lane, out in outcomes.items() if is_eager(lane)]  # that of another dialect is skipped
    alone = witness_of(outcomes) if any(isinstance(out, Unsupported) for out in eager) else None
    return next((out for out in (*eager, alone) if isinstance(out, Ran)), None)


def witness_of(outcomes: Outcomes) -> Outcome | None:
    """Return the outcome of the witness of a case of ONNX; None where there is none."""
    return next((out for lane, out in outcomes.items() if is_witness(lane)), None)


def expected(
    outcomes: Outcomes, variants: tuple[str, str, str] = FORWARD, target: str = PROCESSOR
) -> tuple[Expected, ...] | None:
    """Return what is expected of each output; None where a reference lane has no result, or where the witness does not
    agree with the eager run: then no values can be judged. `target`: the one that the envelope is measured for."""
    right = _measured(outcomes, variants, target)
    witness = witness_of(outcomes)
    if right is None or (witness is not None and not (isinstance(witness, Ran) and _agrees(witness, right))):
        return None
    return _judged_by(right)


def expected_of(lane: LaneSpec, outcomes: Outcomes) -> tuple[Expected, ...] | None:
    """Return what is expected of each output of a lane, with the envelope for its target where that was measured."""
    return expected(outcomes, target=family_of(lane.target)) or expected(outcomes)


def difference(lane: LaneSpec, outputs: tuple[Array, ...], outcomes: Outcomes) -> tuple[Kind, Mismatch] | None:
    """Return the worst difference of a lane's outputs from what is expected of them for its target, as far as its
    program may round. None: no difference, or nothing is expected."""
    right = expected_of(lane, outcomes)
    return judge(outputs, right, rounding_in(lane)) if right is not None else None


def witnesses_disagree(outcomes: Outcomes) -> bool:
    """Whether the witness has another result than the eager run of a case of ONNX, or refuses a model that the eager
    run accepts. Such a case judges nobody's values."""
    witness = witness_of(outcomes)
    if isinstance(witness, Raised | Unsupported | Died | TimedOut):
        return eager_run(outcomes) is not None
    right = _measured(outcomes, FORWARD, PROCESSOR)
    return right is not None and isinstance(witness, Ran) and not _agrees(witness, right)


def _measured(outcomes: Outcomes, variants: tuple[str, str, str], target: str) -> tuple[Expected, ...] | None:
    """Return the full reference, in which only the ill-conditioned elements that the envelope found are marked."""
    runs = {
        (spec.variant, spec.target): out
        for spec, out in outcomes.items()
        if is_reference(spec) and isinstance(out, Ran)
    }
    eager, truth = (runs.get((name, PROCESSOR)) for name in variants[:2])
    envelope = runs.get((variants[2], target))
    if variants == FORWARD:
        eager = eager_run(outcomes)
    return None if eager is None or truth is None or envelope is None else _together(eager, truth, envelope)


@remembered(REFERENCES)
def _together(eager: Ran, truth: Ran, envelope: Ran) -> tuple[Expected, ...] | None:
    """Return the reference of these runs; None where their outputs do not belong together."""
    count = len(eager.outputs)
    spreads, ills = envelope.outputs[:count], envelope.outputs[count:]
    if not len(truth.outputs) == len(spreads) == len(ills) == count:
        return None  # the memory of a process was overwritten
    return tuple(
        Expected(e, t, s, i.astype(np.bool_))
        for e, t, s, i in zip(eager.outputs, truth.outputs, spreads, ills, strict=True)
    )


@remembered(REFERENCES)
def _judged_by(right: tuple[Expected, ...]) -> tuple[Expected, ...]:
    """The full reference, in which the elements that rounding does not explain are marked too."""
    return tuple(Expected(r.eager, r.truth, r.envelope, r.ill | doubtful(r)) for r in right)


@remembered(REFERENCES, of=1)
def _agrees(witness: Ran, right: tuple[Expected, ...]) -> bool:
    """Whether the witness is within the tolerance at every element that is not ill-conditioned.

    Where rounding does not explain the distance of the eager result from the truth, the witness must be close to the
    eager result: otherwise a bug of onnxruntime would make the tolerance so wide that every witness agrees."""
    if any(r.eager.shape != r.truth.shape for r in right):
        return False
    return judge(witness.outputs, tuple(map(_as_eager_has_it, right))) is None


def _as_eager_has_it(right: Expected) -> Expected:
    if not holds_floats(right.eager):
        return right
    eager, truth = right.eager.astype(np.float64), rounded_to(right.truth, right.eager.dtype)
    far = doubtful(right) | (np.isfinite(eager) != np.isfinite(truth))
    return Expected(right.eager, np.where(far, eager, right.truth), right.envelope, right.ill)


@remembered(OUTPUTS)
def doubtful(right: Expected) -> npt.NDArray[np.bool_]:
    """Mark the elements where rounding does not explain the difference between the eager result and the truth."""
    eager, truth = right.eager, right.truth
    if eager.shape != truth.shape:
        return np.zeros(eager.shape, np.bool_)
    if not holds_floats(eager):
        return np.asarray(eager != truth)
    with np.errstate(invalid="ignore", over="ignore"):
        own = np.abs(eager.astype(np.float64) - truth.astype(np.float64))
        return np.asarray(
            own > MAX_PYTORCH_ERROR * (right.envelope + rounding_error(truth, eager.dtype))
        ) & np.isfinite(own)
