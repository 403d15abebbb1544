"""The data of `fuzz status`, read from the disk, whether the campaign runs or not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from fuzzer.campaign.plan import aim
from fuzzer.campaign.store import filing_progress, lock
from fuzzer.watching.cause_lines import replay
from fuzzer.watching.cause_rows import CauseRows, rows_of
from fuzzer.watching.causes import Causes
from fuzzer.watching.finding_summary import DAY, by_component, found_at, kinds_of
from fuzzer.watching.health import failing, lanes_health
from fuzzer.watching.on_disk import counters_of, findings_of, opened
from fuzzer.watching.resources import resources

RATE_SECONDS = 600
"""Rates are computed over the last ten minutes of the campaign's run time."""

CURVE = 40


class Status(msgspec.Struct, rename={"found": "seen"}):
    """A campaign as `fuzz status` prints it, with the field names of earlier versions.

    holder     the process that runs it; None where it does not run
    own_tests  tests of the campaign itself, without merged campaigns
    campaigns  how many campaigns `books`, `found` and `known` count: this one and those that were merged into it
    causes     what was seen, as causes: confirmed ones by severity, then those that are not confirmed yet
    findings   by component, all findings that are saved, also those that `fuzz triage` only counts
    waiting    sightings in TVM that wait for triage; `other_waiting` are those of other components
    parked     sightings whose triage failed several times
    today      findings of the last 24 hours
    latest     the latest finding, without those that ship with difftvm; `latest_at` is when it was found, as Unix time
    aim        what the last run was aimed at, in words; empty where it had no aim
    filing     why findings wait to be filed by `--auto-file`; empty where none does
    unreadable  for each finding that cannot be read, the reason
    found      by signature, tests that met a finding; `known` counts known behaviour by name
    lanes      how often each lane ended in each way, in the newest tests of this campaign
    failing    lanes that suddenly give far fewer results
    memory     bytes
    curve      rows of (seconds, tests, lane results, features, findings, CPU seconds) of this campaign
    origins    (name, seed, tests) of the campaigns that were merged into it, the largest first
    """

    campaign: str
    holder: int | None
    seed: int
    next_test: int
    own_tests: int
    campaigns: int
    books: dict[str, Any]
    causes: CauseRows
    findings: dict[str, int]
    waiting: int
    other_waiting: int
    parked: int
    flaky: int
    today: int
    latest: str
    latest_at: float
    aim: str
    filing: str
    unreadable: list[str]
    found: dict[str, int]
    known: dict[str, int]
    lanes: dict[str, dict[str, int]]
    failing: list[str]
    features: int
    tests_per_second: float
    lane_results_per_second: float
    memory: dict[str, int]
    curve: list[tuple[int, ...]]
    origins: list[tuple[str, int, int]]


def status_of(campaign: Path, causes: Causes) -> Status:
    """Read the status of a campaign, whose causes are given. Raise `Invalid` where there is none."""
    with opened(campaign) as read:
        books, lanes = counters_of(read), lanes_health(read)
        aimed_at = aim.read(campaign)
        rows = read.rows(tuple[str], "SELECT name FROM features WHERE name LIKE ?", f"{aim.FEATURE} %")
        features, curve, recent = read.features, read.progress(CURVE), read.progress()[-RATE_SECONDS // 30 :]
    counts, holder = causes.counts, lock.holder(campaign)
    docs = [doc for _, doc in findings_of(campaign)[0]]
    found = found_at(doc for doc in docs if doc.slug not in causes.shipped)
    latest, now = max(found, key=found.__getitem__, default=""), time.time()
    used = resources(campaign, holder) if holder else None
    return Status(
        str(campaign),
        holder,
        books.own.seed,
        books.own.next_test,
        books.own.counters.tests,
        books.campaigns,
        dict(books.total.summary()),
        rows_of(causes, partial(replay, campaign)),
        by_component(kinds_of(docs)),
        counts.waiting,
        counts.other_waiting,
        counts.parked,
        sum(doc.flaky for doc in docs),
        sum(-1 < now - at < DAY for at in found.values()),  # the clock may have been set back since
        latest,
        found.get(latest, 0.0),
        aimed_at.line([name for (name,) in rows]),
        filing_progress.read(campaign).line(),
        list(causes.unreadable),
        books.found,
        books.known,
        {lane.lane: dict(Counter(lane.recent) + Counter(lane.earlier)) for lane in lanes},
        failing(lanes),
        features,
        *_rates(recent),
        {"supervisor": used.supervisor, "children": used.children, "free": used.free} if used else {},
        curve,
        list(books.merged),
    )


def _rates(curve: Sequence[tuple[int, ...]]) -> tuple[float, float]:
    """Tests and lane results per second of wall clock."""
    if len(curve) < 2:
        return 0.0, 0.0
    (then, tests_then, results_then, *_), (now, tests, results, *_) = curve[0], curve[-1]
    return (tests - tests_then) / (now - then), (results - results_then) / (now - then)
