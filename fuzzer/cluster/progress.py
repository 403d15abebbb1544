"""How far all nodes have come, as one plain line now and then: like a campaign's (`fuzzer.watching.panel`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuzzer.campaign.store import Store
from fuzzer.watching.formatting import duration, number_of
from fuzzer.watching.snapshot import Rates

LINE_SECONDS = 10.0


@dataclass(slots=True)
class Progress:
    """Counts are those of the books that nodes sent last: a node's newest tests are not among them yet."""

    store: Store
    began: float
    _rates: Rates = field(default_factory=Rates)
    _due: float = field(init=False)

    def __post_init__(self) -> None:
        self._due = self.began + LINE_SECONDS
        self._rates.of(self.began, self._counters()[0])

    def line(self, now: float, new: int, heard: int, nodes: int) -> str | None:
        """None where it is too early for another one. `new`: findings of this run; `heard`: of how many of the nodes
        something was heard in the last minute."""
        if now < self._due:
            return None
        self._due = now + LINE_SECONDS
        tests, lane_results = self._counters()
        words = [
            duration(now - self.began),
            number_of(tests, "test"),
            f"{self._rates.of(now, tests)[0]:.2f}/s",
            number_of(lane_results, "lane result"),
            f"{number_of(new, 'new finding')}, {len(self.store.findings)} in all",
            f"{heard} of {nodes} nodes heard of",
        ]
        return "  ".join(words)

    def _counters(self) -> tuple[int, int]:
        books = self.store.ask(lambda index: index.totals())
        return books.tests, books.lane_results
