"""Runs `fuzz` of a checkout as a child process, and says what it costs. Other benchmarks import it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from fuzzer.system.process_tree import descendants
from fuzzer.system.processes import cpu_seconds, die_with_parent

ROOT = Path(__file__).resolve().parents[1]
"""The checkout of this file."""

PATIENCE_SECONDS = 180.0
"""How long a campaign may take to end after SIGINT: a worker finishes the lanes that it runs."""


BEFORE_CHECKOUT = "DIFFTVM_BENCHMARK_PATH"
"""A variable with a folder that comes before the checkout on Python's path, such as `benchmarks/fast_lanes`."""


def environment(checkout: Path) -> dict[str, str]:
    paths = [os.environ.get(BEFORE_CHECKOUT, ""), str(checkout)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def fuzz(*words: object) -> list[str]:
    return [sys.executable, "-m", "fuzzer.cli", *map(str, words)]


def fuzz_to_its_end(checkout: Path, *words: object) -> subprocess.CompletedProcess[bytes]:
    """Run `fuzz` of a checkout, and return its output. Paths in `words` must be absolute: it runs in an empty folder,
    because `python -m` looks for packages in its own folder first."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as empty:
        return subprocess.run(fuzz(*words), cwd=empty, env=environment(checkout), capture_output=True, check=False)


def require_checkout(checkout: Path) -> None:
    """Exit with a message where a child would import difftvm from somewhere else."""
    show = [sys.executable, "-P", "-c", "import fuzzer; print(fuzzer.__path__[0])"]
    done = subprocess.run(show, env=environment(checkout), capture_output=True, text=True, check=False)
    if Path(done.stdout.strip() or ".").resolve() != (checkout / "fuzzer").resolve():
        sys.exit(f"{checkout}: there is no difftvm that a child could import: {done.stdout or done.stderr}")


@contextmanager
def running(checkout: Path, words: Sequence[object], folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start `fuzz` in `folder`, in a session of its own, so that Ctrl-C does not reach it. It is ended on leaving, and
    killed where this process is killed."""
    with log.open("ab") as file:
        process = subprocess.Popen(
            fuzz(*words),
            cwd=folder,
            env=environment(checkout),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
    try:
        yield process
    finally:
        stop(process)


def raise_on_signals() -> None:
    """SIGINT and SIGTERM raise `KeyboardInterrupt`, also where a shell started this process in the background."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def stop(process: subprocess.Popen[bytes]) -> int:
    """Ask it to end, wait, and return its exit code. It is killed where it does not end: its children end with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        return process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        return killed(process)
    except KeyboardInterrupt:
        killed(process)
        raise


def killed(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    return process.wait()


def tree_cpu_seconds(pid: int) -> float:
    """CPU seconds of a process, of all that it started and that live, and of those that these waited for."""
    return sum(map(cpu_seconds, (pid, *descendants(pid))))


def ended_cpu_seconds() -> float:
    """CPU seconds of all children of this process that have ended, and of their children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else ""
