"""`fuzz bench`: measurements of the fuzzer itself."""

from __future__ import annotations

import threading
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.run.signals import on_first_signal
from fuzzer.commands.options import DialectName
from fuzzer.evaluation import false_alarms
from fuzzer.isolate.executor import Executor
from fuzzer.system import temporary
from fuzzer.system.help_text import GroupedCommand
from fuzzer.system.terminal import echo, next_line
from generators.dialect_names import DEFAULT

bench = typer.Typer(help="Measure the fuzzer itself.", add_completion=False, rich_markup_mode=None)


@bench.callback()
def group() -> None:
    """Measure the fuzzer itself."""


@bench.command(cls=GroupedCommand)
def honesty(
    count: Annotated[int, typer.Option(min=1, metavar="N", help="How many cases.")] = 200,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of the cases.")] = 0,
    first: Annotated[
        int, typer.Option(min=0, metavar="N", help="The number of the first case, to continue an earlier run.")
    ] = 0,
    lanes: Annotated[
        str, typer.Option(metavar="GLOB", help="Lanes that are right by definition; * only samples the expensive ones.")
    ] = "*",
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Cases at a time.")] = 1,
    dialect: DialectName = DEFAULT,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON in the last line.")] = False,
) -> None:
    """Measure how often an implementation that is right by definition is called wrong. SIGINT ends it early."""
    options = false_alarms.FalseAlarmOptions(count, seed, first, lanes, workers, dialect)
    false_alarms.lanes_of(options, 0)
    stop = _stop_on_interrupt()
    with Executor(temporary.new_folder()) as executor:
        report = false_alarms.run(executor, options, _print_alarm, stop)
    summary = report.summary()
    if json:
        echo(msgspec.json.encode(summary).decode())
        return
    for key, value in summary.items():
        shown = ", ".join(f"{name} {number}" for name, number in value.items()) if isinstance(value, dict) else value
        echo(f"{key:24} {shown}")
    of = () if dialect == DEFAULT else ("--dialect", dialect)
    echo(next_line("bench", "honesty", *of, "--seed", seed, "--first", report.next_test, "--count", count))


def _print_alarm(alarm: false_alarms.Alarm) -> None:
    ratio = "" if alarm.ratio is None else f" ({alarm.ratio:.3g} tolerances)"
    ops = ", ".join(alarm.ops)
    where = f"test {alarm.test} {alarm.lane} against {alarm.blamed}: {alarm.kind} {alarm.dtype}"
    echo(f"ALARM {where}: {alarm.message}{ratio}: {ops}", flush=True)


def _stop_on_interrupt() -> threading.Event:
    """Return an event that the first SIGINT, SIGTERM or SIGHUP sets."""
    stop = threading.Event()
    on_first_signal(stop.set)
    return stop
