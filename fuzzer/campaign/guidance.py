"""What tests showed decides which case comes next: of several that could, the one that promises most.

Drawing a case costs a thousandth of running it. So a guided campaign draws many, and runs the one that would show most
that is new, on as many routes as it is likely to pass: a graph with an operator that stops its importer tests nothing
else there, and most of what stops one is a bug that is known by then.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.cases import CaseSource, case_source
from fuzzer.campaign.failure_rates import NO_OPERAND, FailureRates, ended_well, typed_operators
from fuzzer.campaign.features import features_of, is_of_case, of_case
from fuzzer.campaign.name_counts import Counts
from fuzzer.campaign.rows import Observations
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.unsupported_operators import supports
from generators.choice import NumpySource
from generators.graph import Case, DType
from oracles.finding import Finding
from oracles.lane import Importer
from oracles.outcome import Outcomes

CANDIDATES = 64
"""Cases that are drawn for a test, of which one is run: half a millisecond each, 30 ms of a test's 550."""

ALL_WORKERS, FEWEST = 640, 4
"""So many for all workers together: one process draws for them all, and needs half a core for that."""

_STREAM = 16
"""The first of their streams of choices; 0 is the random case's, 1 the lanes'."""

ROUTE_SHARES = {Importer.EXPORT: 0.7, Importer.ONNX: 0.17, Importer.EXPORT_RAW: 0.08, Importer.FX: 0.05}
"""The share of the default mix's lanes that take each (`benchmarks/costs.py`)."""

TEST, NODE, LANES = 0.05, 0.06, 0.78
"""CPU seconds that a test takes; each of its nodes (its export, most of all); and its lanes, where they go all the way:
least squares over 600 tests of the default mix (`benchmarks/costs.py --tests 600 --seed 12`). A lane that stops early
costs next to nothing."""

YIELD = {
    DType.BFLOAT16: 0.61,
    DType.INT16: 0.60,
    DType.INT8: 0.51,
    DType.INT64: 0.46,
    DType.BOOL: 0.46,
    DType.FLOAT16: 0.43,
    DType.UINT8: 0.41,
    DType.INT32: 0.36,
    NO_OPERAND: 0.28,
    DType.FLOAT64: 0.26,
    DType.FLOAT32: 0.24,
}
"""New failures of TVM's by CPU second of random tests, by the dtype of what their operators read: over the first 700 of
2,195 tests, the mean of 12 orders (`benchmarks/costs.py` prints them for one order)."""


@dataclass(slots=True)
class Guidance:
    """Thread-safe. `counts`: how many tests had each feature of a case's own; all others go to the index alone."""

    settings: Settings
    seed: int
    counts: Counts = field(default_factory=Counts)
    failure_rates: FailureRates = field(default_factory=FailureRates)
    yields: Mapping[str, float] = field(default_factory=lambda: YIELD)
    _first: dict[str, int] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    case_source: CaseSource = field(init=False)

    def __post_init__(self) -> None:
        self.case_source = case_source(self.settings, self.seed)

    def case(self, index: int) -> Case:
        """The case of a test. What was learnt decides with the seed: a resumed campaign goes on otherwise than it would
        have, which its findings do not mind."""
        if given := self.case_source.given(index):
            return given
        ops = self.case_source.mix(NumpySource(self.seed, index))
        count = max(FEWEST, min(CANDIDATES, ALL_WORKERS // self.settings.workers))
        streams = (NumpySource(self.seed, index, _STREAM + number) for number in range(count))
        candidates = [self.case_source.case(source, index, ops) for source in streams]
        with self._lock:
            return max(candidates, key=self.worth)

    def worth(self, case: Case) -> float:
        """What is expected to be new, over the routes that it may pass, by CPU second; and more where such dtypes show
        more. Of that the root: by all of it, next to no test would be of float32 alone for the first hours."""
        novelty = sum(_weight(name) / (1 + self.counts[name]) ** 2 for name in frozenset(of_case(case)))
        typed, ops = typed_operators(case.graph), frozenset(case.graph.ops)
        passed = sum(
            share * self.failure_rates.passable(route, typed)
            for route, share in ROUTE_SHARES.items()
            if supports(route, ops)
        )
        shows = sum(self.yields[each.dtype] for each in typed) / max(1, len(typed))
        return math.sqrt(shows) * novelty * passed / (TEST + NODE * len(case.graph.nodes) + LANES * passed)

    def learn(self, index: int, case: Case, outcomes: Outcomes, found: Sequence[Finding]) -> None:
        """From a test that is through."""
        of_its_own, typed = frozenset(of_case(case)), typed_operators(case.graph)
        seen = of_its_own | features_of(outcomes, found)
        with self._lock:
            self._seen.update(seen)
            for name in seen:
                self._first.setdefault(name, index)
            for name in of_its_own:
                self.counts.add(name)
            self.failure_rates.learn(typed, ended_well(outcomes, found))

    def recall(self, learnt: Observations) -> None:
        """Go on with what earlier runs learnt."""
        for name, tests in learnt.features.items():
            if is_of_case(name):
                self.counts.add(name, tests)
        self.failure_rates.recall(learnt.failure_rates)

    def changed(self) -> Observations:
        """What was learnt since the last time that somebody asked."""
        with self._lock:
            seen, self._seen = self._seen, Counter()
            first, self._first = self._first, {}
            return Observations(seen, first, self.failure_rates.changed())


def _weight(feature: str) -> float:
    """An operator with a dtype and a rank that nobody tried says more than an attribute's class."""
    return 1.0 if feature.startswith("op ") else 0.3
