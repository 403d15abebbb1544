"""Run the gate in clean clones under several conditions, and print a table: exit code, minutes, tests, unstable tests.

    python benchmarks/gate_runs.py [--conditions idle,busy,...] [--times 3]

Each run is on the commit that is checked out, in a new clone. The result must be the same under each condition. The
first two run `.ci/run`, as CI does. It gives the tests a home and variables of their own, so that the others run
`make install`, and then `make test` under the condition:

    idle       nothing else runs
    busy       four endless loops take the cores, during the installation too
    offline    the network is taken away after the installation: a namespace that has loopback only (needs root)
    full-home  the user's home has a cache of difftvm with a toolchain that cannot be read
    pythonpath PYTHONPATH names a folder with a package `fuzzer` that raises
    next-year  the clock is a year ahead, by the program faketime
    no-devices chromium, oclgrind, and the drivers of OpenCL and Vulkan are hidden (needs root)

`full-home+next-year` is one run under both. CI never runs this program. A condition whose program is missing is left
out with one line.

Named after `--conditions`, these plant a fault in the clone, run `.ci/run`, and print its last lines too:

    failing-test      a test that fails: exit 21
    flaky-test        a test that fails, and passes when it runs again: exit 0, unstable
    style-error       a line that ruff refuses: exit 10
    type-error        a line that mypy refuses: exit 11
    pip-fails-twice   a setting that pip cannot read, until the installation has failed twice: exit 0
    pip-fails-always  the same, and it stays: exit 12
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")
UNSTABLE = re.compile(r"^unstable \(\w+\) (.*)", re.MULTILINE)

LOOPBACK_UP = (
    "import fcntl, socket, struct, os, sys; s = socket.socket();"
    "fcntl.ioctl(s, 0x8914, struct.pack('16sh', b'lo', 1)); os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Sets the interface lo up (SIOCSIFFLAGS, netdevice(7)), and becomes the command."""


OPTIONAL = ("/usr/bin/chromium", "/usr/bin/oclgrind", "/etc/OpenCL/vendors", "/usr/share/vulkan/icd.d")
"""What a machine may have or not: a browser, a checker, and the folders that name drivers of OpenCL and Vulkan."""

HIDDEN = (
    "import os, subprocess, sys\n"
    f"for path in filter(os.path.exists, {OPTIONAL}):\n"
    "    what = ['-t', 'tmpfs', 'none'] if os.path.isdir(path) else ['--bind', '/dev/null']\n"
    "    subprocess.run(['mount', *what, path], check=True)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Mounts nothing over each of `OPTIONAL`, in a mount namespace, and becomes the command."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a condition changes for a run: variables, and words before the command of the tests. `as_ci`: it is no other
    than that of `.ci/run`."""

    environment: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    as_ci: bool = False


@dataclass(frozen=True, slots=True)
class GateRun:
    """One run of the gate. `counts`: passed, failed, skipped."""

    code: int
    minutes: float
    counts: tuple[str, ...]
    unstable: tuple[str, ...]


@contextlib.contextmanager
def idle(folder: Path) -> Iterator[Prepared]:
    yield Prepared(as_ci=True)


@contextlib.contextmanager
def busy(folder: Path) -> Iterator[Prepared]:
    loops = [subprocess.Popen([sys.executable, "-P", "-c", "while True: pass"]) for _ in range(4)]
    try:
        yield Prepared(as_ci=True)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextlib.contextmanager
def offline(folder: Path) -> Iterator[Prepared]:
    yield Prepared(before=("unshare", "--net", sys.executable, "-P", "-c", LOOPBACK_UP))


@contextlib.contextmanager
def full_home(folder: Path) -> Iterator[Prepared]:
    record = folder / "home" / ".cache" / "difftvm" / "toolchains" / "old" / "toolchain.json"
    record.parent.mkdir(parents=True)
    record.write_text("{")
    yield Prepared({"HOME": str(folder / "home")})


@contextlib.contextmanager
def pythonpath(folder: Path) -> Iterator[Prepared]:
    (folder / "path" / "fuzzer").mkdir(parents=True)
    (folder / "path" / "fuzzer" / "__init__.py").write_text("raise ImportError('not this one')\n")
    yield Prepared({"PYTHONPATH": str(folder / "path")})


@contextlib.contextmanager
def next_year(folder: Path) -> Iterator[Prepared]:
    yield Prepared(before=("faketime", "-f", "+365d"))


@contextlib.contextmanager
def no_devices(folder: Path) -> Iterator[Prepared]:
    yield Prepared(before=("unshare", "--mount", sys.executable, "-P", "-c", HIDDEN))


FAILING_TEST = "def test_that_fails() -> None:\n    assert [1, 2] == [1, 3]\n"
FLAKY_TEST = """from pathlib import Path


def test_that_fails_once() -> None:
    ran = Path(__file__).with_suffix(".ran")
    before = ran.exists()
    ran.touch()
    assert before, "it runs for the first time"
"""


def planted(name: str, text: str) -> Callable[[Path], contextlib.AbstractContextManager[Prepared]]:
    """The condition that a file is added to the clone."""

    @contextlib.contextmanager
    def condition(folder: Path) -> Iterator[Prepared]:
        (folder / "main" / name).write_text(text)
        yield Prepared(as_ci=True)

    return condition


def pip_fails(times: int | None = None) -> Callable[[Path], contextlib.AbstractContextManager[Prepared]]:
    """The condition that the installation fails `times` times, or always: pip reads settings that are none."""

    @contextlib.contextmanager
    def condition(folder: Path) -> Iterator[Prepared]:
        settings, ended = folder / "pip.conf", threading.Event()
        settings.write_text("no settings\n")

        def mend() -> None:
            while not ended.wait(1):
                if (folder / "log").read_text(errors="replace").count("\nthe installation failed\n") == times:
                    settings.write_text("")

        watch = threading.Thread(target=mend)
        watch.start()
        try:
            yield Prepared({"PIP_CONFIG_FILE": str(settings)}, as_ci=True)
        finally:
            ended.set()
            watch.join()

    return condition


FAULTS: Mapping[str, Callable[[Path], contextlib.AbstractContextManager[Prepared]]] = {
    "failing-test": planted("tests/test_planted_failing.py", FAILING_TEST),
    "flaky-test": planted("tests/test_planted_flaky.py", FLAKY_TEST),
    "style-error": planted("fuzzer/planted.py", "import os\n"),
    "type-error": planted("fuzzer/planted.py", '"""Planted."""\n\nNUMBER: int = "no number"\n'),
    "pip-fails-twice": pip_fails(2),
    "pip-fails-always": pip_fails(),
}

CONDITIONS: Mapping[str, Callable[[Path], contextlib.AbstractContextManager[Prepared]]] = {
    "idle": idle,
    "busy": busy,
    "offline": offline,
    "full-home": full_home,
    "pythonpath": pythonpath,
    "next-year": next_year,
    "no-devices": no_devices,
}


@contextlib.contextmanager
def every(conditions: str, folder: Path) -> Iterator[Prepared]:
    """Several conditions at the same time: `full-home+next-year`."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context({**CONDITIONS, **FAULTS}[name](folder)) for name in conditions.split("+")]
        environment = {name: value for each in found for name, value in each.environment.items()}
        before = tuple(word for each in found for word in each.before)
        yield Prepared(environment, before, as_ci=all(each.as_ci for each in found))


NOT_INSTALLED = 12
SHOWN = 60
"""Lines of the log of a red run: the gate names what failed in its last ones."""
NEEDS = {"offline": "unshare", "next-year": "faketime", "no-devices": "unshare"}


def run(condition: str, folder: Path) -> GateRun:
    """Run the gate once. Its code is that of the run, or 12 where the installation fails."""
    clone, log, record = folder / "main", folder / "log", folder / "record"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    with every(condition, folder) as prepared, log.open("wb") as out:
        environment = {**os.environ, **prepared.environment, "CI": "true"}

        def call(*command: str) -> int:
            return subprocess.call(
                command, cwd=clone, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )

        start = time.monotonic()
        if prepared.as_ci:
            code = call("bash", ".ci/run")
        elif call("make", "install"):
            code = NOT_INSTALLED
        else:
            call(*prepared.before, "make", "test", f"RECORD={record}")
            code = int((record / "code").read_text()) if (record / "code").exists() else 1
        minutes = (time.monotonic() - start) / 60
    text = log.read_text(errors="replace")
    if code or not FAULTS.keys().isdisjoint(condition.split("+")):
        print("\n".join(text.splitlines()[-SHOWN:]), file=sys.stderr)
    counts = COUNTS.findall(text)
    return GateRun(code, minutes, counts[-1] if counts else ("-", "-", "-"), tuple(UNSTABLE.findall(text)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help="some of them, or faults, with commas")
    parser.add_argument("--times", type=int, default=1, help="runs under each condition")
    options = parser.parse_args()
    print(
        "| condition | exit | minutes | passed | failed | skipped | unstable |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    for condition in options.conditions.split(","):
        missing = [
            program for name in condition.split("+") if (program := NEEDS.get(name)) and not shutil.which(program)
        ]
        if missing:
            print(f"{condition} is left out: there is no {missing[0]} on PATH", file=sys.stderr)
            continue
        for _ in range(options.times):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                done = run(condition, Path(folder))
            cells = (condition, str(done.code), f"{done.minutes:.1f}", *done.counts, ", ".join(done.unstable) or "-")
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
