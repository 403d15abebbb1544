"""Chooses the case of each test by the results of earlier tests.

To draw a graph costs far less than to run a case of it. A guided campaign draws many candidates for each test, and
runs the one with the highest worth: an estimate of new findings per CPU second. The worth is higher if the candidate
has rare features and is likely to pass many routes. If one operator makes an importer fail, the rest of the graph is
not tested on that route, and the bug that is found is usually known already.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.cases.cases import CaseSource, case_source
from fuzzer.campaign.cases.dialects import DialectShares, dialect_of
from fuzzer.campaign.cases.failure_rates import NO_OPERAND, FailureRates, ended_well, typed_operators
from fuzzer.campaign.lanes.lane_chooser import LaneChooser
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.plan.aim import FEATURE
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.campaign.plan.unsupported_operators import supports
from fuzzer.campaign.store.features import features_of, is_of_case, of_case
from fuzzer.campaign.store.rows import Observations
from generators.dialect_names import NAMES
from generators.drawn_graph import DrawnGraph
from generators.graph import Case, DType, Graph
from oracles.finding import Finding
from oracles.importers import shares_of
from oracles.outcome import Outcomes

CANDIDATES = 32
"""How many graphs are drawn for a test where no graphs are kept. One of them gets values, and is run.
`benchmarks/supervisor.py --parts` prints what that costs."""

DRAWN_ANEW, KEPT = 16, 32
"""How many are drawn otherwise, and how many of the best that no test has run are kept for the next one."""

DRAWN_FOR_ALL_WORKERS, FEWEST_DRAWN = 320, 4
"""With many workers, each test draws fewer: `DRAWN_FOR_ALL_WORKERS` divided by the number of workers, but at least
`FEWEST_DRAWN`. One process draws for all workers, and needs half a core for that."""

ROUTE_SHARES = {dialect: shares_of(dialect) for dialect in NAMES}
"""By dialect, the share of each importer in the lanes of both tiers of the default mix."""

TEST_SECONDS, NODE_SECONDS, LANES_SECONDS = 0.07, 0.026, 0.25
"""CPU seconds of a test: a constant part, a part for each node (mostly for its export), and a part that is multiplied
by the share of lanes that do not stop early. A lane that stops early costs almost nothing. Fitted by least squares to
200 tests of the default mix (`benchmarks/costs.py --tests 200 --seed 12`)."""

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
"""New failures of TVM per CPU second of random tests, by the dtype that operators read, before tests had tiers. 2,195
tests were put in 12 random orders. Each number is the mean over these orders, counted over the first 700 tests of each
(`benchmarks/costs.py` prints it for one order)."""

OTHER_YIELD = YIELD[DType.UINT8]
"""That of the dtypes that only files have: wider unsigned integers."""


@dataclass(slots=True)
class Guidance:
    """What a campaign has learnt from its tests, and the choice of the next case. It is thread-safe.

    `counts` has the number of tests with each feature of a case, `chooser` what was compiled, and `configured` the
    features of configurations. Other features do not influence the choice, and are only written to the index."""

    settings: Settings
    seed: int
    counts: Counts = field(default_factory=Counts)
    failure_rates: FailureRates = field(default_factory=FailureRates)
    yields: Mapping[str, float] = field(default_factory=lambda: YIELD)
    chooser: LaneChooser = field(default_factory=LaneChooser)
    shares: DialectShares = field(default_factory=DialectShares)
    configured: set[str] = field(default_factory=set)
    _kept: defaultdict[str, list[DrawnGraph]] = field(default_factory=lambda: defaultdict(list))
    """By dialect, the best candidates that no test has run."""
    _first: dict[str, int] = field(default_factory=dict)
    _observed: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    case_source: CaseSource = field(init=False)

    def __post_init__(self) -> None:
        self.case_source = case_source(self.settings, self.seed)

    def case(self, index: int) -> Case:
        """The case of a test: the candidate with the highest worth. It depends on the seed and on all earlier results.
        Therefore a campaign that was interrupted does not run the same cases as one that was not. The origin of a case
        names the test for which it was drawn."""
        if given := self.case_source.given(index):
            return given
        shares = self.shares.shares(self.settings.dialects)
        dialect = dialect_of(self.seed, index, shares)
        ops = self.case_source.mix(choices(self.seed, index, Stream.CASE), dialect)
        kept = self._kept[dialect] if self.case_source.is_usual(index, dialect) else []
        wanted = DRAWN_ANEW if kept else CANDIDATES
        count = max(FEWEST_DRAWN, min(wanted, DRAWN_FOR_ALL_WORKERS // self.settings.workers))
        streams = (choices(self.seed, index, Stream.FIRST_CANDIDATE, number) for number in range(count))
        candidates = [self.case_source.draw(source, index, dialect, ops) for source in streams]
        with self._lock:
            best, *others = sorted((*candidates, *kept), key=lambda each: self.worth(each.graph), reverse=True)
            kept[:] = others[:KEPT]
        return best.case()

    def worth(self, graph: Graph) -> float:
        """An estimate of new findings per CPU second. It has no unit: it is only compared between candidates.

        It is the novelty of the graph's features, times the share of lanes that its case is likely to pass, times the
        square root of the mean yield of its dtypes, divided by the expected CPU seconds. Without the square root,
        almost no test of the first hours would use float32 alone."""
        novelty = sum(_weight(name) / (1 + self.counts[name]) ** 2 for name in dict.fromkeys(of_case(graph)))
        typed, ops = typed_operators(graph), frozenset(graph.ops)
        passing = sum(
            share * self.failure_rates.passable(route, typed)
            for route, share in ROUTE_SHARES[graph.dialect].items()
            if supports(route, ops)
        )
        mean_yield = sum(self.yields.get(each.dtype, OTHER_YIELD) for each in typed) / max(1, len(typed))
        seconds = TEST_SECONDS + NODE_SECONDS * len(graph.nodes) + LANES_SECONDS * passing
        return math.sqrt(mean_yield) * novelty * passing / seconds

    def learn(self, index: int, case: Case, outcomes: Outcomes, found: Sequence[Finding], seconds: float = 0.0) -> None:
        """Take in the results of a finished test, and the CPU seconds that it took."""
        of_the_case, typed = frozenset(of_case(case.graph)), typed_operators(case.graph)
        configurations = self.settings.lanes.configurations
        configured = configurations.features(index, outcomes) if configurations else frozenset[str]()
        observed = of_the_case | features_of(outcomes, found) | configured
        new = self.chooser.learn(case, found)
        self.shares.spend(case.graph.dialect, seconds, new)
        compiled = self.chooser.changed()
        with self._lock:
            self.configured.update(configured)
            self._observed.update(observed)
            self._observed.update(compiled)
            for name in (*observed, *compiled):
                self._first.setdefault(name, index)
            for name in of_the_case:
                self.counts.add(name)
            self.failure_rates.learn(typed, ended_well(outcomes, found))

    @property
    def covered_rows(self) -> frozenset[str]:
        """The features of the configurations that tests have compiled."""
        with self._lock:
            return frozenset(self.configured)

    def recall(self, observed: Observations) -> None:
        """Take in what earlier runs observed."""
        for name, tests in observed.features.items():
            if is_of_case(name):
                self.counts.add(name, tests)
            elif name.startswith(FEATURE):
                self.configured.add(name)
        self.failure_rates.recall(observed.failure_rates)
        self.chooser.recall(observed.features)

    def changed(self) -> Observations:
        """What was observed since the last call."""
        with self._lock:
            observed, self._observed = self._observed, Counter()
            first, self._first = self._first, {}
            return Observations(observed, first, self.failure_rates.changed())


def _weight(feature: str) -> float:
    """A combination of operator, dtype and rank counts more than the other features of a case."""
    return 1.0 if feature.startswith("op ") else 0.3
