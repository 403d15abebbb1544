"""Kill a campaign with SIGKILL at random moments, continue it each time, and check what is left.

    python benchmarks/kill.py [--kills 50] [--seed 1] [--most-seconds 10] [--lanes GLOB] [--ops GLOB]
                              [--campaign DIR] [--victims supervisor,zygote,child] [--fast] [--most-resume SECONDS]

After each kill, and after a last run that ends by SIGINT:

    every folder in crashes/, waiting/ and parked/ can be read, with its case, and has all its files
    every earlier finding is unchanged, but for a scope or a natural case that was found meanwhile
    every sighting that waited still waits, or is parked, or is a finding or known behaviour now
    no process of the campaign is alive 5 s later
    the index is sound, and knows no finding that is not in crashes/
    `fuzz status --json` works, and can read everything
    at most one test per worker was finished and is not in the index (with `--fast`)
    files and folders that the kill before left half written are gone, where this run began its tests
    a run began its tests within `--most-resume` seconds
    the next test is not one from before, and every test before it is in the index: only tests that ran are repeated

Cases are drawn without guidance, so that they depend on the seed and the number alone. At the end all tests run twice
more, each time in another directory, without a kill and without triage: what they show both times must wait, or be
parked, a finding or known behaviour, in the campaign that was killed. What they show once need not be there: an
exporter that reads memory before anything wrote it fails now and then.

By default the tests run in one cheap lane, whose import often fails, so that a few seconds have many sightings. With
`--fast`, no compiler runs: the lanes of `benchmarks/fast_lanes` take a hundredth of a second.

`--victims` says what is killed: the supervisor, its zygote or a child, with equal chances. A campaign must outlive the
end of a zygote or a child. The supervisor is killed a second later then.
One kill of five comes within `--most-seconds` of the start, while the compilers start, and the others within
`--most-seconds` of the first test. Exits with 1 where a check fails.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
from campaign_files import PARKED, SAVED, WAITING, Counted, Folders, accounts_for, coarse, counted_in, read
from child_campaign import BEFORE_CHECKOUT, ROOT, fuzz_to_its_end, killed, last_line, raise_on_signals, running, stop

from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.database import Empty
from fuzzer.campaign.store.layout import SCRATCH
from fuzzer.campaign.triage.provisional import raised_alike
from fuzzer.findings import finding_file, natural_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.report import regression_test
from fuzzer.signature import Signature, known
from fuzzer.system.process_tree import children, descendants
from fuzzer.system.processes import start_time
from generators import case_file

WORKERS = 2
GRACE_SECONDS = 5.0
START_SECONDS = 120.0
FINISHED = "DIFFTVM_BENCHMARK_FINISHED"
"""As in benchmarks/fast_lanes/sitecustomize.py."""
SUPERVISOR, ZYGOTE, CHILD = VICTIMS = ("supervisor", "zygote", "child")
EARLY = 5
"""One kill of `EARLY` comes while the compilers start."""
SIGHTING_FILES = frozenset({finding_file.NAME, case_file.JSON_NAME, case_file.TENSORS_NAME})
MAY_CHANGE = frozenset(
    {"issue.md", "repro.py", "log.txt", natural_file.NAME, natural_file.TENSORS, regression_test.NAME}
)
"""Files of a finding that are made later, or that then show its natural case."""

FINDING_FILES = SIGHTING_FILES | {"repro.py", "issue.md", "log.txt"}


@dataclass(frozen=True, slots=True)
class Left:
    """What a campaign left on the disk. `digests` has a hash of the files of each finding, by folder."""

    folders: Folders
    digests: dict[str, str]
    counted: Counted
    half_written: frozenset[str] = frozenset()
    """Files and folders whose name begins with `.tmp-`."""

    @property
    def sightings(self) -> int:
        """How often tests met a finding or known behaviour, as it was last committed."""
        return sum(self.counted.found.values()) + sum(self.counted.known.values())


def left_in(campaign: Path) -> Left:
    folders = read(campaign, with_cases=True)
    digests = {name: _digest(campaign / SAVED / name) for name in folders.saved}
    return Left(folders, digests, counted_in(campaign), frozenset(_half_written(campaign)))


def _half_written(campaign: Path) -> Iterator[str]:
    for pattern in (".tmp-*", "*/.tmp-*", "*/*/.tmp-*"):
        for path in campaign.glob(pattern):
            if SCRATCH not in path.parts:
                yield str(path.relative_to(campaign))


def _digest(folder: Path) -> str:
    """The hash of the files that do not change when a scope or a natural case is found later."""
    paths = (path for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    files = {path.name: path.read_bytes() for path in paths if path.name not in MAY_CHANGE}
    document = msgspec.json.decode(files[finding_file.NAME])
    files[finding_file.NAME] = msgspec.json.encode({key: document[key] for key in document if key != "scope"})
    return hashlib.sha256(
        b"\0".join(part for name, data in files.items() for part in (name.encode(), data))
    ).hexdigest()


# Checks: each yields a line for each thing that is wrong


def incomplete(campaign: Path, folders: Folders) -> Iterator[str]:
    """Folders that cannot be read, or that lack files."""
    yield from folders.unreadable
    for place, docs, needed in (
        (SAVED, folders.saved, FINDING_FILES),
        (WAITING, folders.waiting, SIGHTING_FILES),
        (PARKED, folders.parked, SIGHTING_FILES),
    ):
        for name in docs:
            if missing := needed - {path.name for path in (campaign / place / name).iterdir()}:
                yield f"{place}/{name}: {', '.join(sorted(missing))} is missing"


def lost(before: Left, after: Left) -> Iterator[str]:
    """Findings that are gone or changed, and sightings that nothing accounts for."""
    for name, digest in before.digests.items():
        if after.digests.get(name) != digest:
            yield f"{SAVED}/{name}: {'changed' if name in after.digests else 'gone'}"
    still = after.folders.waiting.keys() | after.folders.parked.keys()
    for place, docs in ((WAITING, before.folders.waiting), (PARKED, before.folders.parked)):
        for name in sorted(docs.keys() - still):
            if not (_is_found(docs[name], after.folders) or _is_counted(docs[name], before.counted, after)):
                yield f"{place}/{name}: gone, and neither found nor known"
    if after.counted.next_test < before.counted.next_test:
        yield f"the next test was {before.counted.next_test}, and is {after.counted.next_test} now"


def missed(once: Left, after: Left, twice: Left | None = None) -> Iterator[str]:
    """What the same tests show in a run without a kill, or in both of two, and the campaign that was killed has
    nowhere."""
    twice, folders = twice or once, after.folders
    for name in sorted(once.folders.waiting.keys() & twice.folders.waiting.keys()):
        doc = once.folders.waiting[name]
        alike = (other for other in (*folders.waiting.values(), *folders.parked.values()) if accounts_for(other, doc))
        if not (_is_found(doc, folders) or next(alike, None) or _is_counted(doc, NOT_COUNTED, after)):
            yield f"{name}: a test shows it, and the campaign does not have it"
    for name in sorted((once.counted.known.keys() & twice.counted.known.keys()) - after.counted.known.keys()):
        yield f"{name}: a test shows this known issue, and the campaign has not counted it"


def _is_found(doc: FindingDoc, after: Folders) -> bool:
    """Whether a sighting is a finding now, or known behaviour."""
    signature = coarse(doc)
    if known.match(signature) or known.possible_match(signature, doc.found_in):
        return True
    return any(accounts_for(finding, doc) for finding in after.saved.values())


NOT_COUNTED = Counted()


def _is_counted(doc: FindingDoc, before: Counted, after: Left) -> bool:
    """Whether a finding with the same failure was counted more than once, and more often than before. A finding may
    have other operators than the sighting: the blame can show that it is the same bug, and a message that names
    operators may be the same but for their names."""
    mine = coarse(doc)
    alike = [each.signature for each in after.folders.saved.values() if _fails_alike(coarse(each), mine)]
    return any(after.counted.found.get(key, 0) > max(1, before.found.get(key, 0)) for key in alike)


def unsound(campaign: Path) -> Iterator[str]:
    """What is wrong with the index. A campaign that was killed before its first commit has none, or an empty one."""
    if not (campaign / index.NAME).exists():
        return
    with suppress(Empty), index.Index(campaign, writes=False) as opened:
        for (answer,) in opened.rows(tuple[str], "PRAGMA integrity_check"):
            if answer != "ok":
                yield f"{index.NAME}: {answer}"
        for (slug,) in opened.rows(tuple[str], "SELECT slug FROM findings"):
            if not (campaign / SAVED / str(slug)).is_dir():
                yield f"{index.NAME}: it has {slug}, which is not in {SAVED}/"
        if own := opened.state():
            ((finished,),) = opened.rows(tuple[int], "SELECT count(*) FROM tests WHERE number < ?", own.next_test)
            if finished != own.next_test:
                yield f"{index.NAME}: it has {finished} of {own.next_test} tests"


def _fails_alike(one: Signature, other: Signature) -> bool:
    return one.same_failure(other) or (not other.needs_ops and raised_alike(one, other))


def not_swept(before: Left, after: Left, began_tests: bool) -> Iterator[str]:
    """What a kill left half written, and the start of the next run did not delete."""
    if began_tests:
        for name in sorted(before.half_written & after.half_written):
            yield f"{name}: an earlier kill has left it, and the next start has not deleted it"


def repeated(campaign: Path, finished: Path) -> Iterator[str]:
    """Whether more tests were finished, and are not in the index, than a kill may lose."""
    if not finished.exists() or not (campaign / index.NAME).exists():
        return
    begun = {int(line) for line in finished.read_text().splitlines()}
    with suppress(Empty), index.Index(campaign, writes=False) as opened:
        if unsaved := sorted(begun.difference(opened.done_from(0))):
            finished.write_text("".join(f"{number}\n" for number in sorted(begun.difference(unsaved))))
            if len(unsaved) > WORKERS:
                yield f"{index.NAME}: {len(unsaved)} finished tests are not in it: {unsaved}"


def late(seconds: float, most: float | None) -> Iterator[str]:
    if most is not None and seconds > most:
        yield f"the run began its tests after {seconds:.1f} s"


class Status(msgspec.Struct):
    """The part of `fuzz status --json` that is checked."""

    unreadable: list[str]
    findings: dict[str, int]


def wrong_status(campaign: Path, saved: int) -> Iterator[str]:
    """What is wrong with the answer of `fuzz status --json`. It needs an index with counters."""
    if not (campaign / state.NAME).exists():
        return
    done = fuzz_to_its_end(ROOT, "status", "--json", "--campaign", campaign)
    if done.returncode:
        yield f"fuzz status: exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
        return
    status = msgspec.json.decode(done.stdout, type=Status)
    yield from (f"fuzz status: {line}" for line in status.unreadable)
    if sum(status.findings.values()) != saved:
        yield f"fuzz status: {sum(status.findings.values())} findings, and {saved} in {SAVED}/"


def problems(campaign: Path, before: Left, after: Left, alive: list[int]) -> list[str]:
    return [
        *(f"process {pid} is alive" for pid in alive),
        *incomplete(campaign, after.folders),
        *lost(before, after),
        *unsound(campaign),
        *wrong_status(campaign, len(after.folders.saved)),
    ]


# Kills


class Processes(NamedTuple):
    """The processes of a campaign by pid, with the time at which each started."""

    started: dict[int, int]

    def alive(self) -> list[int]:
        return [pid for pid, began in self.started.items() if began and start_time(pid) == began]


def processes_of(pid: int) -> Processes:
    return Processes({each: start_time(each) for each in (pid, *descendants(pid))})


def survivors(processes: Processes) -> list[int]:
    """The processes that are alive after some seconds at most."""
    deadline = time.monotonic() + GRACE_SECONDS
    while (alive := processes.alive()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return alive


@dataclass(frozen=True, slots=True)
class Moment:
    """When a run is ended, and how: `seconds` after its start, or after its first test began."""

    seconds: float
    of_tests: bool
    how: signal.Signals = signal.SIGKILL
    victim: str = SUPERVISOR

    def __str__(self) -> str:
        begin = "first test began" if self.of_tests else "start"
        return f"{self.how.name} to the {self.victim} {self.seconds:.1f} s after the {begin}"


def moments(seed: int, kills: int, most_seconds: float, victims: Sequence[str] = (SUPERVISOR,)) -> Iterator[Moment]:
    """Those of the kills, and of the run that ends by SIGINT."""
    chance = random.Random(seed)
    for kill in range(kills):
        seconds = chance.uniform(0.5, most_seconds)
        victim = chance.choice(victims)
        yield Moment(seconds, of_tests=kill % EARLY != 0 or victim != SUPERVISOR, victim=victim)
    yield Moment(most_seconds, of_tests=True, how=signal.SIGINT)


def first_commit(process: subprocess.Popen[bytes], campaign: Path) -> float:
    """Wait until a run commits for the first time: it does so when the compilers have started. Return the seconds."""
    path, began = campaign / state.NAME, time.monotonic()
    deadline = began + START_SECONDS
    before = path.stat().st_mtime_ns if path.exists() else 0
    while not path.exists() or path.stat().st_mtime_ns == before:
        if process.poll() is not None or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return time.monotonic() - began


def words_of(campaign: Path, options: argparse.Namespace) -> tuple[object, ...]:
    chosen = ("--lanes", options.lanes, "--ops", options.ops, "--workers", WORKERS, "--random")
    return "run", "--seed", options.seed, "--campaign", campaign, *chosen


def run_without_a_kill(options: argparse.Namespace, folder: Path, first: int, end: int) -> Left:
    """Run the tests from `first` to before `end` in the new directory `folder`. Exit where that fails."""
    os.environ.pop(FINISHED, None)
    words = (*words_of(folder, options), "--first", first, "--end", end, "--triage-share", 0, "--drain", 0)
    log = folder.parent / f"{folder.name}.log"
    with running(ROOT, words, folder.parent, log) as process:
        if code := process.wait():
            sys.exit(f"the run without a kill ended with exit code {code}: {last_line(log)}")
    return left_in(folder)


def run_and_end(campaign: Path, options: argparse.Namespace, moment: Moment) -> tuple[Processes, float]:
    """Run the campaign, and end it at this moment. Return its processes, and the seconds until its first test began; 0
    where it was not waited for. Exit where it ends by itself."""
    seconds = 0.0
    log = campaign.parent / f"{campaign.name}.log"
    with running(ROOT, words_of(campaign, options), campaign.parent, log) as process:
        if moment.of_tests:
            seconds = first_commit(process, campaign)
        time.sleep(moment.seconds)
        if process.poll() is not None:
            sys.exit(f"the campaign ended by itself with exit code {process.returncode}: {last_line(log)}")
        processes = processes_of(process.pid)
        if moment.how is signal.SIGKILL:
            if moment.victim != SUPERVISOR:
                _kill_below(process.pid, moment.victim)
                time.sleep(1.0)
                if process.poll() is not None:
                    sys.exit(f"the campaign ended with its {moment.victim}: {last_line(log)}")
                processes = Processes({**processes.started, **processes_of(process.pid).started})
            killed(process)
        elif code := stop(process):
            sys.exit(f"the campaign ended with exit code {code}: {last_line(log)}")
    return processes, seconds


def _kill_below(pid: int, victim: str) -> None:
    """Kill the zygote of a supervisor, or one of the children of the zygote."""
    for zygote in children(pid):
        pids = [zygote] if victim == ZYGOTE else children(zygote)[:1]
        for each in pids:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def victims_of(text: str) -> list[str]:
    victims = text.split(",")
    if not set(victims) <= set(VICTIMS):
        raise argparse.ArgumentTypeError(f"{text!r} is not of {', '.join(VICTIMS)}")
    return victims


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--campaign", type=Path, help="a campaign to continue; a new one by default")
    parser.add_argument("--most-seconds", type=float, default=10.0)
    parser.add_argument("--lanes", default="relax-export-raw-llvm")
    parser.add_argument("--ops", default="*", help="for tests that are cheaper still")
    parser.add_argument("--victims", type=victims_of, default=[SUPERVISOR])
    parser.add_argument("--fast", action="store_true", help="no compilers: the lanes of benchmarks/fast_lanes")
    parser.add_argument("--most-resume", type=float, metavar="SECONDS", help="a later first test is wrong")
    options = parser.parse_args()
    if options.fast:
        os.environ[BEFORE_CHECKOUT] = str(ROOT / "benchmarks" / "fast_lanes")
    raise_on_signals()
    campaign = (options.campaign or Path(tempfile.mkdtemp(prefix="difftvm-kill-")) / "campaign").resolve()
    campaign.mkdir(parents=True, exist_ok=True)
    before, bad, slowest = left_in(campaign), 0, 0.0
    first = before.counted.next_test
    finished = campaign.parent / f"{campaign.name}.finished"
    finished.unlink(missing_ok=True)
    if options.fast:
        os.environ[FINISHED] = str(finished)
    for number, moment in enumerate(moments(options.seed, options.kills, options.most_seconds, options.victims), 1):
        processes, seconds = run_and_end(campaign, options, moment)
        slowest = max(slowest, seconds)
        alive, after = survivors(processes), left_in(campaign)
        lines = problems(campaign, before, after, alive)
        lines += [*not_swept(before, after, moment.of_tests), *repeated(campaign, finished)]
        lines += late(seconds, options.most_resume)
        bad += len(lines)
        folders = after.folders
        print(
            f"{number} {moment}: {len(processes.started)} processes, "
            f"{len(folders.saved)} findings, {len(folders.waiting)} waiting, {len(folders.parked)} parked, "
            f"{after.sightings} sightings counted, next test {after.counted.next_test}"
            f"{''.join(f'{os.linesep}  BAD {line}' for line in lines)}",
            flush=True,
        )
        before = after
    end = before.counted.next_test
    beside = Path(tempfile.mkdtemp(prefix="difftvm-kill-"))
    once, twice = (run_without_a_kill(options, beside / name, first, end) for name in ("once", "twice"))
    lines = list(missed(once, before, twice))
    bad += len(lines)
    both = once.folders.waiting.keys() & twice.folders.waiting.keys()
    either = once.folders.waiting.keys() | twice.folders.waiting.keys()
    shown = f"tests {first} to {end} twice without a kill: {len(both)} sightings both times, {len(either - both)} once"
    print(shown, *(f"  BAD {line}" for line in lines), sep="\n")
    print(f"{options.kills} kills, {bad} things wrong; a run began its tests after {slowest:.1f} s at most; {campaign}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
