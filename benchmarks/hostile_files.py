"""Give hostile files to every command that reads files, and watch what it does.

    python benchmarks/hostile_files.py --by-hand [--only TEXT] [--verbs GLOB] [--every N] [--first 0]
    python benchmarks/hostile_files.py --by-hand --new-processes [--strace N]
    python benchmarks/hostile_files.py --mutations 100000 [--seed 1] [--first 0] [--verbs GLOB]

`--by-hand` runs each row of `hostile_by_hand.py` through every command that reads what it changes, in a fork of a
process that has imported the commands. With `--new-processes`, each row goes through one of its commands in a new
interpreter (`python -m fuzzer.cli`), N of them under strace. `--mutations` changes valid files at random, as the seed
and the number of the mutation say, and gives each to one of the commands that read it.

A command that would start a compiler or PyTorch has accepted its files, and is ended there. It is a fault if a command

- ends with another exit code than those of `fuzzer/system/exit_codes.py`, or prints a traceback;
- refuses its files (64 or 69) with anything but one sentence of at most 300 characters;
- prints a control character;
- takes more than 10 s of CPU, 30 s in all without those in which it waits for a processor, or 500 MB of memory;
- executes code, starts a process, opens a connection, or reads or writes outside of the folders that it was given
  (`watched/watching.py`, and strace), or a file outside changes or comes out in what it writes.

Prints the runs by command and by kind of file, and each fault with what makes it again. Exits with 1 where there is
one.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from hostile.at_random import at_random
from hostile.base import build
from hostile.by_hand import by_hand
from hostile.commands import VERBS
from hostile.copies import fresh
from hostile.in_this_process import build_commands_once, run_here
from hostile.judging import Report
from hostile.new_processes import in_new_processes
from hostile.rows import rows

from fuzzer.cli import VERBS as EVERY_VERB
from fuzzer.cli import command_of


def _until_interrupted(reports: Iterator[Report]) -> Iterator[Report]:
    try:
        yield from reports
    except KeyboardInterrupt:
        print("interrupted", flush=True)


def _print(reports: Iterator[Report], every: int) -> int:
    """Print what the runs gave; return the number of faults."""
    by_verb: dict[str, Counter[str]] = {}
    by_kind: dict[str, Counter[str]] = {}
    keys: set[str] = set()
    most, runs, faults = {"cpu": 0.0, "wall": 0.0, "megabytes": 0.0}, 0, 0
    began = time.monotonic()
    for report in _until_interrupted(reports):
        runs += 1
        by_verb.setdefault(report.verb, Counter())[report.sort] += 1
        by_kind.setdefault(report.kind, Counter())[report.sort] += 1
        for name in most:
            most[name] = max(most[name], getattr(report, name))
        faults += bool(report.faults)
        for fault in report.faults:
            key = re.sub(r"\d+|0x[0-9a-f]+", "#", f"{fault[:160]}")
            if key not in keys:
                keys.add(key)
                print(f"FAULT {report.verb}, {report.kind}: {fault}\n      {report.again}", flush=True)
        if runs % every == 0:
            print(f"... {runs:,} runs, {faults} faults, {time.monotonic() - began:.0f} s", flush=True)
    sorts = ("refused", "accepted", "started", "faults")
    for title, table in (("command", by_verb), ("file", by_kind)):
        print(f"{title:24}" + "".join(f"{each:>10}" for each in ("runs", *sorts)))
        for name, counts in sorted(table.items()):
            print(f"{name:24}{counts.total():>10,}" + "".join(f"{counts[each]:>10,}" for each in sorts))
    print(
        f"{runs:,} runs, {faults} faults; at most {most['cpu']:.1f} s of CPU, {most['wall']:.1f} s in all,"
        f" {most['megabytes']:.0f} MB"
    )
    return faults


_WARM = ("report", "report html", "report json", "file", "status", "triage", "triage --merge", "dashboard", "corpus")
"""Commands that read most kinds of files and start nothing."""


def _warm_up(template: Path) -> None:
    """Run some commands on the valid campaign in this process, so that its forks have the decoders and templates."""
    place = fresh(template, template.with_name("warm"))
    outputs = [os.dup(1), os.dup(2)]
    codes = {name: run_here(VERBS[name].words(place), place).code for name in _WARM}
    for number, descriptor in enumerate(outputs, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if any(codes.values()):
        sys.exit(f"commands fail on the valid campaign: {codes}")


def _import_all() -> None:
    """What the commands import, so that no fork has to."""
    for verb in EVERY_VERB:
        command_of(verb)
    for name in ("commands.triage_work", "report.page", "report.issue", "filing.misuse", "campaign.store"):
        import_module(f"fuzzer.{name}")
    import onnx  # noqa: F401
    import rich.progress  # noqa: F401


def main_of_benchmark() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--new-processes", action="store_true")
    parser.add_argument("--strace", type=int, default=0, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th run of the rows")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains this")
    parser.add_argument("--mutations", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--verbs", default="*", metavar="GLOB")
    arguments = parser.parse_args()
    if not (arguments.by_hand or arguments.mutations):
        parser.error("give --by-hand or --mutations N")
    traced = arguments.strace
    if traced and not shutil.which("strace"):
        print("strace is missing: nothing is traced")
        traced = 0
    _import_all()
    build_commands_once()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        template = Path(folder) / "template"
        build(template)
        _warm_up(template)
        if arguments.by_hand:
            chosen = [row for row in rows() if arguments.only in row.name]
            if arguments.new_processes:
                faults += _print(in_new_processes(template, chosen, arguments.verbs, traced), 100)
            else:
                faults += _print(by_hand(template, chosen, arguments.verbs, arguments.every, arguments.first), 500)
        if arguments.mutations:
            numbers = range(arguments.first, arguments.first + arguments.mutations)
            faults += _print(at_random(template, arguments.seed, numbers, arguments.verbs), 5000)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main_of_benchmark()
