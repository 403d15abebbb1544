"""A snapshot as a terminal shows it, in 80 columns and 24 lines or more; and as one plain line.

First comes what the run does, then what it has found, then what each worker does now. Numbers come on request. A line
that is wider than the terminal goes on in the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from fuzzer.campaign.run.phase import Phase
from fuzzer.findings.severity import Level
from fuzzer.system.layout import wrapped
from fuzzer.watching import lane_lines, phase_lines
from fuzzer.watching.cause_lines import by_level, known_line, others_line, provisional_line
from fuzzer.watching.causes import CauseCounts
from fuzzer.watching.formatting import bar, could_not_be_done, duration, number_of, shares, size, sparkline
from fuzzer.watching.glance import ConfirmedLine, ProvisionalLine
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


def panel(snapshot: Snapshot, monotonic: float, width: int, height: int, *, stats: bool = False) -> list[Text]:
    """A snapshot as lines for a terminal of this size: none is wider, and there is room for the cursor below them.
    `stats` adds what serves those who develop difftvm: where time and memory go, and how lanes end."""
    head = _fitted([*_of_run(snapshot), *_of_lanes_that_fail(snapshot)], width)
    keys = _named("keys", phase_lines.keys(snapshot), "dim")
    foot = _fitted([*_of_work(snapshot, monotonic), keys, *(_of_numbers(snapshot) if stats else ())], width)
    room = height - 1 - len(head) - len(foot)
    causes = list(_of_causes(snapshot, room, width))
    lanes = _fitted(_of_lanes(snapshot, room - len(causes)), width) if stats else []
    every = [*head, *causes, *foot, *lanes][: height - 1]
    for text in every:
        text.no_wrap = True
        text.truncate(width, overflow="ellipsis")
    return every


def _fitted(texts: Iterable[Text], width: int) -> list[Text]:
    """The texts in lines of at most `width` characters, each wrapped at blanks."""
    return [line for text in texts for line in _pieces(text, width)]


def _pieces(text: Text, width: int) -> Iterator[Text]:
    end = 0
    for piece in wrapped(text.plain, width):
        begin = text.plain.index(piece.lstrip(), end)
        indent = (len(piece) - len(piece.lstrip())) if end else begin
        end = begin + len(piece.lstrip())
        yield Text.assemble(" " * indent, text[begin:end])


def _first(entries: Iterable[list[Text]], room: int) -> Iterator[list[Text]]:
    """The first entries, as many as have room. An entry may have several lines."""
    for entry in entries:
        room -= len(entry)
        if room < 0:
            return
        yield entry


def _of_run(snapshot: Snapshot) -> Iterator[Text]:
    version = f"  TVM {snapshot.tvm}" if snapshot.tvm else ""
    yield Text.assemble(("difftvm", "bold"), (version, "bold"), f"  {snapshot.folder}  seed {snapshot.seed}")
    phase = snapshot.phase
    drawn = "" if phase.part is None else f"{bar(phase.part, BAR)} "
    yield _named(phase.phase, f"{drawn}{phase_lines.how_far(snapshot)}")
    if following := phase_lines.what_next(snapshot):
        yield _named("", following, "dim")
    if snapshot.aim:
        yield _named("aim", snapshot.aim)
    if snapshot.errors:
        yield _named("", could_not_be_done(snapshot.errors), "bold red")


def _of_lanes_that_fail(snapshot: Snapshot) -> Iterator[Text]:
    every = list(lane_lines.failing_lines(snapshot.lanes))
    yield from (Text(text, "bold red") for text in every[:MOST_FAILING])
    if len(every) > MOST_FAILING:
        yield Text(f"!! and {len(every) - MOST_FAILING} more lanes fail", "bold red")


def _of_causes(snapshot: Snapshot, room: int, width: int) -> Iterator[Text]:
    """What this run has found, the latest first, and what was seen and is not confirmed yet; then in a line each what
    was found earlier, what ships with difftvm, and what others are to blame for."""
    causes, counts = snapshot.causes, snapshot.causes.counts
    rest = _fitted(
        (Text(line, "dim") for line in (_earlier(counts), _known(counts), others_line(counts)) if line), width
    )
    new = sorted((cause for cause in causes.confirmed if cause.is_new), key=lambda cause: -cause.found)
    levels = {level: n for level in Level if (n := sum(cause.level is level for cause in new))}
    found = [list(_pieces(_of_confirmed(cause), width)) for cause in new]
    unsure = [list(_pieces(_of_provisional(cause), width)) for cause in causes.provisional]
    left = max(0, room - 1 - bool(counts.provisional) - len(rest))
    waiting = list(_first(unsure, max(left - sum(map(len, found)), left // 2)))
    yield _named("new", by_level(levels) if levels else "nothing is confirmed yet", "bold" if levels else "")
    for entry in _first(found, left - sum(map(len, waiting))):
        yield from entry
    if text := provisional_line(counts.provisional, counts.sightings):
        yield Text(text, "bold")
    for entry in waiting:
        yield from entry
    yield from rest


def _of_confirmed(cause: ConfirmedLine) -> Text:
    return Text.assemble("  ", (f"{cause.level:9}", LOOKS[cause.level]), cause.text)


def _of_provisional(cause: ProvisionalLine) -> Text:
    times = "" if cause.sightings == 1 else f"  (seen {cause.sightings} times)"
    return Text.assemble("  ", cause.text, (times, "dim"))


def _earlier(counts: CauseCounts) -> str:
    earlier = counts.earlier
    return f"found in earlier runs: {by_level(earlier)}" if earlier else ""


def _known(counts: CauseCounts) -> str:
    return known_line(counts) if counts.known else ""


LOOKS = {Level.CRITICAL: "bold red", Level.HIGH: "red", Level.MEDIUM: "", Level.LOW: "dim"}
"""The style of each level of severity."""


def _of_work(snapshot: Snapshot, monotonic: float) -> Iterator[Text]:
    """What each worker does now, and how many tests this run has done."""
    tasks = snapshot.tasks[:MOST_WORKERS]
    for number, each in enumerate(tasks):
        yield _named("" if number else "now", f"{duration(monotonic - each.since)} {each.what}")
    if more := len(snapshot.tasks) - len(tasks):
        yield _named("", f"and {number_of(more, 'worker')} more")
    if idle := snapshot.workers - len(snapshot.tasks):
        is_odd = snapshot.phase.phase is Phase.FUZZING
        yield _named("" if tasks else "now", f"{idle} of {number_of(snapshot.workers, 'worker')} idle", ODD * is_odd)
    rate = f"{snapshot.tests_per_second:.2f}/s"
    if snapshot.triage_has_all:
        rate = "they go on after triage"
    invalid = f"; {snapshot.invalid} refused by PyTorch (normal)" if snapshot.invalid else ""
    yield _named("tests", f"{snapshot.run_tests:,} in this run; {rate}{invalid}")


ODD = "bold red"
"""The style of workers that should not be idle."""

MOST_WORKERS = 4
"""How many workers have a line."""


def _of_numbers(snapshot: Snapshot) -> Iterator[Text]:
    yield _named("campaign", f"{number_of(snapshot.tests, 'test')} in all its runs; process {snapshot.pid}")
    has = f"{snapshot.triage_used:.0%} of the CPU of lanes so far"
    yield _named("triage", f"{has}; it gets {snapshot.triage_share:.0%} while sightings wait")
    yield _named("CPU", f"{shares(snapshot.stage_cpu, 4) or 'none yet'}; supervisor {snapshot.supervisor_share:.1%}")
    used = snapshot.resources
    children = f"{used.processes} child" if used.processes == 1 else f"{used.processes} children"
    memory = f"{size(used.supervisor)} here, {size(used.children)} in {children}"
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
