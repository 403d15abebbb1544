"""A model's file is read by a child, under limits of time, memory and answer: a bad file costs no more than these."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from fuzzer.system.processes import die_with_parent
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid

LAST_WORDS = 300


def answer_of(module: str, path: Path, seconds: float, most: int) -> bytes:
    """What `python -m MODULE PATH PARENT` writes, at most so many bytes. Raise `Invalid` with one line where it does
    not come to that."""
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as log:
        command = [HOST.python, "-P", "-m", module, str(path), str(os.getpid())]
        try:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=told, stderr=log, timeout=seconds, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            raise Invalid(f"{path}: not read within {seconds:g} s") from None
        size = told.seek(0, os.SEEK_END)
        if code or not size:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_WORDS))
            last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise Invalid(f"{path}: its reader ended with status {code}: {last}")
        if size > most:
            raise Invalid(f"{path}: its description has {size >> 20} MiB, more than {most >> 20}")
        told.seek(0)
        return told.read()


def answers_of_a_child(parent: int, memory: int, cpu_seconds: int) -> IO[bytes]:
    """In the child: its limits, and where its answer goes. What libraries print must not look like one."""
    die_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
