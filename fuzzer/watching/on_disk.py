"""Reads the folder of a campaign, whether it runs or not: its counters and findings. The counters include those of all
campaigns that were merged into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign import index, state
from fuzzer.campaign.counters import Counters
from fuzzer.campaign.index import Index
from fuzzer.campaign.lock import why_no_index
from fuzzer.campaign.state import State
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from generators.graph import Invalid

Origin = tuple[str, int, int]
"""Name, seed and number of tests of a campaign."""


@dataclass(frozen=True, slots=True)
class CampaignCounters:
    """`own` are the campaign's, `total` those of all; so are `seen` and `known`: how many tests met a finding, by
    signature, and known behaviour, by name. `merged` are those that were merged into it, the largest first."""

    own: State
    total: Counters
    seen: dict[str, int]
    known: dict[str, int]
    merged: Sequence[Origin]

    @property
    def campaigns(self) -> int:
        """That `total` is of."""
        return len(self.merged) + (self.own.counters.tests > 0 or not self.merged)


def check(folder: Path) -> None:
    """Raises `Invalid` where there is no index, and campaign.json cannot be read either."""
    if not (folder / index.NAME).exists():
        state.read(folder)


def opened(folder: Path) -> Index:
    """For reading. Raises `Invalid` where there is no campaign, or a damaged one."""
    check(folder)
    if not (folder / index.NAME).exists():
        raise Invalid(why_no_index(folder))
    return Index(folder, writes=False)


def counters_of(read: Index) -> CampaignCounters:
    """Raises `Invalid` where the index has none: its campaign was killed before they were written."""
    own = read.state()
    if own is None:
        folder = read.path.parent
        raise Invalid(f"{read.path}: it has no counters yet; `fuzz run --campaign {folder}` writes them")
    counted = read.rows("SELECT kind, name, sum(tests) FROM counts GROUP BY 1, 2")
    seen, known = (
        {str(name): tests for kind, name, tests in counted if kind == wanted} for wanted in ("finding", "known")
    )
    merged = [(name, seed, counters.tests) for name, seed, counters in read.origins()[1:]]
    return CampaignCounters(own, read.totals(), seen, known, sorted(merged, key=lambda origin: -origin[2]))


def counted_in(folder: Path) -> State:
    """What a campaign counted, with all that were merged into it; without an index, which alone has theirs, what
    campaign.json says; nothing where nothing was written yet. Raises `Invalid` where what is there cannot be read."""
    if (folder / index.NAME).exists():
        with opened(folder) as read:
            if read.state() is not None:
                counted = counters_of(read)
                return State(counted.own.seed, counters=counted.total, seen=counted.seen, known=counted.known)
    return state.read(folder) or State(0)


def findings_of(folder: Path) -> tuple[list[tuple[Path, FindingDoc]], list[str]]:
    """With their folders, in the order of names; and why others cannot be read, a line for each."""
    docs, unreadable = [], []
    for path in sorted((folder / "crashes").glob(f"*/{finding_file.NAME}")):
        try:
            docs.append((path.parent, finding_file.read(path.parent)))
        except Invalid as error:
            unreadable.append(str(error))
    return docs, unreadable
