"""Open the devices that run kernels on the processor. Each must give a known answer first."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.launched.launch import Device, Launch, Memory
from fuzzer.lanes.launched.opencl import Pocl
from fuzzer.lanes.launched.webgpu import Lavapipe
from fuzzer.system.devices import KINDS

OPEN: dict[str, Callable[[str], Device]] = {"pocl": Pocl, "lavapipe": Lavapipe}
"""By kind of device, a key of `fuzzer.system.devices.KINDS`."""

BLOCKS, THREADS, ADDED = 3, 32, 7
"""The launch of the known answer: `y[i] = x[the mirror of i in its block] + ADDED`, through memory that a block
shares."""


class NoKnownAnswer(CompilerError):
    """The device computes a known answer wrongly."""


@functools.cache
def device_named(kind: str) -> Device:
    """Open a device in this process. Raise `NoKnownAnswer`."""
    (found, *_) = KINDS[kind].find()
    device = OPEN[kind](found.id)
    check(device)
    return device


def check(device: Device) -> None:
    """Launch a kernel whose result is known to the last bit. It shares memory, has a barrier and takes a number."""
    x = np.arange(BLOCKS * THREADS, dtype=np.int32)
    y = np.zeros_like(x)
    memories = [Memory(array.view(np.uint8)) for array in (x, y)]
    launch = Launch("known_answer", (*memories, np.int32(ADDED)), (BLOCKS, 1, 1), (THREADS, 1, 1))
    device.compiled(device.known_answer).launch(launch)
    if not np.array_equal(y, x.reshape(BLOCKS, THREADS)[:, ::-1].reshape(-1) + ADDED):
        raise NoKnownAnswer(f"{device.name} does not give the known answer")
