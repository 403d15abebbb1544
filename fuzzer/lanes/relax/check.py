"""TVM's checker of well-formedness looks on: after the import, after every pass that makes a Relax module.

It raises where it is not content (`well_formed` gives None where it is). Measured over random cases: 1.5 ms of CPU for
the twenty looks of a build that takes 130 ms.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.bench import Step
from oracles.lane import LaneSpec
from oracles.outcome import IllFormed

IMPORT = "import"
MAX_MESSAGE = 2000

_BELOW_RELAX = ("tirx.", "s_tir.")
_CONTAINERS = ("sequential", "_pipeline", "f_zero_pipeline")
"""Passes that only run others, each of which was looked at."""


class Checker:
    """Remembers the steps after which the checker was content, and the first after which it was not."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._content: list[str] = []
        self._failed = False

    @staticmethod
    def after_import(module: Any, spec: LaneSpec, step: Step) -> Checker | None:
        """One that has looked at the module, where the lane wants one."""
        if not spec.checked:
            return None
        checker = Checker(step)
        checker.look(module, IMPORT)
        checker.tell()
        return checker

    def look(self, module: Any, after: str) -> None:
        """Never raises: the lane goes on, so that one sees what an ill-formed module comes to."""
        if self._failed:
            return
        if broken := ill_formed(module, after):
            self._failed = True
            self._step.note(checked=tuple(self._content), ill_formed=broken)
        else:
            self._content.append(after)

    def tell(self) -> None:
        """Note what is known now."""
        self._step.note(checked=tuple(self._content))

    def instruments(self) -> list[Any]:
        """For a PassContext."""
        return [_Onlooker(self)]


def ill_formed(module: Any, after: str) -> IllFormed | None:
    try:
        relax.analysis.well_formed(module)
    except Exception as error:  # whatever the checker raises is its verdict
        kind = type(error)
        return IllFormed(after, f"{kind.__module__}.{kind.__qualname__}", str(error)[:MAX_MESSAGE])
    return None


@tvm.ir.instrument.pass_instrument
class _Onlooker:
    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def run_after_pass(self, module: Any, info: Any) -> None:
        name = str(info.name)
        if not name.startswith(_BELOW_RELAX) and name not in _CONTAINERS:
            self._checker.look(module, name)
