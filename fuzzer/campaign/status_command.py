"""`fuzz status` and `fuzz merge`: campaigns as they are on disk, running or not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import lock
from fuzzer.campaign import merge as merging
from fuzzer.campaign import store as stored
from fuzzer.options import JsonFlag
from fuzzer.terminal import next_line, print_json
from fuzzer.watching.glance import DAY, by_component, found_at, kinds_of
from fuzzer.watching.health import failing, lanes_health
from fuzzer.watching.on_disk import books_of, findings_of, opened
from fuzzer.watching.resources import resources
from fuzzer.watching.words import could_not_be_done, counted, duration, number_of, shares, size, sparkline

RATE_SECONDS = 600
"""Rates are those of the last ten minutes of its clock."""

CURVE = 40
LANES_SHOWN = 16
ORIGINS_SHOWN = 10

CampaignFolder = Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")]


class Status(msgspec.Struct):
    """A campaign at a glance. `holder` is the process that runs it; `origins` are the campaigns that were merged into
    it, with their seeds and numbers of tests, the largest first; `books`, `seen` and `known` are of all `campaigns`
    together, `next_test`, `own_tests`, rates, curve and lanes of the campaign's own tests. `lanes` counts how each came
    out in the newest tests, and those that suddenly give far fewer results are `failing`. `today` are the findings of
    the last 24 hours; `unreadable` says why folders are none; `latest_at` is in Unix's seconds; `memory` is in bytes;
    `curve` has rows of (seconds, tests, lane results, features, findings, CPU seconds)."""

    campaign: str
    holder: int | None
    seed: int
    next_test: int
    own_tests: int
    campaigns: int
    books: dict[str, object]
    findings: dict[str, int]
    flaky: int
    today: int
    latest: str
    latest_at: float
    unreadable: list[str]
    seen: dict[str, int]
    known: dict[str, int]
    lanes: dict[str, dict[str, int]]
    failing: list[str]
    features: int
    tests_per_second: float
    lane_results_per_second: float
    memory: dict[str, int]
    curve: list[tuple[int, ...]]
    origins: list[tuple[str, int, int]]


def status(
    campaign: CampaignFolder = Path("."),
    repair: Annotated[bool, typer.Option("--repair", help="Make the index agree with the files.")] = False,
    json: JsonFlag = False,
) -> None:
    """Say how a campaign is doing, from any shell. With --repair, rebuild its index; nothing is deleted."""
    if repair:
        kept = stored.repair(campaign)
        typer.echo(f"the index agrees with the files{f'; the damaged one is {kept}' if kept else ''}", err=True)
    found = status_of(campaign)
    if json:
        print_json(found)
    else:
        print(*_lines(found), sep="\n")


def status_of(campaign: Path) -> Status:
    """Raises `Invalid` where there is no campaign."""
    with opened(campaign) as read:
        books, lanes = books_of(read), lanes_health(read)
        features, curve, recent = read.features, read.progress(CURVE), read.progress()[-RATE_SECONDS // 30 :]
    crashes, holder = campaign / "crashes", lock.holder(campaign)
    findings, unreadable = findings_of(campaign)
    docs = [doc for _, doc in findings]
    found = {doc.slug: found_at(crashes, doc.slug) for doc in docs}
    latest = max(found, key=found.__getitem__, default="")
    used = resources(campaign, holder) if holder else None
    return Status(
        str(campaign),
        holder,
        books.own.seed,
        books.own.next_test,
        books.own.tally.tests,
        books.campaigns,
        dict(books.total.summary()),
        by_component(kinds_of(docs)),
        sum(doc.flaky for doc in docs),
        sum(at > time.time() - DAY for at in found.values()),
        latest,
        found.get(latest, 0.0),
        unreadable,
        books.seen,
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


def _lines(found: Status) -> Iterator[str]:
    who = f"process {found.holder} runs it" if found.holder else "nobody runs it"
    own = f"{number_of(found.own_tests, 'test')} done{' here' if found.origins else ''}"
    yield f"{found.campaign}: seed {found.seed}, {own}, {who}"
    books = found.books
    clock = duration(float(str(books["wall_seconds"])))
    together = f" of {found.campaigns} campaigns together" if found.campaigns > 1 else ""
    tests = number_of(int(str(books["tests"])), "test")
    results = number_of(int(str(books["lane_results"])), "lane result")
    yield f"{clock}: {tests}, {results}{together}{_lately(found)}"
    yield f"findings: {counted(found.findings) or 'none yet'}; {found.flaky} flaky; {found.today} in 24 h"
    if found.latest:
        yield f"latest: {found.latest}, {duration(max(0.0, time.time() - found.latest_at))} ago"
    if errors := int(str(books["errors"])):
        yield f"!! {could_not_be_done(errors)}{_kept(Path(found.campaign) / stored.ERRORS)}"
    if found.unreadable:
        yield f"!! {number_of(len(found.unreadable), 'finding')} that cannot be read: {found.unreadable[0]}"
    for name, column, now in (("findings", 4, sum(found.findings.values())), ("features", 3, found.features)):
        values = [*(point[column] for point in found.curve), now]
        if any(values):
            yield f"{name} {sparkline(values, CURVE)} {now}"
    if found.memory:
        yield "memory: " + ", ".join(f"{name} {size(amount)}" for name, amount in found.memory.items())
    if stages := msgspec.convert(books["stage_cpu_seconds"], dict[str, float]):
        yield f"time goes to {shares(stages, 5)}"
    if found.known:
        yield f"known behaviour met in {number_of(sum(found.known.values()), 'test')}"
    for name, seed, count in found.origins[:ORIGINS_SHOWN]:
        yield f"merged: {number_of(count, 'test')} of seed {seed} ({name[:12]})"
    if len(found.origins) > ORIGINS_SHOWN:
        yield f"merged: and {len(found.origins) - ORIGINS_SHOWN} more (--json)"
    for lane, counts in list(found.lanes.items())[:LANES_SHOWN]:
        mark = "!!" if lane in found.failing else "  "
        yield f"{mark} {lane:26} {counted(counts)}"
    if len(found.lanes) > LANES_SHOWN:
        yield f"   and {len(found.lanes) - LANES_SHOWN} lanes more (--json)"
    if found.failing:
        yield "!! these lanes suddenly give far fewer results than before"
    yield next_line("triage", "--campaign", found.campaign)


def _kept(errors: Path) -> str:
    """Merged campaigns keep theirs themselves."""
    return f": {errors}" if errors.exists() else ""


def _lately(found: Status) -> str:
    if not found.tests_per_second:
        return "" if found.origins else "; rates are not known yet"
    lately = "; lately here" if found.origins else "; lately"
    return f"{lately} {found.tests_per_second:.2f} tests and {found.lane_results_per_second:.1f} lane results a second"


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Campaigns, perhaps of other machines.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The campaign that takes all; made if needed.")],
    json: JsonFlag = False,
) -> None:
    """Bring the findings and the books of several campaigns into one. Doing it again changes nothing."""
    done = merging.merge(sources, into)
    if json:
        rows = [{**msgspec.structs.asdict(each), "source": str(each.source)} for each in done]
        print_json(rows)
        return
    for each in done:
        tests, new = number_of(each.tests, "test"), number_of(each.new, "finding")
        print(f"{each.source}: new are {tests} and {new}; {number_of(each.known, 'finding')} known here")
    print(next_line("status", "--campaign", into))
