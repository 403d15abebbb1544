"""How many distinct failures of TVM campaigns find for their CPU time, and where that time goes.

    python benchmarks/discovery.py [--cpu 1800] [--seeds 1,2,3] [--workers 2] [--store DIR] [--against PATH]
                                   [--only this] [--json FILE] [--report FILE ...]

Runs `fuzz run` of this checkout for each seed, and stops it when all its processes together took `--cpu` CPU seconds.
With --against, the checkout at PATH runs after it, with the same seed, interpreter and CPU time. Where other work
loads the machine, the two are started at the same time, one with `--only this` and one with `--only against`, and
`--report` prints both from their JSON files. A campaign begins with no findings. With --store, it begins with those of
the campaign DIR, which are copied (`crashes/`, `waiting/`, `parked/`, `corpus/`; no counters, so that each seed begins
at test 0), and only failures that it does not have are counted.

The columns are, for failures whose component is TVM:

    findings  investigated, by final signature, without flaky ones
    waiting   saved and not investigated, by coarse signature, without those whose coarse signature a finding has
    distinct  findings and waiting together
    coarse    the same by coarse signature alone, findings too
    parked    sightings that will not be investigated again by themselves
    causes    provisional causes of TVM's that wait (`fuzz triage`); each stands for its sightings
    unknown   sightings that wait and have no suspect

Then the CPU seconds of an investigation as finding.json says them, in the median, for findings with the type of an
exception and for others, with their number; earlier versions leave out the time of blame and of repro.py. `triage each`
is the CPU time of all triage for each finding of any component, and leaves nothing out. Then the shares of the CPU
time. `start` is what a campaign without tests takes. An earlier version does not count the CPU time of triage: then it
is what tests, start and the supervisor's own time leave. `supervisor` is the CPU time of its own process, a part of
`other`. `-` is unknown.

Then the curves after each tenth of the CPU time, and last the ratios of the two versions, by seed and in the median.
Ctrl-C ends the current campaign and prints what there is; unfinished campaigns are in no median and in no ratio.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from campaign_files import NOTHING, PARKED, SAVED, WAITING, Folders, counted_in, cpu_seconds_of_tests, distinct_in, read
from child_campaign import (
    ROOT,
    ended_cpu_seconds,
    last_line,
    raise_on_signals,
    require_checkout,
    running,
    stop,
    tree_cpu_seconds,
)

from fuzzer.campaign.triage.provisional import provisional_causes
from fuzzer.system.processes import own_cpu_seconds
from fuzzer.triage.suspect import Certainty
from oracles.finding import Component

STEPS = 10
EVERY_SECONDS = 0.5
THIS, AGAINST = "this", "against"
INTERRUPTED = "interrupted"


class Point(msgspec.Struct, frozen=True):
    """What a campaign had found when its processes had taken `cpu_seconds`."""

    cpu_seconds: float
    tests: int
    findings: int
    waiting: int
    coarse: int
    parked: int
    flaky: int
    causes: int = 0
    unknown: int = 0

    @property
    def distinct(self) -> int:
        return self.findings + self.waiting


class Shares(msgspec.Struct, frozen=True):
    """Parts of the CPU time, from 0 to 1; None is unknown."""

    tests: float | None
    triage: float | None
    start: float
    other: float | None
    supervisor: float


class Cost(msgspec.Struct, frozen=True):
    """The median of the CPU seconds of N investigations; None where there are none."""

    investigations: int
    median: float | None


class CampaignRun(msgspec.Struct, frozen=True):
    """`triage_each` is the CPU time of triage for each new finding, of any component. `why_unfinished` is "" where the
    campaign had its CPU time."""

    seed: int
    version: str
    curve: list[Point]
    end: Point
    with_message: Cost
    without_message: Cost
    triage_each: float | None
    shares: Shares
    folder: str
    why_unfinished: str = ""


# What a directory shows


def point(campaign: Path, known: Folders, cpu: float) -> Point:
    folders = read(campaign)
    found, tests = distinct_in(folders, known), counted_in(campaign).tally.tests
    waiting = folders.waiting.values()
    causes = sum(cause.is_of_tvm for cause in provisional_causes(waiting, folders.saved.values()))
    unknown = sum(doc.suspect.certainty is Certainty.UNKNOWN for doc in waiting if doc.component is Component.TVM)
    numbers = (found.final, found.waiting, found.coarse, found.parked, found.flaky, causes, unknown)
    return Point(round(cpu, 1), tests, *numbers)


def costs(folders: Folders) -> tuple[Cost, Cost]:
    """The investigations of findings with the type of an exception, and of the others. Flaky ones are left out."""
    docs = [doc for doc in folders.saved.values() if not doc.flaky]
    with_message, without = (
        [doc.cpu_seconds for doc in docs if bool(doc.identity.error) is wanted] for wanted in (True, False)
    )
    return cost(with_message), cost(without)


def cost(seconds: Sequence[float]) -> Cost:
    return Cost(len(seconds), round(statistics.median(seconds), 2) if seconds else None)


def shares(campaign: Path, total: float, start: float, supervisor: float) -> Shares:
    """`start` and `supervisor` are CPU seconds: of a campaign without tests, and of the supervisor's own process."""
    tests, triage = cpu_seconds_of_tests(campaign), counted_in(campaign).tally.triage_cpu_seconds
    start = min(start, total)
    if tests is None:
        return Shares(None, None, round(start / total, 3), None, round(supervisor / total, 3))
    if triage is None:
        triage = max(0.0, total - start - tests - supervisor)
    other = max(0.0, total - start - tests - triage)
    return Shares(*(round(each / total, 3) for each in (tests, triage, start, other, supervisor)))


# Campaigns


def campaign_run(
    version: str, checkout: Path, seed: int, folder: Path, options: argparse.Namespace, start: float
) -> CampaignRun:
    """Run one campaign in the new directory `folder`."""
    folder.mkdir(parents=True)
    if options.store:
        copy_findings(options.store, folder)
    known = read(folder) if options.store else NOTHING
    words = ("run", "--campaign", folder, "--seed", seed, "--workers", options.workers)
    curve, total, supervisor, why, log = list[Point](), 0.0, 0.0, "", folder.with_suffix(".log")
    before = ended_cpu_seconds()
    with running(checkout, words, folder.parent, log) as process:
        try:
            while total < options.cpu and not why:
                time.sleep(EVERY_SECONDS)
                supervisor = max(supervisor, own_cpu_seconds(process.pid))
                total = max(total, tree_cpu_seconds(process.pid))
                while len(curve) < STEPS and total >= options.cpu * (len(curve) + 1) / STEPS:
                    curve.append(point(folder, known, total))
                    tell(version, seed, curve[-1], options.cpu)
                why = ended_by_itself(process, log)
        except KeyboardInterrupt:
            why = INTERRUPTED
        code = stop(process)
        why = why or (f"exit code {code}: {last_line(log)}" if code else "")
    total = max(total, ended_cpu_seconds() - before)
    end, found = point(folder, known, total), read(folder).without(known)
    parts = shares(folder, total, start, supervisor) if total else Shares(None, None, 0.0, None, 0.0)
    why = "; ".join(filter(None, (why, *found.unreadable)))
    each = parts.triage * total / len(found.saved) if parts.triage is not None and found.saved else None
    return CampaignRun(seed, version, curve, end, *costs(found), each, parts, str(folder), why)


def ended_by_itself(process: subprocess.Popen[bytes], log: Path) -> str:
    code = process.poll()
    return "" if code is None else f"it ended by itself with exit code {code}: {last_line(log)}"


def copy_findings(store: Path, folder: Path) -> None:
    for name in (SAVED, WAITING, PARKED, "corpus"):
        if (store / name).is_dir():
            shutil.copytree(store / name, folder / name, ignore=shutil.ignore_patterns(".*"))


def start_cpu_seconds(checkout: Path, folder: Path) -> float:
    """CPU seconds of a campaign without tests. Exit where it fails."""
    folder.mkdir(parents=True)
    before = ended_cpu_seconds()
    words, log = ("run", "--campaign", folder, "--tests", 0), folder.with_suffix(".log")
    with running(checkout, words, folder.parent, log) as process:
        if code := process.wait():
            sys.exit(f"{checkout}: a campaign without tests ends with exit code {code}: {last_line(log)}")
    return ended_cpu_seconds() - before


# What is printed


def tell(version: str, seed: int, now: Point, cpu: float) -> None:
    print(
        f"seed {seed} {version}: {now.cpu_seconds:.0f} of {cpu:.0f} CPU s, {now.tests} tests, {now.findings} findings, "
        f"{now.waiting} waiting, {now.coarse} coarse",
        flush=True,
    )


HEAD = (
    "seed", "version", "CPU s", "tests", "findings", "waiting", "distinct", "coarse", "parked", "flaky", "causes",
    "unknown", "CPU s with message", "without", "triage each", "tests", "triage", "start", "other", "supervisor",
)  # fmt: skip


def row(run: CampaignRun) -> tuple[str, ...]:
    end, parts = run.end, run.shares
    found = (end.tests, end.findings, end.waiting, end.distinct, end.coarse, end.parked, end.flaky)
    left = (end.causes, end.unknown)
    names = (str(run.seed), run.version, f"{end.cpu_seconds:.0f}")
    each = "-" if run.triage_each is None else f"{run.triage_each:.2f}"
    times = (_cost(run.with_message), _cost(run.without_message), each)
    return (
        *names,
        *map(str, (*found, *left)),
        *times,
        *map(_percent, (parts.tests, parts.triage, parts.start, parts.other, parts.supervisor)),
    )


def _cost(cost: Cost) -> str:
    return "-" if cost.median is None else f"{cost.median:.2f} ({cost.investigations})"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


FIGURES: dict[str, Callable[[Point], int]] = {
    "tests": lambda point: point.tests,
    "findings": lambda point: point.findings,
    "distinct": lambda point: point.distinct,
    "coarse": lambda point: point.coarse,
    "causes": lambda point: point.causes,
}


def curve_rows(runs: Sequence[CampaignRun], cpu: float) -> list[tuple[str, ...]]:
    """A row for each campaign and figure, and the medians over the campaigns that finished."""
    rows = [("figure", "seed", "version", *(f"{cpu * step / STEPS:.0f}" for step in range(1, STEPS + 1)))]
    for name, figure in FIGURES.items():
        for run in runs:
            values = [str(figure(each)) for each in run.curve]
            rows.append((name, str(run.seed), run.version, *values, *["-"] * (STEPS - len(values))))
        for version in dict.fromkeys(run.version for run in runs):
            curves = [run.curve for run in finished(runs, version)]
            if len(curves) > 1:
                medians = [f"{statistics.median(map(figure, points)):g}" for points in zip(*curves, strict=True)]
                rows.append((name, "median", version, *medians))
    return rows


def finished(runs: Iterable[CampaignRun], version: str) -> list[CampaignRun]:
    return [run for run in runs if run.version == version and not run.why_unfinished]


def ratios(runs: Sequence[CampaignRun]) -> list[str]:
    """A line for each figure: this version divided by the other one, where both finished a seed."""
    ours, theirs = ({run.seed: run.end for run in finished(runs, version)} for version in (THIS, AGAINST))
    seeds = [seed for seed in ours if seed in theirs]
    lines = []
    for name, figure in FIGURES.items():
        by_seed = [figure(ours[seed]) / figure(theirs[seed]) for seed in seeds if figure(theirs[seed])]
        if by_seed:
            each = ", ".join(f"{ratio:.2f}" for ratio in by_seed)
            lines.append(f"{name} {THIS} / {AGAINST}: median {statistics.median(by_seed):.2f}; by seed {each}")
    return lines


def report(runs: Sequence[CampaignRun], cpu: float) -> list[str]:
    if not runs:
        return ["no campaign ran"]
    unfinished = [f"seed {run.seed} {run.version}: {run.why_unfinished}" for run in runs if run.why_unfinished]
    tables = [*table([HEAD, *map(row, runs)]), "", "after N CPU seconds", *table(curve_rows(runs, cpu))]
    return [*tables, "", *unfinished, *ratios(runs)]


def measured(options: argparse.Namespace, folder: Path) -> list[CampaignRun]:
    """The campaigns, in turns. Those that an interruption leaves are returned."""
    checkouts = {THIS: ROOT, **({AGAINST: options.against.resolve()} if options.against else {})}
    checkouts = {version: path for version, path in checkouts.items() if options.only in (version, None)}
    for checkout in checkouts.values():
        require_checkout(checkout)
    runs: list[CampaignRun] = []
    try:
        starts = {version: start_cpu_seconds(path, folder / f"start-{version}") for version, path in checkouts.items()}
        for seed in map(int, options.seeds.split(",")):
            for version, checkout in checkouts.items():
                where = folder / f"seed-{seed}-{version}"
                runs.append(campaign_run(version, checkout, seed, where, options, starts[version]))
                if options.json:
                    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(runs), indent=1))
                if runs[-1].why_unfinished.startswith(INTERRUPTED):
                    return runs
    except KeyboardInterrupt:
        pass
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=float, default=1800.0, help="CPU seconds of each campaign")
    parser.add_argument("--seeds", default="1,2,3", help="comma-separated")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, help="a campaign whose findings each campaign begins with")
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", choices=(THIS, AGAINST))
    parser.add_argument("--report", type=Path, nargs="+", metavar="FILE", help="print the campaigns of JSON files")
    options = parser.parse_args()
    raise_on_signals()
    if options.report:
        runs = [
            run for path in options.report for run in msgspec.json.decode(path.read_bytes(), type=list[CampaignRun])
        ]
    else:
        folder = Path(tempfile.mkdtemp(prefix="difftvm-discovery-"))
        print(f"campaigns in {folder}", flush=True)
        runs = measured(options, folder)
    print(*report(runs, options.cpu), sep="\n")


if __name__ == "__main__":
    main()
