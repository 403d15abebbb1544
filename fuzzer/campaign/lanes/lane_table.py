"""The table of `fuzz lanes`: each lane, when a test takes it, and whether it runs on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

import msgspec

from fuzzer.campaign.lanes.lane_purposes import purpose_of
from fuzzer.lanes import DIALECT_LANES, EVALUATED_LANES, HONEST_LANES, RELAX_LANES, RELAY_LANES
from fuzzer.lanes.base.availability import (
    THIS,
    Availability,
    CompileOnly,
    Machine,
    Missing,
    Runnable,
    availability,
    in_words,
)
from oracles.importers import EXPENSIVE
from oracles.lane import Engine, LaneSpec
from oracles.siblings import describe_additions

WHEN: Mapping[str, tuple[LaneSpec, ...]] = {
    "every test": (
        *(lane for lanes in DIALECT_LANES.values() for lane in lanes.references),
        *(lane for lane in EVALUATED_LANES if lane.importer not in EXPENSIVE),
    ),
    "some tests": tuple(lane for lane in EVALUATED_LANES if lane.importer in EXPENSIVE),
    "chosen tests": RELAX_LANES,
    "with --toolchain relay": RELAY_LANES,
    "on demand": HONEST_LANES,  # `fuzz bench honesty`
}
LISTED = tuple(lane for lanes in WHEN.values() for lane in lanes)


@dataclass(frozen=True, slots=True)
class LaneRow:
    """`when` says how often a campaign takes the lane, `here` whether it runs on this machine."""

    lane: LaneSpec
    when: str
    here: Availability


def rows(machine: Machine = THIS) -> list[LaneRow]:
    return [LaneRow(lane, when, availability(lane, machine)) for when, lanes in WHEN.items() for lane in lanes]


COLUMNS = ("lane", "when it runs", "importer", "target", "adds to the plain lane", "here")


def cells(machine: Machine = THIS) -> Iterator[tuple[str, ...]]:
    """A row for each lane, with the cells of `COLUMNS`."""
    for row in rows(machine):
        lane, is_of_tvm = row.lane, row.lane.engine is Engine.TVM
        importer = str(lane.importer) if is_of_tvm else f"none: {lane.engine}"
        target = lane.target if is_of_tvm else ""
        yield lane.name, row.when, importer, target, describe_additions(lane), in_words(row.here)


def document(machine: Machine = THIS) -> list[dict[str, object]]:
    """The table for `--json`: the fields of each lane, and `when`, `adds`, `purpose` and `here`."""
    return [
        {
            **msgspec.to_builtins(row.lane),
            "when": row.when,
            "adds": describe_additions(row.lane),
            "purpose": purpose_of(row.lane),
            "here": _here(row.here),
        }
        for row in rows(machine)
    ]


def _here(found: Availability) -> dict[str, str | None]:
    match found:
        case Runnable():
            return {"is": "runnable"}
        case CompileOnly(why, checker):
            return {"is": "compile-only", "why": why, "checker": checker.program if checker else None}
        case Missing(why):
            return {"is": "missing", "why": why}
        case _:
            assert_never(found)
