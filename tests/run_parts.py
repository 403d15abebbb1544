"""Runs parts of the suite, and says in its last lines what is wrong.

    python tests/run_parts.py [--go-on] [--minutes N] [--record FOLDER] PART ...

A test that fails runs once more, alone, after all others of its part. If it passes then, it is called unstable. Up to
five unstable tests do not fail a part. Exit codes: 0; 10 style; 11 types; 12 the installation of what a part needs;
13 a module cannot be collected, or pytest itself ended; 20 and the number of failed tests, at most 60; 90 when the time
is over. The first part that is not right gives the code."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parts import GATE, MARKS

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent
MOST_UNSTABLE = 5
MOST_LINES = 60
MOST_SKIPS = 10
LINES_OF_MESSAGE = (6, 3, 1, 0)
"""The lines of a message: fewer where so many tests failed that the summary would be too long."""
WIDTH = 200

NOT_INSTALLED = 12
UNCOLLECTED = 13
FAILED = 20
MOST_COUNTED = 60
OVER_TIME = 90

SOME_FAILED, NO_TESTS = 1, 5
"""Exit codes of pytest: tests failed; there is no test. With any other one but 0, some tests may not have run."""

CHECKS = {
    "style": (10, (("ruff", "check", "."), ("ruff", "format", "--check", "."))),
    "types": (11, (("mypy",), ("mypy", "--config-file", "tests/mypy.ini"))),
}
"""Parts that run no tests: their exit code and commands."""

INSTALLS = {"toolchains": ("make", "toolchains")}
"""What installs the things that the tests of a part need."""

ONE_PROCESS = frozenset({"toolchains", "browser"})
"""Parts whose tests share what they use, so that they run one after the other."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a test ended: `passed`, `failed`, `skipped` or `uncollected`."""

    test: str
    outcome: str
    message: str


@dataclass(slots=True)
class PartResult:
    """What a part of the suite showed; `seconds` of wall time, `cpu_seconds` with those of children."""

    name: str
    code: int = 0
    passed: int = 0
    failed: list[Ended] = field(default_factory=list)
    unstable: list[Ended] = field(default_factory=list)
    skipped: list[Ended] = field(default_factory=list)
    problem: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class OverTime(Exception):
    """The time of the whole run is over."""


class Deadline:
    """Runs commands until a moment, and ends what runs then."""

    def __init__(self, minutes: float) -> None:
        self._end = time.monotonic() + 60 * minutes

    def run(self, command: Sequence[str | Path]) -> int:
        """The exit code of a command. Raises `OverTime`, after the command was ended."""
        return self.together((command,))[0]

    def together(self, commands: Sequence[Sequence[str | Path]]) -> list[int]:
        """The exit codes of commands that run side by side. Raises `OverTime`, after they were ended."""
        for command in commands:
            print(f"$ {Path(command[0]).name} {' '.join(map(str, command[1:]))}", flush=True)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # others' packages
        processes = [
            subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) for command in commands
        ]
        how = signal.SIGTERM
        try:
            return [process.wait(max(1.0, self._end - time.monotonic())) for process in processes]
        except subprocess.TimeoutExpired:
            raise OverTime from None
        except KeyboardInterrupt:
            how = signal.SIGINT
            raise
        finally:
            _end(processes, how)


def _end(processes: Sequence[subprocess.Popen[bytes]], first: signal.Signals) -> None:
    """End the commands that run: 30 seconds after the first signal, by SIGKILL. End what any of them has left."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        os.killpg(process.pid, first)
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_check(name: str, deadline: Deadline) -> PartResult:
    """Run the commands of a check, side by side."""
    code, commands = CHECKS[name]
    codes = deadline.together([(PROGRAMS / command[0], *command[1:]) for command in commands])
    found = [" ".join(command) for command, ended in zip(commands, codes, strict=True) if ended]
    return PartResult(name, code if found else 0, problem=f"see above: {' and '.join(found)}" if found else "")


def run_tests(name: str, deadline: Deadline, logs: Path) -> PartResult:
    """Run the tests of a part, then those that failed once more, alone."""
    result = PartResult(name)
    log = logs / f"{name}.jsonl"
    workers = ("-n", "0") if name in ONE_PROCESS else ("-n", "auto", "--dist", "worksteal")
    if name in INSTALLS and deadline.run(INSTALLS[name]):
        result.code = NOT_INSTALLED
        result.problem = f"`{' '.join(INSTALLS[name])}` failed, see above; no test ran"
        return result
    try:
        code = deadline.run((PROGRAMS / "pytest", *workers, f"--part={name}", f"--outcome-log={log}"))
    except OverTime:
        result.code = OVER_TIME
        result.problem = f"the time was over before all tests of {name} had ended"
        _sort(read(log), (), result)
        return result
    first = read(log)
    if uncollected := [ended for ended in first if ended.outcome == "uncollected"]:
        result.failed = list({ended.test: ended for ended in uncollected}.values())
        result.code = UNCOLLECTED
        result.problem = "these modules cannot be collected; no test ran"
        return result
    failed = list(dict.fromkeys(ended.test for ended in first if ended.outcome == "failed"))
    if code != (SOME_FAILED if failed else 0) and not (code == NO_TESTS and name != GATE):
        result.code = UNCOLLECTED
        result.problem = f"pytest itself ended with {code}, so that some tests may not have run: see above"
        _sort(first, (), result)
        return result
    again: list[Ended] = []
    if 0 < len(failed) <= MOST_COUNTED:
        log = logs / f"{name}-again.jsonl"
        try:
            deadline.run(
                (PROGRAMS / "pytest", "-n", "0", "--tb=short", f"--part={name}", f"--outcome-log={log}", *failed)
            )
        except OverTime:
            result.code = OVER_TIME
            result.problem = "the time was over before the failed tests had run again"
        again = read(log)
    _sort(first, again, result)
    red = len(result.failed) or (len(result.unstable) if len(result.unstable) > MOST_UNSTABLE else 0)
    if red and not result.code:
        result.code = FAILED + min(red, MOST_COUNTED)
    return result


def read(log: Path) -> list[Ended]:
    """How the tests of a log ended; a last line that is incomplete is left out."""
    if not log.exists():
        return []
    return [Ended(**json.loads(line)) for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _sort(first: Sequence[Ended], again: Sequence[Ended], result: PartResult) -> None:
    """Sort the tests of a part by how they ended: `again` has the second runs of those that failed."""
    failed: dict[str, Ended] = {}
    for ended in first:
        if ended.outcome == "failed":
            failed.setdefault(ended.test, ended)
    still = {ended.test for ended in again if ended.outcome == "failed"}
    mended = {ended.test for ended in again if ended.outcome == "passed"} - still
    result.failed = [ended for test, ended in failed.items() if test not in mended]
    result.unstable = [ended for test, ended in failed.items() if test in mended]
    result.skipped = [ended for ended in first if ended.outcome == "skipped"]
    result.passed = len({ended.test for ended in first if ended.outcome == "passed"} - set(failed)) + len(
        result.unstable
    )


def summary(results: Sequence[PartResult], kept: str) -> list[str]:
    """The last lines of a run, at most 60: a table, skips by reason, then each test that failed or is unstable. `kept`
    says where to read the rest."""
    lines = ["", f"{'part':<12}{'passed':>8}{'failed':>8}{'unstable':>10}{'skipped':>9}{'minutes':>9}{'CPU':>7}"]
    for part in results:
        counts = f"{part.passed:>8}{len(part.failed):>8}{len(part.unstable):>10}{len(part.skipped):>9}"
        lines.append(f"{part.name:<12}{counts}{part.seconds / 60:>9.1f}{part.cpu_seconds / 60:>7.1f}")
    reasons = Counter(ended.message for part in results for ended in part.skipped).most_common()
    lines += [f"skipped {count}: {reason}"[:WIDTH] for reason, count in reasons[: MOST_SKIPS - 1]]
    if rest := reasons[MOST_SKIPS - 1 :]:
        lines.append(f"skipped {sum(count for _, count in rest)} for {len(rest)} other reasons")
    lines += [f"{part.name}: {part.problem}" for part in results if part.problem]
    lines += _named(results, MOST_LINES - len(lines) - 1, kept)
    passed = sum(part.passed for part in results)
    failed = sum(len(part.failed) or part.code != 0 for part in results)
    skipped = sum(len(part.skipped) for part in results)
    return [*lines, f"{passed} passed, {failed} failed, {skipped} skipped"]


def _named(results: Sequence[PartResult], room: int, kept: str) -> list[str]:
    """What the summary says of each test that is unstable or failed, the failed ones last. The more there are, the less
    is said of each. Where not all have room, the first ones are left out, and counted."""
    unstable = [("unstable", part, ended) for part in results for ended in part.unstable]
    every = [*unstable, *(("FAILED", part, ended) for part in results for ended in part.failed)]
    for most in LINES_OF_MESSAGE:
        blocks = [_block(*each, most) for each in every]
        if sum(map(len, blocks)) <= room:
            return [line for block in blocks for line in block]
    lines = [line for block in blocks for line in block]
    shown = lines[len(lines) - room + 1 :]  # one line is for the number of the others
    return [f"{len(lines) - len(shown)} more{kept}", *shown]


def _block(word: str, part: PartResult, ended: Ended, most: int) -> list[str]:
    """What the summary says of a test: at most `most` lines of its first message, and how to run it alone."""
    head = f"{word} ({part.name}) {ended.test}"[:WIDTH]
    if most == 0:
        return [head]
    message = [line[:WIDTH] for line in ended.message.splitlines() if line.strip()]
    if len(message) > most:
        message = [*message[: most - 1], message[-1]] if most > 1 else message[:1]
    how = f"    alone: {PROGRAMS.parent.name}/bin/pytest -n 0 --part={part.name} {shlex.quote(ended.test)}"
    return [head, *(f"    {line}" for line in message), how]


def run(names: Sequence[str], deadline: Deadline, logs: Path, go_on: bool) -> list[PartResult]:
    """Run parts in this order, up to the first that is not right, or with `go_on` all of them."""
    results = []
    for name in names:
        wall, cpu = time.monotonic(), _cpu_seconds()
        try:
            result = run_check(name, deadline) if name in CHECKS else run_tests(name, deadline, logs)
        except OverTime:
            result = PartResult(name, code=OVER_TIME, problem="the time was over")
        result.seconds, result.cpu_seconds = time.monotonic() - wall, _cpu_seconds() - cpu
        results.append(result)
        if result.code == OVER_TIME or (result.code and not go_on):
            break
    return results


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run parts of the suite.")
    parser.add_argument("parts", nargs="+", choices=[*CHECKS, GATE, *MARKS], metavar="PART")
    parser.add_argument("--go-on", action="store_true", help="run the next part after one that fails")
    parser.add_argument("--minutes", type=float, default=600.0, help="end after this time with what there is")
    parser.add_argument("--record", type=Path, help="keep the outcomes, the summary and the exit code in this folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        logs = (options.record or Path(temporary)).resolve()
        logs.mkdir(parents=True, exist_ok=True)
        results = run(options.parts, Deadline(options.minutes), logs, options.go_on)
        kept = f": see {logs}" if options.record else "; --record FOLDER keeps all of them"
        lines = summary(results, kept)
        print("\n".join(lines), flush=True)
        code = next((part.code for part in results if part.code), 0)
        if options.record:
            (logs / "summary").write_text("\n".join(lines) + "\n")
            (logs / "code").write_text(f"{code}\n")
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # after what runs was ended
    sys.exit(main())
