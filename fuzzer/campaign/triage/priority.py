"""Which sighting is investigated first: a severe one, and one that is unlike those that were investigated before.

The order is that of Chen et al., "Taming Compiler Fuzzers" (PLDI 2013): furthest point first. The next sighting is the
one whose distance to the nearest investigated one is the largest. Here the distance is multiplied by the severity.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fuzzer.signature import Signature
from fuzzer.system.interned import interned
from generators.graph import Graph
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Stage
from oracles.siblings import additions

SEVERITY = {
    Kind.OUT_OF_BOUNDS_WRITE: 1.0,
    Kind.OUT_OF_BOUNDS_READ: 1.0,
    Kind.UNINITIALISED_READ: 1.0,
    Kind.WRONG_VALUE: 0.9,
    Kind.WRONG_SHAPE: 0.9,
    Kind.WRONG_DTYPE: 0.9,
    Kind.WRONG_ARITY: 0.9,
    Kind.SECOND_RUN_DIFFERS: 0.9,
    Kind.NONDETERMINISTIC: 0.9,
    Kind.MODIFIED_INPUT: 0.9,
    Kind.DIED: 0.9,
    Kind.TIMED_OUT: 0.8,
    Kind.OUT_OF_MEMORY: 0.8,
    Kind.INTERNAL_ERROR: 0.6,
    Kind.ILL_FORMED: 0.5,
    Kind.BLOAT: 0.4,
    Kind.SLOW: 0.4,
    Kind.CHECKER_GAP: 0.4,
    Kind.REJECTED: 0.3,
    Kind.ALIASED_OUTPUT: 0.2,
}
"""By kind, between 0 and 1. Accesses out of bounds come first, then wrong results and deaths; refusals, and results
that share memory with an input, come last."""

BEYOND_DEFAULT = 0.8
"""The factor for a lane that does more than TVM's default pipeline."""

OTHER_COMPONENTS = 0.2
"""The factor for failures of exporters and onnxruntime, which difftvm does not look for."""

LEAST_DISTANCE = 0.05
"""Sightings that are alike in all traits are still ordered by severity."""


class Traits(NamedTuple):
    """What the distance between two sightings is computed from: different names, sorted. A trait without names is
    unknown. Thousands of sightings wait, and a tuple takes a fifth of the memory of a set."""

    operators: tuple[str, ...]
    dtypes: tuple[str, ...]
    message: tuple[str, ...]
    frame: tuple[str, ...]
    lanes: tuple[str, ...]


def traits_of(graph: Graph, signature: Signature, lanes: Sequence[LaneSpec]) -> Traits:
    return Traits(
        _names(graph.ops),
        _names(type.dtype.value for type in graph.types.values()),
        *_of_failure(signature),
        _names(word for lane in lanes for word in _words_of(lane)),
    )


def traits_of_saved(ops: Sequence[str], signature: Signature, lane: LaneSpec) -> Traits:
    """The traits of a finding whose case is not read again. Its dtypes are unknown."""
    return Traits(_names(ops), (), *_of_failure(signature), _names(_words_of(lane)))


def _of_failure(signature: Signature) -> tuple[tuple[str, ...], tuple[str, ...]]:
    message = (signature.kind.value, signature.stage.value, signature.error, *signature.skeleton.split())
    return _names(message), _names({signature.frame} - {""})


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """The different names, sorted. Each name, and each tuple of them, is in memory once."""
    return interned(tuple(sorted(set(map(sys.intern, names)))))


def _words_of(lane: LaneSpec) -> tuple[str, ...]:
    return (lane.importer.value, lane.target, *additions(lane))


def distance(one: Traits, other: Traits) -> float:
    """The mean Jaccard distance of the traits that both have, between 0 (equal) and 1."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a and b]
    return sum(_jaccard(a, b) for a, b in pairs) / len(pairs) if pairs else 0.0


def _jaccard(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    common = len(set(one).intersection(other))
    return 1 - common / (len(one) + len(other) - common)


EXPECTED_SECONDS = {
    **dict.fromkeys((Kind.TIMED_OUT, Kind.OUT_OF_MEMORY), 60.0),
    **dict.fromkeys((Kind.DIED, Kind.SLOW), 12.0),
    **dict.fromkeys((Kind.WRONG_DTYPE, Kind.WRONG_SHAPE, Kind.WRONG_ARITY), 1.5),
    **dict.fromkeys((Kind.REJECTED, Kind.ILL_FORMED), 0.7),
}
"""By kind, the CPU seconds that an investigation takes, with its script. A wrong type shows with any numbers."""

WITHOUT_MESSAGE, AT_IMPORT, WITH_MESSAGE = 4.0, 0.9, 1.2
"""The same for other kinds: what has a message is reduced in a few runs, and an import compiles nothing. All are
medians of 329 findings of two campaigns (`cpu_seconds` of finding.json, to which 0.3 for the script comes)."""

EXPORTED = 1.5
"""The factor for an importer that reads what PyTorch has exported: each case of a reduction is exported anew."""


def expected_seconds(kind: Kind, stage: Stage, lane: LaneSpec) -> float:
    """The CPU seconds that the investigation of a failure is expected to take."""
    exported = lane.importer.row.reads.is_program
    with_message = AT_IMPORT if stage is Stage.IMPORT else WITH_MESSAGE
    usual = WITHOUT_MESSAGE if kind.is_numeric else with_message
    return EXPECTED_SECONDS.get(kind, usual) * (EXPORTED if exported else 1.0)


def severity(finding: Finding) -> float:
    """How severe a failure is, between 0 and 1."""
    weight = SEVERITY[finding.kind]
    if finding.component is not Component.TVM:
        return weight * OTHER_COMPONENTS
    plain = finding.lane.engine is Engine.TVM and not additions(finding.lane)
    return weight if plain else weight * BEYOND_DEFAULT
