"""The reference of a case: the results with which the oracles compare those of other lanes.

A case has a full reference where the eager run, the evaluation in float64 and the envelope all have a result. For a
case of PyTorch these are lanes of PyTorch. A case of ONNX has lanes of its own, and among them a witness: a second
implementation of ONNX. Where the witness and the eager run do not agree, it is not known what the file means, and the
case has no reference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from generators.graph import holds_floats
from oracles.compare import judge
from oracles.expected_output import ULPS as ULPS
from oracles.expected_output import Expected as Expected
from oracles.expected_output import rounded_to as rounded_to
from oracles.expected_output import rounding_error as rounding_error
from oracles.lane import is_eager, is_reference, is_witness
from oracles.outcome import Died, Outcome, Outcomes, Raised, Ran, TimedOut, Unsupported

MAX_PYTORCH_ERROR = 16.0
"""An element where PyTorch is further from the truth than this many (envelope + ULPS) is not compared: PyTorch or
difftvm has a bug there. In benchmarks/calibration.py the furthest of 221,534 elements is at 1.25. Known bugs of this
kind (ldexp through float16, the remainder of bfloat16 by 0.001) are far beyond 16. The same holds for onnxruntime."""

FORWARD = ("eager", "f64", "envelope")
GRADIENT = ("gradient", "gradient-f64", "gradient-envelope")
"""The variants of the reference lanes that together are the reference: the eager result, the truth, the envelope."""


def eager_run(outcomes: Outcomes) -> Ran | None:
    """Return the eager run of the model; None where the case is invalid."""
    return next((out for lane, out in outcomes.items() if is_eager(lane) and isinstance(out, Ran)), None)


def witness_of(outcomes: Outcomes) -> Outcome | None:
    """Return the outcome of the witness of a case of ONNX; None where there is none."""
    return next((out for lane, out in outcomes.items() if is_witness(lane)), None)


def expected(outcomes: Outcomes, variants: tuple[str, str, str] = FORWARD) -> tuple[Expected, ...] | None:
    """Return what is expected of each output; None where a reference lane has no result, or where the witness does not
    agree with the eager run: then no values can be judged."""
    right = _measured(outcomes, variants)
    witness = witness_of(outcomes)
    if right is None or (witness is not None and not (isinstance(witness, Ran) and _agrees(witness, right))):
        return None
    return tuple(Expected(r.eager, r.truth, r.envelope, r.ill | _doubtful(r)) for r in right)


def witnesses_disagree(outcomes: Outcomes) -> bool:
    """Whether the witness has another result than the eager run of a case of ONNX, or refuses a model that the eager
    run accepts. Such a case judges nobody's values."""
    witness = witness_of(outcomes)
    if isinstance(witness, Raised | Unsupported | Died | TimedOut):
        return eager_run(outcomes) is not None
    right = _measured(outcomes, FORWARD)
    return right is not None and isinstance(witness, Ran) and not _agrees(witness, right)


def _measured(outcomes: Outcomes, variants: tuple[str, str, str]) -> tuple[Expected, ...] | None:
    """Return the full reference, in which only the ill-conditioned elements that the envelope found are marked."""
    runs = {spec.variant: out for spec, out in outcomes.items() if is_reference(spec) and isinstance(out, Ran)}
    eager, truth, envelope = (runs.get(name) for name in variants)
    if eager is None or truth is None or envelope is None:
        return None
    count = len(eager.outputs)
    spreads, ills = envelope.outputs[:count], envelope.outputs[count:]
    return tuple(
        Expected(e, t, s, i.astype(np.bool_))
        for e, t, s, i in zip(eager.outputs, truth.outputs, spreads, ills, strict=True)
    )


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
    doubtful = _doubtful(right) | (np.isfinite(eager) != np.isfinite(truth))
    return Expected(right.eager, np.where(doubtful, eager, right.truth), right.envelope, right.ill)


def _doubtful(right: Expected) -> npt.NDArray[np.bool_]:
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
