"""Read a model's file in a child with limits for time, memory and the size of its answer."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from fuzzer.system.child_environment import anonymous
from fuzzer.system.processes import die_with_parent
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid

LOG_BYTES = 300


def answer_of(module: str, path: Path, seconds: float, most: int) -> bytes:
    """Run `python -m MODULE PATH PARENT` and return what it writes to stdout. Raise `Invalid` with one line where it
    fails, writes nothing, takes more than `seconds`, or writes more than `most` bytes."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
        command = [HOST.python, "-P", "-m", module, str(path), str(os.getpid())]
        try:
            code = subprocess.run(
                command, env=anonymous(), stdin=subprocess.DEVNULL, stdout=output, stderr=log, timeout=seconds
            ).returncode
        except subprocess.TimeoutExpired:
            raise Invalid(f"{path}: not read within {seconds:g} s") from None
        size = output.seek(0, os.SEEK_END)
        if code or not size:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
            last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise Invalid(f"{path}: its reader ended with status {code}: {last}")
        if size > most:
            raise Invalid(f"{path}: its description has {size >> 20} MiB, more than {most >> 20}")
        output.seek(0)
        return output.read()


def limit_child(parent: int, memory: int, cpu_seconds: int) -> IO[bytes]:
    """Set the limits of this process, which is the child; return the file to which it writes its answer. What libraries
    print to stdout goes to stderr, so that it is not mistaken for the answer."""
    die_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
