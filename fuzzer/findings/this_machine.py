"""Whether this machine can show a failure."""

from __future__ import annotations

from fuzzer.lanes.base.availability import THIS, CompileOnly, Machine, Missing, Runnable, availability
from fuzzer.toolchains.toolchain import HOST_NAME
from oracles.lane import LaneSpec
from oracles.outcome import Stage


def lacking(lane: LaneSpec, stage: Stage, machine: Machine = THIS) -> str:
    """Why the lane does not get as far as the stage of a failure on this machine; "" where it does."""
    if lane.toolchain != HOST_NAME and lane.toolchain not in machine.toolchains():
        return f"toolchain {lane.toolchain} is not installed"
    match availability(lane, machine):
        case Missing(why):
            return why
        case CompileOnly(why, checker):
            shows = stage is not Stage.RUN and (stage is not Stage.LOAD or checker is not None)
            return "" if shows else why
        case Runnable():
            return ""
