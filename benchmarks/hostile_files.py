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
- takes more than 10 s of CPU, 30 s in all, or 500 MB of memory;
- executes code, starts a process, opens a connection, or reads or writes outside of the folders that it was given
  (`watched/watching.py`, and strace), or a file outside changes or comes out in what it writes.

Prints the runs by command and by kind of file, and each fault with what makes it again. Exits with 1 where there is
one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NoReturn

from hostile_base import KINDS, SECRET, VERBS, Place, Verb, build
from hostile_by_hand import Row, resign, rows
from mutations import mutated

from fuzzer.cli import VERBS as EVERY_VERB
from fuzzer.cli import command_of, main
from fuzzer.commands.file import Exit as FileExit
from fuzzer.system.exit_codes import Exit

sys.path.append(str(Path(__file__).parent / "watched"))
import watching

ROOT = Path(__file__).parents[1]
MOST_CPU, MOST_WALL, MOST_MEGABYTES, MOST_CHARACTERS = 10.0, 30.0, 500.0, 300
CODES = frozenset(map(int, (*Exit, *FileExit))) | {watching.STARTED}
REFUSED = (Exit.BAD_INPUT, Exit.ENVIRONMENT)
IMPORTS_OF_1000 = 3
"""How many of a thousand mutations are of models: each starts two readers."""

A_WORKER = 400
"""A worker runs so many mutations, and is then replaced."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass
class Ended:
    """How a command ended. `events` are the lines of the watcher."""

    code: int
    out: str
    err: str
    cpu: float
    wall: float
    megabytes: float
    events: list[str] = field(default_factory=list)


@dataclass
class Report:
    """One run, and its faults. `again` makes it again."""

    verb: str
    kind: str
    code: int
    faults: list[str]
    again: str
    cpu: float
    wall: float
    megabytes: float

    @property
    def sort(self) -> str:
        if self.faults:
            return "faults"
        return "refused" if self.code in REFUSED else "started" if self.code == watching.STARTED else "accepted"


def faults_of(ended: Ended, place: Place) -> list[str]:
    """What is wrong with how a command ended, in one line each."""
    found = [f"it {event}" for event in dict.fromkeys(ended.events)]
    lines = ended.err.splitlines()
    if ended.code not in CODES:
        found.append(f"exit code {ended.code}: {' / '.join(lines[-3:])[-300:]}")
    if "Traceback (most recent call last)" in ended.err and ended.code != watching.STARTED:
        found.append(f"a traceback: {' / '.join(lines[-3:])[-300:]}")
    if ended.code in REFUSED:
        sentences = [line for line in lines if line.startswith("fuzz: ")]
        if len(sentences) != 1 and not (sentences and "/models/" in ended.err):  # an import has one for each model
            found.append(f"it is refused with {len(sentences)} sentences: {ended.err[-300:]!r}")
    if long := [line for line in lines if len(line) > MOST_CHARACTERS]:
        found.append(f"a line of {len(long[0])} characters: {long[0][:200]}")
    for name, text in (("stdout", ended.out), ("stderr", ended.err)):
        if control := _CONTROL.search(text):
            found.append(f"{name} has the character {control[0]!r}")
        if SECRET in text:
            found.append(f"{name} has what is in a file outside")
    if ended.cpu > MOST_CPU or ended.wall > MOST_WALL:
        found.append(f"{ended.cpu:.1f} s of CPU, {ended.wall:.1f} s in all")
    if ended.megabytes > MOST_MEGABYTES:
        found.append(f"{ended.megabytes:.0f} MB")
    return found + _changes_outside(place)


def _changes_outside(place: Place) -> list[str]:
    """Whether a file outside has changed, or come into a file that was written."""
    found = []
    secret = place.outside / "secret"
    if not secret.exists() or secret.read_text() != SECRET:
        found.append("it changed a file outside")
    for path in place.out.rglob("*"):
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes():
            found.append(f"{path.name} has what is in a file outside")
    return found


# --- one command in this process, which is a fork


class Started(BaseException):
    """The command would start a compiler."""


_EVENTS: list[str] = []


def _watch_here(place: Place) -> None:
    """From now on, this process is watched. It cannot be undone."""

    def started(command: str) -> NoReturn:
        raise Started(command)

    folders = [place.campaign, place.good, place.out]
    watching.watch([str(folder) for folder in folders], _EVENTS.append, started)


def _run_here(words: Sequence[object], place: Place) -> Ended:
    """Run the command in this process, which is watched."""
    outputs = [place.root / name for name in ("stdout", "stderr")]
    descriptors = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for path in outputs]
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["fuzz", *map(str, words)]
    _EVENTS.clear()
    _forget_peak()
    began, cpu = time.monotonic(), _cpu()
    code = _ends_with()
    sys.stdout.flush()
    sys.stderr.flush()
    cpu, wall, megabytes = _cpu() - cpu, time.monotonic() - began, _peak()
    events = list(_EVENTS)
    out, err = (path.read_bytes()[: 20 << 20].decode(errors="replace") for path in outputs)
    return Ended(code, out, err, cpu, wall, megabytes, events)


def _ends_with() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Started:
        return watching.STARTED
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _cpu() -> float:
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(each.ru_utime + each.ru_stime for each in usages)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """The most memory of this process since `_forget_peak`, or of a child that it has waited for, in MB."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(int(peak[1]) if peak else 0, children) / 1000


def _environment(place: Place) -> dict[str, str]:
    (place.out / "tmp").mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(place.out),
        "TMPDIR": str(place.out / "tmp"),
        "XDG_CACHE_HOME": str(place.campaign / "cache"),
        "XDG_STATE_HOME": str(place.out / "state"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
    }


def _fresh(template: Path, root: Path) -> Place:
    """The campaign as it was built, in a folder of its own."""
    place = Place(root)
    for path in (root, place.outside):
        if path.is_symlink() or path.exists():
            shutil.rmtree(path)
    shutil.copytree(template, root)
    shutil.copytree(Place(template).outside, place.outside)
    place.out.mkdir(exist_ok=True)
    os.environ.update(_environment(place))
    tempfile.tempdir = None
    return place


# --- by hand


def by_hand(template: Path, chosen: Sequence[Row], verbs: str, every: int = 1, first: int = 0) -> Iterator[Report]:
    """Every row through every command that reads it, each in a fork. With `every`, one of so many of these runs, from
    the run `first` on."""
    runs = [(row, name) for row in chosen for name in row.commands if _is_chosen(name, verbs)]
    for row, name in runs[first::every]:
        again = f"--by-hand --only {row.name!r} --verbs {name!r}"
        yield _reported(row, name, _forked(template, row, row.commands[name]), again)


def _reported(row: Row, verb: str, found: tuple[Ended, list[str]], again: str) -> Report:
    ended, faults = found
    kind = row.name.partition(":")[0] if ":" in row.name else "folders"
    return Report(verb, kind, ended.code, faults, again, ended.cpu, ended.wall, ended.megabytes)


def _forked(template: Path, row: Row, verb: Verb) -> tuple[Ended, list[str]]:
    place = _fresh(template, template.with_name("row"))
    row.make(place)
    answer = place.root / "answer.json"
    began = time.monotonic()
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            _bound_memory()
            _watch_here(place)
            ended = _run_here(verb.words(place), place)
            answer.write_text(json.dumps(asdict(ended)))
        finally:
            os._exit(0)
    if not _has_ended(child, MOST_WALL):
        os.kill(child, signal.SIGKILL)
    _, _, usage = os.wait4(child, 0)
    cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - began
    try:
        ended = Ended(**json.loads(answer.read_text()))
    except (OSError, ValueError):
        why = f"it was killed after {wall:.0f} s" if wall > MOST_WALL else "it ended its process"
        ended = Ended(-9, "", why, cpu, wall, usage.ru_maxrss / 1000)
    return ended, faults_of(ended, place)


def _bound_memory() -> None:
    """So that a fault cannot take all memory of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))


def _has_ended(pid: int, seconds: float) -> bool:
    descriptor = os.pidfd_open(pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


# --- by hand, in new processes


def in_new_processes(template: Path, chosen: Sequence[Row], verbs: str, traced: int) -> Iterator[Report]:
    """Every row through one of its commands, in a new interpreter; some of them under strace."""
    every = max(1, len(chosen) // traced) if traced else 0
    for number, row in enumerate(chosen):
        names = [name for name in row.commands if _is_chosen(name, verbs)]
        if not names:
            continue
        name = names[number % len(names)]
        strace = bool(every) and number % every == 0
        again = f"--by-hand --new-processes --only {row.name!r} --verbs {name!r}"
        yield _reported(row, name, _new_process(template, row, row.commands[name], strace), again)


_TRACED = (
    "open,openat,openat2,creat,execve,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,symlink,connect"
)


def _new_process(template: Path, row: Row, verb: Verb, strace: bool) -> tuple[Ended, list[str]]:
    place = _fresh(template, template.with_name("row"))
    row.make(place)
    log, trace = place.root / "log", place.root / "trace"
    log.touch()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'benchmarks' / 'watched'}:{ROOT}",
        watching.FOLDERS: f"{place.campaign}:{place.good}:{place.out}:{log}",
        watching.LOG: str(log),
    }
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, verb.words(place))]
    if strace:
        command = ["strace", "-f", "-qq", "-y", "-e", f"trace={_TRACED}", "-o", str(trace), *command]
    with (place.root / "stdout").open("wb") as out, (place.root / "stderr").open("wb") as err:
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=err, cwd=place.out)
        if not _has_ended(process.pid, MOST_WALL * (3 if strace else 1)):
            process.kill()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    texts = ((place.root / name).read_bytes()[: 20 << 20] for name in ("stdout", "stderr"))
    printed, errors = (text.decode(errors="replace") for text in texts)
    cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - began
    if strace:
        cpu, wall = 0.0, 0.0  # strace takes more than the command
    events = log.read_text().splitlines()
    ended = Ended(process.returncode, printed, errors, cpu, wall, usage.ru_maxrss / 1000, events)
    traced = _outside_in(trace.read_text(errors="replace"), place) if strace else []
    return ended, [*faults_of(ended, place), *traced]


def _outside_in(trace: str, place: Place) -> list[str]:
    """The calls of a trace that touched the folder outside, changed a file elsewhere, or executed another program."""
    found = []
    for line in trace.splitlines():
        call, _, rest = line.partition(" ")[2].strip().partition("(")
        if rest.rpartition("= ")[2].startswith("-1"):
            continue
        path = (re.search(r'"((?:[^"\\]|\\.)*)"', rest) or [""] * 2)[1]
        target = (re.search(r"= \d+<([^>]*)>", rest) or ["", path])[1]
        changes = (
            call not in ("open", "openat", "openat2", "execve", "connect") or "O_WRONLY" in rest or "O_RDWR" in rest
        )
        given = (str(place.root), "/dev/null", "/dev/tty", "/proc/self", "/dev/shm", "pipe:", "anon_inode")
        if str(place.outside) in target:
            found.append(f"strace: {call} {target}")
        elif call == "execve" and not re.search(r"/(python[\d.]*|nvidia-smi|lscpu|ldconfig)$", path):
            found.append(f"strace: it executed {path}")
        elif call == "connect" and "AF_UNIX" not in rest and "AF_NETLINK" not in rest:
            found.append(f"strace: {call} {rest[:100]}")
        elif changes and call != "connect" and target.startswith("/") and not target.startswith(given):
            found.append(f"strace: {call} {target}")
    return found


# --- at random


@dataclass(frozen=True)
class Mutation:
    """Mutation number so-and-so of a seed: the kind of file, the command, and the source of its changes."""

    kind: str
    verb: str
    source: Random


def mutation(seed: int, number: int, verbs: str) -> Mutation:
    source = Random(f"{seed} {number}")
    readers = {kind: [name for name, verb in VERBS.items() if kind in verb.reads] for kind in KINDS}
    readers = {kind: [name for name in names if _is_chosen(name, verbs)] for kind, names in readers.items()}
    models = {kind for kind in ("m.onnx", "m.pt2") if readers[kind]}
    others = [kind for kind, names in readers.items() if names and kind not in models]
    few = models and (not others or source.randrange(1000) < IMPORTS_OF_1000)
    kind = source.choice(sorted(models) if few else others)
    return Mutation(kind, source.choice(readers[kind]), source)


def at_random(template: Path, seed: int, numbers: range, verbs: str) -> Iterator[Report]:
    """Each mutation through one command. Workers do many of them, one after the other."""
    first = numbers.start
    while first < numbers.stop:
        part = range(first, min(first + A_WORKER, numbers.stop))
        done = 0
        for report in _worker(template, seed, part, verbs):
            done += 1
            yield report
        first += done


def _worker(template: Path, seed: int, numbers: range, verbs: str) -> Iterator[Report]:
    """The reports of a worker, up to the first mutation that ends it or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _work(template, seed, numbers, verbs, writing)
        finally:
            os._exit(0)
    os.close(writing)
    done, status = 0, 0
    try:
        for line in _lines_of(reading):
            done += 1
            yield Report(**json.loads(line))
            if done == len(numbers):
                break
    finally:  # also where the user interrupts it
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if done < len(numbers):
        number = numbers[done]
        tried = mutation(seed, number, verbs)
        why = f"it hung, or ended its process (status {status})"
        yield Report(tried.verb, tried.kind, -9, [why], _again(seed, number, verbs), 0.0, MOST_WALL, 0.0)


def _lines_of(reading: int) -> Iterator[bytes]:
    """The lines that a worker writes, until it ends or is silent for too long."""
    with open(reading, "rb", buffering=0) as answers:
        buffer = b""
        while select.select([answers], [], [], MOST_WALL)[0] and (piece := answers.read(1 << 16)):
            *lines, buffer = (buffer + piece).split(b"\n")
            yield from lines


def _again(seed: int, number: int, verbs: str) -> str:
    chosen = f" --verbs {verbs!r}" if verbs != "*" else ""
    return f"--mutations 1 --seed {seed} --first {number}{chosen}"


_WRITING = ("--repair", "--merge", "--work", "run", "--into", "sweep", "toolchain check")
"""Parts of the names of commands that write into the campaign."""


def _work(template: Path, seed: int, numbers: range, verbs: str, answers: int) -> None:
    _bound_memory()
    kept = Place(template)
    place = _fresh(template, template.with_name("worker"))
    _watch_here(place)
    for number in numbers:
        tried = mutation(seed, number, verbs)
        kind = KINDS[tried.kind]
        path = kind.path(place)
        path.write_bytes(mutated(kind.path(kept).read_bytes(), kind.form, tried.source))
        if path.name in ("case.json", "tensors.safetensors") and tried.source.random() < 0.8:
            resign(place)
        ended = _run_here(VERBS[tried.verb].words(place), place)
        faults = faults_of(ended, place)
        report = Report(
            tried.verb,
            tried.kind,
            ended.code,
            faults,
            _again(seed, number, verbs),
            ended.cpu,
            ended.wall,
            ended.megabytes,
        )
        os.write(answers, json.dumps(asdict(report)).encode() + b"\n")
        place = _fresh(template, place.root)


# --- the command line


def _is_chosen(name: str, globs: str) -> bool:
    return any(fnmatchcase(name, glob.strip()) for glob in globs.split(","))


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
    place = _fresh(template, template.with_name("warm"))
    outputs = [os.dup(1), os.dup(2)]
    codes = {name: _run_here(VERBS[name].words(place), place).code for name in _WARM}
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
