"""The command line. Each verb parses its arguments, calls one function, and prints."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from fuzzer import bench, bisect_command, blame_command, corpus_command, lane_table, minimize_command, run_command
from fuzzer import replay as replaying
from fuzzer import sweep as sweeping
from fuzzer.campaign import status_command
from fuzzer.campaign.lock import Busy
from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.store import Store
from fuzzer.coverage import measure as coverage_of
from fuzzer.coverage import report as coverage_report
from fuzzer.dashboard import command as dashboard_command
from fuzzer.filing import command as filing
from fuzzer.gen import Order
from fuzzer.gen import run as generate_cases
from fuzzer.isolate import sanitizer
from fuzzer.isolate.device_check import devices_here
from fuzzer.isolate.executor import EnvironmentMissing
from fuzzer.isolate.fleet import Fleet, Place
from fuzzer.isolate.toolchain import HOST, HOST_NAME
from fuzzer.lanes import (
    LANES,
    TVM_LANES,
)
from fuzzer.options import JsonFlag, LanesGlob, PreloadFile, lanes_named, ops_named
from fuzzer.replay import Exit
from fuzzer.report import command as report_command
from fuzzer.report.finding_file import FindingDoc
from fuzzer.run_command import obey_signals, to_stop, warm_up
from fuzzer.seeds import command as seeds_command
from fuzzer.selftest import Check, self_test
from fuzzer.settings import LaneMix, RunLimits, Settings
from fuzzer.terminal import next_line, print_json, program, say
from fuzzer.toolchains import command as toolchains
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.triage import command as triage_command
from fuzzer.watching.watching import watched
from generators.builder import Limits
from generators.graph import Invalid, Profile
from generators.ops import OPS
from generators.ops.base import no_attrs
from oracles.lane import LaneSpec

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(bench.app, name="bench")
app.add_typer(toolchains.app, name="toolchain")
app.command("bisect")(bisect_command.bisect)
app.command("blame")(blame_command.blame)
app.command("corpus")(corpus_command.corpus)
app.command("dashboard")(dashboard_command.dashboard)
app.command("import")(seeds_command.import_models)
app.command("minimize")(minimize_command.minimize)
app.command("status")(status_command.status)
app.command("merge")(status_command.merge)
app.command("run")(run_command.run)
app.command("report")(report_command.report)
app.command("file")(filing.file)
app.command("triage")(triage_command.triage)


@app.command()
def replay(
    finding: Annotated[Path, typer.Argument(help="A folder of crashes/.")],
    lanes: Annotated[str | None, typer.Option(metavar="GLOB", help="Other lanes than the finding's own.")] = None,
    times: Annotated[int, typer.Option(min=1, help="Runs of each lane.")] = 1,
    toolchain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Other toolchains than the finding's own, comma-separated.")
    ] = None,
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Run a finding again: `fuzz --replay crashes/x`. Exit code 77: still there, 0: gone, 78: another failure."""
    doc, case = replaying.load(finding)
    chosen = (doc.lane,) if lanes is None else lanes_named(lanes)
    where = named(doc.lane.toolchain if toolchain is None else toolchain)
    find_all = finder(preload)
    with Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), find_all) as executor:
        _tell_of_another_preload(doc, executor.versions)
        result = replaying.replay(executor, doc, case, in_toolchains(chosen, where), times)
        releases = {each.name: executor.backend(Place(each.name)).versions["tvm"] for each in where}
    if json:
        runs = [
            {
                "lane": run.lane.name,
                "toolchain": run.lane.toolchain,
                "verdict": run.verdict.name.lower(),
                "told": run.told,
            }
            for run in result.runs
        ]
        print_json({"slug": doc.slug, "exit": int(result.exit), "runs": runs})
    else:
        if toolchain is not None:
            Console(markup=False, emoji=False).print(_by_toolchain(result, releases))
        for run in result.runs if toolchain is None else ():
            print(f"{run.verdict.name.lower().replace('_', ' ')}: {run.told}")
        same = sum(run.verdict is Exit.SAME for run in result.runs)
        python = _python_for(doc.lane)
        script = f"{finding / 'repro.py'}{f' {preload}' if preload else ''}"
        print(f"{doc.slug}: {same} of {len(result.runs)} runs show it; next: {python} {script}")
    raise typer.Exit(result.exit)


def _tell_of_another_preload(doc: FindingDoc, versions: Mapping[str, str]) -> None:
    then, now = doc.versions.get("preload"), versions.get("preload")
    if then != now:
        say(f"preloaded when it was found: {then or 'nothing'}; now: {now or 'nothing'}")


def _python_for(lane: LaneSpec) -> str:
    """What runs a finding's script, where its lane ran."""
    if lane.toolchain == HOST_NAME:
        return os.path.relpath(sys.executable)
    return f"{program()} toolchain python {lane.toolchain}"


def _by_toolchain(result: replaying.Replay, releases: dict[str, str]) -> Table:
    """Where it fails, and where not."""
    table = Table(box=None)
    for column in ("toolchain", "TVM", "verdict", ""):
        table.add_column(column, no_wrap=bool(column), overflow="fold")
    for run in result.runs:
        table.add_row(run.lane.toolchain, releases[run.lane.toolchain], run.word, run.told)
    return table


@app.command()
def doctor(preload: PreloadFile = None, json: JsonFlag = False) -> None:
    """Prove that every kind of failure is seen; print versions and lanes."""
    find_all = finder(preload)
    with Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), find_all) as executor:
        checks = self_test(executor)
        versions = executor.versions
    devices, why_no_device = devices_here(find_all(HOST_NAME))
    good = all(check.passed for check in checks) and all(device.passed for device in devices)
    if json:
        gpus = {"devices": devices, "why_no_device": why_no_device, "compute_sanitizer": sanitizer.is_installed()}
        print_json({"versions": versions, "checks": checks, **gpus, "lanes": LANES})
    else:
        print("versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
        for check in checks:
            seen = check.seen or "no finding"
            print(f"  {'ok ' if check.passed else 'BAD'} {check.sin}: {seen} ({check.seconds:.1f} s)")
        print(f"GPUs: {why_no_device or f'{len(devices)} in use'}; {_second_look()}")
        for each in devices:
            told = each.why_not or "gives the known answer"
            print(f"  {'ok ' if each.passed else 'BAD'} {each.device}: {told} ({each.seconds:.1f} s)")
        print("lanes: " + ", ".join(lane.name for lane in LANES))
        print("targets: " + ", ".join(sorted({lane.target for lane in TVM_LANES})))
        print(next_line("run", "--seconds", 120) if good else _what_is_wrong(checks))
    raise typer.Exit(Exit.GONE if good else Exit.ENVIRONMENT)


def _second_look() -> str:
    installed = "is" if sanitizer.is_installed() else "is not"
    return f"{sanitizer.PROGRAM} {installed} installed"


def _what_is_wrong(checks: Sequence[Check]) -> str:
    if all(check.passed for check in checks):
        return "campaigns do without the GPUs that are BAD"
    return "failures would be missed: do not fuzz"


@app.command("lanes")
def list_lanes(json: JsonFlag = False) -> None:
    """List the lanes, and what this machine can do with each."""
    if json:
        print_json(lane_table.document())
    else:
        print(*lane_table.text(), sep="\n")


@app.command("ops")
def list_ops(
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say which of TVM's converters they reach, and why not the rest.")
    ] = False,
    ops: Annotated[str, typer.Option(metavar="GLOB", help="With --coverage: only these.")] = "*",
    count: Annotated[int, typer.Option(min=1, help="With --coverage: programs of each.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="With --coverage: where they come from.")] = 0,
    dynamo: Annotated[bool, typer.Option(help="With --coverage: the slow exporter to ONNX too.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="With --coverage: at a time.")] = max(1, os.cpu_count() or 1),
    json: JsonFlag = False,
) -> None:
    """List the operators."""
    if coverage:
        measured = _measured(coverage_of.Order(ops_named(ops), count, seed, dynamo, workers))
        if json:
            print_json(coverage_report.document(measured))
        else:
            print(*coverage_report.text(measured), sep="\n")
        return
    if json:
        print_json([{"name": op.name, "arity": op.arity, "attrs": sorted(op.schema)} for op in OPS])
        return
    table = Table(box=None)
    table.add_column("operator", no_wrap=True)
    table.add_column("operands")
    table.add_column("attributes", overflow="fold")
    for op in OPS:
        low, high = op.arity
        attrs = ", ".join(f"{key}: {kind.says}" for key, kind in op.schema.items()) if op.attrs is not no_attrs else ""
        table.add_row(op.name, str(low) if low == high else f"{low} to {high}", attrs)
    Console(markup=False, emoji=False).print(table)


@app.command()
def gen(
    count: Annotated[int, typer.Option(min=1, help="How many cases.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Where the cases come from.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each case to a folder in DIR.")] = None,
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*",
    nodes: Annotated[int, typer.Option(min=1, help="The most operators of a graph.")] = Limits().max_nodes,
    profile: Annotated[Profile | None, typer.Option(help="Values of this profile only.")] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Ask PyTorch whether they are valid; say what they cover.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Generate cases without any compiler."""
    order = Order(count, seed, out, ops_named(ops), Limits(nodes), profile)
    report = generate_cases(order, ask_pytorch=stats)
    for line in report.invalid:
        say(line)
    summary = report.summary()
    where = f" in {out}" if out else ""
    if not json:
        for key, value in summary.items() if stats else ():
            print(f"{key:22} {value}")
        print(f"{count} cases{where}, {report.seconds:.2f} CPU s of generation; {next_line('run', '--seconds', 120)}")
    if json or stats:  # the last line is for machines either way
        print(msgspec.json.encode(summary).decode())


def _measured(order: coverage_of.Order) -> coverage_of.Coverage:
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("looking at programs", total=coverage_of.number_of_trials(order))
        return coverage_of.measure(order, lambda seen: progress.update(task, completed=seen.trials))


@app.command()
def sweep(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The sweep's folder: started there, or continued.")],
    ops: Annotated[
        str | None, typer.Option(metavar="GLOB", help="PyTorch's operators (OpInfo names), globs; all by default.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Samples of each operator and dtype; 2 by default.")
    ] = None,
    lanes: LanesGlob = "*",
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after this many seconds.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests at a time.")] = max(1, os.cpu_count() or 1),
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Take PyTorch's own samples of every operator through the lanes; DIR/sweep.html is the table."""
    chosen = in_toolchains(lanes_named(lanes), (HOST,))
    find_all = finder(preload)
    say("taking PyTorch's samples (a minute for all operators) ...")
    task = sweeping.Sweep(out, sweeping.gather(out, ops, samples))
    asked = to_stop()
    with Store(out, None) as store, Fleet(store.scratch, find_all, tell=say) as executor:
        settings = Settings(out, store.state.seed, LaneMix(chosen), RunLimits(seconds), workers=workers, json=json)
        warm_up(executor, (), asked)
        campaign = Campaign(settings, store, executor, task.case, task.watch)
        obey_signals(campaign, asked)
        with watched(campaign):
            campaign.run()
        table = task.write_table()
    if json:
        print_json({"samples": table.samples, "done": table.done, "totals": table.totals})
        return
    for lane, counts in table.totals.items():
        print(f"{lane:20} " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    again = ("sweep", "--out", out) if table.done < table.samples else ("triage", "--campaign", out)
    print(f"{table.done} of {table.samples} samples; table: {out / 'sweep.html'}; {next_line(*again)}")


def routed(arguments: list[str]) -> list[str]:
    """`fuzz --replay X` is `fuzz replay X`; options without a verb are those of `run`."""
    if arguments and (arguments[0] in COMMANDS or arguments[0] in ("--help", "-h")):
        return arguments
    for index, argument in enumerate(arguments):
        if argument == "--replay":
            return ["replay", *arguments[:index], *arguments[index + 1 :]]
        if argument.startswith("--replay="):
            return ["replay", argument.removeprefix("--replay="), *arguments[:index], *arguments[index + 1 :]]
    return arguments if arguments and not arguments[0].startswith("-") else ["run", *arguments]


COMMANDS = frozenset(typer.main.get_group(app).commands)


def main() -> None:
    """Exit codes beside a verb's own: 64 for bad input, 69 for a missing environment."""
    try:
        code = app(routed(sys.argv[1:]), standalone_mode=False, prog_name="fuzz")
    except typer.TyperException as error:
        say(f"fuzz: {error.format_message()}")
        sys.exit(Exit.BAD_INPUT)
    except (Invalid, Busy) as error:
        say(f"fuzz: {error}")
        sys.exit(Exit.BAD_INPUT)
    except EnvironmentMissing as error:
        say(f"fuzz: {error}")
        sys.exit(Exit.ENVIRONMENT)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        say(f"fuzz: {error}; what was saved before is whole")
        sys.exit(Exit.ENVIRONMENT)
    except typer.Abort:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
