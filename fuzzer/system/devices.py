"""The devices of this machine that run code for a target: GPUs, so far. `nvidia-smi` lists them in a process with a
time limit; the supervisor never loads CUDA."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fuzzer.system.child_environment import anonymous

LIST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or a part of a GPU that is split with NVIDIA's multi-instance mode (MIG).

    id      an entry of CUDA_VISIBLE_DEVICES: GPU-..., MIG-..., or a number if the user's own setting has one; for a
            driver of this processor, the file by which its loader finds it
    opener  a Python file with a function `open_device`, which opens the device in a worker; "" for
            `fuzzer.lanes.device`
    """

    id: str
    name: str = ""
    opener: str = ""

    def __str__(self) -> str:
        return f"{self.id} ({self.name})" if self.name else self.id


def found_devices(environment: Mapping[str, str] = os.environ) -> tuple[Device, ...]:
    """Return the devices in CUDA_VISIBLE_DEVICES. If it is not set, return all devices that `nvidia-smi` lists."""
    present = listed(_nvidia_smi())
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    return tuple(present) if wanted is None else tuple(_visible(wanted, present))


def _nvidia_smi() -> str:
    """Return what `nvidia-smi -L` prints; "" if it is missing, fails or does not end within `LIST_SECONDS`."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "-L"], env=anonymous(), cwd="/", capture_output=True, text=True, timeout=LIST_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


_LINE = re.compile(
    r"^(?P<parent>GPU \d+: |\s+MIG )(?P<name>.*?)(\s+Device\s+\d+:)? \(UUID: (?P<id>(GPU|MIG)-[^)\s]+)\)"
)


def listed(text: str) -> list[Device]:
    """Return the devices in the output of `nvidia-smi -L`.

    The output has a line for each GPU, and below it a line for each of its MIG devices. A split GPU is left out,
    because CUDA offers only its parts."""
    devices: list[Device] = []
    whole: Device | None = None
    for line in text.splitlines():
        if not (found := _LINE.match(line)):
            continue
        if found["parent"].startswith("GPU"):
            whole = Device(found["id"], found["name"])
            devices.append(whole)
            continue
        if whole in devices:
            devices.remove(whole)
        devices.append(Device(found["id"], f"{whole.name} MIG {found['name']}" if whole else ""))
    return devices


def _visible(wanted: str, present: list[Device]) -> Iterator[Device]:
    """Yield the devices that CUDA_VISIBLE_DEVICES names. Like CUDA, stop at the first invalid entry.

    An entry may be the beginning of an identifier. Numbers stay numbers, because CUDA and nvidia-smi count devices in
    different orders."""
    for entry in dict.fromkeys(each.strip() for each in wanted.split(",")):
        if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", entry):
            return
        known = [device for device in present if device.id.startswith(entry)]
        yield known[0] if len(known) == 1 else Device(entry)


def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class DeviceKind:
    """One kind of device. It need be no GPU: an emulator, or a driver that runs kernels on the processor, is one too.

    words  what messages call such a device
    find   lists those of this machine
    lacks  where there is none, what gives this machine one; "" where nothing can be installed
    """

    words: str
    find: Callable[[], Sequence[Device]]
    lacks: Callable[[], str] = _nothing


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver that runs kernels on the processor. Nothing is loaded here.

    package   the Python package that calls it
    pattern   the name of the file by which a loader finds the driver, in one of the folders
    system    how the driver is installed
    """

    package: str
    pattern: str
    folders: Sequence[str]
    system: str

    def found(self) -> Sequence[Device]:
        return tuple(map(Device, self._files()[:1])) if find_spec(self.package) else ()

    def lacks(self) -> str:
        parts = ("" if find_spec(self.package) else f"pip install {self.package}", "" if self._files() else self.system)
        return " and ".join(part for part in parts if part)

    def _files(self) -> list[str]:
        return [str(file) for folder in self.folders for file in sorted(Path(folder).glob(self.pattern))]


POCL = Driver("pyopencl", "*pocl*.icd", ("/etc/OpenCL/vendors",), "apt install pocl-opencl-icd")
LAVAPIPE = Driver(
    "wgpu", "lvp_icd*.json", ("/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"), "apt install mesa-vulkan-drivers"
)

KINDS = {
    "cuda": DeviceKind("GPU", found_devices),
    "pocl": DeviceKind("OpenCL on this processor (PoCL)", POCL.found, POCL.lacks),
    "lavapipe": DeviceKind("WebGPU on this processor (lavapipe)", LAVAPIPE.found, LAVAPIPE.lacks),
}
"""By the name that rows of `oracles/targets.py` use."""
