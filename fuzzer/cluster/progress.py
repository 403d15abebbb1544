"""A line every ten seconds that shows how far all nodes have come, in the form of `fuzzer.watching.panel`."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuzzer.campaign.store.store import Store
from fuzzer.watching.formatting import duration, number_of
from fuzzer.watching.held import Rates

LINE_SECONDS = 10.0


@dataclass(slots=True)
class Progress:
    """Makes the lines. The counts are those of the counters that the nodes sent last: they lack the nodes' newest
    tests."""

    store: Store
    began: float
    _rates: Rates = field(default_factory=Rates)
    _due: float = field(init=False)

    def __post_init__(self) -> None:
        self._due = self.began + LINE_SECONDS
        self._rates.of(self.began, self._counters()[0])

    def line(self, now: float, new: int, heard: int, nodes: int) -> str | None:
        """The line; None where the next one is not due. `new`: findings of this run; `heard`: how many of the nodes
        answered in the last minute."""
        if now < self._due:
            return None
        self._due = now + LINE_SECONDS
        tests, lane_results = self._counters()
        parts = [
            duration(now - self.began),
            number_of(tests, "test"),
            f"{self._rates.of(now, tests)[0]:.2f}/s",
            number_of(lane_results, "lane result"),
            number_of(new, "new finding"),
            f"{heard} of {nodes} nodes answered",
        ]
        return "  ".join(parts)

    def _counters(self) -> tuple[int, int]:
        totals = self.store.ask(lambda index: index.totals())
        return totals.tests, totals.lane_results
