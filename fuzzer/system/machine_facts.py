"""The operating system and the processor, as a bug report names them."""

from __future__ import annotations

import functools
import os
import platform
import re
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


@functools.cache
def machine_facts() -> dict[str, str]:
    """`os` and `processor` of this machine. No name of the machine or of its user is in them.

    `os` is what `platform.platform` returns. That function starts `uname -p` in the user's whole environment."""
    system = os.uname()
    libc = "".join(platform.libc_ver())
    name = "-".join([system.sysname, system.release, system.machine, *(["with", libc] if libc else [])])
    return {"os": name, "processor": processor(_text(CPUINFO), system.machine)}


def processor(cpuinfo: str, architecture: str) -> str:
    """The model in the text of proc(5)'s cpuinfo and the architecture; the latter alone where there is no model."""
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.M)
    return f"{model[1].strip()} ({architecture})" if model else architecture


def _text(path: Path) -> str:
    """Empty where the operating system has no such file."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
