"""Which GPUs there are. The supervisor asks `nvidia-smi`, a process of its own with a deadline; it never loads CUDA."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LIST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or a part of one that NVIDIA's multi-instance mode (MIG) makes a device of its own.

    id      an entry of CUDA_VISIBLE_DEVICES: GPU-..., MIG-..., or a number where the user's own setting has one
    opener  a Python file whose function `open_device` opens the device in a worker; empty: `fuzzer.lanes.device`
    """

    id: str
    name: str = ""
    opener: str = ""

    def __str__(self) -> str:
        return f"{self.id} ({self.name})" if self.name else self.id


def found_devices(environment: Mapping[str, str] = os.environ) -> tuple[Device, ...]:
    """Those of CUDA_VISIBLE_DEVICES where it is set, else all that the driver lists; of a split GPU, its parts."""
    present = listed(_nvidia_smi())
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    return tuple(present) if wanted is None else tuple(_visible(wanted, present))


def _nvidia_smi() -> str:
    """What `nvidia-smi -L` prints; nothing where there is none, or no driver that answers."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=LIST_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


_LINE = re.compile(
    r"^(?P<parent>GPU \d+: |\s+MIG )(?P<name>.*?)(\s+Device\s+\d+:)? \(UUID: (?P<id>(GPU|MIG)-[^)\s]+)\)"
)


def listed(text: str) -> list[Device]:
    """Of what `nvidia-smi -L` prints: a line for each GPU, and below it one for each of its MIG devices."""
    devices: list[Device] = []
    whole: Device | None = None
    for line in text.splitlines():
        if not (found := _LINE.match(line)):
            continue
        if found["parent"].startswith("GPU"):
            whole = Device(found["id"], found["name"])
            devices.append(whole)
            continue
        if whole in devices:  # once split, CUDA offers it in parts only
            devices.remove(whole)
        devices.append(Device(found["id"], f"{whole.name} MIG {found['name']}" if whole else ""))
    return devices


def _visible(wanted: str, present: list[Device]) -> Iterator[Device]:
    """As CUDA reads the variable: up to the first entry that is none. Numbers stay numbers: CUDA counts devices in an
    order of its own, which is not nvidia-smi's. An identifier may be the beginning of one."""
    for entry in dict.fromkeys(each.strip() for each in wanted.split(",")):
        if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", entry):
            return
        known = [device for device in present if device.id.startswith(entry)]
        yield known[0] if len(known) == 1 else Device(entry)
