"""The fleets of this process: one for each preloaded file. A fleet starts its zygote for its first lane and keeps it,
so that only the first check waits for it."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzzer.isolate.fleet import Fleet
from fuzzer.system import temporary
from fuzzer.toolchains.preload import Preload
from fuzzer.toolchains.preload import read as read_preload
from fuzzer.toolchains.registry import finder

_Key = tuple[int, Preload | None]
"""The process, because a forked process has no right to the children of its parent; and what is preloaded."""

_fleets: dict[_Key, Fleet] = {}
_lock = threading.Lock()


def shared_fleet(preload: Path | None = None) -> Fleet:
    """The fleet whose processes execute the file first. A file that was changed since gets a fleet of its own. Raise
    `Invalid` where it cannot be read or is not Python."""
    key = os.getpid(), read_preload(preload) if preload else None
    with _lock:
        if key not in _fleets:
            _fleets[key] = Fleet(temporary.new_folder(), finder(preload))
        return _fleets[key]


def close() -> None:
    """End all processes that checks of this process have started. A later check starts new ones."""
    with _lock:
        mine = [key for key in _fleets if key[0] == os.getpid()]
        closing = [_fleets.pop(key) for key in mine]
    for fleet in closing:
        fleet.__exit__(None, None, None)


@contextmanager
def session() -> Iterator[None]:
    """Close everything that checks have started when the context ends: `with difftvm.session(): ...`."""
    try:
        yield
    finally:
        close()


atexit.register(close)
