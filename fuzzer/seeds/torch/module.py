"""A module in a Python file of the user, `FILE.py:NAME`. A process of its own executes the file."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from fuzzer.seeds.own_weights import Weights
from fuzzer.system.child_environment import inherited
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid

MODULE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")

EXPORT_SECONDS = 600.0


def export_module(file: Path, name: str, folder: Path, seconds: float = EXPORT_SECONDS) -> Path:
    """Export the module, and return the new .pt2 file in `folder`. Raise `Invalid` with one line where there is no
    module, or where it cannot be exported in `seconds`."""
    out = folder / f"{file.stem}-{name}.pt2"
    _make(out, "fuzzer.children.exported_module", file, name, seconds)
    return out


def write_cases(file: Path, name: str, folder: Path, weights: Weights) -> Path:
    """Write the cases of the module, with its example inputs (`fuzzer.api.written_cases`), and return their new folder
    in `folder`. Raise `Invalid` as `export_module` does."""
    out = folder / f"{file.stem}-{name}"
    _make(out, "fuzzer.api.module_cases", file, name, EXPORT_SECONDS, weights)
    return out


def _make(out: Path, child: str, file: Path, name: str, seconds: float, *more: str) -> None:
    """Run the child that makes `out` of the module."""
    if not file.is_file():
        raise Invalid(f"{file}: {'it is not a regular file' if file.exists() else 'no such file'}")
    words = [HOST.python, "-P", "-m", child, str(file.resolve()), name, str(out), str(os.getpid()), *more]
    try:
        done = subprocess.run(words, env=inherited(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Invalid(f"{file}: {name} is not exported within {seconds:g} s") from None
    if done.returncode or not out.exists():
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise Invalid(f"{file}: {name} cannot be exported (status {done.returncode}): {last}")
