"""`--preload FILE.py`: a file of the user that each process with TVM executes before its first lane.

Only the command line can name such a file: a case, finding or campaign cannot. The supervisor reads it and never
executes it.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from fuzzer.system.named_file import MOST_SOURCE, parsed, read_named
from fuzzer.toolchains import reached
from generators.graph import Invalid

MODULE = "__preload__"


@dataclass(frozen=True, slots=True)
class Preload:
    """An absolute path, and the sha256 of the file when the command began. A changed file is not executed."""

    path: str
    sha256: str

    @property
    def arguments(self) -> tuple[str, str]:
        """The command-line arguments from which a child process makes it again: `Preload(*arguments)`."""
        return self.path, self.sha256

    @property
    def note(self) -> str:
        """What a finding records among its versions: the file's name, and the beginning of the sha256."""
        return f"{Path(self.path).name} {self.sha256[:12]}"


class PreloadFailed(Exception):
    """The message is one sentence: the file, the line, and what went wrong."""


def read(path: Path) -> Preload:
    """Raise `Invalid` where there is no such file, or where it is not Python."""
    try:
        data = read_named(path, MOST_SOURCE)
        parsed(data, path)
    except OSError as error:
        raise Invalid(f"--preload {path}: {error.strerror}") from None
    except SyntaxError as error:
        raise Invalid(f"--preload {path}, line {error.lineno}: {type(error).__name__}: {error.msg}") from None
    except Invalid as error:
        raise Invalid(f"--preload {error}") from None
    return Preload(str(path.resolve()), hashlib.sha256(data).hexdigest())


def execute(preload: Preload) -> dict[str, str]:
    """Execute the file as a module that stays loaded; return the entry for the versions. Raise `PreloadFailed`.

    Processes that import TVM call this. Calls of the file's functions are noted (`reached`). The file may not start
    threads: a forked child would not have them.
    """
    data = _bytes(preload)
    module = types.ModuleType(MODULE)
    module.__file__ = preload.path
    sys.modules[MODULE] = module
    linecache.checkcache(preload.path)
    before = _threads()
    try:
        exec(reached.compiled(data, preload.path, Path(preload.path).name), module.__dict__)
    except (Exception, SystemExit) as error:
        raise PreloadFailed(f"--preload {preload.path}{_line(preload, error)}: {_message(error)}") from error
    if (more := _threads() - before) > 0:
        raise PreloadFailed(f"--preload {preload.path}: it leaves {more} threads behind, which no forked process has")
    return {"preload": preload.note}


def _bytes(preload: Preload) -> bytes:
    try:
        data = read_named(Path(preload.path), MOST_SOURCE)
    except OSError as error:
        raise PreloadFailed(f"--preload {preload.path}: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != preload.sha256:
        raise PreloadFailed(f"--preload {preload.path}: it was changed since the command began")
    return data


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _line(preload: Preload, error: BaseException) -> str:
    """The innermost line of the traceback that lies in the file itself."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == preload.path]
    return f", line {lines[-1]}" if lines else ""


def _message(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0][:300]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
