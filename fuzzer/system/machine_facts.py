"""The operating system, the processor and the devices of a machine, as a bug report names them."""

from __future__ import annotations

import functools
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from fuzzer.system.processes import ONE_THREAD

CPUINFO = Path("/proc/cpuinfo")
MOST_LISTED = 64
"""The most features of a processor, and the most devices, that a document of a machine lists."""

FEATURES = {
    **{name: name for name in ("avx", "avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl")},
    "sse4_2": "sse4.2",
    "avx512_vnni": "avx512vnni",
    "avx512_bf16": "avx512bf16",
    "avx512_fp16": "avx512fp16",
    "amx_tile": "amx-tile",
    "asimd": "neon",
    "asimdhp": "fullfp16",
    "asimddp": "dotprod",
    **{name: name for name in ("sve", "sve2", "i8mm", "bf16")},
}
"""The extensions for which compilers and libraries have code of their own: by the name in Linux's cpuinfo, the name of
LLVM's `-mattr`."""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """A machine on which a finding was seen. Nothing tells which machine it is.

    os         as `platform.platform` names it
    processor  its model and its architecture
    features   those of `FEATURES` that the processor has, in that order
    threads    with how many threads TVM computed
    devices    the kind and the model of each device on which the compiled model ran; () for the processor
    """

    os: str
    processor: str
    features: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_LISTED)] = ()
    threads: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] = 1
    devices: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_LISTED)] = ()

    def __str__(self) -> str:
        """One line."""
        parts = [self.os, self.processor, *(["with " + ", ".join(self.features)] if self.features else [])]
        return "; ".join([*parts, f"{self.threads} thread{'s' * (self.threads > 1)}", *self.devices])


@functools.cache
def this_machine() -> MachineFacts:
    """This machine without its devices. `os` is what `platform.platform` returns; that function starts `uname -p` in
    the user's whole environment."""
    system, cpuinfo = os.uname(), _text(CPUINFO)
    libc = "".join(platform.libc_ver())
    name = "-".join([system.sysname, system.release, system.machine, *(["with", libc] if libc else [])])
    threads = int(ONE_THREAD["TVM_NUM_THREADS"])
    return MachineFacts(name, processor(cpuinfo, system.machine), features(cpuinfo), threads)


def processor(cpuinfo: str, architecture: str) -> str:
    """The model in the text of proc(5)'s cpuinfo and the architecture; the latter alone where there is no model."""
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.M)
    return f"{model[1].strip()} ({architecture})" if model else architecture


def features(cpuinfo: str) -> tuple[str, ...]:
    """The features in the text of cpuinfo: `flags` of x86, `Features` of ARM. () where there are none."""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.M)
    there = set(found[1].split()) if found else set()
    return tuple(name for flag, name in FEATURES.items() if flag in there)


def _text(path: Path) -> str:
    """Empty where the operating system has no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
