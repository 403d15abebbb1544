"""The campaign of `fuzz diff`: cases run in both toolchains."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.selection import lanes_named
from fuzzer.campaign.plan.settings import DRAWN, LaneMix, Settings, TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.start import WARM_UP, obey_signals, to_stop, warm_up
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.dispatcher import GRACE
from fuzzer.campaign.test.one_test import Watch
from fuzzer.commands.diff_options import DiffOptions
from fuzzer.commands.progress import working
from fuzzer.difference.cases import ComparedCases
from fuzzer.difference.changed_code import ChangedCode, traced
from fuzzer.difference.changed_entries import changed_table
from fuzzer.difference.fixed import FOLDER as FIXED
from fuzzer.difference.fixed import FixedFailures, is_confirmed
from fuzzer.difference.focus import Focus, focus_of
from fuzzer.difference.lab import DifferenceLab
from fuzzer.difference.pair import Pair, described
from fuzzer.difference.reach import Reach
from fuzzer.difference.reach_map import kept as kept_map
from fuzzer.difference.runs import next_run
from fuzzer.difference.verdict import Comparison
from fuzzer.findings import finding_file
from fuzzer.findings.check_failures import fails_check
from fuzzer.findings.families.grouping import input_types
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.severity import severity_of
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.lanes import OFTEN, SAMPLED_LANES, SCREENING
from fuzzer.lanes.base.availability import available
from fuzzer.regression.shipped import shipped_cases
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import number_of, say
from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchains
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.watching.watch import watched
from generators.dialect_names import DEFAULT
from generators.graph import Case
from generators.op import Op
from oracles.finding import Finding
from oracles.outcome import Result

EXHAUSTED = "difftvm: each class of the operators that run the change ran several times: the tests end early"


@dataclass(frozen=True, slots=True)
class ToCompare:
    """Two toolchains, the code that differs, the cases that run first, and by dialect the operators of those that are
    drawn."""

    both: Pair
    code: ChangedCode
    kept: tuple[Case, ...]
    ops: Mapping[str, tuple[Op, ...]]


def comparison_of(options: DiffOptions, given: ToCompare) -> Comparison:
    """Run the campaign in a new directory."""
    folder = next_run(options.campaign)
    with Store(folder, options.seed) as store:
        both = replace(given.both, patched=traced(given.both.patched, given.code, store.folder))
        given = replace(given, both=both)
        say(f"difftvm: base {described(both.base)}, patched {described(both.patched)}, seed {store.state.seed}")
        fixed, reach = FixedFailures(folder, both), Reach()
        task, lab, touched = _run(options, given, store, fixed, reach)
        found = _comparison(given, task, lab, fixed, reach, aliasing=options.aliasing)
        return replace(found, touched=touched)


def _run(
    options: DiffOptions, given: ToCompare, store: Store, fixed: FixedFailures, reach: Reach
) -> tuple[Campaign, DifferenceLab, str]:
    """Ask what the change touches, run the tests, investigate what fails in the patched toolchain, and confirm what
    fails in the base. What it touches is returned in words, "" where it is not known."""
    both, code = given.both, given.code
    stop_requested = to_stop()
    say(WARM_UP)
    keep_memory_tight()
    with Fleet(store.scratch, both.find, tell=say) as fleet, ThreadPoolExecutor(1) as beside:
        answer = beside.submit(changed_table, both, code.functions, store.folder)
        with working("warm-up", lambda: ""):
            warm_up(fleet, (both.base.name, both.patched.name), stop_requested)
        versions = fleet.backend(BackendKey(both.base.name)).versions
        reach_map = kept_map(registry.find(both.name_of_base), versions)
        focus = focus_of(answer.result(), code, given.ops, reach_map)
        settings = _settings(options, given, store, focus)
        guidance = Guidance(settings, settings.seed)
        cases = _cases(given, guidance, reach, focus)
        touched = focus.in_words(cases.kept_that_reach)
        say(f"difftvm: {touched}")
        cases.when_kept_are_through = lambda: say(_after_kept(task, reach))

        def keep(case: Case, finding: Finding) -> None:
            fixed.add(case, finding, fleet.versions)

        lab = DifferenceLab(fleet, both, keep, code, () if settings.lanes.steered else settings.lanes.always)
        task = Campaign(settings, store, lab, cases, _learning(lab, reach), guidance=guidance)
        stopped = threading.Event()
        fleet.give_up = lambda: task.is_stopped
        with watched(task):
            obey_signals(task, stop_requested, stopped.set)
            task.run()
        if cases.is_exhausted:
            say(EXHAUSTED)
        seconds_left = _seconds_left(options, task)
        fleet.give_up = lambda: stopped.is_set() or seconds_left() < -GRACE
        fixed.confirm(fleet.run_fresh, stopped.is_set, seconds_left())
    return task, lab, touched if focus.is_known else ""


def _seconds_left(options: DiffOptions, task: Campaign) -> Callable[[], float]:
    return lambda: options.seconds - task.progress.seconds


def _settings(options: DiffOptions, given: ToCompare, store: Store, focus: Focus) -> Settings:
    dialects = focus.dialects if focus.is_known else (DEFAULT,)
    return Settings(
        store.folder,
        store.state.seed,
        _mix(options.lanes, given.both.patched, focus),
        options.limits,
        triage=TriageLimits(drain=options.times.triage - options.times.tests),
        workers=options.workers,
        ops={dialect: rows for dialect, rows in given.ops.items() if dialect in dialects} or given.ops,
        guided=True,
    )


def _cases(given: ToCompare, guidance: Guidance, reach: Reach, focus: Focus) -> ComparedCases:
    ops = guidance.settings.ops
    corpus = shipped_cases({op.name for rows in ops.values() for op in rows})
    code, seed = given.code, guidance.settings.seed
    return ComparedCases(
        seed, guidance, reach, given.kept, ops, code.is_traced, code.names, corpus, focus, code.conditions
    )


def _after_kept(task: Campaign, reach: Reach) -> str:
    """What is known when the kept cases have begun, for a gate that waits for a first answer."""
    waiting = len(task.triage.queue)
    new = f"{number_of(waiting, 'failure')} to investigate" if waiting else "nothing is worse so far"
    left = task.phase.seconds_left
    time = f"; fresh cases for up to {left:.0f} s more" if left is not None else ""
    reached = f"{reach.reaching:,} of {reach.tests:,} tests reached the change"
    return f"difftvm: the kept cases are through: {reached}, {new}{time}"


def _comparison(
    given: ToCompare, task: Campaign, lab: DifferenceLab, fixed: FixedFailures, reach: Reach, *, aliasing: bool
) -> Comparison:
    store = task.store
    read = [finding_file.read(store.crashes / doc.slug) for doc in store.findings.values()]
    found = _most_severe_first(read, store.crashes)
    steady = [doc for doc in found if not doc.flaky]
    repaired = _most_severe_first(fixed.docs.values(), store.folder / FIXED)
    return Comparison(
        described(given.both.base),
        described(given.both.patched),
        task.progress.seconds,
        tests=task.progress.counts.tests,
        lanes=lab.comparisons.lanes,
        both=len(lab.comparisons.both),
        waiting=len(task.triage.queue),
        reaching=reach.reaching,
        changed=given.code,
        folder=store.folder,
        worse=tuple(doc for doc in steady if fails_check(doc.kind, aliasing=aliasing)),
        aliased=tuple(doc for doc in steady if not fails_check(doc.kind, aliasing=aliasing)),
        unsure=tuple(doc for doc in found if doc.flaky),
        fixed=tuple(doc for doc in repaired if is_confirmed(doc)),
        perhaps_fixed=tuple(doc for doc in repaired if not is_confirmed(doc)),
        reached=dict(reach.by_name.most_common()),
        differing=dict(reach.differing.most_common()),
    )


def _mix(lanes: str, toolchain: Toolchain, focus: Focus) -> LaneMix:
    """The lanes that the user named, those that run the change, or those of every campaign, in the patched
    toolchain."""
    where = (toolchain,)
    if lanes != "*":
        return LaneMix(tuple(in_toolchains(lanes_named(lanes), where)))
    if focus.is_known:
        return LaneMix(
            tuple(in_toolchains(focus.lanes.always, where)), tuple(in_toolchains(focus.lanes.in_turn, where))
        )
    candidates = (SCREENING, tuple(available(SAMPLED_LANES)), OFTEN)
    always, in_turn, often = (tuple(in_toolchains(some, where)) for some in candidates)
    return LaneMix(always, in_turn, often, DRAWN if toolchain.is_host else 0, steered=True)


def _learning(lab: DifferenceLab, reach: Reach) -> Watch:
    def watch(number: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
        reach.learn(case, *lab.reached(case))

    return watch


def _most_severe_first(docs: Iterable[FindingDoc], folder: Path) -> tuple[FindingDoc, ...]:
    """`folder` has the folders of the findings."""
    return tuple(sorted(docs, key=lambda doc: (-severity_of(doc, input_types(folder / doc.slug)).score, doc.slug)))
