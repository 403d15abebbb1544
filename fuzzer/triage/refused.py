"""Which calls of a case a lane does not support, and the case without them.

An importer refuses a whole model for one operator. The others can be checked: what the refused calls
compute becomes inputs, with the numbers of the reference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.triage.eager_values import computed_values, written_plainly
from fuzzer.triage.proposals import checked
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.base import cut
from fuzzer.triage.reproduce import ended_after
from generators.given_calls import given_calls
from generators.graph import Array, Case, Graph, Invalid, Node
from generators.part_of_given import with_part_of_given
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Stage, Unsupported, why_no_result

MOST_RUNS = 400
"""How many parts of a case may be tried. A call is found among n others with log2(n) of them."""

NEAR = 12
"""How far from the middle of some calls a place is looked for where a given model can be cut. A function of a file has
none inside."""


@dataclass(frozen=True, slots=True)
class WithoutRefused:
    """What is left of a case for some lanes.

    lanes    the lanes, which refuse the same calls
    refused  the numbers of these calls, from 0, each with the words of the refusal
    case     the case without them; None where nothing is left, or where it cannot be cut out
    in_form  whether `case` is difftvm's form of a given model, because no part of the model itself is like it
    """

    lanes: tuple[LaneSpec, ...]
    refused: Mapping[int, str]
    case: Case | None
    in_form: bool = False

    def titles(self, whole: Case) -> list[str]:
        """The operators and functions that are refused."""
        return titles_of(whole, self.refused.keys())


def titles_of(case: Case, numbers: Set[int]) -> list[str]:
    """The operators and functions of a model that have these calls of its case, each once: "`lgamma`"."""
    calls = [each for each in given_calls(case) if any(number in numbers for number in each.numbers)]
    return list(dict.fromkeys(f"`{each.title}`" for each in calls))


def without_refused(
    run: RunLanes, case: Case, outcomes: Outcomes, known: Mapping[LaneSpec, Mapping[int, str]] = {}
) -> list[WithoutRefused]:
    """The case for each group of lanes that refuse it as a whole, by their outcomes. `known` are calls of which it is
    known that a lane refuses them."""
    refusing = {lane: out for lane, out in outcomes.items() if isinstance(out, Unsupported)}
    computed = computed_values(run, case) if refusing else {}
    groups: dict[tuple[int, ...], WithoutRefused] = {}
    for lane, outcome in refusing.items():
        found = _searched(run, case, lane, computed, outcome, known.get(lane, {}))
        before = groups.get(numbers := tuple(sorted(found.refused)))
        groups[numbers] = replace(before, lanes=(*before.lanes, lane)) if before else found
    return list(groups.values())


def _searched(
    run: RunLanes,
    case: Case,
    lane: LaneSpec,
    computed: Mapping[str, Array],
    outcome: Unsupported,
    known: Mapping[int, str],
) -> WithoutRefused:
    """Search in a given model. Where it cannot be cut anywhere, such as one that changes parts of tensors in place,
    search in its form."""
    found = _Search(run, case, lane, computed, outcome, dict(known)).result()
    if found.case is not None or case.given is None:
        return found
    form = written_plainly(replace(case, given=None))
    in_form = _Search(run, form, lane, computed, outcome, dict(known))
    if in_form.refusal(form):
        return replace(in_form.result(), in_form=True)
    return found


@dataclass(slots=True)
class _Search:
    """The search for the calls that one lane refuses, among parts of a case: of its given model, where it has one."""

    run: RunLanes
    case: Case
    lane: LaneSpec
    computed: Mapping[str, Array]
    outcome: Unsupported
    refused: dict[int, str]
    tried: int = 0

    def result(self) -> WithoutRefused:
        """Find one refused call after the other, until the lane takes the rest."""
        why = why_no_result(self.outcome)
        while left := [number for number in range(len(self.case.graph.nodes)) if number not in self.refused]:
            rest = self._only(left) if self.refused else self.case
            if rest is None or self.tried > MOST_RUNS:
                break
            if self.refused and not (why := self.refusal(rest)):
                return WithoutRefused((self.lane,), self.refused, rest)
            first, end = self._refused_among(left)
            self._note(left[first:end], left[end:], why)
        return WithoutRefused((self.lane,), self.refused, None)

    def _refused_among(self, left: Sequence[int]) -> tuple[int, int]:
        """The places of the last call in the shortest beginning that is refused, where all of it is. They are those of
        several calls where the case cannot be cut between them."""
        accepted, refused = 0, len(left)
        while found := self._part_between(left, accepted, refused):
            length, part = found
            if self.refusal(part):
                refused = length
            else:
                accepted = length
        return accepted, refused

    def _part_between(self, left: Sequence[int], low: int, high: int) -> tuple[int, Case] | None:
        """A beginning of more than `low` and fewer than `high` calls, near the middle, where the case can be cut."""
        middle = (low + high) // 2
        near = range(max(low + 1, middle - NEAR), min(high, middle + NEAR + 1))
        for length in sorted(near, key=lambda length: abs(length - middle)):
            if part := self._only(left[:length]):
                return length, part
        return None

    def _note(self, numbers: Sequence[int], later: Sequence[int], why: str) -> None:
        """Note calls as refused, and each later one of the same kind that is refused alone."""
        alone = self._only(numbers)
        why = (self.refusal(alone) if alone else "") or why
        self.refused |= dict.fromkeys(numbers, why)
        if len(numbers) > 1:
            return
        graph = self.case.graph
        kind = kind_of(graph, numbers[0])
        for each in later:
            if kind_of(graph, each) == kind and (part := self._only([each])) and (words := self.refusal(part)):
                self.refused[each] = words

    def refusal(self, part: Case) -> str:
        """The words with which the lane refuses a part; "" where it does not."""
        self.tried += 1
        lane = ended_after(self.lane, Stage.COMPILE if self.outcome.stage is Stage.TRANSFORM else self.outcome.stage)
        outcome = self.run(part, (lane,)).outcomes[lane]
        return why_no_result(outcome) if isinstance(outcome, Unsupported) else ""

    def _only(self, numbers: Sequence[int]) -> Case | None:
        return part_of(self.case, self.lane, numbers, self.computed)


def kind_of(graph: Graph, number: int) -> tuple[object, ...]:
    """What calls that an importer treats alike have in common: the row, the attributes, and dtypes and ranks."""
    node = graph.nodes[number]
    types = tuple((type.dtype, type.rank) for type in graph.arg_types(node))
    return node.op, tuple(sorted((name, repr(value)) for name, value in node.attrs.items())), types


def part_of(case: Case, lane: LaneSpec, numbers: Collection[int], computed: Mapping[str, Array]) -> Case | None:
    """As `only`, with that part of the given model, where the case has one. None where it cannot be cut so."""
    part = only(case, lane, numbers, computed)
    if part is None or case.given is None:
        return part
    try:
        return with_part_of_given(case, part)
    except Invalid:
        return None


def only(case: Case, lane: LaneSpec, numbers: Collection[int], computed: Mapping[str, Array]) -> Case | None:
    """The case with these calls only: what others compute and they read are inputs, with the computed numbers, and what
    others read of them are outputs. None where such a number is missing, or where a call takes no such input."""
    kept = set(numbers)
    nodes = case.graph.nodes
    others = [node for number, node in enumerate(nodes) if number not in kept]
    cut_results = {value.name for node in others for value in node.results}
    read = {name for number in kept for name in nodes[number].args} & cut_results
    needed = frozenset(value.name for node in others if not read.isdisjoint(_results(node)) for value in node.results)
    made = {value.name for number in kept for value in nodes[number].results}
    wanted = (*case.graph.outputs, *(name for node in others for name in node.args))
    outputs = tuple(dict.fromkeys(name for name in wanted if name in made))
    if not outputs:
        return None
    part = Subject(replace(case, graph=replace(case.graph, outputs=outputs)), lane, computed)
    found = cut(part, needed) if needed else part.with_graph(part.graph)
    valid = checked(found) if found else None
    return valid.case if valid else None


def _results(node: Node) -> set[str]:
    return {value.name for value in node.results}
