"""The file of `fuzz run --configurations`: values of compile options, and the user's own configuration.

Each listed pass, disabled pass and option is switched on or off. Each other list has the values of one field of a lane.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fuzzer.campaign.plan.covering import Exclusions, Value
from fuzzer.campaign.plan.drawn_lanes import TORCH_IMPORTER
from fuzzer.lanes import EVALUATED_LANES
from fuzzer.lanes.base.availability import THIS, Machine, Missing, availability, in_words
from generators.graph import Invalid
from generators.plain_file import read_plain
from oracles.importers import Importer
from oracles.lane import Engine, Execution, LaneSpec, Params, Pipeline
from oracles.lane_check import invalid_reason
from oracles.transforms import DISABLED_WITH, TRANSFORMS_BY_NAME, ModuleForm, not_disabled_alone

PLAIN = LaneSpec(f"relax-{TORCH_IMPORTER}-drawn", Engine.TVM, TORCH_IMPORTER, "relax", asserts=False, checked=True)
"""The lane whose fields a configuration sets."""

SWITCHES = ("passes", "disabled", "options")
MOST_VALUES = 200
MOST_BYTES = 16 << 10
"""The largest file. `MOST_VALUES` values have less, and a key with many dots takes tomllib much memory."""


class Own(msgspec.Struct, forbid_unknown_fields=True):
    """The user's own configuration. A field that is None has the first value of its list."""

    passes: list[str] = []
    disabled: list[str] = []
    options: list[str] = []
    pipeline: Pipeline | None = None
    target: str | None = None
    opt_level: int | None = None
    params: Params | None = None
    executor: Execution | None = None
    importer: Importer | None = None


class File(msgspec.Struct, forbid_unknown_fields=True):
    """The file as it is written. `tuples` is the n of the n-tuples that are covered."""

    tuples: Annotated[int, msgspec.Meta(ge=1, le=3)] = 2
    passes: list[str] = []
    disabled: list[str] = []
    options: list[str] = []
    pipelines: list[Pipeline] = []
    targets: list[str] = []
    opt_levels: list[int] = []
    params: list[Params] = []
    executors: list[Execution] = []
    importers: list[Importer] = []
    own: Own = msgspec.field(default_factory=Own)


@dataclass(frozen=True, slots=True)
class Factor:
    """What varies. The first value is the user's own.

    field   the field of a lane
    name    the pass or the option that is switched on (True) or off (False); empty where the field has the values
    """

    field: str
    name: str
    values: tuple[Any, ...]

    def on(self, lane: LaneSpec, value: int) -> LaneSpec:
        """The lane with a value of this factor."""
        chosen = self.values[value]
        if not self.name:
            return replace(lane, **{self.field: chosen})
        names: dict[str, Any] = {self.field: (*getattr(lane, self.field), self.name)}
        return replace(lane, **names) if chosen else lane

    def in_words(self, value: int) -> str:
        chosen = self.values[value]
        return f"{self.field} {chosen}" if not self.name else f"{self.field} {'' if chosen else 'not '}{self.name}"


@dataclass(frozen=True, slots=True)
class Listed:
    """What a file lists: the factors, the n of its n-tuples, and the values that exclude each other. `digest` is
    that of the factors and n."""

    factors: tuple[Factor, ...]
    n: int
    exclusions: Exclusions
    digest: str

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(factor.values) for factor in self.factors)

    @property
    def options(self) -> list[str]:
        return [factor.name for factor in self.factors if factor.field == "options"]


def read(path: Path, machine: Machine = THIS) -> Listed:
    """Read a file. Raise `Invalid` with one sentence where it is wrong, or where this machine cannot run a value."""
    try:
        found = msgspec.convert(tomllib.loads(read_plain(path, MOST_BYTES).decode()), File)
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}") from None
    except (ValueError, msgspec.ValidationError, RecursionError) as error:  # also a number with too many digits
        raise Invalid(f"{path}: {error}") from None
    try:
        return _listed(found, machine)
    except Invalid as error:
        raise Invalid(f"{path}: {error}") from None


def _listed(found: File, machine: Machine) -> Listed:
    factors = tuple(_factors(found))
    if sum(len(factor.values) for factor in factors) > MOST_VALUES:
        raise Invalid(f"it lists more than {MOST_VALUES} values")
    if all(len(factor.values) < 2 for factor in factors):
        raise Invalid("nothing in it has two values; list passes, disabled, options, pipelines, targets, ...")
    disabled = [factor.name for factor in factors if factor.field == "disabled"]
    if lonely := not_disabled_alone(disabled):
        raise Invalid(f"{lonely[0]} may only be disabled together with {DISABLED_WITH[lonely[0]]}: list this too")
    values = [(place, value) for place, factor in enumerate(factors) for value in range(len(factor.values))]
    for place, value in values:
        if why := _why_not(factors[place].on(PLAIN, value), machine):
            raise Invalid(why)
    pairs = [pair for pair in combinations(values, 2) if pair[0][0] != pair[1][0] and _excluded(factors, pair, machine)]
    exclusions = Exclusions(tuple(len(factor.values) for factor in factors), pairs)
    for place, value in values:
        if not exclusions.allow_all(((place, value),)):
            raise Invalid(f"no legal configuration of it has {factors[place].in_words(value)}")
    own = tuple((place, 0) for place in range(len(factors)))
    if not exclusions.allow_all(own):
        one, other = next(pair for pair in pairs if set(pair) <= set(own))
        words = (factors[place].in_words(value) for place, value in (one, other))
        raise Invalid(f"[own] has two values that exclude each other: {' and '.join(words)}")
    n = min(found.tuples, len(factors))
    return Listed(factors, n, exclusions, hashlib.sha256(repr((factors, n)).encode()).hexdigest()[:12])


def _factors(found: File) -> Iterator[Factor]:
    for field in SWITCHES:
        own = getattr(found.own, field)
        for name in dict.fromkeys((*own, *getattr(found, field))):
            yield Factor(field, name, (name in own, name not in own))
    lists: tuple[tuple[str, Any, list[Any]], ...] = (
        ("pipeline", found.own.pipeline, found.pipelines),
        ("target", found.own.target, found.targets),
        ("opt_level", found.own.opt_level, found.opt_levels),
        ("params", found.own.params, found.params),
        ("executor", found.own.executor, found.executors),
        ("importer", found.own.importer, found.importers),
    )
    for field, own, others in lists:
        if values := tuple(dict.fromkeys((*([] if own is None else [own]), *others))):
            yield Factor(field, "", values)


def _why_not(lane: LaneSpec, machine: Machine) -> str | None:
    """Why no configuration may have what this lane adds, in one sentence; None where it may."""
    if why := invalid_reason(lane):
        return why
    if lane.executor not in (Execution.BYTECODE, Execution.COMPILED):
        return f"no program of Relax runs in the executor {lane.executor}"
    if lane.importer not in (each.importer for each in EVALUATED_LANES):
        return f"the importer {lane.importer} does not import a model into Relax"
    found = availability(lane, machine)
    return f"{lane.target}: {in_words(found)}" if isinstance(found, Missing) else None


def _excluded(factors: tuple[Factor, ...], pair: tuple[Value, Value], machine: Machine) -> bool:
    """Whether two values exclude each other: together they are illegal in TVM, or one needs what the other lacks."""
    (one, value), (other, another) = pair
    lane = factors[other].on(factors[one].on(PLAIN, value), another)
    lowers = any(TRANSFORMS_BY_NAME[name].form is ModuleForm.LOWERED for name in lane.passes)
    sorts = any(name.startswith("TopologicalSort") for name in lane.passes)
    return (
        (lowers and lane.pipeline is not Pipeline.DEFAULT)
        or (sorts and lane.params is Params.LIFTED_CONSUMING)  # see `drawn_lanes._protocols`
        or (lane.params.is_lifted and lane.opt_level == 0)
        or isinstance(availability(lane, machine), Missing)
        or _lacks(factors[one], value, factors[other], another)
        or _lacks(factors[other], another, factors[one], value)
    )


def _lacks(factor: Factor, value: int, other: Factor, another: int) -> bool:
    """Whether a switch is on whose pass needs another one, which is off."""
    if not (factor.name and other.name and factor.field == other.field):
        return False
    if not factor.values[value] or other.values[another]:
        return False
    if factor.field == "passes":
        return other.name in TRANSFORMS_BY_NAME[factor.name].after
    return factor.field == "disabled" and DISABLED_WITH.get(factor.name) == other.name
