"""A snapshot as a terminal shows it, in 80 columns and 24 lines or more; and as one plain line.

First comes what the run does, then what fails: lanes, and the causes of what was seen. Numbers come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from fuzzer.campaign.run.phase import Phase
from fuzzer.findings.severity import Level
from fuzzer.watching import lane_lines, phase_lines
from fuzzer.watching.cause_lines import by_level, others_line, provisional_line
from fuzzer.watching.formatting import bar, could_not_be_done, duration, number_of, shares, size, sparkline
from fuzzer.watching.glance import Glance
from fuzzer.watching.health import failing
from fuzzer.watching.snapshot import Snapshot

CURVE, LEAST_CURVE = 40, 4
BAR = 20
MOST_FAILING = 4
"""How many failing lanes are shown."""

INDENT = 11
"""The width of the names of lines."""


def line(snapshot: Snapshot) -> str:
    """A line for logs: the phase, what this run did, and which lanes fail."""
    counts = snapshot.causes.counts
    words = [
        phase_lines.short(snapshot),
        number_of(snapshot.run_tests, "test"),
        "all workers do triage" if snapshot.triage_has_all else f"{snapshot.tests_per_second:.2f}/s",
        number_of(len(snapshot.new), "new finding"),
        f"{number_of(counts.provisional, 'cause')} not confirmed",
        f"supervisor {size(snapshot.resources.supervisor)}",
    ]
    bad = failing(snapshot.lanes)
    if bad:
        words.append(f"LANES FAIL: {', '.join(bad)}")
    return "  ".join(words)


def panel(snapshot: Snapshot, monotonic: float, width: int, height: int) -> list[Text]:
    """A snapshot as lines for a terminal of this size: none is wider, and there is room for the cursor below them."""
    head = [*_of_run(snapshot), *_of_lanes_that_fail(snapshot)]
    foot = list(_of_numbers(snapshot, monotonic))
    room = height - 1 - len(head) - len(foot)
    causes = list(_of_causes(snapshot, room))
    lanes = list(_of_lanes(snapshot, room - len(causes)))
    every = [*head, *causes, *foot, *lanes][: height - 1]
    for text in every:
        text.no_wrap = True
        text.truncate(width, overflow="ellipsis")
    return every


def _of_run(snapshot: Snapshot) -> Iterator[Text]:
    where = f"  {snapshot.folder}  seed {snapshot.seed}  process {snapshot.pid}"
    yield Text.assemble(("difftvm", "bold"), where)
    phase = snapshot.phase
    drawn = "" if phase.part is None else f"{bar(phase.part, BAR)} "
    yield _named(phase.phase, f"{drawn}{phase_lines.how_far(snapshot)}")
    yield _named("", phase_lines.what_next(snapshot))
    if snapshot.aim:
        yield _named("aim", snapshot.aim)
    if snapshot.errors:
        yield _named("", could_not_be_done(snapshot.errors), "bold red")


def _of_lanes_that_fail(snapshot: Snapshot) -> Iterator[Text]:
    every = list(lane_lines.failing_lines(snapshot.lanes))
    yield from (Text(text, "bold red") for text in every[:MOST_FAILING])
    if len(every) > MOST_FAILING:
        yield Text(f"!! and {len(every) - MOST_FAILING} more lanes fail", "bold red")


def _of_causes(snapshot: Snapshot, room: int) -> Iterator[Text]:
    """The causes, with as many of them as there is room for: the new ones of this run first, then the most severe."""
    causes = snapshot.causes
    others, confirmed = others_line(causes.counts), list(_confirmed(causes))
    left = max(0, room - len(confirmed) - bool(causes.counts.provisional) - bool(others))
    waiting = min(len(causes.provisional), max(left - len(causes.confirmed), left // 2))
    yield from confirmed
    for cause in causes.confirmed[: left - waiting]:
        mark = ("new: ", "bold") if cause.is_new else ""
        yield Text.assemble("  ", (f"{cause.level:9}", LOOKS[cause.level]), mark, cause.text)
    if text := provisional_line(causes.counts.provisional, causes.counts.sightings):
        yield Text(text, "bold")
    for one in causes.provisional[:waiting]:
        yield Text(f"  {number_of(one.sightings, 'sighting'):13}{one.text}")
    if others:
        yield Text(others)


def _confirmed(causes: Glance) -> Iterator[Text]:
    counts = causes.counts
    if not counts.confirmed:
        yield Text("no cause is confirmed yet", "bold")
        return
    yield Text(f"{number_of(counts.confirmed, 'confirmed cause')}: {by_level(counts)}", "bold")
    new = f"{number_of(causes.new, 'new finding')} in this run, {counts.findings} in all"
    yield Text(f"  {new}{f'; {counts.shipped} ship with difftvm' if counts.shipped else ''}")


LOOKS = {Level.CRITICAL: "bold red", Level.HIGH: "red", Level.MEDIUM: "", Level.LOW: "dim"}
"""The style of each level of severity."""


def _of_numbers(snapshot: Snapshot, monotonic: float) -> Iterator[Text]:
    rate = f"{snapshot.tests_per_second:.2f}/s"
    if snapshot.triage_has_all:
        rate = "none now: all workers do triage, and tests go on after it"
    invalid = f"; {snapshot.invalid} refused (normal)" if snapshot.invalid else ""
    yield _named("tests", f"{snapshot.run_tests:,} in this run, {snapshot.tests:,} in all; {rate}{invalid}")
    has = f"{snapshot.triage_used:.0%} of the CPU of lanes so far"
    yield _named("triage", f"{has}; it gets {snapshot.triage_share:.0%} while sightings wait")
    at = [f"{each.what} for {duration(monotonic - each.since)}" for each in snapshot.tasks]
    if idle := snapshot.workers - len(snapshot.tasks):
        at.insert(0, f"{idle} of {snapshot.workers} idle")
    yield _named("workers", "; ".join(at), "bold red" if idle and snapshot.phase.phase is Phase.FUZZING else "")
    yield _named("CPU", f"{shares(snapshot.stage_cpu, 4) or 'none yet'}; supervisor {snapshot.supervisor_share:.1%}")
    used = snapshot.resources
    memory = f"{size(used.supervisor)} here, {size(used.children)} in {used.processes} children"
    yield _named("memory", f"{memory}; free {size(used.free)}, disk {size(used.disk)}")
    if summary := lane_lines.summary(lane_lines.newest(snapshot.lanes)):
        yield Text(summary)


def _of_lanes(snapshot: Snapshot, room: int) -> Iterator[Text]:
    """The curve of findings and the lanes with the fewest results, where there is room for them."""
    values = [*(point[4] for point in snapshot.curve), snapshot.all_findings]
    if room > 1 and len(values) >= LEAST_CURVE and any(values):
        yield _named("findings", f"{sparkline(_spread(values, CURVE), CURVE)} over time")
        room -= 1
    if room > len(("lane", "more")):
        yield from (Text(text) for text in lane_lines.lines(lane_lines.newest(snapshot.lanes), room - 1))


def _spread(values: Sequence[int], width: int) -> list[int]:
    """At most `width` of the values, at equal distances. The last value is always included."""
    if len(values) <= width:
        return list(values)
    return [values[(index + 1) * len(values) // width - 1] for index in range(width)]


def _named(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:{INDENT}}", "bold"), (text, style))
