"""Which lane another is held against: the one that takes the same road and does nothing on top of it.

Told by the fields of a `LaneSpec`, never by names: a lane that is added tomorrow finds its sibling by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from oracles.against_torch import judge
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, LaneSpec, Params, Pipeline, default_executor
from oracles.outcome import Outcomes, Ran
from oracles.reference import expected
from oracles.targets import family_of
from oracles.transforms import ROUND_TRIPS


def sibling(lane: LaneSpec, lanes: Iterable[LaneSpec]) -> LaneSpec | None:
    """The lane's plain sibling among `lanes`; None where it is the plain one itself, or not one of TVM's."""
    wanted = _road(lane)
    if lane.engine is not Engine.TVM or essential(lane) == wanted:
        return None
    return next((other for other in lanes if essential(other) == wanted), None)


def essential(lane: LaneSpec) -> LaneSpec:
    """Without what does not change the program: the name, argument checks, the checker's looking on; and without what
    blame asks of a lane, which is held against the whole road."""
    return replace(lane, name="", asserts=True, checked=False, tracing=None)


def _road(lane: LaneSpec) -> LaneSpec:
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
        fresh=False,
    )


def additions(lane: LaneSpec) -> tuple[str, ...]:
    """What the lane does and its sibling does not, one by one, for people and for signatures."""
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
        *(name for name in ("symbolic", "fresh") if getattr(lane, name)),
    ]
    return tuple(part for part in parts if part)


def describe_additions(lane: LaneSpec) -> str:
    return ", ".join(additions(lane))


def covers(lane: LaneSpec, other: LaneSpec) -> bool:
    """Whether the lane takes the same road as another and does all that the other does, and perhaps more."""
    return _road(lane) == _road(other) and set(additions(other)) <= set(additions(lane))


def changes_program(lane: LaneSpec) -> bool:
    """Whether it makes another program, which may round otherwise: all but round trips, a library, a process."""
    others = replace(lane, passes=tuple(name for name in lane.passes if name not in ROUND_TRIPS))
    return bool(describe_additions(replace(others, as_library=False, fresh=False)))


def pairs_with_siblings(
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
