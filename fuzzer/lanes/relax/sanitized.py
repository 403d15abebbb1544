"""Run a library that was built with AddressSanitizer and UndefinedBehaviorSanitizer.

AddressSanitizer must be the first library of its process, which is impossible in a forked child. The library runs in a
fresh interpreter that loads only TVM's runtime (0.4 s of CPU, half of it for the import), or all of TVM where the
compiled code needs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax import sanitized_run
from fuzzer.lanes.relax.sanitized_run import read, write
from generators.graph import Array
from oracles.outcome import Ran, Stage

_OBJECTED = 99
"""The exit status with which a sanitizer ends the process."""

_OPTIONS = {
    # no leak detection: Python and TVM do not free their memory at exit
    "ASAN_OPTIONS": f"detect_leaks=0:exitcode={_OBJECTED}",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:exitcode={_OBJECTED}",
}

_RUNTIME_ONLY = {"TVM_USE_RUNTIME_LIB": "1"}

_IN_PYTHON = "Cannot find ffi::Function relax.run."
"""The message where compiled code calls a function that `tvm.relax` registers, such as relax.run.assert_op."""


_TRACEBACK = "Traceback (most recent call last)"


class SanitizerReport(CompilerError):
    """A sanitizer's report. The message is the whole report."""

    __module__ = "fuzzer.lanes.sanitized"  # the name in findings that are saved


class RunFailed(CompilerError):
    """The process failed without a report. The message is its output."""

    __module__ = "fuzzer.lanes.sanitized"  # the name in findings that are saved


def run(library: Path, inputs: Mapping[str, Array], compiler: str, step: Step) -> Ran:
    """Run the library twice. Raise `SanitizerReport` where a sanitizer reports an error.

    Raise `NotImplementedError` where Python raises an exception: that concerns no sanitizer, and the lane without one
    shows it, with its own message."""
    step(Stage.RUN)
    write(library.with_name("inputs"), list(inputs.values()))
    command = [sys.executable, "-P", sanitized_run.__file__, str(library)]
    environment = {**os.environ, **_OPTIONS, "LD_PRELOAD": " ".join(runtime(compiler))}
    done = _done(command, {**environment, **_RUNTIME_ONLY})
    if _IN_PYTHON in done.stderr:
        done = _done(command, environment)
    if done.returncode == _OBJECTED:
        raise SanitizerReport(done.stderr)
    if _TRACEBACK in done.stderr:
        raise NotImplementedError(f"no report of a sanitizer: {done.stderr.strip().splitlines()[-1]}")
    if done.returncode != 0:
        raise RunFailed(f"exit status {done.returncode}: {done.stderr}")
    return Ran(read(library.with_name("outputs")), read(library.with_name("again")))


def _done(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def runtime(compiler: str) -> tuple[str, str]:
    """Return the libraries to preload. AddressSanitizer needs libstdc++ too, or it fails at the first C++ exception."""
    return _found(compiler, "libasan.so"), _found(compiler, "libstdc++.so.6")


def _found(compiler: str, name: str) -> str:
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return done.stdout.strip()
