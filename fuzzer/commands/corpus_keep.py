"""`fuzz corpus keep`: makes a regression corpus of campaigns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.commands.options import JsonFlag
from fuzzer.commands.progress import working
from fuzzer.isolate.fleet import Fleet, Runner
from fuzzer.regression import candidates, choose, record
from fuzzer.regression.candidates import Candidate
from fuzzer.regression.keep import Record, families_by_failure
from fuzzer.regression.record import CASES, DESCRIPTION, EXPECTED, MOST_CASES, Description
from fuzzer.regression.runs import Ends, ends_of
from fuzzer.system import temporary
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.toolchains.registry import find

Limits = choose.Limits
DEFAULT = choose.Limits()


def keep(
    campaigns: Annotated[list[Path], typer.Argument(metavar="CAMPAIGN...", help="Campaigns to take cases from.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the corpus.")],
    cases: Annotated[int, typer.Option(min=1, max=MOST_CASES, metavar="N", help="The most cases.")] = DEFAULT.cases,
    seconds: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="The CPU seconds that a run of it may cost, as expected.")
    ] = (DEFAULT.cpu_seconds),
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Cases that run at the same time.")] = max(
        1, os.cpu_count() or 1
    ),
    json: JsonFlag = False,
) -> None:
    """Make a regression corpus: cases of campaigns that show as much as possible in a run of a few minutes.

    First come the reduced cases of findings, one of each family before others, then tests in which the compiler did
    something new. Each case runs twice; how its lanes end is recorded."""
    limits = Limits(cases, DEFAULT.size, seconds)
    found = list(candidates.from_findings(campaigns))
    tests = list(candidates.from_tests(campaigns))
    chosen = choose.chosen(found, tests, limits)
    made = Record(families_by_failure(campaigns))
    with (
        Fleet(temporary.new_folder(), find) as fleet,
        working("running the cases", lambda: "nothing is saved") as shown,
    ):
        for number, (candidate, first, second) in enumerate(_run_twice(fleet, chosen, workers), 1):
            made.add(candidate, first, second)
            shown.count(number, f"of {len(chosen)} cases")
        description = made.description(candidates.features_met(campaigns), fleet.versions)
    record.write(into, description, made.entries, made.cases)
    families = len({each.family for each in found})
    if json:
        print_json(_document(made, description, into, families))
    else:
        for line in _lines(made, description, into, families):
            echo(line)


def _run_twice(fleet: Runner, chosen: Sequence[Candidate], workers: int) -> Iterator[tuple[Candidate, Ends, Ends]]:
    def twice(candidate: Candidate) -> tuple[Candidate, Ends, Ends]:
        first = ends_of(fleet.run, candidate.case, candidate.lanes)
        return candidate, first, ends_of(fleet.run, candidate.case, candidate.lanes)

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(twice, chosen)
        finally:
            pool.shutdown(cancel_futures=True)


def _size(folder: Path) -> int:
    return sum((folder / name).stat().st_size for name in (DESCRIPTION, EXPECTED, CASES))


def _lines(made: Record, description: Description, into: Path, families: int) -> Iterator[str]:
    findings = sum(not entry.source.startswith("test ") for entry in made.entries)
    yield (
        f"{len(made.entries):,} cases in {into}, {_size(into) / 1e6:.1f} MB: {findings:,} of findings,"
        f" {len(made.entries) - findings:,} of tests; a run costs {description.cpu_seconds:.0f} CPU s"
    )
    yield f"{len(made.kept_families):,} of {families:,} families of findings kept"
    for kind, each in description.coverage.items():
        share = 100 * each.covered / max(1, each.of)
        yield f"{kind}: {each.covered:,} of {each.of:,} features ({share:.0f} %)"
    failures = f"{len(description.failures):,} failures are expected"
    yield f"{failures}; {made.unsteady:,} lanes do not end the same in each run"
    yield next_line("corpus", "run", into)


def _document(made: Record, description: Description, into: Path, families: int) -> dict[str, object]:
    return {
        "cases": len(made.entries),
        "families": {"kept": len(made.kept_families), "of": families},
        "bytes": _size(into),
        "cpu_seconds": description.cpu_seconds,
        "coverage": description.coverage,
        "failures": len(description.failures),
        "unsteady": made.unsteady,
    }
