"""What is launched, and where: the interface of the devices that run TVM's kernels on a processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fuzzer.lanes.base.compiler_error import CompilerError
from generators.graph import Array

Sizes = tuple[int, int, int]
"""Numbers for x, y and z."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a pointer points at: byte `offset` of a buffer. A kernel has access to the whole buffer."""

    whole: Array
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    arguments  in the order of the kernel's parameters
    grid       how many blocks there are
    block      how many threads a block has
    """

    kernel: str
    arguments: Sequence[Memory | np.generic]
    grid: Sizes
    block: Sizes

    @property
    def memories(self) -> list[Memory]:
        return [each for each in self.arguments if isinstance(each, Memory)]

    @property
    def numbers(self) -> list[np.generic]:
        return [each for each in self.arguments if not isinstance(each, Memory)]


class Program(Protocol):
    """Kernels that a device has compiled."""

    def launch(self, launch: Launch) -> None:
        """Run a kernel to its end. It changes the memory of the arguments. Raise `LaunchFailed` or `DeviceLacks`."""


class Device(Protocol):
    """A device that runs kernels on the processor.

    name          the driver's version
    known_answer  a kernel in the language of the device, which `fuzzer.lanes.launched.devices.check` launches
    """

    name: str
    known_answer: str

    def compiled(self, text: str) -> Program:
        """Compile the kernels that TVM wrote. Raise `fuzzer.lanes.relax.compile_only.Refused` or `DeviceLacks`."""


class DeviceLacks(CompilerError):
    """The device lacks what a kernel may ask for: no fault of TVM."""


class LaunchFailed(CompilerError):
    """The driver refuses a launch, or the launch fails."""


class BeyondTarget(CompilerError):
    """A kernel needs more than its target has."""
