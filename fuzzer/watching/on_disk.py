"""Reads the folder of a campaign, whether it runs or not: its counters and findings. The counters include those of all
campaigns that were merged into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.presence import why_no_index
from fuzzer.campaign.store.state import State
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from generators.graph import Invalid

Origin = tuple[str, int, int]
"""Name, seed and number of tests of a campaign."""


@dataclass(frozen=True, slots=True)
class CampaignCounters:
    """The counters of a campaign, and of all campaigns that were merged into it.

    own     the state of the campaign itself
    total   the counters of all of them together
    found   by signature, the number of tests that met a finding, in all of them
    known   by name, the number of tests that met known behaviour, in all of them
    last    by signature, the Unix time at which a test of any of them was last counted for a finding
    merged  the campaigns that were merged into it, the largest first
    """

    own: State
    total: Counters
    found: dict[str, int]
    known: dict[str, int]
    last: dict[str, int]
    merged: Sequence[Origin]

    @property
    def campaigns(self) -> int:
        """How many campaigns `total` counts."""
        return len(self.merged) + (self.own.counters.tests > 0 or not self.merged)


def check(folder: Path) -> None:
    """Raise `Invalid` where there is no index, and campaign.json cannot be read."""
    if not (folder / index.NAME).exists():
        state.read(folder)


def opened(folder: Path) -> Index:
    """Open the index for reading. Raise `Invalid` where there is no campaign, or where it is damaged."""
    check(folder)
    if not (folder / index.NAME).exists():
        raise Invalid(why_no_index(folder))
    return Index(folder, writes=False)


def counters_of(read: Index) -> CampaignCounters:
    """The counters in an index. Raise `Invalid` where it has none, because its campaign was killed before the first
    commit."""
    own = read.state()
    if own is None:
        folder = read.path.parent
        raise Invalid(f"{read.path}: it has no counters yet; `fuzz run --campaign {quote(str(folder))}` writes them")
    query = (
        "SELECT kind, name, CAST(total(tests) AS INTEGER), max(tests) FROM counts GROUP BY 1, 2"  # sum() may overflow
    )
    counted = read.rows(tuple[str, str, int, int], query)
    found, known = ({name: n for kind, name, n, _ in counted if kind == wanted} for wanted in ("finding", "known"))
    last = {name: latest for kind, name, _, latest in counted if kind == "last"}
    merged = [(name, seed, counters.tests) for name, seed, counters in read.origins()[1:]]
    return CampaignCounters(own, read.totals(), found, known, last, sorted(merged, key=lambda origin: -origin[2]))


def counted_in(folder: Path) -> State:
    """The counters of a campaign, with those of all campaigns that were merged into it.

    Without an index, those of campaign.json, which has none of merged campaigns. Without both, empty ones. Raise
    `Invalid` where a file cannot be read."""
    if (folder / index.NAME).exists():
        with opened(folder) as read:
            if read.state() is not None:
                counted = counters_of(read)
                sums = counted.total, counted.found, counted.known
                return State(counted.own.seed, 0, *sums, last=counted.last)
    return state.read(folder) or State(0)


def findings_of(folder: Path) -> tuple[list[tuple[Path, FindingDoc]], list[str]]:
    """The findings with their folders, sorted by name; and one line for each that cannot be read."""
    docs, unreadable = [], []
    for path in finding_file.folders_in(folder / "crashes"):
        try:
            docs.append((path, finding_file.read(path)))
        except Invalid as error:
            unreadable.append(str(error))
    return docs, unreadable
