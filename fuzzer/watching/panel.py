"""A snapshot as a terminal shows it, in 80 columns and 24 lines or more; and as one plain line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from fuzzer.watching.formatting import could_not_be_done, counted, duration, number_of, shares, size, sparkline
from fuzzer.watching.health import LaneHealth, failing
from fuzzer.watching.snapshot import Snapshot

WIDE = 150
"""From this number of columns on, the lanes are shown beside the rest."""

CURVE = 40
LEAST_LANES = 4

FEWEST = 5
"""From this number of outcomes on, results are shown as "4 of 40". With fewer, the outcomes themselves are listed."""


def line(snapshot: Snapshot) -> str:
    """A line for logs: what this run did, and which lanes fail. Counts are those of this run, except "in all"."""
    words = [
        duration(snapshot.seconds),
        number_of(snapshot.run_tests, "test"),
        f"{snapshot.tests_per_second:.2f}/s",
        number_of(snapshot.run_lane_results, "lane result"),
        f"{number_of(snapshot.new, 'new finding')}, {snapshot.all_findings} in all",
        f"{snapshot.waiting} waiting",
        f"supervisor {size(snapshot.resources.supervisor)}",
    ]
    bad = failing(snapshot.lanes)
    if bad:
        words.append(f"LANES FAIL: {', '.join(bad)}")
    return "  ".join(words)


class Panel:
    """A snapshot as a table that fits the size of the terminal."""

    def __init__(self, snapshot: Snapshot, monotonic: float) -> None:
        self._snapshot, self._monotonic = snapshot, monotonic

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, console.height
        facts = _table(list(_facts(self._snapshot, self._monotonic)))
        if width >= WIDE:
            both = Table.grid(padding=(0, 4))
            both.add_row(facts, _lanes(self._snapshot.lanes, height - 4))
            body: RenderableType = both
        else:
            facts_lines = len(console.render_lines(facts, options.update(width=width)))
            lanes = _lanes(self._snapshot.lanes, height - facts_lines - 5)
            body = Group(facts, Text(), lanes) if self._snapshot.lanes else facts
        where = f"  seed {self._snapshot.seed}  process {self._snapshot.pid}  {self._snapshot.folder}"
        yield Text.assemble(("difftvm", "bold"), where, no_wrap=True, overflow="ellipsis")
        yield body


def _facts(snapshot: Snapshot, monotonic: float) -> Iterator[tuple[str, Text]]:
    yield (
        "time",
        Text(
            f"{_time_of_run(snapshot)}; {duration(snapshot.wall_seconds)} in all; "
            f"supervisor {snapshot.supervisor_share:.1%} CPU"
        ),
    )
    overall = snapshot.run_tests / max(snapshot.seconds, 1e-9)
    yield (
        "tests",
        Text(
            f"{snapshot.tests:,}, {snapshot.tests_per_second:.2f}/s ({overall:.2f}/s in this run), "
            f"{snapshot.invalid} invalid, next {snapshot.next_test}"
        ),
    )
    if snapshot.aim:
        yield "aim", Text(snapshot.aim)
    if snapshot.errors:
        yield "", Text(could_not_be_done(snapshot.errors), "bold red")
    yield (
        "lane results",
        Text(
            f"{snapshot.lane_results:,} in tests, {snapshot.triage_lane_results:,} in triage, "
            f"{snapshot.lane_results_per_second:.1f}/s"
        ),
    )
    yield "findings", Text(f"{snapshot.all_findings}: {counted(snapshot.by_component) or 'none yet'}")
    yield (
        "",
        Text(
            f"{snapshot.new} new in this run, {snapshot.today} in 24 h, {snapshot.flaky} flaky; "
            f"known ones met {snapshot.known:,} times"
        ),
    )
    parked = f", {snapshot.parked} parked" if snapshot.parked else ""
    yield (
        "triage",
        Text(
            f"{number_of(snapshot.waiting, 'sighting')} waiting{parked}; "
            f"share {snapshot.triage_share:.0%}, {snapshot.triage_used:.0%} used"
        ),
    )
    if snapshot.last_found is not None:
        ago = duration(max(0.0, snapshot.now - snapshot.last_found))
        yield "last", Text(f"{ago} ago: {snapshot.last}", no_wrap=True, overflow="ellipsis")
    for name, column, now in (("findings", 4, snapshot.all_findings), ("features", 3, snapshot.features)):
        values = [*(point[column] for point in snapshot.curve), now]
        if any(values):
            yield f"  {name}", Text(f"{sparkline(_spread(values, CURVE), CURVE)} {now:,}", no_wrap=True)
    yield "time goes to", Text(shares(snapshot.stage_cpu, 5) or "nothing yet")
    used = snapshot.resources
    yield (
        "memory",
        Text(
            f"{size(used.supervisor)} here, {size(used.children)} in {used.processes} children; "
            f"free {size(used.free)}, disk {size(used.disk)}"
        ),
    )
    at = [f"{each.what} for {duration(monotonic - each.since)}" for each in snapshot.tasks]
    if idle := snapshot.workers - len(snapshot.tasks):
        at.insert(0, f"{idle} of {snapshot.workers} idle")
    yield "workers", Text("; ".join(at), "bold red" if idle else "")


def _time_of_run(snapshot: Snapshot) -> str:
    """At its limit a run starts no more tests. Triage goes on while something waits, and then what is under way is
    finished."""
    if snapshot.limit is None:
        return duration(snapshot.seconds)
    limit, late = duration(snapshot.limit), snapshot.seconds - snapshot.limit
    if late < 0:
        return f"{duration(snapshot.seconds)} of {limit}"
    if snapshot.waiting and late < snapshot.drain:
        left = "" if math.isinf(snapshot.drain) else f" for up to {duration(snapshot.drain - late)}"
        return f"{limit} are over; triage goes on{left}"
    return f"{limit} are over; finishing what is under way{f' for {duration(late)}' if late >= 1 else ''}"


def _spread(values: Sequence[int], width: int) -> list[int]:
    """At most `width` of the values, at equal distances. The last value is always included."""
    if len(values) <= width:
        return list(values)
    return [values[(index + 1) * len(values) // width - 1] for index in range(width)]


def _table(rows: Sequence[tuple[str, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, text)
    return table


def _lanes(lanes: Sequence[LaneHealth], height: int) -> Table:
    """The first lanes, as many as fit into `height` lines. Failing lanes come first and are marked."""
    shown = lanes[: max(height, LEAST_LANES)]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    if shown:
        table.add_row(Text("lanes, newest outcomes", "bold"), Text("results", "bold"), Text("before", "bold"), Text())
    for lane in shown:
        style = "bold red" if lane.fails else ""
        others = {how: n for how, n in lane.recent.items() if how not in ("ran", "built")}
        table.add_row(
            Text(f"{'!!' if lane.fails else '  '} {lane.lane}", style),
            Text(f"{lane.results} of {lane.outcomes}" if lane.outcomes >= FEWEST else "", style),
            Text("" if lane.before is None else f"{lane.before:.0%}"),
            Text(counted(lane.recent if lane.outcomes < FEWEST else others)),
        )
    if len(lanes) > len(shown):
        table.add_row(Text(f"   and {len(lanes) - len(shown)} more", "dim"))
    return table
