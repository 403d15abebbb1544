"""`fuzz minimize`: reduces a saved finding again, by today's passes, with all cores. The old folder stays as it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.store import Store
from fuzzer.isolate.fleet import Fleet, Lab
from fuzzer.isolate.toolchain import HOST_NAME
from fuzzer.lanes import select
from fuzzer.options import JsonFlag, PreloadFile
from fuzzer.replay import Exit
from fuzzer.report import finding_file
from fuzzer.terminal import next_line, print_json
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.triage.blame.search import blamed
from fuzzer.triage.investigate import Confirmed, Sighting, investigate, sightings
from fuzzer.triage.reproduce import judged_by, judged_run
from fuzzer.triage.size import Size, size_of
from generators import case_file
from generators.graph import Case, Invalid
from oracles import judge_all
from oracles.finding import Finding
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Minimized:
    """`folder` is where it is now; None where it does not show any more, or not each time."""

    kind: str
    lane: str
    before: Size
    after: Size
    ops: tuple[str, ...]
    calls: int
    ahead: int
    steps: tuple[str, ...]
    finished: bool
    again: str
    folder: Path | None


def minimize(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of crashes/, or any with a case.json.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to; `minimized` beside crashes/ if not given.")
    ] = None,
    lanes: Annotated[str, typer.Option(metavar="GLOB", help="Of a bare case: the lanes that may fail.")] = "*",
    toolchain: Annotated[str | None, typer.Option(metavar="NAME", help="Another toolchain than its own.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Candidates at a time.")] = max(1, os.cpu_count() or 1),
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Reduce a finding again, and save it anew: `fuzz minimize crashes/x`. Exit code 78: it does not show each time."""
    wanted = read(source, lanes, toolchain)
    with (
        Store(out or _beside(source), None) as store,
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), finder(preload)) as executor,
    ):
        done = run(executor, store, wanted, workers)
    if json:
        print_json([_document(each) for each in done])
    elif not done:
        print(f"none of the lanes that were asked fails on it; {next_line('lanes')}")
    else:
        print(*(line for each in done for line in lines(each)), sep="\n")
        saved = next((each.folder for each in done if each.folder), None)
        print(next_line("--replay", os.path.relpath(saved or source)))
    raise typer.Exit(Exit.GONE if done and all(each.folder for each in done) else Exit.DIFFERENT)


def _beside(source: Path) -> Path:
    """A campaign's folder of its own: none that runs is disturbed, and all verbs can read what is there."""
    folder = source.resolve().parent
    return (folder.parent if folder.name == "crashes" else folder) / "minimized"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A case, and the failure that was saved with it; of a bare case, the lanes that may fail."""

    case: Case
    saved: Sighting | None
    lanes: tuple[LaneSpec, ...]


def read(source: Path, lanes: str = "*", toolchain: str | None = None) -> Wanted:
    """Raise `Invalid` where the folder holds neither a finding nor a case."""
    if (source / finding_file.NAME).exists():
        doc, case = finding_file.read_with_case(source)
        (lane,) = in_toolchains((doc.lane,), named(toolchain or doc.lane.toolchain)[:1])
        finding = Finding(doc.kind, doc.component, lane, doc.identity.stage, doc.evidence.evidence)
        return Wanted(case, Sighting(doc.identity.coarse, finding, (lane,)), (lane,))
    case = case_file.read(source)
    chosen = select(lanes)
    if not chosen:
        raise Invalid(f"no lane matches {lanes!r}; `fuzz lanes` lists them")
    return Wanted(case, None, in_toolchains(chosen, named(toolchain or HOST_NAME)))


def run(executor: Lab, store: Store, wanted: Wanted, workers: int) -> list[Minimized]:
    """The finding, or all that the lanes show, reduced and saved."""
    seen = [wanted.saved] if wanted.saved else _seen(executor, wanted.case, wanted.lanes)
    return [_minimized(executor, store, wanted.case, sighting, workers) for sighting in seen]


def _seen(executor: Lab, case: Case, lanes: Sequence[LaneSpec]) -> list[Sighting]:
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    found = judge_all(case, judged_run(executor.run_fresh, case, everything).outcomes)
    return sightings(finding for finding in found if finding.lane in lanes)


def _minimized(executor: Lab, store: Store, case: Case, sighting: Sighting, workers: int) -> Minimized:
    found = blamed(executor.run_fresh, investigate(executor.run_fresh, case, sighting, width=workers))
    folder = None
    if not found.flaky:
        doc = store.save(found, sighting, executor.versions) or store.findings.get(found.key)
        folder = store.crashes / doc.slug if doc else None
    return _told(found, case, sighting.finding.lane, folder)


def _told(found: Confirmed, case: Case, lane: LaneSpec, folder: Path | None) -> Minimized:
    reduction = found.reduction
    return Minimized(
        found.signature.kind,
        (reduction.lane if reduction else lane).name,
        size_of(case, lane),
        size_of(found.case, reduction.lane if reduction else lane),
        found.case.graph.ops,
        reduction.calls if reduction else 0,
        reduction.ahead if reduction else 0,
        reduction.steps if reduction else (),
        reduction.finished if reduction else False,
        f"{found.again} of {found.runs}",
        folder,
    )


def _document(each: Minimized) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(each, enc_hook=str)
    return {**plain, "before": each.before._asdict(), "after": each.after._asdict()}


def lines(each: Minimized) -> Sequence[str]:
    if each.folder is None:
        why = "known behaviour" if each.steps or each.calls else "it does not show each time"
        return (f"{each.kind} on {each.lane}: {each.again} runs show it; nothing is saved: {why}",)
    both = zip(Size._fields, each.before, each.after, strict=True)
    smaller = [f"{name} {was} -> {now}" for name, was, now in both if was != now]
    ahead = f", {each.ahead} more ahead of their turn" if each.ahead else ""
    return (
        f"{each.kind} on {each.lane}: {', '.join(each.ops)}; {each.calls} calls{ahead}"
        f"{'' if each.finished else '; the effort ran out'}",
        f"  {', '.join(smaller) or 'as small as it was'}",
        f"  {os.path.relpath(each.folder)}",
    )
