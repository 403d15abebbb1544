"""A glance as a terminal shows it, in 80 columns and 24 lines or more; and as one plain line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from fuzzer.watching.formatting import could_not_be_done, counted, duration, number_of, shares, size, sparkline
from fuzzer.watching.health import LaneHealth, failing
from fuzzer.watching.snapshot import Glance

WIDE = 150
"""Columns from which the lanes stand beside the rest."""

CURVE = 40
LEAST_LANES = 4

FEWEST = 5
"""Outcomes from which results are counted as "4 of 40". Below that, the outcomes themselves are listed."""


def line(glance: Glance) -> str:
    """For logs: what this run did, and what is wrong. Counts are of this run but where they say otherwise."""
    words = [
        duration(glance.seconds),
        number_of(glance.run_tests, "test"),
        f"{glance.tests_per_second:.2f}/s",
        number_of(glance.run_lane_results, "lane result"),
        f"{number_of(glance.new, 'new finding')}, {glance.all_findings} in all",
        f"supervisor {size(glance.resources.supervisor)}",
    ]
    bad = failing(glance.lanes)
    if bad:
        words.append(f"LANES FAIL: {', '.join(bad)}")
    return "  ".join(words)


class Panel:
    """Fits itself into what the terminal has."""

    def __init__(self, glance: Glance, monotonic: float) -> None:
        self._glance, self._monotonic = glance, monotonic

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, console.height
        facts = _table(list(_facts(self._glance, self._monotonic)))
        if width >= WIDE:
            both = Table.grid(padding=(0, 4))
            both.add_row(facts, _lanes(self._glance.lanes, height - 4))
            body: RenderableType = both
        else:
            facts_lines = len(console.render_lines(facts, options.update(width=width)))
            lanes = _lanes(self._glance.lanes, height - facts_lines - 5)
            body = Group(facts, Text(), lanes) if self._glance.lanes else facts
        where = f"  seed {self._glance.seed}  process {self._glance.pid}  {self._glance.folder}"
        yield Text.assemble(("difftvm", "bold"), where, no_wrap=True, overflow="ellipsis")
        yield body


def _facts(glance: Glance, monotonic: float) -> Iterator[tuple[str, Text]]:
    yield (
        "time",
        Text(
            f"{_time_of_run(glance)}; {duration(glance.wall_seconds)} in all; "
            f"supervisor {glance.supervisor_share:.1%} CPU"
        ),
    )
    overall = glance.run_tests / max(glance.seconds, 1e-9)
    yield (
        "tests",
        Text(
            f"{glance.tests:,}, {glance.tests_per_second:.2f}/s ({overall:.2f}/s in this run), "
            f"{glance.invalid} invalid, next {glance.next_test}"
        ),
    )
    if glance.errors:
        yield "", Text(could_not_be_done(glance.errors), "bold red")
    yield (
        "lane results",
        Text(
            f"{glance.lane_results:,} in tests, {glance.triage_lane_results:,} in triage, "
            f"{glance.lane_results_per_second:.1f}/s"
        ),
    )
    yield "findings", Text(f"{glance.all_findings}: {counted(glance.by_component) or 'none yet'}")
    yield (
        "",
        Text(
            f"{glance.new} new in this run, {glance.today} in 24 h, {glance.flaky} flaky; "
            f"known ones met {glance.known:,} times"
        ),
    )
    if glance.last_found is not None:
        ago = duration(max(0.0, glance.now - glance.last_found))
        yield "last", Text(f"{ago} ago: {glance.last}", no_wrap=True, overflow="ellipsis")
    for name, column, now in (("findings", 4, glance.all_findings), ("features", 3, glance.features)):
        values = [*(point[column] for point in glance.curve), now]
        if any(values):
            yield f"  {name}", Text(f"{sparkline(_spread(values, CURVE), CURVE)} {now:,}", no_wrap=True)
    yield "time goes to", Text(shares(glance.stage_cpu, 5) or "nothing yet")
    used = glance.resources
    yield (
        "memory",
        Text(
            f"{size(used.supervisor)} here, {size(used.children)} in {used.processes} children; "
            f"free {size(used.free)}, disk {size(used.disk)}"
        ),
    )
    at = [f"{each.what} for {duration(monotonic - each.since)}" for each in glance.doing]
    if gone := glance.workers - len(glance.doing):
        at.insert(0, f"{gone} of {glance.workers} at rest")
    yield "workers", Text("; ".join(at), "bold red" if gone else "")


def _time_of_run(glance: Glance) -> str:
    """At its limit a run starts no more tests, and finishes those that are under way."""
    if glance.limit is None:
        return duration(glance.seconds)
    limit = duration(glance.limit)
    if glance.seconds < glance.limit:
        return f"{duration(glance.seconds)} of {limit}"
    late = f" for {duration(glance.seconds - glance.limit)}" if glance.seconds - glance.limit >= 1 else ""
    return f"{limit} are over; finishing what is under way{late}"


def _spread(values: Sequence[int], width: int) -> list[int]:
    """At most so many of them, the last one among them."""
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


def _lanes(lanes: Sequence[LaneHealth], room: int) -> Table:
    """The first of them, as many as there is room for; those that fail stand first, and have a mark."""
    shown = lanes[: max(room, LEAST_LANES)]
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
