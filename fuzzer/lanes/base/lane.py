"""The interface of a lane. Imported in children only."""

from __future__ import annotations

from typing import Protocol

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran


class Lane(Protocol):
    """The code of an engine. An exception that `run` raises becomes the outcome of the lane."""

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        """Return why this lane does not run this case, or None."""

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built: ...
