"""`fuzz status` and `fuzz merge`: campaigns as they are on disk, running or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import index
from fuzzer.campaign import merge as merging
from fuzzer.campaign import store as stored
from fuzzer.campaign.index import Index
from fuzzer.report import finding_file
from fuzzer.report.finding_file import FindingDoc
from generators.graph import Invalid

NEWEST = 500
"""The health of lanes is that of so many tests."""

CampaignFolder = Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


class Status(msgspec.Struct):
    """A campaign at a glance. `holder` is the process that runs it; `origins` are the campaigns that were merged into
    it, with their seeds and numbers of tests; `lanes` counts how each came out in the newest tests."""

    campaign: str
    holder: int | None
    seed: int
    next_test: int
    books: dict[str, object]
    findings: dict[str, int]
    flaky: int
    latest: str
    seen: dict[str, int]
    known: dict[str, int]
    lanes: dict[str, dict[str, int]]
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
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        print(*_lines(found), sep="\n")


def status_of(campaign: Path) -> Status:
    """Raises `Invalid` where there is no campaign."""
    if not (campaign / index.NAME).exists():
        raise Invalid(f"{campaign}: no campaign with an index; `fuzz run --campaign {campaign}` starts one")
    with Index(campaign, writes=False) as read:
        state, origins, lanes = read.state(), read.origins(), read.health(NEWEST)
    assert state is not None, "an index is written with its own books first"
    paths = sorted((campaign / "crashes").glob(f"*/{finding_file.NAME}"), key=lambda path: path.stat().st_mtime)
    docs = [finding_file.read(path.parent) for path in paths]
    return Status(
        str(campaign),
        stored.holder(campaign),
        state.seed,
        state.next_test,
        dict(state.tally.summary()),
        _by_component(docs),
        sum(doc.flaky for doc in docs),
        docs[-1].slug if docs else "",
        state.seen,
        state.known,
        lanes,
        [(name, seed, tally.tests) for name, seed, tally in origins[1:]],
    )


def _by_component(docs: list[FindingDoc]) -> dict[str, int]:
    return dict(Counter(str(doc.component) for doc in docs).most_common())


def _lines(found: Status) -> Iterator[str]:
    who = f"process {found.holder} runs it" if found.holder else "nobody runs it"
    yield f"{found.campaign}: seed {found.seed}, {found.next_test} tests done, {who}"
    listed = ", ".join(f"{count} {component}" for component, count in found.findings.items()) or "none yet"
    yield f"findings: {listed}; {found.flaky} flaky; latest: {found.latest or 'none'}"
    if found.known:
        yield f"known behaviour met in {sum(found.known.values())} tests"
    for name, seed, tests in found.origins:
        yield f"merged: {tests} tests of seed {seed} ({name[:12]})"
    for lane, counted in sorted(found.lanes.items()):
        yield f"  {lane:24} " + ", ".join(f"{count} {how}" for how, count in sorted(counted.items()))
    yield f"next: fuzz triage --campaign {found.campaign}"


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Campaigns, perhaps of other machines.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The campaign that takes all; made if needed.")],
    json: JsonFlag = False,
) -> None:
    """Bring the findings and the books of several campaigns into one. Doing it again changes nothing."""
    done = merging.merge(sources, into)
    if json:
        rows = [{**msgspec.structs.asdict(each), "source": str(each.source)} for each in done]
        print(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for each in done:
        print(f"{each.source}: {each.tests} tests and {each.new} findings are new, {each.known} findings were there")
    print(f"next: fuzz status --campaign {into}")
