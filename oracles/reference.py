"""What the reference lanes say about a case, for oracles to hold other lanes against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from generators.graph import Array
from oracles.lane import Engine
from oracles.outcome import Outcomes, Ran


@dataclass(frozen=True, slots=True)
class Expected:
    """One output: PyTorch's own result, the float64 truth, and how far an honest implementation may stray.

    `envelope` is the measured spread per element (float64, same shape); 0 for integers and booleans.
    `ill` marks elements on which honest implementations disagree discontinuously: they are not compared.
    """

    eager: Array
    truth: Array
    envelope: npt.NDArray[np.float64]
    ill: npt.NDArray[np.bool_]


def expected(outcomes: Outcomes) -> tuple[Expected, ...] | None:
    """None where a reference lane gave nothing: then no lane's values can be judged."""
    runs = {spec.variant: out for spec, out in outcomes.items() if spec.engine is Engine.TORCH and isinstance(out, Ran)}
    eager, truth, envelope = (runs.get(name) for name in ("eager", "f64", "envelope"))
    if eager is None or truth is None or envelope is None:
        return None
    count = len(eager.outputs)
    spreads, ills = envelope.outputs[:count], envelope.outputs[count:]
    return tuple(
        Expected(e, t, s.astype(np.float64), i.astype(np.bool_))
        for e, t, s, i in zip(eager.outputs, truth.outputs, spreads, ills, strict=True)
    )
