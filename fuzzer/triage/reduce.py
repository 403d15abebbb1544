"""Greedy reduction to a fixpoint: the first pass that has a smaller candidate with the same failure wins the round."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.triage.passes import PASSES, Pass, Subject
from fuzzer.triage.passes.plain_lane import plain_road
from fuzzer.triage.passes.plain_types import odd_types
from fuzzer.triage.passes.plain_values import complexity
from fuzzer.triage.passes.plain_writing import frills
from generators import case_file
from generators.check import check, retyped
from generators.graph import Array, Case, Invalid, Role, Value
from oracles.lane import LaneSpec
from oracles.siblings import features

Predicate = Callable[[Case, LaneSpec], bool]
Tap = Callable[[Case], Mapping[str, Array]]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a reduction may cost: calls of the predicate, and wall seconds."""

    calls: int = 150
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Reduction:
    case: Case
    lane: LaneSpec
    calls: int
    finished: bool
    """False where the effort ran out before the fixpoint."""


def reduce(
    case: Case,
    lane: LaneSpec,
    interesting: Predicate,
    tap: Tap,
    effort: Effort = Effort(),
    passes: Sequence[Pass] = PASSES,
) -> Reduction:
    """The smallest case found, under `size_of`, for which `interesting` still holds.

    `tap` computes every value of a graph in PyTorch. Each candidate is asked about once. Deterministic as long as
    `interesting` is and the effort suffices.
    """
    search = _Search(interesting, tap, effort)
    subject = Subject(case, lane, search.taps(case))
    while (smaller := search.first_smaller(subject, passes)) is not None:
        subject = smaller
    return Reduction(renumbered(subject.case), subject.lane, search.calls, not search.spent)


class _Search:
    def __init__(self, interesting: Predicate, tap: Tap, effort: Effort) -> None:
        self._interesting, self._tap, self._effort = interesting, tap, effort
        self._deadline = time.monotonic() + effort.seconds
        self._seen: set[tuple[str, LaneSpec]] = set()
        self.calls = 0

    @property
    def spent(self) -> bool:
        return self.calls >= self._effort.calls or time.monotonic() > self._deadline

    def first_smaller(self, subject: Subject, passes: Sequence[Pass]) -> Subject | None:
        size = _size(subject)
        for propose in passes:
            for candidate in propose(subject):
                if self.spent:
                    return None
                valid = _checked(candidate)
                if valid is None or _size(valid) >= size or not self._is_new(valid):
                    continue
                self.calls += 1
                if self._interesting(valid.case, valid.lane):
                    return replace(valid, taps=subject.taps if valid.case is subject.case else self.taps(valid.case))
        return None

    def taps(self, case: Case) -> Mapping[str, Array]:
        """Nothing can be cut out of a single node: no need to ask."""
        return self._tap(case) if len(case.graph.nodes) > 1 else {}

    def _is_new(self, subject: Subject) -> bool:
        key = case_file.digest(subject.case), subject.lane
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _size(subject: Subject) -> tuple[int, ...]:
    """The total order of subjects: operators, what the lane does on top of its sibling, the rest of the case."""
    operators, *rest = size_of(subject.case)
    return operators, len(features(subject.lane)) + (not subject.lane.asserts) + (not plain_road(subject.lane)), *rest


def size_of(case: Case) -> tuple[int, ...]:
    """The total order of cases: operators, outputs, inputs, frills of writing, odd dtypes, elements, and last how plain
    the numbers are."""
    graph = case.bound
    return (
        len(graph.nodes),
        len(graph.outputs),
        len(graph.inputs),
        frills(graph),
        odd_types(graph),
        sum(item.value.type.numel for item in graph.inputs),
        sum(complexity(array) for array in case.tensors.values()),
    )


def _checked(subject: Subject) -> Subject | None:
    """The candidate with its types inferred afresh; None where it breaks a rule. The one place that rejects."""
    if not subject.graph.nodes:
        return None
    try:
        # what is inferred is numbers: where sizes are open, only passes that leave all types as they are get through
        graph = subject.graph if subject.graph.symbols else retyped(subject.graph)
        case = replace(subject.case, graph=graph)
        check(case)
    except Invalid:
        return None
    return replace(subject, case=case)


def renumbered(case: Case) -> Case:
    """Values called x0, x1, ... w0, ... v0, ... in order: equal reductions of one bug become equal texts."""
    graph = case.graph
    names: dict[str, str] = {}
    for role, letter in ((Role.INPUT, "x"), (Role.PARAM, "w"), (Role.BUFFER, "b")):
        for index, item in enumerate(i for i in graph.inputs if i.role is role):
            names[item.value.name] = f"{letter}{index}"
    for index, value in enumerate(value for node in graph.nodes for value in node.results):
        names[value.name] = f"v{index}"

    def named(value: Value) -> Value:
        return Value(names[value.name], value.type)

    inputs = tuple(replace(item, value=named(item.value)) for item in graph.inputs)
    nodes = tuple(
        replace(node, args=tuple(names[arg] for arg in node.args), results=tuple(map(named, node.results)))
        for node in graph.nodes
    )
    renamed = replace(graph, inputs=inputs, nodes=nodes, outputs=tuple(names[name] for name in graph.outputs))
    return replace(case, graph=renamed, tensors={names[name]: array for name, array in case.tensors.items()})
