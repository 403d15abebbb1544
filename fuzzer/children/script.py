"""Run a Python file in a child of the zygote, which has imported torch and TVM already, as `python -P FILE` would.

The file gets its own arguments, folder and `__main__`, and torch as it is installed. difftvm's modules are loaded in
this process, and the file cannot import them: a finding's script must stand alone.

A script whose bug may kill its process starts itself anew. Here a fork does that: an interpreter would import torch and
TVM once more, which takes ten times as long as the rest.
"""

from __future__ import annotations

import gc
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzer.lanes.torch.decompositions import forget_decompositions
from fuzzer.toolchains.toolchain import PACKAGES

RunProcess = Callable[..., subprocess.CompletedProcess[Any]]


def run(path: str) -> int:
    """Run the file in its folder; return the exit status that an interpreter would end with."""
    folder = str(Path(path).parent)
    os.chdir(folder)
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    sys.argv = [path]
    forget_decompositions()
    _hide_own_packages()
    gc.enable()
    subprocess.run = _with_forks_of(path, subprocess.run)
    return _ended(path)


def _ended(path: str) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return _status(end)
    except BaseException as error:
        return _status_of_exception(error)
    return 0


def _with_forks_of(path: str, run_process: RunProcess) -> RunProcess:
    """`subprocess.run`, where a file that starts itself, without further options, runs in a fork of this process. A
    process with threads is not forked."""

    def run_or_fork(command: Any, *arguments: Any, **options: Any) -> subprocess.CompletedProcess[Any]:
        starts_itself = isinstance(command, list) and command[:2] == [sys.executable, path]
        if not starts_itself or arguments or options or len(os.listdir("/proc/self/task")) > 1:
            return run_process(command, *arguments, **options)
        pid = os.fork()
        if pid == 0:
            sys.argv = command[1:]
            os._exit(_ended(path))
        _, status = os.waitpid(pid, 0)
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status))

    return run_or_fork


def _hide_own_packages() -> None:
    """Make `import fuzzer` and the like raise ModuleNotFoundError. Code that is running keeps what it has imported."""
    for name in list(sys.modules):
        if name.partition(".")[0] in PACKAGES:
            del sys.modules[name]
    sys.modules.update(dict.fromkeys(PACKAGES))  # type: ignore[arg-type]  # None stands for a module that is not there


def _status_of_exception(error: BaseException) -> int:
    """Call the excepthook, which the file may have replaced: a script of a finding ends with 125 then."""
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as end:
        return _status(end)
    except BaseException:
        traceback.print_exc()
    return 1


def _status(end: SystemExit) -> int:
    """Return the exit status that `sys.exit` asks for: 0 for None, 1 for a text."""
    if end.code is None:
        return 0
    return end.code & 0xFF if isinstance(end.code, int) else 1
