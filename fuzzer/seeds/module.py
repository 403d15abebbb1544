"""A module in a Python file of the user, `FILE.py:NAME`, as a `.pt2` file."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from fuzzer.system.child_environment import inherited
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid

MODULE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")

EXPORT_SECONDS = 600.0


def export_module(file: Path, name: str, folder: Path, seconds: float = EXPORT_SECONDS) -> Path:
    """Execute the file in a process of its own, export its module, and return the new file in `folder`. Raise `Invalid`
    with one line where there is no module, or where it cannot be exported in `seconds`."""
    if not file.is_file():
        raise Invalid(f"{file}: no such file")
    out = folder / f"{file.stem}-{name}.pt2"
    words = [HOST.python, "-P", "-m", "fuzzer.children.exported_module", str(file.resolve()), name, str(out)]
    try:
        done = subprocess.run(
            [*words, str(os.getpid())],
            env=inherited(),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise Invalid(f"{file}: {name} is not exported within {seconds:g} s") from None
    if done.returncode or not out.exists():
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise Invalid(f"{file}: {name} cannot be exported (status {done.returncode}): {last}")
    return out
