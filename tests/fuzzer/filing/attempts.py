"""Attempts to file in processes of their own, each killed at a point of one's choice.

A point is before or after any call by which filing reaches the books, the tracker or the compilers: all there are, in
the order in which they are come to. Processes are forked from one that has imported everything (multiprocessing's
forkserver).
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[2])]

from desk import SHORT_SCOPE, Place, read  # noqa: E402

from fuzzer.filing import draft as drafts  # noqa: E402
from fuzzer.filing.filing import Filed, submit  # noqa: E402
from fuzzer.filing.github import GitHub  # noqa: E402
from fuzzer.filing.ledger import Ledger  # noqa: E402
from fuzzer.filing.tracker import Unreachable  # noqa: E402

REACHES = (
    (Ledger, ("entry", "sent_today", "intend", "filed", "refused")),
    (GitHub, ("create", "search", "find", "changed_since")),
)
FIRST = "entry"
"""The call before which the first point is."""

FILED, NOT_FILED, NO_ANSWER = 0, 3, 4

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["attempts"])


@dataclass(frozen=True, slots=True)
class Ended:
    """`code` is the exit status; `killed` where it came to the point at which it was to die."""

    code: int
    killed: bool


def attempt(place: Place, folder: Path, state: Path, die_at: int | None = None, since: str = FIRST) -> Ended:
    """File one finding; killed at its `die_at`-th point, if it comes to that many."""
    process = begun(place, folder, state, die_at, since)
    process.join(300)
    assert process.exitcode is not None, "it hangs"
    return Ended(process.exitcode, process.exitcode == -signal.SIGKILL)


def begun(place: Place, folder: Path, state: Path, die_at: int | None = None, since: str = FIRST) -> Any:
    _start_forkserver()
    process = _processes.Process(target=_file, args=(place, folder, state, die_at, since))
    process.start()
    return process


@functools.cache
def _start_forkserver() -> None:
    """The process finds this module by its environment, because it does not use our sys.path (Python 3.11)."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    forkserver.ensure_running()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def _file(place: Place, folder: Path, state: Path, die_at: int | None, since: str) -> None:
    os.environ["XDG_STATE_HOME"] = str(state)
    drafts.scope_of = SHORT_SCOPE
    _die_at(die_at, since)
    draft = read(folder)
    context = replace(place.context(draft), trusts=True)  # the key of its mark is in another state folder
    try:
        outcome = submit(draft, context)
    except Unreachable:
        os._exit(NO_ANSWER)
    os._exit(FILED if isinstance(outcome, Filed) else NOT_FILED)


def _die_at(point: int | None, since: str) -> None:
    """Points are counted from the first call of `since` on."""
    passed = itertools.count(1)
    begun: set[str] = set()

    def pass_point(name: str) -> None:
        begun.add(name)
        if since in begun and next(passed) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def between(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapped(*args: Any, **more: Any) -> Any:
            pass_point(name)
            result = call(*args, **more)
            pass_point(name)
            return result

        return wrapped

    for owner, names in REACHES:
        for name in names:
            setattr(owner, name, between(getattr(owner, name), name))
