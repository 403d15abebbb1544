"""`fuzz diff`: what fails in one of two builds of TVM alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign.guidance import Guidance
from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.one_test import Watch
from fuzzer.campaign.settings import DRAWN, LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store import Store
from fuzzer.commands.options import JsonFlag, LanesGlob
from fuzzer.commands.selection import lanes_named, ops_named
from fuzzer.difference.cases import ComparedCases, kept_in
from fuzzer.difference.changed_code import changed_code, traced
from fuzzer.difference.fixed import FixedFailures, is_confirmed
from fuzzer.difference.lab import DifferenceLab
from fuzzer.difference.pair import described, pair
from fuzzer.difference.reach import Reach
from fuzzer.difference.reports import FORMS, check_places
from fuzzer.difference.reports.terminal import document, lines
from fuzzer.difference.runs import cases_of_earlier_runs, next_run
from fuzzer.difference.verdict import Comparison, verdict
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.lanes.base.availability import available
from fuzzer.regression.shipped import shipped_cases
from fuzzer.system.files import write_atomically
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import echo, print_json, say
from fuzzer.toolchains.lanes import in_toolchains
from fuzzer.toolchains.toolchain import HOST_NAME, Toolchain
from fuzzer.watching.watch import watched
from generators.graph import Case
from oracles.finding import Finding
from oracles.outcome import Result

MINUTES = 10
DRAIN = 180.0
"""Failures that were met are investigated for so many seconds after the last test: a gate should know of each."""


def diff(
    base: Annotated[str, typer.Option(metavar="NAME", help="The toolchain that is right.")] = HOST_NAME,
    patched: Annotated[str, typer.Option(metavar="NAME", help="The toolchain with the change.")] = HOST_NAME,
    base_preload: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="A file to execute in each process of the base.")
    ] = None,
    patched_preload: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="A file to execute in each process of the patched toolchain.")
    ] = None,
    changed: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="A file of TVM that the change touches; may be given several times."),
    ] = None,
    cases: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Cases to run first: a corpus or a campaign; may be given several times."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Stop after this many seconds.")] = MINUTES * 60.0,
    tests: Annotated[int | None, typer.Option(min=0, help="Stop after this many tests.")] = None,
    until_worse: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop when this many findings are worse.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the cases; random by default.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests that run at the same time.")] = max(1, os.cpu_count() or 1),
    lanes: LanesGlob = "*",
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*",
    campaign: Annotated[
        Path, typer.Option(metavar="DIR", help="Each run has a new directory: DIR/1, DIR/2, ...")
    ] = Path("diff"),
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a summary for a pull request.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as tests that failed.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as SARIF 2.1.0.")] = None,
    json: JsonFlag = False,
) -> None:
    """Compare two builds of TVM: run the same cases in both, and report what fails in the patched one alone.

    Findings go to DIR/N/crashes, and what fails in the base alone to DIR/N/fixed. The cases of the findings of earlier
    runs in DIR run first. Exit code 0 where nothing is worse, 1
    where something is, 2 where no case reaches the changed code."""
    forms = {"markdown": markdown, "junit": junit, "sarif": sarif}
    reports = {form: path for form, path in forms.items() if path}
    check_places(reports.values())
    both = pair(base, patched, base_preload, patched_preload)
    code = changed_code(both, changed or ())
    for path in code.unbuilt:
        say(f"difftvm: {path} is part of no build; it does not count as changed code")
    kept, chosen = [*cases_of_earlier_runs(campaign), *kept_in(cases or ())], ops_named(ops)
    folder = next_run(campaign)
    with Store(folder, seed) as store:
        both = replace(both, patched=traced(both.patched, code, store.folder))
        limits = RunLimits(seconds, tests, until_worse)
        mix, triage = _mix(lanes, both.patched), TriageLimits(drain=DRAIN)
        settings = Settings(
            folder, store.state.seed, mix, limits, triage=triage, workers=workers, ops=chosen, guided=True
        )
        say(f"difftvm: base {described(both.base)}, patched {described(both.patched)}, seed {store.state.seed}")
        stop_requested = to_stop()
        say("warming up the compilers ...")
        keep_memory_tight()
        fixed, reach, guidance = FixedFailures(folder, both), Reach(), Guidance(settings, settings.seed)
        corpus = shipped_cases({op.name for op in chosen})
        drawn = ComparedCases(settings.seed, guidance, reach, kept, chosen, code.is_traced, code.names, corpus)
        with Fleet(store.scratch, both.find, tell=say) as fleet:
            warm_up(fleet, (both.base.name, both.patched.name), stop_requested)
            named = () if mix.steered else mix.always

            def keep(case: Case, finding: Finding) -> None:
                fixed.add(case, finding, fleet.versions)

            lab = DifferenceLab(fleet, both, keep, code, named)
            task = Campaign(settings, store, lab, drawn, _learning(lab, reach), guidance=guidance)
            stopped = threading.Event()
            with watched(task):
                obey_signals(task, stop_requested, stopped.set)
                task.run()
            fixed.confirm(fleet, stopped.is_set)
        repaired = _sorted(fixed.docs.values())
        found = [finding_file.read(store.crashes / doc.slug) for doc in _sorted(store.findings.values())]
        compared = Comparison(
            described(both.base),
            described(both.patched),
            task.progress.seconds,
            tests=task.progress.counts.tests,
            lanes=lab.comparisons.lanes,
            both=len(lab.comparisons.both),
            waiting=len(task.triage.queue),
            reaching=reach.reaching,
            changed=code,
            folder=store.folder,
            worse=tuple(doc for doc in found if not doc.flaky),
            unsure=tuple(doc for doc in found if doc.flaky),
            fixed=tuple(doc for doc in repaired if is_confirmed(doc)),
            perhaps_fixed=tuple(doc for doc in repaired if not is_confirmed(doc)),
            reached=dict(reach.by_name.most_common()),
            differing=dict(reach.differing.most_common()),
        )
    if json:
        print_json(document(compared))
    else:
        for line in lines(compared):
            echo(line)
    for form, file in reports.items():
        write_atomically(file, FORMS[form](compared).encode())
    raise typer.Exit(verdict(compared))


def _mix(lanes: str, toolchain: Toolchain) -> LaneMix:
    """The lanes of every campaign, or those that the user named, in the patched toolchain."""
    where = (toolchain,)
    if lanes != "*":
        return LaneMix(tuple(in_toolchains(lanes_named(lanes), where)))
    candidates = (SCREENING, tuple(available(SAMPLED_LANES)), OFTEN)
    always, in_turn, often = (tuple(in_toolchains(some, where)) for some in candidates)
    return LaneMix(always, in_turn, often, DRAWN if toolchain.is_host else 0, steered=True)


def _learning(lab: DifferenceLab, reach: Reach) -> Watch:
    def watch(number: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
        reach.learn(case, *lab.reached(case))

    return watch


def _sorted(docs: Iterable[FindingDoc]) -> tuple[FindingDoc, ...]:
    return tuple(sorted(docs, key=lambda doc: doc.slug))
