"""`fuzz sweep`: runs the samples of every operator through the lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from fuzzer.campaign.plan.selection import lanes_named, one_dialect
from fuzzer.campaign.plan.settings import LaneMix, RunLimits, Settings
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store.store import Store
from fuzzer.commands.progress import working
from fuzzer.commands.sweep_options import SweepOptions
from fuzzer.commands.with_options import with_options
from fuzzer.evaluation import samples as taking
from fuzzer.evaluation.allow_list import AllowList
from fuzzer.evaluation.sample_source import source_of
from fuzzer.evaluation.sweep import Sweep
from fuzzer.evaluation.sweep_table import KINDS, NEWLY_WRONG, Table, read_table
from fuzzer.isolate.fleet import Fleet
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.watching.watch import watched

SHOWN = (
    "samples",
    "done",
    "totals",
    "without",
    "changes",
    "right_with_finding",
    "not_right_without_finding",
    "allow_list",
    "not_run",
)
"""The parts of the table that `--json` prints. Its rows and results are in the file."""


@with_options(SweepOptions)
def sweep(options: SweepOptions) -> None:
    """Run PyTorch's own samples, or ONNX's node tests, of every operator through the lanes.

    The table is DIR/sweep.html, and DIR/sweep.json for machines. Findings are confirmed, reduced and saved in
    DIR/crashes."""
    dialect, toolchains = one_dialect(options.dialect), named(options.toolchain)
    source = source_of(dialect)
    chosen = in_toolchains(lanes_named(options.lanes or source.lanes, dialect), toolchains)
    find_all = finder(options.preload)
    against = read_table(options.against) if options.against else None
    say(f"taking {source.title} ({source.lasts}) ...")
    with working("taking samples", lambda: "no sample is kept; the next sweep takes them again"):
        task = Sweep(options.out, taking.gather(options.out, dialect, options.ops, options.samples), dialect)
    stop_requested = to_stop()
    with Store(options.out, None) as store, Fleet(store.scratch, find_all, tell=say) as executor:
        settings = Settings(
            options.out,
            store.state.seed,
            LaneMix(chosen),
            RunLimits(options.seconds),
            triage=options.triage,
            workers=options.workers,
            json=options.json,
        )
        warm_up(executor, (), stop_requested)
        campaign = Campaign(settings, store, executor, task.case, task.watch)
        obey_signals(campaign, stop_requested)
        with watched(campaign):
            campaign.run()
        table = task.write_table(executor.versions, against, [each.name for each in toolchains])
    _tell(table, options)


def _tell(table: Table, options: SweepOptions) -> None:
    if options.json:
        parts = msgspec.structs.asdict(table)
        print_json({name: parts[name] for name in SHOWN})
        return
    echo(*lines_of(table), sep="\n")
    again = ("sweep", "--out", options.out) if table.done < table.samples else ("triage", "--campaign", options.out)
    echo(f"{table.done} of {table.samples} samples; table: {options.out / 'sweep.html'}; {next_line(*again)}")


def lines_of(table: Table) -> Iterator[str]:
    """What the terminal shows of a table."""
    for lane, counts in table.totals.items():
        yield f"{lane:20} " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    yield from _lines_on_changes(table)
    if table.allow_list:
        yield from _lines_on_list(table.allow_list)
    if table.without:
        yield f"{table.without} samples have no case; the table says why"


def _lines_on_changes(table: Table) -> Iterator[str]:
    """What is newly wrong, and how much has changed; nothing where nothing has."""
    kinds = Counter(change.kind for change in table.changes)
    for change in table.changes:
        if change.kind == NEWLY_WRONG:
            yield f"{change.kind}: {change.key} in {change.lane}: now {change.after}: {change.reason}"
    if kinds:
        counted = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
        yield f"changes: {counted}; the table lists them"


def _lines_on_list(found: AllowList) -> Iterator[str]:
    """How the tests compare with those that TVM runs itself. The table has the names."""
    covered = len(found.outside) - len(found.others)
    yield f"of the {len(found.selected)} tests that TVM's own list selects, not right: {len(found.failing)}"
    yield f"of all others, right: {len(found.outside)}; {len(found.lacking)} more prefixes select {covered} of them"
