"""What a command writes to a terminal, with the time of each piece."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

COLUMNS, LINES = 100, 32

FRAME = re.compile(rb"\r?\x1b\[2K(?:\x1b\[1A\x1b\[2K)*")
"""What the live screen writes before each frame: it goes up to the first line of the last one."""


def written(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, joins_output: bool
) -> Iterator[tuple[float, bytes]]:
    """Run a command whose error output is a terminal, with `joins_output` its output too. Yield pieces of what it
    writes there, each with the seconds since the start; an empty one at least once a second."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    variables = {**environment, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    output = its if joins_output else subprocess.DEVNULL
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=variables, stdin=its, stdout=output, stderr=its):
        os.close(its)
        os.set_blocking(ours, False)
        while (part := _read(ours)) is not None:
            yield time.monotonic() - begin, part
            if not part:
                time.sleep(0.2)
    os.close(ours)


def _read(terminal: int) -> bytes | None:
    """What is there now; None at the end."""
    try:
        return os.read(terminal, 1 << 16)
    except BlockingIOError:
        return b""
    except OSError:  # Linux reports the end of a terminal so
        return None
