"""Find the plain sibling of a lane: the lane with the same importer, target family and toolchain that adds nothing.

Siblings are found by the fields of a `LaneSpec`, never by names, so a new lane needs no entry anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from oracles.lane import DEFAULT_OPT_LEVEL, Engine, LaneSpec, Params, Pipeline, default_executor
from oracles.targets import family_of
from oracles.transforms import ROUND_TRIPS

REMEMBERED = 1024
"""How many lanes are remembered: those that have a name, and those that were drawn for the latest tests."""


def sibling(lane: LaneSpec, lanes: Iterable[LaneSpec]) -> LaneSpec | None:
    """Return the lane's plain sibling among `lanes`; None where the lane is itself plain, or not a lane of TVM."""
    plain = _plain(lane)
    if lane.engine is not Engine.TVM or essential(lane) == plain:
        return None
    return next((other for other in lanes if essential(other) == plain), None)


@lru_cache(REMEMBERED)
def essential(lane: LaneSpec) -> LaneSpec:
    """Return the lane with default values in the fields that do not change the program.

    These are the name, the checks of arguments, the checker of well-formedness, the tracing for blame, and where triage
    ends the lane.
    """
    return replace(lane, name="", asserts=True, checked=False, tracing=None, until=None)


@lru_cache(REMEMBERED)
def _plain(lane: LaneSpec) -> LaneSpec:
    """The lane without anything that lanes add, in its essential form."""
    return replace(
        essential(lane),
        params=Params.BOUND,
        passes=(),
        pipeline=Pipeline.DEFAULT,
        disabled=(),
        options=(),
        opt_level=DEFAULT_OPT_LEVEL,
        target=family_of(lane.target),
        executor=default_executor(lane),
        as_library=False,
        symbolic=False,
        given_sizes=False,
        fresh=False,
    )


@lru_cache(REMEMBERED)
def additions(lane: LaneSpec) -> tuple[str, ...]:
    """Return what the lane does and its sibling does not, item by item, for readers and for signatures."""
    parts = [
        f"parameters {lane.params}" if lane.params is not Params.BOUND else "",
        *lane.passes,
        f"pipeline {lane.pipeline}" if lane.pipeline is not Pipeline.DEFAULT else "",
        *(f"without {name}" for name in lane.disabled),
        *lane.options,
        f"opt_level {lane.opt_level}" if lane.opt_level != DEFAULT_OPT_LEVEL else "",
        f"target {lane.target}" if lane.target != family_of(lane.target) else "",
        f"executor {lane.executor}" if lane.executor is not default_executor(lane) else "",
        "library" if lane.as_library else "",
        "given sizes" if lane.given_sizes else "",
        *(name for name in ("symbolic", "fresh") if getattr(lane, name)),
    ]
    return tuple(part for part in parts if part)


def describe_additions(lane: LaneSpec) -> str:
    """Return the additions of a lane as one text; empty for a plain lane."""
    return ", ".join(additions(lane))


def covers(lane: LaneSpec, other: LaneSpec) -> bool:
    """Whether both lanes have the same plain sibling and the lane adds everything that `other` adds."""
    return _plain(lane) == _plain(other) and set(additions(other)) <= set(additions(lane))


@lru_cache(REMEMBERED)
def changes_program(lane: LaneSpec) -> bool:
    """Whether the lane makes another program, which may round differently.

    A round trip, a library and a process of its own do not change the program; everything else does.
    """
    others = replace(lane, passes=tuple(name for name in lane.passes if name not in ROUND_TRIPS))
    return bool(describe_additions(replace(others, as_library=False, fresh=False)))
