"""Run TVM's check of well-formedness after the import and after every pass that makes a Relax module.

`relax.analysis.well_formed` raises an exception where a module is ill-formed. Over random cases, the twenty checks of
a build took 1.5 ms of its 130 ms of CPU.
"""

from __future__ import annotations

import re
from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.step import Step
from oracles.lane import LaneSpec
from oracles.outcome import IllFormed

IMPORT = "import"
MAX_MESSAGE = 2000

_BELOW_RELAX = ("tirx.", "s_tir.")
_CONTAINERS = ("sequential", "_pipeline", "f_zero_pipeline")
"""Passes that only run other passes. The module was checked after each of those."""


class Checker:
    """Collect the steps after which the module was well-formed, up to the first after which it was not."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._passed: list[str] = []
        self.failed = False

    @staticmethod
    def after_import(module: Any, spec: LaneSpec, step: Step) -> Checker | None:
        """Check an imported module; return the checker, or None where the lane has no checks."""
        if not spec.checked:
            return None
        checker = Checker(step)
        checker.look(module, IMPORT)
        checker.tell()
        return checker

    def look(self, module: Any, after: str) -> None:
        """Check the module. This never raises: the lane goes on, and shows the consequences of an ill-formed module."""
        if self.failed:
            return
        if broken := ill_formed(module, after):
            self.failed = True
            self._step.note(checked=tuple(self._passed), ill_formed=broken)
        else:
            self._passed.append(after)

    def tell(self) -> None:
        """Record the steps that passed so far."""
        self._step.note(checked=tuple(self._passed))

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]


def ill_formed(module: Any, after: str) -> IllFormed | None:
    try:
        relax.analysis.well_formed(module)
    except Exception as error:  # any exception of the check means ill-formed
        kind = type(error)
        return IllFormed(after, f"{kind.__module__}.{kind.__qualname__}", str(error)[:MAX_MESSAGE])
    return None


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def run_after_pass(self, module: Any, info: Any) -> None:
        name = re.sub(r"[^\w.:<>@/+=, -]", "_", str(info.name), flags=re.ASCII)[:200]  # as `lane_check.STEP` has it
        if not name.startswith(_BELOW_RELAX) and name not in _CONTAINERS:
            self._checker.look(module, name)
