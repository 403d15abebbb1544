"""`fuzz corpus run`: what has changed since a regression corpus was made?"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.progress import working
from fuzzer.evaluation.founding_cases import NOT_INSTALLED
from fuzzer.isolate.fleet import Fleet
from fuzzer.regression import record
from fuzzer.regression.compare import Change, Changed, expected_ends
from fuzzer.regression.known import ShownFailure, shown_again
from fuzzer.regression.record import Corpus
from fuzzer.regression.recorded_anew import write_anew
from fuzzer.regression.rerun import rerun
from fuzzer.regression.shipped import KEPT
from fuzzer.regression.words import grouped, in_words
from fuzzer.seeds import corpus as seed_corpus
from fuzzer.system import temporary
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, number_of, print_json
from fuzzer.toolchains.lanes import runs_in
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class CorpusRun:
    """A run of a corpus. `worse` are the changes that make it fail. `known` are the known failures that it has shown as
    recorded, and `cpu_seconds` those of difftvm and of all its processes."""

    cases: int
    lanes: int
    changed: list[Changed]
    worse: list[Changed]
    known: list[ShownFailure]
    cpu_seconds: float
    seconds: float


def run(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="A corpus of `fuzz corpus keep`.", show_default="the one of difftvm itself"),
    ] = None,
    toolchain: Annotated[str, typer.Option(metavar="NAME", help="The toolchain to run it in.")] = HOST_NAME,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the cases that end worse to DIR/corpus.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Cases that run at the same time.")] = max(
        1, os.cpu_count() or 1
    ),
    aliasing: Annotated[
        bool, typer.Option("--aliasing", help="An output that shares memory with an input is worse, too.")
    ] = False,
    preload: PreloadFile = None,
    again: Annotated[
        bool, typer.Option("--record", help="Record in DIR how these lanes end now, after you have looked at them.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Run a regression corpus, and say what ends otherwise than recorded.

    Exit code 0 where nothing is worse, 78 where something is. A lane that ends otherwise runs two more times in fresh
    processes, and counts only if all runs agree."""
    if again and folder is None:
        raise Invalid("--record: name the corpus DIR to write into")
    folder = folder or KEPT
    if folder == KEPT and not record.is_corpus(KEPT):
        raise Invalid(NOT_INSTALLED)
    if again and (toolchain != HOST_NAME or preload):
        raise Invalid("--record: a corpus says how lanes end in the host; leave out --toolchain and --preload")
    kept, find = record.read(folder), finder(preload)
    where = find(toolchain)
    began = time.monotonic()
    done: list[Changed] = []
    with Fleet(temporary.new_folder(), find) as fleet:
        with working("running the corpus", lambda: "nothing is saved") as shown:
            for number, changed in enumerate(rerun(fleet, kept, where, workers), 1):
                done += changed
                shown.count(number, f"of {len(kept.entries)} cases")
        versions = fleet.versions
    worse = [each for each in done if each.change.is_for_the_worse(aliasing=aliasing)]
    ran = _summed_up(kept, done, worse, {name for name, lane in kept.lanes.items() if runs_in(lane, where)}, began)
    if save:
        for each in {each.entry.case: each for each in worse}.values():
            seed_corpus.add(save, each.entry.case, kept.cases[each.entry.case])
    anew = write_anew(folder, kept, done, versions) if again else 0
    if json:
        print_json(_document(ran, kept, toolchain, versions))
    else:
        for line in _lines(ran, kept, toolchain):
            echo(line)
        if again:
            echo(f"{folder}: {number_of(anew, 'lane')} recorded anew")
        elif ran.worse:
            echo(_next(folder, save, toolchain, worse[0]))
    raise typer.Exit(Exit.DIFFERENT if ran.worse and not again else Exit.GONE)


def _summed_up(
    kept: Corpus, changed: list[Changed], worse: list[Changed], runnable: set[str], began: float
) -> CorpusRun:
    """`runnable`: the lanes that this toolchain can run. `began`: by the monotonic clock."""
    lanes = sum(len(expected_ends(entry)) for entry in kept.entries)
    known = shown_again(kept, runnable, {(each.entry.case, each.lane) for each in changed})
    return CorpusRun(len(kept.entries), lanes, changed, worse, known, _cpu_seconds(), time.monotonic() - began)


def _cpu_seconds() -> float:
    """What this process has cost, with all that it has waited for."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _lines(ran: CorpusRun, kept: Corpus, toolchain: str) -> Iterator[str]:
    recorded = kept.description.versions.get("tvm", "?")
    yield (
        f"{number_of(ran.cases, 'case')}, {number_of(ran.lanes, 'lane')} in {toolchain}, {ran.seconds:.0f} s,"
        f" {ran.cpu_seconds:.0f} CPU s; recorded with TVM {recorded}"
    )
    families = len({each.family for each in ran.known})
    in_families = f"in {families:,} {'family' if families == 1 else 'families'}"
    yield f"{number_of(len(ran.known), 'known failure')} as expected, {in_families}"
    for change in Change:
        changed = [each for each in ran.changed if each.change is change]
        if changed:
            cases = number_of(len({each.entry.case for each in changed}), "case")
            yield f"{change}: {number_of(len(changed), 'lane')} of {cases}"
            yield from grouped(changed, kept)
    if not ran.changed:
        yield "all lanes end as recorded"


def _next(folder: Path, save: Path | None, toolchain: str, first: Changed) -> str:
    if not save:
        return next_line("corpus", "run", folder, "--toolchain", toolchain, "--save", "worse")
    where = save / seed_corpus.FOLDER / first.entry.case
    return next_line("minimize", where, "--lanes", first.spec.name, "--toolchain", toolchain)


def _document(ran: CorpusRun, kept: Corpus, toolchain: str, versions: dict[str, str]) -> dict[str, object]:
    return {
        "toolchain": toolchain,
        "versions": versions,
        "recorded": kept.description.versions,
        "cases": ran.cases,
        "lanes": ran.lanes,
        "seconds": round(ran.seconds, 1),
        "cpu_seconds": round(ran.cpu_seconds, 1),
        "known": [
            {
                "failure": each.id,
                "kind": each.known.kind,
                "component": each.known.component,
                "title": each.known.title,
                "family": each.family,
                "lanes": each.lanes,
            }
            for each in ran.known
        ],
        "changed": [
            {
                "case": each.entry.case,
                "ops": each.entry.ops,
                "lane": each.lane,
                "change": each.change,
                "expected": each.expected,
                "now": each.now,
                "words": in_words(each, kept),
            }
            for each in ran.changed
        ],
    }
