"""What the dashboard shows of a campaign, gathered from its folder; the campaign may be running. The size
of the data is bounded."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fuzzer.campaign.store import lock
from fuzzer.campaign.store.layout import WAITING
from fuzzer.dashboard.finding_rows import FamilyRow, FindingContext, FindingRow, rows
from fuzzer.filing.ledger import LedgerEntry
from fuzzer.lanes import TORCH
from fuzzer.system.machine_paths import with_general_home
from fuzzer.watching.cause_lines import confirmed_line, provisional_line
from fuzzer.watching.cause_rows import CauseRows, rows_of
from fuzzer.watching.causes import Causes, causes_in
from fuzzer.watching.health import LaneHealth, lanes_health
from fuzzer.watching.on_disk import Origin, counters_of, opened
from fuzzer.watching.titles import Titles

CURVE_POINTS = 300
UNREADABLE = 20
ORIGINS = 10


@dataclass(frozen=True, slots=True)
class Support:
    """Outcomes by operator and lane. `cells` has for each operator, in the order of `lanes`, the number of outcomes and
    the number of results among them; (0, 0) if it was never tried."""

    lanes: Sequence[str]
    cells: Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class DashboardData:
    """`made` is in Unix's seconds; `curve` has rows of (seconds, tests, lane results, features, findings, CPU seconds);
    `unreadable` says of some folders why they are no findings. `crashes` is their folder, as a shell takes it.
    `families` has what the last run found first, and in each group the worst; `findings` are their members in the same
    order. `tvm` is the version in which the latest of them was found; "" where there is none. `counts` are the lines
    that count causes.

    Books and support are of all `campaigns` together, curve and lanes of this one's own tests; `origins` are the
    largest of those that were merged into it."""

    made: float
    tvm: str
    counts: Sequence[str]
    campaign: str
    folder: str
    crashes: str
    holder: int | None
    seed: int
    tests: int
    lane_results: int
    triage_lane_results: int
    causes: CauseRows
    waiting: int
    other_waiting: int
    parked: int
    triage_used: float
    cpu_seconds: float
    wall_seconds: float
    features: int
    stage_cpu: Mapping[str, float]
    curve: Sequence[Sequence[int]]
    lanes: Sequence[LaneHealth]
    failing: Sequence[str]
    support: Support
    releases: Sequence[str]
    families: Sequence[FamilyRow]
    findings: Sequence[FindingRow]
    unreadable: Sequence[str]
    campaigns: int
    origins: Sequence[Origin]
    more_origins: int


def gather(folder: Path, filed: Mapping[str, LedgerEntry] = MappingProxyType({})) -> DashboardData:
    """Read a campaign. `filed` has the filed issues by the signature of their finding. Raise `Invalid` if there is no
    campaign."""
    with opened(folder) as read_only:
        statistics, lanes = counters_of(read_only), lanes_health(read_only)
        features, curve, operators = read_only.features, read_only.progress(CURVE_POINTS), read_only.operators()
    counters = statistics.total
    causes = causes_in(folder)
    context = FindingContext(statistics.found, filed, Titles())
    families, found, more_unreadable = rows(causes, context)
    unreadable = [with_general_home(why) for why in (*causes.unreadable, *more_unreadable)][:UNREADABLE]
    if not statistics.merged:  # as of now, as the tiles are: the index has a point every half minute
        findings = sum(1 + len(row.duplicates) for row in found)
        now = counters.tests, counters.lane_results, features, findings, round(counters.cpu_seconds)
        curve = [*(point for point in curve if point[0] < counters.wall_seconds), (round(counters.wall_seconds), *now)]
    return DashboardData(
        made=time.time(),
        tvm=_tvm(causes),
        counts=[confirmed_line(causes.counts), provisional_line(causes.counts.provisional, causes.counts.sightings)],
        campaign=folder.resolve().name,
        folder=with_general_home(str(folder)),
        crashes=_for_shell(folder / "crashes"),
        holder=lock.holder(folder),
        seed=statistics.own.seed,
        tests=counters.tests,
        lane_results=counters.lane_results,
        triage_lane_results=counters.triage_lane_results,
        causes=rows_of(causes, lambda name: f"fuzz --replay {_for_shell(folder / WAITING)}/{shlex.quote(name)}"),
        waiting=causes.counts.waiting,
        other_waiting=causes.counts.other_waiting,
        parked=causes.parked,
        triage_used=counters.triage_used,
        cpu_seconds=counters.cpu_seconds,
        wall_seconds=counters.wall_seconds,
        features=features,
        stage_cpu=counters.stage_cpu,
        curve=curve,
        lanes=lanes,
        failing=[lane.lane for lane in lanes if lane.fails],
        support=support(operators),
        releases=list(dict.fromkeys(release for row in found for release, _ in row.releases)),
        families=families,
        findings=found,
        unreadable=unreadable,
        campaigns=statistics.campaigns,
        origins=statistics.merged[:ORIGINS],
        more_origins=max(0, len(statistics.merged) - ORIGINS),
    )


def _tvm(causes: Causes) -> str:
    """The version of TVM in which the latest finding or sighting was seen, without findings that ship with difftvm."""
    docs = [each.doc for family in causes.families for each in family.members]
    own = [doc for doc in docs if doc.slug not in causes.shipped] + [cause.lead for cause in causes.provisional]
    latest = max(own or docs, key=lambda doc: doc.found, default=None)
    return latest.versions.get("tvm", "") if latest else ""


def _for_shell(path: Path) -> str:
    """The path as a shell takes it. The page may be shared, so it does not name the home folder."""
    begin, home, rest = with_general_home(str(path)).rpartition("~/")
    return f"~/{shlex.quote(rest)}" if home and not begin else shlex.quote(str(path))


def support(counted: Sequence[tuple[str, str, str, int]]) -> Support:
    """Count outcomes of lanes other than PyTorch's. Skipped lanes are not counted."""
    totals: Counter[tuple[str, str]] = Counter()
    results: Counter[tuple[str, str]] = Counter()
    for op, lane, how, count in counted:
        if how != "skipped" and not lane.startswith(TORCH.name):
            totals[op, lane] += count
            results[op, lane] += count * (how in ("ran", "built"))
    of_lane: Counter[str] = Counter()
    for (_, lane), count in totals.items():
        of_lane[lane] += count
    lanes = [lane for lane, _ in of_lane.most_common()]
    ops = sorted({op for op, _ in totals})
    return Support(lanes, {op: [(totals[op, lane], results[op, lane]) for lane in lanes] for op in ops})
