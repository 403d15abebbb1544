"""Chooses the lanes that compile a case, by what is new about the case in each lane and by what the lane has shown.

A lane is worth its novelty times its new failures per CPU second. Its novelty is the sum of 1 / (1 + count)^2 over its
features; `count` is how often lanes with this feature were compiled. Its features are the kernels that its target gets,
and each pass or other addition together with the operators that it acts on.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.lanes import importer_chooser
from fuzzer.campaign.lanes.importer_chooser import ImporterChooser
from fuzzer.campaign.lanes.lane_records import FLOOR, DistinctFailures, LaneRecords, kinds_of
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.store.features import of_case
from fuzzer.signature import signature_of
from generators.graph import Case, Graph
from generators.table import TABLE
from oracles.finding import Component, Finding
from oracles.importers import EXPENSIVE, Importer
from oracles.lane import LaneSpec, is_relax
from oracles.outcome import Stage
from oracles.remembered import remembered
from oracles.siblings import additions
from oracles.targets import family_of
from oracles.transforms import TRANSFORMS_BY_NAME, transform_named

TIER_2_SHARE = 0.5
"""CPU seconds that tier 2 may take for each CPU second of tier 1."""

SAVED_SECONDS = 2.0
"""The most CPU seconds that boring cases save for later ones, and that later ones save for a lane that took too many.
The more are saved, the less must a lane be worth."""

TIER_1, TIER_2 = "tier 1", "tier 2"
"""The names under which the tiers themselves are recorded. The expensive importers of tier 1 have records of their
own."""

PREFIX = "compiled "
"""What the names of the features begin with."""


def lane_features(lane: LaneSpec, case: Case, behaviour: Sequence[str]) -> tuple[str, ...]:
    """What the lane compiles and does with a case, each once, in a fixed order: a sum over them depends on it in its
    last bits. `behaviour` is what the case's importer made of it."""
    return tuple(dict.fromkeys(_lane_features(lane, case, behaviour)))


def _lane_features(lane: LaneSpec, case: Case, behaviour: Sequence[str]) -> Iterator[str]:
    target, made = lane.target, [name.removeprefix("relax ") for name in behaviour if name.startswith("relax ")]
    kernels_of = family_of(target)
    yield from (f"{PREFIX}{kernels_of} {name}" for name in made)
    yield from (f"{PREFIX}{kernels_of} {name}" for name in _classes_of_attributes(case.graph))
    ops = dict.fromkeys(name.split(" ")[0] for name in made) or dict.fromkeys(case.graph.ops)
    for addition in _additions(lane):
        row = TRANSFORMS_BY_NAME.get(addition)
        if row is not None and row.relevant:
            yield from (f"{PREFIX}{addition} {node.title}" for node in case.graph.nodes if row.rewrites(TABLE[node.op]))
        else:
            yield from (f"{PREFIX}{addition} {op}" for op in ops)


@remembered(1)
def _classes_of_attributes(graph: Graph) -> tuple[str, ...]:
    """The features of the attributes of a graph. All candidates of a test have the same."""
    return tuple(name for name in of_case(graph) if name.startswith("attr "))


def _additions(lane: LaneSpec) -> tuple[str, ...]:
    """What the lane does beyond the plain lane of its target's family."""
    others = (
        lane.variant if lane.variant != "relax" else "",
        "" if lane.importer.row.reads.is_one_graph else str(lane.importer),
    )
    return (*additions(lane), *(each for each in others if each))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The lanes that compile a case, each with the behaviour of its importer, and how many CPU seconds of what was
    saved are set aside for them."""

    lanes: Mapping[LaneSpec, Sequence[str]]
    reserved: float = 0.0


@dataclass(slots=True)
class LaneChooser:
    """What importers have read and lanes of tier 2 have compiled, cost and shown. It is thread-safe. Lanes of Relay are
    not recorded.

    A test calls `begin`, `reads` and `imported` for expensive importers, `choose` and `end`, and `learn` when its
    findings are known."""

    counts: Counts = field(default_factory=Counts)
    records: LaneRecords = field(default_factory=LaneRecords)
    failures: DistinctFailures = field(default_factory=DistinctFailures)
    tests: int = 0
    _importers: ImporterChooser = field(init=False)
    _saved: float = 0.0
    _usual_worth: float = 0.0
    _observed: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._importers = ImporterChooser(self.counts)

    def begin(self, tier_1_seconds: float) -> None:
        """Take in the cost of a test's tier 1, without its expensive importers."""
        with self._lock:
            self.tests += 1
            self._spend_in_tier_1(TIER_1, tier_1_seconds)

    def reads(self, importer: Importer, case: Case) -> bool:
        """Whether an expensive importer reads the case."""
        with self._lock:
            rate = importer_chooser.rate_of(importer, self.records.of(record_of(importer)), self.records.of(TIER_1))
            names = self._importers.read(importer, case, rate)
            self._observed.update(names)
            return bool(names)

    def imported(self, importer: Importer, seconds: float) -> None:
        """Take in what it cost that an expensive importer read a case."""
        with self._lock:
            self._spend_in_tier_1(record_of(importer), seconds)

    def _spend_in_tier_1(self, record: str, seconds: float) -> None:
        self.records.spend((record,), seconds)
        self._saved = min(SAVED_SECONDS, self._saved + TIER_2_SHARE * seconds)

    def overdue(self, lane: LaneSpec, case: Case) -> bool:
        """Whether the lane, or a pass of it that has something to do, has not run for `FLOOR` tests."""
        return any(self.tests - self.records.of(kind).last >= FLOOR for kind in _awake(lane, case))

    def choose(self, case: Case, must: Sequence[LaneSpec], candidates: Mapping[LaneSpec, Sequence[str]]) -> Chosen:
        """Choose lanes, and set aside what they are expected to cost: first those that `must` run and one that is
        overdue, then the one with the highest worth, again and again while there is CPU time. A lane that was chosen
        makes others that compile the same kernels worth less. `candidates` has the behaviour of each lane's importer,
        also for the lanes of `must`."""
        features = {lane: lane_features(lane, case, behaviour) for lane, behaviour in candidates.items()}
        names = frozenset().union(*features.values())
        with self._lock:
            times = Counter({name: self.counts[name] for name in names})
            rates = {lane: self.records.failures_per_second(kinds_of(lane)) for lane in features}
            seconds = {lane: self.records.seconds(lane, kinds_of(lane)) for lane in features}
            late = [lane for lane in candidates if lane not in must and self.overdue(lane, case)][:1]
            chosen, compared = [*must, *late], list[float]()
            for lane in chosen:
                times.update(features.pop(lane))
            left = self._saved - sum(seconds[lane] for lane in chosen)
            while features and left > 0:
                worth = {lane: rates[lane] * _novelty(names, times) for lane, names in features.items()}
                lane = max(worth, key=lambda each: worth[each])
                compared.append(worth[lane])
                if worth[lane] <= self._usual_worth * (1 - left / SAVED_SECONDS):
                    break
                chosen.append(lane)
                times.update(features.pop(lane))
                left -= seconds[lane]
            if compared:
                self._usual_worth += (compared[0] - self._usual_worth) / 50
            for lane in chosen:
                self.records.meet(_awake(lane, case), self.tests)
            reserved, self._saved = self._saved - left, left
        return Chosen({lane: candidates[lane] for lane in chosen}, reserved)

    def end(self, case: Case, chosen: Chosen, seconds: float) -> None:
        """Take in that the lanes ran in tier 2, and what they cost together."""
        lanes = {lane: behaviour for lane, behaviour in chosen.lanes.items() if is_relax(lane)}
        with self._lock:
            self._saved = min(SAVED_SECONDS, max(-SAVED_SECONDS, self._saved + chosen.reserved - seconds))
            self.records.spend((TIER_2,), seconds)
            kinds = {lane: kinds_of(lane) for lane in lanes}
            parts = {lane: self.records.seconds(lane, kinds[lane]) for lane in lanes}
            for lane, behaviour in lanes.items():
                self.records.take(kinds[lane], _awake(lane, case), self.tests)
                self.records.spend(kinds[lane], seconds * parts[lane] / sum(parts.values()))
                for name in lane_features(lane, case, behaviour):
                    self.counts.add(name)
                    self._observed[name] += 1

    def learn(self, case: Case, found: Sequence[Finding]) -> int:
        """Take in the findings of a test. Return how many failures of TVM are new."""
        ops, new = frozenset(case.graph.ops), 0
        with self._lock:
            for finding in found:
                if finding.component is not Component.TVM or not self.failures.add(signature_of(finding), ops):
                    continue
                new += 1
                if not is_relax(finding.lane):
                    continue
                if shows_in_tier_1(finding):
                    self.records.find((record_of(finding.lane.importer),))
                else:
                    self.records.find((TIER_2, *kinds_of(finding.lane)))
        return new

    def is_new(self, case: Case, finding: Finding) -> bool:
        """Whether no earlier test has shown the failure."""
        with self._lock:
            return self.failures.is_new(signature_of(finding), frozenset(case.graph.ops))

    def recall(self, features: Mapping[str, int]) -> None:
        """Take in what earlier runs imported and compiled."""
        for name, times in features.items():
            if name.startswith((PREFIX, importer_chooser.PREFIX)):
                self.counts.add(name, times)

    def changed(self) -> Counter[str]:
        """The features of the importers and lanes that have run since the last call, counted."""
        with self._lock:
            observed, self._observed = self._observed, Counter()
            return observed


def record_of(importer: Importer) -> str:
    """The name under which an importer of tier 1 is recorded."""
    return f"importer {importer}" if importer in EXPENSIVE else TIER_1


def shows_in_tier_1(finding: Finding) -> bool:
    """Whether nothing must be compiled to show the failure."""
    return finding.stage in (Stage.EXPORT, Stage.VERIFY, Stage.IMPORT)


def _awake(lane: LaneSpec, case: Case) -> tuple[str, ...]:
    """The names under which the lane is recorded, without passes that have nothing to do in the case."""
    rows = [transform_named(name) for name in lane.passes]
    ops = [TABLE[name] for name in case.graph.rows]
    asleep = {f"pass {row.pass_name}" for row in rows if row.relevant and not any(map(row.rewrites, ops))}
    return tuple(kind for kind in kinds_of(lane) if kind not in asleep)


def _novelty(features: Sequence[str], times: Mapping[str, int]) -> float:
    return sum([1 / (1 + times[name]) ** 2 for name in features])
