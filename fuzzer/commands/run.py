"""`fuzz run`: a campaign on this machine, or on the nodes of a cluster (`--cluster`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from fuzzer.campaign import aim
from fuzzer.campaign.configurations import Configurations
from fuzzer.campaign.disk_space import GB, RESERVE
from fuzzer.campaign.known_options import require_known_options
from fuzzer.campaign.layout import ERRORS
from fuzzer.campaign.loop import Campaign
from fuzzer.campaign.own_lanes import PLAIN, own_lanes
from fuzzer.campaign.settings import DRAWN, SCOPES, Disk, LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store import Store
from fuzzer.campaign.test_numbers import Share, parsed
from fuzzer.cluster.campaign import run_campaign
from fuzzer.cluster.driver import ClusterOptions, Driver
from fuzzer.commands.aim import listed_configurations, model_around, require_no_other_aim
from fuzzer.commands.file import BaseUrl, LedgerFile, Repository, TokenFile
from fuzzer.commands.options import (
    DRAIN_SECONDS,
    JsonFlag,
    LanesGlob,
    OwnPassNames,
    PreloadFile,
    ReleaseNames,
    ToolchainNames,
)
from fuzzer.commands.selection import dialects_named, lanes_named, ops_of_dialects
from fuzzer.filing.auto import auto_filing
from fuzzer.filing.gates import may_be_filed
from fuzzer.filing.office import TrackerOptions
from fuzzer.filing.tracker import PUBLIC
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import (
    MODEL_LANES,
    MODEL_SAMPLED_LANES,
    OFTEN,
    RELAY_OFTEN,
    RELAY_ROUTES,
    RELAY_SAMPLED,
    SAMPLED_LANES,
    SCREENING,
)
from fuzzer.lanes.base.availability import available
from fuzzer.system.devices import Device
from fuzzer.system.exit_codes import Exit
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import echo, next_line, print_json, say
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST, HOST_NAME, Toolchain
from fuzzer.watching.formatting import (
    could_not_be_done,
    evaluated_wrongly,
    failed_by_itself,
    lacking_line,
    number_of,
    waiting_line,
)
from fuzzer.watching.on_disk import waiting_in
from fuzzer.watching.ranking import Family, listed_in, worth_a_look
from fuzzer.watching.watch import watched
from generators.graph import Invalid
from generators.table import DIALECTS
from oracles.finding import Component
from oracles.lane import LaneSpec


def run(
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after this many seconds.")] = None,
    tests: Annotated[int | None, typer.Option(min=0, help="Stop after this many tests.")] = None,
    until_new: Annotated[
        int | None, typer.Option("--until-new", min=1, metavar="N", help="Stop after this many new findings.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of the cases; random by default.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests that run at the same time.")] = max(1, os.cpu_count() or 1),
    lanes: LanesGlob = "*",
    ops: Annotated[str, typer.Option(metavar="GLOB", help="Operators, comma-separated globs.")] = "*",
    dialect: Annotated[
        str, typer.Option(metavar="NAMES", help="What cases are drawn of: torch, onnx, or both.")
    ] = "torch,onnx",
    around: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="A .pt2 or .onnx file, a folder of them, or FILE.py:NAME: see docs/around.md."
        ),
    ] = None,
    configurations: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Compile options, whose combinations are tested: see docs/around.md."),
    ] = None,
    toolchain: ToolchainNames = HOST_NAME,
    releases: ReleaseNames = "",
    guided: Annotated[
        bool, typer.Option("--guided/--random", help="Let the results of tests decide what is drawn next.")
    ] = True,
    campaign: Annotated[Path, typer.Option(metavar="DIR", help="The campaign's directory.")] = Path("."),
    preload: PreloadFile = None,
    own_pass: OwnPassNames = None,
    triage_share: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="The least share of the CPU for triage while sightings wait. The rest is for tests."
        ),
    ] = TriageLimits().share,
    scope_share: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, metavar="PART", help="The part of the CPU of triage that finds the scope of new findings."
        ),
    ] = SCOPES,
    drain: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long triage may go on after the last test of a run.")
    ] = DRAIN_SECONDS,
    share: Annotated[
        str, typer.Option(metavar="K/N", help="Only every N-th test, from the K-th on; N campaigns run all tests.")
    ] = "1/1",
    first: Annotated[int, typer.Option(min=0, hidden=True, help="No test below this number.")] = 0,
    end: Annotated[int | None, typer.Option(min=0, hidden=True, help="Only tests below this number.")] = None,
    disk_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="GB", help="Disk space for DIR; old tests are deleted first, findings never."),
    ] = None,
    disk_reserve: Annotated[
        float, typer.Option(min=0, metavar="GB", help="Pause while the disk of DIR has less free space than this.")
    ] = RESERVE / GB,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="Run on the nodes of a Ray cluster: see docs/scale.md.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="With --cluster: the number of shares; by default one for each node.")
    ] = None,
    node_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --cluster: where nodes keep their campaigns; by default DIR/nodes."),
    ] = None,
    auto_file: Annotated[bool, typer.Option("--auto-file", help="File new findings: see `fuzz file`.")] = False,
    repo: Repository = None,
    token_file: TokenFile = None,
    base_url: BaseUrl = PUBLIC,
    ledger: LedgerFile = None,
    metrics: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT", help="Serve metrics for Prometheus on the loopback interface."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Fuzz: start the campaign in DIR, or continue it. Findings go to DIR/crashes."""
    if until_new is not None and not triage_share and seconds is None and tests is None:
        raise Invalid("--until-new with --triage-share 0 needs --seconds or --tests: no finding is new without triage")
    require_no_other_aim(around, ops, cluster)
    listed = listed_configurations(configurations, lanes, toolchain, HOST_NAME, cluster)
    where, others = named(toolchain), named(releases) if releases else ()
    own = with_own_passes(own_pass or (), where, preload)
    if listed and own:
        raise Invalid("--own-pass does not go with --configurations")
    the_mix = lanes == "*" and listed is None and not own
    plain = (PLAIN,) if own and lanes == "*" else lanes_named(lanes)
    chosen = (*SCREENING, *MODEL_LANES, *RELAY_ROUTES) if the_mix else () if listed else plain
    every_test = (*in_toolchains(chosen, where), *own)
    in_turn = (*available(SAMPLED_LANES), *available(MODEL_SAMPLED_LANES), *RELAY_SAMPLED)
    now_and_then = (*OFTEN, *RELAY_OFTEN)
    sampled, often = (in_toolchains(some if the_mix else (), where) for some in (in_turn, now_and_then))
    drawn = DRAWN if the_mix and HOST in where else 0
    dialects = dialects_of_run(dialect, every_test, listed is not None)
    torch_ops, onnx_ops = ops_of_dialects(ops, dialects)
    find_all = finder(preload)
    filer = auto_filing(auto_file, TrackerOptions(repo, base_url, ledger), token_file, preload)
    part, of = parsed(share)
    if cluster:
        if of > 1 or auto_file or metrics is not None:
            raise Invalid("--cluster assigns the shares itself; it excludes --share, --auto-file and --metrics")
        same = {
            "lanes": lanes,
            "ops": ops,
            "dialect": dialect,
            "toolchain": toolchain,
            "preload": preload and preload.resolve(),
            "disk-reserve": disk_reserve,
            "releases": releases or None,
            "triage-share": triage_share,
            "scope-share": scope_share,
            "drain": drain,
        }
        words = [f"--{name}={value}" for name, value in {**same, "disk-limit": disk_limit}.items() if value is not None]
        words += [*(f"--own-pass={name}" for name in own_pass or ()), "--guided" if guided else "--random"]
        there = (node_dir or campaign / "nodes").resolve()
        reserve = round(disk_reserve * GB)
        options = ClusterOptions(cluster, there, seconds, tests, until_new, nodes, tuple(words), reserve=reserve)
        run_on_cluster(options, campaign, seed, json)
        return
    model = model_around(around, campaign, dialects_named(dialects))
    if model:
        torch_ops = torch_ops if "torch" in model.dialects else ()
        onnx_ops = onnx_ops if "onnx" in model.dialects else ()
    with Store(campaign, seed) as store:
        settings = Settings(
            campaign,
            store.state.seed,
            LaneMix(
                every_test,
                sampled,
                often,
                drawn,
                steered=the_mix,
                configurations=Configurations(listed, store.state.seed) if listed else None,
            ),
            RunLimits(seconds, tests, until_new),
            Disk(_bytes(disk_limit), round(disk_reserve * GB)),
            TriageLimits(triage_share, drain, scope_share),
            workers,
            torch_ops,
            onnx_ops,
            around=model,
            share=Share(part, of, first, end),
            guided=guided,
            releases=tuple(other.name for other in others),
            json=json,
        )
        aim.write(campaign, settings.aim)
        say(f"difftvm: campaign {campaign.resolve()}, seed {store.state.seed}, from test {store.state.next_test}")
        if line := settings.aim.line(()):
            say(f"aim: {line}")
        stop_requested = to_stop()
        say("warming up the compilers ...")
        keep_memory_tight()
        with Fleet(store.scratch, find_all, tell=say) as executor:
            warm_up(executor, [other.name for other in others], stop_requested, own)
            if listed and not stop_requested.is_set():
                require_known_options(executor.run, listed.options)
            task = Campaign(settings, store, executor)
            with watched(task, metrics), filer(task.triage.new, store.crashes, executor, say) as filed:
                obey_signals(task, stop_requested, filed.drop)
                task.run()
        summarise(task, store, executor.quarantined, preload, own_pass or ())


def with_own_passes(names: Sequence[str], where: Sequence[Toolchain], preload: Path | None) -> tuple[LaneSpec, ...]:
    """The lanes of the user's own passes. Raise `Invalid` where no file can register them."""
    if names and preload is None:
        raise Invalid(f"--own-pass {names[0]} needs --preload FILE.py, the file that registers the pass")
    return in_toolchains([lane for name in names for lane in own_lanes(name)], where)


def dialects_of_run(names: str, lanes: Sequence[LaneSpec], listed: bool) -> str:
    """The dialects that were asked for, without those whose cases no lane runs. Raise `Invalid` where none is left.
    `listed`: whether lanes compile configurations of the user. Their importers read cases of PyTorch."""
    run = {"torch"} if listed else {lane.dialect for lane in lanes}
    wanted = [name.strip() for name in names.split(",")]
    left = [name for name in wanted if name in run or name not in DIALECTS]
    if not left and listed:
        raise Invalid(f"--configurations compiles cases of PyTorch only, so it excludes --dialect {names}")
    if not left:
        raise Invalid(f"--dialect {names}: no lane of this run has cases of {' or '.join(wanted)}")
    return ",".join(left)


def _bytes(gigabytes: float | None) -> int | None:
    return None if gigabytes is None else round(gigabytes * GB)


def summarise(
    task: Campaign, store: Store, quarantined: Mapping[Device, str], preload: Path | None, own: Sequence[str] = ()
) -> None:
    """Print the campaign's counters as JSON; or, for people, what this run did and a line about the campaign."""
    findings, queue = sorted(store.findings.values(), key=lambda doc: doc.slug), task.triage.queue
    if task.settings.json:
        listed = [
            {key: getattr(doc, key) for key in ("slug", "signature", "kind", "component", "lanes", "ops", "flaky")}
            for doc in findings
        ]
        gone = {str(device): reason for device, reason in quarantined.items()}
        waits = {"waiting": len(queue), "parked": queue.parked, "lacking": queue.lacking}
        print_json({**store.state.counters.summary(), **waits, "quarantined": gone, "findings": listed})
        return
    run, counters = task.progress.counts, store.state.counters
    if line := task.settings.aim.line(task.guidance.covered_rows):
        echo(f"aim: {line}")
    new = number_of(len(task.triage.new), "new finding") + (":" if task.triage.new else "")
    echo(f"{number_of(run.tests, 'test')} in {task.progress.seconds:.0f} s; {run.invalid} invalid; {new}")
    order = listed_in(store.crashes / doc.slug for doc in task.triage.new)
    for line in worth_a_look(order, len(task.triage.new)):
        echo(line)
    if run.errors:
        echo(f"{could_not_be_done(run.errors)}: {os.path.relpath(store.folder / ERRORS)}")
    if broken := sum(counters.broken.values()):
        echo(f"{failed_by_itself(broken)}: {os.path.relpath(store.folder / ERRORS)}")
    if disagreements := sum(counters.evaluation_disagrees.values()):
        echo(f"{evaluated_wrongly(disagreements)}: {os.path.relpath(store.folder / ERRORS)}")
    in_tvm = sum(doc.component is Component.TVM for doc in findings)
    in_all = f"{number_of(counters.tests, 'test')}, {counters.invalid} invalid"
    if counters.errors:
        in_all += f"; {could_not_be_done(counters.errors)}"
    echo(f"the campaign has {in_all}; {number_of(len(findings), 'finding')}, {in_tvm} of them TVM's")
    for line in (waiting_line(len(queue), queue.parked, store.folder), lacking_line(queue.lacking)):
        if line:
            echo(line)
    for device, reason in quarantined.items():
        echo(f"{device} was given up: {reason}")
    echo(next_line(*_what_next(order, store, preload, own)))


def _what_next(new: Sequence[Family], store: Store, preload: Path | None, own: Sequence[str]) -> tuple[object, ...]:
    """The command to suggest: replay the first new finding that may be filed; else list the findings; else continue."""
    where = () if os.path.relpath(store.folder) == "." else ("--campaign", os.path.relpath(store.folder))
    loads = ("--preload", preload) if preload else ()
    passes = [word for name in own for word in ("--own-pass", name)]
    for family in new:
        for each in family.members:
            if may_be_filed(each.doc):
                return "--replay", os.path.relpath(store.crashes / each.doc.slug), *loads
    return ("triage", *where) if store.findings else ("run", *where, "--seconds", "600", *loads, *passes)


def run_on_cluster(options: ClusterOptions, campaign: Path, seed: int | None, json: bool) -> None:
    """Raise `EnvironmentMissing` if there is no Ray. Exit with 69 if nodes were given up."""
    with Store(campaign, seed) as store:
        with redirect_stdout(sys.stderr):  # Ray prints its own errors to stdout
            driver = run_campaign(options, store)
        _summarise_cluster(driver, store, json)
    if driver.given_up:
        raise typer.Exit(Exit.ENVIRONMENT)


def _summarise_cluster(driver: Driver, store: Store, json: bool) -> None:
    given_up = sorted(part + 1 for part in driver.given_up)
    tests = store.ask(lambda index: index.totals()).tests
    waiting, parked = waiting_in(store.folder)
    if json:
        slugs = sorted(doc.slug for doc in store.findings.values())
        queue = {"waiting": waiting, "parked": parked}
        print_json({"tests": tests, "findings": slugs, "new": len(driver.new), **queue, "given_up": given_up})
        return
    new = number_of(len(driver.new), "new finding") + (":" if driver.new else "")
    echo(f"{number_of(tests, 'test')} of all nodes; {new}")
    for line in worth_a_look(listed_in(store.crashes / doc.slug for doc in driver.new), len(driver.new)):
        echo(line)
    for part in given_up:
        echo(f"node {part} was given up")
    if line := waiting_line(waiting, parked, store.folder):
        echo(line)
    echo(next_line("triage", "--campaign", os.path.relpath(store.folder)))
