"""Which lane another is held against: the one that takes the same road and does nothing on top of it.

Told by the fields of a `LaneSpec`, never by names: a lane that is added tomorrow finds its sibling by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from oracles.against_torch import judge
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, LaneSpec
from oracles.outcome import Outcomes, Ran
from oracles.reference import expected

ROUND_TRIPS = frozenset({"ScriptRoundTrip", "JsonRoundTrip"})
"""Passes that write the module down and read it again."""


def sibling(lane: LaneSpec, lanes: Iterable[LaneSpec]) -> LaneSpec | None:
    """The lane's plain sibling among `lanes`; None where it is the plain one itself, or not one of TVM's."""
    wanted = _road(lane)
    if lane.engine is not Engine.TVM or _immaterial(lane) == wanted:
        return None
    return next((other for other in lanes if _immaterial(other) == wanted), None)


def _immaterial(lane: LaneSpec) -> LaneSpec:
    """Without what does not change the program: the name, argument checks, the checker's looking on."""
    return replace(lane, name="", asserts=True, checked=False)


def _road(lane: LaneSpec) -> LaneSpec:
    return replace(
        _immaterial(lane),
        passes=(),
        pipeline="",
        opt_level=DEFAULT_OPT_LEVEL,
        llvm_opt=None,
        as_library=False,
        lifted=False,
        symbolic=False,
        fresh=False,
    )


def what_it_adds(lane: LaneSpec) -> str:
    """What the lane does and its sibling does not, for people and for signatures."""
    parts = [
        *lane.passes,
        f"pipeline {lane.pipeline}" if lane.pipeline else "",
        f"opt_level {lane.opt_level}" if lane.opt_level != DEFAULT_OPT_LEVEL else "",
        f"LLVM -O{lane.llvm_opt}" if lane.llvm_opt is not None else "",
        "library" if lane.as_library else "",
        *(name for name in ("lifted", "symbolic", "fresh") if getattr(lane, name)),
    ]
    return ", ".join(part for part in parts if part)


def transforms(lane: LaneSpec) -> bool:
    """Whether it runs passes that make another program, which may round otherwise."""
    plain_level = lane.opt_level == DEFAULT_OPT_LEVEL and lane.llvm_opt is None
    return bool(set(lane.passes) - ROUND_TRIPS or lane.pipeline or lane.lifted or lane.symbolic or not plain_level)


def pairs(
    outcomes: Outcomes, which: Callable[[LaneSpec], bool]
) -> Iterator[tuple[tuple[LaneSpec, Ran], tuple[LaneSpec, Ran]]]:
    """Lanes of a kind that ran, each with its sibling where that ran, twice alike, and PyTorch does not object to it.

    A lane that is wrong as its sibling is wrong is one bug, which other equations see on the sibling.
    """
    right = expected(outcomes)
    for lane, ran in outcomes.items():
        plain = sibling(lane, outcomes) if which(lane) else None
        other = outcomes[plain] if plain else None
        if plain is None or not isinstance(ran, Ran) or not isinstance(other, Ran):
            continue
        if right is None or judge(other.outputs, right) is None:
            yield (lane, ran), (plain, other)
